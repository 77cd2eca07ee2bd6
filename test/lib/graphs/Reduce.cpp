//===- Reduce.cpp - makes a graph that fails small -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Greedy: each step edits a copy, and stays where the copy fails in the same way. Ops in the body of @main become
// arguments that hold what the reference computed, in chunks that halve; then results, operands, helpers and sizes.
//
//===----------------------------------------------------------------------===//

#include "Reduce.h"
#include "attn/CodeGen/Compile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <cmath>
#include <set>

using namespace mlir;
using namespace graphs;

//===----------------------------------------------------------------------===//
// A graph as IR
//===----------------------------------------------------------------------===//

namespace {

/// A module and the inputs of its @main.
struct State {
  OwningOpRef<ModuleOp> module;
  std::vector<Input> inputs;

  State clone() const { return {OwningOpRef<ModuleOp>(cast<ModuleOp>(module.get()->clone())), inputs}; }
  func::FuncOp main() const { return module.get().lookupSymbol<func::FuncOp>("main"); }
  Block &body() const { return main().getBody().front(); }
  Graph print() const {
    Graph graph;
    llvm::raw_string_ostream stream(graph.text);
    module.get().print(stream);
    graph.text += "\n";
    graph.inputs = inputs;
    return graph;
  }
};

class Reducer {
public:
  Reducer(const Graph &graph, std::string target, Verdict verdict, unsigned seconds);

  Graph run();

private:
  /// Takes the copy if it fails in the same way.
  bool tryState(State state);
  bool dropResults();
  bool inlineCalls();
  bool dropAliases();
  bool cutChunks();
  bool cutChunk(size_t first, size_t count);
  bool forwardOperands();
  /// Replaces one size, wherever a type or a constant has it, by 1 or by its half.
  bool shrinkSizes();
  bool shrinkSize(int64_t size, int64_t by);
  /// What the reference makes of every result of an op in the body of @main, in order.
  bool evaluateBody();

  const Graph original;
  std::string target;
  Verdict verdict;
  unsigned seconds;
  std::string reason;
  MLIRContext context;
  State best;
  std::vector<attn::ReferenceTensor> values;
};

} // namespace

static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  attn::registerCompiler(registry);
  return registry;
}

/// Without numbers, which name places and values.
static std::string reasonOf(const Outcome &outcome) {
  if (outcome.verdict == Verdict::Wrong)
    return "";
  std::string text;
  for (char c : outcome.message.substr(0, outcome.message.find('\n')))
    if (!llvm::isDigit(c))
      text += c;
  return text;
}

Reducer::Reducer(const Graph &graph, std::string target, Verdict verdict, unsigned seconds)
    : original(graph), target(std::move(target)), verdict(verdict), seconds(seconds),
      context(makeRegistry(), MLIRContext::Threading::DISABLED) {
  context.allowUnregisteredDialects();
}

/// Removes ops, and then arguments, that nothing uses.
static void clean(State &state) {
  bool changed = true;
  while (changed) {
    changed = false;
    state.main().walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
      if (op->use_empty() && isOpTriviallyDead(op) && !op->hasTrait<OpTrait::IsTerminator>()) {
        op->erase();
        changed = true;
      }
    });
  }
  Block &body = state.body();
  for (unsigned k = body.getNumArguments(); k-- > 0;) {
    if (!body.getArgument(k).use_empty())
      continue;
    body.eraseArgument(k);
    for (Input &input : state.inputs)
      if (input.alias == static_cast<int>(k))
        input.alias = -1;
      else if (input.alias > static_cast<int>(k))
        --input.alias;
    state.inputs.erase(state.inputs.begin() + k);
  }
  func::FuncOp main = state.main();
  main.setType(FunctionType::get(main.getContext(), body.getArgumentTypes(), main.getFunctionType().getResults()));
}

static void setResults(State &state, ArrayRef<Value> results) {
  Operation *terminator = state.body().getTerminator();
  terminator->setOperands(results);
  func::FuncOp main = state.main();
  main.setType(FunctionType::get(main.getContext(), main.getArgumentTypes(), TypeRange(ValueRange(results))));
}

bool Reducer::tryState(State state) {
  clean(state);
  Graph graph = state.print();
  Outcome outcome = runApart(graph, target, seconds);
  if (outcome.verdict != verdict || reasonOf(outcome) != reason)
    return false;
  best = std::move(state);
  return true;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

bool Reducer::dropResults() {
  unsigned count = best.main().getNumResults();
  for (unsigned k = 0; count > 1 && k < count; ++k) {
    State copy = best.clone();
    setResults(copy, {copy.body().getTerminator()->getOperand(k)});
    if (tryState(std::move(copy)))
      return true;
  }
  return false;
}

bool Reducer::inlineCalls() {
  if (best.body().getOps<func::CallOp>().empty())
    return false;
  State copy = best.clone();
  PassManager passes(&context);
  passes.addPass(createInlinerPass({}, [](OpPassManager &) {}));
  passes.addPass(createSymbolDCEPass());
  return succeeded(passes.run(*copy.module)) && tryState(std::move(copy));
}

bool Reducer::dropAliases() {
  State copy = best.clone();
  bool changed = false;
  for (Input &input : copy.inputs) {
    changed = changed || input.alias >= 0 || input.rowPadding > 0;
    input.alias = -1, input.rowPadding = 0;
  }
  return changed && tryState(std::move(copy));
}

bool Reducer::evaluateBody() {
  State probe = best.clone();
  SmallVector<Value> all;
  for (Operation &op : probe.body().without_terminator())
    llvm::append_range(all, op.getResults());
  setResults(probe, all);
  auto results = evaluateGraph(probe.print());
  if (results)
    values = *results;
  return results.ok();
}

static Element elementOf(Type type) {
  type = getElementTypeOrSelf(type);
  if (type.isIndex())
    return Element::Index;
  for (Element element : {Element::F16, Element::BF16, Element::F32, Element::F64, Element::I1, Element::I8,
                          Element::I32, Element::I64}) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    if (text == toString(element))
      return element;
  }
  return Element::I32;
}

static Input inputFrom(Type type, const attn::ReferenceTensor &tensor) {
  Input input;
  input.element = elementOf(type);
  input.isScalar = !isa<ShapedType>(type);
  input.sizes = tensor.sizes;
  input.values = tensor.reals;
  for (int64_t value : tensor.integers)
    input.values.push_back(static_cast<double>(value));
  return input;
}

bool Reducer::cutChunk(size_t first, size_t count) {
  State copy = best.clone();
  llvm::SmallPtrSet<Operation *, 16> chunk;
  size_t number = 0, value = 0, changed = 0;
  std::vector<std::pair<Value, size_t>> wanted;
  for (Operation &op : copy.body().without_terminator()) {
    bool isIn = number >= first && number < first + count && !op.hasTrait<OpTrait::ConstantLike>();
    ++number;
    if (isIn)
      chunk.insert(&op);
    for (Value result : op.getResults()) {
      if (isIn)
        wanted.push_back({result, value});
      ++value;
    }
  }
  for (auto [result, position] : wanted) {
    // An op that nothing replaces is used by the next one of the chunk alone.
    bool isRead = llvm::any_of(
        result.getUsers(), [&](Operation *user) { return !chunk.contains(copy.body().findAncestorOpInBlock(*user)); });
    if (!isRead)
      continue;
    copy.inputs.push_back(inputFrom(result.getType(), values[position]));
    result.replaceAllUsesWith(copy.body().addArgument(result.getType(), result.getLoc()));
    ++changed;
  }
  return changed > 0 && tryState(std::move(copy));
}

bool Reducer::cutChunks() {
  bool changed = false;
  size_t size = std::max<size_t>(1, best.body().getOperations().size() / 2);
  while (true) {
    bool isCut = false;
    for (size_t first = 0; first + 1 < best.body().getOperations().size();) {
      if (!evaluateBody())
        return changed;
      if (cutChunk(first, size))
        isCut = changed = true;
      else
        first += size;
      if (isCut && size == 1)
        ++first;
    }
    if (size == 1)
      return changed;
    size = size / 2;
  }
}

/// The op in the same place of a clone.
static Operation *findSame(State &state, unsigned number) {
  Operation *found = nullptr;
  unsigned next = 0;
  state.module.get().walk([&](Operation *op) {
    if (next++ == number)
      found = op;
  });
  return found;
}

/// Whether an operand may stand for the op's result: not what nobody has written, and no op where elements are
/// reduced, which would make the result one of several.
static bool canForward(Operation *op, Value operand) {
  if (operand.getDefiningOp<tensor::EmptyOp>())
    return false;
  auto structured = dyn_cast_or_null<linalg::LinalgOp>(op->getParentOp());
  if (!structured)
    return true;
  auto argument = dyn_cast<BlockArgument>(operand);
  bool isOut = argument && argument.getOwner()->getParentOp() == structured &&
               argument.getArgNumber() >= static_cast<unsigned>(structured.getNumDpsInputs());
  return !isOut && structured.getNumReductionLoops() == 0;
}

bool Reducer::forwardOperands() {
  bool changed = false;
  for (unsigned number = 0;; ++number) {
    Operation *op = findSame(best, number);
    if (!op)
      return changed;
    if (op->getNumResults() != 1 || op->hasTrait<OpTrait::ConstantLike>())
      continue;
    for (unsigned k = 0; k < op->getNumOperands(); ++k) {
      if (op->getOperand(k).getType() != op->getResult(0).getType() || !canForward(op, op->getOperand(k)))
        continue;
      State copy = best.clone();
      Operation *same = findSame(copy, number);
      same->getResult(0).replaceAllUsesWith(same->getOperand(k));
      if (tryState(std::move(copy))) {
        changed = true;
        --number;
        break;
      }
    }
  }
}

/// Everywhere at once, so that sizes that are the same stay so; what does not fit is no graph, and is not taken.
static std::string replaceSize(llvm::StringRef text, int64_t size, int64_t by) {
  std::string from = std::to_string(size), changed;
  for (size_t at = 0; at < text.size();) {
    bool begins = at == 0 || !(llvm::isAlnum(text[at - 1]) || llvm::StringRef("_.%#").contains(text[at - 1]));
    bool isSize = begins || (text[at - 1] == 'x' && at > 1 && (llvm::isDigit(text[at - 2]) || text[at - 2] == '?'));
    llvm::StringRef rest = text.substr(at);
    char behind = rest.size() > from.size() ? rest[from.size()] : ' ';
    if (isSize && rest.starts_with(from) && !llvm::isDigit(behind) && behind != '.') {
      changed += std::to_string(by);
      at += from.size();
    } else {
      changed += text[at++];
    }
  }
  return changed;
}

/// Keeps the elements that are inside of the smaller sizes.
static void cutInput(Input &input, const Sizes &sizes) {
  std::vector<double> kept;
  for (int64_t k = 0; k < countElements(input.sizes); ++k) {
    bool isInside = true;
    for (int64_t dim = static_cast<int64_t>(sizes.size()) - 1, rest = k; dim >= 0; rest /= input.sizes[dim--])
      isInside = isInside && rest % input.sizes[dim] < sizes[dim];
    if (isInside)
      kept.push_back(input.values[k]);
  }
  input.values = kept, input.sizes = sizes;
}

bool Reducer::shrinkSize(int64_t size, int64_t by) {
  State copy;
  copy.module = parseSourceString<ModuleOp>(replaceSize(best.print().text, size, by), ParserConfig(&context));
  if (!copy.module)
    return false;
  copy.inputs = best.inputs;
  for (Input &input : copy.inputs) {
    Sizes sizes = input.sizes;
    std::replace(sizes.begin(), sizes.end(), size, by);
    if (sizes != input.sizes)
      cutInput(input, sizes);
    if (input.isScalar && input.element == Element::Index && input.values[0] == static_cast<double>(size))
      input.values[0] = static_cast<double>(by);
  }
  return tryState(std::move(copy));
}

bool Reducer::shrinkSizes() {
  std::set<int64_t> sizes;
  for (const Input &input : best.inputs)
    sizes.insert(input.sizes.begin(), input.sizes.end());
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
  bool changed = false;
  for (int64_t size : llvm::reverse(sizes))
    changed |= size > 1 && (shrinkSize(size, 1) || (size > 3 && shrinkSize(size, size / 2)));
  return changed;
}

Graph Reducer::run() {
  best.module = parseSourceString<ModuleOp>(original.text, ParserConfig(&context));
  best.inputs = original.inputs;
  if (!best.module)
    return original;
  Outcome outcome = runApart(original, target, seconds);
  reason = reasonOf(outcome);
  if (!tryState(best.clone()))
    return original;
  for (bool changed = true; changed;) {
    changed = dropResults();
    changed = inlineCalls() || changed;
    changed = dropAliases() || changed;
    changed = cutChunks() || changed;
    changed = forwardOperands() || changed;
    changed = shrinkSizes() || changed;
  }
  return best.print();
}

Graph graphs::reduceGraph(const Graph &graph, const std::string &target, Verdict verdict, unsigned seconds) {
  return Reducer(graph, target, verdict, seconds).run();
}

//===----------------------------------------------------------------------===//
// Inputs as options of attn-run
//===----------------------------------------------------------------------===//

std::string graphs::describeInputs(const Graph &graph) {
  std::string text = "// attn-run graph.mlir --function=main --check";
  for (size_t k = 0; k < graph.inputs.size(); ++k) {
    const Input &input = graph.inputs[k];
    std::string number = std::to_string(k), list;
    llvm::raw_string_ostream stream(list);
    for (double value : input.values)
      stream << ":" << llvm::format("%.9g", value);
    if (input.isScalar) {
      text += " --scalar=" + number + list;
      continue;
    }
    std::vector<std::string> sizes;
    for (int64_t size : input.sizes)
      sizes.push_back(std::to_string(size));
    text += " --shape=" + number + ":" + llvm::join(sizes, "x");
    // Long lists of floats are as good random.
    if (!input.values.empty() && (!isFloat(input.element) || input.values.size() <= 40))
      text += " --fill=" + number + ":list" + list;
    if (input.alias >= 0)
      text += " (the memory of " + std::to_string(input.alias) + ")";
    if (input.rowPadding)
      text += " (rows " + std::to_string(input.rowPadding) + " apart)";
  }
  return text + "\n";
}
