//===- Data.cpp - arguments and results of a run -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Data.h"

#include "Npy.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <cstdio>

using namespace attn;
using namespace attn::tool;

static std::string argumentName(size_t index, const ValueType &type) {
  return "argument " + std::to_string(index) + " (" + type.text + ")";
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// Parses an integer or bool exactly, a float as a double.
static Result<Argument> parseScalar(const std::string &text, DType dtype, const std::string &name) {
  if (isFloat(dtype)) {
    if (std::optional<double> value = parseNumber(text))
      return Argument(*value);
    return usageError(name + " expects a number, but got '" + text + "'");
  }
  if (dtype == DType::I1 && (text == "true" || text == "false" || text == "0" || text == "1"))
    return Argument(text == "true" || text == "1");
  if (dtype == DType::I1)
    return usageError(name + " expects true or false, but got '" + text + "'");
  int64_t value = 0;
  if (llvm::StringRef(text).getAsInteger(10, value))
    return usageError(name + " expects a whole number, but got '" + text + "'");
  return Argument(value);
}

static Result<Argument> makeScalar(const DataSettings &settings, size_t index, const ValueType &type) {
  std::string name = argumentName(index, type);
  auto text = settings.scalars.find(index);
  if (text != settings.scalars.end())
    return parseScalar(text->second, type.dtype, name);
  auto fill = settings.fills.find(index);
  if (!isFloat(type.dtype) && type.dtype != DType::I1 && fill == settings.fills.end())
    return usageError(name + " needs a value: pass --scalar=" + std::to_string(index) + ":VALUE");
  auto array = Array::create(type.dtype, {});
  if (!array)
    return array.error();
  Status status =
      fillArray(*array, fill == settings.fills.end() ? settings.defaultFill : fill->second, settings.seed, index);
  if (!status)
    return usageError(name + ": " + status.error().message);
  if (isFloat(type.dtype))
    return Argument(array->number(0));
  return type.dtype == DType::I1 ? Argument(array->integer(0) != 0) : Argument(array->integer(0));
}

/// The sizes of a generated argument: from --shape, or from its type.
static Result<std::vector<int64_t>> generatedSizes(const DataSettings &settings, size_t index, const ValueType &type) {
  auto shape = settings.shapes.find(index);
  std::vector<int64_t> sizes = shape == settings.shapes.end() ? type.sizes : shape->second;
  if (std::find(sizes.begin(), sizes.end(), dynamicSize) != sizes.end())
    return usageError(argumentName(index, type) + " has sizes that only the run knows: pass --shape=" +
                      std::to_string(index) + ":SIZES, as in " + std::to_string(index) + ":2x8x33x64, or a file");
  bool fits = sizes.size() == type.sizes.size();
  for (size_t d = 0; fits && d < sizes.size(); ++d)
    fits = type.sizes[d] == dynamicSize || type.sizes[d] == sizes[d];
  if (!fits)
    return usageError("--shape=" + std::to_string(index) + " does not fit " + argumentName(index, type) + ": got " +
                      describe(type.dtype, sizes));
  return sizes;
}

static Result<Array> generateArray(const DataSettings &settings, size_t index, const ValueType &type) {
  auto fill = settings.fills.find(index);
  bool hasFill = fill != settings.fills.end();
  if (!hasFill && !isFloat(type.dtype) && type.dtype != DType::I1)
    return usageError(argumentName(index, type) + " has integers, which need a range: pass --fill=" +
                      std::to_string(index) + ":range:LOW:HIGH (both ends included), or another fill, or a file");
  auto sizes = generatedSizes(settings, index, type);
  if (!sizes)
    return sizes.error();
  auto array = Array::create(type.dtype, *sizes);
  if (!array)
    return array;
  Status status = fillArray(*array, hasFill ? fill->second : settings.defaultFill, settings.seed, index);
  if (!status)
    return usageError(argumentName(index, type) + ": " + status.error().message);
  return array;
}

/// Refuses indices that name no argument, or one of the wrong kind.
template <typename Map>
static Status checkIndices(const char *flag, const Map &settings, const std::vector<ValueType> &types,
                           std::optional<bool> wantsTensor) {
  for (const auto &entry : settings) {
    if (entry.first >= types.size())
      return usageError(std::string(flag) + " names number " + std::to_string(entry.first) + ", but there are " +
                        std::to_string(types.size()));
    if (wantsTensor && types[entry.first].isTensor != *wantsTensor)
      return usageError(std::string(flag) + " expects a " + (*wantsTensor ? "tensor" : "scalar") + ", but " +
                        argumentName(entry.first, types[entry.first]) + " is none");
  }
  return {};
}

static Status checkInputSettings(const DataSettings &settings, const FunctionSignature &signature) {
  if (Status status = checkIndices("--arg", settings.files, signature.arguments, true); !status)
    return status;
  if (Status status = checkIndices("--shape", settings.shapes, signature.arguments, true); !status)
    return status;
  if (Status status = checkIndices("--scalar", settings.scalars, signature.arguments, false); !status)
    return status;
  return checkIndices("--fill", settings.fills, signature.arguments, std::nullopt);
}

/// settings.files with the members of the archive added; --arg wins.
static Result<std::map<size_t, std::string>> collectFiles(const DataSettings &settings,
                                                          const FunctionSignature &signature) {
  std::map<size_t, std::string> files = settings.files;
  if (settings.archive.empty())
    return files;
  auto names = listNpz(settings.archive);
  if (!names)
    return names.error();
  for (const std::string &name : *names) {
    size_t index = 0;
    if (!llvm::StringRef(name).starts_with("arr_") || llvm::StringRef(name).drop_front(4).getAsInteger(10, index) ||
        index >= signature.arguments.size() || !signature.arguments[index].isTensor)
      return usageError("--args: '" + name + "' in " + settings.archive + " is no tensor argument of " +
                        signature.str() + "; expected arr_0, arr_1, ...");
    files.emplace(index, settings.archive + ":" + name);
  }
  return files;
}

std::vector<MutableTensorView> tool::viewsOf(std::vector<Array> &arrays) {
  std::vector<MutableTensorView> views;
  for (Array &array : arrays)
    views.push_back(array.view());
  return views;
}

Result<Inputs> tool::makeInputs(const DataSettings &settings, const FunctionSignature &signature) {
  if (Status status = checkInputSettings(settings, signature); !status)
    return status.error();
  auto files = collectFiles(settings, signature);
  if (!files)
    return files.error();
  Inputs inputs;
  for (size_t i = 0; i < signature.arguments.size(); ++i) {
    const ValueType &type = signature.arguments[i];
    if (!type.isTensor) {
      auto scalar = makeScalar(settings, i, type);
      if (!scalar)
        return scalar.error();
      inputs.arguments.push_back(*scalar);
      continue;
    }
    auto file = files->find(i);
    auto array = file == files->end() ? generateArray(settings, i, type)
                                      : readArray(file->second, WantedArray(type.dtype, type.sizes));
    if (!array)
      return array.error();
    inputs.arrays.push_back(std::move(*array));
    inputs.arguments.push_back(std::as_const(inputs.arrays.back()).view());
  }
  return inputs;
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

Result<std::vector<Array>> tool::makeOutputs(const DataSettings &settings, const Module &module,
                                             const FunctionSignature &signature, const Inputs &inputs) {
  if (Status status = checkIndices("--out-shape", settings.outShapes, signature.results, true); !status)
    return status.error();
  auto sizes = module.resultSizes(signature.name, inputs.arguments);
  if (!sizes)
    return sizes.error();
  std::vector<Array> outputs;
  for (size_t i = 0; i < sizes->size(); ++i) {
    auto given = settings.outShapes.find(i);
    const std::vector<int64_t> &shape = given == settings.outShapes.end() ? (*sizes)[i] : given->second;
    if (std::find(shape.begin(), shape.end(), dynamicSize) != shape.end())
      return usageError("the sizes of result " + std::to_string(i) + " (" + signature.results[i].text +
                        ") do not follow from the inputs: pass --out-shape=" + std::to_string(i) + ":SIZES");
    auto array = Array::create(signature.results[i].dtype, shape);
    if (!array)
      return array.error();
    std::memset(array->data(), 0xff, array->bytes());
    outputs.push_back(std::move(*array));
  }
  return outputs;
}

/// One element; floats with the digits that tell values of their type apart.
static std::string formatElement(const Array &array, int64_t position) {
  if (!isFloat(array.dtype()))
    return std::to_string(array.integer(position));
  int digits = array.dtype() == DType::F64 ? 17 : array.dtype() == DType::F32 ? 9 : array.dtype() == DType::F16 ? 5 : 4;
  char text[40];
  std::snprintf(text, sizeof(text), "%.*g", digits, array.number(position));
  return text;
}

std::string tool::formatArray(const std::string &name, const Array &array) {
  constexpr int64_t maxElements = 16384;
  std::string text = name + ": " + describe(array.dtype(), array.sizes()) + "\n";
  int64_t columns = array.sizes().empty() ? 1 : std::max<int64_t>(1, array.sizes().back());
  std::vector<int64_t> index(array.sizes().empty() ? 0 : array.sizes().size() - 1, 0);
  for (int64_t start = 0; start < array.size(); start += columns) {
    if (start >= maxElements)
      return text + "  ... (" + std::to_string(array.size() - start) + " more elements)\n";
    std::string line = " ";
    for (size_t d = 0; d < index.size(); ++d)
      line += (d ? ", " : " [") + std::to_string(index[d]) + (d + 1 == index.size() ? "]" : "");
    for (int64_t column = 0; column < columns; ++column)
      line += " " + formatElement(array, start + column);
    text += line + "\n";
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < array.sizes()[d])
        break;
      index[d] = 0;
    }
  }
  return text;
}

Status tool::writeOutputs(const std::string &flag, const std::string &name, const std::vector<Array> &outputs) {
  llvm::StringRef path = name;
  if (path.ends_with(".npy")) {
    if (outputs.size() != 1)
      return usageError(flag + " with .npy expects one result, but there are " + std::to_string(outputs.size()) +
                        "; use .npz");
    return writeNpy(name, outputs[0]);
  }
  if (!path.ends_with(".npz"))
    return usageError(flag + " expects a name that ends in .npy or .npz, but got '" + name + "'");
  NamedArrays members;
  for (size_t i = 0; i < outputs.size(); ++i)
    members.push_back({"arr_" + std::to_string(i), &outputs[i]});
  return writeNpz(name, members);
}
