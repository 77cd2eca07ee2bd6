//===- BankConflicts.cpp - cycles that shared memory takes --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BankConflicts.h"
#include <algorithm>

using namespace attn::emulator;

static constexpr uint32_t kBanks = 32;
/// Accesses of one place that may be incomplete at a time: lanes that run ahead by more are not grouped.
static constexpr size_t kOpenGroups = 8;

/// One phase: lanes whose words are served together. At most 32 words.
static uint32_t countPhase(const uint32_t *offsets, uint32_t count, uint32_t words) {
  uint32_t all[64];
  uint32_t used = 0;
  for (uint32_t lane = 0; lane < count; ++lane)
    for (uint32_t word = 0; word < words && used < 64; ++word)
      all[used++] = offsets[lane] / 4 + word;
  std::sort(all, all + used);
  uint32_t *end = std::unique(all, all + used);
  uint32_t inBank[kBanks] = {};
  uint32_t most = 1;
  for (uint32_t *word = all; word != end; ++word)
    most = std::max(most, ++inBank[*word % kBanks]);
  return most - 1;
}

uint32_t attn::emulator::countBankConflicts(const uint32_t *offsets, uint32_t count, uint32_t bytes) {
  uint32_t words = std::max(1u, bytes / 4);
  uint32_t lanes = kBanks / words;
  uint32_t conflicts = 0;
  for (uint32_t first = 0; first < count; first += lanes)
    conflicts += countPhase(offsets + first, std::min(lanes, count - first), words);
  return conflicts;
}

uint32_t BankConflicts::count(const Group &group) {
  uint32_t offsets[32];
  uint32_t lanes = 0;
  for (uint32_t lane = 0; lane < 32; ++lane)
    if (group.arrived >> lane & 1)
      offsets[lanes++] = group.offsets[lane];
  return countBankConflicts(offsets, lanes, group.bytes);
}

uint32_t BankConflicts::add(uint32_t warp, uint32_t site, uint32_t lane, uint32_t lanes, uint32_t offset,
                            uint32_t bytes) {
  Place &place = open[uint64_t(warp) << 32 | site];
  uint32_t occurrence = place.occurrences[lane]++;
  auto group = std::find_if(place.groups.begin(), place.groups.end(),
                            [&](const Group &other) { return other.occurrence == occurrence; });
  uint32_t conflicts = 0;
  if (group == place.groups.end()) {
    if (place.groups.size() == kOpenGroups) {
      conflicts = count(place.groups.front());
      place.groups.pop_front();
    }
    place.groups.push_back({occurrence, 0, bytes, {}});
    group = place.groups.end() - 1;
  }
  group->offsets[lane] = offset;
  group->arrived |= 1u << lane;
  if (group->arrived == lanes) {
    conflicts += count(*group);
    place.groups.erase(group);
  }
  return conflicts;
}

uint32_t BankConflicts::finish() {
  uint32_t conflicts = 0;
  for (const auto &place : open)
    for (const Group &group : place.second.groups)
      conflicts += count(group);
  open.clear();
  return conflicts;
}
