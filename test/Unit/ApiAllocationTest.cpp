//===- ApiAllocationTest.cpp - what a run allocates --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts every call of the C library's allocator in the process while kernels run, on all threads: a number that grows
// with the sizes would be an allocation inside of a loop.
//
//===----------------------------------------------------------------------===//

#include "AttentionText.h"
#include "attn/attn.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <gtest/gtest.h>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define ATTN_COUNTS_ALLOCATIONS 1
#else
#define ATTN_COUNTS_ALLOCATIONS 0
#endif

using namespace attn;

static std::atomic<int64_t> allocations{0};

#if ATTN_COUNTS_ALLOCATIONS
// glibc lets a program replace these; operator new and all libraries then come here too.
extern "C" {
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *pointer);

void *malloc(size_t size) { return ++allocations, __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return ++allocations, __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { return ++allocations, __libc_realloc(old, size); }
void *memalign(size_t alignment, size_t size) { return ++allocations, __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { return ++allocations, __libc_memalign(alignment, size); }
int posix_memalign(void **result, size_t alignment, size_t size) {
  ++allocations;
  *result = __libc_memalign(alignment, size);
  return *result ? 0 : ENOMEM;
}
void free(void *pointer) { __libc_free(pointer); }
}
#endif

namespace {

constexpr const char *clauses = R"(masks(causal<bottom_right>)
  score(%s, %b, %h, %i, %j) {
    %x = tensor.extract %bias[%i, %j] : tensor<?x?xf32>
    %y = arith.addf %s, %x : f32
    attn.yield %y : f32
  })";

struct Counts {
  int64_t process = 0;
  RunReport report;
};

/// Runs on `length` queries and keys, and counts.
Counts count(const Kernel &kernel, int64_t length, const RunOptions &options) {
  std::vector<float> q(2 * 3 * length * 16, 1), k(q), v(q), bias(length * length), out(q.size());
  std::vector<int64_t> shape{2, 3, length, 16};
  std::vector<Argument> inputs{view(q, shape), view(k, shape), view(v, shape), view(bias, {length, length})};
  std::vector<MutableTensorView> outputs{view(out, shape)};
  int64_t before = allocations;
  Result<RunReport> run = kernel.run(inputs, outputs, options);
  Counts counts{allocations - before, RunReport()};
  EXPECT_TRUE(run) << run.error().str();
  if (run)
    counts.report = *run;
  EXPECT_EQ(out[0], 1);
  return counts;
}

Kernel compileKernel() {
  Result<Module> module = Module::parse(dynamicAttention({clauses, "%bias: tensor<?x?xf32>", "0.25"}));
  EXPECT_TRUE(module) << module.error().str();
  Result<Kernel> kernel = module->compile();
  EXPECT_TRUE(kernel) << kernel.error().str();
  return *kernel;
}

void checkCounts(const RunOptions &options) {
  if (!ATTN_COUNTS_ALLOCATIONS)
    GTEST_SKIP() << "the allocator can be counted with glibc and without sanitizers only";
  Kernel kernel = compileKernel();
  // The largest first: a pool keeps the scratch that it has.
  count(kernel, 400, options);
  Counts large = count(kernel, 400, options), small = count(kernel, 3, options);
  EXPECT_GT(large.report.tiles, small.report.tiles);
  EXPECT_EQ(large.process, small.process);
  EXPECT_GT(large.process, 0) << "nothing was counted: the vectors of the arguments alone allocate";
}

} // namespace

TEST(Allocations, do_not_grow_with_the_sizes_on_one_thread) { checkCounts(RunOptions()); }

TEST(Allocations, do_not_grow_with_the_sizes_on_a_pool) { checkCounts(RunOptions().threads(3).leastWork(1)); }

TEST(Allocations, results_need_no_buffers) {
  Kernel kernel = compileKernel();
  Counts counts = count(kernel, 33, RunOptions());
  EXPECT_EQ(counts.report.allocations, 0);
  EXPECT_EQ(counts.report.allocatedBytes, 0);
  EXPECT_GT(counts.report.scratchBytes, 0);
}

TEST(Allocations, temporaries_are_counted) {
  // The product reads the exponentials many times, so they need a buffer: 6 floats. Their transpose needs none.
  Result<Module> module = Module::parse(R"(
    func.func @f(%x: tensor<2x3xf32>) -> tensor<2x2xf32> {
      %zero = arith.constant 0.0 : f32
      %a = tensor.empty() : tensor<2x3xf32>
      %e = linalg.exp ins(%x : tensor<2x3xf32>) outs(%a : tensor<2x3xf32>) -> tensor<2x3xf32>
      %t = tensor.empty() : tensor<3x2xf32>
      %f = linalg.transpose ins(%e : tensor<2x3xf32>) outs(%t : tensor<3x2xf32>) permutation = [1, 0]
      %b = tensor.empty() : tensor<2x2xf32>
      %c = linalg.fill ins(%zero : f32) outs(%b : tensor<2x2xf32>) -> tensor<2x2xf32>
      %m = linalg.matmul ins(%e, %f : tensor<2x3xf32>, tensor<3x2xf32>) outs(%c : tensor<2x2xf32>) -> tensor<2x2xf32>
      return %m : tensor<2x2xf32>
    })");
  ASSERT_TRUE(module) << module.error().str();
  Result<Kernel> kernel = module->compile();
  ASSERT_TRUE(kernel) << kernel.error().str();
  std::vector<float> x(6), out(4);
  Result<RunReport> run = kernel->run({view(x, {2, 3})}, {view(out, {2, 2})});
  ASSERT_TRUE(run) << run.error().str();
  EXPECT_EQ(out, std::vector<float>(4, 3)); // exp(0) = 1, three of them
  EXPECT_EQ(run->allocations, 1);
  EXPECT_GE(run->allocatedBytes, 6 * 4);
}
