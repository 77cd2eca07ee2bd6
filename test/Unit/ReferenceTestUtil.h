//===- ReferenceTestUtil.h - running IR text in the reference ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TEST_UNIT_REFERENCETESTUTIL_H
#define ATTN_TEST_UNIT_REFERENCETESTUTIL_H

#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Flash/IR/FlashOps.h"
#include "attn/Reference/Interpreter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <cmath>

/// Evaluates functions given as text, and keeps the diagnostics.
class ReferenceTest : public ::testing::Test {
protected:
  using Tensor = attn::reference::Tensor;

  ReferenceTest() : handler(&context, [this](mlir::Diagnostic &diagnostic) { errors += diagnostic.str() + "\n"; }) {
    context.loadDialect<attn::AttnDialect, mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect,
                        attn::flash::FlashDialect, mlir::func::FuncDialect, mlir::index::IndexDialect,
                        mlir::linalg::LinalgDialect, mlir::math::MathDialect, mlir::scf::SCFDialect,
                        mlir::tensor::TensorDialect>();
  }

  mlir::FailureOr<attn::reference::Evaluation> evaluate(llvm::StringRef text, llvm::ArrayRef<Tensor> arguments = {}) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!module)
      return mlir::failure();
    auto functions = module->getOps<mlir::func::FuncOp>();
    return attn::reference::evaluate(*functions.begin(), arguments, options);
  }

  /// The results of the first function of the text. After an error a test failure, and NaNs so that the test can go on.
  std::vector<Tensor> results(llvm::StringRef text, llvm::ArrayRef<Tensor> arguments = {}) {
    auto evaluation = evaluate(text, arguments);
    EXPECT_TRUE(mlir::succeeded(evaluation)) << errors;
    return mlir::succeeded(evaluation) ? evaluation->results : std::vector<Tensor>(9, filled({1, 1, 1, 1}, nan));
  }

  /// Expects an error that contains the message.
  void expectError(llvm::StringRef text, llvm::ArrayRef<Tensor> arguments, const std::string &message) {
    errors.clear();
    EXPECT_TRUE(mlir::failed(evaluate(text, arguments)));
    EXPECT_NE(errors.find(message), std::string::npos) << "expected: " << message << "\ngot: " << errors;
  }

  mlir::Type f16() { return mlir::Float16Type::get(&context); }
  mlir::Type f32() { return mlir::Float32Type::get(&context); }
  mlir::Type integer(unsigned bits) { return mlir::IntegerType::get(&context, bits); }
  mlir::Type index() { return mlir::IndexType::get(&context); }

  Tensor real(llvm::ArrayRef<int64_t> shape, const std::vector<double> &values) {
    return Tensor::fromReals(f32(), shape, values);
  }
  /// All elements of one value.
  Tensor filled(llvm::ArrayRef<int64_t> shape, double value) {
    return real(shape, std::vector<double>(*attn::reference::countElements(shape), value));
  }
  /// The element at row-major position k is f(k).
  template <typename F> Tensor made(llvm::ArrayRef<int64_t> shape, F f) {
    Tensor result = filled(shape, 0);
    for (int64_t k = 0; k < result.size(); ++k)
      result.data[k].real = f(k);
    return result;
  }
  Tensor integers(unsigned bits, llvm::ArrayRef<int64_t> shape, const std::vector<int64_t> &values) {
    return Tensor::fromIntegers(integer(bits), shape, values);
  }

  static std::vector<double> reals(const Tensor &tensor) {
    std::vector<double> values;
    for (attn::reference::Scalar element : tensor.data)
      values.push_back(element.real);
    return values;
  }
  static std::vector<int64_t> ints(const Tensor &tensor) {
    std::vector<int64_t> values;
    for (attn::reference::Scalar element : tensor.data)
      values.push_back(element.integer);
    return values;
  }

  /// Elements within 1e-12 of what is expected (relative above 1); NaN meets NaN, infinity the same infinity.
  static void expectReals(const Tensor &actual, const std::vector<double> &expected) {
    ASSERT_EQ(actual.size(), static_cast<int64_t>(expected.size()));
    for (size_t k = 0; k < expected.size(); ++k) {
      double a = actual.data[k].real, x = expected[k];
      bool same = std::isnan(x)   ? std::isnan(a)
                  : std::isinf(x) ? a == x
                                  : std::fabs(a - x) <= 1e-12 * std::fmax(1, std::fabs(x));
      EXPECT_TRUE(same) << "element " << k << ": expected " << x << ", got " << a;
    }
  }

  static constexpr double inf = std::numeric_limits<double>::infinity();
  static constexpr double nan = std::numeric_limits<double>::quiet_NaN();

  mlir::MLIRContext context;
  std::string errors;
  mlir::ScopedDiagnosticHandler handler;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  attn::reference::Options options;
};

#endif // ATTN_TEST_UNIT_REFERENCETESTUTIL_H
