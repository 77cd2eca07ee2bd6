// The functions of gpu.json: 2048 columns of heads, head sizes 64 and 128, batch and length by the workload.
!heads_64 = tensor<?x32x?x64xbf16>
!heads_128 = tensor<?x16x?x128xbf16>

func.func @full_64(%q: !heads_64, %k: !heads_64, %v: !heads_64) -> !heads_64 {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %batch = tensor.dim %q, %c0 : !heads_64
  %queryLen = tensor.dim %q, %c2 : !heads_64
  %scale = arith.constant 0.125 : f32
  %init = tensor.empty(%batch, %queryLen) : !heads_64
  %out = attn.attention %q, %k, %v scale(%scale) : !heads_64, !heads_64, !heads_64 outs(%init : !heads_64) -> !heads_64
  return %out : !heads_64
}

func.func @causal_64(%q: !heads_64, %k: !heads_64, %v: !heads_64) -> !heads_64 {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %batch = tensor.dim %q, %c0 : !heads_64
  %queryLen = tensor.dim %q, %c2 : !heads_64
  %scale = arith.constant 0.125 : f32
  %init = tensor.empty(%batch, %queryLen) : !heads_64
  %out = attn.attention %q, %k, %v scale(%scale) masks(causal<bottom_right>)
      : !heads_64, !heads_64, !heads_64 outs(%init : !heads_64) -> !heads_64
  return %out : !heads_64
}

func.func @full_128(%q: !heads_128, %k: !heads_128, %v: !heads_128) -> !heads_128 {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %batch = tensor.dim %q, %c0 : !heads_128
  %queryLen = tensor.dim %q, %c2 : !heads_128
  %scale = arith.constant 0.08838834764 : f32
  %init = tensor.empty(%batch, %queryLen) : !heads_128
  %out = attn.attention %q, %k, %v scale(%scale)
      : !heads_128, !heads_128, !heads_128 outs(%init : !heads_128) -> !heads_128
  return %out : !heads_128
}

func.func @causal_128(%q: !heads_128, %k: !heads_128, %v: !heads_128) -> !heads_128 {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %batch = tensor.dim %q, %c0 : !heads_128
  %queryLen = tensor.dim %q, %c2 : !heads_128
  %scale = arith.constant 0.08838834764 : f32
  %init = tensor.empty(%batch, %queryLen) : !heads_128
  %out = attn.attention %q, %k, %v scale(%scale) masks(causal<bottom_right>)
      : !heads_128, !heads_128, !heads_128 outs(%init : !heads_128) -> !heads_128
  return %out : !heads_128
}
