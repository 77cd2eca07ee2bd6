// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C ABI between attention kernels, the code that calls them and the code
// they call. runtime/README.md is the contract; this header is its index.

#ifndef ATTN_RUNTIME_H
#define ATTN_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define ATTN_RT_NORETURN [[noreturn]]
extern "C" {
#else
#define ATTN_RT_NORETURN _Noreturn
#endif

/// Changes whenever a declaration below changes its meaning or layout.
#define ATTN_RT_ABI_VERSION 5

/// Bytes of an error message, terminating zero included.
#define ATTN_RT_MESSAGE_BYTES 512

/// The largest number of threads that a pool takes.
#define ATTN_RT_MAX_THREADS 1024

/// Multiply-adds of f32 that each thread of a loop has to do, unless a call says
/// otherwise. Measured on two Zen 3 cores, where that many take 25 us: waking a
/// thread that sleeps takes 12 us of the caller's time, and it comes 50 us later.
#define ATTN_RT_LEAST_WORK (INT64_C(1) << 20)

/// What attn_rt_call returns.
enum attn_rt_code {
  ATTN_RT_OK = 0,
  /// The generated code, or attn_rt_call itself, refused an argument.
  ATTN_RT_INVALID_ARGUMENT = 1,
  /// A buffer or scratch could not be had, or its size overflows.
  ATTN_RT_OUT_OF_MEMORY = 2,
  /// Scratch would exceed attn_rt_call_options::max_scratch_bytes.
  ATTN_RT_SCRATCH_LIMIT = 3,
  /// The caller's executor did not run every worker exactly once.
  ATTN_RT_EXECUTOR_FAILED = 4,
  /// A device could not be used, or a kernel on it failed.
  ATTN_RT_DEVICE_FAILED = 5,
  /// Checked code was about to touch memory that is not its own (attn_rt_check_access).
  ATTN_RT_OUT_OF_BOUNDS = 6
};

//===----------------------------------------------------------------------===//
// Pools
//===----------------------------------------------------------------------===//

/// Threads for parallel loops, and the scratch that they keep between calls.
/// Any number of threads may use one pool at once.
typedef struct attn_rt_pool attn_rt_pool;

/// The caller's own threads.
typedef struct attn_rt_executor {
  /// Handed to run.
  void *user;
  /// The most workers that run is asked for; 1 to ATTN_RT_MAX_THREADS.
  int64_t threads;
  /// Calls work(context, worker) once for each worker in [0, workers), in any
  /// order, at once or one after the other, and returns when all are done. May
  /// itself be called from several threads at once.
  void (*run)(void *user, int64_t workers, void (*work)(void *context, int64_t worker), void *context);
} attn_rt_executor;

/// A pool of `threads` threads, the calling one counted; 0 means as many as
/// the process may run on. NULL if threads is negative or above
/// ATTN_RT_MAX_THREADS, or memory is short. The caller owns the pool.
attn_rt_pool *attn_rt_pool_create(int64_t threads);

/// A pool on the caller's threads; *executor is copied. NULL if run is NULL,
/// threads is out of range, or memory is short. The caller owns the pool.
attn_rt_pool *attn_rt_pool_create_from_executor(const attn_rt_executor *executor);

/// Ends a pool that no call uses any more. NULL is allowed.
void attn_rt_pool_destroy(attn_rt_pool *pool);

/// The most workers a loop can have: 1 for NULL.
int64_t attn_rt_pool_threads(const attn_rt_pool *pool);

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// What one worker did in a parallel loop.
typedef struct attn_rt_worker_profile {
  /// From its first item to its last, nested loops included, in nanoseconds.
  int64_t busy_ns;
  int64_t items;
  /// Of attn_rt_count_kv_tiles.
  int64_t kv_tiles;
} attn_rt_worker_profile;

/// A parallel loop that was not nested in another one.
typedef struct attn_rt_loop_profile {
  int64_t count;
  /// From start to end, in nanoseconds.
  int64_t wall_ns;
  int64_t worker_count;
  const attn_rt_worker_profile *workers;
} attn_rt_loop_profile;

/// Receives profiles.
typedef struct attn_rt_profiler {
  /// Handed to loop.
  void *user;
  /// Called on the calling thread after each such loop that succeeded. *profile
  /// lasts until it returns. Must neither throw nor call the runtime.
  void (*loop)(void *user, const attn_rt_loop_profile *profile);
} attn_rt_profiler;

/// Where the kernels of a GPU run; see attn/Device.h.
typedef struct attn_rt_device attn_rt_device;

typedef struct attn_rt_call_options {
  /// NULL: everything runs on the calling thread.
  attn_rt_pool *pool;
  /// Limit of attn_rt_call_result::scratch_bytes; 0: none.
  int64_t max_scratch_bytes;
  /// NULL: nothing is measured.
  const attn_rt_profiler *profiler;
  /// Multiply-adds for which a loop takes another thread; 0:
  /// ATTN_RT_LEAST_WORK.
  int64_t least_work;
  /// What attn_rt_launch starts kernels on, and where the buffers of generated
  /// code come from; NULL: none, and the buffers are the host's.
  const attn_rt_device *device;
} attn_rt_call_options;

typedef struct attn_rt_call_result {
  /// One of attn_rt_code.
  int32_t code;
  /// Zero-terminated; empty on success.
  char message[ATTN_RT_MESSAGE_BYTES];
  /// Buffers that the generated code asked for.
  int64_t allocations;
  /// The most bytes of these buffers that were alive at once.
  int64_t allocated_bytes;
  /// The most scratch that any loop needed, over all its workers.
  int64_t scratch_bytes;
  /// Parallel loops with at least one item.
  int64_t parallel_loops;
  /// Items of these loops.
  int64_t tiles;
  /// kv tiles that the loops computed, where the code counts them
  /// (attn_rt_count_kv_tiles); 0 elsewhere.
  int64_t kv_tiles;
  /// Kernels started on the device.
  int64_t launches;
} attn_rt_call_result;

/// Runs function(arguments) in the default floating-point environment and
/// releases the buffers that it leaves behind. Returns result->code. options
/// may be NULL (no pool, no limit), result may be NULL. Thread-safe; calls may
/// nest.
int32_t attn_rt_call(const attn_rt_call_options *options, void (*function)(void **arguments), void **arguments,
                     attn_rt_call_result *result);

//===----------------------------------------------------------------------===//
// Called by generated code
//===----------------------------------------------------------------------===//

/// Calls body over disjoint ranges [begin, end) that cover [0, count). scratch
/// is scratch_bytes bytes, aligned to 64, uninitialised, the worker's own; NULL
/// if scratch_bytes is 0. item_work is about how many multiply-adds of f32 an
/// item takes, so that small loops stay on their thread; negative: unknown.
/// Returns when all items are done.
void attn_rt_parallel_for(int64_t count, int64_t item_work, int64_t scratch_bytes,
                          void (*body)(void *context, int64_t begin, int64_t end, void *scratch), void *context);

/// Ends the call with ATTN_RT_INVALID_ARGUMENT and the message, in which {0}
/// and {1} stand for a and b. Prints and aborts outside a call.
ATTN_RT_NORETURN void attn_rt_fail(const char *message, int64_t a, int64_t b);

/// Adds to the call's kv_tiles. Any thread of the call; does nothing outside of
/// one.
void attn_rt_count_kv_tiles(int64_t count);

/// The bf16 nearest to value, ties to even, in the low 16 bits of the result,
/// the others 0: where a bf16 is returned on x86-64 and AArch64. LLVM calls it
/// __truncsfbf2 where a bf16 scalar lives across branches; few libgcc have it.
float attn_rt_truncate_bf16(float value);

/// What MLIR's memref.alloc and memref.dealloc call (generic functions). Never
/// NULL, aligned to at least 64; ends the call if there is no memory. Device
/// memory where the call has a device.
void *_mlir_memref_to_llvm_alloc(uint64_t size);
void *_mlir_memref_to_llvm_aligned_alloc(uint64_t alignment, uint64_t size);
void _mlir_memref_to_llvm_free(void *buffer);

//===----------------------------------------------------------------------===//
// Called by generated code that checks its accesses
//===----------------------------------------------------------------------===//

/// Makes a tensor known to the call, by its name in messages and its descriptor { allocated, aligned, offset,
/// sizes[rank], strides[rank] }; both must last as long as the call. Returns `aligned` with a mark in bits 48 to 63, by
/// which the functions below find the tensor. From then on buffers and scratch of the call are marked, too. Outside a
/// call it returns `aligned` as it is.
void *attn_rt_guard_tensor(const char *name, int64_t rank, int64_t element_bytes, const void *descriptor);

/// The address without its mark, if the bytes from there on are the code's to touch; else ends the call with
/// ATTN_RT_OUT_OF_BOUNDS. `object`, if not NULL, is where an unmarked address has to point to: a variable of the code's
/// own. place: where in the source the access comes from; may be empty.
void *attn_rt_check_access(void *address, int64_t bytes, const void *object, int64_t object_bytes, int32_t is_write,
                           const char *place);

/// The same for the elements from the address on whose bit in `lanes` is set.
void *attn_rt_check_lanes(void *address, int64_t element_bytes, uint64_t lanes, const void *object,
                          int64_t object_bytes, int32_t is_write, const char *place);

//===----------------------------------------------------------------------===//
// Identity
//===----------------------------------------------------------------------===//

/// The version of the library, as in "0.1.0". Static storage.
const char *attn_rt_version(void);

typedef struct attn_rt_symbol {
  const char *name;
  void *address;
} attn_rt_symbol;

/// Everything above that generated code may call, for a JIT to bind. Points
/// *table at static storage (unless table is NULL) and returns the number of
/// entries.
size_t attn_rt_symbols(const attn_rt_symbol **table);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // ATTN_RUNTIME_H
