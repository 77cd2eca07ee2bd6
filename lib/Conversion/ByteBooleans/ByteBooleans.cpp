//===- ByteBooleans.cpp - booleans in memory ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ByteBooleans.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;

static bool isBoolean(Type type) { return type.isInteger(1); }

static bool isBooleanVector(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && isBoolean(vector.getElementType());
}

/// The type with bytes in place of booleans.
static Type bytesFor(Type type) {
  Type byte = IntegerType::get(type.getContext(), 8);
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(vector.clone(byte)) : byte;
}

/// Zeros and ones.
static Value toBytes(ImplicitLocOpBuilder &b, Value boolean) {
  return LLVM::ZExtOp::create(b, bytesFor(boolean.getType()), boolean);
}

/// Reads bytes where `op` read booleans, and compares them with 0.
static void readBytes(Operation *op) {
  Value boolean = op->getResult(0);
  Type bytes = bytesFor(boolean.getType());
  ImplicitLocOpBuilder b(op->getLoc(), op->getContext());
  b.setInsertionPointAfter(op);
  Value zero = LLVM::ZeroOp::create(b, bytes);
  Value isTrue = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, boolean, zero);
  boolean.replaceAllUsesExcept(isTrue, isTrue.getDefiningOp());
  boolean.setType(bytes);
}

/// Writes operand `number` of `op`, booleans, as bytes.
static void writeBytes(Operation *op, unsigned number) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  op->setOperand(number, toBytes(b, op->getOperand(number)));
}

static bool isOnStack(Value address) {
  while (auto step = address.getDefiningOp<LLVM::GEPOp>())
    address = step.getBase();
  return address.getDefiningOp<LLVM::AllocaOp>() != nullptr;
}

static void readGathered(LLVM::masked_gather gather) {
  for (unsigned number = 2; number < gather->getNumOperands(); ++number)
    writeBytes(gather, number);
  readBytes(gather);
}

/// Where a vector of booleans is moved as it is, or null.
static Value addressOfBits(Operation *op) {
  if (auto load = dyn_cast<LLVM::LoadOp>(op); load && isBooleanVector(load.getType()))
    return load.getAddr();
  if (auto store = dyn_cast<LLVM::StoreOp>(op); store && isBooleanVector(store.getValue().getType()))
    return store.getAddr();
  if (auto load = dyn_cast<LLVM::MaskedLoadOp>(op); load && isBooleanVector(load.getType()))
    return load.getData();
  if (auto store = dyn_cast<LLVM::MaskedStoreOp>(op); store && isBooleanVector(store.getValue().getType()))
    return store.getData();
  return {};
}

LogicalResult attn::storeBooleansAsBytes(Operation *root) {
  auto walked = root->walk([](Operation *op) {
    if (auto load = dyn_cast<LLVM::LoadOp>(op); load && isBoolean(load.getType()))
      readBytes(load);
    else if (auto store = dyn_cast<LLVM::StoreOp>(op); store && isBoolean(store.getValue().getType()))
      writeBytes(store, 0);
    else if (auto gather = dyn_cast<LLVM::masked_gather>(op); gather && isBooleanVector(gather.getType()))
      readGathered(gather);
    else if (auto scatter = dyn_cast<LLVM::masked_scatter>(op);
             scatter && isBooleanVector(scatter.getValue().getType()))
      writeBytes(scatter, 0);
    else if (Value address = addressOfBits(op); address && !isOnStack(address)) {
      op->emitOpError("expects booleans to be read and written one by one, as bytes, but moves a vector of their bits");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}
