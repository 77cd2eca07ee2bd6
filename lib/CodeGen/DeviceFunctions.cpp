//===- DeviceFunctions.cpp - device functions to inline assembly --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/CodeGen/DeviceCode.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include <optional>

using namespace attn;

namespace {

/// What stands for one device function.
struct AsmText {
  llvm::FunctionType *type;
  std::string text;
  std::string constraints;
};

/// Builds the assembly of one family of functions from what follows the family's name; nothing for a name that is not
/// of the family.
struct Family {
  llvm::StringLiteral prefix;
  std::optional<AsmText> (*build)(llvm::StringRef rest, llvm::LLVMContext &context);
};

} // namespace

//===----------------------------------------------------------------------===//
// The families
//===----------------------------------------------------------------------===//

/// The labels are local to the braces. try_wait suspends the thread for a while of its own choice.
static std::optional<AsmText> buildMbarrierWait(llvm::StringRef rest, llvm::LLVMContext &context) {
  if (!rest.empty())
    return std::nullopt;
  auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                       {llvm::PointerType::get(context, 3), llvm::Type::getInt32Ty(context)}, false);
  return AsmText{type,
                 "{\n\t.reg .pred done;\nwait:\n\tmbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1;\n\t"
                 "@done bra ready;\n\tbra wait;\nready:\n\t}",
                 "l,r,~{memory}"};
}

/// "$first, ..., $last".
static std::string listOperands(unsigned first, unsigned count) {
  std::string list;
  for (unsigned n = first; n < first + count; ++n)
    list += (n == first ? "$" : ", $") + std::to_string(n);
  return list;
}

/// Outputs, each tied to the input of the same number.
static std::string tiedAccumulators(unsigned count) {
  std::string constraints;
  for (unsigned n = 0; n < count; ++n)
    constraints += "=f,";
  for (unsigned n = 0; n < count; ++n)
    constraints += std::to_string(n) + ",";
  return constraints;
}

/// "m64n<N>k16_f32_<bf16|f16>_<ss|rs>". Operands of the assembly: sums $0.., their inputs, then A, B and keep.
static std::optional<AsmText> buildWgmma(llvm::StringRef rest, llvm::LLVMContext &context) {
  unsigned columns;
  if (!rest.consume_front("m64n") || rest.consumeInteger(10, columns) || !rest.consume_front("k16_f32_"))
    return std::nullopt;
  auto [element, form] = rest.split('_');
  bool isInRegisters = form == "rs";
  if (columns < 8 || columns > 256 || columns % 8 != 0 || (element != "bf16" && element != "f16") ||
      (form != "ss" && !isInRegisters))
    return std::nullopt;

  unsigned sums = columns / 2, next = 2 * sums;
  auto *i32 = llvm::Type::getInt32Ty(context), *i64 = llvm::Type::getInt64Ty(context);
  llvm::SmallVector<llvm::Type *> results(sums, llvm::Type::getFloatTy(context)), operands(results);
  if (isInRegisters)
    operands.append({i32, i32, i32, i32, i64});
  else
    operands.append({i64, i64, i32});
  std::string instruction = ("wgmma.mma_async.sync.aligned.m64n" + llvm::Twine(columns) + "k16.f32." + element + "." +
                             element + " {" + listOperands(0, sums) + "}, ")
                                .str();
  AsmText result{llvm::FunctionType::get(llvm::StructType::get(context, results), operands, false), "",
                 tiedAccumulators(sums)};
  // After the operands: whether sums are kept, the signs of A and B, and for operands in shared memory whether they are
  // MN-major.
  if (isInRegisters) {
    result.text = instruction + "{" + listOperands(next, 4) + "}, " + listOperands(next + 4, 1) + ", 1, 1, 1, 1;";
    result.constraints += "r,r,r,r,l";
  } else {
    result.text = "{\n\t.reg .pred keep;\n\tsetp.ne.b32 keep, " + listOperands(next + 2, 1) + ", 0;\n\t" + instruction +
                  listOperands(next, 2) + ", keep, 1, 1, 0, 0;\n\t}";
    result.constraints += "l,l,r";
  }
  return result;
}

/// "i32" or "i64".
static std::optional<AsmText> buildOpaque(llvm::StringRef rest, llvm::LLVMContext &context) {
  if (rest != "i32" && rest != "i64")
    return std::nullopt;
  const bool isLong = rest == "i64";
  auto *type = llvm::IntegerType::get(context, isLong ? 64 : 32);
  return AsmText{llvm::FunctionType::get(type, {type}, false), isLong ? "mov.b64 $0, $1;" : "mov.b32 $0, $1;",
                 isLong ? "=l,l" : "=r,r"};
}

static constexpr llvm::StringLiteral kPrefix = "attn_dev_";

static constexpr Family kFamilies[] = {
    {"mbarrier_wait", buildMbarrierWait},
    {"opaque_", buildOpaque},
    {"wgmma_", buildWgmma},
};

//===----------------------------------------------------------------------===//
// Replacing
//===----------------------------------------------------------------------===//

static std::optional<AsmText> buildAsm(const llvm::Function &function) {
  llvm::StringRef name = function.getName().drop_front(kPrefix.size());
  for (const Family &family : kFamilies)
    if (name.starts_with(family.prefix))
      return family.build(name.drop_front(family.prefix.size()), function.getContext());
  return std::nullopt;
}

/// Why the function cannot be replaced; empty if it can.
static std::string findProblem(const llvm::Function &function, const std::optional<AsmText> &text) {
  std::string name = function.getName().str();
  if (!text)
    return name + " is not known";
  std::string type;
  llvm::raw_string_ostream stream(type);
  if (function.getFunctionType() != text->type) {
    stream << *text->type << ", but has " << *function.getFunctionType();
    return name + " expects the type " + type;
  }
  if (!function.isDeclaration())
    return name + " expects no body";
  for (const llvm::Use &use : function.uses()) {
    auto *call = llvm::dyn_cast<llvm::CallInst>(use.getUser());
    if (!call || !call->isCallee(&use))
      return name + " expects to be called only";
  }
  return "";
}

static void replaceCalls(llvm::Function &function, const AsmText &text) {
  auto *assembly = llvm::InlineAsm::get(text.type, text.text, text.constraints, /*hasSideEffects=*/true);
  for (llvm::User *user : llvm::make_early_inc_range(function.users())) {
    auto *call = llvm::cast<llvm::CallInst>(user);
    llvm::IRBuilder<> builder(call);
    llvm::SmallVector<llvm::Value *> arguments(call->args());
    llvm::CallInst *replacement = builder.CreateCall(text.type, assembly, arguments);
    // All threads of a warp meet here: LLVM must not put it behind more conditions.
    replacement->addFnAttr(llvm::Attribute::Convergent);
    replacement->addFnAttr(llvm::Attribute::NoUnwind);
    call->replaceAllUsesWith(replacement);
    call->eraseFromParent();
  }
  function.eraseFromParent();
}

llvm::Error attn::replaceDeviceFunctions(llvm::Module &module) {
  llvm::SmallVector<std::pair<llvm::Function *, AsmText>> functions;
  llvm::SmallVector<std::string> problems;
  for (llvm::Function &function : module) {
    if (!function.getName().starts_with(kPrefix))
      continue;
    std::optional<AsmText> text = buildAsm(function);
    std::string problem = findProblem(function, text);
    if (problem.empty())
      functions.push_back({&function, *text});
    else
      problems.push_back(problem);
  }
  if (!problems.empty())
    return llvm::createStringError("device functions that have no assembly: " + llvm::join(problems, "; "));
  for (auto &[function, text] : functions)
    replaceCalls(*function, text);
  return llvm::Error::success();
}
