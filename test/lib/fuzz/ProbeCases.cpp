//===- ProbeCases.cpp - failures on purpose ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Cases.h"
#include "Children.h"

#include <csignal>

using namespace attn::fuzz;

namespace {

class ProbeCases : public Cases {
public:
  std::string make(uint64_t index) const override { return "first\nmiddle\n" + std::to_string(index % 6) + "\n"; }
  const char *suffix() const override { return ".txt"; }
  void run(uint64_t index, const std::string &input) const override;
  std::vector<std::string> split(const std::string &input, bool finely) const override;
};

} // namespace

/// Calls itself until the stack is used up.
[[gnu::noinline]] static int descend(volatile int depth) {
  volatile char frame[1024] = {};
  return depth < 0 ? frame[0] : descend(depth + 1) + frame[depth % 1024];
}

/// The last line decides.
void ProbeCases::run(uint64_t, const std::string &input) const {
  setPhase("probing");
  volatile int *nowhere = nullptr;
  size_t line = input.find_first_of("0123456789");
  switch (line == std::string::npos ? '0' : input[line]) {
  case '1':
    *nowhere = 1;
    break;
  case '2':
    while (input[line] == '2')
      asm volatile("" ::: "memory");
    break;
  case '3':
    for (volatile size_t size = 1 << 20;;)
      *static_cast<volatile char *>(operator new(size)) = 1;
  case '4':
    static_cast<void>(descend(0));
    break;
  case '5':
    failCase(Problem::Crash, /*isOurs=*/false, "what a tool reported");
  default:
    addCount(Accepted);
  }
}

std::vector<std::string> ProbeCases::split(const std::string &input, bool) const {
  std::vector<std::string> lines;
  for (size_t at = 0; at < input.size(); at += lines.back().size())
    lines.push_back(input.substr(at, input.find('\n', at) + 1 - at));
  return lines;
}

std::unique_ptr<Cases> attn::fuzz::createProbeCases() { return std::make_unique<ProbeCases>(); }
