//===- WorkCount.cpp - sizes of results, work of attentions ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Arguments.h"
#include "Diagnostics.h"
#include "Elements.h"
#include "ModuleImpl.h"
#include "SizeEvaluator.h"

#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Inspection/KeptScores.h"
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

/// Above this many elements an argument is not looked at: each becomes an attribute.
static constexpr int64_t kMaxKnownElements = int64_t(1) << 22;

/// Sizes of an attention and the integers that its function is called with, as its mask may read them.
static TileMapInputs maskInputs(mlir::func::FuncOp function, const AttentionSizes &sizes,
                                const std::vector<Argument> &inputs) {
  TileMapInputs result;
  result.sizes = {{"batch", sizes.batch},
                  {"heads", static_cast<int64_t>(sizes.heads)},
                  {"queryLen", sizes.queryLen},
                  {"kvLen", sizes.kvLen}};
  for (auto [position, input] : llvm::enumerate(inputs)) {
    mlir::Type element = mlir::getElementTypeOrSelf(function.getArgumentTypes()[position]);
    if (!element.isIntOrIndex())
      continue;
    if (input.kind() != Argument::Kind::Tensor) {
      result.values[position] = {input.asInteger()};
      continue;
    }
    const TensorView &view = input.tensor();
    int64_t count = countElements(view.sizes);
    if (count < 0 || count > kMaxKnownElements || (!view.data && count > 0))
      continue;
    for (const reference::Scalar &scalar : readTensor(view, element).data)
      result.values[position].push_back(scalar.integer);
  }
  return result;
}

static double bytesOfElement(mlir::Value tensor) {
  return mlir::getElementTypeOrSelf(tensor.getType()).getIntOrFloatBitWidth() / 8.0;
}

/// Adds the work of one attention.
static void addWork(WorkCount &count, AttentionOp op, const AttentionSizes &sizes, const KeptScores &kept) {
  double perScore = 2 * (sizes.headDim + sizes.valueDim);
  double perKey = sizes.headDim * bytesOfElement(op.getKey()) + sizes.valueDim * bytesOfElement(op.getValue());
  double perQuery = sizes.headDim * bytesOfElement(op.getQuery()) + sizes.valueDim * bytesOfElement(op.getOut());
  double queries = double(sizes.batch) * sizes.heads * double(sizes.queryLen);
  count.total += perScore * queries * double(sizes.kvLen);
  count.kept += perScore * kept.scores;
  count.bytes += perKey * kept.keys + perQuery * queries;
  count.isExact &= kept.isExact;
  ++count.attentions;
}

static Error unsupported(mlir::Operation *op, const std::string &why) {
  return {ErrorCode::Unsupported, "the work cannot be counted: " + why, convertLocation(op->getLoc())};
}

/// Adds the work of one attention of a function at the graph level.
static Status countAttention(WorkCount &count, AttentionOp op, mlir::func::FuncOp function,
                             const std::vector<Argument> &inputs) {
  if (op->getParentOp() != function)
    return unsupported(op, "this attention is inside of control flow");
  std::optional<AttentionSizes> sizes = sizesOf(op, SizeEvaluator(function, inputs));
  if (!sizes)
    return unsupported(op, "the sizes of this attention do not follow from those of the inputs");
  auto group = static_cast<int64_t>(sizes->kvHeads > 0 ? sizes->heads / sizes->kvHeads : 1);
  DiagnosticCollector diagnostics(op.getContext(), nullptr);
  auto kept = countKeptScores(op, std::max<int64_t>(group, 1), maskInputs(function, *sizes, inputs));
  if (failed(kept))
    return diagnostics.takeError(ErrorCode::Unsupported, "the work cannot be counted");
  addWork(count, op, *sizes, *kept);
  return {};
}

Result<WorkCount> Module::countWork(std::string_view name, const std::vector<Argument> &inputs,
                                    const CompileOptions &options) const {
  auto signature = impl->find(name);
  if (!signature)
    return signature.error();
  if (Status status = checkInputShapes(**signature, inputs); !status)
    return status.error();
  std::lock_guard<std::mutex> lock(impl->mutex);
  auto graph = compileToGraph(*impl, **signature, options);
  if (!graph)
    return graph.error();
  auto function = (*graph)->lookupSymbol<mlir::func::FuncOp>((*signature)->name);
  WorkCount count;
  Status status;
  function.walk([&](AttentionOp op) {
    if (status)
      status = countAttention(count, op, function, inputs);
  });
  return status ? Result<WorkCount>(count) : Result<WorkCount>(status.error());
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
