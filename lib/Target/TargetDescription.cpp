//===- TargetDescription.cpp - what code generation knows of a CPU ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/Target/TargetDescription.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include <memory>
#include <mutex>
#include <unistd.h>

using namespace attn;
using llvm::StringRef;

using Subtarget = std::unique_ptr<llvm::MCSubtargetInfo>;

static llvm::Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// LLVM's table for one CPU of this machine's architecture. `cpu` must be known or empty: LLVM prints to stderr
/// otherwise.
static llvm::Expected<Subtarget> makeSubtarget(StringRef triple, StringRef cpu, StringRef features) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(llvm::Triple(triple), error);
  if (!target)
    return makeError("no code generator for " + triple + ": " + error);
  Subtarget subtarget(target->createMCSubtargetInfo(llvm::Triple(triple), cpu, features));
  if (!subtarget)
    return makeError("no description of the CPUs of " + triple);
  return subtarget;
}

static std::string hostFeatures() {
  llvm::SmallVector<std::string> features;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    features.push_back((feature.second ? "+" : "-") + feature.first().str());
  // The map's order is not defined, and the string ends up in the code's attributes.
  llvm::sort(features);
  return llvm::join(features, ",");
}

/// The cache's size from the operating system; `otherwise` where it does not say.
static int64_t cacheBytes(int name, int64_t otherwise) {
  long bytes = sysconf(name);
  return bytes > 0 ? bytes : otherwise;
}

static void describeX86(const llvm::MCSubtargetInfo &subtarget, TargetDescription &target) {
  auto has = [&](StringRef features) { return subtarget.checkFeatures(features); };
  target.hasFma = has("+fma");
  if (has("+avx512f") && has("+avx512bw") && has("+avx512dq") && has("+avx512vl")) {
    target.vectorBits = 512;
    target.vectorRegisters = 32;
  } else if (has("+avx2") && target.hasFma) {
    target.vectorBits = 256;
  }
}

static void describeAArch64(TargetDescription &target) {
  target.vectorRegisters = 32;
  target.hasFma = true;
}

static bool isHostName(StringRef name) { return name == "host" || name == "native"; }

/// Rejects what LLVM does not know, and CPUs of this architecture that cannot run 64-bit code.
static llvm::Error checkName(StringRef triple, StringRef name) {
  llvm::Expected<Subtarget> table = makeSubtarget(triple, "", "");
  if (!table)
    return table.takeError();
  if (!(*table)->isCPUStringValid(name))
    return makeError("unknown target CPU '" + name +
                     "'; use host, x86-64-v3, x86-64-v4 or any other CPU name that `llc -mtriple=" + triple +
                     " -mcpu=help` lists");
  llvm::Expected<Subtarget> subtarget = makeSubtarget(triple, name, "");
  if (!subtarget)
    return subtarget.takeError();
  if (llvm::Triple(triple).isX86() && !(*subtarget)->checkFeatures("+64bit"))
    return makeError("target CPU '" + name + "' has no 64-bit mode; use x86-64 or a later CPU");
  return llvm::Error::success();
}

/// Chips of data centres, and of Jetson, have more than those of graphics cards.
static int64_t sharedBytesOf(unsigned version) {
  if (version == 80 || version == 87)
    return 163 << 10;
  return version >= 90 && version < 120 ? 227 << 10 : 99 << 10;
}

llvm::Expected<GpuTarget> attn::describeGpu(StringRef name) {
  if (!isGpuTarget(name))
    return makeError("expects a GPU such as sm_80 as target, but got " + name.str());
  GpuTarget gpu;
  gpu.chip = name.str();
  StringRef number = name.drop_front(3);
  bool isSpecific = number.consume_back("a");
  if (number.getAsInteger(10, gpu.version) || gpu.version < 80 || gpu.version > 129)
    return makeError("unknown GPU '" + name + "'; use sm_80, sm_86, sm_89, sm_90 or a later one, or sm_90a");
  gpu.hasWarpgroups = gpu.version == 90 && isSpecific;
  gpu.sharedBytes = sharedBytesOf(gpu.version);
  return gpu;
}

llvm::Expected<TargetDescription> attn::describeTarget(StringRef name) {
  if (isGpuTarget(name)) {
    llvm::Expected<GpuTarget> gpu = describeGpu(name);
    if (!gpu)
      return gpu.takeError();
    llvm::Expected<TargetDescription> host = describeTarget("host");
    if (host)
      host->gpu = *gpu;
    return host;
  }
  TargetDescription target;
  target.triple = llvm::sys::getProcessTriple();
  target.cpu = name.str();
  if (isHostName(name)) {
    target.cpu = llvm::sys::getHostCPUName().str();
    target.features = hostFeatures();
    target.l1Bytes = cacheBytes(_SC_LEVEL1_DCACHE_SIZE, target.l1Bytes);
    target.l2Bytes = cacheBytes(_SC_LEVEL2_CACHE_SIZE, target.l2Bytes);
  }
  if (llvm::Error error = checkName(target.triple, target.cpu))
    return error;
  llvm::Expected<Subtarget> subtarget = makeSubtarget(target.triple, target.cpu, target.features);
  if (!subtarget)
    return subtarget.takeError();
  llvm::Triple triple(target.triple);
  if (triple.isX86())
    describeX86(**subtarget, target);
  else if (triple.isAArch64())
    describeAArch64(target);
  return target;
}

llvm::Error attn::checkSupportedByHost(const TargetDescription &target) {
  if (llvm::Triple(target.triple).getArch() != llvm::Triple(llvm::sys::getProcessTriple()).getArch())
    return makeError("code for " + target.triple + " does not run on this machine (" + llvm::sys::getProcessTriple() +
                     ")");
  llvm::Expected<Subtarget> subtarget = makeSubtarget(target.triple, target.cpu, target.features);
  if (!subtarget)
    return subtarget.takeError();
  llvm::SmallVector<std::string> missing;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    if (!feature.second && (*subtarget)->checkFeatures("+" + feature.first().str()))
      missing.push_back(feature.first().str());
  if (missing.empty())
    return llvm::Error::success();
  llvm::sort(missing);
  return makeError("this machine cannot run code for target CPU '" + target.cpu + "': it lacks " +
                   llvm::join(missing, ", ") + "; use host");
}
