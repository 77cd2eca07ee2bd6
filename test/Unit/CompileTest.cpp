//===- CompileTest.cpp - from a graph to values, through the JIT --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AttentionText.h"
#include "JitTestUtil.h"
#include "attn/Pipelines/PassChecks.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/PrettyStackTrace.h"

#include <cmath>
#include <cstring>
#include <numeric>

using namespace attn;
using namespace jit_test;

namespace {

template <typename T> struct Scalar {
  T *allocated;
  T *aligned;
  int64_t offset;
};

Buffer<float, 2> matrix(float *data, int64_t rows, int64_t columns, int64_t stride = 0, int64_t offset = 0) {
  return {data, data, offset, {rows, columns}, {stride ? stride : columns, 1}};
}

/// r = a + s * b, element by element; a and s are returned, too.
const char *kScaledSum = R"(
  #id = affine_map<(d0, d1) -> (d0, d1)>
  func.func @scaled_sum(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %s: f32)
      -> (tensor<?x?xf32>, tensor<?x?xf32>, f32) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %m = tensor.dim %a, %c0 : tensor<?x?xf32>
    %n = tensor.dim %a, %c1 : tensor<?x?xf32>
    %e = tensor.empty(%m, %n) : tensor<?x?xf32>
    %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %0 = arith.mulf %y, %s : f32
      %1 = arith.addf %x, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<?x?xf32>
    return %r, %a, %s : tensor<?x?xf32>, tensor<?x?xf32>, f32
  })";

std::vector<float> ramp(int64_t count, float first) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

TEST(Compile, DynamicSizesFromOneCompilation) {
  Compiled compiled = compile(kScaledSum);
  ASSERT_TRUE(compiled.jit) << compiled.error;
  EntryPoint entry = compiled.entry("scaled_sum");
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>(3, 5), {1, 1}, {0, 7}, {17, 2}}) {
    std::vector<float> a = ramp(rows * columns, 1), b = ramp(rows * columns, 100), r(rows * columns + 1, -1),
                       copy(rows * columns + 1, -1);
    float s = 0.5f, t = 0;
    auto ma = matrix(a.data(), rows, columns), mb = matrix(b.data(), rows, columns);
    auto mr = matrix(r.data(), rows, columns), mc = matrix(copy.data(), rows, columns);
    Scalar<float> mt = {&t, &t, 0};
    attn_rt_call_result result = call(entry, {&ma, &mb, &s, &mr, &mc, &mt});
    ASSERT_EQ(result.code, ATTN_RT_OK) << result.message;
    EXPECT_EQ(result.allocations, 0);
    for (int64_t k = 0; k < rows * columns; ++k) {
      EXPECT_EQ(r[k], a[k] + 0.5f * b[k]);
      EXPECT_EQ(copy[k], a[k]);
    }
    EXPECT_EQ(r.back(), -1) << "written past the end";
    EXPECT_EQ(copy.back(), -1) << "written past the end";
    EXPECT_EQ(t, s);
  }
}

TEST(Compile, InputsMayAliasAndHaveStridesAndOffsets) {
  Compiled compiled = compile(kScaledSum);
  ASSERT_TRUE(compiled.jit) << compiled.error;
  // Rows of 2 in a buffer with rows of 10: a from column 3, b from column 4, so that they overlap.
  std::vector<float> storage = ramp(40, 0), r(8), copy(8);
  float s = 2, t = 0;
  auto ma = matrix(storage.data(), 4, 2, 10, 3), mb = matrix(storage.data(), 4, 2, 10, 4);
  auto mr = matrix(r.data(), 4, 2), mc = matrix(copy.data(), 4, 2);
  Scalar<float> mt = {&t, &t, 0};
  attn_rt_call_result result = call(compiled.entry("scaled_sum"), {&ma, &mb, &s, &mr, &mc, &mt});
  ASSERT_EQ(result.code, ATTN_RT_OK) << result.message;
  for (int row = 0; row < 4; ++row)
    for (int column = 0; column < 2; ++column) {
      float x = 10 * row + 3 + column, y = x + 1;
      EXPECT_EQ(r[2 * row + column], x + 2 * y);
      EXPECT_EQ(copy[2 * row + column], x);
    }
}

TEST(Compile, WrongSizeOfAResultIsRefusedBeforeAnythingIsWritten) {
  Compiled compiled = compile(kScaledSum);
  ASSERT_TRUE(compiled.jit) << compiled.error;
  std::vector<float> a = ramp(15, 1), b = ramp(15, 1), r(15, -1), copy(15, -1);
  float s = 2, t = -1;
  auto ma = matrix(a.data(), 3, 5), mb = matrix(b.data(), 3, 5), mr = matrix(r.data(), 3, 5);
  auto mc = matrix(copy.data(), 3, 4);
  Scalar<float> mt = {&t, &t, 0};
  attn_rt_call_result result = call(compiled.entry("scaled_sum"), {&ma, &mb, &s, &mr, &mc, &mt});
  EXPECT_EQ(result.code, ATTN_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(result.message, "result 1 expects a buffer of size 5 in dimension 1, but got 4");
  EXPECT_EQ(r, std::vector<float>(15, -1));
  EXPECT_EQ(copy, std::vector<float>(15, -1));
  EXPECT_EQ(t, -1);
}

TEST(Compile, SizeThatOnlyTheRunKnowsIsCheckedBeforeTheCopy) {
  // The length of the result is found by a loop, so it is not known at the start of the function.
  Compiled compiled = compile(R"(
    func.func @doubled(%a: tensor<?xf32>, %times: index) -> tensor<?xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n0 = tensor.dim %a, %c0 : tensor<?xf32>
      %n = scf.for %k = %c0 to %times step %c1 iter_args(%x = %n0) -> index {
        %y = arith.addi %x, %x : index
        scf.yield %y : index
      }
      %e = tensor.empty(%n) : tensor<?xf32>
      %one = arith.constant 1.0 : f32
      %r = linalg.fill ins(%one : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
      return %r : tensor<?xf32>
    })");
  ASSERT_TRUE(compiled.jit) << compiled.error;
  std::vector<float> a(3), r(12, -1), shorter(5, -1);
  int64_t times = 2;
  auto ma = vector(a), mr = vector(r), ms = vector(shorter);
  attn_rt_call_result result = call(compiled.entry("doubled"), {&ma, &times, &mr});
  ASSERT_EQ(result.code, ATTN_RT_OK) << result.message;
  EXPECT_EQ(r, std::vector<float>(12, 1));
  result = call(compiled.entry("doubled"), {&ma, &times, &ms});
  EXPECT_EQ(result.code, ATTN_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(result.message, "result 0 expects a buffer of size 12 in dimension 0, but got 5");
  EXPECT_EQ(shorter, std::vector<float>(5, -1));
}

TEST(Compile, SameValueTwiceAndConstants) {
  Compiled compiled = compile(R"(
    func.func @results(%flag: i1, %n: i32) -> (tensor<2xf32>, tensor<2xf32>, i32, index) {
      %a = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
      %b = arith.constant dense<[3.0, 4.0]> : tensor<2xf32>
      %r = arith.select %flag, %a, %b : tensor<2xf32>
      %c7 = arith.constant 7 : index
      return %r, %r, %n, %c7 : tensor<2xf32>, tensor<2xf32>, i32, index
    })");
  ASSERT_TRUE(compiled.jit) << compiled.error;
  for (bool flag : {true, false}) {
    std::vector<float> r(2), again(2);
    int32_t n = -5, m = 0;
    int64_t seven = 0;
    auto mr = vector(r), ma = vector(again);
    Scalar<int32_t> mm = {&m, &m, 0};
    Scalar<int64_t> ms = {&seven, &seven, 0};
    attn_rt_call_result result = call(compiled.entry("results"), {&flag, &n, &mr, &ma, &mm, &ms});
    ASSERT_EQ(result.code, ATTN_RT_OK) << result.message;
    EXPECT_EQ(r, flag ? std::vector<float>({1, 2}) : std::vector<float>({3, 4}));
    EXPECT_EQ(again, r);
    EXPECT_EQ(m, -5);
    EXPECT_EQ(seven, 7);
  }
}

TEST(Compile, ParallelLoopWithScratch) {
  // Row i of the result is the prefix sums of row i, built in scratch memory.
  Compiled compiled = compile(R"(
    func.func @prefix_sums(%a: memref<?x?xf32>, %r: memref<?x?xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %m = memref.dim %a, %c0 : memref<?x?xf32>
      scf.forall (%i) in (%m) {
        %n = memref.dim %a, %c1 : memref<?x?xf32>
        %row = memref.alloc(%n) : memref<?xf32>
        %zero = arith.constant 0.0 : f32
        %total = scf.for %j = %c0 to %n step %c1 iter_args(%sum = %zero) -> f32 {
          %x = memref.load %a[%i, %j] : memref<?x?xf32>
          %next = arith.addf %sum, %x : f32
          memref.store %next, %row[%j] : memref<?xf32>
          scf.yield %next : f32
        }
        scf.for %j = %c0 to %n step %c1 {
          %x = memref.load %row[%j] : memref<?xf32>
          memref.store %x, %r[%i, %j] : memref<?x?xf32>
        }
      }
      return
    })");
  ASSERT_TRUE(compiled.jit) << compiled.error;
  std::unique_ptr<attn_rt_pool, void (*)(attn_rt_pool *)> pool(attn_rt_pool_create(2), attn_rt_pool_destroy);
  const int64_t rows = 13, columns = 33;
  std::vector<float> a(rows * columns, 1), r(rows * columns);
  auto ma = matrix(a.data(), rows, columns), mr = matrix(r.data(), rows, columns);
  attn_rt_call_result result = call(compiled.entry("prefix_sums"), {&ma, &mr}, pool.get());
  ASSERT_EQ(result.code, ATTN_RT_OK) << result.message;
  EXPECT_EQ(result.allocations, 0);
  EXPECT_EQ(result.tiles, rows);
  EXPECT_EQ(result.scratch_bytes, 2 * ((columns * 4 + 63) / 64 * 64));
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      ASSERT_EQ(r[i * columns + j], j + 1);
}

TEST(Compile, SizesThatOverflowEndTheCall) {
  Compiled compiled = compile(R"(
    func.func @scratch(%n: index, %r: memref<1xf32>) {
      %c0 = arith.constant 0 : index
      scf.forall (%i) in (2) {
        %buffer = memref.alloc(%n, %n) : memref<?x?xf32>
        %x = memref.load %buffer[%c0, %c0] : memref<?x?xf32>
        memref.store %x, %r[%c0] : memref<1xf32>
      }
      return
    }
    func.func @temporary(%n: index, %r: memref<1xf32>) {
      %c0 = arith.constant 0 : index
      %buffer = memref.alloc(%n, %n) : memref<?x?xf32>
      %x = memref.load %buffer[%c0, %c0] : memref<?x?xf32>
      memref.store %x, %r[%c0] : memref<1xf32>
      return
    })");
  ASSERT_TRUE(compiled.jit) << compiled.error;
  std::vector<float> r(1);
  auto mr = vector(r);
  // 2^32 * 2^32 * 4 is 0 in 64 bits.
  int64_t n = int64_t(1) << 32;
  attn_rt_call_result result = call(compiled.entry("scratch"), {&n, &mr});
  EXPECT_EQ(result.code, ATTN_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(result.message,
               "the scratch memory of a parallel loop expects fewer than 2^63 bytes; use smaller sizes");
  result = call(compiled.entry("temporary"), {&n, &mr});
  EXPECT_EQ(result.code, ATTN_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(result.message, "a temporary buffer expects fewer than 2^63 bytes; use smaller sizes");
  n = 3;
  EXPECT_EQ(call(compiled.entry("scratch"), {&n, &mr}).code, ATTN_RT_OK);
  EXPECT_EQ(call(compiled.entry("temporary"), {&n, &mr}).code, ATTN_RT_OK);
}

TEST(Compile, PrivateFunctionsAndCallsOfPublicOnes) {
  Compiled compiled = compile(R"(
    func.func private @square(%a: tensor<3xf32>) -> tensor<3xf32> {
      %r = arith.mulf %a, %a : tensor<3xf32>
      return %r : tensor<3xf32>
    }
    func.func @fourth(%a: tensor<3xf32>) -> tensor<3xf32> {
      %b = call @square(%a) : (tensor<3xf32>) -> tensor<3xf32>
      %c = call @square(%b) : (tensor<3xf32>) -> tensor<3xf32>
      return %c : tensor<3xf32>
    }
    func.func @eighth(%a: tensor<3xf32>) -> tensor<3xf32> {
      %b = call @fourth(%a) : (tensor<3xf32>) -> tensor<3xf32>
      %c = call @square(%b) : (tensor<3xf32>) -> tensor<3xf32>
      return %c : tensor<3xf32>
    })");
  ASSERT_TRUE(compiled.jit) << compiled.error;
  std::vector<float> a = {1, 2, 3}, r(3);
  auto ma = vector(a), mr = vector(r);
  ASSERT_EQ(call(compiled.entry("fourth"), {&ma, &mr}).code, ATTN_RT_OK);
  EXPECT_EQ(r, std::vector<float>({1, 16, 81}));
  ASSERT_EQ(call(compiled.entry("eighth"), {&ma, &mr}).code, ATTN_RT_OK);
  EXPECT_EQ(r, std::vector<float>({1, 256, 6561}));
}

/// The bits of a finite value rounded to bf16, to nearest even.
uint16_t toBf16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

TEST(Compile, Bf16NeedsNoLibraryAndRoundsToNearestEven) {
  Compiled compiled = compile(R"(
    func.func @sum(%a: tensor<?xbf16>, %b: tensor<?xbf16>) -> tensor<?xbf16> {
      %r = arith.addf %a, %b : tensor<?xbf16>
      return %r : tensor<?xbf16>
    })");
  ASSERT_TRUE(compiled.jit) << compiled.error;
  // 8 bits of significand: 257 and 259 are ties that go to 256 and 260.
  std::vector<float> a = {256, 256, 1, -2.5f}, b = {1, 3, 0x1p-7f, 0.5f}, sums = {256, 260, 1 + 0x1p-7f, -2};
  std::vector<uint16_t> bitsA, bitsB, expected, r(4);
  for (int k = 0; k < 4; ++k) {
    bitsA.push_back(toBf16(a[k]));
    bitsB.push_back(toBf16(b[k]));
    expected.push_back(toBf16(sums[k]));
  }
  auto ma = vector(bitsA), mb = vector(bitsB), mr = vector(r);
  attn_rt_call_result result = call(compiled.entry("sum"), {&ma, &mb, &mr});
  ASSERT_EQ(result.code, ATTN_RT_OK) << result.message;
  EXPECT_EQ(r, expected);
}

TEST(Compile, ScalarMathComesFromLibm) {
  Compiled compiled = compile(R"(
    func.func @functions(%x: f32) -> (f32, f32, f32) {
      %a = math.erf %x : f32
      %b = math.tanh %x : f32
      %c = math.exp %x : f32
      return %a, %b, %c : f32, f32, f32
    })");
  ASSERT_TRUE(compiled.jit) << compiled.error;
  float x = 0.75f, values[3] = {};
  Scalar<float> a = {values, values, 0}, b = {values, values, 1}, c = {values, values, 2};
  ASSERT_EQ(call(compiled.entry("functions"), {&x, &a, &b, &c}).code, ATTN_RT_OK);
  EXPECT_FLOAT_EQ(values[0], std::erf(0.75));
  EXPECT_FLOAT_EQ(values[1], std::tanh(0.75));
  EXPECT_FLOAT_EQ(values[2], std::exp(0.75));
}

TEST(Compile, RecursionIsRefused) {
  Compiled compiled = compile(R"(
    func.func @f(%n: index, %a: tensor<2xf32>) -> tensor<2xf32> {
      %r = func.call @g(%n, %a) : (index, tensor<2xf32>) -> tensor<2xf32>
      return %r : tensor<2xf32>
    }
    func.func private @g(%n: index, %a: tensor<2xf32>) -> tensor<2xf32> {
      %c0 = arith.constant 0 : index
      %done = arith.cmpi eq, %n, %c0 : index
      %r = scf.if %done -> tensor<2xf32> {
        scf.yield %a : tensor<2xf32>
      } else {
        %s = func.call @f(%n, %a) : (index, tensor<2xf32>) -> tensor<2xf32>
        scf.yield %s : tensor<2xf32>
      }
      return %r : tensor<2xf32>
    })");
  EXPECT_FALSE(compiled.jit);
  EXPECT_NE(compiled.error.find("-:12:14: 'func.call' op expects functions that do not call themselves, but got the "
                                "cycle @f -> @g -> @f; use scf.for or scf.while"),
            std::string::npos)
      << compiled.error;
}

TEST(Compile, AttentionWithMaskAndOnesAsValues) {
  // With ones as values a row is 1 where a key is kept, and exactly 0 where none is: queries below 2 keep nothing.
  Compiled compiled = compile(dynamicAttention({R"(where(%b, %h, %i, %j) {
    %two = arith.constant 2 : index
    %end = arith.subi %i, %two : index
    %keep = arith.cmpi sle, %j, %end : index
    attn.yield %keep : i1
  })",
                                                /*arguments=*/"", "0.5"}));
  ASSERT_TRUE(compiled.jit) << compiled.error;
  for (auto [batch, heads, queries, keys, size, width] :
       {std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t, int64_t>(2, 3, 70, 150, 9, 5),
        {1, 1, 1, 1, 1, 1},
        {1, 2, 5, 0, 4, 3},
        {0, 2, 5, 7, 4, 3}}) {
    auto view = [](std::vector<float> &data, int64_t b, int64_t h, int64_t n, int64_t d) {
      return Buffer<float, 4>{data.data(), data.data(), 0, {b, h, n, d}, {h * n * d, n * d, d, 1}};
    };
    std::vector<float> q(batch * heads * queries * size), k(batch * heads * keys * size),
        v(batch * heads * keys * width, 1), r(batch * heads * queries * width, -1);
    for (size_t n = 0; n < q.size(); ++n)
      q[n] = std::sin(0.7f * n);
    for (size_t n = 0; n < k.size(); ++n)
      k[n] = std::cos(0.3f * n);
    auto mq = view(q, batch, heads, queries, size), mk = view(k, batch, heads, keys, size);
    auto mv = view(v, batch, heads, keys, width), mr = view(r, batch, heads, queries, width);
    attn_rt_call_result result = call(compiled.entry("f"), {&mq, &mk, &mv, &mr});
    ASSERT_EQ(result.code, ATTN_RT_OK) << result.message;
    EXPECT_EQ(result.allocations, 0);
    for (size_t n = 0; n < r.size(); ++n) {
      int64_t query = n / width % queries;
      if (query >= 2 && keys > 0)
        ASSERT_FLOAT_EQ(r[n], 1) << n;
      else
        ASSERT_EQ(r[n], 0) << n;
    }
  }
}

TEST(Compile, ErrorsOfPassesComeBack) {
  Compiled compiled = compile("func.func @f(%a: tensor<*xf32>) { return }");
  EXPECT_FALSE(compiled.jit);
  EXPECT_NE(compiled.error.find("'func.func' op has a value of type 'tensor<*xf32>'"), std::string::npos)
      << compiled.error;
}

TEST(Compile, UnknownTargetsAndFunctionsAreErrors) {
  PipelineOptions pipeline;
  pipeline.target = "z80";
  EXPECT_NE(compile(kScaledSum, pipeline).error.find("unknown target CPU 'z80'"), std::string::npos);
  Compiled compiled = compile(kScaledSum);
  ASSERT_TRUE(compiled.jit) << compiled.error;
  llvm::Expected<EntryPoint> entry = compiled.jit->lookup("nothing");
  ASSERT_FALSE(static_cast<bool>(entry));
  EXPECT_NE(llvm::toString(entry.takeError()).find("attn_entry_nothing"), std::string::npos);
}

TEST(Compile, ReportsItsStages) {
  Compiled compiled = compile(kScaledSum);
  std::vector<std::string> names;
  for (const StageLap &time : compiled.times) {
    names.push_back(time.name);
    EXPECT_GT(time.milliseconds, 0) << time.name;
  }
  EXPECT_EQ(names, std::vector<std::string>({"passes", "translate", "optimize", "generate", "load"}));
}

} // namespace

namespace {

/// What this thread is doing, innermost first.
std::string currentActivity() {
  auto *entry = static_cast<const llvm::PrettyStackTraceEntry *>(llvm::SavePrettyStackState());
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (entry)
    entry->print(stream);
  return text;
}

/// Notes what a crash in it would be reported with.
struct NotingPass : mlir::PassWrapper<NotingPass, mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(NotingPass)
  NotingPass(std::string &text, bool fails) : text(text), fails(fails) {}
  llvm::StringRef getArgument() const override { return "note-activity"; }
  void runOnOperation() override {
    text = currentActivity();
    if (fails)
      signalPassFailure();
  }
  std::string &text;
  bool fails;
};

} // namespace

TEST(PassTrace, names_the_pass_that_runs) {
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  for (bool fails : {false, true}) {
    std::string text;
    mlir::PassManager passes(&context);
    tracePasses(passes);
    passes.addPass(std::make_unique<NotingPass>(text, fails));
    EXPECT_EQ(mlir::succeeded(passes.run(*module)), !fails);
    EXPECT_EQ(text, "running pass note-activity");
    EXPECT_EQ(currentActivity(), "");
  }
}

/// The driver's verdict, whichever passes verify: the pass is named, and the error is told from one of the input.
TEST(Compile, ThePassThatLeavesInvalidIrIsNamed) {
  for (const char *isEach : {"1", ""}) {
    if (*isEach)
      setenv("ATTN_VERIFY_EACH", isEach, 1);
    else
      unsetenv("ATTN_VERIFY_EACH");
    mlir::DialectRegistry registry;
    registerCompiler(registry);
    mlir::MLIRContext context(registry);
    mlir::ScopedDiagnosticHandler quiet(&context, [](mlir::Diagnostic &) { return mlir::success(); });
    auto module = mlir::parseSourceString<mlir::ModuleOp>(kScaledSum, &context);
    CodeOptions options;
    options.pipeline = suiteOptions();
    // The pass that shows the module to its caller, who breaks what only the verifier looks at.
    options.pipeline.atGraphLevel = [](mlir::ModuleOp graph) {
      graph->setAttr("llvm.data_layout", mlir::UnitAttr::get(graph.getContext()));
    };
    llvm::Error error = compileToJit(*module, options).takeError();
    ASSERT_TRUE(error.isA<InternalError>());
    EXPECT_NE(llvm::toString(std::move(error)).find("internal error: the pass attn-inspect left IR that is not valid"),
              std::string::npos);
  }
}
