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

class DefaultFloatEnvironment {
public:
  DefaultFloatEnvironment() : saved(_mm_getcsr()) { _mm_setcsr(0x1F80); }
  ~DefaultFloatEnvironment() { _mm_setcsr(saved); }
  DefaultFloatEnvironment(const DefaultFloatEnvironment &) = delete;

private:
  unsigned saved;
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
