//===- Arguments.h - checking and packing arguments ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_API_ARGUMENTS_H
#define ATTN_LIB_API_ARGUMENTS_H

#include "attn/API/Kernel.h"

namespace attn {

/// Checks the arguments of a call against a signature, by the rules of Kernel::run. Pure.
Status checkArguments(const FunctionSignature &signature, const std::vector<Argument> &inputs,
                      const std::vector<MutableTensorView> &outputs);

/// The rules for inputs alone.
Status checkInputs(const FunctionSignature &signature, const std::vector<Argument> &inputs);

/// The rules for inputs that do not look at memory: count, kind, element type, sizes.
Status checkInputShapes(const FunctionSignature &signature, const std::vector<Argument> &inputs);

/// Number of elements of sizes that are at least 0; -1 where it exceeds 63 bits.
int64_t countElements(const std::vector<int64_t> &sizes);

/// A scalar as the argument's type has it, in the first byteSize(dtype) bytes. The scalar has passed checkArguments.
uint64_t encodeScalar(const Argument &scalar, DType dtype);

/// Arguments in the form that compiled code takes: one pointer for each, to the C-interface descriptor of a memref
/// { allocated, aligned, offset, sizes[rank], strides[rank] } or to a scalar. Views that lie in it refer to the
/// caller's memory.
class PackedArguments {
public:
  /// The arguments have passed checkArguments.
  PackedArguments(const FunctionSignature &signature, const std::vector<Argument> &inputs,
                  const std::vector<MutableTensorView> &outputs);

  void **pointers() { return table.data(); }

private:
  void addView(const void *data, const std::vector<int64_t> &sizes, const std::vector<int64_t> &strides);

  /// Descriptors and scalars, one after the other.
  std::vector<uint64_t> words;
  std::vector<void *> table;
};

} // namespace attn

#endif // ATTN_LIB_API_ARGUMENTS_H
