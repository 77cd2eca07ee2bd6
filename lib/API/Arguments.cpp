//===- Arguments.cpp - checking and packing arguments ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules stand in the documentation of Kernel::run, in the order in which they are checked here.
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

using namespace attn;

namespace {

/// An argument's place in the call, for messages, and its type.
struct Slot {
  bool isOutput;
  size_t index;
  const ValueType &type;

  std::string str() const { return (isOutput ? "output " : "input ") + std::to_string(index) + " (" + type.text + ")"; }
};

/// The bytes of a view, from its first element to the end of its last; begin == end where there are no elements.
struct ByteRange {
  uintptr_t begin = 0, end = 0;
  bool overlaps(const ByteRange &other) const {
    return begin != end && other.begin != other.end && begin < other.end && other.begin < end;
  }
};

} // namespace

static Error refuse(std::string message) { return {ErrorCode::InvalidArgument, std::move(message), {}}; }

/// "slot expects rule, but got found; remedy".
static Error refuse(const Slot &slot, const std::string &rule, const std::string &found, const std::string &remedy) {
  return refuse(slot.str() + " expects " + rule + ", but got " + found + "; " + remedy);
}

static std::string list(const std::vector<int64_t> &values) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i)
    text += (i ? ", " : "") + std::to_string(values[i]);
  return text + "]";
}

static std::string dimension(size_t index) { return "dimension " + std::to_string(index); }

int64_t attn::countElements(const std::vector<int64_t> &sizes) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end())
    return 0;
  int64_t count = 1;
  for (int64_t size : sizes)
    if (__builtin_mul_overflow(count, size, &count))
      return -1;
  return count;
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

static const char *describe(Argument::Kind kind) {
  switch (kind) {
  case Argument::Kind::Tensor:
    return "a tensor";
  case Argument::Kind::Float:
    return "a floating-point number";
  case Argument::Kind::Integer:
    return "an integer";
  case Argument::Kind::Bool:
    return "a bool";
  }
  return "something else";
}

/// The largest magnitude that rounds to a finite number of the type.
static double largestFinite(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return 65519.999;
  case DType::BF16:
    return 0x1.feffffffffp127;
  case DType::F32:
    return 0x1.fffffefffffffp127;
  default:
    return std::numeric_limits<double>::max();
  }
}

static Status checkIntegerFits(const Slot &slot, const Argument &scalar) {
  int64_t bits = byteSize(slot.type.dtype) * 8;
  int64_t largest = bits == 64 ? std::numeric_limits<int64_t>::max() : (int64_t(1) << (bits - 1)) - 1;
  int64_t value = scalar.asInteger();
  if (!scalar.exceedsInt64() && value <= largest && value >= -largest - 1)
    return {};
  std::string found = scalar.exceedsInt64() ? std::to_string(static_cast<uint64_t>(value)) : std::to_string(value);
  return refuse(slot, "a number from " + std::to_string(-largest - 1) + " to " + std::to_string(largest), found,
                "pass one in that range");
}

static Status checkScalar(const Slot &slot, const Argument &scalar) {
  using Kind = Argument::Kind;
  DType dtype = slot.type.dtype;
  Kind wanted = isFloat(dtype) ? Kind::Float : dtype == DType::I1 ? Kind::Bool : Kind::Integer;
  if (scalar.kind() != wanted)
    return refuse(slot, describe(wanted), describe(scalar.kind()),
                  scalar.kind() == Kind::Tensor ? "pass the scalar itself" : "convert it before the call");
  if (wanted == Kind::Integer)
    return checkIntegerFits(slot, scalar);
  if (wanted == Kind::Float && std::isfinite(scalar.asFloat()) && std::fabs(scalar.asFloat()) > largestFinite(dtype))
    return refuse(slot, "a number that is finite in " + std::string(toString(dtype)), std::to_string(scalar.asFloat()),
                  "pass a smaller one, or infinity itself");
  return {};
}

/// A float that rounds to any narrower type as the double would: inexact values get an odd last bit.
static float roundToOdd(double value) {
  float rounded = static_cast<float>(value);
  if (static_cast<double>(rounded) == value || std::isnan(value) || std::isinf(rounded))
    return rounded;
  uint32_t bits = detail::bitsOf(rounded);
  if (std::fabs(static_cast<double>(rounded)) > std::fabs(value))
    --bits;
  return detail::floatOf(bits | 1);
}

/// The bytes of a number at the start of a word.
template <typename T> static uint64_t wordOf(T value) {
  uint64_t word = 0;
  std::memcpy(&word, &value, sizeof(value));
  return word;
}

uint64_t attn::encodeScalar(const Argument &scalar, DType dtype) {
  switch (dtype) {
  case DType::F16:
    return wordOf(Float16(roundToOdd(scalar.asFloat())));
  case DType::BF16:
    return wordOf(BFloat16(roundToOdd(scalar.asFloat())));
  case DType::F32:
    return wordOf(static_cast<float>(scalar.asFloat()));
  case DType::F64:
    return wordOf(scalar.asFloat());
  case DType::I1:
    return wordOf(static_cast<uint8_t>(scalar.asInteger() != 0));
  case DType::I8:
    return wordOf(static_cast<int8_t>(scalar.asInteger()));
  case DType::I16:
    return wordOf(static_cast<int16_t>(scalar.asInteger()));
  case DType::I32:
    return wordOf(static_cast<int32_t>(scalar.asInteger()));
  case DType::I64:
  case DType::Other:
    break;
  }
  return wordOf(scalar.asInteger());
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

static Status checkShape(const Slot &slot, const TensorView &view) {
  const ValueType &type = slot.type;
  if (view.dtype != type.dtype)
    return refuse(slot, "elements of " + std::string(toString(type.dtype)), toString(view.dtype),
                  "make the view of a buffer of that type");
  size_t rank = type.sizes.size();
  if (view.sizes.size() != rank)
    return refuse(slot, "rank " + std::to_string(rank), "sizes " + list(view.sizes), "give one size a dimension");
  if (view.strides.size() != rank)
    return refuse(slot, "one stride a dimension", "sizes " + list(view.sizes) + " and strides " + list(view.strides),
                  "give both, or leave the strides out for a dense row-major tensor");
  for (size_t i = 0; i < rank; ++i) {
    if (view.sizes[i] < 0)
      return refuse(slot, "sizes of at least 0", list(view.sizes), "correct " + dimension(i));
    if (type.sizes[i] != dynamicSize && type.sizes[i] != view.sizes[i])
      return refuse(slot, "size " + std::to_string(type.sizes[i]) + " in " + dimension(i), list(view.sizes),
                    "pass that size, or write ? for it in the function's type");
  }
  return {};
}

static Status checkStrides(const Slot &slot, const TensorView &view, int64_t elements) {
  size_t rank = view.sizes.size();
  for (size_t i = 0; i < rank; ++i)
    if (view.strides[i] < 0)
      return refuse(slot, "strides of at least 0", list(view.strides), "copy the tensor into ascending order");
  if (elements == 0)
    return {};
  if (rank > 0 && view.sizes[rank - 1] > 1 && view.strides[rank - 1] != 1)
    return refuse(slot, "stride 1 in the last dimension", list(view.strides),
                  "copy the tensor, or declare its layout in the function so that the contiguous dimension is last");
  for (size_t i = 0; i < rank; ++i)
    if (slot.isOutput && view.sizes[i] > 1 && view.strides[i] == 0)
      return refuse(slot, "strides above 0, as an output", list(view.strides),
                    "give each element memory of its own in " + dimension(i));
  return {};
}

/// Elements from the first to the last, inclusive; -1 where their bytes exceed 63 bits.
static int64_t spanOf(const TensorView &view) {
  int64_t span = 1, bytes;
  for (size_t i = 0; i < view.sizes.size(); ++i) {
    int64_t reach;
    if (__builtin_mul_overflow(view.sizes[i] - 1, view.strides[i], &reach) ||
        __builtin_add_overflow(span, reach, &span))
      return -1;
  }
  return __builtin_mul_overflow(span, byteSize(view.dtype), &bytes) ? -1 : span;
}

/// Whether each element of a view is surely elsewhere than the others: by ascending stride, each steps over all that
/// the smaller ones reach.
static bool stridesNest(const TensorView &view) {
  std::vector<std::pair<int64_t, int64_t>> dims; // stride, size
  for (size_t i = 0; i < view.sizes.size(); ++i)
    if (view.sizes[i] > 1)
      dims.push_back({view.strides[i], view.sizes[i]});
  std::sort(dims.begin(), dims.end());
  int64_t reach = 0;
  for (auto [stride, size] : dims) {
    if (stride <= reach)
      return false;
    reach += (size - 1) * stride;
  }
  return true;
}

static std::string hex(const void *pointer) {
  char text[32];
  std::snprintf(text, sizeof(text), "%p", pointer);
  return text;
}

static Status checkMemory(const Slot &slot, const TensorView &view, ByteRange &range) {
  int64_t span = spanOf(view), width = byteSize(view.dtype);
  if (span < 0)
    return refuse(slot, "a tensor whose bytes fit in 63 bits",
                  "sizes " + list(view.sizes) + " and strides " + list(view.strides), "correct them");
  if (!view.data)
    return refuse(slot, "data, having elements", "a null pointer", "point it at " + std::to_string(span) + " elements");
  uintptr_t begin = reinterpret_cast<uintptr_t>(view.data);
  if (begin % width != 0)
    return refuse(slot, "data aligned to " + std::to_string(width) + " bytes", hex(view.data),
                  "copy the tensor to aligned memory");
  if (view.capacity >= 0 && span > view.capacity)
    return refuse(slot, "a container of at least " + std::to_string(span) + " elements", std::to_string(view.capacity),
                  "resize it, or correct the sizes " + list(view.sizes));
  uintptr_t bytes = static_cast<uintptr_t>(span) * width;
  if (bytes > std::numeric_limits<uintptr_t>::max() - begin)
    return refuse(slot, "memory that ends below the end of the address space",
                  std::to_string(bytes) + " bytes at " + hex(view.data), "correct the sizes");
  if (slot.isOutput && !stridesNest(view))
    return refuse(slot, "strides that give each element memory of its own",
                  "sizes " + list(view.sizes) + " and strides " + list(view.strides), "use larger strides");
  range = {begin, begin + bytes};
  return {};
}

static Status checkTensor(const Slot &slot, const TensorView &view, ByteRange &range) {
  if (Status status = checkShape(slot, view); !status)
    return status;
  int64_t elements = countElements(view.sizes);
  if (elements < 0)
    return refuse(slot, "a number of elements that fits in 63 bits", list(view.sizes), "correct the sizes");
  if (Status status = checkStrides(slot, view, elements); !status)
    return status;
  return elements == 0 ? Status() : checkMemory(slot, view, range);
}

static Status checkInput(const Slot &slot, const Argument &input, ByteRange &range) {
  if (!slot.type.isTensor)
    return checkScalar(slot, input);
  if (input.kind() != Argument::Kind::Tensor)
    return refuse(slot, "a tensor", describe(input.kind()), "pass attn::view(...)");
  return checkTensor(slot, input.tensor(), range);
}

//===----------------------------------------------------------------------===//
// Whole calls
//===----------------------------------------------------------------------===//

static Status checkCount(const FunctionSignature &signature, const char *what, size_t wanted, size_t found) {
  if (wanted == found)
    return {};
  return refuse(signature.str() + " expects " + std::to_string(wanted) + " " + what + ", but got " +
                std::to_string(found) + "; pass one for each in the signature, in its order");
}

static Error refuseOverlap(const Slot &output, const Slot &other) {
  return refuse(output, "memory of its own",
                "memory that it shares with " + other.str().substr(0, other.str().find(" (")),
                "give the output a buffer that nothing else uses");
}

/// No output may share memory with an input or another output.
static Status checkOverlaps(const FunctionSignature &signature, const std::vector<ByteRange> &inputs,
                            const std::vector<ByteRange> &outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    Slot output{true, i, signature.results[i]};
    for (size_t j = 0; j < inputs.size(); ++j)
      if (outputs[i].overlaps(inputs[j]))
        return refuseOverlap(output, Slot{false, j, signature.arguments[j]});
    for (size_t j = 0; j < i; ++j)
      if (outputs[i].overlaps(outputs[j]))
        return refuseOverlap(output, Slot{true, j, signature.results[j]});
  }
  return {};
}

/// checkInputs, with the memory of each input.
static Status checkInputs(const FunctionSignature &signature, const std::vector<Argument> &inputs,
                          std::vector<ByteRange> &ranges) {
  if (Status status = checkCount(signature, "inputs", signature.arguments.size(), inputs.size()); !status)
    return status;
  ranges.resize(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    if (Status status = checkInput({false, i, signature.arguments[i]}, inputs[i], ranges[i]); !status)
      return status;
  return {};
}

Status attn::checkInputs(const FunctionSignature &signature, const std::vector<Argument> &inputs) {
  std::vector<ByteRange> ranges;
  return ::checkInputs(signature, inputs, ranges);
}

Status attn::checkInputShapes(const FunctionSignature &signature, const std::vector<Argument> &inputs) {
  if (Status status = checkCount(signature, "inputs", signature.arguments.size(), inputs.size()); !status)
    return status;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Slot slot{false, i, signature.arguments[i]};
    bool isTensor = inputs[i].kind() == Argument::Kind::Tensor;
    ByteRange unused;
    Status status =
        slot.type.isTensor && isTensor ? checkShape(slot, inputs[i].tensor()) : checkInput(slot, inputs[i], unused);
    if (!status)
      return status;
  }
  return {};
}

Status attn::checkArguments(const FunctionSignature &signature, const std::vector<Argument> &inputs,
                            const std::vector<MutableTensorView> &outputs) {
  std::vector<ByteRange> inputRanges, outputRanges(outputs.size());
  if (Status status = ::checkInputs(signature, inputs, inputRanges); !status)
    return status;
  if (Status status = checkCount(signature, "outputs", signature.results.size(), outputs.size()); !status)
    return status;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (Status status = checkTensor({true, i, signature.results[i]}, outputs[i], outputRanges[i]); !status)
      return status;
  return checkOverlaps(signature, inputRanges, outputRanges);
}

/// Words of a descriptor.
static size_t descriptorWords(size_t rank) { return 3 + 2 * rank; }

PackedArguments::PackedArguments(const FunctionSignature &signature, const std::vector<Argument> &inputs,
                                 const std::vector<MutableTensorView> &outputs) {
  // Pointers into words are taken, so it must not move.
  size_t count = 0;
  for (const ValueType &type : signature.arguments)
    count += type.isTensor ? descriptorWords(type.sizes.size()) : 1;
  for (const ValueType &type : signature.results)
    count += descriptorWords(type.sizes.size());
  words.reserve(count);
  table.reserve(inputs.size() + outputs.size());

  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].kind() == Argument::Kind::Tensor) {
      addView(inputs[i].tensor().data, inputs[i].tensor().sizes, inputs[i].tensor().strides);
      continue;
    }
    words.push_back(encodeScalar(inputs[i], signature.arguments[i].dtype));
    table.push_back(&words.back());
  }
  for (const MutableTensorView &output : outputs)
    addView(output.data, output.sizes, output.strides);
}

void PackedArguments::addView(const void *data, const std::vector<int64_t> &sizes,
                              const std::vector<int64_t> &strides) {
  uint64_t *descriptor = words.data() + words.size();
  table.push_back(descriptor);
  words.push_back(wordOf(data));
  words.push_back(wordOf(data));
  words.push_back(0);
  words.insert(words.end(), sizes.begin(), sizes.end());
  words.insert(words.end(), strides.begin(), strides.end());
}
