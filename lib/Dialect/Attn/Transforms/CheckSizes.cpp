//===- CheckSizes.cpp - run-time checks of the ops around attention ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Upstream knows what each linalg and tensor op expects (RuntimeVerifiableOpInterface); its own pass for it checks
// every op, those in score regions too, and prints each op whole into its message. One visit of each op.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Dialect/Flash/IR/FlashOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"

namespace attn {
#define GEN_PASS_DEF_CHECKSIZESPASS
#include "Attn/AttnPasses.h.inc"
} // namespace attn

using namespace mlir;

/// True if the types leave nothing for the run: an op whose verifier has checked it all.
static bool isSettled(Operation *op) {
  if (!isa<linalg::LinalgOp>(op))
    return false;
  return llvm::all_of(op->getOperandTypes(), [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return !shaped || shaped.hasStaticShape();
  });
}

/// A cast that adds no size, and a size in a constant dimension, cannot fail.
static bool cannotFail(Operation *op) {
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return tensor::preservesStaticInformation(cast.getType(), cast.getSource().getType());
  if (auto dim = dyn_cast<tensor::DimOp>(op))
    return dim.getConstantIndex().has_value();
  return isSettled(op);
}

/// `'linalg.matmul' at file.mlir:3:8: ` and what upstream says, in our spelling.
static std::string makeMessage(Operation *op, StringRef text) {
  std::string message;
  llvm::raw_string_ostream stream(message);
  stream << "'" << op->getName() << "'";
  if (auto place = op->getLoc()->findInstanceOf<FileLineColLoc>())
    stream << " at " << place.getFilename().getValue() << ":" << place.getLine() << ":" << place.getColumn();
  stream << ": " << text;
  return message;
}

namespace {

struct CheckSizes : attn::impl::CheckSizesPassBase<CheckSizes> {
  void runOnOperation() override {
    SmallVector<RuntimeVerifiableOpInterface> ops;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      // Regions of attention hold pure operations alone; their reads are clamped.
      if (isa_and_nonnull<attn::AttnDialect>(op->getDialect()))
        return WalkResult::skip();
      if (auto verifiable = dyn_cast<RuntimeVerifiableOpInterface>(op); verifiable && !cannotFail(op))
        ops.push_back(verifiable);
      return WalkResult::advance();
    });
    for (RuntimeVerifiableOpInterface op : ops) {
      OpBuilder builder(op);
      op.generateRuntimeVerification(builder, op->getLoc(), makeMessage);
    }
  }
};

} // namespace
