//===- InsertChecks.cpp - run-time checks of the ops around attention ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Upstream knows what most linalg and tensor ops expect (RuntimeVerifiableOpInterface); its own pass for it checks
// every op, those in score regions too, and prints each op whole into its message. What upstream does not check (slices
// that are inserted, expanded shapes, padding, divisors, reductions of nothing) is checked here. One visit of each op.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/ReshapeGroups.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Dialect/Flash/IR/FlashOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"
#include "llvm/ADT/TypeSwitch.h"

namespace attn {
#define GEN_PASS_DEF_INSERTCHECKSPASS
#include "Attn/AttnPasses.h.inc"
} // namespace attn

using namespace mlir;

/// `'linalg.matmul' at file.mlir:3:8: ` and a text.
static std::string makeMessage(Operation *op, StringRef text) {
  std::string message;
  llvm::raw_string_ostream stream(message);
  stream << "'" << op->getName() << "'";
  if (auto place = op->getLoc()->findInstanceOf<FileLineColLoc>())
    stream << " at " << place.getFilename().getValue() << ":" << place.getLine() << ":" << place.getColumn();
  stream << ": " << text;
  return message;
}

//===----------------------------------------------------------------------===//
// What upstream checks
//===----------------------------------------------------------------------===//

static bool isStatic(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return !shaped || shaped.hasStaticShape();
}

/// The ops that upstream checks here; null for others.
static RuntimeVerifiableOpInterface getVerifiable(Operation *op) {
  if (!isa_and_nonnull<linalg::LinalgDialect, tensor::TensorDialect>(op->getDialect()))
    return {};
  return dyn_cast<RuntimeVerifiableOpInterface>(op);
}

/// True if the types leave nothing for the run.
static bool isSettled(Operation *op) {
  if (auto cast = dyn_cast<tensor::CastOp>(op)) // no size is added
    return tensor::preservesStaticInformation(cast.getType(), cast.getSource().getType());
  if (auto dim = dyn_cast<tensor::DimOp>(op))
    return dim.getConstantIndex().has_value();
  return isa<linalg::LinalgOp>(op) && llvm::all_of(op->getOperandTypes(), isStatic);
}

//===----------------------------------------------------------------------===//
// What upstream does not check
//===----------------------------------------------------------------------===//

namespace {

/// Builds checks in front of one op. What is constant and holds leaves nothing behind.
class Checker {
public:
  explicit Checker(Operation *op) : op(op), b(op->getLoc(), op) {}

  void check() {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](tensor::InsertSliceOp insert) { checkSlice(insert); })
        .Case([&](tensor::ParallelInsertSliceOp insert) {
          b.setInsertionPoint(insert->getParentOp());
          checkSlice(insert);
        })
        .Case([&](tensor::ExpandShapeOp expand) { checkExpansion(expand); })
        .Case([&](tensor::CollapseShapeOp collapse) { checkCollapse(collapse); })
        .Case([&](tensor::ReshapeOp reshape) { checkReshape(reshape); })
        .Case([&](tensor::PadOp pad) {
          for (OpFoldResult amount : llvm::concat<OpFoldResult>(pad.getMixedLowPad(), pad.getMixedHighPad()))
            requireNotNegative(amount, "expects padding of at least 0, but got {0}");
        })
        .Case([&](linalg::LinalgOp loops) { checkReductions(loops); })
        .Case([&](tensor::EmptyOp empty) {
          for (Value size : empty.getDynamicSizes())
            requireNotNegative(size, "expects sizes of at least 0, but got {0}");
        })
        .Case<arith::DivSIOp, arith::RemSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp>(
            [&](auto divide) { checkDivision(divide.getLhs(), divide.getRhs(), /*isSigned=*/true); })
        .Case<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(
            [&](auto divide) { checkDivision(divide.getLhs(), divide.getRhs(), /*isSigned=*/false); });
  }

private:
  Value valueOf(OpFoldResult size) { return getValueOrCreateConstantIndexOp(b, b.getLoc(), size); }
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(b, value); }
  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpIOp::create(b, predicate, lhs, rhs);
  }
  Value sizeOf(Value tensor, int64_t dimension) {
    return valueOf(tensor::getMixedSize(b, b.getLoc(), tensor, dimension));
  }

  void require(Value holds, StringRef message, ValueRange values = {}) {
    attn::flash::RequireOp::create(b, holds, b.getStringAttr(makeMessage(op, message)), values);
  }

  void requireNotNegative(OpFoldResult size, StringRef message) {
    Value value = llvm::dyn_cast_if_present<Value>(size);
    if (!value || value.getDefiningOp<tensor::DimOp>())
      return;
    require(compare(arith::CmpIPredicate::sge, value, constant(0)), message, value);
  }

  /// Without iterations of its reductions, an op leaves its outputs as they were. Bufferization takes an output that
  /// the body does not read for overwritten.
  void checkReductions(linalg::LinalgOp loops) {
    bool readsAll =
        llvm::none_of(loops.getRegionOutputArgs(), [](BlockArgument argument) { return argument.use_empty(); });
    if (loops.getNumReductionLoops() == 0 || readsAll)
      return;
    SmallVector<int64_t> known = loops.getStaticLoopRanges();
    SmallVector<Range> ranges = loops.createLoopRanges(b, b.getLoc());
    for (auto [loop, kind] : llvm::enumerate(loops.getIteratorTypesArray())) {
      if (kind != utils::IteratorType::reduction || known[loop] > 0)
        continue;
      Value size = valueOf(ranges[loop].size);
      require(compare(arith::CmpIPredicate::sgt, size, constant(0)),
              "expects a reduction whose body does not read its output to have iterations, but loop " +
                  std::to_string(loop) + " has {0}",
              size);
    }
  }

  template <typename OpTy> void checkSlice(OpTy insert) {
    llvm::SmallBitVector dropped = insert.getDroppedDims();
    int64_t sourceDim = 0;
    for (int64_t k = 0; k < insert.getDestType().getRank(); ++k) {
      OpFoldResult size = insert.getMixedSizes()[k];
      if (!dropped.test(k))
        checkSourceSize(insert.getSource(), sourceDim++, size);
      checkSliceEnds(insert.getMixedOffsets()[k], size, insert.getMixedStrides()[k], insert.getDest(), k);
    }
  }

  void checkSourceSize(Value source, int64_t dimension, OpFoldResult size) {
    if (!cast<RankedTensorType>(source.getType()).isDynamicDim(dimension) && isa<Attribute>(size))
      return;
    Value got = sizeOf(source, dimension), wanted = valueOf(size);
    require(compare(arith::CmpIPredicate::eq, got, wanted), "expects a source of size {0}, but got {1}", {wanted, got});
  }

  /// 0 <= offset and offset + (size - 1) * stride < the destination's size; of an empty slice, offset <= it.
  void checkSliceEnds(OpFoldResult offset, OpFoldResult size, OpFoldResult stride, Value dest, int64_t dimension) {
    bool isDynamic = cast<RankedTensorType>(dest.getType()).isDynamicDim(dimension);
    if (!isDynamic && isa<Attribute>(offset) && isa<Attribute>(size) && isa<Attribute>(stride))
      return;
    requireNotNegative(size, "expects sizes of at least 0, but got {0}");
    Value first = valueOf(offset), count = valueOf(size), end = sizeOf(dest, dimension);
    Value steps = arith::MulIOp::create(
        b, arith::MaxSIOp::create(b, arith::SubIOp::create(b, count, constant(1)), constant(0)), valueOf(stride));
    Value last = arith::AddIOp::create(b, first, steps);
    Value isEmpty = compare(arith::CmpIPredicate::eq, count, constant(0));
    // As unsigned numbers, negative ones are beyond every end.
    Value firstInside = compare(arith::CmpIPredicate::ule, first, end);
    Value lastInside = arith::OrIOp::create(b, isEmpty, compare(arith::CmpIPredicate::ult, last, end));
    require(arith::AndIOp::create(b, firstInside, lastInside),
            "expects its slice to be inside dimension " + std::to_string(dimension) +
                " of size {0}, but its last element is at {1}",
            {end, last});
  }

  /// The other side of a reshape, named `side`, has no dimensions: all sizes are 1.
  void checkUnits(ArrayRef<OpFoldResult> sizes, const std::string &side) {
    for (auto [dimension, size] : llvm::enumerate(sizes))
      if (auto value = dyn_cast<Value>(size))
        require(compare(arith::CmpIPredicate::eq, value, constant(1)),
                "expects a size of 1 in dimension " + std::to_string(dimension) + ", as its " + side +
                    " has no dimensions, but got {0}",
                value);
  }

  void checkCollapse(tensor::CollapseShapeOp collapse) {
    if (collapse.getResultType().getRank() == 0)
      checkUnits(tensor::getMixedSizes(b, b.getLoc(), collapse.getSrc()), "result");
  }

  void checkExpansion(tensor::ExpandShapeOp expand) {
    SmallVector<OpFoldResult> sizes = expand.getMixedOutputShape();
    if (expand.getSrcType().getRank() == 0)
      return checkUnits(sizes, "source");
    for (auto [dimension, group] : llvm::enumerate(attn::getGroups(expand))) {
      if (llvm::all_of(group, [&](int64_t k) { return isa<Attribute>(sizes[k]); }) &&
          !expand.getSrcType().isDynamicDim(dimension))
        continue;
      Value product = constant(1), got = sizeOf(expand.getSrc(), dimension);
      for (int64_t k : group) {
        requireNotNegative(sizes[k], "expects sizes of at least 0, but got {0}");
        product = arith::MulIOp::create(b, product, valueOf(sizes[k]));
      }
      require(compare(arith::CmpIPredicate::eq, product, got),
              "expects sizes whose product is the source's size {0} in dimension " + std::to_string(dimension) +
                  ", but got {1}",
              {got, product});
    }
  }

  /// The sizes are elements of a tensor; those that the result's type has are the same, and so is the product.
  void checkReshape(tensor::ReshapeOp reshape) {
    auto from = dyn_cast<RankedTensorType>(reshape.getSource().getType());
    auto to = dyn_cast<RankedTensorType>(reshape.getType());
    if (!from || !to || (from.hasStaticShape() && to.hasStaticShape()))
      return;
    Value product = constant(1), got = constant(1);
    for (int64_t dim = 0; dim < from.getRank(); ++dim)
      got = arith::MulIOp::create(b, got, sizeOf(reshape.getSource(), dim));
    for (int64_t dim = 0; dim < to.getRank(); ++dim) {
      Value size = tensor::ExtractOp::create(b, reshape.getShape(), constant(dim));
      if (!size.getType().isIndex())
        size = arith::IndexCastOp::create(b, b.getIndexType(), size);
      if (!to.isDynamicDim(dim))
        require(compare(arith::CmpIPredicate::eq, size, constant(to.getDimSize(dim))),
                "expects the size of dimension " + std::to_string(dim) + " to be that of its type, but got {0}", size);
      else
        requireNotNegative(size, "expects sizes of at least 0, but got {0}");
      product = arith::MulIOp::create(b, product, size);
    }
    require(compare(arith::CmpIPredicate::eq, product, got),
            "expects sizes whose product is the number {0} of its elements, but got {1}", {got, product});
  }

  /// Of scalars: by zero, and the lowest value by -1, the CPU traps.
  void checkDivision(Value lhs, Value rhs, bool isSigned) {
    Type type = rhs.getType();
    APInt divisor;
    if (!type.isIntOrIndex() ||
        (matchPattern(rhs, m_ConstantInt(&divisor)) && !divisor.isZero() && !(isSigned && divisor.isAllOnes())))
      return;
    unsigned bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
    auto number = [&](const APInt &value) { return arith::ConstantOp::create(b, b.getIntegerAttr(type, value)); };
    require(compare(arith::CmpIPredicate::ne, rhs, number(APInt::getZero(bits))), "divides by zero");
    if (!isSigned || bits == 1)
      return;
    Value isLowest = compare(arith::CmpIPredicate::eq, lhs, number(APInt::getSignedMinValue(bits)));
    Value isMinusOne = compare(arith::CmpIPredicate::eq, rhs, number(APInt::getAllOnes(bits)));
    Value overflows = arith::AndIOp::create(b, isLowest, isMinusOne);
    Value yes = arith::ConstantOp::create(b, b.getBoolAttr(true));
    require(arith::XOrIOp::create(b, overflows, yes), "overflows: the lowest value divided by -1");
  }

  Operation *op;
  ImplicitLocOpBuilder b;
};

struct InsertChecks : attn::impl::InsertChecksPassBase<InsertChecks> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      // Regions of attention hold pure operations alone; their reads are clamped.
      if (isa_and_nonnull<attn::AttnDialect>(op->getDialect()))
        return WalkResult::skip();
      ops.push_back(op);
      return WalkResult::advance();
    });
    for (Operation *op : ops) {
      RuntimeVerifiableOpInterface verifiable = getVerifiable(op);
      if (!verifiable || isa<linalg::LinalgOp>(op))
        Checker(op).check();
      if (verifiable && !isSettled(op)) {
        OpBuilder builder(op);
        verifiable.generateRuntimeVerification(builder, op->getLoc(), makeMessage);
      }
    }
  }
};

} // namespace
