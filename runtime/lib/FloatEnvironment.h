// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The default floating-point environment for the length of a scope: round to
// nearest, subnormals kept, exceptions masked. Generated code and the promise
// of equal bits on any thread depend on it.

#ifndef ATTN_RUNTIME_LIB_FLOATENVIRONMENT_H
#define ATTN_RUNTIME_LIB_FLOATENVIRONMENT_H

#if defined(__SSE__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace attn::runtime {

#if defined(__SSE__)

/// Saving all of x86's environment (fegetenv) is slow; the control words of the
/// two units are enough. Generated code computes with SSE and AVX, but
/// fegetround and long double go by the x87 word.
class DefaultFloatEnvironment {
public:
  DefaultFloatEnvironment() : vectorControl(_mm_getcsr()) {
    const unsigned short x87Default = 0x037F;
    __asm__ volatile("fnstcw %0" : "=m"(x87Control));
    __asm__ volatile("fldcw %0" : : "m"(x87Default));
    _mm_setcsr(0x1F80);
  }
  ~DefaultFloatEnvironment() {
    __asm__ volatile("fldcw %0" : : "m"(x87Control));
    _mm_setcsr(vectorControl);
  }
  DefaultFloatEnvironment(const DefaultFloatEnvironment &) = delete;

private:
  unsigned vectorControl;
  unsigned short x87Control;
};

#else

class DefaultFloatEnvironment {
public:
  DefaultFloatEnvironment() {
    std::fegetenv(&saved);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloatEnvironment() { std::fesetenv(&saved); }
  DefaultFloatEnvironment(const DefaultFloatEnvironment &) = delete;

private:
  std::fenv_t saved;
};

#endif

} // namespace attn::runtime

#endif // ATTN_RUNTIME_LIB_FLOATENVIRONMENT_H
