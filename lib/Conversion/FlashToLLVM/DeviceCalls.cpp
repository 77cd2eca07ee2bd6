//===- DeviceCalls.cpp - launches and memory of a device, as calls of the runtime --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// runtime/include/attn/Device.h has the functions and structures that are meant here. A kernel takes the number of
// items, then its captures, memrefs as the fields of their descriptors.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "attn/Dialect/Flash/IR/FlashOps.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace attn;
using namespace attn::machine;

static Value constant(ImplicitLocOpBuilder &b, Type type, int64_t value) {
  return LLVM::ConstantOp::create(b, type, b.getIntegerAttr(type, value));
}

/// A slot of the stack frame, in the function's first block, so that a loop around does not grow the stack.
static Value stackSlot(ImplicitLocOpBuilder &b, Operation *op, Type type, int64_t count = 1) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&op->getParentOfType<FunctionOpInterface>().getFunctionBody().front());
  Value size = constant(b, b.getI64Type(), count);
  return LLVM::AllocaOp::create(b, LLVM::LLVMPointerType::get(b.getContext()), type, size);
}

static Value fieldAddress(ImplicitLocOpBuilder &b, Type type, Value base, ArrayRef<LLVM::GEPArg> path) {
  return LLVM::GEPOp::create(b, LLVM::LLVMPointerType::get(b.getContext()), type, base, path);
}

/// Calls a function of the runtime that returns nothing. Failure after a diagnostic.
static LogicalResult callRuntime(ImplicitLocOpBuilder &b, Operation *op, StringRef name, ValueRange arguments) {
  FailureOr<LLVM::LLVMFuncOp> function =
      LLVM::lookupOrCreateFn(b, op->getParentOfType<ModuleOp>(), name, SmallVector<Type>(arguments.getTypes()),
                             LLVM::LLVMVoidType::get(b.getContext()));
  if (failed(function))
    return op->emitOpError("expects the name ") << name << " to be the runtime's, but the module has another";
  LLVM::CallOp::create(b, *function, arguments);
  return success();
}

namespace {

/// What a parameter is: attn_rt_parameter_kind.
enum ParameterKind : int32_t { kBytes = 0, kTensorMap = 1 };

/// A parameter of a launch: a value whose bytes it is, or an attn_rt_tensor_map in memory.
struct Parameter {
  Value value;
  ParameterKind kind = kBytes;
};

/// The layouts of attn_rt_launch_info, attn_rt_parameter and attn_rt_tensor_map.
struct LaunchTypes {
  explicit LaunchTypes(MLIRContext *context) {
    Type pointer = LLVM::LLVMPointerType::get(context), i64 = IntegerType::get(context, 64),
         i32 = IntegerType::get(context, 32);
    Type three = LLVM::LLVMArrayType::get(i64, 3);
    info = LLVM::LLVMStructType::getLiteral(context, {pointer, three, three, i64, i64, pointer});
    parameter = LLVM::LLVMStructType::getLiteral(context, {i32, i32, pointer});
    Type sizes = LLVM::LLVMArrayType::get(i64, 5), box = LLVM::LLVMArrayType::get(i32, 5);
    tensorMap = LLVM::LLVMStructType::getLiteral(context, {pointer, i32, i32, sizes, sizes, box, i32});
  }
  LLVM::LLVMStructType info, parameter, tensorMap;
};

/// Builds the tensor map of a view [batch, heads, length, size] for boxes of `rows` rows of 128 bytes.
class TensorMapBuilder {
public:
  TensorMapBuilder(ImplicitLocOpBuilder &builder, Operation *op, Value descriptor, MemRefType type)
      : b(builder), op(op), view(descriptor), type(type) {}

  /// Two parameters: the map, and whether the hardware takes it.
  SmallVector<Parameter> build(const LaunchTypes &types, int64_t rows);

private:
  Value number(int64_t value) { return constant(b, b.getI64Type(), value); }
  Value compare(LLVM::ICmpPredicate predicate, Value x, Value y) { return LLVM::ICmpOp::create(b, predicate, x, y); }
  Value bytes(Value elements) { return LLVM::MulOp::create(b, elements, number(elementBytes())); }
  int64_t elementBytes() { return type.getElementTypeBitWidth() / 8; }
  Value isUsable(Value base);

  ImplicitLocOpBuilder &b;
  Operation *op;
  MemRefDescriptor view;
  MemRefType type;
};

struct LowerLaunch : ConvertOpToLLVMPattern<flash::LaunchOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  /// What the launch's kernel is; null after a diagnostic.
  static flash::KernelAttr kernelOf(flash::LaunchOp op) {
    Operation *kernel = SymbolTable::lookupNearestSymbolFrom(op, op.getKernelAttr());
    flash::KernelAttr attribute = kernel ? flash::KernelAttr::of(kernel) : flash::KernelAttr();
    if (!attribute)
      return op.emitOpError("expects a kernel with flash.kernel, which convert-flash-to-nvvm sets"), nullptr;
    int64_t captures = op.getCaptures().size();
    for (flash::TensorMapAttr map : attribute.getTensorMaps())
      if (map.getCapture() >= captures || !isa<MemRefType>(op.getCaptures()[map.getCapture()].getType()))
        return op.emitOpError("expects a memref as capture ")
                   << map.getCapture() << ", of which its kernel has a tensor map",
               nullptr;
    return attribute;
  }

  static Value kernelName(ImplicitLocOpBuilder &b, flash::LaunchOp op) {
    auto module = op->getParentOfType<ModuleOp>();
    std::string text = op.getKernel().getLeafReference().str(), symbol = "attn_name_" + text;
    if (auto global = module.lookupSymbol<LLVM::GlobalOp>(symbol))
      return LLVM::AddressOfOp::create(b, global);
    return LLVM::createGlobalString(b.getLoc(), b, symbol, text + '\0', LLVM::Linkage::Internal);
  }

  /// What the kernel takes, one value a parameter.
  SmallVector<Parameter> unpack(ImplicitLocOpBuilder &b, flash::LaunchOp op, OpAdaptor adaptor,
                                flash::KernelAttr kernel, const LaunchTypes &types) const {
    SmallVector<Value> values{adaptor.getItems()};
    for (auto [capture, value] : llvm::zip(op.getCaptures(), adaptor.getCaptures())) {
      if (auto memref = dyn_cast<MemRefType>(capture.getType()))
        MemRefDescriptor::unpack(b, b.getLoc(), value, memref, values);
      else
        values.push_back(value);
    }
    SmallVector<Parameter> parameters;
    for (Value value : values)
      parameters.push_back({value});
    for (flash::TensorMapAttr map : kernel.getTensorMaps()) {
      auto type = cast<MemRefType>(op.getCaptures()[map.getCapture()].getType());
      llvm::append_range(
          parameters,
          TensorMapBuilder(b, op, adaptor.getCaptures()[map.getCapture()], type).build(types, map.getRows()));
    }
    return parameters;
  }

  /// An array of attn_rt_parameter for values that lie in slots of the stack.
  Value buildParameters(ImplicitLocOpBuilder &b, Operation *op, const LaunchTypes &types,
                        ArrayRef<Parameter> parameters) const {
    Value array = stackSlot(b, op, types.parameter, parameters.size());
    DataLayout layout = DataLayout::closest(op);
    for (int32_t number = 0; number < static_cast<int32_t>(parameters.size()); ++number) {
      const Parameter &parameter = parameters[number];
      Value data = parameter.value;
      Type type = parameter.kind == kTensorMap ? Type(types.tensorMap) : data.getType();
      if (parameter.kind == kBytes) {
        data = stackSlot(b, op, type);
        LLVM::StoreOp::create(b, parameter.value, data);
      }
      auto field = [&](int32_t which) { return fieldAddress(b, types.parameter, array, {number, which}); };
      LLVM::StoreOp::create(b, constant(b, b.getI32Type(), parameter.kind), field(0));
      LLVM::StoreOp::create(b, constant(b, b.getI32Type(), layout.getTypeSize(type)), field(1));
      LLVM::StoreOp::create(b, data, field(2));
    }
    return array;
  }

  LogicalResult matchAndRewrite(flash::LaunchOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    flash::KernelAttr kernel = kernelOf(op);
    if (!kernel)
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    LaunchTypes types(b.getContext());
    SmallVector<Parameter> parameters = unpack(b, op, adaptor, kernel, types);
    Value info = stackSlot(b, op, types.info);
    auto store = [&](Value value, ArrayRef<LLVM::GEPArg> path) {
      LLVM::StoreOp::create(b, value, fieldAddress(b, types.info, info, path));
    };
    Type i64 = b.getI64Type();
    Value one = constant(b, i64, 1);
    Value rounded = LLVM::AddOp::create(b, adaptor.getItems(), constant(b, i64, kernel.getItems() - 1));
    store(kernelName(b, op), {0, 0});
    store(LLVM::UDivOp::create(b, rounded, constant(b, i64, kernel.getItems())), {0, 1, 0});
    store(constant(b, i64, kernel.getThreads()), {0, 2, 0});
    for (int32_t axis : {1, 2}) {
      store(one, {0, 1, axis});
      store(one, {0, 2, axis});
    }
    store(constant(b, i64, kernel.getSharedBytes()), {0, 3});
    store(constant(b, i64, parameters.size()), {0, 4});
    store(buildParameters(b, op, types, parameters), {0, 5});
    if (failed(callRuntime(b, op, "attn_rt_launch", info)))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

/// What the hardware asks for (cuTensorMapEncodeTiled): addresses and strides in multiples of 16 bytes, strides below
/// 2^40, elements in every dimension. The stride of a dimension of size 1 is not used.
Value TensorMapBuilder::isUsable(Value base) {
  auto isZero = [&](Value value, int64_t bits) {
    return compare(LLVM::ICmpPredicate::eq, LLVM::AndOp::create(b, value, number(bits)), number(0));
  };
  Value result = isZero(LLVM::PtrToIntOp::create(b, b.getI64Type(), base), 15);
  for (unsigned dim = 0; dim < 4; ++dim) {
    Value size = view.size(b, b.getLoc(), dim);
    result = LLVM::AndOp::create(b, result, compare(LLVM::ICmpPredicate::sgt, size, number(0)));
    if (dim == 3)
      break;
    Value stride = bytes(view.stride(b, b.getLoc(), dim));
    // Multiples of 16 from 16 to 2^40 - 16, in one comparison.
    Value isInRange =
        compare(LLVM::ICmpPredicate::ult, LLVM::SubOp::create(b, stride, number(16)), number((int64_t(1) << 40) - 16));
    Value isGood = LLVM::AndOp::create(b, isZero(stride, 15), isInRange);
    Value isUnused = compare(LLVM::ICmpPredicate::eq, size, number(1));
    result = LLVM::AndOp::create(b, result, LLVM::OrOp::create(b, isGood, isUnused));
  }
  return result;
}

SmallVector<Parameter> TensorMapBuilder::build(const LaunchTypes &types, int64_t rows) {
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value map = stackSlot(b, op, types.tensorMap);
  auto store = [&](Value value, ArrayRef<LLVM::GEPArg> path) {
    LLVM::StoreOp::create(b, value, fieldAddress(b, types.tensorMap, map, path));
  };
  auto word = [&](int64_t value) { return constant(b, b.getI32Type(), value); };
  Type element = type.getElementType();
  Value base = LLVM::GEPOp::create(b, pointer, element, view.alignedPtr(b, b.getLoc()),
                                   ArrayRef<LLVM::GEPArg>{view.offset(b, b.getLoc())});
  Value usable = isUsable(base);
  // Without an address the map is not looked at.
  store(LLVM::SelectOp::create(b, usable, base, LLVM::ZeroOp::create(b, pointer)), {0, 0});
  store(word(4), {0, 1});
  store(word(elementBytes()), {0, 2});
  const int64_t boxes[] = {128 / elementBytes(), rows, 1, 1};
  for (int32_t dim = 0; dim < 4; ++dim) {
    store(view.size(b, b.getLoc(), 3 - dim), {0, 3, dim});
    store(bytes(view.stride(b, b.getLoc(), 3 - dim)), {0, 4, dim});
    store(word(boxes[dim]), {0, 5, dim});
  }
  store(word(128), {0, 6});
  return {{map, kTensorMap}, {usable}};
}

namespace {

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// An element that the host reads, or writes, goes through a slot of its stack.
struct ReadDevice : ConvertOpToLLVMPattern<memref::LoadOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(memref::LoadOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type element = getTypeConverter()->convertType(op.getType());
    Value source =
        getStridedElementPtr(rewriter, op.getLoc(), op.getMemRefType(), adaptor.getMemref(), adaptor.getIndices());
    Value slot = stackSlot(b, op, element);
    Value bytes = constant(b, b.getI64Type(), DataLayout::closest(op).getTypeSize(element));
    if (failed(callRuntime(b, op, "attn_rt_device_read", {slot, source, bytes})))
      return failure();
    rewriter.replaceOpWithNewOp<LLVM::LoadOp>(op, element, slot);
    return success();
  }
};

struct WriteDevice : ConvertOpToLLVMPattern<memref::StoreOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(memref::StoreOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type element = adaptor.getValue().getType();
    Value target =
        getStridedElementPtr(rewriter, op.getLoc(), op.getMemRefType(), adaptor.getMemref(), adaptor.getIndices());
    Value slot = stackSlot(b, op, element);
    LLVM::StoreOp::create(b, adaptor.getValue(), slot);
    Value bytes = constant(b, b.getI64Type(), DataLayout::closest(op).getTypeSize(element));
    if (failed(callRuntime(b, op, "attn_rt_device_write", {target, slot, bytes})))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void machine::populateDeviceCallPatterns(const LLVMTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerLaunch, ReadDevice, WriteDevice>(converter, /*benefit=*/10);
}
