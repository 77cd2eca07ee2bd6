//===- VerifyFusionTest.cpp - wrong fusions are caught ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each case fuses one graph in a way that is wrong, as a fuser with that mistake would.
//
//===----------------------------------------------------------------------===//

#include "lib/Dialect/Attn/Fusion/VerifyFusion.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace attn;
using namespace attn::fusion;

namespace {

/// Causal attention with a bias: sizes and types of query, key, value, scores, rows, out and bias are the caller's.
const char *const kBody = R"(
#qk = {indexing_maps = [affine_map<(b, h, i, j, d) -> (b, h, i, d)>, affine_map<(b, h, i, j, d) -> (b, h, j, d)>,
                        affine_map<(b, h, i, j, d) -> (b, h, i, j)>],
       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
#pv = {indexing_maps = [affine_map<(b, h, i, e, j) -> (b, h, i, j)>, affine_map<(b, h, i, e, j) -> (b, h, j, e)>,
                        affine_map<(b, h, i, e, j) -> (b, h, i, e)>],
       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
#biased = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (h, i, j)>,
                            affine_map<(b, h, i, j) -> (b, h, i, j)>],
           iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
func.func @attention(%q: !query, %k: !key, %v: !value, %bias: !bias) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : !scores
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%q, %k : !query, !key) outs(%s0 : !scores) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32
    %sum = arith.addf %acc, %xy : f32
    linalg.yield %sum : f32
  } -> !scores
  %masked = linalg.generic #biased ins(%s, %bias : !scores, !bias) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %scaled = arith.mulf %x, %scale : f32
    %sum = arith.addf %scaled, %y : f32
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %keep = arith.cmpi sle, %j, %i : index
    %z = arith.select %keep, %sum, %negInf : f32
    linalg.yield %z : f32
  } -> !scores
  %p = linalg.softmax dimension(3) ins(%masked : !scores) outs(%e : !scores) -> !scores
  %e2 = tensor.empty() : !out
  %o0 = linalg.fill ins(%zero : f32) outs(%e2 : !out) -> !out
  %out = linalg.generic #pv ins(%p, %v : !scores, !value) outs(%o0 : !out) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32
    %sum = arith.addf %acc, %xy : f32
    linalg.yield %sum : f32
  } -> !out
  return %out : !out
}
)";

const char *const kSquare = R"(
!query = tensor<4x4x4x4xf32>
!key = tensor<4x4x4x4xf32>
!value = tensor<4x4x4x4xf32>
!bias = tensor<4x4x4xf32>
!scores = tensor<4x4x4x4xf32>
!out = tensor<4x4x4x4xf32>
)";

const char *const kUnequal = R"(
!query = tensor<2x3x5x4xf32>
!key = tensor<2x3x7x4xf32>
!value = tensor<2x3x7x8xf32>
!bias = tensor<3x5x7xf32>
!scores = tensor<2x3x5x7xf32>
!out = tensor<2x3x5x8xf32>
)";

class VerifyFusionTest : public ::testing::Test {
protected:
  VerifyFusionTest() : handler(&context, [this](Diagnostic &diagnostic) { errors += diagnostic.str() + "\n"; }) {
    context.loadDialect<AttnDialect, arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect, math::MathDialect,
                        tensor::TensorDialect>();
  }

  /// Verifies the fusion of the graph by a builder. True where nothing is found.
  bool verify(const char *types, BuildFunction build) {
    errors.clear();
    module = parseSourceString<ModuleOp>(std::string(types) + kBody, &context);
    if (!module) {
      ADD_FAILURE() << errors;
      return false;
    }
    Operation *root = nullptr;
    module->walk([&](linalg::GenericOp op) { root = op; });
    Expressions expressions(&context);
    Elements elements(expressions);
    Miss miss;
    SoftmaxOptions options;
    auto match = matchAttention(elements, root, options, [](ExprRef) { return std::optional<Operand>(); }, miss);
    if (failed(match)) {
      ADD_FAILURE() << miss.reason;
      return false;
    }
    return succeeded(verifyFusion(elements, *match, build(elements, *match), build));
  }

  void expectCaught(const char *types, BuildFunction build, const std::string &where) {
    EXPECT_FALSE(verify(types, build));
    EXPECT_NE(errors.find("expects the attention that replaces it to compute the same, but the result is"),
              std::string::npos)
        << errors;
    EXPECT_NE(errors.find(where), std::string::npos) << errors;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::string errors;
  ScopedDiagnosticHandler handler;
};

bool isSquare(const AttentionMatch &match) {
  return match.roles.query.size() == 1 && match.roles.key.size() == 1 &&
         match.roles.query[0]->extent.size == match.roles.key[0]->extent.size;
}

BuiltAttention withoutMask(Elements &elements, const AttentionMatch &match) {
  AttentionMatch wrong = match;
  wrong.keep = nullptr;
  return buildAttention(elements, wrong);
}

BuiltAttention withoutBias(Elements &elements, const AttentionMatch &match) {
  AttentionMatch wrong = match;
  wrong.score = match.argument;
  return buildAttention(elements, wrong);
}

BuiltAttention withOtherScale(Elements &elements, const AttentionMatch &match) {
  AttentionMatch wrong = match;
  wrong.scale.constant *= 1.001;
  return buildAttention(elements, wrong);
}

/// Exchanges two dimensions of an operand; their sizes must be equal.
BuiltAttention swapped(Elements &elements, const AttentionMatch &match, Operand AttentionMatch::*operand, int a,
                       int b) {
  AttentionMatch wrong = match;
  std::swap((wrong.*operand).indices[a], (wrong.*operand).indices[b]);
  return buildAttention(elements, wrong);
}

} // namespace

TEST_F(VerifyFusionTest, RightFusionsPass) {
  EXPECT_TRUE(verify(kSquare, buildAttention)) << errors;
  EXPECT_TRUE(verify(kUnequal, buildAttention)) << errors;
  EXPECT_EQ(errors, "");
}

TEST_F(VerifyFusionTest, MaskThatIsLost) { expectCaught(kUnequal, withoutMask, "at the graph's sizes"); }

TEST_F(VerifyFusionTest, ScoreFunctionThatIsLost) { expectCaught(kUnequal, withoutBias, "at the graph's sizes"); }

TEST_F(VerifyFusionTest, ScaleThatIsOff) { expectCaught(kUnequal, withOtherScale, "at the graph's sizes"); }

TEST_F(VerifyFusionTest, SizesAndElementAreNamed) {
  expectCaught(kUnequal, withoutMask, "at element [0, 0, 0, 0], with inputs of 2x3x7x8, 3x5x7, 2x3x7x4, 2x3x5x4");
}

TEST_F(VerifyFusionTest, EqualSizesHideNoSwap) {
  for (auto operand : {&AttentionMatch::query, &AttentionMatch::key, &AttentionMatch::value})
    for (auto [a, b] : {std::pair(0, 1), std::pair(2, 3), std::pair(1, 2)})
      expectCaught(
          kSquare,
          [operand = operand, a = a, b = b](Elements &elements, const AttentionMatch &match) {
            return swapped(elements, match, operand, a, b);
          },
          "at the graph's sizes");
}

// Mistakes that no square graph shows: the canonical form has other sizes.
TEST_F(VerifyFusionTest, MaskThatIsLostWhereSizesDiffer) {
  expectCaught(
      kSquare,
      [](Elements &elements, const AttentionMatch &match) {
        return isSquare(match) ? buildAttention(elements, match) : withoutMask(elements, match);
      },
      "in the canonical form with different sizes");
}

// One key has the weight 1 whatever its score; only a mask can be wrong.
TEST_F(VerifyFusionTest, MaskThatDropsTheOnlyKey) {
  expectCaught(
      kSquare,
      [](Elements &elements, const AttentionMatch &match) {
        AttentionMatch wrong = match;
        if (match.roles.key.empty())
          wrong.keep = elements.expressions.boolean(false);
        return buildAttention(elements, wrong);
      },
      "in the canonical form with sizes of 1");
}
