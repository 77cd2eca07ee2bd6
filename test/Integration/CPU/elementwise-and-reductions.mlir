// RUN: attn-run %s --function=gelu --check --threads=2 | FileCheck %s
// RUN: attn-run %s --function=gelu_tanh --check --threads=2 | FileCheck %s
// RUN: attn-run %s --function=layer_norm --check --threads=2 | FileCheck %s
// RUN: attn-run %s --function=rms_norm --shape=0:5x1 --shape=1:1 --check | FileCheck %s
// RUN: attn-run %s --function=rms_norm --shape=0:300x771 --shape=1:771 --check --threads=2 | FileCheck %s
// RUN: attn-run %s --function=rms_norm --shape=0:0x7 --shape=1:7 --check | FileCheck %s
// RUN: attn-run %s --function=softmax_rows --shape=0:3x47 --check | FileCheck %s
// RUN: attn-run %s --function=softmax_rows --shape=0:129x1030 --check --threads=2 | FileCheck %s
// RUN: attn-run %s --function=sum_over_first --shape=0:77x45 --check | FileCheck %s
// RUN: attn-run %s --function=sum_over_first --shape=0:0x45 --check | FileCheck %s
// RUN: attn-run %s --function=sum_over_middle --check --threads=2 | FileCheck %s
// RUN: attn-run %s --function=sum_of_all --shape=0:33x35 --check | FileCheck %s
// RUN: attn-run %s --function=sum_of_all --shape=0:0x0 --check | FileCheck %s
// RUN: attn-run %s --function=extrema --check | FileCheck %s
// RUN: attn-run %s --function=largest_and_where --check | FileCheck %s
// RUN: attn-run %s --function=transposed --check --threads=2 | FileCheck %s
// RUN: attn-run %s --function=broadcast --check | FileCheck %s
// RUN: attn-run %s --function=bf16 --check | FileCheck %s
// RUN: attn-run %s --function=f16_sums --check | FileCheck %s
// RUN: attn-run %s --function=f64 --check | FileCheck %s
// RUN: attn-run %s --function=integers --fill=0:range:-9:9 --fill=1:range:-9:9 --check | FileCheck %s
// RUN: attn-run %s --function=division --fill=0:range:-99:99 --fill=1:value:3 --check | FileCheck %s
// RUN: attn-run %s --function=bytes --fill=0:range:-99:99 --check | FileCheck %s
// RUN: attn-run %s --function=bits --fill=0:range:-99:99 --check | FileCheck %s
// RUN: attn-run %s --function=masked --check | FileCheck %s
// RUN: attn-run %s --function=embedding --fill=1:range:0:9 --check | FileCheck %s
// RUN: attn-run %s --function=rotary --check --threads=2 | FileCheck %s

// The same bits for any number of threads.
// RUN: attn-run %s --function=softmax_rows --shape=0:129x1030 --threads=1 --output=%t.1.npy
// RUN: attn-run %s --function=softmax_rows --shape=0:129x1030 --threads=2 --output=%t.2.npy
// RUN: cmp %t.1.npy %t.2.npy

// What stands around attention, elementwise and reductions: sizes off every vector, types, layouts, threads.
// CHECK: check: PASS
// CHECK-NOT: FAIL

#id1 = affine_map<(i) -> (i)>
#id2 = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#all = affine_map<(i, j) -> ()>

func.func @gelu(%x: tensor<33x771xf32>) -> tensor<33x771xf32> {
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %r = arith.constant 0.70710678 : f32
  %e = tensor.empty() : tensor<33x771xf32>
  %y = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<33x771xf32>) outs(%e : tensor<33x771xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.mulf %a, %r : f32
    %t = math.erf %s : f32
    %u = arith.addf %t, %one : f32
    %v = arith.mulf %a, %half : f32
    %w = arith.mulf %u, %v : f32
    linalg.yield %w : f32
  } -> tensor<33x771xf32>
  return %y : tensor<33x771xf32>
}

func.func @gelu_tanh(%x: tensor<1x5x1001xf32>) -> tensor<1x5x1001xf32> {
  %half = arith.constant dense<0.5> : tensor<1x5x1001xf32>
  %one = arith.constant dense<1.0> : tensor<1x5x1001xf32>
  %c = arith.constant dense<0.79788456> : tensor<1x5x1001xf32>
  %d = arith.constant dense<0.044715> : tensor<1x5x1001xf32>
  %xx = arith.mulf %x, %x : tensor<1x5x1001xf32>
  %xxx = arith.mulf %xx, %x : tensor<1x5x1001xf32>
  %dx = arith.mulf %xxx, %d : tensor<1x5x1001xf32>
  %s = arith.addf %x, %dx : tensor<1x5x1001xf32>
  %cs = arith.mulf %s, %c : tensor<1x5x1001xf32>
  %t = math.tanh %cs : tensor<1x5x1001xf32>
  %u = arith.addf %t, %one : tensor<1x5x1001xf32>
  %v = arith.mulf %x, %half : tensor<1x5x1001xf32>
  %w = arith.mulf %u, %v : tensor<1x5x1001xf32>
  return %w : tensor<1x5x1001xf32>
}

func.func @layer_norm(%x: tensor<70x387xf32>, %gamma: tensor<387xf32>, %beta: tensor<387xf32>) -> tensor<70x387xf32> {
  %zero = arith.constant 0.0 : f32
  %size = arith.constant 387.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %e1 = tensor.empty() : tensor<70xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e1 : tensor<70xf32>) -> tensor<70xf32>
  %sum = linalg.reduce ins(%x : tensor<70x387xf32>) outs(%z : tensor<70xf32>) dimensions = [1]
    (%a: f32, %s: f32) {
      %t = arith.addf %a, %s : f32
      linalg.yield %t : f32
    }
  %squares = linalg.generic {indexing_maps = [#id2, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %sum : tensor<70x387xf32>, tensor<70xf32>) outs(%z : tensor<70xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %mean = arith.divf %s, %size : f32
    %d = arith.subf %a, %mean : f32
    %dd = arith.mulf %d, %d : f32
    %t = arith.addf %o, %dd : f32
    linalg.yield %t : f32
  } -> tensor<70xf32>
  %e2 = tensor.empty() : tensor<70x387xf32>
  %y = linalg.generic {indexing_maps = [#id2, #row, #row, #column, #column, #id2],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum, %squares, %gamma, %beta : tensor<70x387xf32>, tensor<70xf32>, tensor<70xf32>, tensor<387xf32>,
          tensor<387xf32>) outs(%e2 : tensor<70x387xf32>) {
  ^bb0(%a: f32, %s: f32, %q: f32, %g: f32, %b: f32, %o: f32):
    %mean = arith.divf %s, %size : f32
    %d = arith.subf %a, %mean : f32
    %v = arith.divf %q, %size : f32
    %ve = arith.addf %v, %eps : f32
    %r = math.rsqrt %ve : f32
    %n = arith.mulf %d, %r : f32
    %ng = arith.mulf %n, %g : f32
    %ngb = arith.addf %ng, %b : f32
    linalg.yield %ngb : f32
  } -> tensor<70x387xf32>
  return %y : tensor<70x387xf32>
}

func.func @rms_norm(%x: tensor<?x?xf32>, %gamma: tensor<?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x?xf32>
  %columns = tensor.dim %x, %c1 : tensor<?x?xf32>
  %count = arith.index_cast %columns : index to i64
  %size = arith.sitofp %count : i64 to f32
  %e1 = tensor.empty(%rows) : tensor<?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?xf32>) -> tensor<?xf32>
  %squares = linalg.generic {indexing_maps = [#id2, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%z : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %aa = arith.mulf %a, %a : f32
    %t = arith.addf %aa, %o : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  %e2 = tensor.empty(%rows, %columns) : tensor<?x?xf32>
  %y = linalg.generic {indexing_maps = [#id2, #row, #column, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%x, %squares, %gamma : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>) outs(%e2 : tensor<?x?xf32>) {
  ^bb0(%a: f32, %q: f32, %g: f32, %o: f32):
    %v = arith.divf %q, %size : f32
    %ve = arith.addf %v, %eps : f32
    %r = math.rsqrt %ve : f32
    %n = arith.mulf %a, %r : f32
    %ng = arith.mulf %n, %g : f32
    linalg.yield %ng : f32
  } -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

func.func @softmax_rows(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x?xf32>
  %columns = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e1 = tensor.empty(%rows) : tensor<?xf32>
  %e2 = tensor.empty(%rows, %columns) : tensor<?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?xf32>) -> tensor<?xf32>
  %l = linalg.fill ins(%lowest : f32) outs(%e1 : tensor<?xf32>) -> tensor<?xf32>
  %max = linalg.generic {indexing_maps = [#id2, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%l : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.maximumf %o, %a : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  %p = linalg.generic {indexing_maps = [#id2, #row, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : tensor<?x?xf32>, tensor<?xf32>) outs(%e2 : tensor<?x?xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    %t = math.exp %d : f32
    linalg.yield %t : f32
  } -> tensor<?x?xf32>
  %sum = linalg.generic {indexing_maps = [#id2, #row], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<?x?xf32>) outs(%z : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  %y = linalg.generic {indexing_maps = [#id2, #row, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%p, %sum : tensor<?x?xf32>, tensor<?xf32>) outs(%e2 : tensor<?x?xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %t = arith.divf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

func.func @sum_over_first(%x: tensor<?x?xf32>) -> tensor<?xf32> {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %columns = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%columns) : tensor<?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#id2, #column], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<?x?xf32>) outs(%z : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  return %sum : tensor<?xf32>
}

func.func @sum_over_middle(%x: tensor<3x50x37xf32>) -> tensor<3x37xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x37xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<3x37xf32>) -> tensor<3x37xf32>
  %sum = linalg.reduce ins(%x : tensor<3x50x37xf32>) outs(%z : tensor<3x37xf32>) dimensions = [1]
    (%a: f32, %s: f32) {
      %t = arith.addf %a, %s : f32
      linalg.yield %t : f32
    }
  return %sum : tensor<3x37xf32>
}

func.func @sum_of_all(%x: tensor<?x?xf32>) -> tensor<f32> {
  %start = arith.constant 0.25 : f32
  %e = tensor.empty() : tensor<f32>
  %z = linalg.fill ins(%start : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %sum = linalg.generic {indexing_maps = [#id2, #all], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%z : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  return %sum : tensor<f32>
}

// Two results of one loop, of different combiners.
func.func @extrema(%x: tensor<9x61xf32>) -> (tensor<9xf32>, tensor<9xf32>) {
  %low = arith.constant 0xFF800000 : f32
  %high = arith.constant 0x7F800000 : f32
  %e = tensor.empty() : tensor<9xf32>
  %l = linalg.fill ins(%low : f32) outs(%e : tensor<9xf32>) -> tensor<9xf32>
  %h = linalg.fill ins(%high : f32) outs(%e : tensor<9xf32>) -> tensor<9xf32>
  %max, %min = linalg.generic {indexing_maps = [#id2, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<9x61xf32>) outs(%l, %h : tensor<9xf32>, tensor<9xf32>) {
  ^bb0(%a: f32, %m: f32, %n: f32):
    %s = arith.maxnumf %a, %m : f32
    %t = arith.minimumf %a, %n : f32
    linalg.yield %s, %t : f32, f32
  } -> (tensor<9xf32>, tensor<9xf32>)
  return %max, %min : tensor<9xf32>, tensor<9xf32>
}

// No combiner: what there is so far is compared, so lanes run along the rows or not at all.
func.func @largest_and_where(%x: tensor<19x61xf32>) -> (tensor<19xf32>, tensor<19xi32>) {
  %low = arith.constant 0xFF800000 : f32
  %none = arith.constant -1 : i32
  %e = tensor.empty() : tensor<19xf32>
  %f = tensor.empty() : tensor<19xi32>
  %l = linalg.fill ins(%low : f32) outs(%e : tensor<19xf32>) -> tensor<19xf32>
  %n = linalg.fill ins(%none : i32) outs(%f : tensor<19xi32>) -> tensor<19xi32>
  %max, %at = linalg.generic {indexing_maps = [#id2, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<19x61xf32>) outs(%l, %n : tensor<19xf32>, tensor<19xi32>) {
  ^bb0(%a: f32, %m: f32, %w: i32):
    %j = linalg.index 1 : index
    %j32 = arith.index_cast %j : index to i32
    %more = arith.cmpf ogt, %a, %m : f32
    %s = arith.select %more, %a, %m : f32
    %t = arith.select %more, %j32, %w : i32
    linalg.yield %s, %t : f32, i32
  } -> (tensor<19xf32>, tensor<19xi32>)
  return %max, %at : tensor<19xf32>, tensor<19xi32>
}

func.func @transposed(%x: tensor<45x203xf32>, %y: tensor<203x45xf32>) -> tensor<203x45xf32> {
  %e = tensor.empty() : tensor<203x45xf32>
  %t = linalg.transpose ins(%x : tensor<45x203xf32>) outs(%e : tensor<203x45xf32>) permutation = [1, 0]
  %r = arith.addf %t, %y : tensor<203x45xf32>
  return %r : tensor<203x45xf32>
}

func.func @broadcast(%x: tensor<45xf32>) -> tensor<7x45x3xf32> {
  %e = tensor.empty() : tensor<7x45x3xf32>
  %r = linalg.broadcast ins(%x : tensor<45xf32>) outs(%e : tensor<7x45x3xf32>) dimensions = [0, 2]
  return %r : tensor<7x45x3xf32>
}

func.func @bf16(%x: tensor<13x77xbf16>, %y: tensor<77xbf16>) -> tensor<13x77xbf16> {
  %e = tensor.empty() : tensor<13x77xbf16>
  %r = linalg.generic {indexing_maps = [#id2, #column, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<13x77xbf16>, tensor<77xbf16>) outs(%e : tensor<13x77xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %aw = arith.extf %a : bf16 to f32
    %bw = arith.extf %b : bf16 to f32
    %s = arith.addf %aw, %bw : f32
    %t = math.exp %s : f32
    %n = arith.truncf %t : f32 to bf16
    linalg.yield %n : bf16
  } -> tensor<13x77xbf16>
  return %r : tensor<13x77xbf16>
}

// 16-bit sums are kept in f32, and rounded once.
func.func @f16_sums(%x: tensor<5x4001xf16>) -> tensor<5xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<5xf16>
  %z = linalg.fill ins(%zero : f16) outs(%e : tensor<5xf16>) -> tensor<5xf16>
  %sum = linalg.generic {indexing_maps = [#id2, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<5x4001xf16>) outs(%z : tensor<5xf16>) {
  ^bb0(%a: f16, %o: f16):
    %t = arith.addf %a, %o : f16
    linalg.yield %t : f16
  } -> tensor<5xf16>
  return %sum : tensor<5xf16>
}

func.func @f64(%x: tensor<13x77xf64>) -> tensor<13x77xf64> {
  %t = math.exp %x : tensor<13x77xf64>
  %s = math.sqrt %t : tensor<13x77xf64>
  return %s : tensor<13x77xf64>
}

func.func @integers(%x: tensor<13x77xi32>, %y: tensor<13x77xi32>) -> tensor<13xi32> {
  %zero = arith.constant 7 : i32
  %e = tensor.empty() : tensor<13xi32>
  %z = linalg.fill ins(%zero : i32) outs(%e : tensor<13xi32>) -> tensor<13xi32>
  %sum = linalg.generic {indexing_maps = [#id2, #id2, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %y : tensor<13x77xi32>, tensor<13x77xi32>) outs(%z : tensor<13xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %ab = arith.muli %a, %b : i32
    %t = arith.addi %o, %ab : i32
    linalg.yield %t : i32
  } -> tensor<13xi32>
  return %sum : tensor<13xi32>
}

// A division by lanes that are none would trap.
func.func @division(%x: tensor<77xi32>, %y: tensor<77xi32>) -> tensor<77xi32> {
  %e = tensor.empty() : tensor<77xi32>
  %r = linalg.generic {indexing_maps = [#id1, #id1, #id1], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<77xi32>, tensor<77xi32>) outs(%e : tensor<77xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %c = arith.constant 5 : i32
    %q = arith.divsi %a, %c : i32
    %t = arith.addi %q, %b : i32
    linalg.yield %t : i32
  } -> tensor<77xi32>
  return %r : tensor<77xi32>
}

func.func @bytes(%x: tensor<9x77xi8>) -> tensor<9x77xi16> {
  %e = tensor.empty() : tensor<9x77xi16>
  %r = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<9x77xi8>) outs(%e : tensor<9x77xi16>) {
  ^bb0(%a: i8, %o: i16):
    %w = arith.extsi %a : i8 to i16
    %s = arith.muli %w, %w : i16
    linalg.yield %s : i16
  } -> tensor<9x77xi16>
  return %r : tensor<9x77xi16>
}

// A mask tensor of i1, and one from the positions.
func.func @masked(%x: tensor<21x77xf32>, %keep: tensor<21x77xi1>) -> (tensor<21x77xf32>, tensor<21x77xi1>) {
  %low = arith.constant -1.0e9 : f32
  %e = tensor.empty() : tensor<21x77xf32>
  %f = tensor.empty() : tensor<21x77xi1>
  %r, %k = linalg.generic {indexing_maps = [#id2, #id2, #id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%x, %keep : tensor<21x77xf32>, tensor<21x77xi1>) outs(%e, %f : tensor<21x77xf32>, tensor<21x77xi1>) {
  ^bb0(%a: f32, %m: i1, %o: f32, %p: i1):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %causal = arith.cmpi sle, %j, %i : index
    %both = arith.andi %m, %causal : i1
    %s = arith.select %both, %a, %low : f32
    linalg.yield %s, %both : f32, i1
  } -> (tensor<21x77xf32>, tensor<21x77xi1>)
  return %r, %k : tensor<21x77xf32>, tensor<21x77xi1>
}

func.func @embedding(%table: tensor<10x45xf32>, %ids: tensor<6xi32>) -> tensor<6x45xf32> {
  %e = tensor.empty() : tensor<6x45xf32>
  %r = linalg.generic {indexing_maps = [#row, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<6xi32>) outs(%e : tensor<6x45xf32>) {
  ^bb0(%id: i32, %o: f32):
    %row = arith.index_cast %id : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%row, %j] : tensor<10x45xf32>
    linalg.yield %v : f32
  } -> tensor<6x45xf32>
  return %r : tensor<6x45xf32>
}

// The second operand of a pair is half a row away: an index that differs by lane, in no order.
func.func @rotary(%x: tensor<40x3x62xf32>, %cos: tensor<40x62xf32>, %sin: tensor<40x62xf32>) -> tensor<40x3x62xf32> {
  %e = tensor.empty() : tensor<40x3x62xf32>
  %c31 = arith.constant 31 : index
  %r = linalg.generic {
    indexing_maps = [affine_map<(s, h, d) -> (s, h, d)>, affine_map<(s, h, d) -> (s, d)>,
                     affine_map<(s, h, d) -> (s, d)>, affine_map<(s, h, d) -> (s, h, d)>],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%x, %cos, %sin : tensor<40x3x62xf32>, tensor<40x62xf32>, tensor<40x62xf32>) outs(%e : tensor<40x3x62xf32>) {
  ^bb0(%a: f32, %c: f32, %n: f32, %o: f32):
    %s = linalg.index 0 : index
    %h = linalg.index 1 : index
    %d = linalg.index 2 : index
    %isLow = arith.cmpi slt, %d, %c31 : index
    %up = arith.addi %d, %c31 : index
    %down = arith.subi %d, %c31 : index
    %other = arith.select %isLow, %up, %down : index
    %b = tensor.extract %x[%s, %h, %other] : tensor<40x3x62xf32>
    %nb = arith.negf %b : f32
    %signed = arith.select %isLow, %nb, %b : f32
    %ac = arith.mulf %a, %c : f32
    %bn = arith.mulf %signed, %n : f32
    %t = arith.addf %ac, %bn : f32
    linalg.yield %t : f32
  } -> tensor<40x3x62xf32>
  return %r : tensor<40x3x62xf32>
}

// Bits have no vectors in memory.
func.func @bits(%x: tensor<9x77xi8>) -> tensor<9x77xi1> {
  %e = tensor.empty() : tensor<9x77xi1>
  %seven = arith.constant 7 : i8
  %r = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<9x77xi8>) outs(%e : tensor<9x77xi1>) {
  ^bb0(%a: i8, %o: i1):
    %n = arith.trunci %a : i8 to i4
    %w = arith.extui %n : i4 to i8
    %s = arith.cmpi sgt, %w, %seven : i8
    linalg.yield %s : i1
  } -> tensor<9x77xi1>
  return %r : tensor<9x77xi1>
}
