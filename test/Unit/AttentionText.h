//===- AttentionText.h - the text of an attention for tests --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TEST_UNIT_ATTENTIONTEXT_H
#define ATTN_TEST_UNIT_ATTENTIONTEXT_H

#include <string>

/// What may differ between the attentions of dynamicAttention.
struct AttentionText {
  /// Between scale(...) and the types: scores, masks, regions, sink, lengths.
  std::string clauses;
  /// Declarations of arguments behind %q, %k and %v, as in "%n: tensor<?xi32>".
  std::string arguments;
  std::string scale = "1.0";
  /// Returns the lse, too; the weights behind it.
  bool hasLse = false;
  bool hasWeights = false;
};

/// @f: one attention on f32 in the default layout, all sizes dynamic. The constants %c0 to %c3 may be used in clauses.
inline std::string dynamicAttention(const AttentionText &text) {
  const std::string tensor = "tensor<?x?x?x?xf32>", lse = "tensor<?x?x?xf32>";
  std::string results = tensor, outs = "outs(%out : " + tensor + ")", returned = "%r#0";
  int count = 1;
  auto addResult = [&](const std::string &name, const std::string &type) {
    results += ", " + type;
    outs += " " + name + "(%" + name + " : " + type + ")";
    returned += ", %r#" + std::to_string(count++);
  };
  if (text.hasLse)
    addResult("lse", lse);
  if (text.hasWeights)
    addResult("weights", tensor);
  std::string function = "func.func @f(%q: " + tensor + ", %k: " + tensor + ", %v: " + tensor +
                         (text.arguments.empty() ? "" : ", " + text.arguments) + ") -> (" + results + ") {\n";
  for (int n = 0; n < 4; ++n)
    function += "  %c" + std::to_string(n) + " = arith.constant " + std::to_string(n) + " : index\n";
  auto size = [&](const char *name, const char *operand, int dimension) {
    function += std::string("  %") + name + " = tensor.dim %" + operand + ", %c" + std::to_string(dimension) + " : " +
                tensor + "\n";
  };
  size("batch", "q", 0);
  size("heads", "q", 1);
  size("queryLen", "q", 2);
  size("kvLen", "k", 2);
  size("valueDim", "v", 3);
  function += "  %out = tensor.empty(%batch, %heads, %queryLen, %valueDim) : " + tensor + "\n";
  if (text.hasLse)
    function += "  %lse = tensor.empty(%batch, %heads, %queryLen) : " + lse + "\n";
  if (text.hasWeights)
    function += "  %weights = tensor.empty(%batch, %heads, %queryLen, %kvLen) : " + tensor + "\n";
  return function + "  %scale = arith.constant " + text.scale + " : f32\n  %r:" + std::to_string(count) +
         " = attn.attention %q, %k, %v scale(%scale) " + text.clauses + "\n    : " + tensor + ", " + tensor + ", " +
         tensor + "\n      " + outs + " -> " + results + "\n  return " + returned + " : " + results + "\n}\n";
}

#endif // ATTN_TEST_UNIT_ATTENTIONTEXT_H
