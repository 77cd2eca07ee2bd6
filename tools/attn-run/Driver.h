//===- Driver.h - what attn-run does ------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_ATTNRUN_DRIVER_H
#define ATTN_TOOLS_ATTNRUN_DRIVER_H

#include "Settings.h"

namespace attn::tool {

/// Parses, compiles, runs, and does what the settings ask for, in this order: output, reference-output, print, check,
/// profile, bench. Writes to stdout. An error, or a failed check, is returned as one.
Status runTool(const Settings &settings);

} // namespace attn::tool

#endif // ATTN_TOOLS_ATTNRUN_DRIVER_H
