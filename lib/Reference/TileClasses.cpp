//===- TileClasses.cpp - records of tile classes, by their definition -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every pair of every tile is looked at.
//
//===----------------------------------------------------------------------===//

#include "TileClasses.h"
#include "NamedMods.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;
using namespace attn::reference;

/// 7 + batch + batch * heads * query tiles * (1 + 2 * kv tiles); nullopt where a size is negative or above kMaxExtent.
static std::optional<int64_t> countWords(ArrayRef<int64_t> sizes, int64_t queryTile, int64_t kvTile) {
  if (llvm::any_of(sizes, [](int64_t size) { return size < 0 || size > kMaxExtent; }))
    return std::nullopt;
  std::optional<int64_t> rows = countElements({sizes[0], sizes[1], int64_t(llvm::divideCeil(sizes[2], queryTile))});
  int64_t words;
  if (!rows || llvm::MulOverflow(*rows, int64_t(1 + 2 * llvm::divideCeil(sizes[3], kvTile)), words))
    return std::nullopt;
  return words + 7 + sizes[0];
}

namespace {

/// attn.classify_tiles as it is compiled.
struct ClassifyPlan {
  Operation *op;
  int64_t queryTile, kvTile;
  Masks masks;
  SmallVector<unsigned> sizes;
  std::optional<unsigned> kvLengths;
  unsigned out, result;
};

/// A tile with its queries and keys.
struct TileBox {
  int64_t b, h, i0, i1, j0, j1;
};

class Classification {
public:
  Classification(const ClassifyPlan &plan, Frame &frame) : plan(plan), frame(frame) {}
  bool run();

private:
  bool bind();
  bool classify(const TileBox &tile, int &tileClass);
  bool writeRow(int64_t b, int64_t h, int64_t i0, int64_t at);

  const ClassifyPlan &plan;
  Frame &frame;
  SmallVector<int64_t> sizes, lengths;
  SmallVector<MaskFunction> masks;
  std::shared_ptr<Tensor> record;
};

} // namespace

bool Classification::bind() {
  for (unsigned slot : plan.sizes)
    sizes.push_back(frame.scalars[slot].integer);
  std::optional<int64_t> words = countWords(sizes, plan.queryTile, plan.kvTile);
  if (!words)
    return frame.fail(plan.op, "expects sizes in 0 to 2^30 whose record has at most 2^63 words (C4)");
  if (frame.tensors[plan.out]->size() != *words)
    return frame.fail(plan.op,
                      "expects outs of " + Twine(*words) + " words, but got " + Twine(frame.tensors[plan.out]->size()));
  lengths.assign(sizes[0], sizes[3]);
  for (int64_t b = 0; plan.kvLengths && b < sizes[0]; ++b) {
    const Tensor &given = *frame.tensors[*plan.kvLengths];
    if (given.size() != sizes[0])
      return frame.fail(plan.op, "expects kv_lengths to have shape [batch] (C5)");
    lengths[b] = given.data[b].integer;
    if (lengths[b] < 0 || lengths[b] > sizes[3])
      return frame.fail(plan.op, "expects each of kv_lengths in 0 to kvLen, but got " + Twine(lengths[b]));
  }
  std::optional<SmallVector<MaskFunction>> bound = plan.masks.bind(frame, plan.op, sizes);
  std::optional<int64_t> pairs = countElements(sizes);
  if (!bound || !pairs || !frame.charge(plan.op, *pairs))
    return false;
  masks = std::move(*bound);
  return bool(record = frame.allocate(plan.op, IntegerType::get(plan.op->getContext(), 32), *words));
}

/// 0: no pair is kept, 2: all are, 1: some. False after an error.
bool Classification::classify(const TileBox &tile, int &tileClass) {
  bool any = false, all = true;
  for (int64_t i = tile.i0; i < tile.i1; ++i)
    for (int64_t j = tile.j0; j < tile.j1; ++j) {
      bool keep;
      if (!plan.masks.evaluate(frame, masks, {tile.b, tile.h, i, j, sizes[2], lengths[tile.b]}, keep))
        return false;
      any |= keep;
      all &= keep;
    }
  tileClass = any ? (all ? 2 : 1) : 0;
  return true;
}

bool Classification::writeRow(int64_t b, int64_t h, int64_t i0, int64_t at) {
  int64_t runs = 0, kvTile = plan.kvTile;
  int previous = 0;
  auto word = [&](int64_t offset) -> int64_t & { return record->data[at + offset].integer; };
  for (int64_t j0 = 0; j0 < lengths[b]; j0 += kvTile) {
    int tileClass;
    int64_t i1 = std::min(i0 + plan.queryTile, sizes[2]);
    if (!classify({b, h, i0, i1, j0, std::min(j0 + kvTile, lengths[b])}, tileClass))
      return false;
    int64_t number = j0 / kvTile;
    if (tileClass && tileClass != previous)
      word(1 + 2 * runs++) = 2 * number + (tileClass == 2);
    if (tileClass)
      word(2 * runs) = number + 1;
    previous = tileClass;
  }
  word(0) = runs;
  return true;
}

bool Classification::run() {
  if (!bind())
    return false;
  const int64_t header[] = {kTileRecordMark, plan.queryTile, plan.kvTile};
  int64_t at = 0, rowWords = 1 + 2 * llvm::divideCeil(sizes[3], plan.kvTile);
  for (int64_t value : llvm::concat<const int64_t>(header, sizes, lengths))
    record->data[at++].integer = value;
  for (int64_t b = 0; b < sizes[0]; ++b)
    for (int64_t h = 0; h < sizes[1]; ++h)
      for (int64_t i0 = 0; i0 < sizes[2]; i0 += plan.queryTile, at += rowWords)
        if (!writeRow(b, h, i0, at))
          return false;
  frame.tensors[plan.result] = record;
  return true;
}

static FailureOr<Step> compileClassify(Compiler &compiler, ClassifyTilesOp op) {
  if (!op.getResult())
    return op.emitOpError("is not supported by the reference interpreter on memrefs");
  FailureOr<Masks> masks = compileMasks(compiler, op, op.getMasksAttr(), op.getMaskCaptures(), op.getMaskRegion());
  if (failed(masks))
    return failure();
  ClassifyPlan plan{op,
                    int64_t(op.getQueryTile()),
                    int64_t(op.getKvTile()),
                    *masks,
                    compiler.scalars({op.getBatch(), op.getHeads(), op.getQueryLen(), op.getKvLen()}),
                    std::nullopt,
                    compiler.tensor(op.getOut()),
                    compiler.tensor(op.getResult())};
  if (op.getKvLengths())
    plan.kvLengths = compiler.tensor(op.getKvLengths());
  return Step([plan = std::make_shared<const ClassifyPlan>(std::move(plan))](Frame &frame) {
    return Classification(*plan, frame).run();
  });
}

static Step compileSize(Compiler &compiler, TileClassesSizeOp op) {
  return [operation = op.getOperation(), queryTile = int64_t(op.getQueryTile()), kvTile = int64_t(op.getKvTile()),
          sizes = compiler.scalars({op.getBatch(), op.getHeads(), op.getQueryLen(), op.getKvLen()}),
          d = compiler.scalar(op.getSize())](Frame &frame) {
    auto valueOf = [&](unsigned slot) { return frame.scalars[slot].integer; };
    std::optional<int64_t> words = countWords(llvm::map_to_vector(sizes, valueOf), queryTile, kvTile);
    if (!words)
      return frame.fail(operation, "expects sizes in 0 to 2^30 whose record has at most 2^63 words");
    frame.scalars[d].integer = *words;
    return true;
  };
}

FailureOr<Step> attn::reference::compileTileClasses(Compiler &compiler, Operation &op) {
  return llvm::TypeSwitch<Operation *, FailureOr<Step>>(&op)
      .Case([&](ClassifyTilesOp op) { return compileClassify(compiler, op); })
      .Case([&](TileClassesSizeOp op) { return compileSize(compiler, op); })
      .Default([](Operation *) { return Step(); });
}

bool attn::reference::checkRecord(Frame &frame, AttentionOp op, const Tensor &record, ArrayRef<int64_t> sizes,
                                  ArrayRef<int64_t> lengths) {
  auto fail = [&](StringRef what) { return frame.fail(op, "expects tiles to be classified for its own " + what); };
  auto word = [&](int64_t k) { return record.data[k].integer; };
  if (record.size() < kFirstLengthWord || word(kMarkWord) != kTileRecordMark)
    return frame.fail(op, "expects tiles to be a record of attn.classify_tiles");
  if (word(kQueryTileWord) != int64_t(*op.getQueryTile()) || word(kKvTileWord) != int64_t(*op.getKvTile()))
    return fail("tile sizes");
  // One entry, or one head, serves all of a mask that does not tell them apart.
  auto serves = [&](int64_t got, int64_t size) { return got == size || got == 1; };
  if (!serves(word(kBatchWord), sizes[0]) || !serves(word(kHeadsWord), sizes[1]) || word(kQueryLenWord) != sizes[2] ||
      word(kKvLenWord) != sizes[3])
    return fail("sizes");
  const int64_t own[] = {word(kBatchWord), word(kHeadsWord), sizes[2], sizes[3]};
  if (record.size() != countWords(own, *op.getQueryTile(), *op.getKvTile()))
    return fail("number of words");
  for (auto [b, length] : llvm::enumerate(lengths))
    if (word(kFirstLengthWord + (own[0] == 1 ? 0 : b)) != length)
      return fail("lengths");
  return true;
}
