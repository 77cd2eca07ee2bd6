//===- DeviceCode.cpp - kernels of a GPU, from MLIR to PTX --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/CodeGen/DeviceCode.h"
#include "attn/CodeGen/CodeGen.h"
#include "attn/CodeGen/DeviceImage.h"
#include "attn/CodeGen/LLVMPasses.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Config/Targets.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <mutex>

using namespace attn;

static llvm::Error makeError(const llvm::Twine &message) { return llvm::createStringError(message); }

//===----------------------------------------------------------------------===//
// Chips
//===----------------------------------------------------------------------===//

static llvm::Triple deviceTriple() { return llvm::Triple("nvptx64-nvidia-cuda"); }

static llvm::Expected<const llvm::Target *> findGenerator() {
#if LLVM_HAS_NVPTX_TARGET
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
#endif
  std::string error;
  if (const llvm::Target *target = llvm::TargetRegistry::lookupTarget(deviceTriple(), error))
    return target;
  return makeError("this LLVM generates no code for NVIDIA GPUs: " + error);
}

llvm::Error attn::checkChip(llvm::StringRef chip) {
  auto generator = findGenerator();
  if (!generator)
    return generator.takeError();
  std::unique_ptr<llvm::MCSubtargetInfo> info((*generator)->createMCSubtargetInfo(deviceTriple(), "", ""));
  if (chip.starts_with("sm_") && info->isCPUStringValid(chip))
    return llvm::Error::success();
  return makeError("a GPU expects one of LLVM's NVIDIA chips, such as sm_80, sm_89, sm_90a or sm_100a, but got '" +
                   chip + "'");
}

/// The lowest PTX version that has what kernels for the chip use; "": what LLVM takes for the chip.
static llvm::StringRef ptxFeature(llvm::StringRef chip) {
  auto [number, suffix] = parseChip(chip);
  if (suffix == 'a' && number == 90)
    return "+ptx86"; // copies into a block's own shared memory
  if (number >= 80 && number <= 90)
    return "+ptx80";
  return "";
}

/// nvptx64's code generator; the chip is known to it.
static llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createDeviceMachine(llvm::StringRef chip) {
  auto generator = findGenerator();
  if (!generator)
    return generator.takeError();
  return std::unique_ptr<llvm::TargetMachine>((*generator)
                                                  ->createTargetMachine(deviceTriple(), chip, ptxFeature(chip),
                                                                        llvm::TargetOptions(), std::nullopt,
                                                                        std::nullopt, llvm::CodeGenOptLevel::Default));
}

//===----------------------------------------------------------------------===//
// Translation
//===----------------------------------------------------------------------===//

llvm::Expected<std::unique_ptr<llvm::Module>> attn::translateDeviceModule(mlir::gpu::GPUModuleOp module,
                                                                          llvm::LLVMContext &context) {
  auto machine = createDeviceMachine("sm_80"); // The layout is that of every chip.
  if (!machine)
    return machine.takeError();
  mlir::PassManager passes(module.getContext(), mlir::gpu::GPUModuleOp::getOperationName());
  passes.addPass(mlir::createConvertNVVMToLLVMPass());
  if (failed(passes.run(module)))
    return makeError("the kernels' nvvm operations could not be converted");
  mlir::Builder builder(module.getContext());
  std::string layout = (*machine)->createDataLayout().getStringRepresentation();
  module->setAttr(mlir::LLVM::LLVMDialect::getDataLayoutAttrName(), builder.getStringAttr(layout));
  module->setAttr(mlir::LLVM::LLVMDialect::getTargetTripleAttrName(), builder.getStringAttr(deviceTriple().str()));
  std::unique_ptr<llvm::Module> result = mlir::translateModuleToLLVMIR(module, context, module.getName());
  if (!result)
    return makeError("the kernels could not be translated to LLVM IR");
  result->setTargetTriple(deviceTriple());
  result->setDataLayout(layout);
  return result;
}

llvm::Expected<std::unique_ptr<llvm::Module>> attn::takeKernels(mlir::ModuleOp module, llvm::LLVMContext &context) {
  std::unique_ptr<llvm::Module> kernels;
  for (auto part : llvm::make_early_inc_range(module.getOps<mlir::gpu::GPUModuleOp>())) {
    auto translated = translateDeviceModule(part, context);
    if (!translated)
      return translated.takeError();
    part.erase();
    if (!kernels)
      kernels = std::move(*translated);
    else if (llvm::Linker::linkModules(*kernels, std::move(*translated)))
      return makeError("two of the module's gpu.modules define the same name");
  }
  if (!kernels) {
    kernels = std::make_unique<llvm::Module>("attn_device", context);
    kernels->setTargetTriple(deviceTriple());
  }
  return kernels;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

namespace {

/// Collects errors of code generation, which would end the process otherwise.
struct ErrorCollector : llvm::DiagnosticHandler {
  explicit ErrorCollector(std::string &errors) : errors(errors) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() != llvm::DS_Error)
      return true;
    llvm::raw_string_ostream stream(errors);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    stream << (errors.empty() ? "" : "; ");
    info.print(printer);
    return true;
  }

  std::string &errors;
};

/// Functions that not every chip has. `suffix`: of a chip that has them, where they are its own.
struct Requirement {
  llvm::StringLiteral prefix;
  unsigned chip;
  char suffix;
};

} // namespace

static constexpr Requirement kRequirements[] = {
    {"attn_dev_wgmma", 90, 'a'},          {"attn_dev_mbarrier_wait", 90, '\0'},
    {"llvm.nvvm.wgmma.", 90, 'a'},        {"llvm.nvvm.setmaxnreg.", 90, 'a'},
    {"llvm.nvvm.tcgen05.", 100, 'a'},     {"llvm.nvvm.cp.async.bulk.", 90, '\0'},
    {"llvm.nvvm.fence.proxy.", 90, '\0'}, {"llvm.nvvm.fence.mbarrier_init.", 90, '\0'},
    {"llvm.nvvm.elect.sync", 90, '\0'},   {"llvm.nvvm.stmatrix.", 90, '\0'},
    {"llvm.nvvm.mbarrier.", 80, '\0'},    {"llvm.nvvm.cp.async.", 80, '\0'},
    {"llvm.nvvm.mma.", 70, '\0'},         {"llvm.nvvm.ldmatrix.", 75, '\0'},
};

/// Whether NVPTX has no instructions for a mathematical function, and no library to call.
static bool lacksCode(const llvm::IntrinsicInst &call) {
  switch (call.getIntrinsicID()) {
  case llvm::Intrinsic::exp:
  case llvm::Intrinsic::exp10:
  case llvm::Intrinsic::log:
  case llvm::Intrinsic::log2:
  case llvm::Intrinsic::log10:
  case llvm::Intrinsic::pow:
  case llvm::Intrinsic::tan:
  case llvm::Intrinsic::asin:
  case llvm::Intrinsic::acos:
  case llvm::Intrinsic::atan:
  case llvm::Intrinsic::atan2:
  case llvm::Intrinsic::sinh:
  case llvm::Intrinsic::cosh:
    return true;
  case llvm::Intrinsic::sin:
  case llvm::Intrinsic::cos:
  case llvm::Intrinsic::tanh:
    return !call.hasApproxFunc() || call.getType()->isDoubleTy();
  case llvm::Intrinsic::exp2:
    return call.getType()->isDoubleTy();
  default:
    return false;
  }
}

static llvm::Error checkMath(const llvm::Function &function) {
  for (const llvm::Instruction &instruction : llvm::instructions(function))
    if (const auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction); call && lacksCode(*call))
      return makeError(call->getCalledFunction()->getName() + " in " + function.getName() +
                       " has no code on a GPU; it has to be expanded before");
  return llvm::Error::success();
}

/// LLVM ends the process where it cannot select an instruction, so what it would fail at is refused before. setmaxnreg
/// exists on later chips of suffix a, too; wgmma on 90a alone.
static llvm::Error checkSupported(const llvm::Module &module, llvm::StringRef chip) {
  auto [number, suffix] = parseChip(chip);
  for (const llvm::Function &function : module) {
    if (llvm::Error error = checkMath(function))
      return error;
    if (!function.isDeclaration() || function.use_empty())
      continue;
    const Requirement *found = llvm::find_if(
        kRequirements, [&](const Requirement &entry) { return function.getName().starts_with(entry.prefix); });
    if (found == std::end(kRequirements))
      continue;
    bool isWgmma = found->prefix.contains("wgmma");
    bool fits = isWgmma ? number == found->chip : number >= found->chip;
    if (fits && (!found->suffix || suffix == found->suffix))
      continue;
    return makeError(function.getName() + " needs sm_" + llvm::Twine(found->chip) +
                     (found->suffix ? std::string(1, found->suffix) : std::string(isWgmma ? "" : " or newer")) +
                     ", but the target is " + chip);
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// PTX
//===----------------------------------------------------------------------===//

/// Kernels come unrolled, with their arrays in registers, and ptxas optimises what it gets: for whole attention kernels
/// (sm_80, head sizes 64 to 256, f32 and bf16) this list and LLVM's default level of code generation give the registers
/// and the size of code of O3 in half its time. gvn moved more loads out of branches, and cost f32 50 registers.
static constexpr llvm::StringLiteral kDevicePasses =
    "cgscc(inline),function(sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,simplifycfg,"
    "loop-mssa(licm),early-cse<memssa>,simplifycfg)";

/// The module has passed all checks.
static llvm::Expected<std::string> generatePtx(llvm::Module &module, llvm::TargetMachine &machine) {
  std::string errors;
  llvm::LLVMContext &context = module.getContext();
  std::unique_ptr<llvm::DiagnosticHandler> previous = context.getDiagnosticHandler();
  context.setDiagnosticHandler(std::make_unique<ErrorCollector>(errors));
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::Error refusal = generateCode(module, machine, llvm::CodeGenFileType::AssemblyFile, stream);
  context.setDiagnosticHandler(std::move(previous));
  if (refusal)
    return refusal;
  if (!errors.empty())
    return makeError("PTX could not be generated: " + errors);
  return text.str().str();
}

llvm::Expected<std::string> attn::emitPtx(llvm::Module &module, llvm::StringRef chip) {
  if (llvm::Error error = checkChip(chip))
    return error;
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyModule(module, &stream))
    return makeError("the kernels' LLVM IR does not verify: " + problem);
  if (llvm::Error error = checkSupported(module, chip))
    return error;
  if (llvm::Error error = replaceDeviceFunctions(module))
    return error;
  auto machine = createDeviceMachine(chip);
  if (!machine)
    return machine.takeError();
  if (llvm::Error error = runPasses(module, **machine, kDevicePasses))
    return error;
  return generatePtx(module, **machine);
}
