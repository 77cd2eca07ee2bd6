//===- PartsTest.cpp - the emulator's parts by themselves ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Emulator/AsyncCopies.h"
#include "lib/Emulator/Numbers.h"
#include "llvm/ADT/APFloat.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace attn::emulator;

//===----------------------------------------------------------------------===//
// Shared windows
//===----------------------------------------------------------------------===//

TEST(SharedWindow, LiesBelow4GiBAtAMultipleOfItsSize) {
  std::vector<SharedWindow> windows;
  for (int k = 0; k < 20; ++k) {
    auto window = SharedWindow::create();
    ASSERT_TRUE(bool(window)) << llvm::toString(window.takeError());
    auto address = reinterpret_cast<uint64_t>(window->base());
    EXPECT_LT(address + SharedWindow::kBytes, uint64_t(1) << 32);
    EXPECT_EQ(address % SharedWindow::kBytes, 0u);
    for (const SharedWindow &other : windows)
      EXPECT_NE(other.base(), window->base());
    window->base()[SharedWindow::kBytes - 1] = 1;
    windows.push_back(std::move(*window));
  }
}

//===----------------------------------------------------------------------===//
// Fibers
//===----------------------------------------------------------------------===//

namespace {
/// Two fibers that write their names in turn.
struct PingPong {
  static constexpr size_t kBytes = 64 << 10;
  static inline PingPong *current;
  Fiber host, fibers[2];
  std::vector<char> stacks[2] = {std::vector<char>(kBytes), std::vector<char>(kBytes)};
  std::string text;

  template <int kIndex> static void body() {
    // A local that lives across switches.
    double local = kIndex + 0.5;
    for (int round = 0; round < 3; ++round) {
      current->text += char('a' + kIndex);
      current->text += local == kIndex + 0.5 ? "" : "!";
      current->fibers[kIndex].switchTo(current->fibers[1 - kIndex]);
    }
    current->fibers[kIndex].switchTo(current->host, /*isLast=*/true);
  }

  void run() {
    current = this;
    fibers[0].prepare(stacks[0].data(), kBytes, &PingPong::body<0>);
    fibers[1].prepare(stacks[1].data(), kBytes, &PingPong::body<1>);
    host.switchTo(fibers[0]);
  }
};
} // namespace

TEST(Fiber, TakesTurnsAndCanBeMadeAgain) {
  PingPong game;
  game.run();
  EXPECT_EQ(game.text, "ababab");
  // The second fiber was left in the middle.
  game.run();
  EXPECT_EQ(game.text, "abababababab");
}

TEST(Fiber, StartsWithAStackAlignedForVectorCode) {
  static Fiber host, fiber;
  static uintptr_t address;
  std::vector<char> stack(64 << 10);
  for (size_t shift : {0, 8, 16, 56}) {
    fiber.prepare(stack.data() + shift, stack.size() - 64, [] {
      alignas(16) volatile char local[16];
      address = reinterpret_cast<uintptr_t>(local);
      fiber.switchTo(host, /*isLast=*/true);
    });
    host.switchTo(fiber);
    EXPECT_EQ(address % 16, 0u);
  }
}

//===----------------------------------------------------------------------===//
// Bank conflicts
//===----------------------------------------------------------------------===//

static uint32_t countStrided(uint32_t lanes, uint32_t stride, uint32_t bytes) {
  std::vector<uint32_t> offsets;
  for (uint32_t lane = 0; lane < lanes; ++lane)
    offsets.push_back(lane * stride);
  return countBankConflicts(offsets.data(), lanes, bytes);
}

TEST(BankConflicts, CountsCyclesBeyondTheFirst) {
  EXPECT_EQ(countStrided(32, 4, 4), 0u);
  EXPECT_EQ(countStrided(32, 8, 4), 1u);
  EXPECT_EQ(countStrided(32, 128, 4), 31u);
  // One word for all, and two halves of words.
  EXPECT_EQ(countStrided(32, 0, 4), 0u);
  EXPECT_EQ(countStrided(32, 2, 2), 0u);
  // 8 and 16 bytes a lane go in 2 and 4 parts.
  EXPECT_EQ(countStrided(32, 8, 8), 0u);
  EXPECT_EQ(countStrided(32, 16, 16), 0u);
  EXPECT_EQ(countStrided(32, 32, 16), 4u);
  // Rows of an 8 x 8 matrix: 128 bytes apart, and swizzled.
  EXPECT_EQ(countStrided(8, 128, 16), 7u);
  uint32_t rows[8];
  for (uint32_t row = 0; row < 8; ++row)
    rows[row] = swizzle(row * 128, 128);
  EXPECT_EQ(countBankConflicts(rows, 8, 16), 0u);
}

TEST(BankConflicts, GroupsLanesByOccurrence) {
  BankConflicts conflicts;
  // Two accesses of each lane, one lane after the other: stride 4, then stride 8.
  uint32_t total = 0;
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t time = 0; time < 2; ++time)
      total += conflicts.add(0, 7, lane, ~0u, lane * (time ? 8 : 4), 4);
  EXPECT_EQ(total, 1u);
  EXPECT_EQ(conflicts.finish(), 0u);
  // Half of the lanes only: known at the end.
  for (uint32_t lane = 0; lane < 16; ++lane)
    EXPECT_EQ(conflicts.add(0, 7, lane, ~0u, lane * 128, 4), 0u);
  EXPECT_EQ(conflicts.finish(), 15u);
}

//===----------------------------------------------------------------------===//
// Shadow memory
//===----------------------------------------------------------------------===//

namespace {
/// 4 threads and 64 bytes.
struct ShadowTest : testing::Test {
  ShadowTest() { shadow.start(64, 4, true, true); }
  uint32_t *row(Actor actor) { return shadow.clocks.row(actor); }
  Conflict read(Actor actor, uint32_t offset, uint32_t bytes = 4) {
    return shadow.read(actor, row(actor)[actor], row(actor), offset, bytes, 1);
  }
  Conflict write(Actor actor, uint32_t offset, uint32_t bytes = 4) {
    return shadow.write(actor, row(actor), offset, bytes, 2);
  }
  /// All that `from` did so far is known to `to`.
  void order(Actor from, Actor to) {
    shadow.clocks.join(row(to), row(from));
    shadow.clocks.tick(from);
  }
  Shadow shadow;
};
} // namespace

TEST_F(ShadowTest, ReadsNeedAWriteBefore) {
  EXPECT_EQ(read(0, 8).kind, Conflict::Uninitialized);
  EXPECT_EQ(write(0, 8).kind, Conflict::None);
  EXPECT_EQ(read(0, 8).kind, Conflict::None);
  Conflict conflict = read(0, 8, 8);
  EXPECT_EQ(conflict.kind, Conflict::Uninitialized);
  EXPECT_EQ(conflict.offset, 12u);
  // What another block wrote does not count.
  shadow.start(64, 4, true, true);
  EXPECT_EQ(read(0, 8).kind, Conflict::Uninitialized);
}

TEST_F(ShadowTest, AWriteIsSeenOnceItIsOrdered) {
  ASSERT_EQ(write(0, 0).kind, Conflict::None);
  Conflict conflict = read(1, 2, 2);
  EXPECT_EQ(conflict.kind, Conflict::Race);
  EXPECT_TRUE(conflict.otherIsWrite);
  EXPECT_EQ(conflict.other.actor, 0u);
  EXPECT_EQ(conflict.other.site, 2u);
  EXPECT_EQ(write(1, 0).kind, Conflict::Race);
  order(0, 1);
  EXPECT_EQ(read(1, 0).kind, Conflict::None);
  EXPECT_EQ(read(2, 0).kind, Conflict::Race);
  // Through the thread between.
  order(1, 2);
  EXPECT_EQ(read(2, 0).kind, Conflict::None);
  // What follows the order is not part of it.
  ASSERT_EQ(write(0, 4).kind, Conflict::None);
  EXPECT_EQ(read(1, 4).kind, Conflict::Race);
}

TEST_F(ShadowTest, AWriteWaitsForEveryRead) {
  ASSERT_EQ(write(0, 0).kind, Conflict::None);
  for (Actor actor : {1, 2, 3}) {
    order(0, actor);
    EXPECT_EQ(read(actor, 0).kind, Conflict::None);
  }
  order(1, 0);
  order(3, 0);
  Conflict conflict = write(0, 0);
  EXPECT_EQ(conflict.kind, Conflict::Race);
  EXPECT_FALSE(conflict.otherIsWrite);
  EXPECT_EQ(conflict.other.actor, 2u);
  order(2, 0);
  EXPECT_EQ(write(0, 0).kind, Conflict::None);
}

TEST_F(ShadowTest, BytesOfOneWordAreApart) {
  EXPECT_EQ(write(0, 0, 1).kind, Conflict::None);
  EXPECT_EQ(write(1, 1, 1).kind, Conflict::None);
  EXPECT_EQ(write(2, 0, 2).kind, Conflict::Race);
}

TEST_F(ShadowTest, APendingWriteAdmitsNobody) {
  ASSERT_EQ(shadow.write(0, row(0), 0, 16, 3, /*isPending=*/true).kind, Conflict::None);
  Conflict conflict = read(0, 4);
  EXPECT_EQ(conflict.kind, Conflict::Pending);
  EXPECT_EQ(conflict.other.site, 3u);
  EXPECT_EQ(write(1, 14, 2).kind, Conflict::Pending);
  shadow.settle(0, row(0)[0], 0, 16);
  EXPECT_EQ(read(0, 4).kind, Conflict::None);
  EXPECT_EQ(read(1, 4).kind, Conflict::Race);
  // A block that ends before its copies leaves nothing pending.
  ASSERT_EQ(shadow.write(0, row(0), 32, 16, 3, /*isPending=*/true).kind, Conflict::None);
  shadow.start(64, 4, true, true);
  EXPECT_EQ(write(1, 32).kind, Conflict::None);
}

TEST_F(ShadowTest, EnginesReadWhatIsFenced) {
  auto readAsync = [&](Actor thread) {
    // Each thread has an engine of its own.
    Actor engine = shadow.clocks.store(thread);
    return shadow.read(engine, shadow.clocks.step(1), row(thread), 0, 4, 5, /*isAsync=*/true).kind;
  };
  // By the writer, before the others know.
  ASSERT_EQ(write(0, 0).kind, Conflict::None);
  EXPECT_EQ(readAsync(0), Conflict::Unfenced);
  shadow.clocks.fence(0);
  order(0, 1);
  EXPECT_EQ(readAsync(1), Conflict::None);
  // A write after the fence is not behind it.
  shadow.start(64, 4, true, true);
  shadow.clocks.fence(0);
  ASSERT_EQ(write(0, 0).kind, Conflict::None);
  order(0, 1);
  EXPECT_EQ(readAsync(1), Conflict::Unfenced);
  // By the reader, once it knows.
  shadow.clocks.fence(1);
  EXPECT_EQ(readAsync(1), Conflict::None);
  EXPECT_EQ(readAsync(2), Conflict::Race);
}

TEST_F(ShadowTest, BlocksFollowOneAnother) {
  ASSERT_EQ(write(0, 0).kind, Conflict::None);
  shadow.start(64, 4, true, true);
  EXPECT_EQ(write(1, 0).kind, Conflict::None);
  EXPECT_EQ(write(0, 0).kind, Conflict::Race);
}

TEST_F(ShadowTest, RacesCanBeLeftOut) {
  shadow.start(64, 4, false, true);
  EXPECT_EQ(shadow.write(0, nullptr, 0, 4, 1).kind, Conflict::None);
  EXPECT_EQ(shadow.read(1, 0, nullptr, 0, 4, 1).kind, Conflict::None);
  EXPECT_EQ(shadow.read(1, 0, nullptr, 4, 4, 1).kind, Conflict::Uninitialized);
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static uint16_t roundToF16(float value) {
  llvm::APFloat number(value);
  bool losesInfo;
  number.convert(llvm::APFloat::IEEEhalf(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return uint16_t(number.bitcastToAPInt().getZExtValue());
}

TEST(Numbers, EveryF16IsExact) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    float value = f16ToFloat(uint16_t(bits));
    llvm::APFloat number(llvm::APFloat::IEEEhalf(), llvm::APInt(16, bits));
    if (number.isNaN()) {
      EXPECT_TRUE(std::isnan(value));
      continue;
    }
    bool losesInfo;
    number.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    ASSERT_EQ(toBits(value), toBits(number.convertToFloat())) << bits;
    ASSERT_EQ(floatToF16(value), bits);
  }
}

TEST(Numbers, F32RoundsToTheNearestF16) {
  // A step that is coprime to all powers of two visits all exponents and many ties.
  for (uint64_t bits = 0; bits < uint64_t(1) << 32; bits += 9973) {
    float value = toFloat(uint32_t(bits));
    if (std::isnan(value))
      continue;
    ASSERT_EQ(floatToF16(value), roundToF16(value)) << value;
  }
  for (float value : {65519.99f, 65520.0f, 1e-8f, 2.98023224e-8f, 2.99e-8f, 6.1e-5f, 1.00048828125f, 1.00146484375f})
    EXPECT_EQ(floatToF16(value), roundToF16(value)) << value;
  EXPECT_EQ(floatToF16(NAN), 0x7FFF);
}

TEST(Numbers, Tf32IgnoresTheLow13Bits) {
  EXPECT_EQ(tf32ToFloat(0x3F800FFF), 1.0f);
  EXPECT_EQ(tf32ToFloat(0x3F802000), 1.0009765625f);
}

TEST(Swizzle, PermutesChunksByRow) {
  // Rows of 128 bytes: chunk c of row r goes to chunk c ^ (r % 8); of 64: c ^ (r / 2 % 4); of 32: c ^ (r / 4 % 2).
  for (uint32_t row = 0; row < 16; ++row) {
    for (uint32_t chunk = 0; chunk < 8; ++chunk)
      EXPECT_EQ(swizzle(row * 128 + chunk * 16 + 2, 128), row * 128 + (chunk ^ row % 8) * 16 + 2);
    for (uint32_t chunk = 0; chunk < 4; ++chunk)
      EXPECT_EQ(swizzle(row * 64 + chunk * 16, 64), row * 64 + (chunk ^ row / 2 % 4) * 16);
    for (uint32_t chunk = 0; chunk < 2; ++chunk)
      EXPECT_EQ(swizzle(row * 32 + chunk * 16, 32), row * 32 + (chunk ^ row / 4 % 2) * 16);
    EXPECT_EQ(swizzle(row * 128 + 5, 0), row * 128 + 5);
  }
}
