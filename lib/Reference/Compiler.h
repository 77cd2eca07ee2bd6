//===- Compiler.h - from operations to closures --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_REFERENCE_COMPILER_H
#define ATTN_LIB_REFERENCE_COMPILER_H

#include "Program.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/DenseMap.h"

namespace attn::reference {

/// A function and the size of its frames.
struct CompiledFunction {
  Body body;
  size_t numScalars = 0, numTensors = 0;
};

/// The functions of one evaluation, each compiled once.
class FunctionTable {
public:
  explicit FunctionTable(const Options &options) : options(options) {}
  /// The compiled function, at an address that stays; a function that calls itself is found while it is compiled.
  /// Null after a diagnostic.
  const CompiledFunction *get(mlir::func::FuncOp function);
  const Options &getOptions() const { return options; }

private:
  const Options &options;
  llvm::DenseMap<mlir::Operation *, std::unique_ptr<CompiledFunction>> functions;
};

/// Compiles the operations of one function. Every failure is after a diagnostic.
class Compiler {
public:
  Compiler(FunctionTable &functions, CompiledFunction &function) : functions(functions), function(function) {}

  mlir::FailureOr<Body> compileBlock(mlir::Block &block);
  /// As compileBlock; indices into tensors are clamped in it (score and mask regions).
  mlir::FailureOr<Body> compileModRegion(mlir::Region &region);

  /// The place of a value, which is made at the first request.
  Slot getSlot(mlir::Value value);
  llvm::SmallVector<Slot> getSlots(mlir::ValueRange values);
  unsigned scalar(mlir::Value value);
  unsigned tensor(mlir::Value value);
  llvm::SmallVector<unsigned> scalars(mlir::ValueRange values);
  /// A place of its own, that no value has.
  unsigned newScalar() { return function.numScalars++; }
  IndexSource getIndex(mlir::OpFoldResult value);
  llvm::SmallVector<IndexSource> getIndices(llvm::ArrayRef<mlir::OpFoldResult> values);

  /// Where linalg.index finds the loop indices of the linalg op that is being compiled.
  llvm::ArrayRef<unsigned> loopIndices;
  bool clampsIndices() const { return inModRegion; }
  const Options &getOptions() const { return functions.getOptions(); }

private:
  mlir::FailureOr<Step> compile(mlir::Operation &op);
  mlir::FailureOr<Step> compileElementwise(mlir::Operation &op);
  mlir::FailureOr<Step> compileCall(mlir::Operation &op);
  mlir::LogicalResult checkTypes(mlir::Operation *op, mlir::TypeRange types);

  FunctionTable &functions;
  CompiledFunction &function;
  llvm::DenseMap<mlir::Value, Slot> slots;
  bool inModRegion = false;
};

// Each of these compiles the ops of one kind. An empty Step: the op is not of this kind (no diagnostic).

/// arith and math on scalars, and on tensors by elements. `in` and `out` are places of scalars; the types are those of
/// the elements.
Step compileArith(mlir::Operation &op, llvm::ArrayRef<unsigned> in, llvm::ArrayRef<unsigned> out);
Step compileMath(mlir::Operation &op, llvm::ArrayRef<unsigned> in, llvm::ArrayRef<unsigned> out);
/// arith.constant, and the index dialect's ops.
mlir::FailureOr<Step> compileConstant(Compiler &compiler, mlir::Operation &op);
mlir::FailureOr<Step> compileIndex(Compiler &compiler, mlir::Operation &op);
/// scf, cf.assert and flash.require.
mlir::FailureOr<Step> compileControlFlow(Compiler &compiler, mlir::Operation &op);
mlir::FailureOr<Step> compileTensor(Compiler &compiler, mlir::Operation &op);
/// As an op of the loop's body, at the end of each iteration; it changes the loop's output.
Step compileParallelInsert(Compiler &compiler, mlir::tensor::ParallelInsertSliceOp op);
/// linalg, and the affine maps of sizes.
mlir::FailureOr<Step> compileLinalg(Compiler &compiler, mlir::Operation &op);
mlir::FailureOr<Step> compileAttention(Compiler &compiler, mlir::Operation &op);
/// attn.matmul, attn.mask, attn.softmax.
mlir::FailureOr<Step> compileUnfused(Compiler &compiler, mlir::Operation &op);

/// attn.classify_tiles, attn.tile_classes_size.
mlir::FailureOr<Step> compileTileClasses(Compiler &compiler, mlir::Operation &op);

/// Softmax over one axis of `input` into `result`, of the same shape. An all -inf row gives 0, or NaN without `guard`.
/// In f64, or in f32 and rounded to the type of `result`.
void softmax(const Tensor &input, int64_t axis, bool guard, bool inF32, Tensor &result);

} // namespace attn::reference

#endif // ATTN_LIB_REFERENCE_COMPILER_H
