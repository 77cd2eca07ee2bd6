//===- GpuBench.cpp - workloads on a GPU -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GpuBench.h"

#include "DeviceData.h"
#include "GpuMatmul.h"
#include "Report.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <chrono>
#include <cstdio>

using namespace attn;
using namespace attn::tool;
namespace json = llvm::json;

namespace {

/// A workload's times; Sample::beside is the matrix product's GFLOP/s, 0 where there is no cuBLAS.
struct GpuMeasurement {
  Workload workload;
  WorkCount work;
  double compileMilliseconds = 0;
  Samples samples;
  std::vector<ResultError> errors;

  double gflops() const { return work.kept * 1e-9 / samples.medianSeconds(); }
};

} // namespace

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

static DType elementTypeOf(const Kernel &kernel) {
  for (const ValueType &type : kernel.signature().arguments)
    if (isFloat(type.dtype))
      return type.dtype;
  return DType::F32;
}

/// The kernel of a workload, and how long it took to compile.
static Result<Kernel> compileTimed(const Module &module, const Workload &workload, const Target &target,
                                   double &milliseconds) {
  auto start = std::chrono::steady_clock::now();
  auto kernel = module.compile(workload.function, target);
  milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return kernel;
}

/// matmul: null where there is no cuBLAS.
static Result<Samples> takeSamplesOf(const Kernel &kernel, const DeviceData &data, GpuMatmul *matmul,
                                     const SampleOptions &sampling) {
  RunOptions options = RunOptions().wait(false);
  auto run = [&]() -> Status {
    auto report = kernel.run(data.arguments(), data.results(), options);
    return report ? Status() : Status(report.error());
  };
  DType dtype = elementTypeOf(kernel);
  auto beside = [&]() -> Result<double> { return matmul ? matmul->measure(dtype) : Result<double>(0.0); };
  return takeDeviceSamples(kernel.device(), run, beside, sampling);
}

static Result<GpuMeasurement> measureOnGpu(const Workload &workload, const BenchSettings &settings, GpuMatmul *matmul) {
  auto module = Module::parseFile(workload.source);
  if (!module)
    return module.error();
  GpuMeasurement result;
  result.workload = workload;
  auto kernel = compileTimed(*module, workload, Target::named(settings.target), result.compileMilliseconds);
  if (!kernel)
    return kernel.error();
  auto inputs = makeInputs(workload.data, kernel->signature());
  if (!inputs)
    return inputs.error();
  auto outputs = makeOutputs(workload.data, *module, kernel->signature(), *inputs);
  if (!outputs)
    return outputs.error();
  auto work = module->countWork(workload.function, inputs->arguments);
  if (!work)
    return work.error();
  result.work = *work;
  auto data = DeviceData::create(kernel->device(), *inputs, *outputs);
  if (!data)
    return data.error();
  auto samples = takeSamplesOf(*kernel, *data, matmul, settings.sampling);
  if (!samples)
    return samples.error();
  result.samples = std::move(*samples);
  if (Status status = data->download(); !status)
    return status.error();
  if (!settings.errorRows)
    return result;
  auto errors = compareResults(*module, workload.function, *inputs, *outputs, *settings.errorRows);
  if (!errors)
    return errors.error();
  result.errors = std::move(*errors);
  return result;
}

//===----------------------------------------------------------------------===//
// Report
//===----------------------------------------------------------------------===//

static Row rowOf(const GpuMeasurement &measurement) {
  double speed = measurement.gflops(), matmul = measurement.samples.medianBeside();
  const Workload &workload = measurement.workload;
  return {workload.name,
          workload.title,
          llvm::formatv("{0:f3}", measurement.samples.medianSeconds() * 1e3).str(),
          llvm::formatv("{0:f1}", speed * 1e-3).str(),
          matmul > 0 ? llvm::formatv("{0:f1}", matmul * 1e-3).str() : "n/a",
          matmul > 0 ? llvm::formatv("{0:f1} %", 100 * speed / matmul).str() : "n/a",
          workload.reach > 0 ? llvm::formatv("{0:f1} %", 100 * workload.reach).str() : "",
          llvm::formatv("{0:f0}", measurement.compileMilliseconds).str()};
}

static std::string formatGpuTable(const std::vector<GpuMeasurement> &measurements) {
  std::vector<Row> rows = {{"", "workload", "ms", "TFLOP/s", "matmul", "share", "reach", "compile ms"}};
  std::vector<Row> errors = {{"", "result", "elements", "largest error", "allowed", ""}};
  for (const GpuMeasurement &measurement : measurements) {
    rows.push_back(rowOf(measurement));
    for (const ResultError &error : measurement.errors)
      errors.push_back({measurement.workload.name, error.type, std::to_string(error.comparison.compared),
                        llvm::formatv("{0:e1}", error.comparison.maxError).str(),
                        llvm::formatv("{0:e1}", error.comparison.allowed).str(),
                        error.comparison.pass ? "" : std::to_string(error.comparison.wrong) + " wrong"});
  }
  return alignRows(rows, /*leftColumns=*/2) + (errors.size() > 1 ? alignRows(errors, /*leftColumns=*/2) : "");
}

static std::string formatGpuJson(const std::string &gpu, const BenchSettings &settings,
                                 const std::vector<GpuMeasurement> &measurements) {
  json::Array workloads;
  for (const GpuMeasurement &measurement : measurements) {
    json::Array repetitions;
    for (const Sample &sample : measurement.samples.counted)
      repetitions.push_back(json::Object{{"seconds", sample.seconds}, {"matmulGflops", sample.beside}});
    workloads.push_back(json::Object{{"name", measurement.workload.name},
                                     {"title", measurement.workload.title},
                                     {"medianSeconds", measurement.samples.medianSeconds()},
                                     {"bestSeconds", measurement.samples.bestSeconds()},
                                     {"gflops", measurement.gflops()},
                                     {"matmulGflops", measurement.samples.medianBeside()},
                                     {"keptOperations", measurement.work.kept},
                                     {"compileMilliseconds", measurement.compileMilliseconds},
                                     {"repetitions", std::move(repetitions)}});
  }
  json::Value root = json::Object{{"gpu", gpu},
                                  {"repeat", settings.sampling.repeat},
                                  {"leastSeconds", settings.sampling.leastSeconds},
                                  {"workloads", std::move(workloads)}};
  return llvm::formatv("{0:2}\n", root).str();
}

/// An error that names the workloads with a result out of tolerance.
static Status checkErrors(const std::vector<GpuMeasurement> &measurements) {
  std::string wrong;
  for (const GpuMeasurement &measurement : measurements)
    for (const ResultError &error : measurement.errors)
      if (!error.comparison.pass)
        wrong += "; " + measurement.workload.name + ": " + error.comparison.message;
  if (wrong.empty())
    return {};
  return Error{ErrorCode::CompileFailed, "the results differ from the reference's: " + wrong.substr(2), {}};
}

Status tool::runGpuBench(const BenchSettings &settings, const std::vector<Workload> &workloads) {
  auto device = Device::open(Target::named(settings.target));
  if (!device)
    return device.error();
  std::string gpu = device->describe();
  auto matmul = GpuMatmul::create();
  if (!matmul)
    std::fprintf(stderr, "no matrix products beside: %s\n", matmul.error().message.c_str());
  std::vector<GpuMeasurement> measurements;
  for (const Workload &workload : workloads) {
    std::fprintf(stderr, "%s (%zu of %zu): %s\n", workload.name.c_str(), measurements.size() + 1, workloads.size(),
                 workload.title.c_str());
    auto measurement = measureOnGpu(workload, settings, matmul ? &*matmul : nullptr);
    if (!measurement) {
      Error error = measurement.error();
      error.message = workload.name + ": " + error.message;
      return error;
    }
    measurements.push_back(std::move(*measurement));
  }
  std::printf("%s, %lld repetitions of at least %.0f ms\n%s", gpu.c_str(),
              static_cast<long long>(settings.sampling.repeat), settings.sampling.leastSeconds * 1e3,
              formatGpuTable(measurements).c_str());
  if (Status status = writeText(settings.json, formatGpuJson(gpu, settings, measurements)); !status)
    return status;
  return checkErrors(measurements);
}
