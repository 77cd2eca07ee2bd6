//===- AttnAttrs.cpp - named masks and score functions ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Syntax, conditions and expansion of each named mask and score function. The reference interpreter has formulas of
// its own for them (lib/Reference), so that the expansion is checked against something.
//
//===----------------------------------------------------------------------===//

#include "AttnDirectives.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

FailureOr<NamedModInterface> attn::parseMod(AsmParser &parser, StringRef word) {
  using Parse = Attribute (*)(AsmParser &, Type);
  auto empty = [](auto tag) -> Parse {
    return [](AsmParser &p, Type) -> Attribute { return decltype(tag)::get(p.getContext()); };
  };
  auto parse = llvm::StringSwitch<Parse>(word)
                   .Case("causal", CausalAttr::parse)
                   .Case("window", WindowAttr::parse)
                   .Case("prefix", PrefixAttr::parse)
                   .Case("boolean", empty(BooleanAttr()))
                   .Case("softcap", SoftcapAttr::parse)
                   .Case("alibi", empty(AlibiAttr()))
                   .Case("bias", empty(BiasAttr()))
                   .Case("additive", empty(AdditiveAttr()))
                   .Default(nullptr);
  if (!parse)
    return NamedModInterface();
  Attribute attr = parse(parser, {});
  if (!attr)
    return failure();
  return cast<NamedModInterface>(attr);
}

void attn::printMod(AsmPrinter &printer, NamedModInterface mod) {
  printer << mod.getKeyword();
  llvm::TypeSwitch<Attribute>(mod).Case<CausalAttr, WindowAttr, PrefixAttr, SoftcapAttr>(
      [&](auto known) { known.print(printer); });
}

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

Value attn::readElement(ImplicitLocOpBuilder &builder, Value shaped, ValueRange indices) {
  if (isa<MemRefType>(shaped.getType()))
    return memref::LoadOp::create(builder, shaped, indices);
  return tensor::ExtractOp::create(builder, shaped, indices);
}

Value attn::getDimension(ImplicitLocOpBuilder &builder, Value shaped, int64_t dimension) {
  auto type = cast<ShapedType>(shaped.getType());
  if (!type.isDynamicDim(dimension))
    return arith::ConstantIndexOp::create(builder, type.getDimSize(dimension));
  if (isa<MemRefType>(type))
    return memref::DimOp::create(builder, shaped, dimension);
  return tensor::DimOp::create(builder, shaped, dimension);
}

static Value constantIndex(ImplicitLocOpBuilder &builder, int64_t value) {
  return arith::ConstantIndexOp::create(builder, value);
}

static Value constantFloat(ImplicitLocOpBuilder &builder, Type type, double value) {
  return arith::ConstantOp::create(builder, builder.getFloatAttr(type, value));
}

static Value compare(ImplicitLocOpBuilder &builder, arith::CmpIPredicate predicate, Value lhs, Value rhs) {
  return arith::CmpIOp::create(builder, predicate, lhs, rhs);
}

/// i + offset of the diagonal; top_left and implied (queryLen = kvLen) have offset 0.
static Value diagonalEnd(ImplicitLocOpBuilder &builder, Diagonal diagonal, const ModValues &values) {
  if (diagonal != Diagonal::BottomRight)
    return values.i;
  Value offset = arith::SubIOp::create(builder, values.kvLen, values.queryLen);
  return arith::AddIOp::create(builder, values.i, offset);
}

/// `<`, a list of items separated by commas (each parsed by `item`), `>`; nothing at all is an empty list.
static ParseResult parseItems(AsmParser &parser, function_ref<ParseResult(StringRef, SMLoc)> item) {
  if (failed(parser.parseOptionalLess()))
    return success();
  auto one = [&]() -> ParseResult {
    StringRef word;
    SMLoc loc = parser.getCurrentLocation();
    return failure(parser.parseKeyword(&word) || item(word, loc));
  };
  return failure(parser.parseCommaSeparatedList(one) || parser.parseGreater());
}

static ParseResult parseDiagonalWord(AsmParser &parser, StringRef word, SMLoc loc, Diagonal &diagonal) {
  std::optional<Diagonal> known = symbolizeDiagonal(word);
  if (!known || *known == Diagonal::Implied)
    return parser.emitError(loc, "expected diagonal 'top_left' or 'bottom_right', but got '") << word << "'";
  if (diagonal != Diagonal::Implied)
    return parser.emitError(loc, "the diagonal is given twice");
  diagonal = *known;
  return success();
}

/// Parses nothing or `<diagonal>`.
static FailureOr<Diagonal> parseDiagonal(AsmParser &parser) {
  Diagonal diagonal = Diagonal::Implied;
  if (parseItems(parser, [&](StringRef word, SMLoc loc) { return parseDiagonalWord(parser, word, loc, diagonal); }))
    return failure();
  return diagonal;
}

static void printDiagonal(AsmPrinter &printer, Diagonal diagonal) {
  if (diagonal != Diagonal::Implied)
    printer << '<' << stringifyDiagonal(diagonal) << '>';
}

/// (C10) an implied diagonal needs queryLen = kvLen known.
static LogicalResult verifyDiagonal(function_ref<InFlightDiagnostic()> emitError, StringRef keyword, Diagonal diagonal,
                                    const AttentionDims &dims) {
  if (diagonal != Diagonal::Implied)
    return success();
  if (dims.hasLengths)
    return emitError() << "expects '" << keyword << "' to name its diagonal where kv_lengths are given; write "
                       << keyword << "<top_left> or " << keyword << "<bottom_right> (C10)";
  auto text = [](int64_t size) { return ShapedType::isDynamic(size) ? std::string("?") : std::to_string(size); };
  if (ShapedType::isDynamic(dims.queryLen) || dims.queryLen != dims.kvLen)
    return emitError() << "expects '" << keyword << "' to name its diagonal unless queryLen = kvLen is known, but got "
                       << text(dims.queryLen) << " and " << text(dims.kvLen) << "; write " << keyword
                       << "<top_left> or " << keyword << "<bottom_right> (C10)";
  return success();
}

/// (C10) a captured operand of one known shape, such as [heads].
static LogicalResult verifyVector(function_ref<InFlightDiagnostic()> emitError, StringRef keyword, Type type,
                                  StringRef dimName, int64_t size, function_ref<bool(Type)> isElement,
                                  StringRef elements) {
  auto shaped = cast<ShapedType>(type);
  if (shaped.getRank() != 1 || !isElement(shaped.getElementType()) ||
      failed(verifyCompatibleShape(shaped.getShape(), ArrayRef<int64_t>(size))))
    return emitError() << "expects the operand of '" << keyword << "' to have shape [" << dimName << " = "
                       << (ShapedType::isDynamic(size) ? std::string("?") : std::to_string(size)) << "] of " << elements
                       << ", but got " << type << " (C10)";
  return success();
}

/// (C10) a captured operand that broadcasts to [batch, heads, queryLen, kvLen].
static LogicalResult verifyBroadcast(function_ref<InFlightDiagnostic()> emitError, StringRef keyword, Type type,
                                     const AttentionDims &dims) {
  static constexpr StringRef names[] = {"batch", "heads", "queryLen", "kvLen"};
  const int64_t full[] = {dims.batch, dims.heads, dims.queryLen, dims.kvLen};
  auto shaped = cast<ShapedType>(type);
  if (shaped.getRank() > 4)
    return emitError() << "expects the operand of '" << keyword << "' to have at most rank 4, but got rank "
                       << shaped.getRank() << " (C10)";
  for (int64_t k = 0, first = 4 - shaped.getRank(); k < shaped.getRank(); ++k) {
    int64_t size = shaped.getDimSize(k), want = full[first + k];
    if (!ShapedType::isDynamic(size) && size != 1 && !ShapedType::isDynamic(want) && size != want)
      return emitError() << "expects dimension " << k << " of the operand of '" << keyword << "' to be 1 or "
                         << names[first + k] << " = " << want << ", but got " << size << " (C10)";
  }
  return success();
}

/// Reads a captured operand that broadcasts. A dynamic dimension may turn out to be 1: min(index, size - 1) is then 0,
/// and the index itself otherwise (attn-expand-named checks that there is no third case).
static Value readBroadcast(ImplicitLocOpBuilder &builder, Value capture, const ModValues &values) {
  const Value full[] = {values.b, values.h, values.i, values.j};
  auto type = cast<ShapedType>(capture.getType());
  SmallVector<Value> indices;
  for (int64_t k = 0, first = 4 - type.getRank(); k < type.getRank(); ++k) {
    Value index = full[first + k];
    if (type.getDimSize(k) == 1)
      index = constantIndex(builder, 0);
    else if (type.isDynamicDim(k))
      index = arith::MinSIOp::create(
          builder, index, arith::SubIOp::create(builder, getDimension(builder, capture, k), constantIndex(builder, 1)));
    indices.push_back(index);
  }
  return readElement(builder, capture, indices);
}

/// Converts a float to the score's type.
static Value toScoreType(ImplicitLocOpBuilder &builder, Value value, Type scoreType) {
  unsigned from = value.getType().getIntOrFloatBitWidth(), to = scoreType.getIntOrFloatBitWidth();
  if (from == to)
    return value;
  if (from < to)
    return arith::ExtFOp::create(builder, scoreType, value);
  return arith::TruncFOp::create(builder, scoreType, value);
}

//===----------------------------------------------------------------------===//
// causal
//===----------------------------------------------------------------------===//

Attribute CausalAttr::parse(AsmParser &parser, Type) {
  FailureOr<Diagonal> diagonal = parseDiagonal(parser);
  return failed(diagonal) ? Attribute() : CausalAttr::get(parser.getContext(), *diagonal);
}

void CausalAttr::print(AsmPrinter &printer) const { printDiagonal(printer, getDiagonal()); }

LogicalResult CausalAttr::verifyMod(function_ref<InFlightDiagnostic()> emitError, const AttentionDims &dims,
                                    TypeRange) const {
  return verifyDiagonal(emitError, getKeyword(), getDiagonal(), dims);
}

Value CausalAttr::buildMod(ImplicitLocOpBuilder &builder, const ModValues &values, ValueRange) const {
  return compare(builder, arith::CmpIPredicate::sle, values.j, diagonalEnd(builder, getDiagonal(), values));
}

//===----------------------------------------------------------------------===//
// window
//===----------------------------------------------------------------------===//

/// Parses `= integer` behind `left` or `right`, which must be at least 0.
static ParseResult parseExtent(AsmParser &parser, StringRef word, SMLoc wordLoc, int64_t &extent) {
  if (extent >= 0)
    return parser.emitError(wordLoc, "the end '") << word << "' of a window is given twice";
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseEqual() || parser.parseInteger(extent))
    return failure();
  if (extent < 0)
    return parser.emitError(loc, "expects '")
           << word << "' of a window to be at least 0, but got " << extent << "; leave it out for no limit (C10)";
  return success();
}

Attribute WindowAttr::parse(AsmParser &parser, Type) {
  int64_t left = -1, right = -1;
  Diagonal diagonal = Diagonal::Implied;
  auto item = [&](StringRef word, SMLoc loc) -> ParseResult {
    if (word == "left")
      return parseExtent(parser, word, loc, left);
    if (word == "right")
      return parseExtent(parser, word, loc, right);
    return parseDiagonalWord(parser, word, loc, diagonal);
  };
  if (parseItems(parser, item))
    return {};
  return WindowAttr::get(parser.getContext(), left, right, diagonal);
}

void WindowAttr::print(AsmPrinter &printer) const {
  SmallVector<std::string> items;
  if (getLeft() >= 0)
    items.push_back("left = " + std::to_string(getLeft()));
  if (getRight() >= 0)
    items.push_back("right = " + std::to_string(getRight()));
  if (getDiagonal() != Diagonal::Implied)
    items.push_back(stringifyDiagonal(getDiagonal()).str());
  if (!items.empty())
    printer << '<' << llvm::join(items, ", ") << '>';
}

LogicalResult WindowAttr::verifyMod(function_ref<InFlightDiagnostic()> emitError, const AttentionDims &dims,
                                    TypeRange) const {
  if (getLeft() < -1 || getRight() < -1)
    return emitError() << "expects the ends of 'window' to be at least 0 (-1: no limit), but got " << getLeft()
                       << " and " << getRight() << " (C10)";
  return verifyDiagonal(emitError, getKeyword(), getDiagonal(), dims);
}

Value WindowAttr::buildMod(ImplicitLocOpBuilder &builder, const ModValues &values, ValueRange) const {
  Value middle = diagonalEnd(builder, getDiagonal(), values);
  // j - middle against constants: no sum of a huge extent and an index can overflow.
  Value distance = arith::SubIOp::create(builder, values.j, middle);
  Value keep;
  if (getLeft() >= 0)
    keep = compare(builder, arith::CmpIPredicate::sge, distance, constantIndex(builder, -getLeft()));
  if (getRight() >= 0) {
    Value below = compare(builder, arith::CmpIPredicate::sle, distance, constantIndex(builder, getRight()));
    keep = keep ? arith::AndIOp::create(builder, keep, below) : below;
  }
  return keep ? keep : Value(arith::ConstantOp::create(builder, builder.getBoolAttr(true)));
}

//===----------------------------------------------------------------------===//
// prefix
//===----------------------------------------------------------------------===//

Attribute PrefixAttr::parse(AsmParser &parser, Type) {
  FailureOr<Diagonal> diagonal = parseDiagonal(parser);
  return failed(diagonal) ? Attribute() : PrefixAttr::get(parser.getContext(), *diagonal);
}

void PrefixAttr::print(AsmPrinter &printer) const { printDiagonal(printer, getDiagonal()); }

LogicalResult PrefixAttr::verifyMod(function_ref<InFlightDiagnostic()> emitError, const AttentionDims &dims,
                                    TypeRange captures) const {
  auto isElement = [](Type type) { return type.isIndex() || type.isInteger(32) || type.isInteger(64); };
  if (failed(verifyVector(emitError, getKeyword(), captures[0], "batch", dims.batch, isElement, "i32, i64 or index")))
    return failure();
  return verifyDiagonal(emitError, getKeyword(), getDiagonal(), dims);
}

Value PrefixAttr::buildMod(ImplicitLocOpBuilder &builder, const ModValues &values, ValueRange captures) const {
  Value prefix = readElement(builder, captures[0], values.b);
  if (!prefix.getType().isIndex())
    prefix = arith::IndexCastOp::create(builder, builder.getIndexType(), prefix);
  Value causal = compare(builder, arith::CmpIPredicate::sle, values.j, diagonalEnd(builder, getDiagonal(), values));
  Value inPrefix = compare(builder, arith::CmpIPredicate::slt, values.j, prefix);
  return arith::OrIOp::create(builder, causal, inPrefix);
}

//===----------------------------------------------------------------------===//
// boolean
//===----------------------------------------------------------------------===//

LogicalResult BooleanAttr::verifyMod(function_ref<InFlightDiagnostic()> emitError, const AttentionDims &dims,
                                     TypeRange captures) const {
  if (!cast<ShapedType>(captures[0]).getElementType().isInteger(1))
    return emitError() << "expects the operand of 'boolean' to have element type i1, but got " << captures[0]
                       << "; a float mask is written additive(...) under scores (C10)";
  return verifyBroadcast(emitError, getKeyword(), captures[0], dims);
}

Value BooleanAttr::buildMod(ImplicitLocOpBuilder &builder, const ModValues &values, ValueRange captures) const {
  return readBroadcast(builder, captures[0], values);
}

//===----------------------------------------------------------------------===//
// softcap
//===----------------------------------------------------------------------===//

Attribute SoftcapAttr::parse(AsmParser &parser, Type) {
  double cap = 0;
  if (parser.parseLess() || parser.parseFloat(cap) || parser.parseGreater())
    return {};
  return SoftcapAttr::get(parser.getContext(), parser.getBuilder().getF64FloatAttr(cap));
}

void SoftcapAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printFloat(getCap().getValue());
  printer << '>';
}

LogicalResult SoftcapAttr::verifyMod(function_ref<InFlightDiagnostic()> emitError, const AttentionDims &dims,
                                     TypeRange) const {
  // The cap as the score has it: 1e300 is infinite in f32, and 1e-300 is 0.
  APFloat cap = getCap().getValue();
  bool losesInfo = false;
  cap.convert(cast<FloatType>(dims.scoreType).getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  if (cap.isFinite() && !cap.isZero() && !cap.isNegative())
    return success();
  return emitError() << "expects the cap of 'softcap' to be finite and above 0 in " << dims.scoreType << ", but got "
                     << getCap() << " (C10)";
}

Value SoftcapAttr::buildMod(ImplicitLocOpBuilder &builder, const ModValues &values, ValueRange) const {
  Value cap = constantFloat(builder, values.score.getType(), getCap().getValueAsDouble());
  Value ratio = arith::DivFOp::create(builder, values.score, cap);
  return arith::MulFOp::create(builder, cap, math::TanhOp::create(builder, ratio));
}

//===----------------------------------------------------------------------===//
// alibi
//===----------------------------------------------------------------------===//

LogicalResult AlibiAttr::verifyMod(function_ref<InFlightDiagnostic()> emitError, const AttentionDims &dims,
                                   TypeRange captures) const {
  auto isElement = [&](Type type) { return type == dims.scoreType; };
  return verifyVector(emitError, getKeyword(), captures[0], "heads", dims.heads, isElement,
                      dims.scoreType.isF64() ? "f64" : "f32");
}

Value AlibiAttr::buildMod(ImplicitLocOpBuilder &builder, const ModValues &values, ValueRange captures) const {
  Value slope = readElement(builder, captures[0], values.h);
  Value distance = arith::SubIOp::create(builder, values.j, values.i);
  Value wide = arith::IndexCastOp::create(builder, builder.getI64Type(), distance);
  Value real = arith::SIToFPOp::create(builder, values.score.getType(), wide);
  return arith::AddFOp::create(builder, values.score, arith::MulFOp::create(builder, slope, real));
}

//===----------------------------------------------------------------------===//
// bias, additive
//===----------------------------------------------------------------------===//

static LogicalResult verifyAdded(function_ref<InFlightDiagnostic()> emitError, StringRef keyword, Type type,
                                 const AttentionDims &dims) {
  Type element = cast<ShapedType>(type).getElementType();
  if (!isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(element))
    return emitError() << "expects the operand of '" << keyword
                       << "' to have element type f16, bf16, f32 or f64, but got " << type << " (C10)";
  return verifyBroadcast(emitError, keyword, type, dims);
}

static Value buildAdded(ImplicitLocOpBuilder &builder, const ModValues &values, Value capture) {
  Value term = toScoreType(builder, readBroadcast(builder, capture, values), values.score.getType());
  return arith::AddFOp::create(builder, values.score, term);
}

LogicalResult BiasAttr::verifyMod(function_ref<InFlightDiagnostic()> emitError, const AttentionDims &dims,
                                  TypeRange captures) const {
  return verifyAdded(emitError, getKeyword(), captures[0], dims);
}

Value BiasAttr::buildMod(ImplicitLocOpBuilder &builder, const ModValues &values, ValueRange captures) const {
  return buildAdded(builder, values, captures[0]);
}

LogicalResult AdditiveAttr::verifyMod(function_ref<InFlightDiagnostic()> emitError, const AttentionDims &dims,
                                      TypeRange captures) const {
  return verifyAdded(emitError, getKeyword(), captures[0], dims);
}

Value AdditiveAttr::buildMod(ImplicitLocOpBuilder &builder, const ModValues &values, ValueRange captures) const {
  return buildAdded(builder, values, captures[0]);
}
