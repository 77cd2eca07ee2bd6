//===- WarpOperations.cpp - shuffles, votes and reductions --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Operations.h"
#include <algorithm>
#include <cmath>

using namespace attn::emulator;

/// Calls function(lane) for the lanes of a mask.
template <typename Function> static void forLanes(uint32_t mask, Function function) {
  for (; mask; mask &= mask - 1)
    function(uint32_t(__builtin_ctz(mask)));
}

//===----------------------------------------------------------------------===//
// shfl.sync: mask, value, b, c; result: value, and whether the source lane is in range
//===----------------------------------------------------------------------===//

enum class Shuffle { Index, Up, Down, Butterfly };

/// The lane to read from (PTX ISA, shfl.sync): c holds a clamp in bits 0 to 4 and a segment mask in bits 8 to 12.
static bool findSource(Shuffle mode, uint32_t lane, uint32_t b, uint32_t c, uint32_t &source) {
  b &= 31;
  uint32_t segment = c >> 8 & 31;
  uint32_t highest = (lane & segment) | (c & 31 & ~segment);
  switch (mode) {
  case Shuffle::Up:
    source = lane - b;
    return int32_t(source) >= int32_t(highest);
  case Shuffle::Down:
    source = lane + b;
    return source <= highest;
  case Shuffle::Butterfly:
    source = lane ^ b;
    return source <= highest;
  case Shuffle::Index:
    source = (lane & segment) | (b & ~segment);
    return source <= highest;
  }
  return false;
}

template <Shuffle Mode, bool HasPredicate>
static void shuffle(Thread &thread, const Site &site, const uint64_t *arguments, void *results) {
  auto mask = argument<uint32_t>(arguments, 0);
  if (!thread.block->arrive(thread, site, mask, arguments, results))
    return;
  Warp &warp = *thread.warp;
  forLanes(mask & warp.lanes, [&](uint32_t lane) {
    uint32_t source = 0;
    const uint64_t *own = warp.arguments[lane];
    bool isInRange = findSource(Mode, lane, argument<uint32_t>(own, 2), argument<uint32_t>(own, 3), source);
    if (!isInRange)
      source = lane;
    if (!(mask & warp.lanes & 1u << source))
      thread.block->fail(warp.threads[lane], site, "reads lane " + llvm::Twine(source) + ", which does not take part");
    setResult(warp.results[lane], argument<uint32_t>(warp.arguments[source], 1));
    if (HasPredicate)
      setResult(warp.results[lane], uint8_t(isInRange), 4);
  });
  thread.block->release(thread, mask);
}

template <Shuffle Mode> static void addShuffle(OperationTable &table, const char *mode) {
  for (const char *type : {"f32", "i32"}) {
    std::string name = (kNvvm + llvm::Twine("shfl.sync.") + mode + "." + type).str();
    table.handle(name, shuffle<Mode, false>);
    table.handle(name + "p", shuffle<Mode, true>);
  }
}

//===----------------------------------------------------------------------===//
// vote.sync, match.sync, elect.sync: mask first
//===----------------------------------------------------------------------===//

/// The lanes whose byte argument is set.
static uint32_t ballot(const Warp &warp, uint32_t mask) {
  uint32_t result = 0;
  forLanes(mask & warp.lanes, [&](uint32_t lane) {
    if (argument<uint8_t>(warp.arguments[lane], 1))
      result |= 1u << lane;
  });
  return result;
}

/// Decide: what all lanes get, of the mask and the lanes that vote yes.
template <typename Result, Result (*Decide)(uint32_t mask, uint32_t yes)>
static void vote(Thread &thread, const Site &site, const uint64_t *arguments, void *results) {
  auto mask = argument<uint32_t>(arguments, 0);
  if (!thread.block->arrive(thread, site, mask, arguments, results))
    return;
  Warp &warp = *thread.warp;
  Result result = Decide(mask & warp.lanes, ballot(warp, mask));
  forLanes(mask & warp.lanes, [&](uint32_t lane) { setResult(warp.results[lane], result); });
  thread.block->release(thread, mask);
}

static uint8_t isAll(uint32_t mask, uint32_t yes) { return mask == yes; }
static uint8_t isAny(uint32_t, uint32_t yes) { return yes != 0; }
static uint8_t isUniform(uint32_t mask, uint32_t yes) { return yes == 0 || yes == mask; }
static uint32_t lanesOf(uint32_t, uint32_t yes) { return yes; }

/// {lane, isElected}: the lowest lane of the mask.
static void elect(Thread &thread, const Site &site, const uint64_t *arguments, void *results) {
  auto mask = argument<uint32_t>(arguments, 0);
  if (!thread.block->arrive(thread, site, mask, arguments, results))
    return;
  Warp &warp = *thread.warp;
  uint32_t elected = __builtin_ctz(mask & warp.lanes);
  forLanes(mask & warp.lanes, [&](uint32_t lane) {
    setResult(warp.results[lane], elected);
    setResult(warp.results[lane], uint8_t(lane == elected), 4);
  });
  thread.block->release(thread, mask);
}

/// The lanes with the same value; All: those of the mask where all have it, else 0, and whether they do.
template <typename Value, bool All>
static void match(Thread &thread, const Site &site, const uint64_t *arguments, void *results) {
  auto mask = argument<uint32_t>(arguments, 0);
  if (!thread.block->arrive(thread, site, mask, arguments, results))
    return;
  Warp &warp = *thread.warp;
  uint32_t present = mask & warp.lanes;
  forLanes(present, [&](uint32_t lane) {
    uint32_t same = 0;
    forLanes(present, [&](uint32_t other) {
      if (argument<Value>(warp.arguments[other], 1) == argument<Value>(warp.arguments[lane], 1))
        same |= 1u << other;
    });
    bool isAllSame = same == present;
    setResult(warp.results[lane], All && !isAllSame ? 0u : same);
    if (All)
      setResult(warp.results[lane], uint8_t(isAllSame), 4);
  });
  thread.block->release(thread, mask);
}

//===----------------------------------------------------------------------===//
// redux.sync: value, mask
//===----------------------------------------------------------------------===//

template <typename Value, Value (*Combine)(Value, Value)>
static void reduce(Thread &thread, const Site &site, const uint64_t *arguments, void *results) {
  auto mask = argument<uint32_t>(arguments, 1);
  if (!thread.block->arrive(thread, site, mask, arguments, results))
    return;
  Warp &warp = *thread.warp;
  uint32_t present = mask & warp.lanes;
  auto result = argument<Value>(warp.arguments[__builtin_ctz(present)], 0);
  forLanes(present & (present - 1),
           [&](uint32_t lane) { result = Combine(result, argument<Value>(warp.arguments[lane], 0)); });
  forLanes(present, [&](uint32_t lane) { setResult(warp.results[lane], result); });
  thread.block->release(thread, mask);
}

template <typename Value> static Value add(Value a, Value b) { return a + b; }
template <typename Value> static Value least(Value a, Value b) { return std::min(a, b); }
template <typename Value> static Value greatest(Value a, Value b) { return std::max(a, b); }
static uint32_t bitAnd(uint32_t a, uint32_t b) { return a & b; }
static uint32_t bitOr(uint32_t a, uint32_t b) { return a | b; }
static uint32_t bitXor(uint32_t a, uint32_t b) { return a ^ b; }
static float leastNumber(float a, float b) { return std::fmin(a, b); }
static float greatestNumber(float a, float b) { return std::fmax(a, b); }
static float leastOrNan(float a, float b) { return std::isnan(a) || std::isnan(b) ? NAN : std::fmin(a, b); }
static float greatestOrNan(float a, float b) { return std::isnan(a) || std::isnan(b) ? NAN : std::fmax(a, b); }

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static void addReductions(OperationTable &table) {
  const std::string prefix = std::string(kNvvm) + "redux.sync.";
  table.handle(prefix + "add", reduce<uint32_t, add<uint32_t>>);
  table.handle(prefix + "min", reduce<int32_t, least<int32_t>>);
  table.handle(prefix + "max", reduce<int32_t, greatest<int32_t>>);
  table.handle(prefix + "umin", reduce<uint32_t, least<uint32_t>>);
  table.handle(prefix + "umax", reduce<uint32_t, greatest<uint32_t>>);
  table.handle(prefix + "and", reduce<uint32_t, bitAnd>);
  table.handle(prefix + "or", reduce<uint32_t, bitOr>);
  table.handle(prefix + "xor", reduce<uint32_t, bitXor>);
  table.handle(prefix + "fmin", reduce<float, leastNumber>);
  table.handle(prefix + "fmax", reduce<float, greatestNumber>);
  table.handle(prefix + "fmin.NaN", reduce<float, leastOrNan>);
  table.handle(prefix + "fmax.NaN", reduce<float, greatestOrNan>);
}

void attn::emulator::addWarpOperations(OperationTable &table) {
  const std::string prefix = kNvvm;
  addShuffle<Shuffle::Index>(table, "idx");
  addShuffle<Shuffle::Up>(table, "up");
  addShuffle<Shuffle::Down>(table, "down");
  addShuffle<Shuffle::Butterfly>(table, "bfly");
  table.handle(prefix + "vote.all.sync", vote<uint8_t, isAll>);
  table.handle(prefix + "vote.any.sync", vote<uint8_t, isAny>);
  table.handle(prefix + "vote.uni.sync", vote<uint8_t, isUniform>);
  table.handle(prefix + "vote.ballot.sync", vote<uint32_t, lanesOf>);
  table.handle(prefix + "match.any.sync.i32", match<uint32_t, false>);
  table.handle(prefix + "match.any.sync.i64", match<uint64_t, false>);
  table.handle(prefix + "match.all.sync.i32p", match<uint32_t, true>);
  table.handle(prefix + "match.all.sync.i64p", match<uint64_t, true>);
  table.handle(prefix + "elect.sync", elect);
  addReductions(table);
}
