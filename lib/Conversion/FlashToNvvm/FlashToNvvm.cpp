//===- FlashToNvvm.cpp - flash tiles to fragments of tensor core products --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For each kernel: its shape (KernelShape.h) says how threads share an item; copies into shared memory are placed
// around the kv loops (Copies.cpp); then a dialect conversion turns tiles into values of a thread, one tile into many
// (the table in ConversionPasses.td). Nothing is decided in the patterns.
//
//===----------------------------------------------------------------------===//

#include "../FlashLanes/Loops.h"
#include "../FlashLanes/Regions.h"
#include "Lowering.h"
#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/Canonicalization/PositiveList.h"
#include "attn/Target/TargetDescription.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#define DEBUG_TYPE "convert-flash-to-nvvm"

namespace attn {
#define GEN_PASS_DEF_CONVERTFLASHTONVVMPASS
#include "Conversion/ConversionPasses.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;
using namespace attn::nvvm;
using namespace attn::lanes;
using namespace attn::flash;

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

/// The first argument, the number of items from here on, gives way to the item of this block or thread. Threads without
/// an item do nothing.
static void placeItem(func::FuncOp kernel, const NvvmLowering &lowering, ImplicitLocOpBuilder &b) {
  Block &entry = kernel.getBody().front();
  BlockArgument count = entry.getArgument(0);
  Value block = toIndex(b, NVVM::BlockIdXOp::create(b, b.getI32Type()));
  if (lowering.shape.kind != KernelKind::Items) {
    count.replaceAllUsesWith(block);
    return;
  }
  Value first = arith::MulIOp::create(b, block, constantIndex(b, lowering.shape.threads));
  Value item = plus(b, first, toIndex(b, lowering.place.thread));
  count.replaceAllUsesWith(item);
  auto branch = scf::IfOp::create(b, arith::CmpIOp::create(b, arith::CmpIPredicate::slt, item, count),
                                  /*withElseRegion=*/false);
  Block *body = branch.thenBlock();
  body->getOperations().splice(body->begin(), entry.getOperations(), std::next(branch->getIterator()),
                               entry.getTerminator()->getIterator());
}

/// Threads that share an item all compute what it stores; one of them stores it.
static void storeOnce(func::FuncOp kernel, const NvvmLowering &lowering) {
  if (lowering.shape.kind == KernelKind::Items)
    return;
  SmallVector<memref::StoreOp> stores;
  kernel.walk([&](memref::StoreOp store) { stores.push_back(store); });
  for (memref::StoreOp store : stores) {
    ImplicitLocOpBuilder b(store.getLoc(), store);
    Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lowering.place.thread, i32(b, 0));
    auto branch = scf::IfOp::create(b, isFirst, /*withElseRegion=*/false);
    store->moveBefore(branch.thenBlock()->getTerminator());
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// What the launch has to know.
void nvvm::describeKernel(func::FuncOp kernel, const KernelShape &shape, ArrayRef<TensorMapAttr> tensorMaps) {
  int64_t items = shape.kind == KernelKind::Items ? shape.threads : 1;
  kernel->setAttr(KernelAttr::getAttrName(),
                  KernelAttr::get(kernel.getContext(), shape.threads, items, shape.sharedBytes, tensorMaps));
}

LogicalResult nvvm::convertTiles(ArrayRef<Operation *> ops, NvvmLowering &lowering) {
  MLIRContext *context = ops.front()->getContext();
  FragmentTypeConverter converter(lowering.shape);
  ConversionTarget legal(*context);
  legal.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  legal.addIllegalDialect<FlashDialect>();
  RewritePatternSet patterns(context);
  populateFragmentPatterns(converter, lowering, patterns);
  populateClassifyFragmentPatterns(converter, lowering, patterns);
  scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns, legal);
  return applyPartialConversion(ops, legal, std::move(patterns), attn::withoutFolding());
}

/// Counting is for the CPU's tests.
static void eraseCounters(func::FuncOp kernel) {
  kernel.walk([](CountKvTilesOp op) { op.erase(); });
}

static LogicalResult convertKernel(func::FuncOp kernel, const GpuTarget &target, bool allowTf32) {
  FailureOr<KernelShape> shape = shapeOfKernel(kernel, target);
  if (failed(shape))
    return failure();
  NvvmLowering lowering;
  lowering.shape = *shape;
  lowering.copyThreads = shape->threads;
  lowering.allowTf32 = allowTf32;
  auto b = ImplicitLocOpBuilder::atBlockBegin(kernel.getLoc(), &kernel.getBody().front());
  lowering.place = buildPlace(b, shape->threads);
  placeItem(kernel, lowering, b);
  storeOnce(kernel, lowering);
  eraseCounters(kernel);
  guardDivisions(kernel);
  if (lowering.shape.consumers)
    return convertRoles(kernel, lowering, b);
  describeKernel(kernel, lowering.shape);
  placeCopies(kernel, lowering);
  return convertTiles(kernel.getOperation(), lowering);
}

namespace {

struct ConvertFlashToNvvmPass : attn::impl::ConvertFlashToNvvmPassBase<ConvertFlashToNvvmPass> {
  using Base::Base;

  void runOnOperation() override {
    llvm::Expected<GpuTarget> gpu = describeGpu(target);
    if (!gpu) {
      getOperation().emitError() << llvm::toString(gpu.takeError());
      return signalPassFailure();
    }
    declareSharedMemory(getOperation());
    for (auto kernel : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (failed(convertKernel(kernel, *gpu, allowTf32)))
        return signalPassFailure();
  }
};

} // namespace
