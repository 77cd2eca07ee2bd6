// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fake driver, loaded and found by the runtime.

#ifndef ATTN_TEST_UNIT_FAKECUDACONTROL_H
#define ATTN_TEST_UNIT_FAKECUDACONTROL_H

#include "test/lib/FakeCuda.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <string>

/// Functions of FakeCuda.h in a library of that path, which the runtime takes for the driver from now on.
struct FakeCuda {
  explicit FakeCuda(const std::string &path) {
    setenv("ATTN_CUDA_DRIVER", path.c_str(), 1);
    library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
      std::fprintf(stderr, "%s\n", dlerror());
    bind("fake_cuda_reset", reset);
    bind("fake_cuda_set_devices", setDevices);
    bind("fake_cuda_fail", fail);
    bind("fake_cuda_set_kernel", setKernel);
    bind("fake_cuda_log", log);
    bind("fake_cuda_live_objects", liveObjects);
    bind("fake_cuda_calls_without_context", callsWithoutContext);
  }

  decltype(&fake_cuda_reset) reset = nullptr;
  decltype(&fake_cuda_set_devices) setDevices = nullptr;
  decltype(&fake_cuda_fail) fail = nullptr;
  decltype(&fake_cuda_set_kernel) setKernel = nullptr;
  decltype(&fake_cuda_log) log = nullptr;
  decltype(&fake_cuda_live_objects) liveObjects = nullptr;
  decltype(&fake_cuda_calls_without_context) callsWithoutContext = nullptr;

private:
  template <typename Function> void bind(const char *name, Function &function) {
    function = reinterpret_cast<Function>(library ? dlsym(library, name) : nullptr);
  }
  void *library = nullptr;
};

#endif // ATTN_TEST_UNIT_FAKECUDACONTROL_H
