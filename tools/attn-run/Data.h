//===- Data.h - arguments and results of a run --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_ATTNRUN_DATA_H
#define ATTN_TOOLS_ATTNRUN_DATA_H

#include "Settings.h"

namespace attn::tool {

/// Arguments as the settings ask for them, and the memory that they lie in.
struct Inputs {
  std::vector<Array> arrays;
  /// One for each argument of the function.
  std::vector<Argument> arguments;
};

/// Reads or generates every argument of a function. Settings for arguments that it does not have are errors.
Result<Inputs> makeInputs(const Settings &settings, const FunctionSignature &signature);

/// Memory for every result, filled with bytes 0xff (NaN), so that what a kernel leaves out shows.
Result<std::vector<Array>> makeOutputs(const Settings &settings, const Module &module,
                                       const FunctionSignature &signature, const Inputs &inputs);

/// The results as text: a line with the type, then one for each row of the last dimension, with its indices in front.
std::string formatArray(const std::string &name, const Array &array);

/// Writes the results to settings.output.
Status writeOutputs(const Settings &settings, const std::vector<Array> &outputs);

} // namespace attn::tool

#endif // ATTN_TOOLS_ATTNRUN_DATA_H
