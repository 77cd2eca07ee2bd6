//===- InitAllPasses.h - all of our passes and pipelines -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_INITALLPASSES_H
#define ATTN_INITALLPASSES_H

#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Dialect/Flash/Transforms/Passes.h"
#include "attn/Inspection/Passes.h"
#include "attn/Pipelines/Pipelines.h"

namespace attn {

/// Makes our passes and pipelines known to the command line and to textual pipelines.
inline void registerAllPasses() {
  registerAttnPasses();
  registerAttnConversionPasses();
  flash::registerFlashPasses();
  registerAttnInspectionPasses();
  registerPipelines();
}

} // namespace attn

#endif // ATTN_INITALLPASSES_H
