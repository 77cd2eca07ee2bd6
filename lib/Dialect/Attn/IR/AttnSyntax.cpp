//===- AttnSyntax.cpp - custom pieces of the assembly formats ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/Dialect/Attn/IR/AttnSyntax.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"

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
    return parser.emitError(loc, "expected ") << count << " region arguments (" << names << "), but got "
                                              << arguments.size();
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
