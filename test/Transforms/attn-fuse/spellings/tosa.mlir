// All of it in TOSA: division is a reciprocal and a multiplication, products are batched, boolean reductions say
// which rows have no key.
// RUN: attn-opt %s --attn-raise --attn-fuse \
// RUN:   | FileCheck %s --implicit-check-not=math.exp --implicit-check-not=tosa.exp --implicit-check-not=.softmax
// RUN: %check_functions %s

!query = tensor<2x3x5x4xf32>
!key = tensor<2x3x7x4xf32>
!keyT = tensor<2x3x4x7xf32>
!value = tensor<2x3x7x8xf32>
!scores = tensor<2x3x5x7xf32>
!column = tensor<2x3x5x1xf32>
!out = tensor<2x3x5x8xf32>
!flags = tensor<2x3x5x7xi1>
!columnFlags = tensor<2x3x5x1xi1>
!query3 = tensor<6x5x4xf32>
!keyT3 = tensor<6x4x7xf32>
!value3 = tensor<6x7x8xf32>
!scores3 = tensor<6x5x7xf32>
!out3 = tensor<6x5x8xf32>
!mask4 = tensor<2x1x5x7xf32>
!flags4 = tensor<2x1x5x7xi1>
!scores64 = tensor<2x3x5x7xf64>
!one4 = tensor<1x1x1x1xf32>
!one64 = tensor<1x1x1x1xf64>



// CHECK-LABEL: @scaled_scores
// CHECK: attn.attention
func.func @scaled_scores(%q: !query, %k: !key, %v: !value) -> !out {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %to_query3 = tosa.const_shape {values = dense<[6, 5, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %to_keyT3 = tosa.const_shape {values = dense<[6, 4, 7]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %to_scores = tosa.const_shape {values = dense<[2, 3, 5, 7]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %to_scores3 = tosa.const_shape {values = dense<[6, 5, 7]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %to_value3 = tosa.const_shape {values = dense<[6, 7, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %to_out = tosa.const_shape {values = dense<[2, 3, 5, 8]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %scale = "tosa.const"() <{values = dense<0.5> : !one4}> : () -> !one4
  %kt = tosa.transpose %k {perms = array<i32: 0, 1, 3, 2>} : (!key) -> !keyT
  %q3 = tosa.reshape %q, %to_query3 : (!query, !tosa.shape<3>) -> !query3
  %k3 = tosa.reshape %kt, %to_keyT3 : (!keyT, !tosa.shape<3>) -> !keyT3
  %s3 = tosa.matmul %q3, %k3, %zp, %zp : (!query3, !keyT3, tensor<1xf32>, tensor<1xf32>) -> !scores3
  %s4 = tosa.reshape %s3, %to_scores : (!scores3, !tosa.shape<4>) -> !scores
  %scaled = tosa.mul %s4, %scale, %shift : (!scores, !one4, tensor<1xi8>) -> !scores
  %m = tosa.reduce_max %scaled {axis = 3 : i32} : (!scores) -> !column
  %d = tosa.sub %scaled, %m : (!scores, !column) -> !scores
  %w = tosa.exp %d : (!scores) -> !scores
  %l = tosa.reduce_sum %w {axis = 3 : i32} : (!scores) -> !column
  %r = tosa.reciprocal %l : (!column) -> !column
  %p = tosa.mul %w, %r, %shift : (!scores, !column, tensor<1xi8>) -> !scores
  %p3 = tosa.reshape %p, %to_scores3 : (!scores, !tosa.shape<3>) -> !scores3
  %v3 = tosa.reshape %v, %to_value3 : (!value, !tosa.shape<3>) -> !value3
  %o3 = tosa.matmul %p3, %v3, %zp, %zp : (!scores3, !value3, tensor<1xf32>, tensor<1xf32>) -> !out3
  %out = tosa.reshape %o3, %to_out : (!out3, !tosa.shape<4>) -> !out
  return %out : !out
}

// CHECK-LABEL: @root_on_query_and_key
// CHECK: attn.attention
func.func @root_on_query_and_key(%q: !query, %k: !key, %v: !value) -> !out {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %to_query3 = tosa.const_shape {values = dense<[6, 5, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %to_keyT3 = tosa.const_shape {values = dense<[6, 4, 7]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %to_scores = tosa.const_shape {values = dense<[2, 3, 5, 7]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %to_scores3 = tosa.const_shape {values = dense<[6, 5, 7]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %to_value3 = tosa.const_shape {values = dense<[6, 7, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %to_out = tosa.const_shape {values = dense<[2, 3, 5, 8]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %scale = "tosa.const"() <{values = dense<0.70710677> : !one4}> : () -> !one4
  %kt = tosa.transpose %k {perms = array<i32: 0, 1, 3, 2>} : (!key) -> !keyT
  %qs = tosa.mul %q, %scale, %shift : (!query, !one4, tensor<1xi8>) -> !query
  %ks = tosa.mul %kt, %scale, %shift : (!keyT, !one4, tensor<1xi8>) -> !keyT
  %q3 = tosa.reshape %qs, %to_query3 : (!query, !tosa.shape<3>) -> !query3
  %k3 = tosa.reshape %ks, %to_keyT3 : (!keyT, !tosa.shape<3>) -> !keyT3
  %s3 = tosa.matmul %q3, %k3, %zp, %zp : (!query3, !keyT3, tensor<1xf32>, tensor<1xf32>) -> !scores3
  %s4 = tosa.reshape %s3, %to_scores : (!scores3, !tosa.shape<4>) -> !scores
  %m = tosa.reduce_max %s4 {axis = 3 : i32} : (!scores) -> !column
  %d = tosa.sub %s4, %m : (!scores, !column) -> !scores
  %w = tosa.exp %d : (!scores) -> !scores
  %l = tosa.reduce_sum %w {axis = 3 : i32} : (!scores) -> !column
  %r = tosa.reciprocal %l : (!column) -> !column
  %p = tosa.mul %w, %r, %shift : (!scores, !column, tensor<1xi8>) -> !scores
  %p3 = tosa.reshape %p, %to_scores3 : (!scores, !tosa.shape<3>) -> !scores3
  %v3 = tosa.reshape %v, %to_value3 : (!value, !tosa.shape<3>) -> !value3
  %o3 = tosa.matmul %p3, %v3, %zp, %zp : (!scores3, !value3, tensor<1xf32>, tensor<1xf32>) -> !out3
  %out = tosa.reshape %o3, %to_out : (!out3, !tosa.shape<4>) -> !out
  return %out : !out
}

// CHECK-LABEL: @float_mask_as_first_operand
// CHECK: attn.attention
func.func @float_mask_as_first_operand(%q: !query, %k: !key, %v: !value, %mask: !mask4) -> !out {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %to_query3 = tosa.const_shape {values = dense<[6, 5, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %to_keyT3 = tosa.const_shape {values = dense<[6, 4, 7]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %to_scores = tosa.const_shape {values = dense<[2, 3, 5, 7]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %to_scores3 = tosa.const_shape {values = dense<[6, 5, 7]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %to_value3 = tosa.const_shape {values = dense<[6, 7, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %to_out = tosa.const_shape {values = dense<[2, 3, 5, 8]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %scale = "tosa.const"() <{values = dense<0.5> : !one4}> : () -> !one4
  %kt = tosa.transpose %k {perms = array<i32: 0, 1, 3, 2>} : (!key) -> !keyT
  %q3 = tosa.reshape %q, %to_query3 : (!query, !tosa.shape<3>) -> !query3
  %k3 = tosa.reshape %kt, %to_keyT3 : (!keyT, !tosa.shape<3>) -> !keyT3
  %s3 = tosa.matmul %q3, %k3, %zp, %zp : (!query3, !keyT3, tensor<1xf32>, tensor<1xf32>) -> !scores3
  %s4 = tosa.reshape %s3, %to_scores : (!scores3, !tosa.shape<4>) -> !scores
  %scaled = tosa.mul %s4, %scale, %shift : (!scores, !one4, tensor<1xi8>) -> !scores
  %masked = tosa.add %mask, %scaled : (!mask4, !scores) -> !scores
  %m = tosa.reduce_max %masked {axis = 3 : i32} : (!scores) -> !column
  %d = tosa.sub %masked, %m : (!scores, !column) -> !scores
  %w = tosa.exp %d : (!scores) -> !scores
  %l = tosa.reduce_sum %w {axis = 3 : i32} : (!scores) -> !column
  %r = tosa.reciprocal %l : (!column) -> !column
  %p = tosa.mul %w, %r, %shift : (!scores, !column, tensor<1xi8>) -> !scores
  %p3 = tosa.reshape %p, %to_scores3 : (!scores, !tosa.shape<3>) -> !scores3
  %v3 = tosa.reshape %v, %to_value3 : (!value, !tosa.shape<3>) -> !value3
  %o3 = tosa.matmul %p3, %v3, %zp, %zp : (!scores3, !value3, tensor<1xf32>, tensor<1xf32>) -> !out3
  %out = tosa.reshape %o3, %to_out : (!out3, !tosa.shape<4>) -> !out
  return %out : !out
}

// OPTIONS @boolean_mask_and_guard: --fill=3:list:1:0:1:1:0:1:0:1:1:0:1
// OPTIONS @boolean_mask_and_guard: --fill=3:zeros
// CHECK-LABEL: @boolean_mask_and_guard
// CHECK: attn.attention
func.func @boolean_mask_and_guard(%q: !query, %k: !key, %v: !value, %mask: !flags4) -> !out {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %to_query3 = tosa.const_shape {values = dense<[6, 5, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %to_keyT3 = tosa.const_shape {values = dense<[6, 4, 7]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %to_scores = tosa.const_shape {values = dense<[2, 3, 5, 7]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %to_scores3 = tosa.const_shape {values = dense<[6, 5, 7]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %to_value3 = tosa.const_shape {values = dense<[6, 7, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %to_out = tosa.const_shape {values = dense<[2, 3, 5, 8]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %scale = "tosa.const"() <{values = dense<0.70710677> : !one4}> : () -> !one4
  %kt = tosa.transpose %k {perms = array<i32: 0, 1, 3, 2>} : (!key) -> !keyT
  %qs = tosa.mul %q, %scale, %shift : (!query, !one4, tensor<1xi8>) -> !query
  %ks = tosa.mul %kt, %scale, %shift : (!keyT, !one4, tensor<1xi8>) -> !keyT
  %q3 = tosa.reshape %qs, %to_query3 : (!query, !tosa.shape<3>) -> !query3
  %k3 = tosa.reshape %ks, %to_keyT3 : (!keyT, !tosa.shape<3>) -> !keyT3
  %s3 = tosa.matmul %q3, %k3, %zp, %zp : (!query3, !keyT3, tensor<1xf32>, tensor<1xf32>) -> !scores3
  %s4 = tosa.reshape %s3, %to_scores : (!scores3, !tosa.shape<4>) -> !scores
  %kept = "tosa.const"() <{values = dense<0.0> : !one4}> : () -> !one4
  %dropped = "tosa.const"() <{values = dense<0xFF800000> : !one4}> : () -> !one4
  %bias = tosa.select %mask, %kept, %dropped : (!flags4, !one4, !one4) -> !mask4
  %masked = tosa.add %s4, %bias : (!scores, !mask4) -> !scores
  %m = tosa.reduce_max %masked {axis = 3 : i32} : (!scores) -> !column
  %d = tosa.sub %masked, %m : (!scores, !column) -> !scores
  %w = tosa.exp %d : (!scores) -> !scores
  %l = tosa.reduce_sum %w {axis = 3 : i32} : (!scores) -> !column
  %r = tosa.reciprocal %l : (!column) -> !column
  %p = tosa.mul %w, %r, %shift : (!scores, !column, tensor<1xi8>) -> !scores
  %low = "tosa.const"() <{values = dense<0xFFF0000000000000> : !one64}> : () -> !one64
  %none = "tosa.const"() <{values = dense<0.0> : !scores}> : () -> !scores
  %wide = tosa.cast %masked : (!scores) -> !scores64
  %isLow = tosa.equal %wide, %low : (!scores64, !one64) -> !flags
  %dead = tosa.reduce_all %isLow {axis = 3 : i32} : (!flags) -> !columnFlags
  %safe = tosa.select %dead, %none, %p : (!columnFlags, !scores, !scores) -> !scores
  %p3 = tosa.reshape %safe, %to_scores3 : (!scores, !tosa.shape<3>) -> !scores3
  %v3 = tosa.reshape %v, %to_value3 : (!value, !tosa.shape<3>) -> !value3
  %o3 = tosa.matmul %p3, %v3, %zp, %zp : (!scores3, !value3, tensor<1xf32>, tensor<1xf32>) -> !out3
  %out = tosa.reshape %o3, %to_out : (!out3, !tosa.shape<4>) -> !out
  return %out : !out
}
