//===- Warpgroup.cpp - barriers of stages and products of warpgroups --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands of wgmma in shared memory are given by descriptors of 64 bits (PTX ISA, "matrix descriptor"): address / 16
// in bits 0 to 13, two strides / 16 in bits 16 to 29 and 32 to 45, the swizzle of 128 bytes as 1 in bits 62 and 63. In
// boxes of 64 columns, rows of 128 bytes:
//
//   queries, keys (the contracted index along rows): the second stride is that of 8 rows, 1024 bytes; the first has no
//     meaning. 16 columns further is 32 bytes further, the next 64 are the next box.
//   values (the contracted index down the rows): the first stride is that of boxes, the second that of 8 rows. 16 keys
//     further is 2048 bytes further.
//
//===----------------------------------------------------------------------===//

#include "Warpgroup.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attn;
using namespace attn::nvvm;
using namespace attn::lanes;

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

Value nvvm::buildCounter(ImplicitLocOpBuilder &b) {
  // LLVM makes registers of what lies in the entry block.
  OpBuilder::InsertionGuard guard(b);
  auto kernel = b.getInsertionBlock()->getParentOp()->getParentOfType<FunctionOpInterface>();
  b.setInsertionPointToStart(&kernel.getFunctionBody().front());
  Value one = LLVM::ConstantOp::create(b, b.getI64Type(), b.getI64IntegerAttr(1));
  Value counter = LLVM::AllocaOp::create(b, LLVM::LLVMPointerType::get(b.getContext()), b.getI32Type(), one);
  LLVM::StoreOp::create(b, i32(b, 0), counter);
  return counter;
}

static StageSlot slotOf(ImplicitLocOpBuilder &b, Value count) {
  constexpr int64_t stages = KernelShape::kStages;
  return {modulo(b, count, stages), modulo(b, divide(b, count, stages), 2)};
}

StageSlot nvvm::nextSlot(ImplicitLocOpBuilder &b, const StageRing &ring) {
  Value count = LLVM::LoadOp::create(b, b.getI32Type(), ring.counter);
  LLVM::StoreOp::create(b, add(b, count, 1), ring.counter);
  return slotOf(b, count);
}

StageSlot nvvm::lastSlot(ImplicitLocOpBuilder &b, const StageRing &ring) {
  return slotOf(b, add(b, LLVM::LoadOp::create(b, b.getI32Type(), ring.counter), -1));
}

Value nvvm::stageOffset(ImplicitLocOpBuilder &b, const StageRing &ring, const StageSlot &slot) {
  return add(b, times(b, slot.number, ring.bytes), ring.offset);
}

static Value barrierPointer(ImplicitLocOpBuilder &b, const StageRing &ring, Value number, int64_t first) {
  return sharedPointer(b, add(b, times(b, number, 8), ring.barrierOffset + 8 * first));
}

Value nvvm::fullBarrier(ImplicitLocOpBuilder &b, const StageRing &ring, const StageSlot &slot) {
  return barrierPointer(b, ring, slot.number, 0);
}

Value nvvm::emptyBarrier(ImplicitLocOpBuilder &b, const StageRing &ring, const StageSlot &slot) {
  return barrierPointer(b, ring, slot.number, KernelShape::kStages);
}

void nvvm::initBarriers(ImplicitLocOpBuilder &b, const StageRing &ring, int64_t readers) {
  for (int64_t stage = 0; stage < KernelShape::kStages; ++stage) {
    NVVM::MBarrierInitOp::create(b, barrierPointer(b, ring, i32(b, stage), 0), i32(b, 1), Value());
    NVVM::MBarrierInitOp::create(b, barrierPointer(b, ring, i32(b, stage), KernelShape::kStages), i32(b, readers),
                                 Value());
  }
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

/// A function of the device module that is defined elsewhere.
static LLVM::LLVMFuncOp deviceFunction(ImplicitLocOpBuilder &b, StringRef name, Type result, TypeRange arguments) {
  Operation *module = b.getInsertionBlock()->getParentOp();
  while (!module->hasTrait<OpTrait::SymbolTable>())
    module = module->getParentOp();
  if (auto known = dyn_cast_or_null<LLVM::LLVMFuncOp>(SymbolTable::lookupSymbolIn(module, name)))
    return known;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&module->getRegion(0).front());
  return LLVM::LLVMFuncOp::create(b, name, LLVM::LLVMFunctionType::get(result, SmallVector<Type>(arguments)));
}

void nvvm::waitFor(ImplicitLocOpBuilder &b, Value barrier, Value parity) {
  auto function = deviceFunction(b, "attn_dev_mbarrier_wait", LLVM::LLVMVoidType::get(b.getContext()),
                                 {barrier.getType(), parity.getType()});
  LLVM::CallOp::create(b, function, ValueRange{barrier, parity});
}

Value nvvm::opaque(ImplicitLocOpBuilder &b, Value value) {
  if (value.getType().isIndex())
    return arith::IndexCastOp::create(b, b.getIndexType(),
                                      opaque(b, arith::IndexCastOp::create(b, b.getI64Type(), value)));
  Type type = value.getType();
  auto function = deviceFunction(b, type.isInteger(64) ? "attn_dev_opaque_i64" : "attn_dev_opaque_i32", type, type);
  return LLVM::CallOp::create(b, function, value).getResult();
}

void nvvm::arriveAt(ImplicitLocOpBuilder &b, Value barrier) {
  NVVM::MBarrierArriveOp::create(b, b.getI64Type(), barrier, Value());
}

void nvvm::expectBytes(ImplicitLocOpBuilder &b, Value barrier, int64_t bytes) {
  NVVM::MBarrierArriveExpectTxOp::create(b, Type(), barrier, i32(b, bytes), NVVM::MemScopeKind::CTA, false, Value());
}

void nvvm::syncAt(ImplicitLocOpBuilder &b, Value barrier, int64_t threads) {
  NVVM::BarrierOp::create(b, Type(), barrier, i32(b, threads), NVVM::BarrierReductionAttr(), Value());
}

void nvvm::arriveOnlyAt(ImplicitLocOpBuilder &b, Value barrier, int64_t threads) {
  // NVVM's own op becomes inline assembly.
  LLVM::CallIntrinsicOp::create(b, b.getStringAttr("llvm.nvvm.barrier.cta.arrive.aligned.count"),
                                ValueRange{barrier, i32(b, threads)});
}

void nvvm::fenceForAsync(ImplicitLocOpBuilder &b) {
  NVVM::FenceProxyOp::create(b, NVVM::ProxyKind::async_shared,
                             NVVM::SharedSpaceAttr::get(b.getContext(), NVVM::SharedSpace::shared_cta));
}

void nvvm::copyBox(ImplicitLocOpBuilder &b, Value map, Value target, Value barrier, ValueRange coordinates) {
  NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(b, target, map, coordinates, barrier, ValueRange(), Value(),
                                                         Value(), NVVM::TMALoadMode::TILE, /*isCTAOnly=*/true,
                                                         NVVM::CTAGroupKindAttr(), Value());
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static Value number64(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantOp::create(b, b.getI64IntegerAttr(value));
}

/// A descriptor of what is at `offset`; the strides in bytes.
static Value descriptor(ImplicitLocOpBuilder &b, Value offset, int64_t firstStride, int64_t secondStride) {
  Value address = LLVM::PtrToIntOp::create(b, b.getI32Type(), sharedPointer(b, offset));
  Value units = divide(b, arith::AndIOp::create(b, address, i32(b, 0x3ffff)), 16);
  uint64_t rest = uint64_t(1) << 62 | uint64_t(secondStride / 16) << 32 | uint64_t(firstStride / 16) << 16;
  return arith::OrIOp::create(b, arith::ExtUIOp::create(b, b.getI64Type(), units), number64(b, rest));
}

static Value moved(ImplicitLocOpBuilder &b, Value descriptor, int64_t bytes) {
  return b.createOrFold<arith::AddIOp>(descriptor, number64(b, bytes / 16));
}

/// Where 16 columns from `column` on start in a tile whose rows are contracted.
static int64_t columnBytes(const SharedTile &tile, int64_t column) {
  return column / 64 * tile.boxBytes() + column % 64 * 2;
}

/// Calls a product of 64 x `columns` sums; the arguments follow the sums.
static void callProduct(ImplicitLocOpBuilder &b, const NvvmLowering &lowering, int64_t columns, StringRef form,
                        ValueRange arguments, MutableArrayRef<Value> sums) {
  StringRef type = lowering.shape.element.isBF16() ? "bf16" : "f16";
  std::string name = ("attn_dev_wgmma_m64n" + Twine(columns) + "k16_f32_" + type + "_" + form).str();
  SmallVector<Value> operands(sums.begin(), sums.end());
  llvm::append_range(operands, arguments);
  Type record = LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(sums.size(), b.getF32Type()));
  LLVM::LLVMFuncOp function = deviceFunction(b, name, record, ValueRange(operands).getTypes());
  Value result = LLVM::CallOp::create(b, function, operands).getResult();
  for (auto [k, sum] : llvm::enumerate(sums))
    sum = LLVM::ExtractValueOp::create(b, result, k);
}

void nvvm::finishWarpgroupProducts(ImplicitLocOpBuilder &b, const NvvmLowering &lowering, const StageRing &ring,
                                   int64_t later) {
  NVVM::WgmmaWaitGroupSyncOp::create(b, later);
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lowering.place.lane, i32(b, 0));
  auto branch = scf::IfOp::create(b, isFirst, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  arriveAt(b, emptyBarrier(b, ring, lastSlot(b, ring)));
}

template <typename OpTy> static void waitForTurn(ImplicitLocOpBuilder &b, const NvvmLowering &lowering, OpTy op) {
  if (op.getWaitTurn())
    syncAt(b, add(b, lowering.role.warpgroup, kFirstTurn), 256);
}

/// The products are under way: the other warpgroup may begin its own.
template <typename OpTy> static void passTurn(ImplicitLocOpBuilder &b, const NvvmLowering &lowering, OpTy op) {
  if (op.getPassTurn())
    arriveOnlyAt(b, arith::SubIOp::create(b, i32(b, kFirstTurn + 1), lowering.role.warpgroup), 256);
}

SmallVector<Value> nvvm::beginWarpgroupScores(ImplicitLocOpBuilder &b, const NvvmLowering &lowering,
                                              flash::BeginScoresOp op) {
  const KernelShape &shape = lowering.shape;
  const StageRing &ring = lowering.role.keys;
  StageSlot slot = nextSlot(b, ring);
  waitFor(b, fullBarrier(b, ring, slot), slot.parity);
  waitForTurn(b, lowering, op);
  Value query = descriptor(b, times(b, lowering.role.warpgroup, 64 * shape.query.pitch), 16, 8 * shape.query.pitch);
  Value key = descriptor(b, stageOffset(b, ring, slot), 16, 8 * shape.key.pitch);
  SmallVector<Value> scores(shape.kvTile / 2, arith::ConstantOp::create(b, b.getF32FloatAttr(0)));
  NVVM::WgmmaFenceAlignedOp::create(b);
  for (int64_t depth = 0; depth < shape.key.paddedColumns; depth += 16) {
    Value arguments[] = {moved(b, query, columnBytes(shape.query, depth)), moved(b, key, columnBytes(shape.key, depth)),
                         i32(b, depth > 0)};
    callProduct(b, lowering, shape.kvTile, "ss", arguments, scores);
  }
  NVVM::WgmmaGroupSyncAlignedOp::create(b);
  passTurn(b, lowering, op);
  return scores;
}

void nvvm::beginWarpgroupValues(ImplicitLocOpBuilder &b, const NvvmLowering &lowering, flash::BeginAccumulateOp op,
                                ValueRange weights, MutableArrayRef<Value> acc) {
  const KernelShape &shape = lowering.shape;
  const StageRing &ring = lowering.role.values;
  StageSlot slot = nextSlot(b, ring);
  waitFor(b, fullBarrier(b, ring, slot), slot.parity);
  waitForTurn(b, lowering, op);
  Value value = descriptor(b, stageOffset(b, ring, slot), shape.value.boxBytes(), 8 * shape.value.pitch);
  NVVM::WgmmaFenceAlignedOp::create(b);
  for (int64_t key = 0; key < shape.kvTile; key += 16) {
    SmallVector<Value> arguments(weights.slice(key / 4, 4));
    arguments.push_back(moved(b, value, key * shape.value.pitch));
    callProduct(b, lowering, shape.valueColumns, "rs", arguments, acc);
  }
  NVVM::WgmmaGroupSyncAlignedOp::create(b);
  passTurn(b, lowering, op);
}

void nvvm::finishQueryCopy(ImplicitLocOpBuilder &b, const NvvmLowering &lowering) {
  NVVM::CpAsyncWaitGroupOp::create(b, 0);
  fenceForAsync(b);
  syncAt(b, i32(b, kConsumers), lowering.copyThreads);
}
