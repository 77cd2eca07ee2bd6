//===- AttnScores.cpp - named score functions --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AttnMods.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace attn;
using Predicate = arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

static Value constantFloat(ImplicitLocOpBuilder &builder, Type type, double value) {
  return arith::ConstantOp::create(builder, builder.getFloatAttr(type, value));
}

/// score + term, the term converted to the score's type.
static Value addTerm(ImplicitLocOpBuilder &builder, const ModValues &values, Value term) {
  Type type = values.score.getType();
  unsigned from = term.getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
  if (from < to)
    term = arith::ExtFOp::create(builder, type, term);
  else if (from > to)
    term = arith::TruncFOp::create(builder, type, term);
  return arith::AddFOp::create(builder, values.score, term);
}

/// A captured [heads] of the score's type.
static LogicalResult verifyPerHead(EmitError emitError, NamedModInterface mod, const AttentionDims &dims,
                                   TypeRange captures) {
  auto isElement = [&](Type type) { return type == dims.scoreType; };
  return verifyCapture(emitError, mod, 0, captures[0], {{"heads", dims.heads}}, 1,
                       {isElement, dims.scoreType.isF64() ? "f64" : "f32"});
}

/// A constant that must be finite and above 0 as the score has it: 1e300 is infinite in f32, and 1e-300 is 0.
static LogicalResult verifyPositive(EmitError emitError, StringRef keyword, StringRef name, FloatAttr attr,
                                    const AttentionDims &dims) {
  APFloat value = attr.getValue();
  bool losesInfo = false;
  value.convert(cast<FloatType>(dims.scoreType).getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  if (value.isFinite() && !value.isZero() && !value.isNegative())
    return success();
  return emitError() << "expects the " << name << " of '" << keyword << "' to be finite and above 0 in "
                     << dims.scoreType << ", but got " << attr << " (C10)";
}

/// `<30.0>`; null after an error.
static FloatAttr parseFloatParameter(AsmParser &parser) {
  double value = 0;
  if (parser.parseLess() || parser.parseFloat(value) || parser.parseGreater())
    return {};
  return parser.getBuilder().getF64FloatAttr(value);
}

static void printFloatParameter(AsmPrinter &printer, FloatAttr value) {
  printer << '<';
  printer.printFloat(value.getValue());
  printer << '>';
}

//===----------------------------------------------------------------------===//
// softcap, log_shift
//===----------------------------------------------------------------------===//

Attribute SoftcapAttr::parse(AsmParser &parser, Type) {
  FloatAttr cap = parseFloatParameter(parser);
  return cap ? SoftcapAttr::get(parser.getContext(), cap) : SoftcapAttr();
}

void SoftcapAttr::print(AsmPrinter &printer) const { printFloatParameter(printer, getCap()); }

LogicalResult SoftcapAttr::verifyMod(EmitError emitError, const AttentionDims &dims, TypeRange) const {
  return verifyPositive(emitError, getKeyword(), "cap", getCap(), dims);
}

Value SoftcapAttr::buildMod(ImplicitLocOpBuilder &builder, const ModValues &values, ValueRange) const {
  double value = getCap().getValueAsDouble();
  auto type = cast<FloatType>(values.score.getType());
  Value cap = constantFloat(builder, type, value), ratio;
  // By the reciprocal, which is as exact as the softmax needs and saves a division a score; but not where it, or the
  // cap, is no normal number.
  FloatAttr inverse = builder.getFloatAttr(type, 1 / value);
  if (inverse.getValue().isNormal() && getCap().getValue().isNormal())
    ratio = arith::MulFOp::create(builder, values.score, arith::ConstantOp::create(builder, inverse));
  else
    ratio = arith::DivFOp::create(builder, values.score, cap);
  return arith::MulFOp::create(builder, cap, math::TanhOp::create(builder, ratio));
}

Attribute LogShiftAttr::parse(AsmParser &parser, Type) {
  FloatAttr shift = parseFloatParameter(parser);
  return shift ? LogShiftAttr::get(parser.getContext(), shift) : LogShiftAttr();
}

void LogShiftAttr::print(AsmPrinter &printer) const { printFloatParameter(printer, getShift()); }

LogicalResult LogShiftAttr::verifyMod(EmitError emitError, const AttentionDims &dims, TypeRange) const {
  return verifyPositive(emitError, getKeyword(), "shift", getShift(), dims);
}

Value LogShiftAttr::buildMod(ImplicitLocOpBuilder &builder, const ModValues &values, ValueRange) const {
  Type type = values.score.getType();
  Value positive = arith::MaximumFOp::create(builder, values.score, constantFloat(builder, type, 0));
  Value shift = constantFloat(builder, type, getShift().getValueAsDouble());
  return math::LogOp::create(builder, arith::AddFOp::create(builder, positive, shift));
}

//===----------------------------------------------------------------------===//
// alibi, head_scale
//===----------------------------------------------------------------------===//

Attribute AlibiAttr::parse(AsmParser &parser, Type) {
  Diagonal diagonal = Diagonal::Implied;
  if (parseParameters(parser, getMnemonic(), {}, {}, &diagonal))
    return {};
  return AlibiAttr::get(parser.getContext(), diagonal);
}

void AlibiAttr::print(AsmPrinter &printer) const { printParameters(printer, {}, {}, getDiagonal()); }

LogicalResult AlibiAttr::verifyMod(EmitError emitError, const AttentionDims &dims, TypeRange captures) const {
  if (failed(verifyPerHead(emitError, *this, dims, captures)))
    return failure();
  return verifyDiagonal(emitError, getKeyword(), getDiagonal(), dims);
}

Value AlibiAttr::buildMod(ImplicitLocOpBuilder &builder, const ModValues &values, ValueRange captures) const {
  Value slope = readElement(builder, captures[0], values.h);
  // In integers: a float of j alone, or of the offset, would lose the low bits of a short distance.
  Value distance = arith::SubIOp::create(builder, values.j, queryPosition(builder, getDiagonal(), values));
  Value wide = arith::IndexCastOp::create(builder, builder.getI64Type(), distance);
  Value real = arith::SIToFPOp::create(builder, values.score.getType(), wide);
  return arith::AddFOp::create(builder, values.score, arith::MulFOp::create(builder, slope, real));
}

LogicalResult HeadScaleAttr::verifyMod(EmitError emitError, const AttentionDims &dims, TypeRange captures) const {
  return verifyPerHead(emitError, *this, dims, captures);
}

Value HeadScaleAttr::buildMod(ImplicitLocOpBuilder &builder, const ModValues &values, ValueRange captures) const {
  return arith::MulFOp::create(builder, values.score, readElement(builder, captures[0], values.h));
}

//===----------------------------------------------------------------------===//
// bias, additive
//===----------------------------------------------------------------------===//

static LogicalResult verifyAdded(EmitError emitError, StringRef keyword, Type type, const AttentionDims &dims) {
  if (!isFloatElement(cast<ShapedType>(type).getElementType()))
    return emitError() << "expects the operand of '" << keyword
                       << "' to have element type f16, bf16, f32 or f64, but got " << type << " (C10)";
  return verifyBroadcast(emitError, keyword, type, dims);
}

LogicalResult BiasAttr::verifyMod(EmitError emitError, const AttentionDims &dims, TypeRange captures) const {
  return verifyAdded(emitError, getKeyword(), captures[0], dims);
}

Value BiasAttr::buildMod(ImplicitLocOpBuilder &builder, const ModValues &values, ValueRange captures) const {
  return addTerm(builder, values, readBroadcast(builder, captures[0], values));
}

LogicalResult AdditiveAttr::verifyMod(EmitError emitError, const AttentionDims &dims, TypeRange captures) const {
  return verifyAdded(emitError, getKeyword(), captures[0], dims);
}

Value AdditiveAttr::buildMod(ImplicitLocOpBuilder &builder, const ModValues &values, ValueRange captures) const {
  return addTerm(builder, values, readBroadcast(builder, captures[0], values));
}

//===----------------------------------------------------------------------===//
// t5_bias
//===----------------------------------------------------------------------===//

static constexpr int64_t kMaxT5Buckets = 256, kMaxT5Distance = int64_t(1) << 20;

namespace {
/// The buckets of one direction: distances below `exact` have one each, the other `logarithmic` ones share the rest.
struct T5Buckets {
  int64_t count, exact, logarithmic;
  explicit T5Buckets(T5BiasAttr attr)
      : count(attr.getBidirectional() ? attr.getBuckets() / 2 : attr.getBuckets()), exact(count / 2),
        logarithmic(count - exact) {}
};
} // namespace

/// base^exponent in the width of the base.
static APInt power(APInt base, int64_t exponent) {
  APInt result(base.getBitWidth(), 1);
  for (; exponent > 0; exponent >>= 1, base *= base)
    if (exponent & 1)
      result *= base;
  return result;
}

/// The first distance of bucket exact + k: the least x with log(x / exact) / log(max / exact) * n >= k, that is
/// x^n * exact^k >= max^k * exact^n, in integers.
static int64_t firstDistance(const T5Buckets &buckets, int64_t maxDistance, int64_t k) {
  int64_t n = buckets.logarithmic;
  // Either side has at most 2n factors, of 21 bits each.
  unsigned width = 21 * 2 * n + 1;
  auto raise = [&](int64_t base, int64_t exponent) { return power(APInt(width, base), exponent); };
  APInt scale = raise(buckets.exact, k), border = raise(maxDistance, k) * raise(buckets.exact, n);
  int64_t low = buckets.exact, high = maxDistance; // low is in front of the border, high is not
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    ((raise(middle, n) * scale).uge(border) ? high : low) = middle;
  }
  return high;
}

Attribute T5BiasAttr::parse(AsmParser &parser, Type) {
  IntegerParameter given[] = {{"buckets", 2, std::nullopt}, {"max_distance", 1, std::nullopt}};
  WordParameter kinds[] = {{"bidirectional"}, {"causal"}};
  Diagonal diagonal = Diagonal::Implied;
  SMLoc loc = parser.getCurrentLocation();
  if (parseParameters(parser, getMnemonic(), given, kinds, &diagonal))
    return {};
  if (kinds[0].value == kinds[1].value)
    return parser.emitError(loc, "expects 't5_bias' to say one of bidirectional and causal"), Attribute();
  return T5BiasAttr::get(parser.getContext(), given[0].value, given[1].value, kinds[0].value, diagonal);
}

void T5BiasAttr::print(AsmPrinter &printer) const {
  printParameters(printer,
                  {{"buckets", 2, std::nullopt, getBuckets()}, {"max_distance", 1, std::nullopt, getMaxDistance()}},
                  {{"bidirectional", getBidirectional()}, {"causal", !getBidirectional()}}, getDiagonal());
}

int64_t T5BiasAttr::getCaptureSize(unsigned) const { return getBuckets(); }

LogicalResult T5BiasAttr::verifyMod(EmitError emitError, const AttentionDims &dims, TypeRange captures) const {
  int64_t least = getBidirectional() ? 4 : 2;
  if (getBuckets() < least || getBuckets() > kMaxT5Buckets || (getBidirectional() && getBuckets() % 2))
    return emitError() << "expects 'buckets' of 't5_bias' to be " << (getBidirectional() ? "even and " : "") << "from "
                       << least << " to " << kMaxT5Buckets << ", but got " << getBuckets() << " (C10)";
  int64_t exact = T5Buckets(*this).exact;
  if (getMaxDistance() <= exact || getMaxDistance() > kMaxT5Distance)
    return emitError() << "expects 'max_distance' of 't5_bias' to be above " << exact << " and at most "
                       << kMaxT5Distance << ", but got " << getMaxDistance() << " (C10)";
  if (failed(verifyCapture(emitError, *this, 0, captures[0], {{"buckets", getBuckets()}, {"heads", dims.heads}}, 2,
                           {isFloatElement, "f16, bf16, f32 or f64"})))
    return failure();
  return verifyDiagonal(emitError, getKeyword(), getDiagonal(), dims);
}

Value T5BiasAttr::buildMod(ImplicitLocOpBuilder &builder, const ModValues &values, ValueRange captures) const {
  T5Buckets buckets(*this);
  Value zero = constantIndex(builder, 0);
  Value position = queryPosition(builder, getDiagonal(), values);
  Value back = arith::SubIOp::create(builder, position, values.j);
  Value ahead = arith::SubIOp::create(builder, values.j, position);
  Value distance = arith::MaxSIOp::create(builder, back, getBidirectional() ? ahead : zero);
  // Buckets of distances are compared with integers: a logarithm could round to the wrong side of a border.
  Value bucket = arith::MinSIOp::create(builder, distance, constantIndex(builder, buckets.exact));
  for (int64_t k = 1; k < buckets.logarithmic; ++k) {
    Value first = constantIndex(builder, firstDistance(buckets, getMaxDistance(), k));
    bucket = arith::SelectOp::create(builder, compare(builder, Predicate::sge, distance, first),
                                     constantIndex(builder, buckets.exact + k), bucket);
  }
  if (getBidirectional()) {
    Value upper = arith::AddIOp::create(builder, bucket, constantIndex(builder, buckets.count));
    bucket = arith::SelectOp::create(builder, compare(builder, Predicate::sgt, ahead, zero), upper, bucket);
  }
  return addTerm(builder, values, readElement(builder, captures[0], {bucket, values.h}));
}

//===----------------------------------------------------------------------===//
// distance_bias
//===----------------------------------------------------------------------===//

Attribute DistanceBiasAttr::parse(AsmParser &parser, Type) {
  IntegerParameter max[] = {{"max", 0, std::nullopt}};
  Diagonal diagonal = Diagonal::Implied;
  if (parseParameters(parser, getMnemonic(), max, {}, &diagonal))
    return {};
  return DistanceBiasAttr::get(parser.getContext(), max[0].value, diagonal);
}

void DistanceBiasAttr::print(AsmPrinter &printer) const {
  printParameters(printer, {{"max", 0, std::nullopt, getMax()}}, {}, getDiagonal());
}

int64_t DistanceBiasAttr::getCaptureSize(unsigned) const { return 2 * getMax() + 1; }

LogicalResult DistanceBiasAttr::verifyMod(EmitError emitError, const AttentionDims &dims, TypeRange captures) const {
  if (failed(verifyAtLeast(emitError, getKeyword(), "max", getMax(), 0)))
    return failure();
  if (getMax() > kMaxGridLength)
    return emitError() << "expects 'max' of 'distance_bias' to be at most " << kMaxGridLength << ", but got "
                       << getMax() << " (C10)";
  if (failed(verifyCapture(emitError, *this, 0, captures[0],
                           {{"heads", dims.heads}, {"2 * max + 1", getCaptureSize(0)}}, 1,
                           {isFloatElement, "f16, bf16, f32 or f64"})))
    return failure();
  return verifyDiagonal(emitError, getKeyword(), getDiagonal(), dims);
}

Value DistanceBiasAttr::buildMod(ImplicitLocOpBuilder &builder, const ModValues &values, ValueRange captures) const {
  Value distance = arith::SubIOp::create(builder, values.j, queryPosition(builder, getDiagonal(), values));
  Value clamped = arith::MaxSIOp::create(builder, distance, constantIndex(builder, -getMax()));
  clamped = arith::MinSIOp::create(builder, clamped, constantIndex(builder, getMax()));
  Value entry = arith::AddIOp::create(builder, clamped, constantIndex(builder, getMax()));
  bool perHead = cast<ShapedType>(captures[0].getType()).getRank() == 2;
  SmallVector<Value> indices{values.h, entry};
  return addTerm(builder, values, readElement(builder, captures[0], ArrayRef(indices).take_back(perHead ? 2 : 1)));
}

//===----------------------------------------------------------------------===//
// indexed_bias
//===----------------------------------------------------------------------===//

LogicalResult IndexedBiasAttr::verifyMod(EmitError emitError, const AttentionDims &dims, TypeRange captures) const {
  if (failed(verifyCapture(emitError, *this, 0, captures[0], {{"queryLen", dims.queryLen}, {"kvLen", dims.kvLen}}, 2,
                           {isIndexElement, "i32, i64 or index"})))
    return failure();
  return verifyCapture(emitError, *this, 1, captures[1], {{"entries", ShapedType::kDynamic}, {"heads", dims.heads}}, 2,
                       {isFloatElement, "f16, bf16, f32 or f64"});
}

Value IndexedBiasAttr::buildMod(ImplicitLocOpBuilder &builder, const ModValues &values, ValueRange captures) const {
  Value entry = toIndex(builder, readElement(builder, captures[0], {values.i, values.j}));
  Value last = arith::SubIOp::create(builder, getDimension(builder, captures[1], 0), constantIndex(builder, 1));
  entry = arith::MaxSIOp::create(builder, entry, constantIndex(builder, 0));
  entry = arith::MinSIOp::create(builder, entry, last);
  return addTerm(builder, values, readElement(builder, captures[1], {entry, values.h}));
}
