//===- Cases.h - what is damaged, and what is done with it --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TEST_LIB_FUZZ_CASES_H
#define ATTN_TEST_LIB_FUZZ_CASES_H

#include "Random.h"

#include <memory>
#include <string>
#include <vector>

namespace attn::fuzz {

/// Inputs of one kind. Everything is a function of the seed and the index.
class Cases {
public:
  virtual ~Cases() = default;
  /// The input of a case, and the end of its file's name, such as ".mlir".
  virtual std::string make(uint64_t index) const = 0;
  virtual const char *suffix() const = 0;
  /// Does with an input what the case of that index does with its own.
  virtual void run(uint64_t index, const std::string &input) const = 0;
  /// How many cases a process runs; 1 where each starts one itself.
  virtual uint64_t batch() const { return 50; }
  /// What an input can be reduced by; none: not at all.
  virtual std::vector<std::string> split(const std::string &input, bool finely) const { return {}; }
};

/// .mlir texts from the test files in the folders, by MutateText.h: parsed, verified and raised as Module::parse does;
/// those that are accepted are, in part, lowered, compiled for a CPU or a chip, evaluated by the reference, or given to
/// the passes that the seed's RUN lines name, with every dialect there.
std::unique_ptr<Cases> createTextCases(uint64_t seed, const std::vector<std::string> &folders);

/// .npy and .npz files, read as attn-run reads them.
std::unique_ptr<Cases> createArrayCases(uint64_t seed);

/// Command lines of attn-run, attn-opt, attn-compile and attn-bench, which lie in a folder, on a module of their own:
/// options that are used together, of which some go and others come.
std::unique_ptr<Cases> createOptionCases(uint64_t seed, const std::string &tools);

/// Crashes, hangs, lacks of memory and reports of others, in turn: a fuzzer that misses them would pass all else.
std::unique_ptr<Cases> createProbeCases();

} // namespace attn::fuzz

#endif // ATTN_TEST_LIB_FUZZ_CASES_H
