//===- CpuTime.h - what else the machine does ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A time counts only if nobody else used the CPUs while it was taken. A short calibration loop before and after does
// not show that: the others may have come and gone.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TOOLS_SUPPORT_CPUTIME_H
#define ATTN_TOOLS_SUPPORT_CPUTIME_H

#include <optional>
#include <string_view>

namespace attn::tool {

/// CPU time in seconds since some start, over all CPUs.
struct CpuTime {
  /// Of all processes and the kernel, and what a hypervisor kept from this machine. The kernel counts in ticks.
  double machine = 0;
  /// Of this process.
  double own = 0;
};

/// The busy seconds in the text of /proc/stat: all of its first line but idle and iowait; guest time is part of user
/// time. nullopt where the text has no such line. ticksPerSecond: sysconf(_SC_CLK_TCK).
std::optional<double> parseBusySeconds(std::string_view procStat, double ticksPerSecond);

/// The times of now; nullopt where the system does not tell.
std::optional<CpuTime> readCpuTime();

/// CPU seconds that others used between two readings; at least 0. Off by a tick or two for each CPU.
double secondsOfOthers(const CpuTime &before, const CpuTime &after);

} // namespace attn::tool

#endif // ATTN_TOOLS_SUPPORT_CPUTIME_H
