//===- AttnSyntax.cpp - custom pieces of the assembly formats ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/Dialect/Attn/IR/AttnSyntax.h"
#include "AttnDirectives.h"
#include "AttnMods.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

static ParseResult parseRegionWithArguments(OpAsmParser &parser, Region &region, StringRef names, Type scoreType) {
  SmallVector<OpAsmParser::Argument> arguments;
  SMLoc loc = parser.getCurrentLocation();
  auto item = [&]() -> ParseResult {
    if (parser.parseArgument(arguments.emplace_back()))
      return failure();
    return succeeded(parser.parseOptionalColon()) ? parser.parseType(arguments.back().type) : success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, item))
    return failure();
  unsigned count = scoreType ? 5 : 4;
  if (arguments.size() != count)
    return parser.emitError(loc, "expected ")
           << count << " region arguments (" << names << "), but got " << arguments.size();
  for (auto [k, argument] : llvm::enumerate(arguments))
    if (!argument.type)
      argument.type = scoreType && k == 0 ? scoreType : parser.getBuilder().getIndexType();
  return parser.parseRegion(region, arguments);
}

/// The type is printed where it is not the implied one.
static void printRegionWithArguments(OpAsmPrinter &printer, Region &region, Type scoreType) {
  Type indexType = IndexType::get(region.getContext());
  printer << '(';
  llvm::interleaveComma(llvm::enumerate(region.getArguments()), printer, [&](auto indexed) {
    BlockArgument argument = indexed.value();
    Type implied = scoreType && indexed.index() == 0 ? scoreType : indexType;
    printer.printRegionArgument(argument, {}, /*omitType=*/argument.getType() == implied);
  });
  printer << ") ";
  printer.printRegion(region, /*printEntryBlockArgs=*/false);
}

ParseResult attn::parseScoreRegion(OpAsmParser &parser, Region &region) {
  return parseRegionWithArguments(parser, region, "score, b, h, i, j", parser.getBuilder().getF32Type());
}

void attn::printScoreRegion(OpAsmPrinter &printer, Operation *op, Region &region) {
  printRegionWithArguments(printer, region, Float32Type::get(op->getContext()));
}

ParseResult attn::parseMaskRegion(OpAsmParser &parser, Region &region) {
  return parseRegionWithArguments(parser, region, "b, h, i, j", {});
}

void attn::printMaskRegion(OpAsmPrinter &printer, Operation *op, Region &region) {
  printRegionWithArguments(printer, region, {});
}

//===----------------------------------------------------------------------===//
// Directives
//===----------------------------------------------------------------------===//

/// `%scale`, or `%scale : f64`.
ParseResult attn::parseScale(OpAsmParser &parser, OpAsmParser::UnresolvedOperand &scale, Type &type) {
  if (parser.parseOperand(scale))
    return failure();
  type = parser.getBuilder().getF32Type();
  if (succeeded(parser.parseOptionalColon()))
    return parser.parseType(type);
  return success();
}

void attn::printScale(OpAsmPrinter &printer, Operation *, Value scale, Type type) {
  printer << scale;
  if (!type.isF32())
    printer << " : " << type;
}

/// `(b, j, 1, h, d)`: one letter or constant for each dimension of the operand.
static ParseResult parseLayout(OpAsmParser &parser, unsigned which, AffineMapAttr &attr) {
  MLIRContext *context = parser.getContext();
  SmallVector<AffineExpr> results;
  auto item = [&]() -> ParseResult {
    int64_t constant;
    OptionalParseResult number = parser.parseOptionalInteger(constant);
    if (number.has_value()) {
      results.push_back(getAffineConstantExpr(constant, context));
      return *number;
    }
    StringRef word;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&word))
      return failure();
    size_t position = word.size() == 1 ? kLayoutLetters[which].find(word) : StringRef::npos;
    if (position == StringRef::npos)
      return parser.emitError(loc, "expected a position or one of the letters '")
             << kLayoutLetters[which] << "' in the layout of " << kLayoutNames[which] << ", but got '" << word
             << "' (C2)";
    results.push_back(getAffineDimExpr(position, context));
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, item))
    return failure();
  attr = AffineMapAttr::get(AffineMap::get(4, 0, results, context));
  return success();
}

/// `(query(b, i, h, d), key(...), value(...), out(...))`, any of them, in any order.
ParseResult attn::parseLayouts(OpAsmParser &parser, AffineMapAttr &query, AffineMapAttr &key, AffineMapAttr &value,
                               AffineMapAttr &out) {
  AffineMapAttr *layouts[] = {&query, &key, &value, &out};
  auto item = [&]() -> ParseResult {
    StringRef word;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&word))
      return failure();
    auto *name = llvm::find(kLayoutNames, word);
    if (name == std::end(kLayoutNames))
      return parser.emitError(loc, "expected query, key, value or out, but got '") << word << "'";
    unsigned which = name - std::begin(kLayoutNames);
    if (*layouts[which])
      return parser.emitError(loc, "the layout of ") << word << " is given twice";
    return parseLayout(parser, which, *layouts[which]);
  };
  return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, item);
}

void attn::printLayouts(OpAsmPrinter &printer, Operation *, AffineMapAttr query, AffineMapAttr key, AffineMapAttr value,
                        AffineMapAttr out) {
  const AffineMapAttr layouts[] = {query, key, value, out};
  StringRef separator = "";
  printer << '(';
  for (auto [which, layout] : llvm::enumerate(layouts)) {
    if (!layout)
      continue;
    printer << separator << kLayoutNames[which] << '(';
    StringRef letters = kLayoutLetters[which];
    llvm::interleaveComma(layout.getValue().getResults(), printer, [&](AffineExpr result) {
      if (auto dim = dyn_cast<AffineDimExpr>(result))
        printer << letters[dim.getPosition()];
      else
        printer << cast<AffineConstantExpr>(result).getValue();
    });
    printer << ')';
    separator = ", ";
  }
  printer << ')';
}

/// `(%ids : tensor<5xi32>, %more : tensor<7xi32>)`: captured operands, as many as the mod can take.
static ParseResult parseCaptures(OpAsmParser &parser, NamedModInterface &mod,
                                 SmallVectorImpl<OpAsmParser::UnresolvedOperand> &captures,
                                 SmallVectorImpl<Type> &types) {
  SMLoc loc = parser.getCurrentLocation();
  unsigned count = 0;
  auto item = [&]() -> ParseResult {
    ++count;
    return failure(parser.parseOperand(captures.emplace_back()) || parser.parseColon() ||
                   parser.parseType(types.emplace_back()));
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, item))
    return failure();
  if (Attribute fitting = mod.withNumCaptures(count)) {
    mod = cast<NamedModInterface>(fitting);
    return success();
  }
  SmallVector<std::string> counts;
  for (unsigned n = 1; n <= kMaxCaptures; ++n)
    if (mod.withNumCaptures(n))
      counts.push_back(std::to_string(n));
  return parser.emitError(loc, "expects ")
         << llvm::join(counts, " or ")
         << (counts == SmallVector<std::string>{"1"} ? " captured operand for '" : " captured operands for '")
         << mod.getKeyword() << "', but got " << count << " (C10)";
}

/// `(causal<top_left>, boolean(%m : tensor<5x7xi1>))`.
static ParseResult parseMods(OpAsmParser &parser, bool masks, ArrayAttr &mods,
                             SmallVectorImpl<OpAsmParser::UnresolvedOperand> &captures, SmallVectorImpl<Type> &types) {
  SmallVector<Attribute> attrs;
  auto item = [&]() -> ParseResult {
    FailureOr<NamedModInterface> mod = parseMod(parser, masks);
    if (failed(mod) || (mod->getNumCaptures() && parseCaptures(parser, *mod, captures, types)))
      return failure();
    attrs.push_back(*mod);
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, item))
    return failure();
  mods = parser.getBuilder().getArrayAttr(attrs);
  return success();
}

static void printMods(OpAsmPrinter &printer, ArrayAttr mods, OperandRange captures, TypeRange types) {
  unsigned next = 0;
  printer << '(';
  llvm::interleaveComma(mods, printer, [&](Attribute attr) {
    auto mod = cast<NamedModInterface>(attr);
    printMod(printer, mod);
    if (!mod.getNumCaptures())
      return;
    printer << '(';
    llvm::interleaveComma(llvm::seq(mod.getNumCaptures()), printer, [&](unsigned) {
      printer << captures[next] << " : " << types[next];
      ++next;
    });
    printer << ')';
  });
  printer << ')';
}

ParseResult attn::parseNamedScores(OpAsmParser &parser, ArrayAttr &mods,
                                   SmallVectorImpl<OpAsmParser::UnresolvedOperand> &captures,
                                   SmallVectorImpl<Type> &types) {
  return parseMods(parser, /*masks=*/false, mods, captures, types);
}

void attn::printNamedScores(OpAsmPrinter &printer, Operation *, ArrayAttr mods, OperandRange captures,
                            TypeRange types) {
  printMods(printer, mods, captures, types);
}

ParseResult attn::parseNamedMasks(OpAsmParser &parser, ArrayAttr &mods,
                                  SmallVectorImpl<OpAsmParser::UnresolvedOperand> &captures,
                                  SmallVectorImpl<Type> &types) {
  return parseMods(parser, /*masks=*/true, mods, captures, types);
}

void attn::printNamedMasks(OpAsmPrinter &printer, Operation *, ArrayAttr mods, OperandRange captures, TypeRange types) {
  printMods(printer, mods, captures, types);
}
