//===- ScoreUnit.h - the unit that scores count in -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dot products need not be multiplied by a constant positive scale where nobody looks at scores before the softmax: the
// largest stays the largest, and the exponent of a weight is multiplied by a constant anyway, after the maximum is
// subtracted. Nothing else may be moved in front of the subtraction: what rounds a score rounds it by a share of its
// size, and an exponent by as much.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_CONVERSION_FLASHLANES_SCOREUNIT_H
#define ATTN_CONVERSION_FLASHLANES_SCOREUNIT_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

namespace attn::lanes {

/// The score, in natural units, of a dot product of 1 below `root`, a function or a kernel: the scale where scores may
/// stay without it, 1 where they are multiplied (noteScales). It may if it is one constant from 2^-16 to 1 for all
/// query tiles, so that what is finite stays finite and a difference that overflows has a weight of 0; and if no score
/// region or sink is there, nor maxima that come from, or go to, another kernel.
double scoreUnit(mlir::Operation *root);

/// Notes what the dot products of each scores op below `root` are multiplied by, but for 1. For a unit of 1.
void noteScales(mlir::Operation *root, llvm::DenseMap<mlir::Operation *, mlir::Value> &scales);

} // namespace attn::lanes

#endif // ATTN_CONVERSION_FLASHLANES_SCOREUNIT_H
