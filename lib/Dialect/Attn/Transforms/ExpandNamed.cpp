//===- ExpandNamed.cpp - named masks and score functions into regions --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each named mask or score function builds its operations at the front of the region (NamedModInterface::buildMod).
// Named scores come first, in written order: the last one takes the place of the region's own score argument. Masks are
// anded with what the region yields. What no index reaches (sizes, offsets of diagonals) moves in front of the op, what
// nothing uses goes. One visit of each op; linear in the size of its regions.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace attn {
#define GEN_PASS_DEF_EXPANDNAMEDPASS
#include "Attn/AttnPasses.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {

/// The sizes that named masks and score functions may ask for, as index values in front of the op.
struct Sizes {
  Value batch, heads, queryLen, kvLen;
  /// Null, or one length for each batch entry, which then is kvLen.
  Value kvLengths;

  /// The full size along one of the letters b, h, i, j.
  Value along(char letter) const {
    return letter == 'b' ? batch : letter == 'h' ? heads : letter == 'i' ? queryLen : kvLen;
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Sizes and their checks, in front of the op
//===----------------------------------------------------------------------===//

/// A size that the types tell, or else that of `shaped` along a letter of its layout, which then has that letter.
static Value sizeAlong(ImplicitLocOpBuilder &builder, int64_t known, Value shaped, AffineMap layout, LayoutDim dim) {
  if (!ShapedType::isDynamic(known))
    return arith::ConstantIndexOp::create(builder, known);
  return getDimension(builder, shaped, *findLayoutDim(layout, dim));
}

static Sizes getSizes(ImplicitLocOpBuilder &builder, AttentionOp op) {
  AttentionDims dims = op.getDims();
  AffineMap query = op.getQueryMap(), key = op.getKeyMap();
  return {sizeAlong(builder, dims.batch, op.getQuery(), query, kBatchDim),
          sizeAlong(builder, dims.heads, op.getQuery(), query, kHeadDim),
          sizeAlong(builder, dims.queryLen, op.getQuery(), query, kLengthDim),
          sizeAlong(builder, dims.kvLen, op.getKey(), key, kLengthDim), op.getKvLengths()};
}

static Sizes getSizes(ImplicitLocOpBuilder &builder, MaskOp op) {
  Value sizes[4];
  for (int64_t k = 0; k < 4; ++k) {
    int64_t out = cast<ShapedType>(op.getOut().getType()).getDimSize(k);
    bool fromOut = !ShapedType::isDynamic(out);
    sizes[k] = getDimension(builder, fromOut ? op.getOut() : op.getInput(), k);
  }
  return {sizes[0], sizes[1], sizes[2], sizes[3], Value()};
}

static Sizes getSizes(ImplicitLocOpBuilder &, ClassifyTilesOp op) {
  return {op.getBatch(), op.getHeads(), op.getQueryLen(), op.getKvLen(), op.getKvLengths()};
}

static StringRef dimensionName(char letter) {
  return letter == 'b' ? "batch" : letter == 'h' ? "heads" : letter == 'i' ? "queryLen" : "kvLen";
}

namespace {
/// A captured operand: which one of its mod.
struct Capture {
  NamedModInterface mod;
  unsigned number;
  Value value;

  /// "the operand of 'alibi'".
  std::string text() const {
    std::string which = mod.getNumCaptures() > 1 ? "operand " + std::to_string(number) : "the operand";
    return which + " of '" + mod.getKeyword().str() + "'";
  }
};
} // namespace

static bool isStatic(Value shaped, int64_t dimension) {
  return !cast<ShapedType>(shaped.getType()).isDynamicDim(dimension);
}

static Value isEqual(ImplicitLocOpBuilder &builder, Value lhs, Value rhs) {
  return arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, lhs, rhs);
}

/// Checks one dimension of a captured operand at run time, unless the types have settled it: it has the full size,
/// which is `name`, or is 1 if it broadcasts.
static void checkDimension(ImplicitLocOpBuilder &builder, const Capture &capture, int64_t dimension, StringRef name,
                           Value full) {
  int64_t size = cast<ShapedType>(capture.value.getType()).getDimSize(dimension);
  bool broadcasts = capture.mod.captureBroadcasts();
  if ((size == 1 && broadcasts) || (isStatic(capture.value, dimension) && getConstantIntValue(full)))
    return;
  Value actual = getDimension(builder, capture.value, dimension);
  Value holds = isEqual(builder, actual, full);
  // A static size other than 1 has only the full size left.
  bool mayBeOne = broadcasts && ShapedType::isDynamic(size);
  if (mayBeOne) {
    Value isOne = isEqual(builder, actual, arith::ConstantIndexOp::create(builder, 1));
    holds = arith::OrIOp::create(builder, isOne, holds);
  }
  std::string message =
      ("expects dimension " + Twine(dimension) + " of " + capture.text() + " to be " + (mayBeOne ? "1 or " : "") + name)
          .str();
  cf::AssertOp::create(builder, holds, message);
}

static void checkCapture(ImplicitLocOpBuilder &builder, Capture capture, const Sizes &sizes) {
  unsigned rank = cast<ShapedType>(capture.value.getType()).getRank();
  for (auto [k, letter] : llvm::enumerate(capture.mod.getCaptureLetters(capture.number, rank))) {
    if (letter != '*') {
      checkDimension(builder, capture, k, dimensionName(letter), sizes.along(letter));
      continue;
    }
    int64_t size = capture.mod.getCaptureSize(capture.number);
    if (!ShapedType::isDynamic(size))
      checkDimension(builder, capture, k, std::to_string(size), arith::ConstantIndexOp::create(builder, size));
  }
}

/// Checks at run time that queryLen and kvLen are what the mod is defined for.
static void checkLength(ImplicitLocOpBuilder &builder, NamedModInterface mod, const Sizes &sizes) {
  int64_t length = mod.getLength();
  if (ShapedType::isDynamic(length))
    return;
  for (char letter : {'i', 'j'}) {
    if (getConstantIntValue(sizes.along(letter)))
      continue;
    Value holds = isEqual(builder, sizes.along(letter), arith::ConstantIndexOp::create(builder, length));
    std::string message =
        ("expects " + dimensionName(letter) + " to be " + Twine(length) + " for '" + mod.getKeyword() + "'").str();
    cf::AssertOp::create(builder, holds, message);
  }
}

static void checkMods(ImplicitLocOpBuilder &builder, ArrayAttr mods, OperandRange captures, const Sizes &sizes) {
  unsigned next = 0;
  for (auto mod : mods.getAsRange<NamedModInterface>()) {
    checkLength(builder, mod, sizes);
    for (unsigned k = 0; k < mod.getNumCaptures(); ++k)
      checkCapture(builder, {mod, k, captures[next++]}, sizes);
  }
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// The block of a region, made with arguments of the given types where the op has no such region yet.
static Block &getOrCreateBlock(Region &region, TypeRange types, Location loc) {
  if (region.empty())
    region.emplaceBlock().addArguments(types, SmallVector<Location>(types.size(), loc));
  return region.front();
}

/// The values that a mask or score function builds on; `indices` are the arguments b, h, i, j of the region.
static ModValues getModValues(ImplicitLocOpBuilder &builder, const Sizes &sizes, ValueRange indices) {
  ModValues values;
  values.b = indices[0];
  values.h = indices[1];
  values.i = indices[2];
  values.j = indices[3];
  values.queryLen = sizes.queryLen;
  values.kvLen = sizes.kvLen;
  if (!sizes.kvLengths)
    return values;
  values.kvLen = readElement(builder, sizes.kvLengths, values.b);
  if (!values.kvLen.getType().isIndex())
    values.kvLen = arith::IndexCastOp::create(builder, builder.getIndexType(), values.kvLen);
  return values;
}

/// True for a pure operation whose operands are all from outside its block, constants in it aside.
static bool isInvariant(Operation &op) {
  return !op.hasTrait<OpTrait::ConstantLike>() && op.getNumOperands() != 0 && isPure(&op) &&
         llvm::all_of(op.getOperands(), [&](Value operand) {
           return operand.getParentBlock() != op.getBlock() || matchPattern(operand, m_Constant());
         });
}

/// Moves in front of the parent what no index reaches, and drops what nothing uses, among the operations built at the
/// front of the block: those before `end` (null for all).
static void tidyFront(Block &block, Operation *end) {
  SmallVector<Operation *> built;
  for (Operation &op : block) {
    if (&op == end)
      break;
    built.push_back(&op);
  }
  OpBuilder outside(block.getParentOp());
  for (Operation *op : built) {
    if (!isInvariant(*op))
      continue;
    for (OpOperand &operand : op->getOpOperands())
      if (operand.get().getParentBlock() == &block)
        operand.set(outside.clone(*operand.get().getDefiningOp())->getResult(0));
    op->moveBefore(block.getParentOp());
  }
  for (Operation *op : llvm::reverse(built))
    if (op->use_empty() && !op->hasTrait<OpTrait::IsTerminator>())
      op->erase();
}

/// Builds the score functions at the front of the score region and lets the rest of it go on from their result.
static void expandScores(AttentionOp op, const Sizes &sizes) {
  Type index = IndexType::get(op.getContext());
  Region &region = op.getScoreRegion();
  Block &block = getOrCreateBlock(region, {op.getScoreType(), index, index, index, index}, op.getLoc());
  Operation *end = block.empty() ? nullptr : &block.front();
  Value score = block.getArgument(0);
  SmallVector<OpOperand *> uses = llvm::map_to_vector(score.getUses(), [](OpOperand &use) { return &use; });

  ImplicitLocOpBuilder builder(op.getLoc(), &block, block.begin());
  ModValues values = getModValues(builder, sizes, block.getArguments().drop_front());
  values.score = score;
  unsigned next = 0;
  for (auto mod : op.getScores()->getAsRange<NamedModInterface>()) {
    values.score = mod.buildMod(builder, values, op.getScoreCaptures().slice(next, mod.getNumCaptures()));
    next += mod.getNumCaptures();
  }
  if (!end)
    end = YieldOp::create(builder, values.score);
  for (OpOperand *use : uses)
    use->set(values.score);
  tidyFront(block, end);
}

/// Builds the masks at the front of the mask region and ands them with what it yields.
static void expandMasks(Operation *op, Region &region, ArrayAttr masks, OperandRange captures, const Sizes &sizes) {
  SmallVector<Type> types(4, IndexType::get(op->getContext()));
  Block &block = getOrCreateBlock(region, types, op->getLoc());
  Operation *end = block.empty() ? nullptr : &block.front();

  ImplicitLocOpBuilder builder(op->getLoc(), &block, block.begin());
  ModValues values = getModValues(builder, sizes, block.getArguments());
  Value keep;
  unsigned next = 0;
  for (auto mod : masks.getAsRange<NamedModInterface>()) {
    Value mask = mod.buildMod(builder, values, captures.slice(next, mod.getNumCaptures()));
    next += mod.getNumCaptures();
    keep = keep ? arith::AndIOp::create(builder, keep, mask) : mask;
  }
  if (!end) {
    end = YieldOp::create(builder, keep);
  } else {
    Operation *yield = block.getTerminator();
    builder.setInsertionPoint(yield);
    yield->setOperand(0, arith::AndIOp::create(builder, keep, yield->getOperand(0)));
  }
  tidyFront(block, end);
}

/// Drops the sizes that nothing asked for, between `first` (null for the start of the block) and the op.
static void eraseUnusedSizes(Operation *first, Operation *op) {
  for (Operation *size = op->getPrevNode(); size != first;) {
    Operation *previous = size->getPrevNode();
    if (isOpTriviallyDead(size))
      size->erase();
    size = previous;
  }
}

static bool isEmpty(std::optional<ArrayAttr> mods) { return !mods || mods->empty(); }

void attn::expandNamed(AttentionOp op) {
  if (!isEmpty(op.getScores()) || !isEmpty(op.getMasks())) {
    Operation *first = op->getPrevNode();
    ImplicitLocOpBuilder builder(op.getLoc(), op);
    Sizes sizes = getSizes(builder, op);
    if (!isEmpty(op.getScores())) {
      checkMods(builder, op.getScoresAttr(), op.getScoreCaptures(), sizes);
      expandScores(op, sizes);
    }
    if (!isEmpty(op.getMasks())) {
      checkMods(builder, op.getMasksAttr(), op.getMaskCaptures(), sizes);
      expandMasks(op, op.getMaskRegion(), op.getMasksAttr(), op.getMaskCaptures(), sizes);
    }
    eraseUnusedSizes(first, op);
  }
  op.removeScoresAttr();
  op.removeMasksAttr();
  op.getScoreCapturesMutable().clear();
  op.getMaskCapturesMutable().clear();
}

/// Expands the masks of an op that has no scores.
template <typename OpTy> static void expandMasksOf(OpTy op) {
  if (!isEmpty(op.getMasks())) {
    Operation *first = op->getPrevNode();
    ImplicitLocOpBuilder builder(op.getLoc(), op);
    Sizes sizes = getSizes(builder, op);
    checkMods(builder, op.getMasksAttr(), op.getMaskCaptures(), sizes);
    expandMasks(op, op.getMaskRegion(), op.getMasksAttr(), op.getMaskCaptures(), sizes);
    eraseUnusedSizes(first, op);
  }
  op.removeMasksAttr();
  op.getMaskCapturesMutable().clear();
}

void attn::expandNamed(MaskOp op) { expandMasksOf(op); }
void attn::expandNamed(ClassifyTilesOp op) { expandMasksOf(op); }

/// The formula of the op's description.
static void expandSize(TileClassesSizeOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(b, value); };
  auto times = [&](Value x, Value y) -> Value { return arith::MulIOp::create(b, x, y); };
  auto plus = [&](Value x, Value y) -> Value { return arith::AddIOp::create(b, x, y); };
  auto tiles = [&](Value size, int64_t tile) -> Value { return arith::CeilDivUIOp::create(b, size, constant(tile)); };
  Value row = plus(constant(1), times(constant(2), tiles(op.getKvLen(), op.getKvTile())));
  Value rows = times(times(op.getBatch(), op.getHeads()), tiles(op.getQueryLen(), op.getQueryTile()));
  op.replaceAllUsesWith(plus(plus(constant(kFirstLengthWord), op.getBatch()), times(rows, row)));
  op.erase();
}

namespace {

struct ExpandNamed : attn::impl::ExpandNamedPassBase<ExpandNamed> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      if (auto attention = dyn_cast<AttentionOp>(op))
        expandNamed(attention);
      else if (auto mask = dyn_cast<MaskOp>(op))
        expandNamed(mask);
      else if (auto classify = dyn_cast<ClassifyTilesOp>(op))
        expandNamed(classify);
      else if (auto size = dyn_cast<TileClassesSizeOp>(op))
        expandSize(size);
    });
  }
};

} // namespace
