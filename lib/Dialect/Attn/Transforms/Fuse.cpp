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
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"

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
  /// True if the contraction was replaced.
  bool fuse(linalg::LinalgOp root);
  void report();

  llvm::MapVector<Operation *, Outcome> softmaxes;
  /// Their locations, for ops that are gone by the end.
  llvm::DenseMap<Operation *, Location> locations;
};

} // namespace

//===----------------------------------------------------------------------===//
// Who uses what
//===----------------------------------------------------------------------===//

/// The ops of the block that nothing needs once `roots` are replaced.
static llvm::DenseSet<Operation *> findDead(Operation *root) {
  llvm::DenseSet<Operation *> dead = {root};
  for (Operation *op = root->getPrevNode(); op; op = op->getPrevNode())
    if (!op->getUsers().empty() && isMemoryEffectFree(op) &&
        llvm::all_of(op->getUsers(), [&](Operation *user) {
          Operation *ancestor = root->getBlock()->findAncestorOpInBlock(*user);
          return ancestor && dead.contains(ancestor);
        }))
      dead.insert(op);
  return dead;
}

static Operation *findLiveUser(Value value, const llvm::DenseSet<Operation *> &dead) {
  for (Operation *user : value.getUsers())
    if (!dead.contains(user))
      return user;
  return nullptr;
}

/// The first tensor of weights that is read whole, if something other than the attention uses it.
static std::optional<Operand> findUsedWeights(Elements &elements, const AttentionMatch &match,
                                              const llvm::DenseSet<Operation *> &dead) {
  for (const TensorElement &element : elements.findTensors(match.softmax.weights)) {
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

bool FusePass::fuse(linalg::LinalgOp root) {
  Expressions expressions(&getContext());
  Elements elements(expressions);
  Miss miss;
  SoftmaxOptions options{allowUnshiftedExp};
  FailureOr<AttentionMatch> match = matchAttention(elements, root, options, miss);
  if (failed(match)) {
    if (miss.sum && !softmaxes[miss.sum].isFused && softmaxes[miss.sum].text.empty())
      softmaxes[miss.sum].text = miss.reason;
    return false;
  }
  llvm::DenseSet<Operation *> dead = findDead(root);
  match->weights = findUsedWeights(elements, *match, dead);
  Operation *user = match->weights || dead.contains(match->scoresOp)
                        ? nullptr
                        : findLiveUser(match->scoresOp->getResult(0), dead);
  if (user) {
    softmaxes[match->softmax.sum].text =
        llvm::formatv("the scores have another user, '{0}'", user->getName().getStringRef());
    return false;
  }
  BuiltAttention built = buildAttention(elements, *match);
  softmaxes[match->softmax.sum] = {true, describe(*match, built.op)};
  root->getResult(0).replaceAllUsesWith(built.out);
  if (built.weights)
    match->weights->tensor.replaceUsesWithIf(built.weights, [&](OpOperand &use) { return !dead.contains(use.getOwner()); });
  return true;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

void FusePass::findSoftmaxes() {
  Expressions expressions(&getContext());
  Elements elements(expressions);
  getOperation().walk([&](linalg::LinalgOp op) {
    if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() == 0)
      return;
    SmallVector<ExprRef> loops = elements.makeLoops(op), indices;
    for (AffineExpr expr : op.getMatchingIndexingMap(op.getDpsInitOperand(0)).getResults()) {
      indices.push_back(elements.evaluate(expr, loops));
      if (!indices.back())
        return;
    }
    if (!findExponentialSum(elements, expressions.element(op->getResult(0), indices)))
      return;
    softmaxes[op] = {};
    locations.insert({op, op.getLoc()});
  });
}

/// Erases the ops that nothing uses, the last first.
static void eraseDead(func::FuncOp function) {
  function.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
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
  SmallVector<linalg::LinalgOp> contractions;
  getOperation().walk([&](linalg::LinalgOp op) {
    if (op.hasPureTensorSemantics() && op.getNumReductionLoops() != 0 && !softmaxes.contains(op))
      contractions.push_back(op);
  });
  for (linalg::LinalgOp op : contractions)
    fuse(op);
  eraseDead(getOperation());
  report();
}
