//===- CrashReport.cpp - a crash says what the tool was doing ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CrashReport.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <cstring>
#include <dlfcn.h>
#include <execinfo.h>
#include <memory>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace attn;

/// The innermost activity, and the tool's name.
static tool::Activity *volatile current = nullptr;
static char programName[64];
/// An address near the start of the main thread's stack.
static uintptr_t stackStart;

namespace {

/// Where a thread's handlers run, since its own stack may be used up.
class AlternateStack {
public:
  AlternateStack() {
    stack_t alternate = {};
    alternate.ss_sp = bytes;
    alternate.ss_size = sizeof(bytes);
    sigaltstack(&alternate, nullptr);
  }
  ~AlternateStack() {
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
  }

private:
  char bytes[256 << 10];
};

} // namespace

/// The lowest address of this thread's stack; 0 of the main thread, whose stack grows, and of those not covered.
static thread_local uintptr_t stackEnd = 0;

tool::Activity::Activity(const llvm::Twine &description) : outer(current) {
  description.toVector(text);
  current = this;
}

tool::Activity::~Activity() { current = outer; }

//===----------------------------------------------------------------------===//
// The line
//===----------------------------------------------------------------------===//

/// The library that a crash happened in: that of the innermost frame outside of the C and C++ libraries. "" for ours.
static const char *findCulprit() {
  void *frames[32];
  int count = backtrace(frames, 32);
  // The first frames are those of the report itself, in this program; then comes the signal's, in the C library.
  bool isBeforeSignal = true;
  for (int i = 0; i < count; ++i) {
    Dl_info info;
    llvm::StringRef file = dladdr(frames[i], &info) && info.dli_fname ? info.dli_fname : "";
    bool isSystem = file.contains("libc.so") || file.contains("libstdc++") || file.contains("libgcc_s");
    if (isBeforeSignal || isSystem) {
      isBeforeSignal &= !isSystem;
      continue;
    }
    return file.contains("libMLIR") ? " in MLIR" : file.contains("libLLVM") ? " in LLVM" : "";
  }
  return "";
}

/// Appends what the thread is doing, as LLVM and tracePasses tell, innermost first: its first line alone.
static void appendThreadActivity(llvm::raw_ostream &stream) {
  auto *entry = static_cast<const llvm::PrettyStackTraceEntry *>(llvm::SavePrettyStackState());
  if (!entry)
    return;
  llvm::SmallString<512> text;
  llvm::raw_svector_ostream line(text);
  entry->print(line);
  // MLIR's parser ends its line with a NUL.
  stream << " (" << llvm::StringRef(text).split('\n').first.rtrim(llvm::StringRef("\0 ", 2)) << ")";
}

/// Writes without stdio, whose locks the crash may hold. Memory is only asked for where a line is unusually long.
static void writeReport(llvm::StringRef what, llvm::StringRef culprit, llvm::StringRef problem,
                        llvm::StringRef advice) {
  llvm::SmallString<1024> text;
  llvm::raw_svector_ostream line(text);
  line << programName << ": " << what << culprit;
  if (tool::Activity *activity = current)
    line << " while " << activity->str();
  appendThreadActivity(line);
  line << ": " << problem << advice << "\n";
  for (llvm::StringRef rest = text; !rest.empty();) {
    ssize_t written = write(STDERR_FILENO, rest.data(), rest.size());
    if (written <= 0)
      return;
    rest = rest.drop_front(written);
  }
}

[[noreturn]] static void endWithInternalError(llvm::StringRef culprit, llvm::StringRef problem) {
  writeReport("internal error", culprit, problem, "; please report it with the input");
  _exit(tool::internalErrorCode);
}

//===----------------------------------------------------------------------===//
// What is caught
//===----------------------------------------------------------------------===//

static bool isStackOverflow(uintptr_t address) {
  constexpr uintptr_t slack = 1 << 20;
  if (stackEnd)
    return address + slack > stackEnd && address < stackEnd + slack;
  rlimit limit;
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || address > stackStart)
    return false;
  uintptr_t depth = stackStart - address;
  return depth + slack > limit.rlim_cur && depth < limit.rlim_cur + slack;
}

static const char *describeSignal(int signal, const siginfo_t &info) {
  switch (signal) {
  case SIGSEGV:
    return isStackOverflow(reinterpret_cast<uintptr_t>(info.si_addr)) ? "the stack is used up" : "segmentation fault";
  case SIGBUS:
    return "bus error";
  case SIGILL:
  case SIGTRAP:
    return "it ran into a place that is never to be reached";
  case SIGFPE:
    return "arithmetic exception";
  default:
    return "it was aborted";
  }
}

static void catchCrashes();

/// A report may crash itself: the stack cannot be walked after a jump to nowhere. Then less is asked for.
static void handleSignal(int signal, siginfo_t *info, void *) {
  static volatile sig_atomic_t attempts = 0;
  static const char *volatile problem = describeSignal(signal, *info);
  int attempt = attempts;
  attempts = attempt + 1;
  if (attempt > 1)
    _exit(tool::internalErrorCode);
  catchCrashes();
  // Against locks that the crash holds.
  alarm(10);
  llvm::sys::RunInterruptHandlers();
  endWithInternalError(attempt == 0 ? findCulprit() : "", problem);
}

static void handleFatalError(void *, const char *reason, bool isInternal) {
  llvm::sys::RunInterruptHandlers();
  if (isInternal)
    endWithInternalError(" in LLVM", reason);
  writeReport("error", "", reason, "");
  _exit(1);
}

static void handleLackOfMemory(void *, const char *, bool) {
  llvm::sys::RunInterruptHandlers();
  writeReport("error", "", "memory is used up", "");
  _exit(1);
}

/// LLVM's handlers, which remove files after an interrupt. Signals that are ignored, as under nohup, stay so.
static void catchInterrupts() {
  constexpr int signals[] = {SIGHUP, SIGINT, SIGTERM, SIGQUIT};
  struct sigaction before[std::size(signals)];
  for (size_t i = 0; i < std::size(signals); ++i)
    sigaction(signals[i], nullptr, &before[i]);
  llvm::sys::AddSignalHandler([](void *) {}, nullptr);
  for (size_t i = 0; i < std::size(signals); ++i)
    if (before[i].sa_handler == SIG_IGN)
      sigaction(signals[i], &before[i], nullptr);
}

static void catchCrashes() {
  struct sigaction action = {};
  action.sa_sigaction = handleSignal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESETHAND;
  sigemptyset(&action.sa_mask);
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT})
    sigaction(signal, &action, nullptr);
}

void tool::reportCrashes(llvm::StringRef program) {
  std::memcpy(programName, program.data(), std::min(program.size(), sizeof(programName) - 1));
  stackStart = reinterpret_cast<uintptr_t>(&program);
  // The first call loads a library, for which there may be no memory later.
  void *frame;
  backtrace(&frame, 1);
  static AlternateStack &stack = *new AlternateStack;
  static_cast<void>(stack);
  // In front of ours, which LLVM's would replace if they came later.
  catchInterrupts();
  llvm::install_fatal_error_handler(handleFatalError);
  llvm::install_bad_alloc_error_handler(handleLackOfMemory);
  llvm::install_out_of_memory_new_handler();
  catchCrashes();
}

void tool::coverThread() {
  thread_local std::unique_ptr<AlternateStack> stack;
  pthread_attr_t attributes;
  void *end = nullptr;
  size_t bytes = 0;
  if (stack || gettid() == getpid() || pthread_getattr_np(pthread_self(), &attributes) != 0)
    return;
  if (pthread_attr_getstack(&attributes, &end, &bytes) == 0) {
    stackEnd = reinterpret_cast<uintptr_t>(end);
    stack = std::make_unique<AlternateStack>();
  }
  pthread_attr_destroy(&attributes);
}
