// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buffers of generated code, and scratch.
//
// A buffer's header sits right before it, so that free needs no lookup:
//   base | padding | Buffer | the buffer, aligned

#include "Internal.h"

#include <cstdlib>

using namespace attn::runtime;

struct attn::runtime::Buffer {
  Buffer *previous;
  Buffer *next;
  /// NULL: allocated outside any call.
  Call *owner;
  /// What malloc returned.
  void *base;
  int64_t bytes;
  bool counted;
};

void Call::countBuffer(int64_t bytes) {
  ++allocations;
  liveBytes += bytes;
  if (liveBytes > peakBytes)
    peakBytes = liveBytes;
}

/// Links the buffer into its owner's list and counters.
static void link(Buffer &buffer) {
  Call &call = *buffer.owner;
  std::lock_guard<std::mutex> guard(call.mutex);
  buffer.previous = nullptr;
  buffer.next = call.buffers;
  if (buffer.next)
    buffer.next->previous = &buffer;
  call.buffers = &buffer;
  if (buffer.counted)
    call.countBuffer(buffer.bytes);
}

/// Takes the buffer out of its owner's list and counters.
static void unlink(Buffer &buffer) {
  Call &call = *buffer.owner;
  std::lock_guard<std::mutex> guard(call.mutex);
  (buffer.previous ? buffer.previous->next : call.buffers) = buffer.next;
  if (buffer.next)
    buffer.next->previous = buffer.previous;
  if (buffer.counted)
    call.uncountBuffer(buffer.bytes);
}

uint64_t attn::runtime::checkBuffer(uint64_t alignment, uint64_t size) {
  if (alignment < uint64_t(minAlignment))
    alignment = minAlignment;
  if ((alignment & (alignment - 1)) != 0 || alignment > uint64_t(maxBytes))
    fail(ATTN_RT_INVALID_ARGUMENT, "a buffer's alignment must be a power of two up to {1}, but got {0}",
         static_cast<int64_t>(alignment), maxBytes);
  if (size > uint64_t(maxBytes))
    fail(ATTN_RT_OUT_OF_MEMORY, "a buffer of {0} bytes (as signed 64 bits) exceeds {1}", static_cast<int64_t>(size),
         maxBytes);
  return alignment;
}

void *attn::runtime::allocateBuffer(uint64_t alignment, uint64_t size, bool counted) {
  alignment = checkBuffer(alignment, size);
  void *base = std::malloc(sizeof(Buffer) + alignment + size);
  if (!base)
    fail(ATTN_RT_OUT_OF_MEMORY, "no memory for a buffer of {0} bytes aligned to {1}", static_cast<int64_t>(size),
         static_cast<int64_t>(alignment));
  uintptr_t first = reinterpret_cast<uintptr_t>(base) + sizeof(Buffer);
  uintptr_t aligned = (first + alignment - 1) & ~uintptr_t(alignment - 1);
  auto *buffer = reinterpret_cast<Buffer *>(aligned - sizeof(Buffer));
  *buffer = {nullptr, nullptr, currentThread().call, base, static_cast<int64_t>(size), counted};
  if (buffer->owner)
    link(*buffer);
  return reinterpret_cast<void *>(aligned);
}

void attn::runtime::freeBuffer(void *pointer) {
  if (!pointer)
    return;
  Buffer *buffer = static_cast<Buffer *>(pointer) - 1;
  if (buffer->owner)
    unlink(*buffer);
  std::free(buffer->base);
}

void attn::runtime::releaseBuffers(Call &call) {
  while (Buffer *buffer = call.buffers) {
    call.buffers = buffer->next;
    std::free(buffer->base);
  }
}

void attn::runtime::freeScratch(Scratch &scratch) {
  std::free(scratch.base);
  scratch = {};
}

bool attn::runtime::growScratch(Scratch &scratch, int64_t bytes) {
  if (scratch.capacity >= bytes)
    return true;
  freeScratch(scratch);
  scratch.base = std::aligned_alloc(minAlignment, bytes);
  scratch.capacity = scratch.base ? bytes : 0;
  return scratch.base != nullptr;
}

//===----------------------------------------------------------------------===//
// Called by generated code
//===----------------------------------------------------------------------===//

/// Where buffers of generated code come from at this place; null: the host.
static Call *callWithDevice() {
  Call *call = currentThread().call;
  return call && call->device ? call : nullptr;
}

void *_mlir_memref_to_llvm_aligned_alloc(uint64_t alignment, uint64_t size) {
  if (Call *call = callWithDevice())
    return allocateDeviceBuffer(*call, alignment, size);
  void *buffer = allocateBuffer(alignment, size, /*counted=*/true);
  return guardMemory(currentThread().call, buffer, static_cast<int64_t>(size), "a temporary buffer");
}

void *_mlir_memref_to_llvm_alloc(uint64_t size) { return _mlir_memref_to_llvm_aligned_alloc(minAlignment, size); }

void _mlir_memref_to_llvm_free(void *buffer) {
  Call *call = callWithDevice();
  if (!call || !freeDeviceBuffer(*call, buffer))
    freeBuffer(unguardMemory(currentThread().call, buffer));
}
