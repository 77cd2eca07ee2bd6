// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/attn.h"
#include <iostream>

int main() {
  auto module = attn::Module::parse(R"(
    !tensor = tensor<1x8x100x64xf32>
    func.func @causal(%q: !tensor, %k: !tensor, %v: !tensor) -> !tensor {
      %scale = arith.constant 0.125 : f32
      %init = tensor.empty() : !tensor
      %out = attn.attention %q, %k, %v scale(%scale) masks(causal) : !tensor, !tensor, !tensor outs(%init : !tensor) -> !tensor
      return %out : !tensor
    })");
  if (!module)
    return std::cerr << module.error().str() << "\n", 1;
  auto kernel = module->compile("causal"); // for this machine
  if (!kernel)
    return std::cerr << kernel.error().str() << "\n", 1;

  std::vector<float> q(8 * 100 * 64, 0.5f), k = q, v(q.size(), 2.0f),
                                            out(q.size()); // your own memory, strided if you like
  const std::vector<int64_t> shape = {1, 8, 100, 64};
  auto run = kernel->run({attn::view(q, shape), attn::view(k, shape), attn::view(v, shape)}, {attn::view(out, shape)},
                         attn::RunOptions().threads(2));
  if (!run)
    return std::cerr << run.error().str() << "\n", 1;
  std::cout << "first " << out.front() << ", last " << out.back() << "\n"; // means of 2.0
}
