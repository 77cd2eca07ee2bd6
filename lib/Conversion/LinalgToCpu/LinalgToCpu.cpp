//===- LinalgToCpu.cpp - linalg around attention to vector code ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix products become blocked loops (Contraction.cpp), all other ops loops on lanes (LoopNest.cpp), and what neither
// takes plain loops: upstream's function for one op, since its pass folds everything around. Sizes come from
// attn/Target/LoopModel.h.
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"
#include "LoopPlan.h"
#include "attn/Conversion/Passes.h"
#include "attn/Target/TargetDescription.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"

#define DEBUG_TYPE "convert-linalg-to-cpu"

namespace attn {
#define GEN_PASS_DEF_CONVERTLINALGTOCPUPASS
#include "Conversion/ConversionPasses.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;
using namespace attn::loops;

static std::string extentText(int64_t extent) { return extent < 0 ? "?" : std::to_string(extent); }

static void emitContractionRemark(Operation *op, const ContractionQuery &query, const ContractionSizes &sizes) {
  std::string message = llvm::formatv(
      "matrix product {0} x {1} x {2} (m, n, k), {3} of them: register blocks of {4} x {5}, items of {6} x "
      "{7}; ",
      extentText(query.m), extentText(query.n), extentText(query.k), extentText(query.outer), sizes.blockRows,
      sizes.lanes, sizes.tileRows, sizes.tileColumns);
  message += sizes.packsRight ? llvm::formatv("the right operand is copied, {0} of k at a time", sizes.depth).str()
                              : "the right operand is read in place, since few rows use it";
  message += sizes.isParallel ? "; in parallel" : "; on the caller's thread, since it is small";
  remark::passed(op->getLoc(), remark::RemarkOpts::name(DEBUG_TYPE).category("attn")) << message;
}

/// True if the op was replaced by blocked loops.
static bool convertContraction(linalg::LinalgOp op, const TargetDescription &target) {
  std::optional<ContractionDims> dims = matchContraction(op);
  if (!dims)
    return false;
  ContractionQuery query = queryOf(op, *dims);
  ContractionSizes sizes = chooseContraction(target, query);
  // Rows of the right operand are then dot products, which run along k.
  if (!sizes.packsRight && !query.isRightContiguous)
    return false;
  emitContractionRemark(op, query, sizes);
  buildContraction(op, *dims, sizes);
  return true;
}

static bool convertLoops(linalg::LinalgOp op, const TargetDescription &target) {
  std::optional<LoopPlan> plan = planLoops(op, target);
  if (!plan)
    return false;
  buildLoops(*plan);
  return true;
}

/// A loop nest on scalars. Fails after a diagnostic.
static LogicalResult convertToScalars(linalg::LinalgOp op, IRRewriter &rewriter) {
  if (!op.hasPureBufferSemantics())
    return op.emitOpError("expects operands on memrefs");
  rewriter.setInsertionPoint(op);
  if (failed(linalg::linalgOpToLoops(rewriter, op)))
    return op.emitOpError("expects indexing maps that loops can follow");
  rewriter.eraseOp(op);
  return success();
}

namespace {

struct ConvertLinalgToCpuPass : attn::impl::ConvertLinalgToCpuPassBase<ConvertLinalgToCpuPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    if (ops.empty())
      return;
    llvm::Expected<TargetDescription> description = describeTarget(target);
    if (!description) {
      getOperation().emitError() << llvm::toString(description.takeError());
      return signalPassFailure();
    }
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops)
      if (convertToVectors(op, *description))
        op.erase();
      else if (failed(convertToScalars(op, rewriter)))
        return signalPassFailure();
  }

private:
  /// True if the op was replaced, but for its erasure; a remark where it was not.
  static bool convertToVectors(linalg::LinalgOp op, const TargetDescription &target) {
    // In somebody else's parallel loop there is no place for scratch of an op's own.
    if (op->getParentOfType<scf::ForallOp>())
      return false;
    if (convertContraction(op, target) || convertLoops(op, target))
      return true;
    remark::missed(op.getLoc(), remark::RemarkOpts::name(DEBUG_TYPE).category("attn"))
        << "'" + op->getName().getStringRef().str() +
               "' becomes scalar loops: its body has effects, its operands "
               "are no ranked memrefs, or an output steps with a reduction";
    return false;
  }
};

} // namespace
