//===- NamedMasksTest.cpp - each named mask and score against the reference -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lengths are no multiples of the tiles and take several of them each way. Every mod runs with static and with dynamic
// sizes, on one and on three threads; and on the emulator, for a GPU of each kind, which takes head sizes that types
// tell.
//
//===----------------------------------------------------------------------===//

#include "Grid.h"
#include "test/Unit/SuiteTarget.h"
#include "gtest/gtest.h"

#include <cstring>
#include <functional>
#include <ostream>
#include <sstream>

using grid::Buffer;

namespace {

/// The program of one case and its data: batch 2, heads 4 over kvHeads 2, headDim 8, valueDim 5.
class Program {
public:
  /// With `keepsHeadSizes`, dynamic types leave all sizes open but those equal to the head or value size.
  Program(bool isStatic, std::string element, int64_t queryLen, int64_t kvLen, bool keepsHeadSizes = false)
      : isStatic(isStatic), keepsHeadSizes(keepsHeadSizes), element(std::move(element)), queryLen(queryLen),
        kvLen(kvLen) {
    wide = this->element == "f64" ? "f64" : "f32";
    reals("%q", {batch, heads, queryLen, 8}, this->element);
    reals("%k", {batch, 2, kvLen, 8}, this->element);
    reals("%v", {batch, 2, kvLen, 5}, this->element);
  }

  /// Declares an argument of integers (i1, i32, i64), element n of them f(n); returns `%name : type`.
  std::string integers(const std::string &name, const std::vector<int64_t> &sizes, const std::string &type,
                       const std::function<int64_t(int64_t)> &f) {
    Buffer &buffer = add(name, sizes, type);
    for (int64_t n = 0; n < buffer.count(); ++n)
      buffer.setInteger(n, f(n));
    return name + " : " + typeOf(sizes, type);
  }

  /// The same for multiples of 1/64 in [-1, 1).
  std::string reals(const std::string &name, const std::vector<int64_t> &sizes, const std::string &type) {
    Buffer &buffer = add(name, sizes, type);
    for (int64_t n = 0; n < buffer.count(); ++n)
      buffer.set(n, static_cast<double>(hash(n + 1000 * inputs.size()) % 128) / 64 - 1);
    return name + " : " + typeOf(sizes, type);
  }

  std::string text(const std::string &clauses) const {
    std::string q = typeOf({batch, heads, queryLen, 8}, element), k = typeOf({batch, 2, kvLen, 8}, element),
                v = typeOf({batch, 2, kvLen, 5}, element), o = typeOf({batch, heads, queryLen, 5}, element),
                l = typeOf({batch, heads, queryLen}, wide);
    std::ostringstream text;
    text << "func.func @f(" << arguments << ") -> (" << o << ", " << l << ") {\n  %s = arith.constant 0.75 : " << wide
         << "\n";
    for (int64_t d = 0; d < 4; ++d)
      text << "  %c" << d << " = arith.constant " << d << " : index\n  %n" << d << " = tensor.dim "
           << (d == 3 ? "%v" : "%q") << ", %c" << d << " : " << (d == 3 ? v : q) << "\n";
    text << "  %o = tensor.empty("
         << (isStatic         ? ""
             : keepsHeadSizes ? "%n0, %n1, %n2"
                              : "%n0, %n1, %n2, %n3")
         << ") : " << o << "\n  %l = tensor.empty(" << (isStatic ? "" : "%n0, %n1, %n2") << ") : " << l
         << "\n  %r:2 = attn.attention %q, %k, %v scale(%s" << (wide == "f64" ? " : f64" : "") << ") " << clauses
         << "\n    : " << q << ", " << k << ", " << v << " outs(%o : " << o << ") lse(%l : " << l << ") -> " << o
         << ", " << l << "\n  return %r#0, %r#1 : " << o << ", " << l << "\n}\n";
    return text.str();
  }

  /// Buffers for out and lse.
  std::vector<Buffer> outputs() const {
    std::vector<Buffer> result;
    result.emplace_back(dtypeOf(element), std::vector<int64_t>{batch, heads, queryLen, 5});
    result.emplace_back(dtypeOf(wide), std::vector<int64_t>{batch, heads, queryLen});
    return result;
  }

  static uint64_t hash(uint64_t x) {
    x = (x + 1) * 0x9e3779b97f4a7c15ull;
    return (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9ull >> 33;
  }

  const int64_t batch = 2, heads = 4;
  const bool isStatic, keepsHeadSizes;
  const std::string element;
  std::string wide;
  const int64_t queryLen, kvLen;
  std::vector<std::unique_ptr<Buffer>> inputs;

private:
  static attn::DType dtypeOf(const std::string &name) {
    static const std::pair<const char *, attn::DType> known[] = {
        {"f64", attn::DType::F64}, {"f32", attn::DType::F32}, {"f16", attn::DType::F16}, {"bf16", attn::DType::BF16},
        {"i1", attn::DType::I1},   {"i32", attn::DType::I32}, {"i64", attn::DType::I64}};
    for (auto [text, dtype] : known)
      if (name == text)
        return dtype;
    return attn::DType::Other;
  }

  std::string typeOf(const std::vector<int64_t> &sizes, const std::string &type) const {
    std::string text = "tensor<";
    for (int64_t size : sizes) {
      bool isOpen = !isStatic && !(keepsHeadSizes && (size == 8 || size == 5));
      text += (isOpen ? "?" : std::to_string(size)) + "x";
    }
    return text + type + ">";
  }

  Buffer &add(const std::string &name, const std::vector<int64_t> &sizes, const std::string &type) {
    arguments += (arguments.empty() ? "" : ", ") + name + ": " + typeOf(sizes, type);
    inputs.push_back(std::make_unique<Buffer>(dtypeOf(type), sizes));
    return *inputs.back();
  }

  std::string arguments;
};

/// A mod: its lengths, and a function that declares its captured operands and returns its clauses.
struct NamedCase {
  const char *name;
  int64_t queryLen, kvLen;
  std::function<std::string(Program &)> clauses;
};

std::ostream &operator<<(std::ostream &stream, const NamedCase &c) { return stream << c.name; }

/// Documents of 7 positions; the second batch entry has ids out of order.
std::string ids(Program &p, const std::string &name, int64_t length) {
  return p.integers(name, {p.batch, length}, "i32",
                    [=](int64_t n) { return n < length ? n / 7 : static_cast<int64_t>(Program::hash(n) % 3); });
}

/// Ids of queries and keys: one operand for both where the sizes are static and equal.
std::string bothIds(Program &p) {
  std::string queries = ids(p, "%ids", p.queryLen);
  return p.isStatic && p.queryLen == p.kvLen ? queries : queries + ", " + ids(p, "%keyIds", p.kvLen);
}

std::string perBatch(Program &p, const std::string &name, int64_t first, int64_t second) {
  return p.integers(name, {p.batch}, "i32", [=](int64_t n) { return n ? second : first; });
}

/// A mask or score without captured operands.
NamedCase plain(const char *name, int64_t queryLen, int64_t kvLen, const char *clauses) {
  return {name, queryLen, kvLen, [=](Program &) { return clauses; }};
}

std::vector<NamedCase> maskCases() {
  return {
      plain("dilated", 37, 53, "masks(dilated<left = 20, right = 9, step = 3, top_left>)"),
      plain("dilated_bottom_right", 53, 37, "masks(dilated<step = 4, bottom_right>)"),
      plain("global_window", 37, 53, "masks(global_window<globals = 3, left = 4, right = 2, bottom_right>)"),
      plain("global_window_causal", 37, 37, "masks(global_window<globals = 19, left = 2, top_left>, causal<top_left>)"),
      plain("chunked", 37, 53, "masks(chunked<size = 10, top_left>)"),
      plain("chunked_bottom_right", 53, 37, "masks(chunked<size = 10, bottom_right>)"),
      plain("block_diagonal", 37, 53, "masks(block_diagonal<size = 7, bottom_right>)"),
      plain("block_diagonal_negative", 53, 37, "masks(block_diagonal<size = 9, bottom_right>)"),
      plain("block_causal", 37, 53, "masks(block_causal<size = 6, top_left>)"),
      plain("block_causal_bottom_right", 53, 37, "masks(block_causal<size = 20, bottom_right>)"),
      plain("block_diffusion", 46, 46, "masks(block_diffusion<half = 23, block = 5>)"),
      plain("local_2d", 45, 45, "masks(local_2d<rows = 5, columns = 9, kernel_rows = 3, kernel_columns = 5>)"),
      plain("local_2d_even_and_whole", 45, 45,
            "masks(local_2d<rows = 9, columns = 5, kernel_rows = 4, kernel_columns = 5>)"),
      {"document", 37, 37, [](Program &p) { return "masks(document(" + bothIds(p) + "))"; }},
      {"document_separate", 37, 53, [](Program &p) { return "masks(document(" + bothIds(p) + "))"; }},
      {"document_causal", 37, 53,
       [](Program &p) { return "masks(document_causal<bottom_right>(" + bothIds(p) + "))"; }},
      {"document_i64_without_batch", 37, 53,
       [](Program &p) {
         auto id = [](int64_t n) { return n / 11 + (int64_t(1) << 40); };
         return "masks(document(" + p.integers("%ids", {37}, "i64", id) + ", " +
                p.integers("%keyIds", {53}, "i64", id) + "))";
       }},
      {"shared_prefix", 37, 53,
       [](Program &p) {
         std::string prefix = perBatch(p, "%prefix", 5, 20);
         return "masks(shared_prefix(" + prefix + ", " + bothIds(p) + "), causal<bottom_right>)";
       }},
      {"padding", 37, 53,
       [](Program &p) {
         std::string starts = perBatch(p, "%starts", 0, 18);
         return "masks(padding_left(" + starts + "), padding_right(" + perBatch(p, "%ends", 33, 50) + "))";
       }},
      {"tree", 21, 53,
       [](Program &p) {
         return "masks(tree(" +
                p.integers("%tree", {21, 21}, "i1", [](int64_t n) { return n / 21 == n % 21 || n % 5 == 0; }) + "))";
       }},
      {"tree_per_batch_with_lengths", 21, 53,
       [](Program &p) {
         std::string tree = p.integers("%tree", {2, 21, 21}, "i1", [](int64_t n) { return Program::hash(n) % 2; });
         return "masks(tree(" + tree + ")) kv_lengths(" + perBatch(p, "%len", 30, 53) + ")";
       }},
      {"chunked_with_lengths", 21, 53,
       [](Program &p) {
         return "masks(chunked<size = 10, bottom_right>) kv_lengths(" + perBatch(p, "%len", 17, 53) + ")";
       }},
  };
}

std::vector<NamedCase> scoreCases() {
  return {
      plain("log_shift", 37, 53, "scores(log_shift<0.125>)"),
      {"alibi", 53, 37, [](Program &p) { return "scores(alibi<top_left>(" + p.reals("%t", {4}, p.wide) + "))"; }},
      {"alibi_of_lengths", 37, 53,
       [](Program &p) {
         std::string slopes = p.reals("%t", {4}, p.wide);
         return "scores(alibi<bottom_right>(" + slopes + ")) kv_lengths(" +
                p.integers("%n", {p.batch}, "i32", [](int64_t n) { return n == 0 ? 19 : 53; }) + ")";
       }},
      {"head_scale", 37, 53, [](Program &p) { return "scores(head_scale(" + p.reals("%t", {4}, p.wide) + "))"; }},
      {"t5_bidirectional", 53, 37,
       [](Program &p) {
         return "scores(t5_bias<buckets = 16, max_distance = 40, bidirectional, top_left>(" +
                p.reals("%t", {16, 4}, p.wide) + "))";
       }},
      {"t5_causal", 37, 53,
       [](Program &p) {
         return "scores(t5_bias<buckets = 9, max_distance = 30, causal, bottom_right>(" + p.reals("%t", {9, 4}, "f16") +
                ")) masks(causal<bottom_right>)";
       }},
      {"distance_bias", 37, 53,
       [](Program &p) { return "scores(distance_bias<max = 11, bottom_right>(" + p.reals("%t", {23}, p.wide) + "))"; }},
      {"distance_bias_per_head", 53, 37,
       [](Program &p) { return "scores(distance_bias<max = 60, top_left>(" + p.reals("%t", {4, 121}, "bf16") + "))"; }},
      {"indexed_bias", 37, 53,
       [](Program &p) {
         // Some entries are outside of the table, and are clamped.
         std::string index = p.integers("%index", {37, 53}, "i32", [](int64_t n) { return n * 7 % 31 - 2; });
         return "scores(indexed_bias(" + index + ", " + p.reals("%t", {27, 4}, p.wide) + "))";
       }},
  };
}

attn::Result<attn::Kernel> compile(const attn::Module &module, const std::string &target, bool skipTiles = true,
                                   bool checksBounds = false) {
  // Rows for a warpgroup, where the GPU has some.
  int64_t rows = target.find("sm_90") == std::string::npos ? 32 : 64;
  auto options = attn::CompileOptions().tileQ(rows).tileKv(16).skipTiles(skipTiles).checkBounds(checksBounds);
  return module.compile("f", attn::Target::named(target), options);
}

std::vector<attn::Argument> arguments(const Program &program) {
  std::vector<attn::Argument> result;
  for (auto &input : program.inputs)
    result.push_back(input->view());
  return result;
}

/// Runs the kernel into `buffers`, and compares these with the reference.
void runAndCheck(const attn::Module &module, const attn::Kernel &kernel, Program &program, int64_t threads,
                 std::vector<Buffer> &buffers) {
  std::vector<attn::MutableTensorView> outputs;
  for (Buffer &buffer : buffers)
    outputs.push_back(buffer.view());
  auto report = kernel.run(arguments(program), outputs, attn::RunOptions().threads(threads).leastWork(1));
  ASSERT_TRUE(report.ok()) << report.error().str();
  auto comparisons = module.check("f", arguments(program), {outputs.begin(), outputs.end()});
  ASSERT_TRUE(comparisons.ok()) << comparisons.error().str();
  for (size_t k = 0; k < comparisons->size(); ++k)
    EXPECT_TRUE((*comparisons)[k].pass) << "result " << k << ": " << (*comparisons)[k].message;
  for (Buffer &buffer : buffers)
    EXPECT_TRUE(buffer.guardsIntact());
}

/// With every tile computed, mask and all, the results must be the same bits.
void checkWithoutSkipping(const attn::Module &module, const std::string &target, Program &program,
                          std::vector<Buffer> &results, bool checksBounds) {
  auto computing = compile(module, target, /*skipTiles=*/false, checksBounds);
  ASSERT_TRUE(computing.ok()) << computing.error().str();
  std::vector<Buffer> others = program.outputs();
  runAndCheck(module, *computing, program, 1, others);
  for (auto [result, other] : {std::tie(results[0], others[0]), std::tie(results[1], others[1])}) {
    attn::TensorView a = result.view(), b = other.view();
    EXPECT_EQ(std::memcmp(a.data, b.data, result.count() * attn::byteSize(a.dtype)), 0);
  }
}

void testCase(const NamedCase &c, bool isStatic, const std::string &element,
              const std::string &target = grid::testTarget()) {
  SCOPED_TRACE(std::string(isStatic ? "static, " : "dynamic, ") + element + " on " + target);
  const bool isGpu = grid::isGpu(target);
  Program program(isStatic, element, c.queryLen, c.kvLen, /*keepsHeadSizes=*/isGpu);
  std::string text = program.text(c.clauses(program));
  auto module = attn::Module::parse(text, "named.mlir");
  ASSERT_TRUE(module.ok()) << module.error().str() << "\n" << text;
  // One of the two kernels checks its accesses.
  auto kernel = compile(*module, target, /*skipTiles=*/true, /*checksBounds=*/!isGpu && isStatic);
  if (isGpu && element == "f64") {
    ASSERT_FALSE(kernel.ok());
    EXPECT_NE(kernel.error().message.find(grid::kGpuRefusesF64), std::string::npos) << kernel.error().str();
    return;
  }
  ASSERT_TRUE(kernel.ok()) << kernel.error().str() << "\n" << text;
  std::vector<Buffer> results = program.outputs();
  for (int64_t threads : isGpu ? std::vector<int64_t>{1} : std::vector<int64_t>{1, 3})
    runAndCheck(*module, *kernel, program, threads, results);
  if (!isGpu || text.find("masks(") != std::string::npos)
    checkWithoutSkipping(*module, target, program, results, /*checksBounds=*/!isGpu && !isStatic);
}

class NamedMask : public testing::TestWithParam<NamedCase> {};
class NamedScore : public testing::TestWithParam<NamedCase> {};

TEST_P(NamedMask, AgreesWithTheReference) {
  testCase(GetParam(), /*isStatic=*/true, "f32");
  testCase(GetParam(), /*isStatic=*/false, "f32");
}

TEST_P(NamedScore, AgreesWithTheReference) {
  for (const char *element : {"f32", "f64", "bf16"})
    for (bool isStatic : {true, false})
      testCase(GetParam(), isStatic, element);
}

/// Types, and static or dynamic sizes, change from mod to mod; sm_90a multiplies 16-bit types otherwise than sm_80.
class EmulatedMods : public testing::TestWithParam<std::tuple<const char *, unsigned>> {};

/// The mods in this many parts, so that lit can run them side by side.
constexpr unsigned kParts = 3;

TEST_P(EmulatedMods, AgreeWithTheReference) {
  auto [chip, part] = GetParam();
  bool isOld = std::string(chip) == "sm_80";
  std::vector<NamedCase> cases = maskCases();
  for (NamedCase &c : scoreCases())
    cases.push_back(std::move(c));
  for (size_t k = part; k < cases.size(); k += kParts) {
    SCOPED_TRACE(cases[k].name);
    bool isEven = k / kParts % 2 == 0;
    testCase(cases[k], isEven == isOld, isOld ? (isEven ? "f32" : "f16") : (isEven ? "bf16" : "f16"),
             std::string("emulator:") + chip);
  }
}

INSTANTIATE_TEST_SUITE_P(All, EmulatedMods,
                         testing::Combine(testing::Values("sm_80", "sm_90a"), testing::Range(0u, kParts)),
                         [](const auto &info) {
                           return std::string(std::get<0>(info.param)) + "_" + std::to_string(std::get<1>(info.param));
                         });

std::string nameOf(const testing::TestParamInfo<NamedCase> &info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(All, NamedMask, testing::ValuesIn(maskCases()), nameOf);
INSTANTIATE_TEST_SUITE_P(All, NamedScore, testing::ValuesIn(scoreCases()), nameOf);

/// The error of a run, which the reference must refuse, too.
std::string refusal(const std::string &clauses, Program &program) {
  auto module = attn::Module::parse(program.text(clauses), "named.mlir");
  if (!module.ok())
    return module.error().str();
  auto kernel = compile(*module, suiteCpu());
  if (!kernel.ok())
    return kernel.error().str();
  EXPECT_FALSE(module->evaluate("f", arguments(program)).ok());
  std::vector<Buffer> buffers = program.outputs();
  auto report = kernel->run(arguments(program), {buffers[0].view(), buffers[1].view()});
  return report.ok() ? "" : report.error().str();
}

TEST(NamedMod, DynamicSizesThatDoNotFitAreRefused) {
  Program diffusion(/*isStatic=*/false, "f32", 46, 44);
  EXPECT_NE(refusal("masks(block_diffusion<half = 23, block = 5>)", diffusion)
                .find("expects kvLen to be 46 for 'block_diffusion'"),
            std::string::npos);
  Program grid(/*isStatic=*/false, "f32", 44, 45);
  EXPECT_NE(refusal("masks(local_2d<rows = 5, columns = 9, kernel_rows = 3, kernel_columns = 5>)", grid)
                .find("expects queryLen to be 45 for 'local_2d'"),
            std::string::npos);
  Program table(/*isStatic=*/false, "f32", 37, 53);
  std::string bias = table.reals("%t", {22}, "f32");
  EXPECT_NE(refusal("scores(distance_bias<max = 11, top_left>(" + bias + "))", table)
                .find("expects dimension 0 of the operand of 'distance_bias' to be 23"),
            std::string::npos);
  Program document(/*isStatic=*/false, "f32", 37, 53);
  std::string operands = ids(document, "%ids", 37) + ", " + ids(document, "%keyIds", 37);
  EXPECT_NE(refusal("masks(document(" + operands + "))", document)
                .find("expects dimension 1 of operand 1 of 'document' to be kvLen"),
            std::string::npos);
}

} // namespace
