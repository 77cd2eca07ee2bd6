//===- ArithOps.cpp - arith on scalars ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Compiler.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace attn::reference;

//===----------------------------------------------------------------------===//
// Building steps
//===----------------------------------------------------------------------===//

namespace {

/// Type and places of the op that is compiled.
struct Places {
  Operation *op;
  ArrayRef<unsigned> in, out;
  Type inType() const { return getElementTypeOrSelf(op->getOperand(0)); }
  Type outType() const { return getElementTypeOrSelf(op->getResult(0)); }
};

/// The two readings of an integer of some width.
struct Width {
  unsigned bits;
  explicit Width(Type type) : bits(isa<IndexType>(type) ? 64 : type.getIntOrFloatBitWidth()) {}
  uint64_t mask() const { return bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1; }
  int64_t asSigned(int64_t x) const { return bits == 1 ? -(x & 1) : x; }
  uint64_t asUnsigned(int64_t x) const { return static_cast<uint64_t>(x) & mask(); }
  int64_t lowest() const { return INT64_MIN >> (64 - bits); }
};

} // namespace

template <typename F> static Step real1(const Places &p, F f) {
  return [a = p.in[0], d = p.out[0], f](Frame &frame) {
    frame.scalars[d].real = f(frame.scalars[a].real);
    return true;
  };
}

template <typename F> static Step real2(const Places &p, F f) {
  return [a = p.in[0], b = p.in[1], d = p.out[0], f](Frame &frame) {
    frame.scalars[d].real = f(frame.scalars[a].real, frame.scalars[b].real);
    return true;
  };
}

/// f on the unsigned reading; the result wraps.
template <typename F> static Step wrapping2(const Places &p, F f) {
  return [a = p.in[0], b = p.in[1], d = p.out[0], type = p.outType(), w = Width(p.inType()), f](Frame &frame) {
    uint64_t x = w.asUnsigned(frame.scalars[a].integer), y = w.asUnsigned(frame.scalars[b].integer);
    frame.scalars[d].integer = wrapToType(type, static_cast<int64_t>(f(x, y)));
    return true;
  };
}

/// f on the signed reading, of a result that needs no check.
template <typename F> static Step signed2(const Places &p, F f) {
  return [a = p.in[0], b = p.in[1], d = p.out[0], type = p.outType(), w = Width(p.inType()), f](Frame &frame) {
    int64_t x = w.asSigned(frame.scalars[a].integer), y = w.asSigned(frame.scalars[b].integer);
    frame.scalars[d].integer = wrapToType(type, f(x, y));
    return true;
  };
}

/// A signed division: a divisor of 0, and the lowest value by -1, are undefined.
template <typename F> static Step divideSigned(const Places &p, F f) {
  return [op = p.op, divide = signed2(p, f), a = p.in[0], b = p.in[1], w = Width(p.inType())](Frame &frame) {
    int64_t x = w.asSigned(frame.scalars[a].integer), y = w.asSigned(frame.scalars[b].integer);
    if (y == 0)
      return frame.fail(op, "divides " + Twine(x) + " by zero");
    if (y == -1 && x == w.lowest())
      return frame.fail(op, "overflows: " + Twine(x) + " divided by -1");
    return divide(frame);
  };
}

template <typename F> static Step divideUnsigned(const Places &p, F f) {
  return [op = p.op, divide = wrapping2(p, f), a = p.in[0], b = p.in[1]](Frame &frame) {
    if (frame.scalars[b].integer == 0)
      return frame.fail(op, "divides " + Twine(frame.scalars[a].integer) + " by zero");
    return divide(frame);
  };
}

/// A shift by the width or more is undefined.
static Step checkedShift(const Places &p, Step shift) {
  return [op = p.op, shift = std::move(shift), b = p.in[1], w = Width(p.inType())](Frame &frame) {
    uint64_t amount = w.asUnsigned(frame.scalars[b].integer);
    if (amount >= w.bits)
      return frame.fail(op, "shifts by " + Twine(amount) + "; expected less than the width " + Twine(w.bits));
    return shift(frame);
  };
}

//===----------------------------------------------------------------------===//
// Formulas
//===----------------------------------------------------------------------===//

/// Quotient rounded down, for a divisor that is not 0 and no overflow.
static int64_t floorDivide(int64_t x, int64_t y) { return x / y - ((x % y != 0) && ((x < 0) != (y < 0))); }
static int64_t ceilDivide(int64_t x, int64_t y) { return x / y + ((x % y != 0) && ((x < 0) == (y < 0))); }

/// IEEE 754-2019 maximum and minimum: NaN if one is NaN, and -0 below +0.
static double maximum(double x, double y) {
  if (std::isnan(x) || std::isnan(y))
    return NAN;
  return x == y ? (std::signbit(x) ? y : x) : std::max(x, y);
}
static double minimum(double x, double y) { return -maximum(-x, -y); }

static bool compareIntegers(arith::CmpIPredicate predicate, const Width &w, int64_t a, int64_t b) {
  int64_t x = w.asSigned(a), y = w.asSigned(b);
  uint64_t ux = w.asUnsigned(a), uy = w.asUnsigned(b);
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return x == y;
  case arith::CmpIPredicate::ne:
    return x != y;
  case arith::CmpIPredicate::slt:
    return x < y;
  case arith::CmpIPredicate::sle:
    return x <= y;
  case arith::CmpIPredicate::sgt:
    return x > y;
  case arith::CmpIPredicate::sge:
    return x >= y;
  case arith::CmpIPredicate::ult:
    return ux < uy;
  case arith::CmpIPredicate::ule:
    return ux <= uy;
  case arith::CmpIPredicate::ugt:
    return ux > uy;
  case arith::CmpIPredicate::uge:
    return ux >= uy;
  }
  return false;
}

static bool compareReals(arith::CmpFPredicate predicate, double x, double y) {
  bool unordered = std::isnan(x) || std::isnan(y);
  switch (predicate) {
  case arith::CmpFPredicate::AlwaysFalse:
    return false;
  case arith::CmpFPredicate::OEQ:
    return x == y;
  case arith::CmpFPredicate::OGT:
    return x > y;
  case arith::CmpFPredicate::OGE:
    return x >= y;
  case arith::CmpFPredicate::OLT:
    return x < y;
  case arith::CmpFPredicate::OLE:
    return x <= y;
  case arith::CmpFPredicate::ONE:
    return !unordered && x != y;
  case arith::CmpFPredicate::ORD:
    return !unordered;
  case arith::CmpFPredicate::UEQ:
    return unordered || x == y;
  case arith::CmpFPredicate::UGT:
    return unordered || x > y;
  case arith::CmpFPredicate::UGE:
    return unordered || x >= y;
  case arith::CmpFPredicate::ULT:
    return unordered || x < y;
  case arith::CmpFPredicate::ULE:
    return unordered || x <= y;
  case arith::CmpFPredicate::UNE:
    return unordered || x != y;
  case arith::CmpFPredicate::UNO:
    return unordered;
  case arith::CmpFPredicate::AlwaysTrue:
    return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// The integer of the bits of a float, and back.
static Step bitcast(const Places &p) {
  return [a = p.in[0], d = p.out[0], from = p.inType(), to = p.outType()](Frame &frame) {
    Scalar x = frame.scalars[a];
    if (isa<FloatType>(from) == isa<FloatType>(to) && from == to) {
      frame.scalars[d] = x;
      return true;
    }
    llvm::APInt bits(64, 0);
    if (auto real = dyn_cast<FloatType>(from)) {
      bool losesInfo;
      llvm::APFloat value(x.real);
      value.convert(real.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
      bits = value.bitcastToAPInt();
    } else {
      bits = llvm::APInt(from.getIntOrFloatBitWidth(), Width(from).asUnsigned(x.integer));
    }
    if (auto real = dyn_cast<FloatType>(to)) {
      llvm::APFloat value(real.getFloatSemantics(), bits);
      bool losesInfo;
      value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
      frame.scalars[d].real = value.convertToDouble();
    } else {
      frame.scalars[d].integer = wrapToType(to, static_cast<int64_t>(bits.getZExtValue()));
    }
    return true;
  };
}

/// Truncates towards zero. NaN and values that the integer type does not hold give poison, which graphs compute and
/// then select away (a logarithm of 0 in T5's position buckets); the smallest integer stands for it.
static Step realToInteger(const Places &p, bool isSigned) {
  return [a = p.in[0], d = p.out[0], type = p.outType(), isSigned](Frame &frame) {
    double x = std::trunc(frame.scalars[a].real);
    int bits = Width(type).bits;
    double low = isSigned ? -std::ldexp(1.0, bits - 1) : 0, end = std::ldexp(1.0, isSigned ? bits - 1 : bits);
    if (!(x >= low && x < end))
      x = low;
    int64_t value = x < 0x1p63 ? static_cast<int64_t>(x) : static_cast<int64_t>(static_cast<uint64_t>(x));
    frame.scalars[d].integer = wrapToType(type, value);
    return true;
  };
}

template <typename F> static Step integer1(const Places &p, F f) {
  return [a = p.in[0], d = p.out[0], w = Width(p.inType()), type = p.outType(), f](Frame &frame) {
    frame.scalars[d].integer = wrapToType(type, f(w, frame.scalars[a].integer));
    return true;
  };
}
static Step signExtend(const Places &p) {
  return integer1(p, [](const Width &w, int64_t x) { return w.asSigned(x); });
}
static Step zeroExtend(const Places &p) {
  return integer1(p, [](const Width &w, int64_t x) { return static_cast<int64_t>(w.asUnsigned(x)); });
}

template <typename F> static Step integerToReal(const Places &p, F f) {
  return [a = p.in[0], d = p.out[0], w = Width(p.inType()), f](Frame &frame) {
    frame.scalars[d].real = f(w, frame.scalars[a].integer);
    return true;
  };
}

static Step compileConversion(Operation &op, const Places &p) {
  return llvm::TypeSwitch<Operation *, Step>(&op)
      .Case([&](arith::ExtFOp) { return real1(p, [](double x) { return x; }); })
      // The one rounding of exact mode: the program says it, and numbers that become indices depend on it. To 16 bits
      // it is how graphs save memory, and a part of their error.
      .Case([&](arith::TruncFOp) {
        return real1(
            p, [type = p.outType()](double x) { return type.getIntOrFloatBitWidth() < 32 ? x : roundToType(type, x); });
      })
      .Case<arith::ExtSIOp, arith::IndexCastOp>([&](auto) { return signExtend(p); })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp, arith::TruncIOp>([&](auto) { return zeroExtend(p); })
      .Case([&](arith::SIToFPOp) {
        return integerToReal(p, [](const Width &w, int64_t x) { return static_cast<double>(w.asSigned(x)); });
      })
      .Case([&](arith::UIToFPOp) {
        return integerToReal(p, [](const Width &w, int64_t x) { return static_cast<double>(w.asUnsigned(x)); });
      })
      .Case([&](arith::FPToSIOp) { return realToInteger(p, true); })
      .Case([&](arith::FPToUIOp) { return realToInteger(p, false); })
      .Case([&](arith::BitcastOp) { return bitcast(p); })
      .Default([](Operation *) { return Step(); });
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

static Step compileIntegerOp(Operation &op, const Places &p) {
  return llvm::TypeSwitch<Operation *, Step>(&op)
      .Case([&](arith::AddIOp) { return wrapping2(p, std::plus<uint64_t>()); })
      .Case([&](arith::SubIOp) { return wrapping2(p, std::minus<uint64_t>()); })
      .Case([&](arith::MulIOp) { return wrapping2(p, std::multiplies<uint64_t>()); })
      .Case([&](arith::AndIOp) { return wrapping2(p, std::bit_and<uint64_t>()); })
      .Case([&](arith::OrIOp) { return wrapping2(p, std::bit_or<uint64_t>()); })
      .Case([&](arith::XOrIOp) { return wrapping2(p, std::bit_xor<uint64_t>()); })
      .Case([&](arith::ShLIOp) { return checkedShift(p, wrapping2(p, [](uint64_t x, uint64_t y) { return x << y; })); })
      .Case(
          [&](arith::ShRUIOp) { return checkedShift(p, wrapping2(p, [](uint64_t x, uint64_t y) { return x >> y; })); })
      .Case([&](arith::ShRSIOp) {
        return checkedShift(p, signed2(p, [](int64_t x, int64_t y) { return x >> (y & 63); }));
      })
      .Case([&](arith::DivSIOp) { return divideSigned(p, std::divides<int64_t>()); })
      .Case([&](arith::RemSIOp) { return divideSigned(p, std::modulus<int64_t>()); })
      .Case([&](arith::FloorDivSIOp) { return divideSigned(p, floorDivide); })
      .Case([&](arith::CeilDivSIOp) { return divideSigned(p, ceilDivide); })
      .Case([&](arith::DivUIOp) { return divideUnsigned(p, std::divides<uint64_t>()); })
      .Case([&](arith::RemUIOp) { return divideUnsigned(p, std::modulus<uint64_t>()); })
      .Case([&](arith::CeilDivUIOp) {
        return divideUnsigned(p, [](uint64_t x, uint64_t y) { return x / y + (x % y != 0); });
      })
      .Case([&](arith::MaxSIOp) { return signed2(p, [](int64_t x, int64_t y) { return std::max(x, y); }); })
      .Case([&](arith::MinSIOp) { return signed2(p, [](int64_t x, int64_t y) { return std::min(x, y); }); })
      .Case([&](arith::MaxUIOp) { return wrapping2(p, [](uint64_t x, uint64_t y) { return std::max(x, y); }); })
      .Case([&](arith::MinUIOp) { return wrapping2(p, [](uint64_t x, uint64_t y) { return std::min(x, y); }); })
      .Case([&](arith::CmpIOp cmp) {
        return [a = p.in[0], b = p.in[1], d = p.out[0], w = Width(p.inType()),
                predicate = cmp.getPredicate()](Frame &frame) {
          frame.scalars[d].integer = compareIntegers(predicate, w, frame.scalars[a].integer, frame.scalars[b].integer);
          return true;
        };
      })
      .Default([](Operation *) { return Step(); });
}

static Step compileRealOp(Operation &op, const Places &p) {
  return llvm::TypeSwitch<Operation *, Step>(&op)
      .Case([&](arith::AddFOp) { return real2(p, std::plus<double>()); })
      .Case([&](arith::SubFOp) { return real2(p, std::minus<double>()); })
      .Case([&](arith::MulFOp) { return real2(p, std::multiplies<double>()); })
      .Case([&](arith::DivFOp) { return real2(p, std::divides<double>()); })
      .Case([&](arith::RemFOp) { return real2(p, [](double x, double y) { return std::fmod(x, y); }); })
      .Case([&](arith::NegFOp) { return real1(p, std::negate<double>()); })
      .Case([&](arith::MaximumFOp) { return real2(p, maximum); })
      .Case([&](arith::MinimumFOp) { return real2(p, minimum); })
      .Case([&](arith::MaxNumFOp) { return real2(p, [](double x, double y) { return std::fmax(x, y); }); })
      .Case([&](arith::MinNumFOp) { return real2(p, [](double x, double y) { return std::fmin(x, y); }); })
      .Case([&](arith::CmpFOp cmp) {
        return [a = p.in[0], b = p.in[1], d = p.out[0], predicate = cmp.getPredicate()](Frame &frame) {
          frame.scalars[d].integer = compareReals(predicate, frame.scalars[a].real, frame.scalars[b].real);
          return true;
        };
      })
      .Default([](Operation *) { return Step(); });
}

/// Ops with two integer results: low and high half, or sum and overflow.
static Step compileExtendedOp(Operation &op, const Places &p) {
  auto halves = [&](auto multiply) -> Step {
    return [a = p.in[0], b = p.in[1], low = p.out[0], high = p.out[1], type = p.outType(), w = Width(p.outType()),
            multiply](Frame &frame) {
      __extension__ __int128 product = multiply(w, frame.scalars[a].integer, frame.scalars[b].integer);
      frame.scalars[low].integer = wrapToType(type, static_cast<int64_t>(product));
      frame.scalars[high].integer = wrapToType(type, static_cast<int64_t>(product >> w.bits));
      return true;
    };
  };
  __extension__ using Wide = __int128;
  if (isa<arith::MulSIExtendedOp>(op))
    return halves([](const Width &w, int64_t x, int64_t y) -> Wide { return Wide(w.asSigned(x)) * w.asSigned(y); });
  if (isa<arith::MulUIExtendedOp>(op))
    return halves([](const Width &w, int64_t x, int64_t y) -> Wide {
      __extension__ using UnsignedWide = unsigned __int128;
      return static_cast<Wide>(UnsignedWide(w.asUnsigned(x)) * w.asUnsigned(y));
    });
  if (isa<arith::AddUIExtendedOp>(op))
    return [a = p.in[0], b = p.in[1], sum = p.out[0], overflow = p.out[1], type = p.outType(),
            w = Width(p.outType())](Frame &frame) {
      uint64_t x = w.asUnsigned(frame.scalars[a].integer), y = w.asUnsigned(frame.scalars[b].integer);
      frame.scalars[sum].integer = wrapToType(type, static_cast<int64_t>(x + y));
      frame.scalars[overflow].integer = w.asUnsigned(static_cast<int64_t>(x + y)) < x;
      return true;
    };
  return {};
}

Step attn::reference::compileArith(Operation &op, ArrayRef<unsigned> in, ArrayRef<unsigned> out) {
  if (!isa_and_nonnull<arith::ArithDialect>(op.getDialect()) || isa<arith::ConstantOp>(op))
    return {};
  if (isa<arith::SelectOp>(op))
    return [c = in[0], a = in[1], b = in[2], d = out[0]](Frame &frame) {
      frame.scalars[d] = frame.scalars[frame.scalars[c].integer ? a : b];
      return true;
    };
  Places p{&op, in, out};
  if (Step step = compileIntegerOp(op, p))
    return step;
  if (Step step = compileRealOp(op, p))
    return step;
  if (Step step = compileConversion(op, p))
    return step;
  return compileExtendedOp(op, p);
}
