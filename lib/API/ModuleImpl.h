//===- ModuleImpl.h - what a Module holds -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_API_MODULEIMPL_H
#define ATTN_LIB_API_MODULEIMPL_H

#include "attn/API/Module.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include <mutex>

namespace attn {

class Module::Impl {
public:
  Impl();

  /// Everything that touches the context or the module's text holds it: contexts report to one handler at a time, and
  /// this one's threading is off.
  mutable std::mutex mutex;
  mutable mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<FunctionSignature> functions;

  /// The signature of that name, or of the only function for "". Lives as long as this.
  Result<const FunctionSignature *> find(std::string_view name) const;

  /// The function of a signature of `functions`. Hold the mutex.
  mlir::func::FuncOp lookup(const FunctionSignature &signature) const;
};

/// A copy of the module at the graph level, where attention is fused and masks are regions, with that function alone
/// and the ones that it calls inlined. Hold the mutex.
Result<mlir::OwningOpRef<mlir::ModuleOp>> compileToGraph(const Module::Impl &module, const FunctionSignature &signature,
                                                         const CompileOptions &options);

/// The element type in the API's terms; Other where it has none.
DType convertElementType(mlir::Type type);

/// Success if kernels can have this signature, else Unsupported at the function.
Status checkSupported(const FunctionSignature &signature);

} // namespace attn

#endif // ATTN_LIB_API_MODULEIMPL_H
