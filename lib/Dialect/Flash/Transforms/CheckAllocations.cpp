//===- CheckAllocations.cpp - sizes of buffers that overflow ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's form of memref.alloc multiplies sizes modulo 2^64: a buffer of 2^32 x 2^32 floats would get 0 bytes.
//
//===----------------------------------------------------------------------===//

#include "SizeArithmetic.h"
#include "attn/Dialect/Flash/IR/FlashOps.h"
#include "attn/Dialect/Flash/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace attn::flash {
#define GEN_PASS_DEF_CHECKALLOCATIONSPASS
#include "Flash/FlashPasses.h.inc"
} // namespace attn::flash

using namespace mlir;
using namespace attn::flash;

namespace {

struct CheckAllocations : attn::flash::impl::CheckAllocationsPassBase<CheckAllocations> {
  void runOnOperation() override {
    DataLayout layout = DataLayout::closest(getOperation());
    getOperation().walk([&](memref::AllocOp alloc) {
      ImplicitLocOpBuilder builder(alloc.getLoc(), alloc);
      SizeArithmetic sizes(builder);
      // With what the allocator adds to align it.
      sizes.align(sizes.allocationBytes(alloc, layout));
      sizes.require("a temporary buffer expects fewer than 2^63 bytes; use smaller sizes");
    });
  }
};

} // namespace
