// RUN: attn-opt %s --convert-flash-to-cpu=target=x86-64-v3 --verify-diagnostics

func.func @other_chunks(%q: memref<1x1x99x8xf32>, %n: index, %ranges: memref<2x2xindex>) {
  %c0 = arith.constant 0 : index
  %query = flash.load_query %q[%c0, %c0, %c0] rows %n : memref<1x1x99x8xf32> -> !flash.query<64 x 8, f32>
  // expected-error @below {{'flash.scores' op expects chunk_keys of 4 chunks, but got 'memref<2x2xindex>'}}
  %s, %t = flash.scores %query, %q at(%c0, %c0 : %c0, %c0, %c0) rows %n keys %n chunk_keys %ranges : memref<2x2xindex>
    : !flash.query<64 x 8, f32>, memref<1x1x99x8xf32> -> !flash.scores<64 x 64, f32>, !flash.rows<64, f32>
  return
}
