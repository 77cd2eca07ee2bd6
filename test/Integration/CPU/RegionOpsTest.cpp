//===- RegionOpsTest.cpp - every scalar operation in a score region ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each operation is used on operands that differ by query (vectors on a CPU), by key (scalars), and on one of each, and
// its results are added to the score; the outputs must agree with the reference. One module for each operation and
// group of types.
//
//===----------------------------------------------------------------------===//

#include "Grid.h"
#include "gtest/gtest.h"

#include <functional>

using grid::Buffer;

namespace {

/// `text` computes $r from $a, $b and $c, of type $T; the operands of real operations lie in [low, high).
struct Operation {
  const char *name;
  const char *text;
  double low = 0, high = 0;
  /// The type of $r: '=' that of the operands, '1' i1, otherwise spelled out.
  const char *result = "=";
};

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
           const std::function<std::string(char, const std::string &, char)> &define) {
    for (const char *indices : {"iii", "jjj", "ijj", "jij"}) {
      std::string suffix = std::to_string(count++);
      for (int k = 0; k < 3; ++k)
        body += define("abc"[k], suffix, indices[k]);
      std::string text = operation.text;
      for (const char *name : {"a", "b", "c", "r"})
        text = replaceAll(text, std::string("$") + name, std::string("%") + name + suffix);
      body += "  " + replaceAll(text, "$T", type) + "\n";
      std::string result = *operation.result == '=' ? type : *operation.result == '1' ? "i1" : operation.result;
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

/// Compiles and runs the program; what fails names the operation.
void expectAgreement(const Operation &operation, const std::string &dtype, const std::string &text) {
  SCOPED_TRACE(std::string(operation.name) + " in an attention of " + dtype);
  auto module = attn::Module::parse(text, "region.mlir");
  ASSERT_TRUE(module.ok()) << module.error().str() << "\n" << text;
  auto kernel = module->compile("f");
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
    {"arith.addf", "$r = arith.addf $a, $b : $T", -2, 2},
    {"arith.subf", "$r = arith.subf $a, $b : $T", -2, 2},
    {"arith.mulf", "$r = arith.mulf $a, $b : $T", -2, 2},
    {"arith.divf", "$r = arith.divf $a, $b : $T", 0.5, 2},
    {"arith.remf", "$r = arith.remf $a, $b : $T", 0.25, 4},
    {"arith.negf", "$r = arith.negf $a : $T", -2, 2},
    {"arith.maximumf", "$r = arith.maximumf $a, $b : $T", -2, 2},
    {"arith.minimumf", "$r = arith.minimumf $a, $b : $T", -2, 2},
    {"arith.maxnumf", "$r = arith.maxnumf $a, $b : $T", -2, 2},
    {"arith.minnumf", "$r = arith.minnumf $a, $b : $T", -2, 2},
    {"arith.select", "$r_less = arith.cmpf olt, $a, $b : $T\n  $r = arith.select $r_less, $b, $c : $T", -2, 2},
    {"math.absf", "$r = math.absf $a : $T", -2, 2},
    {"math.acos", "$r = math.acos $a : $T", -1, 1},
    {"math.acosh", "$r = math.acosh $a : $T", 1, 9},
    {"math.asin", "$r = math.asin $a : $T", -1, 1},
    {"math.asinh", "$r = math.asinh $a : $T", -4, 4},
    {"math.atan", "$r = math.atan $a : $T", -8, 8},
    {"math.atan2", "$r = math.atan2 $a, $b : $T", -2, 2},
    {"math.atanh", "$r = math.atanh $a : $T", -0.75, 0.75},
    {"math.cbrt", "$r = math.cbrt $a : $T", -8, 8},
    {"math.ceil", "$r = math.ceil $a : $T", -4, 4},
    {"math.clampf",
     "$r_low = arith.minimumf $b, $c : $T\n  $r_high = arith.maximumf $b, $c : $T\n"
     "  $r = math.clampf $a to [$r_low, $r_high] : $T",
     -2, 2},
    {"math.copysign", "$r = math.copysign $a, $b : $T", -2, 2},
    {"math.cos", "$r = math.cos $a : $T", -20, 20},
    {"math.cosh", "$r = math.cosh $a : $T", -2, 2},
    {"math.erf", "$r = math.erf $a : $T", -4, 4},
    {"math.erfc", "$r = math.erfc $a : $T", -4, 4},
    {"math.exp", "$r = math.exp $a : $T", -8, 2},
    {"math.exp2", "$r = math.exp2 $a : $T", -8, 2},
    {"math.expm1", "$r = math.expm1 $a : $T", -2, 2},
    {"math.floor", "$r = math.floor $a : $T", -4, 4},
    {"math.fma", "$r = math.fma $a, $b, $c : $T", -2, 2},
    {"math.fpowi", "$r_n = arith.fptosi $c : $T to i32\n  $r = math.fpowi $a, $r_n : $T, i32", 0.5, 2.5},
    {"math.isfinite", "$r = math.isfinite $a : $T", -4, 4, "1"},
    {"math.isinf", "$r_z = arith.constant 0.0 : $T\n  $r_q = arith.divf $a, $r_z : $T\n  $r = math.isinf $r_q : $T", -4,
     4, "1"},
    {"math.isnan", "$r_q = arith.divf $b, $b : $T\n  $r = math.isnan $r_q : $T", -4, 4, "1"},
    {"math.isnormal", "$r = math.isnormal $a : $T", -4, 4, "1"},
    {"math.log", "$r = math.log $a : $T", 0.125, 8},
    {"math.log10", "$r = math.log10 $a : $T", 0.125, 8},
    {"math.log1p", "$r = math.log1p $a : $T", -0.75, 8},
    {"math.log2", "$r = math.log2 $a : $T", 0.125, 8},
    {"math.powf", "$r = math.powf $a, $b : $T", 0.25, 3},
    {"math.round", "$r = math.round $a : $T", -4, 4},
    {"math.roundeven", "$r = math.roundeven $a : $T", -4, 4},
    {"math.rsqrt", "$r = math.rsqrt $a : $T", 0.25, 8},
    {"math.sin", "$r = math.sin $a : $T", -20, 20},
    {"math.sincos", "$r_s, $r_c = math.sincos $a : $T\n  $r = arith.subf $r_s, $r_c : $T", -4, 4},
    {"math.sinh", "$r = math.sinh $a : $T", -2, 2},
    {"math.sqrt", "$r = math.sqrt $a : $T", 0, 8},
    {"math.tan", "$r = math.tan $a : $T", -1.25, 1.25},
    {"math.tanh", "$r = math.tanh $a : $T", -8, 8},
    {"math.trunc", "$r = math.trunc $a : $T", -4, 4},
    {"arith.fptosi", "$r = arith.fptosi $a : $T to i32", -20, 20, "i32"},
    {"arith.fptosi to i8", "$r = arith.fptosi $a : $T to i8", -20, 20, "i8"},
    {"arith.fptosi to i64", "$r = arith.fptosi $a : $T to i64", -20, 20, "i64"},
    {"arith.fptoui", "$r = arith.fptoui $a : $T to i32", 0, 20, "i32"},
    {"arith.fptoui to i64", "$r = arith.fptoui $a : $T to i64", 0, 20, "i64"},
    {"arith.cmpf oeq", "$r = arith.cmpf oeq, $a, $b : $T", -1, 1, "1"},
    {"arith.cmpf ogt", "$r = arith.cmpf ogt, $a, $b : $T", -1, 1, "1"},
    {"arith.cmpf oge", "$r = arith.cmpf oge, $a, $b : $T", -1, 1, "1"},
    {"arith.cmpf olt", "$r = arith.cmpf olt, $a, $b : $T", -1, 1, "1"},
    {"arith.cmpf ole", "$r = arith.cmpf ole, $a, $b : $T", -1, 1, "1"},
    {"arith.cmpf one", "$r = arith.cmpf one, $a, $b : $T", -1, 1, "1"},
    {"arith.cmpf ord", "$r = arith.cmpf ord, $a, $b : $T", -1, 1, "1"},
    {"arith.cmpf ueq", "$r = arith.cmpf ueq, $a, $b : $T", -1, 1, "1"},
    {"arith.cmpf ugt", "$r = arith.cmpf ugt, $a, $b : $T", -1, 1, "1"},
    {"arith.cmpf uge", "$r = arith.cmpf uge, $a, $b : $T", -1, 1, "1"},
    {"arith.cmpf ult", "$r = arith.cmpf ult, $a, $b : $T", -1, 1, "1"},
    {"arith.cmpf ule", "$r = arith.cmpf ule, $a, $b : $T", -1, 1, "1"},
    {"arith.cmpf une", "$r = arith.cmpf une, $a, $b : $T", -1, 1, "1"},
    {"arith.cmpf uno", "$r = arith.cmpf uno, $a, $b : $T", -1, 1, "1"},
};

const Operation kIntegerOperations[] = {
    {"arith.addi", "$r = arith.addi $a, $b : $T"},
    {"arith.subi", "$r = arith.subi $a, $b : $T"},
    {"arith.muli", "$r = arith.muli $a, $b : $T"},
    {"arith.andi", "$r = arith.andi $a, $b : $T"},
    {"arith.ori", "$r = arith.ori $a, $b : $T"},
    {"arith.xori", "$r = arith.xori $a, $b : $T"},
    {"arith.shli", "$r = arith.shli $a, $b : $T"},
    {"arith.shrsi", "$r = arith.shrsi $a, $b : $T"},
    {"arith.shrui", "$r = arith.shrui $a, $b : $T"},
    {"arith.remsi", "$r = arith.remsi $a, $b : $T"},
    {"arith.remui", "$r = arith.remui $a, $b : $T"},
    {"arith.floordivsi", "$r = arith.floordivsi $a, $b : $T"},
    {"arith.maxsi", "$r = arith.maxsi $a, $b : $T"},
    {"arith.maxui", "$r = arith.maxui $a, $b : $T"},
    {"arith.minsi", "$r = arith.minsi $a, $b : $T"},
    {"arith.minui", "$r = arith.minui $a, $b : $T"},
    {"arith.select", "$r_less = arith.cmpi slt, $a, $b : $T\n  $r = arith.select $r_less, $b, $c : $T"},
    {"math.absi", "$r = math.absi $a : $T"},
    {"math.ctlz", "$r = math.ctlz $a : $T"},
    {"math.cttz", "$r = math.cttz $a : $T"},
    {"math.ctpop", "$r = math.ctpop $a : $T"},
    {"math.ipowi", "$r = math.ipowi $a, $b : $T"},
    {"arith.cmpi eq", "$r = arith.cmpi eq, $a, $b : $T", 0, 0, "1"},
    {"arith.cmpi ne", "$r = arith.cmpi ne, $a, $b : $T", 0, 0, "1"},
    {"arith.cmpi slt", "$r = arith.cmpi slt, $a, $b : $T", 0, 0, "1"},
    {"arith.cmpi sle", "$r = arith.cmpi sle, $a, $b : $T", 0, 0, "1"},
    {"arith.cmpi sgt", "$r = arith.cmpi sgt, $a, $b : $T", 0, 0, "1"},
    {"arith.cmpi sge", "$r = arith.cmpi sge, $a, $b : $T", 0, 0, "1"},
    {"arith.cmpi ult", "$r = arith.cmpi ult, $a, $b : $T", 0, 0, "1"},
    {"arith.cmpi ule", "$r = arith.cmpi ule, $a, $b : $T", 0, 0, "1"},
    {"arith.cmpi ugt", "$r = arith.cmpi ugt, $a, $b : $T", 0, 0, "1"},
    {"arith.cmpi uge", "$r = arith.cmpi uge, $a, $b : $T", 0, 0, "1"},
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
    {"arith.index_cast", "$r = arith.index_cast $a : $T to index", 0, 0, "index"},
    {"arith.index_castui", "$r = arith.index_castui $a : $T to index", 0, 0, "index"},
    {"arith.sitofp",
     "$r_f = arith.sitofp $a : $T to f32\n  $r_s = arith.constant 0.03125 : f32\n"
     "  $r = arith.mulf $r_f, $r_s : f32",
     0, 0, "f32"},
    {"arith.uitofp",
     "$r_f = arith.uitofp $b : $T to f32\n  $r_s = arith.constant 0.03125 : f32\n"
     "  $r = arith.mulf $r_f, $r_s : f32",
     0, 0, "f32"},
    {"arith.trunci", "$r = arith.trunci $a : $T to i3", 0, 0, "i3"},
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
    {"arith.index_castui to i64", "$r_n = arith.index_castui $a : index to i64\n"
                                  "  $r = arith.index_cast $r_n : i64 to index"},
};

const Operation kFlagOperations[] = {
    {"arith.andi", "$r = arith.andi $a, $b : $T"},
    {"arith.ori", "$r = arith.ori $a, $b : $T"},
    {"arith.xori", "$r = arith.xori $a, $b : $T"},
    {"arith.addi", "$r = arith.addi $a, $b : $T"},
    {"arith.muli", "$r = arith.muli $a, $b : $T"},
    {"arith.select", "$r = arith.select $a, $b, $c : $T"},
    {"arith.cmpi eq", "$r = arith.cmpi eq, $a, $b : $T"},
    {"arith.cmpi slt", "$r = arith.cmpi slt, $a, $b : $T"},
    {"arith.cmpi ult", "$r = arith.cmpi ult, $a, $b : $T"},
    {"arith.minsi", "$r = arith.minsi $a, $b : $T"},
    {"arith.maxui", "$r = arith.maxui $a, $b : $T"},
    {"arith.extsi", "$r = arith.extsi $a : $T to i32", 0, 0, "i32"},
    {"arith.extui", "$r = arith.extui $a : $T to i8", 0, 0, "i8"},
    {"arith.sitofp", "$r = arith.sitofp $a : $T to f32", 0, 0, "f32"},
    {"arith.uitofp", "$r = arith.uitofp $a : $T to f32", 0, 0, "f32"},
    {"arith.index_cast", "$r = arith.index_cast $a : $T to index", 0, 0, "index"},
    {"arith.index_castui", "$r = arith.index_castui $a : $T to index", 0, 0, "index"},
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
