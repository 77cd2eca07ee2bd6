//===- Evaluate.cpp - the reference interpreter on the caller's data ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Arguments.h"
#include "Diagnostics.h"
#include "Elements.h"
#include "ModuleImpl.h"

#include "attn/Pipelines/PassChecks.h"
#include "attn/Pipelines/Pipelines.h"
#include "attn/Reference/Compare.h"
#include "attn/Reference/Interpreter.h"
#include "mlir/Pass/PassManager.h"
#include <cmath>

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

/// A boolean keeps its byte.
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
    result.integer = load<uint8_t>(data, index);
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

/// What a caller hands over: any byte but 0 is true. (What compiled code wrote has to be 0 or 1.)
static reference::Tensor readInput(const TensorView &view, mlir::Type elementType) {
  reference::Tensor result = readTensor(view, elementType);
  if (view.dtype == DType::I1)
    for (reference::Scalar &element : result.data)
      element.integer = element.integer != 0;
  return result;
}

static std::vector<reference::Tensor> readInputs(mlir::func::FuncOp function, const FunctionSignature &signature,
                                                 const std::vector<Argument> &inputs) {
  std::vector<reference::Tensor> result;
  for (size_t i = 0; i < inputs.size(); ++i) {
    mlir::Type elementType = elementTypeOf(function.getArgumentTypes()[i]);
    DType dtype = signature.arguments[i].dtype;
    if (inputs[i].kind() == Argument::Kind::Tensor) {
      result.push_back(readInput(inputs[i].tensor(), elementType));
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

/// `function` has the signature.
static Result<reference::Evaluation> runReference(const Module::Impl &module, mlir::func::FuncOp function,
                                                  const FunctionSignature &signature,
                                                  const std::vector<Argument> &inputs, bool roundLikeUnfused,
                                                  int64_t sampleRows = 0) {
  DiagnosticCollector diagnostics(&module.context, nullptr);
  ThreadedContext threaded(module.context);
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
  auto evaluation = runReference(*impl, impl->lookup(**signature), **signature, inputs, /*roundLikeUnfused=*/false);
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
  return {comparison.pass,    comparison.maxError,  comparison.allowed,     comparison.numWrong,
          comparison.message, comparison.meanError, comparison.numCompared, 0};
}

namespace {

/// What the reference makes of a function, in both of its precisions.
struct BothPrecisions {
  reference::Evaluation exact, rounded;
};

} // namespace

static Result<BothPrecisions> runBoth(const Module::Impl &module, mlir::func::FuncOp function,
                                      const FunctionSignature &signature, const std::vector<Argument> &inputs,
                                      int64_t rows) {
  auto exact = runReference(module, function, signature, inputs, /*roundLikeUnfused=*/false, rows);
  if (!exact)
    return exact.error();
  auto rounded = runReference(module, function, signature, inputs, /*roundLikeUnfused=*/true, rows);
  if (!rounded)
    return rounded.error();
  return BothPrecisions{std::move(*exact), std::move(*rounded)};
}

/// The same of the function with its attention fused, as far as both can be had.
static std::optional<BothPrecisions> runFused(const Module::Impl &module, const FunctionSignature &signature,
                                              const std::vector<Argument> &inputs, int64_t rows) {
  mlir::OwningOpRef<mlir::ModuleOp> fused = module.partOf(signature).clone();
  DiagnosticCollector diagnostics(&module.context, nullptr);
  mlir::PassManager passes(&module.context);
  checkPasses(passes);
  buildFusionPipeline(passes);
  if (mlir::failed(passes.run(*fused)))
    return std::nullopt;
  auto run = runBoth(module, fused->lookupSymbol<mlir::func::FuncOp>(signature.name), signature, inputs, rows);
  return run ? std::optional(std::move(*run)) : std::nullopt;
}

static bool isNan(const reference::Tensor &tensor, size_t position) {
  return tensor.isReal() && std::isnan(tensor.data[position].real);
}

/// True if the reference has NaN where the kernel wrote a number.
static bool lacksNumbers(const reference::Tensor &actual, const reference::Tensor &exact) {
  for (size_t k = 0; k < std::min(actual.data.size(), exact.data.size()); ++k)
    if (isNan(exact, k) && !isNan(actual, k))
      return true;
  return false;
}

/// Takes the fused function's numbers where the graph has NaN and the kernel wrote a number. Returns how many.
static int64_t takeNumbers(const reference::Tensor &actual, size_t result, const BothPrecisions &fused,
                           BothPrecisions &graph) {
  int64_t taken = 0;
  reference::Tensor &exact = graph.exact.results[result];
  for (size_t k = 0; k < exact.data.size(); ++k) {
    if (!isNan(exact, k) || isNan(actual, k) || isNan(fused.exact.results[result], k))
      continue;
    exact.data[k] = fused.exact.results[result].data[k];
    graph.rounded.results[result].data[k] = fused.rounded.results[result].data[k];
    ++taken;
  }
  return taken;
}

/// Rows without keys are NaN in an unfused graph and 0 in attention: the one difference that fusion may make.
static Comparison compareResult(const reference::Tensor &actual, size_t result, BothPrecisions &graph,
                                llvm::function_ref<const std::optional<BothPrecisions> &()> runFused) {
  int64_t taken = 0;
  if (actual.shape == graph.exact.results[result].shape && lacksNumbers(actual, graph.exact.results[result]))
    if (const std::optional<BothPrecisions> &fused = runFused())
      taken = takeNumbers(actual, result, *fused, graph);
  Comparison comparison =
      convert(reference::compare(actual, graph.exact.results[result], graph.rounded.results[result]));
  comparison.elementsWithoutKeys = taken;
  if (taken)
    comparison.message +=
        "; " + std::to_string(taken) +
        " elements are NaN in the unfused graph, for rows without keys, and compared with fused attention's";
  return comparison;
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
  auto graph = runBoth(*impl, impl->lookup(**signature), **signature, inputs, options.rows());
  if (!graph)
    return graph.error();
  std::optional<std::optional<BothPrecisions>> fused;
  auto runFusedOnce = [&]() -> const std::optional<BothPrecisions> & {
    if (!fused)
      fused = runFused(*impl, **signature, inputs, options.rows());
    return *fused;
  };
  std::vector<Comparison> result;
  for (size_t i = 0; i < outputs.size(); ++i) {
    mlir::Type element = graph->exact.results[i].elementType;
    result.push_back(compareResult(readTensor(outputs[i], element), i, *graph, runFusedOnce));
  }
  return result;
}
