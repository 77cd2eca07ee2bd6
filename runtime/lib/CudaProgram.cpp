// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs on a GPU: loading, kernels by name, launches.

#include "CudaContext.h"
#include "DeviceImage.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

using namespace attn::runtime;

/// A kernel that was looked up.
struct CudaKernel {
  CudaKernel *next;
  char *name;
  void *function;
  /// The most dynamic shared memory that a launch has asked for.
  int64_t sharedBytes;
};

struct attn_rt_cuda_program {
  attn_rt_cuda *cuda = nullptr;
  void *module = nullptr;
  attn_rt_device device = {};

  /// Guards the kernels.
  std::mutex mutex;
  CudaKernel *kernels = nullptr;
};

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// More than this the driver gives only to kernels that ask.
static constexpr int64_t plainSharedBytes = 48 << 10;

/// Looks a kernel up; hold the mutex and the context. Null with the message filled.
static CudaKernel *addKernel(attn_rt_cuda_program &program, const char *name, char message[ATTN_RT_MESSAGE_BYTES]) {
  const CudaDriver &driver = *program.cuda->driver;
  void *function = nullptr;
  int result = driver.findFunction(&function, program.module, name);
  if (result == kCudaNotFound)
    setMessage(message, "the program on the GPU has no kernel %s", name);
  else
    driver.check(result, "find a kernel", message);
  if (result != kCudaSuccess)
    return nullptr;
  auto *kernel = new (std::nothrow) CudaKernel{program.kernels, strdup(name), function, plainSharedBytes};
  if (!kernel || !kernel->name) {
    delete kernel;
    setMessage(message, "no memory to look a kernel up");
    return nullptr;
  }
  return program.kernels = kernel;
}

/// The function of that name, allowed to have that much shared memory. Null with the message filled.
static void *findKernel(attn_rt_cuda_program &program, const char *name, int64_t sharedBytes,
                        char message[ATTN_RT_MESSAGE_BYTES]) {
  std::lock_guard<std::mutex> guard(program.mutex);
  CudaKernel *kernel = program.kernels;
  while (kernel && std::strcmp(kernel->name, name) != 0)
    kernel = kernel->next;
  if (!kernel)
    kernel = addKernel(program, name, message);
  if (!kernel || sharedBytes <= kernel->sharedBytes)
    return kernel ? kernel->function : nullptr;
  const CudaDriver &driver = *program.cuda->driver;
  int result =
      driver.setFunctionAttribute(kernel->function, kFunctionDynamicSharedBytes, static_cast<int>(sharedBytes));
  if (!driver.check(result, "give a kernel more shared memory", message))
    return nullptr;
  kernel->sharedBytes = sharedBytes;
  return kernel->function;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// Parameters in the driver's form: an address for each.
struct LaunchParameters {
  static constexpr int64_t maxParameters = 256;
  static constexpr int maxMaps = 16;
  void *addresses[maxParameters];
  EncodedTensorMap maps[maxMaps];
};

static bool packParameters(const CudaDriver &driver, const attn_rt_launch_info &info, LaunchParameters &packed,
                           char message[ATTN_RT_MESSAGE_BYTES]) {
  if (info.parameter_count < 0 || info.parameter_count > LaunchParameters::maxParameters) {
    setMessage(message, "kernel %s: a launch expects up to %lld parameters, but got %lld", info.kernel,
               static_cast<long long>(LaunchParameters::maxParameters), static_cast<long long>(info.parameter_count));
    return false;
  }
  int maps = 0;
  for (int64_t n = 0; n < info.parameter_count; ++n) {
    const attn_rt_parameter &parameter = info.parameters[n];
    packed.addresses[n] = const_cast<void *>(parameter.data);
    if (parameter.kind != ATTN_RT_PARAMETER_TENSOR_MAP)
      continue;
    if (maps == LaunchParameters::maxMaps) {
      setMessage(message, "kernel %s: a launch expects up to %d tensor maps", info.kernel, LaunchParameters::maxMaps);
      return false;
    }
    EncodedTensorMap &encoded = packed.maps[maps++];
    if (!encodeTensorMap(driver, *static_cast<const attn_rt_tensor_map *>(parameter.data), encoded, message))
      return false;
    packed.addresses[n] = &encoded;
  }
  return true;
}

/// Sizes that the hardware takes; the driver's own message names none of them.
static bool checkSizes(const attn_rt_cuda_info &gpu, const attn_rt_launch_info &info,
                       char message[ATTN_RT_MESSAGE_BYTES]) {
  static constexpr int64_t gridLimits[] = {INT32_MAX, 65535, 65535}, blockLimits[] = {1024, 1024, 64};
  for (int d = 0; d < 3; ++d) {
    bool isGrid = info.grid[d] > gridLimits[d];
    if (!isGrid && info.block[d] >= 1 && info.block[d] <= blockLimits[d])
      continue;
    setMessage(message, "kernel %s: a %s expects 1 to %lld in dimension %d, but got %lld", info.kernel,
               isGrid ? "grid" : "block", static_cast<long long>(isGrid ? gridLimits[d] : blockLimits[d]), d,
               static_cast<long long>(isGrid ? info.grid[d] : info.block[d]));
    return false;
  }
  if (info.shared_bytes >= 0 && info.shared_bytes <= gpu.shared_bytes)
    return true;
  setMessage(message, "kernel %s needs %lld bytes of shared memory, but a block on %s can have %lld", info.kernel,
             static_cast<long long>(info.shared_bytes), gpu.name, static_cast<long long>(gpu.shared_bytes));
  return false;
}

static int32_t launch(void *user, const attn_rt_launch_info *info, char message[ATTN_RT_MESSAGE_BYTES]) {
  auto &program = *static_cast<attn_rt_cuda_program *>(user);
  const attn_rt_cuda &cuda = *program.cuda;
  if (!checkSizes(cuda.info, *info, message))
    return ATTN_RT_INVALID_ARGUMENT;
  LaunchParameters parameters;
  if (!packParameters(*cuda.driver, *info, parameters, message))
    return ATTN_RT_DEVICE_FAILED;
  ContextScope scope(cuda);
  if (!scope.check(message))
    return ATTN_RT_DEVICE_FAILED;
  void *function = findKernel(program, info->kernel, info->shared_bytes, message);
  if (!function)
    return ATTN_RT_DEVICE_FAILED;
  auto narrow = [](int64_t size) { return static_cast<unsigned>(size); };
  int result = cuda.driver->launchKernel(function, narrow(info->grid[0]), narrow(info->grid[1]), narrow(info->grid[2]),
                                         narrow(info->block[0]), narrow(info->block[1]), narrow(info->block[2]),
                                         narrow(info->shared_bytes), cuda.stream, parameters.addresses, nullptr);
  char what[160];
  std::snprintf(what, sizeof(what), "start kernel %s", info->kernel);
  return cuda.driver->check(result, what, message) ? ATTN_RT_OK : codeOf(result);
}

// The rest of the device is the GPU's, behind another `user`.
static attn_rt_device &memoryOf(void *user) { return static_cast<attn_rt_cuda_program *>(user)->cuda->memory; }

static void *allocate(void *user, int64_t bytes) { return memoryOf(user).allocate(memoryOf(user).user, bytes); }

static void release(void *user, void *memory) { memoryOf(user).release(memoryOf(user).user, memory); }

static int32_t read(void *user, void *host, const void *device, int64_t bytes, char message[ATTN_RT_MESSAGE_BYTES]) {
  return memoryOf(user).read(memoryOf(user).user, host, device, bytes, message);
}

static int32_t write(void *user, void *device, const void *host, int64_t bytes, char message[ATTN_RT_MESSAGE_BYTES]) {
  return memoryOf(user).write(memoryOf(user).user, device, host, bytes, message);
}

static int32_t wait(void *user, char message[ATTN_RT_MESSAGE_BYTES]) {
  return memoryOf(user).wait(memoryOf(user).user, message);
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

/// Loads one part of an image; hold the context. On failure the message has the driver's log.
static int32_t loadCode(attn_rt_cuda_program &program, const DeviceCode &code, char message[ATTN_RT_MESSAGE_BYTES]) {
  const CudaDriver &driver = *program.cuda->driver;
  // A copy, since PTX must end with a zero byte.
  char *copy = static_cast<char *>(std::malloc(code.size + 1));
  if (!copy) {
    setMessage(message, "no memory to load a program of %llu bytes", static_cast<unsigned long long>(code.size));
    return ATTN_RT_OUT_OF_MEMORY;
  }
  std::memcpy(copy, code.bytes, code.size);
  copy[code.size] = '\0';
  char log[ATTN_RT_MESSAGE_BYTES] = "";
  int options[] = {kJitErrorLog, kJitErrorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log) - 1)};
  int result = driver.loadModule(&program.module, copy, 2, options, values);
  std::free(copy);
  if (driver.check(result, "load the program on the GPU", message))
    return ATTN_RT_OK;
  size_t used = std::strlen(message);
  if (log[0])
    std::snprintf(message + used, ATTN_RT_MESSAGE_BYTES - used, "; %s", log);
  return codeOf(result);
}

/// Loads the first part that the driver takes, and reports the failure of the best one.
static int32_t loadBest(attn_rt_cuda_program &program, DeviceImage &image, char message[ATTN_RT_MESSAGE_BYTES]) {
  const attn_rt_cuda_info &gpu = program.cuda->info;
  char list[256];
  image.list(list, sizeof(list));
  image.keepFor(gpu.major, gpu.minor);
  if (image.count == 0) {
    setMessage(message, "the code is for %s, but %s is sm_%d%d", list, gpu.name, gpu.major, gpu.minor);
    return ATTN_RT_DEVICE_FAILED;
  }
  int32_t code = loadCode(program, image.codes[0], message);
  char ignored[ATTN_RT_MESSAGE_BYTES];
  for (uint32_t n = 1; code != ATTN_RT_OK && n < image.count; ++n)
    if (loadCode(program, image.codes[n], ignored) == ATTN_RT_OK)
      return ATTN_RT_OK;
  return code;
}

int32_t attn_rt_cuda_load(attn_rt_cuda *cuda, const void *code, int64_t bytes, attn_rt_cuda_program **program,
                          char message[ATTN_RT_MESSAGE_BYTES]) {
  *program = nullptr;
  DeviceImage image;
  if (!image.parse(code, bytes, message))
    return ATTN_RT_INVALID_ARGUMENT;
  ContextScope scope(*cuda);
  if (!scope.check(message))
    return ATTN_RT_DEVICE_FAILED;
  auto *loaded = new (std::nothrow) attn_rt_cuda_program;
  if (!loaded) {
    setMessage(message, "no memory to load a program");
    return ATTN_RT_OUT_OF_MEMORY;
  }
  loaded->cuda = cuda;
  loaded->device = {loaded, launch, allocate, release, read, write, wait};
  int32_t result = loadBest(*loaded, image, message);
  if (result == ATTN_RT_OK)
    *program = loaded;
  else
    delete loaded;
  return result;
}

void attn_rt_cuda_unload(attn_rt_cuda_program *program) {
  if (!program)
    return;
  const CudaDriver &driver = *program->cuda->driver;
  {
    ContextScope scope(*program->cuda);
    driver.waitForStream(program->cuda->stream);
    driver.unloadModule(program->module);
  }
  while (CudaKernel *kernel = program->kernels) {
    program->kernels = kernel->next;
    std::free(kernel->name);
    delete kernel;
  }
  delete program;
}

const attn_rt_device *attn_rt_cuda_device(const attn_rt_cuda_program *program) { return &program->device; }
