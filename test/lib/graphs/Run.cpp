//===- Run.cpp - compiles a graph and compares it with the reference ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Run.h"
#include <cmath>
#include <cstring>
#include <memory>

using namespace graphs;

const char *graphs::toString(Verdict verdict) {
  static const char *const names[] = {"pass",         "does not verify", "is not compiled", "does not run",
                                      "no reference", "wrong",           "crash",           "hang"};
  return names[static_cast<int>(verdict)];
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

namespace {

/// A tensor between two zones of NaN, which nobody may write, and which reach a result where they are read.
class Memory {
public:
  Memory(attn::DType dtype, Sizes sizes, int64_t rowPadding)
      : dtype(dtype), sizes(std::move(sizes)), strides(attn::rowMajorStrides(this->sizes)) {
    if (rowPadding && this->sizes.size() > 1) {
      int64_t stride = this->sizes.back() + rowPadding;
      for (size_t k = strides.size() - 1; k-- > 0;) {
        strides[k] = stride;
        stride *= std::max<int64_t>(1, this->sizes[k]);
      }
    }
    int64_t extent = 1;
    for (size_t k = 0; k < strides.size(); ++k)
      extent += std::max<int64_t>(0, this->sizes[k] - 1) * strides[k];
    bytes.assign((extent + 2 * kGuard) * attn::byteSize(dtype), 0xff);
    original = bytes;
  }

  void fill(const Input &input) {
    int64_t n = 0;
    forEach([&](int64_t offset) { set(offset, input.values[n++]); });
    original = bytes;
  }
  /// True if nothing changed but, in a result, its elements.
  bool isIntact(bool isResult) const {
    if (!isResult)
      return bytes == original;
    std::vector<unsigned char> copy = bytes;
    int64_t width = attn::byteSize(dtype);
    forEach([&](int64_t offset) { std::memset(copy.data() + (kGuard + offset) * width, 0xff, width); });
    return copy == original;
  }
  bool operator==(const Memory &other) const { return bytes == other.bytes; }
  /// True of integers.
  bool isFinite() const {
    bool all = true;
    forEach([&](int64_t offset) { all &= isFinite(offset); });
    return all;
  }
  attn::MutableTensorView view() { return {bytes.data() + kGuard * attn::byteSize(dtype), dtype, sizes, strides, -1}; }

private:
  /// In elements; 64 bytes at least.
  static constexpr int64_t kGuard = 64;

  template <typename Function> void forEach(Function function) const {
    int64_t count = countElements(sizes);
    std::vector<int64_t> index(sizes.size(), 0);
    for (int64_t n = 0; n < count; ++n) {
      int64_t offset = 0;
      for (size_t d = 0; d < index.size(); ++d)
        offset += index[d] * strides[d];
      function(offset);
      for (size_t d = index.size(); d-- > 0;) {
        if (++index[d] < sizes[d])
          break;
        index[d] = 0;
      }
    }
  }
  template <typename T> void store(int64_t offset, T value) {
    std::memcpy(bytes.data() + (kGuard + offset) * sizeof(T), &value, sizeof(T));
  }
  template <typename T> T load(int64_t offset) const {
    T value;
    std::memcpy(&value, bytes.data() + (kGuard + offset) * sizeof(T), sizeof(T));
    return value;
  }
  bool isFinite(int64_t offset) const;
  void set(int64_t offset, double value);

  attn::DType dtype;
  Sizes sizes, strides;
  std::vector<unsigned char> bytes, original;
};

} // namespace

void Memory::set(int64_t offset, double value) {
  switch (dtype) {
  case attn::DType::F16:
    return store(offset, attn::Float16(static_cast<float>(value)).bits);
  case attn::DType::BF16:
    return store(offset, attn::BFloat16(static_cast<float>(value)).bits);
  case attn::DType::F32:
    return store(offset, static_cast<float>(value));
  case attn::DType::F64:
    return store(offset, value);
  case attn::DType::I32:
    return store(offset, static_cast<int32_t>(value));
  case attn::DType::I64:
    return store(offset, static_cast<int64_t>(value));
  default:
    return store(offset, static_cast<int8_t>(value));
  }
}

bool Memory::isFinite(int64_t offset) const {
  switch (dtype) {
  case attn::DType::F16:
    return (load<uint16_t>(offset) & 0x7c00) != 0x7c00;
  case attn::DType::BF16:
    return (load<uint16_t>(offset) & 0x7f80) != 0x7f80;
  case attn::DType::F32:
    return std::isfinite(load<float>(offset));
  case attn::DType::F64:
    return std::isfinite(load<double>(offset));
  default:
    return true;
  }
}

namespace {
/// The arguments of a graph, and the memory that they lie in.
struct Arguments {
  explicit Arguments(const std::vector<Input> &inputs) {
    for (const Input &input : inputs) {
      memory.push_back(nullptr);
      if (input.isScalar) {
        addScalar(input);
        continue;
      }
      if (input.alias >= 0 && memory[input.alias]) {
        list.push_back(memory[input.alias]->view());
        continue;
      }
      memory.back() = std::make_unique<Memory>(dtypeOf(input.element), input.sizes, input.rowPadding);
      memory.back()->fill(input);
      list.push_back(memory.back()->view());
    }
  }
  bool areIntact() const {
    for (const auto &tensor : memory)
      if (tensor && !tensor->isIntact(/*isResult=*/false))
        return false;
    return true;
  }

  std::vector<std::unique_ptr<Memory>> memory;
  std::vector<attn::Argument> list;

private:
  void addScalar(const Input &input) {
    double value = input.values[0];
    if (isFloat(input.element))
      list.push_back(value);
    else if (input.element == Element::I1)
      list.push_back(value != 0);
    else
      list.push_back(static_cast<int64_t>(value));
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// The sizes of the results, by the types where they tell them and by the reference elsewhere.
static attn::Result<std::vector<Sizes>> findSizes(const attn::Module &module, const Arguments &arguments) {
  auto sizes = module.resultSizes("main", arguments.list);
  if (!sizes)
    return sizes.error();
  bool isKnown = true;
  for (const Sizes &result : *sizes)
    for (int64_t size : result)
      isKnown = isKnown && size != attn::dynamicSize;
  if (isKnown)
    return *sizes;
  auto run = module.evaluate("main", arguments.list);
  if (!run)
    return run.error();
  for (size_t k = 0; k < sizes->size(); ++k)
    (*sizes)[k] = run->results[k].sizes;
  return *sizes;
}

static std::vector<Memory> makeResults(const attn::Module &module, const std::vector<Sizes> &sizes) {
  std::vector<Memory> results;
  std::vector<attn::ValueType> types = module.function("main")->results;
  for (size_t k = 0; k < sizes.size(); ++k)
    results.emplace_back(types[k].dtype, sizes[k], 0);
  return results;
}

/// Runs once; an empty message is success.
static Outcome runOnce(const attn::Kernel &kernel, const Arguments &arguments, std::vector<Memory> &results,
                       const attn::RunOptions &options) {
  std::vector<attn::MutableTensorView> views;
  for (Memory &result : results)
    views.push_back(result.view());
  auto report = kernel.run(arguments.list, views, options);
  if (!report)
    return {Verdict::NotRun, report.error().str()};
  for (size_t k = 0; k < results.size(); ++k)
    if (!results[k].isIntact(/*isResult=*/true))
      return {Verdict::Wrong, "memory around result " + std::to_string(k) + " was written"};
  if (!arguments.areIntact())
    return {Verdict::Wrong, "an argument, or memory around it, was written"};
  return {};
}

/// True where the error may come from roundings to 16 bits inside of a graph. The tolerance is twice the largest error
/// of a reference that rounds once, elsewhere than compiled code: of a few elements behind a few roundings that is one
/// draw, and may be small by chance: four times the tolerance passes.
static bool isWithinRoundings(const std::string &text, const attn::Comparison &comparison, const Memory &result) {
  bool rounds = text.find("f16") != std::string::npos;
  bool isClose = comparison.maxError > comparison.allowed && comparison.maxError <= 4 * comparison.allowed;
  return rounds && isClose && result.isFinite();
}

static Outcome compare(const attn::Module &module, const std::string &text, const Arguments &arguments,
                       std::vector<Memory> &results) {
  std::vector<attn::TensorView> views;
  for (Memory &result : results)
    views.push_back(result.view());
  auto comparisons = module.check("main", arguments.list, views);
  if (!comparisons)
    return {Verdict::NoReference, comparisons.error().str()};
  for (size_t k = 0; k < comparisons->size(); ++k)
    if (!(*comparisons)[k].pass && !isWithinRoundings(text, (*comparisons)[k], results[k]))
      return {Verdict::Wrong, "result " + std::to_string(k) + ": " + (*comparisons)[k].message};
  return {};
}

Outcome graphs::runGraph(const Graph &graph, const std::string &target) {
  auto module = attn::Module::parse(graph.text, "graph.mlir");
  if (!module)
    return {Verdict::Invalid, module.error().str()};
  Arguments arguments(graph.inputs);
  auto kernel = module->compile("main", attn::Target::named(target));
  if (!kernel)
    return {Verdict::NotCompiled, kernel.error().str()};
  auto sizes = findSizes(*module, arguments);
  if (!sizes)
    return {Verdict::NoReference, sizes.error().str()};
  std::vector<Memory> results = makeResults(*module, *sizes), again = results;
  if (Outcome outcome = runOnce(*kernel, arguments, results, attn::RunOptions()); outcome.verdict != Verdict::Pass)
    return outcome;
  attn::RunOptions twoThreads;
  twoThreads.threads(2).leastWork(1);
  if (Outcome outcome = runOnce(*kernel, arguments, again, twoThreads); outcome.verdict != Verdict::Pass)
    return outcome;
  if (Outcome outcome = compare(*module, graph.text, arguments, results); outcome.verdict != Verdict::Pass)
    return outcome;
  for (size_t k = 0; k < results.size(); ++k)
    if (!(results[k] == again[k]))
      return {Verdict::Wrong, "the bits of result " + std::to_string(k) + " depend on the number of threads"};
  return {};
}

attn::Result<std::vector<attn::ReferenceTensor>> graphs::evaluateGraph(const Graph &graph) {
  auto module = attn::Module::parse(graph.text, "graph.mlir");
  if (!module)
    return module.error();
  Arguments arguments(graph.inputs);
  auto run = module->evaluate("main", arguments.list);
  if (!run)
    return run.error();
  return run->results;
}
