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
  double heads, kvHeads, headDim, valueDim;
  int64_t batch, queryLen, kvLen;
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
  auto kvHeads = letterSize(evaluator, op.getKey(), op.getKeyMap(), kHeadDim);
  auto kvLen = letterSize(evaluator, op.getKey(), op.getKeyMap(), kLengthDim);
  auto valueDim = letterSize(evaluator, op.getValue(), op.getValueMap(), kFeatureDim);
  if (!batch || !heads || !kvHeads || !queryLen || !headDim || !kvLen || !valueDim)
    return std::nullopt;
  return AttentionSizes{double(*heads), double(*kvHeads), double(*headDim), double(*valueDim), *batch, *queryLen,
                        *kvLen};
}

namespace {

/// What the causal and window masks leave of one head.
struct Kept {
  /// (query, key) pairs.
  double pairs = 0;
  /// Keys from the first to the last that any query sees.
  int64_t keys = 0;
};

} // namespace

/// kvLen: the logical end of the keys.
static Kept countKept(AttentionOp op, int64_t queryLen, int64_t kvLen) {
  auto offsetOf = [&](Diagonal diagonal) { return diagonal == Diagonal::BottomRight ? kvLen - queryLen : 0; };
  Kept kept;
  int64_t firstOfAll = kvLen, lastOfAll = -1;
  for (int64_t row = 0; row < queryLen; ++row) {
    int64_t first = 0, last = kvLen - 1;
    for (mlir::Attribute mask : op.getMasks().value_or(mlir::ArrayAttr::get(op.getContext(), {}))) {
      if (auto causal = llvm::dyn_cast<CausalAttr>(mask))
        last = std::min(last, row + offsetOf(causal.getDiagonal()));
      auto window = llvm::dyn_cast<WindowAttr>(mask);
      if (window && window.getLeft() >= 0)
        first = std::max(first, row + offsetOf(window.getDiagonal()) - window.getLeft());
      if (window && window.getRight() >= 0)
        last = std::min(last, row + offsetOf(window.getDiagonal()) + window.getRight());
    }
    if (first > last)
      continue;
    kept.pairs += double(last - first + 1);
    firstOfAll = std::min(firstOfAll, first);
    lastOfAll = std::max(lastOfAll, last);
  }
  kept.keys = std::max<int64_t>(0, lastOfAll - firstOfAll + 1);
  return kept;
}

/// The logical end of the keys of each batch entry: kv_lengths where they are data of an input, else kvLen.
static std::vector<int64_t> keyEnds(AttentionOp op, const AttentionSizes &sizes, const SizeEvaluator &evaluator) {
  std::vector<int64_t> ends(sizes.batch, sizes.kvLen);
  if (!op.getKvLengths())
    return ends;
  std::vector<int64_t> lengths = evaluator.elementsOf(op.getKvLengths()).value_or(ends);
  for (size_t b = 0; b < ends.size() && b < lengths.size(); ++b)
    ends[b] = std::clamp<int64_t>(lengths[b], 0, sizes.kvLen);
  return ends;
}

static double bytesOfElement(mlir::Value tensor) {
  return mlir::getElementTypeOrSelf(tensor.getType()).getIntOrFloatBitWidth() / 8.0;
}

/// Adds the work of one attention.
static void addWork(WorkCount &count, AttentionOp op, const AttentionSizes &sizes, const std::vector<int64_t> &ends) {
  double perPair = 2 * sizes.heads * (sizes.headDim + sizes.valueDim), queries = double(sizes.queryLen);
  double perKey =
      sizes.kvHeads * (sizes.headDim * bytesOfElement(op.getKey()) + sizes.valueDim * bytesOfElement(op.getValue()));
  double perQuery =
      sizes.heads * (sizes.headDim * bytesOfElement(op.getQuery()) + sizes.valueDim * bytesOfElement(op.getOut()));
  for (int64_t end : ends) {
    Kept kept = countKept(op, sizes.queryLen, end);
    count.total += perPair * queries * double(sizes.kvLen);
    count.kept += perPair * kept.pairs;
    count.bytes += perKey * double(kept.keys) + perQuery * queries;
  }
  ++count.attentions;
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
    addWork(count, attention, *sizes, keyEnds(attention, *sizes, evaluator));
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
