//===- Measure.cpp - one workload against its ceiling ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Measure.h"

using namespace attn;
using namespace attn::tool;

/// The highest rate that the workload's types could use. bf16 may be multiplied as it is or widened to f32; which of
/// the two is faster differs from core to core.
static Peak ceilingOf(const Workload &workload, const FunctionSignature &signature, PeakMeter &meter) {
  if (workload.isMemoryBound)
    return Peak::Read;
  for (const ValueType &type : signature.arguments) {
    if (type.dtype == DType::F64)
      return Peak::FmaF64;
    if (type.dtype == DType::BF16 && meter.measure(Peak::DotBf16) > meter.measure(Peak::FmaF32))
      return Peak::DotBf16;
    if (isFloat(type.dtype))
      break;
  }
  return Peak::FmaF32;
}

/// Zero where two times are compared: those of layers hold more than attention.
static Result<WorkCount> countWork(const Module &module, const Workload &workload, const Inputs &inputs) {
  if (workload.comparesUnfused)
    return WorkCount();
  const std::string &function = workload.function;
  auto work = module.countWork(function, inputs.arguments);
  if (work && work->kept == 0)
    return Error{ErrorCode::Unsupported, "expects an attention that keeps a key, but @" + function + " has none", {}};
  return work;
}

/// What the peers take for a workload.
static Result<std::vector<PeerTime>> measurePeers(const Peers &peers, const Measurement &measurement,
                                                  const Inputs &inputs, int64_t threads, const SampleOptions &sampling,
                                                  const std::function<double()> &ceiling) {
  const Workload &workload = measurement.workload;
  if (!workload.peers) {
    PeerTime none;
    none.peer = "all";
    none.problem = "expects the field peers in the workload, but it has none";
    return std::vector<PeerTime>{none};
  }
  auto task = makePeerTask(*workload.peers, inputs, measurement.work.kept, threads, sampling);
  if (!task)
    return task.error();
  return peers.measure(*task, ceiling);
}

/// takeSamples with a call of `between` after half of the repetitions.
static Result<Samples> takeHalves(const std::function<Status()> &run, const std::function<double()> &beside,
                                  const SampleOptions &sampling, const std::function<Status()> &between) {
  SampleOptions half = sampling;
  half.repeat = (sampling.repeat + 1) / 2;
  auto samples = takeSamples(run, beside, half);
  if (!samples)
    return samples.error();
  if (Status status = between(); !status)
    return status.error();
  half.repeat = sampling.repeat - half.repeat;
  if (half.repeat == 0)
    return samples;
  auto rest = takeSamples(run, beside, half);
  if (!rest)
    return rest.error();
  samples->counted.insert(samples->counted.end(), rest->counted.begin(), rest->counted.end());
  samples->voided += rest->voided;
  samples->isQuiet &= rest->isQuiet;
  return samples;
}

/// Repetitions of `fused`, and beside each one of the function with attention left as it is written.
static Result<Samples> takeBesideUnfused(const std::function<Status()> &fused, const Module &module,
                                         const Workload &workload, const Inputs &inputs, const RunOptions &options,
                                         const SampleOptions &sampling) {
  auto kernel = module.compile(workload.function, Target::host(), CompileOptions().fuse(false));
  if (!kernel)
    return kernel.error();
  auto outputs = makeOutputs(workload.data, module, kernel->signature(), inputs);
  if (!outputs)
    return outputs.error();
  std::vector<MutableTensorView> views = viewsOf(*outputs);
  auto unfused = [&]() -> Status {
    auto report = kernel->run(inputs.arguments, views, options);
    return report ? Status() : Status(report.error());
  };
  return takePairs(fused, unfused, sampling);
}

Result<std::vector<ResultError>> tool::compareResults(const Module &module, const std::string &function,
                                                      const Inputs &inputs, const std::vector<Array> &outputs,
                                                      int64_t rows) {
  std::vector<TensorView> views;
  for (const Array &array : outputs)
    views.push_back(array.view());
  auto comparisons = module.check(function, inputs.arguments, views, CheckOptions().rows(rows));
  if (!comparisons)
    return comparisons.error();
  std::vector<ResultError> errors;
  for (size_t i = 0; i < outputs.size(); ++i)
    errors.push_back({describe(outputs[i].dtype(), outputs[i].sizes()), (*comparisons)[i]});
  return errors;
}

/// Fills in the errors, or why there are none.
static void addErrors(Measurement &measurement, const Module &module, const Inputs &inputs,
                      const std::vector<Array> &outputs, int64_t rows) {
  auto errors = compareResults(module, measurement.workload.function, inputs, outputs, rows);
  if (errors)
    measurement.errors = std::move(*errors);
  else
    measurement.errorProblem = errors.error().message;
}

Result<Measurement> tool::measure(const Workload &workload, const RunOptions &options, const SampleOptions &sampling,
                                  PeakMeter &meter, const Peers *peers, std::optional<int64_t> errorRows) {
  auto module = Module::parseFile(workload.source);
  if (!module)
    return module.error();
  auto kernel = module->compile(workload.function);
  if (!kernel)
    return kernel.error();
  auto inputs = makeInputs(workload.data, kernel->signature());
  if (!inputs)
    return inputs.error();
  auto outputs = makeOutputs(workload.data, *module, kernel->signature(), *inputs);
  if (!outputs)
    return outputs.error();
  auto work = countWork(*module, workload, *inputs);
  if (!work)
    return work.error();

  Measurement measurement;
  measurement.workload = workload;
  measurement.work = *work;
  measurement.ceiling = ceilingOf(workload, kernel->signature(), meter);
  std::vector<MutableTensorView> views = viewsOf(*outputs);
  auto run = [&]() -> Status {
    auto report = kernel->run(inputs->arguments, views, options);
    return report ? Status() : Status(report.error());
  };
  auto ceiling = [&] { return meter.measure(measurement.ceiling); };
  auto runPeers = [&]() -> Status {
    auto times = measurePeers(*peers, measurement, *inputs, options.pool().threads(), sampling, ceiling);
    if (!times)
      return times.error();
    measurement.peers = std::move(*times);
    return {};
  };
  auto samples = workload.comparesUnfused ? takeBesideUnfused(run, *module, workload, *inputs, options, sampling)
                 : peers                  ? takeHalves(run, ceiling, sampling, runPeers)
                                          : takeSamples(run, ceiling, sampling);
  if (!samples)
    return samples.error();
  measurement.samples = std::move(*samples);
  if (errorRows)
    addErrors(measurement, *module, *inputs, *outputs, *errorRows);
  auto profile =
      profileRun(*module, workload.function, Target::host(), CompileOptions(), options, inputs->arguments, views);
  if (!profile)
    return profile.error();
  measurement.profile = std::move(*profile);
  return measurement;
}
