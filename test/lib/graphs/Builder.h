//===- Builder.h - writes a graph from its results to its inputs ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A graph is built from goals. A goal is the element type and sizes of a tensor; a producer is one kind of operation
// that can make a tensor like that out of operands that are goals in turn. At the leaves stand arguments of the
// function and values that are there already. So every operation fits in its place, whatever the sizes.
//
// Numbers stay where errors mean something: each value carries a bound of its magnitude, and what grows is scaled down.
// What jumps (comparisons, rounding to integers) is applied to exact values alone: inputs that were moved but not
// computed with.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TEST_LIB_GRAPHS_BUILDER_H
#define ATTN_TEST_LIB_GRAPHS_BUILDER_H

#include "Graph.h"
#include "Random.h"

namespace graphs {

/// A tensor that the text names.
struct Value {
  std::string name;
  Element element = Element::F32;
  /// What the sizes are in this graph's run.
  Sizes sizes;
  /// For each dimension whether the type leaves it open.
  std::vector<bool> dynamic;
  /// No element of a float is larger.
  double bound = 2;
  /// Inputs, moved but not computed with; integers always are.
  bool exact = true;

  int64_t rank() const { return static_cast<int64_t>(sizes.size()); }
};

/// A tensor that is wanted.
struct Goal {
  Element element = Element::F32;
  Sizes sizes;
  /// Wanted exact (Value::exact).
  bool exact = false;
  /// Integers are wanted in [0, limit); 0: anywhere.
  int64_t limit = 0;

  Goal with(Sizes other) const { return {element, std::move(other), exact, limit}; }
  int64_t rank() const { return static_cast<int64_t>(sizes.size()); }
};

class Builder;

/// One kind of operation.
struct Producer {
  const char *name;
  unsigned weight;
  bool (*applies)(const Builder &builder, const Goal &goal);
  /// The value has the goal's element type and sizes; any of them may be dynamic in its type.
  Value (*build)(Builder &builder, const Goal &goal, int depth);
};

const std::vector<Producer> &producers();

class Builder {
public:
  explicit Builder(const GraphOptions &options);

  Graph build();

  /// A value of the goal's type and sizes, at most `depth` operations behind the leaves.
  Value produce(const Goal &goal, int depth);
  /// A new argument, or a value that is there.
  Value leaf(const Goal &goal);
  Value argument(const Goal &goal);

  //===--- Text ---===//

  /// Defines a value by an operation; returns its name.
  std::string define(const std::string &operation);
  /// Defines `count` values; their names.
  std::vector<std::string> defineMany(const std::string &operation, size_t count);
  void write(const std::string &line);
  std::string newName() { return "%v" + std::to_string(nextName++); }

  /// A scalar of type index with this value: a constant, a size, an argument or a sum.
  std::string index(int64_t value);
  std::string constant(Element element, double value);
  /// "[0, %n, 3]": numbers, or scalars where `isDynamic`.
  std::string numbers(const Sizes &values, const std::vector<bool> &isDynamic);
  std::string numbers(const Sizes &values);

  std::string typeOf(Element element, const Sizes &sizes, const std::vector<bool> &dynamic) const;
  std::string typeOf(const Value &value) const { return typeOf(value.element, value.sizes, value.dynamic); }
  std::vector<bool> randomDynamic(const Sizes &sizes);
  std::vector<bool> allStatic(const Sizes &sizes) const { return std::vector<bool>(sizes.size(), false); }

  /// tensor.empty.
  Value empty(Element element, const Sizes &sizes, const std::vector<bool> &dynamic);
  /// linalg.fill with a number.
  Value filled(Element element, const Sizes &sizes, const std::vector<bool> &dynamic, double number);
  /// The same value under a type with these open sizes.
  Value cast(const Value &value, const std::vector<bool> &dynamic);
  /// Scales down by a power of two what may have grown.
  Value tamed(const Value &value, double limit = 8);
  /// `name = operation`, with the bound and exactness of `like`.
  Value result(const std::string &operation, Element element, const Sizes &sizes, const std::vector<bool> &dynamic,
               double bound = 2, bool exact = true);

  /// linalg.generic over `loops`, with parallel or reduction iterators; `body` begins with the block's arguments.
  std::string generic(const std::vector<std::string> &maps, const std::string &iterators,
                      const std::vector<Value> &inputs, const Value &out, const std::string &body);

  //===--- Scopes ---===//

  /// Values that are defined from here on end with the region.
  void enterRegion() { scopes.push_back(frame().pool.size()), frame().indent += 2; }
  void leaveRegion() { frame().pool.resize(scopes.back()), scopes.pop_back(), frame().indent -= 2; }
  /// Makes a value known to later leaves.
  void remember(const Value &value) { frame().pool.push_back(value); }

  /// A private function around a goal; the call.
  Value callHelper(const Goal &goal, int depth);

  //===--- Attention ---===//

  /// False for a producer that the options leave out.
  bool has(const std::string &producer) const;
  /// The least size of a dimension; 1 where the options leave out `empty`.
  int64_t leastSize() const { return has("empty") ? 0 : 1; }
  bool mayAttend() const { return attentionsLeft > 0 && frames.size() < 3; }
  void countAttention() { --attentionsLeft; }
  void countKind(const std::string &kind) { ++graph.kinds[kind]; }

  Random random;
  const GraphOptions &options;
  /// The element type of most tensors.
  Element mainElement = Element::F32;

private:
  struct Frame {
    std::string name, body;
    std::vector<std::string> parameters;
    /// What the parameters are; an index where the goal's rank is 0 and `isScalar`.
    struct Parameter {
      Value value;
      Goal goal;
      bool isScalar;
      int64_t number;
    };
    std::vector<Parameter> wanted;
    std::vector<Value> pool;
    unsigned indent = 2;
  };
  Frame &frame() { return frames.back(); }
  std::string indexArgument(int64_t value);
  void addInput(const Goal &goal);
  Value adapt(const Value &value, const Goal &goal);
  Value convert(const Value &value, Element element);
  void finish(const std::vector<Value> &results);

  Graph graph;
  std::vector<Frame> frames;
  std::vector<size_t> scopes;
  std::string helpers;
  unsigned nextName = 0, nextHelper = 0;
  /// Percent of sizes that types leave open.
  unsigned dynamicShare = 0;
  int attentionsLeft = 1;
};

/// An attention with a result of these sizes [batch, heads, queryLen, valueDim], in any spelling.
Value attend(Builder &builder, const Goal &goal, int depth);

/// `tensor.extract_slice`, `tensor.pad` and reshapes from a value to any sizes.
Value reshapeTo(Builder &builder, const Value &value, const Sizes &sizes);
Value sliceTo(Builder &builder, const Value &value, const Sizes &sizes);
Value padTo(Builder &builder, const Value &value, const Sizes &sizes);

/// "affine_map<(d0, d1) -> (d1)>".
std::string mapOf(int64_t loops, const std::vector<std::string> &results);
std::vector<std::string> dimNames(int64_t rank);
std::string join(const std::vector<std::string> &parts, const std::string &separator = ", ");
std::string numberText(double value);

/// Registers.
void addMovement(std::vector<Producer> &table);
void addElementwise(std::vector<Producer> &table);
void addContractions(std::vector<Producer> &table);
void addControlFlow(std::vector<Producer> &table);

} // namespace graphs

#endif // ATTN_TEST_LIB_GRAPHS_BUILDER_H
