//===- Fiber.cpp - contexts that take turns on one thread ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A switch saves the registers that a call preserves on the stack that is left, and takes them from the other one: a
// few nanoseconds. Rounding mode and exception masks are the same in all fibers, so they are left alone.
//
//===----------------------------------------------------------------------===//

#include "Fiber.h"
#include <cstdint>

#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define ATTN_EMULATOR_ASAN 1
#else
#define ATTN_EMULATOR_ASAN 0
#endif

#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#include <sanitizer/tsan_interface.h>
#define ATTN_EMULATOR_TSAN 1
#else
#define ATTN_EMULATOR_TSAN 0
#endif

using namespace attn::emulator;

#if ATTN_EMULATOR_OWN_SWITCH
// attn_emulator_switch(void **saved, void *next): stores the stack pointer in *saved and goes on at next.
extern "C" void attn_emulator_switch(void **saved, void *next);
asm(R"(
.text
.globl attn_emulator_switch
.hidden attn_emulator_switch
.type attn_emulator_switch, @function
attn_emulator_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size attn_emulator_switch, .-attn_emulator_switch
)");
#endif

// Who switched last, and where to: a fiber that starts has no arguments.
static thread_local Fiber *previous;
static thread_local Fiber *current;

Fiber::~Fiber() {
#if ATTN_EMULATOR_TSAN
  if (ownsSanitizerFiber)
    __tsan_destroy_fiber(sanitizerFiber);
#endif
}

void Fiber::prepare(void *stack, size_t bytes, void (*entryPoint)()) {
  entry = entryPoint;
  stackBottom = stack;
  stackBytes = bytes;
#if ATTN_EMULATOR_ASAN
  // Frames that were left for good are still marked.
  __asan_unpoison_memory_region(stack, bytes);
#endif
#if ATTN_EMULATOR_TSAN
  if (ownsSanitizerFiber)
    __tsan_destroy_fiber(sanitizerFiber);
  sanitizerFiber = __tsan_create_fiber(0);
  ownsSanitizerFiber = true;
#endif
#if ATTN_EMULATOR_OWN_SWITCH
  // The ABI: at a function's first instruction the stack pointer is 8 below a multiple of 16. A return address of 0
  // ends a debugger's backtrace.
  auto top = (reinterpret_cast<uintptr_t>(stack) + bytes) & ~uintptr_t(15);
  auto **slot = reinterpret_cast<void **>(top);
  *--slot = nullptr;
  *--slot = reinterpret_cast<void *>(&Fiber::start);
  for (int k = 0; k < 6; ++k)
    *--slot = nullptr;
  stackPointer = static_cast<void *>(slot);
#else
  getcontext(&context);
  context.uc_stack.ss_sp = stack;
  context.uc_stack.ss_size = bytes;
  context.uc_link = nullptr;
  makecontext(&context, &Fiber::start, 0);
#endif
}

void Fiber::start() {
#if ATTN_EMULATOR_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &previous->stackBottom, &previous->stackBytes);
#endif
  current->entry();
}

void Fiber::switchTo(Fiber &next, bool isLast) {
  previous = this;
  current = &next;
#if ATTN_EMULATOR_ASAN
  void *fakeStack = nullptr;
  __sanitizer_start_switch_fiber(isLast ? nullptr : &fakeStack, next.stackBottom, next.stackBytes);
#else
  (void)isLast;
#endif
#if ATTN_EMULATOR_TSAN
  if (!ownsSanitizerFiber)
    sanitizerFiber = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(next.sanitizerFiber, 0);
#endif
#if ATTN_EMULATOR_OWN_SWITCH
  attn_emulator_switch(&stackPointer, next.stackPointer);
#else
  swapcontext(&context, &next.context);
#endif
#if ATTN_EMULATOR_ASAN
  __sanitizer_finish_switch_fiber(fakeStack, &previous->stackBottom, &previous->stackBytes);
#endif
}
