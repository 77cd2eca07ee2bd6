//===- Registers.cpp - registers of a thread ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block starts with the registers that its number of threads allows: an equal share of the 65536 of an SM, in steps
// of 8 (PTX ISA, "setmaxnreg"). Threads that give some up leave them for others of the block; who asks for more than
// there are waits. Numbers are of 32-bit registers, of a thread or summed over threads. attn_dev_opaque is there to
// save registers, and does nothing else.
//
//===----------------------------------------------------------------------===//

#include "Block.h"
#include "Operations.h"
#include "llvm/IR/Instructions.h"

using namespace attn::emulator;

static constexpr uint32_t kRegistersOfSM = 65536, kStep = 8, kMost = 256;

uint32_t attn::emulator::registersAtStart(uint32_t threads) {
  return std::min(kRegistersOfSM / threads / kStep * kStep, kMost);
}

static void decrease(Thread &thread, const Site &site, const uint64_t *arguments, void *) {
  Block &block = *thread.block;
  auto registers = argument<uint32_t>(arguments, 0);
  if (registers > thread.registers)
    block.fail(thread, site,
               "expects at most the " + llvm::Twine(thread.registers) + " registers that the thread has, but got " +
                   llvm::Twine(registers));
  block.freeRegisters += thread.registers - registers;
  thread.registers = registers;
  block.wakeAll(block.waitingForRegisters);
}

static void increase(Thread &thread, const Site &site, const uint64_t *arguments, void *) {
  Block &block = *thread.block;
  auto registers = argument<uint32_t>(arguments, 0);
  if (registers < thread.registers)
    block.fail(thread, site,
               "expects at least the " + llvm::Twine(thread.registers) + " registers that the thread has, but got " +
                   llvm::Twine(registers));
  uint32_t more = registers - thread.registers;
  while (block.freeRegisters < more) {
    thread.waitsFor = more;
    block.waitingForRegisters.push(thread);
    block.park(thread, Wait::Registers, site);
  }
  block.freeRegisters -= more;
  thread.registers = registers;
}

static llvm::Value *operandOf(llvm::IRBuilderBase &, llvm::CallInst &call) { return call.getArgOperand(0); }

void attn::emulator::addRegisterOperations(OperationTable &table) {
  for (const char *type : {"i32", "i64"})
    table.expand(llvm::Twine("attn_dev_opaque_") + type, operandOf);
  const std::string prefix = kNvvm;
  table.handle(prefix + "setmaxnreg.inc.sync.aligned.u32", increase);
  table.handle(prefix + "setmaxnreg.dec.sync.aligned.u32", decrease);
}
