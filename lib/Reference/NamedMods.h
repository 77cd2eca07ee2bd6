//===- NamedMods.h - named masks and score functions, by formula ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference's own formula of each named mask and score function (the lowering has its own in the attributes).
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_REFERENCE_NAMEDMODS_H
#define ATTN_LIB_REFERENCE_NAMEDMODS_H

#include "Compiler.h"

namespace attn::reference {

/// A place in the scores, with the lengths that hold there: kvLen is kv_lengths[b] where there are such.
struct Point {
  int64_t b, h, i, j;
  int64_t queryLen, kvLen;
};

/// Whether the key is kept.
using MaskFunction = std::function<bool(const Point &)>;
/// The new score. T is the precision that it is computed in.
template <typename T> using ScoreFunction = std::function<T(T, const Point &)>;

/// A named mask or score function and the tensors that it captures.
struct NamedMod {
  mlir::Attribute attr;
  llvm::SmallVector<unsigned> captures;
};

/// The mods of an op (`mods` may be null), each with its captures; a diagnostic if their number is wrong.
mlir::FailureOr<llvm::SmallVector<NamedMod>> getNamedMods(Compiler &compiler, mlir::Operation *op, mlir::ArrayAttr mods,
                                                          mlir::ValueRange captures);

/// The functions for the tensors of a frame. `sizes`: batch, heads, queryLen, kvLen, to which captured tensors
/// broadcast. An empty function after an error.
MaskFunction bindMask(const Frame &frame, const NamedMod &mod, llvm::ArrayRef<int64_t> sizes, std::string &error);
template <typename T>
ScoreFunction<T> bindScore(const Frame &frame, const NamedMod &mod, llvm::ArrayRef<int64_t> sizes, std::string &error);

/// All masks of an op: the named ones and the region, anded.
struct Masks {
  llvm::SmallVector<NamedMod> named;
  std::optional<Body> region;

  /// Binds the named masks; nullopt (with an error at op) where a captured tensor does not fit.
  std::optional<llvm::SmallVector<MaskFunction>> bind(Frame &frame, mlir::Operation *op,
                                                      llvm::ArrayRef<int64_t> sizes) const;
  /// Evaluates all of them, also where one has dropped the key: a region must be defined everywhere. False after an
  /// error.
  bool evaluate(Frame &frame, llvm::ArrayRef<MaskFunction> bound, const Point &point, bool &keep) const;
};

/// Compiles the masks of attn.attention or attn.mask.
mlir::FailureOr<Masks> compileMasks(Compiler &compiler, mlir::Operation *op, mlir::ArrayAttr masks,
                                    mlir::ValueRange captures, mlir::Region &region);

} // namespace attn::reference

#endif // ATTN_LIB_REFERENCE_NAMEDMODS_H
