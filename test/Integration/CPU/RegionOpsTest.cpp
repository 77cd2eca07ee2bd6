//===- RegionOpsTest.cpp - every scalar operation in a score region ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each operation is used on operands that differ by query (vectors on a CPU), by key (scalars), and on one of each, and
// its results are added to the score; the outputs must agree with the reference. One module for each operation and
// group of types. On the emulator, where all operands are scalars, one module for several operations.
//
//===----------------------------------------------------------------------===//

#include "Grid.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <functional>

using grid::Buffer;

namespace {

/// `text` computes $r from $a, $b and $c, of type $T; the operands of real operations lie in [low, high).
struct Operation {
  std::string name;
  std::string text;
  double low = 0, high = 0;
  /// The type of $r: '=' that of the operands, '1' i1, otherwise spelled out.
  std::string result = "=";
};

// Operations whose text follows from their name.
Operation unary(const std::string &name, double low = 0, double high = 0) {
  return {name, "$r = " + name + " $a : $T", low, high};
}
Operation binary(const std::string &name, double low = 0, double high = 0) {
  return {name, "$r = " + name + " $a, $b : $T", low, high};
}
Operation predicate(const std::string &name, double low, double high) {
  return {name, "$r = " + name + " $a : $T", low, high, "1"};
}
Operation compare(const std::string &name, const std::string &relation, double low = 0, double high = 0) {
  return {name + " " + relation, "$r = " + name + " " + relation + ", $a, $b : $T", low, high, "1"};
}
Operation convert(const std::string &name, const std::string &type, double low = 0, double high = 0) {
  return {name + " to " + type, "$r = " + name + " $a : $T to " + type, low, high, type};
}

std::string replaceAll(std::string text, const std::string &what, const std::string &by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

const int64_t kBatch = 2, kHeads = 3, kQueries = 21, kKeys = 6;

/// Writes the score region of a program: instances of one operation, each added to the score.
class RegionWriter {
public:
  explicit RegionWriter(std::string score) : score(std::move(score)) {}

  /// The operation on operands of one type, per query, per key and mixed. `define(operand, suffix, index)` writes the
  /// operands 'a', 'b', 'c' as %<operand><suffix>, a function of an index.
  void add(const Operation &operation, const std::string &type,
           const std::function<std::string(char, const std::string &, char)> &define,
           const std::vector<const char *> &operands = {"iii", "jjj", "ijj", "jij"}) {
    for (const char *indices : operands) {
      std::string suffix = std::to_string(count++);
      for (int k = 0; k < 3; ++k)
        body += define("abc"[k], suffix, indices[k]);
      std::string text = operation.text;
      for (const char *name : {"a", "b", "c", "r"})
        text = replaceAll(text, std::string("$") + name, std::string("%") + name + suffix);
      body += "  " + replaceAll(text, "$T", type) + "\n";
      std::string result = operation.result == "=" ? type : operation.result == "1" ? "i1" : operation.result;
      addToScore("%r" + suffix, result, suffix);
    }
  }

  std::string str() const {
    return "score(%x : " + score + ", %b, %h, %i, %j) {\n" + body + "  attn.yield " + sum() + " : " + score + "\n}";
  }

private:
  std::string sum() const { return count ? "%sum" + std::to_string(count - 1) : "%x"; }

  /// A result as a score: reals as they are, the low 8 bits of integers / 32, flags as 0 or 1.
  void addToScore(const std::string &value, const std::string &type, const std::string &suffix) {
    std::string term = "%term" + suffix, wide = "%wide" + suffix;
    auto line = [&](const std::string &text) { body += "  " + text + "\n"; };
    bool isReal = type[0] == 'f' || type == "bf16";
    if (isReal) {
      int bits = std::stoi(type.substr(type == "bf16" ? 2 : 1)), to = std::stoi(score.substr(1));
      if (bits == to)
        term = value;
      else
        line(term + " = arith." + (bits < to ? "extf " : "truncf ") + value + " : " + type + " to " + score);
    } else {
      std::string cast = type == "index" ? "arith.index_cast" : type == "i64" ? "" : "arith.extui";
      if (cast.empty())
        wide = value;
      else
        line(wide + " = " + cast + " " + value + " : " + type + " to i64");
      line("%mask" + suffix + " = arith.constant 255 : i64");
      line("%low" + suffix + " = arith.andi " + wide + ", %mask" + suffix + " : i64");
      line("%real" + suffix + " = arith.uitofp %low" + suffix + " : i64 to " + score);
      line("%unit" + suffix + " = arith.constant " + (type == "i1" ? "1.0" : "0.03125") + " : " + score);
      line(term + " = arith.mulf %real" + suffix + ", %unit" + suffix + " : " + score);
    }
    std::string before = suffix == "0" ? "%x" : "%sum" + std::to_string(std::stoi(suffix) - 1);
    line("%sum" + suffix + " = arith.addf " + before + ", " + term + " : " + score);
  }

  std::string score, body;
  int count = 0;
};

// For failures: gtest would print the bytes.
void PrintTo(const Operation &operation, std::ostream *stream) { *stream << operation.name; }

/// One attention of `dtype` with a score region; %vi and %vj hold reals per query and per key, three of each.
std::string program(const std::string &dtype, const std::string &region) {
  auto type = [&](const std::string &sizes) { return "tensor<" + sizes + "x" + dtype + ">"; };
  std::string q = type("2x3x21x4"), k = type("2x3x6x4"), v = type("2x3x6x5"), o = type("2x3x21x5"), l = type("2x3x21"),
              vi = type("3x21"), vj = type("3x6");
  return "func.func @f(%q: " + q + ", %k: " + k + ", %v: " + v + ", %vi: " + vi + ", %vj: " + vj + ") -> (" + o + ", " +
         l + ") {\n  %scale = arith.constant 0.5 : " + dtype + "\n  %o = tensor.empty() : " + o +
         "\n  %l = tensor.empty() : " + l + "\n  %r:2 = attn.attention %q, %k, %v scale(%scale : " + dtype + ")\n" +
         region + "\n : " + q + ", " + k + ", " + v + " outs(%o : " + o + ") lse(%l : " + l + ") -> " + o + ", " + l +
         "\n  return %r#0, %r#1 : " + o + ", " + l + "\n}\n";
}

/// Reals that are exact in every type, evenly spread over [low, high).
void fill(Buffer &buffer, double low, double high, int64_t seed) {
  for (int64_t k = 0; k < buffer.count(); ++k)
    buffer.set(k, low + (high - low) * static_cast<double>((k * 37 + seed * 11) % 64) / 64);
}

/// Compiles and runs the program, whose operands lie in [low, high); what fails names the operations.
void expectAgreement(const Operation &operation, const std::string &dtype, const std::string &text,
                     const std::string &target = grid::testTarget()) {
  SCOPED_TRACE(operation.name + " in an attention of " + dtype + " on " + target);
  auto module = attn::Module::parse(text, "region.mlir");
  ASSERT_TRUE(module.ok()) << module.error().str() << "\n" << text;
  // Every other one checks its accesses.
  bool checksBounds = !grid::isGpu(target) && operation.name.size() % 2 == 0;
  auto kernel = module->compile("f", attn::Target::named(target), attn::CompileOptions().checkBounds(checksBounds));
  if (grid::isGpu(target) && dtype == "f64") {
    ASSERT_FALSE(kernel.ok());
    EXPECT_NE(kernel.error().message.find(grid::kGpuRefusesF64), std::string::npos) << kernel.error().str();
    return;
  }
  ASSERT_TRUE(kernel.ok()) << kernel.error().str();
  attn::DType type = dtype == "f64" ? attn::DType::F64 : attn::DType::F32;
  Buffer q(type, {kBatch, kHeads, kQueries, 4}), k(type, {kBatch, kHeads, kKeys, 4}),
      v(type, {kBatch, kHeads, kKeys, 5});
  Buffer vi(type, {3, kQueries}), vj(type, {3, kKeys});
  Buffer out(type, {kBatch, kHeads, kQueries, 5}), lse(type, {kBatch, kHeads, kQueries});
  fill(q, -1, 1, 1);
  fill(k, -1, 1, 2);
  fill(v, -1, 1, 3);
  fill(vi, operation.low, operation.high, 4);
  fill(vj, operation.low, operation.high, 5);
  std::vector<attn::Argument> inputs = {q.view(), k.view(), v.view(), vi.view(), vj.view()};
  auto report = kernel->run(inputs, {out.view(), lse.view()});
  ASSERT_TRUE(report.ok()) << report.error().str();
  auto comparisons = module->check("f", inputs, {out.view(), lse.view()});
  ASSERT_TRUE(comparisons.ok()) << comparisons.error().str();
  EXPECT_TRUE((*comparisons)[0].pass) << "out: " << (*comparisons)[0].message;
  EXPECT_TRUE((*comparisons)[1].pass) << "lse: " << (*comparisons)[1].message;
}

/// An operand of a real type: row 'a' to 'c' of the captured reals, converted from the program's type.
std::string realOperand(const std::string &dtype, const std::string &type, char operand, const std::string &suffix,
                        char index) {
  std::string name = std::string(1, operand) + suffix, row = "%row" + name;
  std::string text = "  " + row + " = arith.constant " + std::to_string(operand - 'a') + " : index\n  ";
  std::string read = " = tensor.extract %v" + std::string(1, index) + "[" + row + ", %" + index + "] : tensor<3x" +
                     std::to_string(index == 'i' ? kQueries : kKeys) + "x" + dtype + ">\n";
  if (type == dtype)
    return text + "%" + name + read;
  return text + "%raw" + name + read + "  %" + name + " = arith.truncf %raw" + name + " : " + dtype + " to " + type +
         "\n";
}

/// An operand of an integer type, from the index: 'a' in [-30, 30], 'b' and 'c' in [1, 6].
std::string integerOperand(const std::string &type, char operand, const std::string &suffix, char index) {
  std::string name = std::string(1, operand) + suffix;
  auto constant = [&](const std::string &stem, int value) {
    return "  %" + stem + name + " = arith.constant " + std::to_string(value) + " : index\n";
  };
  bool isA = operand == 'a';
  std::string text = constant("times", isA ? 5 : 3) + constant("plus", operand - 'a' + 3) +
                     constant("mod", isA ? 61 : 6) + constant("move", isA ? -30 : 1);
  text += "  %product" + name + " = arith.muli %" + index + ", %times" + name + " : index\n";
  text += "  %sum" + name + " = arith.addi %product" + name + ", %plus" + name + " : index\n";
  text += "  %rest" + name + " = arith.remui %sum" + name + ", %mod" + name + " : index\n";
  std::string target = type == "index" ? "%" + name : "%moved" + name;
  text += "  " + target + " = arith.addi %rest" + name + ", %move" + name + " : index\n";
  if (type != "index")
    text += "  %" + name + " = arith.index_cast " + target + " : index to " + type + "\n";
  return text;
}

//===----------------------------------------------------------------------===//
// The operations
//===----------------------------------------------------------------------===//

const Operation kRealOperations[] = {
    binary("arith.addf", -2, 2),
    binary("arith.subf", -2, 2),
    binary("arith.mulf", -2, 2),
    binary("arith.divf", 0.5, 2),
    binary("arith.remf", 0.25, 4),
    unary("arith.negf", -2, 2),
    binary("arith.maximumf", -2, 2),
    binary("arith.minimumf", -2, 2),
    binary("arith.maxnumf", -2, 2),
    binary("arith.minnumf", -2, 2),
    {"arith.select", "$r_less = arith.cmpf olt, $a, $b : $T\n  $r = arith.select $r_less, $b, $c : $T", -2, 2},
    unary("math.absf", -2, 2),
    unary("math.acos", -1, 1),
    unary("math.acosh", 1, 9),
    unary("math.asin", -1, 1),
    unary("math.asinh", -4, 4),
    unary("math.atan", -8, 8),
    binary("math.atan2", -2, 2),
    unary("math.atanh", -0.75, 0.75),
    unary("math.cbrt", -8, 8),
    unary("math.ceil", -4, 4),
    {"math.clampf",
     "$r_low = arith.minimumf $b, $c : $T\n  $r_high = arith.maximumf $b, $c : $T\n"
     "  $r = math.clampf $a to [$r_low, $r_high] : $T",
     -2, 2},
    binary("math.copysign", -2, 2),
    unary("math.cos", -20, 20),
    unary("math.cosh", -2, 2),
    unary("math.erf", -4, 4),
    unary("math.erfc", -4, 4),
    unary("math.exp", -8, 2),
    unary("math.exp2", -8, 2),
    unary("math.expm1", -2, 2),
    unary("math.floor", -4, 4),
    {"math.fma", "$r = math.fma $a, $b, $c : $T", -2, 2},
    {"math.fpowi", "$r_n = arith.fptosi $c : $T to i32\n  $r = math.fpowi $a, $r_n : $T, i32", 0.5, 2.5},
    predicate("math.isfinite", -4, 4),
    {"math.isinf", "$r_z = arith.constant 0.0 : $T\n  $r_q = arith.divf $a, $r_z : $T\n  $r = math.isinf $r_q : $T", -4,
     4, "1"},
    {"math.isnan", "$r_q = arith.divf $b, $b : $T\n  $r = math.isnan $r_q : $T", -4, 4, "1"},
    predicate("math.isnormal", -4, 4),
    unary("math.log", 0.125, 8),
    unary("math.log10", 0.125, 8),
    unary("math.log1p", -0.75, 8),
    unary("math.log2", 0.125, 8),
    binary("math.powf", 0.25, 3),
    unary("math.round", -4, 4),
    unary("math.roundeven", -4, 4),
    unary("math.rsqrt", 0.25, 8),
    unary("math.sin", -20, 20),
    {"math.sincos", "$r_s, $r_c = math.sincos $a : $T\n  $r = arith.subf $r_s, $r_c : $T", -4, 4},
    unary("math.sinh", -2, 2),
    unary("math.sqrt", 0, 8),
    unary("math.tan", -1.25, 1.25),
    unary("math.tanh", -8, 8),
    unary("math.trunc", -4, 4),
    convert("arith.fptosi", "i32", -20, 20),
    convert("arith.fptosi", "i8", -20, 20),
    convert("arith.fptosi", "i64", -20, 20),
    convert("arith.fptoui", "i32", 0, 20),
    convert("arith.fptoui", "i64", 0, 20),
    compare("arith.cmpf", "oeq", -1, 1),
    compare("arith.cmpf", "ogt", -1, 1),
    compare("arith.cmpf", "oge", -1, 1),
    compare("arith.cmpf", "olt", -1, 1),
    compare("arith.cmpf", "ole", -1, 1),
    compare("arith.cmpf", "one", -1, 1),
    compare("arith.cmpf", "ord", -1, 1),
    compare("arith.cmpf", "ueq", -1, 1),
    compare("arith.cmpf", "ugt", -1, 1),
    compare("arith.cmpf", "uge", -1, 1),
    compare("arith.cmpf", "ult", -1, 1),
    compare("arith.cmpf", "ule", -1, 1),
    compare("arith.cmpf", "une", -1, 1),
    compare("arith.cmpf", "uno", -1, 1),
};

const Operation kIntegerOperations[] = {
    binary("arith.addi"),
    binary("arith.subi"),
    binary("arith.muli"),
    binary("arith.andi"),
    binary("arith.ori"),
    binary("arith.xori"),
    binary("arith.shli"),
    binary("arith.shrsi"),
    binary("arith.shrui"),
    binary("arith.remsi"),
    binary("arith.remui"),
    binary("arith.floordivsi"),
    binary("arith.maxsi"),
    binary("arith.maxui"),
    binary("arith.minsi"),
    binary("arith.minui"),
    {"arith.select", "$r_less = arith.cmpi slt, $a, $b : $T\n  $r = arith.select $r_less, $b, $c : $T"},
    unary("math.absi"),
    unary("math.ctlz"),
    unary("math.cttz"),
    unary("math.ctpop"),
    binary("math.ipowi"),
    compare("arith.cmpi", "eq"),
    compare("arith.cmpi", "ne"),
    compare("arith.cmpi", "slt"),
    compare("arith.cmpi", "sle"),
    compare("arith.cmpi", "sgt"),
    compare("arith.cmpi", "sge"),
    compare("arith.cmpi", "ult"),
    compare("arith.cmpi", "ule"),
    compare("arith.cmpi", "ugt"),
    compare("arith.cmpi", "uge"),
    // Quotients may trap, unless the divisor is constant.
    {"arith.divsi", "$r_n = arith.constant 7 : $T\n  $r = arith.divsi $a, $r_n : $T"},
    {"arith.divsi by a negative constant", "$r_n = arith.constant -5 : $T\n  $r = arith.divsi $a, $r_n : $T"},
    {"arith.divui", "$r_n = arith.constant 6 : $T\n  $r = arith.divui $a, $r_n : $T"},
    {"arith.ceildivsi", "$r_n = arith.constant 7 : $T\n  $r = arith.ceildivsi $a, $r_n : $T"},
    {"arith.ceildivui", "$r_n = arith.constant 6 : $T\n  $r = arith.ceildivui $a, $r_n : $T"},
    {"arith.floordivsi by a negative number",
     "$r_z = arith.constant 0 : $T\n  $r_n = arith.subi $r_z, $b : $T\n  $r = arith.floordivsi $a, $r_n : $T"},
    {"arith.remsi by a negative number",
     "$r_z = arith.constant 0 : $T\n  $r_n = arith.subi $r_z, $b : $T\n  $r = arith.remsi $a, $r_n : $T"},
    {"arith.remui by a constant", "$r_n = arith.constant 6 : $T\n  $r = arith.remui $a, $r_n : $T"},
    {"math.ipowi of negative exponents",
     "$r_z = arith.constant 2 : $T\n  $r_n = arith.subi $r_z, $b : $T\n  $r_o = arith.constant 1 : $T\n"
     "  $r_a = arith.ori $a, $r_o : $T\n  $r = math.ipowi $r_a, $r_n : $T"},
};

/// Not for index: its width is no property of the type.
const Operation kFixedWidthOperations[] = {
    {"arith.addui_extended", "$r, $r_o = arith.addui_extended $a, $b : $T, i1", 0, 0, "="},
    {"overflow of arith.addui_extended", "$r_s, $r = arith.addui_extended $a, $b : $T, i1", 0, 0, "1"},
    {"arith.mulsi_extended", "$r, $r_h = arith.mulsi_extended $a, $b : $T", 0, 0, "="},
    {"high half of arith.mulsi_extended", "$r_l, $r = arith.mulsi_extended $a, $b : $T", 0, 0, "="},
    {"high half of arith.mului_extended", "$r_l, $r = arith.mului_extended $a, $b : $T", 0, 0, "="},
    convert("arith.index_cast", "index"),
    convert("arith.index_castui", "index"),
    {"arith.sitofp",
     "$r_f = arith.sitofp $a : $T to f32\n  $r_s = arith.constant 0.03125 : f32\n"
     "  $r = arith.mulf $r_f, $r_s : f32",
     0, 0, "f32"},
    {"arith.uitofp",
     "$r_f = arith.uitofp $b : $T to f32\n  $r_s = arith.constant 0.03125 : f32\n"
     "  $r = arith.mulf $r_f, $r_s : f32",
     0, 0, "f32"},
    convert("arith.trunci", "i3"),
};

const Operation kIndexOperations[] = {
    {"arith.shrui beyond 32 bits", "$r_n = arith.constant 40 : index\n  $r = arith.shrui $a, $r_n : index"},
    {"arith.shrsi beyond 32 bits", "$r_n = arith.constant 40 : index\n  $r = arith.shrsi $a, $r_n : index"},
    {"arith.shli beyond 32 bits", "$r_n = arith.constant 40 : index\n  $r_m = arith.shli $a, $r_n : index\n"
                                  "  $r_k = arith.constant 1099511627776 : index\n"
                                  "  $r = arith.divsi $r_m, $r_k : index"},
    {"a product beyond 32 bits", "$r_n = arith.constant 8589934592 : index\n  $r_p = arith.muli $a, $r_n : index\n"
                                 "  $r_m = arith.constant 2147483648 : index\n"
                                 "  $r = arith.divsi $r_p, $r_m : index"},
    {"bits of a wide index", "$r_n = arith.constant 68719476736 : index\n  $r_p = arith.muli $b, $r_n : index\n"
                             "  $r = math.cttz $r_p : index"},
    {"index casts", "$r_n = arith.index_cast $a : index to i8\n  $r_u = arith.index_castui $r_n : i8 to index\n"
                    "  $r_s = arith.index_cast $r_n : i8 to index\n  $r = arith.subi $r_u, $r_s : index"},
    // 2^32 and 2^64 leave different rests.
    {"arith.remui of a negative number", "$r_n = arith.constant 7 : index\n  $r = arith.remui $a, $r_n : index"},
    {"arith.remui by a negative number",
     "$r_n = arith.constant -7 : index\n  $r_m = arith.constant 11 : index\n  $r_p = arith.remui $a, $r_n : index\n"
     "  $r = arith.remui $r_p, $r_m : index"},
    {"arith.ceildivui of a negative number",
     "$r_n = arith.constant 2305843009213693952 : index\n  $r = arith.ceildivui $a, $r_n : index"},
    {"arith.index_castui to i64", "$r_n = arith.index_castui $a : index to i64\n"
                                  "  $r = arith.index_cast $r_n : i64 to index"},
};

const Operation kFlagOperations[] = {
    binary("arith.andi"),
    binary("arith.ori"),
    binary("arith.xori"),
    binary("arith.addi"),
    binary("arith.muli"),
    {"arith.select", "$r = arith.select $a, $b, $c : $T"},
    compare("arith.cmpi", "eq"),
    compare("arith.cmpi", "slt"),
    compare("arith.cmpi", "ult"),
    binary("arith.minsi"),
    binary("arith.maxui"),
    convert("arith.extsi", "i32"),
    convert("arith.extui", "i8"),
    convert("arith.sitofp", "f32"),
    convert("arith.uitofp", "f32"),
    convert("arith.index_cast", "index"),
    convert("arith.index_castui", "index"),
};

} // namespace

class RealOperations : public testing::TestWithParam<Operation> {};

TEST_P(RealOperations, AgreeInF32AndNarrowerTypes) {
  RegionWriter writer("f32");
  for (const char *type : {"f32", "f16", "bf16"})
    writer.add(GetParam(), type, [&](char operand, const std::string &suffix, char index) {
      return realOperand("f32", type, operand, suffix, index);
    });
  expectAgreement(GetParam(), "f32", program("f32", writer.str()));
}

TEST_P(RealOperations, AgreeInF64) {
  RegionWriter writer("f64");
  writer.add(GetParam(), "f64", [&](char operand, const std::string &suffix, char index) {
    return realOperand("f64", "f64", operand, suffix, index);
  });
  expectAgreement(GetParam(), "f64", program("f64", writer.str()));
}

static std::string nameOf(const testing::TestParamInfo<Operation> &info) {
  std::string name = info.param.name;
  for (char &c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)))
      c = '_';
  return name;
}

/// The operation on operands of each type, in an attention of f32.
static void expectIntegersAgree(const Operation &operation, const std::vector<std::string> &types) {
  RegionWriter writer("f32");
  for (const std::string &type : types)
    writer.add(operation, type, [&](char operand, const std::string &suffix, char index) {
      return integerOperand(type, operand, suffix, index);
    });
  expectAgreement(operation, "f32", program("f32", writer.str()));
}

class IntegerOperations : public testing::TestWithParam<Operation> {};
TEST_P(IntegerOperations, Agree) { expectIntegersAgree(GetParam(), {"i8", "i16", "i32", "i64", "index"}); }

class FixedWidthOperations : public testing::TestWithParam<Operation> {};
TEST_P(FixedWidthOperations, Agree) { expectIntegersAgree(GetParam(), {"i8", "i16", "i32", "i64"}); }

class IndexOperations : public testing::TestWithParam<Operation> {};
TEST_P(IndexOperations, Agree) { expectIntegersAgree(GetParam(), {"index"}); }

class FlagOperations : public testing::TestWithParam<Operation> {};
TEST_P(FlagOperations, Agree) { expectIntegersAgree(GetParam(), {"i1"}); }

INSTANTIATE_TEST_SUITE_P(Region, RealOperations, testing::ValuesIn(kRealOperations), nameOf);
INSTANTIATE_TEST_SUITE_P(Region, IntegerOperations, testing::ValuesIn(kIntegerOperations), nameOf);
INSTANTIATE_TEST_SUITE_P(Region, FixedWidthOperations, testing::ValuesIn(kFixedWidthOperations), nameOf);
INSTANTIATE_TEST_SUITE_P(Region, IndexOperations, testing::ValuesIn(kIndexOperations), nameOf);
INSTANTIATE_TEST_SUITE_P(Region, FlagOperations, testing::ValuesIn(kFlagOperations), nameOf);

//===----------------------------------------------------------------------===//
// On the emulator
//===----------------------------------------------------------------------===//

namespace {

/// Operations that one module holds, and the types of their operands.
struct Batch {
  std::vector<Operation> operations;
  std::vector<std::string> types;
  bool isReal;

  void run(const std::string &target) const {
    RegionWriter writer("f32");
    // For failures, and for the range of operands: only operations of one range share a module.
    Operation all = operations[0];
    all.name.clear();
    for (const Operation &operation : operations) {
      all.name += (all.name.empty() ? "" : ", ") + operation.name;
      for (const std::string &type : types)
        writer.add(operation, type,
                   [&](char operand, const std::string &suffix, char index) {
                     return isReal ? realOperand("f32", type, operand, suffix, index)
                                   : integerOperand(type, operand, suffix, index);
                   },
                   {"iji"});
    }
    expectAgreement(all, "f32", program("f32", writer.str()), target);
  }
};

constexpr size_t kInBatch = 5;

/// Adds the operations to batches of their own range, in their order.
template <size_t N>
void addBatches(const Operation (&operations)[N], const std::vector<std::string> &types, bool isReal,
                std::vector<Batch> &batches) {
  std::vector<Batch> added;
  for (const Operation &operation : operations) {
    auto isOpen = [&](const Batch &batch) {
      const Operation &first = batch.operations[0];
      return batch.operations.size() < kInBatch && first.low == operation.low && first.high == operation.high;
    };
    auto batch = std::find_if(added.begin(), added.end(), isOpen);
    if (batch == added.end())
      added.push_back({{operation}, types, isReal});
    else
      batch->operations.push_back(operation);
  }
  batches.insert(batches.end(), added.begin(), added.end());
}

std::vector<Batch> batchesFor(const std::string &halfType) {
  std::vector<Batch> batches;
  addBatches(kRealOperations, {"f32", halfType}, /*isReal=*/true, batches);
  addBatches(kIntegerOperations, {"i8", "i16", "i32", "i64", "index"}, /*isReal=*/false, batches);
  addBatches(kFixedWidthOperations, {"i8", "i16", "i32", "i64"}, /*isReal=*/false, batches);
  addBatches(kIndexOperations, {"index"}, /*isReal=*/false, batches);
  addBatches(kFlagOperations, {"i1"}, /*isReal=*/false, batches);
  return batches;
}

} // namespace

class EmulatedOperations : public testing::TestWithParam<std::tuple<const char *, unsigned>> {};

/// The batches in this many parts, so that lit can run them side by side.
static constexpr unsigned kParts = 3;

TEST_P(EmulatedOperations, AgreeInF32AndA16BitType) {
  auto [chip, part] = GetParam();
  std::vector<Batch> batches = batchesFor(std::string(chip) == "sm_80" ? "f16" : "bf16");
  for (size_t k = part; k < batches.size(); k += kParts)
    batches[k].run(std::string("emulator:") + chip);
}

INSTANTIATE_TEST_SUITE_P(Region, EmulatedOperations,
                         testing::Combine(testing::Values("sm_80", "sm_90a"), testing::Range(0u, kParts)),
                         [](const auto &info) {
                           return std::string(std::get<0>(info.param)) + "_" + std::to_string(std::get<1>(info.param));
                         });
