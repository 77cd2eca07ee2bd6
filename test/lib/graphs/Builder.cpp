//===- Builder.cpp - writes a graph from its results to its inputs -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Builder.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

using namespace graphs;

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

const char *graphs::toString(Element element) {
  static const char *const names[] = {"f16", "bf16", "f32", "f64", "i1", "i8", "i32", "i64", "index"};
  return names[static_cast<int>(element)];
}

bool graphs::isFloat(Element element) { return element <= Element::F64; }

attn::DType graphs::dtypeOf(Element element) {
  static const attn::DType types[] = {attn::DType::F16, attn::DType::BF16, attn::DType::F32,
                                      attn::DType::F64, attn::DType::I1,   attn::DType::I8,
                                      attn::DType::I32, attn::DType::I64,  attn::DType::I64};
  return types[static_cast<int>(element)];
}

int64_t graphs::countElements(const Sizes &sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1), std::multiplies<int64_t>());
}

std::string graphs::join(const std::vector<std::string> &parts, const std::string &separator) {
  std::string text;
  for (size_t k = 0; k < parts.size(); ++k)
    text += (k ? separator : "") + parts[k];
  return text;
}

std::vector<std::string> graphs::dimNames(int64_t rank) {
  std::vector<std::string> names;
  for (int64_t k = 0; k < rank; ++k)
    names.push_back("d" + std::to_string(k));
  return names;
}

std::string graphs::mapOf(int64_t loops, const std::vector<std::string> &results) {
  return "affine_map<(" + join(dimNames(loops)) + ") -> (" + join(results) + ")>";
}

/// MLIR's floating-point literals need a point or an exponent.
std::string graphs::numberText(double value) {
  if (std::isinf(value))
    return value < 0 ? "0xFF800000" : "0x7F800000"; // of f32
  char text[40];
  std::snprintf(text, sizeof(text), "%.9e", value);
  return text;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

void Builder::write(const std::string &line) { frame().body += std::string(frame().indent, ' ') + line + "\n"; }

std::string Builder::define(const std::string &operation) {
  std::string name = newName();
  write(name + " = " + operation);
  return name;
}

std::vector<std::string> Builder::defineMany(const std::string &operation, size_t count) {
  if (count == 1)
    return {define(operation)};
  std::string name = newName();
  write(name + ":" + std::to_string(count) + " = " + operation);
  std::vector<std::string> names;
  for (size_t k = 0; k < count; ++k)
    names.push_back(name + "#" + std::to_string(k));
  return names;
}

std::string Builder::constant(Element element, double value) {
  std::string type = toString(element);
  if (element == Element::I1)
    return define(value != 0 ? "arith.constant true" : "arith.constant false");
  if (!isFloat(element))
    return define("arith.constant " + std::to_string(static_cast<int64_t>(value)) + " : " + type);
  if (std::isinf(value)) {
    static const char *const bits[] = {"0x7C00", "0x7F80", "0x7F800000", "0x7FF0000000000000"};
    static const char *const negative[] = {"0xFC00", "0xFF80", "0xFF800000", "0xFFF0000000000000"};
    return define(std::string("arith.constant ") + (value < 0 ? negative : bits)[static_cast<int>(element)] + " : " +
                  type);
  }
  return define("arith.constant " + numberText(value) + " : " + type);
}

std::string Builder::index(int64_t value) {
  uint64_t kind = random.next(100);
  if (dynamicShare == 0 || kind < 30)
    return constant(Element::Index, value);
  if (kind < 45)
    return indexArgument(value);
  if (kind < 60) {
    int64_t part = random.between(0, 3);
    std::string rest = kind < 52 ? constant(Element::Index, value - part) : indexArgument(value - part);
    std::string other = constant(Element::Index, part);
    return define("arith.addi " + rest + ", " + other + " : index");
  }
  std::vector<std::pair<const Value *, size_t>> places;
  for (const Value &known : frame().pool)
    for (size_t k = 0; k < known.sizes.size(); ++k)
      if (known.sizes[k] == value && known.dynamic[k])
        places.push_back({&known, k});
  if (places.empty())
    return constant(Element::Index, value);
  auto [tensor, dim] = random.pick(places);
  std::string name = tensor->name, type = typeOf(*tensor);
  std::string position = constant(Element::Index, static_cast<double>(dim));
  return define("tensor.dim " + name + ", " + position + " : " + type);
}

std::string Builder::numbers(const Sizes &values, const std::vector<bool> &isDynamic) {
  std::vector<std::string> parts;
  for (size_t k = 0; k < values.size(); ++k)
    parts.push_back(isDynamic[k] ? index(values[k]) : std::to_string(values[k]));
  return "[" + join(parts) + "]";
}

std::string Builder::numbers(const Sizes &values) { return numbers(values, allStatic(values)); }

std::string Builder::typeOf(Element element, const Sizes &sizes, const std::vector<bool> &dynamic) const {
  std::string text = "tensor<";
  for (size_t k = 0; k < sizes.size(); ++k)
    text += (dynamic[k] ? "?" : std::to_string(sizes[k])) + "x";
  return text + toString(element) + ">";
}

std::vector<bool> Builder::randomDynamic(const Sizes &sizes) {
  std::vector<bool> result;
  for (size_t k = 0; k < sizes.size(); ++k)
    result.push_back(random.chance(dynamicShare));
  return result;
}

Value Builder::result(const std::string &operation, Element element, const Sizes &sizes,
                      const std::vector<bool> &dynamic, double bound, bool exact) {
  Value value{define(operation), element, sizes, dynamic, bound, exact || !isFloat(element)};
  // Masked scores are for a softmax alone: in values, an infinity at a key that a mask drops is unspecified.
  if (std::isfinite(bound))
    remember(value);
  return value;
}

Value Builder::empty(Element element, const Sizes &sizes, const std::vector<bool> &dynamic) {
  std::vector<std::string> open;
  for (size_t k = 0; k < sizes.size(); ++k)
    if (dynamic[k])
      open.push_back(index(sizes[k]));
  std::string type = typeOf(element, sizes, dynamic);
  return {define("tensor.empty(" + join(open) + ") : " + type), element, sizes, dynamic, 0, true};
}

Value Builder::filled(Element element, const Sizes &sizes, const std::vector<bool> &dynamic, double number) {
  Value out = empty(element, sizes, dynamic);
  std::string scalar = constant(element, number), type = typeOf(out);
  std::string name = define("linalg.fill ins(" + scalar + " : " + toString(element) + ") outs(" + out.name + " : " +
                            type + ") -> " + type);
  return {name, element, sizes, dynamic, std::fabs(number), true};
}

Value Builder::cast(const Value &value, const std::vector<bool> &dynamic) {
  if (value.dynamic == dynamic)
    return value;
  Value changed = value;
  changed.dynamic = dynamic;
  changed.name = define("tensor.cast " + value.name + " : " + typeOf(value) + " to " + typeOf(changed));
  countKind("cast");
  return changed;
}

Value Builder::tamed(const Value &value, double limit) {
  if (!isFloat(value.element) || value.bound <= limit)
    return value;
  double factor = std::exp2(-std::ceil(std::log2(value.bound / 2)));
  std::vector<std::string> all = dimNames(value.rank());
  std::string map = mapOf(value.rank(), all), type = toString(value.element);
  Value out = empty(value.element, value.sizes, value.dynamic);
  std::string number = constant(value.element, factor);
  std::string body = "^bb0(%x: " + type + ", %o: " + type + "):\n  %y = arith.mulf %x, " + number + " : " + type +
                     "\n  linalg.yield %y : " + type;
  return result(generic({map, map}, std::string(value.rank(), 'p'), {value}, out, body), value.element, value.sizes,
                value.dynamic, value.bound * factor, false);
}

std::string Builder::generic(const std::vector<std::string> &maps, const std::string &iterators,
                             const std::vector<Value> &inputs, const Value &out, const std::string &body) {
  std::vector<std::string> kinds, names, types;
  for (char kind : iterators)
    kinds.push_back(kind == 'p' ? "\"parallel\"" : "\"reduction\"");
  for (const Value &input : inputs)
    names.push_back(input.name), types.push_back(typeOf(input));
  std::string ins = inputs.empty() ? "" : "ins(" + join(names) + " : " + join(types) + ") ";
  return "linalg.generic {indexing_maps = [" + join(maps) + "], iterator_types = [" + join(kinds) + "]} " + ins +
         "outs(" + out.name + " : " + typeOf(out) + ") {\n" + body + "\n} -> " + typeOf(out);
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// Multiples of 1/32 in [-2, 2], exact in every type.
void Builder::addInput(const Goal &goal) {
  Input input;
  input.element = goal.element;
  input.sizes = goal.sizes;
  for (size_t k = 0; random.chance(8) && k < graph.inputs.size(); ++k) {
    const Input &other = graph.inputs[k];
    bool fits = !other.isScalar && other.alias < 0 && other.element == goal.element && other.sizes == goal.sizes;
    // Indices stay in range.
    if (fits && isFloat(goal.element)) {
      input = other;
      input.alias = static_cast<int>(k);
      countKind("alias");
      graph.inputs.push_back(input);
      return;
    }
  }
  int64_t count = countElements(goal.sizes);
  for (int64_t k = 0; k < count; ++k) {
    if (isFloat(goal.element))
      input.values.push_back(static_cast<double>(random.between(-64, 64)) / 32);
    else if (goal.element == Element::I1)
      input.values.push_back(random.chance(70));
    else
      input.values.push_back(
          static_cast<double>(goal.limit ? random.between(0, goal.limit - 1) : random.between(-9, 9)));
  }
  if (goal.rank() > 1 && random.chance(15))
    input.rowPadding = random.between(1, 3);
  graph.inputs.push_back(input);
}

Value Builder::argument(const Goal &goal) {
  std::string name = "%a" + std::to_string(nextName++);
  Value value{name, goal.element, goal.sizes, randomDynamic(goal.sizes), 2, true};
  frame().parameters.push_back(name + ": " + typeOf(value));
  frame().wanted.push_back({value, goal, false, 0});
  // In front of all others: a region that ends does not take it along.
  frame().pool.insert(frame().pool.begin(), value);
  for (size_t &begin : scopes)
    ++begin;
  if (frames.size() == 1)
    addInput(goal);
  return value;
}

std::string Builder::indexArgument(int64_t value) {
  std::string name = "%a" + std::to_string(nextName++);
  frame().parameters.push_back(name + ": index");
  frame().wanted.push_back({Value(), Goal(), true, value});
  if (frames.size() == 1) {
    Input input;
    input.element = Element::Index;
    input.isScalar = true;
    input.values = {static_cast<double>(value)};
    graph.inputs.push_back(input);
  }
  return name;
}

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

Value Builder::convert(const Value &value, Element element) {
  if (value.element == element)
    return value;
  // Through f32: upstream has no conversion between f16 and bf16.
  auto bits = [](Element e) { return e == Element::F64 ? 64 : e == Element::F32 ? 32 : 16; };
  if (bits(value.element) == 16 && bits(element) == 16)
    return convert(convert(value, Element::F32), element);
  const char *op = bits(element) > bits(value.element) ? "arith.extf " : "arith.truncf ";
  std::string to = typeOf(element, value.sizes, value.dynamic);
  countKind("convert");
  return result(op + value.name + " : " + typeOf(value) + " to " + to, element, value.sizes, value.dynamic, value.bound,
                value.exact);
}

Value Builder::adapt(const Value &value, const Goal &goal) {
  Value adapted = convert(value, goal.element);
  if (adapted.sizes == goal.sizes)
    return adapted;
  int64_t have = countElements(adapted.sizes), want = countElements(goal.sizes);
  if (have == want)
    return reshapeTo(*this, adapted, goal.sizes);
  if (adapted.rank() != goal.rank()) {
    adapted = reshapeTo(*this, adapted, {have});
    adapted = have > want ? sliceTo(*this, adapted, {want}) : padTo(*this, adapted, {want});
    return reshapeTo(*this, adapted, goal.sizes);
  }
  Sizes smaller = goal.sizes;
  for (size_t k = 0; k < smaller.size(); ++k)
    smaller[k] = std::min(smaller[k], adapted.sizes[k]);
  return padTo(*this, sliceTo(*this, adapted, smaller), goal.sizes);
}

Value Builder::leaf(const Goal &goal) {
  std::vector<Value> same, computed;
  for (const Value &known : frame().pool) {
    if (goal.limit || (goal.exact && !known.exact))
      continue;
    if (known.element == goal.element && known.sizes == goal.sizes)
      same.push_back(known);
    if (isFloat(goal.element) && isFloat(known.element) && !known.exact && !goal.exact)
      computed.push_back(known);
  }
  uint64_t kind = random.next(100);
  if (!same.empty() && kind < 40)
    return random.pick(same);
  if (!computed.empty() && kind < 75)
    return adapt(random.pick(computed), goal);
  return argument(goal);
}

bool Builder::has(const std::string &producer) const {
  return std::count(options.without.begin(), options.without.end(), producer) == 0;
}

Value Builder::produce(const Goal &goal, int depth) {
  if (depth <= 0)
    return leaf(goal);
  unsigned total = 0;
  std::vector<std::pair<const Producer *, unsigned>> fitting;
  for (const Producer &producer : producers()) {
    if (has(producer.name) && producer.applies(*this, goal))
      fitting.push_back({&producer, total += producer.weight});
  }
  unsigned chosen = static_cast<unsigned>(random.next(total + 12));
  for (auto [producer, end] : fitting)
    if (chosen < end) {
      countKind(producer->name);
      return producer->build(*this, goal, depth - 1);
    }
  return leaf(goal);
}

const std::vector<Producer> &graphs::producers() {
  static const std::vector<Producer> table = [] {
    std::vector<Producer> made;
    addMovement(made);
    addElementwise(made);
    addContractions(made);
    addControlFlow(made);
    return made;
  }();
  return table;
}

std::vector<std::string> graphs::producerNames() {
  std::vector<std::string> names;
  for (const Producer &producer : producers())
    names.push_back(producer.name);
  return names;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

Value Builder::callHelper(const Goal &goal, int depth) {
  frames.push_back({});
  frame().name = "helper" + std::to_string(nextHelper++);
  std::vector<size_t> outerScopes;
  outerScopes.swap(scopes);
  Value made = produce(goal, depth);
  std::string type = typeOf(made);
  scopes.swap(outerScopes);
  Frame helper = frame();
  frames.pop_back();
  helpers += "func.func private @" + helper.name + "(" + join(helper.parameters) + ") -> " + type + " {\n" +
             helper.body + "  return " + made.name + " : " + type + "\n}\n";
  std::vector<std::string> operands, types;
  double growth = made.bound;
  for (const Frame::Parameter &parameter : helper.wanted) {
    if (parameter.isScalar) {
      operands.push_back(index(parameter.number));
      types.push_back("index");
      continue;
    }
    // The helper's bounds are those of arguments, and so is what was exact in it.
    Goal operand = parameter.goal;
    operand.exact = true;
    Value value = cast(produce(operand, random.chance(40) ? depth : 0), parameter.value.dynamic);
    operands.push_back(value.name);
    types.push_back(typeOf(value));
  }
  return result("func.call @" + helper.name + "(" + join(operands) + ") : (" + join(types) + ") -> " + type,
                goal.element, goal.sizes, made.dynamic, growth, made.exact);
}

void Builder::finish(const std::vector<Value> &results) {
  std::vector<std::string> names, types;
  for (const Value &value : results)
    names.push_back(value.name), types.push_back(typeOf(value));
  graph.text = helpers + "func.func @main(" + join(frame().parameters) + ") -> (" + join(types) + ") {\n" +
               frame().body + "  return " + join(names) + " : " + join(types) + "\n}\n";
}

Builder::Builder(const GraphOptions &options) : random(options.seed), options(options) {
  static const unsigned shares[] = {0, 0, 25, 50, 100};
  dynamicShare = shares[random.next(5)];
  if (!has("dynamic"))
    dynamicShare = 0;
  uint64_t type = random.next(10);
  mainElement = type < 5   ? Element::F32
                : type < 7 ? Element::BF16
                : type < 8 ? Element::F16
                           : (options.isGpu ? Element::F32 : Element::F64);
  frames.push_back({});
  frame().name = "main";
}

/// Sizes with units and, seldom, zeros.
static int64_t chooseSize(Random &random, int64_t most, int64_t least) {
  if (random.chance(2))
    return least;
  return random.chance(25) ? 1 : random.between(2, most);
}

Graph Builder::build() {
  std::vector<Value> attentions, results;
  int count = random.chance(60) ? 1 : static_cast<int>(random.between(2, 3));
  for (int k = 0; k < count; ++k) {
    Sizes sizes;
    for (int64_t most : {3, 4, random.chance(15) ? 40 : 9, 9})
      sizes.push_back(chooseSize(random, most, leastSize()));
    attentionsLeft = 0;
    attentions.push_back(attend(*this, {mainElement, sizes}, random.chance(70) ? 2 : 1));
    remember(attentions.back());
  }
  attentionsLeft = random.chance(20);
  int wanted = random.chance(70) ? 1 : 2;
  for (int k = 0; k < wanted; ++k) {
    Sizes sizes;
    for (int64_t rank = random.between(0, 4); rank > 0; --rank)
      sizes.push_back(chooseSize(random, 6, leastSize()));
    if (random.chance(30))
      sizes = random.pick(attentions).sizes;
    results.push_back(produce({random.chance(85) ? mainElement : Element::F32, sizes}, 3));
  }
  // Nothing may fall away unseen.
  for (const Value &value : attentions)
    if (frame().body.find(value.name + " ") == frame().body.rfind(value.name + " "))
      results.push_back(value);
  finish(results);
  return graph;
}

Graph graphs::makeGraph(const GraphOptions &options) { return Builder(options).build(); }
