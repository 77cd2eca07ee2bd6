//===- Compare.h - the pass rule of the tests ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_REFERENCE_COMPARE_H
#define ATTN_REFERENCE_COMPARE_H

#include "attn/Reference/Tensor.h"
#include <string>

namespace attn::reference {

struct Comparison {
  bool pass = true;
  /// Largest |actual - exact| over the elements where both are finite.
  double maxError = 0;
  /// What was allowed at that element.
  double allowed = 0;
  /// Mean |actual - exact| over the same elements.
  double meanError = 0;
  /// Elements that were compared: those that `exact` knows.
  int64_t numCompared = 0;
  /// Elements that are out of tolerance, or differ in NaN or infinity.
  int64_t numWrong = 0;
  /// Row-major position of the first wrong element, or of the largest error where none is wrong; -1 if empty.
  int64_t position = -1;
  /// One line for a person: the maximum and allowed error, and the first wrong element where there is one.
  std::string message;
};

/// Compares a result with the exact one. `rounded` is that of Options::roundLikeUnfused; all of one shape, else it
/// fails with a message. Elements that `exact` does not know (Tensor::known) are left out, as if they were not there.
/// The element type is that of `exact`. Floats pass where |actual - exact| <= 2 * max|rounded - exact| + floor; the
/// floor is 2e-6 * max(1, max|exact|) for f32, 1e-13 * max(1, max|exact|) for f64, and one ulp of the element for
/// 16-bit types. NaN must meet NaN, and an infinity the same infinity; where the exact value rounds to infinity in its
/// type, actual must be that infinity. Elements where `rounded` is not finite add nothing to the tolerance. Integers
/// must be equal.
Comparison compare(const Tensor &actual, const Tensor &exact, const Tensor &rounded);

} // namespace attn::reference

#endif // ATTN_REFERENCE_COMPARE_H
