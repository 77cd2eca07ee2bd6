// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which threads take part in a loop: as many as its work feeds, and of the
// pool's own those that come in time.

#include "attn/Runtime.h"
#include "runtime/lib/WorkerCount.h"

#include "gtest/gtest.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>
#include <pthread.h>
#include <thread>

using attn::runtime::chooseWorkers;

namespace {

using Pool = std::unique_ptr<attn_rt_pool, decltype(&attn_rt_pool_destroy)>;

Pool makePool(int64_t threads) { return Pool(attn_rt_pool_create(threads), attn_rt_pool_destroy); }

void run(attn_rt_pool *pool, void (*function)(void **), void *argument, int64_t leastWork = 0) {
  attn_rt_call_options options = {pool, 0, nullptr, leastWork, nullptr};
  void *arguments[] = {argument};
  ASSERT_EQ(attn_rt_call(&options, function, arguments, nullptr), ATTN_RT_OK);
}

TEST(RuntimeWorkers, UnknownWorkTakesAllThreadsThatHaveItems) {
  EXPECT_EQ(chooseWorkers(1, -1, 8, 1000), 1);
  EXPECT_EQ(chooseWorkers(5, -1, 8, 1000), 5);
  EXPECT_EQ(chooseWorkers(100, -1, 8, 1000), 8);
}

TEST(RuntimeWorkers, EachWorkerGetsTheLeastWork) {
  EXPECT_EQ(chooseWorkers(100, 0, 8, 1000), 1);
  EXPECT_EQ(chooseWorkers(2, 999, 8, 1000), 1);
  EXPECT_EQ(chooseWorkers(2, 1000, 8, 1000), 2);
  EXPECT_EQ(chooseWorkers(64, 63, 8, 1000), 4);
  EXPECT_EQ(chooseWorkers(64, 63, 3, 1000), 3);
  EXPECT_EQ(chooseWorkers(3, 1000000, 8, 1000), 3);
}

TEST(RuntimeWorkers, WorkBeyond64BitsIsMuch) {
  EXPECT_EQ(chooseWorkers(4, INT64_MAX, 8, 1000), 4);
  EXPECT_EQ(chooseWorkers(INT64_MAX, 2, 8, 1000), 8);
}

/// Twenty items of which none is on another thread than the first argument, or it is counted.
struct Visits {
  std::thread::id caller = std::this_thread::get_id();
  std::atomic<int> items{0}, elsewhere{0};
};

void visit(void *context, int64_t, int64_t, void *) {
  auto &visits = *static_cast<Visits *>(context);
  ++visits.items;
  if (std::this_thread::get_id() != visits.caller)
    ++visits.elsewhere;
}

TEST(RuntimeWorkers, LittleWorkStaysOnTheCaller) {
  Pool pool = makePool(4);
  Visits visits;
  for (int repeat = 0; repeat < 100; ++repeat)
    run(pool.get(), [](void **arguments) { attn_rt_parallel_for(20, 10, 64, visit, arguments[0]); }, &visits);
  EXPECT_EQ(visits.items, 100 * 20);
  EXPECT_EQ(visits.elsewhere, 0);
}

/// Two items that wait for one another, so that both threads of a pool take one.
struct Meeting {
  std::thread::id caller = std::this_thread::get_id();
  std::atomic<int> arrived{0};
  pthread_t other{};
};

void meet(void *context, int64_t, int64_t, void *) {
  auto &meeting = *static_cast<Meeting *>(context);
  if (std::this_thread::get_id() != meeting.caller)
    meeting.other = pthread_self();
  ++meeting.arrived;
  while (meeting.arrived < 2)
    std::this_thread::yield();
}

TEST(RuntimeWorkers, CallsSetTheLeastWork) {
  Pool pool = makePool(2);
  Meeting meeting;
  run(
      pool.get(), [](void **arguments) { attn_rt_parallel_for(2, 10, 0, meet, arguments[0]); }, &meeting,
      /*leastWork=*/10);
  EXPECT_EQ(meeting.arrived, 2);

  attn_rt_call_options options = {pool.get(), 0, nullptr, -3, nullptr};
  attn_rt_call_result result;
  EXPECT_EQ(attn_rt_call(&options, [](void **) {}, nullptr, &result), ATTN_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(result.message, "least_work must be at least 0 (0: the default), but got -3");
}

/// A thread that gets the signal stands still until it is released, 20 s at most.
std::atomic<bool> isStanding{false}, isReleased{false}, wasReleased{false};

void stand(int) {
  isStanding = true;
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!isReleased && std::chrono::steady_clock::now() < end)
    std::this_thread::yield();
  wasReleased = isReleased.load();
  isStanding = false;
}

TEST(RuntimeWorkers, ThreadsThatHaveNotBegunAreNotWaitedFor) {
  Pool pool = makePool(2);
  Meeting meeting;
  run(pool.get(), [](void **arguments) { attn_rt_parallel_for(2, -1, 0, meet, arguments[0]); }, &meeting);
  ASSERT_EQ(meeting.arrived, 2);

  isStanding = isReleased = false;
  std::signal(SIGUSR1, stand);
  ASSERT_EQ(pthread_kill(meeting.other, SIGUSR1), 0);
  while (!isStanding)
    std::this_thread::yield();
  Visits visits;
  for (int repeat = 0; repeat < 3; ++repeat)
    run(pool.get(), [](void **arguments) { attn_rt_parallel_for(20, -1, 64, visit, arguments[0]); }, &visits);
  EXPECT_TRUE(isStanding);
  EXPECT_EQ(visits.items, 3 * 20);
  EXPECT_EQ(visits.elsewhere, 0);

  // It takes part again.
  isReleased = true;
  Meeting next;
  run(pool.get(), [](void **arguments) { attn_rt_parallel_for(2, -1, 0, meet, arguments[0]); }, &next);
  EXPECT_EQ(next.arrived, 2);
  EXPECT_TRUE(wasReleased);
  std::signal(SIGUSR1, SIG_DFL);
}

TEST(RuntimeWorkers, SleepingThreadsAreWoken) {
  Pool pool = makePool(2);
  // Longer than they spin.
  std::this_thread::sleep_for(std::chrono::milliseconds(40));
  Meeting meeting;
  run(pool.get(), [](void **arguments) { attn_rt_parallel_for(2, -1, 0, meet, arguments[0]); }, &meeting);
  EXPECT_EQ(meeting.arrived, 2);
}

} // namespace
