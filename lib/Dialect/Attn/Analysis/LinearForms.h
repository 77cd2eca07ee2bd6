//===- LinearForms.h - integers of a mask region as linear forms -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_ATTN_ANALYSIS_LINEARFORMS_H
#define ATTN_DIALECT_ATTN_ANALYSIS_LINEARFORMS_H

#include "attn/Dialect/Attn/Analysis/Bound.h"
#include "attn/Dialect/Attn/Analysis/RegionRanges.h"
#include "mlir/IR/Region.h"
#include <map>

namespace attn {

/// constant + sum of coefficient * atom; atoms by their number in LinearForms.
struct Linear {
  int64_t constant = 0;
  std::map<unsigned, int64_t> terms;

  bool operator==(const Linear &other) const { return constant == other.constant && terms == other.terms; }
};

/// What a linear form is made of.
struct Atom {
  enum class Kind { Row, Key, Uniform, FloorDiv, Min, Max };
  Kind kind;
  /// Of a uniform.
  mlir::Value value;
  /// floor(first / divisor), min or max(first, second).
  Linear first, second;
  int64_t divisor = 1;
  /// Whether the key is in it.
  bool hasKey = false;
  /// Every value it can have is in [low, high].
  int64_t low = 0, high = 0;
  /// The interval is not proved: a uniform beyond it is taken for its nearer end. Right as long as it meets rows and
  /// keys alone, so such a uniform does not add up with another, and is neither scaled nor divided.
  bool isLimited = false;
};

/// Linear forms of the integer values of one region. Forms are exact: where the arithmetic of the region could wrap, or
/// a form could leave 62 bits, there is none.
class LinearForms {
public:
  LinearForms(mlir::Region &region, int64_t rowCount, int64_t keyCount);

  /// The form of an integer or index value, nullopt if it has none.
  std::optional<Linear> get(mlir::Value value);

  std::optional<Linear> add(const Linear &a, const Linear &b);
  std::optional<Linear> subtract(const Linear &a, const Linear &b);
  std::optional<Linear> scale(const Linear &form, int64_t factor);

  /// The smallest or largest value over the rows of a tile. The form has no key in it.
  Bound bound(const Linear &form, bool upper);

  bool isNonNegative(const Linear &form);
  const Atom &atom(unsigned id) const { return atoms[id]; }

private:
  std::optional<Linear> compute(mlir::Value value);
  std::optional<Linear> divide(const Linear &form, int64_t divisor);
  std::optional<Linear> extremum(const Linear &a, const Linear &b, bool isMax);
  Linear fromUniform(mlir::Value value);
  Linear fromAtom(Atom atom);
  bool hasKey(const Linear &form);
  bool isLimited(const Linear &form);
  /// The interval of a form, nullopt beyond 62 bits.
  std::optional<std::pair<int64_t, int64_t>> interval(const Linear &form);
  std::optional<Linear> checked(Linear form);
  Bound boundOfAtom(const Atom &atom, bool upper);

  mlir::Region &region;
  RegionRanges ranges;
  std::vector<Atom> atoms;
  llvm::DenseMap<mlir::Value, std::optional<Linear>> known;
};

} // namespace attn

#endif // ATTN_DIALECT_ATTN_ANALYSIS_LINEARFORMS_H
