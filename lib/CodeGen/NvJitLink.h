//===- NvJitLink.h - the CUDA Toolkit's assembler as a library -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_CODEGEN_NVJITLINK_H
#define ATTN_LIB_CODEGEN_NVJITLINK_H

#include "attn/CodeGen/Assembler.h"
#include "llvm/ADT/ArrayRef.h"
#include <optional>

namespace attn {

/// The functions of libnvJitLink that assembling takes, from a library that stays loaded. Declared here: no header of
/// the toolkit is needed.
class NvJitLink {
public:
  /// The library of the first toolkit that has one; "" stands for what the loader finds.
  static std::optional<NvJitLink> load(llvm::ArrayRef<std::string> toolkits);

  /// The result's log is that of `ptxas -v`; kernels and warnings are left empty.
  llvm::Expected<Assembly> assemble(llvm::StringRef ptx, llvm::StringRef chip) const;

private:
  using Handle = void *;
  class Link;

  bool bind(void *library);
  bool bind(void *library, const std::string &version);

  int (*create)(Handle *, uint32_t, const char **) = nullptr;
  int (*destroy)(Handle *) = nullptr;
  int (*addData)(Handle, int kind, const void *, size_t, const char *name) = nullptr;
  int (*complete)(Handle) = nullptr;
  int (*cubinSize)(Handle, size_t *) = nullptr;
  int (*cubin)(Handle, void *) = nullptr;
  int (*errorSize)(Handle, size_t *) = nullptr;
  int (*error)(Handle, char *) = nullptr;
  int (*infoSize)(Handle, size_t *) = nullptr;
  int (*info)(Handle, char *) = nullptr;
};

} // namespace attn

#endif // ATTN_LIB_CODEGEN_NVJITLINK_H
