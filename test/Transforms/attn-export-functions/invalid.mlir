// RUN: attn-opt %s --attn-export-functions --split-input-file --verify-diagnostics

// expected-error @below {{'func.func' op to be exported expects ranked tensors, ranked memrefs and scalars as arguments, but argument 1 is 'tensor<*xf32>'; make the function private if it is a helper}}
func.func @unranked(%a: f32, %b: tensor<*xf32>) {
  return
}

// -----

// expected-error @below {{argument 0 is 'vector<4xf32>'}}
func.func @vector(%a: vector<4xf32>) {
  return
}

// -----

// expected-error @below {{'func.func' op to be exported expects ranked tensors and scalars as results, but result 0 is 'memref<4xf32>'}}
func.func @returns_a_buffer(%a: memref<4xf32>) -> memref<4xf32> {
  return %a : memref<4xf32>
}

// -----

// expected-error @below {{'func.func' op with branches between blocks cannot be exported; use scf for control flow}}
func.func @branches(%c: i1) {
  cf.cond_br %c, ^a, ^b
^a:
  return
^b:
  return
}
