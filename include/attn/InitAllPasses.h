//===- InitAllPasses.h - register our passes ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_INITALLPASSES_H
#define ATTN_INITALLPASSES_H

#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"

namespace attn {

/// Makes our passes known to the command line and to textual pipelines.
inline void registerAllPasses() {
  registerExpandNamedPass();
  registerConvertAttnToLinalgPass();
}

} // namespace attn

#endif // ATTN_INITALLPASSES_H
