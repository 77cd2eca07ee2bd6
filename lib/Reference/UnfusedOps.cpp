//===- UnfusedOps.cpp - attn.matmul, attn.mask, attn.softmax ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NamedMods.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace attn;
using namespace attn::reference;

/// Whether an op on inputs of a type takes sums in f32.
static bool usesF32(Compiler &compiler, Type elementType) {
  return compiler.getOptions().roundLikeUnfused && !elementType.isF64();
}

//===----------------------------------------------------------------------===//
// softmax
//===----------------------------------------------------------------------===//

/// One row: elements first + k * stride.
template <typename T>
static void softmaxRow(const Tensor &input, int64_t first, int64_t stride, int64_t count, bool guard, Tensor &result) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  T largest = -infinity, sum = 0;
  bool poisoned = false;
  for (int64_t k = 0; k < count; ++k) {
    T x = static_cast<T>(input.data[first + k * stride].real);
    // std::max would lose a NaN.
    poisoned |= std::isnan(x) || x == infinity;
    largest = std::max(largest, x);
  }
  bool empty = largest == -infinity && !poisoned;
  for (int64_t k = 0; k < count; ++k)
    sum += std::exp(static_cast<T>(input.data[first + k * stride].real) - largest);
  for (int64_t k = 0; k < count; ++k) {
    T value = std::exp(static_cast<T>(input.data[first + k * stride].real) - largest) / sum;
    if (poisoned || empty)
      value = poisoned || !guard ? std::numeric_limits<T>::quiet_NaN() : T(0);
    result.data[first + k * stride].real = value;
  }
}

void attn::reference::softmax(const Tensor &input, int64_t axis, bool guard, bool inF32, Tensor &result) {
  if (!input.size())
    return;
  int64_t stride = getStrides(input.shape)[axis], count = input.shape[axis];
  for (int64_t row = 0, rows = input.size() / count; row < rows; ++row) {
    int64_t first = row / stride * stride * count + row % stride;
    if (inF32)
      softmaxRow<float>(input, first, stride, count, guard, result);
    else
      softmaxRow<double>(input, first, stride, count, guard, result);
  }
  if (inF32)
    for (Scalar &element : result.data)
      element.real = roundToType(result.elementType, element.real);
}

static Step compileSoftmax(Compiler &compiler, SoftmaxOp op) {
  Type type = cast<ShapedType>(op.getOut().getType()).getElementType();
  bool inF32 = usesF32(compiler, cast<ShapedType>(op.getInput().getType()).getElementType());
  return [operation = op.getOperation(), axis = op.getAxis(), type, inF32, source = compiler.tensor(op.getInput()),
          out = compiler.tensor(op.getOut()), d = compiler.tensor(op.getResult())](Frame &frame) {
    const Tensor &input = *frame.tensors[source];
    if (frame.tensors[out]->shape != input.shape)
      return frame.fail(operation, "expects out to have the shape of the input (C1)");
    auto result = frame.allocate(operation, type, input.shape);
    if (!result || !frame.charge(operation, input.size()))
      return false;
    softmax(input, axis, /*guard=*/true, inF32, *result);
    frame.tensors[d] = std::move(result);
    return true;
  };
}

//===----------------------------------------------------------------------===//
// matmul
//===----------------------------------------------------------------------===//

namespace {
/// One matrix product: the extents, and the strides of rhs along k and n.
struct MatrixProduct {
  int64_t m, n, k, rhsK, rhsN;
};
} // namespace

template <typename T>
static void multiply(const MatrixProduct &sizes, const Scalar *lhs, const Scalar *rhs, Scalar *out) {
  for (int64_t m = 0; m < sizes.m; ++m)
    for (int64_t n = 0; n < sizes.n; ++n) {
      T sum = 0;
      for (int64_t k = 0; k < sizes.k; ++k)
        sum += static_cast<T>(lhs[m * sizes.k + k].real) * static_cast<T>(rhs[k * sizes.rhsK + n * sizes.rhsN].real);
      out[m * sizes.n + n].real = sum;
    }
}

/// The sizes of attn.matmul; nullopt where the shapes do not agree (C1), (C2).
static std::optional<MatrixProduct> getSizes(ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs, ArrayRef<int64_t> out,
                                             bool transposeRhs) {
  size_t rank = lhs.size();
  if (rank < 2 || rhs.size() != rank || out.size() != rank || lhs.drop_back(2) != rhs.drop_back(2) ||
      lhs.drop_back(2) != out.drop_back(2))
    return std::nullopt;
  int64_t m = lhs[rank - 2], k = lhs[rank - 1];
  int64_t rhsK = rhs[transposeRhs ? rank - 1 : rank - 2], n = rhs[transposeRhs ? rank - 2 : rank - 1];
  if (rhsK != k || out[rank - 2] != m || out[rank - 1] != n)
    return std::nullopt;
  return MatrixProduct{m, n, k, transposeRhs ? 1 : n, transposeRhs ? k : 1};
}

static Step compileMatmul(Compiler &compiler, MatmulOp op) {
  Type type = cast<ShapedType>(op.getOut().getType()).getElementType();
  bool inF32 = usesF32(compiler, cast<ShapedType>(op.getLhs().getType()).getElementType());
  return [operation = op.getOperation(), transpose = op.getTransposeRhs(), type, inF32,
          lhs = compiler.tensor(op.getLhs()), rhs = compiler.tensor(op.getRhs()), out = compiler.tensor(op.getOut()),
          d = compiler.tensor(op.getResult())](Frame &frame) {
    const Tensor &a = *frame.tensors[lhs], &b = *frame.tensors[rhs];
    const std::vector<int64_t> &shape = frame.tensors[out]->shape;
    std::optional<MatrixProduct> sizes = getSizes(a.shape, b.shape, shape, transpose);
    if (!sizes)
      return frame.fail(operation, "expects batch dimensions, m, n and k to agree (C2)");
    auto result = frame.allocate(operation, type, shape);
    int64_t matrices = countElements(ArrayRef(shape).drop_back(2)).value_or(0), cost;
    if (!result || llvm::MulOverflow(result->size(), sizes->k, cost) || !frame.charge(operation, cost))
      return frame.fail(operation, "needs more operations than the evaluation has left");
    auto work = [&](Frame &, int64_t begin, int64_t end) {
      for (int64_t matrix = begin; matrix < end; ++matrix) {
        const Scalar *left = a.data.data() + matrix * sizes->m * sizes->k;
        const Scalar *right = b.data.data() + matrix * sizes->k * sizes->n;
        Scalar *target = result->data.data() + matrix * sizes->m * sizes->n;
        inF32 ? multiply<float>(*sizes, left, right, target) : multiply<double>(*sizes, left, right, target);
      }
      return true;
    };
    if (result->size())
      parallelFor(frame, matrices, cost / matrices, work);
    if (inF32)
      for (Scalar &element : result->data)
        element.real = roundToType(type, element.real);
    frame.tensors[d] = std::move(result);
    return true;
  };
}

//===----------------------------------------------------------------------===//
// mask
//===----------------------------------------------------------------------===//

static FailureOr<Step> compileMask(Compiler &compiler, MaskOp op) {
  FailureOr<Masks> masks = compileMasks(compiler, op, op.getMasksAttr(), op.getMaskCaptures(), op.getMaskRegion());
  if (failed(masks))
    return failure();
  return Step([operation = op.getOperation(), masks = *masks, source = compiler.tensor(op.getInput()),
               out = compiler.tensor(op.getOut()), d = compiler.tensor(op.getResult())](Frame &frame) {
    auto result = std::make_shared<Tensor>(*frame.tensors[source]);
    ArrayRef<int64_t> sizes = result->shape;
    if (frame.tensors[out]->shape != result->shape)
      return frame.fail(operation, "expects out to have the shape of scores (C1)");
    std::optional<SmallVector<MaskFunction>> bound = masks.bind(frame, operation, sizes);
    if (!bound || !frame.charge(operation, result->size()))
      return false;
    SmallVector<int64_t> index(4, 0);
    for (Scalar &element : result->data) {
      bool keep;
      if (!masks.evaluate(frame, *bound, {index[0], index[1], index[2], index[3], sizes[2], sizes[3]}, keep))
        return false;
      if (!keep)
        element.real = -std::numeric_limits<double>::infinity();
      nextIndex(index, sizes);
    }
    frame.tensors[d] = std::move(result);
    return true;
  });
}

FailureOr<Step> attn::reference::compileUnfused(Compiler &compiler, Operation &op) {
  if (!isa<MatmulOp, MaskOp, SoftmaxOp>(op))
    return Step();
  if (!op.getNumResults())
    return op.emitOpError("is not supported by the reference interpreter on memrefs");
  return llvm::TypeSwitch<Operation *, FailureOr<Step>>(&op)
      .Case([&](MatmulOp op) { return compileMatmul(compiler, op); })
      .Case([&](MaskOp op) { return compileMask(compiler, op); })
      .Case([&](SoftmaxOp op) { return compileSoftmax(compiler, op); })
      .Default([](Operation *) { return Step(); });
}
