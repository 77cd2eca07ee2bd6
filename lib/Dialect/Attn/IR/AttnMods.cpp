//===- AttnMods.cpp - what named masks and score functions share -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of names, and helpers for syntax, conditions and expansion. The masks stand in AttnMasks.cpp and
// AttnBlockMasks.cpp, the score functions in AttnScores.cpp. The reference interpreter has formulas of its own for them
// (lib/Reference), so that the expansion is checked against something.
//
//===----------------------------------------------------------------------===//

#include "AttnMods.h"
#include "AttnDirectives.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

namespace {

/// One name: how its parameters are read and printed.
struct NamedMod {
  StringRef name;
  Attribute (*parse)(AsmParser &);
  void (*print)(AsmPrinter &, Attribute);
};

template <typename AttrT, typename = void> struct HasParameters : std::false_type {};
template <typename AttrT> struct HasParameters<AttrT, std::void_t<decltype(&AttrT::parse)>> : std::true_type {};

template <typename AttrT> Attribute parseOf(AsmParser &parser) {
  if constexpr (HasParameters<AttrT>::value)
    return AttrT::parse(parser, {});
  else
    return AttrT::get(parser.getContext());
}

/// The number of operands tells `separate` in the assembly of an op, so it is not printed.
template <typename AttrT> void printOf(AsmPrinter &printer, Attribute attr) {
  if constexpr (std::is_same_v<AttrT, DocumentCausalAttr>)
    printParameters(printer, {}, {}, cast<AttrT>(attr).getDiagonal());
  else if constexpr (HasParameters<AttrT>::value && !llvm::is_one_of<AttrT, DocumentAttr, SharedPrefixAttr>::value)
    cast<AttrT>(attr).print(printer);
}

template <typename... AttrTs> ArrayRef<NamedMod> tableOf() {
  static const NamedMod table[] = {{AttrTs::getMnemonic(), parseOf<AttrTs>, printOf<AttrTs>}...};
  return table;
}

} // namespace

/// The table of names.
static ArrayRef<NamedMod> getMods(bool masks) {
  if (masks)
    return tableOf<CausalAttr, WindowAttr, PrefixAttr, BooleanAttr, DilatedAttr, GlobalWindowAttr, PaddingLeftAttr,
                   PaddingRightAttr, DocumentAttr, DocumentCausalAttr, SharedPrefixAttr, ChunkedAttr, BlockDiagonalAttr,
                   BlockCausalAttr, BlockDiffusionAttr, Local2dAttr, TreeAttr>();
  return tableOf<SoftcapAttr, AlibiAttr, BiasAttr, AdditiveAttr, HeadScaleAttr, LogShiftAttr, T5BiasAttr,
                 DistanceBiasAttr, IndexedBiasAttr>();
}

static const NamedMod *findMod(bool masks, StringRef name) {
  ArrayRef<NamedMod> mods = getMods(masks);
  const NamedMod *found = llvm::find_if(mods, [&](const NamedMod &mod) { return mod.name == name; });
  return found == mods.end() ? nullptr : found;
}

FailureOr<NamedModInterface> attn::parseMod(AsmParser &parser, bool masks) {
  StringRef word;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&word))
    return failure();
  const NamedMod *mod = findMod(masks, word);
  if (!mod) {
    auto names = llvm::map_range(getMods(masks), [](const NamedMod &known) { return known.name; });
    return parser.emitError(loc, "expected ")
           << (masks ? "a mask (" : "a score function (") << llvm::join(names, ", ") << "), but got '" << word << "'";
  }
  Attribute attr = mod->parse(parser);
  if (!attr)
    return failure();
  return cast<NamedModInterface>(attr);
}

void attn::printMod(AsmPrinter &printer, NamedModInterface mod) {
  printer << mod.getKeyword();
  findMod(mod.isMask(), mod.getKeyword())->print(printer, mod);
}

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

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

/// Parses `= integer` behind the name of a parameter.
static ParseResult parseInteger(AsmParser &parser, StringRef keyword, IntegerParameter &parameter) {
  SMLoc loc;
  if (parser.parseEqual() || parser.getCurrentLocation(&loc) || parser.parseInteger(parameter.value))
    return failure();
  if (parameter.value >= parameter.minimum)
    return success();
  InFlightDiagnostic diagnostic = parser.emitError(loc, "expects '")
                                  << parameter.name << "' of '" << keyword << "' to be at least " << parameter.minimum
                                  << ", but got " << parameter.value;
  if (parameter.absent)
    diagnostic << "; leave it out for no limit";
  return diagnostic << " (C10)";
}

ParseResult attn::parseParameters(AsmParser &parser, StringRef keyword, MutableArrayRef<IntegerParameter> integers,
                                  MutableArrayRef<WordParameter> words, Diagonal *diagonal) {
  SMLoc start = parser.getCurrentLocation();
  SmallVector<StringRef> given;
  auto item = [&](StringRef word, SMLoc loc) -> ParseResult {
    auto *integer = llvm::find_if(integers, [&](const IntegerParameter &p) { return p.name == word; });
    auto *flag = llvm::find_if(words, [&](const WordParameter &p) { return p.name == word; });
    if (integer == integers.end() && flag == words.end()) {
      if (diagonal)
        return parseDiagonalWord(parser, word, loc, *diagonal);
      return parser.emitError(loc, "'") << keyword << "' has no parameter '" << word << "'";
    }
    if (llvm::is_contained(given, word))
      return parser.emitError(loc, "the parameter '") << word << "' of '" << keyword << "' is given twice";
    given.push_back(word);
    if (flag != words.end())
      return flag->value = true, success();
    return parseInteger(parser, keyword, *integer);
  };
  if (parseItems(parser, item))
    return failure();
  for (IntegerParameter &integer : integers) {
    if (llvm::is_contained(given, integer.name))
      continue;
    if (!integer.absent)
      return parser.emitError(start, "expects '")
             << keyword << "' to give '" << integer.name << "'; write " << keyword << '<' << integer.name << " = ...>";
    integer.value = *integer.absent;
  }
  return success();
}

void attn::printParameters(AsmPrinter &printer, ArrayRef<IntegerParameter> integers, ArrayRef<WordParameter> words,
                           Diagonal diagonal) {
  SmallVector<std::string> items;
  for (const IntegerParameter &integer : integers)
    if (!integer.absent || *integer.absent != integer.value)
      items.push_back((integer.name + " = " + Twine(integer.value)).str());
  for (const WordParameter &word : words)
    if (word.value)
      items.push_back(word.name.str());
  if (diagonal != Diagonal::Implied)
    items.push_back(stringifyDiagonal(diagonal).str());
  if (!items.empty())
    printer << '<' << llvm::join(items, ", ") << '>';
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

static std::string sizeText(int64_t size) { return ShapedType::isDynamic(size) ? "?" : std::to_string(size); }

LogicalResult attn::verifyDiagonal(EmitError emitError, StringRef keyword, Diagonal diagonal,
                                   const AttentionDims &dims) {
  if (diagonal != Diagonal::Implied)
    return success();
  if (dims.hasLengths)
    return emitError() << "expects '" << keyword << "' to name its diagonal where kv_lengths are given; write "
                       << keyword << "<top_left> or " << keyword << "<bottom_right> (C10)";
  if (ShapedType::isDynamic(dims.queryLen) || dims.queryLen != dims.kvLen)
    return emitError() << "expects '" << keyword << "' to name its diagonal unless queryLen = kvLen is known, but got "
                       << sizeText(dims.queryLen) << " and " << sizeText(dims.kvLen) << "; write " << keyword
                       << "<top_left> or " << keyword << "<bottom_right> (C10)";
  return success();
}

LogicalResult attn::verifyAtLeast(EmitError emitError, StringRef keyword, StringRef name, int64_t value,
                                  int64_t minimum) {
  if (value >= minimum)
    return success();
  return emitError() << "expects '" << name << "' of '" << keyword << "' to be at least " << minimum << ", but got "
                     << value << " (C10)";
}

LogicalResult attn::verifyLength(EmitError emitError, StringRef keyword, StringRef formula, int64_t length,
                                 const AttentionDims &dims) {
  for (auto [name, size] : {std::pair("queryLen", dims.queryLen), std::pair("kvLen", dims.kvLen)})
    if (!ShapedType::isDynamic(size) && size != length)
      return emitError() << "expects " << name << " to be " << formula << " = " << length << " for '" << keyword
                         << "', but got " << size << " (C10)";
  return success();
}

bool attn::isIndexElement(Type type) { return type.isIndex() || type.isInteger(32) || type.isInteger(64); }
bool attn::isFloatElement(Type type) { return isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type); }

/// `[batch = 2, queryLen = 5]`.
static std::string shapeText(ArrayRef<CaptureDim> shape) {
  auto dims =
      llvm::map_range(shape, [](const CaptureDim &dim) { return (dim.name + " = " + sizeText(dim.size)).str(); });
  return "[" + llvm::join(dims, ", ") + "]";
}

LogicalResult attn::verifyCapture(EmitError emitError, NamedModInterface mod, unsigned capture, Type type,
                                  ArrayRef<CaptureDim> shape, unsigned minimumRank, const Elements &elements) {
  auto shaped = cast<ShapedType>(type);
  unsigned rank = shaped.getRank();
  bool hasRank = rank >= minimumRank && rank <= shape.size();
  auto sizes = llvm::map_to_vector(shape.take_back(rank), [](const CaptureDim &dim) { return dim.size; });
  if (hasRank && elements.accepts(shaped.getElementType()) &&
      succeeded(verifyCompatibleShape(shaped.getShape(), sizes)))
    return success();
  InFlightDiagnostic diagnostic = emitError();
  diagnostic << "expects ";
  if (mod.getNumCaptures() > 1)
    diagnostic << "operand " << capture << " of '";
  else
    diagnostic << "the operand of '";
  diagnostic << mod.getKeyword() << "' to have shape " << shapeText(shape);
  if (minimumRank < shape.size())
    diagnostic << " or " << shapeText(shape.take_back(minimumRank));
  return diagnostic << " of " << elements.text << ", but got " << type << " (C10)";
}

LogicalResult attn::verifyBroadcast(EmitError emitError, StringRef keyword, Type type, const AttentionDims &dims) {
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

//===----------------------------------------------------------------------===//
// Expansion
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

Value attn::compare(ImplicitLocOpBuilder &builder, arith::CmpIPredicate predicate, Value lhs, Value rhs) {
  return arith::CmpIOp::create(builder, predicate, lhs, rhs);
}

Value attn::both(ImplicitLocOpBuilder &builder, Value lhs, Value rhs) {
  return arith::AndIOp::create(builder, lhs, rhs);
}

Value attn::either(ImplicitLocOpBuilder &builder, Value lhs, Value rhs) {
  return arith::OrIOp::create(builder, lhs, rhs);
}

Value attn::queryPosition(ImplicitLocOpBuilder &builder, Diagonal diagonal, const ModValues &values) {
  if (diagonal != Diagonal::BottomRight)
    return values.i;
  Value offset = arith::SubIOp::create(builder, values.kvLen, values.queryLen);
  return arith::AddIOp::create(builder, values.i, offset);
}

Value attn::readAt(ImplicitLocOpBuilder &builder, Value capture, const ModValues &values, Value index) {
  if (cast<ShapedType>(capture.getType()).getRank() == 1)
    return readElement(builder, capture, index);
  return readElement(builder, capture, {values.b, index});
}

Value attn::toIndex(ImplicitLocOpBuilder &builder, Value value) {
  if (value.getType().isIndex())
    return value;
  return arith::IndexCastOp::create(builder, builder.getIndexType(), value);
}

Value attn::readBroadcast(ImplicitLocOpBuilder &builder, Value capture, const ModValues &values) {
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
