//===- TensorOps.cpp - the tensor dialect --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Compiler.h"
#include "attn/Dialect/Attn/IR/ReshapeGroups.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn::reference;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static std::string text(ArrayRef<int64_t> shape) {
  std::string result;
  llvm::raw_string_ostream stream(result);
  stream << '[';
  llvm::interleaveComma(shape, stream);
  stream << ']';
  return result;
}

static SmallVector<int64_t> evaluateAll(const Frame &frame, ArrayRef<IndexSource> sources) {
  return llvm::map_to_vector(sources, [&](const IndexSource &source) { return source.get(frame); });
}

/// The sizes of a type, with the dynamic ones from the frame.
static SmallVector<IndexSource> getSizes(Compiler &compiler, RankedTensorType type, ValueRange dynamic) {
  SmallVector<IndexSource> sizes;
  for (int64_t size : type.getShape()) {
    if (!ShapedType::isDynamic(size)) {
      sizes.push_back({size, std::nullopt});
      continue;
    }
    sizes.push_back({0, compiler.scalar(dynamic.front())});
    dynamic = dynamic.drop_front();
  }
  return sizes;
}

/// The same elements under another shape, which must have as many and fit the result's type.
static bool reshapeTo(Frame &frame, Operation *op, const Tensor &source, ArrayRef<int64_t> shape, unsigned result) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (countElements(shape) != source.size() || failed(verifyCompatibleShape(type.getShape(), shape)))
    return frame.fail(op, "expects shape " + text(shape) + " to hold the " + Twine(source.size()) +
                              " elements of shape " + text(source.shape) + " and to fit the result's type");
  frame.tensors[result] = std::make_shared<Tensor>(Tensor{source.elementType, shape.vec(), source.data});
  return true;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

namespace {
/// Finds the element that indices of the frame name.
struct ElementAccess {
  Operation *op;
  SmallVector<unsigned> indices;
  bool clamps;

  /// Position in the tensor's data; nullopt (with an error) if it is outside, unless it may be clamped.
  std::optional<int64_t> locate(Frame &frame, const Tensor &tensor) const {
    int64_t position = 0;
    for (auto [k, slot] : llvm::enumerate(indices)) {
      int64_t index = frame.scalars[slot].integer, size = tensor.shape[k];
      if (index < 0 || index >= size) {
        if (!clamps || size == 0) {
          frame.fail(op, describe(k, index, size));
          return std::nullopt;
        }
        OutOfBounds report{op->getLoc(), "", 0};
        auto entry = frame.outOfBounds.try_emplace(op, report).first;
        if (entry->second.count++ == 0)
          entry->second.message = describe(k, index, size);
        index = index < 0 ? 0 : size - 1;
      }
      position = position * size + index;
    }
    return position;
  }

  static std::string describe(size_t dim, int64_t index, int64_t size) {
    return ("index " + Twine(index) + " of dimension " + Twine(dim) + " is outside [0, " + Twine(size) + ")").str();
  }
};
} // namespace

static Step compileExtract(Compiler &compiler, tensor::ExtractOp op) {
  ElementAccess access{op, compiler.scalars(op.getIndices()), compiler.clampsIndices()};
  return [access, source = compiler.tensor(op.getTensor()), d = compiler.scalar(op.getResult())](Frame &frame) {
    const Tensor &tensor = *frame.tensors[source];
    std::optional<int64_t> position = access.locate(frame, tensor);
    if (!position)
      return false;
    frame.scalars[d] = tensor.data[*position];
    return true;
  };
}

static Step compileInsert(Compiler &compiler, tensor::InsertOp op) {
  ElementAccess access{op, compiler.scalars(op.getIndices()), false};
  return [access, value = compiler.scalar(op.getScalar()), dest = compiler.tensor(op.getDest()),
          d = compiler.tensor(op.getResult())](Frame &frame) {
    auto result = std::make_shared<Tensor>(*frame.tensors[dest]);
    std::optional<int64_t> position = access.locate(frame, *result);
    if (!position || !frame.charge(access.op, result->size()))
      return false;
    result->data[*position] = frame.scalars[value];
    frame.tensors[d] = std::move(result);
    return true;
  };
}

static Step compileDim(Compiler &compiler, tensor::DimOp op) {
  return [operation = op.getOperation(), source = compiler.tensor(op.getSource()),
          index = compiler.scalar(op.getIndex()), d = compiler.scalar(op.getResult())](Frame &frame) {
    const Tensor &tensor = *frame.tensors[source];
    int64_t dim = frame.scalars[index].integer;
    if (dim < 0 || dim >= tensor.rank())
      return frame.fail(operation, "expects a dimension in [0, " + Twine(tensor.rank()) + "), but got " + Twine(dim));
    frame.scalars[d].integer = tensor.shape[dim];
    return true;
  };
}

//===----------------------------------------------------------------------===//
// Whole tensors
//===----------------------------------------------------------------------===//

/// Holds what must not be read: NaN, or the lowest integer, so that a read shows.
static Step compileEmpty(Compiler &compiler, tensor::EmptyOp op) {
  Scalar filler;
  Type type = op.getType().getElementType();
  if (isa<FloatType>(type))
    filler.real = std::numeric_limits<double>::quiet_NaN();
  else
    filler.integer = wrapToType(type, std::numeric_limits<int64_t>::min() >>
                                          (type.isIndex() ? 0 : 64 - type.getIntOrFloatBitWidth()));
  return [operation = op.getOperation(), type, filler, sizes = getSizes(compiler, op.getType(), op.getDynamicSizes()),
          d = compiler.tensor(op.getResult())](Frame &frame) {
    auto result = frame.allocate(operation, type, evaluateAll(frame, sizes));
    if (!result)
      return false;
    std::fill(result->data.begin(), result->data.end(), filler);
    frame.tensors[d] = std::move(result);
    return true;
  };
}

static Step compileSplat(Compiler &compiler, tensor::SplatOp op) {
  return [operation = op.getOperation(), type = op.getType().getElementType(),
          sizes = getSizes(compiler, op.getType(), op.getDynamicSizes()), value = compiler.scalar(op.getInput()),
          d = compiler.tensor(op.getResult())](Frame &frame) {
    auto result = frame.allocate(operation, type, evaluateAll(frame, sizes));
    if (!result)
      return false;
    std::fill(result->data.begin(), result->data.end(), frame.scalars[value]);
    frame.tensors[d] = std::move(result);
    return true;
  };
}

static Step compileFromElements(Compiler &compiler, tensor::FromElementsOp op) {
  return [type = op.getType(), elements = compiler.scalars(op.getElements()),
          d = compiler.tensor(op.getResult())](Frame &frame) {
    auto result = std::make_shared<Tensor>(Tensor{type.getElementType(), type.getShape().vec(), {}});
    for (unsigned element : elements)
      result->data.push_back(frame.scalars[element]);
    frame.tensors[d] = std::move(result);
    return true;
  };
}

/// Sets each element to what the body yields for its index. False (with an error) if that fails.
static bool fillByBody(Frame &frame, Operation *op, const Body &body, Tensor &tensor) {
  int64_t cost = 1 + body.program.steps.size();
  if (!frame.charge(op, tensor.size() * cost))
    return false;
  SmallVector<int64_t> index(tensor.rank(), 0);
  for (Scalar &element : tensor.data) {
    for (auto [slot, position] : llvm::zip_equal(body.arguments, index))
      frame.scalars[slot.index].integer = position;
    if (!body.program.run(frame))
      return false;
    element = frame.scalars[body.yields.front().index];
    nextIndex(index, tensor.shape);
  }
  return true;
}

static FailureOr<Step> compileGenerate(Compiler &compiler, tensor::GenerateOp op) {
  FailureOr<Body> body = compiler.compileBlock(op.getBody().front());
  if (failed(body))
    return failure();
  return Step([operation = op.getOperation(), type = op.getType().getElementType(), body = *body,
               sizes = getSizes(compiler, op.getType(), op.getDynamicExtents()),
               d = compiler.tensor(op.getResult())](Frame &frame) {
    auto result = frame.allocate(operation, type, evaluateAll(frame, sizes));
    if (!result || !fillByBody(frame, operation, body, *result))
      return false;
    frame.tensors[d] = std::move(result);
    return true;
  });
}

/// Calls visit(position in the region, position in the tensor) for a strided region of a tensor, in row-major order.
static void forEachInRegion(ArrayRef<int64_t> shape, ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes,
                            ArrayRef<int64_t> strides, function_ref<void(int64_t, int64_t)> visit) {
  if (llvm::is_contained(sizes, 0))
    return;
  SmallVector<int64_t> index(sizes.size(), 0), tensorStrides = getStrides(shape);
  int64_t next = 0;
  do {
    int64_t position = 0;
    for (size_t k = 0; k < index.size(); ++k)
      position += (offsets[k] + index[k] * strides[k]) * tensorStrides[k];
    visit(next++, position);
  } while (nextIndex(index, sizes));
}

/// Offsets, sizes and strides of a slice.
namespace {
struct SliceRegion {
  Operation *op;
  SmallVector<IndexSource> offsets, sizes, strides;

  struct Bounds {
    SmallVector<int64_t> offsets, sizes, strides;
  };

  /// Evaluates them; nullopt (with an error) if the region is not inside the shape.
  std::optional<Bounds> evaluate(Frame &frame, ArrayRef<int64_t> shape) const {
    Bounds bounds{evaluateAll(frame, offsets), evaluateAll(frame, sizes), evaluateAll(frame, strides)};
    for (size_t k = 0; k < shape.size(); ++k) {
      int64_t offset = bounds.offsets[k], size = bounds.sizes[k], stride = bounds.strides[k], last;
      bool inside = offset >= 0 && size >= 0 && offset <= shape[k];
      if (inside && size > 0)
        inside = !llvm::MulOverflow(size - 1, stride, last) && !llvm::AddOverflow(last, offset, last) && last >= 0 &&
                 last < shape[k] && offset < shape[k];
      if (inside)
        continue;
      frame.fail(op, "expects its slice to be inside dimension " + Twine(k) + " of size " + Twine(shape[k]) +
                         ", but got offset " + Twine(offset) + ", size " + Twine(size) + ", stride " + Twine(stride));
      return std::nullopt;
    }
    return bounds;
  }
};
} // namespace

template <typename OpTy> static SliceRegion getSliceRegion(Compiler &compiler, OpTy op) {
  return {op, compiler.getIndices(op.getMixedOffsets()), compiler.getIndices(op.getMixedSizes()),
          compiler.getIndices(op.getMixedStrides())};
}

static Step compileExtractSlice(Compiler &compiler, tensor::ExtractSliceOp op) {
  return [region = getSliceRegion(compiler, op), dropped = op.getDroppedDims(), type = op.getType().getElementType(),
          source = compiler.tensor(op.getSource()), d = compiler.tensor(op.getResult())](Frame &frame) {
    const Tensor &tensor = *frame.tensors[source];
    std::optional<SliceRegion::Bounds> bounds = region.evaluate(frame, tensor.shape);
    if (!bounds)
      return false;
    SmallVector<int64_t> shape;
    for (auto [k, size] : llvm::enumerate(bounds->sizes))
      if (!dropped.test(k))
        shape.push_back(size);
    auto result = frame.allocate(region.op, type, shape);
    if (!result || !frame.charge(region.op, result->size()))
      return false;
    forEachInRegion(tensor.shape, bounds->offsets, bounds->sizes, bounds->strides,
                    [&](int64_t k, int64_t position) { result->data[k] = tensor.data[position]; });
    frame.tensors[d] = std::move(result);
    return true;
  };
}

/// Of `dest` with the source in it, into place `d`.
template <typename OpTy> static Step compileInsertion(Compiler &compiler, OpTy op, unsigned d) {
  return [region = getSliceRegion(compiler, op), source = compiler.tensor(op.getSource()),
          dest = compiler.tensor(op.getDest()), d](Frame &frame) {
    const Tensor &tensor = *frame.tensors[source];
    auto result = std::make_shared<Tensor>(*frame.tensors[dest]);
    std::optional<SliceRegion::Bounds> bounds = region.evaluate(frame, result->shape);
    if (!bounds || !frame.charge(region.op, result->size()))
      return false;
    // The source may lack dimensions of size 1; the others are the same, in order.
    auto isNotOne = [](int64_t size) { return size != 1; };
    if (!llvm::equal(llvm::make_filter_range(tensor.shape, isNotOne), llvm::make_filter_range(bounds->sizes, isNotOne)))
      return frame.fail(region.op,
                        "expects a source of sizes " + text(bounds->sizes) + ", but got " + text(tensor.shape));
    forEachInRegion(result->shape, bounds->offsets, bounds->sizes, bounds->strides,
                    [&](int64_t k, int64_t position) { result->data[position] = tensor.data[k]; });
    frame.tensors[d] = std::move(result);
    return true;
  };
}

static Step compileInsertSlice(Compiler &compiler, tensor::InsertSliceOp op) {
  return compileInsertion(compiler, op, compiler.tensor(op.getResult()));
}

Step attn::reference::compileParallelInsert(Compiler &compiler, tensor::ParallelInsertSliceOp op) {
  return compileInsertion(compiler, op, compiler.tensor(op.getDest()));
}

static Step compileRank(Compiler &compiler, tensor::RankOp op) {
  return [rank = cast<RankedTensorType>(op.getTensor().getType()).getRank(),
          d = compiler.scalar(op.getResult())](Frame &frame) {
    frame.scalars[d].integer = rank;
    return true;
  };
}

static FailureOr<Step> compileConcat(Compiler &compiler, tensor::ConcatOp op) {
  if (failed(attn::verifyNamedDimensions(op)))
    return failure();
  SmallVector<unsigned> sources =
      llvm::map_to_vector(op.getInputs(), [&](Value input) { return compiler.tensor(input); });
  return Step([operation = op.getOperation(), sources, dim = op.getDim(), type = op.getResultType().getElementType(),
               d = compiler.tensor(op.getResult())](Frame &frame) {
    SmallVector<int64_t> shape = llvm::to_vector(frame.tensors[sources.front()]->shape);
    shape[dim] = 0;
    for (unsigned source : sources) {
      SmallVector<int64_t> other = llvm::to_vector(frame.tensors[source]->shape);
      int64_t before = shape[dim];
      if (llvm::AddOverflow(before, other[dim], shape[dim]))
        return frame.fail(operation, "expects the sum of its sizes to be below 2^63");
      other[dim] = shape[dim];
      if (other != shape)
        return frame.fail(operation, "expects inputs that differ in dimension " + Twine(dim) + " alone, but got " +
                                         text(frame.tensors[sources.front()]->shape) + " and " +
                                         text(frame.tensors[source]->shape));
    }
    auto result = frame.allocate(operation, type, shape);
    if (!result || !frame.charge(operation, result->size()))
      return false;
    SmallVector<int64_t> offsets(shape.size(), 0), strides(shape.size(), 1);
    for (unsigned source : sources) {
      const Tensor &tensor = *frame.tensors[source];
      forEachInRegion(shape, offsets, tensor.shape, strides,
                      [&](int64_t k, int64_t position) { result->data[position] = tensor.data[k]; });
      offsets[dim] += tensor.shape[dim];
    }
    frame.tensors[d] = std::move(result);
    return true;
  });
}

/// The padded shape; nullopt (with an error) for negative padding.
static std::optional<SmallVector<int64_t>> getPaddedShape(Frame &frame, Operation *op, ArrayRef<int64_t> shape,
                                                          ArrayRef<int64_t> low, ArrayRef<int64_t> high) {
  SmallVector<int64_t> result;
  for (auto [size, before, after] : llvm::zip_equal(shape, low, high)) {
    int64_t sum;
    if (before < 0 || after < 0 || llvm::AddOverflow(size, before, sum) || llvm::AddOverflow(sum, after, sum)) {
      frame.fail(op, "expects padding of at least 0 and sizes below 2^63, but got " + Twine(before) + " and " +
                         Twine(after) + " around " + Twine(size));
      return std::nullopt;
    }
    result.push_back(sum);
  }
  return result;
}

static FailureOr<Step> compilePad(Compiler &compiler, tensor::PadOp op) {
  FailureOr<Body> body = compiler.compileBlock(op.getRegion().front());
  if (failed(body))
    return failure();
  return Step([operation = op.getOperation(), body = *body, low = compiler.getIndices(op.getMixedLowPad()),
               high = compiler.getIndices(op.getMixedHighPad()), source = compiler.tensor(op.getSource()),
               d = compiler.tensor(op.getResult())](Frame &frame) {
    const Tensor &tensor = *frame.tensors[source];
    SmallVector<int64_t> offsets = evaluateAll(frame, low), strides(offsets.size(), 1);
    auto shape = getPaddedShape(frame, operation, tensor.shape, offsets, evaluateAll(frame, high));
    auto result = shape ? frame.allocate(operation, tensor.elementType, *shape) : nullptr;
    if (!result || !fillByBody(frame, operation, body, *result))
      return false;
    forEachInRegion(*shape, offsets, tensor.shape, strides,
                    [&](int64_t k, int64_t position) { result->data[position] = tensor.data[k]; });
    frame.tensors[d] = std::move(result);
    return true;
  });
}

//===----------------------------------------------------------------------===//
// Other shapes of the same elements
//===----------------------------------------------------------------------===//

static FailureOr<Step> compileExpandShape(Compiler &compiler, tensor::ExpandShapeOp op) {
  if (failed(attn::verifyNamedDimensions(op)))
    return failure();
  return Step([operation = op.getOperation(), sizes = compiler.getIndices(op.getMixedOutputShape()),
               reassociation = op.getReassociationIndices(), source = compiler.tensor(op.getSrc()),
               d = compiler.tensor(op.getResult())](Frame &frame) {
    const Tensor &tensor = *frame.tensors[source];
    SmallVector<int64_t> shape = evaluateAll(frame, sizes);
    for (auto [k, group] : llvm::enumerate(reassociation)) {
      ArrayRef<int64_t> part = ArrayRef(shape).slice(group.front(), group.size());
      if (countElements(part) != tensor.shape[k])
        return frame.fail(operation, "expects sizes " + text(part) + " to have the product " + Twine(tensor.shape[k]) +
                                         " (dimension " + Twine(k) + ")");
    }
    return reshapeTo(frame, operation, tensor, shape, d);
  });
}

static FailureOr<Step> compileCollapseShape(Compiler &compiler, tensor::CollapseShapeOp op) {
  if (failed(attn::verifyNamedDimensions(op)))
    return failure();
  return Step([operation = op.getOperation(), reassociation = op.getReassociationIndices(),
               source = compiler.tensor(op.getSrc()), d = compiler.tensor(op.getResult())](Frame &frame) {
    const Tensor &tensor = *frame.tensors[source];
    SmallVector<int64_t> shape;
    for (const ReassociationIndices &group : reassociation)
      shape.push_back(countElements(ArrayRef(tensor.shape).slice(group.front(), group.size())).value_or(-1));
    return reshapeTo(frame, operation, tensor, shape, d);
  });
}

static Step compileReshape(Compiler &compiler, tensor::ReshapeOp op) {
  return [operation = op.getOperation(), sizes = compiler.tensor(op.getShape()),
          source = compiler.tensor(op.getSource()), d = compiler.tensor(op.getResult())](Frame &frame) {
    SmallVector<int64_t> shape;
    for (Scalar size : frame.tensors[sizes]->data)
      shape.push_back(size.integer);
    return reshapeTo(frame, operation, *frame.tensors[source], shape, d);
  };
}

static Step compileCast(Compiler &compiler, tensor::CastOp op) {
  return [operation = op.getOperation(), type = cast<RankedTensorType>(op.getType()),
          source = compiler.tensor(op.getSource()), d = compiler.tensor(op.getResult())](Frame &frame) {
    const TensorPtr &tensor = frame.tensors[source];
    if (failed(verifyCompatibleShape(type.getShape(), tensor->shape)))
      return frame.fail(operation, "expects shape " + text(tensor->shape) + " to fit the result's type");
    frame.tensors[d] = tensor;
    return true;
  };
}

//===----------------------------------------------------------------------===//
// gather
//===----------------------------------------------------------------------===//

/// result[n..., s...] = source[..., indices[n..., k] along gather_dims[k], s along the others].
static Step compileGather(Compiler &compiler, tensor::GatherOp op) {
  return [operation = op.getOperation(), dims = SmallVector<int64_t>(op.getGatherDims()),
          rank = op.getResultType().getRank(), source = compiler.tensor(op.getSource()),
          indices = compiler.tensor(op.getIndices()), d = compiler.tensor(op.getResult())](Frame &frame) {
    const Tensor &tensor = *frame.tensors[source], &coordinates = *frame.tensors[indices];
    SmallVector<int64_t> sliceSizes = llvm::to_vector(tensor.shape);
    SmallVector<int64_t> strides(tensor.rank(), 1), offsets(tensor.rank(), 0);
    for (int64_t dim : dims)
      sliceSizes[dim] = 1;
    SmallVector<int64_t> shape = llvm::to_vector(ArrayRef(coordinates.shape).drop_back());
    bool keepsOnes = rank == static_cast<int64_t>(shape.size() + sliceSizes.size());
    for (auto [dim, size] : llvm::enumerate(sliceSizes))
      if (keepsOnes || !llvm::is_contained(dims, static_cast<int64_t>(dim)))
        shape.push_back(size);
    auto result = frame.allocate(operation, tensor.elementType, shape);
    if (!result || !frame.charge(operation, result->size()))
      return false;
    int64_t sliceCount = *countElements(sliceSizes), slices = sliceCount ? result->size() / sliceCount : 0;
    for (int64_t n = 0; n < slices; ++n) {
      for (auto [k, dim] : llvm::enumerate(dims)) {
        int64_t index = coordinates.data[n * dims.size() + k].integer;
        if (index < 0 || index >= tensor.shape[dim])
          return frame.fail(operation, ElementAccess::describe(dim, index, tensor.shape[dim]));
        offsets[dim] = index;
      }
      forEachInRegion(tensor.shape, offsets, sliceSizes, strides,
                      [&](int64_t k, int64_t position) { result->data[n * sliceCount + k] = tensor.data[position]; });
    }
    frame.tensors[d] = std::move(result);
    return true;
  };
}

FailureOr<Step> attn::reference::compileTensor(Compiler &compiler, Operation &op) {
  return llvm::TypeSwitch<Operation *, FailureOr<Step>>(&op)
      .Case([&](tensor::CastOp op) { return compileCast(compiler, op); })
      .Case([&](tensor::CollapseShapeOp op) { return compileCollapseShape(compiler, op); })
      .Case([&](tensor::ConcatOp op) { return compileConcat(compiler, op); })
      .Case([&](tensor::DimOp op) { return compileDim(compiler, op); })
      .Case([&](tensor::EmptyOp op) { return compileEmpty(compiler, op); })
      .Case([&](tensor::ExpandShapeOp op) { return compileExpandShape(compiler, op); })
      .Case([&](tensor::ExtractOp op) { return compileExtract(compiler, op); })
      .Case([&](tensor::ExtractSliceOp op) { return compileExtractSlice(compiler, op); })
      .Case([&](tensor::FromElementsOp op) { return compileFromElements(compiler, op); })
      .Case([&](tensor::GatherOp op) { return compileGather(compiler, op); })
      .Case([&](tensor::GenerateOp op) { return compileGenerate(compiler, op); })
      .Case([&](tensor::InsertOp op) { return compileInsert(compiler, op); })
      .Case([&](tensor::InsertSliceOp op) { return compileInsertSlice(compiler, op); })
      .Case([&](tensor::PadOp op) { return compilePad(compiler, op); })
      .Case([&](tensor::RankOp op) { return compileRank(compiler, op); })
      .Case([&](tensor::ReshapeOp op) { return compileReshape(compiler, op); })
      .Case([&](tensor::SplatOp op) { return compileSplat(compiler, op); })
      .Default([](Operation *) { return Step(); });
}
