//===- EmulatorTestUtil.h - kernels from text ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TEST_UNIT_EMULATOR_EMULATORTESTUTIL_H
#define ATTN_TEST_UNIT_EMULATOR_EMULATORTESTUTIL_H

#include "attn/Emulator/Emulator.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "gtest/gtest.h"

namespace attn::emulator::test {

/// A module of device IR; fails the test where it does not parse.
inline llvm::Expected<std::unique_ptr<Program>> tryCompile(const std::string &text) {
  auto context = std::make_unique<llvm::LLVMContext>();
  llvm::SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, diagnostic, *context);
  if (!module)
    return llvm::createStringError("line " + std::to_string(diagnostic.getLineNo()) + ": " +
                                   diagnostic.getMessage().str() + ": " + diagnostic.getLineContents().str());
  return Program::create(std::move(module), std::move(context));
}

inline std::unique_ptr<Program> compile(const std::string &text) {
  auto program = tryCompile(text);
  if (program)
    return std::move(*program);
  ADD_FAILURE() << llvm::toString(program.takeError()) << "\n" << text;
  return nullptr;
}

/// The message of an error, or "".
inline std::string messageOf(llvm::Error error) { return error ? llvm::toString(std::move(error)) : ""; }

/// A launch of "kernel" whose parameters are the values themselves: pointers, numbers; tensor maps by address.
class Call {
public:
  Call(int64_t blocks, int64_t threads, int64_t sharedBytes = 0) {
    launch.kernel = "kernel";
    launch.grid[0] = blocks;
    launch.block[0] = threads;
    launch.sharedBytes = sharedBytes;
  }

  template <typename Value> Call &with(Value value) {
    auto bytes = std::make_unique<char[]>(sizeof(value));
    std::memcpy(bytes.get(), &value, sizeof(value));
    launch.parameters.push_back({bytes.get(), sizeof(value), false});
    values.push_back(std::move(bytes));
    return *this;
  }
  Call &withMap(const attn_rt_tensor_map &map) {
    launch.parameters.push_back({&map, 0, true});
    return *this;
  }

  /// The error's message, or "".
  std::string run(Program &program, const Options &options = Options(), Counters *counters = nullptr) {
    return messageOf(program.launch(launch, options, counters));
  }

  Launch launch;

private:
  std::vector<std::unique_ptr<char[]>> values;
};

/// {eager, lazy} x {fifo, lifo, random}.
inline std::vector<Options> allModes() {
  std::vector<Options> modes;
  for (bool lazy : {false, true})
    for (Order order : {Order::Fifo, Order::Lifo, Order::Random}) {
      Options options;
      options.lazyCopies = lazy;
      options.order = order;
      modes.push_back(options);
    }
  return modes;
}

/// Memory aligned as device memory is.
template <typename Value> class DeviceMemory {
public:
  explicit DeviceMemory(size_t count, Value value = Value())
      : data(static_cast<Value *>(std::aligned_alloc(256, (count * sizeof(Value) + 255) / 256 * 256))), count(count) {
    std::fill(data, data + count, value);
  }
  ~DeviceMemory() { std::free(data); }
  DeviceMemory(const DeviceMemory &) = delete;
  DeviceMemory &operator=(const DeviceMemory &) = delete;

  Value &operator[](size_t index) { return data[index]; }
  Value *get() { return data; }
  size_t size() const { return count; }

private:
  Value *data;
  size_t count;
};

} // namespace attn::emulator::test

#endif // ATTN_TEST_UNIT_EMULATOR_EMULATORTESTUTIL_H
