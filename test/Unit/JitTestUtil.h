//===- JitTestUtil.h - MLIR text to code that a test can call ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TEST_UNIT_JITTESTUTIL_H
#define ATTN_TEST_UNIT_JITTESTUTIL_H

#include "SuiteTarget.h"
#include "attn/CodeGen/Compile.h"
#include "attn/Runtime.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

namespace jit_test {

/// MLIR's descriptor of a strided memref, as the C interface has it.
template <typename T, int Rank> struct Buffer {
  T *allocated;
  T *aligned;
  int64_t offset;
  int64_t sizes[Rank ? Rank : 1];
  int64_t strides[Rank ? Rank : 1];
};

template <typename T> Buffer<T, 1> vector(std::vector<T> &data) {
  return {data.data(), data.data(), 0, {static_cast<int64_t>(data.size())}, {1}};
}

/// A compiled module, or why it is none.
struct Compiled {
  std::unique_ptr<mlir::MLIRContext> context;
  std::unique_ptr<attn::Jit> jit;
  std::string error;
  std::vector<attn::StageLap> times;

  attn::EntryPoint entry(llvm::StringRef name) const {
    llvm::Expected<attn::EntryPoint> entry = jit->lookup(name);
    if (entry)
      return *entry;
    ADD_FAILURE() << llvm::toString(entry.takeError());
    return nullptr;
  }
};

/// The pipeline's defaults, for the suite's CPU.
inline attn::PipelineOptions suiteOptions() {
  attn::PipelineOptions options;
  options.target = suiteCpu();
  return options;
}

/// `change`, if any, sees the module first; `optimize`: with LLVM's passes.
inline Compiled compile(llvm::StringRef source, const attn::PipelineOptions &pipeline = suiteOptions(),
                        llvm::function_ref<void(mlir::ModuleOp)> change = {}, bool optimize = true) {
  Compiled compiled;
  mlir::DialectRegistry registry;
  attn::registerCompiler(registry);
  compiled.context = std::make_unique<mlir::MLIRContext>(registry);
  // Errors come back in the llvm::Error; without this they are printed as well.
  compiled.context->getDiagEngine().registerHandler([](mlir::Diagnostic &) { return mlir::success(); });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(source, compiled.context.get());
  if (!module) {
    compiled.error = "the source has a syntax error";
    return compiled;
  }
  if (change)
    change(*module);
  attn::CodeOptions options;
  options.pipeline = pipeline;
  options.optimize = optimize;
  llvm::Expected<std::unique_ptr<attn::Jit>> jit = attn::compileToJit(*module, options, &compiled.times);
  if (jit)
    compiled.jit = std::move(*jit);
  else
    compiled.error = llvm::toString(jit.takeError());
  return compiled;
}

inline attn_rt_call_result call(attn::EntryPoint entry, std::vector<void *> arguments, attn_rt_pool *pool = nullptr) {
  attn_rt_call_options options = {pool, 0, nullptr, 1, nullptr};
  attn_rt_call_result result;
  attn_rt_call(&options, entry, arguments.data(), &result);
  return result;
}

} // namespace jit_test

#endif // ATTN_TEST_UNIT_JITTESTUTIL_H
