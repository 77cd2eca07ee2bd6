//===- Contraction.h - matrix products of any layout -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_CONVERSION_LINALGTOCPU_CONTRACTION_H
#define ATTN_CONVERSION_LINALGTOCPU_CONTRACTION_H

#include "attn/Target/LoopModel.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attn::loops {

/// What the loops of a contraction out += left * right are. m, n and k are the three that are blocked; `m` may be
/// missing (a vector times a matrix). The rest are loops around.
struct ContractionDims {
  mlir::Value left, right, out;
  /// Loop dimensions of each dimension of the operands.
  mlir::AffineMap leftMap, rightMap, outMap;
  std::optional<unsigned> m;
  unsigned n, k;
  llvm::SmallVector<unsigned> outerParallel, outerReduction;
  /// f32 or f64.
  mlir::FloatType sumType;
};

/// The dims of an op on memrefs whose body is out + left * right on floats, in any order and with widening casts, and
/// whose maps are projected permutations; nothing for any other. Left and right are exchanged where out is contiguous
/// along the left one's dimension. Dot products, which have no n, are none.
std::optional<ContractionDims> matchContraction(mlir::linalg::LinalgOp op);

/// What the cost model wants to know of it.
ContractionQuery queryOf(mlir::linalg::LinalgOp op, const ContractionDims &dims);

/// True if `operand` is contiguous along loop dimension `dim`.
bool isContiguousAlong(mlir::Value operand, mlir::AffineMap map, unsigned dim);

/// Builds the loops in front of `op`, which stays.
void buildContraction(mlir::linalg::LinalgOp op, const ContractionDims &dims, const ContractionSizes &sizes);

} // namespace attn::loops

#endif // ATTN_CONVERSION_LINALGTOCPU_CONTRACTION_H
