//===- CompareSides.cpp - two functions on the same data ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CompareSides.h"
#include "attn/Reference/Interpreter.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Threading.h"
#include <cmath>

using namespace mlir;
using namespace attn;
using namespace attn::fusion;
using reference::Scalar;
using reference::Tensor;

/// Above it a side is not evaluated; counted as reference::Options says.
static constexpr int64_t kMaxOperations = 100'000'000;
/// Of all inputs together, and of one tensor of a side; 8 bytes each.
static constexpr int64_t kMaxElements = 10'000'000;

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

namespace {

/// splitmix64: the same numbers everywhere.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t x = state += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
  }
  /// In [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  /// Close to normal, one of 16 five times as large.
  double spread() {
    double sum = -2;
    for (int k = 0; k < 4; ++k)
      sum += uniform();
    return sum * (next() % 16 == 0 ? 8.5 : 1.7);
  }

private:
  uint64_t state;
};

} // namespace

/// Positive floats for scalars, which divide and whose roots are taken. Three of four booleans are true: masks that
/// leave no key are rare.
static Scalar makeElement(Random &random, Type type, const InputData &input) {
  Scalar element;
  if (isa<FloatType>(type)) {
    element.real = input.shape.empty() ? 0.5 + random.uniform() : random.spread();
    return element;
  }
  element.integer = type.isInteger(1) ? random.next() % 4 != 0 : random.next() % std::max<int64_t>(1, input.limit);
  if (input.value)
    element.integer = *input.value;
  return element;
}

std::optional<std::vector<Tensor>> fusion::makeArguments(TypeRange types, ArrayRef<InputData> inputs, uint64_t seed,
                                                         std::string &reason) {
  Random random(seed);
  std::vector<Tensor> arguments;
  int64_t total = 0;
  for (auto [whole, input] : llvm::zip_equal(types, inputs)) {
    Type type = getElementTypeOrSelf(whole);
    bool isShaped = isa<ShapedType>(whole);
    std::optional<int64_t> count = reference::countElements(input.shape);
    if (!reference::isSupportedElementType(type) || (isShaped && !isa<RankedTensorType>(whole))) {
      reason = llvm::formatv("there is no data of type {0}", whole);
      return std::nullopt;
    }
    if (!count || *count > kMaxElements - total) {
      reason = llvm::formatv("the inputs have more than {0} elements", kMaxElements);
      return std::nullopt;
    }
    total += *count;
    Tensor tensor{type, std::vector<int64_t>(input.shape.begin(), input.shape.end()), std::vector<Scalar>(*count)};
    for (Scalar &element : tensor.data)
      element = makeElement(random, type, input);
    arguments.push_back(std::move(tensor));
  }
  return arguments;
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

std::optional<std::vector<Tensor>> fusion::evaluateQuietly(func::FuncOp function, ArrayRef<Tensor> arguments,
                                                           std::string &reason) {
  uint64_t thread = llvm::get_threadid();
  ScopedDiagnosticHandler handler(function.getContext(), [&](Diagnostic &diagnostic) {
    if (llvm::get_threadid() != thread)
      return failure();
    if (reason.empty())
      reason = diagnostic.str();
    return success();
  });
  reference::Options options;
  options.maxOperations = kMaxOperations;
  options.maxElements = kMaxElements;
  options.threads = 1;
  FailureOr<reference::Evaluation> result = reference::evaluate(function, arguments, options);
  if (failed(result))
    return std::nullopt;
  return std::move(result->results);
}

static bool isClose(double before, double after, double tolerance) {
  if (std::isnan(before))
    return std::isnan(after) || after == 0;
  if (before == after)
    return true;
  return std::abs(before - after) <= tolerance * std::max({1.0, std::abs(before), std::abs(after)});
}

static std::string joinNumbers(ArrayRef<int64_t> numbers, StringRef separator) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleave(numbers, stream, separator);
  return text;
}

/// "[1, 0, 4]" of a row-major position.
static std::string indicesOf(int64_t position, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> indices;
  for (int64_t size : llvm::reverse(shape)) {
    indices.insert(indices.begin(), position % size);
    position /= size;
  }
  return "[" + joinNumbers(indices, ", ") + "]";
}

static std::string toText(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.10g", value);
  return text;
}

std::string fusion::findDifference(const Tensor &before, const Tensor &after, double tolerance, StringRef where,
                                   StringRef whereAfter) {
  if (before.shape != after.shape)
    return llvm::formatv("has sizes {0} {2} and {1} {3}", joinNumbers(before.shape, "x"), joinNumbers(after.shape, "x"),
                         where, whereAfter);
  auto describe = [&](const std::string &first, const std::string &second, size_t k) -> std::string {
    return llvm::formatv("is {0} {3} and {1} {4} at element {2}", first, second, indicesOf(k, before.shape), where,
                         whereAfter);
  };
  for (size_t k = 0; k < before.data.size(); ++k) {
    Scalar first = before.data[k], second = after.data[k];
    if (before.isReal() && !isClose(first.real, second.real, tolerance))
      return describe(toText(first.real), toText(second.real), k);
    if (!before.isReal() && first.integer != second.integer)
      return describe(std::to_string(first.integer), std::to_string(second.integer), k);
  }
  return "";
}

std::string fusion::describeInputs(ArrayRef<InputData> inputs) {
  SmallVector<std::string> shapes;
  for (const InputData &input : inputs)
    if (!input.shape.empty())
      shapes.push_back(joinNumbers(input.shape, "x"));
  return llvm::join(shapes, ", ");
}

/// nullopt where both sides agree, and are NaN throughout.
static std::optional<Verdict> compareOnce(const OutlinedSides &sides, ArrayRef<InputData> inputs, double tolerance,
                                          uint64_t seed) {
  std::string reason;
  auto arguments = makeArguments(TypeRange(ValueRange(sides.inputs)), inputs, seed, reason);
  auto before = arguments ? evaluateQuietly(sides.before, *arguments, reason) : std::nullopt;
  if (!before)
    return Verdict{Verdict::Unknown, reason};
  auto after = evaluateQuietly(sides.after, *arguments, reason);
  bool isLarge = StringRef(reason).contains("exceeds the limit") || StringRef(reason).contains("needs a tensor");
  if (!after && isLarge)
    return Verdict{Verdict::Unknown, reason};
  if (!after)
    return Verdict{Verdict::Different, "it fails where the graph does not: " + reason};
  bool isAnyNumber = false;
  for (auto [k, graph, attention] : llvm::enumerate(*before, *after)) {
    std::string difference = findDifference(graph, attention, tolerance, "in the graph", "in the attention");
    if (!difference.empty())
      return Verdict{Verdict::Different,
                     llvm::formatv("{0} {1}, with inputs of {2}", k == 0 ? "the result" : "a weight", difference,
                                   describeInputs(inputs))};
    isAnyNumber |= graph.data.empty() || llvm::any_of(graph.data, [](Scalar x) { return !std::isnan(x.real); });
  }
  return isAnyNumber ? std::optional(Verdict()) : std::nullopt;
}

Verdict fusion::compareSides(const OutlinedSides &sides, ArrayRef<InputData> inputs, double tolerance) {
  // Masks of few elements may drop every key.
  for (uint64_t seed : {1, 2, 3, 4})
    if (std::optional<Verdict> verdict = compareOnce(sides, inputs, tolerance, seed))
      return *verdict;
  return {Verdict::Unknown, "the graph is NaN throughout on generated data"};
}
