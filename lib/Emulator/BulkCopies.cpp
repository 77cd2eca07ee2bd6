//===- BulkCopies.cpp - TMA ---------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads wait in a queue of the block until no thread can run, or happen when they are issued. Stores wait in a queue of
// their thread until it waits for them.
//
//===----------------------------------------------------------------------===//

#include "AsyncCopies.h"
#include "Barriers.h"
#include "Operations.h"
#include <algorithm>

using namespace attn::emulator;

static constexpr uint32_t kChunk = 16;
/// The most elements of a box along one dimension, and bytes of one.
static constexpr uint32_t kMostBox = 256;
static constexpr uint32_t kMostElementBytes = 8;

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

static uint32_t countBoxBytes(const attn_rt_tensor_map &map) {
  uint32_t bytes = map.element_bytes;
  for (int32_t k = 0; k < map.rank; ++k)
    bytes *= map.box[k];
  return bytes;
}

/// One row of a box: where it lies in global memory, and which of its elements exist.
struct BoxRow {
  char *global;
  /// Elements [first, last) exist.
  int64_t first;
  int64_t last;
};

/// The row'th row, counted with dimension 1 fastest.
static BoxRow findRow(const attn_rt_tensor_map &map, const int32_t *coordinates, uint32_t row) {
  int64_t offset = coordinates[0] * map.strides[0];
  BoxRow result = {nullptr, std::clamp<int64_t>(-int64_t(coordinates[0]), 0, map.box[0]),
                   std::clamp<int64_t>(map.sizes[0] - coordinates[0], 0, map.box[0])};
  for (int32_t k = 1; k < map.rank; ++k) {
    int64_t at = int64_t(coordinates[k]) + row % map.box[k];
    row /= map.box[k];
    if (at < 0 || at >= map.sizes[k])
      result.last = result.first;
    offset += at * map.strides[k];
  }
  result.global = static_cast<char *>(const_cast<void *>(map.base)) + offset;
  return result;
}

/// Between a row in shared memory, in swizzled chunks, and bytes in a row.
template <bool ToShared>
static void moveRow(char *window, uint32_t offset, uint32_t bytes, uint32_t swizzleBytes, char *row) {
  for (uint32_t at = 0; at < bytes; at += kChunk) {
    char *chunk = window + swizzle(offset + at, swizzleBytes);
    uint32_t size = std::min(kChunk, bytes - at);
    if (ToShared)
      std::memcpy(chunk, row + at, size);
    else
      std::memcpy(row + at, chunk, size);
  }
}

/// Elements outside of the tensor are zeros when they are read, and are not written.
template <bool ToShared> static void copyBox(const Block &block, const BulkCopy &copy) {
  const attn_rt_tensor_map &map = *copy.map;
  const uint32_t element = map.element_bytes;
  const uint32_t rowBytes = map.box[0] * element;
  const uint32_t rows = countBoxBytes(map) / rowBytes;
  char buffer[kMostBox * kMostElementBytes];
  for (uint32_t row = 0; row < rows; ++row) {
    BoxRow found = findRow(map, copy.coordinates, row);
    uint32_t offset = block.offsetOf(copy.shared) + row * rowBytes;
    bool hasElements = found.first < found.last;
    int64_t begin = found.first * element;
    int64_t bytes = (found.last - found.first) * element;
    if (ToShared) {
      std::memset(buffer, 0, rowBytes);
      if (hasElements)
        std::memcpy(buffer + begin, found.global + begin, bytes);
      moveRow<true>(block.sharedBase(), offset, rowBytes, map.swizzle_bytes, buffer);
    } else if (hasElements) {
      moveRow<false>(block.sharedBase(), offset, rowBytes, map.swizzle_bytes, buffer);
      std::memcpy(found.global + begin, buffer + begin, bytes);
    }
  }
}

//===----------------------------------------------------------------------===//
// What is copied
//===----------------------------------------------------------------------===//

/// The map behind the 128 bytes that the kernel's parameter points to.
static const attn_rt_tensor_map *readMap(const uint64_t *arguments, unsigned index) {
  return *argument<const attn_rt_tensor_map *const *>(arguments, index);
}

/// A tensor copy, with the coordinates from arguments[first] on.
static BulkCopy makeTensorCopy(Thread &thread, const Site &site, const uint64_t *arguments, unsigned rank,
                               uint64_t address, const attn_rt_tensor_map *map, unsigned first) {
  Block &block = *thread.block;
  if (uint32_t(map->rank) != rank)
    block.fail(thread, site,
               "expects a tensor map of rank " + llvm::Twine(rank) + ", but got one of rank " + llvm::Twine(map->rank));
  if (!map->base || std::find(map->sizes, map->sizes + rank, 0) != map->sizes + rank)
    block.fail(thread, site, "expects a tensor map with an address and elements");
  BulkCopy copy = {};
  copy.map = map;
  copy.bytes = countBoxBytes(*map);
  // The pattern of a swizzle repeats every 8 of its rows.
  copy.shared = block.shared(thread, site, address, copy.bytes, std::max(128, map->swizzle_bytes * 8));
  for (unsigned k = 0; k < rank; ++k)
    copy.coordinates[k] = argument<int32_t>(arguments, first + k);
  copy.site = &site;
  copy.thread = &thread;
  return copy;
}

static BulkCopy makePlainCopy(Thread &thread, const Site &site, uint64_t shared, uint64_t global, uint32_t bytes) {
  Block &block = *thread.block;
  if (bytes % kChunk || global % kChunk)
    block.fail(thread, site,
               "expects a global address and a size that are multiples of 16, but got " + llvm::Twine(global) +
                   " and " + llvm::Twine(bytes));
  BulkCopy copy = {};
  copy.shared = block.shared(thread, site, shared, bytes, kChunk);
  copy.global = reinterpret_cast<char *>(global);
  copy.bytes = bytes;
  copy.site = &site;
  copy.thread = &thread;
  return copy;
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

static void issueLoad(BulkCopy copy, uint64_t mbarrier) {
  Thread &thread = *copy.thread;
  Block &block = *thread.block;
  copy.signal = findMBarrier(thread, *copy.site, mbarrier);
  block.noteWrite(thread, *copy.site, block.shadow.clocks.mbarrier(copy.signal), copy.shared, copy.bytes,
                  /*isPending=*/true);
  ++block.counters.bulkCopies;
  block.counters.copiedBytes += copy.bytes;
  block.loads.push_back(copy);
  if (!block.isLazy())
    deliverLoad(block);
}

/// The cp.async of a thread are done, and arrive for it.
static void deliverArrival(const BulkCopy &arrival) {
  Thread &thread = *arrival.thread;
  settleCopies(thread, thread.copies.size());
  for (uint32_t &end : thread.groupEnds)
    end = 0;
  arriveAtMBarrier(thread, *arrival.site, arrival.signal, 1);
}

void attn::emulator::deliverLoad(Block &block) {
  size_t place = 0;
  if (block.launchState().options.order == Order::Lifo)
    place = block.loads.size() - 1;
  else if (block.launchState().options.order == Order::Random)
    place = block.draw() % block.loads.size();
  BulkCopy copy = block.loads[place];
  block.loads.erase(block.loads.begin() + place);
  if (copy.isArrival)
    return deliverArrival(copy);
  if (copy.map)
    copyBox<true>(block, copy);
  else
    std::memcpy(copy.shared, copy.global, copy.bytes);
  Shadow &shadow = block.shadow;
  Actor actor = shadow.clocks.mbarrier(copy.signal);
  if (shadow.clocks.isOn())
    shadow.clocks.tick(actor);
  const uint32_t *row = shadow.clocks.row(actor);
  if (shadow.isOn())
    shadow.settle(actor, row ? row[actor] : 0, block.offsetOf(copy.shared), copy.bytes);
  completeBytes(block, copy.signal, copy.bytes);
}

/// shared, mbarrier, map, coordinates, ...
template <unsigned Rank> static void loadTensor(Thread &thread, const Site &site, const uint64_t *arguments, void *) {
  issueLoad(makeTensorCopy(thread, site, arguments, Rank, argument<uint64_t>(arguments, 0), readMap(arguments, 2), 3),
            argument<uint64_t>(arguments, 1));
}

/// shared, mbarrier, global, bytes, ...
static void loadBytes(Thread &thread, const Site &site, const uint64_t *arguments, void *) {
  issueLoad(makePlainCopy(thread, site, argument<uint64_t>(arguments, 0), argument<uint64_t>(arguments, 2),
                          argument<uint32_t>(arguments, 3)),
            argument<uint64_t>(arguments, 1));
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

static void performStore(const Block &block, const BulkCopy &copy) {
  if (copy.map)
    copyBox<false>(block, copy);
  else
    std::memcpy(copy.global, copy.shared, copy.bytes);
}

static void issueStore(BulkCopy copy) {
  Thread &thread = *copy.thread;
  Block &block = *thread.block;
  Clocks &clocks = block.shadow.clocks;
  copy.signal = thread.storeGroups + 1;
  if (thread.storeActor < 0)
    thread.storeActor = clocks.store(block.storeActors++ % Clocks::kStores);
  // The engine reads until the thread has waited for the group.
  block.noteRead(thread, *copy.site, thread.storeActor, clocks.step(copy.signal), clocks.row(thread.index), copy.shared,
                 copy.bytes);
  if (!block.isLazy())
    performStore(block, copy);
  thread.stores.push_back(copy);
  ++block.counters.bulkCopies;
  block.counters.copiedBytes += copy.bytes;
}

static void commitStores(Thread &thread, const Site &, const uint64_t *, void *) { ++thread.storeGroups; }

static void waitStores(Thread &thread, const Site &, const uint64_t *arguments, void *) {
  Block &block = *thread.block;
  auto pending = argument<uint32_t>(arguments, 0);
  uint32_t done = thread.storeGroups > pending ? thread.storeGroups - pending : 0;
  auto isLater = [&](const BulkCopy &copy) { return copy.signal > done; };
  auto end = std::find_if(thread.stores.begin(), thread.stores.end(), isLater);
  if (block.isLazy())
    for (auto copy = thread.stores.begin(); copy != end; ++copy)
      performStore(block, *copy);
  thread.stores.erase(thread.stores.begin(), end);
  Clocks &clocks = block.shadow.clocks;
  if (clocks.isOn() && thread.storeActor >= 0)
    clocks.raise(clocks.row(thread.index), thread.storeActor, done);
}

void attn::emulator::checkStoresAreDone(Thread &thread) {
  if (!thread.stores.empty())
    thread.block->fail(thread, *thread.stores.front().site,
                       "the thread exits before it has waited for this store to read shared memory");
}

/// shared, map, coordinates, ...
template <unsigned Rank> static void storeTensor(Thread &thread, const Site &site, const uint64_t *arguments, void *) {
  issueStore(makeTensorCopy(thread, site, arguments, Rank, argument<uint64_t>(arguments, 0), readMap(arguments, 1), 2));
}

/// global, shared, bytes, ...
static void storeBytes(Thread &thread, const Site &site, const uint64_t *arguments, void *) {
  issueStore(makePlainCopy(thread, site, argument<uint64_t>(arguments, 1), argument<uint64_t>(arguments, 0),
                           argument<uint32_t>(arguments, 2)));
}

/// What the thread knows of is visible to TMA and wgmma.
static void fenceProxies(Thread &thread, const Site &, const uint64_t *, void *) {
  Clocks &clocks = thread.block->shadow.clocks;
  if (clocks.isOn())
    clocks.fence(thread.index);
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

template <unsigned Rank> static void addTensorCopies(OperationTable &table) {
  const std::string prefix = std::string(kNvvm) + "cp.async.bulk.tensor.";
  const std::string rank = std::to_string(Rank) + "d";
  table.handle(prefix + "g2s.cta.tile." + rank, loadTensor<Rank>);
  table.handle(prefix + "g2s.tile." + rank, loadTensor<Rank>);
  table.handle(prefix + "s2g.tile." + rank, storeTensor<Rank>);
  table.drop(prefix + "prefetch.tile." + rank);
}

void attn::emulator::addBulkCopies(OperationTable &table) {
  addTensorCopies<1>(table);
  addTensorCopies<2>(table);
  addTensorCopies<3>(table);
  addTensorCopies<4>(table);
  addTensorCopies<5>(table);
  const std::string prefix = kNvvm;
  table.handle(prefix + "cp.async.bulk.global.to.shared.cta", loadBytes);
  table.handle(prefix + "cp.async.bulk.global.to.shared.cluster", loadBytes);
  table.handle(prefix + "cp.async.bulk.shared.cta.to.global", storeBytes);
  table.handle(prefix + "cp.async.bulk.commit.group", commitStores);
  table.handle(prefix + "cp.async.bulk.wait.group", waitStores);
  table.handle(prefix + "cp.async.bulk.wait.group.read", waitStores);
  table.drop(prefix + "cp.async.bulk.prefetch.L2");
  for (const char *pointer : {"p0", "p4"})
    table.drop(prefix + "prefetch.tensormap." + pointer);
  for (const char *space : {"", ".shared_cta", ".shared_cluster"})
    table.handle(prefix + "fence.proxy.async" + space, fenceProxies);
  table.drop(prefix + "fence.proxy.async.global");
  table.drop(prefix + "fence.proxy.alias");
}
