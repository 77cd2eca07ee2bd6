// RUN: not attn-opt %s --convert-linalg-to-cpu=target=pentium-9000 2>&1 | FileCheck %s

// CHECK: error: unknown target CPU 'pentium-9000'; use host, x86-64-v3
func.func @copy(%x: memref<5xf32>, %y: memref<5xf32>) {
  linalg.copy ins(%x : memref<5xf32>) outs(%y : memref<5xf32>)
  return
}
