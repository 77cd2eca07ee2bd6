//===- DeviceData.h - arguments where a kernel runs ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_SUPPORT_DEVICEDATA_H
#define ATTN_TOOLS_SUPPORT_DEVICEDATA_H

#include "Data.h"
#include "Samples.h"

namespace attn::tool {

/// Arguments and results of a kernel where it runs: the host's own memory, or copies on a GPU.
class DeviceData {
public:
  /// Uploads the inputs, and the outputs with what they hold. Both must outlive the result.
  static Result<DeviceData> create(const Device &device, const Inputs &inputs, std::vector<Array> &outputs);

  const std::vector<Argument> &arguments() const { return inputViews; }
  const std::vector<MutableTensorView> &results() const { return outputViews; }

  /// Copies the results to the outputs.
  Status download() const;

private:
  std::vector<Array> *outputs = nullptr;
  std::vector<DeviceBuffer> inputBuffers, outputBuffers;
  std::vector<Argument> inputViews;
  std::vector<MutableTensorView> outputViews;
};

/// takeSamples by the device's clock; `run` must not wait for the device (RunOptions::wait). What else uses the CPUs
/// disturbs no GPU.
Result<Samples> takeDeviceSamples(const Device &device, const std::function<Status()> &run,
                                  const std::function<Result<double>()> &beside, const SampleOptions &options);

} // namespace attn::tool

#endif // ATTN_TOOLS_SUPPORT_DEVICEDATA_H
