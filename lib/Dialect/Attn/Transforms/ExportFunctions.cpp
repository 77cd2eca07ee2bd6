//===- ExportFunctions.cpp - the calling convention of kernels ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Per public function: tensor arguments become memrefs with run-time strides, results become out parameters, and the
// sizes of the caller's out buffers are checked. The checks matter more than they look: bufferization lets ops write
// straight into the out buffer, so a size that is wrong must be found before the first of them, not at the return.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Canonicalization/PositiveList.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Dialect/Flash/IR/FlashOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/FormatVariadic.h"

namespace attn {
#define GEN_PASS_DEF_EXPORTFUNCTIONSPASS
#include "Attn/AttnPasses.h.inc"
} // namespace attn

using namespace mlir;

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

static bool isPlainTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && !tensor.getEncoding() && tensor.getElementType().isIntOrIndexOrFloat();
}

static LogicalResult checkSignature(func::FuncOp function) {
  for (auto [number, type] : llvm::enumerate(function.getArgumentTypes()))
    if (!isPlainTensor(type) && !isa<MemRefType>(type) && !type.isIntOrIndexOrFloat())
      return function.emitOpError("to be exported expects ranked tensors, ranked memrefs and scalars as arguments, but "
                                  "argument ")
             << number << " is " << type << "; make the function private if it is a helper";
  for (auto [number, type] : llvm::enumerate(function.getResultTypes()))
    if (!isPlainTensor(type) && !type.isIntOrIndexOrFloat())
      return function.emitOpError("to be exported expects ranked tensors and scalars as results, but result ")
             << number << " is " << type << "; make the function private if it is a helper";
  if (!function.getBody().hasOneBlock())
    return function.emitOpError("with branches between blocks cannot be exported; use scf for control flow");
  return success();
}

/// The buffer that holds a tensor (or, rank 0, a scalar): unit stride in the last dimension, all else at run time.
static MemRefType bufferType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  ArrayRef<int64_t> shape = tensor ? tensor.getShape() : ArrayRef<int64_t>();
  SmallVector<int64_t> strides(shape.size(), ShapedType::kDynamic);
  if (!strides.empty())
    strides.back() = 1;
  auto layout = StridedLayoutAttr::get(type.getContext(), ShapedType::kDynamic, strides);
  return MemRefType::get(shape, tensor ? tensor.getElementType() : type, layout);
}

static void convertArguments(func::FuncOp function, ImplicitLocOpBuilder &b) {
  b.setInsertionPointToStart(&function.getBody().front());
  for (BlockArgument argument : function.getArguments()) {
    auto tensor = dyn_cast<RankedTensorType>(argument.getType());
    if (!tensor)
      continue;
    argument.setType(bufferType(tensor));
    // Inputs may overlap each other. `restrict` is right all the same: without `writable` nothing writes them.
    auto value = bufferization::ToTensorOp::create(b, tensor, argument, /*restrict=*/true, /*writable=*/false);
    argument.replaceAllUsesExcept(value.getResult(), value);
  }
}

//===----------------------------------------------------------------------===//
// Sizes of results
//===----------------------------------------------------------------------===//

/// True if `value` can be computed in front of the function's body without computing a tensor.
static bool isKnownAtEntry(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || isa<bufferization::ToTensorOp>(op))
    return !op || isa<BlockArgument>(op->getOperand(0));
  bool isScalar = llvm::all_of(op->getResultTypes(), [](Type type) { return type.isIntOrIndexOrFloat(); });
  return isScalar && isPure(op) && op->getNumRegions() == 0 && llvm::all_of(op->getOperands(), isKnownAtEntry);
}

namespace {

/// Gathers ops at the front of a block, behind its to_tensor ops.
class EntryMover {
public:
  explicit EntryMover(Block &block) : block(block) {
    for (Operation &op : block) {
      if (!isa<bufferization::ToTensorOp>(op))
        break;
      last = &op;
    }
  }

  /// Moves `op` and, in front of it, what computes its operands.
  void move(Operation *op) {
    if (!op || op == last || (last && op->isBeforeInBlock(last)))
      return;
    for (Value operand : op->getOperands())
      move(operand.getDefiningOp());
    if (last)
      op->moveAfter(last);
    else if (op != &block.front())
      op->moveBefore(&block.front());
    last = op;
  }

private:
  Block &block;
  Operation *last = nullptr;
};

/// A dynamic size of a result beside that of the caller's buffer.
struct SizeCheck {
  unsigned result;
  /// Its first value is the size: a tensor.dim at first, which patterns replace.
  Operation *require;
};

} // namespace

static SizeCheck createSizeCheck(unsigned result, Value value, Value out, int64_t dim, ImplicitLocOpBuilder &b) {
  Value expected = tensor::DimOp::create(b, value, dim), got = memref::DimOp::create(b, out, dim);
  Value equal = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, expected, got);
  std::string message =
      llvm::formatv("result {0} expects a buffer of size {{0} in dimension {1}, but got {{1}", result, dim);
  return {result, attn::flash::RequireOp::create(b, equal, b.getStringAttr(message), ValueRange{expected, got})};
}

/// Rewrites tensor.dim of computed tensors to the sizes of what they are computed from.
static LogicalResult resolveSizes(func::FuncOp function, ArrayRef<SizeCheck> checks) {
  SmallVector<Operation *> dims;
  for (const SizeCheck &check : checks)
    if (auto dim = check.require->getOperand(1).getDefiningOp<tensor::DimOp>())
      dims.push_back(dim);
  RewritePatternSet patterns(function.getContext());
  memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
  tensor::DimOp::getCanonicalizationPatterns(patterns, function.getContext());
  attn::populateListedFolds(patterns);
  return applyOpPatternsGreedily(dims, std::move(patterns),
                                 attn::listedOnly().setStrictness(GreedyRewriteStrictness::ExistingAndNewOps));
}

/// Moves the checks that can be to the front. Returns which results have one that cannot.
static SmallVector<bool> hoistChecks(func::FuncOp function, ArrayRef<SizeCheck> checks, unsigned results) {
  SmallVector<bool> isLate(results, false);
  EntryMover front(function.getBody().front());
  for (const SizeCheck &check : checks) {
    if (llvm::all_of(check.require->getOperands(), isKnownAtEntry))
      front.move(check.require);
    else
      isLate[check.result] = true;
  }
  return isLate;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

static void writeResult(Value value, Value out, bool isLate, ImplicitLocOpBuilder &b) {
  if (!isa<RankedTensorType>(value.getType())) {
    memref::StoreOp::create(b, value, out, ValueRange{});
    return;
  }
  // A copy keeps bufferization from computing the value in the caller's buffer before its size is checked.
  if (isLate)
    value = bufferization::AllocTensorOp::create(b, cast<RankedTensorType>(value.getType()), ValueRange{}, value);
  bufferization::MaterializeInDestinationOp::create(b, Type(), value, out, /*restrict=*/true, /*writable=*/true);
}

/// Adds the out parameters, with the attributes of the results, and sets the function's new type.
static SmallVector<Value> addOutParameters(func::FuncOp function, ImplicitLocOpBuilder &b) {
  Block &block = function.getBody().front();
  SmallVector<DictionaryAttr> attributes;
  for (unsigned k = 0; k < function.getNumArguments(); ++k)
    attributes.push_back(function.getArgAttrDict(k));
  SmallVector<Value> outs;
  for (auto [number, type] : llvm::enumerate(function.getResultTypes())) {
    DictionaryAttr attribute = function.getResultAttrDict(number);
    attributes.push_back(attribute ? attribute : b.getDictionaryAttr({}));
    outs.push_back(block.addArgument(bufferType(type), function.getLoc()));
  }
  for (DictionaryAttr &attribute : attributes)
    if (!attribute)
      attribute = b.getDictionaryAttr({});
  function.removeResAttrsAttr();
  function.setFunctionType(b.getFunctionType(block.getArgumentTypes(), {}));
  function.setAllArgAttrs(attributes);
  function->setAttr(attn::kResultsAttrName, b.getI64IntegerAttr(outs.size()));
  return outs;
}

static LogicalResult exportFunction(func::FuncOp function) {
  ImplicitLocOpBuilder b(function.getLoc(), function.getContext());
  convertArguments(function, b);
  SmallVector<Value> outs = addOutParameters(function, b);
  Operation *terminator = function.getBody().front().getTerminator();
  b.setInsertionPoint(terminator);
  SmallVector<SizeCheck> checks;
  for (auto [number, value, out] : llvm::enumerate(terminator->getOperands(), outs))
    if (auto tensor = dyn_cast<RankedTensorType>(value.getType()))
      for (int64_t dim = 0; dim < tensor.getRank(); ++dim)
        if (tensor.isDynamicDim(dim))
          checks.push_back(createSizeCheck(number, value, out, dim, b));
  if (failed(resolveSizes(function, checks)))
    return failure();
  SmallVector<bool> isLate = hoistChecks(function, checks, outs.size());
  for (auto [value, out, late] : llvm::zip(terminator->getOperands(), outs, isLate))
    writeResult(value, out, late, b);
  func::ReturnOp::create(b);
  terminator->erase();
  return success();
}

/// Calls cannot use the new convention: they go to a private copy of the function as it was.
static LogicalResult redirectCalls(func::FuncOp function, SymbolTable &symbols) {
  Operation *module = function->getParentOp();
  if (SymbolTable::symbolKnownUseEmpty(function, module))
    return success();
  func::FuncOp copy = function.clone();
  copy.setName((function.getName() + "__private").str());
  copy.setPrivate();
  symbols.insert(copy, std::next(function->getIterator()));
  return SymbolTable::replaceAllSymbolUses(function, copy.getNameAttr(), module);
}

namespace {

struct ExportFunctions : attn::impl::ExportFunctionsPassBase<ExportFunctions> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<func::FuncOp> functions;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function.isPublic() && !function.isDeclaration() && !function->hasAttr(attn::kResultsAttrName))
        functions.push_back(function);
    for (func::FuncOp function : functions)
      if (failed(checkSignature(function)) || failed(redirectCalls(function, symbols)))
        return signalPassFailure();
    for (func::FuncOp function : functions)
      if (failed(exportFunction(function)))
        return signalPassFailure();
  }
};

} // namespace
