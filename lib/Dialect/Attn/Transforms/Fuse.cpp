//===- Fuse.cpp - unfused graphs become attention -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every contraction is asked whether it is a product of attention weights and values (lib/Dialect/Attn/Fusion); what
// matches becomes attn.attention, and the ops that only it used are dead. Each softmax of the function gets one remark.
//
// Cost: one reading of the graph for each contraction whose operand holds a softmax, a look at its operands for others.
//
//===----------------------------------------------------------------------===//

#include "../Fusion/BuildAttention.h"
#include "../Fusion/RegionBuilder.h"
#include "../Fusion/VerifyFusion.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/ManagedStatic.h"

namespace attn {
#define GEN_PASS_DEF_FUSEPASS
#include "Attn/AttnPasses.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;
using namespace attn::fusion;

namespace {

/// What became of a softmax.
struct Outcome {
  bool isFused = false;
  /// The reason is one product's; another one, which contracts another axis, may have a better one.
  bool isOfAxis = false;
  std::string text;
};

/// A graph as the ops of a block read it, until something changes it.
struct Reading {
  explicit Reading(Block &block) : expressions(block.getParentOp()->getContext()), elements(expressions) {
    elements.assumeEqualSizes(block);
  }
  Expressions expressions;
  Elements elements;
};

class FusePass : public attn::impl::FusePassBase<FusePass> {
public:
  using FusePassBase::FusePassBase;
  void runOnOperation() override;

private:
  /// What the tensors are that `op` reads; valid until the next change, after which `readings` must be cleared.
  Elements &getElements(Operation *op) {
    std::shared_ptr<Reading> &reading = readings[op->getBlock()];
    if (!reading)
      reading = std::make_shared<Reading>(*op->getBlock());
    return reading->elements;
  }
  /// Of the softmax that the op stands for, which is noted where it was not known as one.
  Outcome &getOutcome(Operation *op);
  /// Finds the softmaxes of the function, in its order.
  void findSoftmaxes();
  /// Replaces the contraction if it is one of an attention. Fails where verification finds that it is not.
  LogicalResult fuse(Operation *root);
  void eraseDead();
  void raiseSoftmax(Operation *op);
  void report();

  /// Never shared, but passes are copied before they run.
  llvm::DenseMap<Block *, std::shared_ptr<Reading>> readings;
  llvm::MapVector<Operation *, Outcome> softmaxes;
  /// What may be a product with values, and is not looked at yet.
  llvm::SetVector<Operation *> contractions;
  /// The ops that stand for a softmax by now, by the one that stood for it in the graph.
  llvm::DenseMap<Operation *, Operation *> raised;
  /// Their locations, for ops that are gone by the end.
  llvm::DenseMap<Operation *, Location> locations;
};

} // namespace

//===----------------------------------------------------------------------===//
// The flag of the tools
//===----------------------------------------------------------------------===//

namespace {
struct FusionFlags {
  llvm::cl::opt<bool> verify{"attn-verify-fusion",
                             llvm::cl::desc("attn-fuse compares each fusion with its graph, by the reference")};
};
} // namespace

static llvm::ManagedStatic<FusionFlags> fusionFlags;

void attn::registerFusionFlags() { *fusionFlags; }

//===----------------------------------------------------------------------===//
// Who uses what
//===----------------------------------------------------------------------===//

static bool isDead(Operation *user, const llvm::DenseSet<Operation *> &dead) {
  for (Operation *op = user; op; op = op->getParentOp())
    if (dead.contains(op))
      return true;
  return false;
}

/// The loop that `root` is in and `op` is not, outermost; null where there is none.
static Operation *findLoopBetween(Operation *op, Operation *root) {
  Operation *found = nullptr;
  for (Operation *parent = root->getParentOp(); parent && !parent->isAncestor(op); parent = parent->getParentOp())
    found = isa<LoopLikeOpInterface>(parent) ? parent : found;
  return found;
}

/// The ops that nothing needs once `root` is replaced, and `replaced` (null for none) with it: in front of it, also of
/// the branches that it is in, but not of loops, whose bodies would do again what is done once. What `reads` holds is
/// needed.
static llvm::DenseSet<Operation *> findDead(Operation *root, const llvm::DenseSet<Value> &reads = {},
                                            Value replaced = {}) {
  llvm::DenseSet<Operation *> dead = {root};
  auto look = [&](Operation *op) {
    bool isRead = llvm::any_of(op->getResults(), [&](Value result) { return reads.contains(result); });
    bool isUsed = llvm::any_of(op->getResults(), [&](Value result) {
      return result != replaced &&
             llvm::any_of(result.getUsers(), [&](Operation *user) { return !isDead(user, dead); });
    });
    if (!op->getUsers().empty() && isMemoryEffectFree(op) && !isRead && !isUsed)
      dead.insert(op);
  };
  for (Operation *at = root; at && !isa<FunctionOpInterface, LoopLikeOpInterface>(at); at = at->getParentOp())
    for (Operation *op = at->getPrevNode(); op; op = op->getPrevNode())
      look(op);
  return dead;
}

/// The tensors and scalars that the attention reads.
static llvm::DenseSet<Value> findReads(const AttentionMatch &match) {
  llvm::DenseSet<Value> reads = {match.query.tensor, match.key.tensor, match.value.tensor};
  auto add = [&](ExprRef e) {
    if (e)
      walk(e, [&](ExprRef part) {
        if (part->value)
          reads.insert(part->value);
      });
  };
  llvm::for_each(std::array{match.score, match.keep, match.keepIfAny, match.sink}, add);
  for (auto [factor, isDivisor] : match.scale.factors)
    add(factor);
  return reads;
}

static bool dependOn(const llvm::DenseSet<Value> &reads, Value value) {
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  for (Value read : reads)
    if (read.getDefiningOp())
      (void)getBackwardSlice(read, &slice, options);
  return reads.contains(value) || slice.contains(value.getDefiningOp());
}

static Operation *findLiveUser(Value value, const llvm::DenseSet<Operation *> &dead) {
  for (Operation *user : value.getUsers())
    if (!isDead(user, dead))
      return user;
  return nullptr;
}

/// The first tensor of weights that something other than the attention uses, of those that are read whole if there are.
static std::optional<Operand> findUsedWeights(Elements &elements, ExprRef read,
                                              const llvm::DenseSet<Operation *> &dead) {
  std::optional<Operand> found;
  for (const TensorElement &element : elements.findTensors(read)) {
    if (!findLiveUser(element.tensor, dead))
      continue;
    Operand weights{element.tensor, element.indices, {}};
    if (isReadWhole(elements, weights))
      return weights;
    found = found ? found : weights;
  }
  return found;
}

//===----------------------------------------------------------------------===//
// One fusion
//===----------------------------------------------------------------------===//

/// Why the ops of the match cannot go: what else needs them. Empty if nothing does.
static std::string whyNotReplaced(const AttentionMatch &match, const llvm::DenseSet<Value> &reads, Value usedWeights) {
  if (usedWeights && dependOn(reads, usedWeights))
    return "what the attention reads depends on its own weights";
  if (usedWeights && usedWeights.getParentBlock() != match.root->getBlock())
    return "the weights have another user, outside of the branch or loop that they are multiplied in";
  llvm::DenseSet<Operation *> dead = findDead(match.root, reads, usedWeights);
  for (auto [op, name] : {std::pair(match.scoresOp, "scores"), {match.softmax.sum, "sums of the softmax"}}) {
    if (dead.contains(op))
      continue;
    if (findLoopBetween(op, match.root))
      return llvm::formatv("the {0} are computed outside of the loop that uses them", name);
    Operation *user = findLiveUser(op->getResult(0), dead);
    if (!user)
      return llvm::formatv("the attention would read {0} at other places of the row", name);
    return llvm::formatv("the {0} have another user, '{1}'", name, user->getName().getStringRef());
  }
  return {};
}

/// With as many digits as tell it from its neighbours in the type of the scores.
static std::string printConstant(double constant, FloatType type) {
  APFloat value(constant);
  bool losesInfo = false;
  value.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  SmallString<32> text;
  value.toString(text);
  return std::string(text);
}

static std::string describe(const AttentionMatch &match, AttentionOp op) {
  std::string text = "fused into attention: scale ";
  text += match.scale.factors.empty() ? printConstant(match.scale.constant, match.scoreType) : "at run time";
  if (match.roles.numKvHead < match.roles.head.size())
    text += ", grouped heads";
  if (!op.getScoreRegion().empty())
    text += ", score function";
  if (!op.getMaskRegion().empty())
    text += ", mask";
  if (op.getSink())
    text += ", sink";
  if (op.getWeights())
    text += ", weights as a result";
  if (match.softmax.hasGuard)
    text += ", guard of rows without a key";
  for (const std::string &note : match.notes)
    text += "; " + note;
  return text;
}

/// Erases the ops that nothing uses, the last first.
void FusePass::eraseDead() {
  getOperation().walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
    if (!isOpTriviallyDead(op))
      return;
    contractions.remove(op);
    op->erase();
  });
}

LogicalResult FusePass::fuse(Operation *root) {
  Elements &elements = getElements(root);
  Miss miss;
  SoftmaxOptions options{allowUnshiftedExp, leastCheckedKeys};
  llvm::DenseSet<Operation *> dead = findDead(root);
  auto findWeights = [&](ExprRef weights) { return findUsedWeights(elements, weights, dead); };
  FailureOr<AttentionMatch> match = matchAttention(elements, root, options, findWeights, miss);
  if (failed(match)) {
    if (!miss.sum)
      return success();
    Outcome &outcome = getOutcome(miss.sum);
    if (!outcome.isFused && (outcome.text.empty() || (outcome.isOfAxis && !miss.isOfAxis)))
      outcome = {false, miss.isOfAxis, miss.reason};
    return success();
  }
  Value usedWeights = match->weights ? match->weights->tensor : Value();
  llvm::DenseSet<Value> reads = findReads(*match);
  if (std::string text = whyNotReplaced(*match, reads, usedWeights); !text.empty()) {
    getOutcome(match->softmax.sum) = {false, false, text};
    return success();
  }
  dead = findDead(root, reads, usedWeights);
  BuiltAttention built = buildAttention(elements, *match);
  bool isVerified = verify || (fusionFlags.isConstructed() && fusionFlags->verify);
  if (isVerified && failed(verifyFusion(elements, *match, built)))
    return failure();
  getOutcome(match->softmax.sum) = {true, false, describe(*match, built.op)};
  readings.clear();
  Block *block = root->getBlock();
  root->getResult(0).replaceAllUsesWith(built.out);
  if (built.weights) {
    match->weights->tensor.replaceUsesWithIf(built.weights,
                                             [&](OpOperand &use) { return !isDead(use.getOwner(), dead); });
    // Users of the weights may stand in front of the product with the values.
    eraseDead();
    sortTopologically(block);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Sizes of tensors that ops make, from what makes them: asking for one is no use of a tensor.
static void resolveSizes(func::FuncOp function) {
  Expressions expressions(function.getContext());
  Elements elements(expressions);
  SmallVector<tensor::DimOp> dims;
  function.walk([&](tensor::DimOp op) {
    if (op.getSource().getDefiningOp() && fusion::isSizeOfDimension(op) && !isa<linalg::LinalgOp>(op->getParentOp()))
      dims.push_back(op);
  });
  for (tensor::DimOp op : dims) {
    ExprRef size = elements.readSize(op.getSource(), *op.getConstantIndex());
    bool isOwn = size->is(Expr::Kind::Size) && size->value == op.getSource();
    ImplicitLocOpBuilder builder(op.getLoc(), op);
    if (isOwn)
      continue;
    op.replaceAllUsesWith(RegionBuilder(builder, expressions).build(size, builder.getIndexType()));
    op.erase();
  }
}

/// An elementwise op that may end a softmax, or a product with values: a quotient, a product with a reciprocal, a
/// select, an exponential, converted or not.
static bool isElementwiseEnd(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (op->getNumResults() == 1 && isa<RankedTensorType>(op->getResult(0).getType()) &&
      isa<arith::DivFOp, arith::MulFOp, arith::SelectOp, math::ExpOp>(op))
    return true;
  if (!linalgOp || linalgOp.getNumReductionLoops() != 0 || !linalgOp.getBlock() || op->getNumResults() != 1)
    return false;
  Operation *last = linalgOp.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
  while (isa_and_present<arith::TruncFOp, arith::ExtFOp>(last))
    last = last->getOperand(0).getDefiningOp();
  return isa_and_present<arith::DivFOp, arith::MulFOp, arith::SelectOp, math::ExpOp>(last);
}

Outcome &FusePass::getOutcome(Operation *op) {
  if (Operation *original = raised.lookup(op))
    return softmaxes[original];
  locations.insert({op, op->getLoc()});
  return softmaxes[op];
}

/// True if a result of the op is a sum of exponentials.
static bool sumsExponentials(Elements &elements, Operation *op) {
  return llvm::any_of(op->getResults(), [&](OpResult result) {
    auto indices = elements.makeResultIndices(op, result.getResultNumber());
    return indices && findExponentialSum(elements, elements.expressions.element(result, *indices));
  });
}

void FusePass::findSoftmaxes() {
  getOperation().walk([&](Operation *op) {
    if (llvm::none_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>))
      return;
    Elements &elements = getElements(op);
    auto indices = isElementwiseEnd(op) ? elements.makeResultIndices(op) : std::nullopt;
    if (Operation *folded = indices ? findFoldedSoftmax(elements, elements.read(op->getResult(0), *indices)) : nullptr)
      getOutcome(folded);
    bool isOp = isa<SoftmaxOp, linalg::SoftmaxOp>(op) && op->getNumResults() == 1;
    if (isOp || sumsExponentials(elements, op))
      getOutcome(op);
  });
}

/// The scores of a softmax as a tensor with the given indices; null where there is none.
static Value findScores(const Elements &elements, const Softmax &softmax, ArrayRef<ExprRef> indices) {
  for (const TensorElement &element : elements.findTensors(softmax.scores))
    if (ArrayRef<ExprRef>(element.indices) == indices)
      return element.tensor;
  return {};
}

/// Makes an elementwise op that ends a softmax which is not fused an attn.softmax.
void FusePass::raiseSoftmax(Operation *op) {
  Elements &elements = getElements(op);
  auto indices = elements.makeResultIndices(op);
  if (!indices)
    return;
  ExprRef weights = elements.read(op->getResult(0), *indices);
  for (auto [axis, key] : llvm::enumerate(*indices)) {
    Miss miss;
    if (!key->is(Expr::Kind::Dim))
      continue;
    auto softmax = matchSoftmax(elements, weights, key, {}, miss);
    if (failed(softmax) || !softmax->sinks.empty() || softmax->keptWhere || softmax->factor != 1 || softmax->sum == op)
      continue;
    Value scores = findScores(elements, *softmax, *indices);
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    if (!scores || (getElementTypeOrSelf(scores) != type.getElementType() && !type.getElementType().isF32()))
      return;
    OpBuilder builder(op);
    Value out = tensor::EmptyOp::create(builder, op->getLoc(), tensor::getMixedSizes(builder, op->getLoc(), scores),
                                        type.getElementType());
    auto whole = SoftmaxOp::create(builder, op->getLoc(), out.getType(), scores, out, builder.getI64IntegerAttr(axis));
    // Scores and weights need not leave the same sizes open.
    Value result = whole.getResult();
    if (type != result.getType())
      result = tensor::CastOp::create(builder, op->getLoc(), type, result);
    op->getResult(0).replaceAllUsesWith(result);
    readings.clear();
    Outcome &outcome = getOutcome(softmax->sum);
    // With its guard it may be raised once more.
    bool isFirst = !raised.contains(softmax->sum);
    raised[whole] = isFirst ? softmax->sum : raised.lookup(softmax->sum);
    outcome.text = outcome.text.empty() ? "no product with values reads the weights" : outcome.text;
    outcome.text += isFirst ? "; it is attn.softmax now, which gives 0 for rows of -inf" : "";
    return;
  }
}

void FusePass::report() {
  for (auto &[op, outcome] : softmaxes) {
    remark::RemarkOpts options = remark::RemarkOpts::name("attn-fuse").category("attn");
    Location location = locations.at(op);
    if (outcome.isFused)
      remark::passed(location, options) << outcome.text;
    else
      remark::missed(location, options) << "not fused: " + (outcome.text.empty()
                                                                ? "no product with values reads the weights"
                                                                : outcome.text);
  }
}

static bool mayBeRoot(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return isa<MatmulOp>(op) || (linalgOp && linalgOp.getNumReductionLoops() != 0) || isElementwiseEnd(op);
}

void FusePass::runOnOperation() {
  softmaxes.clear();
  locations.clear();
  raised.clear();
  readings.clear();
  findSoftmaxes();
  readings.clear();
  if (softmaxes.empty())
    return;
  resolveSizes(getOperation());
  getOperation().walk([](MaskOp op) { expandNamed(op); });
  contractions.clear();
  getOperation().walk([&](Operation *op) {
    if (mayBeRoot(op) && !softmaxes.contains(op))
      contractions.insert(op);
  });
  bool isRight = true;
  while (isRight && !contractions.empty()) {
    Operation *first = contractions.front();
    contractions.remove(first);
    isRight = succeeded(fuse(first));
  }
  // What was built and not committed goes, too.
  readings.clear();
  eraseDead();
  if (!isRight)
    return signalPassFailure();
  SmallVector<Operation *> ends;
  getOperation().walk([&](Operation *op) {
    if (isElementwiseEnd(op))
      ends.push_back(op);
  });
  if (llvm::any_of(softmaxes, [](auto &entry) { return !entry.second.isFused; }))
    for (Operation *op : ends)
      raiseSoftmax(op);
  readings.clear();
  eraseDead();
  report();
}
