//===- Roles.cpp - a warpgroup that copies, and warpgroups that multiply ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel of warpgroups (arXiv:2407.08608, section 3.1) becomes
//
//   make the barriers; block barrier
//   if this is warpgroup 0 { the kernel's control flow, in which scores and accumulate ops bring the next tile of keys
//                            and of values; all other tiles are gone }
//   if it is another one   { the kernel, in which they wait for it, multiply, and give the stage free }
//
// Both roles follow the same loops, and so meet the stages of keys in the same order, and those of values, whatever the
// loops are; the second has them turned by half a step (OverlapProducts.cpp), so that a product of values is under way
// beside a softmax of its own. A tile comes by tensor map where the view's memory allows it (which the host found out)
// and its last rows are not behind a logical end, where memory may not be read; else by the copies of sm_80.
//
// Two multiplying warpgroups take turns: warpgroup 0 multiplies (keys of tile n + 1 and values of tile n) while
// warpgroup 1 does the softmax of tile n, and the other way round. A turn is the products between two softmaxes; it is
// given by arriving at the other's barrier when they are begun.
//
//===----------------------------------------------------------------------===//

#include "../FlashLanes/Loops.h"
#include "Warpgroup.h"
#include "attn/Dialect/Attn/Canonicalization/PositiveList.h"
#include "attn/Dialect/Flash/Transforms/OverlapProducts.h"
#include "attn/Dialect/Flash/Transforms/PingPong.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"

using namespace mlir;
using namespace attn;
using namespace attn::nvvm;
using namespace attn::lanes;
using namespace attn::flash;

/// Registers of a thread for each role with two multiplying warpgroups, in steps of 8. The block starts with 65536 /
/// 384, in such steps, for each thread: who asks for more than that in all waits for ever.
static constexpr int64_t kProducerRegisters = 40, kConsumerRegisters = 232;
static_assert(kProducerRegisters + 2 * kConsumerRegisters <= 3 * (65536 / 384 / 8 * 8));

//===----------------------------------------------------------------------===//
// The producer
//===----------------------------------------------------------------------===//

/// Builds `body` for the first thread of the role.
static void byFirstThread(ImplicitLocOpBuilder &b, const NvvmLowering &lowering, llvm::function_ref<void()> body) {
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lowering.place.thread, i32(b, 0));
  auto branch = scf::IfOp::create(b, isFirst, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  body();
}

/// True where the tile is as long as the stage, or ends where the view does: boxes read nothing that they must not.
static Value endsWithView(ImplicitLocOpBuilder &b, const SharedTile &tile, Value view, const TileRows &rows) {
  Value isWhole = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rows.rows, constantIndex(b, tile.rows));
  Value end = plus(b, rows.i0, rows.rows), length = memref::DimOp::create(b, view, 2);
  return arith::OrIOp::create(b, isWhole, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, end, length));
}

static void produceByMap(ImplicitLocOpBuilder &b, const NvvmLowering &lowering, const SharedTile &tile, Value target,
                         Value barrier, Value map, Value batch, const TileRows &rows) {
  byFirstThread(b, lowering, [&] {
    expectBytes(b, barrier, tile.bytes());
    for (int64_t box = 0; box < tile.boxes(); ++box) {
      Value coordinates[] = {i32(b, 64 * box), toI32(b, rows.i0), toI32(b, rows.h), toI32(b, batch)};
      copyBox(b, map, sharedPointer(b, add(b, target, box * tile.boxBytes())), barrier, coordinates);
    }
  });
}

/// The tile comes by the role's threads, which is seldom: its addresses are computed here, and not kept in registers.
static void produceByThreads(ImplicitLocOpBuilder &b, const NvvmLowering &lowering, const SharedTile &tile,
                             Value target, Value barrier, Value view, Value batch, const TileRows &rows) {
  // The first thread has waited for the stage.
  syncAt(b, i32(b, kProducer), lowering.copyThreads);
  NvvmLowering here = lowering;
  here.place.thread = opaque(b, lowering.place.thread);
  TileRows hidden{opaque(b, rows.h), opaque(b, rows.i0), rows.rows, rows.group};
  buildCopy(b, here, tile, target, view, opaque(b, batch), hidden);
  NVVM::CpAsyncCommitGroupOp::create(b);
  NVVM::CpAsyncWaitGroupOp::create(b, 0);
  fenceForAsync(b);
  syncAt(b, i32(b, kProducer), lowering.copyThreads);
  byFirstThread(b, lowering, [&] { arriveAt(b, barrier); });
}

/// Brings a tile of a view into the ring's next stage.
static void produce(ImplicitLocOpBuilder &b, const NvvmLowering &lowering, const StageRing &ring,
                    const SharedTile &tile, Value view, Value batch, const TileRows &rows) {
  StageSlot slot = nextSlot(b, ring);
  Value target = stageOffset(b, ring, slot), full = fullBarrier(b, ring, slot);
  byFirstThread(b, lowering, [&] {
    Value before = arith::XOrIOp::create(b, slot.parity, i32(b, 1));
    waitFor(b, emptyBarrier(b, ring, slot), before);
  });
  TensorMapArguments arguments = lowering.role.maps.lookup(view);
  if (!arguments.map)
    return produceByThreads(b, lowering, tile, target, full, view, batch, rows);
  Value byMap = arith::AndIOp::create(b, arguments.isUsable, endsWithView(b, tile, view, rows));
  auto branch = scf::IfOp::create(b, byMap, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  produceByMap(b, lowering, tile, target, full, arguments.map, batch, rows);
  b.setInsertionPointToStart(branch.elseBlock());
  produceByThreads(b, lowering, tile, target, full, view, batch, rows);
}

namespace {

/// The producer has no tiles in registers.
struct NoTileConverter : TypeConverter {
  NoTileConverter() {
    addConversion([](Type type) { return type; });
    addConversion([](Type type, SmallVectorImpl<Type> &) -> std::optional<LogicalResult> {
      if (!isa<QueryType, ScoresType, AccType, RowsType>(type))
        return std::nullopt;
      return success();
    });
  }
};

template <typename OpTy> struct ProducerPattern : OpConversionPattern<OpTy> {
  using Adaptor = typename OpTy::template GenericAdaptor<ArrayRef<ValueRange>>;

  ProducerPattern(const TypeConverter &converter, MLIRContext *context, const NvvmLowering &lowering)
      : OpConversionPattern<OpTy>(converter, context), lowering(lowering) {}

  LogicalResult matchAndRewrite(OpTy op, Adaptor adaptor, ConversionPatternRewriter &rewriter) const final {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    build(b, adaptor);
    rewriter.replaceOpWithMultiple(op, SmallVector<ValueRange>(op->getNumResults()));
    return success();
  }

  virtual void build(ImplicitLocOpBuilder &, Adaptor) const {}

  const NvvmLowering &lowering;
};

struct ProduceKeys : ProducerPattern<BeginScoresOp> {
  using ProducerPattern::ProducerPattern;
  void build(ImplicitLocOpBuilder &b, Adaptor adaptor) const override {
    TileRows rows{adaptor.getHk()[0], adaptor.getJ0()[0], adaptor.getKeys()[0], 1};
    produce(b, lowering, lowering.role.keys, lowering.shape.key, adaptor.getKey()[0], adaptor.getB()[0], rows);
  }
};

struct ProduceValues : ProducerPattern<BeginAccumulateOp> {
  using ProducerPattern::ProducerPattern;
  void build(ImplicitLocOpBuilder &b, Adaptor adaptor) const override {
    TileRows rows{adaptor.getHk()[0], adaptor.getJ0()[0], adaptor.getKeys()[0], 1};
    produce(b, lowering, lowering.role.values, lowering.shape.value, adaptor.getValue()[0], adaptor.getB()[0], rows);
  }
};

} // namespace

/// The ops of a branch, without its terminator.
static SmallVector<Operation *> opsOf(Block *block) {
  SmallVector<Operation *> ops;
  for (Operation &op : block->without_terminator())
    ops.push_back(&op);
  return ops;
}

static LogicalResult convertProducer(Block *block, const NvvmLowering &lowering) {
  MLIRContext *context = block->getParentOp()->getContext();
  NoTileConverter converter;
  ConversionTarget legal(*context);
  legal.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  legal.addIllegalDialect<FlashDialect>();
  RewritePatternSet patterns(context);
  patterns.add<ProduceKeys, ProduceValues, ProducerPattern<LoadQueryOp>, ProducerPattern<InitOp>,
               ProducerPattern<FinishScoresOp>, ProducerPattern<UpdateMaxOp>, ProducerPattern<WeightsOp>,
               ProducerPattern<RoundWeightsOp>, ProducerPattern<FinishAccumulateOp>, ProducerPattern<StoreOp>,
               ProducerPattern<StoreLseOp>, ProducerPattern<StoreWeightsOp>, ProducerPattern<StorePartialOp>>(
      converter, context, lowering);
  scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns, legal);
  return applyPartialConversion(opsOf(block), legal, std::move(patterns), attn::withoutFolding());
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// Two branches without code, for warpgroup 0 and for the others.
static std::pair<Block *, Block *> buildBranches(ImplicitLocOpBuilder &b, const NvvmLowering &lowering) {
  auto branch = [&](arith::CmpIPredicate predicate) {
    Value isMine = arith::CmpIOp::create(b, predicate, lowering.place.thread, i32(b, 128));
    return scf::IfOp::create(b, isMine, /*withElseRegion=*/false).thenBlock();
  };
  Block *producer = branch(arith::CmpIPredicate::ult);
  return {producer, branch(arith::CmpIPredicate::uge)};
}

/// Where the rings' stages and barriers are.
static void placeRings(NvvmLowering &lowering) {
  const KernelShape &shape = lowering.shape;
  lowering.role.keys = {Value(), shape.barrierOffset, shape.keyOffset, shape.key.bytes()};
  lowering.role.values = {Value(), shape.barrierOffset + 16 * KernelShape::kStages, shape.valueOffset,
                          shape.value.bytes()};
}

/// One arrival of each warp that multiplies gives a stage free.
static void makeBarriers(ImplicitLocOpBuilder &b, const NvvmLowering &lowering) {
  byFirstThread(b, lowering, [&] {
    for (const StageRing *ring : {&lowering.role.keys, &lowering.role.values})
      initBarriers(b, *ring, 4 * lowering.shape.consumers);
    NVVM::FenceMbarrierInitOp::create(b);
  });
  blockBarrier(b);
}

/// Adds arguments for the tensor maps of keys and values that are the kernel's own arguments, and says so to the
/// launch.
static void addTensorMaps(func::FuncOp kernel, NvvmLowering &lowering) {
  Builder builder(kernel.getContext());
  Block &entry = kernel.getBody().front();
  SmallVector<TensorMapAttr> maps;
  auto addMap = [&](Value view, const SharedTile &tile) {
    auto argument = dyn_cast<BlockArgument>(view);
    bool isPossible = argument && argument.getOwner() == &entry &&
                      cast<MemRefType>(view.getType()).isLastDimUnitStride() && !lowering.role.maps.contains(view);
    if (!isPossible)
      return;
    Value map = entry.addArgument(LLVM::LLVMPointerType::get(kernel.getContext()), view.getLoc());
    Value isUsable = entry.addArgument(builder.getI1Type(), view.getLoc());
    lowering.role.maps[view] = {map, isUsable};
    maps.push_back(TensorMapAttr::get(kernel.getContext(), argument.getArgNumber() - 1, tile.rows));
  };
  kernel.walk([&](BeginScoresOp op) { addMap(op.getKey(), lowering.shape.key); });
  kernel.walk([&](BeginAccumulateOp op) { addMap(op.getValue(), lowering.shape.value); });
  kernel.setFunctionType(builder.getFunctionType(entry.getArgumentTypes(), {}));
  describeKernel(kernel, lowering.shape, maps);
}

/// The registers that the role needs: some give up what others take.
static void setRegisters(ImplicitLocOpBuilder &b, const KernelShape &shape, bool isProducer) {
  if (shape.consumers == 2)
    NVVM::SetMaxRegisterOp::create(b, isProducer ? kProducerRegisters : kConsumerRegisters,
                                   isProducer ? NVVM::SetMaxRegisterAction::decrease
                                              : NVVM::SetMaxRegisterAction::increase);
}

static NvvmLowering buildProducer(ImplicitLocOpBuilder &b, const NvvmLowering &kernel) {
  NvvmLowering producer = kernel;
  producer.copyThreads = 128;
  setRegisters(b, kernel.shape, /*isProducer=*/true);
  producer.role.keys.counter = buildCounter(b);
  producer.role.values.counter = buildCounter(b);
  return producer;
}

static NvvmLowering buildConsumer(ImplicitLocOpBuilder &b, const NvvmLowering &kernel) {
  NvvmLowering consumer = kernel;
  consumer.copyThreads = 128 * kernel.shape.consumers;
  setRegisters(b, kernel.shape, /*isProducer=*/false);
  consumer.place.thread = add(b, kernel.place.thread, -128);
  consumer.place.warp = divide(b, consumer.place.thread, 32);
  consumer.role.warpgroup = divide(b, consumer.place.thread, 128);
  consumer.role.keys.counter = buildCounter(b);
  consumer.role.values.counter = buildCounter(b);
  return consumer;
}

/// Has the two warpgroups take turns, from the first tile's keys of warpgroup 0 on.
static void placeTurns(Block *block, const NvvmLowering &lowering) {
  if (lowering.shape.consumers != 2)
    return;
  takeTurns(block->getParentOp());
  block->getParentOp()->walk([&](LoadQueryOp load) {
    // Behind the copy of the query tile, for which both wait.
    ImplicitLocOpBuilder b(load.getLoc(), load->getContext());
    b.setInsertionPointAfter(load);
    auto isWarpgroup = [&](int64_t number) {
      return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lowering.role.warpgroup, i32(b, number));
    };
    auto first = scf::IfOp::create(b, isWarpgroup(1), /*withElseRegion=*/false);
    b.setInsertionPointToStart(first.thenBlock());
    syncAt(b, i32(b, kFirstTurn + 1), 256);
    // What warpgroup 0 does not need any more. Other loops over keys may follow, through which both have to go.
    auto stores = llvm::make_filter_range(*load->getBlock(), llvm::IsaPred<StoreOp, StorePartialOp>);
    b.setInsertionPoint(&*stores.begin());
    auto last = scf::IfOp::create(b, isWarpgroup(0), /*withElseRegion=*/false);
    b.setInsertionPointToStart(last.thenBlock());
    arriveOnlyAt(b, i32(b, kFirstTurn + 1), 256);
  });
}

LogicalResult nvvm::convertRoles(func::FuncOp kernel, NvvmLowering &lowering, ImplicitLocOpBuilder &b) {
  splitProducts(kernel);
  placeRings(lowering);
  addTensorMaps(kernel, lowering);
  makeBarriers(b, lowering);
  auto [producerBlock, consumerBlock] = buildBranches(b, lowering);
  Block &entry = kernel.getBody().front();
  consumerBlock->getOperations().splice(consumerBlock->begin(), entry.getOperations(),
                                        std::next(consumerBlock->getParentOp()->getIterator()),
                                        entry.getTerminator()->getIterator());
  b.setInsertionPointToStart(producerBlock);
  NvvmLowering producer = buildProducer(b, lowering);
  IRMapping map;
  for (Operation &op : consumerBlock->without_terminator())
    b.clone(op, map);
  b.setInsertionPointToStart(consumerBlock);
  NvvmLowering consumer = buildConsumer(b, lowering);
  if (lowering.shape.overlapsProducts())
    turnLoops(consumerBlock->getParentOp());
  placeTurns(consumerBlock, consumer);
  if (failed(convertProducer(producerBlock, producer)))
    return failure();
  return convertTiles(opsOf(consumerBlock), consumer);
}
