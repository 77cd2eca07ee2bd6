// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Control of the fake CUDA driver (fake-cuda.cpp): a shared library with the driver's functions, whose memory is the
// host's. It logs what is called and fails where a test wants it.

#ifndef ATTN_TEST_LIB_FAKECUDA_H
#define ATTN_TEST_LIB_FAKECUDA_H

#include <cstdint>

extern "C" {

/// Everything as at the start; objects that are left stay.
void fake_cuda_reset();

/// GPUs, all of one compute capability; 1 and 9.0 at the start.
void fake_cuda_set_devices(int count, int major, int minor);

/// The next call of that function fails with the code; later ones succeed.
void fake_cuda_fail(const char *function, int code);

/// What a kernel of that name does: addresses of its parameters, and blocks times threads.
void fake_cuda_set_kernel(const char *name, void (*run)(void **parameters, int64_t threads));

/// Lines "cuLaunchKernel add grid 2 1 1 block 4 1 1 shared 0" and so on, of the calls that do something. Lives until
/// the next call here.
const char *fake_cuda_log();

/// Contexts, streams, modules, events, pools and blocks of memory that have not been released.
int fake_cuda_live_objects();

/// Calls that need a current context and had none.
int fake_cuda_calls_without_context();
}

#endif // ATTN_TEST_LIB_FAKECUDA_H
