// RUN: not attn-opt %s --attn-print-tile-map="sizes=batch=2 target=x86-64-v3" -o /dev/null 2>&1 | FileCheck %s --check-prefix=CONTRADICTION
// RUN: not attn-opt %s --attn-print-tile-map="sizes=queryLen=8 target=x86-64-v3" -o /dev/null 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not attn-opt %s --attn-print-tile-map="sizes=queryLen=8,kvLen=-1 target=x86-64-v3" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not attn-opt %s --attn-print-tile-map="sizes=length=8 target=x86-64-v3" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not attn-opt %s --attn-print-tile-map="sizes=queryLen=8,kvLen=8 target=x86-64-v3" -o /dev/null 2>&1 | FileCheck %s --check-prefix=SCALAR
// RUN: not attn-opt %s --attn-print-tile-map="sizes=queryLen=8,kvLen=8 values=1 target=x86-64-v3" -o /dev/null 2>&1 | FileCheck %s --check-prefix=VALUES
// RUN: not attn-opt %s --attn-print-tile-map="sizes=queryLen=8,kvLen=8 values=7:1 target=x86-64-v3" -o /dev/null 2>&1 | FileCheck %s --check-prefix=ARGUMENT
// RUN: not attn-opt %s --attn-print-tile-map="sizes=queryLen=8,kvLen=8 values=0:1 target=x86-64-v3" -o /dev/null 2>&1 | FileCheck %s --check-prefix=FLOATS
// RUN: not attn-opt %s --attn-print-tile-map="sizes=queryLen=8,kvLen=8 values=1:1:2 target=x86-64-v3" -o /dev/null 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not attn-opt %s --attn-print-tile-map="sizes=queryLen=8,kvLen=8 values=1:300 target=x86-64-v3" -o /dev/null 2>&1 | FileCheck %s --check-prefix=WIDTH
// RUN: not attn-opt %s --attn-print-tile-map="sizes=queryLen=8,kvLen=8 values=1:3,2:9 target=x86-64-v3" -o /dev/null 2>&1 | FileCheck %s --check-prefix=LENGTHS
// RUN: not attn-opt %s --attn-print-tile-map="sizes=queryLen=4096,kvLen=4096 values=1:3 tile-q=1 tile-kv=1 target=x86-64-v3" -o /dev/null 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not attn-opt %s --attn-print-tile-map="function=g target=x86-64-v3" -o /dev/null 2>&1 | FileCheck %s --check-prefix=FUNCTION
// RUN: not attn-opt %s --attn-print-tile-map="tile-q=24 target=x86-64-v3" -o /dev/null 2>&1 | FileCheck %s --check-prefix=TILE
// RUN: not attn-opt %s --attn-print-tile-map="target=z80" -o /dev/null 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not attn-opt %s --attn-print-tile-map="format=png target=x86-64-v3" -o /dev/null 2>&1 | FileCheck %s --check-prefix=FORMAT

// CONTRADICTION: error: 'attn.attention' op expects batch = 1, as its types say, but sizes give 2
// MISSING: error: 'attn.attention' op expects sizes to give kvLen, which its types leave open
// NEGATIVE: error: 'attn.attention' op expects kvLen in 0 to 1073741824, but sizes give -1
// NAME: error: expects sizes of the form batch=N, heads=N, queryLen=N or kvLen=N, but got 'length=8'
// SCALAR: error: 'attn.attention' op expects values to give argument 1 of type i8, which the mask reads; add values=1:N
// VALUES: error: expects values of the form POSITION:N or POSITION:N:N:..., but got '1'
// ARGUMENT: error: 'attn.attention' op expects values for arguments that its function has, but got some for argument 7 of 3
// FLOATS: error: 'attn.attention' op expects no values for argument 0 of type 'tensor<1x1x?x32xf32>'
// COUNT: error: 'attn.attention' op expects as many values as it has elements, but got 2 for argument 1 of type 'i8'
// WIDTH: error: 'attn.attention' op expects values that 8 bits hold, but got 300 for argument 1 of type 'i8'
// LENGTHS: error: 'attn.attention' op expects each of kv_lengths in 0 to kvLen = 8, but got 9
// MANY: error: 'attn.attention' op expects at most 1000000 tiles in a map, but got 4096 x 4096 for each of 1 batch entries and heads; give smaller sizes or larger tiles
// FUNCTION: error: expects an attn.attention in public function 'g', but found none
// TILE: error: expects tile-q to be 0 or a power of two up to 1024, but got 24
// TARGET: error: {{.*}}z80
// FORMAT: Cannot find option named 'png'
!t = tensor<1x1x?x32xf32>
func.func @f(%q: !t, %n: i8, %lengths: tensor<1xi32>) -> !t {
  %scale = arith.constant 0.5 : f32
  %out = attn.attention %q, %q, %q scale(%scale) where(%b, %h, %i, %j) {
    %x = arith.index_cast %n : i8 to index
    %keep = arith.cmpi slt, %j, %x : index
    attn.yield %keep : i1
  } kv_lengths(%lengths : tensor<1xi32>) : !t, !t, !t outs(%q : !t) -> !t
  return %out : !t
}
