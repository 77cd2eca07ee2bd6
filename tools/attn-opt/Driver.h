//===- Driver.h - what attn-opt does ------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_ATTNOPT_DRIVER_H
#define ATTN_TOOLS_ATTNOPT_DRIVER_H

#include "mlir/IR/DialectRegistry.h"

namespace attn::tool {

/// mlir-opt's main, with this project's reading of inputs, writing of outputs and reports of crashes. The exit code.
int runOpt(int argc, char **argv, mlir::DialectRegistry &registry);

} // namespace attn::tool

#endif // ATTN_TOOLS_ATTNOPT_DRIVER_H
