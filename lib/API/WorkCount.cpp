//===- WorkCount.cpp - sizes of results, work of attentions ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Arguments.h"
#include "Diagnostics.h"
#include "ModuleImpl.h"
#include "SizeEvaluator.h"

#include "attn/Dialect/Attn/IR/AttnOps.h"
#include <algorithm>

using namespace attn;

namespace {

struct AttentionSizes {
  double batch, heads, headDim, valueDim;
  int64_t queryLen, kvLen;
};

} // namespace

/// The size of a letter of a layout; 1 where the layout leaves it out.
static std::optional<int64_t> letterSize(const SizeEvaluator &evaluator, mlir::Value operand, mlir::AffineMap map,
                                         LayoutDim letter) {
  std::optional<unsigned> dimension = findLayoutDim(map, letter);
  return dimension ? evaluator.sizeOf(operand, *dimension) : std::optional<int64_t>(1);
}

static std::optional<AttentionSizes> sizesOf(AttentionOp op, const SizeEvaluator &evaluator) {
  auto batch = letterSize(evaluator, op.getQuery(), op.getQueryMap(), kBatchDim);
  auto heads = letterSize(evaluator, op.getQuery(), op.getQueryMap(), kHeadDim);
  auto queryLen = letterSize(evaluator, op.getQuery(), op.getQueryMap(), kLengthDim);
  auto headDim = letterSize(evaluator, op.getQuery(), op.getQueryMap(), kFeatureDim);
  auto kvLen = letterSize(evaluator, op.getKey(), op.getKeyMap(), kLengthDim);
  auto valueDim = letterSize(evaluator, op.getValue(), op.getValueMap(), kFeatureDim);
  if (!batch || !heads || !queryLen || !headDim || !kvLen || !valueDim)
    return std::nullopt;
  return AttentionSizes{double(*batch), double(*heads), double(*headDim), double(*valueDim), *queryLen, *kvLen};
}

/// (query, key) pairs of one head that the causal and window masks keep.
static double countKept(AttentionOp op, const AttentionSizes &sizes) {
  auto offsetOf = [&](Diagonal diagonal) {
    return diagonal == Diagonal::BottomRight ? sizes.kvLen - sizes.queryLen : 0;
  };
  double pairs = 0;
  for (int64_t row = 0; row < sizes.queryLen; ++row) {
    int64_t first = 0, last = sizes.kvLen - 1;
    for (mlir::Attribute mask : op.getMasks().value_or(mlir::ArrayAttr::get(op.getContext(), {}))) {
      if (auto causal = llvm::dyn_cast<CausalAttr>(mask))
        last = std::min(last, row + offsetOf(causal.getDiagonal()));
      auto window = llvm::dyn_cast<WindowAttr>(mask);
      if (window && window.getLeft() >= 0)
        first = std::max(first, row + offsetOf(window.getDiagonal()) - window.getLeft());
      if (window && window.getRight() >= 0)
        last = std::min(last, row + offsetOf(window.getDiagonal()) + window.getRight());
    }
    pairs += std::max<int64_t>(0, last - first + 1);
  }
  return pairs;
}

static Error unsupported(mlir::Operation *op, const std::string &why) {
  return {ErrorCode::Unsupported, "the work cannot be counted: " + why, convertLocation(op->getLoc())};
}

static Result<WorkCount> countAttentions(mlir::func::FuncOp function, const SizeEvaluator &evaluator) {
  WorkCount count;
  Status status;
  function.walk([&](mlir::Operation *op) {
    if (llvm::isa<mlir::func::CallOp>(op))
      status = unsupported(op, "the function calls another one");
    auto attention = llvm::dyn_cast<AttentionOp>(op);
    if (!attention || !status)
      return;
    if (op->getParentOp() != function)
      status = unsupported(op, "this attention is inside of control flow");
    std::optional<AttentionSizes> sizes = sizesOf(attention, evaluator);
    if (!sizes)
      status = unsupported(op, "the sizes of this attention do not follow from those of the inputs");
    if (!status)
      return;
    double perPair = 2 * sizes->batch * sizes->heads * (sizes->headDim + sizes->valueDim);
    count.total += perPair * double(sizes->queryLen) * double(sizes->kvLen);
    count.kept += perPair * countKept(attention, *sizes);
    ++count.attentions;
  });
  if (!status)
    return status.error();
  return count;
}

Result<WorkCount> Module::countWork(std::string_view name, const std::vector<Argument> &inputs) const {
  auto signature = impl->find(name);
  if (!signature)
    return signature.error();
  if (Status status = checkInputShapes(**signature, inputs); !status)
    return status.error();
  std::lock_guard<std::mutex> lock(impl->mutex);
  mlir::func::FuncOp function = impl->lookup(**signature);
  return countAttentions(function, SizeEvaluator(function, inputs));
}

Result<std::vector<std::vector<int64_t>>> Module::resultSizes(std::string_view name,
                                                              const std::vector<Argument> &inputs) const {
  auto signature = impl->find(name);
  if (!signature)
    return signature.error();
  if (Status status = checkInputShapes(**signature, inputs); !status)
    return status.error();
  std::lock_guard<std::mutex> lock(impl->mutex);
  mlir::func::FuncOp function = impl->lookup(**signature);
  SizeEvaluator evaluator(function, inputs);
  std::vector<std::vector<int64_t>> result((*signature)->results.size());
  for (size_t i = 0; i < result.size(); ++i) {
    result[i] = (*signature)->results[i].sizes;
    // Where there is one block, its terminator has the results.
    if (!function.getBody().hasOneBlock())
      continue;
    for (size_t d = 0; d < result[i].size(); ++d)
      result[i][d] = evaluator.sizeOf(function.front().getTerminator()->getOperand(i), d).value_or(dynamicSize);
  }
  return result;
}
