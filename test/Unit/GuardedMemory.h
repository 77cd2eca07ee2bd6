//===- GuardedMemory.h - memory between pages that fault -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TEST_UNIT_GUARDEDMEMORY_H
#define ATTN_TEST_UNIT_GUARDEDMEMORY_H

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>
#include <vector>

/// Bytes between two pages that may be neither read nor written, so that code which leaves them dies there and then.
/// They touch one of the pages, and up to the other all bytes are 0xff: NaN in every float type, which shows where it
/// is read, and `isIntact` tells whether it was written.
class GuardedMemory {
public:
  enum class Side { Front, Back };
  /// The first or the last byte is next to its page; every second object of the program takes the front.
  static Side otherSide() {
    static unsigned count = 0;
    return count++ % 2 ? Side::Front : Side::Back;
  }

  explicit GuardedMemory(int64_t bytes, Side side = otherSide()) : count(bytes) {
    const int64_t page = sysconf(_SC_PAGESIZE);
    inner = (bytes + page) / page * page;
    whole = inner + 2 * page;
    void *mapped = mmap(nullptr, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
      std::abort();
    base = static_cast<unsigned char *>(mapped);
    if (mprotect(base + page, inner, PROT_READ | PROT_WRITE) != 0)
      std::abort();
    std::fill_n(base + page, inner, kFill);
    first = base + page + (side == Side::Back ? inner - bytes : 0);
  }
  GuardedMemory(GuardedMemory &&other)
      : count(other.count), inner(other.inner), whole(other.whole), base(std::exchange(other.base, nullptr)),
        first(other.first) {}
  ~GuardedMemory() {
    if (base)
      munmap(base, whole);
  }

  unsigned char *data() const { return first; }
  int64_t size() const { return count; }

  /// True if what lies between the bytes and the pages is as it was.
  bool isIntact() const {
    const unsigned char *begin = base + (whole - inner) / 2, *end = begin + inner;
    auto isFill = [](unsigned char byte) { return byte == kFill; };
    return std::all_of(begin, static_cast<const unsigned char *>(first), isFill) &&
           std::all_of(static_cast<const unsigned char *>(first + count), end, isFill);
  }

private:
  static constexpr unsigned char kFill = 0xff;
  int64_t count, inner, whole;
  unsigned char *base, *first;
};

/// Elements in guarded memory, of a type that is copied as bytes; all bytes 0xff until they are set.
template <typename T> class GuardedVector {
public:
  explicit GuardedVector(int64_t count) : memory(count * sizeof(T)) {}
  explicit GuardedVector(const std::vector<T> &values) : GuardedVector(int64_t(values.size())) {
    std::copy(values.begin(), values.end(), begin());
  }

  T *data() const { return reinterpret_cast<T *>(memory.data()); }
  size_t size() const { return memory.size() / sizeof(T); }
  T *begin() const { return data(); }
  T *end() const { return data() + size(); }
  T &operator[](size_t element) const { return data()[element]; }
  bool isIntact() const { return memory.isIntact(); }

private:
  GuardedMemory memory;
};

#endif // ATTN_TEST_UNIT_GUARDEDMEMORY_H
