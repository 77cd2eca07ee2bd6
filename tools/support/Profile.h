//===- Profile.h - where the time of a run goes -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_SUPPORT_PROFILE_H
#define ATTN_TOOLS_SUPPORT_PROFILE_H

#include "attn/attn.h"

namespace attn::tool {

struct Profile {
  /// Of a run after one to warm up; seconds, loops and kvTiles are filled in.
  RunReport run;
  /// kv tiles that the run would have computed if it skipped none.
  int64_t allKvTiles = 0;

  /// What of run.seconds no parallel loop took.
  double serialSeconds() const;
};

/// Compiles the function twice, counting kv tiles and once without skipping any, and runs each kernel on the data.
Result<Profile> profileRun(const Module &module, const std::string &function, const Target &target,
                           CompileOptions compile, RunOptions options, const std::vector<Argument> &inputs,
                           const std::vector<MutableTensorView> &outputs);

/// Lines for people, each with `prefix` in front.
std::string formatProfile(const Profile &profile, const std::string &prefix);

} // namespace attn::tool

#endif // ATTN_TOOLS_SUPPORT_PROFILE_H
