//===- Rewrite.cpp - device IR becomes host IR --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A call of an operation that waits or touches shared memory becomes
//   handler(thread, site, arguments, results)
// with the arguments stored in slots of 8 bytes on the stack and the result read back from there. All address spaces of
// the device are plain memory to x86-64 and AArch64, so loads and stores stay as they are.
//
//===----------------------------------------------------------------------===//

#include "Rewrite.h"
#include "Instrument.h"
#include "Operations.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/ReplaceConstant.h"

using namespace attn::emulator;

static constexpr unsigned kSharedSpace = 3;

std::string attn::emulator::getEntryName(llvm::StringRef kernel) { return ("attn_emulator_entry." + kernel).str(); }

static Thread *getCurrentThread() { return &Block::current(); }
static char *getSharedBase(const Thread *thread) { return thread->block->sharedBase(); }

namespace {
/// Rewrites one module.
class Rewriter {
public:
  Rewriter(llvm::Module &module, const Description &description, bool isInstrumented, std::deque<Site> &sites)
      : module(module), description(description), isInstrumented(isInstrumented), sites(sites) {}

  llvm::StringMap<void *> run();

private:
  void rewriteFunction(llvm::Function &function);
  void reserveSlots(llvm::Function &function, llvm::ArrayRef<llvm::CallInst *> calls);
  void replaceSharedVariables(llvm::Function &function);
  void replaceCall(llvm::CallInst &call);
  llvm::Value *callHandler(llvm::IRBuilder<> &builder, llvm::CallInst &call, const Operation &operation);
  void makeEntry(llvm::Function &kernel, llvm::StringRef name);
  llvm::FunctionCallee bind(llvm::StringRef name, llvm::FunctionType *type, void *address, bool isPure);

  llvm::Module &module;
  const Description &description;
  bool isInstrumented;
  std::deque<Site> &sites;
  llvm::StringMap<void *> functions;
  llvm::StringMap<uint32_t> ordinals;

  // Of the function that is being rewritten.
  llvm::Value *thread = nullptr;
  llvm::Value *arguments = nullptr;
  llvm::Value *results = nullptr;
};
} // namespace

/// A function of the emulator. isPure: its result depends on its arguments alone, or on what is fixed for a thread.
llvm::FunctionCallee Rewriter::bind(llvm::StringRef name, llvm::FunctionType *type, void *address, bool isPure) {
  std::string symbol = ("attn_emulator." + name).str();
  functions[symbol] = address;
  llvm::FunctionCallee callee = module.getOrInsertFunction(symbol, type);
  auto *function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotThrow();
  if (isPure) {
    function->setDoesNotAccessMemory();
    function->setWillReturn();
    function->setNoSync();
  }
  return callee;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

llvm::Value *Rewriter::callHandler(llvm::IRBuilder<> &builder, llvm::CallInst &call, const Operation &operation) {
  auto *pointer = builder.getPtrTy();
  auto *type = llvm::FunctionType::get(builder.getVoidTy(), {pointer, pointer, pointer, pointer}, false);
  unsigned slot = 0;
  for (llvm::Value *value : call.args()) {
    if (value->getType()->isIntegerTy(1))
      value = builder.CreateZExt(value, builder.getInt8Ty());
    builder.CreateStore(value, builder.CreateConstGEP1_64(builder.getInt64Ty(), arguments, slot++));
  }
  llvm::StringRef name = call.getCalledFunction()->getName();
  const Site &site = makeSite(sites, ordinals, name, call);
  llvm::FunctionCallee handler = bind(name, type, operation.address, /*isPure=*/false);
  builder.CreateCall(handler, {thread, getSitePointer(builder, site), arguments, results});
  if (call.getType()->isVoidTy())
    return nullptr;
  if (call.getType()->isIntegerTy(1))
    return builder.CreateTrunc(builder.CreateLoad(builder.getInt8Ty(), results), builder.getInt1Ty());
  return builder.CreateLoad(call.getType(), results);
}

void Rewriter::replaceCall(llvm::CallInst &call) {
  const Operation *operation = OperationTable::get().find(call.getCalledFunction()->getName());
  llvm::IRBuilder<> builder(&call);
  llvm::StringRef name = call.getCalledFunction()->getName();
  llvm::Value *result = nullptr;
  switch (operation->kind) {
  case Operation::Handled:
    result = callHandler(builder, call, *operation);
    break;
  case Operation::Read: {
    auto *type = llvm::FunctionType::get(call.getType(), {builder.getPtrTy()}, false);
    result = builder.CreateCall(bind(name, type, operation->address, /*isPure=*/true), {thread});
    break;
  }
  case Operation::Function: {
    llvm::SmallVector<llvm::Value *> values(call.args());
    result = builder.CreateCall(bind(name, call.getFunctionType(), operation->address, /*isPure=*/true), values);
    break;
  }
  case Operation::Expanded:
    result = operation->expand(builder, call);
    break;
  case Operation::Dropped:
    break;
  }
  if (result)
    call.replaceAllUsesWith(result);
  call.eraseFromParent();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

static llvm::SmallVector<llvm::CallInst *> findOperations(llvm::Function &function) {
  llvm::SmallVector<llvm::CallInst *> calls;
  for (llvm::Instruction &instruction : llvm::instructions(function))
    if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction))
      if (call->getCalledFunction() && OperationTable::get().find(call->getCalledFunction()->getName()))
        calls.push_back(call);
  return calls;
}

/// Room on the stack for the arguments and the result of any of the calls, and the thread.
void Rewriter::reserveSlots(llvm::Function &function, llvm::ArrayRef<llvm::CallInst *> calls) {
  uint64_t slots = 1, bytes = 8;
  for (llvm::CallInst *call : calls) {
    slots = std::max<uint64_t>(slots, call->arg_size());
    if (!call->getType()->isVoidTy())
      bytes = std::max<uint64_t>(bytes, module.getDataLayout().getTypeAllocSize(call->getType()));
  }
  llvm::BasicBlock &entry = function.getEntryBlock();
  llvm::IRBuilder<> builder(&entry, entry.getFirstInsertionPt());
  arguments = builder.CreateAlloca(llvm::ArrayType::get(builder.getInt64Ty(), slots));
  llvm::AllocaInst *result = builder.CreateAlloca(llvm::ArrayType::get(builder.getInt8Ty(), bytes));
  result->setAlignment(llvm::Align(16));
  results = result;
  auto *type = llvm::FunctionType::get(builder.getPtrTy(), false);
  thread =
      builder.CreateCall(bind("current_thread", type, reinterpret_cast<void *>(&getCurrentThread), /*isPure=*/true));
}

void Rewriter::replaceSharedVariables(llvm::Function &function) {
  llvm::Value *base = nullptr;
  llvm::DenseMap<llvm::Value *, llvm::Value *> addresses;
  auto *after = llvm::cast<llvm::Instruction>(thread)->getNextNode();
  llvm::IRBuilder<> builder(after);
  auto getAddress = [&](llvm::GlobalVariable *variable) {
    llvm::Value *&address = addresses[variable];
    if (address)
      return address;
    if (!base) {
      auto *type = llvm::FunctionType::get(builder.getPtrTy(kSharedSpace), {builder.getPtrTy()}, false);
      base = builder.CreateCall(bind("shared_base", type, reinterpret_cast<void *>(&getSharedBase), /*isPure=*/true),
                                {thread});
    }
    return address = builder.CreateConstGEP1_64(builder.getInt8Ty(), base,
                                                description.sharedOffsets.lookup(variable->getName()));
  };
  for (llvm::Instruction &instruction : llvm::instructions(function))
    for (llvm::Use &use : instruction.operands())
      if (auto *variable = llvm::dyn_cast<llvm::GlobalVariable>(use.get()))
        if (variable->getAddressSpace() == kSharedSpace)
          use.set(getAddress(variable));
}

static void dropDeviceAttributes(llvm::Function &function) {
  function.setCallingConv(llvm::CallingConv::C);
  function.removeFnAttr("target-cpu");
  function.removeFnAttr("target-features");
  for (llvm::Instruction &instruction : llvm::instructions(function))
    if (auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction))
      call->setCallingConv(llvm::CallingConv::C);
}

void Rewriter::rewriteFunction(llvm::Function &function) {
  dropDeviceAttributes(function);
  llvm::SmallVector<llvm::CallInst *> calls = findOperations(function);
  Instrumentation instrumentation;
  if (isInstrumented)
    instrumentation = Instrumentation(function, calls);
  reserveSlots(function, calls);
  replaceSharedVariables(function);
  if (isInstrumented)
    instrumentation.insert(thread, sites, ordinals, functions);
  for (llvm::CallInst *call : calls)
    replaceCall(*call);
}

/// void entry(void **parameters): reads each parameter where parameters[k] points to, and calls the kernel.
void Rewriter::makeEntry(llvm::Function &kernel, llvm::StringRef name) {
  llvm::LLVMContext &context = module.getContext();
  llvm::IRBuilder<> builder(context);
  auto *type = llvm::FunctionType::get(builder.getVoidTy(), {builder.getPtrTy()}, false);
  auto *entry = llvm::Function::Create(type, llvm::Function::ExternalLinkage, getEntryName(name), module);
  builder.SetInsertPoint(llvm::BasicBlock::Create(context, "", entry));
  llvm::SmallVector<llvm::Value *> values;
  for (llvm::Argument &argument : kernel.args()) {
    llvm::Value *place = builder.CreateLoad(
        builder.getPtrTy(), builder.CreateConstGEP1_64(builder.getPtrTy(), entry->getArg(0), argument.getArgNo()));
    if (!argument.hasByValAttr()) {
      values.push_back(builder.CreateAlignedLoad(argument.getType(), place, llvm::Align(1)));
      continue;
    }
    // What the kernel may not change is shared by all threads; else each has its own.
    if (!argument.hasAttribute("nvvm.grid_constant")) {
      llvm::Type *pointee = argument.getParamByValType();
      llvm::AllocaInst *own = builder.CreateAlloca(pointee);
      own->setAlignment(std::max(own->getAlign(), argument.getParamAlign().valueOrOne()));
      builder.CreateMemCpy(own, own->getAlign(), place, llvm::Align(1),
                           module.getDataLayout().getTypeAllocSize(pointee));
      place = own;
    }
    values.push_back(place);
  }
  for (unsigned k = 0; k < kernel.arg_size(); ++k)
    kernel.removeParamAttr(k, llvm::Attribute::ByVal);
  builder.CreateCall(&kernel, values);
  builder.CreateRetVoid();
  kernel.setLinkage(llvm::Function::InternalLinkage);
}

/// A list of what must not be dropped means nothing here, and would use the variables in shared memory.
static void dropUsedLists(llvm::Module &module) {
  for (const char *name : {"llvm.used", "llvm.compiler.used"})
    if (llvm::GlobalVariable *list = module.getGlobalVariable(name))
      list->eraseFromParent();
}

llvm::StringMap<void *> Rewriter::run() {
  dropUsedLists(module);
  llvm::SmallVector<llvm::Constant *> shared;
  for (llvm::GlobalVariable &variable : module.globals())
    if (variable.getAddressSpace() == kSharedSpace)
      shared.push_back(&variable);
  llvm::convertUsersOfConstantsToInstructions(shared);
  llvm::SmallVector<llvm::Function *> defined;
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      defined.push_back(&function);
  for (llvm::Function *function : defined)
    rewriteFunction(*function);
  for (llvm::Constant *variable : shared)
    llvm::cast<llvm::GlobalVariable>(variable)->eraseFromParent();
  for (llvm::Function *function : defined)
    if (description.kernels.count(function->getName()))
      makeEntry(*function, function->getName());
  llvm::StripDebugInfo(module);
  return std::move(functions);
}

llvm::StringMap<void *> attn::emulator::rewrite(llvm::Module &module, const Description &description,
                                                bool isInstrumented, std::deque<Site> &sites) {
  return Rewriter(module, description, isInstrumented, sites).run();
}
