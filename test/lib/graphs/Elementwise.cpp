//===- Elementwise.cpp - operations on elements, conversions, reductions ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Builder.h"
#include <algorithm>
#include <cmath>

using namespace graphs;

static bool isInexactFloat(const Builder &, const Goal &goal) { return isFloat(goal.element) && !goal.exact; }
static bool isFreeInteger(const Builder &, const Goal &goal) {
  return !isFloat(goal.element) && goal.element != Element::I1 && !goal.limit;
}
static bool isBoolean(const Builder &, const Goal &goal) { return goal.element == Element::I1; }

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

namespace {
/// Writes the operations of one element of a float type.
class Expression {
public:
  Expression(Builder &builder, const std::string &type) : builder(builder), type(type) {}

  struct Term {
    std::string name;
    double bound;
    bool exact;
  };

  Term unary(const Term &x);
  Term binary(const Term &x, const Term &y);
  std::string take() const { return text; }

private:
  Term make(const std::string &operation, double bound) {
    std::string name = builder.newName();
    text += "  " + name + " = " + operation + " : " + type + "\n";
    return {name, bound, false};
  }
  Term op(const std::string &name, const Term &x, double bound) { return make(name + " " + x.name, bound); }
  Term op(const std::string &name, const Term &x, const Term &y, double bound) {
    return make(name + " " + x.name + ", " + y.name, bound);
  }
  Term number(double value) { return make("arith.constant " + numberText(value), std::fabs(value)); }
  Term magnitude(const Term &x, double more) {
    return op("arith.addf", op("math.absf", x, x.bound), number(more), x.bound + more);
  }
  /// In [-2, 2], without a jump.
  Term clamped(const Term &x) {
    if (x.bound <= 2)
      return x;
    return op("arith.minimumf", op("arith.maximumf", x, number(-2), x.bound), number(2), 2);
  }

  Builder &builder;
  std::string type, text;
};
} // namespace

Expression::Term Expression::unary(const Term &x) {
  switch (builder.random.next(19)) {
  case 0:
    return op("arith.negf", x, x.bound);
  case 1:
    return op("math.absf", x, x.bound);
  case 2:
    return op("math.tanh", x, 1);
  case 3:
    return op("math.erf", x, 1);
  case 4:
    return op(builder.random.pick({"math.sin", "math.cos"}), clamped(x), 1);
  case 5:
    return op("math.exp", clamped(x), 7.4);
  case 6:
    return op("math.exp2", clamped(x), 4);
  case 7:
    return op("math.log", magnitude(x, 1), std::log(x.bound + 1) + 0.1);
  case 8:
    return op("math.log1p", op("math.absf", x, x.bound), std::log1p(x.bound) + 0.1);
  case 9:
    return op("math.sqrt", magnitude(x, 0.25), std::sqrt(x.bound + 0.25));
  case 10:
    return op("math.rsqrt", magnitude(x, 0.5), 1.5);
  case 11: { // x / (1 + exp(-x)): silu
    Term e = op("math.exp", op("arith.negf", clamped(x), 2), 7.4);
    return op("arith.divf", x, op("arith.addf", number(1), e, 8.4), x.bound);
  }
  case 12:
    return op("arith.maximumf", x, number(0), x.bound);
  case 13:
    return op("arith.mulf", x, x, x.bound * x.bound);
  case 14:
    return op("arith.mulf", x, number(builder.random.pick(std::vector<double>{0.5, -0.75, 1.25})), 1.25 * x.bound);
  case 15:
    return op("arith.divf", number(1), magnitude(x, 1), 1);
  case 16:
    return op("math.atan", x, 1.6);
  case 17:
    return op("math.expm1", clamped(x), 6.4);
  default:
    if (!x.exact)
      return op("arith.addf", x, number(0.75), x.bound + 0.75);
    return op(builder.random.pick({"math.floor", "math.ceil", "math.round", "math.roundeven", "math.trunc"}), x,
              x.bound + 1);
  }
}

Expression::Term Expression::binary(const Term &x, const Term &y) {
  double larger = std::max(x.bound, y.bound);
  switch (builder.random.next(9)) {
  case 0:
  case 1:
    return op("arith.addf", x, y, x.bound + y.bound);
  case 2:
    return op("arith.subf", x, y, x.bound + y.bound);
  case 3:
  case 4:
    return op("arith.mulf", x, y, x.bound * y.bound);
  case 5:
    return op(builder.random.pick({"arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf"}), x, y,
              larger);
  case 6:
    return op("arith.divf", x, magnitude(y, 1), x.bound);
  case 7: {
    Term sum = op("arith.addf", x, y, x.bound + y.bound);
    return make("math.fma " + x.name + ", " + y.name + ", " + sum.name, x.bound * y.bound + sum.bound);
  }
  default:
    if (y.exact)
      return op("math.copysign", x, y, x.bound);
    return op("arith.addf", x, y, x.bound + y.bound);
  }
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

/// An operand that may lack dimensions of the goal; its map's results.
static Value operandFor(Builder &builder, const Goal &goal, int depth, std::vector<std::string> &results) {
  Sizes sizes;
  bool isNarrow = builder.random.chance(35);
  for (size_t k = 0; k < goal.sizes.size(); ++k)
    if (!isNarrow || builder.random.chance(60)) {
      sizes.push_back(goal.sizes[k]);
      results.push_back("d" + std::to_string(k));
    }
  return builder.produce(goal.with(sizes), depth);
}

/// One to three operations on one or two operands in a linalg.generic.
static Value elementwise(Builder &builder, const Goal &goal, int depth) {
  std::string type = toString(goal.element);
  Expression expression(builder, type);
  std::vector<Value> inputs;
  std::vector<std::string> maps, blockArguments;
  std::vector<Expression::Term> terms;
  for (uint64_t k = 0, count = 1 + builder.random.next(2); k < count; ++k) {
    std::vector<std::string> results;
    inputs.push_back(operandFor(builder, goal, depth, results));
    maps.push_back(mapOf(goal.rank(), results));
    std::string name = builder.newName();
    blockArguments.push_back(name + ": " + type);
    terms.push_back({name, inputs.back().bound, inputs.back().exact});
  }
  Expression::Term term = terms.size() > 1 ? expression.binary(terms[0], terms[1]) : expression.unary(terms[0]);
  for (uint64_t more = builder.random.next(3); more > 0 && term.bound < 100; --more)
    term = builder.random.chance(70) ? expression.unary(term) : expression.binary(term, terms[0]);
  maps.push_back(mapOf(goal.rank(), dimNames(goal.rank())));
  blockArguments.push_back("%o: " + type);
  std::vector<bool> dynamic = builder.randomDynamic(goal.sizes);
  Value out = builder.empty(goal.element, goal.sizes, dynamic);
  std::string body =
      "^bb0(" + join(blockArguments) + "):\n" + expression.take() + "  linalg.yield " + term.name + " : " + type;
  return builder.tamed(builder.result(builder.generic(maps, std::string(goal.rank(), 'p'), inputs, out, body),
                                      goal.element, goal.sizes, dynamic, term.bound, false));
}

/// arith and math on whole tensors, and their named forms.
static Value wholeTensors(Builder &builder, const Goal &goal, int depth) {
  static const char *const names[] = {"add", "sub", "mul", "max", "min"};
  static const char *const ops[] = {"addf", "subf", "mulf", "maximumf", "minimumf"};
  uint64_t kind = builder.random.next(5), form = builder.random.next(3);
  Value a = builder.produce(goal, depth), b = builder.produce(goal, depth);
  std::vector<bool> dynamic = builder.random.chance(50) ? a.dynamic : builder.randomDynamic(goal.sizes);
  a = builder.cast(a, dynamic), b = builder.cast(b, dynamic);
  std::string type = builder.typeOf(a), pair = a.name + ", " + b.name, operation;
  if (form == 0) {
    operation = std::string("arith.") + ops[kind] + " " + pair + " : " + type;
  } else {
    Value out = builder.empty(goal.element, goal.sizes, dynamic);
    std::string places = "ins(" + pair + " : " + type + ", " + type + ") outs(" + out.name + " : " + type + ")";
    operation = form == 1 ? std::string("linalg.") + names[kind] + " " + places + " -> " + type
                          : std::string("linalg.map { arith.") + ops[kind] + " } " + places;
  }
  double bound = kind < 2 ? a.bound + b.bound : kind == 2 ? a.bound * b.bound : std::max(a.bound, b.bound);
  return builder.tamed(builder.result(operation, goal.element, goal.sizes, dynamic, bound, false));
}

/// Chooses by a boolean tensor or one boolean.
static Value select(Builder &builder, const Goal &goal, int depth) {
  Value a = builder.produce(goal, depth), b = builder.produce(goal, depth);
  b = builder.cast(b, a.dynamic);
  Value condition = builder.produce({Element::I1, goal.sizes}, depth);
  condition = builder.cast(condition, a.dynamic);
  std::string type = builder.typeOf(a);
  return builder.result("arith.select " + condition.name + ", " + a.name + ", " + b.name + " : " +
                            builder.typeOf(condition) + ", " + type,
                        goal.element, goal.sizes, a.dynamic, std::max(a.bound, b.bound), a.exact && b.exact);
}

//===----------------------------------------------------------------------===//
// Integers and booleans
//===----------------------------------------------------------------------===//

static Value integers(Builder &builder, const Goal &goal, int depth) {
  Value a = builder.produce(goal, depth), b = builder.produce(goal, depth);
  b = builder.cast(b, a.dynamic);
  const char *op = builder.random.pick({"addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui"});
  return builder.result(std::string("arith.") + op + " " + a.name + ", " + b.name + " : " + builder.typeOf(a),
                        goal.element, goal.sizes, a.dynamic);
}

/// By a constant, as undefined behaviour is nobody's.
static Value integersByConstant(Builder &builder, const Goal &goal, int depth) {
  Value a = builder.produce(goal, depth);
  std::string type = toString(goal.element), op;
  int64_t number = builder.random.pick(std::vector<int64_t>{2, 3, 5, -3});
  uint64_t kind = builder.random.next(3);
  if (kind == 0)
    op = builder.random.pick({"divsi", "remsi", "floordivsi", "ceildivsi"});
  else
    op = kind == 1 ? builder.random.pick({"shli", "shrsi", "shrui"}) : builder.random.pick({"divui", "remui"});
  Value out = builder.empty(goal.element, goal.sizes, a.dynamic);
  std::string map = mapOf(goal.rank(), dimNames(goal.rank()));
  std::string constant = builder.constant(goal.element, static_cast<double>(kind ? std::abs(number) : number));
  std::string body = "^bb0(%x: " + type + ", %o: " + type + "):\n  %y = arith." + op + " %x, " + constant + " : " +
                     type + "\n  linalg.yield %y : " + type;
  return builder.result(builder.generic({map, map}, std::string(goal.rank(), 'p'), {a}, out, body), goal.element,
                        goal.sizes, a.dynamic);
}

static bool hasLimit(const Builder &, const Goal &goal) {
  return !isFloat(goal.element) && goal.limit > 0 && goal.element != Element::I1;
}

/// Any integer into a range.
static Value intoRange(Builder &builder, const Goal &goal, int depth) {
  Value a = builder.produce({goal.element, goal.sizes}, depth);
  std::string type = toString(goal.element), map = mapOf(goal.rank(), dimNames(goal.rank()));
  Value out = builder.empty(goal.element, goal.sizes, a.dynamic);
  std::string limit = builder.constant(goal.element, static_cast<double>(goal.limit));
  std::string body = "^bb0(%x: " + type + ", %o: " + type + "):\n  %y = arith.remui %x, " + limit + " : " + type +
                     "\n  linalg.yield %y : " + type;
  return builder.result(builder.generic({map, map}, std::string(goal.rank(), 'p'), {a}, out, body), goal.element,
                        goal.sizes, a.dynamic);
}

static Value compare(Builder &builder, const Goal &goal, int depth) {
  Random &random = builder.random;
  bool byFloat = random.chance(40);
  Element element = byFloat
                        ? builder.mainElement
                        : random.pick(std::vector<Element>{Element::I8, Element::I32, Element::I64, Element::Index});
  Value a = builder.produce({element, goal.sizes, true}, depth),
        b = builder.produce({element, goal.sizes, true}, depth);
  b = builder.cast(b, a.dynamic);
  const char *predicate = byFloat ? random.pick({"olt", "oge", "une", "ogt", "ole", "ueq"})
                                  : random.pick({"slt", "sge", "ne", "eq", "sgt", "ule"});
  return builder.result(std::string(byFloat ? "arith.cmpf " : "arith.cmpi ") + predicate + ", " + a.name + ", " +
                            b.name + " : " + builder.typeOf(a),
                        Element::I1, goal.sizes, a.dynamic);
}

static Value booleans(Builder &builder, const Goal &goal, int depth) {
  Value a = builder.produce(goal, depth), b = builder.produce(goal, depth);
  b = builder.cast(b, a.dynamic);
  const char *op = builder.random.pick({"andi", "ori", "xori"});
  return builder.result(std::string("arith.") + op + " " + a.name + ", " + b.name + " : " + builder.typeOf(a),
                        Element::I1, goal.sizes, a.dynamic);
}

/// A tensor of indices by linalg.index, as masks are written out.
static Value positions(Builder &builder, const Goal &goal, int) {
  std::vector<bool> dynamic = builder.randomDynamic(goal.sizes);
  Value out = builder.empty(goal.element, goal.sizes, dynamic);
  std::string type = toString(goal.element), body = "^bb0(%o: " + type + "):\n";
  std::vector<std::string> names;
  for (int64_t k = 0; k < std::min<int64_t>(goal.rank(), 2); ++k) {
    names.push_back(builder.newName());
    int64_t dim = goal.rank() - 1 - k;
    body += "  " + names.back() + " = linalg.index " + std::to_string(dim) + " : index\n";
  }
  std::string last = names[0];
  if (names.size() > 1) {
    last = builder.newName();
    body += "  " + last + " = arith." + builder.random.pick({"subi", "addi", "maxsi"}) + " " + names[0] + ", " +
            names[1] + " : index\n";
  }
  if (goal.element == Element::I1) {
    std::string zero = builder.constant(Element::Index, 0), test = builder.newName();
    body += "  " + test + " = arith.cmpi sle, " + last + ", " + zero + " : index\n";
    last = test;
  } else if (goal.element != Element::Index) {
    std::string converted = builder.newName();
    body += "  " + converted + " = arith.index_cast " + last + " : index to " + type + "\n";
    last = converted;
  }
  body += "  linalg.yield " + last + " : " + type;
  return builder.result(
      builder.generic({mapOf(goal.rank(), dimNames(goal.rank()))}, std::string(goal.rank(), 'p'), {}, out, body),
      goal.element, goal.sizes, dynamic);
}

static bool hasPositions(const Builder &, const Goal &goal) {
  return !isFloat(goal.element) && !goal.limit && goal.rank() > 0;
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

static Value convertFloats(Builder &builder, const Goal &goal, int depth) {
  std::vector<Element> wider, narrower;
  auto bits = [](Element e) { return e == Element::F64 ? 64 : e == Element::F32 ? 32 : 16; };
  for (Element e : {Element::F16, Element::BF16, Element::F32, Element::F64}) {
    if (e == Element::F64 && builder.options.isGpu)
      continue;
    if (bits(e) > bits(goal.element))
      wider.push_back(e);
    if (bits(e) < bits(goal.element))
      narrower.push_back(e);
  }
  bool extends = wider.empty() || (!narrower.empty() && builder.random.chance(50));
  Value a = builder.produce({builder.random.pick(extends ? narrower : wider), goal.sizes, goal.exact}, depth);
  return builder.result(std::string(extends ? "arith.extf " : "arith.truncf ") + a.name + " : " + builder.typeOf(a) +
                            " to " + builder.typeOf(goal.element, goal.sizes, a.dynamic),
                        goal.element, goal.sizes, a.dynamic, a.bound, a.exact);
}

static bool canConvertFloats(const Builder &builder, const Goal &goal) {
  return isFloat(goal.element) && !(builder.options.isGpu && goal.element == Element::F64);
}

static Value floatsOfIntegers(Builder &builder, const Goal &goal, int depth) {
  Element element = builder.random.pick(std::vector<Element>{Element::I8, Element::I32, Element::I64});
  // Small, so that they are exact in every type.
  Value a = builder.produce({element, goal.sizes, true, 3}, depth);
  return builder.result(std::string(builder.random.pick({"arith.sitofp ", "arith.uitofp "})) + a.name + " : " +
                            builder.typeOf(a) + " to " + builder.typeOf(goal.element, goal.sizes, a.dynamic),
                        goal.element, goal.sizes, a.dynamic, 2, true);
}

static bool isAnyFloat(const Builder &, const Goal &goal) { return isFloat(goal.element); }

static Value integersOfFloats(Builder &builder, const Goal &goal, int depth) {
  Element element = builder.mainElement;
  Value a = builder.produce({element, goal.sizes, true}, depth);
  return builder.result("arith.fptosi " + a.name + " : " + builder.typeOf(a) + " to " +
                            builder.typeOf(goal.element, goal.sizes, a.dynamic),
                        goal.element, goal.sizes, a.dynamic);
}

static bool isFixedInteger(const Builder &builder, const Goal &goal) {
  return isFreeInteger(builder, goal) && goal.element != Element::Index;
}

static Value convertIntegers(Builder &builder, const Goal &goal, int depth) {
  std::vector<Element> others;
  for (Element e : {Element::I1, Element::I8, Element::I32, Element::I64, Element::Index})
    if (e != goal.element && !(goal.element == Element::Index && e == Element::I1))
      others.push_back(e);
  Element from = builder.random.pick(others);
  Value a = builder.produce({from, goal.sizes}, depth);
  const char *op;
  if (from == Element::Index || goal.element == Element::Index)
    op = builder.random.pick({"arith.index_cast ", "arith.index_castui "});
  else if (from < goal.element)
    op = builder.random.pick({"arith.extsi ", "arith.extui "});
  else
    op = "arith.trunci ";
  return builder.result(op + a.name + " : " + builder.typeOf(a) + " to " +
                            builder.typeOf(goal.element, goal.sizes, a.dynamic),
                        goal.element, goal.sizes, a.dynamic);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

namespace {
/// How elements are folded.
struct Fold {
  const char *op;
  double start;
  bool isSum;
};
} // namespace

static Fold chooseFold(Random &random, Element element) {
  if (isFloat(element))
    return random.pick(std::vector<Fold>{{"arith.addf", 0, true},
                                         {"arith.addf", 0, true},
                                         {"arith.maximumf", -INFINITY, false},
                                         {"arith.minimumf", INFINITY, false},
                                         {"arith.maxnumf", -INFINITY, false}});
  if (element == Element::I1)
    return random.pick(std::vector<Fold>{{"arith.ori", 0, false}, {"arith.andi", 1, false}});
  return random.pick(
      std::vector<Fold>{{"arith.addi", 0, true}, {"arith.maxsi", -100, false}, {"arith.xori", 0, false}});
}

static Value reduce(Builder &builder, const Goal &goal, int depth) {
  Fold fold = chooseFold(builder.random, goal.element);
  int64_t extent = builder.random.between(fold.isSum ? builder.leastSize() : 1, 6);
  size_t dim = builder.random.next(goal.sizes.size() + 1);
  Sizes sizes = goal.sizes;
  sizes.insert(sizes.begin() + static_cast<int64_t>(dim), extent);
  Value a = builder.produce(goal.with(sizes), depth);
  std::vector<bool> dynamic = a.dynamic;
  dynamic.erase(dynamic.begin() + static_cast<int64_t>(dim));
  Value init = builder.filled(goal.element, goal.sizes, dynamic, fold.start);
  std::string operation, type = toString(goal.element);
  if (builder.random.chance(50)) {
    operation = std::string("linalg.reduce { ") + fold.op + " } ins(" + a.name + " : " + builder.typeOf(a) + ") outs(" +
                init.name + " : " + builder.typeOf(init) + ") dimensions = [" + std::to_string(dim) + "]";
  } else {
    std::vector<std::string> all = dimNames(goal.rank() + 1), kept = all;
    kept.erase(kept.begin() + static_cast<int64_t>(dim));
    std::string iterators(all.size(), 'p');
    iterators[dim] = 'r';
    operation = builder.generic({mapOf(goal.rank() + 1, all), mapOf(goal.rank() + 1, kept)}, iterators, {a}, init,
                                "^bb0(%x: " + type + ", %s: " + type + "):\n  %y = " + fold.op + " %x, %s : " + type +
                                    "\n  linalg.yield %y : " + type);
  }
  double bound = fold.isSum ? a.bound * std::max<double>(1, static_cast<double>(extent)) : a.bound;
  return builder.tamed(builder.result(operation, goal.element, goal.sizes, dynamic, bound, !fold.isSum && a.exact));
}

static bool canReduce(const Builder &, const Goal &goal) {
  return goal.rank() < 5 && !goal.limit && !goal.exact && goal.element != Element::Index;
}

void graphs::addElementwise(std::vector<Producer> &table) {
  table.push_back({"elementwise", 12, isInexactFloat, elementwise});
  table.push_back({"whole-tensors", 6, isInexactFloat, wholeTensors});
  table.push_back({"select", 4, [](const Builder &, const Goal &goal) { return !goal.limit; }, select});
  table.push_back({"integers", 8, isFreeInteger, integers});
  table.push_back({"integers-by-constant", 4, isFreeInteger, integersByConstant});
  table.push_back({"into-range", 4, hasLimit, intoRange});
  table.push_back({"compare", 10, isBoolean, compare});
  table.push_back({"booleans", 5, isBoolean, booleans});
  table.push_back({"positions", 4, hasPositions, positions});
  table.push_back({"convert-floats", 4, canConvertFloats, convertFloats});
  table.push_back({"floats-of-integers", 2, isAnyFloat, floatsOfIntegers});
  table.push_back({"integers-of-floats", 2, isFixedInteger, integersOfFloats});
  table.push_back({"convert-integers", 3, isFreeInteger, convertIntegers});
  table.push_back({"reduce", 6, canReduce, reduce});
}
