//===- BlockErrors.cpp - what went wrong in a block ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Texts are built in functions that return before the block is left: nothing on the stack is destroyed then.
//
//===----------------------------------------------------------------------===//

#include "Block.h"

using namespace attn::emulator;

static std::string coordinates(const uint32_t *index) {
  return "(" + std::to_string(index[0]) + ", " + std::to_string(index[1]) + ", " + std::to_string(index[2]) + ")";
}

void Block::describe(const Thread &thread, const Site &site, const llvm::Twine &message) {
  failure = "kernel '" + state->launch.kernel + "', block " + coordinates(blockIndex) + ", thread " +
            coordinates(thread.id) + ", at " + site.str() + ": " + message.str();
}

void Block::fail(const Thread &thread, const Site &site, const llvm::Twine &message) {
  describe(thread, site, message);
  leave();
}

std::string Block::name(Actor actor) {
  const Clocks &clocks = shadow.clocks;
  if (clocks.isThread(actor))
    return "thread " + coordinates(threads[actor].id);
  if (actor < clocks.warpGroup(0))
    return "a copy";
  if (actor < clocks.store(0))
    return "warpgroup " + std::to_string(actor - clocks.warpGroup(0));
  return "a bulk store";
}

void Block::failConflict(const Thread &thread, const Site &site, const Conflict &conflict, bool isWrite) {
  {
    std::string text = std::string(isWrite ? "writes" : "reads") + " offset " + std::to_string(conflict.offset) +
                       " of shared memory, ";
    const Access &other = conflict.other;
    std::string by = other.site < state->sites.size() ? " at " + state->sites[other.site]->str() : "";
    if (conflict.kind == Conflict::Uninitialized)
      text += "which this block has not written";
    else if (conflict.kind == Conflict::Pending)
      text += "which the asynchronous copy" + by + " writes and nothing has waited for";
    else if (conflict.kind == Conflict::Unfenced)
      text += "which " + name(other.actor) + " wrote" + by + ", without a fence.proxy.async in between";
    else
      text += "a race: " + name(other.actor) + " " + (conflict.otherIsWrite ? "wrote" : "reads") + " it" + by +
              ", and no barrier orders them";
    describe(thread, site, text);
  }
  leave();
}

/// As in "0-4, 6-31".
static std::string listLanes(uint32_t lanes) {
  std::string text;
  for (uint32_t first = 0; first < kWarpSize; ++first) {
    if (!(lanes >> first & 1))
      continue;
    uint32_t last = first;
    while (last + 1 < kWarpSize && (lanes >> (last + 1) & 1))
      ++last;
    text += (text.empty() ? "" : ", ") + std::to_string(first) + (last > first ? "-" + std::to_string(last) : "");
    first = last;
  }
  return text;
}

void Block::failDivergent(const Thread &thread, const Site &site, const Rendezvous &other, uint32_t mask) {
  describe(thread, site,
           "the lanes of warp " + llvm::Twine(thread.warp->index) + " diverge: lanes " + listLanes(other.arrived) +
               " are at " + other.site->str() + " with mask 0x" + llvm::Twine::utohexstr(other.mask) +
               ", this one comes with mask 0x" + llvm::Twine::utohexstr(mask));
  leave();
}

//===----------------------------------------------------------------------===//
// Deadlocks
//===----------------------------------------------------------------------===//

/// Threads wait for the same thing at the same place.
static bool isSameWait(const Thread &a, const Thread &b) {
  if (a.wait != b.wait)
    return false;
  return a.wait == Wait::Exited || (a.site == b.site && a.waitsFor == b.waitsFor);
}

static std::string describeWait(Block &block, const Thread &thread) {
  if (thread.wait == Wait::Exited)
    return "exited";
  std::string text = "at " + thread.site->str();
  switch (thread.wait) {
  case Wait::Barrier: {
    const NamedBarrier &barrier = block.barriers[thread.waitsFor];
    return text + ", barrier " + std::to_string(thread.waitsFor) + ": " + std::to_string(barrier.arrived) + " of " +
           std::to_string(barrier.expected ? barrier.expected : block.alive) + " threads have arrived";
  }
  case Wait::MBarrier:
  case Wait::Poll: {
    if (thread.waitsFor >= block.mbarriers.size())
      return text;
    const MBarrier &barrier = block.mbarriers[thread.waitsFor];
    return text + ", mbarrier at offset " + std::to_string(barrier.offset) + ": phase " +
           std::to_string(barrier.phase) + " (parity " + std::to_string(barrier.phase & 1) + ") lacks " +
           std::to_string(barrier.pending) + " of " + std::to_string(barrier.expected) + " arrivals and " +
           std::to_string(barrier.bytes) + " bytes";
  }
  case Wait::Registers:
    return text + ", for " + std::to_string(thread.waitsFor) + " more registers: the block has " +
           std::to_string(block.freeRegisters) + " free";
  case Wait::Collective:
    return text + ", for the other lanes of the warp";
  case Wait::WarpGroup:
    return text + ", for the other warps of the warpgroup";
  default:
    return text;
  }
}

/// A text for each group of lanes that wait together.
static std::vector<std::string> describeWarp(const Warp &warp) {
  std::vector<std::string> lines;
  for (uint32_t left = warp.lanes; left;) {
    const Thread &first = warp.threads[__builtin_ctz(left)];
    uint32_t same = 0;
    for (uint32_t rest = left; rest; rest &= rest - 1)
      if (isSameWait(first, warp.threads[__builtin_ctz(rest)]))
        same |= rest & -rest;
    lines.push_back("lanes " + listLanes(same) + ": " + describeWait(*warp.block, first));
    left &= ~same;
  }
  return lines;
}

/// Warps that do the same are one entry.
void Block::describeDeadlock() {
  failure = "kernel '" + state->launch.kernel + "', block " + coordinates(blockIndex) + ": deadlock:";
  for (uint32_t first = 0; first < warps.size();) {
    std::vector<std::string> lines = describeWarp(warps[first]);
    uint32_t end = first + 1;
    while (end < warps.size() && describeWarp(warps[end]) == lines)
      ++end;
    std::string name = end == first + 1 ? "warp " + std::to_string(first)
                                        : "warps " + std::to_string(first) + "-" + std::to_string(end - 1);
    for (const std::string &line : lines)
      failure += "\n  " + name + ", " + line;
    first = end;
  }
}

void Block::failDeadlocked() {
  describeDeadlock();
  leave();
}
