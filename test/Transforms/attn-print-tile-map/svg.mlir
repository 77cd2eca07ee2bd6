// RUN: attn-opt %s --attn-print-tile-map="format=svg tile-q=8 tile-kv=8 target=x86-64-v3" -o /dev/null > %t.svg
// RUN: python3 -c "import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])" %t.svg
// RUN: FileCheck %s < %t.svg

// CHECK: <svg xmlns="http://www.w3.org/2000/svg" width="760"
// CHECK: <pattern id="partial"
// CHECK: class="title">causal at svg.mlir:[[# @LINE + 22]]:10: causal&lt;top_left&gt;</text>
// CHECK: every batch entry and head: 3 of 9 tiles skipped (33.3 %), 3 full, 3 partial; 33.3 % of the scores saved
// CHECK: >key</text>
// CHECK: >0</text>
// CHECK: >query</text>
// Row by row, one rectangle for each run of tiles.
// CHECK: height="24.00" fill="url(#partial)"/>
// CHECK-NEXT: width="48.00" height="24.00" fill="#f0f0f0"/>
// CHECK-NEXT: fill="#0072b2"/>
// CHECK-NEXT: fill="url(#partial)"/>
// CHECK-NEXT: fill="#f0f0f0"/>
// CHECK-NEXT: width="48.00" height="24.00" fill="#0072b2"/>
// CHECK-NEXT: fill="url(#partial)"/>
// CHECK-NEXT: <path
// CHECK: partial: the mask is evaluated</text>
// CHECK: </svg>
!t = tensor<1x1x24x32xf32>
func.func @causal(%q: !t) -> !t {
  %scale = arith.constant 0.5 : f32



  %out = attn.attention %q, %q, %q scale(%scale) masks(causal<top_left>) : !t, !t, !t outs(%q : !t) -> !t
  return %out : !t
}
