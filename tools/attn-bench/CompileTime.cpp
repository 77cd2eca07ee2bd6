//===- CompileTime.cpp - how long a workload takes to compile ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CompileTime.h"

#include "Samples.h"
#include "llvm/Support/Program.h"

#include <chrono>

using namespace attn;
using namespace attn::tool;

/// A cold compile takes a quarter of a second, a warm one less than half of that.
static constexpr int coldRepeats = 3, warmRepeats = 5;

/// The median time in milliseconds that `run` takes; the first error ends it.
static Result<double> timeRuns(int repeats, const std::function<Status()> &run) {
  std::vector<double> times;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    auto start = std::chrono::steady_clock::now();
    if (Status status = run(); !status)
      return status.error();
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  return median(times);
}

static Status compileIn(const Module &module, const std::string &function) {
  auto kernel = module.compile(function);
  return kernel ? Status() : Status(kernel.error());
}

static Status compileInProcess(const std::string &executable, const Workload &workload) {
  std::string option = "--compile-only=" + workload.function, problem;
  int code =
      llvm::sys::ExecuteAndWait(executable, {executable, workload.source, option}, std::nullopt, {}, 0, 0, &problem);
  if (code == 0)
    return {};
  return Error{ErrorCode::Io,
               "expects a process that compiles and ends with exit code 0, but got " + std::to_string(code) +
                   (problem.empty() ? "" : ": " + problem),
               {workload.source, 0, 0}};
}

Result<CompileTimes> tool::timeCompiles(const Workload &workload, const std::string &executable) {
  auto module = Module::parseFile(workload.source);
  if (!module)
    return module.error();
  // The first one is not warm yet.
  if (Status status = compileIn(*module, workload.function); !status)
    return status.error();
  auto warm = timeRuns(warmRepeats, [&] { return compileIn(*module, workload.function); });
  if (!warm)
    return warm.error();
  auto cold = timeRuns(coldRepeats, [&] { return compileInProcess(executable, workload); });
  if (!cold)
    return cold.error();
  return CompileTimes{*warm, *cold};
}

Status tool::compileOnce(const std::string &source, const std::string &function) {
  auto module = Module::parseFile(source);
  return module ? compileIn(*module, function) : Status(module.error());
}
