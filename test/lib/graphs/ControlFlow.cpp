//===- ControlFlow.cpp - branches, loops, calls, attention as a producer ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Builder.h"
#include <algorithm>

using namespace graphs;

static bool always(const Builder &, const Goal &) { return true; }

/// A boolean scalar that only the run knows, or a constant.
static std::string condition(Builder &builder) {
  int64_t a = builder.random.between(0, 3), b = builder.random.between(0, 3);
  std::string first = builder.index(a), second = builder.index(b);
  const char *predicate = builder.random.pick({"slt", "sge", "eq", "ne"});
  return builder.define(std::string("arith.cmpi ") + predicate + ", " + first + ", " + second + " : index");
}

static Value branch(Builder &builder, const Goal &goal, int depth) {
  std::string choice = condition(builder);
  std::vector<bool> dynamic = builder.randomDynamic(goal.sizes);
  std::string type = builder.typeOf(goal.element, goal.sizes, dynamic), name = builder.newName();
  builder.write(name + " = scf.if " + choice + " -> (" + type + ") {");
  builder.enterRegion();
  Value first = builder.cast(builder.produce(goal, depth), dynamic);
  builder.write("scf.yield " + first.name + " : " + type);
  builder.leaveRegion();
  builder.write("} else {");
  builder.enterRegion();
  Value second = builder.cast(builder.produce(goal, depth), dynamic);
  builder.write("scf.yield " + second.name + " : " + type);
  builder.leaveRegion();
  builder.write("}");
  Value value{
      name, goal.element, goal.sizes, dynamic, std::max(first.bound, second.bound), first.exact && second.exact};
  builder.remember(value);
  return value;
}

/// What a step makes of the tensor that a loop carries; it stays within the bound. `index`: a scalar that counts steps.
static Value step(Builder &builder, const Value &carried, const Goal &goal, int depth, const std::string &index) {
  Random &random = builder.random;
  std::string type = builder.typeOf(carried);
  bool hasRow = goal.rank() > 0 && goal.sizes[0] >= 3;
  if (hasRow && random.chance(50)) { // One row, at the step's place.
    Sizes row = goal.sizes;
    row[0] = 1;
    bool drops = random.chance(50);
    Sizes kept = drops ? Sizes(row.begin() + 1, row.end()) : row;
    Value source = builder.produce(goal.with(kept), depth);
    source = builder.cast(source, builder.allStatic(kept));
    std::string offsets = "[" + index, strides = builder.numbers(Sizes(goal.sizes.size(), 1));
    // The verifier refuses an offset at the end, even of nothing.
    for (int64_t k = 1; k < goal.rank(); ++k)
      offsets += ", " + (row[k] == 0 ? builder.index(0) : "0");
    Value next = carried;
    next.name = builder.define("tensor.insert_slice " + source.name + " into " + carried.name + offsets + "] " +
                               builder.numbers(row) + " " + strides + " : " + builder.typeOf(source) + " into " + type);
    next.bound = std::max(carried.bound, source.bound);
    next.exact = carried.exact && source.exact;
    return next;
  }
  Value other = builder.cast(builder.produce(goal, depth), carried.dynamic);
  Value next = carried;
  next.bound = std::max(carried.bound, other.bound);
  next.exact = carried.exact && other.exact;
  const char *op = isFloat(goal.element) ? random.pick({"maximumf", "minimumf"})
                   : goal.limit          ? random.pick({"minui", "maxui"})
                                         : random.pick({"minsi", "xori", "maxsi"});
  next.name = builder.define(std::string("arith.") + op + " " + carried.name + ", " + other.name + " : " + type);
  return next;
}

static Value loop(Builder &builder, const Goal &goal, int depth) {
  Value init = builder.produce(goal, depth);
  int64_t first = builder.random.between(0, 1), by = builder.random.between(1, 2);
  std::string low = builder.index(first), high = builder.index(builder.random.between(0, 3)),
              stride = builder.index(by);
  std::string type = builder.typeOf(init), name = builder.newName(), index = builder.newName();
  Value carried = init;
  carried.name = builder.newName();
  builder.write(name + " = scf.for " + index + " = " + low + " to " + high + " step " + stride + " iter_args(" +
                carried.name + " = " + init.name + ") -> (" + type + ") {");
  builder.enterRegion();
  builder.remember(carried);
  Value next = step(builder, carried, goal, depth, index);
  builder.write("scf.yield " + next.name + " : " + type);
  builder.leaveRegion();
  builder.write("}");
  Value value = next;
  value.name = name;
  value.exact = next.exact && init.exact;
  builder.remember(value);
  return value;
}

/// scf.while that counts; what it passes on is in any order, and some of it twice.
static Value whileLoop(Builder &builder, const Goal &goal, int depth) {
  Value init = builder.produce(goal, depth);
  std::string zero = builder.constant(Element::Index, 0), trips = builder.index(builder.random.between(0, 3));
  std::string one = builder.constant(Element::Index, 1), type = builder.typeOf(init);
  bool twice = builder.random.chance(40), swapped = builder.random.chance(40);
  std::string count = builder.newName(), before = builder.newName();
  std::string passedTypes = swapped ? type + ", index" : "index, " + type;
  if (twice)
    passedTypes += ", " + type;
  std::vector<std::string> results;
  std::string name = builder.newName();
  builder.write(name + ":" + (twice ? "3" : "2") + " = scf.while (" + count + " = " + zero + ", " + before + " = " +
                init.name + ") : (index, " + type + ") -> (" + passedTypes + ") {");
  builder.enterRegion();
  std::string test = builder.define("arith.cmpi slt, " + count + ", " + trips + " : index");
  std::string passed = swapped ? before + ", " + count : count + ", " + before;
  builder.write("scf.condition(" + test + ") " + passed + (twice ? ", " + before : "") + " : " + passedTypes);
  builder.leaveRegion();
  builder.write("} do {");
  Value carried = init, again = init;
  carried.name = builder.newName(), again.name = builder.newName();
  std::string index = builder.newName(), indexArgument = index + ": index", tensor = carried.name + ": " + type;
  builder.write("^bb0(" + (swapped ? tensor + ", " + indexArgument : indexArgument + ", " + tensor) +
                (twice ? ", " + again.name + ": " + type : "") + "):");
  builder.enterRegion();
  builder.remember(carried);
  Value next = step(builder, twice && builder.random.chance(50) ? again : carried, goal, depth, index);
  std::string more = builder.define("arith.addi " + index + ", " + one + " : index");
  builder.write("scf.yield " + more + ", " + next.name + " : index, " + type);
  builder.leaveRegion();
  builder.write("}");
  Value value = next;
  value.name = name + (swapped ? "#0" : "#1");
  if (twice && builder.random.chance(50))
    value.name = name + "#2";
  builder.remember(value);
  return value;
}

static Value call(Builder &builder, const Goal &goal, int depth) { return builder.callHelper(goal, depth); }

static bool isAttention(const Builder &builder, const Goal &goal) {
  return builder.mayAttend() && isFloat(goal.element) && !goal.exact && goal.rank() == 4;
}

static Value attention(Builder &builder, const Goal &goal, int depth) {
  builder.countAttention();
  return attend(builder, goal, depth);
}

void graphs::addControlFlow(std::vector<Producer> &table) {
  table.push_back({"if", 3, always, branch});
  table.push_back({"for", 4, always, loop});
  table.push_back({"while", 2, always, whileLoop});
  table.push_back({"call", 4, always, call});
  table.push_back({"attention", 6, isAttention, attention});
}
