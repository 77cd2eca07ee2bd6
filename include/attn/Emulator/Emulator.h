//===- Emulator.h - GPU kernels on the CPU -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs device LLVM IR (NVPTX's intrinsics, before NVPTX code generation) on this CPU, with the hardware's data layouts.
// Each CUDA thread of a block is a context that runs until it waits; blocks run in parallel. Needs no GPU.
//
// What stands for inline assembly are declared functions in the IR:
//   void attn_dev_mbarrier_wait(ptr addrspace(3) barrier, i32 parity): until the phase of that parity has completed
//   attn_dev_wgmma_m64n<N>k16_f32_<bf16|f16>_ss(float x N/2, i64 descA, i64 descB, i32 keep) -> {float x N/2}
//   attn_dev_wgmma_m64n<N>k16_f32_<bf16|f16>_rs(float x N/2, i32 x 4, i64 descB) -> {float x N/2}
//   attn_dev_opaque_<i32|i64>: the operand
// A and B of _ss are K-major, and keep = 0 starts from zero; B of _rs is MN-major.
//
// What is not seen: weak memory order of global memory, global memory out of bounds, registers of a wgmma that are read
// before its wait (their values are there at once; ptxas warns), and the sums' rounding: they are plain f32 sums.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_EMULATOR_EMULATOR_H
#define ATTN_EMULATOR_EMULATOR_H

#include "attn/Device.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace attn::emulator {

/// In which order threads of a block that can run do run. Random draws from Options::seed and the block's index.
enum class Order { Fifo, Lifo, Random };

struct Options {
  /// When asynchronous copies (cp.async, TMA) happen: as late as the kernel's waits allow, or when they are issued. A
  /// wgmma is computed when it is issued; with lazyCopies it is an error if its operands in shared memory have changed
  /// by the time of its wait, as the hardware may read them until then.
  bool lazyCopies = true;
  Order order = Order::Fifo;
  uint64_t seed = 1;
  /// Errors for accesses of shared memory that no barrier orders, one of them a write. Asynchronous copies write until
  /// they are waited for; wgmma and bulk stores read until they are, and of what threads wrote only what a
  /// fence.proxy.async lies behind.
  bool checkRaces = true;
  /// Errors for reads of shared memory that the block has not written.
  bool checkUninitialized = true;
  /// How many blocks run at once; 0: one for each core.
  int64_t threads = 0;
};

/// What a launch did, summed over its threads (warps, where it says so). With a pointer to it the launch runs slower.
struct Counters {
  /// IR instructions of the kernel.
  int64_t instructions = 0;
  /// Plain accesses of shared memory.
  int64_t sharedLoads = 0;
  int64_t sharedStores = 0;
  /// Cycles beyond the first that accesses of shared memory take because lanes need different words of one of its 32
  /// banks: plain ones and, for each 8x8 matrix, ldmatrix and stmatrix.
  int64_t bankConflicts = 0;
  /// Operations of warps.
  int64_t ldmatrix = 0;
  int64_t stmatrix = 0;
  int64_t mma = 0;
  /// Operations of warpgroups.
  int64_t wgmma = 0;
  /// cp.async of threads.
  int64_t copies = 0;
  /// Bulk and tensor copies, to and from shared memory.
  int64_t bulkCopies = 0;
  /// Bytes of copies and bulkCopies, those that were filled with zeros included.
  int64_t copiedBytes = 0;
  /// Blocks' barriers that completed.
  int64_t barriers = 0;
};

/// A parameter of the kernel, in its order.
struct Parameter {
  /// The value's bytes, or an attn_rt_tensor_map. Read during the launch.
  const void *bytes = nullptr;
  /// As the kernel's type has it; not looked at for a tensor map.
  size_t size = 0;
  bool isTensorMap = false;
};

struct Launch {
  std::string kernel;
  int64_t grid[3] = {1, 1, 1};
  int64_t block[3] = {1, 1, 1};
  /// Dynamic shared memory, behind what the module's own variables take.
  int64_t sharedBytes = 0;
  std::vector<Parameter> parameters;
};

/// A module of device IR, ready to run. Thread-safe: launches may overlap.
class Program {
public:
  ~Program();

  /// Takes the module over. A kernel is a function with the calling convention ptx_kernel. Errors: the module is
  /// broken, or uses intrinsics, functions or inline assembly that the emulator does not know: all are named.
  static llvm::Expected<std::unique_ptr<Program>> create(std::unique_ptr<llvm::Module> module,
                                                         std::unique_ptr<llvm::LLVMContext> context);

  /// Runs a kernel to its end. Code is generated at the first launch, once with and once without checks. Errors: what
  /// is wrong with the launch, or what the kernel did: reads or writes outside of shared memory, misaligned accesses,
  /// collectives that not all lanes reach, deadlocks (with each warp's place), and what options ask to check. They name
  /// kernel, block, thread and operation; blocks that already ran have written their results. With several errors the
  /// first block's is reported. Adds to counters, if not null.
  llvm::Error launch(const Launch &launch, const Options &options = Options(), Counters *counters = nullptr);

private:
  struct Impl;
  explicit Program(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace attn::emulator

#endif // ATTN_EMULATOR_EMULATOR_H
