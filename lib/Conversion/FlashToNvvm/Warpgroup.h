//===- Warpgroup.h - barriers of stages and products of warpgroups --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What sm_90a has beyond sm_80, one builder an operation. Operations without an intrinsic are calls of device functions
// (attn/CodeGen/DeviceCode.h).
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_CONVERSION_FLASHTONVVM_WARPGROUP_H
#define ATTN_CONVERSION_FLASHTONVVM_WARPGROUP_H

#include "Lowering.h"

namespace attn::nvvm {

/// Named barriers of a block; 0 is the one of all threads.
enum NamedBarrier : int64_t {
  /// Of the first multiplying warpgroup's turn; the second one's follows.
  kFirstTurn = 1,
  kConsumers = 3,
  kProducer = 4
};

/// A stage of a ring, i32: its number, and the parity of the round it is in.
struct StageSlot {
  mlir::Value number, parity;
};

/// A counter at 0.
mlir::Value buildCounter(mlir::ImplicitLocOpBuilder &builder);

/// The next stage; the ring moves on. And the one that was met last.
StageSlot nextSlot(mlir::ImplicitLocOpBuilder &builder, const StageRing &ring);
StageSlot lastSlot(mlir::ImplicitLocOpBuilder &builder, const StageRing &ring);

/// Where a stage, and its two barriers, are: i32 offset, and pointers.
mlir::Value stageOffset(mlir::ImplicitLocOpBuilder &builder, const StageRing &ring, const StageSlot &slot);
mlir::Value fullBarrier(mlir::ImplicitLocOpBuilder &builder, const StageRing &ring, const StageSlot &slot);
mlir::Value emptyBarrier(mlir::ImplicitLocOpBuilder &builder, const StageRing &ring, const StageSlot &slot);

/// Makes the barriers of a ring: full ones for one arrival, empty ones for `readers` of them. One thread does it.
void initBarriers(mlir::ImplicitLocOpBuilder &builder, const StageRing &ring, int64_t readers);

/// The value (index, i32 or i64), of which LLVM knows nothing: nothing that follows from it moves in front of a loop.
mlir::Value opaque(mlir::ImplicitLocOpBuilder &builder, mlir::Value value);

/// Waits until the phase of that parity is complete.
void waitFor(mlir::ImplicitLocOpBuilder &builder, mlir::Value barrier, mlir::Value parity);
void arriveAt(mlir::ImplicitLocOpBuilder &builder, mlir::Value barrier);
/// Arrives, and has the phase wait for so many bytes of copies.
void expectBytes(mlir::ImplicitLocOpBuilder &builder, mlir::Value barrier, int64_t bytes);

/// Waits for `threads` threads at a named barrier (an i32); or arrives there without waiting.
void syncAt(mlir::ImplicitLocOpBuilder &builder, mlir::Value barrier, int64_t threads);
void arriveOnlyAt(mlir::ImplicitLocOpBuilder &builder, mlir::Value barrier, int64_t threads);

/// Makes plain writes to shared memory visible to copies by tensor map and to wgmma.
void fenceForAsync(mlir::ImplicitLocOpBuilder &builder);

/// Copies a box by tensor map; its bytes count at the barrier.
void copyBox(mlir::ImplicitLocOpBuilder &builder, mlir::Value map, mlir::Value target, mlir::Value barrier,
             mlir::ValueRange coordinates);

} // namespace attn::nvvm

#endif // ATTN_CONVERSION_FLASHTONVVM_WARPGROUP_H
