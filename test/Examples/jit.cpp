// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/attn.h"
#include <iostream>

int main() {
  auto module = attn::Module::parse(R"(
    !heads = tensor<1x8x100x64xf32>
    func.func @causal(%q: !heads, %k: !heads, %v: !heads) -> !heads {
      %scale = arith.constant 0.125 : f32
      %init = tensor.empty() : !heads
      %out = attn.attention %q, %k, %v scale(%scale) masks(causal)
          : !heads, !heads, !heads outs(%init : !heads) -> !heads
      return %out : !heads
    })");
  if (!module)
    return std::cerr << module.error().str() << "\n", 1;
  auto kernel = module->compile("causal"); // native code for this CPU
  if (!kernel)
    return std::cerr << kernel.error().str() << "\n", 1;

  std::vector<float> q(8 * 100 * 64, 0.5f), k = q, v(q.size()), out(q.size());
  for (size_t n = 0; n < v.size(); ++n)
    v[n] = n / 64 % 100; // value of key j: j
  const std::vector<int64_t> shape = {1, 8, 100, 64};
  auto run = kernel->run({attn::view(q, shape), attn::view(k, shape), attn::view(v, shape)}, {attn::view(out, shape)},
                         attn::RunOptions().threads(2));
  if (!run)
    return std::cerr << run.error().str() << "\n", 1;
  std::cout << "first " << out.front() << ", last " << out.back() << "\n"; // all weights equal: means of 0..i
}
