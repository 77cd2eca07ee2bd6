//===- JitNamesTest.cpp - what a debugger learns about compiled code ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// gdb reads a list of object files in the memory of the process (GDB's manual, "JIT Compilation Interface"). A kernel's
// object is in it while the kernel lives; an entry that stays longer would point to freed memory.
//
//===----------------------------------------------------------------------===//

#include "AttentionText.h"
#include "JitTestUtil.h"
#include "llvm/ExecutionEngine/Orc/TargetProcess/JITLoaderGDB.h"

#include <thread>

using namespace attn;
using namespace jit_test;

/// LLVM has it, where debuggers look for it.
extern "C" jit_descriptor __jit_debug_descriptor;

namespace {

/// Registered objects that contain a text.
int countObjects(llvm::StringRef text) {
  int count = 0;
  for (const jit_code_entry *entry = __jit_debug_descriptor.first_entry; entry; entry = entry->next_entry)
    count += llvm::StringRef(entry->symfile_addr, entry->symfile_size).contains(text);
  return count;
}

TEST(JitNames, debuggers_know_a_kernel_while_it_lives) {
  const char *names[] = {"attn_entry_f", "f_parallel_0_callback"};
  for (const char *name : names)
    EXPECT_EQ(countObjects(name), 0) << name;
  {
    Compiled first = compile(dynamicAttention({}));
    ASSERT_TRUE(first.jit) << first.error;
    ASSERT_NE(first.entry("f"), nullptr);
    for (const char *name : names)
      EXPECT_EQ(countObjects(name), 1) << name;
    AttentionText causal;
    causal.clauses = "masks(causal<top_left>)";
    Compiled second = compile(dynamicAttention(causal));
    ASSERT_TRUE(second.jit) << second.error;
    ASSERT_NE(second.entry("f"), nullptr);
    for (const char *name : names)
      EXPECT_EQ(countObjects(name), 2) << name;
  }
  for (const char *name : names)
    EXPECT_EQ(countObjects(name), 0) << name;
}

/// Kernels that come and go in several threads leave the list as it was.
TEST(JitNames, threads_share_the_list) {
  const jit_code_entry *before = __jit_debug_descriptor.first_entry;
  std::vector<std::thread> threads;
  for (int n = 0; n < 3; ++n)
    threads.emplace_back([] {
      for (int repeat = 0; repeat < 3; ++repeat) {
        Compiled compiled = compile(dynamicAttention({}));
        ASSERT_TRUE(compiled.jit) << compiled.error;
        EXPECT_NE(compiled.entry("f"), nullptr);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(__jit_debug_descriptor.first_entry, before);
}

} // namespace
