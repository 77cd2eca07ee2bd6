//===- KnownSlice.h - values of a function that are known here -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_INSPECTION_KNOWNSLICE_H
#define ATTN_LIB_INSPECTION_KNOWNSLICE_H

#include "attn/Inspection/TileMap.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace attn {

/// The sizes that a mask may ask for.
struct MaskSizes {
  int64_t batch, heads, queryLen, kvLen;
};

/// Clones what values of an attention's function are computed from, as operations on tensors without any argument:
/// sizes and given arguments become constants, reads of memrefs become reads of tensors.
class KnownSlice {
public:
  KnownSlice(AttentionOp op, const MaskSizes &sizes, const TileMapInputs &inputs)
      : op(op), sizes(sizes), inputs(inputs) {}

  /// States what a value is in the clone.
  void map(mlir::Value from, mlir::Value to) { mapping.map(from, to); }

  /// The clone of a value, built at the insertion point unless it is there already; null if something that it is
  /// computed from is not known.
  mlir::Value get(mlir::ImplicitLocOpBuilder &builder, mlir::Value value);

  /// What was asked for and is not known: arguments, and results of operations that read memory.
  llvm::ArrayRef<mlir::Value> unknown() const { return unknownValues.getArrayRef(); }

private:
  mlir::Value compute(mlir::ImplicitLocOpBuilder &builder, mlir::Value value);
  mlir::Value fromArgument(mlir::ImplicitLocOpBuilder &builder, mlir::BlockArgument argument);
  mlir::Value fromOperation(mlir::ImplicitLocOpBuilder &builder, mlir::OpResult value);
  std::optional<int64_t> sizeOf(mlir::Value shaped, int64_t dimension);
  const std::vector<int64_t> *valuesOf(mlir::Value value);

  AttentionOp op;
  MaskSizes sizes;
  const TileMapInputs &inputs;
  mlir::IRMapping mapping;
  llvm::SetVector<mlir::Value> unknownValues;
};

/// The operand and the dimension of a tensor.dim or memref.dim of a constant one; nullopt for other ops.
std::optional<std::pair<mlir::Value, int64_t>> matchDim(mlir::Operation *op);

/// The type of an argument, with the shape that so many elements give it; a diagnostic at the op where they do not fit
/// it, or it does not hold integers.
mlir::FailureOr<mlir::Type> typeOfValues(AttentionOp op, unsigned position, mlir::Type type,
                                         llvm::ArrayRef<int64_t> values);

} // namespace attn

#endif // ATTN_LIB_INSPECTION_KNOWNSLICE_H
