//===- NamedMods.cpp - named masks and score functions, by formula -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NamedMods.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "llvm/ADT/TypeSwitch.h"
#include <array>
#include <cmath>

using namespace mlir;
using namespace attn;
using namespace attn::reference;

FailureOr<SmallVector<NamedMod>> attn::reference::getNamedMods(Compiler &compiler, Operation *op, ArrayAttr mods,
                                                               ValueRange captures) {
  SmallVector<NamedMod> result;
  for (Attribute attr : mods ? mods.getValue() : ArrayRef<Attribute>()) {
    result.push_back({attr, std::nullopt});
    if (!cast<NamedModInterface>(attr).getNumCaptures())
      continue;
    if (captures.empty())
      return op->emitOpError("expects a captured operand for ") << attr << ", but got none";
    result.back().capture = compiler.tensor(captures.front());
    captures = captures.drop_front();
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Captured tensors
//===----------------------------------------------------------------------===//

namespace {
/// Reads a tensor that broadcasts to [batch, heads, queryLen, kvLen], aligned at the last dimension.
struct Broadcast {
  TensorPtr tensor;
  std::array<int64_t, 4> strides = {0, 0, 0, 0};

  Scalar at(const Point &p) const {
    return tensor->data[strides[0] * p.b + strides[1] * p.h + strides[2] * p.i + strides[3] * p.j];
  }
};
} // namespace

static std::optional<Broadcast> broadcast(const TensorPtr &tensor, ArrayRef<int64_t> sizes, std::string &error) {
  static constexpr StringRef names[] = {"batch", "heads", "queryLen", "kvLen"};
  Broadcast result{tensor};
  SmallVector<int64_t> strides = getStrides(tensor->shape);
  for (int64_t k = 0, first = 4 - tensor->rank(); k < tensor->rank(); ++k) {
    int64_t size = tensor->shape[k], full = sizes[first + k];
    if (size != 1 && size != full) {
      error = ("expects dimension " + Twine(k) + " of the operand of a named mask or score to be 1 or " +
               names[first + k] + " = " + Twine(full) + ", but got " + Twine(size))
                  .str();
      return std::nullopt;
    }
    result.strides[first + k] = size == 1 ? 0 : strides[k];
  }
  return result;
}

/// A captured vector must have the size of its dimension.
static bool hasSize(const Tensor &tensor, StringRef name, int64_t size, std::string &error) {
  if (tensor.size() == size)
    return true;
  error =
      ("expects a captured operand of size " + name + " = " + Twine(size) + ", but got " + Twine(tensor.size())).str();
  return false;
}

//===----------------------------------------------------------------------===//
// Formulas
//===----------------------------------------------------------------------===//

/// How far key j is right of the diagonal of query i. An implied diagonal is that of queryLen = kvLen.
static int64_t distanceFromDiagonal(Diagonal diagonal, const Point &p) {
  int64_t offset = diagonal == Diagonal::BottomRight ? p.kvLen - p.queryLen : 0;
  return p.j - (p.i + offset);
}

MaskFunction attn::reference::bindMask(const Frame &frame, const NamedMod &mod, ArrayRef<int64_t> sizes,
                                       std::string &error) {
  TensorPtr capture = mod.capture ? frame.tensors[*mod.capture] : nullptr;
  return llvm::TypeSwitch<Attribute, MaskFunction>(mod.attr)
      .Case([&](CausalAttr attr) -> MaskFunction {
        return [diagonal = attr.getDiagonal()](const Point &p) { return distanceFromDiagonal(diagonal, p) <= 0; };
      })
      .Case([&](WindowAttr attr) -> MaskFunction {
        return [left = attr.getLeft(), right = attr.getRight(), diagonal = attr.getDiagonal()](const Point &p) {
          int64_t distance = distanceFromDiagonal(diagonal, p);
          return (left < 0 || distance >= -left) && (right < 0 || distance <= right);
        };
      })
      .Case([&](PrefixAttr attr) -> MaskFunction {
        if (!hasSize(*capture, "batch", sizes[0], error))
          return {};
        return [diagonal = attr.getDiagonal(), capture](const Point &p) {
          return distanceFromDiagonal(diagonal, p) <= 0 || p.j < capture->data[p.b].integer;
        };
      })
      .Case([&](BooleanAttr) -> MaskFunction {
        std::optional<Broadcast> mask = broadcast(capture, sizes, error);
        if (!mask)
          return {};
        return [mask = *mask](const Point &p) { return mask.at(p).integer != 0; };
      })
      .Default([&](Attribute) -> MaskFunction {
        error = "has a named mask that the reference interpreter does not support";
        return {};
      });
}

template <typename T>
ScoreFunction<T> attn::reference::bindScore(const Frame &frame, const NamedMod &mod, ArrayRef<int64_t> sizes,
                                            std::string &error) {
  TensorPtr capture = mod.capture ? frame.tensors[*mod.capture] : nullptr;
  return llvm::TypeSwitch<Attribute, ScoreFunction<T>>(mod.attr)
      .Case([&](SoftcapAttr attr) -> ScoreFunction<T> {
        return [cap = static_cast<T>(attr.getCap().getValueAsDouble())](T score, const Point &) {
          return cap * std::tanh(score / cap);
        };
      })
      .Case([&](AlibiAttr) -> ScoreFunction<T> {
        if (!hasSize(*capture, "heads", sizes[1], error))
          return {};
        return [capture](T score, const Point &p) {
          return score + static_cast<T>(capture->data[p.h].real) * static_cast<T>(p.j - p.i);
        };
      })
      .template Case<BiasAttr, AdditiveAttr>([&](auto) -> ScoreFunction<T> {
        std::optional<Broadcast> term = broadcast(capture, sizes, error);
        if (!term)
          return {};
        return [term = *term](T score, const Point &p) { return score + static_cast<T>(term.at(p).real); };
      })
      .Default([&](Attribute) -> ScoreFunction<T> {
        error = "has a named score function that the reference interpreter does not support";
        return {};
      });
}

template ScoreFunction<float> attn::reference::bindScore<float>(const Frame &, const NamedMod &, ArrayRef<int64_t>,
                                                                std::string &);
template ScoreFunction<double> attn::reference::bindScore<double>(const Frame &, const NamedMod &, ArrayRef<int64_t>,
                                                                  std::string &);

//===----------------------------------------------------------------------===//
// All masks of an op
//===----------------------------------------------------------------------===//

std::optional<SmallVector<MaskFunction>> Masks::bind(Frame &frame, Operation *op, ArrayRef<int64_t> sizes) const {
  SmallVector<MaskFunction> functions;
  for (const NamedMod &mod : named) {
    std::string error;
    functions.push_back(bindMask(frame, mod, sizes, error));
    if (functions.back())
      continue;
    frame.fail(op, error);
    return std::nullopt;
  }
  return functions;
}

bool Masks::evaluate(Frame &frame, ArrayRef<MaskFunction> bound, const Point &point, bool &keep) const {
  keep = true;
  for (const MaskFunction &mask : bound)
    keep &= mask(point);
  if (!region)
    return true;
  const int64_t indices[] = {point.b, point.h, point.i, point.j};
  for (auto [argument, index] : llvm::zip_equal(region->arguments, indices))
    frame.scalars[argument.index].integer = index;
  if (!region->program.run(frame))
    return false;
  keep &= frame.scalars[region->yields.front().index].integer != 0;
  return true;
}

FailureOr<Masks> attn::reference::compileMasks(Compiler &compiler, Operation *op, ArrayAttr masks, ValueRange captures,
                                               Region &region) {
  FailureOr<SmallVector<NamedMod>> named = getNamedMods(compiler, op, masks, captures);
  if (failed(named))
    return failure();
  Masks result{std::move(*named), std::nullopt};
  if (region.empty())
    return result;
  FailureOr<Body> body = compiler.compileModRegion(region);
  if (failed(body))
    return failure();
  result.region = std::move(*body);
  return result;
}
