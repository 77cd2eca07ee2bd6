//===- ReferenceOpsTest.cpp - the ops around attention -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ReferenceTestUtil.h"

using namespace attn::reference;

namespace {

class ReferenceOpsTest : public ReferenceTest {
protected:
  /// Evaluates `op %a, %b : type` on two integers.
  mlir::FailureOr<Evaluation> integerOp(const std::string &op, unsigned bits, int64_t a, int64_t b) {
    std::string type = "i" + std::to_string(bits);
    return evaluate("func.func @main(%a: " + type + ", %b: " + type + ") -> " + type + " {\n %r = " + op +
                        " %a, %b : " + type + "\n return %r : " + type + "\n}",
                    {integers(bits, {}, {a}), integers(bits, {}, {b})});
  }
  int64_t integerResult(const std::string &op, unsigned bits, int64_t a, int64_t b) {
    auto evaluation = integerOp(op, bits, a, b);
    EXPECT_TRUE(mlir::succeeded(evaluation)) << op << ": " << errors;
    return mlir::succeeded(evaluation) ? evaluation->results[0].data[0].integer : -12345;
  }
  void expectUndefined(const std::string &op, unsigned bits, int64_t a, int64_t b, const std::string &message) {
    errors.clear();
    EXPECT_TRUE(mlir::failed(integerOp(op, bits, a, b))) << op;
    EXPECT_NE(errors.find(message), std::string::npos) << errors;
  }
  /// The result of a body that returns %r, on f32 arguments %a and %b.
  double realResult(const std::string &body, double a = 0, double b = 0) {
    auto r = results("func.func @main(%a: f32, %b: f32) -> f32 {\n" + body + "\n return %r : f32 }",
                     {real({}, {a}), real({}, {b})});
    return r.empty() ? -12345 : r[0].data[0].real;
  }
};

//===-- arith, math ------------------------------------------------------------===//

TEST_F(ReferenceOpsTest, IntegersWrapAtTheirWidth) {
  EXPECT_EQ(integerResult("arith.addi", 8, 127, 1), -128);
  EXPECT_EQ(integerResult("arith.muli", 8, 100, 3), 44);
  EXPECT_EQ(integerResult("arith.subi", 64, INT64_MIN, 1), INT64_MAX);
  EXPECT_EQ(integerResult("arith.addi", 1, 1, 1), 0);
  EXPECT_EQ(integerResult("arith.shli", 8, 1, 7), -128);
  EXPECT_EQ(integerResult("arith.shrsi", 8, -128, 3), -16);
  EXPECT_EQ(integerResult("arith.shrui", 8, -128, 3), 16);
  // Exact beyond 2^53.
  EXPECT_EQ(integerResult("arith.addi", 64, (int64_t(1) << 60), 1), (int64_t(1) << 60) + 1);
}

TEST_F(ReferenceOpsTest, DivisionsRoundAsNamed) {
  EXPECT_EQ(integerResult("arith.divsi", 32, -7, 2), -3);
  EXPECT_EQ(integerResult("arith.remsi", 32, -7, 2), -1);
  EXPECT_EQ(integerResult("arith.floordivsi", 32, -7, 2), -4);
  EXPECT_EQ(integerResult("arith.floordivsi", 32, -8, 2), -4);
  EXPECT_EQ(integerResult("arith.ceildivsi", 32, 7, 2), 4);
  EXPECT_EQ(integerResult("arith.ceildivsi", 32, -7, 2), -3);
  EXPECT_EQ(integerResult("arith.divui", 8, -1, 2), 127);
  EXPECT_EQ(integerResult("arith.remui", 8, -1, 16), 15);
  EXPECT_EQ(integerResult("arith.ceildivui", 8, -1, 2), -128);
  EXPECT_EQ(integerResult("arith.maxui", 8, -1, 1), -1);
  EXPECT_EQ(integerResult("arith.maxsi", 8, -1, 1), 1);
  EXPECT_EQ(integerResult("arith.minui", 8, -1, 1), 1);
}

TEST_F(ReferenceOpsTest, UndefinedIntegerOpsAreErrors) {
  for (std::string op : {"divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui"})
    expectUndefined("arith." + op, 32, 5, 0, "divides 5 by zero");
  expectUndefined("arith.divsi", 8, -128, -1, "overflows: -128 divided by -1");
  expectUndefined("arith.divsi", 64, INT64_MIN, -1, "overflows");
  expectUndefined("arith.shli", 8, 1, 8, "expected less than the width 8");
}

TEST_F(ReferenceOpsTest, Conversions) {
  const char *text = R"(
    func.func @main(%a: i8, %t: i1, %x: f32) -> (i32, i32, i32, f32, f32, i16, i64, i32, f64, f32) {
      %0 = arith.extsi %a : i8 to i32
      %1 = arith.extui %a : i8 to i32
      %2 = arith.extsi %t : i1 to i32
      %3 = arith.sitofp %a : i8 to f32
      %4 = arith.uitofp %a : i8 to f32
      %5 = arith.fptosi %x : f32 to i16
      %6 = arith.index_castui %a : i8 to index
      %7 = arith.index_cast %6 : index to i64
      %8 = arith.bitcast %x : f32 to i32
      %9 = arith.truncf %x : f32 to f16
      %10 = arith.extf %9 : f16 to f64
      %11 = arith.constant 0.1 : f64
      %12 = arith.truncf %11 : f64 to f32
      return %0, %1, %2, %3, %4, %5, %7, %8, %10, %12 : i32, i32, i32, f32, f32, i16, i64, i32, f64, f32
    })";
  auto r = results(text, {integers(8, {}, {-2}), integers(1, {}, {1}), real({}, {-2.7})});
  ASSERT_EQ(r.size(), 10u);
  EXPECT_EQ(r[0].data[0].integer, -2);
  EXPECT_EQ(r[1].data[0].integer, 254);
  EXPECT_EQ(r[2].data[0].integer, -1);
  EXPECT_EQ(r[3].data[0].real, -2);
  EXPECT_EQ(r[4].data[0].real, 254);
  EXPECT_EQ(r[5].data[0].integer, -2);
  EXPECT_EQ(r[6].data[0].integer, 254);
  EXPECT_EQ(r[7].data[0].integer, static_cast<int32_t>(0xC02CCCCD));
  EXPECT_EQ(r[8].data[0].real, -2.7); // Exact mode does not round to 16 bits,
  EXPECT_EQ(r[9].data[0].real, 0.1f); // but to f32 where the program says so.
  for (double poison : {32768.0, -32769.0, nan})
    EXPECT_EQ(results(text, {integers(8, {}, {0}), integers(1, {}, {0}), real({}, {poison})})[5].data[0].integer,
              -32768);
}

TEST_F(ReferenceOpsTest, FloatsAndNaN) {
  EXPECT_TRUE(std::isnan(realResult("%r = arith.maximumf %a, %b : f32", nan, 1)));
  EXPECT_EQ(realResult("%r = arith.maxnumf %a, %b : f32", nan, 1), 1);
  EXPECT_FALSE(std::signbit(realResult("%r = arith.maximumf %a, %b : f32", -0.0, 0.0)));
  EXPECT_TRUE(std::signbit(realResult("%r = arith.minimumf %a, %b : f32", 0.0, -0.0)));
  auto compare = [&](const std::string &predicate, double a, double b) {
    return realResult("%c = arith.cmpf " + predicate +
                          ", %a, %b : f32\n %one = arith.constant 1.0 : f32\n"
                          "%zero = arith.constant 0.0 : f32\n %r = arith.select %c, %one, %zero : f32",
                      a, b) == 1;
  };
  EXPECT_FALSE(compare("oeq", nan, nan));
  EXPECT_TRUE(compare("une", nan, nan));
  EXPECT_FALSE(compare("one", nan, 1));
  EXPECT_TRUE(compare("ult", nan, 1));
  EXPECT_TRUE(compare("ole", 1, 1));
  EXPECT_TRUE(compare("uno", nan, 1));
  EXPECT_FALSE(compare("ord", nan, 1));
}

TEST_F(ReferenceOpsTest, MathFunctions) {
  EXPECT_DOUBLE_EQ(realResult("%r = math.exp2 %a : f32", 0.5), std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(realResult("%r = math.rsqrt %a : f32", 4), 0.5);
  EXPECT_DOUBLE_EQ(realResult("%r = math.erf %a : f32", 1), 0.84270079294971486934);
  EXPECT_DOUBLE_EQ(realResult("%r = math.tanh %a : f32", 1), 0.76159415595576488812);
  EXPECT_DOUBLE_EQ(realResult("%r = math.powf %a, %b : f32", 2, 10), 1024);
  EXPECT_DOUBLE_EQ(realResult("%r = math.fma %a, %b, %a : f32", 2, 3), 8);
  EXPECT_DOUBLE_EQ(realResult("%r = math.roundeven %a : f32", 2.5), 2);
  EXPECT_DOUBLE_EQ(realResult("%r = math.round %a : f32", 2.5), 3);
  EXPECT_DOUBLE_EQ(realResult("%r = math.absf %a : f32", -3), 3);
  auto unary = [&](const std::string &op, int64_t x) {
    auto r =
        results("func.func @main(%a: i8) -> i8 { %r = " + op + " %a : i8\n return %r : i8 }", {integers(8, {}, {x})});
    return r.empty() ? -12345 : r[0].data[0].integer;
  };
  EXPECT_EQ(unary("math.ctlz", 1), 7);
  EXPECT_EQ(unary("math.ctlz", 0), 8);
  EXPECT_EQ(unary("math.cttz", 0), 8);
  EXPECT_EQ(unary("math.cttz", 8), 3);
  EXPECT_EQ(unary("math.ctpop", -1), 8);
  EXPECT_EQ(unary("math.absi", -5), 5);
}

TEST_F(ReferenceOpsTest, ElementwiseOnTensors) {
  const char *text = R"(
    func.func @main(%a: tensor<?xf32>, %b: tensor<?xf32>, %c: i1) -> (tensor<?xf32>, tensor<?xi1>) {
      %sum = arith.addf %a, %b : tensor<?xf32>
      %exp = math.exp %sum : tensor<?xf32>
      %r = arith.select %c, %exp, %a : tensor<?xf32>
      %less = arith.cmpf olt, %a, %b : tensor<?xf32>
      return %r, %less : tensor<?xf32>, tensor<?xi1>
    })";
  auto r = results(text, {real({2}, {0, 1}), real({2}, {1, -1}), integers(1, {}, {1})});
  expectReals(r[0], {std::exp(1.0), 1});
  EXPECT_EQ(ints(r[1]), (std::vector<int64_t>{1, 0}));
  expectError(text, {real({2}, {0, 1}), real({1}, {1}), integers(1, {}, {1})}, "expects operands of one shape");
}

TEST_F(ReferenceOpsTest, RoundingModes) {
  const char *body = "%s = arith.addf %a, %b : f32\n %r = arith.subf %s, %a : f32";
  EXPECT_EQ(realResult(body, 1, 0x1p-30), 0x1p-30);
  options.roundLikeUnfused = true;
  EXPECT_EQ(realResult(body, 1, 0x1p-30), 0);
}

//===-- constants, control flow ---------------------------------------------------===//

TEST_F(ReferenceOpsTest, Constants) {
  auto r = results(R"(
    func.func @main() -> (tensor<2x2xf16>, tensor<3xi8>, tensor<2xf32>, tensor<2xi1>, i64, bf16) {
      %0 = arith.constant dense<[[1.0, -2.0], [0.5, 0xFC00]]> : tensor<2x2xf16>
      %1 = arith.constant dense<-7> : tensor<3xi8>
      %2 = arith.constant dense_resource<blob> : tensor<2xf32>
      %3 = arith.constant dense<[true, false]> : tensor<2xi1>
      %4 = arith.constant 9223372036854775807 : i64
      %5 = arith.constant 1.5 : bf16
      return %0, %1, %2, %3, %4, %5 : tensor<2x2xf16>, tensor<3xi8>, tensor<2xf32>, tensor<2xi1>, i64, bf16
    }
    {-# dialect_resources: { builtin: { blob: "0x040000000000803F000000C0" } } #-})");
  ASSERT_EQ(r.size(), 6u);
  expectReals(r[0], {1, -2, .5, -inf});
  EXPECT_EQ(ints(r[1]), (std::vector<int64_t>{-7, -7, -7}));
  expectReals(r[2], {1, -2});
  EXPECT_EQ(ints(r[3]), (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(r[4].data[0].integer, INT64_MAX);
  EXPECT_EQ(r[5].data[0].real, 1.5);
}

TEST_F(ReferenceOpsTest, LoopsAndBranches) {
  auto r = results(R"(
    func.func @main(%n: index) -> (index, index, i32) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      // Fibonacci: the carried values are exchanged at once.
      %f:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c0, %b = %c1) -> (index, index) {
        %s = arith.addi %a, %b : index
        scf.yield %b, %s : index, index
      }
      %w = scf.while (%x = %n) : (index) -> index {
        %more = arith.cmpi sgt, %x, %c3 : index
        scf.condition(%more) %x : index
      } do {
      ^bb0(%x: index):
        %y = arith.subi %x, %c3 : index
        scf.yield %y : index
      }
      %big = arith.cmpi sgt, %n, %c3 : index
      %i = scf.if %big -> i32 {
        %t = arith.constant 1 : i32
        scf.yield %t : i32
      } else {
        %e = arith.constant 2 : i32
        scf.yield %e : i32
      }
      return %f#0, %w, %i : index, index, i32
    })",
                   {Tensor::fromIntegers(index(), {}, {10})});
  ASSERT_EQ(r.size(), 3u);
  EXPECT_EQ(r[0].data[0].integer, 55);
  EXPECT_EQ(r[1].data[0].integer, 1);
  EXPECT_EQ(r[2].data[0].integer, 1);
}

TEST_F(ReferenceOpsTest, RegionsSwitchesAndParallelLoops) {
  const char *text = R"(
    func.func @main(%n: index, %t: tensor<?x2xi32>) -> (index, index, index, tensor<2x3xi32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %c10 = arith.constant 10 : index
      %rank = tensor.rank %t : tensor<?x2xi32>
      %region = scf.execute_region -> index {
        %d = arith.muli %n, %c10 : index
        scf.yield %d : index
      }
      %case = scf.index_switch %n -> index
      case 2 {
        scf.yield %c10 : index
      }
      case 5 {
        scf.yield %region : index
      }
      default {
        scf.yield %rank : index
      }
      // The sum of 10 i + j over i in {1, 4}, j in {0, 1, 2}, from n on.
      %c4 = arith.constant 4 : index
      %c5 = arith.constant 5 : index
      %sum = scf.parallel (%i, %j) = (%c1, %c0) to (%c5, %c3) step (%c3, %c1) init (%n) -> index {
        %x = arith.muli %i, %c10 : index
        %y = arith.addi %x, %j : index
        scf.reduce(%y : index) {
        ^bb0(%a: index, %b: index):
          %z = arith.addi %a, %b : index
          scf.reduce.return %z : index
        }
      }
      // Element (i, j) is 10 i + j where j is even, and what was there elsewhere.
      %out = arith.constant dense<7> : tensor<2x3xi32>
      %r = scf.forall (%i, %j) = (0, 0) to (2, 3) step (1, 2) shared_outs(%o = %out) -> tensor<2x3xi32> {
        %x = arith.muli %i, %c10 : index
        %y = arith.addi %x, %j : index
        %z = arith.index_cast %y : index to i32
        %e = tensor.from_elements %z : tensor<1xi32>
        scf.forall.in_parallel {
          tensor.parallel_insert_slice %e into %o[%i, %j] [1, 1] [1, 1] : tensor<1xi32> into tensor<2x3xi32>
        }
      }
      return %case, %rank, %sum, %r : index, index, index, tensor<2x3xi32>
    })";
  for (auto [n, expected] : {std::pair(2, 10), std::pair(5, 50), std::pair(3, 2), std::pair(-1, 2)}) {
    auto r = results(text, {Tensor::fromIntegers(index(), {}, {n}), integers(32, {1, 2}, {0, 0})});
    ASSERT_EQ(r.size(), 4u);
    EXPECT_EQ(r[0].data[0].integer, expected);
    EXPECT_EQ(r[1].data[0].integer, 2);
    EXPECT_EQ(r[2].data[0].integer, n + (10 + 11 + 12) + (40 + 41 + 42));
    const int64_t elements[] = {0, 7, 2, 10, 7, 12};
    ASSERT_EQ(r[3].data.size(), 6u);
    for (size_t k = 0; k < 6; ++k)
      EXPECT_EQ(r[3].data[k].integer, elements[k]);
  }
  expectError(R"(func.func @main(%n: index) {
    scf.parallel (%i) = (%n) to (%n) step (%n) {
      scf.reduce
    }
    return
  })",
              {Tensor::fromIntegers(index(), {}, {0})}, "expects a step above 0, but got 0");
}

TEST_F(ReferenceOpsTest, IndexDialect) {
  const char *predicates[] = {"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"};
  // For (-1, 1), (1, -1) and (3, 3): unsigned, -1 is the largest.
  const bool expected[][3] = {{false, false, true}, {true, true, false}, {true, false, false}, {true, false, true},
                              {false, true, false}, {false, true, true}, {false, true, false}, {false, true, true},
                              {true, false, false}, {true, false, true}};
  for (auto [predicate, row] : llvm::zip_equal(predicates, expected))
    for (auto [pair, holds] :
         llvm::zip_equal(std::vector<std::pair<int64_t, int64_t>>{{-1, 1}, {1, -1}, {3, 3}}, row)) {
      auto r =
          results(std::string(R"(func.func @main(%a: index, %b: index) -> (i1, index, i1) {
        %seven = index.constant 7
        %yes = index.bool.constant true
        %s = index.sub %a, %b
        %m = index.mul %s, %seven
        %x = index.add %m, %b
        %c = index.cmp )") +
                      predicate + R"((%a, %b)
        return %c, %x, %yes : i1, index, i1
      })",
                  {Tensor::fromIntegers(index(), {}, {pair.first}), Tensor::fromIntegers(index(), {}, {pair.second})});
      ASSERT_EQ(r.size(), 3u);
      EXPECT_EQ(r[0].data[0].integer != 0, holds) << predicate << " " << pair.first << " " << pair.second;
      EXPECT_EQ(r[1].data[0].integer, (pair.first - pair.second) * 7 + pair.second);
      EXPECT_NE(r[2].data[0].integer, 0);
    }
}

TEST_F(ReferenceOpsTest, ChecksEndTheCall) {
  const char *text = R"(func.func @main(%n: index) -> index {
    %c2 = arith.constant 2 : index
    %holds = arith.cmpi slt, %n, %c2 : index
    flash.require %holds, "expects less than 2, but got {0}" (%n)
    return %n : index
  })";
  EXPECT_EQ(results(text, {Tensor::fromIntegers(index(), {}, {1})})[0].data[0].integer, 1);
  expectError(text, {Tensor::fromIntegers(index(), {}, {2})}, "failed: expects less than 2, but got {0}");
}

TEST_F(ReferenceOpsTest, LoopNearTheEndOfItsType) {
  const char *text = R"(
    func.func @main(%step: i8) -> i8 {
      %low = arith.constant 100 : i8
      %high = arith.constant 127 : i8
      %zero = arith.constant 0 : i8
      %one = arith.constant 1 : i8
      %n = scf.for %i = %low to %high step %step iter_args(%k = %zero) -> i8 : i8 {
        %next = arith.addi %k, %one : i8
        scf.yield %next : i8
      }
      return %n : i8
    })";
  EXPECT_EQ(results(text, {integers(8, {}, {20})})[0].data[0].integer, 2);
  expectError(text, {integers(8, {}, {0})}, "expects a step above 0, but got 0");
}

TEST_F(ReferenceOpsTest, CallsAndRecursion) {
  auto r = results(R"(
    func.func @main(%x: f32) -> (f32, f32) {
      %a, %b = call @swap(%x, %x) : (f32, f32) -> (f32, f32)
      return %a, %b : f32, f32
    }
    func.func private @swap(%x: f32, %y: f32) -> (f32, f32) {
      %z = arith.addf %x, %y : f32
      return %z, %x : f32, f32
    })",
                   {real({}, {3})});
  EXPECT_EQ(r[0].data[0].real, 6);
  EXPECT_EQ(r[1].data[0].real, 3);
  expectError("func.func @main() { call @main() : () -> ()\n return }", {}, "calls deep");
  expectError("func.func @main() { call @other() : () -> ()\n return }\n func.func private @other()", {},
              "expects a callee with a body");
}

TEST_F(ReferenceOpsTest, AssertGivesItsMessage) {
  const char *text = R"(func.func @main(%a: i1) { cf.assert %a, "lengths differ"
    return })";
  EXPECT_TRUE(mlir::succeeded(evaluate(text, {integers(1, {}, {1})})));
  expectError(text, {integers(1, {}, {0})}, "'cf.assert' op failed: lengths differ");
}

TEST_F(ReferenceOpsTest, UnsupportedIsAnError) {
  expectError("func.func @main(%a: vector<4xf32>) -> vector<4xf32> { return %a : vector<4xf32> }",
              {real({4}, {1, 2, 3, 4})}, "expects argument 0");
  expectError("func.func @main(%a: i1) { %s = tensor.empty() : tensor<2xi128>\n return }", {integers(1, {}, {0})},
              "does not support");
  expectError(R"(func.func @main(%a: i1) {
    cf.br ^next
  ^next:
    return
  })",
              {integers(1, {}, {0})}, "expects a body of one block");
  expectError(R"(func.func @main(%b: tensor<1x1xf32>, %c: tensor<4xf32>, %i: tensor<1x1xi64>) -> tensor<4xf32> {
    %r = tensor.scatter %b into %c[%i] scatter_dims([0]) unique
      : (tensor<1x1xf32>, tensor<4xf32>, tensor<1x1xi64>) -> tensor<4xf32>
    return %r : tensor<4xf32>
  })",
              {filled({1, 1}, 0), filled({4}, 0), integers(64, {1, 1}, {0})},
              "'tensor.scatter' op is not supported by the reference interpreter");
  expectError("func.func @main(%a: tensor<3xf32>) { return }", {real({2}, {1, 2})},
              "expects argument 0 to be 'tensor<3xf32>', but got shape [2]");
  expectError("func.func @main(%a: f32) { return }", {}, "expects 1 arguments, but got 0");
}

TEST_F(ReferenceOpsTest, BudgetEndsEndlessLoops) {
  options.maxOperations = 10000;
  expectError(R"(func.func @main() {
    scf.while : () -> () {
      %true = arith.constant true
      scf.condition(%true)
    } do {
      scf.yield
    }
    return
  })",
              {}, "exceeds the limit of 10000 operations");
}

//===-- tensor -----------------------------------------------------------------------===//

TEST_F(ReferenceOpsTest, ElementsAndSizes) {
  const char *text = R"(
    func.func @main(%t: tensor<?x3xf32>, %i: index) -> (f32, tensor<?x3xf32>, index) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %x = tensor.extract %t[%i, %c1] : tensor<?x3xf32>
      %u = tensor.insert %x into %t[%c0, %c0] : tensor<?x3xf32>
      %d = tensor.dim %t, %c0 : tensor<?x3xf32>
      return %x, %u, %d : f32, tensor<?x3xf32>, index
    })";
  Tensor t = real({2, 3}, {0, 1, 2, 3, 4, 5});
  auto r = results(text, {t, Tensor::fromIntegers(index(), {}, {1})});
  ASSERT_EQ(r.size(), 3u);
  EXPECT_EQ(r[0].data[0].real, 4);
  expectReals(r[1], {4, 1, 2, 3, 4, 5});
  EXPECT_EQ(r[2].data[0].integer, 2);
  for (int64_t wrong : {-1, 2})
    expectError(text, {t, Tensor::fromIntegers(index(), {}, {wrong})},
                "index " + std::to_string(wrong) + " of dimension 0 is outside [0, 2)");
}

TEST_F(ReferenceOpsTest, Slices) {
  const char *text = R"(
    func.func @main(%t: tensor<3x4xf32>, %n: index) -> (tensor<?xf32>, tensor<3x4xf32>) {
      %s = tensor.extract_slice %t[1, 0] [1, %n] [1, 2] : tensor<3x4xf32> to tensor<?xf32>
      %r = tensor.insert_slice %s into %t[0, 1] [%n, 1] [2, 1] : tensor<?xf32> into tensor<3x4xf32>
      return %s, %r : tensor<?xf32>, tensor<3x4xf32>
    })";
  Tensor t = made({3, 4}, [](int64_t k) { return k; });
  auto r = results(text, {t, Tensor::fromIntegers(index(), {}, {2})});
  expectReals(r[0], {4, 6});
  expectReals(r[1], {0, 4, 2, 3, 4, 5, 6, 7, 8, 6, 10, 11});
  expectError(text, {t, Tensor::fromIntegers(index(), {}, {3})},
              "expects its slice to be inside dimension 1 of size 4");
  expectError(text, {t, Tensor::fromIntegers(index(), {}, {-1})}, "expects its slice to be inside dimension 1");
}

TEST_F(ReferenceOpsTest, ReshapesKeepTheElements) {
  const char *text = R"(
    func.func @main(%t: tensor<?x6xf32>, %n: index, %shape: tensor<2xi32>)
        -> (tensor<?x2x3xf32>, tensor<?xf32>, tensor<?x?xf32>, tensor<4x3xf32>) {
      %e = tensor.expand_shape %t [[0], [1, 2]] output_shape [%n, 2, 3] : tensor<?x6xf32> into tensor<?x2x3xf32>
      %c = tensor.collapse_shape %t [[0, 1]] : tensor<?x6xf32> into tensor<?xf32>
      %r = tensor.reshape %t(%shape) : (tensor<?x6xf32>, tensor<2xi32>) -> tensor<?x?xf32>
      %k = tensor.cast %r : tensor<?x?xf32> to tensor<4x3xf32>
      return %e, %c, %r, %k : tensor<?x2x3xf32>, tensor<?xf32>, tensor<?x?xf32>, tensor<4x3xf32>
    })";
  Tensor t = made({2, 6}, [](int64_t k) { return k; });
  auto n = [&](int64_t value) { return Tensor::fromIntegers(index(), {}, {value}); };
  auto r = results(text, {t, n(2), integers(32, {2}, {4, 3})});
  ASSERT_EQ(r.size(), 4u);
  EXPECT_EQ(r[0].shape, (std::vector<int64_t>{2, 2, 3}));
  EXPECT_EQ(r[1].shape, (std::vector<int64_t>{12}));
  EXPECT_EQ(r[2].shape, (std::vector<int64_t>{4, 3}));
  for (const Tensor &result : r)
    EXPECT_EQ(reals(result), reals(t));
  expectError(text, {t, n(3), integers(32, {2}, {4, 3})}, "'tensor.expand_shape' op expects sizes [3]");
  expectError(text, {t, n(2), integers(32, {2}, {5, 3})}, "'tensor.reshape' op expects shape [5, 3]");
  expectError(text, {t, n(2), integers(32, {2}, {3, 4})}, "'tensor.cast' op expects shape [3, 4]");
}

TEST_F(ReferenceOpsTest, BuildingTensors) {
  auto r = results(R"(
    func.func @main(%a: f32, %n: index, %t: tensor<1x2xf32>)
        -> (tensor<?xf32>, tensor<2xf32>, tensor<?x2xindex>, tensor<3x4xf32>, tensor<3x2xf32>) {
      %s = tensor.splat %a[%n] : tensor<?xf32>
      %f = tensor.from_elements %a, %a : tensor<2xf32>
      %g = tensor.generate %n {
      ^bb0(%i: index, %j: index):
        %c10 = arith.constant 10 : index
        %x = arith.muli %i, %c10 : index
        %y = arith.addi %x, %j : index
        tensor.yield %y : index
      } : tensor<?x2xindex>
      %p = tensor.pad %t low[1, 0] high[1, 2] {
      ^bb0(%i: index, %j: index):
        tensor.yield %a : f32
      } : tensor<1x2xf32> to tensor<3x4xf32>
      %c = tensor.concat dim(0) %t, %t, %t : (tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<3x2xf32>
      return %s, %f, %g, %p, %c : tensor<?xf32>, tensor<2xf32>, tensor<?x2xindex>, tensor<3x4xf32>, tensor<3x2xf32>
    })",
                   {real({}, {7}), Tensor::fromIntegers(index(), {}, {3}), real({1, 2}, {1, 2})});
  ASSERT_EQ(r.size(), 5u);
  expectReals(r[0], {7, 7, 7});
  expectReals(r[1], {7, 7});
  EXPECT_EQ(ints(r[2]), (std::vector<int64_t>{0, 1, 10, 11, 20, 21}));
  expectReals(r[3], {7, 7, 7, 7, 1, 2, 7, 7, 7, 7, 7, 7});
  expectReals(r[4], {1, 2, 1, 2, 1, 2});
}

TEST_F(ReferenceOpsTest, GatherRows) {
  const char *text = R"(
    func.func @main(%t: tensor<3x2xf32>, %i: tensor<2x1xi32>) -> tensor<2x2xf32> {
      %r = tensor.gather %t[%i] gather_dims([0]) : (tensor<3x2xf32>, tensor<2x1xi32>) -> tensor<2x2xf32>
      return %r : tensor<2x2xf32>
    })";
  Tensor t = made({3, 2}, [](int64_t k) { return k; });
  expectReals(results(text, {t, integers(32, {2, 1}, {2, 0})})[0], {4, 5, 0, 1});
  expectError(text, {t, integers(32, {2, 1}, {2, 3})}, "index 3 of dimension 0 is outside [0, 3)");
}

TEST_F(ReferenceOpsTest, SizesThatOverflowAreErrors) {
  const char *text = R"(
    func.func @main(%n: index) -> tensor<?x?xf32> {
      %e = tensor.empty(%n, %n) : tensor<?x?xf32>
      return %e : tensor<?x?xf32>
    })";
  for (int64_t size : {int64_t(-1), int64_t(1) << 20, int64_t(1) << 40})
    expectError(text, {Tensor::fromIntegers(index(), {}, {size})}, "needs a tensor of shape");
  // What is not written is NaN.
  EXPECT_TRUE(std::isnan(results(text, {Tensor::fromIntegers(index(), {}, {1})})[0].data[0].real));
}

//===-- linalg -------------------------------------------------------------------------===//

TEST_F(ReferenceOpsTest, GenericWithIndexAndReduction) {
  // r[i] = sum_j (a[j, i] + 10 * j + i)
  auto r = results(R"(
    #in = affine_map<(i, j) -> (j, i)>
    #out = affine_map<(i, j) -> (i)>
    func.func @main(%a: tensor<?x3xf32>, %init: tensor<3xf32>) -> tensor<3xf32> {
      %r = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]}
          ins(%a : tensor<?x3xf32>) outs(%init : tensor<3xf32>) {
      ^bb0(%x: f32, %acc: f32):
        %i = linalg.index 0 : index
        %j = linalg.index 1 : index
        %c10 = arith.constant 10 : index
        %m = arith.muli %j, %c10 : index
        %n = arith.addi %m, %i : index
        %k = arith.index_cast %n : index to i64
        %f = arith.sitofp %k : i64 to f32
        %s = arith.addf %x, %f : f32
        %t = arith.addf %acc, %s : f32
        linalg.yield %t : f32
      } -> tensor<3xf32>
      return %r : tensor<3xf32>
    })",
                   {real({2, 3}, {1, 2, 3, 4, 5, 6}), real({3}, {100, 0, 0})});
  expectReals(r[0], {100 + 5 + 10, 7 + 12, 9 + 14});
}

TEST_F(ReferenceOpsTest, NamedOps) {
  auto r = results(R"(
    func.func @main(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %v: tensor<2xf32>)
        -> (tensor<2x2xf32>, tensor<3x2xf32>, tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2x3xf32>) {
      %zero = arith.constant 0.0 : f32
      %e22 = tensor.empty() : tensor<2x2xf32>
      %z22 = linalg.fill ins(%zero : f32) outs(%e22 : tensor<2x2xf32>) -> tensor<2x2xf32>
      %m = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x2xf32>) outs(%z22 : tensor<2x2xf32>) -> tensor<2x2xf32>
      %e32 = tensor.empty() : tensor<3x2xf32>
      %t = linalg.transpose ins(%a : tensor<2x3xf32>) outs(%e32 : tensor<3x2xf32>) permutation = [1, 0]
      %bc = linalg.broadcast ins(%v : tensor<2xf32>) outs(%e22 : tensor<2x2xf32>) dimensions = [1]
      %red = linalg.reduce ins(%a : tensor<2x3xf32>) outs(%v : tensor<2xf32>) dimensions = [1]
        (%x: f32, %acc: f32) {
          %s = arith.addf %x, %acc : f32
          linalg.yield %s : f32
        }
      %e2 = tensor.empty() : tensor<2xf32>
      %map = linalg.map { arith.mulf } ins(%v, %v : tensor<2xf32>, tensor<2xf32>) outs(%e2 : tensor<2xf32>)
      %e23 = tensor.empty() : tensor<2x3xf32>
      %soft = linalg.softmax dimension(1) ins(%a : tensor<2x3xf32>) outs(%e23 : tensor<2x3xf32>) -> tensor<2x3xf32>
      return %m, %t, %bc, %red, %map, %soft
        : tensor<2x2xf32>, tensor<3x2xf32>, tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2x3xf32>
    })",
                   {real({2, 3}, {1, 2, 3, 4, 4, 4}), real({3, 2}, {1, 0, 0, 1, 1, 1}), real({2}, {5, 7})});
  ASSERT_EQ(r.size(), 6u);
  expectReals(r[0], {4, 5, 8, 8});
  expectReals(r[1], {1, 4, 2, 4, 3, 4});
  expectReals(r[2], {5, 5, 7, 7});
  expectReals(r[3], {11, 19});
  expectReals(r[4], {25, 49});
  double sum = std::exp(1.0) + std::exp(2.0) + std::exp(3.0);
  expectReals(r[5], {std::exp(1.0) / sum, std::exp(2.0) / sum, std::exp(3.0) / sum, 1. / 3, 1. / 3, 1. / 3});
}

TEST_F(ReferenceOpsTest, ConvolutionAndBatchMatmul) {
  auto r = results(R"(
    func.func @main(%x: tensor<5xf32>, %w: tensor<2xf32>, %init: tensor<4xf32>, %a: tensor<2x1x2xf32>,
                    %b: tensor<2x2x1xf32>, %c: tensor<2x1x1xf32>) -> (tensor<4xf32>, tensor<2x1x1xf32>) {
      %r = linalg.conv_1d ins(%x, %w : tensor<5xf32>, tensor<2xf32>) outs(%init : tensor<4xf32>) -> tensor<4xf32>
      %m = linalg.batch_matmul ins(%a, %b : tensor<2x1x2xf32>, tensor<2x2x1xf32>) outs(%c : tensor<2x1x1xf32>)
        -> tensor<2x1x1xf32>
      return %r, %m : tensor<4xf32>, tensor<2x1x1xf32>
    })",
                   {real({5}, {1, 2, 3, 4, 5}), real({2}, {1, 10}), filled({4}, 0), real({2, 1, 2}, {1, 2, 3, 4}),
                    real({2, 2, 1}, {1, 1, 10, 100}), filled({2, 1, 1}, 0)});
  ASSERT_EQ(r.size(), 2u);
  expectReals(r[0], {21, 32, 43, 54});
  expectReals(r[1], {3, 430});
}

TEST_F(ReferenceOpsTest, LinalgSizesThatDoNotAgree) {
  const char *text = R"(
    func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
      %m = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
      return %m : tensor<?x?xf32>
    })";
  expectError(text, {filled({2, 3}, 1), filled({4, 2}, 1), filled({2, 2}, 0)},
              "expects indices inside dimension 0 of size 4");
  // No element at all is fine.
  EXPECT_EQ(results(text, {filled({2, 0}, 1), filled({0, 2}, 1), filled({2, 2}, 5)})[0].data[0].real, 5);
}

TEST_F(ReferenceOpsTest, LinalgThreadsChangeNothing) {
  const char *text = R"(
    func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
      %m = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
      return %m : tensor<?x?xf32>
    })";
  auto wave = [](int64_t k) { return std::sin(0.37 * k); };
  std::vector<Tensor> arguments = {made({67, 80}, wave), made({80, 71}, wave), filled({67, 71}, 0)};
  options.threads = 1;
  Tensor one = results(text, arguments)[0];
  options.threads = 3;
  EXPECT_EQ(reals(results(text, arguments)[0]), reals(one));
}

//===-- attn.matmul, attn.mask, attn.softmax ----------------------------------------------===//

TEST_F(ReferenceOpsTest, AttnMatmul) {
  auto r = results(R"(
    func.func @main(%a: tensor<2x1x2xf32>, %b: tensor<2x1x2xf32>, %o: tensor<2x1x1xf32>, %p: tensor<2x2x2xf32>)
        -> (tensor<2x1x1xf32>, tensor<2x2x2xf32>) {
      %r = attn.matmul %a, %b transpose_rhs : tensor<2x1x2xf32>, tensor<2x1x2xf32> outs(%o : tensor<2x1x1xf32>)
        -> tensor<2x1x1xf32>
      %t = tensor.expand_shape %a [[0], [1], [2, 3]] output_shape [2, 1, 2, 1] : tensor<2x1x2xf32> into tensor<2x1x2x1xf32>
      %u = tensor.collapse_shape %t [[0], [1, 2], [3]] : tensor<2x1x2x1xf32> into tensor<2x2x1xf32>
      %s = attn.matmul %u, %b : tensor<2x2x1xf32>, tensor<2x1x2xf32> outs(%p : tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
      return %r, %s : tensor<2x1x1xf32>, tensor<2x2x2xf32>
    })",
                   {real({2, 1, 2}, {1, 2, 3, 4}), real({2, 1, 2}, {1, 10, 100, 1000}), filled({2, 1, 1}, nan),
                    filled({2, 2, 2}, nan)});
  ASSERT_EQ(r.size(), 2u);
  expectReals(r[0], {21, 4300});
  expectReals(r[1], {1, 10, 2, 20, 300, 3000, 400, 4000});
}

TEST_F(ReferenceOpsTest, AttnMask) {
  auto r = results(R"(
    func.func @main(%s: tensor<1x1x2x3xf32>, %o: tensor<1x1x2x3xf32>) -> tensor<1x1x2x3xf32> {
      %r = attn.mask %s masks(causal<bottom_right>) where(%b, %h, %i, %j) {
        %c0 = arith.constant 0 : index
        %keep = arith.cmpi ne, %j, %c0 : index
        attn.yield %keep : i1
      } : tensor<1x1x2x3xf32> outs(%o : tensor<1x1x2x3xf32>) -> tensor<1x1x2x3xf32>
      return %r : tensor<1x1x2x3xf32>
    })",
                   {real({1, 1, 2, 3}, {1, 2, nan, 4, 5, 6}), filled({1, 1, 2, 3}, 0)});
  expectReals(r[0], {-inf, 2, -inf, -inf, 5, 6});
}

TEST_F(ReferenceOpsTest, AttnSoftmaxAlongEachAxis) {
  auto run = [&](int axis, const Tensor &input) {
    return results("func.func @main(%s: tensor<2x2xf32>, %o: tensor<2x2xf32>) -> tensor<2x2xf32> {\n"
                   "%r = attn.softmax %s axis(" +
                       std::to_string(axis) +
                       ") : tensor<2x2xf32> "
                       "outs(%o : tensor<2x2xf32>) -> tensor<2x2xf32>\n return %r : tensor<2x2xf32> }",
                   {input, filled({2, 2}, 0)})[0];
  };
  Tensor input = real({2, 2}, {0, std::log(3.0), -inf, -inf});
  expectReals(run(1, input), {.25, .75, 0, 0});
  expectReals(run(0, input), {1, 1, 0, 0});
  expectReals(run(1, real({2, 2}, {nan, 0, inf, 0})), {nan, nan, nan, nan});
  expectReals(run(0, real({2, 2}, {nan, 0, 0, 0})), {nan, .5, nan, .5});
}

} // namespace
