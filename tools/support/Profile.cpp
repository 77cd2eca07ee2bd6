//===- Profile.cpp - where the time of a run goes ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Profile.h"

#include "llvm/Support/FormatVariadic.h"

using namespace attn;
using namespace attn::tool;

double Profile::serialSeconds() const {
  double seconds = run.seconds;
  for (const LoopProfile &loop : run.loops)
    seconds -= loop.seconds;
  return seconds;
}

Result<Profile> tool::profileRun(const Module &module, const std::string &function, const Target &target,
                                 CompileOptions compile, RunOptions options, const std::vector<Argument> &inputs,
                                 const std::vector<MutableTensorView> &outputs) {
  auto counting = module.compile(function, target, compile.countKvTiles(true));
  if (!counting)
    return counting.error();
  auto computingAll = module.compile(function, target, compile.skipTiles(false));
  if (!computingAll)
    return computingAll.error();
  auto all = computingAll->run(inputs, outputs, options);
  if (!all)
    return all.error();
  if (auto warm = counting->run(inputs, outputs, options); !warm)
    return warm.error();
  auto run = counting->run(inputs, outputs, options.profile(true));
  if (!run)
    return run.error();
  return Profile{std::move(*run), all->kvTiles};
}

/// "1.234 ms (56.7 %)"
static std::string share(double seconds, double of) {
  return llvm::formatv("{0:f3} ms ({1:f1} %)", seconds * 1e3, of > 0 ? 100 * seconds / of : 0).str();
}

/// "12 items", "12 items, 34 kv tiles".
static std::string counts(int64_t items, int64_t kvTiles) {
  return std::to_string(items) + " items" + (kvTiles ? ", " + std::to_string(kvTiles) + " kv tiles" : "");
}

std::string tool::formatProfile(const Profile &profile, const std::string &prefix) {
  const RunReport &run = profile.run;
  std::string text = prefix + llvm::formatv("{0:f3} ms, of them outside of parallel loops {1}\n", run.seconds * 1e3,
                                            share(profile.serialSeconds(), run.seconds))
                                  .str();
  for (size_t n = 0; n < run.loops.size(); ++n) {
    const LoopProfile &loop = run.loops[n];
    int64_t kvTiles = 0;
    for (const LoopProfile::Worker &worker : loop.workers)
      kvTiles += worker.kvTiles;
    text += prefix +
            llvm::formatv("loop {0}: {1}, {2}\n", n + 1, share(loop.seconds, run.seconds), counts(loop.items, kvTiles))
                .str();
    for (size_t w = 0; w < loop.workers.size(); ++w)
      text +=
          prefix + llvm::formatv("  thread {0}: busy {1}, {2}\n", w, share(loop.workers[w].busySeconds, loop.seconds),
                                 counts(loop.workers[w].items, loop.workers[w].kvTiles))
                       .str();
  }
  if (profile.allKvTiles)
    text += prefix + llvm::formatv("kv tiles: {0} of {1} visited, {2} skipped\n", run.kvTiles, profile.allKvTiles,
                                   profile.allKvTiles - run.kvTiles)
                         .str();
  return text;
}
