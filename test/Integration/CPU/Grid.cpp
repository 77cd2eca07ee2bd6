//===- Grid.cpp - the axes of the integration grid -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Grid.h"
#include "test/Unit/SuiteTarget.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>
#include <set>
#include <sstream>

using namespace grid;

//===----------------------------------------------------------------------===//
// Axes and cases
//===----------------------------------------------------------------------===//

const std::array<std::vector<std::string>, NumAxes> &grid::axisValues() {
  static const std::array<std::vector<std::string>, NumAxes> values = {{
      {"none", "causal-top-left", "causal-bottom-right", "window-both", "window-left", "prefix", "boolean", "dead-rows",
       "modular", "table", "causal-and-window"},
      {"none", "softcap", "alibi", "bias-full", "bias-key", "bias-head", "additive", "region-table", "region-gather",
       "region-math", "softcap-then-region"},
      {"f32", "f64", "f16", "bf16"},
      {"as-input", "wide"},
      {"1x1", "3x3", "4x2", "6x1", "28x4"},
      {"1x1", "1x37", "17x1", "5x33", "65x64", "33x130", "64x65", "7x0", "0x5"},
      {"8x16", "64x80", "33x1", "1x7", "0x3", "40x0"},
      {"default", "bshd", "packed", "key-transposed"},
      {"static", "dynamic"},
      {"out", "lse", "weights", "both"},
      {"none", "finite", "mixed"},
      {"none", "mixed"},
      {"model", "16x16", "64x32", "32x128", "128x64"},
      {"model", "1", "50"},
  }};
  return values;
}

/// splitmix64: a well-mixed number from a counter.
static uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

namespace {
struct Random {
  uint64_t state;
  uint64_t next(uint64_t limit) { return mix(state++) % limit; }
};
} // namespace

/// Two values of two axes, a < b.
using Pair = std::array<unsigned, 4>;

static unsigned countNewPairs(const std::set<Pair> &open, const Case &c, unsigned axis, unsigned value,
                              const std::array<bool, NumAxes> &isSet) {
  unsigned count = 0;
  for (unsigned other = 0; other < NumAxes; ++other) {
    if (!isSet[other] || other == axis)
      continue;
    Pair pair = other < axis ? Pair{other, c[other], axis, value} : Pair{axis, value, other, c[other]};
    count += open.count(pair);
  }
  return count;
}

std::vector<Case> grid::pairwise(uint64_t seed) {
  const auto &values = axisValues();
  std::set<Pair> open;
  for (unsigned a = 0; a < NumAxes; ++a)
    for (unsigned b = a + 1; b < NumAxes; ++b)
      for (unsigned x = 0; x < values[a].size(); ++x)
        for (unsigned y = 0; y < values[b].size(); ++y)
          open.insert({a, x, b, y});
  Random random{seed};
  std::vector<Case> cases;
  while (!open.empty()) {
    // An open pair is given; the other axes take what closes most, ties at random.
    Pair first = *std::next(open.begin(), random.next(open.size()));
    Case c{};
    std::array<bool, NumAxes> isSet{};
    c[first[0]] = first[1];
    c[first[2]] = first[3];
    isSet[first[0]] = isSet[first[2]] = true;
    for (unsigned axis = 0; axis < NumAxes; ++axis) {
      if (isSet[axis])
        continue;
      unsigned start = random.next(values[axis].size()), best = start, bestCount = 0;
      for (unsigned k = 0; k < values[axis].size(); ++k) {
        unsigned value = (start + k) % values[axis].size();
        unsigned count = countNewPairs(open, c, axis, value, isSet);
        if (count > bestCount)
          best = value, bestCount = count;
      }
      c[axis] = best;
      isSet[axis] = true;
    }
    for (unsigned a = 0; a < NumAxes; ++a)
      for (unsigned b = a + 1; b < NumAxes; ++b)
        open.erase({a, c[a], b, c[b]});
    cases.push_back(c);
  }
  return cases;
}

std::vector<Case> grid::sample(uint64_t seed, int64_t count) {
  Random random{seed};
  std::vector<Case> cases(count);
  for (Case &c : cases)
    for (unsigned axis = 0; axis < NumAxes; ++axis)
      c[axis] = random.next(axisValues()[axis].size());
  return cases;
}

std::string grid::title(const Case &c) {
  static const char *const names[] = {"mask",   "score", "type",    "out",  "heads",      "lengths", "sizes",
                                      "layout", "shape", "results", "sink", "kv_lengths", "tiles",   "segments"};
  std::string text;
  for (unsigned axis = 0; axis < NumAxes; ++axis)
    text += (axis ? " " : "") + std::string(names[axis]) + ":" + axisValues()[axis][c[axis]];
  return text;
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

static int64_t widthOf(attn::DType dtype) {
  switch (dtype) {
  case attn::DType::F16:
  case attn::DType::BF16:
    return 2;
  case attn::DType::F64:
  case attn::DType::I64:
    return 8;
  case attn::DType::I1:
    return 1;
  default:
    return 4;
  }
}

static int64_t product(const std::vector<int64_t> &sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1), std::multiplies<>());
}

Buffer::Buffer(attn::DType dtype, std::vector<int64_t> sizes)
    : dtype(dtype), sizes(std::move(sizes)), elements(product(this->sizes)), width(widthOf(dtype)),
      memory(elements * width) {}

void Buffer::set(int64_t element, double value) {
  unsigned char *at = memory.data() + element * width;
  if (dtype == attn::DType::F64) {
    std::memcpy(at, &value, sizeof(value));
  } else if (dtype == attn::DType::F32) {
    float narrow = value;
    std::memcpy(at, &narrow, sizeof(narrow));
  } else {
    uint16_t bits = dtype == attn::DType::F16 ? attn::Float16(value).bits : attn::BFloat16(value).bits;
    std::memcpy(at, &bits, sizeof(bits));
  }
}

void Buffer::setInteger(int64_t element, int64_t value) {
  static const uint8_t trueBytes[] = {1, 2, 128, 255, 64};
  if (dtype == attn::DType::I1 && value)
    value = trueBytes[element % std::size(trueBytes)];
  std::memcpy(memory.data() + element * width, &value, width); // little endian
}

attn::MutableTensorView Buffer::view() {
  attn::MutableTensorView view;
  view.data = memory.data();
  view.dtype = dtype;
  view.sizes = sizes;
  view.strides = attn::rowMajorStrides(sizes);
  return view;
}

//===----------------------------------------------------------------------===//
// The program of a case
//===----------------------------------------------------------------------===//

namespace {

/// Builds the text of a case beside its data.
class ProblemBuilder {
public:
  ProblemBuilder(const Case &c, bool keepsHeadSizes);
  Problem build();

private:
  const std::string &is(Axis axis) const { return axisValues()[axis][c[axis]]; }
  std::string typeOf(const std::vector<int64_t> &sizes, const std::string &element) const;
  Buffer &addInput(const std::string &name, const std::vector<int64_t> &sizes, const std::string &element);
  void addReal(const std::string &name, const std::vector<int64_t> &sizes, const std::string &element, double scale);
  void addOperands();
  void addLengths();
  void addMask();
  void addScore();
  void addSink();
  void poison();
  void addResult(const std::string &name, const std::vector<int64_t> &sizes, const std::string &element);
  void emitDimensions();

  /// True where the type leaves a dimension of this size open.
  bool isOpen(int64_t size) const {
    return is(Static) == "dynamic" && !(keepsHeadSizes && (size == headDim || size == valueDim));
  }

  Case c;
  bool keepsHeadSizes;
  int64_t batch = 2, heads, kvHeads, queryLen, kvLen, headDim, valueDim;
  std::string element, wide, outElement;
  std::vector<int64_t> lengths;
  std::string arguments, layout, scores, masks, scoreRegion, maskRegion, options, initText, outsText, resultTypes;
  std::vector<std::string> inits;
  unsigned stream = 0;
  Problem problem;
};

} // namespace

static void parseTwo(const std::string &text, int64_t &a, int64_t &b) {
  std::istringstream stream(text);
  char x;
  stream >> a >> x >> b;
}

ProblemBuilder::ProblemBuilder(const Case &c, bool keepsHeadSizes) : c(c), keepsHeadSizes(keepsHeadSizes) {
  parseTwo(is(Heads), heads, kvHeads);
  parseTwo(is(Lengths), queryLen, kvLen);
  parseTwo(is(Sizes), headDim, valueDim);
  element = is(Type);
  wide = element == "f64" ? "f64" : "f32";
  outElement = is(Out) == "wide" ? wide : element;
  // Packed projections hold query, key and value: one length, one head count, one size.
  if (is(Layout) == "packed") {
    kvHeads = heads;
    kvLen = queryLen;
    valueDim = headDim;
  }
}

std::string ProblemBuilder::typeOf(const std::vector<int64_t> &sizes, const std::string &elementType) const {
  std::string text = "tensor<";
  for (int64_t size : sizes)
    text += (isOpen(size) ? "?" : std::to_string(size)) + "x";
  return text + elementType + ">";
}

static attn::DType dtypeFor(const std::string &name) {
  if (name == "f64")
    return attn::DType::F64;
  if (name == "f16")
    return attn::DType::F16;
  if (name == "bf16")
    return attn::DType::BF16;
  if (name == "i1")
    return attn::DType::I1;
  if (name == "i32")
    return attn::DType::I32;
  return attn::DType::F32;
}

Buffer &ProblemBuilder::addInput(const std::string &name, const std::vector<int64_t> &sizes,
                                 const std::string &elementType) {
  arguments += (arguments.empty() ? "" : ", ") + name + ": " + typeOf(sizes, elementType);
  problem.inputs.push_back(std::make_unique<Buffer>(dtypeFor(elementType), sizes));
  return *problem.inputs.back();
}

/// scale * n / 64 with n from -64 to 63: exact in every type.
void ProblemBuilder::addReal(const std::string &name, const std::vector<int64_t> &sizes, const std::string &elementType,
                             double scale) {
  Buffer &buffer = addInput(name, sizes, elementType);
  ++stream;
  for (int64_t k = 0; k < buffer.count(); ++k)
    buffer.set(k, scale * (static_cast<double>(mix(stream * 1000003ull + k) % 128) - 64) / 64);
}

void ProblemBuilder::addOperands() {
  if (is(Layout) == "packed") {
    addReal("%q", {batch, queryLen, 3, heads, headDim}, element, 1);
    layout = "layout(query(b, i, 0, h, d), key(b, j, 1, h, d), value(b, j, 2, h, e))";
    return;
  }
  if (is(Layout) == "bshd") {
    addReal("%q", {batch, queryLen, heads, headDim}, element, 1);
    addReal("%k", {batch, kvLen, kvHeads, headDim}, element, 1);
    addReal("%v", {batch, kvLen, kvHeads, valueDim}, element, 1);
    layout = "layout(query(b, i, h, d), key(b, j, h, d), value(b, j, h, e), out(b, i, h, e))";
    return;
  }
  bool transposed = is(Layout) == "key-transposed";
  addReal("%q", {batch, heads, queryLen, headDim}, element, 1);
  addReal("%k",
          transposed ? std::vector<int64_t>{batch, kvHeads, headDim, kvLen}
                     : std::vector<int64_t>{batch, kvHeads, kvLen, headDim},
          element, 1);
  addReal("%v", {batch, kvHeads, kvLen, valueDim}, element, 1);
  if (transposed)
    layout = "layout(key(b, h, d, j))";
}

void ProblemBuilder::addLengths() {
  lengths.assign(batch, kvLen);
  if (is(KvLengths) == "none")
    return;
  lengths[0] = kvLen / 2;
  Buffer &buffer = addInput("%len", {batch}, "i32");
  for (int64_t b = 0; b < batch; ++b)
    buffer.setInteger(b, lengths[b]);
  options += " kv_lengths(%len : " + typeOf({batch}, "i32") + ")";
}

void ProblemBuilder::addMask() {
  const std::string &mask = is(Mask);
  if (mask == "causal-top-left")
    masks = "masks(causal<top_left>)";
  else if (mask == "causal-bottom-right")
    masks = "masks(causal<bottom_right>)";
  else if (mask == "window-both")
    masks = "masks(window<left = 3, right = 2, bottom_right>)";
  else if (mask == "window-left")
    masks = "masks(window<left = 5, top_left>)";
  else if (mask == "causal-and-window")
    masks = "masks(causal<top_left>, window<left = 10, top_left>)";
  else if (mask == "prefix") {
    Buffer &prefix = addInput("%prefix", {batch}, "i32");
    for (int64_t b = 0; b < batch; ++b)
      prefix.setInteger(b, 3 + 4 * b);
    masks = "masks(prefix<top_left>(%prefix : " + typeOf({batch}, "i32") + "))";
  } else if (mask == "boolean") {
    Buffer &keep = addInput("%keep", {batch, 1, queryLen, kvLen}, "i1");
    for (int64_t k = 0; k < keep.count(); ++k)
      keep.setInteger(k, mix(k + 77) % 3 != 0);
    masks = "masks(boolean(%keep : " + typeOf({batch, 1, queryLen, kvLen}, "i1") + "))";
  } else if (mask == "dead-rows") { // every third row has no key
    maskRegion = "where(%b, %h, %i, %j) {\n"
                 "      %c3 = arith.constant 3 : index\n      %rest = arith.remui %i, %c3 : index\n"
                 "      %c1 = arith.constant 1 : index\n      %kept = arith.cmpi ne, %rest, %c1 : index\n"
                 "      attn.yield %kept : i1\n    }";
  } else if (mask == "modular") {
    maskRegion = "where(%b, %h, %i, %j) {\n"
                 "      %c7 = arith.constant 7 : index\n      %c4 = arith.constant 4 : index\n"
                 "      %x = arith.muli %i, %c7 : index\n      %y = arith.addi %x, %j : index\n"
                 "      %z = arith.addi %y, %h : index\n      %rest = arith.remui %z, %c4 : index\n"
                 "      %c0 = arith.constant 0 : index\n      %kept = arith.cmpi ne, %rest, %c0 : index\n"
                 "      attn.yield %kept : i1\n    }";
  } else if (mask == "table") { // documents: same number on both sides
    int64_t size = std::max<int64_t>(1, std::max(queryLen, kvLen));
    Buffer &document = addInput("%doc", {size}, "i32");
    for (int64_t k = 0; k < size; ++k)
      document.setInteger(k, k / 6);
    std::string type = typeOf({size}, "i32");
    maskRegion = "where(%b, %h, %i, %j) {\n      %x = tensor.extract %doc[%i] : " + type +
                 "\n      %y = tensor.extract %doc[%j] : " + type +
                 "\n      %kept = arith.cmpi eq, %x, %y : i32\n      attn.yield %kept : i1\n    }";
  }
}

void ProblemBuilder::addScore() {
  const std::string &score = is(Score);
  auto added = [&](const char *keyword, std::vector<int64_t> sizes, const std::string &type) {
    addReal("%bias", sizes, type, 2);
    scores = std::string("scores(") + keyword + "(%bias : " + typeOf(sizes, type) + "))";
  };
  std::string head = "score(%x" + std::string(wide == "f64" ? " : f64" : "") + ", %b, %h, %i, %j) {\n";
  if (score == "softcap" || score == "softcap-then-region")
    scores = "scores(softcap<2.0>)";
  if (score == "alibi") {
    addReal("%slopes", {heads}, wide, 0.25);
    scores = "scores(alibi<bottom_right>(%slopes : " + typeOf({heads}, wide) + "))";
  } else if (score == "bias-full") {
    added("bias", {batch, heads, queryLen, kvLen}, wide);
  } else if (score == "bias-key") {
    added("bias", {batch, 1, 1, kvLen}, element);
  } else if (score == "bias-head") {
    added("bias", {heads, queryLen, 1}, wide);
  } else if (score == "additive") { // some -inf: dropped keys
    added("additive", {queryLen, kvLen}, wide);
    Buffer &mask = *problem.inputs.back();
    for (int64_t k = 0; k < mask.count(); ++k)
      if (mix(k + 5) % 4 == 0)
        mask.set(k, -std::numeric_limits<double>::infinity());
  } else if (score == "region-table" || score == "softcap-then-region") {
    addReal("%table", {heads, std::max<int64_t>(kvLen, 1)}, wide, 1);
    scoreRegion = head +
                  "      %t = tensor.extract %table[%h, %j] : " + typeOf({heads, std::max<int64_t>(kvLen, 1)}, wide) +
                  "\n      %y = arith.addf %x, %t : " + wide + "\n      attn.yield %y : " + wide + "\n    }";
  } else if (score == "region-gather") { // a relative position, in bounds for every pair
    int64_t size = queryLen + kvLen + 1;
    addReal("%rel", {size}, wide, 1);
    Buffer &origin = addInput("%origin", {1}, "i32");
    origin.setInteger(0, kvLen);
    scoreRegion =
        head + "      %c0 = arith.constant 0 : index\n      %o = tensor.extract %origin[%c0] : " + typeOf({1}, "i32") +
        "\n      %p = arith.index_cast %o : i32 to index\n" +
        "      %d = arith.subi %i, %j : index\n      %at = arith.addi %d, %p : index\n" +
        "      %t = tensor.extract %rel[%at] : " + typeOf({size}, wide) + "\n      %y = arith.addf %x, %t : " + wide +
        "\n      attn.yield %y : " + wide + "\n    }";
  } else if (score == "region-math") {
    scoreRegion = head + "      %d = arith.subi %i, %j : index\n      %e = arith.index_cast %d : index to i64\n" +
                  "      %f = arith.sitofp %e : i64 to " + wide + "\n      %s = math.sin %f : " + wide +
                  "\n      %g = math.absf %x : " + wide + "\n      %n = arith.negf %g : " + wide +
                  "\n      %u = math.exp %n : " + wide + "\n      %y = arith.addf %s, %u : " + wide +
                  "\n      attn.yield %y : " + wide + "\n    }";
  }
}

void ProblemBuilder::addSink() {
  if (is(Sink) == "none")
    return;
  addReal("%sink", {heads}, wide, 1);
  if (is(Sink) == "mixed") // -inf: none for that head
    problem.inputs.back()->set(0, -std::numeric_limits<double>::infinity());
  options = " sink(%sink : " + typeOf({heads}, wide) + ")" + options;
}

/// NaN in K and V behind the logical end: nobody may read it.
void ProblemBuilder::poison() {
  if (is(KvLengths) == "none" || is(Layout) == "packed" || is(Layout) == "key-transposed")
    return;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (unsigned operand : {1u, 2u}) {
    int64_t size = operand == 1 ? headDim : valueDim;
    bool isBshd = is(Layout) == "bshd";
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t h = 0; h < kvHeads; ++h)
        for (int64_t j = lengths[b]; j < kvLen; ++j)
          for (int64_t d = 0; d < size; ++d)
            problem.inputs[operand]->set(
                (isBshd ? ((b * kvLen + j) * kvHeads + h) : ((b * kvHeads + h) * kvLen + j)) * size + d, nan);
  }
}

void ProblemBuilder::addResult(const std::string &name, const std::vector<int64_t> &sizes,
                               const std::string &elementType) {
  std::string type = typeOf(sizes, elementType), dynamic;
  for (unsigned k = 0; k < sizes.size(); ++k)
    if (isOpen(sizes[k]))
      dynamic += (dynamic.empty() ? "" : ", ") + inits[k];
  initText += "  %" + name + "_init = tensor.empty(" + dynamic + ") : " + type + "\n";
  outsText += " " + (name == "out" ? std::string("outs") : name) + "(%" + name + "_init : " + type + ")";
  resultTypes += (resultTypes.empty() ? "" : ", ") + type;
  problem.outputs.push_back(std::make_unique<Buffer>(dtypeFor(elementType), sizes));
}

/// The sizes of a dynamic result, read off the operands: batch, heads, queryLen and a last one set by the caller.
void ProblemBuilder::emitDimensions() {
  if (is(Static) != "dynamic")
    return;
  bool isPacked = is(Layout) == "packed", isBshd = is(Layout) == "bshd";
  std::string q = typeOf(problem.inputs[0]->view().sizes, element);
  std::string v = isPacked ? q : typeOf(problem.inputs[2]->view().sizes, element);
  auto dim = [&](const char *name, const char *operand, int64_t k, const std::string &type) {
    initText += "  %i_" + std::string(name) + " = arith.constant " + std::to_string(k) + " : index\n  %n_" + name +
                " = tensor.dim " + operand + ", %i_" + name + " : " + type + "\n";
  };
  dim("b", "%q", 0, q);
  dim("h", "%q", isPacked ? 3 : (isBshd ? 2 : 1), q);
  dim("i", "%q", isPacked || isBshd ? 1 : 2, q);
  if (isPacked) {
    dim("j", "%q", 1, q);
    dim("e", "%q", 4, q);
  } else {
    dim("j", "%v", isBshd ? 1 : 2, v);
    dim("e", "%v", 3, v);
  }
}

Problem ProblemBuilder::build() {
  addOperands();
  addLengths();
  addMask();
  addScore();
  addSink();
  poison();
  emitDimensions();
  bool isBshd = is(Layout) == "bshd";
  inits = isBshd ? std::vector<std::string>{"%n_b", "%n_i", "%n_h", "%n_e"}
                 : std::vector<std::string>{"%n_b", "%n_h", "%n_i", "%n_e"};
  addResult("out",
            isBshd ? std::vector<int64_t>{batch, queryLen, heads, valueDim}
                   : std::vector<int64_t>{batch, heads, queryLen, valueDim},
            outElement);
  inits = {"%n_b", "%n_h", "%n_i", "%n_j"};
  if (is(Results) == "lse" || is(Results) == "both")
    addResult("lse", {batch, heads, queryLen}, wide);
  if (is(Results) == "weights" || is(Results) == "both")
    addResult("weights", {batch, heads, queryLen, kvLen}, wide);
  bool isPacked = is(Layout) == "packed";
  std::string q = typeOf(problem.inputs[0]->view().sizes, element), k = q, v = q;
  if (!isPacked) {
    k = typeOf(problem.inputs[1]->view().sizes, element);
    v = typeOf(problem.inputs[2]->view().sizes, element);
  }
  unsigned count = problem.outputs.size();
  std::string results = "%r" + (count > 1 ? ":" + std::to_string(count) : std::string());
  std::ostringstream text;
  text << "func.func @attention(" << arguments << ") -> (" << resultTypes
       << ") {\n  %scale = arith.constant 0.75 : " << wide << "\n"
       << initText << "  " << results << " = attn.attention %q, " << (isPacked ? "%q, %q" : "%k, %v") << " scale(%scale"
       << (wide == "f64" ? " : f64" : "") << ") " << layout << " " << scores << " " << masks << " " << scoreRegion
       << " " << maskRegion << options << "\n    : " << q << ", " << k << ", " << v << "\n     " << outsText << " -> "
       << resultTypes << "\n  return ";
  for (unsigned n = 0; n < count; ++n)
    text << (n ? ", " : "") << "%r" << (count > 1 ? "#" + std::to_string(n) : "");
  text << " : " << resultTypes << "\n}\n";
  problem.text = text.str();
  if (is(Tiles) != "model") {
    int64_t tileQ, tileKv;
    parseTwo(is(Tiles), tileQ, tileKv);
    problem.options.tileQ(tileQ).tileKv(tileKv);
  }
  if (is(Segments) != "model")
    problem.options.segmentKeys(std::stoll(is(Segments)));
  return std::move(problem);
}

Problem grid::build(const Case &c, bool keepsHeadSizes) { return ProblemBuilder(c, keepsHeadSizes).build(); }

std::string grid::testTarget() { return suiteTarget(); }

bool grid::isGpu(const std::string &target) { return target.rfind("emulator", 0) == 0; }
