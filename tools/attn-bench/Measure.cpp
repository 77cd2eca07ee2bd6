//===- Measure.cpp - one workload against its ceiling ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Measure.h"

using namespace attn;
using namespace attn::tool;

double Measurement::speed() const {
  return ceiling == Peak::Read ? work.bytes * 1e-9 / samples.medianSeconds() : gflops();
}

/// 16-bit inputs are computed in f32 where the CPU has no dot product of them.
static Peak ceilingOf(const Workload &workload, const FunctionSignature &signature) {
  if (workload.isMemoryBound)
    return Peak::Read;
  for (const ValueType &type : signature.arguments) {
    if (type.dtype == DType::F64)
      return Peak::FmaF64;
    if (type.dtype == DType::BF16 && isAvailable(Peak::DotBf16))
      return Peak::DotBf16;
    if (isFloat(type.dtype))
      break;
  }
  return Peak::FmaF32;
}

static Result<WorkCount> countWork(const Module &module, const std::string &function, const Inputs &inputs) {
  auto work = module.countWork(function, inputs.arguments);
  if (work && work->kept == 0)
    return Error{ErrorCode::Unsupported, "expects an attention that keeps a key, but @" + function + " has none", {}};
  return work;
}

Result<Measurement> tool::measure(const Workload &workload, const RunOptions &options, const SampleOptions &sampling,
                                  PeakMeter &meter) {
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
  auto work = countWork(*module, workload.function, *inputs);
  if (!work)
    return work.error();

  Measurement measurement;
  measurement.workload = workload;
  measurement.work = *work;
  measurement.ceiling = ceilingOf(workload, kernel->signature());
  for (const StageTime &stage : kernel->stages())
    measurement.compileMilliseconds += stage.milliseconds;
  std::vector<MutableTensorView> views = viewsOf(*outputs);
  auto run = [&]() -> Status {
    auto report = kernel->run(inputs->arguments, views, options);
    return report ? Status() : Status(report.error());
  };
  auto samples = takeSamples(run, [&] { return meter.measure(measurement.ceiling); }, sampling);
  if (!samples)
    return samples.error();
  measurement.samples = std::move(*samples);
  auto profile =
      profileRun(*module, workload.function, Target::host(), CompileOptions(), options, inputs->arguments, views);
  if (!profile)
    return profile.error();
  measurement.profile = std::move(*profile);
  return measurement;
}
