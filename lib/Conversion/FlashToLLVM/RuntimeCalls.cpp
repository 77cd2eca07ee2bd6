//===- RuntimeCalls.cpp - what is left of flash, as calls of the runtime ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// runtime/README.md has the contract of the functions that are called here.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "attn/Dialect/Flash/IR/FlashOps.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace attn;
using namespace attn::machine;

/// A name that no symbol of the module has, from `stem`. Each look-up walks over the module, so names of which `taken`
/// are known to be taken are not tried from the first on.
static std::string uniqueName(ModuleOp module, const Twine &stem, unsigned taken = 0) {
  std::string name = taken ? (stem + "_" + Twine(taken - 1)).str() : stem.str();
  for (unsigned number = taken; module.lookupSymbol(name); ++number)
    name = (stem + "_" + Twine(number)).str();
  return name;
}

static Value constant(ImplicitLocOpBuilder &b, int64_t value) {
  return LLVM::ConstantOp::create(b, b.getI64Type(), b.getI64IntegerAttr(value));
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

Value machine::messageAddress(ImplicitLocOpBuilder &b, ModuleOp module, StringRef message) {
  std::string bytes = message.str();
  bytes.push_back('\0');
  auto value = b.getStringAttr(bytes);
  unsigned messages = 0;
  for (auto global : module.getOps<LLVM::GlobalOp>()) {
    if (!global.getName().starts_with("attn_message"))
      continue;
    if (global.getValueAttr() == value)
      return LLVM::AddressOfOp::create(b, global);
    ++messages;
  }
  std::string name = uniqueName(module, "attn_message", messages);
  return LLVM::createGlobalString(b.getLoc(), b, name, bytes, LLVM::Linkage::Internal);
}

/// Replaces `op`, of which the condition is `holds`, by a branch to a cold block that ends the call.
static LogicalResult replaceByCheck(Operation *op, Value holds, StringRef message, ValueRange values,
                                    ConversionPatternRewriter &rewriter) {
  ImplicitLocOpBuilder b(op->getLoc(), rewriter);
  auto module = op->getParentOfType<ModuleOp>();
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  FailureOr<LLVM::LLVMFuncOp> fail =
      LLVM::lookupOrCreateFn(rewriter, module, "attn_rt_fail", {pointer, b.getI64Type(), b.getI64Type()},
                             LLVM::LLVMVoidType::get(b.getContext()));
  if (failed(fail))
    return op->emitError("expects the name attn_rt_fail to be the runtime's, but the module has another");
  (*fail).setPassthroughAttr(b.getStrArrayAttr({"noreturn", "cold"}));

  Block *block = op->getBlock();
  Block *after = rewriter.splitBlock(block, std::next(op->getIterator()));
  Block *failure = b.createBlock(block->getParent());
  Value a = values.size() > 0 ? values[0] : constant(b, 0);
  Value second = values.size() > 1 ? values[1] : constant(b, 0);
  LLVM::CallOp::create(b, *fail, ValueRange{messageAddress(b, module, message), a, second});
  LLVM::UnreachableOp::create(b);

  rewriter.setInsertionPoint(op);
  rewriter.replaceOpWithNewOp<LLVM::CondBrOp>(op, holds, after, ValueRange{}, failure, ValueRange{},
                                              std::make_pair(uint32_t(2000), uint32_t(1)));
  return success();
}

namespace {

struct LowerRequire : ConvertOpToLLVMPattern<flash::RequireOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(flash::RequireOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    return replaceByCheck(op, adaptor.getCondition(), op.getMessage(), adaptor.getValues(), rewriter);
  }
};

struct LowerAssert : ConvertOpToLLVMPattern<cf::AssertOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(cf::AssertOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    return replaceByCheck(op, adaptor.getArg(), op.getMsg(), {}, rewriter);
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Parallel loops
//===----------------------------------------------------------------------===//

/// What the callback of a loop gets from its context: the scratch's size, then the captures.
static LLVM::LLVMStructType contextType(MLIRContext *context, TypeRange captures) {
  SmallVector<Type> fields{IntegerType::get(context, 64)};
  llvm::append_range(fields, captures);
  return LLVM::LLVMStructType::getLiteral(context, fields);
}

static Value fieldAddress(ImplicitLocOpBuilder &b, Type type, Value context, int32_t field) {
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  return LLVM::GEPOp::create(b, pointer, type, context, ArrayRef<LLVM::GEPArg>{0, field});
}

/// The descriptor fields of the memref<?xi8> that covers a worker's scratch.
static void appendScratch(ImplicitLocOpBuilder &b, Value scratch, Value bytes, SmallVectorImpl<Value> &arguments) {
  llvm::append_values(arguments, scratch, scratch, constant(b, 0), bytes, constant(b, 1));
}

/// `callback(context, begin, end, scratch)`: loads the captures and calls the body.
static LLVM::LLVMFuncOp createCallback(flash::ParallelForOp op, LLVM::LLVMStructType type, OpBuilder &builder) {
  ImplicitLocOpBuilder b(op.getLoc(), builder);
  OpBuilder::InsertionGuard guard(b);
  auto module = op->getParentOfType<ModuleOp>();
  b.setInsertionPointToEnd(module.getBody());
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto callbackType = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                                  {pointer, b.getI64Type(), b.getI64Type(), pointer});
  auto callback = LLVM::LLVMFuncOp::create(b, uniqueName(module, op.getBody() + "_callback"), callbackType);
  // Not internal: LLVM's plugin for perf leaves out local symbols.
  callback.setVisibility_(LLVM::Visibility::Hidden);
  int64_t contextBytes = DataLayout::closest(op).getTypeSize(type);
  callback.setArgAttr(0, LLVM::LLVMDialect::getDereferenceableAttrName(), b.getI64IntegerAttr(contextBytes));
  Block *entry = callback.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  Value context = entry->getArgument(0);
  auto load = [&](int32_t field) -> Value {
    return LLVM::LoadOp::create(b, type.getBody()[field], fieldAddress(b, type, context, field));
  };
  SmallVector<Value> arguments{entry->getArgument(1), entry->getArgument(2)};
  appendScratch(b, entry->getArgument(3), load(0), arguments);
  for (auto [number, capture] : llvm::enumerate(op.getCaptures())) {
    Value value = load(number + 1);
    if (auto memref = dyn_cast<MemRefType>(capture.getType()))
      MemRefDescriptor::unpack(b, b.getLoc(), value, memref, arguments);
    else
      arguments.push_back(value);
  }
  LLVM::CallOp::create(b, TypeRange{}, op.getBodyAttr(), arguments);
  LLVM::ReturnOp::create(b, ValueRange{});
  return callback;
}

namespace {

struct LowerParallelFor : ConvertOpToLLVMPattern<flash::ParallelForOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(flash::ParallelForOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    MLIRContext *context = b.getContext();
    auto pointer = LLVM::LLVMPointerType::get(context);
    Type i64 = b.getI64Type();
    FailureOr<LLVM::LLVMFuncOp> run =
        LLVM::lookupOrCreateFn(rewriter, op->getParentOfType<ModuleOp>(), "attn_rt_parallel_for",
                               {i64, i64, i64, pointer, pointer}, LLVM::LLVMVoidType::get(context));
    if (failed(run))
      return op.emitOpError("expects the name attn_rt_parallel_for to be the runtime's, but the module has another");
    auto type = contextType(context, adaptor.getCaptures().getTypes());
    LLVM::LLVMFuncOp callback = createCallback(op, type, rewriter);

    // In the function's first block, so that a loop around the op does not grow the stack.
    b.setInsertionPointToStart(&op->getParentRegion()->front());
    Value memory = LLVM::AllocaOp::create(b, pointer, type, constant(b, 1));
    b.setInsertionPoint(op);
    LLVM::StoreOp::create(b, adaptor.getScratchBytes(), fieldAddress(b, type, memory, 0));
    for (auto [number, capture] : llvm::enumerate(adaptor.getCaptures()))
      LLVM::StoreOp::create(b, capture, fieldAddress(b, type, memory, number + 1));
    Value function = LLVM::AddressOfOp::create(b, callback);
    LLVM::CallOp::create(
        b, *run, ValueRange{adaptor.getCount(), adaptor.getWork(), adaptor.getScratchBytes(), function, memory});
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerCountKvTiles : ConvertOpToLLVMPattern<flash::CountKvTilesOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(flash::CountKvTilesOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    FailureOr<LLVM::LLVMFuncOp> count =
        LLVM::lookupOrCreateFn(rewriter, op->getParentOfType<ModuleOp>(), "attn_rt_count_kv_tiles", {b.getI64Type()},
                               LLVM::LLVMVoidType::get(b.getContext()));
    if (failed(count))
      return op.emitOpError("expects the name attn_rt_count_kv_tiles to be the runtime's, but the module has another");
    LLVM::CallOp::create(b, *count, adaptor.getCount());
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void machine::populateRuntimeCallPatterns(const LLVMTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerRequire, LowerAssert, LowerCountKvTiles, LowerParallelFor>(converter);
}
