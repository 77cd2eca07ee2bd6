//===- Assembler.h - PTX to cubin ----------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The assembler is the CUDA Toolkit's: its library nvJitLink, loaded at run time, or its program ptxas. Where neither
// is there, PTX is left to the driver of the machine that runs it.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TARGET_ASSEMBLER_H
#define ATTN_TARGET_ASSEMBLER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace attn {

/// What a kernel takes of the chip: registers and bytes of stack and spills of a thread, bytes of shared memory
/// (without the dynamic part) and barriers of a block.
struct KernelResources {
  std::string name;
  int64_t registers = 0;
  int64_t stackBytes = 0;
  int64_t spillStores = 0;
  int64_t spillLoads = 0;
  int64_t sharedBytes = 0;
  int64_t barriers = 0;
};

struct Assembly {
  /// An ELF file.
  std::string cubin;
  std::vector<KernelResources> kernels;
  /// Lines of the log that warn, advice of lost speed (C75xx) included.
  std::vector<std::string> warnings;
  std::string log;
};

enum class AssemblerKind { Any, NvJitLink, Ptxas };

struct AssemblerOptions {
  /// nvJitLink is preferred, as it needs no process and no files.
  AssemblerKind kind = AssemblerKind::Any;
  /// A CUDA Toolkit's folder, the only one to look into; empty: those of $CUDA_HOME and $CUDA_PATH, what the loader and
  /// PATH find, and /usr/local/cuda.
  std::string toolkit;
};

/// Assembles PTX for a chip. An error holds the assembler's log, or says where an assembler was looked for.
llvm::Expected<Assembly> assemblePtx(llvm::StringRef ptx, llvm::StringRef chip,
                                     const AssemblerOptions &options = AssemblerOptions());

/// Fills in kernels and warnings from the log of `ptxas -v`.
void parseAssemblerLog(Assembly &assembly);

} // namespace attn

#endif // ATTN_TARGET_ASSEMBLER_H
