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
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Remarks.h"
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
  std::string text;
};

class FusePass : public attn::impl::FusePassBase<FusePass> {
public:
  using FusePassBase::FusePassBase;
  void runOnOperation() override;

private:
  /// Finds the softmaxes of the function, in its order.
  void findSoftmaxes();
  /// Replaces the contraction if it is one of an attention. Fails where verification finds that it is not.
  LogicalResult fuse(Operation *root);
  void report();

  llvm::MapVector<Operation *, Outcome> softmaxes;
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

static bool isDead(Operation *user, Block *block, const llvm::DenseSet<Operation *> &dead) {
  Operation *ancestor = block->findAncestorOpInBlock(*user);
  return ancestor && dead.contains(ancestor);
}

/// The ops of the block that nothing needs once `roots` are replaced.
static llvm::DenseSet<Operation *> findDead(Operation *root) {
  llvm::DenseSet<Operation *> dead = {root};
  for (Operation *op = root->getPrevNode(); op; op = op->getPrevNode())
    if (!op->getUsers().empty() && isMemoryEffectFree(op) &&
        llvm::all_of(op->getUsers(), [&](Operation *user) { return isDead(user, root->getBlock(), dead); }))
      dead.insert(op);
  return dead;
}

static Operation *findLiveUser(Value value, const llvm::DenseSet<Operation *> &dead) {
  Block *block = value.getParentBlock();
  for (Operation *user : value.getUsers())
    if (!isDead(user, block, dead))
      return user;
  return nullptr;
}

/// The first tensor of weights that is read whole, if something other than the attention uses it.
static std::optional<Operand> findUsedWeights(Elements &elements, ExprRef read,
                                              const llvm::DenseSet<Operation *> &dead) {
  for (const TensorElement &element : elements.findTensors(read)) {
    if (!findLiveUser(element.tensor, dead))
      continue;
    Operand weights{element.tensor, element.indices, {}};
    return weights;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// One fusion
//===----------------------------------------------------------------------===//

static std::string describe(const AttentionMatch &match, AttentionOp op) {
  std::string text = "fused into attention: scale ";
  text += match.scale.factors.empty() ? llvm::formatv("{0}", match.scale.constant).str() : std::string("at run time");
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
static void eraseDead(func::FuncOp function) {
  function.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
}

LogicalResult FusePass::fuse(Operation *root) {
  Expressions expressions(&getContext());
  Elements elements(expressions);
  elements.assumeEqualSizes(getOperation());
  Miss miss;
  SoftmaxOptions options{allowUnshiftedExp};
  llvm::DenseSet<Operation *> dead = findDead(root);
  auto findWeights = [&](ExprRef weights) { return findUsedWeights(elements, weights, dead); };
  FailureOr<AttentionMatch> match = matchAttention(elements, root, options, findWeights, miss);
  if (failed(match)) {
    if (miss.sum && !softmaxes[miss.sum].isFused && softmaxes[miss.sum].text.empty())
      softmaxes[miss.sum].text = miss.reason;
    return success();
  }
  Operation *user = match->weights || dead.contains(match->scoresOp)
                        ? nullptr
                        : findLiveUser(match->scoresOp->getResult(0), dead);
  if (user) {
    softmaxes[match->softmax.sum].text =
        llvm::formatv("the scores have another user, '{0}'", user->getName().getStringRef());
    return success();
  }
  BuiltAttention built = buildAttention(elements, *match);
  bool isVerified = verify || (fusionFlags.isConstructed() && fusionFlags->verify);
  if (isVerified && failed(verifyFusion(elements, *match, built)))
    return failure();
  softmaxes[match->softmax.sum] = {true, describe(*match, built.op)};
  Block *block = root->getBlock();
  root->getResult(0).replaceAllUsesWith(built.out);
  if (built.weights) {
    match->weights->tensor.replaceUsesWithIf(
        built.weights, [&](OpOperand &use) { return !isDead(use.getOwner(), block, dead); });
    // Users of the weights may stand in front of the product with the values.
    eraseDead(getOperation());
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
    if (op.getSource().getDefiningOp() && op.getConstantIndex() && op->getParentOp() == function)
      dims.push_back(op);
  });
  for (tensor::DimOp op : dims) {
    ExprRef size = elements.readSize(op.getSource(), *op.getConstantIndex());
    bool isOwn = size->is(Expr::Kind::Size) && size->value == op.getSource();
    ImplicitLocOpBuilder builder(op.getLoc(), op);
    if (isOwn)
      continue;
    op.replaceAllUsesWith(RegionBuilder(builder, expressions, {}).build(size, builder.getIndexType()));
    op.erase();
  }
}

void FusePass::findSoftmaxes() {
  Expressions expressions(&getContext());
  Elements elements(expressions);
  elements.assumeEqualSizes(getOperation());
  getOperation().walk([&](Operation *op) {
    auto indices = elements.makeResultIndices(op);
    bool isOp = isa<SoftmaxOp, linalg::SoftmaxOp>(op) && op->getNumResults() == 1;
    if (!isOp && (!indices || !findExponentialSum(elements, expressions.element(op->getResult(0), *indices))))
      return;
    softmaxes[op] = {};
    locations.insert({op, op->getLoc()});
  });
}

void FusePass::report() {
  for (auto &[op, outcome] : softmaxes) {
    remark::RemarkOpts options = remark::RemarkOpts::name("attn-fuse").category("attn");
    Location location = locations.at(op);
    if (outcome.isFused)
      remark::passed(location, options) << outcome.text;
    else
      remark::missed(location, options)
          << "not fused: " + (outcome.text.empty() ? "no product with values reads the weights" : outcome.text);
  }
}

void FusePass::runOnOperation() {
  softmaxes.clear();
  locations.clear();
  findSoftmaxes();
  if (softmaxes.empty())
    return;
  resolveSizes(getOperation());
  getOperation().walk([](MaskOp op) { expandNamed(op); });
  SmallVector<Operation *> contractions;
  getOperation().walk([&](Operation *op) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if ((isa<MatmulOp>(op) || (linalgOp && linalgOp.getNumReductionLoops() != 0)) && !softmaxes.contains(op))
      contractions.push_back(op);
  });
  bool isRight = llvm::all_of(contractions, [&](Operation *op) { return succeeded(fuse(op)); });
  // What was built and not committed goes, too.
  eraseDead(getOperation());
  if (!isRight)
    return signalPassFailure();
  report();
}
