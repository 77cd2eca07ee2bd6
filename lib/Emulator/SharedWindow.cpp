//===- SharedWindow.cpp - the shared memory of a block ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SharedWindow.h"
#include <atomic>
#include <sys/mman.h>

using namespace attn::emulator;

// Where windows may lie: above what programs at fixed addresses take, below AddressSanitizer's shadow. Every second
// place stays free.
static constexpr uint64_t kFirst = 0x10000000;
static constexpr uint64_t kStep = 2 * SharedWindow::kBytes;
static constexpr uint64_t kPlaces = (0x7F000000 - kFirst) / kStep;

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0
#endif

/// Null where the place is taken. Without MAP_FIXED_NOREPLACE the address is a wish.
static char *mapAt(uint64_t place) {
  void *wanted = reinterpret_cast<void *>(place);
  void *mapped = mmap(wanted, SharedWindow::kBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (mapped == MAP_FAILED)
    return nullptr;
  if (mapped == wanted)
    return static_cast<char *>(mapped);
  munmap(mapped, SharedWindow::kBytes);
  return nullptr;
}

llvm::Expected<SharedWindow> SharedWindow::create() {
  // Windows are asked for one after another: the next one is most likely free.
  static std::atomic<uint64_t> next{0};
  for (uint64_t attempt = 0; attempt < kPlaces; ++attempt) {
    SharedWindow window;
    window.address = mapAt(kFirst + next++ % kPlaces * kStep);
    if (window.address)
      return window;
  }
  return llvm::createStringError("no memory below 4 GiB is free for a block's shared memory");
}

SharedWindow::~SharedWindow() {
  if (address)
    munmap(address, kBytes);
}
