//===- DeviceName.cpp - targets that are GPUs ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Devices.h"
#include "attn/CodeGen/DeviceCode.h"
#include "llvm/ADT/SmallVector.h"

using namespace attn;

/// "cuda" and what follows it.
static llvm::Error parseCuda(llvm::ArrayRef<llvm::StringRef> parts, DeviceName &device) {
  device.kind = DeviceName::Kind::Cuda;
  if (parts.size() == 1)
    return llvm::Error::success();
  if (parts.size() == 2 && !parts[1].getAsInteger(10, device.ordinal) && device.ordinal >= 0)
    return llvm::Error::success();
  return llvm::createStringError("a CUDA target expects cuda or cuda:ORDINAL, as in cuda:1, but got '" +
                                 llvm::join(parts, ":") + "'");
}

/// An option behind the emulator's chip; false if there is none of that name.
static bool parseEmulation(llvm::StringRef option, emulator::Options &options) {
  if (option == "eager")
    return options.lazyCopies = false, true;
  if (option == "fifo")
    return options.order = emulator::Order::Fifo, true;
  if (option == "lifo")
    return options.order = emulator::Order::Lifo, true;
  if (option == "unchecked")
    return options.checkRaces = options.checkUninitialized = false, true;
  if (!option.consume_front("random="))
    return false;
  options.order = emulator::Order::Random;
  return !option.getAsInteger(10, options.seed);
}

static llvm::Error parseEmulator(llvm::ArrayRef<llvm::StringRef> parts, DeviceName &device) {
  device.kind = DeviceName::Kind::Emulator;
  device.chip = parts.size() > 1 ? parts[1].str() : "sm_80";
  if (llvm::Error error = checkChip(device.chip))
    return error;
  for (llvm::StringRef option : parts.drop_front(std::min<size_t>(2, parts.size())))
    if (!parseEmulation(option, device.emulation))
      return llvm::createStringError(
          "the emulator's options are eager, fifo, lifo, random=SEED and unchecked, but got '" + option + "'");
  return llvm::Error::success();
}

llvm::Expected<std::optional<DeviceName>> attn::parseDeviceName(llvm::StringRef name) {
  llvm::SmallVector<llvm::StringRef> parts;
  name.split(parts, ':');
  DeviceName device;
  llvm::Error error = llvm::Error::success();
  if (parts[0] == "cuda") {
    error = parseCuda(parts, device);
  } else if (parts[0] == "emulator") {
    error = parseEmulator(parts, device);
  } else if (name.starts_with("sm_")) {
    device.chip = name.str();
    error = checkChip(name);
  } else {
    llvm::consumeError(std::move(error));
    return std::nullopt;
  }
  if (error)
    return error;
  return device;
}

llvm::Expected<std::shared_ptr<ComputeDevice>> attn::openDevice(const DeviceName &name) {
  switch (name.kind) {
  case DeviceName::Kind::Cuda:
    return openCuda(name.ordinal);
  case DeviceName::Kind::Emulator:
    return openEmulator(name.chip, name.emulation);
  case DeviceName::Kind::Chip:
    break;
  }
  return llvm::createStringError("this is a chip to compile for; use cuda or emulator:" + name.chip +
                                 " to run kernels");
}
