//===- AttnMasks.cpp - causal, window and padding masks ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Masks that keep ranges of keys, and the boolean tensor. They are written as comparisons of sums of i, j and values
// from outside, so that an analysis sees loop bounds in them.
//
//===----------------------------------------------------------------------===//

#include "AttnMods.h"

using namespace mlir;
using namespace attn;
using Predicate = arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// causal
//===----------------------------------------------------------------------===//

Attribute CausalAttr::parse(AsmParser &parser, Type) {
  Diagonal diagonal = Diagonal::Implied;
  if (parseParameters(parser, getMnemonic(), {}, {}, &diagonal))
    return {};
  return CausalAttr::get(parser.getContext(), diagonal);
}

void CausalAttr::print(AsmPrinter &printer) const { printParameters(printer, {}, {}, getDiagonal()); }

LogicalResult CausalAttr::verifyMod(EmitError emitError, const AttentionDims &dims, TypeRange) const {
  return verifyDiagonal(emitError, getKeyword(), getDiagonal(), dims);
}

Value CausalAttr::buildMod(ImplicitLocOpBuilder &builder, const ModValues &values, ValueRange) const {
  return compare(builder, Predicate::sle, values.j, queryPosition(builder, getDiagonal(), values));
}

//===----------------------------------------------------------------------===//
// window, dilated, global_window
//===----------------------------------------------------------------------===//

/// An end of a window: -1 where it is not limited.
static IntegerParameter windowEnd(StringRef name, int64_t value = -1) { return {name, 0, -1, value}; }

static LogicalResult verifyWindow(EmitError emitError, StringRef keyword, int64_t left, int64_t right,
                                  Diagonal diagonal, const AttentionDims &dims) {
  if (left < -1 || right < -1)
    return emitError() << "expects the ends of '" << keyword << "' to be at least 0 (-1: no limit), but got " << left
                       << " and " << right << " (C10)";
  return verifyDiagonal(emitError, keyword, diagonal, dims);
}

/// -left <= distance <= right; null where neither end is limited. The distance is compared with constants: no sum of a
/// huge end and an index can overflow.
static Value buildWindow(ImplicitLocOpBuilder &builder, Value distance, int64_t left, int64_t right) {
  Value keep;
  if (left >= 0)
    keep = compare(builder, Predicate::sge, distance, constantIndex(builder, -left));
  if (right >= 0) {
    Value below = compare(builder, Predicate::sle, distance, constantIndex(builder, right));
    keep = keep ? both(builder, keep, below) : below;
  }
  return keep;
}

static Value constantTrue(ImplicitLocOpBuilder &builder) {
  return arith::ConstantOp::create(builder, builder.getBoolAttr(true));
}

Attribute WindowAttr::parse(AsmParser &parser, Type) {
  IntegerParameter ends[] = {windowEnd("left"), windowEnd("right")};
  Diagonal diagonal = Diagonal::Implied;
  if (parseParameters(parser, getMnemonic(), ends, {}, &diagonal))
    return {};
  return WindowAttr::get(parser.getContext(), ends[0].value, ends[1].value, diagonal);
}

void WindowAttr::print(AsmPrinter &printer) const {
  printParameters(printer, {windowEnd("left", getLeft()), windowEnd("right", getRight())}, {}, getDiagonal());
}

LogicalResult WindowAttr::verifyMod(EmitError emitError, const AttentionDims &dims, TypeRange) const {
  return verifyWindow(emitError, getKeyword(), getLeft(), getRight(), getDiagonal(), dims);
}

Value WindowAttr::buildMod(ImplicitLocOpBuilder &builder, const ModValues &values, ValueRange) const {
  Value distance = arith::SubIOp::create(builder, values.j, queryPosition(builder, getDiagonal(), values));
  Value keep = buildWindow(builder, distance, getLeft(), getRight());
  return keep ? keep : constantTrue(builder);
}

Attribute DilatedAttr::parse(AsmParser &parser, Type) {
  IntegerParameter given[] = {windowEnd("left"), windowEnd("right"), {"step", 1, std::nullopt}};
  Diagonal diagonal = Diagonal::Implied;
  if (parseParameters(parser, getMnemonic(), given, {}, &diagonal))
    return {};
  return DilatedAttr::get(parser.getContext(), given[0].value, given[1].value, given[2].value, diagonal);
}

void DilatedAttr::print(AsmPrinter &printer) const {
  printParameters(printer,
                  {windowEnd("left", getLeft()), windowEnd("right", getRight()), {"step", 1, std::nullopt, getStep()}},
                  {}, getDiagonal());
}

LogicalResult DilatedAttr::verifyMod(EmitError emitError, const AttentionDims &dims, TypeRange) const {
  if (failed(verifyAtLeast(emitError, getKeyword(), "step", getStep(), 1)))
    return failure();
  return verifyWindow(emitError, getKeyword(), getLeft(), getRight(), getDiagonal(), dims);
}

Value DilatedAttr::buildMod(ImplicitLocOpBuilder &builder, const ModValues &values, ValueRange) const {
  Value distance = arith::SubIOp::create(builder, values.j, queryPosition(builder, getDiagonal(), values));
  Value rest = arith::RemSIOp::create(builder, distance, constantIndex(builder, getStep()));
  Value onStep = compare(builder, Predicate::eq, rest, constantIndex(builder, 0));
  Value inside = buildWindow(builder, distance, getLeft(), getRight());
  return inside ? both(builder, inside, onStep) : onStep;
}

Attribute GlobalWindowAttr::parse(AsmParser &parser, Type) {
  IntegerParameter given[] = {{"globals", 0, std::nullopt}, windowEnd("left"), windowEnd("right")};
  Diagonal diagonal = Diagonal::Implied;
  if (parseParameters(parser, getMnemonic(), given, {}, &diagonal))
    return {};
  return GlobalWindowAttr::get(parser.getContext(), given[0].value, given[1].value, given[2].value, diagonal);
}

void GlobalWindowAttr::print(AsmPrinter &printer) const {
  printParameters(
      printer,
      {{"globals", 0, std::nullopt, getGlobals()}, windowEnd("left", getLeft()), windowEnd("right", getRight())}, {},
      getDiagonal());
}

LogicalResult GlobalWindowAttr::verifyMod(EmitError emitError, const AttentionDims &dims, TypeRange) const {
  if (failed(verifyAtLeast(emitError, getKeyword(), "globals", getGlobals(), 0)))
    return failure();
  return verifyWindow(emitError, getKeyword(), getLeft(), getRight(), getDiagonal(), dims);
}

Value GlobalWindowAttr::buildMod(ImplicitLocOpBuilder &builder, const ModValues &values, ValueRange) const {
  Value position = queryPosition(builder, getDiagonal(), values);
  Value inside = buildWindow(builder, arith::SubIOp::create(builder, values.j, position), getLeft(), getRight());
  if (!inside)
    return constantTrue(builder);
  Value globals = constantIndex(builder, getGlobals());
  Value globalKey = compare(builder, Predicate::slt, values.j, globals);
  Value globalQuery = compare(builder, Predicate::slt, position, globals);
  return either(builder, either(builder, globalKey, globalQuery), inside);
}

//===----------------------------------------------------------------------===//
// prefix, padding_left, padding_right
//===----------------------------------------------------------------------===//

static LogicalResult verifyPerBatch(EmitError emitError, NamedModInterface mod, const AttentionDims &dims,
                                    TypeRange captures) {
  return verifyCapture(emitError, mod, 0, captures[0], {{"batch", dims.batch}}, 1,
                       {isIndexElement, "i32, i64 or index"});
}

static Value readPerBatch(ImplicitLocOpBuilder &builder, const ModValues &values, ValueRange captures) {
  return toIndex(builder, readElement(builder, captures[0], values.b));
}

Attribute PrefixAttr::parse(AsmParser &parser, Type) {
  Diagonal diagonal = Diagonal::Implied;
  if (parseParameters(parser, getMnemonic(), {}, {}, &diagonal))
    return {};
  return PrefixAttr::get(parser.getContext(), diagonal);
}

void PrefixAttr::print(AsmPrinter &printer) const { printParameters(printer, {}, {}, getDiagonal()); }

LogicalResult PrefixAttr::verifyMod(EmitError emitError, const AttentionDims &dims, TypeRange captures) const {
  if (failed(verifyPerBatch(emitError, *this, dims, captures)))
    return failure();
  return verifyDiagonal(emitError, getKeyword(), getDiagonal(), dims);
}

Value PrefixAttr::buildMod(ImplicitLocOpBuilder &builder, const ModValues &values, ValueRange captures) const {
  Value prefix = readPerBatch(builder, values, captures);
  Value causal = compare(builder, Predicate::sle, values.j, queryPosition(builder, getDiagonal(), values));
  return either(builder, causal, compare(builder, Predicate::slt, values.j, prefix));
}

LogicalResult PaddingLeftAttr::verifyMod(EmitError emitError, const AttentionDims &dims, TypeRange captures) const {
  return verifyPerBatch(emitError, *this, dims, captures);
}

Value PaddingLeftAttr::buildMod(ImplicitLocOpBuilder &builder, const ModValues &values, ValueRange captures) const {
  return compare(builder, Predicate::sge, values.j, readPerBatch(builder, values, captures));
}

LogicalResult PaddingRightAttr::verifyMod(EmitError emitError, const AttentionDims &dims, TypeRange captures) const {
  return verifyPerBatch(emitError, *this, dims, captures);
}

Value PaddingRightAttr::buildMod(ImplicitLocOpBuilder &builder, const ModValues &values, ValueRange captures) const {
  return compare(builder, Predicate::slt, values.j, readPerBatch(builder, values, captures));
}

//===----------------------------------------------------------------------===//
// boolean
//===----------------------------------------------------------------------===//

LogicalResult BooleanAttr::verifyMod(EmitError emitError, const AttentionDims &dims, TypeRange captures) const {
  if (!cast<ShapedType>(captures[0]).getElementType().isInteger(1))
    return emitError() << "expects the operand of 'boolean' to have element type i1, but got " << captures[0]
                       << "; a float mask is written additive(...) under scores (C10)";
  return verifyBroadcast(emitError, getKeyword(), captures[0], dims);
}

Value BooleanAttr::buildMod(ImplicitLocOpBuilder &builder, const ModValues &values, ValueRange captures) const {
  return readBroadcast(builder, captures[0], values);
}
