//===- Elements.h - reading a graph by the elements of its tensors ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_ATTN_FUSION_ELEMENTS_H
#define ATTN_DIALECT_ATTN_FUSION_ELEMENTS_H

#include "Expression.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace attn::fusion {

/// A reduction, as: element(out) = combine(init, over all values of `dims`: body).
struct Reduction {
  mlir::Operation *op = nullptr;
  /// Name of the combining op: arith.addf, arith.maximumf, arith.andi, ...
  /// An ordered comparison that selects the larger counts as arith.maximumf, for it keeps a NaN that it starts from; an
  /// unordered one as arith.maxnumf.
  llvm::StringRef combiner;
  /// The indices that are reduced over; those of extent 1 are left out.
  llvm::SmallVector<ExprRef> dims;
  ExprRef init = nullptr, body = nullptr;
};

/// One element of a tensor.
struct TensorElement {
  mlir::Value tensor;
  llvm::SmallVector<ExprRef> indices;
};

/// Whether the op asks for a dimension that is known and that the tensor has: the verifier lets through others.
bool isSizeOfDimension(mlir::tensor::DimOp op);

/// Reads elements. Deep reading goes on until block arguments, reductions and ops that it does not know, which become
/// Element leaves; reading one step stops at the operands of the tensor's own op.
class Elements {
public:
  explicit Elements(Expressions &expressions) : expressions(expressions) {}

  /// Element (indices...) of `tensor`, read as deep as possible.
  ExprRef read(mlir::Value tensor, llvm::ArrayRef<ExprRef> indices);

  /// The same by one op; null where that op is a leaf.
  ExprRef readStep(mlir::Value tensor, llvm::ArrayRef<ExprRef> indices);

  /// A scalar of the graph.
  ExprRef readScalar(mlir::Value scalar);

  /// The size of a dimension: a constant, or what computes it as far as that is read, so that equal sizes are one
  /// expression.
  ExprRef readSize(mlir::Value tensor, int64_t dimension);

  /// How far an index runs; null where that is not known.
  ExprRef extentOf(ExprRef index);

  /// An op of a body on what its operands are.
  ExprRef apply(mlir::Operation *op, llvm::ArrayRef<ExprRef> operands);

  /// Takes the sizes for equal, from here on, that ops require to be equal which run whenever ops of the block do:
  /// those of the block and of the blocks around it. A branch that is not taken requires nothing, and what a loop's
  /// body requires cannot be told outside by the values of the body.
  void assumeEqualSizes(mlir::Block &block);

  /// True if both indices run over the same extent, as far as that can be told.
  bool haveSameExtent(ExprRef a, ExprRef b);

  /// A comparison of integers, folded where it is the same for every value of the indices and sizes in it.
  ExprRef compare(mlir::arith::CmpIPredicate predicate, ExprRef a, ExprRef b);

  /// Folds the comparisons of integers in an expression, after others were put in place of its indices.
  ExprRef foldComparisons(ExprRef e);

  /// What an Element leaf is, if a reduction computes it, with new indices in `dims`. Its body is read deep, or by one
  /// step.
  std::optional<Reduction> open(ExprRef leaf, bool isDeep = true);

  /// Indices of a result's elements, each of its own; nullopt where the op is no linalg op or matrix product whose
  /// result is indexed plainly.
  std::optional<llvm::SmallVector<ExprRef>> makeResultIndices(mlir::Operation *op, unsigned result = 0);

  /// For each loop of the op an index of its own, with the loop's extent.
  llvm::SmallVector<ExprRef> makeLoops(mlir::linalg::LinalgOp op);

  /// The value of an affine expression of the given indices; null where it is neither linear nor a division by a
  /// constant.
  ExprRef evaluate(mlir::AffineExpr expr, llvm::ArrayRef<ExprRef> dims);

  /// The tensors and indices that were read deep as this expression, those nearer to the graph's start first.
  llvm::ArrayRef<TensorElement> findTensors(ExprRef e) const;

  Expressions &expressions;

private:
  using Reader = llvm::function_ref<ExprRef(mlir::Value, llvm::ArrayRef<ExprRef>)>;

  ExprRef readThrough(mlir::Value tensor, llvm::ArrayRef<ExprRef> indices, Reader reader);
  ExprRef readLinalg(mlir::linalg::LinalgOp op, unsigned result, llvm::ArrayRef<ExprRef> indices, Reader reader);
  ExprRef readCollapse(mlir::tensor::CollapseShapeOp op, llvm::ArrayRef<ExprRef> indices, Reader reader);
  ExprRef readExpand(mlir::tensor::ExpandShapeOp op, llvm::ArrayRef<ExprRef> indices, Reader reader);
  ExprRef readReshape(mlir::tensor::ReshapeOp op, llvm::ArrayRef<ExprRef> indices, Reader reader);
  void assumeEqual(ExprRef a, ExprRef b);
  void assumeEqualSizesOf(mlir::linalg::LinalgOp op);
  std::optional<bool> decide(mlir::arith::CmpIPredicate predicate, ExprRef a, ExprRef b);
  ExprRef boundOf(ExprRef e, bool isUpper);
  ExprRef readNewSize(mlir::Value tensor, int64_t dimension);
  ExprRef readConcat(mlir::tensor::ConcatOp op, llvm::ArrayRef<ExprRef> indices, Reader reader);
  ExprRef readInsertion(mlir::tensor::InsertSliceOp op, llvm::ArrayRef<ExprRef> indices, Reader reader);
  ExprRef readPad(mlir::tensor::PadOp op, llvm::ArrayRef<ExprRef> indices, Reader reader);
  ExprRef readMask(MaskOp op, llvm::ArrayRef<ExprRef> indices, Reader reader);
  std::optional<Reduction> openMatmul(MatmulOp op, llvm::ArrayRef<ExprRef> indices, Reader reader);
  ExprRef readElementwise(mlir::Operation *op, llvm::ArrayRef<ExprRef> indices, Reader reader);
  ExprRef readConstant(mlir::DenseElementsAttr values, llvm::ArrayRef<ExprRef> indices);

  llvm::DenseMap<ExprRef, llvm::SmallVector<TensorElement, 1>> tensors;
  /// By the Element leaf that stands for tensor and indices.
  llvm::DenseMap<ExprRef, ExprRef> deep;
  llvm::DenseMap<mlir::Value, ExprRef> scalars;
  /// Sizes, or parts of them, by what they are equal to.
  llvm::DenseMap<ExprRef, ExprRef> equalSizes;
};

} // namespace attn::fusion

#endif // ATTN_DIALECT_ATTN_FUSION_ELEMENTS_H
