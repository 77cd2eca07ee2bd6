// A kernel that copies by way of shared memory, for any GPU.
gpu.module @kernels {
  llvm.mlir.global internal @tile() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<64 x i32>
  llvm.func @copy(%source: !llvm.ptr<1>, %target: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
    %thread = nvvm.read.ptx.sreg.tid.x : i32
    %from = llvm.getelementptr %source[%thread] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %to = llvm.getelementptr %target[%thread] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %shared = llvm.getelementptr %tile[%thread] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    nvvm.cp.async.shared.global %shared, %from, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    nvvm.barrier
    %value = llvm.load %shared : !llvm.ptr<3> -> i32
    llvm.store %value, %to : i32, !llvm.ptr<1>
    llvm.return
  }
}
