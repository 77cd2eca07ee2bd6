//===- RaiseTorch.cpp - scaled_dot_product_attention of the torch dialect -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The torch dialect is not here to parse, so its types arrive as text, `vtensor<[3,4,7,8],f32>`; casts lead to tensors
// and back, and the rest of the module stays as it is.
//
//===----------------------------------------------------------------------===//

#include "RaiseForeign.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace attn;

static Type parseElementType(MLIRContext *context, StringRef text) {
  return llvm::StringSwitch<Type>(text)
      .Case("f16", Float16Type::get(context))
      .Case("bf16", BFloat16Type::get(context))
      .Case("f32", Float32Type::get(context))
      .Case("f64", Float64Type::get(context))
      .Case("i1", IntegerType::get(context, 1))
      .Default(nullptr);
}

/// The tensor type that `!torch.vtensor<[3,?],f32>` means; null for other types.
static RankedTensorType parseTensorType(Type type) {
  auto opaque = dyn_cast<OpaqueType>(type);
  StringRef text = opaque ? opaque.getTypeData() : "";
  if (!text.consume_front("vtensor<[") || !text.consume_back(">"))
    return {};
  auto [sizes, element] = text.split("],");
  Type elementType = parseElementType(type.getContext(), element.trim());
  SmallVector<int64_t> shape;
  SmallVector<StringRef> words;
  sizes.split(words, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef word : words) {
    int64_t size = ShapedType::kDynamic;
    if (word.trim() != "?" && (word.trim().getAsInteger(10, size) || size < 0))
      return {};
    shape.push_back(size);
  }
  return elementType ? RankedTensorType::get(shape, elementType) : RankedTensorType();
}

/// The attribute `value` of the op named `torch.constant.<kind>` that defines a value; null for any other.
template <typename AttrTy> static AttrTy findConstant(Value value, StringRef kind) {
  Operation *op = value.getDefiningOp();
  return op && op->getName().getStringRef() == kind ? op->getAttrOfType<AttrTy>("value") : AttrTy();
}

static bool isNone(Value value) {
  auto opaque = dyn_cast<OpaqueType>(value.getType());
  return opaque && opaque.getTypeData() == "none";
}

namespace {

/// The operands of torch.aten.scaled_dot_product_attention, in their order.
enum TorchOperand : unsigned { kQuery, kKey, kValue, kMask, kDropout, kCausal, kScale, kEnableGqa, kNumOperands };

} // namespace

/// Whether the types (result, query, key, value) are of several ranks, or of rank 4 with several batch sizes: torch
/// broadcasts them, attention does not.
static bool needsBroadcast(ArrayRef<Type> types) {
  int64_t rank = parseTensorType(types[0]).getRank(), batch = ShapedType::kDynamic;
  for (Type text : types) {
    RankedTensorType type = parseTensorType(text);
    if (type.getRank() != rank)
      return true;
    int64_t size = rank == 4 ? type.getDimSize(0) : ShapedType::kDynamic;
    if (ShapedType::isDynamic(size))
      continue;
    if (!ShapedType::isDynamic(batch) && size != batch)
      return true;
    batch = size;
  }
  return false;
}

/// Why the op is not understood; empty where it is.
static std::string findObstacle(Operation *op) {
  if (op->getNumOperands() != kNumOperands || op->getNumResults() != 1)
    return "it has " + std::to_string(op->getNumOperands()) + " operands";
  SmallVector<Type> types{op->getResult(0).getType()};
  llvm::append_range(types, op->getOperands().take_front(kMask).getTypes());
  for (Type text : types) {
    RankedTensorType type = parseTensorType(text);
    if (!type || type.getElementType().isInteger(1) || type.getRank() < 2 || type.getRank() > 4)
      return "a type is no float tensor of rank 2 to 4";
  }
  if (needsBroadcast(types))
    return "its operands differ in rank or batch";
  if (!isNone(op->getOperand(kMask)) && !parseTensorType(op->getOperand(kMask).getType()))
    return "its mask is no tensor of floats or i1";
  auto dropout = findConstant<FloatAttr>(op->getOperand(kDropout), "torch.constant.float");
  if (!dropout || !dropout.getValue().isZero())
    return "its dropout is not the constant 0";
  if (!findConstant<BoolAttr>(op->getOperand(kCausal), "torch.constant.bool"))
    return "is_causal is no constant";
  if (!isNone(op->getOperand(kScale)) && !findConstant<FloatAttr>(op->getOperand(kScale), "torch.constant.float"))
    return "its scale is neither a constant nor none";
  return "";
}

static Value castToTensor(ImplicitLocOpBuilder &builder, Value value) {
  return UnrealizedConversionCastOp::create(builder, parseTensorType(value.getType()), value).getResult(0);
}

/// An empty tensor of the result's type: dynamic sizes are those of the query and, the last one, of the value.
static Value createOut(ImplicitLocOpBuilder &builder, RankedTensorType type, Value query, Value value) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, builder.getLoc(), query);
  sizes.back() = tensor::getMixedSize(builder, builder.getLoc(), value, sizes.size() - 1);
  for (auto [size, known] : llvm::zip(sizes, type.getShape()))
    if (!ShapedType::isDynamic(known))
      size = builder.getIndexAttr(known);
  return tensor::EmptyOp::create(builder, sizes, type.getElementType());
}

void attn::raiseTorchAttention(Operation *op) {
  if (std::string obstacle = findObstacle(op); !obstacle.empty()) {
    remark::missed(op->getLoc(), remark::RemarkOpts::name("attn-raise").category("attn")) << "not raised: " + obstacle;
    return;
  }
  ImplicitLocOpBuilder builder(op->getLoc(), op);
  ForeignAttention foreign;
  foreign.query = castToTensor(builder, op->getOperand(kQuery));
  foreign.key = castToTensor(builder, op->getOperand(kKey));
  foreign.value = castToTensor(builder, op->getOperand(kValue));
  auto rankOf = [](Value value) { return cast<RankedTensorType>(value.getType()).getRank(); };
  MLIRContext *context = op->getContext();
  foreign.queryLayout = foreign.outLayout = getPlainLayout(context, rankOf(foreign.query));
  foreign.keyLayout = getPlainLayout(context, rankOf(foreign.key));
  foreign.valueLayout = getPlainLayout(context, rankOf(foreign.value));
  if (!isNone(op->getOperand(kMask))) {
    foreign.mask = castToTensor(builder, op->getOperand(kMask));
    foreign.maskLayout = AffineMap::getMultiDimIdentityMap(rankOf(foreign.mask), context);
    foreign.maskBroadcasts = true;
  }
  foreign.isCausal = findConstant<BoolAttr>(op->getOperand(kCausal), "torch.constant.bool").getValue();
  FloatType scoreType = getScoreType(getElementTypeOrSelf(foreign.query.getType()));
  if (auto scale = findConstant<FloatAttr>(op->getOperand(kScale), "torch.constant.float"))
    foreign.scale = arith::ConstantOp::create(builder, builder.getFloatAttr(scoreType, scale.getValueAsDouble()));
  else
    foreign.scale = createDefaultScale(builder, foreign.query);
  foreign.out = createOut(builder, parseTensorType(op->getResult(0).getType()), foreign.query, foreign.value);
  Value result = createAttention(builder, foreign)->getResult(0);
  op->replaceAllUsesWith(UnrealizedConversionCastOp::create(builder, op->getResult(0).getType(), result));
  op->erase();
}
