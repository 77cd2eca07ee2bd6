//===- VerifyLinalg.cpp - indexing maps that loops cannot follow ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// linalg's verifier, and its check at run time, look at the first and the last point of the loops alone. That tells
// about all points where an index never falls, or never rises, in every loop. For others the range of the index is
// bounded here, part by part.
//
//===----------------------------------------------------------------------===//

#include "VerifyGraph.h"
#include "mlir/IR/AffineExprVisitor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;
using utils::IteratorType;

/// Diagnostics print neither expressions nor maps by themselves.
template <typename T> static std::string toText(T value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

LogicalResult attn::verifyDivisors(Operation *op, AffineMap map) {
  AffineExpr divisor;
  map.walkExprs([&](AffineExpr expr) {
    bool divides =
        llvm::is_contained({AffineExprKind::Mod, AffineExprKind::FloorDiv, AffineExprKind::CeilDiv}, expr.getKind());
    AffineExpr candidate = divides ? cast<AffineBinaryOpExpr>(expr).getRHS() : AffineExpr();
    auto constant = dyn_cast_if_present<AffineConstantExpr>(candidate);
    if (candidate && (!constant || constant.getValue() < 1))
      divisor = candidate;
  });
  if (!divisor)
    return success();
  return op->emitOpError("expects maps to divide by constants of at least 1, but ")
         << toText(map) << " divides by " << toText(divisor);
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

static bool isZero(AffineExpr expr) {
  auto constant = dyn_cast<AffineConstantExpr>(expr);
  return constant && constant.getValue() == 0;
}

/// Every element of the output is written, and by one point of the parallel loops.
static LogicalResult verifyOutput(linalg::LinalgOp op, OpOperand &output, ArrayRef<int64_t> ranges) {
  AffineMap map = op.getMatchingIndexingMap(&output);
  auto type = cast<ShapedType>(output.get().getType());
  llvm::SmallBitVector used(map.getNumDims());
  for (auto [k, result] : llvm::enumerate(map.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(result);
    if ((!dim || used.test(dim.getPosition())) && !(isZero(result) && type.getDimSize(k) == 1))
      return op->emitOpError("expects each dimension of an output to be a loop of its own, but output ")
             << output.getOperandNumber() - op.getNumDpsInputs() << " has the map " << toText(map);
    if (dim)
      used.set(dim.getPosition());
  }
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kind == IteratorType::parallel && !used.test(loop) && ranges[loop] != 1)
      return op->emitOpError("expects each of its parallel loops to be a dimension of every output, but loop ")
             << loop << " is none of output " << output.getOperandNumber() - op.getNumDpsInputs() << ", whose map is "
             << toText(map) << "; make it a reduction";
  return success();
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

namespace {

/// Which way an index goes while loops go up.
enum class Trend { Constant, Up, Down, Mixed };

/// Bounds of an index, and how it goes.
struct IndexRange {
  int64_t low, high;
  Trend trend;
};

/// Bounds an index over all points of loops of the given sizes. Divisors are positive.
class IndexBounds : public AffineExprVisitor<IndexBounds, IndexRange> {
public:
  explicit IndexBounds(ArrayRef<int64_t> sizes) : sizes(sizes) {}

  IndexRange visitConstantExpr(AffineConstantExpr expr) { return {expr.getValue(), expr.getValue(), Trend::Constant}; }
  IndexRange visitSymbolExpr(AffineSymbolExpr) { return {-kLarge, kLarge, Trend::Mixed}; }
  IndexRange visitDimExpr(AffineDimExpr expr) {
    int64_t size = sizes[expr.getPosition()];
    int64_t last = ShapedType::isDynamic(size) ? kLarge : std::max<int64_t>(size, 1) - 1;
    return {0, last, last == 0 ? Trend::Constant : Trend::Up};
  }
  IndexRange visitAddExpr(AffineBinaryOpExpr expr) {
    IndexRange a = visit(expr.getLHS()), b = visit(expr.getRHS());
    Trend trend = a.trend == Trend::Constant                         ? b.trend
                  : b.trend == Trend::Constant || a.trend == b.trend ? a.trend
                                                                     : Trend::Mixed;
    return {clamp(a.low + b.low), clamp(a.high + b.high), trend};
  }
  IndexRange visitMulExpr(AffineBinaryOpExpr expr) {
    IndexRange a = visit(expr.getLHS());
    auto factor = dyn_cast<AffineConstantExpr>(expr.getRHS());
    if (!factor)
      return {-kLarge, kLarge, Trend::Mixed};
    int64_t low = times(a.low, factor.getValue()), high = times(a.high, factor.getValue());
    if (factor.getValue() >= 0)
      return {low, high, a.trend};
    Trend turned = a.trend == Trend::Up ? Trend::Down : a.trend == Trend::Down ? Trend::Up : a.trend;
    return {high, low, turned};
  }
  IndexRange visitFloorDivExpr(AffineBinaryOpExpr expr) {
    return divide(expr, [](int64_t value, int64_t by) { return llvm::divideFloorSigned(value, by); });
  }
  IndexRange visitCeilDivExpr(AffineBinaryOpExpr expr) {
    return divide(expr, [](int64_t value, int64_t by) { return llvm::divideCeilSigned(value, by); });
  }
  IndexRange visitModExpr(AffineBinaryOpExpr expr) {
    IndexRange a = visit(expr.getLHS());
    int64_t by = cast<AffineConstantExpr>(expr.getRHS()).getValue();
    if (a.low >= 0 && a.high < by)
      return a;
    return {0, by - 1, Trend::Mixed};
  }

private:
  /// Beyond any index; sums of two fit.
  static constexpr int64_t kLarge = int64_t(1) << 60;

  static int64_t clamp(int64_t value) { return std::clamp(value, -kLarge, kLarge); }
  static int64_t times(int64_t a, int64_t b) {
    int64_t product;
    if (llvm::MulOverflow(a, b, product))
      return (a < 0) == (b < 0) ? kLarge : -kLarge;
    return clamp(product);
  }
  IndexRange divide(AffineBinaryOpExpr expr, llvm::function_ref<int64_t(int64_t, int64_t)> quotient) {
    IndexRange a = visit(expr.getLHS());
    int64_t by = cast<AffineConstantExpr>(expr.getRHS()).getValue();
    return {quotient(a.low, by), quotient(a.high, by), a.trend};
  }

  ArrayRef<int64_t> sizes;
};

} // namespace

/// Each index is inside, or is so if it is at the first and the last point.
static LogicalResult verifyInput(linalg::LinalgOp op, OpOperand &input, ArrayRef<int64_t> ranges) {
  AffineMap map = op.getMatchingIndexingMap(&input);
  for (auto [k, result] : llvm::enumerate(map.getResults())) {
    IndexRange range = IndexBounds(ranges).visit(result);
    int64_t size = cast<ShapedType>(input.get().getType()).getDimSize(k);
    bool isInside = range.low >= 0 && !ShapedType::isDynamic(size) && range.high < size;
    if (range.trend == Trend::Mixed && !isInside)
      return op->emitOpError("expects to read inside of its operands, but nothing tells that the index ")
             << toText(result) << " of operand " << input.getOperandNumber() << " stays inside dimension " << k
             << "; give its sizes, or use tensor.extract";
  }
  return success();
}

LogicalResult attn::verifyLinalgMaps(linalg::LinalgOp op) {
  for (AffineMap map : op.getIndexingMapsArray())
    if (failed(verifyDivisors(op, map)))
      return failure();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (OpOperand *input : op.getDpsInputOperands())
    if (isa<ShapedType>(input->get().getType()) && failed(verifyInput(op, *input, ranges)))
      return failure();
  for (OpOperand &output : op.getDpsInitsMutable())
    if (failed(verifyOutput(op, output, ranges)))
      return failure();
  return success();
}
