//===- ApiKernelTest.cpp - parse, compile, run -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GuardedMemory.h"
#include "SuiteTarget.h"
#include "attn/attn.h"

#include <atomic>
#include <cmath>
#include <gtest/gtest.h>
#include <thread>

using namespace attn;

namespace {

/// axpy: out[i, j] = a * x[i, j] + y[i, j], sizes dynamic.
constexpr const char *axpy = R"(
#map = affine_map<(i, j) -> (i, j)>
func.func @axpy(%a: f32, %x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %x, %c0 : tensor<?x?xf32>
  %columns = tensor.dim %x, %c1 : tensor<?x?xf32>
  %init = tensor.empty(%rows, %columns) : tensor<?x?xf32>
  %out = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<?x?xf32>, tensor<?x?xf32>) outs(%init : tensor<?x?xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %p = arith.mulf %a, %u : f32
    %s = arith.addf %p, %v : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %out : tensor<?x?xf32>
}
)";

/// Causal attention over any batch and lengths.
constexpr const char *attention = R"(
func.func @causal(%q: tensor<?x4x?x8xf32>, %k: tensor<?x2x?x8xf32>, %v: tensor<?x2x?x8xf32>) -> tensor<?x4x?x8xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %scale = arith.constant 0.5 : f32
  %batch = tensor.dim %q, %c0 : tensor<?x4x?x8xf32>
  %queries = tensor.dim %q, %c2 : tensor<?x4x?x8xf32>
  %init = tensor.empty(%batch, %queries) : tensor<?x4x?x8xf32>
  %out = attn.attention %q, %k, %v scale(%scale) masks(causal<bottom_right>)
      : tensor<?x4x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>
        outs(%init : tensor<?x4x?x8xf32>) -> tensor<?x4x?x8xf32>
  return %out : tensor<?x4x?x8xf32>
}
)";

Module parse(const std::string &text) {
  Result<Module> module = Module::parse(text, "test.mlir");
  if (!module) {
    ADD_FAILURE() << module.error().str();
    std::abort();
  }
  return *module;
}

Kernel compile(const char *text, const CompileOptions &options = {}) {
  Result<Kernel> kernel = parse(text).compile("", Target::named(suiteCpu()), options);
  if (!kernel) {
    ADD_FAILURE() << kernel.error().str();
    std::abort();
  }
  return *kernel;
}

/// Numbers from a formula, between -1 and 1.
std::vector<float> wave(size_t count, double step) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(std::sin(step * static_cast<double>(i + 1)));
  return values;
}

/// Inputs and output of @causal.
struct AttentionData {
  int64_t batch, queryLen, kvLen;
  GuardedVector<float> q, k, v, out;
  AttentionData(int64_t batch, int64_t queryLen, int64_t kvLen)
      : batch(batch), queryLen(queryLen), kvLen(kvLen), q(wave(batch * 4 * queryLen * 8, 0.7)),
        k(wave(batch * 2 * kvLen * 8, 1.3)), v(wave(batch * 2 * kvLen * 8, 0.3)), out(batch * 4 * queryLen * 8) {}
  std::vector<Argument> inputs() {
    return {view(q, {batch, 4, queryLen, 8}), view(k, {batch, 2, kvLen, 8}), view(v, {batch, 2, kvLen, 8})};
  }
  std::vector<MutableTensorView> outputs() { return {view(out, {batch, 4, queryLen, 8})}; }
};

} // namespace

//===----------------------------------------------------------------------===//
// Parsing and compiling
//===----------------------------------------------------------------------===//

TEST(ModuleTest, lists_public_functions) {
  Module module = parse(R"(
    func.func @first(%a: tensor<2x?xbf16>, %b: index) -> (f32, tensor<i1>) {
      %0 = arith.constant 0.0 : f32
      %1 = tensor.empty() : tensor<i1>
      return %0, %1 : f32, tensor<i1>
    }
    func.func private @helper()
    func.func @second() { return }
  )");
  std::vector<FunctionSignature> functions = module.functions();
  ASSERT_EQ(functions.size(), 2u);
  EXPECT_EQ(functions[0].str(), "@first(tensor<2x?xbf16>, index) -> (f32, tensor<i1>)");
  EXPECT_EQ(functions[0].location.line, 2);
  EXPECT_EQ(functions[0].arguments[0].dtype, DType::BF16);
  EXPECT_EQ(functions[0].arguments[0].sizes, (std::vector<int64_t>{2, dynamicSize}));
  EXPECT_EQ(functions[0].arguments[1].dtype, DType::I64);
  EXPECT_FALSE(functions[0].results[0].isTensor);
  EXPECT_EQ(functions[0].results[1].dtype, DType::I1);
  EXPECT_EQ(functions[1].name, "second");
}

TEST(ModuleTest, parse_errors_have_a_place) {
  auto syntax = Module::parse("func.func @f() {\n  %0 = nonsense\n}\n", "bad.mlir");
  ASSERT_FALSE(syntax);
  EXPECT_EQ(syntax.error().code, ErrorCode::Parse);
  EXPECT_EQ(syntax.error().location.str(), "bad.mlir:2:8");
  // The verifier's message, and the note on another place on a line of its own.
  auto twice = Module::parse("func.func @f() { return }\nfunc.func @f() { return }\n", "bad.mlir");
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().str(), "bad.mlir:2:1: redefinition of symbol named 'f'\nbad.mlir:1:1: note: see existing "
                                 "symbol definition here");
  EXPECT_EQ(Module::parse(std::string_view("\0\xff", 2)).error().code, ErrorCode::Parse);
  EXPECT_TRUE(Module::parse("")->functions().empty());
}

TEST(ModuleTest, foreign_operations_are_raised_or_named) {
  // The work counts the attention that the op became.
  Module raised = parse(R"(func.func @f(%q: tensor<3x5x4xf32>, %k: tensor<3x7x4xf32>) -> tensor<3x5x4xf32> {
    %r = "tm_tensor.attention"(%q, %k, %k, %q)
        : (tensor<3x5x4xf32>, tensor<3x7x4xf32>, tensor<3x7x4xf32>, tensor<3x5x4xf32>) -> tensor<3x5x4xf32>
    return %r : tensor<3x5x4xf32>
  })");
  std::vector<float> q(3 * 5 * 4), k(3 * 7 * 4);
  std::vector<Argument> inputs = {view(q, {3, 5, 4}), view(k, {3, 7, 4})};
  EXPECT_EQ(raised.countWork("f", inputs)->total, 3 * 5 * 7 * 2 * (4 + 4));

  auto malformed = Module::parse("func.func @f(%x: tensor<3xf32>) {\n  \"tm_tensor.scan\"(%x) : (tensor<3xf32>) -> ()\n"
                                 "  return\n}\n",
                                 "bad.mlir");
  ASSERT_FALSE(malformed);
  EXPECT_EQ(malformed.error().code, ErrorCode::Unsupported);
  EXPECT_EQ(malformed.error().location.str(), "bad.mlir:2:3");

  auto unknown = parse("func.func @f() {\n  \"test.unknown\"() : () -> ()\n  return\n}\n").compile("f");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::CompileFailed);
  EXPECT_NE(unknown.error().message.find("no lowering of 'test.unknown'"), std::string::npos);
}

TEST(ModuleTest, functions_stand_by_themselves) {
  Module module = parse(R"(func.func @good(%x: tensor<3xf32>) -> tensor<3xf32> { return %x : tensor<3xf32> }
    func.func @malformed(%x: tensor<3xf32>) {
      "tm_tensor.scan"(%x) : (tensor<3xf32>) -> ()
      return
    }
    func.func @endless() { call @endless() : () -> () return }
    "test.global"() {sym_name = "unused"} : () -> ()
    module @inner {})");
  EXPECT_EQ(module.functions().size(), 3u);
  std::vector<float> x = {1, 2, 3}, y(3);
  ASSERT_TRUE(module.compile("good"));
  EXPECT_TRUE(module.evaluate("good", {view(x, {3})}));
  EXPECT_TRUE(module.resultSizes("good", {view(x, {3})}));

  // What fails says so at every entrance, with one message.
  auto malformed = module.compile("malformed");
  ASSERT_FALSE(malformed);
  EXPECT_EQ(malformed.error().code, ErrorCode::Unsupported);
  EXPECT_EQ(malformed.error().location.str(), "test.mlir:3:7");
  EXPECT_EQ(module.evaluate("malformed", {view(x, {3})}).error().message, malformed.error().message);
  EXPECT_EQ(module.emit("malformed", Stage::Graph).error().message, malformed.error().message);
  EXPECT_EQ(module.compile("endless").error().message,
            "'func.call' op expects functions that do not call themselves, but got the cycle @endless -> @endless; use "
            "scf.for or scf.while");
}

TEST(ModuleTest, the_only_function_is_all_of_the_module) {
  Module module = parse("func.func @f() { return }\nmodule @inner {}\n");
  EXPECT_TRUE(module.compile("f"));
  auto whole = module.compile();
  ASSERT_FALSE(whole);
  EXPECT_EQ(whole.error().str(),
            "test.mlir:2:1: a module in a module is not compiled; move what it holds to the outer one");
}

TEST(ModuleTest, files_that_cannot_be_read) {
  auto missing = Module::parseFile("/nonexistent/x.mlir");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::Io);
  EXPECT_EQ(missing.error().location.file, "/nonexistent/x.mlir");
}

TEST(ModuleTest, names_that_are_not_there) {
  Module module = parse("func.func @f() { return }\nfunc.func @g() { return }\n");
  auto unknown = module.compile("h");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::NotFound);
  EXPECT_EQ(unknown.error().message, "the module has no public function @h with a body; it has @f, @g");
  EXPECT_EQ(module.compile().error().message, "the module has several functions; name one of @f, @g");
  EXPECT_EQ(parse("").compile().error().message, "the module has no public function with a body");
}

TEST(ModuleTest, types_that_kernels_do_not_have) {
  auto kernel = parse("func.func @f(%a: memref<2xf32>) { return }").compile();
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().code, ErrorCode::Unsupported);
  EXPECT_EQ(kernel.error().str(),
            "test.mlir:1:1: argument 0 of @f has type memref<2xf32>, which kernels do not support; use ranked tensors "
            "and scalars of f16, bf16, f32, f64, i1, i8, i16, i32, i64 or index");
  EXPECT_FALSE(parse("func.func @f(%a: tensor<*xf32>) { return }").compile());
  EXPECT_FALSE(parse("func.func @f(%a: tensor<2xui8>) { return }").compile());
  EXPECT_FALSE(parse("func.func @f(%a: i24) -> i24 { return %a : i24 }").compile());
}

TEST(ModuleTest, options_out_of_range) {
  Module module = parse(axpy);
  auto code = [&](const CompileOptions &options) {
    auto kernel = module.compile("", Target::named(suiteCpu()), options);
    return kernel ? "" : kernel.error().message;
  };
  EXPECT_EQ(code(CompileOptions().tileQ(24)), "tileQ expects a power of two from 1 to 1024, but got 24; use 0 to let "
                                              "the cost model choose");
  EXPECT_NE(code(CompileOptions().tileQ(-1)), "");
  EXPECT_NE(code(CompileOptions().tileKv(65537)), "");
  EXPECT_NE(code(CompileOptions().segmentKeys((int64_t(1) << 30) + 1)), "");
  EXPECT_NE(code(CompileOptions().blockRows(17)), "");
  EXPECT_EQ(code(CompileOptions().tileQ(32).tileKv(96).segmentKeys(100).blockRows(4)), "");
}

TEST(ModuleTest, targets_that_are_not_here) {
  auto unknown = parse(axpy).compile("", Target::cpu("no-such-cpu"));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::TargetUnavailable);
#if defined(__x86_64__)
  // XOP came and went with AMD's Bulldozer family: compiled, but never run.
  if (__builtin_cpu_supports("xop"))
    GTEST_SKIP() << "this CPU has XOP";
  auto foreign = parse(axpy).compile("", Target::cpu("bdver2"));
  ASSERT_FALSE(foreign);
  EXPECT_EQ(foreign.error().code, ErrorCode::TargetUnavailable);
  auto text = parse(axpy).emit("", Stage::Assembly, Target::cpu("bdver2"));
  ASSERT_TRUE(text) << text.error().str();
  EXPECT_NE(text->find("attn_entry_axpy"), std::string::npos);
#endif
}

TEST(ModuleTest, stages_can_be_looked_at) {
  std::vector<std::string> names;
  std::string graph, tiled, assembly;
  Kernel kernel = compile(attention, CompileOptions().dump([&](Stage stage, const std::string &text) {
    names.push_back(toString(stage));
    (stage == Stage::Graph ? graph : stage == Stage::Tiled ? tiled : assembly) = text;
  }));
  EXPECT_EQ(names, (std::vector<std::string>{"graph", "tiled", "target", "llvm-dialect", "llvm", "asm"}));
  EXPECT_NE(graph.find("attn.attention"), std::string::npos);
  EXPECT_EQ(tiled.find("attn.attention"), std::string::npos);
  EXPECT_NE(tiled.find("flash.update_max"), std::string::npos);
  EXPECT_EQ(*parse(attention).emit("causal", Stage::Tiled, Target::named(suiteCpu())), tiled);
  std::string description = kernel.describe();
  EXPECT_NE(description.find("@causal(tensor<?x4x?x8xf32>"), std::string::npos) << description;
  EXPECT_NE(description.find("queries x"), std::string::npos) << description;
  EXPECT_GE(kernel.stages().size(), 4u);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

TEST(KernelTest, computes_a_linalg_function) {
  Kernel kernel = compile(axpy);
  std::vector<float> x = wave(6, 1), y = wave(6, 2), out(6);
  auto run = kernel.run({2.0f, view(x, {2, 3}), view(y, {2, 3})}, {view(out, {2, 3})});
  ASSERT_TRUE(run) << run.error().str();
  for (int i = 0; i < 6; ++i)
    EXPECT_FLOAT_EQ(out[i], 2 * x[i] + y[i]);
}

TEST(KernelTest, reads_and_writes_through_strides) {
  Kernel kernel = compile(axpy);
  // x: columns 1 to 3 of rows of 5; y: one row, broadcast; out: every other row of 4 columns.
  std::vector<float> x = wave(10, 1), y = wave(3, 2), out(16, -7);
  auto run = kernel.run({1.0f, view(x.data() + 1, {2, 3}, {5, 1}), view(y.data(), {2, 3}, {0, 1})},
                        {view(out.data(), {2, 3}, {8, 1})});
  ASSERT_TRUE(run) << run.error().str();
  for (int i = 0; i < 16; ++i) {
    bool written = i % 8 < 3;
    EXPECT_FLOAT_EQ(out[i], written ? x[1 + 5 * (i / 8) + i % 8] + y[i % 8] : -7) << i;
  }
}

TEST(KernelTest, inputs_may_be_one_buffer) {
  Kernel kernel = compile(axpy);
  std::vector<float> x = wave(6, 1), out(6);
  ASSERT_TRUE(kernel.run({3.0f, view(x, {2, 3}), view(x, {2, 3})}, {view(out, {2, 3})}));
  for (int i = 0; i < 6; ++i)
    EXPECT_FLOAT_EQ(out[i], 4 * x[i]);
}

TEST(KernelTest, wrong_arguments_run_nothing) {
  Kernel kernel = compile(axpy);
  std::vector<float> x(6), out(6, 5);
  auto run = kernel.run({1.0f, view(x, {2, 3}), view(x, {6})}, {view(out, {2, 3})});
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, ErrorCode::InvalidArgument);
  EXPECT_EQ(out, std::vector<float>(6, 5));
  EXPECT_FALSE(kernel.run({1.0f, view(x, {2, 3}), view(x, {2, 3})}, {view(out, {2, 3})}, RunOptions().threads(-2)));
  EXPECT_FALSE(
      kernel.run({1.0f, view(x, {2, 3}), view(x, {2, 3})}, {view(out, {2, 3})}, RunOptions().maxScratchBytes(-1)));
  run = kernel.run({1.0f, view(x, {2, 3}), view(x, {2, 3})}, {view(out, {2, 3})}, RunOptions().leastWork(-1));
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().message, "leastWork expects at least 0, but got -1; use 0 for the default");
}

TEST(KernelTest, sizes_that_disagree_are_refused_by_the_code) {
  Kernel kernel = compile(attention);
  AttentionData data(1, 5, 7), other(1, 5, 8);
  auto inputs = data.inputs();
  inputs[2] = other.inputs()[2]; // value has 8 keys, key 7
  auto run = kernel.run(inputs, data.outputs());
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, ErrorCode::KernelRefused);
  EXPECT_EQ(run.error().location.file, "test.mlir");
  EXPECT_NE(run.error().message.find("@causal: "), std::string::npos);
}

TEST(KernelTest, scratch_limit) {
  Kernel kernel = compile(attention);
  AttentionData data(2, 9, 11);
  auto run = kernel.run(data.inputs(), data.outputs(), RunOptions().maxScratchBytes(1));
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, ErrorCode::ScratchLimit);
}

TEST(KernelTest, agrees_with_the_reference) {
  Module module = parse(attention);
  auto kernel = module.compile();
  ASSERT_TRUE(kernel) << kernel.error().str();
  AttentionData data(2, 33, 65);
  ASSERT_TRUE(kernel->run(data.inputs(), data.outputs()));
  auto check = [&] { return module.check("causal", data.inputs(), {view(data.out, {2, 4, 33, 8})}); };
  auto comparison = check();
  ASSERT_TRUE(comparison) << comparison.error().str();
  EXPECT_TRUE((*comparison)[0].pass) << (*comparison)[0].message;
  data.out[100] += 1e-3f;
  EXPECT_FALSE((*check())[0].pass);
  data.out[100] = NAN;
  EXPECT_FALSE((*check())[0].pass);
}

TEST(KernelTest, a_sample_of_rows_agrees_with_the_reference) {
  Module module = parse(attention);
  auto kernel = module.compile();
  ASSERT_TRUE(kernel) << kernel.error().str();
  AttentionData data(2, 33, 65);
  ASSERT_TRUE(kernel->run(data.inputs(), data.outputs()));
  auto check = [&](int64_t rows) {
    return module.check("causal", data.inputs(), {view(data.out, {2, 4, 33, 8})}, CheckOptions().rows(rows));
  };
  auto comparison = check(3);
  ASSERT_TRUE(comparison) << comparison.error().str();
  EXPECT_TRUE((*comparison)[0].pass) << (*comparison)[0].message;
  EXPECT_EQ((*comparison)[0].compared, 3 * 8);
  EXPECT_GT((*comparison)[0].meanError, 0);
  EXPECT_LE((*comparison)[0].meanError, (*comparison)[0].maxError);
  // Of 264 rows: 0, 131 and 263.
  data.out[130 * 8] = data.out[262 * 8] = NAN;
  EXPECT_TRUE((*check(3))[0].pass);
  data.out[131 * 8] = NAN;
  EXPECT_EQ((*check(3))[0].wrong, 1);
  EXPECT_EQ((*check(0))[0].compared, 264 * 8);
  ASSERT_FALSE(check(-1));
  EXPECT_EQ(check(-1).error().code, ErrorCode::InvalidArgument);
}

TEST(KernelTest, the_reference_by_itself) {
  Module module = parse(axpy);
  std::vector<float> x = wave(6, 1), y = wave(6, 2);
  auto run = module.evaluate("", {2.0f, view(x.data(), {3, 2}, {2, 1}), view(y, {3, 2})});
  ASSERT_TRUE(run) << run.error().str();
  EXPECT_EQ(run->results[0].sizes, (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(run->results[0].dtype, DType::F32);
  for (int i = 0; i < 6; ++i)
    EXPECT_DOUBLE_EQ(run->results[0].reals[i], 2.0 * x[i] + y[i]); // f64: not rounded to f32
  auto disagree = module.evaluate("", {2.0f, view(x, {3, 2}), view(y, {2, 3})});
  ASSERT_FALSE(disagree);
  EXPECT_EQ(disagree.error().code, ErrorCode::KernelRefused);
}

TEST(KernelTest, scalar_and_small_types) {
  Kernel kernel = compile(R"(
    func.func @f(%a: i1, %b: i8, %c: index, %d: f64, %t: tensor<2xi1>) -> (i8, index, f64, tensor<2xi1>, i1) {
      %n = arith.addi %b, %b : i8
      %m = arith.addi %c, %c : index
      %x = arith.addf %d, %d : f64
      return %n, %m, %x, %t, %a : i8, index, f64, tensor<2xi1>, i1
    })");
  int8_t n = 0;
  int64_t m = 0;
  double x = 0;
  bool flags[2] = {false, true}, outFlags[2] = {true, false}, a = false;
  auto run = kernel.run({true, -3, int64_t(1) << 40, 0.125, view(flags, {2})},
                        {view(&n, {}), view(&m, {}), view(&x, {}), view(outFlags, {2}), view(&a, {})});
  ASSERT_TRUE(run) << run.error().str();
  EXPECT_EQ(n, -6);
  EXPECT_EQ(m, int64_t(1) << 41);
  EXPECT_EQ(x, 0.25);
  EXPECT_FALSE(outFlags[0]);
  EXPECT_TRUE(outFlags[1]);
  EXPECT_TRUE(a);
}

TEST(KernelTest, outlives_its_module) {
  std::optional<Kernel> kernel;
  {
    Module module = parse(axpy);
    kernel = *module.compile();
  }
  std::vector<float> x(6, 1), out(6);
  Kernel copy = *kernel;
  kernel.reset();
  ASSERT_TRUE(copy.run({1.0f, view(x, {2, 3}), view(x, {2, 3})}, {view(out, {2, 3})}));
  EXPECT_EQ(out, std::vector<float>(6, 2));
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

TEST(KernelThreads, the_number_changes_no_bit) {
  Kernel kernel = compile(attention);
  AttentionData alone(2, 70, 130);
  ASSERT_TRUE(kernel.run(alone.inputs(), alone.outputs()));
  for (int64_t threads = 1; threads <= 8; ++threads) {
    AttentionData data(2, 70, 130);
    ASSERT_TRUE(kernel.run(data.inputs(), data.outputs(), RunOptions().threads(threads).leastWork(1)));
    EXPECT_EQ(std::memcmp(data.out.data(), alone.out.data(), alone.out.size() * 4), 0) << threads;
  }
}

/// 2 x 70 queries x 130 keys are small; what the caller says is small counts.
TEST(KernelThreads, small_problems_stay_on_the_calling_thread) {
  Kernel kernel = compile(attention);
  AttentionData data(2, 70, 130);
  auto workers = [&](int64_t leastWork) {
    auto report = kernel.run(data.inputs(), data.outputs(), RunOptions().threads(2).leastWork(leastWork).profile(true));
    return report ? report->loops.back().workers.size() : 0;
  };
  EXPECT_EQ(workers(int64_t(1) << 40), 1u);
  EXPECT_EQ(workers(1), 2u);
}

TEST(KernelThreads, many_run_one_kernel_on_one_pool) {
  Kernel kernel = compile(attention);
  RunOptions options = RunOptions().threads(3).leastWork(1);
  std::vector<AttentionData> wanted;
  for (int64_t size = 1; size <= 4; ++size) {
    wanted.emplace_back(1, 20 * size, 30 * size);
    ASSERT_TRUE(kernel.run(wanted.back().inputs(), wanted.back().outputs()));
  }
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 20; ++round) {
        const AttentionData &want = wanted[(t + round) % wanted.size()];
        AttentionData data(1, want.queryLen, want.kvLen);
        auto run =
            t % 2 ? kernel.run(data.inputs(), data.outputs(), options) : kernel.run(data.inputs(), data.outputs());
        wrong += !run || std::memcmp(data.out.data(), want.out.data(), want.out.size() * 4) != 0;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(KernelThreads, the_callers_executor) {
  Kernel kernel = compile(attention);
  AttentionData alone(2, 70, 130), data(2, 70, 130);
  ASSERT_TRUE(kernel.run(alone.inputs(), alone.outputs()));
  std::atomic<int64_t> calls{0};
  auto pool = ThreadPool::create(Executor{4, [&](int64_t workers, const std::function<void(int64_t)> &work) {
                                            for (int64_t worker = workers; worker-- > 0; ++calls)
                                              work(worker);
                                          }});
  ASSERT_TRUE(pool);
  ASSERT_TRUE(kernel.run(data.inputs(), data.outputs(), RunOptions().pool(*pool).leastWork(1)));
  EXPECT_EQ(calls, 4);
  EXPECT_EQ(std::memcmp(data.out.data(), alone.out.data(), alone.out.size() * 4), 0);

  auto idle = ThreadPool::create(Executor{4, [](int64_t, const std::function<void(int64_t)> &) {}});
  auto run = kernel.run(data.inputs(), data.outputs(), RunOptions().pool(*idle).leastWork(1));
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, ErrorCode::ExecutorFailed);
}

TEST(KernelThreads, compile_from_one_module_at_once) {
  Module module = parse(axpy);
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] { failed += !module.compile(); });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(failed, 0);
}

//===----------------------------------------------------------------------===//
// Sizes and work
//===----------------------------------------------------------------------===//

TEST(Work, counts_what_masks_keep) {
  Module module = parse(attention);
  auto sizes = [](int64_t batch, int64_t heads, int64_t length) {
    return Argument(TensorView{nullptr, DType::F32, {batch, heads, length, 8}, {0, 0, 0, 1}, -1});
  };
  std::vector<Argument> inputs{sizes(3, 4, 5), sizes(3, 2, 7), sizes(3, 2, 7)};
  auto work = module.countWork("causal", inputs);
  ASSERT_TRUE(work) << work.error().str();
  // Rows see 3, 4, 5, 6, 7 of 7 keys: 25 of 35 pairs a head; 2 * (8 + 8) operations a pair, 3 * 4 heads.
  EXPECT_EQ(work->total, 35 * 32 * 12);
  EXPECT_EQ(work->kept, 25 * 32 * 12);
  // 4 heads x 5 queries x (8 + 8) of query and output, 2 kv heads x 7 keys x (8 + 8) of key and value; 3 x 4 bytes.
  EXPECT_EQ(work->bytes, (4 * 5 * 16 + 2 * 7 * 16) * 3 * 4);
  EXPECT_EQ(work->attentions, 1);
  EXPECT_EQ(*module.resultSizes("causal", inputs), (std::vector<std::vector<int64_t>>{{3, 4, 5, 8}}));
  EXPECT_FALSE(module.resultSizes("causal", {inputs[0]}));
}

TEST(Work, counts_lengths_where_they_are_data) {
  Module module = parse(R"(
    func.func @padded(%q: tensor<3x2x5x4xf32>, %k: tensor<3x2x7x4xf32>, %v: tensor<3x2x7x6xf32>, %n: tensor<3xi32>)
        -> tensor<3x2x5x6xf32> {
      %scale = arith.constant 0.5 : f32
      %init = tensor.empty() : tensor<3x2x5x6xf32>
      %out = attn.attention %q, %k, %v scale(%scale) masks(window<left = 1, right = 0, top_left>)
          kv_lengths(%n : tensor<3xi32>) : tensor<3x2x5x4xf32>, tensor<3x2x7x4xf32>, tensor<3x2x7x6xf32>
          outs(%init : tensor<3x2x5x6xf32>) -> tensor<3x2x5x6xf32>
      return %out : tensor<3x2x5x6xf32>
    })");
  auto view = [](const void *data, DType dtype, std::vector<int64_t> sizes) {
    std::vector<int64_t> strides = rowMajorStrides(sizes);
    return Argument(TensorView{data, dtype, std::move(sizes), std::move(strides), -1});
  };
  std::vector<int32_t> lengths{0, 3, 7};
  std::vector<Argument> inputs{view(nullptr, DType::F32, {3, 2, 5, 4}), view(nullptr, DType::F32, {3, 2, 7, 4}),
                               view(nullptr, DType::F32, {3, 2, 7, 6}), view(lengths.data(), DType::I32, {3})};
  auto work = module.countWork("padded", inputs);
  ASSERT_TRUE(work) << work.error().str();
  // Rows keep nothing of length 0, then 1 + 2 + 2 + 1 (key 2 of row 3) and 1 + 2 + 2 + 2 + 2; 2 heads, 20 a pair.
  EXPECT_EQ(work->kept, (6 + 9) * 2 * 20);
  EXPECT_EQ(work->total, 3 * 35 * 2 * 20);
  // Keys 0 to 2 and 0 to 4 are seen: 2 heads x (8 keys + 3 x 5 queries) x 10 elements of 4 bytes.
  EXPECT_EQ(work->bytes, 2 * (3 + 5 + 15) * 10 * 4);
  inputs[3] = view(nullptr, DType::I32, {3});
  EXPECT_EQ(module.countWork("padded", inputs)->kept, 3 * 9 * 2 * 20);
}

/// Attention of 6 queries and 6 keys, 2 query heads for one kv head, head size 4: 2 * (4 + 4) operations a score.
static Module masked(const std::string &mask, const std::string &argument = "") {
  return parse("func.func @f(%q: tensor<3x2x6x4xf32>, %k: tensor<3x1x6x4xf32>" + argument + R"()
        -> tensor<3x2x6x4xf32> {
      %scale = arith.constant 0.5 : f32
      %init = tensor.empty() : tensor<3x2x6x4xf32>
      %out = attn.attention %q, %k, %k scale(%scale) )" +
               mask + R"( : tensor<3x2x6x4xf32>, tensor<3x1x6x4xf32>,
          tensor<3x1x6x4xf32> outs(%init : tensor<3x2x6x4xf32>) -> tensor<3x2x6x4xf32>
      return %out : tensor<3x2x6x4xf32>
    })");
}

static TensorView dataless(DType dtype, std::vector<int64_t> sizes) {
  std::vector<int64_t> strides = rowMajorStrides(sizes);
  return {nullptr, dtype, std::move(sizes), std::move(strides), -1};
}

TEST(Work, counts_the_same_for_a_mask_by_name_and_as_a_region) {
  std::vector<Argument> inputs{dataless(DType::F32, {3, 2, 6, 4}), dataless(DType::F32, {3, 1, 6, 4})};
  auto named = masked("masks(causal)").countWork("f", inputs);
  auto region = masked(R"(where(%b, %h, %i, %j) {
      %keep = arith.cmpi sle, %j, %i : index
      attn.yield %keep : i1
    })")
                    .countWork("f", inputs);
  ASSERT_TRUE(named && region);
  // 1 + 2 + ... + 6 of 36, 3 batch entries of 2 heads.
  EXPECT_EQ(named->kept, 21 * 3 * 2 * 16);
  EXPECT_EQ(region->kept, named->kept);
  EXPECT_EQ(region->bytes, named->bytes);
  EXPECT_TRUE(region->isExact);
}

TEST(Work, evaluates_masks_that_no_bound_decides) {
  // Every other key, and in the second head none but key 2.
  auto work = masked(R"(where(%b, %h, %i, %j) {
      %zero = arith.constant 0 : index
      %two = arith.constant 2 : index
      %rest = arith.remui %j, %two : index
      %even = arith.cmpi eq, %rest, %zero : index
      %first = arith.cmpi eq, %h, %zero : index
      %is2 = arith.cmpi eq, %j, %two : index
      %all = arith.ori %first, %is2 : i1
      %keep = arith.andi %even, %all : i1
      attn.yield %keep : i1
    })")
                  .countWork("f", {dataless(DType::F32, {3, 2, 6, 4}), dataless(DType::F32, {3, 1, 6, 4})});
  ASSERT_TRUE(work) << work.error().str();
  EXPECT_EQ(work->kept, (3 + 1) * 6 * 3 * 16);
  // Both heads share keys 0 to 4: 5 keys of 4 + 4 elements; 2 heads of 6 queries of 4 + 4.
  EXPECT_EQ(work->bytes, (5 + 2 * 6) * 8 * 4 * 3);
  EXPECT_TRUE(work->isExact);
}

TEST(Work, reads_what_a_mask_reads) {
  Module module = masked("masks(document(%ids : tensor<6xi32>))", ", %ids: tensor<6xi32>");
  std::vector<int32_t> ids{1, 1, 1, 2, 2, 5};
  std::vector<Argument> inputs{dataless(DType::F32, {3, 2, 6, 4}), dataless(DType::F32, {3, 1, 6, 4}),
                               TensorView{ids.data(), DType::I32, {6}, {1}, -1}};
  auto work = module.countWork("f", inputs);
  ASSERT_TRUE(work) << work.error().str();
  EXPECT_EQ(work->kept, (9 + 4 + 1) * 3 * 2 * 16);
  EXPECT_TRUE(work->isExact);
  inputs[2] = dataless(DType::I32, {6});
  work = module.countWork("f", inputs);
  ASSERT_TRUE(work) << work.error().str();
  EXPECT_EQ(work->kept, work->total);
  EXPECT_FALSE(work->isExact);
}

/// softmax(q k^T) k written out, sizes open.
static const char *const unfused = R"(
  func.func @f(%q: tensor<?x?x4xf32>, %k: tensor<?x?x4xf32>) -> tensor<?x?x4xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %batch = tensor.dim %q, %c0 : tensor<?x?x4xf32>
    %n = tensor.dim %q, %c1 : tensor<?x?x4xf32>
    %m = tensor.dim %k, %c1 : tensor<?x?x4xf32>
    %se = tensor.empty(%batch, %n, %m) : tensor<?x?x?xf32>
    %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
    %te = tensor.empty(%batch, %m) : tensor<?x4x?xf32>
    %t = linalg.transpose ins(%k : tensor<?x?x4xf32>) outs(%te : tensor<?x4x?xf32>) permutation = [0, 2, 1]
    %s = linalg.batch_matmul ins(%q, %t : tensor<?x?x4xf32>, tensor<?x4x?xf32>) outs(%sz : tensor<?x?x?xf32>)
        -> tensor<?x?x?xf32>
    %p = linalg.softmax dimension(2) ins(%s : tensor<?x?x?xf32>) outs(%se : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
    %oe = tensor.empty(%batch, %n) : tensor<?x?x4xf32>
    %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
    %o = linalg.batch_matmul ins(%p, %k : tensor<?x?x?xf32>, tensor<?x?x4xf32>) outs(%oz : tensor<?x?x4xf32>)
        -> tensor<?x?x4xf32>
    return %o : tensor<?x?x4xf32>
  })";

TEST(Work, sees_what_fusion_makes) {
  Module module = parse(unfused);
  std::vector<Argument> inputs{dataless(DType::F32, {3, 5, 4}), dataless(DType::F32, {3, 7, 4})};
  auto work = module.countWork("f", inputs);
  ASSERT_TRUE(work) << work.error().str();
  EXPECT_EQ(work->attentions, 1);
  EXPECT_EQ(work->kept, 3 * 5 * 7 * 16);
  EXPECT_EQ(module.countWork("f", inputs, CompileOptions().fuse(false))->attentions, 0);
  EXPECT_NE(module.compile("f")->describe().find("\ntiles of "), std::string::npos);
}

//===----------------------------------------------------------------------===//
// Checked code
//===----------------------------------------------------------------------===//

TEST(CheckedKernels, compute_the_same_bits) {
  Kernel kernel = compile(attention), checked = compile(attention, CompileOptions().checkBounds(true));
  AttentionData data(2, 33, 65), again(2, 33, 65);
  ASSERT_TRUE(kernel.run(data.inputs(), data.outputs()).ok());
  auto report = checked.run(again.inputs(), again.outputs(), RunOptions().threads(3).leastWork(1));
  ASSERT_TRUE(report.ok()) << report.error().str();
  EXPECT_EQ(std::memcmp(data.out.data(), again.out.data(), data.out.size() * 4), 0);
  EXPECT_TRUE(again.q.isIntact() && again.k.isIntact() && again.v.isIntact() && again.out.isIntact());
}

TEST(CheckedKernels, are_for_cpus) {
  auto kernel = parse(attention).compile("", Target::named("emulator"), CompileOptions().checkBounds(true));
  ASSERT_FALSE(kernel.ok());
  EXPECT_EQ(kernel.error().code, ErrorCode::Unsupported);
  EXPECT_EQ(kernel.error().message, "checkBounds expects a CPU, but the target is emulator");
}
