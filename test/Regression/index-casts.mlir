// RUN: attn-run %s --scalar=0:4294967301 --print | FileCheck %s

// A cast to fewer bits truncates, whatever is cast back: 2^32 + 5 is 5 in i32 and i8.
// CHECK: result 0:
// CHECK-NEXT: {{^}}  5{{$}}
// CHECK: result 1:
// CHECK-NEXT: {{^}}  5{{$}}
func.func @truncates(%n: index) -> (index, index) {
  %word = arith.index_cast %n : index to i32
  %signed = arith.index_cast %word : i32 to index
  %byte = arith.index_castui %n : index to i8
  %unsigned = arith.index_castui %byte : i8 to index
  return %signed, %unsigned : index, index
}
