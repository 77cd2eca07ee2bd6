// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What checked code may touch. Each tensor, buffer and scratch of a checked
// call is a range with a number, which the code's pointers carry in bits 48 to
// 63. Address arithmetic keeps it, so an access is compared with the range that
// its address was computed from, wherever it points.

#include "Internal.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>

using namespace attn::runtime;

static constexpr int markShift = 48;
static constexpr uintptr_t addressBits = (uintptr_t(1) << markShift) - 1;
/// Marks are from 1 to this.
static constexpr uint32_t lastMark = 0x7fff;
/// Of the dimensions whose gaps are looked at.
static constexpr int maxDims = 12;

namespace {
struct Dimension {
  int64_t size;
  /// In elements.
  int64_t stride;
};

struct Range {
  /// NULL: not in use.
  const char *name;
  uintptr_t begin;
  /// To the end of the last element.
  int64_t bytes;
  /// 0: no elements are known.
  int64_t elementBytes;
  /// By descending stride; none where there are no gaps between elements, or where it is not known.
  Dimension dims[maxDims];
  int dimCount;

  /// Whether all bytes from `offset` on belong to elements; they lie in the range.
  bool holdsElements(int64_t offset, int64_t count) const;
  /// Takes the size in bytes and the dimensions of a tensor.
  void setTensor(int64_t rank, int64_t width, const int64_t *sizes, const int64_t *strides);
};
} // namespace

struct attn::runtime::Ranges {
  /// By mark; that of 0 is not used.
  Range ranges[lastMark + 1];
  /// The mark that was given last, and the highest so far.
  uint32_t lastGiven;
  std::atomic<uint32_t> highest;
};

static uint32_t markOf(uintptr_t address) { return static_cast<uint32_t>(address >> markShift); }

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

bool Range::holdsElements(int64_t offset, int64_t count) const {
  for (int64_t at = offset; at < offset + count && dimCount > 0;) {
    int64_t element = at / elementBytes, rest = element;
    for (int d = 0; d < dimCount; ++d) {
      int64_t index = rest / dims[d].stride;
      rest -= (index < dims[d].size ? index : dims[d].size - 1) * dims[d].stride;
    }
    if (rest != 0)
      return false;
    at = (element + 1) * elementBytes;
  }
  return true;
}

/// Sorts by descending stride.
static void insert(Dimension *dims, int &count, Dimension dimension) {
  int place = count++;
  for (; place > 0 && dims[place - 1].stride < dimension.stride; --place)
    dims[place] = dims[place - 1];
  dims[place] = dimension;
}

void Range::setTensor(int64_t rank, int64_t width, const int64_t *sizes, const int64_t *strides) {
  elementBytes = width;
  int64_t last = 0, elements = 1;
  bool isKnown = true;
  for (int64_t d = 0; d < rank; ++d) {
    elements *= sizes[d];
    last += (sizes[d] - 1) * strides[d];
    if (sizes[d] <= 1 || strides[d] == 0)
      continue;
    if (dimCount < maxDims)
      insert(dims, dimCount, {sizes[d], strides[d]});
    else
      isKnown = false;
  }
  bytes = elements == 0 ? 0 : (last + 1) * width;
  // Where a stride does not step over what the smaller ones reach, elements may lie anywhere.
  int64_t reach = 0, distinct = 1;
  for (int d = dimCount; d-- > 0;) {
    isKnown &= dims[d].stride > reach;
    reach += (dims[d].size - 1) * dims[d].stride;
    distinct *= dims[d].size;
  }
  if (!isKnown || distinct == reach + 1)
    dimCount = 0;
}

/// A free range, with its mark; null where there is none. Hold the call's mutex.
static Range *findFree(Ranges &all, uint32_t &mark) {
  // One after the other, so that a freed range stays empty for long.
  for (uint32_t tries = 0; tries < lastMark; ++tries) {
    all.lastGiven = all.lastGiven % lastMark + 1;
    mark = all.lastGiven;
    if (all.ranges[mark].name)
      continue;
    if (mark > all.highest)
      all.highest = mark;
    return &all.ranges[mark];
  }
  return nullptr;
}

/// Makes a range known and marks the address.
static void *mark(Call &call, void *address, const Range &range) {
  uintptr_t plain = reinterpret_cast<uintptr_t>(address);
  if (plain > addressBits)
    fail(ATTN_RT_INVALID_ARGUMENT, "checked code expects addresses below 2^48", 0, 0);
  uint32_t number = 0;
  Range *place;
  {
    std::lock_guard<std::mutex> guard(call.mutex);
    place = findFree(*call.ranges, number);
    if (place)
      *place = range;
  }
  if (!place)
    fail(ATTN_RT_OUT_OF_MEMORY, "checked code expects at most {0} tensors and buffers alive at once", lastMark, 0);
  return reinterpret_cast<void *>(plain | uintptr_t(number) << markShift);
}

void *attn::runtime::guardMemory(Call *call, void *address, int64_t bytes, const char *name) {
  if (!call || !call->ranges || !address)
    return address;
  Range range = {};
  range.name = name;
  range.begin = reinterpret_cast<uintptr_t>(address);
  range.bytes = bytes;
  return mark(*call, address, range);
}

void *attn::runtime::unguardMemory(Call *call, void *address) {
  uint32_t number = markOf(reinterpret_cast<uintptr_t>(address));
  if (!call || !call->ranges || number == 0 || number > lastMark)
    return address;
  std::lock_guard<std::mutex> guard(call->mutex);
  call->ranges->ranges[number].name = nullptr;
  return reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(address) & addressBits);
}

void attn::runtime::releaseRanges(Call &call) {
  std::free(call.ranges);
  call.ranges = nullptr;
}

void *attn_rt_guard_tensor(const char *name, int64_t rank, int64_t elementBytes, const void *descriptor) {
  const int64_t *words = static_cast<const int64_t *>(descriptor);
  void *aligned = reinterpret_cast<void *>(words[1]);
  Call *call = currentThread().call;
  if (!call)
    return aligned;
  if (!call->ranges)
    call->ranges = static_cast<Ranges *>(std::calloc(1, sizeof(Ranges)));
  if (!call->ranges)
    fail(ATTN_RT_OUT_OF_MEMORY, "no memory for {0} bytes of bookkeeping for checked code", sizeof(Ranges), 0);
  Range range = {};
  range.name = name;
  range.begin = static_cast<uintptr_t>(words[1] + words[2] * elementBytes);
  range.setTensor(rank, elementBytes, words + 3, words + 3 + rank);
  return mark(*call, aligned, range);
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

namespace {
/// What checked code is about to do.
struct Access {
  uintptr_t address;
  int64_t bytes;
  bool isWrite;
  const char *place;

  uintptr_t plain() const { return address & addressBits; }
};
} // namespace

/// Ends the call. `name` is that of the memory, `rule` what it is like.
[[noreturn]] static void refuse(const Access &access, int64_t offset, const Range &range, const char *rule) {
  char element[48] = "";
  if (range.elementBytes > 0 && offset % range.elementBytes == 0)
    std::snprintf(element, sizeof(element), " (element %" PRId64 ")", offset / range.elementBytes);
  bool isPlaced = access.place && *access.place;
  Error error;
  error.code = ATTN_RT_OUT_OF_BOUNDS;
  std::snprintf(error.message, sizeof(error.message),
                "compiled code %s %" PRId64 " byte%s at byte %" PRId64 "%s of %s, %s%s%s",
                access.isWrite ? "writes" : "reads", access.bytes, access.bytes == 1 ? "" : "s", offset, element,
                range.name, rule, isPlaced ? "; the code comes from " : "", isPlaced ? access.place : "");
  fail(error);
}

static void checkInside(const Access &access, const Range &range) {
  int64_t offset = static_cast<int64_t>(access.plain() - range.begin);
  if (offset < 0 || access.bytes < 0 || offset > range.bytes || access.bytes > range.bytes - offset) {
    char rule[48];
    std::snprintf(rule, sizeof(rule), "which has %" PRId64 " bytes", range.bytes);
    refuse(access, offset, range, rule);
  }
  if (!range.holdsElements(offset, access.bytes))
    refuse(access, offset, range, "between its rows");
}

/// An address that comes from none of the call's tensors and buffers must not lead to any.
static void checkElsewhere(const Access &access, const Ranges &all) {
  for (uint32_t number = 1; number <= all.highest; ++number) {
    const Range &range = all.ranges[number];
    int64_t offset = static_cast<int64_t>(access.plain() - range.begin);
    if (range.name && offset < range.bytes && offset > -access.bytes)
      refuse(access, offset, range, "through an address that does not come from it");
  }
}

static void checkAccess(const Access &access, const void *object, int64_t objectBytes) {
  const Call *call = currentThread().call;
  if (!call || !call->ranges || access.bytes == 0)
    return;
  uint32_t number = markOf(access.address);
  if (number == 0 && !object)
    return checkElsewhere(access, *call->ranges);
  Range variable = {};
  variable.name = "a variable of its own";
  variable.begin = reinterpret_cast<uintptr_t>(object);
  variable.bytes = objectBytes;
  if (number == 0)
    return checkInside(access, variable);
  if (number <= lastMark && call->ranges->ranges[number].name)
    return checkInside(access, call->ranges->ranges[number]);
  variable = {};
  variable.name = "the address space";
  refuse(access, static_cast<int64_t>(access.plain()), variable, "where the call has no memory or has none any more");
}

void *attn_rt_check_access(void *address, int64_t bytes, const void *object, int64_t objectBytes, int32_t isWrite,
                           const char *place) {
  Access access = {reinterpret_cast<uintptr_t>(address), bytes, isWrite != 0, place};
  checkAccess(access, object, objectBytes);
  return reinterpret_cast<void *>(access.plain());
}

void *attn_rt_check_lanes(void *address, int64_t elementBytes, uint64_t lanes, const void *object, int64_t objectBytes,
                          int32_t isWrite, const char *place) {
  uintptr_t first = reinterpret_cast<uintptr_t>(address);
  for (int64_t lane = 0; lane < 64; ++lane)
    if (lanes >> lane & 1)
      checkAccess({first + lane * elementBytes, elementBytes, isWrite != 0, place}, object, objectBytes);
  return reinterpret_cast<void *>(first & addressBits);
}
