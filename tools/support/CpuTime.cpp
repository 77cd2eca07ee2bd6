//===- CpuTime.cpp - what else the machine does ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CpuTime.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#ifdef __linux__
#include <sys/resource.h>
#include <unistd.h>
#endif

using namespace attn::tool;

std::optional<double> attn::tool::parseBusySeconds(std::string_view procStat, double ticksPerSecond) {
  std::istringstream stream{std::string(procStat)};
  std::string label;
  if (!(stream >> label) || label != "cpu")
    return std::nullopt;
  // user nice system idle iowait irq softirq steal; later kernels may have more, earlier ones fewer.
  double busy = 0, ticks;
  int field = 0;
  for (; field < 8 && stream >> ticks; ++field)
    if (field != 3 && field != 4)
      busy += ticks;
  if (field < 4)
    return std::nullopt;
  return busy / ticksPerSecond;
}

std::optional<CpuTime> attn::tool::readCpuTime() {
#ifdef __linux__
  std::ifstream file("/proc/stat");
  std::string line;
  rusage usage;
  if (!std::getline(file, line) || getrusage(RUSAGE_SELF, &usage) != 0)
    return std::nullopt;
  std::optional<double> busy = parseBusySeconds(line, static_cast<double>(sysconf(_SC_CLK_TCK)));
  if (!busy)
    return std::nullopt;
  auto seconds = [](const timeval &time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return CpuTime{*busy, seconds(usage.ru_utime) + seconds(usage.ru_stime)};
#else
  return std::nullopt;
#endif
}

double attn::tool::secondsOfOthers(const CpuTime &before, const CpuTime &after) {
  return std::max(0.0, (after.machine - before.machine) - (after.own - before.own));
}
