//===- Kernel.h - compiled functions ------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_API_KERNEL_H
#define ATTN_API_KERNEL_H

#include "attn/API/Device.h"
#include "attn/API/Result.h"
#include "attn/API/Tensor.h"
#include "attn/API/ThreadPool.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// A size that only the run knows, in ValueType::sizes.
inline constexpr int64_t dynamicSize = -1;

/// The type of an argument or a result of a function.
struct ValueType {
  DType dtype = DType::Other;
  /// False for scalars. A scalar result is written to a tensor of rank 0.
  bool isTensor = false;
  /// One for each dimension; dynamicSize where the type leaves it open.
  std::vector<int64_t> sizes;
  /// As MLIR spells it: "tensor<2x?xf32>", "index".
  std::string text;
};

/// What a function of a module takes and gives.
struct FunctionSignature {
  std::string name;
  std::vector<ValueType> arguments;
  std::vector<ValueType> results;
  Location location;

  /// "@name(tensor<2x?xf32>, f32) -> (tensor<2x?xf32>)".
  std::string str() const;
};

/// Where a compilation can be looked at; see DESIGN's levels. Each is the text of the whole module at that point.
enum class Stage {
  /// attn and linalg on tensors, named masks and scores written out as regions.
  Graph,
  /// scf loops over flash tiles on memrefs.
  Tiled,
  /// Vector code, scratch and parallel loops.
  Target,
  /// MLIR's llvm dialect.
  LlvmDialect,
  /// LLVM IR, optimised.
  Llvm,
  /// Assembly of the target.
  Assembly
};

/// "graph", "tiled", "target", "llvm-dialect", "llvm" or "asm". Static storage.
const char *toString(Stage stage);

/// How to compile. The defaults let the target's cost model choose. All setters return the object.
class CompileOptions {
public:
  /// Query rows of a tile: a power of two from 1 to 1024, or 0.
  CompileOptions &tileQ(int64_t rows) { return queryRows = rows, *this; }
  /// Keys of a tile: 1 to 65536, or 0.
  CompileOptions &tileKv(int64_t keys) { return kvTile = keys, *this; }
  /// Keys of a segment, rounded up to whole tiles: 1 to 2^30, or 0. Segments are computed in parallel and then merged;
  /// one that holds all keys is not split. With 0 the cost model splits the keys of few queries.
  CompileOptions &segmentKeys(int64_t keys) { return kvSegment = keys, *this; }
  /// Keys (or value columns) of a register block: 1 to 16, or 0.
  CompileOptions &blockRows(int64_t rows) { return registerRows = rows, *this; }
  /// Skip the kv tiles that a mask empties; on unless turned off. Off gives the same bits, slower.
  CompileOptions &skipTiles(bool on) { return skipEmptyTiles = on, *this; }
  /// Count the kv tiles that a run computes (RunReport::kvTiles); off unless turned on. CPUs only: Unsupported
  /// elsewhere.
  CompileOptions &countKvTiles(bool on) { return countTiles = on, *this; }
  /// Turn attention that is written out, as matrix products around a softmax, into the fused kernel; on unless turned
  /// off.
  CompileOptions &fuse(bool on) { return fuseAttention = on, *this; }
  /// Compare each attention that `fuse` makes with what was written, by the reference interpreter, and fail where they
  /// differ; off unless turned on. Takes up to seconds for each.
  CompileOptions &verifyFusion(bool on) { return verifyFused = on, *this; }
  /// Evaluate the function by the reference interpreter on small generated inputs before and after each pass of the
  /// graph level, and fail with the name of the first pass that changes a result; off unless turned on. A remark names
  /// each pass that cannot be verified. Takes up to seconds.
  CompileOptions &verifyPasses(bool on) { return verifiesPasses = on, *this; }
  /// Multiply f32 on a GPU as one product of tf32: each query, key, weight and value is within 2^-11 of what it was,
  /// and the largest floats, from 2^128 - 2^116 on, become infinite. Less exact than Module::check allows f32. Off
  /// unless turned on: then it is three products, within 2^-20. Means nothing for other types, or on a CPU.
  CompileOptions &allowTf32(bool on) { return tf32Products = on, *this; }
  /// LLVM's optimisation of the generated code; on unless turned off. Off is for debugging: slower code, the same bits
  /// are not promised.
  CompileOptions &optimize(bool on) { return llvmPasses = on, *this; }
  /// Calls hook(stage, text) for every stage, in order, on the compiling thread. Costs time: each stage is compiled
  /// and printed on its own.
  CompileOptions &dump(std::function<void(Stage stage, const std::string &text)> hook) {
    return dumpHook = std::move(hook), *this;
  }
  /// Receives warnings and remarks (what was fused, or not and why), on the compiling thread. Without it they are
  /// dropped.
  CompileOptions &onDiagnostic(std::function<void(const Diagnostic &)> handler) {
    return diagnosticHandler = std::move(handler), *this;
  }

  int64_t tileQ() const { return queryRows; }
  int64_t tileKv() const { return kvTile; }
  int64_t segmentKeys() const { return kvSegment; }
  int64_t blockRows() const { return registerRows; }
  bool skipTiles() const { return skipEmptyTiles; }
  bool countKvTiles() const { return countTiles; }
  bool fuse() const { return fuseAttention; }
  bool verifyFusion() const { return verifyFused; }
  bool verifyPasses() const { return verifiesPasses; }
  bool allowTf32() const { return tf32Products; }
  bool optimize() const { return llvmPasses; }
  const std::function<void(Stage, const std::string &)> &dump() const { return dumpHook; }
  const std::function<void(const Diagnostic &)> &onDiagnostic() const { return diagnosticHandler; }

private:
  int64_t queryRows = 0, kvTile = 0, kvSegment = 0, registerRows = 0;
  bool llvmPasses = true, skipEmptyTiles = true, countTiles = false, fuseAttention = true;
  bool verifyFused = false, verifiesPasses = false, tf32Products = false;
  std::function<void(Stage, const std::string &)> dumpHook;
  std::function<void(const Diagnostic &)> diagnosticHandler;
};

/// How to run. All setters return the object. A plain object runs on the calling thread.
class RunOptions {
public:
  /// Runs on the pool, and keeps scratch memory in it from run to run.
  RunOptions &pool(ThreadPool newPool);
  /// Starts a pool of n threads (0: all) for this object and its copies: keep the object from run to run. A number out
  /// of range is reported by Kernel::run.
  RunOptions &threads(int64_t n);
  /// Whether run returns when the kernels on a GPU are done, the default, or when they are started: then
  /// Device::wait tells of their failure, and what they use must stay until it returns. Means nothing on a CPU.
  RunOptions &wait(bool on) { return waits = on, *this; }
  /// Refuses runs that need more scratch memory than this in a loop, over all its threads; 0: no limit.
  RunOptions &maxScratchBytes(int64_t bytes) { return scratchLimit = bytes, *this; }
  /// f32 multiply-adds that each thread of a parallel loop must have to do, or fewer threads take part: small problems
  /// run on the calling thread. 0: what was measured to pay (2^20). No bit of the results depends on it.
  RunOptions &leastWork(int64_t multiplyAdds) { return workLimit = multiplyAdds, *this; }

  /// Fill RunReport::seconds and loops; off unless turned on, and free then.
  RunOptions &profile(bool on) { return isProfiled = on, *this; }

  const ThreadPool &pool() const { return threadPool; }
  bool profile() const { return isProfiled; }
  bool wait() const { return waits; }
  int64_t maxScratchBytes() const { return scratchLimit; }
  int64_t leastWork() const { return workLimit; }
  /// The failure of threads(), if it failed.
  const Status &status() const { return poolStatus; }

private:
  ThreadPool threadPool;
  int64_t scratchLimit = 0;
  int64_t workLimit = 0;
  bool isProfiled = false;
  bool waits = true;
  Status poolStatus;
};

/// A parallel loop of a run: what each of its workers did.
struct LoopProfile {
  struct Worker {
    /// From its first item to its last.
    double busySeconds = 0;
    int64_t items = 0;
    /// As RunReport::kvTiles.
    int64_t kvTiles = 0;
  };
  double seconds = 0;
  int64_t items = 0;
  std::vector<Worker> workers;
};

/// What a run did. The counts do not depend on the number of threads (scratchBytes does).
struct RunReport {
  /// Buffers that the compiled code asked for, and most bytes of them alive at once.
  int64_t allocations = 0;
  int64_t allocatedBytes = 0;
  /// The most scratch of any loop, over all its threads.
  int64_t scratchBytes = 0;
  /// Parallel loops with at least one item, and their items.
  int64_t parallelLoops = 0;
  int64_t tiles = 0;
  /// kv tiles computed, where CompileOptions::countKvTiles is on; 0 elsewhere.
  int64_t kvTiles = 0;
  /// Kernels started on a GPU.
  int64_t launches = 0;
  /// Where RunOptions::profile is on: the time of the compiled code, and its parallel loops in order. What is not in a
  /// loop is checks, allocation and code around the attention.
  double seconds = 0;
  std::vector<LoopProfile> loops;
};

/// The time that one stage of a compilation took.
struct StageTime {
  std::string name;
  double milliseconds = 0;
};

/// A compiled function. Immutable; a value (copies are the same kernel); any number of threads may run it at once. It
/// does not need the Module that it came from.
class Kernel {
public:
  /// Runs the kernel: inputs in the order of the function's arguments, outputs (the caller's memory) in the order of
  /// its results. What the outputs held before is never read; after a failure what they hold is unspecified, unless the
  /// error is InvalidArgument, which means that nothing ran.
  ///
  /// Refused with InvalidArgument before anything runs, naming the argument, the rule and the remedy:
  /// - another number of inputs or outputs than the signature has;
  /// - a scalar for a tensor or the reverse, another element type, a scalar that does not fit its type;
  /// - another rank, as many strides as sizes missing, a negative size, a size that differs from a static one;
  /// - a negative stride; in the last dimension a stride other than 1 where that size is above 1; on an output a stride
  ///   of 0 where that size is above 1 (inputs may broadcast);
  /// - null data where there are elements; data not aligned to the element size;
  /// - a tensor of a container that does not fit into it; sizes or offsets whose bytes exceed 63 bits;
  /// - an output that shares memory with an input or another output, or whose elements share memory. Ranges are
  /// compared
  ///   from first to last byte, so interleaved outputs are refused too, and so is an output whose strides do not nest
  ///   (sorted by stride, each has to step over all that the smaller ones reach).
  /// Strides mean nothing where a view has no elements, or in a dimension of size 1, and may be anything from 0 there.
  ///
  /// For a GPU tensors lie in its memory: attn::DeviceBuffer, or any other that CUDA knows. Scalars are plain numbers.
  ///
  /// That sizes of several arguments agree (`queryLen` of query and output, ...) and that lengths are in range is
  /// checked by the compiled code in front of its loops: KernelRefused. Inputs may share memory with one another.
  ///
  /// Allocates a few words for the arguments, and what RunReport counts; nothing inside of loops.
  Result<RunReport> run(const std::vector<Argument> &inputs, const std::vector<MutableTensorView> &outputs,
                        const RunOptions &options = RunOptions()) const;

  const FunctionSignature &signature() const;

  /// Where it runs; the host for CPUs.
  Device device() const;

  /// The time that each stage of the compilation took, in order.
  const std::vector<StageTime> &stages() const;

  /// Some lines for people: signature, CPU and vector width, tile sizes, compile time of each stage.
  std::string describe() const;

  class Impl;
  /// Internal: kernels come from Module::compile.
  explicit Kernel(std::shared_ptr<const Impl> impl) : impl(std::move(impl)) {}

private:
  std::shared_ptr<const Impl> impl;
};

} // namespace attn

#endif // ATTN_API_KERNEL_H
