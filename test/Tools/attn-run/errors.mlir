// RUN: not attn-run %s 2>&1 | FileCheck %s --check-prefix=SEVERAL
// RUN: not attn-run %s --function=gone 2>&1 | FileCheck %s --check-prefix=GONE
// RUN: not attn-run %s.gone 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not attn-run %s --function=f --target=no-such-cpu 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not attn-run %s --function=f --tile-q=3 2>&1 | FileCheck %s --check-prefix=TILE
// RUN: not attn-run %s --function=f --threads=-1 --shape=0:2x3 --fill=1:zeros --scalar=2:1 2>&1 | FileCheck %s --check-prefix=THREADS
// RUN: not attn-run %s --function=f 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: not attn-run %s --function=f --shape=0:2x4 2>&1 | FileCheck %s --check-prefix=FIT
// RUN: not attn-run %s --function=f --shape=0:2y3 2>&1 | FileCheck %s --check-prefix=SYNTAX
// RUN: not attn-run %s --function=f --shape=0:9223372036854775807x3 2>&1 | FileCheck %s --check-prefix=HUGE
// RUN: not attn-run %s --function=f --shape=2:2 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not attn-run %s --function=f --scalar=5:2 2>&1 | FileCheck %s --check-prefix=BEYOND
// RUN: not attn-run %s --function=f --shape=0:2x3 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not attn-run %s --function=f --shape=0:2x3 --fill=1:normal 2>&1 | FileCheck %s --check-prefix=FILL
// RUN: not attn-run %s --function=f --fill=gauss 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not attn-run %s --function=f --shape=0:2x3 --fill=1:zeros 2>&1 | FileCheck %s --check-prefix=SCALAR
// RUN: not attn-run %s --function=f --shape=0:2x3 --fill=1:zeros --scalar=2:1.5 2>&1 | FileCheck %s --check-prefix=WHOLE
// RUN: not attn-run %s --function=f --repeat=0 2>&1 | FileCheck %s --check-prefix=REPEAT
// RUN: not attn-run %s --function=filtered --fill=ones 2>&1 | FileCheck %s --check-prefix=OUT
// RUN: attn-run %s --function=filtered --fill=ones --out-shape=0:1 --print | FileCheck %s --check-prefix=GIVEN
// RUN: not attn-run %s --function=filtered --fill=ones --out-shape=0:2 2>&1 | FileCheck %s --check-prefix=WRONG

// SEVERAL: error: the module has several functions; name one of @f, @filtered
// GONE: error: the module has no public function @gone with a body; it has @f, @filtered
// FILE: errors.mlir.gone: error: cannot read the file: No such file or directory
// TARGET: error: {{.*}}no-such-cpu
// TILE: error: tileQ expects a power of two from 1 to 1024, but got 3; use 0 to let the cost model choose
// THREADS: error: a thread pool expects 0 to 1024 threads, but got -1
// SHAPE: error: argument 0 (tensor<?x3xf32>) has sizes that only the run knows: pass --shape=0:SIZES
// FIT: error: --shape=0 does not fit argument 0 (tensor<?x3xf32>): got 2x4xf32
// SYNTAX: error: --shape expects INDEX:SIZES, as in 0:2x8x33x64, but got '0:2y3'
// HUGE: error: a tensor of 9223372036854775807x3xf32 exceeds 63 bits of bytes
// KIND: error: --shape expects a tensor, but argument 2 (i32) is none
// BEYOND: error: --scalar names number 5, but there are 3
// RANGE: error: argument 1 (tensor<2xi32>) has integers, which need a range: pass --fill=1:range:LOW:HIGH
// FILL: error: argument 1 (tensor<2xi32>): integers expect a fill of range:LOW:HIGH
// WORD: error: a fill expects uniform, normal, zeros, {{.*}}, but got 'gauss'
// SCALAR: error: argument 2 (i32) needs a value: pass --scalar=2:VALUE
// WHOLE: error: argument 2 (i32) expects a whole number, but got '1.5'
// REPEAT: error: --repeat expects at least 1, but got 0
func.func @f(%x: tensor<?x3xf32>, %n: tensor<2xi32>, %m: i32) -> tensor<?x3xf32> {
  return %x : tensor<?x3xf32>
}

// The size of the result depends on data.
// OUT: error: the sizes of result 0 (tensor<?xf32>) do not follow from the inputs: pass --out-shape=0:SIZES
// GIVEN: {{^}}  1{{$}}
// WRONG: error: @filtered: {{.+}}
func.func @filtered(%x: tensor<1xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %first = tensor.extract %x[%c0] : tensor<1xf32>
  %wide = arith.fptosi %first : f32 to i32
  %count = arith.index_cast %wide : i32 to index
  %init = tensor.empty(%count) : tensor<?xf32>
  %out = linalg.fill ins(%first : f32) outs(%init : tensor<?xf32>) -> tensor<?xf32>
  return %out : tensor<?xf32>
}
