//===- Entries.cpp - the functions that callers see ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn_rt_call wants void(void **): an entry loads each argument from behind its pointer and calls the function.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace attn;
using namespace attn::machine;

SmallVector<EntryFunction> machine::collectEntryFunctions(ModuleOp module) {
  SmallVector<EntryFunction> functions;
  for (auto function : module.getOps<func::FuncOp>()) {
    auto results = function->getAttrOfType<IntegerAttr>(kResultsAttrName);
    if (function.isPublic() && !function.isDeclaration() && function.getNumResults() == 0)
      functions.push_back({function.getSymNameAttr(), function.getFunctionType(), results ? results.getInt() : 0});
  }
  return functions;
}

namespace {

/// Builds the entry of one function.
class EntryBuilder {
public:
  EntryBuilder(LLVM::LLVMFuncOp function, const EntryFunction &signature, const LLVMTypeConverter &converter,
               bool checksBounds)
      : function(function), signature(signature), converter(converter), checksBounds(checksBounds),
        module(function->getParentOfType<ModuleOp>()), b(function.getLoc(), function.getContext()),
        pointer(LLVM::LLVMPointerType::get(function.getContext())) {}

  LogicalResult build();

private:
  Value loadPointer(Value array, int32_t number, Type argument);
  LogicalResult loadArgument(Value array, int32_t number, SmallVectorImpl<Value> &values);
  FailureOr<Value> guard(Value descriptor, Value address, MemRefType type, int32_t number);
  int64_t bytesOf(Type type) const { return DataLayout::closest(module).getTypeSize(type); }

  LLVM::LLVMFuncOp function;
  const EntryFunction &signature;
  const LLVMTypeConverter &converter;
  bool checksBounds;
  ModuleOp module;
  ImplicitLocOpBuilder b;
  Type pointer;
};

} // namespace

/// Where argument `number` lies; how many bytes it has is known from its type.
Value EntryBuilder::loadPointer(Value array, int32_t number, Type argument) {
  Value slot = LLVM::GEPOp::create(b, pointer, pointer, array, ArrayRef<LLVM::GEPArg>{number});
  auto load = LLVM::LoadOp::create(b, pointer, slot);
  if (checksBounds)
    load.setDereferenceableAttr(LLVM::DereferenceableAttr::get(b.getContext(), bytesOf(argument), /*mayBeNull=*/false));
  return load;
}

/// Makes a tensor known to the runtime. Returns its descriptor with the marked address.
FailureOr<Value> EntryBuilder::guard(Value descriptor, Value address, MemRefType type, int32_t number) {
  Type i64 = b.getI64Type();
  FailureOr<LLVM::LLVMFuncOp> guard =
      LLVM::lookupOrCreateFn(b, module, "attn_rt_guard_tensor", {pointer, i64, i64, pointer}, pointer);
  if (failed(guard))
    return function.emitOpError(
        "expects the name attn_rt_guard_tensor to be the runtime's, but the module has another");
  auto constant = [&](int64_t value) { return LLVM::ConstantOp::create(b, i64, b.getI64IntegerAttr(value)); };
  int64_t inputs = signature.type.getNumInputs() - signature.results;
  std::string name = number < inputs ? "input " + std::to_string(number) : "output " + std::to_string(number - inputs);
  Value text = messageAddress(b, module, name);
  Value elementBytes = constant(bytesOf(converter.convertType(type.getElementType())));
  Value marked =
      LLVM::CallOp::create(b, *guard, ValueRange{text, constant(type.getRank()), elementBytes, address}).getResult();
  MemRefDescriptor result(descriptor);
  result.setAllocatedPtr(b, b.getLoc(), marked);
  result.setAlignedPtr(b, b.getLoc(), marked);
  return Value(result);
}

/// Loads argument `number`: the descriptor of a memref, unpacked, or a scalar. A bool is a byte in memory.
LogicalResult EntryBuilder::loadArgument(Value array, int32_t number, SmallVectorImpl<Value> &values) {
  Type argument = signature.type.getInput(number), type = converter.convertType(argument);
  Value address = loadPointer(array, number, type);
  Value value = LLVM::LoadOp::create(b, type, address);
  auto memref = dyn_cast<MemRefType>(argument);
  if (!memref) {
    values.push_back(value);
    return success();
  }
  if (checksBounds) {
    FailureOr<Value> guarded = guard(value, address, memref, number);
    if (failed(guarded))
      return failure();
    value = *guarded;
  }
  MemRefDescriptor::unpack(b, b.getLoc(), value, memref, values);
  return success();
}

LogicalResult EntryBuilder::build() {
  std::string name = ("attn_entry_" + function.getName()).str();
  if (module.lookupSymbol(name))
    return function.emitOpError("expects the name ") << name << " to be free for its entry";
  b.setInsertionPointAfter(function);
  auto entryType = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), {pointer});
  auto entry = LLVM::LLVMFuncOp::create(b, name, entryType);
  int64_t arrayBytes = signature.type.getNumInputs() * bytesOf(pointer);
  if (checksBounds)
    entry.setArgAttr(0, LLVM::LLVMDialect::getDereferenceableAttrName(), b.getI64IntegerAttr(arrayBytes));
  Block *block = entry.addEntryBlock(b);
  b.setInsertionPointToStart(block);
  SmallVector<Value> arguments;
  for (unsigned number = 0; number < signature.type.getNumInputs(); ++number)
    if (failed(loadArgument(block->getArgument(0), number, arguments)))
      return failure();
  LLVM::CallOp::create(b, function, arguments);
  LLVM::ReturnOp::create(b, ValueRange{});
  return success();
}

LogicalResult machine::createEntries(ModuleOp module, ArrayRef<EntryFunction> functions,
                                     const LLVMTypeConverter &converter, bool checksBounds) {
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (!function.isExternal() && function.getVisibility_() == LLVM::Visibility::Default)
      function.setLinkage(LLVM::Linkage::Internal);
  for (const EntryFunction &function : functions) {
    auto lowered = module.lookupSymbol<LLVM::LLVMFuncOp>(function.name);
    if (failed(EntryBuilder(lowered, function, converter, checksBounds).build()))
      return failure();
  }
  return success();
}
