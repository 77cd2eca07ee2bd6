//===- Program.cpp - launches of kernels --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Block.h"
#include "Variant.h"
#include "WarpGroup.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Verifier.h"
#include <atomic>
#include <mutex>
#include <thread>

using namespace attn::emulator;

// The limits of the CUDA programming guide.
static constexpr int64_t kMostThreads[3] = {1024, 1024, 64};
static constexpr int64_t kMostBlocks[3] = {0x7FFFFFFF, 65535, 65535};

/// A tensor map as the kernel gets it: 128 bytes, of which the first eight lead to its description.
struct alignas(64) TensorMapBytes {
  const attn_rt_tensor_map *map;
  char rest[120];
};

struct Program::Impl {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  Description description;

  /// The code with (1) and without (0) reports of accesses, made when it is first needed.
  std::unique_ptr<Variant> variants[2];
  std::mutex variantLock;
  /// Blocks that no launch uses.
  std::vector<std::unique_ptr<Block>> blocks;
  std::mutex blockLock;

  llvm::Expected<const Variant *> getVariant(bool isInstrumented);
  llvm::Expected<std::unique_ptr<Block>> takeBlock();
  void giveBack(std::unique_ptr<Block> block);
  llvm::Error run(const LaunchState &state, int64_t workers, Counters *counters);
};

Program::Program(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Program::~Program() = default;

llvm::Expected<std::unique_ptr<Program>> Program::create(std::unique_ptr<llvm::Module> module,
                                                         std::unique_ptr<llvm::LLVMContext> context) {
  // The members go in the right order, the module before its context; in which order parameters go is the compiler's.
  auto impl = std::make_unique<Impl>();
  impl->context = std::move(context);
  impl->module = std::move(module);
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (llvm::verifyModule(*impl->module, &stream))
    return llvm::createStringError("the device module is broken: " + text);
  llvm::Expected<Description> description = describe(*impl->module);
  if (!description)
    return description.takeError();
  impl->description = std::move(*description);
  return std::unique_ptr<Program>(new Program(std::move(impl)));
}

llvm::Expected<const Variant *> Program::Impl::getVariant(bool isInstrumented) {
  std::lock_guard<std::mutex> lock(variantLock);
  std::unique_ptr<Variant> &variant = variants[isInstrumented];
  if (!variant) {
    auto created = Variant::create(*module, description, isInstrumented);
    if (!created)
      return created.takeError();
    variant = std::move(*created);
  }
  return variant.get();
}

//===----------------------------------------------------------------------===//
// What a launch may be
//===----------------------------------------------------------------------===//

static llvm::Error makeError(const Launch &launch, const llvm::Twine &message) {
  return llvm::createStringError("kernel '" + launch.kernel + "': " + message);
}

static llvm::Error checkSizes(const Launch &launch, const Kernel &kernel, const Description &description) {
  int64_t threads = 1;
  for (int k = 0; k < 3; ++k) {
    if (launch.grid[k] < 0 || launch.grid[k] > kMostBlocks[k])
      return makeError(launch, "grid size " + llvm::Twine(k) + " expects 0 to " + llvm::Twine(kMostBlocks[k]) +
                                   " blocks, but got " + llvm::Twine(launch.grid[k]));
    if (launch.block[k] < 1 || launch.block[k] > kMostThreads[k])
      return makeError(launch, "block size " + llvm::Twine(k) + " expects 1 to " + llvm::Twine(kMostThreads[k]) +
                                   " threads, but got " + llvm::Twine(launch.block[k]));
    if (kernel.required[k] && kernel.required[k] != launch.block[k])
      return makeError(launch, "block size " + llvm::Twine(k) + " expects " + llvm::Twine(kernel.required[k]) +
                                   " threads (nvvm.reqntid), but got " + llvm::Twine(launch.block[k]));
    threads *= launch.block[k];
  }
  int64_t most = kernel.most ? std::min<int64_t>(kernel.most, kMaxThreads) : kMaxThreads;
  if (threads > most)
    return makeError(launch,
                     "a block expects at most " + llvm::Twine(most) + " threads, but got " + llvm::Twine(threads));
  int64_t free = SharedWindow::kUsableBytes - description.dynamicOffset;
  if (launch.sharedBytes < 0 || launch.sharedBytes > free)
    return makeError(launch, "expects 0 to " + llvm::Twine(free) + " bytes of dynamic shared memory, but got " +
                                 llvm::Twine(launch.sharedBytes));
  return llvm::Error::success();
}

/// Fills pointers with where each parameter is, and maps with the tensor maps among them.
static llvm::Error bindParameters(const Launch &launch, const Kernel &kernel, std::vector<void *> &pointers,
                                  std::vector<TensorMapBytes> &maps) {
  if (launch.parameters.size() != kernel.parameters.size())
    return makeError(launch, "expects " + llvm::Twine(kernel.parameters.size()) + " parameters, but got " +
                                 llvm::Twine(launch.parameters.size()));
  maps.reserve(launch.parameters.size());
  for (size_t k = 0; k < launch.parameters.size(); ++k) {
    const Parameter &parameter = launch.parameters[k];
    const Kernel::Parameter &expected = kernel.parameters[k];
    if (parameter.isTensorMap != expected.isTensorMap)
      return makeError(launch, "parameter " + llvm::Twine(k) + " expects " +
                                   (expected.isTensorMap ? "a tensor map" : "a value") + ", but got " +
                                   (parameter.isTensorMap ? "a tensor map" : "a value"));
    if (!parameter.isTensorMap) {
      if (parameter.size != expected.bytes)
        return makeError(launch, "parameter " + llvm::Twine(k) + " expects " + llvm::Twine(expected.bytes) +
                                     " bytes, but got " + llvm::Twine(parameter.size));
      pointers.push_back(const_cast<void *>(parameter.bytes));
      continue;
    }
    auto *map = static_cast<const attn_rt_tensor_map *>(parameter.bytes);
    char problem[ATTN_RT_MESSAGE_BYTES];
    if (!attn_rt_check_tensor_map(map, problem))
      return makeError(launch, "the tensor map of parameter " + llvm::Twine(k) + " " + problem);
    maps.push_back({map, {}});
    pointers.push_back(&maps.back());
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// A launch
//===----------------------------------------------------------------------===//

llvm::Expected<std::unique_ptr<Block>> Program::Impl::takeBlock() {
  std::lock_guard<std::mutex> lock(blockLock);
  if (blocks.empty())
    return Block::create();
  std::unique_ptr<Block> block = std::move(blocks.back());
  blocks.pop_back();
  block->counters = Counters();
  return block;
}

void Program::Impl::giveBack(std::unique_ptr<Block> block) {
  std::lock_guard<std::mutex> lock(blockLock);
  blocks.push_back(std::move(block));
}

static void addCounters(Counters &sum, const Counters &other) {
  sum.instructions += other.instructions;
  sum.sharedLoads += other.sharedLoads;
  sum.sharedStores += other.sharedStores;
  sum.bankConflicts += other.bankConflicts;
  sum.ldmatrix += other.ldmatrix;
  sum.stmatrix += other.stmatrix;
  sum.mma += other.mma;
  sum.wgmma += other.wgmma;
  sum.copies += other.copies;
  sum.bulkCopies += other.bulkCopies;
  sum.copiedBytes += other.copiedBytes;
  sum.barriers += other.barriers;
}

namespace {
/// Hands out a launch's blocks. An error stops all blocks behind it, but none before it, so that the first block's is
/// the one that is reported, whichever came first.
class BlockQueue {
public:
  explicit BlockQueue(const Launch &launch)
      : launch(launch), end(launch.grid[0] * launch.grid[1] * launch.grid[2]), firstFailure(end) {}

  int64_t size() const { return end; }
  bool next(int64_t &number, uint32_t (&index)[3]) {
    number = following++;
    if (number >= firstFailure)
      return false;
    index[0] = number % launch.grid[0];
    index[1] = number / launch.grid[0] % launch.grid[1];
    index[2] = number / launch.grid[0] / launch.grid[1];
    return true;
  }
  void fail(int64_t number, std::string message) {
    std::lock_guard<std::mutex> lock(mutex);
    if (number >= firstFailure)
      return;
    firstFailure = number;
    text = std::move(message);
  }
  const std::string &failure() const { return text; }

private:
  const Launch &launch;
  const int64_t end;
  std::atomic<int64_t> following{0};
  std::atomic<int64_t> firstFailure;
  std::mutex mutex;
  std::string text;
};
} // namespace

static void runBlocks(Block &block, const LaunchState &state, BlockQueue &queue) {
  int64_t number;
  uint32_t index[3];
  while (queue.next(number, index)) {
    std::string failure = block.run(state, index);
    if (!failure.empty())
      queue.fail(number, std::move(failure));
  }
}

llvm::Error Program::Impl::run(const LaunchState &state, int64_t workers, Counters *counters) {
  BlockQueue queue(state.launch);
  if (!workers)
    workers = std::max(1u, std::thread::hardware_concurrency());
  workers = std::min(workers, queue.size());
  std::vector<std::unique_ptr<Block>> used;
  for (int64_t k = 0; k < workers; ++k) {
    llvm::Expected<std::unique_ptr<Block>> block = takeBlock();
    if (!block)
      return block.takeError();
    used.push_back(std::move(*block));
  }
  std::vector<std::thread> threads;
  for (int64_t k = 1; k < workers; ++k)
    threads.emplace_back([&, k] { runBlocks(*used[k], state, queue); });
  if (workers)
    runBlocks(*used[0], state, queue);
  for (std::thread &thread : threads)
    thread.join();
  for (std::unique_ptr<Block> &block : used) {
    if (counters)
      addCounters(*counters, block->counters);
    giveBack(std::move(block));
  }
  if (!queue.failure().empty())
    return llvm::createStringError(queue.failure());
  return llvm::Error::success();
}

llvm::Error Program::launch(const Launch &launch, const Options &options, Counters *counters) {
  auto kernel = impl->description.kernels.find(launch.kernel);
  if (kernel == impl->description.kernels.end()) {
    std::string names;
    for (const auto &known : impl->description.kernels)
      names += (names.empty() ? "'" : ", '") + known.getKey().str() + "'";
    return makeError(launch, "is not in the module, which has " + llvm::Twine(names));
  }
  if (llvm::Error error = checkSizes(launch, kernel->second, impl->description))
    return error;
  if (options.threads < 0)
    return makeError(launch, "expects 0 or more threads, but got " + llvm::Twine(options.threads));
  std::vector<void *> pointers;
  std::vector<TensorMapBytes> maps;
  if (llvm::Error error = bindParameters(launch, kernel->second, pointers, maps))
    return error;
  bool isInstrumented = options.checkRaces || options.checkUninitialized || counters;
  llvm::Expected<const Variant *> variant = impl->getVariant(isInstrumented);
  if (!variant)
    return variant.takeError();
  auto sharedBytes = uint32_t(impl->description.dynamicOffset + launch.sharedBytes);
  LaunchState state = {launch,
                       options,
                       (*variant)->entries.lookup(launch.kernel),
                       pointers.data(),
                       sharedBytes,
                       (*variant)->siteList,
                       counters != nullptr,
                       (*variant)->localBytes};
  return impl->run(state, options.threads, counters);
}
