//===- Driver.cpp - what attn-run does ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Driver.h"

#include "Bench.h"
#include "CrashReport.h"
#include "DeviceData.h"
#include "Profile.h"

#include <cstdio>

using namespace attn;
using namespace attn::tool;

static std::string resultName(size_t index) { return "result " + std::to_string(index); }

/// Compares all results, prints a line for each, and fails if one does.
static Status checkOutputs(const Module &module, const Kernel &kernel, const Inputs &inputs,
                           std::vector<Array> &outputs) {
  std::vector<TensorView> views;
  for (const Array &array : outputs)
    views.push_back(array.view());
  auto comparisons = module.check(kernel.signature().name, inputs.arguments, views);
  if (!comparisons)
    return comparisons.error();
  std::string failed;
  for (size_t i = 0; i < comparisons->size(); ++i) {
    const Comparison &comparison = (*comparisons)[i];
    std::printf("check: %s %s: %s, max error %.3g, allowed %.3g", comparison.pass ? "PASS" : "FAIL",
                resultName(i).c_str(), describe(outputs[i].dtype(), outputs[i].sizes()).c_str(), comparison.maxError,
                comparison.allowed);
    if (int64_t leftOut = outputs[i].size() - comparison.compared; leftOut > 0)
      std::printf("; %lld elements are unspecified, since dropped keys or values are not finite, and left out",
                  static_cast<long long>(leftOut));
    std::printf("\n");
    if (comparison.elementsWithoutKeys)
      std::printf("check: of %s, %lld elements are NaN in the unfused graph, for rows without keys; compared with what "
                  "attention gives there\n",
                  resultName(i).c_str(), static_cast<long long>(comparison.elementsWithoutKeys));
    if (!comparison.pass)
      failed += (failed.empty() ? "" : "; ") + resultName(i) + ": " + comparison.message;
  }
  if (!failed.empty())
    return Error{ErrorCode::CompileFailed, "the results differ from the reference's: " + failed, {}};
  return {};
}

/// Writes what the reference makes of the inputs, before any rounding to the results' types.
static Status writeReference(const std::string &name, const Module &module, const Kernel &kernel,
                             const Inputs &inputs) {
  auto run = module.evaluate(kernel.signature().name, inputs.arguments);
  if (!run)
    return run.error();
  std::vector<Array> arrays;
  for (const ReferenceTensor &tensor : run->results) {
    auto array = Array::create(isFloat(tensor.dtype) ? DType::F64 : tensor.dtype, tensor.sizes);
    if (!array)
      return array.error();
    for (size_t k = 0; k < tensor.reals.size(); ++k)
      array->setNumber(k, tensor.reals[k]);
    for (size_t k = 0; k < tensor.integers.size(); ++k)
      array->setInteger(k, tensor.integers[k]);
    arrays.push_back(std::move(*array));
  }
  return writeOutputs("--reference-output", name, arrays);
}

/// Everything after the first run.
static Status report(const Settings &settings, const Module &module, const Kernel &kernel, const RunOptions &options,
                     const Inputs &inputs, std::vector<Array> &outputs, const DeviceData &data) {
  if (!settings.output.empty())
    if (Status status = writeOutputs("--output", settings.output, outputs); !status)
      return status;
  if (!settings.referenceOutput.empty())
    if (Status status = writeReference(settings.referenceOutput, module, kernel, inputs); !status)
      return status;
  for (size_t i = 0; settings.print && i < outputs.size(); ++i)
    std::fputs(formatArray(resultName(i), outputs[i]).c_str(), stdout);
  if (settings.check)
    if (Status status = checkOutputs(module, kernel, inputs, outputs); !status)
      return status;
  if (settings.profile) {
    auto profile = profileRun(module, kernel.signature().name, settings.target, settings.compile, options,
                              inputs.arguments, viewsOf(outputs));
    if (!profile)
      return profile.error();
    std::fputs(formatProfile(*profile, "profile: ").c_str(), stdout);
  }
  if (!settings.bench)
    return {};
  if (!kernel.device().usesHostMemory())
    return runDeviceBench(module, kernel, settings.compile, options, inputs, data, settings.repeat);
  return runBench(module, kernel, settings.compile, options, inputs, viewsOf(outputs), settings.repeat);
}

static Status compileAndRun(const Settings &settings, const Module &module, const CompileOptions &compileOptions) {
  auto signature = module.function(settings.function);
  if (!signature)
    return signature.error();
  auto kernel = module.compile(signature->name, settings.target, compileOptions);
  if (!kernel)
    return kernel.error();
  Activity activity("running @" + signature->name + " of " + settings.file);
  auto inputs = makeInputs(settings.data, *signature);
  if (!inputs)
    return inputs.error();
  auto outputs = makeOutputs(settings.data, module, *signature, *inputs);
  if (!outputs)
    return outputs.error();
  RunOptions options;
  if (settings.threads != 1)
    options.threads(settings.threads);
  auto data = DeviceData::create(kernel->device(), *inputs, *outputs);
  if (!data)
    return data.error();
  auto run = kernel->run(data->arguments(), data->results(), options);
  if (!run)
    return run.error();
  if (Status status = data->download(); !status)
    return status;
  return report(settings, module, *kernel, options, *inputs, *outputs, *data);
}

static Result<Module> parse(const std::string &file, const ParseOptions &options) {
  Activity activity("parsing " + file);
  return Module::parseFile(file, options);
}

Status tool::runTool(const Settings &settings) {
  auto printRemark = [](const Diagnostic &diagnostic) { std::fprintf(stderr, "%s\n", diagnostic.str().c_str()); };
  ParseOptions parseOptions;
  CompileOptions compileOptions = settings.compile;
  if (settings.remarks) {
    parseOptions.onDiagnostic = printRemark;
    compileOptions.onDiagnostic(printRemark);
  }
  auto module = parse(settings.file, parseOptions);
  if (!module)
    return module.error();
  Activity activity("compiling " + settings.file);
  if (!settings.emit)
    return compileAndRun(settings, *module, compileOptions);
  auto text = module->emit(settings.function, *settings.emit, settings.target, compileOptions);
  if (!text)
    return text.error();
  std::fputs(text->c_str(), stdout);
  return {};
}
