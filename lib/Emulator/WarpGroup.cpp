//===- WarpGroup.cpp - wgmma --------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last of a warpgroup's 128 threads that issues a wgmma computes it for all. With lazy copies its operands in
// shared memory are kept and compared at the wait: the hardware may read them until then.
//
// Where element (row, k) lies, from a matrix descriptor's start address, stride (SBO) and leading (LBO) offset, for a
// swizzle of S bytes; rows are M of A or N of B, and the swizzle acts on bits of the address:
//   K-major:  row / 8 * SBO + row % 8 * S + 2k
//   MN-major: row / (S/2) * LBO + k / 8 * SBO + k % 8 * S + row % (S/2) * 2
// Without swizzle, 8 x 8 matrices of 128 bytes:
//   K-major:  row / 8 * SBO + k / 8 * LBO + row % 8 * 16 + k % 8 * 2
//   MN-major: row / 8 * SBO + k / 8 * LBO + k % 8 * 16 + row % 8 * 2
// Accumulator x of lane l in warp w (g = l / 4, t = l % 4): row 16 w + g + 8 (x / 2 % 2), column 8 (x / 4) + 2t + x
// % 2.
//
//===----------------------------------------------------------------------===//

#include "WarpGroup.h"
#include "AsyncCopies.h"
#include "Numbers.h"
#include "Operations.h"
#include "Vectorize.h"
#include <algorithm>

using namespace attn::emulator;

static constexpr uint32_t kM = 64;
static constexpr uint32_t kK = 16;
static constexpr uint32_t kMostN = 256;
static constexpr uint32_t kChunk = 16;

//===----------------------------------------------------------------------===//
// Operands in shared memory
//===----------------------------------------------------------------------===//

namespace {
/// The fields of a matrix descriptor, in bytes.
struct Descriptor {
  uint32_t start;
  uint32_t leading;
  uint32_t stride;
  /// 0, 32, 64 or 128.
  uint32_t swizzleBytes;
};
} // namespace

static Descriptor decode(uint64_t bits) {
  static constexpr uint32_t swizzles[] = {0, 128, 64, 32};
  return {uint32_t(bits & 0x3FFF) << 4, uint32_t(bits >> 16 & 0x3FFF) << 4, uint32_t(bits >> 32 & 0x3FFF) << 4,
          swizzles[bits >> 62]};
}

/// Where 8 elements lie: of k (K-major) or of rows (MN-major), from (row, k) on.
static uint32_t findChunk(const Descriptor &descriptor, bool isMnMajor, uint32_t row, uint32_t k) {
  uint32_t width = descriptor.swizzleBytes;
  uint32_t offset = descriptor.start;
  if (!width)
    offset += row / 8 * descriptor.stride + k / 8 * descriptor.leading + (isMnMajor ? k : row) % 8 * kChunk;
  else if (isMnMajor)
    offset +=
        row / (width / 2) * descriptor.leading + k / 8 * descriptor.stride + k % 8 * width + row % (width / 2) * 2;
  else
    offset += row / 8 * descriptor.stride + row % 8 * width + k * 2;
  return swizzle(offset, width);
}

/// Calls function(memory, row, k) for each chunk of an operand.
template <typename Function> static void forChunks(Thread &thread, const WgmmaOperand &operand, Function function) {
  Descriptor descriptor = decode(operand.descriptor);
  uint64_t base = reinterpret_cast<uint64_t>(thread.block->sharedBase());
  uint32_t rowStep = operand.isMnMajor ? 8 : 1, kStep = operand.isMnMajor ? 1 : 8;
  for (uint32_t row = 0; row < operand.rows; row += rowStep)
    for (uint32_t k = 0; k < kK; k += kStep) {
      uint32_t offset = findChunk(descriptor, operand.isMnMajor, row, k) & (SharedWindow::kBytes - 1);
      function(thread.block->shared(thread, *operand.site, base + offset, kChunk, kChunk), row, k);
    }
}

/// Element (row, k) is at elements[row * 16 + k], or with isMnMajor at [k * rows + row].
static void gather(Thread &thread, WgmmaOperand &operand) {
  operand.elements.resize(operand.rows * kK);
  forChunks(thread, operand, [&](const char *memory, uint32_t row, uint32_t k) {
    uint32_t place = operand.isMnMajor ? k * operand.rows + row : row * kK + k;
    std::memcpy(&operand.elements[place], memory, kChunk);
  });
}

static bool isUnchanged(Thread &thread, const WgmmaOperand &operand) {
  bool isSame = true;
  forChunks(thread, operand, [&](const char *memory, uint32_t row, uint32_t k) {
    uint32_t place = operand.isMnMajor ? k * operand.rows + row : row * kK + k;
    isSame &= std::memcmp(&operand.elements[place], memory, kChunk) == 0;
  });
  return isSame;
}

/// All that any of the warpgroup's threads knows.
static void joinThreads(Block &block, uint32_t number) {
  Clocks &clocks = block.shadow.clocks;
  for (uint32_t k = 0; k < kWarpGroupSize; ++k)
    clocks.join(clocks.row(clocks.warpGroup(number)), clocks.row(number * kWarpGroupSize + k));
}

/// The hardware reads as an actor of its own, which knows what any of the threads does.
static void noteReads(Thread &thread, const WgmmaOperand &operand) {
  Block &block = *thread.block;
  if (!block.shadow.isOn())
    return;
  uint32_t number = thread.index / kWarpGroupSize;
  Clocks &clocks = block.shadow.clocks;
  Actor actor = clocks.warpGroup(number);
  const uint32_t *row = clocks.row(actor);
  uint32_t clock = clocks.step(operand.group);
  // Joining costs more than reading: what was known before is mostly enough.
  bool isJoined = !row;
  forChunks(thread, operand, [&](const char *memory, uint32_t, uint32_t) {
    if (!isJoined &&
        block.shadow.read(actor, clock, row, block.offsetOf(memory), kChunk, operand.site->index, /*isAsync=*/true)
            .kind) {
      joinThreads(block, number);
      isJoined = true;
    }
    if (isJoined)
      block.noteRead(thread, *operand.site, actor, clock, row, memory, kChunk);
  });
}

/// Reads an operand into the list of those that are compared later.
static const WgmmaOperand &readOperand(Thread &thread, const Site &site, uint64_t descriptor, bool isMnMajor,
                                       uint32_t rows) {
  if (descriptor >> 49 & 7)
    thread.block->fail(thread, site, "base offsets of matrix descriptors are not supported");
  WarpGroup &group = *thread.block->warpGroups[thread.index / kWarpGroupSize];
  if (group.operandCount == group.operands.size())
    group.operands.emplace_back();
  WgmmaOperand &operand = group.operands[group.operandCount++];
  operand.descriptor = descriptor;
  operand.isMnMajor = isMnMajor;
  operand.rows = rows;
  operand.site = &site;
  operand.group = thread.wgmmaGroups + 1;
  noteReads(thread, operand);
  gather(thread, operand);
  return operand;
}

//===----------------------------------------------------------------------===//
// The product
//===----------------------------------------------------------------------===//

using ToFloat = float (*)(uint16_t);

/// B as [k][n].
template <ToFloat Convert> static void convertB(const WgmmaOperand &operand, float *b) {
  const uint32_t n = operand.rows;
  if (operand.isMnMajor) {
    for (uint32_t at = 0; at < n * kK; ++at)
      b[at] = Convert(operand.elements[at]);
    return;
  }
  for (uint32_t row = 0; row < n; ++row)
    for (uint32_t k = 0; k < kK; ++k)
      b[k * n + row] = Convert(operand.elements[row * kK + k]);
}

/// A from the registers of mma.sync's layout, 16 rows a warp.
template <ToFloat Convert> static void gatherA(const WarpGroup &group, uint32_t firstArgument, float *a) {
  for (uint32_t index = 0; index < kWarpGroupSize; ++index) {
    uint32_t g = index % kWarpSize / 4, t = index % 4;
    for (uint32_t i = 0; i < 4; ++i) {
      auto pair = argument<uint32_t>(group.arguments[index], firstArgument + i);
      float *place = a + (index / kWarpSize * 16 + g + 8 * (i % 2)) * kK + 2 * t + 8 * (i / 2);
      place[0] = Convert(uint16_t(pair));
      place[1] = Convert(uint16_t(pair >> 16));
    }
  }
}

static void scatter(const WarpGroup &group, uint32_t n, bool keepsSums) {
  for (uint32_t index = 0; index < kWarpGroupSize; ++index) {
    auto *results = static_cast<float *>(group.results[index]);
    uint32_t g = index % kWarpSize / 4, t = index % 4;
    for (uint32_t x = 0; x < n / 2; ++x) {
      uint32_t row = index / kWarpSize * 16 + g + 8 * (x / 2 % 2);
      uint32_t column = x / 4 * 8 + 2 * t + x % 2;
      float sum = keepsSums ? argument<float>(group.arguments[index], x) : 0.0f;
      results[x] = sum + group.product[row * n + column];
    }
  }
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// True in the thread that comes last.
static bool arrive(Thread &thread, const Site &site, const uint64_t *arguments, void *results) {
  Block &block = *thread.block;
  uint32_t number = thread.index / kWarpGroupSize;
  if ((number + 1) * kWarpGroupSize > block.threadCount())
    block.fail(thread, site, "expects a warpgroup of 128 threads");
  WarpGroup &group = *block.warpGroups[number];
  if (group.arrived && group.site != &site)
    block.fail(thread, site,
               "the threads of warpgroup " + llvm::Twine(number) + " diverge: others are at " +
                   llvm::Twine(group.site->name) + " #" + llvm::Twine(group.site->ordinal));
  group.site = &site;
  group.arguments[thread.index % kWarpGroupSize] = arguments;
  group.results[thread.index % kWarpGroupSize] = results;
  if (++group.arrived == kWarpGroupSize)
    return true;
  group.waiting.push(thread);
  block.park(thread, Wait::WarpGroup, site);
  return false;
}

/// Arguments: n / 2 sums; then descriptors of A and B and keep, or 4 registers of A and B's descriptor.
template <ToFloat Convert, uint32_t N, bool AInRegisters>
static void multiplyAsync(Thread &thread, const Site &site, const uint64_t *arguments, void *results) {
  if (!arrive(thread, site, arguments, results))
    return;
  Block &block = *thread.block;
  WarpGroup &group = *block.warpGroups[thread.index / kWarpGroupSize];
  constexpr uint32_t kFirst = N / 2;
  bool keepsSums = true;
  if (AInRegisters) {
    gatherA<Convert>(group, kFirst, group.a.data());
  } else {
    keepsSums = argument<uint32_t>(arguments, kFirst + 2) != 0;
    const WgmmaOperand &operand = readOperand(thread, site, argument<uint64_t>(arguments, kFirst), false, kM);
    for (uint32_t at = 0; at < kM * kK; ++at)
      group.a[at] = Convert(operand.elements[at]);
  }
  uint64_t descriptor = argument<uint64_t>(arguments, kFirst + (AInRegisters ? 4 : 1));
  convertB<Convert>(readOperand(thread, site, descriptor, AInRegisters, N), group.b.data());
  multiply(group.a.data(), group.b.data(), group.product.data(), kM, N, kK);
  scatter(group, N, keepsSums);
  ++block.counters.wgmma;
  group.arrived = 0;
  block.wakeAll(group.waiting);
}

static void commit(Thread &thread, const Site &, const uint64_t *, void *) { ++thread.wgmmaGroups; }

/// The first thread that waits for a group ends it for the warpgroup.
static void waitGroups(Thread &thread, const Site &site, const uint64_t *arguments, void *) {
  Block &block = *thread.block;
  uint32_t number = thread.index / kWarpGroupSize;
  WarpGroup &group = *block.warpGroups[number];
  auto pending = argument<uint64_t>(arguments, 0);
  uint32_t done = thread.wgmmaGroups > pending ? uint32_t(thread.wgmmaGroups - pending) : 0;
  if (done > group.groupsDone) {
    uint32_t count = 0;
    for (; count < group.operandCount && group.operands[count].group <= done; ++count)
      if (block.isLazy() && !isUnchanged(thread, group.operands[count]))
        block.fail(thread, site,
                   "an operand in shared memory of " + llvm::Twine(group.operands[count].site->name) + " #" +
                       llvm::Twine(group.operands[count].site->ordinal) + " has changed before this wait for it");
    std::rotate(group.operands.begin(), group.operands.begin() + count, group.operands.begin() + group.operandCount);
    group.operandCount -= count;
    group.groupsDone = done;
  }
  Clocks &clocks = block.shadow.clocks;
  if (clocks.isOn())
    clocks.raise(clocks.row(thread.index), clocks.warpGroup(number), done);
}

void attn::emulator::startWarpGroup(std::unique_ptr<WarpGroup> &group) {
  if (!group) {
    group = std::make_unique<WarpGroup>();
    group->a.resize(kM * kK);
    group->b.resize(kK * kMostN);
    group->product.resize(kM * kMostN);
  }
  group->arrived = 0;
  group->waiting = WaitList();
  group->operandCount = 0;
  group->groupsDone = 0;
}

template <uint32_t N> static void addSize(OperationTable &table) {
  const std::string prefix = "attn_dev_wgmma_m64n" + std::to_string(N) + "k16_f32_";
  table.handle(prefix + "bf16_ss", multiplyAsync<bf16ToFloat, N, false>);
  table.handle(prefix + "bf16_rs", multiplyAsync<bf16ToFloat, N, true>);
  table.handle(prefix + "f16_ss", multiplyAsync<f16ToFloat, N, false>);
  table.handle(prefix + "f16_rs", multiplyAsync<f16ToFloat, N, true>);
  if constexpr (N < kMostN)
    addSize<N + 8>(table);
}

void attn::emulator::addWarpGroupOperations(OperationTable &table) {
  addSize<8>(table);
  const std::string prefix = kNvvm;
  table.drop(prefix + "wgmma.fence.sync.aligned");
  table.handle(prefix + "wgmma.commit_group.sync.aligned", commit);
  table.handle(prefix + "wgmma.wait_group.sync.aligned", waitGroups);
}
