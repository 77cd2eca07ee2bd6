// RUN: attn-run %s --function=fused --shape=0:7x768 --out-shape=0:7x768 --check | FileCheck %s
// RUN: attn-run %s --function=unfused --shape=0:7x768 --out-shape=0:7x768 --check --threads=2 | FileCheck %s
// RUN: attn-run %s --function=fused --shape=0:65x768 --out-shape=0:65x768 --threads=1 --output=%t.1.npy
// RUN: attn-run %s --function=fused --shape=0:65x768 --out-shape=0:65x768 --threads=2 --output=%t.2.npy
// RUN: cmp %t.1.npy %t.2.npy
// CHECK: check: PASS

// A layer of BERT-base, any number of tokens: 12 heads of size 64, hidden size 768, feed-forward size 3072; with the
// attention as one op, and with the same written out in linalg.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
!hidden = tensor<?x768xf32>
!vector = tensor<768xf32>
!square = tensor<768x768xf32>

// x * weight + bias
func.func private @project(%x: !hidden, %weight: !square, %bias: !vector) -> !hidden {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %tokens = tensor.dim %x, %c0 : !hidden
  %empty = tensor.empty(%tokens) : !hidden
  %init = linalg.fill ins(%zero : f32) outs(%empty : !hidden) -> !hidden
  %product = linalg.matmul ins(%x, %weight : !hidden, !square) outs(%init : !hidden) -> !hidden
  %out = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%product, %bias : !hidden, !vector) outs(%empty : !hidden) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> !hidden
  return %out : !hidden
}

// layer_norm(x + y)
func.func private @add_and_normalize(%x: !hidden, %y: !hidden, %gamma: !vector, %beta: !vector) -> !hidden {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %size = arith.constant 768.0 : f32
  %epsilon = arith.constant 1.0e-12 : f32
  %tokens = tensor.dim %x, %c0 : !hidden
  %z = arith.addf %x, %y : !hidden
  %e1 = tensor.empty(%tokens) : tensor<?xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%z : !hidden) outs(%init : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  %mean = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%sum : tensor<?xf32>) outs(%e1 : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.divf %a, %size : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  %squares = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%z, %mean : !hidden, tensor<?xf32>) outs(%init : tensor<?xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    %dd = arith.mulf %d, %d : f32
    %t = arith.addf %dd, %o : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  %scale = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%squares : tensor<?xf32>) outs(%e1 : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %variance = arith.divf %a, %size : f32
    %shifted = arith.addf %variance, %epsilon : f32
    %r = math.rsqrt %shifted : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %e2 = tensor.empty(%tokens) : !hidden
  %out = linalg.generic {indexing_maps = [#id, #row, #row, #column, #column, #id],
                         iterator_types = ["parallel", "parallel"]}
      ins(%z, %mean, %scale, %gamma, %beta : !hidden, tensor<?xf32>, tensor<?xf32>, !vector, !vector)
      outs(%e2 : !hidden) {
  ^bb0(%a: f32, %m: f32, %s: f32, %g: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    %n = arith.mulf %d, %s : f32
    %ng = arith.mulf %n, %g : f32
    %r = arith.addf %ng, %b : f32
    linalg.yield %r : f32
  } -> !hidden
  return %out : !hidden
}

// gelu(x * w1 + b1) * w2 + b2
func.func private @feed_forward(%x: !hidden, %w1: tensor<768x3072xf32>, %b1: tensor<3072xf32>,
                                %w2: tensor<3072x768xf32>, %b2: !vector) -> !hidden {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %root = arith.constant 0.707106769 : f32
  %tokens = tensor.dim %x, %c0 : !hidden
  %empty = tensor.empty(%tokens) : tensor<?x3072xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x3072xf32>) -> tensor<?x3072xf32>
  %up = linalg.matmul ins(%x, %w1 : !hidden, tensor<768x3072xf32>) outs(%init : tensor<?x3072xf32>) -> tensor<?x3072xf32>
  %active = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%up, %b1 : tensor<?x3072xf32>, tensor<3072xf32>) outs(%empty : tensor<?x3072xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    %r = arith.mulf %s, %root : f32
    %erf = math.erf %r : f32
    %u = arith.addf %erf, %one : f32
    %h = arith.mulf %s, %half : f32
    %g = arith.mulf %h, %u : f32
    linalg.yield %g : f32
  } -> tensor<?x3072xf32>
  %empty2 = tensor.empty(%tokens) : !hidden
  %init2 = linalg.fill ins(%zero : f32) outs(%empty2 : !hidden) -> !hidden
  %down = linalg.matmul ins(%active, %w2 : tensor<?x3072xf32>, tensor<3072x768xf32>) outs(%init2 : !hidden) -> !hidden
  %out = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%down, %b2 : !hidden, !vector) outs(%empty2 : !hidden) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> !hidden
  return %out : !hidden
}

func.func private @attend(%q: !hidden, %k: !hidden, %v: !hidden) -> !hidden {
  %c0 = arith.constant 0 : index
  %scale = arith.constant 0.125 : f32
  %tokens = tensor.dim %q, %c0 : !hidden
  %qh = tensor.expand_shape %q [[0, 1], [2, 3]] output_shape [1, %tokens, 12, 64] : !hidden into tensor<1x?x12x64xf32>
  %kh = tensor.expand_shape %k [[0, 1], [2, 3]] output_shape [1, %tokens, 12, 64] : !hidden into tensor<1x?x12x64xf32>
  %vh = tensor.expand_shape %v [[0, 1], [2, 3]] output_shape [1, %tokens, 12, 64] : !hidden into tensor<1x?x12x64xf32>
  %empty = tensor.empty(%tokens) : tensor<1x?x12x64xf32>
  %out = attn.attention %qh, %kh, %vh scale(%scale)
      layout(query(b, i, h, d), key(b, j, h, d), value(b, j, h, e), out(b, i, h, e))
      : tensor<1x?x12x64xf32>, tensor<1x?x12x64xf32>, tensor<1x?x12x64xf32>
        outs(%empty : tensor<1x?x12x64xf32>) -> tensor<1x?x12x64xf32>
  %flat = tensor.collapse_shape %out [[0, 1], [2, 3]] : tensor<1x?x12x64xf32> into !hidden
  return %flat : !hidden
}

#scores = affine_map<(h, i, j) -> (h, i, j)>
#rows = affine_map<(h, i, j) -> (h, i)>
func.func private @attend_unfused(%q: !hidden, %k: !hidden, %v: !hidden) -> !hidden {
  %c0 = arith.constant 0 : index
  %scale = arith.constant 0.125 : f32
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %tokens = tensor.dim %q, %c0 : !hidden
  %qh = tensor.expand_shape %q [[0], [1, 2]] output_shape [%tokens, 12, 64] : !hidden into tensor<?x12x64xf32>
  %kh = tensor.expand_shape %k [[0], [1, 2]] output_shape [%tokens, 12, 64] : !hidden into tensor<?x12x64xf32>
  %vh = tensor.expand_shape %v [[0], [1, 2]] output_shape [%tokens, 12, 64] : !hidden into tensor<?x12x64xf32>
  %es = tensor.empty(%tokens, %tokens) : tensor<12x?x?xf32>
  %er = tensor.empty(%tokens) : tensor<12x?xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<12x?x?xf32>) -> tensor<12x?x?xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<12x?xf32>) -> tensor<12x?xf32>
  %lr = linalg.fill ins(%lowest : f32) outs(%er : tensor<12x?xf32>) -> tensor<12x?xf32>
  %scores = linalg.generic {
    indexing_maps = [affine_map<(h, i, j, d) -> (i, h, d)>, affine_map<(h, i, j, d) -> (j, h, d)>,
                     affine_map<(h, i, j, d) -> (h, i, j)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction"]
  } ins(%qh, %kh : tensor<?x12x64xf32>, tensor<?x12x64xf32>) outs(%zs : tensor<12x?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %ab = arith.mulf %a, %b : f32
    %t = arith.addf %o, %ab : f32
    linalg.yield %t : f32
  } -> tensor<12x?x?xf32>
  %scaled = linalg.generic {indexing_maps = [#scores, #scores], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%scores : tensor<12x?x?xf32>) outs(%es : tensor<12x?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.mulf %a, %scale : f32
    linalg.yield %t : f32
  } -> tensor<12x?x?xf32>
  %max = linalg.generic {indexing_maps = [#scores, #rows], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%scaled : tensor<12x?x?xf32>) outs(%lr : tensor<12x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.maximumf %o, %a : f32
    linalg.yield %t : f32
  } -> tensor<12x?xf32>
  %weights = linalg.generic {indexing_maps = [#scores, #rows, #scores],
                             iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%scaled, %max : tensor<12x?x?xf32>, tensor<12x?xf32>) outs(%es : tensor<12x?x?xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    %t = math.exp %d : f32
    linalg.yield %t : f32
  } -> tensor<12x?x?xf32>
  %sum = linalg.generic {indexing_maps = [#scores, #rows], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%weights : tensor<12x?x?xf32>) outs(%zr : tensor<12x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<12x?xf32>
  %shares = linalg.generic {indexing_maps = [#scores, #rows, #scores],
                            iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%weights, %sum : tensor<12x?x?xf32>, tensor<12x?xf32>) outs(%es : tensor<12x?x?xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %t = arith.divf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<12x?x?xf32>
  %eo = tensor.empty(%tokens) : tensor<?x12x64xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<?x12x64xf32>) -> tensor<?x12x64xf32>
  %out = linalg.generic {
    indexing_maps = [affine_map<(i, h, e, j) -> (h, i, j)>, affine_map<(i, h, e, j) -> (j, h, e)>,
                     affine_map<(i, h, e, j) -> (i, h, e)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction"]
  } ins(%shares, %vh : tensor<12x?x?xf32>, tensor<?x12x64xf32>) outs(%zo : tensor<?x12x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %ab = arith.mulf %a, %b : f32
    %t = arith.addf %o, %ab : f32
    linalg.yield %t : f32
  } -> tensor<?x12x64xf32>
  %flat = tensor.collapse_shape %out [[0], [1, 2]] : tensor<?x12x64xf32> into !hidden
  return %flat : !hidden
}


func.func @fused(%x: !hidden, %wq: !square, %bq: !vector, %wk: !square, %bk: !vector, %wv: !square, %bv: !vector,
                 %wo: !square, %bo: !vector, %g1: !vector, %h1: !vector, %w1: tensor<768x3072xf32>,
                 %b1: tensor<3072xf32>, %w2: tensor<3072x768xf32>, %b2: !vector, %g2: !vector, %h2: !vector) -> !hidden {
  %q = call @project(%x, %wq, %bq) : (!hidden, !square, !vector) -> !hidden
  %k = call @project(%x, %wk, %bk) : (!hidden, !square, !vector) -> !hidden
  %v = call @project(%x, %wv, %bv) : (!hidden, !square, !vector) -> !hidden
  %a = call @attend(%q, %k, %v) : (!hidden, !hidden, !hidden) -> !hidden
  %o = call @project(%a, %wo, %bo) : (!hidden, !square, !vector) -> !hidden
  %y = call @add_and_normalize(%x, %o, %g1, %h1) : (!hidden, !hidden, !vector, !vector) -> !hidden
  %f = call @feed_forward(%y, %w1, %b1, %w2, %b2)
      : (!hidden, tensor<768x3072xf32>, tensor<3072xf32>, tensor<3072x768xf32>, !vector) -> !hidden
  %z = call @add_and_normalize(%y, %f, %g2, %h2) : (!hidden, !hidden, !vector, !vector) -> !hidden
  return %z : !hidden
}

func.func @unfused(%x: !hidden, %wq: !square, %bq: !vector, %wk: !square, %bk: !vector, %wv: !square, %bv: !vector,
                 %wo: !square, %bo: !vector, %g1: !vector, %h1: !vector, %w1: tensor<768x3072xf32>,
                 %b1: tensor<3072xf32>, %w2: tensor<3072x768xf32>, %b2: !vector, %g2: !vector, %h2: !vector) -> !hidden {
  %q = call @project(%x, %wq, %bq) : (!hidden, !square, !vector) -> !hidden
  %k = call @project(%x, %wk, %bk) : (!hidden, !square, !vector) -> !hidden
  %v = call @project(%x, %wv, %bv) : (!hidden, !square, !vector) -> !hidden
  %a = call @attend_unfused(%q, %k, %v) : (!hidden, !hidden, !hidden) -> !hidden
  %o = call @project(%a, %wo, %bo) : (!hidden, !square, !vector) -> !hidden
  %y = call @add_and_normalize(%x, %o, %g1, %h1) : (!hidden, !hidden, !vector, !vector) -> !hidden
  %f = call @feed_forward(%y, %w1, %b1, %w2, %b2)
      : (!hidden, tensor<768x3072xf32>, tensor<3072xf32>, tensor<3072x768xf32>, !vector) -> !hidden
  %z = call @add_and_normalize(%y, %f, %g2, %h2) : (!hidden, !hidden, !vector, !vector) -> !hidden
  return %z : !hidden
}
