//===- DropUnneeded.cpp - what no kernel needs goes -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Upstream's symbol-dce keeps every public symbol and gives up where an operation is not registered. Here any attribute
// that names a symbol counts as a use of it, so that what is not known need not be understood.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace attn {
#define GEN_PASS_DEF_DROPUNNEEDEDPASS
#include "Attn/AttnPasses.h.inc"
} // namespace attn

using namespace mlir;

/// The operations at the top level of a module that some of them need, these included.
static llvm::DenseSet<Operation *> findNeeded(ModuleOp module, SmallVector<Operation *> worklist) {
  SymbolTable symbols(module);
  llvm::DenseSet<Operation *> needed(worklist.begin(), worklist.end());
  auto need = [&](SymbolRefAttr symbol) {
    Operation *op = symbols.lookup(symbol.getRootReference());
    if (op && needed.insert(op).second)
      worklist.push_back(op);
  };
  while (!worklist.empty())
    worklist.pop_back_val()->walk([&](Operation *op) { op->getAttrDictionary().walk(need); });
  return needed;
}

/// What a module without a chosen function is compiled for: public functions, of other dialects too, modules, and what
/// has no name by which it could be asked for.
static bool isWanted(Operation *op) {
  if (auto function = dyn_cast<FunctionOpInterface>(op))
    return function.isPublic() && !function.isDeclaration();
  return op->hasTrait<OpTrait::SymbolTable>() || !op->hasAttr(SymbolTable::getSymbolAttrName());
}

OwningOpRef<ModuleOp> attn::cloneNeeded(ModuleOp module, func::FuncOp function) {
  OwningOpRef<ModuleOp> part(cast<ModuleOp>(module->cloneWithoutRegions()));
  Block &block = part->getBodyRegion().emplaceBlock();
  llvm::DenseSet<Operation *> needed = findNeeded(module, {function});
  for (Operation &op : *module.getBody())
    if (needed.contains(&op))
      block.push_back(op.clone());
  return part;
}

LogicalResult attn::verifyTopLevel(ModuleOp module) {
  bool isValid = true;
  for (Operation &op : *module.getBody()) {
    if (isa<func::FuncOp>(op) || !isWanted(&op))
      continue;
    isValid = false;
    if (isa<ModuleOp>(op))
      op.emitError("a module in a module is not compiled; move what it holds to the outer one");
    else
      op.emitError("expects functions and symbols at the top level of a module, but got '") << op.getName() << "'";
  }
  return success(isValid);
}

namespace {

struct DropUnneeded : attn::impl::DropUnneededPassBase<DropUnneeded> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Operation *> wanted;
    for (Operation &op : *getOperation().getBody())
      if (function.empty() ? isWanted(&op) : isChosen(&op))
        wanted.push_back(&op);
    if (wanted.empty() && !getOperation().getBody()->empty()) {
      if (function.empty())
        getOperation().emitError("the module has no public function with a body; make what is to be called public");
      else
        getOperation().emitError("the module has no function @") << function;
      return signalPassFailure();
    }
    llvm::DenseSet<Operation *> needed = findNeeded(getOperation(), wanted);
    for (Operation &op : llvm::make_early_inc_range(*getOperation().getBody())) {
      if (!needed.contains(&op))
        op.erase();
      else if (auto other = dyn_cast<func::FuncOp>(op); other && !function.empty())
        other.setVisibility(isChosen(&op) ? SymbolTable::Visibility::Public : SymbolTable::Visibility::Private);
    }
  }

private:
  bool isChosen(Operation *op) {
    auto candidate = dyn_cast<func::FuncOp>(op);
    return candidate && candidate.getName() == function;
  }
};

} // namespace
