//===- BoundsChecks.cpp - code that checks its accesses of memory --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runtime marks addresses (runtime/lib/Bounds.cpp), and takes the mark off in front of the access.
//
//===----------------------------------------------------------------------===//

#include "attn/CodeGen/BoundsChecks.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace {

/// Memory that an instruction touches, by one of its operands.
struct Access {
  Instruction *instruction;
  /// A pointer, or a vector of pointers to elements of `type`.
  unsigned operand;
  bool isWrite;
  /// What is read or written; null: `length` bytes.
  Type *type = nullptr;
  Value *length = nullptr;
  /// Of vectors: the lanes that are touched; null: all bytes.
  Value *mask = nullptr;

  Value *pointer() const { return instruction->getOperand(operand); }
};

/// Memory whose extent the code itself knows: a variable, a constant, an argument's bytes.
struct Object {
  Value *base;
  Value *bytes;
};

class BoundsChecks {
public:
  explicit BoundsChecks(Module &module);

  /// Finds the accesses of an instruction.
  Error find(Instruction &instruction);
  void insert();

private:
  Error findCall(CallBase &call);
  void findCopy(MemIntrinsic &copy);
  bool isProved(const Access &access) const;
  std::optional<Object> objectOf(Value *pointer);
  void insert(const Access &access);
  Value *check(const Access &access, Value *pointer, Value *bytes);
  Value *checkLanes(const Access &access);
  Value *checkGathered(const Access &access);
  Value *placeOf(const Instruction &instruction);
  FunctionCallee declare(StringRef name, Type *second);

  Module &module;
  const DataLayout &layout;
  IRBuilder<> b;
  FunctionCallee checkAccessFunction, checkLanesFunction;
  StringMap<Constant *> places;
  std::vector<Access> accesses;
};

} // namespace

/// ptr name(ptr address, i64 bytes[, i64 lanes], ptr object, i64 objectBytes, i32 isWrite, ptr place)
FunctionCallee BoundsChecks::declare(StringRef name, Type *lanes) {
  SmallVector<Type *> types = {b.getPtrTy(), b.getInt64Ty()};
  if (lanes)
    types.push_back(lanes);
  types.append({b.getPtrTy(), b.getInt64Ty(), b.getInt32Ty(), b.getPtrTy()});
  return module.getOrInsertFunction(name, FunctionType::get(b.getPtrTy(), types, /*isVarArg=*/false));
}

BoundsChecks::BoundsChecks(Module &module)
    : module(module), layout(module.getDataLayout()), b(module.getContext()),
      checkAccessFunction(declare("attn_rt_check_access", nullptr)),
      checkLanesFunction(declare("attn_rt_check_lanes", b.getInt64Ty())) {}

//===----------------------------------------------------------------------===//
// Finding
//===----------------------------------------------------------------------===//

void BoundsChecks::findCopy(MemIntrinsic &copy) {
  accesses.push_back({&copy, 0, /*isWrite=*/true, nullptr, copy.getLength()});
  if (isa<MemTransferInst>(copy))
    accesses.push_back({&copy, 1, /*isWrite=*/false, nullptr, copy.getLength()});
}

static Error makeError(const Instruction &instruction) {
  std::string text;
  raw_string_ostream stream(text);
  stream << "the checks of bounds do not know how this touches memory:" << instruction;
  return createStringError(inconvertibleErrorCode(), text);
}

/// Calls of the runtime and of the module's own functions check for themselves.
Error BoundsChecks::findCall(CallBase &call) {
  if (auto *copy = dyn_cast<MemIntrinsic>(&call))
    return findCopy(*copy), Error::success();
  switch (call.getIntrinsicID()) {
  case Intrinsic::masked_load:
    accesses.push_back({&call, 0, /*isWrite=*/false, call.getType(), nullptr, call.getArgOperand(1)});
    return Error::success();
  case Intrinsic::masked_store:
    accesses.push_back({&call, 1, /*isWrite=*/true, call.getArgOperand(0)->getType(), nullptr, call.getArgOperand(2)});
    return Error::success();
  case Intrinsic::masked_gather:
    accesses.push_back({&call, 0, /*isWrite=*/false, call.getType(), nullptr, call.getArgOperand(1)});
    return Error::success();
  case Intrinsic::masked_scatter:
    accesses.push_back({&call, 1, /*isWrite=*/true, call.getArgOperand(0)->getType(), nullptr, call.getArgOperand(2)});
    return Error::success();
  case Intrinsic::prefetch:
  case Intrinsic::lifetime_start:
  case Intrinsic::lifetime_end:
  case Intrinsic::stackrestore:
  case Intrinsic::assume:
    return Error::success();
  default:
    break;
  }
  const Function *callee = call.getCalledFunction();
  bool isChecked = callee && (!callee->isDeclaration() || callee->getName().starts_with("attn_rt_") ||
                              callee->getName().starts_with("_mlir_memref_to_llvm_"));
  bool takesPointers = any_of(call.args(), [](const Use &use) { return use->getType()->isPtrOrPtrVectorTy(); });
  return isChecked || !takesPointers ? Error::success() : makeError(call);
}

Error BoundsChecks::find(Instruction &instruction) {
  if (auto *load = dyn_cast<LoadInst>(&instruction))
    accesses.push_back({load, LoadInst::getPointerOperandIndex(), /*isWrite=*/false, load->getType()});
  else if (auto *store = dyn_cast<StoreInst>(&instruction))
    accesses.push_back(
        {store, StoreInst::getPointerOperandIndex(), /*isWrite=*/true, store->getValueOperand()->getType()});
  else if (auto *update = dyn_cast<AtomicRMWInst>(&instruction))
    accesses.push_back(
        {update, AtomicRMWInst::getPointerOperandIndex(), /*isWrite=*/true, update->getValOperand()->getType()});
  else if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&instruction))
    accesses.push_back({exchange, AtomicCmpXchgInst::getPointerOperandIndex(), /*isWrite=*/true,
                        exchange->getNewValOperand()->getType()});
  else if (auto *call = dyn_cast<CallBase>(&instruction))
    return findCall(*call);
  else if (instruction.mayReadOrWriteMemory())
    return makeError(instruction);
  return Error::success();
}

//===----------------------------------------------------------------------===//
// What is known
//===----------------------------------------------------------------------===//

/// The bytes that lie behind a pointer that nothing was added to; 0 where that is not known.
static uint64_t knownBytes(const Value *base, const DataLayout &layout) {
  if (auto *variable = dyn_cast<AllocaInst>(base))
    return variable->getAllocationSize(layout).value_or(TypeSize::getFixed(0)).getFixedValue();
  if (auto *global = dyn_cast<GlobalVariable>(base))
    return global->isDeclaration() ? 0 : layout.getTypeAllocSize(global->getValueType()).getFixedValue();
  if (auto *argument = dyn_cast<Argument>(base))
    return argument->getDereferenceableBytes();
  auto *load = dyn_cast<LoadInst>(base);
  const MDNode *bytes = load ? load->getMetadata(LLVMContext::MD_dereferenceable) : nullptr;
  return bytes ? mdconst::extract<ConstantInt>(bytes->getOperand(0))->getZExtValue() : 0;
}

/// True if all of a plain access of constant size stays in its object, whatever the run.
bool BoundsChecks::isProved(const Access &access) const {
  if (!access.pointer()->getType()->isPointerTy() || !access.type)
    return false;
  APInt offset(layout.getIndexTypeSizeInBits(access.pointer()->getType()), 0);
  const Value *base = access.pointer()->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true);
  uint64_t known = knownBytes(base, layout), bytes = layout.getTypeStoreSize(access.type).getFixedValue();
  return offset.isNonNegative() && bytes <= known && offset.getZExtValue() <= known - bytes;
}

std::optional<Object> BoundsChecks::objectOf(Value *pointer) {
  Value *base = getUnderlyingObject(pointer, /*MaxLookup=*/0);
  if (uint64_t bytes = knownBytes(base, layout))
    return Object{base, b.getInt64(bytes)};
  auto *variable = dyn_cast<AllocaInst>(base);
  if (!variable)
    return std::nullopt;
  uint64_t element = layout.getTypeAllocSize(variable->getAllocatedType()).getFixedValue();
  Value *count = b.CreateZExtOrTrunc(variable->getArraySize(), b.getInt64Ty());
  return Object{base, b.CreateMul(count, b.getInt64(element))};
}

/// "file.mlir:3:10" as a constant, or an empty text.
Value *BoundsChecks::placeOf(const Instruction &instruction) {
  std::string text;
  const DILocation *location = instruction.getDebugLoc();
  if (location && location->getLine() > 0)
    text = (location->getFilename() + ":" + Twine(location->getLine()) + ":" + Twine(location->getColumn())).str();
  Constant *&place = places[text];
  if (!place)
    place = b.CreateGlobalString(text, "attn_place", /*AddressSpace=*/0, &module);
  return place;
}

//===----------------------------------------------------------------------===//
// Inserting
//===----------------------------------------------------------------------===//

/// The pointer without its mark, once the bytes from it on are checked.
Value *BoundsChecks::check(const Access &access, Value *pointer, Value *bytes) {
  std::optional<Object> object = objectOf(pointer);
  Value *nothing = ConstantPointerNull::get(b.getPtrTy());
  return b.CreateCall(checkAccessFunction,
                      {pointer, bytes, object ? object->base : nothing, object ? object->bytes : b.getInt64(0),
                       b.getInt32(access.isWrite), placeOf(*access.instruction)});
}

static uint64_t elementBytes(const Access &access, const DataLayout &layout) {
  return layout.getTypeStoreSize(access.type->getScalarType()).getFixedValue();
}

/// Elements side by side, under a mask: 64 of them in a call.
Value *BoundsChecks::checkLanes(const Access &access) {
  unsigned lanes = cast<FixedVectorType>(access.type)->getNumElements(), width = elementBytes(access, layout);
  Value *pointer = access.pointer(), *nothing = ConstantPointerNull::get(b.getPtrTy()), *plain = nullptr;
  std::optional<Object> object = objectOf(pointer);
  for (unsigned first = 0; first < lanes; first += 64) {
    unsigned count = std::min(lanes - first, 64u);
    Value *mask = access.mask;
    if (count < lanes)
      mask = b.CreateShuffleVector(
          mask, to_vector(map_range(seq(first, first + count), [](unsigned lane) -> int { return lane; })));
    Value *bits = b.CreateZExt(b.CreateBitCast(mask, b.getIntNTy(count)), b.getInt64Ty());
    Value *part = b.CreateConstGEP1_64(b.getInt8Ty(), pointer, uint64_t(first) * width);
    Value *checked = b.CreateCall(checkLanesFunction, {part, b.getInt64(width), bits, object ? object->base : nothing,
                                                       object ? object->bytes : b.getInt64(0),
                                                       b.getInt32(access.isWrite), placeOf(*access.instruction)});
    plain = plain ? plain : checked;
  }
  return plain;
}

/// Elements anywhere, under a mask, one by one.
Value *BoundsChecks::checkGathered(const Access &access) {
  Value *pointers = access.pointer();
  unsigned lanes = cast<FixedVectorType>(access.type)->getNumElements();
  for (unsigned lane = 0; lane < lanes; ++lane) {
    Value *isTouched = b.CreateExtractElement(access.mask, lane);
    Value *bytes = b.CreateSelect(isTouched, b.getInt64(elementBytes(access, layout)), b.getInt64(0));
    Value *plain = check(access, b.CreateExtractElement(access.pointer(), lane), bytes);
    pointers = b.CreateInsertElement(pointers, plain, lane);
  }
  return pointers;
}

void BoundsChecks::insert(const Access &access) {
  b.SetInsertPoint(access.instruction);
  Value *plain;
  if (access.pointer()->getType()->isVectorTy())
    plain = checkGathered(access);
  else if (access.mask)
    plain = checkLanes(access);
  else if (access.type)
    plain = check(access, access.pointer(), b.getInt64(layout.getTypeStoreSize(access.type).getFixedValue()));
  else
    plain = check(access, access.pointer(), b.CreateZExtOrTrunc(access.length, b.getInt64Ty()));
  access.instruction->setOperand(access.operand, plain);
}

void BoundsChecks::insert() {
  for (const Access &access : accesses)
    if (!isProved(access))
      insert(access);
}

Error attn::checkBounds(Module &module) {
  BoundsChecks checks(module);
  for (Function &function : module)
    for (Instruction &instruction : instructions(function))
      if (Error error = checks.find(instruction))
        return error;
  checks.insert();
  StripDebugInfo(module);
  return Error::success();
}
