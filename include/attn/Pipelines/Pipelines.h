//===- Pipelines.h - from the graph level to the machine level -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_PIPELINES_PIPELINES_H
#define ATTN_PIPELINES_PIPELINES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include <functional>
#include <string>

namespace attn {

/// The levels of IR at which compilation can stop, in order.
enum class Level { Graph, Tiled, Target, Machine };

struct PipelineOptions {
  Level to = Level::Machine;
  /// As describeTarget takes it.
  std::string target = "host";
  /// Query rows and keys of a tile, keys of a segment and of a register block; 0 lets the target's cost model choose.
  int64_t tileQ = 0;
  int64_t tileKv = 0;
  int64_t segmentKeys = 0;
  int64_t blockRows = 0;
  /// Skip the kv tiles that a mask empties; count the computed ones in the call's report.
  bool skipTiles = true;
  bool countKvTiles = false;
  /// Turn unfused attention into attn.attention (attn-fuse).
  bool fuse = true;
  /// Have attn-fuse compare each fusion with its graph, by the reference.
  bool verifyFusion = false;
  /// Multiply f32 on a GPU as one product of tf32, each operand within 2^-11 of its value, in place of three.
  bool allowTf32 = false;
  /// Compile this function, with what it refers to, and nothing else of the module; empty: all public ones.
  std::string function;
  /// Have CPU code check each access of memory as it runs (attn/CodeGen/BoundsChecks.h).
  bool checkBounds = false;
  /// Sees the module when it has reached the graph level, if it is set.
  std::function<void(mlir::ModuleOp)> atGraphLevel;
};

/// Adds what takes a module from the graph level to `options.to`. pm is one for modules.
void buildCompilePipeline(mlir::OpPassManager &pm, const PipelineOptions &options);

/// The names of the passes of that pipeline behind which the IR is always verified (PassChecks.h).
llvm::ArrayRef<llvm::StringLiteral> verifiedPasses();

/// Adds the part of that pipeline that turns unfused attention into attn.attention, helpers inlined before: all that
/// changes a graph's meaning, for rows without keys. `verify`: as PipelineOptions::verifyFusion.
void buildFusionPipeline(mlir::OpPassManager &pm, bool verify = false);

/// Makes `--attn-compile="to=... target=... tile-q= tile-kv= segment-keys= block-rows= skip-tiles= count-kv-tiles=
/// fuse= verify-fusion= allow-tf32= function= check-bounds="` known to the command line.
void registerPipelines();

/// Adds every dialect that a graph may hold or that the pipeline makes, with the external models that its passes use.
void registerPipelineDialects(mlir::DialectRegistry &registry);

} // namespace attn

#endif // ATTN_PIPELINES_PIPELINES_H
