//===- Contractions.cpp - matrix products, softmax, tosa ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Builder.h"
#include <algorithm>
#include <cmath>

using namespace graphs;

static bool isMatrix(const Builder &, const Goal &goal) {
  return isFloat(goal.element) && !goal.exact && goal.rank() >= 2 && goal.rank() <= 4;
}

static double boundOfSum(int64_t terms, const Value &a, const Value &b) {
  return std::max<double>(1, static_cast<double>(terms)) * a.bound * b.bound;
}

/// The product of a [batch..., m, k] and b [batch..., k, n] (n, k where it is transposed) in one of its spellings.
static Value product(Builder &builder, const Value &left, const Value &right, bool isTransposed) {
  Random &random = builder.random;
  int64_t rank = left.rank(), terms = left.sizes.back();
  Sizes sizes = left.sizes;
  sizes.back() = isTransposed ? right.sizes[rank - 2] : right.sizes[rank - 1];
  // One type for what two operands share.
  std::vector<bool> shared = left.dynamic, other = right.dynamic;
  for (int64_t k = 0; k < rank - 2; ++k)
    other[k] = shared[k];
  other[isTransposed ? rank - 1 : rank - 2] = shared[rank - 1];
  Value a = left, b = builder.cast(right, other);
  std::vector<bool> dynamic = a.dynamic;
  dynamic[rank - 1] = other[isTransposed ? rank - 2 : rank - 1];
  std::string types = builder.typeOf(a) + ", " + builder.typeOf(b), type = toString(a.element), operation;
  uint64_t form = random.next(3);
  bool isNamed = form == 1 && rank <= 3 && !isTransposed;
  if (form == 0) {
    Value out = builder.empty(a.element, sizes, dynamic);
    operation = "attn.matmul " + a.name + ", " + b.name + (isTransposed ? " transpose_rhs" : "") + " : " + types +
                " outs(" + out.name + " : " + builder.typeOf(out) + ") -> " + builder.typeOf(out);
  } else {
    Value out = builder.filled(a.element, sizes, dynamic, 0);
    if (isNamed) {
      operation = std::string(rank == 2 ? "linalg.matmul" : "linalg.batch_matmul") + " ins(" + a.name + ", " + b.name +
                  " : " + types + ") outs(" + out.name + " : " + builder.typeOf(out) + ") -> " + builder.typeOf(out);
    } else {
      std::vector<std::string> all = dimNames(rank + 1), forA, forB, forOut;
      for (int64_t k = 0; k < rank - 2; ++k)
        forA.push_back(all[k]), forB.push_back(all[k]), forOut.push_back(all[k]);
      std::string m = all[rank - 2], n = all[rank - 1], k = all[rank];
      forA.push_back(m), forA.push_back(k), forOut.push_back(m), forOut.push_back(n);
      forB.push_back(isTransposed ? n : k), forB.push_back(isTransposed ? k : n);
      operation = builder.generic({mapOf(rank + 1, forA), mapOf(rank + 1, forB), mapOf(rank + 1, forOut)},
                                  std::string(rank, 'p') + "r", {a, b}, out,
                                  "^bb0(%x: " + type + ", %y: " + type + ", %s: " + type +
                                      "):\n  %p = arith.mulf %x, %y : " + type +
                                      "\n  %t = arith.addf %s, %p : " + type + "\n  linalg.yield %t : " + type);
    }
  }
  return builder.tamed(builder.result(operation, a.element, sizes, dynamic, boundOfSum(terms, a, b), /*exact=*/false));
}

static Value matmul(Builder &builder, const Goal &goal, int depth) {
  int64_t rank = goal.rank(), terms = builder.random.between(builder.leastSize(), 6);
  bool isTransposed = builder.random.chance(50);
  Sizes left = goal.sizes, right = goal.sizes;
  left[rank - 1] = terms;
  right[rank - 2] = terms;
  if (isTransposed)
    std::swap(right[rank - 2], right[rank - 1]);
  Value a = builder.produce(goal.with(left), depth), b = builder.produce(goal.with(right), depth);
  return product(builder, a, b, isTransposed);
}

static bool canSoftmax(const Builder &, const Goal &goal) {
  return isFloat(goal.element) && !goal.exact && goal.rank() >= 1 && goal.rank() <= 4;
}

static Value softmax(Builder &builder, const Goal &goal, int depth) {
  size_t axis = builder.random.next(goal.sizes.size());
  Value a = builder.produce(goal, depth);
  Value out = builder.empty(goal.element, goal.sizes, a.dynamic);
  std::string type = builder.typeOf(a), number = std::to_string(axis), operation;
  if (builder.random.chance(50))
    operation = "attn.softmax " + a.name + " axis(" + number + ") : " + type + " outs(" + out.name + " : " + type +
                ") -> " + type;
  else
    operation = "linalg.softmax dimension(" + number + ") ins(" + a.name + " : " + type + ") outs(" + out.name + " : " +
                type + ") -> " + type;
  return builder.result(operation, goal.element, goal.sizes, a.dynamic, 1, false);
}

/// x / sqrt(mean(x^2) + eps) over the last dimension.
static Value normalize(Builder &builder, const Goal &goal, int depth) {
  Value a = builder.produce(goal, depth);
  std::string type = toString(goal.element), all = mapOf(goal.rank(), dimNames(goal.rank()));
  std::vector<std::string> rows = dimNames(goal.rank());
  rows.pop_back();
  std::string byRow = mapOf(goal.rank(), rows);
  Sizes rowSizes(goal.sizes.begin(), goal.sizes.end() - 1);
  std::vector<bool> rowDynamic(a.dynamic.begin(), a.dynamic.end() - 1);
  Value zero = builder.filled(goal.element, rowSizes, rowDynamic, 0);
  Value squares = zero;
  squares.name =
      builder.define(builder.generic({all, byRow}, std::string(goal.rank() - 1, 'p') + "r", {a}, zero,
                                     "^bb0(%x: " + type + ", %s: " + type + "):\n  %y = arith.mulf %x, %x : " + type +
                                         "\n  %t = arith.addf %s, %y : " + type + "\n  linalg.yield %t : " + type));
  std::string share =
      builder.constant(goal.element, 1.0 / static_cast<double>(std::max<int64_t>(1, goal.sizes.back())));
  std::string eps = builder.constant(goal.element, 0.125);
  Value out = builder.empty(goal.element, goal.sizes, a.dynamic);
  return builder.result(
      builder.generic({all, byRow, all}, std::string(goal.rank(), 'p'), {a, squares}, out,
                      "^bb0(%x: " + type + ", %s: " + type + ", %o: " + type + "):\n  %m = arith.mulf %s, " + share +
                          " : " + type + "\n  %e = arith.addf %m, " + eps + " : " + type + "\n  %r = math.rsqrt %e : " +
                          type + "\n  %y = arith.mulf %x, %r : " + type + "\n  linalg.yield %y : " + type),
      goal.element, goal.sizes, a.dynamic, std::min(a.bound * 3, 6.0), false);
}

static bool canNormalize(const Builder &builder, const Goal &goal) {
  return canSoftmax(builder, goal) && goal.rank() >= 1;
}

//===----------------------------------------------------------------------===//
// tosa
//===----------------------------------------------------------------------===//

/// tosa knows no empty tensors, and f32 in every op.
static bool isTosa(const Builder &, const Goal &goal) {
  return goal.element == Element::F32 && !goal.exact && goal.rank() >= 1 && goal.rank() <= 4 &&
         countElements(goal.sizes) > 0;
}

static Value tosa(Builder &builder, const Goal &goal, int depth) {
  Random &random = builder.random;
  Value a = builder.produce(goal, depth);
  std::string type = builder.typeOf(a), operation;
  switch (random.next(4)) {
  case 0:
    operation = std::string("tosa.") + random.pick({"tanh", "sigmoid", "abs", "negate"}) + " " + a.name;
    if (operation.find("negate") != std::string::npos) {
      std::string zero = builder.define("\"tosa.const\"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>");
      operation += ", " + zero + ", " + zero + " : (" + type + ", tensor<1xf32>, tensor<1xf32>) -> " + type;
    } else {
      operation += " : (" + type + ") -> " + type;
    }
    return builder.result(operation, goal.element, goal.sizes, a.dynamic, std::max(1.0, a.bound), false);
  case 1:
    return builder.result("tosa.clamp " + a.name + " {min_val = -1.0 : f32, max_val = 1.5 : f32} : (" + type + ") -> " +
                              type,
                          goal.element, goal.sizes, a.dynamic, 1.5, false);
  case 2: { // Dimensions of size 1 are repeated.
    Sizes sizes = goal.sizes;
    size_t dim = random.next(sizes.size());
    sizes[dim] = 1;
    std::vector<bool> dynamic = a.dynamic;
    dynamic[dim] = false;
    Value b = builder.cast(builder.produce(goal.with(sizes), depth), dynamic);
    const char *op = random.pick({"add", "sub", "maximum", "minimum"});
    return builder.tamed(builder.result(std::string("tosa.") + op + " " + a.name + ", " + b.name + " : (" + type +
                                            ", " + builder.typeOf(b) + ") -> " + type,
                                        goal.element, goal.sizes, a.dynamic, a.bound + b.bound, false));
  }
  default: { // The dimension stays, with size 1.
    int64_t axis = static_cast<int64_t>(random.next(goal.sizes.size()));
    Sizes sizes = goal.sizes;
    sizes[axis] = 1;
    std::vector<bool> dynamic = a.dynamic;
    dynamic[axis] = false;
    Value sum = builder.result(std::string("tosa.reduce_") + random.pick({"sum", "max"}) + " " + a.name +
                                   " {axis = " + std::to_string(axis) + " : i32} : (" + type + ") -> " +
                                   builder.typeOf(goal.element, sizes, dynamic),
                               goal.element, sizes, dynamic, a.bound * static_cast<double>(goal.sizes[axis]), false);
    return builder.tamed(builder.result("tosa.sub " + a.name + ", " + sum.name + " : (" + type + ", " +
                                            builder.typeOf(sum) + ") -> " + type,
                                        goal.element, goal.sizes, a.dynamic, a.bound + sum.bound, false));
  }
  }
}

void graphs::addContractions(std::vector<Producer> &table) {
  table.push_back({"matmul", 7, isMatrix, matmul});
  table.push_back({"softmax", 3, canSoftmax, softmax});
  table.push_back({"normalize", 2, canNormalize, normalize});
  table.push_back({"tosa", 5, isTosa, tosa});
}
