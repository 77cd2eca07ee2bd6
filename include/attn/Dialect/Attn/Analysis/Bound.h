//===- Bound.h - symbolic bounds of key ranges ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A bound is an integer expression over the first and last row of a tile and over values that are the same for the
// whole tile (lengths, offsets, the batch index). It can be evaluated, printed, and built as IR.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_DIALECT_ATTN_ANALYSIS_BOUND_H
#define ATTN_DIALECT_ATTN_ANALYSIS_BOUND_H

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Value.h"
#include <memory>

namespace attn {

/// An immutable expression; copies share it. Arithmetic folds constants. Infinities come out of comparisons that always
/// or never hold; they take part in min, max and choose alone.
class Bound {
public:
  enum class Kind {
    Constant,
    MinusInfinity,
    PlusInfinity,
    FirstRow,
    LastRow,
    Uniform,
    Add,
    Scale,
    FloorDiv,
    Min,
    Max,
    Choose
  };

  /// Where evaluation has no finite result: what infinities evaluate to.
  static constexpr int64_t kInfinity = int64_t(1) << 60;

  static Bound constant(int64_t value);
  static Bound minusInfinity();
  static Bound plusInfinity();
  static Bound firstRow();
  static Bound lastRow();
  /// An integer or index value; `low` and `high` limit it: what is outside is taken for the nearer of the two.
  static Bound uniform(mlir::Value value, int64_t low, int64_t high);
  static Bound add(Bound a, Bound b);
  static Bound scale(Bound a, int64_t factor);
  /// Rounds towards minus infinity; divisor > 0.
  static Bound floorDiv(Bound a, int64_t divisor);
  static Bound min(Bound a, Bound b);
  static Bound max(Bound a, Bound b);
  /// condition <= 0 ? yes : no.
  static Bound choose(Bound condition, Bound yes, Bound no);

  Kind kind() const;
  bool isConstant(int64_t value) const;
  bool isMinusInfinity() const { return kind() == Kind::MinusInfinity; }
  bool isPlusInfinity() const { return kind() == Kind::PlusInfinity; }
  /// The same expression, term by term.
  bool operator==(const Bound &other) const;

  /// The value for rows [firstRow, lastRow]; `uniformOf` gives the values of the uniforms.
  int64_t evaluate(int64_t firstRow, int64_t lastRow, llvm::function_ref<int64_t(mlir::Value)> uniformOf) const;

  /// How the value changes from tile to tile, for any uniforms, weakly: where rows and uniforms meet in a minimum or
  /// maximum, it may stand still for a while.
  enum class Trend { Still, Grows, Falls, Unknown };
  Trend trend() const;

  /// The least and the greatest value for a tile of one row i, 0 <= i < rowCount, with the uniforms anywhere in their
  /// limits; infinities are -kInfinity and kInfinity. By intervals: may be wider than what occurs.
  std::pair<int64_t, int64_t> limits(int64_t rowCount) const;

  /// Builds the expression as index arithmetic. `uniformOf` gives each uniform as an index value at the insertion
  /// point.
  mlir::Value build(mlir::ImplicitLocOpBuilder &builder, mlir::Value firstRow, mlir::Value lastRow,
                    llvm::function_ref<mlir::Value(mlir::Value)> uniformOf) const;

  /// A bound without unknown uniforms that is never below this one (isUpper), or never above it: infinite where nothing
  /// better is known.
  Bound relaxed(llvm::function_ref<bool(mlir::Value)> isKnown, bool isUpper) const;

  /// For remarks: i0 and i1 are the first and last row, n0, n1, ... the uniforms in the order of `names`.
  std::string str(llvm::SmallVectorImpl<mlir::Value> &names) const;

private:
  struct Node;
  explicit Bound(std::shared_ptr<const Node> node) : node(std::move(node)) {}
  static Bound make(Node node);

  std::shared_ptr<const Node> node;
};

} // namespace attn

#endif // ATTN_DIALECT_ATTN_ANALYSIS_BOUND_H
