// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A CUDA driver, and a cuBLAS, without a GPU. With ATTN_FAKE_OLD_DRIVER defined it lacks what drivers before CUDA 11.2
// lack.
//
// For tools, which cannot call the functions of FakeCuda.h, the environment has ATTN_FAKE_CUDA_FAIL=function:code and
// ATTN_FAKE_CUDA_CHIP=80.

#include "FakeCuda.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace {

using Address = unsigned long long;

struct Function {
  std::string name;
  int dynamicSharedBytes = 48 << 10;
};

struct Module {
  std::string image;
  std::map<std::string, Function> functions;
};

struct Driver {
  std::recursive_mutex mutex;
  int devices = 1, major = 9, minor = 0;
  std::map<std::string, int> failures;
  std::map<std::string, void (*)(void **, int64_t)> kernels;
  std::string log;
  std::set<void *> objects;
  int contexts = 0, callsWithoutContext = 0;
  float clock = 0;
  std::map<void *, float> events;
  /// Begin and end of memory.
  std::map<Address, Address> blocks;

  void readEnvironment() {
    if (const char *failure = std::getenv("ATTN_FAKE_CUDA_FAIL"))
      if (const char *colon = std::strchr(failure, ':'))
        failures[std::string(failure, colon)] = std::atoi(colon + 1);
    if (const char *chip = std::getenv("ATTN_FAKE_CUDA_CHIP")) {
      major = std::atoi(chip) / 10;
      minor = std::atoi(chip) % 10;
    }
  }
};

Driver &driver() {
  static Driver *instance = [] {
    auto *created = new Driver; // outlives whatever still calls at exit
    created->readEnvironment();
    return created;
  }();
  return *instance;
}

thread_local int currentContexts = 0;

__attribute__((format(printf, 1, 2))) void note(const char *format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof(line), format, arguments);
  va_end(arguments);
  driver().log += line;
  driver().log += '\n';
}

/// The code that a test wants from this call; 0: none.
int takeFailure(const char *function) {
  auto found = driver().failures.find(function);
  if (found == driver().failures.end())
    return 0;
  int code = found->second;
  driver().failures.erase(found);
  note("%s fails", function);
  return code;
}

int enter(const char *function) { return takeFailure(function); }

/// For functions that need a current context; CUDA_ERROR_INVALID_CONTEXT without one.
int enterInContext(const char *function) {
  if (currentContexts == 0) {
    ++driver().callsWithoutContext;
    return 201;
  }
  return takeFailure(function);
}

void *addObject(size_t bytes = 16) {
  void *object = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  driver().objects.insert(object);
  return object;
}

/// CUDA_ERROR_INVALID_VALUE for what is not there.
int removeObject(void *object) {
  if (driver().objects.erase(object) == 0)
    return 1;
  std::free(object);
  return 0;
}

Address addressOf(void *pointer) { return reinterpret_cast<uintptr_t>(pointer); }
void *pointerOf(Address address) { return reinterpret_cast<void *>(static_cast<uintptr_t>(address)); }

Address addMemory(size_t bytes) {
  Address address = addressOf(addObject(bytes));
  driver().blocks[address] = address + bytes;
  return address;
}

int removeMemory(Address address) {
  driver().blocks.erase(address);
  return removeObject(pointerOf(address));
}

struct ErrorText {
  int code;
  const char *name, *text;
};

const ErrorText errorTexts[] = {
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
    {218, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
};

} // namespace

#define LOCKED std::lock_guard<std::recursive_mutex> lock(driver().mutex)
#define ENTER(function)                                                                                                \
  LOCKED;                                                                                                              \
  if (int code = enter(function))                                                                                      \
  return code
#define ENTER_IN_CONTEXT(function)                                                                                     \
  LOCKED;                                                                                                              \
  if (int code = enterInContext(function))                                                                             \
  return code

extern "C" {

//===----------------------------------------------------------------------===//
// Control
//===----------------------------------------------------------------------===//

void fake_cuda_reset() {
  LOCKED;
  driver().devices = 1;
  driver().major = 9;
  driver().minor = 0;
  driver().failures.clear();
  driver().kernels.clear();
  driver().log.clear();
}

void fake_cuda_set_devices(int count, int major, int minor) {
  LOCKED;
  driver().devices = count;
  driver().major = major;
  driver().minor = minor;
}

void fake_cuda_fail(const char *function, int code) {
  LOCKED;
  driver().failures[function] = code;
}

void fake_cuda_set_kernel(const char *name, void (*run)(void **parameters, int64_t threads)) {
  LOCKED;
  driver().kernels[name] = run;
}

const char *fake_cuda_log() {
  LOCKED;
  static std::string copy;
  copy = driver().log;
  driver().log.clear();
  return copy.c_str();
}

int fake_cuda_live_objects() {
  LOCKED;
  return static_cast<int>(driver().objects.size()) + driver().contexts;
}

int fake_cuda_calls_without_context() {
  LOCKED;
  return driver().callsWithoutContext;
}

//===----------------------------------------------------------------------===//
// Devices and contexts
//===----------------------------------------------------------------------===//

int cuInit(unsigned) {
  ENTER("cuInit");
  return 0;
}

int cuDriverGetVersion(int *version) {
  *version = 13000;
  return 0;
}

int cuGetErrorName(int code, const char **name) {
  for (const ErrorText &error : errorTexts)
    if (error.code == code)
      return *name = error.name, 0;
  return 1;
}

int cuGetErrorString(int code, const char **text) {
  for (const ErrorText &error : errorTexts)
    if (error.code == code)
      return *text = error.text, 0;
  return 1;
}

int cuDeviceGetCount(int *count) {
  ENTER("cuDeviceGetCount");
  *count = driver().devices;
  return 0;
}

int cuDeviceGet(int *device, int ordinal) {
  ENTER("cuDeviceGet");
  *device = ordinal;
  return 0;
}

int cuDeviceGetName(char *name, int size, int device) {
  ENTER("cuDeviceGetName");
  std::snprintf(name, size, "Fake GPU %d", device);
  return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int) {
  ENTER("cuDeviceGetAttribute");
  switch (attribute) {
  case 16: // multiprocessors
    *value = 132;
    return 0;
  case 75:
    *value = driver().major;
    return 0;
  case 76:
    *value = driver().minor;
    return 0;
  case 97: // shared memory of a block
    *value = 227 << 10;
    return 0;
  case 115: // memory pools
    *value = 1;
    return 0;
  }
  return 1;
}

int cuDeviceTotalMem_v2(size_t *bytes, int) {
  ENTER("cuDeviceTotalMem_v2");
  *bytes = size_t(80) << 30;
  return 0;
}

int cuDevicePrimaryCtxRetain(void **context, int device) {
  ENTER("cuDevicePrimaryCtxRetain");
  ++driver().contexts;
  static int contexts[16];
  *context = &contexts[device];
  return 0;
}

int cuDevicePrimaryCtxRelease_v2(int) {
  ENTER("cuDevicePrimaryCtxRelease_v2");
  --driver().contexts;
  return 0;
}

int cuCtxPushCurrent_v2(void *) {
  ENTER("cuCtxPushCurrent_v2");
  ++currentContexts;
  return 0;
}

int cuCtxPopCurrent_v2(void **) {
  ENTER("cuCtxPopCurrent_v2");
  --currentContexts;
  return 0;
}

int cuStreamCreate(void **stream, unsigned) {
  ENTER_IN_CONTEXT("cuStreamCreate");
  *stream = addObject();
  return 0;
}

int cuStreamDestroy_v2(void *stream) {
  ENTER_IN_CONTEXT("cuStreamDestroy_v2");
  return removeObject(stream);
}

int cuStreamSynchronize(void *) {
  ENTER_IN_CONTEXT("cuStreamSynchronize");
  return 0;
}

//===----------------------------------------------------------------------===//
// Modules and kernels
//===----------------------------------------------------------------------===//

/// Options are those that the runtime passes: the log's buffer and its size. PTX is read up to its zero byte; an ELF
/// file's size is not told, so that tests' ones end with a zero byte, too.
int cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options, void **values) {
  LOCKED;
  std::string text = static_cast<const char *>(image);
  bool isElf = text.compare(0, 4,
                            "\x7f"
                            "ELF") == 0;
  size_t target = text.find(".target ");
  note("cuModuleLoadDataEx %s", isElf                         ? "cubin"
                                : target == std::string::npos ? "nothing known"
                                                              : text.substr(target + 8, 6).c_str());
  if (int code = enterInContext("cuModuleLoadDataEx")) {
    if (count == 2 && options[0] == 5 && options[1] == 6)
      std::snprintf(static_cast<char *>(values[0]), reinterpret_cast<size_t>(values[1]), "the fake's log");
    return code;
  }
  auto *loaded = new Module{text, {}};
  driver().objects.insert(loaded);
  *module = loaded;
  return 0;
}

int cuModuleUnload(void *module) {
  ENTER_IN_CONTEXT("cuModuleUnload");
  if (driver().objects.erase(module) == 0)
    return 1;
  delete static_cast<Module *>(module);
  return 0;
}

int cuModuleGetFunction(void **function, void *module, const char *name) {
  ENTER_IN_CONTEXT("cuModuleGetFunction");
  note("cuModuleGetFunction %s", name);
  auto &known = *static_cast<Module *>(module);
  if (known.image.find(name) == std::string::npos)
    return 500;
  Function &found = known.functions[name];
  found.name = name;
  *function = &found;
  return 0;
}

int cuFuncSetAttribute(void *function, int attribute, int value) {
  ENTER_IN_CONTEXT("cuFuncSetAttribute");
  auto &known = *static_cast<Function *>(function);
  note("cuFuncSetAttribute %s %d %d", known.name.c_str(), attribute, value);
  known.dynamicSharedBytes = value;
  return 0;
}

int cuLaunchKernel(void *function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY,
                   unsigned blockZ, unsigned shared, void *, void **parameters, void **) {
  ENTER_IN_CONTEXT("cuLaunchKernel");
  auto &known = *static_cast<Function *>(function);
  note("cuLaunchKernel %s grid %u %u %u block %u %u %u shared %u", known.name.c_str(), gridX, gridY, gridZ, blockX,
       blockY, blockZ, shared);
  if (shared > unsigned(known.dynamicSharedBytes))
    return 1;
  auto found = driver().kernels.find(known.name);
  if (found != driver().kernels.end())
    found->second(parameters, int64_t(gridX) * gridY * gridZ * blockX * blockY * blockZ);
  driver().clock += 0.5f;
  return 0;
}

//===----------------------------------------------------------------------===//
// Memory and events
//===----------------------------------------------------------------------===//

int cuMemAlloc_v2(Address *address, size_t bytes) {
  ENTER_IN_CONTEXT("cuMemAlloc_v2");
  note("cuMemAlloc_v2 %zu", bytes);
  *address = addMemory(bytes);
  return 0;
}

int cuMemFree_v2(Address address) {
  ENTER_IN_CONTEXT("cuMemFree_v2");
  return removeMemory(address);
}

int cuMemcpyHtoDAsync_v2(Address target, const void *source, size_t bytes, void *) {
  ENTER_IN_CONTEXT("cuMemcpyHtoDAsync_v2");
  std::memcpy(pointerOf(target), source, bytes);
  return 0;
}

int cuMemcpyDtoHAsync_v2(void *target, Address source, size_t bytes, void *) {
  ENTER_IN_CONTEXT("cuMemcpyDtoHAsync_v2");
  std::memcpy(target, pointerOf(source), bytes);
  return 0;
}

/// Memory of its own, its insides included.
int cuPointerGetAttribute(void *data, int attribute, Address address) {
  ENTER_IN_CONTEXT("cuPointerGetAttribute");
  auto after = driver().blocks.upper_bound(address);
  if (attribute != 2 || after == driver().blocks.begin() || address >= std::prev(after)->second)
    return 1;
  *static_cast<unsigned *>(data) = 2; // CU_MEMORYTYPE_DEVICE
  return 0;
}

int cuEventCreate(void **event, unsigned) {
  ENTER_IN_CONTEXT("cuEventCreate");
  *event = addObject();
  return 0;
}

int cuEventRecord(void *event, void *) {
  ENTER_IN_CONTEXT("cuEventRecord");
  driver().events[event] = driver().clock;
  return 0;
}

int cuEventSynchronize(void *) {
  ENTER_IN_CONTEXT("cuEventSynchronize");
  return 0;
}

int cuEventElapsedTime(float *milliseconds, void *begin, void *end) {
  ENTER_IN_CONTEXT("cuEventElapsedTime");
  *milliseconds = driver().events[end] - driver().events[begin];
  return 0;
}

int cuEventDestroy_v2(void *event) {
  ENTER_IN_CONTEXT("cuEventDestroy_v2");
  return removeObject(event);
}

//===----------------------------------------------------------------------===//
// cuBLAS, as far as attn-bench needs it
//===----------------------------------------------------------------------===//

int cublasCreate_v2(void **handle) {
  ENTER("cublasCreate_v2");
  *handle = addObject();
  return 0;
}

int cublasDestroy_v2(void *handle) { return removeObject(handle); }

int cublasSetStream_v2(void *, void *) { return 0; }

/// Takes two milliseconds.
int cublasGemmEx(void *, int, int, int, int, int, const void *, const void *, int, int, const void *, int, int,
                 const void *, void *, int, int, int, int) {
  ENTER("cublasGemmEx");
  driver().clock += 2;
  return 0;
}

#ifndef ATTN_FAKE_OLD_DRIVER

int cuMemPoolCreate(void **pool, const void *) {
  ENTER_IN_CONTEXT("cuMemPoolCreate");
  *pool = addObject();
  return 0;
}

int cuMemPoolDestroy(void *pool) {
  ENTER_IN_CONTEXT("cuMemPoolDestroy");
  return removeObject(pool);
}

int cuMemPoolSetAttribute(void *, int attribute, void *value) {
  ENTER_IN_CONTEXT("cuMemPoolSetAttribute");
  note("cuMemPoolSetAttribute %d %llu", attribute, *static_cast<unsigned long long *>(value));
  return 0;
}

int cuMemAllocFromPoolAsync(Address *address, size_t bytes, void *, void *) {
  ENTER_IN_CONTEXT("cuMemAllocFromPoolAsync");
  note("cuMemAllocFromPoolAsync %zu", bytes);
  *address = addMemory(bytes);
  return 0;
}

int cuMemFreeAsync(Address address, void *) {
  ENTER_IN_CONTEXT("cuMemFreeAsync");
  return removeMemory(address);
}

/// The map starts with the address, so that a kernel of a test finds it.
int cuTensorMapEncodeTiled(void *map, int type, uint32_t rank, void *base, const uint64_t *sizes,
                           const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int interleave,
                           int swizzle, int promotion, int fill) {
  ENTER("cuTensorMapEncodeTiled");
  std::string text;
  for (uint32_t d = 0; d < rank; ++d)
    text += " " + std::to_string(sizes[d]) + ":" + std::to_string(d ? strides[d - 1] : 0) + ":" +
            std::to_string(box[d]) + ":" + std::to_string(steps[d]);
  note("cuTensorMapEncodeTiled type %d swizzle %d interleave %d promotion %d fill %d%s", type, swizzle, interleave,
       promotion, fill, text.c_str());
  std::memcpy(map, &base, sizeof(base));
  return 0;
}

#endif // ATTN_FAKE_OLD_DRIVER

} // extern "C"
