//===- SuiteTarget.h - what the suite compiles for ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TEST_UNIT_SUITETARGET_H
#define ATTN_TEST_UNIT_SUITETARGET_H

#include <cstdlib>
#include <string>

/// The CPU that tests compile for: x86-64-v3 where this machine has it, so that they see the same code on every such
/// machine, else this machine's own.
inline std::string suiteCpu() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
    return "x86-64-v3";
#endif
  return "host";
}

/// What ATTN_TEST_TARGET says, such as emulator:sm_90a or x86-64-v4; else suiteCpu().
inline std::string suiteTarget() {
  const char *name = std::getenv("ATTN_TEST_TARGET");
  return name ? name : suiteCpu();
}

#endif // ATTN_TEST_UNIT_SUITETARGET_H
