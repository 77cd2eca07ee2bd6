//===- run-kernel.cpp - call a kernel that was assembled by itself -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-test-run-kernel KERNEL.so FUNCTION HEADS LENGTH DIM: calls an attention over q, k and v of one batch, once, on
// one thread. Every value is 1, and so is every output where a key is kept. Nothing of the compiler is in this process,
// so that a tool that slows it down (valgrind) has nothing else to run.
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <string>
#include <vector>

namespace {

/// MLIR's descriptor of a memref.
struct Descriptor {
  float *allocated, *aligned;
  int64_t offset, sizes[4], strides[4];
};

Descriptor describe(std::vector<float> &data, int64_t heads, int64_t length, int64_t dim) {
  return {data.data(), data.data(), 0, {1, heads, length, dim}, {heads * length * dim, length * dim, dim, 1}};
}

int run(void (*kernel)(void **), int64_t heads, int64_t length, int64_t dim) {
  std::vector<float> query(heads * length * dim), key(query), value(query.size(), 1), out(query.size(), NAN);
  for (size_t n = 0; n < query.size(); ++n) {
    query[n] = static_cast<float>(std::sin(0.7 * static_cast<double>(n + 1)));
    key[n] = static_cast<float>(std::sin(1.3 * static_cast<double>(n + 1)));
  }
  Descriptor descriptors[] = {describe(query, heads, length, dim), describe(key, heads, length, dim),
                              describe(value, heads, length, dim), describe(out, heads, length, dim)};
  void *arguments[] = {&descriptors[0], &descriptors[1], &descriptors[2], &descriptors[3]};
  attn_rt_call_result result;
  if (attn_rt_call(nullptr, kernel, arguments, &result) != ATTN_RT_OK)
    return std::fprintf(stderr, "the kernel failed: %s\n", result.message), 1;
  // Weights add up to 1 within the rounding of their sum and of the product.
  for (float element : out)
    if (!(std::fabs(element - 1) <= 0x1p-21f))
      return std::fprintf(stderr, "expected 1 everywhere, but got %g\n", element), 1;
  return std::puts("the outputs are right"), 0;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 6)
    return std::fprintf(stderr, "usage: attn-test-run-kernel KERNEL.so FUNCTION HEADS LENGTH DIM\n"), 1;
  // The kernel's calls are bound to this program, which so has to hold all that it may call.
  const attn_rt_symbol *table = nullptr;
  attn_rt_symbols(&table);
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  void *kernel = library ? dlsym(library, ("attn_entry_" + std::string(argv[2])).c_str()) : nullptr;
  if (!kernel)
    return std::fprintf(stderr, "cannot load the kernel: %s\n", dlerror()), 1;
  return run(reinterpret_cast<void (*)(void **)>(kernel), std::atoll(argv[3]), std::atoll(argv[4]),
             std::atoll(argv[5]));
}
