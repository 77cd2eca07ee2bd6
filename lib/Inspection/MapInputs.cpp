//===- MapInputs.cpp - sizes and values that a map is made for ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MapInputs.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace attn;

/// The size that the type tells or the inputs give.
static FailureOr<int64_t> resolveSize(AttentionOp op, StringRef name, int64_t fromType, const TileMapInputs &inputs) {
  auto given = inputs.sizes.find(name.str());
  bool isGiven = given != inputs.sizes.end(), isTyped = !ShapedType::isDynamic(fromType);
  if (isGiven && isTyped && given->second != fromType)
    return op.emitOpError("expects ") << name << " = " << fromType << ", as its types say, but sizes give "
                                      << given->second,
           failure();
  if (isGiven && (given->second < 0 || given->second > kMaxExtent))
    return op.emitOpError("expects ") << name << " in 0 to " << kMaxExtent << ", but sizes give " << given->second,
           failure();
  if (!isGiven && !isTyped)
    return op.emitOpError("expects sizes to give ") << name << ", which its types leave open", failure();
  return isTyped ? fromType : given->second;
}

static FailureOr<MaskSizes> resolveSizes(AttentionOp op, const TileMapInputs &inputs) {
  AttentionDims dims = op.getDims();
  const std::pair<StringRef, int64_t> typed[] = {
      {"batch", dims.batch}, {"heads", dims.heads}, {"queryLen", dims.queryLen}, {"kvLen", dims.kvLen}};
  SmallVector<int64_t> sizes;
  for (auto [name, fromType] : typed) {
    FailureOr<int64_t> size = resolveSize(op, name, fromType, inputs);
    if (failed(size))
      return failure();
    sizes.push_back(*size);
  }
  return MaskSizes{sizes[0], sizes[1], sizes[2], sizes[3]};
}

static LogicalResult checkValues(AttentionOp op, const TileMapInputs &inputs) {
  auto function = op->getParentOfType<func::FuncOp>();
  for (auto &[position, values] : inputs.values) {
    if (position >= function.getNumArguments())
      return op.emitOpError("expects values for arguments that its function has, but got some for argument ")
             << position << " of " << function.getNumArguments();
    if (failed(typeOfValues(op, position, function.getArgumentTypes()[position], values)))
      return failure();
  }
  return success();
}

FailureOr<MaskSizes> attn::resolveInputs(AttentionOp op, const TileMapInputs &inputs) {
  FailureOr<MaskSizes> sizes = resolveSizes(op, inputs);
  if (failed(sizes) || failed(checkValues(op, inputs)))
    return failure();
  return sizes;
}
