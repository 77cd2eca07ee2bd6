//===- Stores.cpp - fragments from registers to global memory ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Four threads, a quad, have a row of a fragment, thread t its columns 2t and 2t + 1. Where rows are aligned and their
// columns neighbours, of which whole pieces exist, threads store wider than an element:
//
// | element | piece of a thread | how it comes to it |
// |---|---|---|
// | 32 bits | columns 2t, 2t + 1: 8 bytes | it has them |
// | 16 bits | all of fragment n + t: 16 bytes | two columns are a word; the quad transposes the words of 4 fragments |
// | 16 bits, two fragments are left | half of fragment n + t mod 2: 8 bytes | pairs of threads transpose 2 x 2 words |
//
// so that a quad always writes whole sectors of 32 bytes. Everything else is written element by element. Which one
// it is, the whole block finds out once.
//
//===----------------------------------------------------------------------===//

#include "../FlashLanes/Loops.h"
#include "GlobalView.h"
#include "Lowering.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attn;
using namespace attn::nvvm;
using namespace attn::lanes;

FragmentRow nvvm::buildRow(ImplicitLocOpBuilder &b, const NvvmLowering &lowering, const TileRows &rows, Value entry,
                           int64_t slot) {
  Value row = toIndex(b, add(b, lowering.fragmentRow(b, slot / 2), slot % 2 * 8));
  Value exists = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, row, rows.rows);
  return {exists, {entry, rows.head(b, row), rows.query(b, row)}};
}

static void buildIf(ImplicitLocOpBuilder &b, Value condition, llvm::function_ref<void()> body) {
  auto branch = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  body();
}

namespace {

/// Builds the stores of one tile.
class FragmentStore {
public:
  FragmentStore(ImplicitLocOpBuilder &builder, const NvvmLowering &lowering, const StoreTarget &target, int64_t columns,
                ValueRange values)
      : b(builder), lowering(lowering), target(target), fragments(columns / 8), view(builder, target.view),
        element(view.type().getElementType()), pieceBytes(isHalf() ? 16 : 8), values(values) {}

  void build();

private:
  bool isHalf() const { return element.getIntOrFloatBitWidth() == 16; }
  int64_t elementBytes() const { return element.getIntOrFloatBitWidth() / 8; }
  int64_t slots() const { return 2 * lowering.shape.rowFragments(); }
  int64_t knownEnd() const;
  void packValues();
  bool mayBeWide() const;
  Value isWide();
  void exchange(MutableArrayRef<Value> words);
  Value pieceColumn(int64_t size);
  Value byteOffset(Value pointer, LLVM::GEPArg bytes);
  Value rowPointer(const FragmentRow &row);
  Value elementPointer(Value rowPointer, int64_t fragment, int64_t e);
  void buildIfColumn(int64_t bound, Value column, llvm::function_ref<void()> body);
  void storePiece(Value rowPointer, int64_t fragment, ArrayRef<Value> words);
  void storeWide(int64_t slot);
  void storeElements(int64_t slot);

  /// Where the two values of a slot's row in a fragment, or the word of them, start.
  int64_t pairNumber(int64_t slot, int64_t fragment) const {
    return 2 * (2 * (slot / 2 * fragments + fragment) + slot % 2);
  }
  Value wordOf(int64_t slot, int64_t fragment) const { return words[pairNumber(slot, fragment) / 2]; }

  ImplicitLocOpBuilder &b;
  const NvvmLowering &lowering;
  const StoreTarget &target;
  int64_t fragments;
  GlobalView view;
  Type element;
  /// Of the widest piece, and so of what must be aligned.
  int64_t pieceBytes;
  ValueRange values;
  /// Pairs of 16-bit elements.
  SmallVector<Value> words;
};

} // namespace

/// The columns that exist, where the types tell; else -1.
int64_t FragmentStore::knownEnd() const {
  APInt value;
  return matchPattern(target.endColumn, m_ConstantInt(&value)) ? value.getSExtValue() : -1;
}

void FragmentStore::packValues() {
  for (size_t k = 0; isHalf() && k < values.size(); k += 2)
    words.push_back(pack(b, element, values[k], values[k + 1]));
}

bool FragmentStore::mayBeWide() const {
  return view.hasUnitColumns() && elementBytes() <= 4 &&
         (knownEnd() < 0 || knownEnd() * elementBytes() % pieceBytes == 0);
}

Value FragmentStore::isWide() {
  SmallVector<Value> more{view.bytes(b, target.endColumn)};
  if (target.firstColumn)
    more.push_back(view.bytes(b, target.firstColumn));
  return view.isAligned(b, pieceBytes, more);
}

/// Transposes words of 2 or 4 threads: word k of thread t becomes word t of thread k.
void FragmentStore::exchange(MutableArrayRef<Value> words) {
  for (int64_t bit = 1; bit < int64_t(words.size()); bit *= 2) {
    Value isLower = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                          b.createOrFold<arith::AndIOp>(lowering.place.t, i32(b, bit)), i32(b, 0));
    for (int64_t k = 0; k < int64_t(words.size()); ++k) {
      if (k & bit)
        continue;
      Value low = words[k], high = words[k | bit];
      Value other = fromLane(b, arith::SelectOp::create(b, isLower, high, low), bit);
      words[k] = arith::SelectOp::create(b, isLower, low, other);
      words[k | bit] = arith::SelectOp::create(b, isLower, other, high);
    }
  }
}

/// The first column of this thread's piece in `size` fragments, i32.
Value FragmentStore::pieceColumn(int64_t size) {
  Value t = lowering.place.t;
  if (!isHalf())
    return times(b, t, 2);
  return size == 4 ? times(b, t, 8) : add(b, times(b, modulo(b, t, 2), 8), times(b, divide(b, t, 2), 4));
}

Value FragmentStore::byteOffset(Value pointer, LLVM::GEPArg bytes) {
  return LLVM::GEPOp::create(b, pointer.getType(), b.getI8Type(), pointer, ArrayRef<LLVM::GEPArg>{bytes});
}

/// The pointer to the first column of the tile in a row.
Value FragmentStore::rowPointer(const FragmentRow &row) {
  Value address = view.rowAddress(b, row.place);
  if (target.firstColumn)
    address = plus(b, address, arith::MulIOp::create(b, target.firstColumn, view.columnStep(b)));
  return globalPointer(b, address);
}

/// Builds `body` where a column (i32) exists; it is less than `bound`.
void FragmentStore::buildIfColumn(int64_t bound, Value column, llvm::function_ref<void()> body) {
  if (bound <= knownEnd())
    return body();
  buildIf(b, arith::CmpIOp::create(b, arith::CmpIPredicate::slt, toIndex(b, column), target.endColumn), body);
}

/// Stores a thread's piece of the fragments from `fragment` on, if it exists.
void FragmentStore::storePiece(Value rowPointer, int64_t fragment, ArrayRef<Value> words) {
  const int64_t size = isHalf() ? words.size() : 1;
  Value column = pieceColumn(size);
  buildIfColumn(8 * (fragment + size), add(b, column, 8 * fragment), [&] {
    auto vector = VectorType::get({int64_t(words.size())}, words[0].getType());
    Value piece = LLVM::PoisonOp::create(b, vector);
    for (auto [k, word] : llvm::enumerate(words))
      piece = LLVM::InsertElementOp::create(b, piece, word, i32(b, k));
    Value pointer = byteOffset(rowPointer, times(b, column, elementBytes()));
    pointer = byteOffset(pointer, int32_t(8 * fragment * elementBytes()));
    LLVM::StoreOp::create(b, piece, pointer, /*alignment=*/4 * words.size());
  });
}

/// The quad's threads all exist or none does, but those of other quads may do otherwise: words are exchanged first.
void FragmentStore::storeWide(int64_t slot) {
  const int64_t most = isHalf() ? 4 : 1;
  SmallVector<SmallVector<Value>> pieces;
  for (int64_t n = 0; n < fragments; n += most) {
    SmallVector<Value> &piece = pieces.emplace_back();
    if (!isHalf()) {
      llvm::append_range(piece, values.slice(pairNumber(slot, n), 2));
      continue;
    }
    for (int64_t k = n; k < std::min(n + most, fragments); ++k)
      piece.push_back(wordOf(slot, k));
    exchange(piece);
  }
  FragmentRow row = buildRow(b, lowering, target.rows, target.entry, slot);
  buildIf(b, row.exists, [&] {
    Value pointer = rowPointer(row);
    for (auto [k, piece] : llvm::enumerate(pieces))
      storePiece(pointer, k * most, piece);
  });
}

/// The pointer to column 8 * fragment + 2t + e of a row.
Value FragmentStore::elementPointer(Value rowPointer, int64_t fragment, int64_t e) {
  Value t = lowering.place.t;
  if (view.hasUnitColumns())
    return byteOffset(byteOffset(rowPointer, times(b, t, 2 * elementBytes())),
                      int32_t((8 * fragment + e) * elementBytes()));
  Value column = toIndex(b, add(b, times(b, t, 2), 8 * fragment + e));
  Value bytes = arith::MulIOp::create(b, column, view.columnStep(b));
  return byteOffset(rowPointer, Value(arith::IndexCastOp::create(b, b.getI64Type(), bytes)));
}

void FragmentStore::storeElements(int64_t slot) {
  auto valueOf = [&](int64_t n, int64_t e) -> Value {
    if (!isHalf())
      return values[pairNumber(slot, n) + e];
    Value pair = LLVM::BitcastOp::create(b, VectorType::get({2}, element), wordOf(slot, n));
    return LLVM::ExtractElementOp::create(b, pair, i32(b, e));
  };
  FragmentRow row = buildRow(b, lowering, target.rows, target.entry, slot);
  buildIf(b, row.exists, [&] {
    Value pointer = rowPointer(row);
    for (int64_t n = 0; n < fragments; ++n)
      for (int64_t e : {0, 1}) {
        auto store = [&] { LLVM::StoreOp::create(b, valueOf(n, e), elementPointer(pointer, n, e), elementBytes()); };
        buildIfColumn(8 * (n + 1), add(b, times(b, lowering.place.t, 2), 8 * n + e), store);
      }
  });
}

void FragmentStore::build() {
  packValues();
  auto forSlots = [&](void (FragmentStore::*store)(int64_t)) {
    for (int64_t slot = 0; slot < slots(); ++slot)
      (this->*store)(slot);
  };
  if (!mayBeWide())
    return forSlots(&FragmentStore::storeElements);
  auto branch = scf::IfOp::create(b, isWide(), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  forSlots(&FragmentStore::storeWide);
  b.setInsertionPointToStart(branch.elseBlock());
  forSlots(&FragmentStore::storeElements);
}

void nvvm::buildStore(ImplicitLocOpBuilder &b, const NvvmLowering &lowering, const StoreTarget &target, int64_t columns,
                      ValueRange values) {
  FragmentStore(b, lowering, target, columns, values).build();
}
