//===- Describe.cpp - what a device module has and needs ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Operations.h"
#include "Rewrite.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include <map>

using namespace attn::emulator;

static constexpr unsigned kSharedSpace = 3;
static constexpr uint64_t kTensorMapBytes = 128;
/// How much of an inline assembly is quoted.
static constexpr size_t kQuotedBytes = 60;

//===----------------------------------------------------------------------===//
// What is not known
//===----------------------------------------------------------------------===//

static bool isUnknown(const llvm::Function &function) {
  if (!function.isDeclaration() || function.use_empty() || OperationTable::get().find(function.getName()))
    return false;
  // LLVM's own intrinsics are for the code generator.
  return !function.isIntrinsic() || function.getName().starts_with(kNvvm);
}

/// Everything that the emulator cannot run, with the number of its uses.
static std::map<std::string, unsigned> findUnknown(const llvm::Module &module) {
  std::map<std::string, unsigned> unknown;
  for (const llvm::Function &function : module) {
    if (isUnknown(function))
      unknown[function.getName().str()] = function.getNumUses();
    for (const llvm::Instruction &instruction : llvm::instructions(function)) {
      auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (!call)
        continue;
      if (auto *text = llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()))
        ++unknown["inline assembly \"" + text->getAsmString().substr(0, kQuotedBytes).str() + "\""];
      else if (!call->getCalledFunction())
        ++unknown["a call through a pointer"];
    }
  }
  return unknown;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Numbers of an attribute such as "nvvm.reqntid"="128,1,1".
static void readSizes(const llvm::Function &function, llvm::StringRef name, int64_t (&sizes)[3]) {
  llvm::StringRef text = function.getFnAttribute(name).getValueAsString();
  llvm::SmallVector<llvm::StringRef> parts;
  if (!text.empty())
    text.split(parts, ',');
  for (size_t k = 0; k < parts.size() && k < 3; ++k)
    parts[k].trim().getAsInteger(10, sizes[k]);
  for (size_t k = parts.size(); !parts.empty() && k < 3; ++k)
    sizes[k] = 1;
}

static Kernel describeKernel(const llvm::Function &function) {
  const llvm::DataLayout &layout = function.getDataLayout();
  Kernel kernel;
  for (const llvm::Argument &argument : function.args()) {
    if (!argument.hasByValAttr()) {
      kernel.parameters.push_back({size_t(layout.getTypeStoreSize(argument.getType())), false});
      continue;
    }
    uint64_t bytes = layout.getTypeAllocSize(argument.getParamByValType());
    bool isTensorMap = bytes == kTensorMapBytes && argument.hasAttribute("nvvm.grid_constant");
    kernel.parameters.push_back({isTensorMap ? 0 : size_t(bytes), isTensorMap});
  }
  readSizes(function, "nvvm.reqntid", kernel.required);
  int64_t most[3] = {0, 0, 0};
  readSizes(function, "nvvm.maxntid", most);
  kernel.most = most[0] * most[1] * most[2];
  return kernel;
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// Sized variables first, then those of size 0, which all begin where dynamic shared memory does.
static llvm::Error placeSharedVariables(llvm::Module &module, Description &description) {
  const llvm::DataLayout &layout = module.getDataLayout();
  uint64_t end = 0;
  llvm::Align dynamicAlignment(16);
  for (const llvm::GlobalVariable &variable : module.globals()) {
    if (variable.getAddressSpace() != kSharedSpace)
      continue;
    if (!variable.hasName())
      return llvm::createStringError("a variable in shared memory has no name");
    llvm::Align alignment = variable.getAlign().value_or(layout.getABITypeAlign(variable.getValueType()));
    uint64_t bytes = layout.getTypeAllocSize(variable.getValueType());
    if (!bytes) {
      dynamicAlignment = std::max(dynamicAlignment, alignment);
      continue;
    }
    end = alignTo(end, alignment);
    description.sharedOffsets[variable.getName()] = uint32_t(end);
    end += bytes;
    if (end > uint64_t(SharedWindow::kUsableBytes))
      return llvm::createStringError("the module's shared memory takes %llu bytes, more than the %lld that a block has",
                                     static_cast<unsigned long long>(end),
                                     static_cast<long long>(SharedWindow::kUsableBytes));
  }
  description.dynamicOffset = uint32_t(alignTo(end, dynamicAlignment));
  for (const llvm::GlobalVariable &variable : module.globals())
    if (variable.getAddressSpace() == kSharedSpace && !description.sharedOffsets.count(variable.getName()))
      description.sharedOffsets[variable.getName()] = description.dynamicOffset;
  return llvm::Error::success();
}

llvm::Expected<Description> attn::emulator::describe(llvm::Module &module) {
  std::map<std::string, unsigned> unknown = findUnknown(module);
  if (!unknown.empty()) {
    std::string text = "the emulator does not know";
    const char *separator = ": ";
    for (const auto &[name, uses] : unknown) {
      text += separator + name + " (" + std::to_string(uses) + (uses == 1 ? " use)" : " uses)");
      separator = ", ";
    }
    return llvm::createStringError(text);
  }
  Description description;
  if (llvm::Error error = placeSharedVariables(module, description))
    return error;
  for (const llvm::Function &function : module)
    if (!function.isDeclaration() && function.getCallingConv() == llvm::CallingConv::PTX_Kernel)
      description.kernels[function.getName()] = describeKernel(function);
  if (description.kernels.empty())
    return llvm::createStringError("the module has no function with the calling convention ptx_kernel");
  return description;
}
