//===- NamedMods.cpp - the named masks and score functions of an op ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NamedModTensors.h"

using namespace mlir;
using namespace attn;
using namespace attn::reference;

FailureOr<SmallVector<NamedMod>> attn::reference::getNamedMods(Compiler &compiler, Operation *op, ArrayAttr mods,
                                                               ValueRange captures) {
  SmallVector<NamedMod> result;
  for (Attribute attr : mods ? mods.getValue() : ArrayRef<Attribute>()) {
    result.push_back({attr, {}});
    unsigned count = cast<NamedModInterface>(attr).getNumCaptures();
    if (captures.size() < count)
      return op->emitOpError("expects ") << count << " captured operands for " << attr << ", but got "
                                         << captures.size();
    for (Value capture : captures.take_front(count))
      result.back().captures.push_back(compiler.tensor(capture));
    captures = captures.drop_front(count);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Captured tensors
//===----------------------------------------------------------------------===//

static constexpr StringRef kLetters = "bhij";
static constexpr StringRef kNames[] = {"batch", "heads", "queryLen", "kvLen"};

Table Captures::table(unsigned number, StringRef letters, int64_t own) {
  Table result{frame.tensors[mod.captures[number]], {}};
  const Tensor &tensor = *result.tensor;
  SmallVector<int64_t> strides = getStrides(tensor.shape);
  int64_t absent = static_cast<int64_t>(letters.size()) - tensor.rank();
  result.strides.assign(std::max<int64_t>(absent, 0), 0);
  for (int64_t k = 0; k < tensor.rank(); ++k) {
    char letter = letters[absent + k];
    int64_t full = letter == '*' ? own : sizes[kLetters.find(letter)], size = tensor.shape[k];
    std::string name = letter == '*' ? "" : (kNames[kLetters.find(letter)] + " = ").str();
    if (full < 0 ? size < 1 : size != full)
      return fail("expects a captured operand of size " + (full < 0 ? "at least 1" : name + std::to_string(full)) +
                  ", but got " + Twine(size));
    result.strides.push_back(strides[k]);
  }
  return result;
}

Table Captures::broadcast(unsigned number) {
  Table result{frame.tensors[mod.captures[number]], {0, 0, 0, 0}};
  const Tensor &tensor = *result.tensor;
  SmallVector<int64_t> strides = getStrides(tensor.shape);
  for (int64_t k = 0, first = 4 - tensor.rank(); k < tensor.rank(); ++k) {
    int64_t size = tensor.shape[k], full = sizes[first + k];
    if (size != 1 && size != full)
      return fail("expects dimension " + Twine(k) + " of the operand of a named mask or score to be 1 or " +
                  kNames[first + k] + " = " + Twine(full) + ", but got " + Twine(size));
    result.strides[first + k] = size == 1 ? 0 : strides[k];
  }
  return result;
}

bool Captures::hasLength(int64_t length) {
  for (unsigned k : {2u, 3u})
    if (sizes[k] != length) {
      fail("expects " + kNames[k] + " to be " + Twine(length) + ", but got " + Twine(sizes[k]));
      return false;
    }
  return true;
}

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
