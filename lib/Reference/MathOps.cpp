//===- MathOps.cpp - math on scalars ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Compiler.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/ADT/bit.h"
#include <cmath>

using namespace mlir;
using namespace attn::reference;

/// The function of f64 that a unary op stands for; null if it is not one.
static double (*getUnary(Operation &op))(double) {
  using Function = double (*)(double);
  return llvm::TypeSwitch<Operation *, Function>(&op)
      .Case([](math::AbsFOp) -> Function { return std::fabs; })
      .Case([](math::AcosOp) -> Function { return std::acos; })
      .Case([](math::AcoshOp) -> Function { return std::acosh; })
      .Case([](math::AsinOp) -> Function { return std::asin; })
      .Case([](math::AsinhOp) -> Function { return std::asinh; })
      .Case([](math::AtanOp) -> Function { return std::atan; })
      .Case([](math::AtanhOp) -> Function { return std::atanh; })
      .Case([](math::CbrtOp) -> Function { return std::cbrt; })
      .Case([](math::CeilOp) -> Function { return std::ceil; })
      .Case([](math::CosOp) -> Function { return std::cos; })
      .Case([](math::CoshOp) -> Function { return std::cosh; })
      .Case([](math::ErfOp) -> Function { return std::erf; })
      .Case([](math::ErfcOp) -> Function { return std::erfc; })
      .Case([](math::ExpOp) -> Function { return std::exp; })
      .Case([](math::Exp2Op) -> Function { return std::exp2; })
      .Case([](math::ExpM1Op) -> Function { return std::expm1; })
      .Case([](math::FloorOp) -> Function { return std::floor; })
      .Case([](math::LogOp) -> Function { return std::log; })
      .Case([](math::Log10Op) -> Function { return std::log10; })
      .Case([](math::Log1pOp) -> Function { return std::log1p; })
      .Case([](math::Log2Op) -> Function { return std::log2; })
      .Case([](math::RoundOp) -> Function { return std::round; })
      .Case([](math::RoundEvenOp) -> Function { return std::nearbyint; })
      .Case([](math::RsqrtOp) -> Function { return [](double x) { return 1 / std::sqrt(x); }; })
      .Case([](math::SinOp) -> Function { return std::sin; })
      .Case([](math::SinhOp) -> Function { return std::sinh; })
      .Case([](math::SqrtOp) -> Function { return std::sqrt; })
      .Case([](math::TanOp) -> Function { return std::tan; })
      .Case([](math::TanhOp) -> Function { return std::tanh; })
      .Case([](math::TruncOp) -> Function { return std::trunc; })
      .Default([](Operation *) -> Function { return nullptr; });
}

static double (*getBinary(Operation &op))(double, double) {
  using Function = double (*)(double, double);
  return llvm::TypeSwitch<Operation *, Function>(&op)
      .Case([](math::Atan2Op) -> Function { return std::atan2; })
      .Case([](math::CopySignOp) -> Function { return std::copysign; })
      .Case([](math::PowFOp) -> Function { return std::pow; })
      .Default([](Operation *) -> Function { return nullptr; });
}

/// Floating-point classes, as a function of the value and its type.
static bool (*getPredicate(Operation &op))(double, FloatType) {
  using Function = bool (*)(double, FloatType);
  return llvm::TypeSwitch<Operation *, Function>(&op)
      .Case([](math::IsFiniteOp) -> Function { return [](double x, FloatType) { return bool(std::isfinite(x)); }; })
      .Case([](math::IsInfOp) -> Function { return [](double x, FloatType) { return bool(std::isinf(x)); }; })
      .Case([](math::IsNaNOp) -> Function { return [](double x, FloatType) { return bool(std::isnan(x)); }; })
      .Case([](math::IsNormalOp) -> Function {
        return [](double x, FloatType type) {
          double smallest = std::ldexp(1.0, llvm::APFloat::semanticsMinExponent(type.getFloatSemantics()));
          return std::isfinite(x) && std::fabs(x) >= smallest;
        };
      })
      .Default([](Operation *) -> Function { return nullptr; });
}

/// base^exponent of wrapping integers; a negative exponent of 0 is undefined and found before.
static int64_t integerPower(int64_t base, int64_t exponent) {
  if (exponent < 0)
    return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
  uint64_t result = 1, factor = static_cast<uint64_t>(base);
  for (; exponent; exponent >>= 1, factor *= factor)
    if (exponent & 1)
      result *= factor;
  return static_cast<int64_t>(result);
}

static Step compileIntegerMath(Operation &op, ArrayRef<unsigned> in, ArrayRef<unsigned> out) {
  Type type = getElementTypeOrSelf(op.getResult(0));
  unsigned bits = isa<IndexType>(type) ? 64 : type.getIntOrFloatBitWidth();
  uint64_t mask = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  auto unary = [&](auto f) -> Step {
    return [a = in[0], d = out[0], type, mask, f](Frame &frame) {
      frame.scalars[d].integer = wrapToType(type, f(static_cast<uint64_t>(frame.scalars[a].integer) & mask));
      return true;
    };
  };
  return llvm::TypeSwitch<Operation *, Step>(&op)
      .Case([&](math::AbsIOp) {
        return unary([bits](uint64_t x) -> int64_t { return (x >> (bits - 1)) & 1 ? 0 - x : x; });
      })
      .Case([&](math::CountLeadingZerosOp) {
        return unary([bits](uint64_t x) -> int64_t { return llvm::countl_zero(x) - (64 - static_cast<int>(bits)); });
      })
      .Case([&](math::CountTrailingZerosOp) {
        return unary([bits](uint64_t x) -> int64_t { return std::min<int>(llvm::countr_zero(x), bits); });
      })
      .Case([&](math::CtPopOp) { return unary([](uint64_t x) -> int64_t { return llvm::popcount(x); }); })
      .Case([&](math::IPowIOp) {
        return [&op, a = in[0], b = in[1], d = out[0], type](Frame &frame) {
          int64_t base = frame.scalars[a].integer, exponent = frame.scalars[b].integer;
          if (base == 0 && exponent < 0)
            return frame.fail(&op, "raises 0 to the power " + Twine(exponent));
          frame.scalars[d].integer = wrapToType(type, integerPower(base, exponent));
          return true;
        };
      })
      .Default([](Operation *) { return Step(); });
}

/// Ops on floats that have neither one nor two float operands.
static Step compileOtherMath(Operation &op, ArrayRef<unsigned> in, ArrayRef<unsigned> out) {
  return llvm::TypeSwitch<Operation *, Step>(&op)
      .Case([&](math::FmaOp) {
        return [a = in[0], b = in[1], c = in[2], d = out[0]](Frame &frame) {
          frame.scalars[d].real = std::fma(frame.scalars[a].real, frame.scalars[b].real, frame.scalars[c].real);
          return true;
        };
      })
      .Case([&](math::ClampFOp) {
        return [a = in[0], low = in[1], high = in[2], d = out[0]](Frame &frame) {
          double x = frame.scalars[a].real;
          if (!std::isnan(x))
            x = std::max(std::min(x, frame.scalars[high].real), frame.scalars[low].real);
          frame.scalars[d].real = x;
          return true;
        };
      })
      .Case([&](math::FPowIOp) {
        return [a = in[0], b = in[1], d = out[0]](Frame &frame) {
          double x = frame.scalars[a].real;
          int64_t n = frame.scalars[b].integer;
          // f64 may round n, but its lowest bit tells the sign.
          double size = std::pow(std::fabs(x), static_cast<double>(n));
          frame.scalars[d].real = n % 2 ? std::copysign(size, x) : size;
          return true;
        };
      })
      .Case([&](math::SincosOp) {
        return [a = in[0], s = out[0], c = out[1]](Frame &frame) {
          double x = frame.scalars[a].real;
          frame.scalars[s].real = std::sin(x);
          frame.scalars[c].real = std::cos(x);
          return true;
        };
      })
      .Default([](Operation *) { return Step(); });
}

Step attn::reference::compileMath(Operation &op, ArrayRef<unsigned> in, ArrayRef<unsigned> out) {
  if (!isa_and_nonnull<math::MathDialect>(op.getDialect()))
    return {};
  if (auto *f = getUnary(op))
    return [a = in[0], d = out[0], f](Frame &frame) {
      frame.scalars[d].real = f(frame.scalars[a].real);
      return true;
    };
  if (auto *f = getBinary(op))
    return [a = in[0], b = in[1], d = out[0], f](Frame &frame) {
      frame.scalars[d].real = f(frame.scalars[a].real, frame.scalars[b].real);
      return true;
    };
  if (auto *f = getPredicate(op))
    return [a = in[0], d = out[0], type = cast<FloatType>(getElementTypeOrSelf(op.getOperand(0))), f](Frame &frame) {
      frame.scalars[d].integer = f(frame.scalars[a].real, type);
      return true;
    };
  if (Step step = compileIntegerMath(op, in, out))
    return step;
  return compileOtherMath(op, in, out);
}
