//===- Kernel.cpp - running compiled functions -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelImpl.h"

#include "Arguments.h"
#include "attn/Runtime.h"

#include <chrono>
#include <cstdio>

using namespace attn;

const char *attn::toString(Stage stage) {
  switch (stage) {
  case Stage::Graph:
    return "graph";
  case Stage::Tiled:
    return "tiled";
  case Stage::Target:
    return "target";
  case Stage::LlvmDialect:
    return "llvm-dialect";
  case Stage::Llvm:
    return "llvm";
  case Stage::Assembly:
    return "asm";
  }
  return "unknown";
}

RunOptions &RunOptions::pool(ThreadPool newPool) {
  threadPool = std::move(newPool);
  poolStatus = Status();
  return *this;
}

RunOptions &RunOptions::threads(int64_t n) {
  Result<ThreadPool> created = ThreadPool::create(n);
  threadPool = created ? *created : ThreadPool();
  poolStatus = created ? Status() : Status(created.error());
  return *this;
}

/// The API's code for a failure inside of attn_rt_call.
static ErrorCode convertCode(int32_t code) {
  switch (code) {
  case ATTN_RT_OUT_OF_MEMORY:
    return ErrorCode::OutOfMemory;
  case ATTN_RT_SCRATCH_LIMIT:
    return ErrorCode::ScratchLimit;
  case ATTN_RT_EXECUTOR_FAILED:
    return ErrorCode::ExecutorFailed;
  case ATTN_RT_DEVICE_FAILED:
    return ErrorCode::DeviceFailed;
  case ATTN_RT_OUT_OF_BOUNDS:
    return ErrorCode::OutOfBounds;
  default:
    return ErrorCode::KernelRefused;
  }
}

/// The runtime's callback: user is the RunReport.
static void addLoop(void *user, const attn_rt_loop_profile *profile) {
  LoopProfile loop{1e-9 * static_cast<double>(profile->wall_ns), profile->count, {}};
  for (int64_t w = 0; w < profile->worker_count; ++w) {
    const attn_rt_worker_profile &worker = profile->workers[w];
    loop.workers.push_back({1e-9 * static_cast<double>(worker.busy_ns), worker.items, worker.kv_tiles});
  }
  static_cast<RunReport *>(user)->loops.push_back(std::move(loop));
}

/// The rules of RunOptions.
static Status checkRunOptions(const RunOptions &options) {
  if (!options.status())
    return options.status();
  if (options.maxScratchBytes() < 0)
    return Error{ErrorCode::InvalidArgument,
                 "maxScratchBytes expects at least 0, but got " + std::to_string(options.maxScratchBytes()) +
                     "; use 0 for no limit",
                 {}};
  if (options.leastWork() < 0)
    return Error{ErrorCode::InvalidArgument,
                 "leastWork expects at least 0, but got " + std::to_string(options.leastWork()) +
                     "; use 0 for the default",
                 {}};
  return {};
}

/// Refuses memory that the kernel's GPU cannot use: it would end all work of the process on it.
static Status checkDeviceMemory(const Kernel::Impl &kernel, const std::vector<Argument> &inputs,
                                const std::vector<MutableTensorView> &outputs) {
  if (!kernel.program)
    return {};
  const ComputeDevice &device = *kernel.device->implementation()->device;
  auto check = [&](const char *kind, size_t index, const void *data) -> Status {
    if (!data || device.canUse(data))
      return {};
    return Error{ErrorCode::InvalidArgument,
                 std::string(kind) + " " + std::to_string(index) + " expects memory of " + device.describe() +
                     ", but got memory of the host; upload it to an attn::DeviceBuffer",
                 {}};
  };
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].kind() == Argument::Kind::Tensor)
      if (Status status = check("argument", i, inputs[i].tensor().data); !status)
        return status;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (Status status = check("output", i, outputs[i].data); !status)
      return status;
  return {};
}

static void copyCounts(const attn_rt_call_result &result, RunReport &report) {
  report.allocations = result.allocations;
  report.allocatedBytes = result.allocated_bytes;
  report.scratchBytes = result.scratch_bytes;
  report.parallelLoops = result.parallel_loops;
  report.tiles = result.tiles;
  report.kvTiles = result.kv_tiles;
  report.launches = result.launches;
}

/// Runs the entry on arguments that have been checked.
static Status call(const Kernel::Impl &kernel, const RunOptions &options, void **arguments, RunReport &report) {
  attn_rt_profiler profiler{&report, addLoop};
  attn_rt_call_options callOptions{options.pool().handle(), options.maxScratchBytes(),
                                   options.profile() ? &profiler : nullptr, options.leastWork(),
                                   kernel.program ? kernel.program->device() : nullptr};
  attn_rt_call_result result;
  if (attn_rt_call(&callOptions, kernel.entry, arguments, &result) != ATTN_RT_OK)
    return Error{convertCode(result.code), "@" + kernel.signature.name + ": " + result.message,
                 kernel.signature.location};
  copyCounts(result, report);
  if (!kernel.program || !options.wait())
    return {};
  Status status = kernel.device->wait();
  return status ? status
                : Error{status.error().code, "@" + kernel.signature.name + ": " + status.error().message,
                        kernel.signature.location};
}

Result<RunReport> Kernel::run(const std::vector<Argument> &inputs, const std::vector<MutableTensorView> &outputs,
                              const RunOptions &options) const {
  if (Status status = checkRunOptions(options); !status)
    return status.error();
  if (Status status = checkArguments(impl->signature, inputs, outputs); !status)
    return status.error();
  if (Status status = checkDeviceMemory(*impl, inputs, outputs); !status)
    return status.error();

  PackedArguments arguments(impl->signature, inputs, outputs);
  RunReport report;
  auto start = std::chrono::steady_clock::now();
  if (Status status = call(*impl, options, arguments.pointers(), report); !status)
    return status.error();
  if (options.profile())
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

Device Kernel::device() const {
  if (impl->device)
    return *impl->device;
  return Device(std::make_shared<Device::Impl>(openHost()));
}

const FunctionSignature &Kernel::signature() const { return impl->signature; }

const std::vector<StageTime> &Kernel::stages() const { return impl->stages; }

std::string Kernel::describe() const {
  std::string text = impl->signature.str() + "\n" + impl->machine + "compiled in ";
  double total = 0;
  std::string parts;
  char number[64];
  for (const StageTime &stage : impl->stages) {
    std::snprintf(number, sizeof(number), " %.1f", stage.milliseconds);
    parts += (parts.empty() ? "" : ", ") + stage.name + number;
    total += stage.milliseconds;
  }
  std::snprintf(number, sizeof(number), "%.1f ms (", total);
  return text + number + parts + ")\n";
}
