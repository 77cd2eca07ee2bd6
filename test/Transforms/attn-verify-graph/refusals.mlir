// RUN: attn-opt %s --allow-unregistered-dialect --attn-verify-graph --split-input-file --verify-diagnostics
// RUN: attn-opt %s --allow-unregistered-dialect --attn-compile --split-input-file --verify-diagnostics

// All of a module in one go, and what is in an unknown op is its own.
func.func @several(%x: tensor<4xf32>, %i: tensor<1x1xindex>) -> tensor<4xf32> {
  // expected-error @below {{the compiler knows no lowering of 'other.op'}}
  %0 = "other.op"(%x) ({
    "other.inner"() : () -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  %e = tensor.empty() : tensor<1x1xf32>
  // expected-error @below {{the compiler knows no lowering of 'tensor.scatter'; expected ops of attn, linalg, tensor, arith, math, scf, cf, func or tosa}}
  %1 = tensor.scatter %e into %0[%i] scatter_dims([0]) unique
      : (tensor<1x1xf32>, tensor<4xf32>, tensor<1x1xindex>) -> tensor<4xf32>
  // expected-error @below {{the compiler knows no lowering of 'affine.for'}}
  %2 = affine.for %k = 0 to 4 iter_args(%a = %1) -> tensor<4xf32> {
    %b = math.exp %a : tensor<4xf32>
    affine.yield %b : tensor<4xf32>
  }
  return %2 : tensor<4xf32>
}

func.func @another(%x: tensor<4xf32>) -> tensor<4xi32> {
  // expected-error @below {{the compiler knows no lowering of 'tensor.bitcast'}}
  %0 = tensor.bitcast %x : tensor<4xf32> to tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

// What goes on from a type is not reported again.
func.func @types(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'arith.extf' op has a value of type 'tensor<4xf128>', which the compiler does not support; expected scalars and ranked tensors of f16, bf16, f32, f64, index and integers of 1, 2, 4, 8, 16, 32 or 64 bits}}
  %a = arith.extf %x : tensor<4xf32> to tensor<4xf128>
  %b = arith.addf %a, %a : tensor<4xf128>
  %c = arith.truncf %b : tensor<4xf128> to tensor<4xf32>
  // expected-error @below {{'arith.extf' op has a value of type 'tensor<4xf80>'}}
  %d = arith.extf %x : tensor<4xf32> to tensor<4xf80>
  // expected-error @below {{'arith.constant' op has a value of type 'tensor<4xcomplex<f32>>'}}
  %e = arith.constant dense<(1.0, 2.0)> : tensor<4xcomplex<f32>>
  // expected-error @below {{'arith.fptosi' op has a value of type 'tensor<4xi128>'}}
  %f = arith.fptosi %x : tensor<4xf32> to tensor<4xi128>
  // expected-error @below {{'arith.fptosi' op has a value of type 'tensor<4xi24>'}}
  %g = arith.fptosi %x : tensor<4xf32> to tensor<4xi24>
  // expected-error @below {{'tensor.cast' op has a value of type 'tensor<*xf32>'}}
  %h = tensor.cast %x : tensor<4xf32> to tensor<*xf32>
  return %c : tensor<4xf32>
}

// -----

// expected-error @below {{'func.func' op has a value of type 'complex<f32>'}}
func.func @argument(%x: complex<f32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  return %y : tensor<2xf32>
}

// -----

// expected-error @below {{'builtin.module' op expects index to have 64 bits, but its data layout gives it 32}}
module attributes {dlti.dl_spec = #dlti.dl_spec<index = 32 : i32>} {
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

module attributes {dlti.dl_spec = #dlti.dl_spec<index = 64 : i32>} {
  func.func @index_of_64_bits(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

module {
  // expected-error @below {{a module in a module is not compiled; move what it holds to the outer one}}
  module @inner {
    func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      return %x : tensor<4xf32>
    }
  }
  // expected-error @below {{expects functions and symbols at the top level of a module, but got 'arith.constant'}}
  %c = arith.constant dense<1.0> : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @h(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @h(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'func.call' op expects functions that do not call themselves, but got the cycle @g -> @h -> @g; use scf.for or scf.while}}
  %0 = func.call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{'func.call' op expects a function with a body, but '@outside' has none; give its definition}}
  %1 = func.call @outside(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @outside(%x: tensor<4xf32>) -> tensor<4xf32>

// -----

// expected-error @below {{the compiler knows no lowering of 'ml_program.global'}}
ml_program.global private mutable @seed(dense<0> : tensor<i64>) : tensor<i64>
func.func @reads_a_global() -> tensor<i64> {
  // expected-error @below {{the compiler knows no lowering of 'ml_program.global_load'}}
  %0 = ml_program.global_load @seed : tensor<i64>
  return %0 : tensor<i64>
}

// -----

func.func @group(%x: tensor<6x4xf32>) -> tensor<2x3x4xf32> {
  // expected-error @below {{'tensor.expand_shape' op expects groups that name each dimension once and in order, but got 4294967296 in place of 0}}
  %0 = tensor.expand_shape %x [[4294967296, 1], [2]] output_shape [2, 3, 4] : tensor<6x4xf32> into tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// -----

func.func @joined_behind_the_rank(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{'tensor.concat' op expects a dimension below its rank 1, but got 9223372036854775808}}
  %0 = tensor.concat dim(9223372036854775808) %x, %x : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
