//===- Interpreter.h - the f64 reference interpreter ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evaluates a function of the graph level: attn ops on tensors, and the func, scf, cf, arith, math, tensor and linalg
// around them. It is the oracle of the tests, so it is written as plain loops over the definitions and shares nothing
// with the lowering; the named masks and score functions have formulas of their own here too.
//
// Supported: attn.attention (but dropout), matmul, mask, softmax; func.call; scf.for, if, while; cf.assert; arith and
// math on scalars and tensors; affine.apply, min and max; tensor but scatter, bitcast, rank and parallel_insert_slice;
// every linalg op with a body, and linalg.softmax. Functions have one block; types are scalars and ranked tensors of at
// most 64 bits an element.
//
// Two precisions:
// * exact (the default): element types count at the inputs alone. Everything after is f64, and no intermediate float
//   is rounded, except where arith.truncf says f32. Integers wrap at their width.
// * roundLikeUnfused: what the graph gives when nothing is fused. Each arith, math and linalg result is rounded to its
//   type; attn ops take products, sums and softmax in f32 (f64 for f64), round the weights once to the input type and
//   the output once to its type. Compare.h turns the two into a tolerance.
//
// Undefined behaviour is an error and not a value: integer division by zero or with overflow, a shift by the width or
// more, an index outside its tensor. The one exception is an index into a captured tensor inside a region of
// attn.attention or attn.mask: it is clamped and listed in the result. Of poison one kind is a value: a float to
// integer conversion out of range gives the smallest integer. Results of attn.attention that are unspecified, since keys
// or values that are dropped are not finite, are values that Tensor::known leaves out.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_REFERENCE_INTERPRETER_H
#define ATTN_REFERENCE_INTERPRETER_H

#include "attn/Reference/Tensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <string>

namespace attn::reference {

struct Options {
  /// Round as the unfused graph would (see above) in place of exact f64.
  bool roundLikeUnfused = false;
  /// Compute only so many rows (b, h, i) of each attention, or all where it has no more: spread evenly over their
  /// row-major order, from the first to the last. 0: all. Tensor::known says which elements that gives. It is an error
  /// where anything but the evaluated function's return uses such a result.
  int64_t sampleRows = 0;
  /// Limit on the work of one evaluation, counted roughly in scalar operations; above it is an error.
  int64_t maxOperations = int64_t(1) << 42;
  /// Limit on the number of elements of one tensor (8 bytes each); above it is an error.
  int64_t maxElements = int64_t(1) << 30;
  /// Threads for the rows of attention and the loops of linalg ops; 0: as many as the machine has. Results do not
  /// depend on it.
  unsigned threads = 0;
};

/// An index into a captured tensor that was clamped. One for each operation.
struct OutOfBounds {
  mlir::Location location;
  /// The first one, such as `index 12 of dimension 1 is outside [0, 10)`.
  std::string message;
  /// How often it happened.
  int64_t count;
};

struct Evaluation {
  /// One for each result of the function; a scalar is a tensor of rank 0.
  std::vector<Tensor> results;
  std::vector<OutOfBounds> outOfBounds;
};

/// Evaluates a function with a body on arguments of its types (dynamic sizes take any size). Errors are diagnostics at
/// the location of the operation: unsupported operations and types, sizes that do not agree, a false cf.assert, and
/// undefined behaviour. Safe to call from several threads where their diagnostic handlers are.
mlir::FailureOr<Evaluation> evaluate(mlir::func::FuncOp function, llvm::ArrayRef<Tensor> arguments,
                                     const Options &options = {});

} // namespace attn::reference

#endif // ATTN_REFERENCE_INTERPRETER_H
