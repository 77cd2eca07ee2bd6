//===- Fiber.h - contexts that take turns on one thread ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_EMULATOR_FIBER_H
#define ATTN_LIB_EMULATOR_FIBER_H

#include <cstddef>

// Own code where it is known; elsewhere ucontext, which makes a system call at each switch.
#if defined(__x86_64__) && defined(__ELF__) && !defined(ATTN_EMULATOR_UCONTEXT)
#define ATTN_EMULATOR_OWN_SWITCH 1
#else
#define ATTN_EMULATOR_OWN_SWITCH 0
#include <ucontext.h>
#endif

namespace attn::emulator {

/// A context of execution: the thread's own, or one made by prepare. It stays on the thread that first runs it.
class Fiber {
public:
  Fiber() = default;
  Fiber(const Fiber &) = delete;
  Fiber &operator=(const Fiber &) = delete;
  ~Fiber();

  /// Makes the fiber call entry at the first switch to it, on `stack`, which it does not own. entry must not return:
  /// it leaves by a last switchTo. A fiber may be prepared again, whatever it was doing: nothing on its stack is
  /// destroyed.
  void prepare(void *stack, size_t bytes, void (*entry)());

  /// Goes on with `next`, until something switches back. isLast: this fiber is not resumed before it is prepared again.
  void switchTo(Fiber &next, bool isLast = false);

private:
  static void start();

#if ATTN_EMULATOR_OWN_SWITCH
  void *stackPointer = nullptr;
#else
  ucontext_t context;
#endif
  void (*entry)() = nullptr;
  /// What AddressSanitizer has to know of the stack.
  const void *stackBottom = nullptr;
  size_t stackBytes = 0;
  /// What ThreadSanitizer calls it; the thread's own context has one that is not ours.
  void *sanitizerFiber = nullptr;
  bool ownsSanitizerFiber = false;
};

} // namespace attn::emulator

#endif // ATTN_LIB_EMULATOR_FIBER_H
