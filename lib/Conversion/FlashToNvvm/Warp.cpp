//===- Warp.cpp - a thread's part of what a warp does -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Warp.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace attn;
using namespace attn::nvvm;

/// Shared memory of a size that the launch says.
static constexpr llvm::StringLiteral kSharedMemory = "attn_shared";

ThreadPlace nvvm::buildPlace(ImplicitLocOpBuilder &b, int64_t threads) {
  ThreadPlace place;
  place.thread = NVVM::ThreadIdXOp::create(
      b, b.getI32Type(), LLVM::ConstantRangeAttr::get(b.getContext(), APInt(32, 0), APInt(32, threads)));
  place.warp = divide(b, place.thread, 32);
  place.lane = modulo(b, place.thread, 32);
  place.g = divide(b, place.lane, 4);
  place.t = modulo(b, place.lane, 4);
  return place;
}

static LLVM::LLVMPointerType sharedPointerType(MLIRContext *context) { return LLVM::LLVMPointerType::get(context, 3); }

void nvvm::declareSharedMemory(Operation *deviceModule) {
  if (SymbolTable::lookupSymbolIn(deviceModule, kSharedMemory))
    return;
  auto b = ImplicitLocOpBuilder::atBlockBegin(deviceModule->getLoc(), &deviceModule->getRegion(0).front());
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), 0);
  LLVM::GlobalOp::create(b, type, /*isConstant=*/false, LLVM::Linkage::External, kSharedMemory, Attribute(),
                         /*alignment=*/1024, /*addrSpace=*/3);
}

Value nvvm::sharedPointer(ImplicitLocOpBuilder &b, Value offset, int64_t number) {
  auto type = sharedPointerType(b.getContext());
  Value base = LLVM::AddressOfOp::create(b, type, kSharedMemory);
  Value pointer = LLVM::GEPOp::create(b, type, b.getI8Type(), base, ArrayRef<LLVM::GEPArg>{offset});
  if (number == 0)
    return pointer;
  return LLVM::GEPOp::create(b, type, b.getI8Type(), pointer, ArrayRef<LLVM::GEPArg>{int32_t(number)});
}

Value nvvm::chunkPointer(ImplicitLocOpBuilder &b, const SharedTile &tile, Value base, TileIndex row, TileIndex chunk,
                         Value inChunk) {
  if (tile.isBoxed) {
    Value number = add(b, chunk.value, chunk.number);
    base = add(b, base, times(b, divide(b, number, 8), tile.boxBytes()));
    chunk = {modulo(b, number, 8)};
  }
  if (tile.isSwizzled) {
    // Eight rows further the order is the same, and so it is eight chunks further.
    const int64_t low = chunk.number % 8, rowLow = row.number % 8;
    row = {add(b, row.value, rowLow), row.number - rowLow};
    Value mixed = b.createOrFold<arith::XOrIOp>(chunk.value, modulo(b, row.value, 8));
    chunk = {b.createOrFold<arith::XOrIOp>(mixed, i32(b, low)), chunk.number - low};
  }
  // What differs from tile to tile comes last.
  Value inTile = add(b, times(b, row.value, tile.pitch), times(b, chunk.value, 16));
  if (inChunk)
    inTile = add(b, inTile, inChunk);
  return sharedPointer(b, add(b, base, inTile), row.number * tile.pitch + chunk.number * 16);
}

Value nvvm::elementPointer(ImplicitLocOpBuilder &b, const SharedTile &tile, Value base, TileIndex row,
                           TileIndex column) {
  TileIndex chunk{divide(b, column.value, tile.perChunk()), column.number / tile.perChunk()};
  Value inChunk = times(b, modulo(b, column.value, tile.perChunk()), tile.elementBytes);
  return chunkPointer(b, tile, base, row, chunk, inChunk);
}

void nvvm::blockBarrier(ImplicitLocOpBuilder &b) { NVVM::BarrierOp::create(b); }

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

static SmallVector<Value> fieldsOf(ImplicitLocOpBuilder &b, Value record, int64_t count) {
  SmallVector<Value> fields;
  for (int64_t k = 0; k < count; ++k)
    fields.push_back(LLVM::ExtractValueOp::create(b, record, k));
  return fields;
}

static Type recordOf(ImplicitLocOpBuilder &b, Type field, int64_t count) {
  return LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(count, field));
}

SmallVector<Value> nvvm::loadMatrices(ImplicitLocOpBuilder &b, Value pointer, bool isTransposed) {
  auto layout = isTransposed ? NVVM::MMALayout::col : NVVM::MMALayout::row;
  auto shape = NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8);
  Value loaded = NVVM::LdMatrixOp::create(b, recordOf(b, b.getI32Type(), 4), pointer, 4, layout, shape,
                                          NVVM::LdStMatrixEltType::B16);
  return fieldsOf(b, loaded, 4);
}

/// mma.sync takes bf16 and tf32 as i32, and f16 as pairs.
static SmallVector<Value> registersOf(ImplicitLocOpBuilder &b, Type element, ValueRange values) {
  if (!element.isF16())
    return values;
  SmallVector<Value> pairs;
  for (Value value : values)
    pairs.push_back(LLVM::BitcastOp::create(b, VectorType::get({2}, b.getF16Type()), value));
  return pairs;
}

void nvvm::multiply(ImplicitLocOpBuilder &b, Type element, ValueRange left, ValueRange right,
                    MutableArrayRef<Value> fragment) {
  auto type = element.isF16() ? NVVM::MMATypes::f16 : element.isBF16() ? NVVM::MMATypes::bf16 : NVVM::MMATypes::tf32;
  int64_t depth = element.isF32() ? 8 : 16;
  Value product = NVVM::MmaOp::create(b, recordOf(b, b.getF32Type(), 4), registersOf(b, element, left),
                                      registersOf(b, element, right), fragment, ArrayRef<int64_t>{16, 8, depth},
                                      std::nullopt, std::nullopt, std::array<NVVM::MMATypes, 2>{type, type},
                                      std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row, NVVM::MMALayout::col});
  llvm::copy(fieldsOf(b, product, 4), fragment.begin());
}

static Value callIntrinsic(ImplicitLocOpBuilder &b, Type type, StringRef name, ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(b, type, b.getStringAttr(name), operands).getResult(0);
}

Value nvvm::pack(ImplicitLocOpBuilder &b, Type element, Value low, Value high) {
  StringRef name = element.isBF16() ? "llvm.nvvm.ff2bf16x2.rn" : "llvm.nvvm.ff2f16x2.rn";
  Value pair = callIntrinsic(b, VectorType::get({2}, element), name, {high, low});
  return LLVM::BitcastOp::create(b, b.getI32Type(), pair);
}

//===----------------------------------------------------------------------===//
// Exchange
//===----------------------------------------------------------------------===//

static Value allLanes(ImplicitLocOpBuilder &b) { return i32(b, -1); }

Value nvvm::fromLane(ImplicitLocOpBuilder &b, Value value, int64_t mask) {
  return NVVM::ShflOp::create(b, value.getType(), allLanes(b), value, i32(b, mask), i32(b, 31), NVVM::ShflKind::bfly,
                              UnitAttr());
}

Value nvvm::quadSum(ImplicitLocOpBuilder &b, Value value) {
  for (int64_t off : {1, 2})
    value = arith::AddFOp::create(b, value, fromLane(b, value, off));
  return value;
}

Value nvvm::quadMax(ImplicitLocOpBuilder &b, Value value) {
  for (int64_t off : {1, 2})
    value = arith::MaxNumFOp::create(b, value, fromLane(b, value, off));
  return value;
}

Value nvvm::warpAny(ImplicitLocOpBuilder &b, Value condition) {
  return NVVM::VoteSyncOp::create(b, b.getI1Type(), allLanes(b), condition, NVVM::VoteSyncKind::any);
}

Value nvvm::warpAll(ImplicitLocOpBuilder &b, Value condition) {
  return NVVM::VoteSyncOp::create(b, b.getI1Type(), allLanes(b), condition, NVVM::VoteSyncKind::all);
}

Value nvvm::exp2(ImplicitLocOpBuilder &b, Value x) {
  return callIntrinsic(b, b.getF32Type(), "llvm.nvvm.ex2.approx.ftz.f32", x);
}

Value nvvm::log2(ImplicitLocOpBuilder &b, Value x) {
  return callIntrinsic(b, b.getF32Type(), "llvm.nvvm.lg2.approx.ftz.f", x);
}
