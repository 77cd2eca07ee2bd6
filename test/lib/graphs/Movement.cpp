//===- Movement.cpp - operations that move elements ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Builder.h"
#include <algorithm>
#include <cmath>
#include <numeric>

using namespace graphs;

/// No tensor has more elements; the reference is slow.
static constexpr int64_t kMaxElements = 6000;
static constexpr int64_t kMaxRank = 6;

static bool always(const Builder &, const Goal &) { return true; }
static bool hasDims(const Builder &, const Goal &goal) { return goal.rank() > 0; }

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

namespace {
/// A slice: which part of each dimension, and which dimensions of size 1 fall away.
struct Part {
  Sizes whole, offsets, sizes, strides;
  std::vector<bool> isDropped, openOffsets, openSizes;

  void add(int64_t all, int64_t offset, int64_t size, int64_t stride, bool dropped) {
    whole.push_back(all), offsets.push_back(offset), sizes.push_back(size), strides.push_back(stride);
    isDropped.push_back(dropped);
  }
  /// The types' open offsets and sizes; a dimension that falls away is known to be 1.
  void open(Builder &builder) {
    openOffsets = builder.randomDynamic(sizes);
    openSizes = builder.randomDynamic(sizes);
    for (size_t k = 0; k < sizes.size(); ++k)
      openSizes[k] = openSizes[k] && !isDropped[k];
    // The verifier refuses an offset at the end, even of nothing.
    for (size_t k = 0; k < sizes.size(); ++k)
      openOffsets[k] = openOffsets[k] || offsets[k] >= whole[k];
  }
  std::string text(Builder &builder) const {
    std::string first = builder.numbers(offsets, openOffsets), second = builder.numbers(sizes, openSizes);
    return first + " " + second + " " + builder.numbers(strides);
  }
  /// Without those that fall away.
  template <typename T> std::vector<T> kept(const std::vector<T> &values) const {
    std::vector<T> result;
    for (size_t k = 0; k < values.size(); ++k)
      if (!isDropped[k])
        result.push_back(values[k]);
    return result;
  }
};
} // namespace

/// Cuts a value; the part has been opened.
static Value cut(Builder &builder, const Value &source, const Part &part) {
  Sizes sizes = part.kept(part.sizes);
  std::vector<bool> dynamic = part.kept(part.openSizes);
  std::string place = part.text(builder);
  return builder.result("tensor.extract_slice " + source.name + place + " : " + builder.typeOf(source) + " to " +
                            builder.typeOf(source.element, sizes, dynamic),
                        source.element, sizes, dynamic, source.bound, source.exact);
}

Value graphs::sliceTo(Builder &builder, const Value &value, const Sizes &sizes) {
  if (value.sizes == sizes)
    return value;
  Part part;
  for (size_t k = 0; k < sizes.size(); ++k)
    part.add(value.sizes[k], builder.random.between(0, value.sizes[k] - sizes[k]), sizes[k], 1, false);
  part.open(builder);
  builder.countKind("slice");
  return cut(builder, value, part);
}

static Value extractSlice(Builder &builder, const Goal &goal, int depth) {
  Random &random = builder.random;
  Part part;
  int64_t room = kMaxElements / std::max<int64_t>(1, countElements(goal.sizes));
  auto addUnit = [&] {
    int64_t all = room >= 3 ? random.between(1, 3) : 1;
    room /= all;
    part.add(all, random.between(0, all - 1), 1, 1, true);
  };
  int64_t units = std::min<int64_t>(random.chance(50) ? random.between(1, 2) : 0, kMaxRank - goal.rank());
  for (int64_t size : goal.sizes) {
    if (units > 0 && random.chance(50))
      addUnit(), --units;
    bool grows = room >= 4 && random.chance(60);
    int64_t stride = grows && size > 1 && random.chance(15) ? 2 : 1;
    int64_t before = grows ? random.between(0, 2) : 0, behind = grows ? random.between(0, 1) : 0;
    int64_t reach = size == 0 ? 0 : (size - 1) * stride + 1;
    part.add(before + reach + behind, before, size, stride, false);
    room /= grows ? 4 : 1;
  }
  while (units-- > 0)
    addUnit();
  Value source = builder.produce(goal.with(part.whole), depth);
  part.open(builder);
  return cut(builder, source, part);
}

static Value insertSlice(Builder &builder, const Goal &goal, int depth) {
  Random &random = builder.random;
  Value target = builder.produce(goal, depth);
  Part part;
  for (int64_t size : goal.sizes) {
    int64_t inner = size == 0           ? 0
                    : random.chance(40) ? 1
                    : random.chance(40) ? size
                                        : random.between(builder.leastSize(), size);
    int64_t stride = inner > 1 && (inner - 1) * 2 + 1 <= size && random.chance(15) ? 2 : 1;
    int64_t reach = inner == 0 ? 0 : (inner - 1) * stride + 1;
    part.add(size, random.between(0, size - reach), inner, stride, inner == 1 && random.chance(55));
  }
  Value source = builder.produce(goal.with(part.kept(part.sizes)), depth);
  part.open(builder);
  source = builder.cast(source, part.kept(part.openSizes));
  std::string place = part.text(builder);
  return builder.result("tensor.insert_slice " + source.name + " into " + target.name + place + " : " +
                            builder.typeOf(source) + " into " + builder.typeOf(target),
                        goal.element, goal.sizes, target.dynamic, std::max(source.bound, target.bound),
                        source.exact && target.exact);
}

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

/// "[[0, 1], [2]]" of the sizes of groups.
static std::string groupText(const std::vector<int64_t> &counts) {
  std::vector<std::string> groups;
  int64_t next = 0;
  for (int64_t count : counts) {
    std::vector<std::string> members;
    for (int64_t k = 0; k < count; ++k)
      members.push_back(std::to_string(next++));
    groups.push_back("[" + join(members) + "]");
  }
  return "[" + join(groups) + "]";
}

/// One to three factors; 0 has a factor of 0.
static Sizes factorize(Random &random, int64_t size) {
  Sizes factors = {size};
  if (random.chance(60)) {
    std::vector<int64_t> divisors;
    for (int64_t k = 1; k <= std::max<int64_t>(size, 3); ++k)
      if (size % k == 0)
        divisors.push_back(k);
    int64_t first = random.pick(divisors), second = size / first;
    factors = random.chance(50) ? Sizes{first, second} : Sizes{second, first};
  }
  if (random.chance(15))
    factors.insert(factors.begin() + static_cast<int64_t>(random.next(factors.size() + 1)), 1);
  return factors;
}

/// Collapses groups of dimensions of a value.
static Value collapse(Builder &builder, const Value &source, const std::vector<int64_t> &counts) {
  Sizes sizes;
  std::vector<bool> dynamic;
  size_t next = 0;
  for (int64_t count : counts) {
    int64_t size = 1;
    bool isOpen = false;
    for (int64_t k = 0; k < count; ++k, ++next)
      size *= source.sizes[next], isOpen = isOpen || source.dynamic[next];
    sizes.push_back(size), dynamic.push_back(isOpen);
  }
  return builder.result("tensor.collapse_shape " + source.name + " " + groupText(counts) + " : " +
                            builder.typeOf(source) + " into " + builder.typeOf(source.element, sizes, dynamic),
                        source.element, sizes, dynamic, source.bound, source.exact);
}

/// Expands each dimension of a value into as many as `counts` says.
static Value expand(Builder &builder, const Value &source, const std::vector<int64_t> &counts, const Sizes &sizes) {
  std::vector<bool> dynamic = builder.randomDynamic(sizes), outer;
  size_t next = 0;
  for (int64_t count : counts) {
    bool isOpen = false;
    for (int64_t k = 0; k < count; ++k, ++next)
      isOpen = isOpen || dynamic[next];
    outer.push_back(isOpen);
  }
  Value operand = builder.cast(source, outer);
  std::string shape = builder.numbers(sizes, dynamic);
  return builder.result("tensor.expand_shape " + operand.name + " " + groupText(counts) + " output_shape " + shape +
                            " : " + builder.typeOf(operand) + " into " + builder.typeOf(source.element, sizes, dynamic),
                        source.element, sizes, dynamic, source.bound, source.exact);
}

static Value collapseShape(Builder &builder, const Goal &goal, int depth) {
  Sizes inner;
  std::vector<int64_t> counts;
  for (int64_t size : goal.sizes) {
    Sizes factors = factorize(builder.random, size);
    if (static_cast<int64_t>(inner.size() + factors.size()) > kMaxRank)
      factors = {size};
    inner.insert(inner.end(), factors.begin(), factors.end());
    counts.push_back(static_cast<int64_t>(factors.size()));
  }
  if (goal.sizes.empty())
    inner = Sizes(builder.random.between(1, 3), 1);
  return collapse(builder, builder.produce(goal.with(inner), depth), counts);
}

static Value expandShape(Builder &builder, const Goal &goal, int depth) {
  std::vector<int64_t> counts;
  Sizes outer;
  for (size_t k = 0; k < goal.sizes.size(); ++k) {
    if (k > 0 && builder.random.chance(55)) {
      ++counts.back();
      outer.back() *= goal.sizes[k];
    } else {
      counts.push_back(1);
      outer.push_back(goal.sizes[k]);
    }
  }
  return expand(builder, builder.produce(goal.with(outer), depth), counts, goal.sizes);
}

/// By tensor.reshape, whose sizes are data.
static Value reshapeByData(Builder &builder, const Value &source, const Sizes &sizes) {
  Random &random = builder.random;
  Element element = random.pick(std::vector<Element>{Element::Index, Element::I32, Element::I64});
  std::vector<bool> dynamic = builder.randomDynamic(sizes);
  std::string shapeType = "tensor<" + std::to_string(sizes.size()) + "x" + toString(element) + ">";
  std::vector<std::string> parts;
  for (size_t k = 0; k < sizes.size(); ++k) {
    std::string size = builder.index(sizes[k]);
    if (element != Element::Index)
      size = builder.define("arith.index_cast " + size + " : index to " + toString(element));
    parts.push_back(size);
  }
  std::string shape = builder.define("tensor.from_elements " + join(parts) + " : " + shapeType);
  std::string type = builder.typeOf(source.element, sizes, dynamic);
  builder.countKind("reshape-by-data");
  return builder.result("tensor.reshape " + source.name + "(" + shape + ") : (" + builder.typeOf(source) + ", " +
                            shapeType + ") -> " + type,
                        source.element, sizes, dynamic, source.bound, source.exact);
}

Value graphs::reshapeTo(Builder &builder, const Value &value, const Sizes &sizes) {
  if (value.sizes == sizes)
    return value;
  if (!sizes.empty() && builder.random.chance(30) && builder.has("reshape"))
    return reshapeByData(builder, value, sizes);
  // A tensor of one element has rank 0 in between.
  Value flat = value;
  if (value.rank() > 1 || sizes.empty())
    flat = collapse(builder, value, sizes.empty() ? std::vector<int64_t>() : std::vector<int64_t>{value.rank()});
  if (sizes.size() <= 1 && flat.rank() == static_cast<int64_t>(sizes.size()))
    return flat;
  if (flat.rank() == 0) {
    std::string ones = builder.numbers(sizes);
    std::vector<bool> dynamic = builder.allStatic(sizes);
    return builder.result("tensor.expand_shape " + flat.name + " [] output_shape " + ones + " : " +
                              builder.typeOf(flat) + " into " + builder.typeOf(flat.element, sizes, dynamic),
                          flat.element, sizes, dynamic, flat.bound, flat.exact);
  }
  return expand(builder, flat, {static_cast<int64_t>(sizes.size())}, sizes);
}

static Value reshape(Builder &builder, const Goal &goal, int depth) {
  Sizes other;
  for (int64_t size : goal.sizes) {
    Sizes factors = factorize(builder.random, size);
    if (static_cast<int64_t>(other.size() + factors.size()) <= 4)
      other.insert(other.end(), factors.begin(), factors.end());
    else
      other.back() *= size;
  }
  std::rotate(other.begin(), other.begin() + static_cast<int64_t>(builder.random.next(other.size())), other.end());
  return reshapeByData(builder, builder.produce(goal.with(other), depth), goal.sizes);
}

//===----------------------------------------------------------------------===//
// Transposes, broadcasts
//===----------------------------------------------------------------------===//

static Value transpose(Builder &builder, const Goal &goal, int depth) {
  std::vector<int64_t> order(goal.sizes.size());
  std::iota(order.begin(), order.end(), 0);
  for (size_t k = order.size(); k > 1; --k)
    std::swap(order[k - 1], order[builder.random.next(k)]);
  // Dimension k of the result is dimension order[k] of the operand.
  Sizes sizes(goal.sizes.size());
  std::vector<std::string> results(goal.sizes.size());
  for (size_t k = 0; k < order.size(); ++k) {
    sizes[order[k]] = goal.sizes[k];
    results[order[k]] = "d" + std::to_string(k);
  }
  Value source = builder.produce(goal.with(sizes), depth);
  std::vector<bool> dynamic;
  for (int64_t k : order)
    dynamic.push_back(source.dynamic[k]);
  Value out = builder.empty(goal.element, goal.sizes, dynamic);
  std::string type = toString(goal.element), operation;
  if (builder.random.chance(50))
    operation = "linalg.transpose ins(" + source.name + " : " + builder.typeOf(source) + ") outs(" + out.name + " : " +
                builder.typeOf(out) + ") permutation = " + builder.numbers(Sizes(order.begin(), order.end()));
  else
    operation = builder.generic({mapOf(goal.rank(), results), mapOf(goal.rank(), dimNames(goal.rank()))},
                                std::string(goal.rank(), 'p'), {source}, out,
                                "^bb0(%x: " + type + ", %o: " + type + "):\n  linalg.yield %x : " + type);
  return builder.result(operation, goal.element, goal.sizes, dynamic, source.bound, source.exact);
}

static Value broadcast(Builder &builder, const Goal &goal, int depth) {
  Random &random = builder.random;
  Sizes sizes, added;
  std::vector<bool> dynamic = builder.randomDynamic(goal.sizes), inner;
  std::vector<std::string> results;
  size_t gone = random.next(goal.sizes.size());
  // Dimensions that are not there, or of size 1 at index 0.
  bool byMap = random.chance(50);
  for (size_t k = 0; k < goal.sizes.size(); ++k) {
    bool isGone = k == gone || random.chance(20);
    if (isGone && byMap && random.chance(50)) {
      sizes.push_back(1), inner.push_back(false), results.push_back("0");
    } else if (isGone) {
      added.push_back(static_cast<int64_t>(k));
    } else {
      sizes.push_back(goal.sizes[k]), inner.push_back(dynamic[k]), results.push_back("d" + std::to_string(k));
    }
  }
  Value source = builder.cast(builder.produce(goal.with(sizes), depth), inner);
  Value out = builder.empty(goal.element, goal.sizes, dynamic);
  std::string type = toString(goal.element), operation;
  if (byMap)
    operation = builder.generic({mapOf(goal.rank(), results), mapOf(goal.rank(), dimNames(goal.rank()))},
                                std::string(goal.rank(), 'p'), {source}, out,
                                "^bb0(%x: " + type + ", %o: " + type + "):\n  linalg.yield %x : " + type);
  else
    operation = "linalg.broadcast ins(" + source.name + " : " + builder.typeOf(source) + ") outs(" + out.name + " : " +
                builder.typeOf(out) + ") dimensions = " + builder.numbers(added);
  return builder.result(operation, goal.element, goal.sizes, dynamic, source.bound, source.exact);
}

//===----------------------------------------------------------------------===//
// Pads, concatenations
//===----------------------------------------------------------------------===//

/// A number that is exact in the type, and an index in range.
static double fillerOf(Random &random, Element element, int64_t limit) {
  if (isFloat(element))
    return static_cast<double>(random.between(-4, 4)) / 4;
  return limit || element == Element::I1 ? 0 : static_cast<double>(random.between(-3, 3));
}

static Value pad(Builder &builder, const Value &source, const Sizes &low, const Sizes &high, int64_t limit) {
  std::vector<bool> openLow = builder.randomDynamic(low), openHigh = builder.randomDynamic(high), dynamic;
  Sizes sizes;
  std::vector<std::string> arguments;
  for (size_t k = 0; k < low.size(); ++k) {
    sizes.push_back(source.sizes[k] + low[k] + high[k]);
    dynamic.push_back(source.dynamic[k] || openLow[k] || openHigh[k]);
    arguments.push_back(builder.newName() + ": index");
  }
  double filler = fillerOf(builder.random, source.element, limit);
  std::string number = builder.constant(source.element, filler);
  std::string from = builder.numbers(low, openLow), to = builder.numbers(high, openHigh);
  return builder.result("tensor.pad " + source.name + " low" + from + " high" + to + " {\n^bb0(" + join(arguments) +
                            "):\n  tensor.yield " + number + " : " + toString(source.element) +
                            "\n} : " + builder.typeOf(source) + " to " + builder.typeOf(source.element, sizes, dynamic),
                        source.element, sizes, dynamic, std::max(source.bound, 1.0), source.exact);
}

Value graphs::padTo(Builder &builder, const Value &value, const Sizes &sizes) {
  if (value.sizes == sizes)
    return value;
  Sizes low, high;
  for (size_t k = 0; k < sizes.size(); ++k) {
    low.push_back(builder.random.between(0, sizes[k] - value.sizes[k]));
    high.push_back(sizes[k] - value.sizes[k] - low.back());
  }
  builder.countKind("pad");
  return pad(builder, value, low, high, 0);
}

static Value padTensor(Builder &builder, const Goal &goal, int depth) {
  Sizes inner, low, high;
  for (int64_t size : goal.sizes) {
    int64_t first = builder.random.chance(60)
                        ? 0
                        : builder.random.between(0, std::clamp<int64_t>(size - builder.leastSize(), 0, 2));
    int64_t last = builder.random.chance(60)
                       ? 0
                       : builder.random.between(0, std::clamp<int64_t>(size - first - builder.leastSize(), 0, 2));
    low.push_back(first), high.push_back(last), inner.push_back(size - first - last);
  }
  return pad(builder, builder.produce(goal.with(inner), depth), low, high, goal.limit);
}

static Value concatenate(Builder &builder, const Goal &goal, int depth) {
  size_t dim = builder.random.next(goal.sizes.size());
  Sizes first = goal.sizes, second = goal.sizes;
  int64_t least = goal.sizes[dim] > 1 ? builder.leastSize() : 0;
  first[dim] = builder.random.between(least, goal.sizes[dim] - least);
  second[dim] = goal.sizes[dim] - first[dim];
  Value a = builder.produce(goal.with(first), depth);
  std::vector<bool> dynamic = a.dynamic;
  Value b = builder.produce(goal.with(second), depth);
  dynamic[dim] = b.dynamic[dim];
  b = builder.cast(b, dynamic);
  dynamic[dim] = a.dynamic[dim] || b.dynamic[dim];
  return builder.result("tensor.concat dim(" + std::to_string(dim) + ") " + a.name + ", " + b.name + " : (" +
                            builder.typeOf(a) + ", " + builder.typeOf(b) + ") -> " +
                            builder.typeOf(goal.element, goal.sizes, dynamic),
                        goal.element, goal.sizes, dynamic, std::max(a.bound, b.bound), a.exact && b.exact);
}

//===----------------------------------------------------------------------===//
// Reads by index
//===----------------------------------------------------------------------===//

/// Rows of a table: a linalg.generic that reads by a tensor of indices.
static Value gatherRows(Builder &builder, const Goal &goal, int depth) {
  Random &random = builder.random;
  int64_t entries = random.between(1, 7);
  Sizes tableSizes = goal.sizes;
  tableSizes[0] = entries;
  Element element = random.pick(std::vector<Element>{Element::I32, Element::I64, Element::Index});
  Value indices = builder.produce({element, {goal.sizes[0]}, true, entries}, depth);
  Value table = builder.produce(goal.with(tableSizes), depth);
  std::vector<bool> dynamic = builder.randomDynamic(goal.sizes);
  Value out = builder.empty(goal.element, goal.sizes, dynamic);
  std::string type = toString(goal.element), body, position = builder.newName();
  body = "^bb0(" + position + ": " + toString(element) + ", %o: " + type + "):\n";
  std::vector<std::string> places = {position};
  if (element != Element::Index) {
    places[0] = builder.newName();
    body += "  " + places[0] + " = arith.index_cast " + position + " : " + toString(element) + " to index\n";
  }
  for (int64_t k = 1; k < goal.rank(); ++k) {
    places.push_back(builder.newName());
    body += "  " + places.back() + " = linalg.index " + std::to_string(k) + " : index\n";
  }
  std::string read = builder.newName();
  body += "  " + read + " = tensor.extract " + table.name + "[" + join(places) + "] : " + builder.typeOf(table) +
          "\n  linalg.yield " + read + " : " + type;
  return builder.result(builder.generic({mapOf(goal.rank(), {"d0"}), mapOf(goal.rank(), dimNames(goal.rank()))},
                                        std::string(goal.rank(), 'p'), {indices}, out, body),
                        goal.element, goal.sizes, dynamic, table.bound, table.exact);
}

/// tensor.gather of whole rows.
static Value gather(Builder &builder, const Goal &goal, int depth) {
  int64_t entries = builder.random.between(1, 7);
  Sizes tableSizes = goal.sizes;
  tableSizes[0] = entries;
  Value indices = builder.produce({Element::Index, {goal.sizes[0], 1}, true, entries}, depth);
  indices = builder.cast(indices, {indices.dynamic[0], false});
  Value table = builder.produce(goal.with(tableSizes), depth);
  table = builder.cast(table, builder.allStatic(tableSizes));
  std::vector<bool> dynamic = builder.allStatic(goal.sizes);
  dynamic[0] = indices.dynamic[0];
  return builder.result("tensor.gather " + table.name + "[" + indices.name + "] gather_dims([0]) : (" +
                            builder.typeOf(table) + ", " + builder.typeOf(indices) + ") -> " +
                            builder.typeOf(goal.element, goal.sizes, dynamic),
                        goal.element, goal.sizes, dynamic, table.bound, table.exact);
}

//===----------------------------------------------------------------------===//
// Single elements
//===----------------------------------------------------------------------===//

static bool hasElements(const Builder &, const Goal &goal) { return goal.rank() > 0 && countElements(goal.sizes) > 0; }

/// An element of one tensor into another.
static Value insertElement(Builder &builder, const Goal &goal, int depth) {
  Value target = builder.produce(goal, depth), source = builder.produce(goal, 0);
  Sizes from, to;
  for (int64_t size : goal.sizes) {
    from.push_back(builder.random.between(0, size - 1));
    to.push_back(builder.random.between(0, size - 1));
  }
  std::vector<bool> all(goal.sizes.size(), true);
  std::string read = builder.numbers(from, all);
  std::string element = builder.define("tensor.extract " + source.name + read + " : " + builder.typeOf(source));
  std::string written = builder.numbers(to, all);
  return builder.result("tensor.insert " + element + " into " + target.name + written + " : " + builder.typeOf(target),
                        goal.element, goal.sizes, target.dynamic, std::max(source.bound, target.bound),
                        source.exact && target.exact);
}

static bool isSmall(const Builder &, const Goal &goal) {
  return goal.rank() > 0 && countElements(goal.sizes) <= 6 && countElements(goal.sizes) > 0;
}

static Value fromElements(Builder &builder, const Goal &goal, int) {
  std::vector<std::string> parts;
  for (int64_t k = countElements(goal.sizes); k > 0; --k)
    parts.push_back(builder.constant(goal.element, fillerOf(builder.random, goal.element, goal.limit)));
  return builder.result("tensor.from_elements " + join(parts) + " : " +
                            builder.typeOf(goal.element, goal.sizes, builder.allStatic(goal.sizes)),
                        goal.element, goal.sizes, builder.allStatic(goal.sizes), 1, true);
}

static Value splat(Builder &builder, const Goal &goal, int) {
  std::vector<bool> dynamic = builder.randomDynamic(goal.sizes);
  double number = fillerOf(builder.random, goal.element, goal.limit);
  if (builder.random.chance(50)) {
    Value value = builder.filled(goal.element, goal.sizes, dynamic, number);
    builder.remember(value);
    return value;
  }
  std::string scalar = builder.constant(goal.element, number);
  std::vector<std::string> open;
  for (size_t k = 0; k < goal.sizes.size(); ++k)
    if (dynamic[k])
      open.push_back(builder.index(goal.sizes[k]));
  return builder.result("tensor.splat " + scalar + (open.empty() ? "" : "[" + join(open) + "]") + " : " +
                            builder.typeOf(goal.element, goal.sizes, dynamic),
                        goal.element, goal.sizes, dynamic, std::fabs(number), true);
}

void graphs::addMovement(std::vector<Producer> &table) {
  table.push_back({"extract-slice", 12, always, extractSlice});
  table.push_back({"insert-slice", 8, hasDims, insertSlice});
  table.push_back({"collapse-shape", 6, always, collapseShape});
  table.push_back({"expand-shape", 6, hasDims, expandShape});
  table.push_back({"reshape", 4, hasDims, reshape});
  table.push_back({"transpose", 6, hasDims, transpose});
  table.push_back({"broadcast", 5, hasDims, broadcast});
  table.push_back({"pad", 4, hasDims, padTensor});
  table.push_back({"concat", 4, hasDims, concatenate});
  table.push_back({"gather-rows", 3, hasDims, gatherRows});
  table.push_back({"gather", 2, hasDims, gather});
  table.push_back({"insert-element", 2, hasElements, insertElement});
  table.push_back({"from-elements", 2, isSmall, fromElements});
  table.push_back({"splat", 1, always, splat});
}
