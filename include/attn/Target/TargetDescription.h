//===- TargetDescription.h - what code generation knows of a CPU ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TARGET_TARGETDESCRIPTION_H
#define ATTN_TARGET_TARGETDESCRIPTION_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <string>

namespace attn {

/// An NVIDIA GPU by its chip name.
struct GpuTarget {
  /// As ptxas has it: "sm_80", "sm_90a".
  std::string chip;
  /// 80 for sm_80.
  unsigned version = 80;
  /// sm_90a: warpgroup matrix products, and copies by descriptor.
  bool hasWarpgroups = false;
  /// Bytes of shared memory that a block may have (CUDA C++ Programming Guide, "Compute Capabilities").
  int64_t sharedBytes = 99 << 10;
};

/// A CPU, as the cost models and the code generator see it. A plain value: equal descriptions give equal code.
struct TargetDescription {
  /// LLVM's names: triple, CPU and a feature string as in `+avx2,-avx512f` (empty: what the CPU implies).
  std::string triple;
  std::string cpu;
  std::string features;

  /// Bits of the widest vector register that generated code should use, and the number of such registers.
  unsigned vectorBits = 128;
  unsigned vectorRegisters = 16;
  bool hasFma = false;
  /// Bytes of data cache of one core.
  int64_t l1Bytes = 32 << 10;
  int64_t l2Bytes = 512 << 10;

  /// Where parallel loops run on a GPU; the CPU then runs what is around them.
  std::optional<GpuTarget> gpu;
};

/// Describes `name`: `host` or `native` (this machine, its caches included), a CPU name of this machine's architecture
/// as LLVM has it (`x86-64-v3`, `znver4`, what `llc -mcpu` takes), with default caches, or a GPU (`sm_80`, `sm_90a`,
/// ...) beside this machine. An unknown name is an error that lists what is accepted. Thread-safe.
llvm::Expected<TargetDescription> describeTarget(llvm::StringRef name);

/// True if `name` is spelt as a GPU's: sm_...
inline bool isGpuTarget(llvm::StringRef name) { return name.starts_with("sm_"); }

/// Describes a GPU: a chip that LLVM generates code for, and whose tensor cores have what the kernels use. Another name
/// is an error that says what is accepted.
llvm::Expected<GpuTarget> describeGpu(llvm::StringRef name);

/// Success if this machine runs code for `target`, else an error that lists the instruction sets it lacks.
llvm::Error checkSupportedByHost(const TargetDescription &target);

} // namespace attn

#endif // ATTN_TARGET_TARGETDESCRIPTION_H
