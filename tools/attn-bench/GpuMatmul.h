//===- GpuMatmul.h - what matrix products reach on a GPU ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_ATTNBENCH_GPUMATMUL_H
#define ATTN_TOOLS_ATTNBENCH_GPUMATMUL_H

#include "attn/API/Result.h"
#include "attn/API/Tensor.h"

#include <memory>

namespace attn::tool {

/// The ceiling of attention on a GPU: a large matrix product by cuBLAS, which is loaded at run time (libcublas.so.13 or
/// .12, or the library that ATTN_CUBLAS names).
class GpuMatmul {
public:
  /// On the first GPU, which cuBLAS takes by itself. An error where there is no cuBLAS.
  static Result<GpuMatmul> create();

  /// GFLOP/s of one product [8192, 8192] x [8192, 8192] of f16 or bf16 with f32 sums, by the GPU's clock, in the median
  /// of some. f32 tensors count as tf32.
  Result<double> measure(DType dtype);

  GpuMatmul(GpuMatmul &&) noexcept;
  GpuMatmul &operator=(GpuMatmul &&) noexcept;
  ~GpuMatmul();

private:
  struct Impl;
  explicit GpuMatmul(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace attn::tool

#endif // ATTN_TOOLS_ATTNBENCH_GPUMATMUL_H
