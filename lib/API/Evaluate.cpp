//===- Evaluate.cpp - the reference interpreter on the caller's data ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Arguments.h"
#include "Diagnostics.h"
#include "Elements.h"
#include "ModuleImpl.h"

#include "attn/Reference/Compare.h"
#include "attn/Reference/Interpreter.h"

using namespace attn;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// The element of a buffer of T at an index.
template <typename T> static T load(const void *data, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char *>(data) + index * sizeof(T), sizeof(T));
  return value;
}

static reference::Scalar readElement(DType dtype, const void *data, int64_t index) {
  reference::Scalar result;
  result.integer = 0;
  switch (dtype) {
  case DType::F16:
    result.real = static_cast<float>(load<Float16>(data, index));
    break;
  case DType::BF16:
    result.real = static_cast<float>(load<BFloat16>(data, index));
    break;
  case DType::F32:
    result.real = load<float>(data, index);
    break;
  case DType::F64:
    result.real = load<double>(data, index);
    break;
  case DType::I1:
    result.integer = load<uint8_t>(data, index) & 1;
    break;
  case DType::I8:
    result.integer = load<int8_t>(data, index);
    break;
  case DType::I16:
    result.integer = load<int16_t>(data, index);
    break;
  case DType::I32:
    result.integer = load<int32_t>(data, index);
    break;
  case DType::I64:
    result.integer = load<int64_t>(data, index);
    break;
  case DType::Other:
    break;
  }
  return result;
}

reference::Tensor attn::readTensor(const TensorView &view, mlir::Type elementType) {
  reference::Tensor result{elementType, view.sizes, {}};
  int64_t count = countElements(view.sizes);
  result.data.reserve(count);
  std::vector<int64_t> index(view.sizes.size(), 0);
  int64_t offset = 0;
  for (int64_t n = 0; n < count; ++n) {
    result.data.push_back(readElement(view.dtype, view.data, offset));
    for (size_t d = index.size(); d-- > 0;) {
      offset += view.strides[d];
      if (++index[d] < view.sizes[d])
        break;
      offset -= index[d] * view.strides[d];
      index[d] = 0;
    }
  }
  return result;
}

static mlir::Type elementTypeOf(mlir::Type type) {
  auto shaped = llvm::dyn_cast<mlir::ShapedType>(type);
  return shaped ? shaped.getElementType() : type;
}

static std::vector<reference::Tensor> readInputs(mlir::func::FuncOp function, const FunctionSignature &signature,
                                                 const std::vector<Argument> &inputs) {
  std::vector<reference::Tensor> result;
  for (size_t i = 0; i < inputs.size(); ++i) {
    mlir::Type elementType = elementTypeOf(function.getArgumentTypes()[i]);
    DType dtype = signature.arguments[i].dtype;
    if (inputs[i].kind() == Argument::Kind::Tensor) {
      result.push_back(readTensor(inputs[i].tensor(), elementType));
      continue;
    }
    uint64_t word = encodeScalar(inputs[i], dtype);
    result.push_back({elementType, {}, {readElement(dtype, &word, 0)}});
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

/// Lets the interpreter's threads use the context while it lives; a context that compiles has its threading off.
class ThreadedContext {
public:
  explicit ThreadedContext(mlir::MLIRContext &context) : context(context) { context.enableMultithreading(); }
  ~ThreadedContext() { context.disableMultithreading(); }

private:
  mlir::MLIRContext &context;
};

static Result<reference::Evaluation> runReference(const Module::Impl &module, const FunctionSignature &signature,
                                                  const std::vector<Argument> &inputs, bool roundLikeUnfused,
                                                  int64_t sampleRows = 0) {
  DiagnosticCollector diagnostics(&module.context, nullptr);
  ThreadedContext threaded(module.context);
  mlir::func::FuncOp function = module.lookup(signature);
  reference::Options options;
  options.roundLikeUnfused = roundLikeUnfused;
  options.sampleRows = sampleRows;
  auto evaluation = reference::evaluate(function, readInputs(function, signature, inputs), options);
  if (mlir::failed(evaluation))
    return diagnostics.takeError(ErrorCode::KernelRefused, "the reference interpreter failed without a message");
  return std::move(*evaluation);
}

static ReferenceTensor convert(const reference::Tensor &tensor) {
  ReferenceTensor result;
  result.dtype = convertElementType(tensor.elementType);
  result.sizes = tensor.shape;
  for (const reference::Scalar &element : tensor.data) {
    if (tensor.isReal())
      result.reals.push_back(element.real);
    else
      result.integers.push_back(element.integer);
  }
  return result;
}

static Status checkReference(const FunctionSignature &signature, const std::vector<Argument> &inputs) {
  Status status = checkSupported(signature);
  return status ? checkInputs(signature, inputs) : status;
}

Result<ReferenceRun> Module::evaluate(std::string_view name, const std::vector<Argument> &inputs) const {
  auto signature = impl->find(name);
  if (!signature)
    return signature.error();
  if (Status status = checkReference(**signature, inputs); !status)
    return status.error();
  std::lock_guard<std::mutex> lock(impl->mutex);
  auto evaluation = runReference(*impl, **signature, inputs, /*roundLikeUnfused=*/false);
  if (!evaluation)
    return evaluation.error();
  ReferenceRun run;
  for (const reference::Tensor &result : evaluation->results)
    run.results.push_back(convert(result));
  for (const reference::OutOfBounds &clamped : evaluation->outOfBounds)
    run.clamped.push_back({Diagnostic::Severity::Warning,
                           clamped.message + " (" + std::to_string(clamped.count) + " times)",
                           convertLocation(clamped.location)});
  return run;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

/// Outputs as a kernel wrote them: the rules of inputs, with the types of the results.
static Status checkOutputs(const FunctionSignature &signature, const std::vector<TensorView> &outputs) {
  FunctionSignature flipped = signature;
  flipped.arguments = signature.results;
  for (ValueType &type : flipped.arguments)
    type.isTensor = true;
  return checkInputs(flipped, std::vector<Argument>(outputs.begin(), outputs.end()));
}

static Comparison convert(const reference::Comparison &comparison) {
  return {comparison.pass,    comparison.maxError,  comparison.allowed,    comparison.numWrong,
          comparison.message, comparison.meanError, comparison.numCompared};
}

Result<std::vector<Comparison>> Module::check(std::string_view name, const std::vector<Argument> &inputs,
                                              const std::vector<TensorView> &outputs,
                                              const CheckOptions &options) const {
  if (options.rows() < 0)
    return Error{ErrorCode::InvalidArgument,
                 "a sample of rows expects at least 0 of them, but got " + std::to_string(options.rows()),
                 {}};
  auto signature = impl->find(name);
  if (!signature)
    return signature.error();
  if (Status status = checkReference(**signature, inputs); !status)
    return status.error();
  if (Status status = checkOutputs(**signature, outputs); !status)
    return status.error();
  std::lock_guard<std::mutex> lock(impl->mutex);
  auto exact = runReference(*impl, **signature, inputs, /*roundLikeUnfused=*/false, options.rows());
  if (!exact)
    return exact.error();
  auto rounded = runReference(*impl, **signature, inputs, /*roundLikeUnfused=*/true, options.rows());
  if (!rounded)
    return rounded.error();
  std::vector<Comparison> result;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const reference::Tensor &wanted = exact->results[i];
    result.push_back(
        convert(reference::compare(readTensor(outputs[i], wanted.elementType), wanted, rounded->results[i])));
  }
  return result;
}
