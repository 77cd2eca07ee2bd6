//===- VerifyFusion.cpp - a fusion against its graph ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two questions. Is this graph what the op computes: both are cut out of the function at what the match reads, and
// evaluated on the same data. And is the match an attention whatever the sizes: equal sizes, as models have them, hide
// swapped axes, so what was matched is written out again with other sizes.
//
// Cost: up to six evaluations of 1e8 scalar operations; milliseconds at small sizes.
//
//===----------------------------------------------------------------------===//

#include "VerifyFusion.h"
#include "CanonicalForm.h"
#include "CompareSides.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"
#include <numeric>

using namespace mlir;
using namespace attn;
using namespace attn::fusion;

namespace {

/// Which sizes the free axes get.
enum class Sizes { Equal, Different, One };

/// Chooses sizes that nothing fixes.
class SizeSource {
public:
  explicit SizeSource(Sizes kind) : kind(kind) {}
  int64_t next() {
    static constexpr int64_t different[] = {3, 5, 2, 7, 4, 6, 9, 8};
    if (kind == Sizes::Different)
      return different[count++ % std::size(different)];
    return kind == Sizes::Equal ? 4 : 1;
  }

private:
  Sizes kind;
  unsigned count = 0;
};

/// Gives the sizes that only the run knows small values, so that sizes that are one expression are equal.
class SizeChoice {
public:
  SizeChoice(Elements &elements, const AttentionMatch &match, Sizes kind);

  int64_t valueOf(ExprRef size);
  /// Of a scalar that sizes were computed from.
  std::optional<int64_t> find(Value scalar);
  /// False where the kind of sizes made no difference.
  bool isAnyChosen() const { return !chosen.empty(); }

private:
  Elements &elements;
  SizeSource source;
  llvm::DenseMap<ExprRef, ExprRef> chosen;
  /// What each unknown must be a multiple of.
  llvm::DenseMap<ExprRef, int64_t> multiples;
};

class Verifier {
public:
  Verifier(Elements &elements, const AttentionMatch &match, const BuiltAttention &built, BuildFunction build)
      : elements(elements), match(match), built(built), build(build), module(ModuleOp::create(match.root->getLoc())) {}

  LogicalResult run();

private:
  LogicalResult verifyGraph();
  LogicalResult verifyCanonicalForm();
  LogicalResult judge(const Verdict &verdict, StringRef what);
  void remark(const Twine &text);
  SmallVector<InputData> chooseInputs(const OutlinedSides &sides, SizeChoice &choice);

  Elements &elements;
  const AttentionMatch &match;
  const BuiltAttention &built;
  BuildFunction build;
  OwningOpRef<ModuleOp> module;
};

} // namespace

//===----------------------------------------------------------------------===//
// Sizes and data
//===----------------------------------------------------------------------===//

static bool isUnknown(ExprRef e) {
  return e->is(Expr::Kind::Size) || e->is(Expr::Kind::Outside) || e->is(Expr::Kind::Element);
}

SizeChoice::SizeChoice(Elements &elements, const AttentionMatch &match, Sizes kind) : elements(elements), source(kind) {
  auto require = [&](ExprRef size, int64_t divisor) {
    walk(size, [&](ExprRef part) {
      if (isUnknown(part)) {
        int64_t &multiple = multiples.try_emplace(part, 1).first->second;
        multiple = std::lcm(multiple, divisor);
      }
    });
  };
  for (ExprRef atom : getAtoms(match))
    if (atom->is(Expr::Kind::Dim) && !atom->extent.isStatic())
      require(elements.readSize(atom->extent.tensor, atom->extent.position), atom->extent.divisor);
}

int64_t SizeChoice::valueOf(ExprRef size) {
  walk(size, [&](ExprRef part) {
    if (isUnknown(part) && !chosen.contains(part))
      chosen[part] = elements.expressions.integer(source.next() * std::max<int64_t>(1, multiples.lookup(part)));
  });
  ExprRef value = elements.expressions.substitute(size, chosen);
  if (std::optional<int64_t> known = value->getInteger())
    return *known;
  return source.next();
}

std::optional<int64_t> SizeChoice::find(Value scalar) {
  if (!isa<IndexType, IntegerType>(scalar.getType()))
    return std::nullopt;
  ExprRef value = chosen.lookup(elements.expressions.outside(scalar));
  return value ? value->getInteger() : std::nullopt;
}

/// Integers that are indices stay below the size of what they index; those that an index is computed from are 0.
static void limitIndices(ArrayRef<ExprRef> read, const llvm::MapVector<Value, unsigned> &places,
                         MutableArrayRef<InputData> inputs) {
  auto sizeOf = [&](Value tensor, unsigned dim) {
    auto place = places.find(tensor);
    return place != places.end() ? inputs[place->second].shape[dim]
                                 : cast<ShapedType>(tensor.getType()).getDimSize(dim);
  };
  llvm::DenseSet<unsigned> limited;
  for (ExprRef root : read)
    walk(root, [&](ExprRef e) {
      if (!e->is(Expr::Kind::Element))
        return;
      for (unsigned dim = 0; dim < e->operands.size(); ++dim) {
        ExprRef index = e->operands[dim];
        walk(index, [&](ExprRef part) {
          bool isRead = part->is(Expr::Kind::Element) || (part->is(Expr::Kind::Outside) && part->value);
          auto place = isRead ? places.find(part->value) : places.end();
          if (place == places.end())
            return;
          InputData &input = inputs[place->second];
          int64_t limit = index->is(Expr::Kind::Linear) ? 1 : sizeOf(e->value, dim);
          input.limit = limited.insert(place->second).second ? limit : std::min(input.limit, limit);
        });
      }
    });
}

static llvm::MapVector<Value, unsigned> placesOf(ArrayRef<Value> inputs) {
  llvm::MapVector<Value, unsigned> places;
  for (auto [k, input] : llvm::enumerate(inputs))
    places[input] = k;
  return places;
}

/// What the match reads by elements, operands included.
static SmallVector<ExprRef> getReads(Elements &elements, const AttentionMatch &match) {
  SmallVector<ExprRef> reads = getExpressions(match);
  for (const Operand *operand : {&match.query, &match.key, &match.value})
    reads.push_back(elements.expressions.element(operand->tensor, operand->indices));
  return reads;
}

SmallVector<InputData> Verifier::chooseInputs(const OutlinedSides &sides, SizeChoice &choice) {
  SmallVector<InputData> inputs(sides.inputs.size());
  for (auto [value, input] : llvm::zip_equal(sides.inputs, inputs))
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      for (int64_t dim = 0; dim < type.getRank(); ++dim)
        input.shape.push_back(choice.valueOf(elements.readSize(value, dim)));
  for (auto [value, input] : llvm::zip_equal(sides.inputs, inputs))
    input.value = choice.find(value);
  limitIndices(getReads(elements, match), placesOf(sides.inputs), inputs);
  return inputs;
}

//===----------------------------------------------------------------------===//
// The comparisons
//===----------------------------------------------------------------------===//

void Verifier::remark(const Twine &text) {
  remark::analysis(match.root->getLoc(), remark::RemarkOpts::name("attn-fuse").category("attn")) << text.str();
}

LogicalResult Verifier::judge(const Verdict &verdict, StringRef what) {
  if (verdict.kind == Verdict::Different)
    return match.root->emitOpError("expects the attention that replaces it to compute the same, but ")
           << verdict.text << " (" << what << ")";
  if (verdict.kind == Verdict::Unknown)
    remark("fusion not verified " + what + ": " + verdict.text);
  return success();
}

/// Where both sides are the same formula.
static constexpr double kTolerance = 1e-9;

/// Fusion folds constants, and rounds them to the score type: products of scales, a factor of log2 e times ln 2.
static double toleranceOfGraph(const AttentionMatch &match) { return match.scoreType.isF64() ? kTolerance : 1e-5; }

static StringRef nameOf(Sizes kind) {
  switch (kind) {
  case Sizes::Equal:
    return "equal sizes";
  case Sizes::Different:
    return "different sizes";
  case Sizes::One:
    return "sizes of 1";
  }
  llvm_unreachable("all kinds are handled");
}

LogicalResult Verifier::verifyGraph() {
  SetVector<Value> leaves;
  for (const Operand *operand : {&match.query, &match.key, &match.value})
    leaves.insert(operand->repeated ? operand->repeated : operand->tensor);
  SetVector<Value> operands = leaves;
  for (ExprRef read : getReads(elements, match))
    walk(read, [&](ExprRef e) {
      // What is computed from an operand is computed from it here, too.
      if (e->value && !e->is(Expr::Kind::Size) && !dependsOn(e->value, operands))
        leaves.insert(e->value);
    });
  SmallVector<Value> before = {match.root->getResult(0)}, after = {built.out};
  if (built.weights) {
    before.push_back(match.weights->tensor);
    after.push_back(built.weights);
  }
  OutlinedSides sides = outlineSides(*module, before, after, leaves);
  for (Sizes kind : {Sizes::Different, Sizes::Equal, Sizes::One}) {
    SizeChoice choice(elements, match, kind);
    SmallVector<InputData> inputs = chooseInputs(sides, choice);
    std::string what = "at the graph's sizes";
    if (choice.isAnyChosen())
      what += llvm::formatv(", dynamic ones with {0}", nameOf(kind));
    if (failed(judge(compareSides(sides, inputs, toleranceOfGraph(match)), what)))
      return failure();
    if (!choice.isAnyChosen())
      break;
  }
  return success();
}

LogicalResult Verifier::verifyCanonicalForm() {
  llvm::MapVector<ExprRef, KeptSize> kept = findKeptSizes(elements.expressions, match);
  SmallVector<std::string> notes;
  for (auto &[atom, size] : kept)
    notes.push_back(llvm::formatv("{0} ({1})", size.size, size.reason));
  if (!notes.empty())
    remark("sizes kept in the canonical form: " + llvm::join(notes, ", "));
  for (Sizes kind : {Sizes::Equal, Sizes::Different, Sizes::One}) {
    SizeSource source(kind);
    llvm::DenseMap<ExprRef, int64_t> sizes;
    for (ExprRef atom : getAtoms(match)) {
      auto known = kept.find(atom);
      sizes[atom] = known == kept.end() ? source.next() : known->second.size;
    }
    CanonicalForm form = buildCanonicalForm(*module, elements, match, sizes, build);
    auto arguments = llvm::map_to_vector(form.function.getArguments(), [](Value value) { return value; });
    OutlinedSides sides =
        outlineSides(*module, form.before, form.after, SetVector<Value>(arguments.begin(), arguments.end()));
    SmallVector<InputData> inputs(sides.inputs.size());
    for (auto [value, input] : llvm::zip_equal(sides.inputs, inputs))
      if (auto type = dyn_cast<RankedTensorType>(value.getType()))
        llvm::append_range(input.shape, type.getShape());
    limitIndices(getReads(elements, form.match), placesOf(sides.inputs), inputs);
    std::string what = llvm::formatv("in the canonical form with {0}", nameOf(kind));
    if (failed(judge(compareSides(sides, inputs, kTolerance), what)))
      return failure();
  }
  return success();
}

LogicalResult Verifier::run() { return success(succeeded(verifyGraph()) && succeeded(verifyCanonicalForm())); }

LogicalResult fusion::verifyFusion(Elements &elements, const AttentionMatch &match, const BuiltAttention &built,
                                   BuildFunction build) {
  return Verifier(elements, match, built, build).run();
}
