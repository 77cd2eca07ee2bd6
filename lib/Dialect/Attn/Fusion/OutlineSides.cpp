//===- OutlineSides.cpp - two computations as functions of the same inputs ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OutlineSides.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace attn;
using namespace attn::fusion;

/// Linalg bodies may assert; the fuser reads them all the same.
static bool isCopied(Operation *op) { return op && (isa<linalg::LinalgOp>(op) || isMemoryEffectFree(op)); }

static bool isInput(Value value, const SetVector<Value> &leaves) {
  Operation *op = value.getDefiningOp();
  if (!isCopied(op))
    return true;
  return leaves.contains(value) && !op->hasTrait<OpTrait::ConstantLike>();
}

/// The ops that compute `results`, in an order in which they can; adds what they start from to `inputs`.
static SetVector<Operation *> collectOps(ArrayRef<Value> results, const SetVector<Value> &leaves,
                                         SetVector<Value> &inputs) {
  SetVector<Operation *> ops;
  SmallVector<Value> pending(results);
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (isInput(value, leaves)) {
      inputs.insert(value);
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (!ops.insert(op))
      continue;
    llvm::append_range(pending, op->getOperands());
    SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    pending.append(captured.begin(), captured.end());
  }
  return topologicalSort(ops);
}

bool fusion::dependsOn(Value value, const SetVector<Value> &leaves) {
  if (leaves.contains(value))
    return false;
  SetVector<Value> inputs;
  collectOps(value, leaves, inputs);
  return llvm::any_of(inputs, [&](Value input) { return leaves.contains(input); });
}

static func::FuncOp buildFunction(ModuleOp module, StringRef name, ArrayRef<Value> results,
                                  const SetVector<Operation *> &ops, ArrayRef<Value> inputs) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Location loc = module.getLoc();
  TypeRange inputTypes = ValueRange(inputs).getTypes(), resultTypes = ValueRange(results).getTypes();
  auto function = func::FuncOp::create(builder, loc, name, builder.getFunctionType(inputTypes, resultTypes));
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  IRMapping map;
  map.map(inputs, body->getArguments());
  for (Operation *op : ops)
    builder.clone(*op, map);
  auto copies = llvm::map_to_vector(results, [&](Value value) { return map.lookup(value); });
  func::ReturnOp::create(builder, loc, copies);
  return function;
}

OutlinedSides fusion::outlineSides(ModuleOp module, ArrayRef<Value> before, ArrayRef<Value> after,
                                   const SetVector<Value> &leaves) {
  SetVector<Value> inputs;
  SetVector<Operation *> opsBefore = collectOps(before, leaves, inputs), opsAfter = collectOps(after, leaves, inputs);
  OutlinedSides sides;
  sides.inputs = inputs.takeVector();
  sides.before = buildFunction(module, "before", before, opsBefore, sides.inputs);
  sides.after = buildFunction(module, "after", after, opsAfter, sides.inputs);
  return sides;
}
