//===- CrashReportTest.cpp - stacks of threads that are used up ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CrashReport.h"

#include "gtest/gtest.h"
#include <thread>

using namespace attn::tool;

/// Calls itself until the stack is used up.
[[gnu::noinline]] static int descend(volatile int depth) {
  volatile char frame[1024] = {};
  return depth < 0 ? frame[0] : descend(depth + 1) + frame[depth % 1024];
}

static void runOnThread(void (*work)()) {
  reportCrashes("tool");
  Activity activity("working");
  std::thread(work).join();
}

TEST(CrashReport, StacksOfThreads) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(runOnThread([] {
                coverThread();
                coverThread();
                descend(0);
              }),
              testing::ExitedWithCode(internalErrorCode),
              "tool: internal error while working: the stack is used up; please report it with the input");
  EXPECT_EXIT(runOnThread([] {
                coverThread();
                *static_cast<volatile int *>(nullptr) = 1;
              }),
              testing::ExitedWithCode(internalErrorCode), "while working: segmentation fault");
}

TEST(CrashReport, ThreadsThatEndLeaveNothing) {
  for (int k = 0; k < 100; ++k)
    std::thread(coverThread).join();
}
