//===- Program.h - what a function is compiled to ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function becomes a list of closures over one frame that has a place for every SSA value. The region of an op
// becomes a list of its own over the same frame, so values captured from outside need nothing special; a thread that
// evaluates a region many times works on a copy of the frame (scalars and shared pointers to immutable tensors).
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_REFERENCE_PROGRAM_H
#define ATTN_LIB_REFERENCE_PROGRAM_H

#include "attn/Reference/Interpreter.h"
#include "llvm/ADT/MapVector.h"
#include <atomic>
#include <functional>
#include <memory>

namespace attn::reference {

using TensorPtr = std::shared_ptr<const Tensor>;

/// What all frames of one evaluation share.
struct Session {
  const Options &options;
  std::atomic<int64_t> remainingOperations;
  explicit Session(const Options &options) : options(options), remainingOperations(options.maxOperations) {}
};

/// The values of one activation of a function.
struct Frame {
  Session *session;
  std::vector<Scalar> scalars;
  std::vector<TensorPtr> tensors;
  unsigned callDepth = 0;
  /// The first error; null where there is none.
  mlir::Operation *failedOp = nullptr;
  std::string error;
  /// Clamped indices by the operation that had them.
  llvm::MapVector<mlir::Operation *, OutOfBounds> outOfBounds;

  /// Notes an error and returns false.
  bool fail(mlir::Operation *op, const llvm::Twine &message);
  /// Takes from the budget of operations; false (with an error) where it is used up.
  bool charge(mlir::Operation *op, int64_t operations);
  /// A tensor with all elements 0; null (with an error) for sizes that are negative or too many elements.
  std::shared_ptr<Tensor> allocate(mlir::Operation *op, mlir::Type elementType, llvm::ArrayRef<int64_t> shape);
  /// Takes over the error and the clamped indices of a copy of this frame.
  bool merge(Frame &other);
};

/// Does its work on a frame; false after an error.
using Step = std::function<bool(Frame &)>;

struct Program {
  std::vector<Step> steps;
  bool run(Frame &frame) const {
    for (const Step &step : steps)
      if (!step(frame))
        return false;
    return true;
  }
};

/// Where a frame holds a value: in `tensors` or in `scalars`.
struct Slot {
  bool isTensor;
  unsigned index;
};

/// A block: its operations, and the slots of its arguments and of the operands of its terminator.
struct Body {
  Program program;
  llvm::SmallVector<Slot> arguments, yields;
};

/// A size, offset or stride: a constant, or a scalar of the frame.
struct IndexSource {
  int64_t constant = 0;
  std::optional<unsigned> scalar;
  int64_t get(const Frame &frame) const { return scalar ? frame.scalars[*scalar].integer : constant; }
};

/// Copies values from slots to others as if all at once.
void moveSlots(Frame &frame, llvm::ArrayRef<Slot> from, llvm::ArrayRef<Slot> to);

/// Runs work(frame, begin, end) over pieces of [0, count), on copies of the frame in threads where the whole is worth
/// it, and merges what they noted in ascending order. `cost`: scalar operations of one item, roughly.
bool parallelFor(Frame &frame, int64_t count, int64_t cost, llvm::function_ref<bool(Frame &, int64_t, int64_t)> work);

/// Row-major strides, in elements.
llvm::SmallVector<int64_t> getStrides(llvm::ArrayRef<int64_t> shape);

/// Advances row-major indices by one; false at the end.
bool nextIndex(llvm::MutableArrayRef<int64_t> index, llvm::ArrayRef<int64_t> shape);

} // namespace attn::reference

#endif // ATTN_LIB_REFERENCE_PROGRAM_H
