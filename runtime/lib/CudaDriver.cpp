// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CudaDriver.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <mutex>

using namespace attn::runtime;

void attn::runtime::setMessage(char message[ATTN_RT_MESSAGE_BYTES], const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(message, ATTN_RT_MESSAGE_BYTES, format, arguments);
  va_end(arguments);
}

bool CudaDriver::check(int result, const char *what, char message[ATTN_RT_MESSAGE_BYTES]) const {
  if (result == kCudaSuccess)
    return true;
  const char *name = nullptr, *text = nullptr;
  if (errorName(result, &name) != kCudaSuccess || !name)
    name = "an unknown error";
  if (errorString(result, &text) != kCudaSuccess || !text)
    text = "the driver has no text for it";
  setMessage(message, "cannot %s: %s (%d): %s", what, name, result, text);
  return false;
}

/// The function of that name, in the type of `function`; false if there is none.
template <typename Function> static bool bindFunction(void *library, const char *symbol, Function &function) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
  return function != nullptr;
}

/// The name of a function that the library lacks, or null.
static const char *bindFunctions(void *library, CudaDriver &driver) {
#define ATTN_BIND(member, symbol, parameters)                                                                          \
  if (!bindFunction(library, #symbol, driver.member))                                                                  \
    return #symbol;
  ATTN_CUDA_FUNCTIONS(ATTN_BIND)
#undef ATTN_BIND
#define ATTN_BIND(member, symbol, parameters) bindFunction(library, #symbol, driver.member);
  ATTN_CUDA_OPTIONAL_FUNCTIONS(ATTN_BIND)
#undef ATTN_BIND
  return nullptr;
}

/// False with the message filled. A library that was opened stays: its exit handlers may run at any time.
static bool openDriver(CudaDriver &driver, char message[ATTN_RT_MESSAGE_BYTES]) {
  const char *path = std::getenv("ATTN_CUDA_DRIVER");
  if (!path || !*path)
    path = "libcuda.so.1";
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    setMessage(message, "there is no CUDA driver: %s; install NVIDIA's driver, or compile for the CPU", dlerror());
    return false;
  }
  if (const char *missing = bindFunctions(library, driver)) {
    setMessage(message, "the CUDA driver in %s has no %s; it is too old", path, missing);
    return false;
  }
  return driver.check(driver.init(0), "start the CUDA driver", message);
}

const CudaDriver *attn::runtime::loadCudaDriver(char message[ATTN_RT_MESSAGE_BYTES]) {
  static std::mutex mutex;
  static CudaDriver driver;
  static bool isLoaded = false;
  std::lock_guard<std::mutex> guard(mutex);
  if (!isLoaded)
    isLoaded = openDriver(driver, message);
  return isLoaded ? &driver : nullptr;
}
