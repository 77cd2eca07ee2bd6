//===- RaiseScan.cpp - scans as loops over tensors ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A scan is sequential along one dimension, which linalg cannot say. Cumulative sums of an export are small (positions,
// lengths), so plain loops do: one over each other dimension, the innermost along the scan. They update in place after
// bufferization.
//
//===----------------------------------------------------------------------===//

#include "RaiseForeign.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;

namespace {

/// What a scan says: output[k] = f(output[k - 1], input[k]) along `dimension`, from output[0] = input[0] if inclusive;
/// else output[k] = f(output[k - 1], input[k - 1]) from output[0] = accumulator. The last output of each row is the
/// second result.
struct Scan {
  Value input, output, accumulator;
  int64_t dimension;
  bool isInclusive;
  Block *function;
};

} // namespace

static FailureOr<Scan> readScan(Operation *op) {
  auto dimension = op->getAttrOfType<IntegerAttr>("dimension");
  auto inclusive = op->getAttrOfType<BoolAttr>("inclusive");
  if (op->getNumOperands() != 3 || op->getNumResults() != 2 || !dimension || !inclusive)
    return op->emitOpError("expects input, output and accumulator, two results, and the attributes dimension and "
                           "inclusive");
  auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  auto rowType = dyn_cast<RankedTensorType>(op->getOperand(2).getType());
  int64_t along = dimension.getInt();
  if (!type || !rowType || along < 0 || along >= type.getRank() || rowType.getRank() != type.getRank() - 1 ||
      op->getResultTypes() != op->getOperands().drop_front().getTypes() || op->getOperand(1).getType() != type)
    return op->emitOpError("expects tensors of one shape, an accumulator without the dimension ")
           << along << ", and results of the same types, but got " << op->getOperandTypes();
  Type element = type.getElementType();
  bool hasFunction = op->getNumRegions() == 1 && op->getRegion(0).hasOneBlock();
  Block *block = hasFunction ? &op->getRegion(0).front() : nullptr;
  auto isElement = [&](Type argument) { return argument == element; };
  if (!block || block->getNumArguments() != 2 || !llvm::all_of(block->getArgumentTypes(), isElement) ||
      block->empty() || block->back().getNumOperands() != 1 || block->back().getOperand(0).getType() != element)
    return op->emitOpError("expects a region of one block that takes two elements and yields one");
  for (Operation &inner : withoutLast(*block))
    if (!inner.isRegistered())
      return op->emitOpError("expects known operations in its region, but got '") << inner.getName() << "'";
  return Scan{op->getOperand(0), op->getOperand(1), op->getOperand(2), along, inclusive.getValue(), block};
}

static Value applyFunction(OpBuilder &builder, Block *function, Value left, Value right) {
  IRMapping mapping;
  mapping.map(function->getArguments(), ValueRange{left, right});
  for (Operation &inner : withoutLast(*function))
    builder.clone(inner, mapping);
  return mapping.lookupOrDefault(function->back().getOperand(0));
}

/// The output at k along the row whose other indices are given, from the one before it; input and output have k in
/// `at`.
static Value nextOutput(ImplicitLocOpBuilder &builder, const Scan &scan, Value isFirst, Value previous,
                        Value previousInput, ValueRange at) {
  Value input = tensor::ExtractOp::create(builder, scan.input, at);
  auto choose = scf::IfOp::create(
      builder, isFirst,
      [&](OpBuilder &then, Location loc) { scf::YieldOp::create(then, loc, scan.isInclusive ? input : previous); },
      [&](OpBuilder &otherwise, Location loc) {
        scf::YieldOp::create(
            otherwise, loc,
            applyFunction(otherwise, scan.function, previous, scan.isInclusive ? input : previousInput));
      });
  return choose.getResult(0);
}

/// One row: returns the output and the accumulator with this row written. `outer` holds the indices of the other
/// dimensions.
static SmallVector<Value> scanRow(ImplicitLocOpBuilder &builder, const Scan &scan, ValueRange outer, Value output,
                                  Value accumulator) {
  Value zero = arith::ConstantIndexOp::create(builder, 0), one = arith::ConstantIndexOp::create(builder, 1);
  Value initial = tensor::ExtractOp::create(builder, accumulator, outer);
  auto loop = scf::ForOp::create(builder, zero, getDimension(builder, scan.input, scan.dimension), one,
                                 ValueRange{initial, initial, output});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> at(outer);
  at.insert(at.begin() + scan.dimension, loop.getInductionVar());
  Value isFirst = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, loop.getInductionVar(), zero);
  Value value = nextOutput(builder, scan, isFirst, loop.getRegionIterArg(0), loop.getRegionIterArg(1), at);
  Value input = tensor::ExtractOp::create(builder, scan.input, at);
  Value written = tensor::InsertOp::create(builder, value, loop.getRegionIterArg(2), at);
  scf::YieldOp::create(builder, ValueRange{value, input, written});
  builder.setInsertionPointAfter(loop);
  Value last = tensor::InsertOp::create(builder, loop.getResult(0), accumulator, outer);
  return {loop.getResult(2), last};
}

/// The loops over the dimensions from `outer.size()` on, of the accumulator.
static SmallVector<Value> scanRows(ImplicitLocOpBuilder &builder, const Scan &scan, ValueRange outer, Value output,
                                   Value accumulator) {
  auto rowType = cast<RankedTensorType>(accumulator.getType());
  if (static_cast<int64_t>(outer.size()) == rowType.getRank())
    return scanRow(builder, scan, outer, output, accumulator);
  Value zero = arith::ConstantIndexOp::create(builder, 0), one = arith::ConstantIndexOp::create(builder, 1);
  auto loop = scf::ForOp::create(builder, zero, getDimension(builder, scan.accumulator, outer.size()), one,
                                 ValueRange{output, accumulator});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> inner(outer);
  inner.push_back(loop.getInductionVar());
  scf::YieldOp::create(builder, scanRows(builder, scan, inner, loop.getRegionIterArg(0), loop.getRegionIterArg(1)));
  return SmallVector<Value>(loop.getResults());
}

LogicalResult attn::raiseScan(Operation *op) {
  FailureOr<Scan> scan = readScan(op);
  if (failed(scan))
    return failure();
  ImplicitLocOpBuilder builder(op->getLoc(), op);
  op->replaceAllUsesWith(scanRows(builder, *scan, {}, scan->output, scan->accumulator));
  op->erase();
  return success();
}
