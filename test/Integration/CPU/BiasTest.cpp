//===- BiasTest.cpp - biases and masks of every broadcast shape -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A bias or boolean mask has rank 0 to 4, aligned at the last dimension of [batch, heads, queryLen, kvLen], each of its
// dimensions 1 or the full size: 31 shapes. All sizes differ, so a dimension that is read along another axis shows.
//
//===----------------------------------------------------------------------===//

#include "Grid.h"
#include "gtest/gtest.h"

using grid::Buffer;

namespace {

/// batch, heads, queryLen, kvLen; beside them 3 kv heads, head size 4, value size 5.
const std::vector<int64_t> kFull = {2, 6, 19, 37};

/// The shapes of a rank: bit k of the number says that dimension k is full.
std::vector<std::vector<int64_t>> shapesOfRank(size_t rank) {
  std::vector<std::vector<int64_t>> shapes;
  for (unsigned bits = 0; bits < 1u << rank; ++bits) {
    std::vector<int64_t> shape(kFull.end() - rank, kFull.end());
    for (size_t k = 0; k < rank; ++k)
      if (!(bits >> k & 1))
        shape[k] = 1;
    shapes.push_back(shape);
  }
  return shapes;
}

std::string typeText(const std::vector<int64_t> &sizes, const std::string &element, bool isDynamic) {
  std::string text = "tensor<";
  for (int64_t size : sizes)
    text += (isDynamic ? "?" : std::to_string(size)) + "x";
  return text + element + ">";
}

/// What may be static or dynamic in a program.
struct Types {
  bool operandsDynamic, capturedDynamic;
};

/// One attention with `clause`, in which CAPTURED stands for the captured operand with its type.
std::string program(std::string clause, const std::string &captured, Types types) {
  auto type = [&](std::vector<int64_t> sizes) { return typeText(sizes, "f32", types.operandsDynamic); };
  std::string q = type({2, 6, 19, 4}), k = type({2, 3, 37, 4}), v = type({2, 3, 37, 5}), o = type({2, 6, 19, 5});
  clause.replace(clause.find("CAPTURED"), 8, "%m : " + captured);
  return "func.func @f(%q: " + q + ", %k: " + k + ", %v: " + v + ", %m: " + captured + ", %o: " + o + ") -> " + o +
         " {\n  %scale = arith.constant 0.5 : f32\n  %r = attn.attention %q, %k, %v scale(%scale) " + clause +
         "\n    : " + q + ", " + k + ", " + v + " outs(%o : " + o + ") -> " + o + "\n  return %r : " + o + "\n}\n";
}

struct Compiled {
  attn::Module module;
  attn::Kernel kernel;
};

Compiled compile(const std::string &text) {
  auto module = attn::Module::parse(text, "bias.mlir");
  if (!module.ok())
    throw std::runtime_error(module.error().str() + "\n" + text);
  auto kernel = module->compile("f", attn::Target::named(grid::testTarget()));
  if (!kernel.ok())
    throw std::runtime_error(kernel.error().str() + "\n" + text);
  return {*module, *kernel};
}

/// n / 64 with n from -64 to 63, from a counter; a boolean of the same counter keeps 2 keys in 3.
void fill(Buffer &buffer, uint64_t seed, bool isBoolean = false) {
  for (int64_t k = 0; k < buffer.count(); ++k) {
    uint64_t x = (seed * 1000003 + k) * 0x9e3779b97f4a7c15ull;
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9ull;
    x ^= x >> 32;
    if (isBoolean)
      buffer.setInteger(k, x % 3 != 0);
    else
      buffer.set(k, (static_cast<double>(x % 128) - 64) / 64);
  }
}

/// The buffers of a run on a captured operand of one shape.
struct Trial {
  Trial(const std::vector<int64_t> &shape, bool isBoolean)
      : captured(isBoolean ? attn::DType::I1 : attn::DType::F32, shape) {
    fill(q, 1);
    fill(k, 2);
    fill(v, 3);
    fill(captured, 4, isBoolean);
  }

  std::vector<attn::Argument> inputs() { return {q.view(), k.view(), v.view(), captured.view(), before.view()}; }

  Buffer q{attn::DType::F32, {2, 6, 19, 4}}, k{attn::DType::F32, {2, 3, 37, 4}}, v{attn::DType::F32, {2, 3, 37, 5}};
  Buffer captured, before{attn::DType::F32, {2, 6, 19, 5}}, out{attn::DType::F32, {2, 6, 19, 5}};
};

void expectAgreement(const Compiled &compiled, const std::vector<int64_t> &shape, bool isBoolean) {
  SCOPED_TRACE("captured " + typeText(shape, isBoolean ? "i1" : "f32", false));
  Trial trial(shape, isBoolean);
  auto report = compiled.kernel.run(trial.inputs(), {trial.out.view()});
  ASSERT_TRUE(report.ok()) << report.error().str();
  auto comparison = compiled.module.check("f", trial.inputs(), {trial.out.view()});
  ASSERT_TRUE(comparison.ok()) << comparison.error().str();
  EXPECT_TRUE(comparison->front().pass) << comparison->front().message;
  EXPECT_TRUE(trial.out.guardsIntact());
}

/// A run on this shape ends with the same error compiled and in the reference.
void expectRefusal(const Compiled &compiled, const std::vector<int64_t> &shape, bool isBoolean,
                   const std::string &message) {
  SCOPED_TRACE("captured " + typeText(shape, isBoolean ? "i1" : "f32", false));
  Trial trial(shape, isBoolean);
  auto report = compiled.kernel.run(trial.inputs(), {trial.out.view()});
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code, attn::ErrorCode::KernelRefused);
  EXPECT_NE(report.error().message.find(message), std::string::npos) << report.error().message;
  auto reference = compiled.module.evaluate("f", trial.inputs());
  ASSERT_FALSE(reference.ok());
  EXPECT_EQ(reference.error().code, attn::ErrorCode::KernelRefused);
}

const char *const kBias = "scores(bias(CAPTURED))";
const char *const kBoolean = "masks(boolean(CAPTURED))";

} // namespace

TEST(Bias, StaticShapes) {
  for (size_t rank = 0; rank <= 4; ++rank)
    for (const auto &shape : shapesOfRank(rank))
      expectAgreement(compile(program(kBias, typeText(shape, "f32", false), {false, false})), shape, false);
}

/// One kernel of each rank serves all of its shapes.
TEST(Bias, DynamicShapes) {
  for (size_t rank = 0; rank <= 4; ++rank) {
    std::string type = typeText(std::vector<int64_t>(rank, 1), "f32", true);
    Compiled dynamic = compile(program(kBias, type, {true, true})),
             mixed = compile(program(kBias, type, {false, true}));
    for (const auto &shape : shapesOfRank(rank)) {
      expectAgreement(dynamic, shape, false);
      expectAgreement(mixed, shape, false);
    }
  }
}

TEST(Bias, DynamicShapesOfABooleanMask) {
  for (size_t rank = 0; rank <= 4; ++rank) {
    std::string type = typeText(std::vector<int64_t>(rank, 1), "i1", true);
    Compiled compiled = compile(program(kBoolean, type, {true, true}));
    for (const auto &shape : shapesOfRank(rank))
      expectAgreement(compiled, shape, true);
  }
}

/// A static dimension beside dynamic operands is checked when the kernel runs.
TEST(Bias, StaticShapeBesideDynamicOperands) {
  std::vector<int64_t> shape = {2, 1, 19, 37};
  Compiled compiled = compile(program(kBias, typeText(shape, "f32", false), {true, false}));
  expectAgreement(compiled, shape, false);
  Compiled wrong = compile(program(kBias, typeText({2, 1, 18, 37}, "f32", false), {true, false}));
  expectRefusal(wrong, {2, 1, 18, 37}, false, "expects dimension 2 of the operand of 'bias' to be queryLen");
}

/// Neither 1 nor full, in each dimension: below, above, and none at all.
TEST(Bias, WrongSizesAreRefused) {
  const char *const names[] = {"batch", "heads", "queryLen", "kvLen"};
  Compiled bias = compile(program(kBias, "tensor<?x?x?x?xf32>", {true, true}));
  Compiled boolean = compile(program(kBoolean, "tensor<?x?x?x?xi1>", {true, true}));
  for (size_t k = 0; k < 4; ++k)
    for (int64_t wrong : {kFull[k] - 1, kFull[k] + 1, int64_t(0)}) {
      if (wrong == 1)
        continue;
      std::vector<int64_t> shape = kFull;
      shape[k] = wrong;
      std::string of = "expects dimension " + std::to_string(k) + " of the operand of ";
      expectRefusal(bias, shape, false, of + "'bias' to be 1 or " + names[k]);
      expectRefusal(boolean, shape, true, of + "'boolean' to be 1 or " + names[k]);
    }
}
