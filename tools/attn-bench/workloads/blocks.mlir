// Layers of transformers with attention written out in linalg, for any number of tokens: what attn-fuse makes of whole
// graphs, against the same graphs as they stand.

//===----------------------------------------------------------------------===//
// A layer of BERT-base: 12 heads of size 64, hidden size 768, feed-forward size 3072.
//===----------------------------------------------------------------------===//

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

#scores = affine_map<(h, i, j) -> (h, i, j)>
#rows = affine_map<(h, i, j) -> (h, i)>
func.func private @attend(%q: !hidden, %k: !hidden, %v: !hidden) -> !hidden {
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

func.func @bert(%x: !hidden, %wq: !square, %bq: !vector, %wk: !square, %bk: !vector, %wv: !square, %bv: !vector,
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

//===----------------------------------------------------------------------===//
// A small layer like Llama's: hidden size 1024, 16 heads of size 64 that share 4 of key and value, causal, feed-forward
// size 2816, RMS norms, no biases. Rotation of query and key is left out.
//===----------------------------------------------------------------------===//

!state = tensor<?x1024xf32>
!gain = tensor<1024xf32>
!few = tensor<?x256xf32>
!wide = tensor<?x2816xf32>

func.func private @rms_norm(%x: !state, %gain: !gain) -> !state {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %size = arith.constant 1024.0 : f32
  %epsilon = arith.constant 1.0e-5 : f32
  %tokens = tensor.dim %x, %c0 : !state
  %e1 = tensor.empty(%tokens) : tensor<?xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?xf32>) -> tensor<?xf32>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : !state) outs(%init : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %aa = arith.mulf %a, %a : f32
    %t = arith.addf %aa, %o : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  %e2 = tensor.empty(%tokens) : !state
  %out = linalg.generic {indexing_maps = [#id, #row, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %squares, %gain : !state, tensor<?xf32>, !gain) outs(%e2 : !state) {
  ^bb0(%a: f32, %s: f32, %g: f32, %o: f32):
    %mean = arith.divf %s, %size : f32
    %shifted = arith.addf %mean, %epsilon : f32
    %r = math.rsqrt %shifted : f32
    %n = arith.mulf %a, %r : f32
    %t = arith.mulf %n, %g : f32
    linalg.yield %t : f32
  } -> !state
  return %out : !state
}

func.func private @add(%x: !state, %y: !state) -> !state {
  %z = arith.addf %x, %y : !state
  return %z : !state
}

// (silu(x * gate) * (x * up)) * down
func.func private @gated_feed_forward(%x: !state, %gate: tensor<1024x2816xf32>, %up: tensor<1024x2816xf32>,
                                      %down: tensor<2816x1024xf32>) -> !state {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %tokens = tensor.dim %x, %c0 : !state
  %empty = tensor.empty(%tokens) : !wide
  %init = linalg.fill ins(%zero : f32) outs(%empty : !wide) -> !wide
  %g = linalg.matmul ins(%x, %gate : !state, tensor<1024x2816xf32>) outs(%init : !wide) -> !wide
  %u = linalg.matmul ins(%x, %up : !state, tensor<1024x2816xf32>) outs(%init : !wide) -> !wide
  %h = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%g, %u : !wide, !wide) outs(%empty : !wide) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %minus = arith.negf %a : f32
    %e = math.exp %minus : f32
    %d = arith.addf %e, %one : f32
    %s = arith.divf %a, %d : f32
    %t = arith.mulf %s, %b : f32
    linalg.yield %t : f32
  } -> !wide
  %empty2 = tensor.empty(%tokens) : !state
  %init2 = linalg.fill ins(%zero : f32) outs(%empty2 : !state) -> !state
  %out = linalg.matmul ins(%h, %down : !wide, tensor<2816x1024xf32>) outs(%init2 : !state) -> !state
  return %out : !state
}

// g: query heads that share a kv head h.
#grouped = affine_map<(h, g, i, j) -> (h, g, i, j)>
#grouped_rows = affine_map<(h, g, i, j) -> (h, g, i)>
func.func private @attend_causal(%q: !state, %k: !few, %v: !few) -> !state {
  %c0 = arith.constant 0 : index
  %scale = arith.constant 0.125 : f32
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %tokens = tensor.dim %q, %c0 : !state
  %qh = tensor.expand_shape %q [[0], [1, 2, 3]] output_shape [%tokens, 4, 4, 64] : !state into tensor<?x4x4x64xf32>
  %kh = tensor.expand_shape %k [[0], [1, 2]] output_shape [%tokens, 4, 64] : !few into tensor<?x4x64xf32>
  %vh = tensor.expand_shape %v [[0], [1, 2]] output_shape [%tokens, 4, 64] : !few into tensor<?x4x64xf32>
  %es = tensor.empty(%tokens, %tokens) : tensor<4x4x?x?xf32>
  %er = tensor.empty(%tokens) : tensor<4x4x?xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x4x?x?xf32>) -> tensor<4x4x?x?xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<4x4x?xf32>) -> tensor<4x4x?xf32>
  %lr = linalg.fill ins(%lowest : f32) outs(%er : tensor<4x4x?xf32>) -> tensor<4x4x?xf32>
  %scores = linalg.generic {
    indexing_maps = [affine_map<(h, g, i, j, d) -> (i, h, g, d)>, affine_map<(h, g, i, j, d) -> (j, h, d)>,
                     affine_map<(h, g, i, j, d) -> (h, g, i, j)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]
  } ins(%qh, %kh : tensor<?x4x4x64xf32>, tensor<?x4x64xf32>) outs(%zs : tensor<4x4x?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %ab = arith.mulf %a, %b : f32
    %t = arith.addf %o, %ab : f32
    linalg.yield %t : f32
  } -> tensor<4x4x?x?xf32>
  %masked = linalg.generic {indexing_maps = [#grouped, #grouped],
                            iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%scores : tensor<4x4x?x?xf32>) outs(%es : tensor<4x4x?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %keep = arith.cmpi sle, %j, %i : index
    %s = arith.mulf %a, %scale : f32
    %t = arith.select %keep, %s, %lowest : f32
    linalg.yield %t : f32
  } -> tensor<4x4x?x?xf32>
  %max = linalg.generic {indexing_maps = [#grouped, #grouped_rows],
                         iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%masked : tensor<4x4x?x?xf32>) outs(%lr : tensor<4x4x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.maximumf %o, %a : f32
    linalg.yield %t : f32
  } -> tensor<4x4x?xf32>
  %weights = linalg.generic {indexing_maps = [#grouped, #grouped_rows, #grouped],
                             iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%masked, %max : tensor<4x4x?x?xf32>, tensor<4x4x?xf32>) outs(%es : tensor<4x4x?x?xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    %t = math.exp %d : f32
    linalg.yield %t : f32
  } -> tensor<4x4x?x?xf32>
  %sum = linalg.generic {indexing_maps = [#grouped, #grouped_rows],
                         iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%weights : tensor<4x4x?x?xf32>) outs(%zr : tensor<4x4x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<4x4x?xf32>
  %shares = linalg.generic {indexing_maps = [#grouped, #grouped_rows, #grouped],
                            iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%weights, %sum : tensor<4x4x?x?xf32>, tensor<4x4x?xf32>) outs(%es : tensor<4x4x?x?xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %t = arith.divf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<4x4x?x?xf32>
  %eo = tensor.empty(%tokens) : tensor<?x4x4x64xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<?x4x4x64xf32>) -> tensor<?x4x4x64xf32>
  %out = linalg.generic {
    indexing_maps = [affine_map<(i, h, g, e, j) -> (h, g, i, j)>, affine_map<(i, h, g, e, j) -> (j, h, e)>,
                     affine_map<(i, h, g, e, j) -> (i, h, g, e)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]
  } ins(%shares, %vh : tensor<4x4x?x?xf32>, tensor<?x4x64xf32>) outs(%zo : tensor<?x4x4x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %ab = arith.mulf %a, %b : f32
    %t = arith.addf %o, %ab : f32
    linalg.yield %t : f32
  } -> tensor<?x4x4x64xf32>
  %flat = tensor.collapse_shape %out [[0], [1, 2, 3]] : tensor<?x4x4x64xf32> into !state
  return %flat : !state
}

func.func @llama(%x: !state, %g1: !gain, %wq: tensor<1024x1024xf32>, %wk: tensor<1024x256xf32>,
                 %wv: tensor<1024x256xf32>, %wo: tensor<1024x1024xf32>, %g2: !gain, %gate: tensor<1024x2816xf32>,
                 %up: tensor<1024x2816xf32>, %down: tensor<2816x1024xf32>) -> !state {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %tokens = tensor.dim %x, %c0 : !state
  %n = call @rms_norm(%x, %g1) : (!state, !gain) -> !state
  %empty = tensor.empty(%tokens) : !state
  %init = linalg.fill ins(%zero : f32) outs(%empty : !state) -> !state
  %emptyFew = tensor.empty(%tokens) : !few
  %initFew = linalg.fill ins(%zero : f32) outs(%emptyFew : !few) -> !few
  %q = linalg.matmul ins(%n, %wq : !state, tensor<1024x1024xf32>) outs(%init : !state) -> !state
  %k = linalg.matmul ins(%n, %wk : !state, tensor<1024x256xf32>) outs(%initFew : !few) -> !few
  %v = linalg.matmul ins(%n, %wv : !state, tensor<1024x256xf32>) outs(%initFew : !few) -> !few
  %a = call @attend_causal(%q, %k, %v) : (!state, !few, !few) -> !state
  %o = linalg.matmul ins(%a, %wo : !state, tensor<1024x1024xf32>) outs(%init : !state) -> !state
  %y = call @add(%x, %o) : (!state, !state) -> !state
  %m = call @rms_norm(%y, %g2) : (!state, !gain) -> !state
  %f = call @gated_feed_forward(%m, %gate, %up, %down)
      : (!state, tensor<1024x2816xf32>, tensor<1024x2816xf32>, tensor<2816x1024xf32>) -> !state
  %z = call @add(%y, %f) : (!state, !state) -> !state
  return %z : !state
}
