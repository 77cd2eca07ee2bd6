//===- VerifyPassesTest.cpp - a wrong pass is named ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pipelines with a pass that is wrong in one way, as an upstream rewrite would be.
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/PassChecks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace {

const char *const kText = R"(
func.func @f(%x: tensor<?x3xf32>, %y: tensor<?x3xf32>, %n: index) -> (tensor<?x3xf32>, index) {
  %one = arith.constant 1 : index
  %d = arith.subf %x, %y : tensor<?x3xf32>
  %e = math.exp %d : tensor<?x3xf32>
  %m = arith.addi %n, %one : index
  return %e, %m : tensor<?x3xf32>, index
})";

/// Does to each function what it is told.
struct TestPass : PassWrapper<TestPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestPass)
  explicit TestPass(std::string name, std::function<void(func::FuncOp)> work, bool fails)
      : name(std::move(name)), work(std::move(work)), fails(fails) {}
  StringRef getArgument() const override { return name; }
  void runOnOperation() override {
    work(getOperation());
    if (fails)
      signalPassFailure();
  }

  std::string name;
  std::function<void(func::FuncOp)> work;
  bool fails;
};

class VerifyPasses : public testing::Test {
protected:
  VerifyPasses() : passes(&context), verdict(attn::checkPasses(passes, attn::VerifyIr::EachPass, /*values=*/true)) {
    context.loadDialect<arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect, math::MathDialect,
                        tensor::TensorDialect>();
    context.disableMultithreading();
    passes.addPass(createInlinerPass());
  }
  void add(std::string name, std::function<void(func::FuncOp)> work, bool fails = false) {
    passes.nest<func::FuncOp>().addPass(std::make_unique<TestPass>(std::move(name), std::move(work), fails));
  }
  /// Whether all passes did what they should.
  bool run() {
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) { text += diagnostic.str(); });
    passes.nest<func::FuncOp>().addPass(createCSEPass());
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(kText, ParserConfig(&context));
    EXPECT_TRUE(module);
    return module && succeeded(passes.run(*module));
  }

  MLIRContext context;
  PassManager passes;
  std::shared_ptr<attn::PassVerdict> verdict;
  std::string text;
};

template <typename Op> void forEach(func::FuncOp function, llvm::function_ref<void(Op)> work) {
  SmallVector<Op> ops(function.getOps<Op>());
  llvm::for_each(ops, work);
}

} // namespace

TEST_F(VerifyPasses, RightPassesAreNot) {
  EXPECT_TRUE(run());
  EXPECT_EQ(verdict->wrongPass(), "");
  EXPECT_EQ(text, "");
}

TEST_F(VerifyPasses, TheFirstThatSwapsOperandsIsNamed) {
  auto swap = [](func::FuncOp function) {
    forEach<arith::SubFOp>(function, [](arith::SubFOp op) { op->setOperands({op.getRhs(), op.getLhs()}); });
  };
  add("test-right", [](func::FuncOp) {});
  add("test-swap", swap);
  add("test-swap-again", swap);
  EXPECT_FALSE(run());
  EXPECT_EQ(verdict->wrongPass(), "test-swap");
  EXPECT_NE(text.find("expects test-swap to keep the function's values, but result 0 is "), std::string::npos) << text;
  EXPECT_NE(text.find("with inputs of 2x3, 2x3"), std::string::npos) << text;
}

TEST_F(VerifyPasses, IntegersMustBeEqual) {
  add("test-integer", [](func::FuncOp function) {
    forEach<arith::AddIOp>(function, [](arith::AddIOp op) { op->setOperand(1, op.getLhs()); });
  });
  EXPECT_FALSE(run());
  EXPECT_EQ(verdict->wrongPass(), "test-integer");
  EXPECT_NE(text.find("result 1 is 3 before it and 4 after it"), std::string::npos) << text;
}

/// What the reference cannot evaluate is skipped, and what comes behind is compared with what was before.
TEST_F(VerifyPasses, AnUnknownOpIsSkipped) {
  context.allowUnregisteredDialects();
  add("test-unknown", [](func::FuncOp function) {
    OpBuilder builder(&function.getBody().front(), function.getBody().front().begin());
    OperationState state(function.getLoc(), "unknown.op");
    builder.create(state);
  });
  add("test-known", [](func::FuncOp function) { function.getBody().front().front().erase(); });
  add("test-swap", [](func::FuncOp function) {
    forEach<arith::SubFOp>(function, [](arith::SubFOp op) { op->setOperands({op.getRhs(), op.getLhs()}); });
  });
  EXPECT_FALSE(run());
  EXPECT_EQ(verdict->wrongPass(), "test-swap");
}

/// A pass that leaves IR that its verifier refuses fails, whatever its values are, and no pass comes behind it.
TEST_F(VerifyPasses, ThePassThatLeavesInvalidIrIsNamed) {
  bool isReached = false;
  add("test-right", [](func::FuncOp) {});
  add("test-invalid",
      [](func::FuncOp function) { forEach<arith::SubFOp>(function, [](arith::SubFOp op) { op->eraseOperand(1); }); });
  add("test-behind", [&](func::FuncOp) { isReached = true; });
  EXPECT_FALSE(run());
  EXPECT_EQ(verdict->invalidPass(), "test-invalid");
  EXPECT_EQ(verdict->wrongPass(), "");
  EXPECT_FALSE(isReached);
  EXPECT_NE(text.find("expected 2 operands, but found 1"), std::string::npos) << text;
  EXPECT_NE(text.find("internal error: the pass test-invalid left IR that is not valid; please report it"),
            std::string::npos)
      << text;
}

/// What a pass refuses is the input's fault, even if it leaves invalid IR behind.
TEST_F(VerifyPasses, AFailedPassIsNoInternalError) {
  auto refuse = [](func::FuncOp function) {
    forEach<arith::SubFOp>(function, [](arith::SubFOp op) { op->eraseOperand(1); });
    function.emitError("expects something else");
  };
  add("test-fail", refuse, /*fails=*/true);
  EXPECT_FALSE(run());
  EXPECT_EQ(verdict->invalidPass(), "");
}
