//===- Attention.cpp - attention in its spellings ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// As attn.attention with layouts, masks, scores and regions, and written out as products around a softmax. Where it is
// written out every row keeps a key: a dead row is NaN there and 0 where it is fused, the one permitted difference.
//
//===----------------------------------------------------------------------===//

#include "Builder.h"
#include <algorithm>
#include <cmath>

using namespace graphs;

namespace {
/// The sizes of one attention.
struct Problem {
  int64_t batch, heads, kvHeads, queryLen, kvLen, headDim, valueDim;
  Element element;
};
} // namespace

static Problem chooseProblem(Builder &builder, const Goal &goal) {
  Random &random = builder.random;
  Problem problem{goal.sizes[0], goal.sizes[1], 1, goal.sizes[2], 0, 0, goal.sizes[3], goal.element};
  std::vector<int64_t> divisors;
  for (int64_t k = 1; k <= problem.heads; ++k)
    if (problem.heads % k == 0)
      divisors.push_back(k);
  problem.kvHeads = divisors.empty() ? 0 : random.pick(divisors);
  problem.kvLen = random.chance(35)   ? problem.queryLen
                  : random.chance(20) ? random.between(builder.leastSize(), 1)
                                      : random.between(2, 12);
  if (random.chance(6))
    problem.kvLen = random.between(30, 70);
  problem.headDim =
      random.chance(15) ? random.between(builder.leastSize(), 1) : random.pick(std::vector<int64_t>{2, 3, 4, 8});
  return problem;
}

/// A value that bounds how large scores become: about 6 at most.
static double scaleFor(const Problem &problem, const Value &q, const Value &k) {
  double largest = std::max<double>(1, static_cast<double>(problem.headDim)) * q.bound * k.bound;
  return largest > 6 ? 6 / largest : 0.75;
}

//===----------------------------------------------------------------------===//
// attn.attention
//===----------------------------------------------------------------------===//

namespace {
/// An operand with its dimensions in an order of its own.
struct Operand {
  Value value;
  std::string letters;
};

class AttentionWriter {
public:
  AttentionWriter(Builder &builder, const Problem &problem, int depth)
      : builder(builder), random(builder.random), p(problem), depth(depth) {}

  Value write();

private:
  int64_t sizeOf(char letter, bool isKv) const {
    switch (letter) {
    case 'b':
      return p.batch;
    case 'h':
      return isKv ? p.kvHeads : p.heads;
    case 'i':
      return p.queryLen;
    case 'j':
      return p.kvLen;
    case 'd':
      return p.headDim;
    default:
      return p.valueDim;
    }
  }
  std::string chooseLetters(char length, char width, bool isKv);
  Operand operand(char length, char width, bool isKv);
  /// GPUs want the sizes of heads in the types.
  Value keepsHeads(Value value, const std::string &letters);
  std::string layoutText(const char *name, const std::string &letters);
  void packKeyAndValue(Operand &k, Operand &v);
  std::string masks();
  std::string scores();
  std::string regions();
  std::string captured(const Goal &goal, Value *value = nullptr);
  Value broadcastable(Element element);
  std::string scoreType() const { return p.element == Element::F64 ? "f64" : "f32"; }
  Element scoreElement() const { return p.element == Element::F64 ? Element::F64 : Element::F32; }
  std::string diagonal() { return random.pick({"top_left", "bottom_right"}); }

  Builder &builder;
  Random &random;
  const Problem p;
  int depth;
};
} // namespace

std::string AttentionWriter::chooseLetters(char length, char width, bool isKv) {
  std::string letters = {'b', 'h', length, width};
  if (random.chance(35)) // batch, length, heads
    std::swap(letters[1], letters[2]);
  else if (random.chance(20))
    for (size_t k = 4; k > 1; --k)
      std::swap(letters[k - 1], letters[random.next(k)]);
  // Out may not lack what it has to hold, nor a reader: size 1 alone.
  for (char letter : {'b', 'h'})
    if (sizeOf(letter, isKv) == 1 && random.chance(20))
      letters.erase(letters.find(letter), 1);
  return letters;
}

Value AttentionWriter::keepsHeads(Value value, const std::string &letters) {
  std::vector<bool> dynamic = value.dynamic;
  for (size_t k = 0; k < letters.size(); ++k)
    if (builder.options.isGpu && (letters[k] == 'd' || letters[k] == 'e'))
      dynamic[k] = false;
  return builder.cast(value, dynamic);
}

Operand AttentionWriter::operand(char length, char width, bool isKv) {
  std::string letters = chooseLetters(length, width, isKv);
  Sizes sizes;
  for (char letter : letters)
    sizes.push_back(sizeOf(letter, isKv));
  return {keepsHeads(builder.produce({p.element, sizes}, depth), letters), letters};
}

/// Key and value out of one tensor: by a constant of the layout, or by slices that drop the dimension.
void AttentionWriter::packKeyAndValue(Operand &k, Operand &v) {
  std::string letters = chooseLetters('j', 'd', true);
  size_t slot = random.next(letters.size());
  Sizes sizes, part;
  for (char letter : letters)
    part.push_back(sizeOf(letter, true));
  sizes = part;
  sizes.insert(sizes.begin() + static_cast<int64_t>(slot), 2);
  Value packed = builder.produce({p.element, sizes}, depth);
  std::string packedLetters = letters, valueLetters = letters;
  std::replace(valueLetters.begin(), valueLetters.end(), 'd', 'e');
  if (random.chance(40)) {
    packedLetters.insert(slot, "0");
    packed = keepsHeads(packed, packedLetters);
    k = {packed, packedLetters};
    v = {packed, valueLetters};
    v.letters.insert(slot, "1");
    builder.countKind("packed-layout");
    return;
  }
  builder.countKind("packed-slices");
  for (int64_t which : {0, 1}) {
    Sizes offsets(sizes.size(), 0), whole = sizes;
    offsets[slot] = which, whole[slot] = 1;
    std::vector<bool> open = builder.randomDynamic(whole);
    open[slot] = false;
    std::vector<bool> openOffsets(whole.size());
    for (size_t d = 0; d < whole.size(); ++d)
      openOffsets[d] = offsets[d] >= sizes[d];
    std::string places = builder.numbers(offsets, openOffsets), lengths = builder.numbers(whole, open);
    std::vector<bool> dynamic = open;
    dynamic.erase(dynamic.begin() + static_cast<int64_t>(slot));
    Value slice = builder.result("tensor.extract_slice " + packed.name + places + " " + lengths + " " +
                                     builder.numbers(Sizes(sizes.size(), 1)) + " : " + builder.typeOf(packed) + " to " +
                                     builder.typeOf(p.element, part, dynamic),
                                 p.element, part, dynamic, packed.bound, packed.exact);
    (which ? v : k) = {keepsHeads(slice, which ? valueLetters : letters), which ? valueLetters : letters};
  }
}

std::string AttentionWriter::layoutText(const char *name, const std::string &letters) {
  std::vector<std::string> parts;
  for (char letter : letters)
    parts.push_back(std::string(1, letter));
  return std::string(name) + "(" + join(parts) + ")";
}

/// "%t : tensor<...>" of a produced tensor.
std::string AttentionWriter::captured(const Goal &goal, Value *value) {
  Value made = builder.produce(goal, std::min(depth, 1));
  if (value)
    *value = made;
  return made.name + " : " + builder.typeOf(made);
}

/// Of any rank that broadcasts to the scores.
Value AttentionWriter::broadcastable(Element element) {
  Sizes sizes = {p.batch, p.heads, p.queryLen, p.kvLen};
  sizes.erase(sizes.begin(), sizes.begin() + random.between(0, 3));
  for (int64_t &size : sizes)
    if (random.chance(25))
      size = 1;
  return builder.produce({element, sizes}, std::min(depth, 1));
}

std::string AttentionWriter::masks() {
  std::vector<std::string> list;
  for (uint64_t count = random.next(3); count > 0; --count) {
    std::string left = std::to_string(random.between(0, 6)), right = std::to_string(random.between(0, 3));
    switch (random.next(8)) {
    case 0:
      list.push_back("causal<" + diagonal() + ">");
      break;
    case 1:
      list.push_back("window<left = " + left + ", right = " + right + ", " + diagonal() + ">");
      break;
    case 2: {
      Value mask = broadcastable(Element::I1);
      list.push_back("boolean(" + mask.name + " : " + builder.typeOf(mask) + ")");
      break;
    }
    case 3:
      list.push_back("prefix<" + diagonal() + ">(" + captured({Element::I32, {p.batch}, true, p.kvLen + 1}) + ")");
      break;
    case 4: {
      std::string ids = captured({Element::I32, {p.queryLen}, true, 3});
      list.push_back("document(" + ids + ", " + captured({Element::I32, {p.kvLen}, true, 3}) + ")");
      break;
    }
    case 5:
      list.push_back("padding_right(" + captured({Element::I64, {p.batch}, true, p.kvLen + 1}) + ")");
      break;
    case 6:
      list.push_back("block_causal<size = " + std::to_string(random.between(1, 4)) + ", " + diagonal() + ">");
      break;
    default:
      list.push_back("dilated<left = " + left + ", right = " + right + ", step = 2, " + diagonal() + ">");
    }
    builder.countKind("mask-" + list.back().substr(0, list.back().find_first_of("<(")));
  }
  return list.empty() ? "" : " masks(" + join(list) + ")";
}

std::string AttentionWriter::scores() {
  std::vector<std::string> list;
  for (uint64_t count = random.next(3); count > 1 || (count == 1 && random.chance(50)); --count) {
    switch (random.next(3)) {
    case 0:
      list.push_back("softcap<5.0>");
      break;
    case 1: {
      Value bias = broadcastable(random.chance(50) ? p.element : scoreElement());
      list.push_back("bias(" + bias.name + " : " + builder.typeOf(bias) + ")");
      break;
    }
    default:
      list.push_back("head_scale(" + captured({scoreElement(), {p.heads}}) + ")");
    }
    builder.countKind("score-" + list.back().substr(0, list.back().find_first_of("<(")));
  }
  return list.empty() ? "" : " scores(" + join(list) + ")";
}

/// Score and mask regions that read captured tensors and scalars.
std::string AttentionWriter::regions() {
  std::string text, type = scoreType();
  if (random.chance(20)) {
    Value table;
    captured({scoreElement(), {std::max<int64_t>(1, p.heads), std::max<int64_t>(1, p.kvLen)}}, &table);
    text += " score(%s" + std::string(type == "f64" ? " : f64" : "") + ", %b, %h, %i, %j) {\n  %e = tensor.extract " +
            table.name + "[%h, %j] : " + builder.typeOf(table) + "\n  %t = arith.addf %s, %e : " + type +
            "\n  attn.yield %t : " + type + "\n}";
    builder.countKind("score-region");
  }
  if (random.chance(25)) {
    std::string shift = builder.index(random.between(0, 4));
    std::string number = builder.constant(Element::Index, static_cast<double>(random.between(2, 4)));
    const char *op = random.pick({"divui", "remui", "addi", "muli"});
    Value ends;
    captured({Element::I32, {std::max<int64_t>(1, p.queryLen)}, true, 9}, &ends);
    text += " where(%b, %h, %i, %j) {\n  %x = arith." + std::string(op) + " %j, " + number +
            " : index\n  %y = arith.addi %i, " + shift + " : index\n  %c = arith.cmpi sle, %x, %y : index\n" +
            "  %z = tensor.extract " + ends.name + "[%i] : " + builder.typeOf(ends) +
            "\n  %w = arith.index_cast %z : i32 to index\n  %d = arith.cmpi " + random.pick({"ule", "uge", "ne"}) +
            ", %w, %j : index\n  %k = arith." + random.pick({"ori", "andi", "xori"}) +
            " %c, %d : i1\n  attn.yield %k : i1\n}";
    builder.countKind("mask-region");
  }
  return text;
}

Value AttentionWriter::write() {
  Operand q = operand('i', 'd', false), k, v;
  if (p.headDim == p.valueDim && random.chance(40)) {
    packKeyAndValue(k, v);
  } else {
    k = operand('j', 'd', true);
    v = operand('j', 'e', true);
  }
  // Out has the goal's order.
  std::vector<bool> dynamic = builder.randomDynamic({p.batch, p.heads, p.queryLen, p.valueDim});
  dynamic[3] = dynamic[3] && !builder.options.isGpu;
  Value out = builder.empty(p.element, {p.batch, p.heads, p.queryLen, p.valueDim}, dynamic);
  std::string scale = builder.constant(scoreElement(), scaleFor(p, q.value, k.value));
  bool isPlain = q.letters == "bhid" && k.letters == "bhjd" && v.letters == "bhje";
  std::string layout = isPlain ? ""
                               : " layout(" + layoutText("query", q.letters) + ", " + layoutText("key", k.letters) +
                                     ", " + layoutText("value", v.letters) + ")";
  std::string named = scores();
  named += masks();
  named += regions();
  std::string sink = random.chance(15) ? " sink(" + captured({scoreElement(), {p.heads}}) + ")" : "";
  std::string lengths =
      random.chance(12) ? " kv_lengths(" + captured({Element::I32, {p.batch}, true, p.kvLen + 1}) + ")" : "";
  std::string outs = " outs(" + out.name + " : " + builder.typeOf(out) + ")", results = builder.typeOf(out);
  size_t count = 1;
  Value weights;
  if (random.chance(15)) {
    weights = builder.empty(scoreElement(), {p.batch, p.heads, p.queryLen, p.kvLen},
                            builder.randomDynamic({p.batch, p.heads, p.queryLen, p.kvLen}));
    outs += " weights(" + weights.name + " : " + builder.typeOf(weights) + ")";
    results += ", " + builder.typeOf(weights);
    count = 2;
  }
  std::vector<std::string> names =
      builder.defineMany("attn.attention " + q.value.name + ", " + k.value.name + ", " + v.value.name + " scale(" +
                             scale + (scoreType() == "f64" ? " : f64" : "") + ")" + layout + named + sink + lengths +
                             " : " + builder.typeOf(q.value) + ", " + builder.typeOf(k.value) + ", " +
                             builder.typeOf(v.value) + outs + " -> " + results,
                         count);
  if (count > 1) {
    weights.name = names[1], weights.bound = 1, weights.exact = false;
    builder.remember(weights);
  }
  Value value = out;
  value.name = names[0], value.bound = v.value.bound, value.exact = false;
  builder.remember(value);
  return value;
}

//===----------------------------------------------------------------------===//
// Written out
//===----------------------------------------------------------------------===//

namespace {
class UnfusedWriter {
public:
  UnfusedWriter(Builder &builder, const Problem &problem, int depth)
      : builder(builder), random(builder.random), p(problem), depth(depth), type(toString(problem.element)) {}

  Value write();

private:
  Value contract(const Value &a, const Value &b, const std::string &forA, const std::string &forB, const Sizes &sizes,
                 double bound);
  Value scaled(const Value &scores, double scale);
  Value masked(const Value &scores);
  Value biased(const Value &scores);
  Value softmax(const Value &scores);
  Value softmaxByParts(const Value &scores);
  Value rows(const Value &scores, double start, const std::string &op);
  Value generic(const std::vector<Value> &inputs, const std::vector<std::string> &maps, const Value &like,
                const std::string &body, double bound);

  Builder &builder;
  Random &random;
  const Problem p;
  int depth;
  std::string type;
};
} // namespace

static std::vector<std::string> lettersOf(const std::string &text) {
  std::vector<std::string> letters;
  for (char letter : text)
    letters.push_back(std::string(1, letter));
  return letters;
}

/// Loops over b, h, i, j, d (or e), the last of which is summed.
Value UnfusedWriter::contract(const Value &a, const Value &b, const std::string &forA, const std::string &forB,
                              const Sizes &sizes, double bound) {
  std::vector<bool> dynamic = builder.randomDynamic(sizes);
  if (builder.options.isGpu)
    dynamic.back() = false;
  Value out = builder.filled(p.element, sizes, dynamic, 0);
  auto map = [](const std::string &letters) {
    return "affine_map<(b, h, m, n, s) -> (" + join(lettersOf(letters)) + ")>";
  };
  std::string body = "^bb0(%x: " + type + ", %y: " + type + ", %a: " + type + "):\n  %p = arith.mulf %x, %y : " + type +
                     "\n  %t = arith.addf %a, %p : " + type + "\n  linalg.yield %t : " + type;
  return builder.result(builder.generic({map(forA), map(forB), map("bhmn")}, "ppppr", {a, b}, out, body), p.element,
                        sizes, dynamic, bound, false);
}

Value UnfusedWriter::generic(const std::vector<Value> &inputs, const std::vector<std::string> &maps, const Value &like,
                             const std::string &body, double bound) {
  std::vector<std::string> texts;
  for (const std::string &letters : maps)
    texts.push_back("affine_map<(b, h, i, j) -> (" + join(lettersOf(letters)) + ")>");
  Value out = builder.empty(p.element, like.sizes, like.dynamic);
  return builder.result(builder.generic(texts, "pppp", inputs, out, body), p.element, like.sizes, like.dynamic, bound,
                        false);
}

Value UnfusedWriter::scaled(const Value &scores, double scale) {
  std::string number = builder.constant(p.element, scale);
  return generic({scores}, {"bhij", "bhij"}, scores,
                 "^bb0(%x: " + type + ", %o: " + type + "):\n  %y = arith.mulf %x, " + number + " : " + type +
                     "\n  linalg.yield %y : " + type,
                 scores.bound * scale);
}

/// -inf where a boolean or the positions drop a key; the first key is kept.
Value UnfusedWriter::masked(const Value &scores) {
  std::string dropped = builder.constant(p.element, -INFINITY), zero = builder.constant(Element::Index, 0);
  Value mask = builder.produce({Element::I1, {p.batch, p.queryLen, p.kvLen}}, std::min(depth, 1));
  bool byPosition = random.chance(40);
  std::string body = "^bb0(%x: " + type + ", %m: i1, %o: " + type + "):\n  %j = linalg.index 3 : index\n" +
                     "  %i = linalg.index 2 : index\n  %f = arith.cmpi eq, %j, " + zero +
                     " : index\n  %c = " + (byPosition ? "arith.cmpi sle, %j, %i : index" : "arith.ori %m, %f : i1") +
                     "\n  %y = arith.select %c, %x, " + dropped + " : " + type + "\n  linalg.yield %y : " + type;
  builder.countKind("unfused-mask");
  return generic({scores, mask}, {"bhij", "bij", "bhij"}, scores, body, INFINITY);
}

Value UnfusedWriter::biased(const Value &scores) {
  Value bias = builder.produce({p.element, {p.heads, p.kvLen}}, std::min(depth, 1));
  builder.countKind("unfused-bias");
  return generic({scores, bias}, {"bhij", "hj", "bhij"}, scores,
                 "^bb0(%x: " + type + ", %b: " + type + ", %o: " + type + "):\n  %y = arith.addf %x, %b : " + type +
                     "\n  linalg.yield %y : " + type,
                 scores.bound + bias.bound);
}

Value UnfusedWriter::rows(const Value &scores, double start, const std::string &op) {
  Sizes sizes(scores.sizes.begin(), scores.sizes.end() - 1);
  std::vector<bool> dynamic(scores.dynamic.begin(), scores.dynamic.end() - 1);
  Value init = builder.filled(p.element, sizes, dynamic, start);
  Value result = init;
  result.name =
      builder.define("linalg.reduce { arith." + op + " } ins(" + scores.name + " : " + builder.typeOf(scores) +
                     ") outs(" + init.name + " : " + builder.typeOf(init) + ") dimensions = [3]");
  return result;
}

Value UnfusedWriter::softmaxByParts(const Value &scores) {
  Value top = rows(scores, -INFINITY, random.pick({"maximumf", "maxnumf"}));
  std::string head = "^bb0(%x: " + type + ", %m: " + type + ", %o: " + type + "):\n";
  Value shifted = generic({scores, top}, {"bhij", "bhi", "bhij"}, scores,
                          head + "  %d = arith.subf %x, %m : " + type + "\n  %y = math.exp %d : " + type +
                              "\n  linalg.yield %y : " + type,
                          1);
  Value sum = rows(shifted, 0, "addf");
  return generic({shifted, sum}, {"bhij", "bhi", "bhij"}, scores,
                 head + "  %y = arith.divf %x, %m : " + type + "\n  linalg.yield %y : " + type, 1);
}

Value UnfusedWriter::softmax(const Value &scores) {
  uint64_t kind = random.next(3);
  if (kind == 0 || p.kvLen == 0)
    return softmaxByParts(scores);
  Value out = builder.empty(p.element, scores.sizes, scores.dynamic);
  std::string from = builder.typeOf(scores), to = builder.typeOf(out);
  std::string operation = kind == 1 ? "attn.softmax " + scores.name + " axis(3) : " + from
                                    : "linalg.softmax dimension(3) ins(" + scores.name + " : " + from + ")";
  return builder.result(operation + " outs(" + out.name + " : " + to + ") -> " + to, p.element, out.sizes, out.dynamic,
                        1, false);
}

Value UnfusedWriter::write() {
  Value q = builder.produce({p.element, {p.batch, p.heads, p.queryLen, p.headDim}}, depth);
  bool isTransposed = random.chance(30);
  Sizes keys = {p.batch, p.heads, p.kvLen, p.headDim};
  if (isTransposed)
    std::swap(keys[2], keys[3]);
  Value k = builder.produce({p.element, keys}, depth);
  Value v = builder.produce({p.element, {p.batch, p.heads, p.kvLen, p.valueDim}}, depth);
  if (builder.options.isGpu) {
    auto fix = [&](Value &value, size_t dim) {
      std::vector<bool> dynamic = value.dynamic;
      dynamic[dim] = false;
      value = builder.cast(value, dynamic);
    };
    fix(q, 3), fix(k, isTransposed ? 2 : 3), fix(v, 3);
  }
  double scale = scaleFor(p, q, k);
  Value scores =
      contract(q, k, "bhms", isTransposed ? "bhsn" : "bhns", {p.batch, p.heads, p.queryLen, p.kvLen}, 6 / scale);
  scores = scaled(scores, scale);
  if (random.chance(30))
    scores = biased(scores);
  if (random.chance(50))
    scores = masked(scores);
  return contract(softmax(scores), v, "bhms", "bhsn", {p.batch, p.heads, p.queryLen, p.valueDim}, v.bound);
}

Value graphs::attend(Builder &builder, const Goal &goal, int depth) {
  Problem problem = chooseProblem(builder, goal);
  if (builder.random.chance(60)) {
    builder.countKind("attn.attention");
    return AttentionWriter(builder, problem, depth).write();
  }
  builder.countKind("unfused-attention");
  // A row without keys is NaN there.
  problem.kvLen = std::max<int64_t>(1, problem.kvLen);
  return UnfusedWriter(builder, problem, depth).write();
}
