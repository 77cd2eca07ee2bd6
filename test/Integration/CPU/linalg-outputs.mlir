// RUN: attn-run %s --function=scan --check | FileCheck %s
// RUN: attn-run %s --function=scan --check --target=emulator:sm_80 | FileCheck %s
// RUN: attn-run %s --function=steps_with_reduction --shape=0:7x9 --shape=1:7x9 --check --threads=2 | FileCheck %s
// RUN: attn-run %s --function=steps_with_reduction --shape=0:7x0 --shape=1:7x0 --check | FileCheck %s
// RUN: attn-run %s --function=product_of_each --check | FileCheck %s
// RUN: attn-run %s --function=different_outputs --check --threads=2 | FileCheck %s
// RUN: attn-run %s --function=different_outputs --check --target=emulator:sm_80 | FileCheck %s
// RUN: attn-run %s --function=last --shape=0:5x33 --check | FileCheck %s
// RUN: not attn-run %s --function=last --shape=0:5x0 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: attn-run %s --function=unit_loops --check | FileCheck %s
// RUN: attn-run %s --function=unit_loops --check --target=emulator:sm_80 | FileCheck %s
// RUN: attn-run %s --function=remainders --shape=1:33 --check | FileCheck %s
// RUN: attn-run %s --function=quotients --shape=0:17 --shape=1:33 --check | FileCheck %s
// RUN: not attn-run %s --function=quotients --shape=0:16 --shape=1:33 2>&1 | FileCheck %s --check-prefix=SHORT
// RUN: attn-run %s --function=indices --fill=0:range:-5:9 --check | FileCheck %s

// What linalg says of outputs, beside one element a point: an output that steps with a reduction, several of different
// maps, unit loops that one lacks, a body that does not read its output, elements of index.
// CHECK: check: PASS

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

// Each element of the first output is what the second one has so far.
func.func @scan(%x: tensor<5x33xf32>, %o: tensor<5x33xf32>, %p: tensor<5xf32>) -> (tensor<5x33xf32>, tensor<5xf32>) {
  %r:2 = linalg.generic {indexing_maps = [#ij, #ij, #i], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<5x33xf32>) outs(%o, %p : tensor<5x33xf32>, tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.addf %a, %c : f32
    linalg.yield %s, %s : f32, f32
  } -> (tensor<5x33xf32>, tensor<5xf32>)
  return %r#0, %r#1 : tensor<5x33xf32>, tensor<5xf32>
}

func.func @steps_with_reduction(%x: tensor<?x?xf32>, %o: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%o : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %m = arith.subf %b, %a : f32
    linalg.yield %m : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// A matrix product that is not summed.
func.func @product_of_each(%x: tensor<5x9xf32>, %y: tensor<9x7xf32>, %o: tensor<5x7x9xf32>) -> tensor<5x7x9xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>,
                                        affine_map<(i, j, k) -> (i, j, k)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<5x9xf32>, tensor<9x7xf32>) outs(%o : tensor<5x7x9xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %c, %m : f32
    linalg.yield %n : f32
  } -> tensor<5x7x9xf32>
  return %r : tensor<5x7x9xf32>
}

func.func @different_outputs(%x: tensor<5x33x3xf32>, %o: tensor<5x3xf32>, %p: tensor<3x5xf32>)
    -> (tensor<5x3xf32>, tensor<3x5xf32>) {
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, k)>,
                                          affine_map<(i, j, k) -> (k, i)>],
                         iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x : tensor<5x33x3xf32>) outs(%o, %p : tensor<5x3xf32>, tensor<3x5xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.addf %a, %b : f32
    %s = arith.maximumf %a, %c : f32
    linalg.yield %m, %s : f32, f32
  } -> (tensor<5x3xf32>, tensor<3x5xf32>)
  return %r#0, %r#1 : tensor<5x3xf32>, tensor<3x5xf32>
}

// NONE: error: @last: 'linalg.generic' at {{.*}}: expects a reduction whose body does not read its output to have iterations, but loop 1 has 0
func.func @last(%x: tensor<5x?xf32>, %o: tensor<5xf32>) -> tensor<5xf32> {
  %r = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<5x?xf32>) outs(%o : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<5xf32>
  return %r : tensor<5xf32>
}

func.func @unit_loops(%x: tensor<1x33x1xf32>, %o: tensor<33x1xf32>) -> tensor<33x1xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (j, 0)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x33x1xf32>) outs(%o : tensor<33x1xf32>) {
  ^bb0(%a: f32, %b: f32):
    %n = arith.addf %a, %b : f32
    linalg.yield %n : f32
  } -> tensor<33x1xf32>
  return %r : tensor<33x1xf32>
}

func.func @remainders(%x: tensor<4xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i mod 4)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%o : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %m = arith.negf %a : f32
    linalg.yield %m : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// SHORT: error: @quotients: 'linalg.generic' at
func.func @quotients(%x: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i floordiv 2)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%o : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %m = arith.negf %a : f32
    linalg.yield %m : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

func.func @indices(%x: tensor<5x33xindex>) -> (tensor<5x33xindex>, tensor<5xindex>) {
  %zero = arith.constant 0 : index
  %e = tensor.empty() : tensor<5x33xindex>
  %f = tensor.empty() : tensor<5xindex>
  %none = linalg.fill ins(%zero : index) outs(%f : tensor<5xindex>) -> tensor<5xindex>
  %r = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<5x33xindex>) outs(%e : tensor<5x33xindex>) {
  ^bb0(%a: index, %b: index):
    %i = linalg.index 1 : index
    %m = index.mul %a, %i
    linalg.yield %m : index
  } -> tensor<5x33xindex>
  %s = linalg.reduce { arith.addi } ins(%r : tensor<5x33xindex>) outs(%none : tensor<5xindex>) dimensions = [1]
  return %r, %s : tensor<5x33xindex>, tensor<5xindex>
}
