//===- Children.cpp - cases in processes of their own ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Children.h"

#include "Frames.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <execinfo.h>
#include <fcntl.h>
#include <fstream>
#include <new>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace attn::fuzz;

//===----------------------------------------------------------------------===//
// What a child tells
//===----------------------------------------------------------------------===//

namespace {

/// Memory that parent and children share.
struct Shared {
  volatile uint64_t index;
  uint64_t counts[CounterCount];
  char phase[128];
  /// Of a failure: its signal, 0 for a lack of memory; where; the running pass, or "".
  volatile bool hasFailed;
  volatile int signal;
  volatile int frameCount;
  void *frames[96];
  char pass[128];
  /// What failCase was told, "" where it was not called.
  Problem problem;
  bool isOurs;
  char signature[512];
};

} // namespace

static Shared *shared() {
  static Shared *const memory =
      static_cast<Shared *>(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  return memory;
}

void attn::fuzz::setPhase(const std::string &phase) {
  std::snprintf(shared()->phase, sizeof(shared()->phase), "%s", phase.c_str());
}

void attn::fuzz::failCase(Problem problem, bool isOurs, const std::string &signature) {
  shared()->problem = problem;
  shared()->isOurs = isOurs;
  std::snprintf(shared()->signature, sizeof(shared()->signature), "%s", signature.c_str());
  _exit(1);
}

void attn::fuzz::addCount(Counter counter) { ++shared()->counts[counter]; }
uint64_t attn::fuzz::getCount(Counter counter) { return shared()->counts[counter]; }

//===----------------------------------------------------------------------===//
// In a child
//===----------------------------------------------------------------------===//

static void recordPass() {
  auto *entry = static_cast<const llvm::PrettyStackTraceEntry *>(llvm::SavePrettyStackState());
  if (!entry)
    return;
  llvm::SmallString<512> text;
  llvm::raw_svector_ostream stream(text);
  entry->print(stream);
  std::snprintf(shared()->pass, sizeof(shared()->pass), "%s", llvm::StringRef(text).split('\n').first.str().c_str());
}

static void recordSignal(int signal, siginfo_t *, void *) {
  // The walk over the stack may fault, too: then the frames are left out.
  if (!shared()->hasFailed) {
    shared()->hasFailed = true;
    shared()->signal = signal;
    recordPass();
    shared()->frameCount = backtrace(shared()->frames, 96);
  }
  _exit(1);
}

static void recordLackOfMemory() {
  if (!shared()->hasFailed) {
    shared()->hasFailed = true;
    shared()->signal = 0;
    // As if from a handler: findPlace skips up to the first frame of the C library.
    shared()->frameCount = backtrace(shared()->frames, 96);
  }
  _exit(1);
}

/// The address space of this process in bytes.
static size_t usedAddressSpace() {
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

static void limit(int resource, size_t value) {
  rlimit limits = {value, value};
  setrlimit(resource, &limits);
}

static void prepareChild(const Limits &limits) {
  static char stack[256 << 10];
  stack_t alternate = {};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof(stack);
  sigaltstack(&alternate, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = recordSignal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGPROF, SIGALRM, SIGXFSZ})
    sigaction(signal, &action, nullptr);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, size_t(64) << 20);
  // Sanitizers take terabytes of addresses.
  size_t used = usedAddressSpace();
  if (used < size_t(1) << 40)
    limit(RLIMIT_AS, used + (limits.mebibytes << 20));
  std::set_new_handler(recordLackOfMemory);
  llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { recordLackOfMemory(); });
  if (!getenv("ATTN_FUZZ_VERBOSE"))
    static_cast<void>(dup2(open("/dev/null", O_WRONLY), STDERR_FILENO));
}

static void startTimer(int seconds) {
  itimerval timer = {{0, 0}, {seconds, 0}};
  setitimer(ITIMER_PROF, &timer, nullptr);
  // For waits, which take no CPU time.
  constexpr int patience = 20;
  alarm(seconds * patience);
}

[[noreturn]] static void runChild(uint64_t end, const Limits &limits, const std::function<void(uint64_t)> &work) {
  prepareChild(limits);
  for (; shared()->index < end; shared()->index = shared()->index + 1) {
    startTimer(limits.seconds);
    work(shared()->index);
  }
  _exit(0);
}

//===----------------------------------------------------------------------===//
// In the parent
//===----------------------------------------------------------------------===//

static Failure describeFailure(int status) {
  Shared &child = *shared();
  Place place = findPlace(llvm::ArrayRef(child.frames, child.frameCount));
  std::string phase = std::string(child.phase) + (child.pass[0] ? ", " : "") + child.pass;
  if (child.signature[0])
    return {child.problem, child.isOurs, child.signature, phase};
  if (!child.hasFailed)
    return {Problem::Crash, true, "ended by itself with status " + std::to_string(status), phase};
  if (child.signal == 0)
    return {Problem::Memory, place.isOurs, place.functions, phase};
  if (child.signal == SIGPROF || child.signal == SIGALRM)
    return {Problem::Hang, place.isOurs, place.functions, phase};
  return {Problem::Crash, place.isOurs, std::string(strsignal(child.signal)) + " in " + place.functions, phase};
}

void attn::fuzz::runCases(uint64_t first, uint64_t end, uint64_t batch, const Limits &limits,
                          const std::function<void(uint64_t)> &work,
                          const std::function<void(uint64_t, const Failure &)> &onFailure) {
  // The first call loads a library, for which a child may have no memory.
  void *frame;
  backtrace(&frame, 1);
  Shared &child = *shared();
  for (child.index = first; child.index < end;) {
    child.hasFailed = false;
    child.frameCount = 0;
    child.pass[0] = child.signature[0] = '\0';
    uint64_t batchEnd = std::min(end, child.index + batch);
    std::fflush(nullptr);
    pid_t process = fork();
    if (process == 0)
      runChild(batchEnd, limits, work);
    int status = 0;
    waitpid(process, &status, 0);
    if (child.index >= batchEnd)
      continue;
    uint64_t index = child.index;
    onFailure(index, describeFailure(status));
    child.index = index + 1;
  }
}

std::optional<Failure> attn::fuzz::runCase(const Limits &limits, const std::function<void()> &work) {
  std::optional<Failure> result;
  runCases(0, 1, 1, limits, [&](uint64_t) { work(); }, [&](uint64_t, const Failure &failure) { result = failure; });
  return result;
}
