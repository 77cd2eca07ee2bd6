//===- Math.cpp - arithmetic and conversions ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The approximate instructions are computed as exactly as libm does: tests compare with tolerances that hold on
// devices, too. What LLVM's own instructions say becomes those, so that the optimizer sees through it.
//
//===----------------------------------------------------------------------===//

#include "Numbers.h"
#include "Operations.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Intrinsics.h"
#include <cmath>

using namespace attn::emulator;
using llvm::CallInst;
using llvm::Value;
using Builder = llvm::IRBuilderBase;

//===----------------------------------------------------------------------===//
// Approximations
//===----------------------------------------------------------------------===//

using Unary = float (*)(float);

static float exp2Of(float x) { return std::exp2(x); }
static float log2Of(float x) { return std::log2(x); }
static float sinOf(float x) { return std::sin(x); }
static float cosOf(float x) { return std::cos(x); }
static float tanhOf(float x) { return std::tanh(x); }
static float sqrtOf(float x) { return std::sqrt(x); }
static float reciprocalOf(float x) { return 1.0f / x; }
static float reciprocalSqrtOf(float x) { return 1.0f / std::sqrt(x); }
static float quotient(float a, float b) { return a / b; }

template <Unary Function> static float flushed(float x) { return flush(Function(flush(x))); }
static float flushedQuotient(float a, float b) { return flush(flush(a) / flush(b)); }

/// prefix.suffix and prefix.ftz.suffix.
template <Unary Function> static void addUnary(OperationTable &table, const char *prefix, const char *suffix) {
  table.call((kNvvm + llvm::Twine(prefix) + "." + suffix).str(), Function);
  table.call((kNvvm + llvm::Twine(prefix) + ".ftz." + suffix).str(), flushed<Function>);
}

static void addApproximations(OperationTable &table) {
  addUnary<exp2Of>(table, "ex2.approx", "f32");
  addUnary<log2Of>(table, "lg2.approx", "f");
  addUnary<sinOf>(table, "sin.approx", "f");
  addUnary<cosOf>(table, "cos.approx", "f");
  addUnary<tanhOf>(table, "tanh.approx", "f32");
  addUnary<sqrtOf>(table, "sqrt.approx", "f");
  addUnary<sqrtOf>(table, "sqrt.rn", "f");
  addUnary<reciprocalOf>(table, "rcp.approx", "f");
  addUnary<reciprocalOf>(table, "rcp.rn", "f");
  addUnary<reciprocalSqrtOf>(table, "rsqrt.approx", "f");
  const std::string prefix = kNvvm;
  for (const char *name : {"div.approx.f", "div.full", "div.rn.f"})
    table.call(prefix + name, quotient);
  for (const char *name : {"div.approx.ftz.f", "div.full.ftz", "div.rn.ftz.f"})
    table.call(prefix + name, flushedQuotient);
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// An f32 as the bits of a bf16: Nearest: ties to even, else towards zero. NaN: 0x7FFF.
template <bool Nearest> static Value *toBf16Bits(Builder &builder, Value *value) {
  Value *bits = builder.CreateBitCast(value, builder.getInt32Ty());
  Value *high = builder.CreateLShr(bits, 16);
  if (Nearest) {
    Value *bias = builder.CreateAdd(builder.CreateAnd(high, 1), builder.getInt32(0x7FFF));
    high = builder.CreateLShr(builder.CreateAdd(bits, bias), 16);
  }
  Value *isNan = builder.CreateFCmpUNO(value, value);
  return builder.CreateTrunc(builder.CreateSelect(isNan, builder.getInt32(0x7FFF), high), builder.getInt16Ty());
}

static Value *clampBelow(Builder &builder, Value *value) {
  // max(x, 0), where NaN stays NaN and -0 becomes 0.
  Value *zero = llvm::ConstantFP::get(value->getType(), 0);
  return builder.CreateSelect(builder.CreateFCmpULE(value, zero),
                              builder.CreateSelect(builder.CreateFCmpUNO(value, value), value, zero), value);
}

template <bool Nearest, bool Relu> static Value *toBf16(Builder &builder, CallInst &call) {
  auto convert = [&](Value *value) {
    if (Relu)
      value = clampBelow(builder, value);
    return toBf16Bits<Nearest>(builder, value);
  };
  if (!call.getType()->isVectorTy())
    return builder.CreateBitCast(convert(call.getArgOperand(0)), call.getType());
  // The first operand is the high half.
  Value *pair = llvm::PoisonValue::get(llvm::FixedVectorType::get(builder.getInt16Ty(), 2));
  pair = builder.CreateInsertElement(pair, convert(call.getArgOperand(1)), uint64_t(0));
  pair = builder.CreateInsertElement(pair, convert(call.getArgOperand(0)), uint64_t(1));
  return builder.CreateBitCast(pair, call.getType());
}

template <bool Relu> static Value *toF16(Builder &builder, CallInst &call) {
  auto convert = [&](Value *value) {
    if (Relu)
      value = clampBelow(builder, value);
    return builder.CreateFPTrunc(value, builder.getHalfTy());
  };
  if (!call.getType()->isVectorTy())
    return convert(call.getArgOperand(0));
  Value *pair = llvm::PoisonValue::get(call.getType());
  pair = builder.CreateInsertElement(pair, convert(call.getArgOperand(1)), uint64_t(0));
  return builder.CreateInsertElement(pair, convert(call.getArgOperand(0)), uint64_t(1));
}

/// The low 13 bits of a tf32 are zeros.
static int32_t keepTf32(uint32_t bits, uint32_t bias) {
  bool isSpecial = (bits & 0x7F800000) == 0x7F800000;
  return int32_t((isSpecial ? bits : bits + bias) & 0xFFFFE000);
}
static int32_t toTf32Away(float x) { return std::isnan(x) ? 0x7FFFFFFF : keepTf32(toBits(x), 0x1000); }
static int32_t toTf32Even(float x) {
  return std::isnan(x) ? 0x7FFFFFFF : keepTf32(toBits(x), 0xFFF + (toBits(x) >> 13 & 1));
}
static int32_t toTf32Zero(float x) { return std::isnan(x) ? 0x7FFFFFFF : keepTf32(toBits(x), 0); }

static void addConversions(OperationTable &table) {
  const std::string prefix = kNvvm;
  for (const char *name : {"f2bf16", "ff2bf16x2"}) {
    table.expand(prefix + name + ".rn", toBf16<true, false>);
    table.expand(prefix + name + ".rn.relu", toBf16<true, true>);
    table.expand(prefix + name + ".rz", toBf16<false, false>);
    table.expand(prefix + name + ".rz.relu", toBf16<false, true>);
  }
  for (const char *name : {"f2f16", "ff2f16x2"}) {
    table.expand(prefix + name + ".rn", toF16<false>);
    table.expand(prefix + name + ".rn.relu", toF16<true>);
  }
  table.call(prefix + "f2tf32.rna", toTf32Away);
  table.call(prefix + "f2tf32.rn", toTf32Even);
  table.call(prefix + "f2tf32.rz", toTf32Zero);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

template <llvm::Intrinsic::ID Id> static Value *toIntrinsic(Builder &builder, CallInst &call) {
  llvm::SmallVector<Value *> arguments(call.args());
  return builder.CreateIntrinsic(call.getType(), Id, arguments);
}
template <llvm::Instruction::BinaryOps Opcode> static Value *toBinary(Builder &builder, CallInst &call) {
  return builder.CreateBinOp(Opcode, call.getArgOperand(0), call.getArgOperand(1));
}
static Value *toFmaRelu(Builder &builder, CallInst &call) {
  return clampBelow(builder, toIntrinsic<llvm::Intrinsic::fma>(builder, call));
}

static int32_t highSigned(int32_t a, int32_t b) { return int64_t(a) * b >> 32; }
static uint32_t highUnsigned(uint32_t a, uint32_t b) { return uint64_t(a) * b >> 32; }
static uint64_t highUnsigned64(uint64_t a, uint64_t b) { return (unsigned __int128)a * b >> 64; }

/// Byte k of the result is the byte of {b, a} that digit k of the selector names; its bit 3 spreads that byte's sign.
static uint32_t permuteBytes(uint32_t a, uint32_t b, uint32_t selector) {
  uint64_t bytes = uint64_t(b) << 32 | a;
  uint32_t result = 0;
  for (int k = 0; k < 4; ++k) {
    uint32_t digit = selector >> (4 * k) & 15;
    uint32_t byte = bytes >> (8 * (digit & 7)) & 0xFF;
    if (digit & 8)
      byte = byte & 0x80 ? 0xFF : 0;
    result |= byte << (8 * k);
  }
  return result;
}

static void addMinMax(OperationTable &table) {
  // .ftz is not told apart: a maximum of flushed numbers is flushed where it is used.
  for (const char *flushing : {"", "ftz."})
    for (const char *type : {"f", "d", "f16", "f16x2", "bf16", "bf16x2"}) {
      std::string least = (kNvvm + llvm::Twine("fmin.") + flushing).str();
      std::string greatest = (kNvvm + llvm::Twine("fmax.") + flushing).str();
      table.expand(least + type, toIntrinsic<llvm::Intrinsic::minnum>);
      table.expand(greatest + type, toIntrinsic<llvm::Intrinsic::maxnum>);
      table.expand(least + "nan." + type, toIntrinsic<llvm::Intrinsic::minimum>);
      table.expand(greatest + "nan." + type, toIntrinsic<llvm::Intrinsic::maximum>);
    }
}

static void addArithmetic(OperationTable &table) {
  const std::string prefix = kNvvm;
  for (const char *type : {"f", "d", "ftz.f", "f16", "f16x2", "bf16", "bf16x2", "ftz.f16", "ftz.f16x2"})
    table.expand(prefix + "fma.rn." + type, toIntrinsic<llvm::Intrinsic::fma>);
  for (const char *type : {"f16", "f16x2", "bf16", "bf16x2"})
    table.expand(prefix + "fma.rn.relu." + type, toFmaRelu);
  for (const char *type : {"f", "d", "ftz.f"}) {
    table.expand(prefix + "add.rn." + type, toBinary<llvm::Instruction::FAdd>);
    table.expand(prefix + "mul.rn." + type, toBinary<llvm::Instruction::FMul>);
  }
  for (const char *type : {"f", "d", "ftz.f"}) {
    table.expand(prefix + "ceil." + type, toIntrinsic<llvm::Intrinsic::ceil>);
    table.expand(prefix + "floor." + type, toIntrinsic<llvm::Intrinsic::floor>);
    table.expand(prefix + "trunc." + type, toIntrinsic<llvm::Intrinsic::trunc>);
    table.expand(prefix + "round." + type, toIntrinsic<llvm::Intrinsic::roundeven>);
  }
  table.call(prefix + "mulhi.i", highSigned);
  table.call(prefix + "mulhi.ui", highUnsigned);
  table.call(prefix + "mulhi.ull", highUnsigned64);
  table.call(prefix + "prmt", permuteBytes);
}

void attn::emulator::addMath(OperationTable &table) {
  addApproximations(table);
  addConversions(table);
  addArithmetic(table);
  addMinMax(table);
}
