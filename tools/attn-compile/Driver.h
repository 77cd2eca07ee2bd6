//===- Driver.h - what attn-compile does --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_ATTNCOMPILE_DRIVER_H
#define ATTN_TOOLS_ATTNCOMPILE_DRIVER_H

#include "Settings.h"

namespace attn::tool {

/// Compiles the file for every target and writes what is asked for.
Status runTool(const Settings &settings);

} // namespace attn::tool

#endif // ATTN_TOOLS_ATTNCOMPILE_DRIVER_H
