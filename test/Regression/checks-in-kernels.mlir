// What ends a call on a CPU does so on a GPU, with the message of the first element that is wrong, in the loops' order.
// DEFINE: %{target} =
// DEFINE: %{run} = attn-run %s --target=%{target} --fill=0:list:-7:9:-2147483648:5:0:-1:8
// REDEFINE: %{target} = x86-64-v3
// RUN: %{run} --function=quotients --fill=1:list:2:-4:3:-1:7:1:-8 --print --check >%t
// RUN: %{run} --function=powers --fill=1:list:3:0:1:-1:2:-3:1 --print --check >>%t
// RUN: not %{run} --function=quotients --fill=1:list:2:-4:-1:1:0:1:1 2>>%t
// RUN: not %{run} --function=quotients --fill=1:list:2:-4:1:1:0:1:1 2>>%t
// RUN: not %{run} --function=rows --fill=1:list:2:0:0:1:0:1:1 2>>%t
// RUN: not %{run} --function=rows --fill=1:list:1:2:3:1:1:1:5 2>>%t
// RUN: not %{run} --function=rows --fill=1:list:1:2:3:1:6:1:5 2>>%t
// RUN: FileCheck %s --input-file=%t
// REDEFINE: %{target} = emulator:sm_80
// RUN: %{run} --function=quotients --fill=1:list:2:-4:3:-1:7:1:-8 --print --check >%t
// RUN: %{run} --function=powers --fill=1:list:3:0:1:-1:2:-3:1 --print --check >>%t
// RUN: not %{run} --function=quotients --fill=1:list:2:-4:-1:1:0:1:1 2>>%t
// RUN: not %{run} --function=quotients --fill=1:list:2:-4:1:1:0:1:1 2>>%t
// RUN: not %{run} --function=rows --fill=1:list:2:0:0:1:0:1:1 2>>%t
// RUN: not %{run} --function=rows --fill=1:list:1:2:3:1:1:1:5 2>>%t
// RUN: not %{run} --function=rows --fill=1:list:1:2:3:1:6:1:5 2>>%t
// RUN: FileCheck %s --input-file=%t
// REDEFINE: %{target} = emulator:sm_90a
// RUN: %{run} --function=quotients --fill=1:list:2:-4:3:-1:7:1:-8 --print --check >%t
// RUN: %{run} --function=powers --fill=1:list:3:0:1:-1:2:-3:1 --print --check >>%t
// RUN: not %{run} --function=quotients --fill=1:list:2:-4:-1:1:0:1:1 2>>%t
// RUN: not %{run} --function=quotients --fill=1:list:2:-4:1:1:0:1:1 2>>%t
// RUN: not %{run} --function=rows --fill=1:list:2:0:0:1:0:1:1 2>>%t
// RUN: not %{run} --function=rows --fill=1:list:1:2:3:1:1:1:5 2>>%t
// RUN: not %{run} --function=rows --fill=1:list:1:2:3:1:6:1:5 2>>%t
// RUN: FileCheck %s --input-file=%t

// -7 / 2, 9 / -4, -2^31 / 3, 5 / -1, 0 / 7, -1 / 1, 8 / -8: up, then down.
// CHECK: result 0: 7xi32
// CHECK: -3 -2 -715827882 -5 0 -1 -1
// CHECK: result 1: 7xi32
// CHECK: -4 -3 -715827883 -5 0 -1 -1
// CHECK: check: PASS
// CHECK: check: PASS
func.func @quotients(%x: tensor<7xi32>, %y: tensor<7xi32>) -> (tensor<7xi32>, tensor<7xi32>) {
  %up = arith.ceildivsi %x, %y : tensor<7xi32>
  %down = arith.floordivsi %x, %y : tensor<7xi32>
  return %up, %down : tensor<7xi32>, tensor<7xi32>
}

// (-7)^3, 9^0, -2^31, 1 / 5, 0^2, 1 / (-1)^3, 8.
// CHECK: result 0: 7xi32
// CHECK: -343 1 -2147483648 0 0 -1 8
// CHECK: check: PASS
func.func @powers(%x: tensor<7xi32>, %y: tensor<7xi32>) -> tensor<7xi32> {
  %r = math.ipowi %x, %y : tensor<7xi32>
  return %r : tensor<7xi32>
}

// Element 2 overflows in front of element 4's division by zero.
// CHECK: error: @quotients: 'arith.ceildivsi' at {{.*}}: overflows: the lowest value divided by -1
// CHECK: error: @quotients: 'arith.ceildivsi' at {{.*}}: divides by zero

// Numbers of row 0 are above 0 and not 6, of row 1 below 5; the row is what decides.
// CHECK: error: @rows: not positive at 0
// CHECK: error: @rows: large at 1
// CHECK: error: @rows: large at 0
func.func @rows(%x: tensor<7xi32>, %y: tensor<7xi32>) -> tensor<i32> {
  %zero = arith.constant dense<0> : tensor<i32>
  %pick = arith.constant dense<[0, 1]> : tensor<2xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(r, c) -> (c)>, affine_map<(r, c) -> (r)>, affine_map<(r, c) -> ()>],
                       iterator_types = ["reduction", "reduction"]}
      ins(%y, %pick : tensor<7xi32>, tensor<2xi32>) outs(%zero : tensor<i32>) {
  ^bb0(%a: i32, %row: i32, %old: i32):
    %c0 = arith.constant 0 : i32
    %c5 = arith.constant 5 : i32
    %c6 = arith.constant 6 : i32
    %first = arith.cmpi eq, %row, %c0 : i32
    %new = scf.if %first -> i32 {
      %positive = arith.cmpi sgt, %a, %c0 : i32
      cf.assert %positive, "not positive at 0"
      %small = arith.cmpi ne, %a, %c6 : i32
      cf.assert %small, "large at 0"
      scf.yield %a : i32
    } else {
      %small = arith.cmpi slt, %a, %c5 : i32
      cf.assert %small, "large at 1"
      scf.yield %old : i32
    }
    linalg.yield %new : i32
  } -> tensor<i32>
  return %r : tensor<i32>
}
