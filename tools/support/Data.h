//===- Data.h - arguments and results of a run --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_SUPPORT_DATA_H
#define ATTN_TOOLS_SUPPORT_DATA_H

#include "Generate.h"

#include <map>

namespace attn::tool {

/// What the arguments and results of a function are made of.
struct DataSettings {
  /// By argument: files, sizes, scalars, fills.
  std::map<size_t, std::string> files;
  std::map<size_t, std::vector<int64_t>> shapes;
  std::map<size_t, std::string> scalars;
  std::map<size_t, Fill> fills;
  /// For arguments that `fills` leaves out; floats and i1 only.
  Fill defaultFill;
  /// An archive whose member arr_N is argument N; empty: none.
  std::string archive;
  uint64_t seed = 1;
  /// By result: sizes that the types leave open.
  std::map<size_t, std::vector<int64_t>> outShapes;
};

/// Arguments as the settings ask for them, and the memory that they lie in.
struct Inputs {
  std::vector<Array> arrays;
  /// One for each argument of the function.
  std::vector<Argument> arguments;
};

/// Reads or generates every argument of a function. Settings for arguments that it does not have are errors.
Result<Inputs> makeInputs(const DataSettings &settings, const FunctionSignature &signature);

/// Memory for every result, filled with bytes 0xff (NaN), so that what a kernel leaves out shows.
Result<std::vector<Array>> makeOutputs(const DataSettings &settings, const Module &module,
                                       const FunctionSignature &signature, const Inputs &inputs);

std::vector<MutableTensorView> viewsOf(std::vector<Array> &arrays);

/// The results as text: a line with the type, then one for each row of the last dimension, with its indices in front.
std::string formatArray(const std::string &name, const Array &array);

/// Writes the results to a .npz file or, one result, to a .npy file. flag: the option that names it, for messages.
Status writeOutputs(const std::string &flag, const std::string &name, const std::vector<Array> &outputs);

} // namespace attn::tool

#endif // ATTN_TOOLS_SUPPORT_DATA_H
