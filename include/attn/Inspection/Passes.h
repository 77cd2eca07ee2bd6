//===- Passes.h - passes that show what the compiler decides --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_INSPECTION_PASSES_H
#define ATTN_INSPECTION_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace attn {

/// How attn-print-tile-map prints.
enum class TileMapFormat { Text, Svg };

#define GEN_PASS_DECL
#include "Inspection/InspectionPasses.h.inc"

#define GEN_PASS_REGISTRATION
#include "Inspection/InspectionPasses.h.inc"

} // namespace attn

#endif // ATTN_INSPECTION_PASSES_H
