//===- MergeProjections.cpp - products with a shared left operand -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of a block are gathered into groups that differ in their right operands alone, then each group becomes one
// product if attn::estimateMerge says that it pays. One walk, no patterns: a merged product has no like left.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/ReshapeGroups.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Target/LoopModel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"

#define DEBUG_TYPE "attn-merge-projections"

namespace attn {
#define GEN_PASS_DEF_MERGEPROJECTIONSPASS
#include "Attn/AttnPasses.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {

/// One matrix product: op(left, right) onto a fill.
struct Product {
  linalg::LinalgOp op;
  linalg::FillOp fill;
  /// The transpose that the right operand stands behind, if any.
  linalg::TransposeOp transpose;
  /// What that reads, or the right operand itself, and its elements where it is a constant.
  Value right;
  ElementsAttr constant;
  /// The loop over columns, and its place among the dimensions of `right` and of the result.
  unsigned columnLoop, rightDim, outDim;

  RankedTensorType rightType() const { return cast<RankedTensorType>(right.getType()); }
  RankedTensorType outType() const { return cast<RankedTensorType>(op->getResult(0).getType()); }
  int64_t columns() const { return outType().getDimSize(outDim); }
};

} // namespace

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

static std::optional<Product> matchProduct(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
      !linalg::isaContractionOpInterface(op))
    return std::nullopt;
  FailureOr<linalg::ContractionDimensions> dims = linalg::inferContractionDims(op);
  auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  if (failed(dims) || dims->n.empty() || !fill)
    return std::nullopt;
  Product product{op, fill, {}, op->getOperand(1), {}, dims->n.front(), 0, 0};
  AffineExpr column = getAffineDimExpr(product.columnLoop, op.getContext());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  product.rightDim = *maps[1].getResultPosition(column);
  product.outDim = *maps[2].getResultPosition(column);
  if (auto transpose = product.right.getDefiningOp<linalg::TransposeOp>()) {
    product.transpose = transpose;
    product.right = transpose.getInput();
    product.rightDim = transpose.getPermutation()[product.rightDim];
  }
  matchPattern(product.right, m_Constant(&product.constant));
  return product;
}

static bool isSameShapeBut(RankedTensorType a, RankedTensorType b, unsigned dim) {
  if (a.getRank() != b.getRank() || a.getElementType() != b.getElementType())
    return false;
  for (int64_t i = 0; i < a.getRank(); ++i)
    if (i != dim && a.getDimSize(i) != b.getDimSize(i))
      return false;
  return true;
}

/// True if dimensions of a slice along `dim` collapse without a copy: outside of `dim` nothing may join it but ones.
static bool collapsesSlices(tensor::CollapseShapeOp collapse, unsigned dim) {
  ArrayRef<int64_t> shape = collapse.getSrcType().getShape();
  for (ArrayRef<int64_t> dims : attn::getGroups(collapse))
    if (llvm::is_contained(dims, int64_t(dim)))
      return llvm::all_of(dims, [&](int64_t outer) { return outer >= dim || shape[outer] == 1; });
  return true;
}

/// Ops that read a slice, or a view of one, where it lies.
static bool readsInPlace(Operation *user) {
  return isa<linalg::LinalgOp, tensor::ExpandShapeOp, tensor::DimOp, tensor::ExtractSliceOp, AttentionOp>(user);
}

/// True if the op reads a slice along `dim` without a copy, and so do those that read it through a view.
static bool readsSlices(Operation *user, unsigned dim) {
  auto collapse = dyn_cast<tensor::CollapseShapeOp>(user);
  if (collapse ? !collapsesSlices(collapse, dim) : !readsInPlace(user))
    return false;
  return !isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::ExtractSliceOp>(user) ||
         llvm::all_of(user->getResult(0).getUsers(), readsInPlace);
}

/// Why a product has no like, whatever the others are; empty if it may have.
static std::string findObstacle(Product &product) {
  if (ShapedType::isDynamicShape(product.op.getStaticLoopRanges()))
    return "a size is known at run time only";
  for (Operation *user : product.op->getResult(0).getUsers())
    if (!readsSlices(user, product.outDim))
      return "'" + user->getName().getStringRef().str() + "' needs its result in one piece";
  return "";
}

/// Why two products of one left operand stay apart; empty if they may be one.
static std::string findDifference(Product &a, Product &b, const DominanceInfo &dominance) {
  if (a.op->getBlock() != b.op->getBlock())
    return "it is in another block";
  if (a.rightType().getElementType() != b.rightType().getElementType() ||
      a.outType().getElementType() != b.outType().getElementType())
    return "element types differ";
  if (a.op->getName() != b.op->getName() || a.op.getIndexingMapsArray() != b.op.getIndexingMapsArray() ||
      a.op->getAttrDictionary() != b.op->getAttrDictionary() ||
      !OperationEquivalence::isRegionEquivalentTo(&a.op->getRegion(0), &b.op->getRegion(0),
                                                  OperationEquivalence::IgnoreLocations))
    return "kinds or indexing maps differ";
  if (bool(a.transpose) != bool(b.transpose) ||
      (a.transpose && a.transpose.getPermutation() != b.transpose.getPermutation()))
    return "transposes of the right operands differ";
  if (!isSameShapeBut(a.rightType(), b.rightType(), a.rightDim) || !isSameShapeBut(a.outType(), b.outType(), a.outDim))
    return "sizes differ";
  if (a.fill.getInputs()[0] != b.fill.getInputs()[0])
    return "initial values differ";
  if (bool(a.constant) != bool(b.constant))
    return "one right operand is a constant, one is not";
  if (!b.constant && !dominance.properlyDominates(b.right, a.op))
    return "a right operand is computed behind the other product";
  return "";
}

static void emitMissed(Product &product, const std::string &reason) {
  remark::missed(product.op.getLoc(), remark::RemarkOpts::name(DEBUG_TYPE).category("attn"))
      << "product is not merged with another one of the same left operand: " + reason;
}

using Group = SmallVector<Product>;

/// Puts the product into the first group that takes it, else into one of its own; a remark says why no group of the
/// same left operand did.
static void addToGroups(SmallVectorImpl<Group> &groups, Product &product, const DominanceInfo &dominance) {
  std::string difference;
  for (Group &group : groups) {
    if (group.front().op->getOperand(0) != product.op->getOperand(0))
      continue;
    difference = findDifference(group.front(), product, dominance);
    if (difference.empty()) {
      group.push_back(product);
      return;
    }
  }
  if (!difference.empty())
    emitMissed(product, difference);
  groups.push_back({product});
}

/// Groups of products that may be one, in the order of their first ones. Remarks say why others are in none.
static SmallVector<Group> findGroups(Operation *root) {
  SmallVector<Product> products;
  llvm::DenseMap<Value, int64_t> countOfLeft;
  root->walk([&](linalg::LinalgOp op) {
    if (std::optional<Product> product = matchProduct(op)) {
      products.push_back(*product);
      ++countOfLeft[op->getOperand(0)];
    }
  });
  llvm::erase_if(products, [&](Product &product) { return countOfLeft[product.op->getOperand(0)] < 2; });
  DominanceInfo dominance(root);
  SmallVector<Group> groups;
  for (Product &product : products) {
    std::string obstacle = findObstacle(product);
    if (obstacle.empty())
      addToGroups(groups, product, dominance);
    else
      emitMissed(product, obstacle);
  }
  llvm::erase_if(groups, [](const Group &group) { return group.size() < 2; });
  return groups;
}

//===----------------------------------------------------------------------===//
// Decision
//===----------------------------------------------------------------------===//

static MergeQuery queryOf(Group &group) {
  Product &first = group.front();
  MergeQuery query;
  query.m = query.k = 1;
  SmallVector<int64_t> ranges = first.op.getStaticLoopRanges();
  SmallVector<AffineMap> maps = first.op.getIndexingMapsArray();
  int64_t otherColumns = 1;
  for (unsigned loop = 0; loop < ranges.size(); ++loop) {
    bool inLeft = maps[0].isFunctionOfDim(loop), inOut = maps[2].isFunctionOfDim(loop);
    if (!inOut)
      query.k *= ranges[loop];
    else if (inLeft)
      query.m *= ranges[loop];
    else if (loop != first.columnLoop)
      otherColumns *= ranges[loop];
  }
  for (Product &product : group)
    query.n.push_back(otherColumns * product.columns());
  query.outBits = first.outType().getElementTypeBitWidth();
  query.sumBits = std::max(query.outBits, 32u);
  query.rightBits = first.rightType().getElementTypeBitWidth();
  query.isRightContiguous = first.rightDim == first.rightType().getRank() - 1;
  query.isRightConstant = bool(first.constant);
  return query;
}

/// "12 x 768 x (64 + 64)".
static std::string sizesText(const MergeQuery &query) {
  std::string columns;
  for (int64_t n : query.n)
    columns += (columns.empty() ? "" : " + ") + std::to_string(n);
  return llvm::formatv("{0} products of {1} x {2} x ({3}) (m, k, n)", query.n.size(), query.m, query.k, columns);
}

static std::string estimateText(const MergeEstimate &estimate) {
  return llvm::formatv("saves about {0:f2} us, costs {1:f2} us", estimate.saved * 1e-3, estimate.cost * 1e-3);
}

static void emitDecision(Group &group, const MergeQuery &query, const MergeEstimate &estimate) {
  remark::RemarkOpts options = remark::RemarkOpts::name(DEBUG_TYPE).category("attn");
  std::string text = sizesText(query);
  if (estimate.isWorth())
    remark::passed(group.front().op.getLoc(), options) << text + " become one: " + estimateText(estimate);
  else
    remark::missed(group.front().op.getLoc(), options)
        << text + " stay apart: one product " + estimateText(estimate) +
               (query.isRightConstant ? "; its result leaves the cache" : "; constant right operands need no copy");
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

static RankedTensorType withSize(RankedTensorType type, unsigned dim, int64_t size) {
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = size;
  return RankedTensorType::get(shape, type.getElementType());
}

static SmallVector<OpFoldResult> toAttributes(OpBuilder &b, ArrayRef<int64_t> values) {
  return getAsIndexOpFoldResult(b.getContext(), values);
}

/// The bytes of all elements in order; empty where they cannot be had.
static SmallVector<char> bytesOf(ElementsAttr constant) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(constant)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    return blob ? SmallVector<char>(blob->getData()) : SmallVector<char>();
  }
  auto dense = dyn_cast<DenseElementsAttr>(constant);
  if (!dense)
    return {};
  ArrayRef<char> raw = dense.getRawData();
  SmallVector<char> bytes;
  for (int64_t i = 0, end = dense.isSplat() ? dense.getNumElements() : 1; i < end; ++i)
    bytes.append(raw.begin(), raw.end());
  return bytes;
}

/// The one value of all elements of all constants; null where there are several.
static Attribute findSplat(Group &group) {
  Attribute value;
  for (Product &product : group) {
    auto splat = dyn_cast<SplatElementsAttr>(product.constant);
    if (!splat || (value && value != splat.getSplatValue<Attribute>()))
      return {};
    value = splat.getSplatValue<Attribute>();
  }
  return value;
}

/// The constants side by side along rightDim; null where one has no bytes.
static Value joinConstants(ImplicitLocOpBuilder &b, Group &group, RankedTensorType type) {
  if (Attribute value = findSplat(group))
    return arith::ConstantOp::create(b, DenseElementsAttr::get(type, value));
  unsigned dim = group.front().rightDim;
  SmallVector<SmallVector<char>> parts;
  for (Product &product : group)
    parts.push_back(bytesOf(product.constant));
  const int64_t outer = llvm::product_of(type.getShape().take_front(dim));
  SmallVector<char> bytes;
  for (int64_t row = 0; row < outer; ++row)
    for (const SmallVector<char> &part : parts) {
      const int64_t length = part.size() / outer;
      bytes.append(part.begin() + row * length, part.begin() + (row + 1) * length);
    }
  bool isSplat = false;
  if (!DenseElementsAttr::isValidRawBuffer(type, bytes, isSplat))
    return {};
  return arith::ConstantOp::create(b, DenseElementsAttr::getFromRawBuffer(type, bytes));
}

static Value joinAtRunTime(ImplicitLocOpBuilder &b, Group &group, RankedTensorType type) {
  Value joined = tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
  SmallVector<int64_t> offsets(type.getRank(), 0), strides(type.getRank(), 1);
  for (Product &product : group) {
    joined = tensor::InsertSliceOp::create(b, product.right, joined, toAttributes(b, offsets),
                                           toAttributes(b, product.rightType().getShape()), toAttributes(b, strides));
    offsets[product.rightDim] += product.columns();
  }
  return joined;
}

/// The transpose of `input` that `like` is of its own.
static Value transposeLike(ImplicitLocOpBuilder &b, linalg::TransposeOp like, Value input) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(input.getType()).getShape();
  SmallVector<int64_t> turned;
  for (int64_t dim : like.getPermutation())
    turned.push_back(shape[dim]);
  Value empty = tensor::EmptyOp::create(b, turned, getElementTypeOrSelf(input));
  return linalg::TransposeOp::create(b, input, empty, like.getPermutation())->getResult(0);
}

/// Puts a slice of `merged` in the place of each result.
static void replaceWithSlices(ImplicitLocOpBuilder &b, Group &group, Value merged) {
  int64_t rank = group.front().outType().getRank();
  SmallVector<int64_t> offsets(rank, 0), strides(rank, 1);
  for (Product &product : group) {
    Value slice =
        tensor::ExtractSliceOp::create(b, product.op.getLoc(), product.outType(), merged, toAttributes(b, offsets),
                                       toAttributes(b, product.outType().getShape()), toAttributes(b, strides));
    product.op->getResult(0).replaceAllUsesWith(slice);
    offsets[product.outDim] += product.columns();
  }
  // Not before: the first one is where everything is built.
  for (Product &product : group)
    product.op->erase();
}

static void mergeGroup(Group &group) {
  Product &first = group.front();
  SmallVector<Location> locations;
  int64_t columns = 0;
  for (Product &product : group) {
    columns += product.columns();
    locations.push_back(product.op.getLoc());
  }
  ImplicitLocOpBuilder b(FusedLoc::get(first.op.getContext(), locations), first.op);
  RankedTensorType rightType = withSize(first.rightType(), first.rightDim, columns);
  Value right = first.constant ? joinConstants(b, group, rightType) : joinAtRunTime(b, group, rightType);
  if (!right)
    return;
  if (first.transpose)
    right = transposeLike(b, first.transpose, right);
  RankedTensorType outType = withSize(first.outType(), first.outDim, columns);
  Value empty = tensor::EmptyOp::create(b, outType.getShape(), outType.getElementType());
  Value init = linalg::FillOp::create(b, first.fill.getInputs()[0], empty).getResult(0);
  Operation *merged = clone(b, first.op.getOperation(), outType, {first.op->getOperand(0), right, init});
  merged->setLoc(b.getLoc());
  replaceWithSlices(b, group, merged->getResult(0));
}

namespace {

struct MergeProjectionsPass : attn::impl::MergeProjectionsPassBase<MergeProjectionsPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Group> groups = findGroups(getOperation());
    if (groups.empty())
      return;
    llvm::Expected<TargetDescription> description = describeTarget(target);
    if (!description) {
      getOperation().emitError() << llvm::toString(description.takeError());
      return signalPassFailure();
    }
    for (Group &group : groups) {
      MergeQuery query = queryOf(group);
      MergeEstimate estimate = estimateMerge(*description, query);
      emitDecision(group, query, estimate);
      if (estimate.isWorth())
        mergeGroup(group);
    }
  }
};

} // namespace
