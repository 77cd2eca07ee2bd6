//===- BooleanBytesTest.cpp - booleans that are neither 0 nor 1 ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A boolean is a byte, and any but 0 is true: the same bits come out as where true is 1, and booleans come out as 0 or
// 1. On the CPU and on the emulator of both GPUs.
//
//===----------------------------------------------------------------------===//

#include "Grid.h"
#include "gtest/gtest.h"

#include <cstring>

namespace {

/// A function @f of %a: tensor<7x37xi1> and, if it has more, %b of the same type and %x: tensor<7x37xf32>.
struct Program {
  const char *name;
  /// Its arguments, result types and body.
  const char *text;
  /// GPUs refuse it: it has checks inside of loops, or no kernel.
  bool isOfHost = false;
};

constexpr const char *kTypes = R"(
#id = affine_map<(i, j) -> (i, j)>
#swapped = affine_map<(i, j) -> (j, i)>
#row = affine_map<(i, j) -> (i)>
!a = tensor<7x37xi1>
!d = tensor<?x?xi1>
!x = tensor<7x37xf32>
)";

const Program kGraphs[] = {
    {"returned", R"((%a: !a) -> !a { return %a : !a })"},
    {"returned_dynamic", R"((%a: !d) -> !d { return %a : !d })"},
    {"widened", R"((%a: !a) -> tensor<7x37xi32> {
  %e = tensor.empty() : tensor<7x37xi32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : !a) outs(%e : tensor<7x37xi32>) {
  ^bb0(%u: i1, %o: i32):
    %w = arith.extui %u : i1 to i32
    linalg.yield %w : i32
  } -> tensor<7x37xi32>
  return %r : tensor<7x37xi32>
})"},
    {"signed",
     R"((%a: !a) -> tensor<7x37xi8> { %r = arith.extsi %a : !a to tensor<7x37xi8> return %r : tensor<7x37xi8> })"},
    {"converted", R"((%a: !a) -> !x { %r = arith.uitofp %a : !a to !x return %r : !x })"},
    {"negated",
     R"((%a: !a) -> !a { %t = arith.constant dense<true> : !a %r = arith.xori %a, %t : !a return %r : !a })"},
    {"combined", R"((%a: !a, %b: !a) -> (!a, !a, !a) {
  %p = arith.andi %a, %b : !a
  %q = arith.xori %a, %b : !a
  %r = arith.cmpi eq, %a, %b : !a
  return %p, %q, %r : !a, !a, !a
})"},
    {"selected", R"((%a: !a, %b: !a, %x: !x) -> (!x, !a) {
  %n = arith.negf %x : !x
  %r = arith.select %a, %x, %n : !a, !x
  %s = arith.select %b, %a, %b : !a, !a
  return %r, %s : !x, !a
})"},
    {"transposed", R"((%a: !a) -> tensor<37x7xi1> {
  %e = tensor.empty() : tensor<37x7xi1>
  %r = linalg.transpose ins(%a : !a) outs(%e : tensor<37x7xi1>) permutation = [1, 0]
  return %r : tensor<37x7xi1>
})"},
    {"reduced", R"((%a: !a) -> (tensor<7xi1>, tensor<7xi32>) {
  %no = arith.constant dense<false> : tensor<7xi1>
  %zero = arith.constant dense<0> : tensor<7xi32>
  %r = linalg.reduce ins(%a : !a) outs(%no : tensor<7xi1>) dimensions = [1] (%u: i1, %o: i1) {
    %w = arith.xori %u, %o : i1
    linalg.yield %w : i1
  }
  %n = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : !a) outs(%zero : tensor<7xi32>) {
  ^bb0(%u: i1, %o: i32):
    %w = arith.extui %u : i1 to i32
    %s = arith.addi %o, %w : i32
    linalg.yield %s : i32
  } -> tensor<7xi32>
  return %r, %n : tensor<7xi1>, tensor<7xi32>
})"},
    {"inserted", R"((%a: !a) -> tensor<9x40xi1> {
  %t = arith.constant dense<true> : tensor<9x40xi1>
  %r = tensor.insert_slice %a into %t[1, 2] [7, 37] [1, 1] : !a into tensor<9x40xi1>
  return %r : tensor<9x40xi1>
})"},
    {"sliced", R"((%a: !a) -> tensor<3x11xi1> {
  %r = tensor.extract_slice %a[2, 5] [3, 11] [1, 1] : !a to tensor<3x11xi1>
  return %r : tensor<3x11xi1>
})"},
    {"extracted_in_a_region", R"((%a: !a) -> (!x, !a) {
  %e = tensor.empty() : !x
  %g = tensor.empty() : !a
  %c36 = arith.constant 36 : index
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %r:2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      outs(%e, %g : !x, !a) {
  ^bb0(%o: f32, %p: i1):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.subi %c36, %j : index
    %u = tensor.extract %a[%i, %k] : !a
    %v = tensor.extract %a[%i, %j] : !a
    %w = arith.select %u, %one, %zero : f32
    linalg.yield %w, %v : f32, i1
  } -> (!x, !a)
  return %r#0, %r#1 : !x, !a
})",
     /*isOfHost=*/true},
    {"branched", R"((%a: !a) -> (f32, i1) {
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %u = tensor.extract %a[%c1, %c1] : !a
  %r = scf.if %u -> f32 { scf.yield %one : f32 } else { scf.yield %zero : f32 }
  return %r, %u : f32, i1
})",
     /*isOfHost=*/true},
};

/// A buffer of the type, filled; booleans: a pattern, true as 1 or as any other byte.
std::unique_ptr<grid::Buffer> makeInput(const attn::ValueType &type, std::vector<int64_t> sizes, unsigned number,
                                        bool isOne) {
  auto buffer = std::make_unique<grid::Buffer>(type.dtype, sizes);
  for (int64_t k = 0; k < buffer->count(); ++k) {
    bool isTrue = (k * 2654435761u + number * 40503u) >> 7 & 1;
    if (type.dtype != attn::DType::I1)
      buffer->set(k, static_cast<double>((k * 37 + number) % 64) / 16);
    else if (isOne)
      static_cast<uint8_t *>(buffer->view().data)[k] = isTrue;
    else
      buffer->setInteger(k, isTrue);
  }
  return buffer;
}

using Buffers = std::vector<std::unique_ptr<grid::Buffer>>;

std::vector<attn::MutableTensorView> viewsOf(const Buffers &buffers) {
  std::vector<attn::MutableTensorView> views;
  for (const auto &buffer : buffers)
    views.push_back(buffer->view());
  return views;
}

/// The sizes of an argument, where its type leaves them open: those of %a.
std::vector<int64_t> sizesOf(const attn::ValueType &type) {
  return type.sizes == std::vector<int64_t>{-1, -1} ? std::vector<int64_t>{7, 37} : type.sizes;
}

/// What a kernel makes of its inputs; also compares it with the reference.
Buffers run(const attn::Module &module, const attn::Kernel &kernel, bool isOne) {
  Buffers inputs, outputs;
  for (const attn::ValueType &type : kernel.signature().arguments)
    inputs.push_back(makeInput(type, sizesOf(type), inputs.size(), isOne));
  std::vector<attn::MutableTensorView> views = viewsOf(inputs);
  std::vector<attn::Argument> arguments(views.begin(), views.end());
  auto sizes = module.resultSizes("f", arguments);
  EXPECT_TRUE(sizes.ok());
  for (size_t k = 0; k < kernel.signature().results.size(); ++k)
    outputs.push_back(std::make_unique<grid::Buffer>(kernel.signature().results[k].dtype, (*sizes)[k]));
  auto report = kernel.run(arguments, viewsOf(outputs));
  EXPECT_TRUE(report.ok()) << report.error().str();
  views = viewsOf(outputs);
  auto comparisons = module.check("f", arguments, std::vector<attn::TensorView>(views.begin(), views.end()));
  EXPECT_TRUE(comparisons.ok());
  for (const attn::Comparison &comparison : *comparisons)
    EXPECT_TRUE(comparison.pass) << comparison.message;
  return outputs;
}

void expectAnyByteIsTrue(const std::string &text, const std::string &target) {
  auto module = attn::Module::parse(text, "booleans.mlir");
  ASSERT_TRUE(module.ok()) << module.error().str() << "\n" << text;
  auto kernel = module->compile("f", attn::Target::named(target));
  ASSERT_TRUE(kernel.ok()) << kernel.error().str() << "\n" << text;
  Buffers ones = run(*module, *kernel, /*isOne=*/true), any = run(*module, *kernel, /*isOne=*/false);
  for (size_t k = 0; k < ones.size(); ++k) {
    attn::MutableTensorView one = ones[k]->view(), other = any[k]->view();
    EXPECT_EQ(std::memcmp(one.data, other.data, ones[k]->count() * attn::byteSize(one.dtype)), 0) << "result " << k;
    for (int64_t e = 0; one.dtype == attn::DType::I1 && e < any[k]->count(); ++e)
      EXPECT_LE(static_cast<uint8_t *>(other.data)[e], 1) << "result " << k << " element " << e;
    EXPECT_TRUE(any[k]->guardsIntact());
  }
}

class BooleanGraphs : public testing::TestWithParam<const char *> {};
class BooleanMasks : public testing::TestWithParam<const char *> {};

} // namespace

/// Kernels without tiles are the same for both GPUs.
TEST_P(BooleanGraphs, AnyByteButZeroIsTrue) {
  for (const Program &program : kGraphs) {
    if (program.isOfHost && grid::isGpu(GetParam()))
      continue;
    SCOPED_TRACE(program.name);
    expectAnyByteIsTrue(std::string(kTypes) + "func.func @f" + program.text, GetParam());
  }
}

/// The mask as an operand and read by regions: along queries, along keys, gathered, along one axis alone.
TEST_P(BooleanMasks, AnyByteButZeroIsTrue) {
  const std::pair<const char *, const char *> clauses[] = {
      {"masks(boolean(%a : !a))", ""},
      {"where(%b, %h, %i, %j)", "%keep = tensor.extract %a[%i, %j] : !a"},
      {"where(%b, %h, %i, %j)", "%n = arith.subi %c36, %j : index  %keep = tensor.extract %a[%i, %n] : !a"},
      {"where(%b, %h, %i, %j)", "%keep = tensor.extract %a[%c2, %j] : !a"},
      {"where(%b, %h, %i, %j)", "%keep = tensor.extract %a[%i, %c2] : !a"},
      {"where(%b, %h, %i, %j)",
       "%u = tensor.extract %a[%i, %j] : !a  %v = tensor.extract %a[%i, %c2] : !a  %keep = arith.xori %u, %v : i1"},
      {"score(%s, %b, %h, %i, %j)", "%u = tensor.extract %a[%i, %j] : !a  %n = arith.negf %s : f32\n"
                                    "%keep = arith.select %u, %s, %n : f32"},
  };
  // Regions are built alike for both GPUs.
  size_t count = std::string(GetParam()) == "emulator:sm_90a" ? 2 : std::size(clauses);
  for (size_t n = 0; n < count; ++n) {
    auto [clause, body] = clauses[n];
    SCOPED_TRACE(std::string(clause) + " " + body);
    std::string region = std::string(clause).find("(%") == std::string::npos || !*body
                             ? ""
                             : " {\n" + std::string(body) +
                                   "\nattn.yield %keep : " + (std::string(clause)[0] == 's' ? "f32" : "i1") + "\n}";
    expectAnyByteIsTrue(std::string(kTypes) + R"(
!q = tensor<1x2x7x16xf32>
!k = tensor<1x2x37x16xf32>
func.func @f(%a: !a, %q: !q, %k: !k) -> !q {
  %c2 = arith.constant 2 : index
  %c36 = arith.constant 36 : index
  %scale = arith.constant 0.25 : f32
  %o = tensor.empty() : !q
  %r = attn.attention %q, %k, %k scale(%scale) )" +
                            std::string(clause) + region + R"( : !q, !k, !k outs(%o : !q) -> !q
  return %r : !q
})",
                        GetParam());
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, BooleanGraphs, testing::Values("host", "emulator:sm_80"));
INSTANTIATE_TEST_SUITE_P(Targets, BooleanMasks, testing::Values("host", "emulator:sm_80", "emulator:sm_90a"));
