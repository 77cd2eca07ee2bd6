//===- Instrument.cpp - reports of what kernels do ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Instrument.h"
#include "Operations.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace attn::emulator;

static constexpr unsigned kGenericSpace = 0;
static constexpr unsigned kSharedSpace = 3;
static constexpr unsigned kClusterSpace = 7;

const Site &attn::emulator::makeSite(std::deque<Site> &sites, llvm::StringMap<uint32_t> &ordinals, llvm::StringRef name,
                                     const llvm::Instruction &instruction) {
  Site site = {uint32_t(sites.size()), name.str(), ordinals[name]++, ""};
  if (const llvm::DILocation *location = instruction.getDebugLoc())
    site.location = (location->getFilename() + ":" + llvm::Twine(location->getLine())).str();
  sites.push_back(std::move(site));
  return sites.back();
}

llvm::Value *attn::emulator::getSitePointer(llvm::IRBuilderBase &builder, const Site &site) {
  auto address = reinterpret_cast<uint64_t>(&site);
  return llvm::ConstantExpr::getIntToPtr(builder.getInt64(address), builder.getPtrTy());
}

//===----------------------------------------------------------------------===//
// At run time
//===----------------------------------------------------------------------===//

enum AccessFlags : uint32_t { IsWrite = 1, IsAtomic = 2, MayBeElsewhere = 4 };

/// Called before each plain access.
static void reportAccess(Thread *thread, const Site *site, uint64_t address, uint32_t bytes, uint32_t alignment,
                         uint32_t flags) {
  Block &block = *thread->block;
  auto base = reinterpret_cast<uint64_t>(block.sharedBase());
  if ((flags & MayBeElsewhere) && address - base >= SharedWindow::kBytes)
    return;
  char *memory = block.shared(*thread, *site, address, bytes, alignment);
  // Atomic accesses need no order among themselves; what they leave counts as written.
  if (!(flags & IsAtomic)) {
    if (flags & IsWrite)
      block.noteWrite(*thread, *site, memory, bytes);
    else
      block.noteRead(*thread, *site, memory, bytes);
  }
  ++(flags & IsWrite ? block.counters.sharedStores : block.counters.sharedLoads);
  if (block.launchState().counts && bytes <= 16)
    block.counters.bankConflicts += block.bankConflicts.add(thread->warp->index, site->index, thread->lane,
                                                            thread->warp->lanes, block.offsetOf(memory), bytes);
}

//===----------------------------------------------------------------------===//
// In the IR
//===----------------------------------------------------------------------===//

/// Shared memory may be behind it. Memory of the thread's own is not.
static bool mayBeShared(llvm::Value *pointer) {
  unsigned space = pointer->getType()->getPointerAddressSpace();
  if (space == kSharedSpace || space == kClusterSpace)
    return true;
  return space == kGenericSpace && !llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer));
}

void Instrumentation::add(llvm::Instruction &instruction, llvm::Value *pointer, llvm::Type *type, llvm::Align alignment,
                          bool isWrite, bool isAtomic) {
  uint64_t bytes = instruction.getDataLayout().getTypeStoreSize(type);
  if (mayBeShared(pointer))
    accesses.push_back({&instruction, pointer, bytes, alignment.value(), isWrite, isAtomic});
}

void Instrumentation::find(llvm::Instruction &instruction) {
  if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
    add(*load, load->getPointerOperand(), load->getType(), load->getAlign(), false, load->isAtomic());
  else if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
    add(*store, store->getPointerOperand(), store->getValueOperand()->getType(), store->getAlign(), true,
        store->isAtomic());
  else if (auto *update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
    add(*update, update->getPointerOperand(), update->getType(), update->getAlign(), true, true);
  else if (auto *exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction))
    add(*exchange, exchange->getPointerOperand(), exchange->getNewValOperand()->getType(), exchange->getAlign(), true,
        true);
}

Instrumentation::Instrumentation(llvm::Function &function, llvm::ArrayRef<llvm::CallInst *>) {
  for (llvm::BasicBlock &block : function) {
    uint32_t count = 0;
    for (llvm::Instruction &instruction : block) {
      count += !llvm::isa<llvm::PHINode>(instruction);
      find(instruction);
    }
    blocks.emplace_back(&block, count);
  }
}

void Instrumentation::insert(llvm::Value *thread, std::deque<Site> &sites, llvm::StringMap<uint32_t> &ordinals,
                             llvm::StringMap<void *> &functions) {
  auto *after = llvm::cast<llvm::Instruction>(thread)->getNextNode();
  llvm::Module &module = *after->getModule();
  llvm::IRBuilder<> builder(after);
  auto *pointer = builder.getPtrTy();
  auto *number = builder.getInt32Ty();
  auto *type = llvm::FunctionType::get(builder.getVoidTy(),
                                       {pointer, pointer, builder.getInt64Ty(), number, number, number}, false);
  functions["attn_emulator.access"] = reinterpret_cast<void *>(&reportAccess);
  llvm::FunctionCallee report = module.getOrInsertFunction("attn_emulator.access", type);
  for (const MemoryAccess &access : accesses) {
    builder.SetInsertPoint(access.instruction);
    const Site &site = makeSite(sites, ordinals, access.instruction->getOpcodeName(), *access.instruction);
    bool isGeneric = access.pointer->getType()->getPointerAddressSpace() == kGenericSpace;
    uint32_t flags =
        (access.isWrite ? +IsWrite : 0) | (access.isAtomic ? +IsAtomic : 0) | (isGeneric ? +MayBeElsewhere : 0);
    // The operand as it is now: it was a variable in shared memory, maybe.
    unsigned place = llvm::isa<llvm::StoreInst>(access.instruction) ? 1 : 0;
    llvm::Value *address = builder.CreatePtrToInt(access.instruction->getOperand(place), builder.getInt64Ty());
    builder.CreateCall(report, {thread, getSitePointer(builder, site), address, builder.getInt32(access.bytes),
                                builder.getInt32(access.alignment), builder.getInt32(flags)});
  }
  for (auto [block, count] : blocks) {
    bool isEntry = block == &block->getParent()->getEntryBlock();
    builder.SetInsertPoint(block, isEntry ? after->getIterator() : block->getFirstInsertionPt());
    // The count is the first member of Thread.
    llvm::Value *old = builder.CreateLoad(builder.getInt64Ty(), thread);
    builder.CreateStore(builder.CreateAdd(old, builder.getInt64(count)), thread);
  }
}
