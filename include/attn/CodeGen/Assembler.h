//===- Assembler.h - PTX to cubin ----------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The assembler is the CUDA Toolkit's: its library nvJitLink, loaded at run time, or its program ptxas. Where neither
// is there, PTX is left to the driver of the machine that runs it.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_CODEGEN_ASSEMBLER_H
#define ATTN_CODEGEN_ASSEMBLER_H

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
  /// Any: ptxas; without it nvJitLink, but not for chips of suffix a. nvJitLink needs no process and no files, but
  /// makes code that can be linked, in which setmaxnreg is ignored: a kernel of warpgroups then spills, and its wgmmas
  /// run one after the other (C7504, C7512), where the driver would make better code of the PTX.
  AssemblerKind kind = AssemblerKind::Any;
  /// A CUDA Toolkit's folder, the only one to look into; empty: those of $CUDA_HOME and $CUDA_PATH, what the loader and
  /// PATH find, and /usr/local/cuda.
  std::string toolkit;
};

/// No assembler was found; the message says where it was looked for.
class AssemblerMissing : public llvm::ErrorInfo<AssemblerMissing> {
public:
  static char ID;
  explicit AssemblerMissing(std::string text) : text(std::move(text)) {}
  void log(llvm::raw_ostream &stream) const override;
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

private:
  std::string text;
};

/// Assembles PTX for a chip. An error is an AssemblerMissing, or holds the assembler's log.
/// Temporary files of ptxas are removed after an interrupt, too: LLVM's signal handlers are installed.
llvm::Expected<Assembly> assemblePtx(llvm::StringRef ptx, llvm::StringRef chip,
                                     const AssemblerOptions &options = AssemblerOptions());

/// Fills in kernels and warnings from the log of `ptxas -v`.
void parseAssemblerLog(Assembly &assembly);

} // namespace attn

#endif // ATTN_CODEGEN_ASSEMBLER_H
