//===- Entries.cpp - the functions that callers see ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn_rt_call wants void(void **): an entry loads each argument from behind its pointer and calls the function.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace attn;

SmallVector<EntryFunction> attn::collectEntryFunctions(ModuleOp module) {
  SmallVector<EntryFunction> functions;
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic() && !function.isDeclaration() && function.getNumResults() == 0)
      functions.push_back({function.getSymNameAttr(), function.getFunctionType()});
  return functions;
}

/// Loads argument `number`: the descriptor of a memref, unpacked, or a scalar. A bool is a byte in memory.
static void loadArgument(ImplicitLocOpBuilder &b, Type type, Value array, int32_t number,
                         const LLVMTypeConverter &converter, SmallVectorImpl<Value> &values) {
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value slot = LLVM::GEPOp::create(b, pointer, pointer, array, ArrayRef<LLVM::GEPArg>{number});
  Value address = LLVM::LoadOp::create(b, pointer, slot);
  if (type.isInteger(1)) {
    Value byte = LLVM::LoadOp::create(b, b.getI8Type(), address);
    Value zero = LLVM::ConstantOp::create(b, b.getI8Type(), b.getI8IntegerAttr(0));
    values.push_back(LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, byte, zero));
    return;
  }
  Value value = LLVM::LoadOp::create(b, converter.convertType(type), address);
  if (auto memref = dyn_cast<MemRefType>(type))
    MemRefDescriptor::unpack(b, b.getLoc(), value, memref, values);
  else
    values.push_back(value);
}

static LogicalResult createEntry(LLVM::LLVMFuncOp function, FunctionType type, const LLVMTypeConverter &converter) {
  auto module = function->getParentOfType<ModuleOp>();
  std::string name = ("attn_entry_" + function.getName()).str();
  if (module.lookupSymbol(name))
    return function.emitOpError("expects the name ") << name << " to be free for its entry";
  ImplicitLocOpBuilder b(function.getLoc(), function.getContext());
  b.setInsertionPointAfter(function);
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto entryType = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), {pointer});
  auto entry = LLVM::LLVMFuncOp::create(b, name, entryType);
  Block *block = entry.addEntryBlock(b);
  b.setInsertionPointToStart(block);
  SmallVector<Value> arguments;
  for (auto [number, input] : llvm::enumerate(type.getInputs()))
    loadArgument(b, input, block->getArgument(0), number, converter, arguments);
  LLVM::CallOp::create(b, function, arguments);
  LLVM::ReturnOp::create(b, ValueRange{});
  return success();
}

LogicalResult attn::createEntries(ModuleOp module, ArrayRef<EntryFunction> functions,
                                  const LLVMTypeConverter &converter) {
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (!function.isExternal() && function.getVisibility_() == LLVM::Visibility::Default)
      function.setLinkage(LLVM::Linkage::Internal);
  for (const EntryFunction &function : functions)
    if (failed(createEntry(module.lookupSymbol<LLVM::LLVMFuncOp>(function.name), function.type, converter)))
      return failure();
  return success();
}
