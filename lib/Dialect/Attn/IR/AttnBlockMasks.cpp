//===- AttnBlockMasks.cpp - document, block, grid and tree masks -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Masks that are not one range of keys: equal ids, blocks of positions, a grid and a tree. Written with floor divisions
// and remainders by constants, minima and maxima, and reads at i or j.
//
//===----------------------------------------------------------------------===//

#include "AttnMods.h"

using namespace mlir;
using namespace attn;
using Predicate = arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// document, document_causal, shared_prefix
//===----------------------------------------------------------------------===//

/// Verifies ids of queries and keys: operands from `first` on. One operand for both needs queryLen = kvLen known.
static LogicalResult verifyIds(EmitError emitError, NamedModInterface mod, bool separate, const AttentionDims &dims,
                               TypeRange captures, unsigned first) {
  bool equal = !ShapedType::isDynamic(dims.queryLen) && dims.queryLen == dims.kvLen;
  if (!separate && !equal)
    return emitError() << "expects '" << mod.getKeyword()
                       << "' to have ids of queries and ids of keys unless queryLen = kvLen is known, but got one "
                          "operand for both (C10)";
  auto isId = [](Type type) { return type.isInteger(32) || type.isInteger(64); };
  const CaptureDim lengths[] = {{"queryLen", dims.queryLen}, {"kvLen", dims.kvLen}};
  for (unsigned k = 0; k < (separate ? 2 : 1); ++k)
    if (failed(verifyCapture(emitError, mod, first + k, captures[first + k], {{"batch", dims.batch}, lengths[k]}, 1,
                             {isId, "i32 or i64"})))
      return failure();
  Type query = cast<ShapedType>(captures[first]).getElementType();
  Type key = cast<ShapedType>(captures.back()).getElementType();
  if (query != key)
    return emitError() << "expects the ids of queries and keys of '" << mod.getKeyword()
                       << "' to share an element type, but got " << query << " and " << key << " (C10)";
  return success();
}

/// ids of the query == ids of the key; `ids` is one operand for both, or two.
static Value buildSameDocument(ImplicitLocOpBuilder &builder, const ModValues &values, ValueRange ids) {
  Value query = readAt(builder, ids.front(), values, values.i);
  return compare(builder, Predicate::eq, query, readAt(builder, ids.back(), values, values.j));
}

Attribute DocumentAttr::parse(AsmParser &parser, Type) {
  WordParameter separate[] = {{"separate"}};
  if (parseParameters(parser, getMnemonic(), {}, separate, nullptr))
    return {};
  return DocumentAttr::get(parser.getContext(), separate[0].value);
}

void DocumentAttr::print(AsmPrinter &printer) const {
  printParameters(printer, {}, {{"separate", getSeparate()}}, Diagonal::Implied);
}

Attribute DocumentAttr::withNumCaptures(unsigned count) const {
  return count == 1 || count == 2 ? DocumentAttr::get(getContext(), count == 2) : DocumentAttr();
}

LogicalResult DocumentAttr::verifyMod(EmitError emitError, const AttentionDims &dims, TypeRange captures) const {
  return verifyIds(emitError, *this, getSeparate(), dims, captures, 0);
}

Value DocumentAttr::buildMod(ImplicitLocOpBuilder &builder, const ModValues &values, ValueRange captures) const {
  return buildSameDocument(builder, values, captures);
}

Attribute DocumentCausalAttr::parse(AsmParser &parser, Type) {
  WordParameter separate[] = {{"separate"}};
  Diagonal diagonal = Diagonal::Implied;
  if (parseParameters(parser, getMnemonic(), {}, separate, &diagonal))
    return {};
  return DocumentCausalAttr::get(parser.getContext(), separate[0].value, diagonal);
}

void DocumentCausalAttr::print(AsmPrinter &printer) const {
  printParameters(printer, {}, {{"separate", getSeparate()}}, getDiagonal());
}

Attribute DocumentCausalAttr::withNumCaptures(unsigned count) const {
  return count == 1 || count == 2 ? DocumentCausalAttr::get(getContext(), count == 2, getDiagonal())
                                  : DocumentCausalAttr();
}

LogicalResult DocumentCausalAttr::verifyMod(EmitError emitError, const AttentionDims &dims, TypeRange captures) const {
  if (failed(verifyIds(emitError, *this, getSeparate(), dims, captures, 0)))
    return failure();
  return verifyDiagonal(emitError, getKeyword(), getDiagonal(), dims);
}

Value DocumentCausalAttr::buildMod(ImplicitLocOpBuilder &builder, const ModValues &values, ValueRange captures) const {
  Value causal = compare(builder, Predicate::sle, values.j, queryPosition(builder, getDiagonal(), values));
  return both(builder, causal, buildSameDocument(builder, values, captures));
}

Attribute SharedPrefixAttr::parse(AsmParser &parser, Type) {
  WordParameter separate[] = {{"separate"}};
  if (parseParameters(parser, getMnemonic(), {}, separate, nullptr))
    return {};
  return SharedPrefixAttr::get(parser.getContext(), separate[0].value);
}

void SharedPrefixAttr::print(AsmPrinter &printer) const {
  printParameters(printer, {}, {{"separate", getSeparate()}}, Diagonal::Implied);
}

Attribute SharedPrefixAttr::withNumCaptures(unsigned count) const {
  return count == 2 || count == 3 ? SharedPrefixAttr::get(getContext(), count == 3) : SharedPrefixAttr();
}

LogicalResult SharedPrefixAttr::verifyMod(EmitError emitError, const AttentionDims &dims, TypeRange captures) const {
  if (failed(verifyCapture(emitError, *this, 0, captures[0], {{"batch", dims.batch}}, 1,
                           {isIndexElement, "i32, i64 or index"})))
    return failure();
  return verifyIds(emitError, *this, getSeparate(), dims, captures, 1);
}

Value SharedPrefixAttr::buildMod(ImplicitLocOpBuilder &builder, const ModValues &values, ValueRange captures) const {
  Value prefix = toIndex(builder, readElement(builder, captures[0], values.b));
  Value shared = compare(builder, Predicate::slt, values.j, prefix);
  return either(builder, shared, buildSameDocument(builder, values, captures.drop_front()));
}

//===----------------------------------------------------------------------===//
// chunked, block_diagonal, block_causal
//===----------------------------------------------------------------------===//

/// floor(x / size) for x that is not negative.
static Value blockOf(ImplicitLocOpBuilder &builder, Value x, int64_t size) {
  return arith::DivUIOp::create(builder, x, constantIndex(builder, size));
}

/// floor((i + offset) / size); only bottom_right can be negative.
static Value blockOfQuery(ImplicitLocOpBuilder &builder, Diagonal diagonal, const ModValues &values, int64_t size) {
  Value position = queryPosition(builder, diagonal, values);
  if (diagonal != Diagonal::BottomRight)
    return blockOf(builder, position, size);
  return arith::FloorDivSIOp::create(builder, position, constantIndex(builder, size));
}

template <typename AttrT> static Attribute parseBlocks(AsmParser &parser) {
  IntegerParameter size[] = {{"size", 1, std::nullopt}};
  Diagonal diagonal = Diagonal::Implied;
  if (parseParameters(parser, AttrT::getMnemonic(), size, {}, &diagonal))
    return {};
  return AttrT::get(parser.getContext(), size[0].value, diagonal);
}

template <typename AttrT>
static LogicalResult verifyBlocks(AttrT attr, EmitError emitError, const AttentionDims &dims) {
  if (failed(verifyAtLeast(emitError, attr.getKeyword(), "size", attr.getSize(), 1)))
    return failure();
  return verifyDiagonal(emitError, attr.getKeyword(), attr.getDiagonal(), dims);
}

#define ATTN_BLOCKS(AttrT)                                                                                             \
  Attribute AttrT::parse(AsmParser &parser, Type) { return parseBlocks<AttrT>(parser); }                               \
  void AttrT::print(AsmPrinter &printer) const {                                                                       \
    printParameters(printer, {{"size", 1, std::nullopt, getSize()}}, {}, getDiagonal());                               \
  }                                                                                                                    \
  LogicalResult AttrT::verifyMod(EmitError emitError, const AttentionDims &dims, TypeRange) const {                    \
    return verifyBlocks(*this, emitError, dims);                                                                       \
  }
ATTN_BLOCKS(ChunkedAttr)
ATTN_BLOCKS(BlockDiagonalAttr)
ATTN_BLOCKS(BlockCausalAttr)
#undef ATTN_BLOCKS

Value ChunkedAttr::buildMod(ImplicitLocOpBuilder &builder, const ModValues &values, ValueRange) const {
  Value causal = compare(builder, Predicate::sle, values.j, queryPosition(builder, getDiagonal(), values));
  Value query = blockOfQuery(builder, getDiagonal(), values, getSize());
  return both(builder, causal, compare(builder, Predicate::eq, blockOf(builder, values.j, getSize()), query));
}

Value BlockDiagonalAttr::buildMod(ImplicitLocOpBuilder &builder, const ModValues &values, ValueRange) const {
  Value query = blockOfQuery(builder, getDiagonal(), values, getSize());
  return compare(builder, Predicate::eq, blockOf(builder, values.j, getSize()), query);
}

Value BlockCausalAttr::buildMod(ImplicitLocOpBuilder &builder, const ModValues &values, ValueRange) const {
  Value query = blockOfQuery(builder, getDiagonal(), values, getSize());
  return compare(builder, Predicate::sle, blockOf(builder, values.j, getSize()), query);
}

//===----------------------------------------------------------------------===//
// block_diffusion
//===----------------------------------------------------------------------===//

Attribute BlockDiffusionAttr::parse(AsmParser &parser, Type) {
  IntegerParameter given[] = {{"half", 1, std::nullopt}, {"block", 1, std::nullopt}};
  if (parseParameters(parser, getMnemonic(), given, {}, nullptr))
    return {};
  return BlockDiffusionAttr::get(parser.getContext(), given[0].value, given[1].value);
}

void BlockDiffusionAttr::print(AsmPrinter &printer) const {
  printParameters(printer, {{"half", 1, std::nullopt, getHalf()}, {"block", 1, std::nullopt, getBlock()}}, {},
                  Diagonal::Implied);
}

int64_t BlockDiffusionAttr::getLength() const { return 2 * getHalf(); }

LogicalResult BlockDiffusionAttr::verifyMod(EmitError emitError, const AttentionDims &dims, TypeRange) const {
  if (failed(verifyAtLeast(emitError, getKeyword(), "half", getHalf(), 1)) ||
      failed(verifyAtLeast(emitError, getKeyword(), "block", getBlock(), 1)))
    return failure();
  if (getHalf() > kMaxGridLength)
    return emitError() << "expects 'half' of '" << getKeyword() << "' to be at most " << kMaxGridLength << ", but got "
                       << getHalf() << " (C10)";
  return verifyLength(emitError, getKeyword(), "2 * half", getLength(), dims);
}

Value BlockDiffusionAttr::buildMod(ImplicitLocOpBuilder &builder, const ModValues &values, ValueRange) const {
  Value half = constantIndex(builder, getHalf()), block = constantIndex(builder, getBlock());
  // Blocks counted from the half's own start; below it (negative) another case decides.
  auto cleanBlock = [&](Value x) {
    return arith::FloorDivSIOp::create(builder, arith::SubIOp::create(builder, x, half), block);
  };
  Value noisyQuery = compare(builder, Predicate::slt, values.i, half);
  Value noisyKey = compare(builder, Predicate::slt, values.j, half);
  Value cleanQuery = compare(builder, Predicate::sge, values.i, half);
  Value cleanKey = compare(builder, Predicate::sge, values.j, half);
  Value query = blockOf(builder, values.i, getBlock()), key = cleanBlock(values.j);
  Value same = compare(builder, Predicate::eq, blockOf(builder, values.j, getBlock()), query);
  Value before = compare(builder, Predicate::slt, key, query);
  Value upTo = compare(builder, Predicate::sle, key, cleanBlock(values.i));
  Value noisy = both(builder, both(builder, noisyQuery, noisyKey), same);
  Value toClean = either(builder, both(builder, noisyQuery, before), both(builder, cleanQuery, upTo));
  return either(builder, noisy, both(builder, cleanKey, toClean));
}

//===----------------------------------------------------------------------===//
// local_2d
//===----------------------------------------------------------------------===//

Attribute Local2dAttr::parse(AsmParser &parser, Type) {
  IntegerParameter given[] = {{"rows", 1, std::nullopt},
                              {"columns", 1, std::nullopt},
                              {"kernel_rows", 1, std::nullopt},
                              {"kernel_columns", 1, std::nullopt}};
  if (parseParameters(parser, getMnemonic(), given, {}, nullptr))
    return {};
  return Local2dAttr::get(parser.getContext(), given[0].value, given[1].value, given[2].value, given[3].value);
}

void Local2dAttr::print(AsmPrinter &printer) const {
  printParameters(printer,
                  {{"rows", 1, std::nullopt, getRows()},
                   {"columns", 1, std::nullopt, getColumns()},
                   {"kernel_rows", 1, std::nullopt, getKernelRows()},
                   {"kernel_columns", 1, std::nullopt, getKernelColumns()}},
                  {}, Diagonal::Implied);
}

int64_t Local2dAttr::getLength() const { return getRows() * getColumns(); }

LogicalResult Local2dAttr::verifyMod(EmitError emitError, const AttentionDims &dims, TypeRange) const {
  const std::tuple<StringRef, int64_t, StringRef, int64_t> axes[] = {
      {"rows", getRows(), "kernel_rows", getKernelRows()},
      {"columns", getColumns(), "kernel_columns", getKernelColumns()}};
  for (auto [name, size, kernelName, kernel] : axes) {
    if (failed(verifyAtLeast(emitError, getKeyword(), name, size, 1)) ||
        failed(verifyAtLeast(emitError, getKeyword(), kernelName, kernel, 1)))
      return failure();
    if (kernel > size)
      return emitError() << "expects '" << kernelName << "' of '" << getKeyword() << "' to be at most " << name << " = "
                         << size << ", but got " << kernel << " (C10)";
  }
  if (getRows() > kMaxGridLength / getColumns())
    return emitError() << "expects rows * columns of '" << getKeyword() << "' to be at most " << kMaxGridLength
                       << ", but got " << getRows() << " * " << getColumns() << " (C10)";
  return verifyLength(emitError, getKeyword(), "rows * columns", getLength(), dims);
}

/// Along one axis: first <= key < first + kernel, first = min(max(query - kernel / 2, 0), size - kernel).
static Value buildNeighbourhood(ImplicitLocOpBuilder &builder, Value query, Value key, int64_t size, int64_t kernel) {
  Value first = arith::SubIOp::create(builder, query, constantIndex(builder, kernel / 2));
  first = arith::MaxSIOp::create(builder, first, constantIndex(builder, 0));
  first = arith::MinSIOp::create(builder, first, constantIndex(builder, size - kernel));
  Value end = arith::AddIOp::create(builder, first, constantIndex(builder, kernel));
  return both(builder, compare(builder, Predicate::sge, key, first), compare(builder, Predicate::slt, key, end));
}

Value Local2dAttr::buildMod(ImplicitLocOpBuilder &builder, const ModValues &values, ValueRange) const {
  auto column = [&](Value x) -> Value {
    return arith::RemUIOp::create(builder, x, constantIndex(builder, getColumns()));
  };
  Value rows = buildNeighbourhood(builder, blockOf(builder, values.i, getColumns()),
                                  blockOf(builder, values.j, getColumns()), getRows(), getKernelRows());
  Value columns = buildNeighbourhood(builder, column(values.i), column(values.j), getColumns(), getKernelColumns());
  return both(builder, rows, columns);
}

//===----------------------------------------------------------------------===//
// tree
//===----------------------------------------------------------------------===//

LogicalResult TreeAttr::verifyMod(EmitError emitError, const AttentionDims &dims, TypeRange captures) const {
  auto isBit = [](Type type) { return type.isInteger(1); };
  return verifyCapture(emitError, *this, 0, captures[0],
                       {{"batch", dims.batch}, {"queryLen", dims.queryLen}, {"queryLen", dims.queryLen}}, 2,
                       {isBit, "i1"});
}

Value TreeAttr::buildMod(ImplicitLocOpBuilder &builder, const ModValues &values, ValueRange captures) const {
  Value context = arith::SubIOp::create(builder, values.kvLen, values.queryLen);
  Value last = arith::SubIOp::create(builder, values.queryLen, constantIndex(builder, 1));
  // The read must be defined for keys of the context and behind kv_lengths, too.
  Value node = arith::SubIOp::create(builder, values.j, context);
  node = arith::MaxSIOp::create(builder, node, constantIndex(builder, 0));
  node = arith::MinSIOp::create(builder, node, last);
  SmallVector<Value> indices{values.b, values.i, node};
  Value isVisible =
      readElement(builder, captures[0], ArrayRef(indices).take_back(cast<ShapedType>(captures[0].getType()).getRank()));
  return either(builder, compare(builder, Predicate::slt, values.j, context), isVisible);
}
