//===- OutlineParallel.cpp - parallel loops to functions with scratch ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For each outermost scf.forall, in this order: inner scf.forall become loops, what allocation sizes need is moved in
// front of the loop, the bytes of scratch are computed there, and the body moves into a function
//
//   f_parallel_k(%begin, %end, %scratch, captures...)
//
// that runs the items [begin, end) one after the other. Item n is the n-th index of the loop, the last dimension
// fastest. Sizes are products of run-time values: they are computed with an overflow flag, and a set flag ends the call
// in front of the loop. Costs one walk over the body; nothing is cloned but constants.
//
//===----------------------------------------------------------------------===//

#include "ParallelLoops.h"
#include "SizeArithmetic.h"
#include "attn/Dialect/Flash/IR/FlashOps.h"
#include "attn/Dialect/Flash/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"

namespace attn::flash {
#define GEN_PASS_DEF_OUTLINEPARALLELPASS
#include "Flash/FlashPasses.h.inc"
} // namespace attn::flash

using namespace mlir;
using namespace attn::flash;

namespace {

/// A buffer of a parallel body and where it lies in the scratch, in bytes.
struct ScratchBuffer {
  Operation *alloc;
  OpFoldResult offset;
};

} // namespace

//===----------------------------------------------------------------------===//
// Preparing the body
//===----------------------------------------------------------------------===//

/// Moves the pure ops that compute `size`, an operand of `user`, in front of the loop. Error if it depends on anything
/// else of the body.
static LogicalResult hoistSize(Value size, scf::ForallOp loop, Operation *user, StringRef why) {
  if (loop.getRegion().isAncestor(size.getParentRegion())) {
    Operation *op = size.getDefiningOp();
    if (!op || !isPure(op) || op->getNumRegions() != 0)
      return user->emitOpError("in a parallel loop expects sizes that do not depend on the loop, since they decide on ")
             << why;
    for (Value operand : op->getOperands())
      if (failed(hoistSize(operand, loop, user, why)))
        return failure();
    op->moveBefore(loop);
  }
  return success();
}

static LogicalResult checkAllocation(Operation *alloc, scf::ForallOp loop) {
  auto type = cast<MemRefType>(alloc->getResult(0).getType());
  if (alloc->getBlock() != loop.getBody())
    return alloc->emitOpError("in a parallel loop expects to be at the top of the loop's body, not in a nested region");
  if (!type.getLayout().isIdentity())
    return alloc->emitOpError("in a parallel loop expects an identity layout, but got ") << type;
  auto alignment = alloc->getAttrOfType<IntegerAttr>("alignment");
  if (alignment && kScratchAlignment % alignment.getInt() != 0)
    return alloc->emitOpError("in a parallel loop expects an alignment of at most ")
           << kScratchAlignment << " bytes, but got " << alignment.getInt();
  for (Value size : alloc->getOperands())
    if (failed(hoistSize(size, loop, alloc, "the scratch memory of a thread")))
      return failure();
  return success();
}

/// The allocations of the body, in order, with their sizes known in front of the loop.
static FailureOr<SmallVector<Operation *>> collectAllocations(scf::ForallOp loop) {
  SmallVector<Operation *> allocs;
  loop.getBody()->walk([&](Operation *op) {
    if (isAllocation(op))
      allocs.push_back(op);
  });
  for (Operation *alloc : allocs)
    if (failed(checkAllocation(alloc, loop)))
      return failure();
  return allocs;
}

/// The work of an item, known in front of the loop, or null. What tells it goes, and what inner loops told.
static FailureOr<Value> takeItemWork(scf::ForallOp loop) {
  SmallVector<ItemWorkOp> ops;
  loop.getBody()->walk([&](ItemWorkOp op) { ops.push_back(op); });
  Value work;
  for (ItemWorkOp op : ops) {
    if (op->getBlock() == loop.getBody()) {
      work = op.getMultiplyAdds();
      if (failed(hoistSize(work, loop, op, "the number of threads")))
        return failure();
    }
    op.erase();
  }
  return work;
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

/// Turns the allocations into views of `scratch`, in front of the loop over items, and drops what frees them.
static void placeInScratch(ArrayRef<ScratchBuffer> buffers, Value scratch, ImplicitLocOpBuilder &b) {
  for (const ScratchBuffer &buffer : buffers) {
    Value alloc = buffer.alloc->getResult(0);
    for (Operation *user : llvm::make_early_inc_range(alloc.getUsers()))
      if (isa<memref::DeallocOp>(user))
        user->erase();
    Value offset = getValueOrCreateConstantIndexOp(b, b.getLoc(), buffer.offset);
    Value view = memref::ViewOp::create(b, buffer.alloc->getLoc(), cast<MemRefType>(alloc.getType()), scratch, offset,
                                        buffer.alloc->getOperands());
    alloc.replaceAllUsesWith(view);
    buffer.alloc->erase();
  }
}

/// A private function (%begin, %end, %scratch) with an empty loop over the items; behind the function of the loop.
static func::FuncOp createFunction(scf::ForallOp loop, SymbolTable &symbols, unsigned number) {
  auto parent = loop->getParentOfType<func::FuncOp>();
  OpBuilder builder(loop.getContext());
  auto scratch = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type());
  auto type = builder.getFunctionType({builder.getIndexType(), builder.getIndexType(), scratch}, {});
  auto function = func::FuncOp::create(loop.getLoc(), (parent.getName() + "_parallel_" + Twine(number)).str(), type);
  function.setPrivate();
  symbols.insert(function, std::next(parent->getIterator()));
  function.addEntryBlock();
  return function;
}

/// Fills the function: a loop over its items with the body of `loop`.
static void fillFunction(scf::ForallOp loop, func::FuncOp function, ArrayRef<ScratchBuffer> buffers,
                         ArrayRef<OpFoldResult> counts, RewriterBase &rewriter) {
  Block &entry = function.getBody().front();
  ImplicitLocOpBuilder b(loop.getLoc(), rewriter);
  b.setInsertionPointToStart(&entry);
  placeInScratch(buffers, entry.getArgument(2), b);
  Value one = arith::ConstantIndexOp::create(b, 1);
  auto items = scf::ForOp::create(b, entry.getArgument(0), entry.getArgument(1), one);
  func::ReturnOp::create(b);
  b.setInsertionPointToStart(items.getBody());
  SmallVector<Value> indices = delinearize(items.getInductionVar(), loop, counts, b);
  moveBody(loop, indices, items.getBody(), function.getBody(), rewriter);
}

static LogicalResult outline(scf::ForallOp loop, unsigned number, SymbolTable &symbols, RewriterBase &rewriter) {
  if (failed(prepareLoop(loop, rewriter)))
    return failure();
  FailureOr<SmallVector<Operation *>> allocs = collectAllocations(loop);
  FailureOr<Value> work = takeItemWork(loop);
  if (failed(allocs) || failed(work))
    return failure();

  rewriter.setInsertionPoint(loop);
  ImplicitLocOpBuilder b(loop.getLoc(), rewriter);
  SizeArithmetic sizes(b);
  DataLayout layout = DataLayout::closest(loop);
  OpFoldResult bytes = b.getIndexAttr(0);
  SmallVector<ScratchBuffer> buffers;
  for (Operation *alloc : *allocs) {
    buffers.push_back({alloc, bytes});
    bytes = sizes.align(sizes.add(bytes, sizes.allocationBytes(alloc, layout)));
  }
  sizes.require("the scratch memory of a parallel loop expects fewer than 2^63 bytes; use smaller sizes");
  SmallVector<OpFoldResult> counts = tripCounts(loop, sizes, b);
  Value itemCount = countItems(counts, sizes, b), scratchBytes = sizes.toValue(bytes);
  Value itemWork = *work ? *work : sizes.toValue(b.getIndexAttr(-1));

  func::FuncOp function = createFunction(loop, symbols, number);
  fillFunction(loop, function, buffers, counts, rewriter);
  b.setInsertionPoint(loop);
  SmallVector<Value> captures = captureValues(function);
  ParallelForOp::create(b, FlatSymbolRefAttr::get(function.getNameAttr()), itemCount, itemWork, scratchBytes, captures);
  rewriter.eraseOp(loop);
  return success();
}

namespace {

struct OutlineParallel : attn::flash::impl::OutlineParallelPassBase<OutlineParallel> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    IRRewriter rewriter(&getContext());
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      for (auto [number, loop] : llvm::enumerate(outermostLoops(function)))
        if (failed(outline(loop, number, symbols, rewriter)))
          return signalPassFailure();
      // Those of loops of one iteration, which are none any more.
      function.walk([](ItemWorkOp op) { op.erase(); });
    }
  }
};

} // namespace
