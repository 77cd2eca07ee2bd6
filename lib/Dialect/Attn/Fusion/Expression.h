//===- Expression.h - what one element of a tensor is -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fuser reads a graph by its elements: "element (b, i, j) of this tensor is exp(x(b, i, j) - m(b, i))". Transposes,
// broadcasts, reshapes, slices and concatenations are then no ops to look through, only other indices, and two graphs
// are the same where their elements are the same expression. Expressions are unique in their context: equal ones are
// one pointer.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_DIALECT_ATTN_FUSION_EXPRESSION_H
#define ATTN_DIALECT_ATTN_FUSION_EXPRESSION_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/FoldingSet.h"
#include <deque>

namespace attn::fusion {

class Expr;
using ExprRef = const Expr *;

/// How far an index runs: to `size` where that is known, else to dimension `position` of `tensor`, over `divisor`.
struct Extent {
  int64_t size = mlir::ShapedType::kDynamic;
  mlir::Value tensor;
  int64_t position = 0;
  int64_t divisor = 1;

  bool isStatic() const { return !mlir::ShapedType::isDynamic(size); }
};

/// Both ends included; INT64_MIN and INT64_MAX stand for unknown.
struct IntegerRange {
  int64_t low = INT64_MIN, high = INT64_MAX;

  bool isKnown() const { return low != INT64_MIN && high != INT64_MAX; }
  /// True if every value of the range is in [first, last].
  bool isWithin(int64_t first, int64_t last) const { return low >= first && high <= last; }
};

class Expr : public llvm::FoldingSetNode {
public:
  enum class Kind {
    /// A float or i1 constant; integers are Linear.
    Constant,
    /// An index that runs over [0, extent).
    Dim,
    /// offset + sum of coefficient * operand, modulo 2^64; operands are no Linear, in the order of their ids.
    Linear,
    /// operand / offset and operand mod offset, rounded down, of an operand at least 0.
    Quotient,
    Remainder,
    /// A pure op with one result, on operands.
    Apply,
    /// Element (operands...) of the tensor `value`.
    Element,
    /// Dimension `offset` of the tensor `value`.
    Size,
    /// A scalar of the graph.
    Outside
  };

  Kind kind;
  mlir::Type type;
  llvm::SmallVector<ExprRef, 4> operands;
  llvm::SmallVector<int64_t, 4> coefficients;
  int64_t offset = 0;
  /// The constant, or the attributes of the applied op.
  mlir::Attribute attribute;
  mlir::StringAttr opName;
  mlir::Value value;
  Extent extent;
  /// What the applied op takes; integers among operands are converted to it where it is built.
  llvm::SmallVector<mlir::Type, 2> operandTypes;
  /// Order of creation.
  unsigned id = 0;

  bool is(Kind k) const { return kind == k; }
  bool isApply(llvm::StringRef name) const { return kind == Kind::Apply && opName.getValue() == name; }
  template <typename OpTy> bool isApply() const { return isApply(OpTy::getOperationName()); }
  /// The value of an integer constant.
  std::optional<int64_t> getInteger() const;
  /// The value of a float constant.
  std::optional<double> getReal() const;
  /// The value of an i1 constant.
  std::optional<bool> getBool() const;

  void Profile(llvm::FoldingSetNodeID &id) const;
};

/// Terms of an integer expression.
struct LinearForm {
  llvm::SmallVector<std::pair<ExprRef, int64_t>, 4> terms;
  int64_t offset = 0;
};

class Expressions {
public:
  explicit Expressions(mlir::MLIRContext *context) : context(context) {}
  Expressions(const Expressions &) = delete;

  mlir::MLIRContext *getContext() const { return context; }

  ExprRef integer(int64_t value);
  ExprRef boolean(bool value);
  /// A constant of any type, integers of at most 64 bits included.
  ExprRef constant(mlir::TypedAttr value);
  /// A new index over [0, extent), or 0 where the extent is 1.
  ExprRef dim(Extent extent);
  ExprRef element(mlir::Value tensor, llvm::ArrayRef<ExprRef> indices);
  ExprRef size(mlir::Value tensor, int64_t dimension);
  ExprRef outside(mlir::Value scalar);
  /// A new scalar that is nothing of the graph.
  ExprRef argument(mlir::Type type);

  ExprRef linear(const LinearForm &form);
  ExprRef add(ExprRef a, ExprRef b, int64_t factor = 1);
  ExprRef scaled(ExprRef a, int64_t factor, int64_t offset = 0);
  ExprRef product(ExprRef a, ExprRef b);
  /// Of an expression that is at least 0, by a divisor of at least 1.
  ExprRef quotient(ExprRef a, int64_t divisor);
  ExprRef remainder(ExprRef a, int64_t divisor);

  /// The op on other operands, simplified; null where it has more than one result or regions.
  ExprRef apply(mlir::Operation *op, llvm::ArrayRef<ExprRef> operands);
  /// The same on elements of the given types, for an op on tensors.
  ExprRef apply(mlir::Operation *op, llvm::ArrayRef<ExprRef> operands, mlir::Type type,
                llvm::ArrayRef<mlir::Type> operandTypes);
  /// As apply, by the op's name and attributes, which may be null.
  ExprRef apply(llvm::StringRef name, mlir::Attribute attributes, mlir::Type type, llvm::ArrayRef<ExprRef> operands,
                llvm::ArrayRef<mlir::Type> operandTypes);
  ExprRef compare(mlir::arith::CmpIPredicate predicate, ExprRef a, ExprRef b);
  ExprRef select(ExprRef condition, ExprRef yes, ExprRef no);
  ExprRef conjunction(ExprRef a, ExprRef b);
  ExprRef disjunction(ExprRef a, ExprRef b);
  ExprRef negation(ExprRef a);

  /// Replaces expressions by others, and simplifies what changes.
  ExprRef substitute(ExprRef in, const llvm::DenseMap<ExprRef, ExprRef> &by);

  static LinearForm getLinear(ExprRef e);
  IntegerRange rangeOf(ExprRef e);

  /// Says that the graph reads `e` only where a condition holds: the part of a concatenation, of a pad or of an
  /// insertion that an index is in. Elsewhere the indices may be outside, and the tensors in it may have no elements.
  void assumePartial(ExprRef e);
  /// Whether such an expression reads the tensor.
  bool isPartial(mlir::Value tensor) const { return partial.contains(tensor); }

private:
  ExprRef unique(Expr &&expr);
  ExprRef simplify(llvm::StringRef name, mlir::Attribute attributes, mlir::Type type, llvm::ArrayRef<ExprRef> operands);
  ExprRef simplifyInteger(llvm::StringRef name, mlir::Type type, llvm::ArrayRef<ExprRef> operands);
  ExprRef simplifyBoolean(llvm::StringRef name, llvm::ArrayRef<ExprRef> operands);
  ExprRef simplifyReal(llvm::StringRef name, mlir::Type type, llvm::ArrayRef<ExprRef> operands);
  ExprRef fold(llvm::StringRef name, mlir::Attribute attributes, mlir::Type type, llvm::ArrayRef<ExprRef> operands,
               llvm::ArrayRef<mlir::Type> operandTypes);

  mlir::MLIRContext *context;
  llvm::FoldingSet<Expr> set;
  llvm::DenseSet<mlir::Value> partial;
  std::deque<Expr> storage;
};

/// Writes an expression for people: d4 is an index, %name[...] an element.
void print(llvm::raw_ostream &out, ExprRef e);

/// True if `e` contains `part`.
bool contains(ExprRef e, ExprRef part);

/// Calls `visit` once for each expression that `e` consists of, operands first.
void walk(ExprRef e, llvm::function_ref<void(ExprRef)> visit);

} // namespace attn::fusion

#endif // ATTN_DIALECT_ATTN_FUSION_EXPRESSION_H
