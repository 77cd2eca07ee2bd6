// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The library's version and the functions that generated code may call.

#include "attn/Device.h"

#include <string.h>

template <typename Function> static attn_rt_symbol symbol(const char *name, Function *function) {
  return {name, reinterpret_cast<void *>(function)};
}

float attn_rt_truncate_bf16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  uint32_t nearest = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
  bits = value == value ? nearest : bits >> 16 | 0x40;
  memcpy(&value, &bits, sizeof(bits));
  return value;
}

const char *attn_rt_version(void) { return "0.1.0"; }

size_t attn_rt_symbols(const attn_rt_symbol **table) {
  static const attn_rt_symbol symbols[] = {
      symbol("attn_rt_parallel_for", attn_rt_parallel_for),
      symbol("attn_rt_fail", attn_rt_fail),
      symbol("attn_rt_count_kv_tiles", attn_rt_count_kv_tiles),
      symbol("attn_rt_guard_tensor", attn_rt_guard_tensor),
      symbol("attn_rt_check_access", attn_rt_check_access),
      symbol("attn_rt_check_lanes", attn_rt_check_lanes),
      symbol("attn_rt_launch", attn_rt_launch),
      symbol("attn_rt_device_read", attn_rt_device_read),
      symbol("attn_rt_device_write", attn_rt_device_write),
      symbol("__truncsfbf2", attn_rt_truncate_bf16),
      symbol("_mlir_memref_to_llvm_alloc", _mlir_memref_to_llvm_alloc),
      symbol("_mlir_memref_to_llvm_aligned_alloc", _mlir_memref_to_llvm_aligned_alloc),
      symbol("_mlir_memref_to_llvm_free", _mlir_memref_to_llvm_free),
  };
  if (table)
    *table = symbols;
  return sizeof(symbols) / sizeof(symbols[0]);
}
