//===- SpecialRegisters.cpp - %tid and its like -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Operations.h"
#include <chrono>

using namespace attn::emulator;

template <unsigned Dimension> static int32_t threadIndex(const Thread *thread) { return thread->id[Dimension]; }
template <unsigned Dimension> static int32_t blockSize(const Thread *thread) {
  return int32_t(thread->block->launchState().launch.block[Dimension]);
}
template <unsigned Dimension> static int32_t blockIndex(const Thread *thread) {
  return thread->block->index()[Dimension];
}
template <unsigned Dimension> static int32_t gridSize(const Thread *thread) {
  return int32_t(thread->block->launchState().launch.grid[Dimension]);
}
template <int32_t Value> static int32_t constant(const Thread *) { return Value; }

static int32_t lane(const Thread *thread) { return thread->lane; }
static int32_t warp(const Thread *thread) { return thread->warp->index; }
static int32_t warps(const Thread *thread) { return (thread->block->threadCount() + kWarpSize - 1) / kWarpSize; }
static int32_t sharedBytes(const Thread *thread) { return thread->block->sharedBytes(); }
static int32_t dynamicBytes(const Thread *thread) { return thread->block->launchState().launch.sharedBytes; }

static int32_t laneEqual(const Thread *thread) { return 1u << thread->lane; }
static int32_t laneBelow(const Thread *thread) { return (1u << thread->lane) - 1; }
static int32_t laneUpTo(const Thread *thread) { return laneEqual(thread) | laneBelow(thread); }
static int32_t laneAbove(const Thread *thread) { return ~laneUpTo(thread); }
static int32_t laneFrom(const Thread *thread) { return ~laneBelow(thread); }

/// Nanoseconds, which is what kernels get for cycles, too.
static void readTime(Thread &, const Site &, const uint64_t *, void *results) {
  setResult(results, int64_t(std::chrono::steady_clock::now().time_since_epoch().count()));
}
static void readTime32(Thread &, const Site &, const uint64_t *, void *results) {
  setResult(results, int32_t(std::chrono::steady_clock::now().time_since_epoch().count()));
}

template <unsigned Dimension> static void addDimension(OperationTable &table, const char *dimension) {
  auto name = [&](const char *text) { return (kNvvm + llvm::Twine("read.ptx.sreg.") + text + dimension).str(); };
  table.read(name("tid."), threadIndex<Dimension>);
  table.read(name("ntid."), blockSize<Dimension>);
  table.read(name("ctaid."), blockIndex<Dimension>);
  table.read(name("nctaid."), gridSize<Dimension>);
  // Each block is a cluster of its own.
  table.read(name("clusterid."), blockIndex<Dimension>);
  table.read(name("nclusterid."), gridSize<Dimension>);
  table.read(name("cluster.ctaid."), constant<0>);
  table.read(name("cluster.nctaid."), constant<1>);
}

void attn::emulator::addSpecialRegisters(OperationTable &table) {
  addDimension<0>(table, "x");
  addDimension<1>(table, "y");
  addDimension<2>(table, "z");
  const std::string prefix = std::string(kNvvm) + "read.ptx.sreg.";
  table.read(prefix + "cluster.ctarank", constant<0>);
  table.read(prefix + "cluster.nctarank", constant<1>);
  table.read(prefix + "laneid", lane);
  table.read(prefix + "warpid", warp);
  table.read(prefix + "nwarpid", warps);
  table.read(prefix + "warpsize", constant<int32_t(kWarpSize)>);
  table.read(prefix + "smid", constant<0>);
  table.read(prefix + "nsmid", constant<1>);
  table.read(prefix + "total_smem_size", sharedBytes);
  table.read(prefix + "dynamic_smem_size", dynamicBytes);
  table.read(prefix + "lanemask.eq", laneEqual);
  table.read(prefix + "lanemask.lt", laneBelow);
  table.read(prefix + "lanemask.le", laneUpTo);
  table.read(prefix + "lanemask.gt", laneAbove);
  table.read(prefix + "lanemask.ge", laneFrom);
  table.handle(prefix + "clock", readTime32);
  table.handle(prefix + "clock64", readTime);
  table.handle(prefix + "globaltimer", readTime);
}
