//===- FreeBuffers.cpp - free temporaries after their last use ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Upstream's ownership-based deallocation wants a RegionBranchOpInterface on every op with regions, which score and
// mask regions are not, and adds run-time ownership. The runtime frees everything at the end of a call, so only the
// plain case matters here: a buffer that lives and dies in one block.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Flash/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/CallInterfaces.h"

namespace attn::flash {
#define GEN_PASS_DEF_FREEBUFFERSPASS
#include "Flash/FlashPasses.h.inc"
} // namespace attn::flash

using namespace mlir;

using Aliases = BufferViewFlowAnalysis::ValueSetT;

/// True if `user` frees the buffer, or has a result that may be the buffer without the analysis knowing it, since the
/// op has no interface that tells.
static bool escapesThrough(Operation *user, const Aliases &aliases) {
  return isa<memref::DeallocOp>(user) || llvm::any_of(user->getResults(), [&](Value result) {
           return isa<BaseMemRefType>(result.getType()) && !aliases.contains(result);
         });
}

/// The last op of the allocation's block under which one of `aliases` is used; null if a use is elsewhere or escapes.
static Operation *lastUse(memref::AllocOp alloc, const Aliases &aliases) {
  Block *block = alloc->getBlock();
  Operation *last = alloc;
  for (Value alias : aliases)
    for (Operation *user : alias.getUsers()) {
      Operation *ancestor = block->findAncestorOpInBlock(*user);
      if (!ancestor || ancestor->hasTrait<OpTrait::IsTerminator>() || escapesThrough(user, aliases))
        return nullptr;
      if (last->isBeforeInBlock(ancestor))
        last = ancestor;
    }
  return last;
}

namespace {

struct FreeBuffers : attn::flash::impl::FreeBuffersPassBase<FreeBuffers> {
  void runOnOperation() override {
    BufferViewFlowAnalysis aliases(getOperation());
    OpBuilder builder(&getContext());
    getOperation().walk([&](memref::AllocOp alloc) {
      Operation *last = lastUse(alloc, aliases.resolve(alloc));
      if (!last)
        return;
      builder.setInsertionPointAfter(last);
      memref::DeallocOp::create(builder, alloc.getLoc(), alloc);
    });
  }
};

} // namespace
