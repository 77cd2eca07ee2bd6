//===- Program.cpp - frames and how they are run ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Program.h"
#include <thread>

using namespace mlir;
using namespace attn::reference;

bool Frame::fail(Operation *op, const Twine &message) {
  if (!failedOp) {
    failedOp = op;
    error = message.str();
  }
  return false;
}

bool Frame::charge(Operation *op, int64_t operations) {
  if (session->remainingOperations.fetch_sub(operations) >= operations)
    return true;
  return fail(op, "exceeds the limit of " + Twine(session->options.maxOperations) + " operations of the evaluation");
}

std::shared_ptr<Tensor> Frame::allocate(Operation *op, Type elementType, ArrayRef<int64_t> shape) {
  std::optional<int64_t> count = countElements(shape);
  if (count && *count <= session->options.maxElements)
    return std::make_shared<Tensor>(Tensor{elementType, shape.vec(), std::vector<Scalar>(*count)});
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(shape, stream);
  fail(op, "needs a tensor of shape [" + text + "]; expected sizes of at least 0 and at most " +
               Twine(session->options.maxElements) + " elements");
  return nullptr;
}

bool Frame::merge(Frame &other) {
  for (auto &[op, report] : other.outOfBounds) {
    auto [known, isNew] = outOfBounds.try_emplace(op, report);
    if (!isNew)
      known->second.count += report.count;
  }
  if (other.failedOp)
    return fail(other.failedOp, other.error);
  return true;
}

void attn::reference::moveSlots(Frame &frame, ArrayRef<Slot> from, ArrayRef<Slot> to) {
  SmallVector<Scalar> scalars;
  SmallVector<TensorPtr> tensors;
  for (Slot slot : from) {
    if (slot.isTensor)
      tensors.push_back(frame.tensors[slot.index]);
    else
      scalars.push_back(frame.scalars[slot.index]);
  }
  unsigned nextScalar = 0, nextTensor = 0;
  for (Slot slot : to) {
    if (slot.isTensor)
      frame.tensors[slot.index] = tensors[nextTensor++];
    else
      frame.scalars[slot.index] = scalars[nextScalar++];
  }
}

bool attn::reference::parallelFor(Frame &frame, int64_t count, int64_t cost,
                                  function_ref<bool(Frame &, int64_t, int64_t)> work) {
  constexpr int64_t worthAThread = 1 << 18;
  int64_t threads = frame.session->options.threads;
  if (!threads)
    threads = std::max(1u, std::thread::hardware_concurrency());
  threads = std::min(threads, count);
  if (threads <= 1 || count < worthAThread / std::max<int64_t>(cost, 1))
    return work(frame, 0, count);
  std::vector<Frame> frames(threads, frame);
  std::vector<std::thread> workers;
  for (int64_t k = 0; k < threads; ++k) {
    // count may be near 2^63: no product of it.
    int64_t share = count / threads, rest = count % threads;
    int64_t begin = k * share + std::min(k, rest), end = begin + share + (k < rest ? 1 : 0);
    // The frame already has reports; a copy only notes its own.
    frames[k].outOfBounds.clear();
    workers.emplace_back([&, k, begin, end] { work(frames[k], begin, end); });
  }
  for (std::thread &worker : workers)
    worker.join();
  bool ok = true;
  for (Frame &copy : frames)
    ok &= frame.merge(copy);
  return ok;
}

SmallVector<int64_t> attn::reference::getStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t k = static_cast<int64_t>(shape.size()) - 2; k >= 0; --k)
    strides[k] = strides[k + 1] * shape[k + 1];
  return strides;
}

bool attn::reference::nextIndex(MutableArrayRef<int64_t> index, ArrayRef<int64_t> shape) {
  for (int64_t k = static_cast<int64_t>(shape.size()) - 1; k >= 0; --k) {
    if (++index[k] < shape[k])
      return true;
    index[k] = 0;
  }
  return false;
}
