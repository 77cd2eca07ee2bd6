//===- attn.h - compile and run attention from C++ ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The user's API in one header; nothing of MLIR or LLVM is in it. Three steps:
//
//   attn::Result<attn::Module> module = attn::Module::parseFile("causal-mha.mlir"); // or parse(text)
//   attn::Result<attn::Kernel> kernel = module->compile("causal_mha");              // native code for this machine
//   std::vector<float> q(...), k(...), v(...), out(...);
//   attn::Result<attn::RunReport> run =
//       kernel->run({attn::view(q, {1, 8, 1024, 64}), attn::view(k, {1, 8, 1024, 64}), attn::view(v, {1, 8, 1024,
//       64})},
//                   {attn::view(out, {1, 8, 1024, 64})}, attn::RunOptions().threads(2));
//
// Every step returns a Result: test it before use, its error() says what is wrong and what to do (API/Result.h).
// test/Examples/jit.cpp is a whole program.
//
// | header | holds |
// |---|---|
// | API/Result.h | Result, Error, Location, Diagnostic |
// | API/Tensor.h | views of the caller's memory, element types, scalar arguments |
// | API/Float16.h | storage of f16 and bf16 |
// | API/ThreadPool.h | threads: own ones, or the caller's |
// | API/Device.h | targets, GPUs and their memory |
// | API/Kernel.h | options, compiled kernels; Kernel::run has the rules for arguments |
// | API/Module.h | parsing, compiling, the reference interpreter |
//
// Link with AttnAPI. All types are values and may be copied and moved between threads. Module::parse, compile and emit
// take milliseconds to tenths of a second; Kernel::run compiles nothing.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_ATTN_H
#define ATTN_ATTN_H

#include "attn/API/Device.h"
#include "attn/API/Float16.h"
#include "attn/API/Kernel.h"
#include "attn/API/Module.h"
#include "attn/API/Result.h"
#include "attn/API/Tensor.h"
#include "attn/API/ThreadPool.h"

#endif // ATTN_ATTN_H
