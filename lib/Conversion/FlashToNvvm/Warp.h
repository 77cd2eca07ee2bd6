//===- Warp.h - a thread's part of what a warp does -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builders for the code of one thread. Offsets in shared memory are i32, in bytes. Thread 4 * g + t of a warp holds of
// a 16 x 8 fragment of f32 the elements (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1), in this order (PTX ISA,
// mma.m16n8k16 and m16n8k8).
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_CONVERSION_FLASHTONVVM_WARP_H
#define ATTN_CONVERSION_FLASHTONVVM_WARP_H

#include "KernelShape.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attn::nvvm {

/// i32 arithmetic; constants are folded.
inline mlir::Value i32(mlir::ImplicitLocOpBuilder &b, int64_t value) {
  return mlir::arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
}
inline mlir::Value add(mlir::ImplicitLocOpBuilder &b, mlir::Value x, mlir::Value y) {
  return b.createOrFold<mlir::arith::AddIOp>(x, y);
}
inline mlir::Value add(mlir::ImplicitLocOpBuilder &b, mlir::Value x, int64_t y) { return add(b, x, i32(b, y)); }
inline mlir::Value times(mlir::ImplicitLocOpBuilder &b, mlir::Value x, int64_t y) {
  return b.createOrFold<mlir::arith::MulIOp>(x, i32(b, y));
}
inline mlir::Value divide(mlir::ImplicitLocOpBuilder &b, mlir::Value x, int64_t y) {
  return b.createOrFold<mlir::arith::DivUIOp>(x, i32(b, y));
}
inline mlir::Value modulo(mlir::ImplicitLocOpBuilder &b, mlir::Value x, int64_t y) {
  return b.createOrFold<mlir::arith::RemUIOp>(x, i32(b, y));
}
inline mlir::Value toI32(mlir::ImplicitLocOpBuilder &b, mlir::Value index) {
  return b.createOrFold<mlir::arith::IndexCastOp>(b.getI32Type(), index);
}
inline mlir::Value toIndex(mlir::ImplicitLocOpBuilder &b, mlir::Value value) {
  return b.createOrFold<mlir::arith::IndexCastUIOp>(b.getIndexType(), value);
}

/// Where a thread is in its block and warp: i32 values from the top of the kernel.
struct ThreadPlace {
  mlir::Value thread, warp, lane;
  /// lane / 4 and lane mod 4.
  mlir::Value g, t;
};

/// Reads them; the builder stands at the top of the kernel.
ThreadPlace buildPlace(mlir::ImplicitLocOpBuilder &builder, int64_t threads);

/// A pointer into the block's shared memory; the number becomes part of the instruction that uses it.
mlir::Value sharedPointer(mlir::ImplicitLocOpBuilder &builder, mlir::Value offset, int64_t number = 0);

/// The global that stands for it, made in the device module where it is not there yet.
void declareSharedMemory(mlir::Operation *deviceModule);

/// A row or chunk of a tile: a value (i32) and a number behind it. Places that differ in their numbers share registers.
struct TileIndex {
  mlir::Value value;
  int64_t number = 0;
};

/// The pointer to a chunk of a tile that starts at `base`, and `inChunk` bytes (null: 0) more. Where the number of a
/// chunk is not a multiple of eight, the value has none but lower bits.
mlir::Value chunkPointer(mlir::ImplicitLocOpBuilder &builder, const SharedTile &tile, mlir::Value base, TileIndex row,
                         TileIndex chunk, mlir::Value inChunk = {});
/// That to an element; the number of its column is whole chunks.
mlir::Value elementPointer(mlir::ImplicitLocOpBuilder &builder, const SharedTile &tile, mlir::Value base, TileIndex row,
                           TileIndex column);

/// Waits for all threads of the block; what they wrote to shared memory is then seen.
void blockBarrier(mlir::ImplicitLocOpBuilder &builder);

/// Reads four 8 x 8 matrices of 16-bit elements, of which this lane gives the pointer to row lane mod 8 of matrix
/// lane / 8. The registers hold matrices 0 to 3, transposed on request.
mlir::SmallVector<mlir::Value> loadMatrices(mlir::ImplicitLocOpBuilder &builder, mlir::Value pointer,
                                            bool isTransposed);

/// fragment += a * b. 16-bit elements: four registers of a (16 x 16), two of b (16 x 8). f32: tf32 registers, four of a
/// (16 x 8), two of b (8 x 8).
void multiply(mlir::ImplicitLocOpBuilder &builder, mlir::Type element, mlir::ValueRange a, mlir::ValueRange b,
              llvm::MutableArrayRef<mlir::Value> fragment);

/// Two f32 values rounded to a 16-bit type, `low` in the low half of an i32.
mlir::Value pack(mlir::ImplicitLocOpBuilder &builder, mlir::Type element, mlir::Value low, mlir::Value high);

/// The sum or maximum of a value over the four threads that hold a row.
mlir::Value quadSum(mlir::ImplicitLocOpBuilder &builder, mlir::Value value);
mlir::Value quadMax(mlir::ImplicitLocOpBuilder &builder, mlir::Value value);

/// The value (f32 or i32) of the lane whose number differs in the bits of `mask`.
mlir::Value fromLane(mlir::ImplicitLocOpBuilder &builder, mlir::Value value, int64_t mask);

/// True for all threads of the warp if it is for one, or for each, of them.
mlir::Value warpAny(mlir::ImplicitLocOpBuilder &builder, mlir::Value condition);
mlir::Value warpAll(mlir::ImplicitLocOpBuilder &builder, mlir::Value condition);

/// 2^x by the special function unit, within 2 ulp; 0 for -inf. PTX ISA, ex2.approx.
mlir::Value exp2(mlir::ImplicitLocOpBuilder &builder, mlir::Value x);
/// log2(x), error at most 2^-22 where x is in 0.5 to 2, else 2 ulp. PTX ISA, lg2.approx.
mlir::Value log2(mlir::ImplicitLocOpBuilder &builder, mlir::Value x);

} // namespace attn::nvvm

#endif // ATTN_CONVERSION_FLASHTONVVM_WARP_H
