//===- GpuMatmul.cpp - what matrix products reach on a GPU -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GpuMatmul.h"

#include "Samples.h"
#include "attn/Cuda.h"

#include <cstdlib>
#include <dlfcn.h>

using namespace attn;
using namespace attn::tool;

/// Rows and columns of the factors, and products for each median.
static constexpr int64_t extent = 8192;
static constexpr int products = 5;

// Values of cuBLAS's enumerations.
static constexpr int kTypeF32 = 0, kTypeF16 = 2, kTypeBf16 = 14, kComputeF32 = 68, kComputeTf32 = 77,
                     kDefaultAlgorithm = -1, kPlain = 0;

static Error deviceError(const char *message) { return {ErrorCode::DeviceFailed, message, {}}; }

struct GpuMatmul::Impl {
  ~Impl() {
    if (handle)
      destroy(handle);
    if (cuda) {
      const attn_rt_device *device = attn_rt_cuda_memory(cuda);
      if (memory)
        device->release(device->user, memory);
      attn_rt_cuda_close(cuda);
    }
  }

  Status loadLibrary();
  Status open();
  Status multiply(int type, int compute);

  attn_rt_cuda *cuda = nullptr;
  /// Two factors and the product.
  void *memory = nullptr;
  void *handle = nullptr;
  int (*create)(void **) = nullptr;
  int (*destroy)(void *) = nullptr;
  int (*setStream)(void *, void *) = nullptr;
  int (*gemm)(void *, int, int, int, int, int, const void *, const void *, int, int, const void *, int, int,
              const void *, void *, int, int, int, int) = nullptr;
};

template <typename Function> static bool bind(void *library, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

Status GpuMatmul::Impl::loadLibrary() {
  const char *named = std::getenv("ATTN_CUBLAS");
  void *library = nullptr;
  for (const char *name : {named ? named : "libcublas.so.13", "libcublas.so.12"})
    if (!library)
      library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library && bind(library, "cublasCreate_v2", create) && bind(library, "cublasDestroy_v2", destroy) &&
      bind(library, "cublasSetStream_v2", setStream) && bind(library, "cublasGemmEx", gemm))
    return {};
  return Error{ErrorCode::Io, "there is no cuBLAS (libcublas.so.13, libcublas.so.12)", {}};
}

/// The GPU, memory for f32 matrices, and cuBLAS on the GPU's stream.
Status GpuMatmul::Impl::open() {
  char message[ATTN_RT_MESSAGE_BYTES] = "";
  if (attn_rt_cuda_open(0, nullptr, &cuda, message))
    return deviceError(message);
  const attn_rt_device *device = attn_rt_cuda_memory(cuda);
  memory = device->allocate(device->user, 3 * extent * extent * static_cast<int64_t>(sizeof(float)));
  if (!memory)
    return Error{ErrorCode::OutOfMemory, "no memory on the GPU for a large matrix product", {}};
  if (create(&handle) != 0 || setStream(handle, attn_rt_cuda_stream(cuda)) != 0)
    return deviceError("cuBLAS does not start");
  return {};
}

/// Starts a product of what lies in the memory: speed does not depend on it much, and zeros would flatter.
Status GpuMatmul::Impl::multiply(int type, int compute) {
  char *left = static_cast<char *>(memory);
  const int64_t bytes = extent * extent * static_cast<int64_t>(sizeof(float));
  const float one = 1, zero = 0;
  const int size = extent;
  if (gemm(handle, kPlain, kPlain, size, size, size, &one, left, type, size, left + bytes, type, size, &zero,
           left + 2 * bytes, type, size, compute, kDefaultAlgorithm) != 0)
    return deviceError("cuBLAS fails at a large matrix product");
  return {};
}

/// Small numbers without a pattern, for a factor of f32; as 16-bit numbers they are finite, too.
static Status fillFactor(attn_rt_cuda *cuda, void *factor) {
  std::vector<uint16_t> words(2 * extent * extent);
  uint32_t state = 1;
  for (uint16_t &word : words) {
    state = 1664525 * state + 1013904223;
    word = static_cast<uint16_t>(0x3000 | (state >> 16 & 0x8bff)); // f16 and bf16 below 1, either sign
  }
  const attn_rt_device *device = attn_rt_cuda_memory(cuda);
  char message[ATTN_RT_MESSAGE_BYTES] = "";
  int64_t bytes = static_cast<int64_t>(words.size() * sizeof(uint16_t));
  if (device->write(device->user, factor, words.data(), bytes, message))
    return deviceError(message);
  return {};
}

Result<GpuMatmul> GpuMatmul::create() {
  auto impl = std::make_unique<Impl>();
  if (Status status = impl->loadLibrary(); !status)
    return status.error();
  if (Status status = impl->open(); !status)
    return status.error();
  for (int64_t factor : {0, 1}) {
    void *start = static_cast<float *>(impl->memory) + factor * extent * extent;
    if (Status status = fillFactor(impl->cuda, start); !status)
      return status.error();
  }
  return GpuMatmul(std::move(impl));
}

Result<double> GpuMatmul::measure(DType dtype) {
  int type = dtype == DType::BF16 ? kTypeBf16 : dtype == DType::F16 ? kTypeF16 : kTypeF32;
  int compute = type == kTypeF32 ? kComputeTf32 : kComputeF32;
  char message[ATTN_RT_MESSAGE_BYTES] = "";
  std::vector<double> speeds;
  for (int n = 0; n < products; ++n) {
    if (attn_rt_cuda_start_timer(impl->cuda, message))
      return deviceError(message);
    if (Status status = impl->multiply(type, compute); !status)
      return status.error();
    double seconds = 0;
    if (attn_rt_cuda_stop_timer(impl->cuda, &seconds, message))
      return deviceError(message);
    speeds.push_back(2.0 * extent * extent * extent * 1e-9 / seconds);
  }
  return median(speeds);
}

GpuMatmul::GpuMatmul(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
GpuMatmul::GpuMatmul(GpuMatmul &&) noexcept = default;
GpuMatmul &GpuMatmul::operator=(GpuMatmul &&) noexcept = default;
GpuMatmul::~GpuMatmul() = default;
