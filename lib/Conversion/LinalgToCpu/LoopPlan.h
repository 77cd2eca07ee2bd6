//===- LoopPlan.h - how the loops of a linalg op are run -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_CONVERSION_LINALGTOCPU_LOOPPLAN_H
#define ATTN_CONVERSION_LINALGTOCPU_LOOPPLAN_H

#include "attn/Target/LoopModel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attn::loops {

/// Where the elements of neighbouring lanes are: in one place, in neighbouring ones, or anywhere.
enum class Access { Uniform, Contiguous, Strided };

/// The op of a body that joins an element to what a reduction has so far: result = kind(so far, contribution).
struct Combiner {
  mlir::Operation *op;
  mlir::Value contribution;
  /// What sums are kept in: f32 for 16-bit floats.
  mlir::Type type;

  /// The value that changes nothing, in every lane of `type`.
  mlir::Value identity(mlir::ImplicitLocOpBuilder &builder, mlir::Type type) const;
  /// The same op on other values, scalars or vectors.
  mlir::Value combine(mlir::ImplicitLocOpBuilder &builder, mlir::Value a, mlir::Value b) const;
};

struct LoopPlan {
  /// A handle, whose methods are none of a constant.
  mutable mlir::linalg::LinalgOp op;
  llvm::SmallVector<unsigned> parallelDims, reductionDims;
  /// The dimension whose indices are lanes; none where elements are computed one by one.
  std::optional<unsigned> laneDim;
  /// By operand.
  llvm::SmallVector<Access> accesses;
  /// By output; empty where there is no reduction, or where the body joins elements in another way.
  llvm::SmallVector<std::optional<Combiner>> combiners;
  LoopSizes sizes;

  bool isLaneReduction() const { return laneDim && llvm::is_contained(reductionDims, *laneDim); }
};

/// How an op on memrefs is run; nothing where its body has effects beside reading memory, operands are neither ranked
/// memrefs nor scalars, or an output steps with a reduction.
std::optional<LoopPlan> planLoops(mlir::linalg::LinalgOp op, const TargetDescription &target);

/// Builds the loops in front of the op, which stays.
void buildLoops(const LoopPlan &plan);

} // namespace attn::loops

#endif // ATTN_CONVERSION_LINALGTOCPU_LOOPPLAN_H
