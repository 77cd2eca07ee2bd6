//===- DeviceData.cpp - arguments where a kernel runs ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "DeviceData.h"

#include <algorithm>
#include <cmath>

using namespace attn;
using namespace attn::tool;

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// A buffer with the array's bytes.
static Result<DeviceBuffer> uploadArray(const Device &device, const Array &array) {
  auto buffer = DeviceBuffer::create(device, array.bytes());
  if (!buffer)
    return buffer;
  if (Status status = buffer->upload(array.data(), array.bytes()); !status)
    return status.error();
  return buffer;
}

static MutableTensorView viewOf(const DeviceBuffer &buffer, const TensorView &host) {
  return {buffer.data(), host.dtype, host.sizes, host.strides, host.capacity};
}

Result<DeviceData> DeviceData::create(const Device &device, const Inputs &inputs, std::vector<Array> &outputs) {
  DeviceData data;
  data.outputs = &outputs;
  data.inputViews = inputs.arguments;
  data.outputViews = viewsOf(outputs);
  if (device.usesHostMemory())
    return data;
  // Tensors among the arguments are views of the arrays.
  for (Argument &argument : data.inputViews) {
    if (argument.kind() != Argument::Kind::Tensor)
      continue;
    auto array = std::find_if(inputs.arrays.begin(), inputs.arrays.end(),
                              [&](const Array &candidate) { return candidate.data() == argument.tensor().data; });
    if (array == inputs.arrays.end() || array->bytes() == 0)
      continue;
    auto buffer = uploadArray(device, *array);
    if (!buffer)
      return buffer.error();
    argument = Argument(viewOf(*buffer, argument.tensor()));
    data.inputBuffers.push_back(*buffer);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    auto buffer = uploadArray(device, outputs[i]);
    if (!buffer)
      return buffer.error();
    data.outputViews[i] = viewOf(*buffer, data.outputViews[i]);
    data.outputBuffers.push_back(*buffer);
  }
  return data;
}

Status DeviceData::download() const {
  for (size_t i = 0; i < outputBuffers.size(); ++i)
    if (Status status = outputBuffers[i].download((*outputs)[i].data(), (*outputs)[i].bytes()); !status)
      return status;
  return {};
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

/// Seconds of one of `count` runs.
static Result<double> timeRuns(const Device &device, const std::function<Status()> &run, int64_t count) {
  auto seconds = device.time([&]() -> Status {
    for (int64_t n = 0; n < count; ++n)
      if (Status status = run(); !status)
        return status;
    return {};
  });
  if (!seconds)
    return seconds;
  return *seconds / static_cast<double>(count);
}

Result<Samples> tool::takeDeviceSamples(const Device &device, const std::function<Status()> &run,
                                        const std::function<Result<double>()> &beside, const SampleOptions &options) {
  if (auto cold = timeRuns(device, run, 1); !cold)
    return cold.error();
  auto warm = timeRuns(device, run, 1);
  if (!warm)
    return warm.error();
  double runs = std::ceil(options.leastSeconds / std::max(*warm, 1e-6));
  Samples samples;
  for (int64_t n = 0; n < options.repeat; ++n) {
    auto seconds = timeRuns(device, run, std::max<int64_t>(1, std::llround(runs)));
    if (!seconds)
      return seconds.error();
    auto other = beside();
    if (!other)
      return other.error();
    samples.counted.push_back({*seconds, *other, /*disturbance=*/0});
  }
  return samples;
}
