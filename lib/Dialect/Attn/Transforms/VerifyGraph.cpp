//===- VerifyGraph.cpp - refuse what no pass could lower ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Valid MLIR that the compiler does not support is refused here, by name and with its place, rather than by whichever
// pass it reaches first. Everything is looked at, so that one run tells all.
//
//===----------------------------------------------------------------------===//

#include "VerifyGraph.h"

#include "attn/Dialect/Attn/IR/ReshapeGroups.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Dialect/Flash/IR/FlashOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"

namespace attn {
#define GEN_PASS_DEF_VERIFYGRAPHPASS
#include "Attn/AttnPasses.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Of dialects that are lowered but for some operations, these.
static bool isException(Operation *op) {
  return isa<arith::ScalingExtFOp, arith::ScalingTruncFOp, affine::AffineDelinearizeIndexOp,
             affine::AffineLinearizeIndexOp, func::ConstantOp, func::CallIndirectOp>(op);
}

static bool isTensor(Type type) { return isa<TensorType>(type); }

/// True if the dialect's operations become linalg on tensors, whether or not they bufferize themselves.
static bool becomesLinalg(Operation *op) {
  return isa<AttnDialect>(op->getDialect()) || isa<linalg::LinalgOp, linalg::YieldOp>(op) ||
         op->hasTrait<OpTrait::Elementwise>();
}

/// True if an operation with tensors among its operands and results gets to memory.
static bool isBufferized(Operation *op) {
  bool hasTensors = llvm::any_of(op->getOperandTypes(), isTensor) || llvm::any_of(op->getResultTypes(), isTensor);
  return !hasTensors || becomesLinalg(op) || isa<bufferization::BufferizableOpInterface>(op);
}

static bool hasLowering(Operation *op) {
  if (isa<linalg::LinalgDialect>(op->getDialect()))
    return isa<linalg::LinalgOp, linalg::IndexOp, linalg::YieldOp>(op);
  return isa<AttnDialect, flash::FlashDialect, affine::AffineDialect, arith::ArithDialect,
             bufferization::BufferizationDialect, cf::ControlFlowDialect, func::FuncDialect, math::MathDialect,
             memref::MemRefDialect, scf::SCFDialect, tensor::TensorDialect, ub::UBDialect, vector::VectorDialect>(
             op->getDialect()) &&
         !isException(op) && isBufferized(op);
}

static LogicalResult verifyLowering(Operation *op) {
  if (op->isRegistered() && hasLowering(op))
    return success();
  return op->emitError("the compiler knows no lowering of '")
         << op->getName() << "'; expected ops of attn, linalg, tensor, arith, math, scf, cf, func or tosa";
}

/// A constant that was printed without its data.
static LogicalResult verifyConstant(arith::ConstantOp constant) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(constant.getValue());
  if (!resource || resource.getRawHandle().getBlob())
    return success();
  return constant->emitError("expects the module to hold the data of resource '")
         << resource.getRawHandle().getKey() << "', but it was left out when the module was printed";
}

static LogicalResult verifyMaps(Operation *op) {
  if (auto loops = dyn_cast<linalg::LinalgOp>(op))
    return verifyLinalgMaps(loops);
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    return verifyDivisors(op, apply.getMap());
  if (auto min = dyn_cast<affine::AffineMinOp>(op))
    return verifyDivisors(op, min.getMap());
  if (auto max = dyn_cast<affine::AffineMaxOp>(op))
    return verifyDivisors(op, max.getMap());
  return success();
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static bool isSupportedScalar(Type type) {
  return type.isIndex() || type.isF16() || type.isBF16() || type.isF32() || type.isF64() ||
         (type.isSignlessInteger() && type.getIntOrFloatBitWidth() <= 64);
}

/// In memory an integer takes a power of two of bits, or is wrong in vectors.
static bool isSupportedElement(Type type) {
  return isSupportedScalar(type) && (type.isIndex() || llvm::isPowerOf2_32(type.getIntOrFloatBitWidth()));
}

/// Types of dialects that are not known count as supported: their operations are reported.
static bool isSupported(Type type) {
  if (isa<OpaqueType>(type))
    return true;
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return isSupportedElement(tensor.getElementType()) && !tensor.getEncoding();
  if (auto memref = dyn_cast<MemRefType>(type))
    return isSupportedElement(memref.getElementType());
  if (auto vector = dyn_cast<VectorType>(type))
    return isSupportedScalar(vector.getElementType());
  return isSupportedScalar(type);
}

/// Error for the first operation that makes a value of an unsupported type, and for arguments of blocks.
static LogicalResult verifyTypes(Operation *op) {
  auto refuse = [&](Type type) {
    return op->emitOpError("has a value of type ")
           << type << ", which the compiler does not support; expected scalars and ranked tensors of f16, bf16, f32, "
           << "f64, index and integers of 1, 2, 4, 8, 16, 32 or 64 bits";
  };
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Type type : block.getArgumentTypes())
        if (!isSupported(type))
          return refuse(type);
  // What goes on from an unsupported value has been reported where that came from.
  if (!llvm::all_of(op->getOperandTypes(), isSupported))
    return success();
  for (Type type : op->getResultTypes())
    if (!isSupported(type))
      return refuse(type);
  return success();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

namespace {

/// Walks the calls of a module, and names what cannot be inlined: cycles, and functions without a body.
class CallVerifier {
public:
  explicit CallVerifier(ModuleOp module) : symbols(module) {}

  LogicalResult verify(func::FuncOp function) {
    if (!seen.insert(function).second)
      return success();
    path.push_back(function);
    bool isValid = true;
    function.walk([&](func::CallOp call) { isValid &= succeeded(verifyCall(call)); });
    path.pop_back();
    return success(isValid);
  }

private:
  LogicalResult verifyCall(func::CallOp call) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    if (!callee || callee.isDeclaration())
      return call.emitOpError("expects a function with a body, but '")
          .append("@", call.getCallee(), "' has none; give its definition");
    auto *caller = llvm::find(path, callee);
    if (caller == path.end())
      return verify(callee);
    InFlightDiagnostic error = call.emitOpError("expects functions that do not call themselves, but got the cycle ");
    for (func::FuncOp function : llvm::make_range(caller, path.end()))
      error << "@" << function.getName() << " -> ";
    return error << "@" << callee.getName() << "; use scf.for or scf.while";
  }

  SymbolTable symbols;
  llvm::DenseSet<Operation *> seen;
  SmallVector<func::FuncOp> path;
};

} // namespace

static LogicalResult verifyLayout(ModuleOp module) {
  llvm::TypeSize bits = DataLayout(module).getTypeSizeInBits(IndexType::get(module.getContext()));
  if (bits == llvm::TypeSize::getFixed(64))
    return success();
  return module.emitOpError("expects index to have 64 bits, but its data layout gives it ") << bits.getFixedValue();
}

/// A symbol that functions refer to, and that is no function.
static LogicalResult verifySymbol(Operation *op) {
  if (!op->hasAttr(SymbolTable::getSymbolAttrName()) || isa<func::FuncOp, ModuleOp>(op))
    return success();
  return verifyLowering(op);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct VerifyGraph : attn::impl::VerifyGraphPassBase<VerifyGraph> {
  void runOnOperation() override {
    isValid = true;
    lacksData = false;
    ModuleOp module = getOperation();
    check(verifyLayout(module));
    check(verifyTopLevel(module));
    CallVerifier calls(module);
    for (Operation &op : *module.getBody()) {
      check(verifySymbol(&op));
      auto function = dyn_cast<func::FuncOp>(op);
      if (!function || function.isDeclaration())
        continue;
      check(calls.verify(function));
      check(verifyTypes(function));
      function.getBody().walk<WalkOrder::PreOrder>([&](Operation *inner) {
        // What is in an unknown operation is its own.
        if (failed(verifyLowering(inner))) {
          isValid = false;
          return WalkResult::skip();
        }
        check(verifyOperation(inner));
        return WalkResult::advance();
      });
    }
    if (!isValid)
      signalPassFailure();
  }

private:
  void check(LogicalResult result) { isValid &= succeeded(result); }

  LogicalResult verifyOperation(Operation *op) {
    if (failed(verifyTypes(op)) || failed(verifyMaps(op)) || failed(verifyNamedDimensions(op)))
      return failure();
    auto constant = dyn_cast<arith::ConstantOp>(op);
    if (!constant || lacksData || succeeded(verifyConstant(constant)))
      return success();
    // The others were left out for the same reason.
    lacksData = true;
    return failure();
  }

  bool isValid = true, lacksData = false;
};

} // namespace
