//===- Attention.cpp - attn.attention by its formula --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One row (b, h, i) at a time, in three passes over its keys: scores and masks, softmax, weighted sum of values.
// T is double for the exact result, and float for the unfused formula in f32.
//
//===----------------------------------------------------------------------===//

#include "NamedMods.h"
#include "TileClasses.h"
#include <array>
#include <atomic>
#include <cmath>

using namespace mlir;
using namespace attn;
using namespace attn::reference;

namespace {

/// attn.attention as it is compiled.
struct AttentionPlan {
  AttentionOp op;
  Type inputType, outType, scoreType;
  AffineMap queryMap, keyMap, valueMap, outMap;
  unsigned query, key, value, scale, out;
  std::optional<unsigned> sink, kvLengths, tiles, lse, weights;
  SmallVector<NamedMod> scores;
  std::optional<Body> scoreRegion;
  Masks masks;
  SmallVector<unsigned> results;
};

/// An operand under its layout: the size and the stride of each letter (b, h, length, feature).
struct View {
  std::array<int64_t, 4> sizes = {1, 1, 1, 1}, strides = {0, 0, 0, 0};
  int64_t base = 0;
  int64_t at(int64_t b, int64_t h, int64_t n, int64_t d) const {
    return base + b * strides[0] + h * strides[1] + n * strides[2] + d * strides[3];
  }
};

struct Sizes {
  int64_t batch, heads, kvHeads, queryLen, kvLen, headDim, valueDim;
};

/// The keys of one row: their scores, then their weights.
template <typename T> struct Row {
  std::vector<T> values;
  /// 0 for a dropped key.
  std::vector<char> kept;
};

/// One evaluation of an attention.
template <typename T> class AttentionRun {
public:
  AttentionRun(const AttentionPlan &plan, Frame &frame) : plan(plan), frame(frame) {}
  bool run();

private:
  bool bindSizes();
  bool bindLengths();
  bool bindMods();
  void gather();
  void findNotFinite();
  bool allocateResults();
  int64_t countRows() const;
  int64_t rowOf(int64_t k) const;
  bool runRow(Frame &frame, int64_t row);
  bool computeScores(Frame &frame, Point &point, Row<T> &row) const;
  bool applyScores(Frame &frame, const Point &point, T &score) const;
  void noteDropped(const Point &point, bool byMask) const;
  void leaveUnspecifiedOut();
  void writeRow(const Point &point, const Row<T> &row, T lse, bool poisoned);
  bool fail(const Twine &message) { return frame.fail(plan.op, message); }

  const AttentionPlan &plan;
  Frame &frame;
  View queryView, keyView, valueView, outView;
  Sizes sizes;
  T scale;
  /// kv_lengths, or kvLen for each batch entry.
  std::vector<int64_t> lengths;
  SmallVector<MaskFunction> masks;
  SmallVector<ScoreFunction<T>> scores;
  /// Contiguous copies: [batch][heads][queryLen][headDim] and so on.
  std::vector<T> query, key, value;
  /// Which of a key's elements, [batch][kvHeads][kvLen], are not all finite; empty where all are.
  enum : char { kKeyElement = 1, kValueElement = 2 };
  std::vector<char> notFinite;
  /// The (batch entry, kv head) for which they make the results unspecified: those of a key that a computed row drops.
  mutable std::vector<std::atomic<bool>> unspecified;
  std::shared_ptr<Tensor> out, lse, weights;
};

} // namespace

//===----------------------------------------------------------------------===//
// Sizes and operands
//===----------------------------------------------------------------------===//

/// Reads a layout; false where a constant position is outside its dimension.
static bool makeView(const Tensor &tensor, AffineMap map, View &view) {
  SmallVector<int64_t> strides = getStrides(tensor.shape);
  for (auto [k, result] : llvm::enumerate(map.getResults())) {
    if (auto letter = dyn_cast<AffineDimExpr>(result)) {
      view.sizes[letter.getPosition()] = tensor.shape[k];
      view.strides[letter.getPosition()] = strides[k];
      continue;
    }
    int64_t position = cast<AffineConstantExpr>(result).getValue();
    if (position < 0 || position >= tensor.shape[k])
      return false;
    view.base += position * strides[k];
  }
  return true;
}

template <typename T> bool AttentionRun<T>::bindSizes() {
  for (auto [slot, map, view] :
       {std::tuple(plan.query, plan.queryMap, &queryView), std::tuple(plan.key, plan.keyMap, &keyView),
        std::tuple(plan.value, plan.valueMap, &valueView), std::tuple(plan.out, plan.outMap, &outView)})
    if (!makeView(*frame.tensors[slot], map, *view))
      return fail("expects the positions in its layouts to be inside their dimensions (C2)");
  const auto &q = queryView.sizes, &k = keyView.sizes, &v = valueView.sizes, &o = outView.sizes;
  sizes = {q[0], q[1], k[1], q[2], k[2], q[3], v[3]};
  if (k[3] != sizes.headDim)
    return fail("expects query and key to share headDim, but got " + Twine(q[3]) + " and " + Twine(k[3]) + " (C3)");
  if (k[0] != sizes.batch || v[0] != sizes.batch || v[1] != sizes.kvHeads || v[2] != sizes.kvLen)
    return fail("expects query, key and value to share batch, and key and value kvHeads and kvLen (C4)");
  if (sizes.kvHeads == 0 ? sizes.heads != 0 : sizes.heads % sizes.kvHeads != 0)
    return fail("expects kvHeads to divide heads, but got " + Twine(sizes.kvHeads) + " and " + Twine(sizes.heads) +
                " (C5)");
  if (o != std::array<int64_t, 4>{sizes.batch, sizes.heads, sizes.queryLen, sizes.valueDim})
    return fail("expects out to be [batch, heads, queryLen, valueDim] in its layout (C6)");
  std::optional<int64_t> rows = countElements({sizes.batch, sizes.heads, sizes.queryLen});
  std::optional<int64_t> count = countElements({sizes.batch, sizes.heads, sizes.queryLen, sizes.kvLen});
  int64_t cost;
  if (!rows || !count || llvm::MulOverflow(*count, 8 + sizes.headDim + sizes.valueDim, cost))
    return fail("expects the number of scores to fit in 63 bits (C15)");
  int64_t computed = countRows();
  return frame.charge(plan.op, computed) && frame.charge(plan.op, *rows ? cost / *rows * computed : 0);
}

template <typename T> bool AttentionRun<T>::bindLengths() {
  lengths.assign(sizes.batch, sizes.kvLen);
  if (!plan.kvLengths)
    return true;
  const Tensor &given = *frame.tensors[*plan.kvLengths];
  if (given.size() != sizes.batch)
    return fail("expects kv_lengths to have shape [batch = " + Twine(sizes.batch) + "] (C13)");
  for (int64_t b = 0; b < sizes.batch; ++b) {
    lengths[b] = given.data[b].integer;
    if (lengths[b] < 0 || lengths[b] > sizes.kvLen)
      return fail("expects kv_lengths[" + Twine(b) + "] to be in [0, kvLen = " + Twine(sizes.kvLen) + "], but got " +
                  Twine(lengths[b]));
  }
  return true;
}

template <typename T> bool AttentionRun<T>::bindMods() {
  const int64_t full[] = {sizes.batch, sizes.heads, sizes.queryLen, sizes.kvLen};
  if (plan.tiles && !checkRecord(frame, plan.op, *frame.tensors[*plan.tiles], full, lengths))
    return false;
  std::optional<SmallVector<MaskFunction>> bound = plan.masks.bind(frame, plan.op, full);
  if (!bound)
    return false;
  masks = std::move(*bound);
  for (const NamedMod &mod : plan.scores) {
    std::string error;
    scores.push_back(bindScore<T>(frame, mod, full, error));
    if (!scores.back())
      return fail(error);
  }
  if (plan.sink && frame.tensors[*plan.sink]->size() != sizes.heads)
    return fail("expects sink to have shape [heads = " + Twine(sizes.heads) + "] (C12)");
  scale = static_cast<T>(frame.scalars[plan.scale].real);
  return true;
}

/// [batch][heads][length][feature]; of each batch entry only the first lengths[b] of the length dimension are read.
template <typename T>
static std::vector<T> gatherOperand(const Tensor &tensor, const View &view, ArrayRef<int64_t> lengths) {
  const auto &[batch, heads, length, feature] = view.sizes;
  std::vector<T> result(batch * heads * length * feature);
  if (result.empty())
    return result;
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t n = 0; n < lengths[b]; ++n)
        for (int64_t d = 0; d < feature; ++d)
          result[((b * heads + h) * length + n) * feature + d] = static_cast<T>(tensor.data[view.at(b, h, n, d)].real);
  return result;
}

template <typename T> void AttentionRun<T>::gather() {
  std::vector<int64_t> allRows(sizes.batch, sizes.queryLen);
  query = gatherOperand<T>(*frame.tensors[plan.query], queryView, allRows);
  key = gatherOperand<T>(*frame.tensors[plan.key], keyView, lengths);
  value = gatherOperand<T>(*frame.tensors[plan.value], valueView, lengths);
  findNotFinite();
}

template <typename T> void AttentionRun<T>::findNotFinite() {
  int64_t pairs = sizes.batch * sizes.kvHeads;
  unspecified = std::vector<std::atomic<bool>>(pairs);
  std::vector<char> found(pairs * sizes.kvLen);
  auto look = [&](const std::vector<T> &elements, int64_t size, char what) {
    for (int64_t n = 0, e = elements.size(); n < e; ++n)
      if (!std::isfinite(elements[n]))
        found[n / size] |= what;
  };
  look(key, sizes.headDim, kKeyElement);
  look(value, sizes.valueDim, kValueElement);
  if (llvm::any_of(found, [](char what) { return what != 0; }))
    notFinite = std::move(found);
}

template <typename T> bool AttentionRun<T>::allocateResults() {
  // A layout of out with constants leaves the rest of outs as it was.
  out = std::make_shared<Tensor>(*frame.tensors[plan.out]);
  auto matches = [&](std::optional<unsigned> slot, ArrayRef<int64_t> shape) {
    return !slot || ArrayRef<int64_t>(frame.tensors[*slot]->shape) == shape;
  };
  const int64_t full[] = {sizes.batch, sizes.heads, sizes.queryLen, sizes.kvLen};
  ArrayRef<int64_t> rows = ArrayRef(full).drop_back();
  if (!matches(plan.lse, rows))
    return fail("expects lse to have shape [batch, heads, queryLen] (C7)");
  if (!matches(plan.weights, full))
    return fail("expects weights to have shape [batch, heads, queryLen, kvLen] (C8)");
  if (plan.lse && !(lse = frame.allocate(plan.op, plan.scoreType, rows)))
    return false;
  if (plan.weights && !(weights = frame.allocate(plan.op, plan.scoreType, full)))
    return false;
  if (frame.session->options.sampleRows)
    for (const std::shared_ptr<Tensor> &tensor : {out, lse, weights})
      if (tensor)
        tensor->known.assign(tensor->size(), 0);
  return true;
}

//===----------------------------------------------------------------------===//
// One row
//===----------------------------------------------------------------------===//

/// The named score functions in written order, then the score region.
template <typename T> bool AttentionRun<T>::applyScores(Frame &frame, const Point &point, T &score) const {
  for (const ScoreFunction<T> &function : scores)
    score = function(score, point);
  if (!plan.scoreRegion)
    return true;
  const Body &region = *plan.scoreRegion;
  frame.scalars[region.arguments[0].index].real = score;
  const int64_t indices[] = {point.b, point.h, point.i, point.j};
  for (auto [argument, index] : llvm::zip_equal(ArrayRef(region.arguments).drop_front(), indices))
    frame.scalars[argument.index].integer = index;
  if (!region.program.run(frame))
    return false;
  score = static_cast<T>(frame.scalars[region.yields.front().index].real);
  return true;
}

/// Values of dropped keys, and keys that a mask drops, must be finite.
template <typename T> void AttentionRun<T>::noteDropped(const Point &point, bool byMask) const {
  if (notFinite.empty())
    return;
  int64_t pair = point.b * sizes.kvHeads + point.h / (sizes.heads / sizes.kvHeads);
  if (notFinite[pair * sizes.kvLen + point.j] & (byMask ? kKeyElement | kValueElement : kValueElement))
    unspecified[pair] = true;
}

/// Scores of one row, and which keys are kept.
template <typename T> bool AttentionRun<T>::computeScores(Frame &frame, Point &point, Row<T> &row) const {
  int64_t group = sizes.heads / sizes.kvHeads;
  const T *q = query.data() + ((point.b * sizes.heads + point.h) * sizes.queryLen + point.i) * sizes.headDim;
  const T *k = key.data() + (point.b * sizes.kvHeads + point.h / group) * sizes.kvLen * sizes.headDim;
  for (point.j = 0; point.j < point.kvLen; ++point.j) {
    bool keep;
    if (!plan.masks.evaluate(frame, masks, point, keep))
      return false;
    // A score region is evaluated for dropped keys too: it must be defined there.
    if (!keep)
      noteDropped(point, /*byMask=*/true);
    if (!keep && !plan.scoreRegion)
      continue;
    T dot = 0;
    for (int64_t d = 0; d < sizes.headDim; ++d)
      dot += q[d] * k[point.j * sizes.headDim + d];
    T score = scale * dot;
    if (!applyScores(frame, point, score))
      return false;
    row.values[point.j] = score;
    row.kept[point.j] = keep && score != -std::numeric_limits<T>::infinity();
    if (keep && !row.kept[point.j])
      noteDropped(point, /*byMask=*/false);
  }
  return true;
}

/// Writes an element; a result of which only a sample is computed notes that it is known.
static void write(Tensor &tensor, int64_t position, double value) {
  tensor.data[position].real = value;
  if (!tensor.known.empty())
    tensor.known[position] = 1;
}

template <typename T> void AttentionRun<T>::writeRow(const Point &point, const Row<T> &row, T rowLse, bool poisoned) {
  constexpr bool rounds = std::is_same_v<T, float>;
  int64_t number = (point.b * sizes.heads + point.h) * sizes.queryLen + point.i;
  if (lse)
    write(*lse, number, rowLse);
  // Behind kv_lengths the weights are 0.
  for (int64_t j = 0; weights && j < sizes.kvLen; ++j)
    write(*weights, number * sizes.kvLen + j, j < point.kvLen ? row.values[j] : T(0));
  int64_t group = sizes.heads / sizes.kvHeads;
  const T *v = value.data() + (point.b * sizes.kvHeads + point.h / group) * sizes.kvLen * sizes.valueDim;
  std::vector<T> sum(sizes.valueDim, poisoned ? std::numeric_limits<T>::quiet_NaN() : T(0));
  for (int64_t j = 0; j < point.kvLen; ++j) {
    if (!row.kept[j])
      continue;
    T weight = rounds ? static_cast<T>(roundToType(plan.inputType, row.values[j])) : row.values[j];
    for (int64_t e = 0; e < sizes.valueDim; ++e)
      sum[e] += weight * v[j * sizes.valueDim + e];
  }
  for (int64_t e = 0; e < sizes.valueDim; ++e)
    write(*out, outView.at(point.b, point.h, point.i, e), rounds ? roundToType(plan.outType, sum[e]) : sum[e]);
}

/// Scores become weights; returns lse. `poisoned`: NaN or +inf among the kept scores (or as a sink that meets a key).
template <typename T> static T softmax(Row<T> &row, T sink, bool &poisoned) {
  constexpr T infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  auto isPoison = [](T score) { return std::isnan(score) || score == infinity; };
  poisoned = isPoison(sink);
  T largest = sink;
  bool empty = true;
  for (auto [score, kept] : llvm::zip_equal(row.values, row.kept)) {
    if (!kept)
      continue;
    empty = false;
    poisoned |= isPoison(score);
    largest = std::max(largest, score);
  }
  // Merging with the partial result of no keys changes nothing, whatever the sink.
  poisoned &= !empty;
  T sum = empty ? 1 : std::exp(sink - largest);
  for (auto [score, kept] : llvm::zip_equal(row.values, row.kept)) {
    score = !kept ? T(0) : poisoned ? nan : std::exp(score - largest);
    sum += score;
  }
  for (T &weight : row.values)
    weight = weight == 0 ? T(0) : weight / sum;
  return empty ? sink : poisoned ? nan : largest + std::log(sum);
}

template <typename T> bool AttentionRun<T>::runRow(Frame &frame, int64_t number) {
  Point point{};
  point.i = number % sizes.queryLen;
  point.h = number / sizes.queryLen % sizes.heads;
  point.b = number / sizes.queryLen / sizes.heads;
  point.queryLen = sizes.queryLen;
  point.kvLen = lengths[point.b];
  Row<T> row{std::vector<T>(point.kvLen), std::vector<char>(point.kvLen)};
  if (!computeScores(frame, point, row))
    return false;
  T sink =
      plan.sink ? static_cast<T>(frame.tensors[*plan.sink]->data[point.h].real) : -std::numeric_limits<T>::infinity();
  bool poisoned;
  T rowLse = softmax(row, sink, poisoned);
  writeRow(point, row, rowLse, poisoned);
  return true;
}

/// The rows that are computed; their product fits in 63 bits.
template <typename T> int64_t AttentionRun<T>::countRows() const {
  int64_t rows = sizes.batch * sizes.heads * sizes.queryLen, sample = frame.session->options.sampleRows;
  return sample ? std::min(rows, sample) : rows;
}

/// The number of the k-th of them: k * (rows - 1) / (computed - 1), with no product of large numbers.
template <typename T> int64_t AttentionRun<T>::rowOf(int64_t k) const {
  int64_t rows = sizes.batch * sizes.heads * sizes.queryLen, gaps = countRows() - 1;
  if (gaps == rows - 1)
    return k;
  return gaps ? k * ((rows - 1) / gaps) + k * ((rows - 1) % gaps) / gaps : 0;
}

/// Results that are unspecified count as not known.
template <typename T> void AttentionRun<T>::leaveUnspecifiedOut() {
  auto forget = [](Tensor *tensor, int64_t position) {
    if (tensor && tensor->known.empty())
      tensor->known.assign(tensor->size(), 1);
    if (tensor)
      tensor->known[position] = 0;
  };
  for (int64_t number = 0; number < sizes.batch * sizes.heads * sizes.queryLen; ++number) {
    int64_t i = number % sizes.queryLen, head = number / sizes.queryLen, h = head % sizes.heads, b = head / sizes.heads;
    if (!unspecified[b * sizes.kvHeads + h / (sizes.heads / sizes.kvHeads)])
      continue;
    for (int64_t e = 0; e < sizes.valueDim; ++e)
      forget(out.get(), outView.at(b, h, i, e));
    forget(lse.get(), number);
    for (int64_t j = 0; j < sizes.kvLen; ++j)
      forget(weights.get(), number * sizes.kvLen + j);
  }
}

template <typename T> bool AttentionRun<T>::run() {
  if (frame.session->options.sampleRows && frame.callDepth)
    return fail("expects to be in the evaluated function itself where only a sample of its rows is computed");
  if (!bindSizes() || !bindLengths() || !bindMods() || !allocateResults())
    return false;
  gather();
  int64_t rows = countRows();
  int64_t cost = sizes.kvLen * (8 + sizes.headDim + sizes.valueDim);
  auto work = [&](Frame &part, int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k)
      if (!runRow(part, rowOf(k)))
        return false;
    return true;
  };
  if (rows && !parallelFor(frame, rows, cost, work))
    return false;
  if (!notFinite.empty())
    leaveUnspecifiedOut();
  const std::shared_ptr<Tensor> all[] = {out, lse, weights};
  for (auto [slot, tensor] :
       llvm::zip_equal(plan.results, llvm::make_filter_range(all, [](const auto &entry) { return entry != nullptr; })))
    frame.tensors[slot] = tensor;
  return true;
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

FailureOr<Step> attn::reference::compileAttention(Compiler &compiler, Operation &operation) {
  auto op = dyn_cast<AttentionOp>(operation);
  if (!op)
    return Step();
  if (!op->getNumResults())
    return op.emitOpError("is not supported by the reference interpreter on memrefs");
  bool isReturned = llvm::all_of(op->getUsers(), [](Operation *user) { return isa<func::ReturnOp>(user); });
  if (compiler.getOptions().sampleRows && !isReturned)
    return op.emitOpError("expects its results to be returned and used by nothing else where only a sample of its rows "
                          "is computed");
  FailureOr<SmallVector<NamedMod>> scores = getNamedMods(compiler, op, op.getScoresAttr(), op.getScoreCaptures());
  FailureOr<Masks> masks = compileMasks(compiler, op, op.getMasksAttr(), op.getMaskCaptures(), op.getMaskRegion());
  if (failed(scores) || failed(masks))
    return failure();
  std::optional<Body> scoreRegion;
  if (!op.getScoreRegion().empty()) {
    FailureOr<Body> body = compiler.compileModRegion(op.getScoreRegion());
    if (failed(body))
      return failure();
    scoreRegion = std::move(*body);
  }
  auto element = [](Value value) { return cast<ShapedType>(value.getType()).getElementType(); };
  auto optional = [&](Value value) { return value ? std::optional(compiler.tensor(value)) : std::nullopt; };
  SmallVector<unsigned> results =
      llvm::map_to_vector(op->getResults(), [&](Value result) { return compiler.tensor(result); });
  AttentionPlan plan{op,
                     element(op.getQuery()),
                     element(op.getOut()),
                     op.getScoreType(),
                     op.getQueryMap(),
                     op.getKeyMap(),
                     op.getValueMap(),
                     op.getOutMap(),
                     compiler.tensor(op.getQuery()),
                     compiler.tensor(op.getKey()),
                     compiler.tensor(op.getValue()),
                     compiler.scalar(op.getScale()),
                     compiler.tensor(op.getOut()),
                     optional(op.getSink()),
                     optional(op.getKvLengths()),
                     optional(op.getTiles()),
                     optional(op.getLse()),
                     optional(op.getWeights()),
                     std::move(*scores),
                     std::move(scoreRegion),
                     std::move(*masks),
                     results};
  bool inF32 = compiler.getOptions().roundLikeUnfused && !plan.inputType.isF64();
  return Step([plan = std::make_shared<const AttentionPlan>(std::move(plan)), inF32](Frame &frame) {
    return inF32 ? AttentionRun<float>(*plan, frame).run() : AttentionRun<double>(*plan, frame).run();
  });
}
