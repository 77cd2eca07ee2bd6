//===- SpecialValues.h - running functions on tables of arguments ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TEST_INTEGRATION_CPU_SPECIALVALUES_H
#define ATTN_TEST_INTEGRATION_CPU_SPECIALVALUES_H

#include "attn/attn.h"
#include "gtest/gtest.h"

#include <string>
#include <vector>

namespace special_values {

/// `$r = ...` of $x and $y, tensors of type $T.
inline std::string replaceAll(std::string text, const std::string &what, const std::string &by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

/// One op of a program: its text, and which of the program's arguments stands for $y.
struct Line {
  std::string text;
  int second = 1;
};

/// Whether ops work on whole tensors, or on their elements one by one in a loop.
enum class Form { Tensors, Scalars };

/// A function of tensors %x0, %x1, ... with elements `arguments` that returns the result of each line. $T stands for
/// the type of the results, $N for that of the last argument, $I for i1.
inline std::string program(const std::vector<Line> &lines, const std::vector<std::string> &arguments,
                           const std::string &result, int64_t count, Form form = Form::Tensors) {
  auto tensor = [&](const std::string &element) { return "tensor<" + std::to_string(count) + "x" + element + ">"; };
  auto type = [&](const std::string &element) { return form == Form::Tensors ? tensor(element) : element; };
  std::string parameters, types, values, body, reads, starts, empties, writes;
  const std::string operand = form == Form::Tensors ? "%x" : "%s";
  for (size_t k = 0; k < arguments.size(); ++k) {
    std::string number = std::to_string(k);
    parameters += (k ? ", %x" : "%x") + number + ": " + tensor(arguments[k]);
    reads += "  %s" + number + " = tensor.extract %x" + number + "[%i] : " + tensor(arguments[k]) + "\n";
  }
  for (size_t k = 0; k < lines.size(); ++k) {
    std::string number = std::to_string(k), text = lines[k].text;
    for (const char *name : {"r", "c"})
      text = replaceAll(text, std::string("$") + name, std::string("%") + name + number);
    text = replaceAll(replaceAll(text, "$x", operand + "0"), "$y", operand + std::to_string(lines[k].second));
    text = replaceAll(replaceAll(text, "$T", type(result)), "$I", type("i1"));
    body += "  " + replaceAll(text, "$N", type(arguments.back())) + "\n";
    types += (k ? ", " : "") + tensor(result);
    values += (k ? ", %" : "%") + ((form == Form::Tensors ? "r" : "w") + number);
    starts += (k ? ", %a" : "%a") + number + " = %e" + number;
    empties += "  %e" + number + " = tensor.empty() : " + tensor(result) + "\n";
    writes +=
        "  %w" + number + " = tensor.insert %r" + number + " into %a" + number + "[%i] : " + tensor(result) + "\n";
  }
  std::string head = "func.func @f(" + parameters + ") -> (" + types + ") {\n";
  if (form == Form::Tensors)
    return head + body + "  return " + values + " : " + types + "\n}\n";
  std::string results;
  for (size_t k = 0; k < lines.size(); ++k)
    results += (k ? ", %loop#" : "%loop#") + std::to_string(k);
  return head + "  %zero = arith.constant 0 : index\n  %one = arith.constant 1 : index\n  %end = arith.constant " +
         std::to_string(count) + " : index\n" + empties + "  %loop:" + std::to_string(lines.size()) +
         " = scf.for %i = %zero to %end step %one iter_args(" + starts + ") -> (" + types + ") {\n" + reads + body +
         writes + "  scf.yield " + values + " : " + types + "\n  }\n  return " + results + " : " + types + "\n}\n";
}

/// Runs the module's only function for `target`. Returns why the target is skipped; empty if it was run.
inline std::string run(const std::string &text, const std::string &target, const std::vector<attn::Argument> &inputs,
                       const std::vector<attn::MutableTensorView> &outputs) {
  auto module = attn::Module::parse(text, "special-values.mlir");
  if (!module.ok())
    return ADD_FAILURE() << module.error().str() << "\n" << text, "";
  auto kernel = module->compile("", attn::Target::named(target));
  if (!kernel.ok() && kernel.error().message.find("this machine cannot run code") != std::string::npos)
    return kernel.error().message;
  if (!kernel.ok())
    return ADD_FAILURE() << kernel.error().str() << "\n" << text, "";
  auto report = kernel->run(inputs, outputs);
  if (!report.ok())
    ADD_FAILURE() << report.error().str();
  return "";
}

/// Compares outputs with the reference interpreter.
inline void expectAgreement(const std::string &text, const std::vector<attn::Argument> &inputs,
                            const std::vector<attn::MutableTensorView> &outputs) {
  auto module = attn::Module::parse(text, "special-values.mlir");
  ASSERT_TRUE(module.ok()) << module.error().str();
  auto comparisons = module->check("", inputs, std::vector<attn::TensorView>(outputs.begin(), outputs.end()));
  ASSERT_TRUE(comparisons.ok()) << comparisons.error().str();
  for (const attn::Comparison &comparison : *comparisons)
    EXPECT_TRUE(comparison.pass) << comparison.message;
}

/// The CPUs that a function is run for, and the GPUs. On other architectures than x86-64 this machine's CPU.
inline std::vector<std::string> cpuTargets() {
#if defined(__x86_64__)
  return {"x86-64-v3", "x86-64-v4"};
#else
  return {"host"};
#endif
}
inline std::vector<std::string> targets() {
  std::vector<std::string> all = cpuTargets();
  all.insert(all.end(), {"emulator:sm_80", "emulator:sm_90a"});
  return all;
}
inline bool isEmulated(const std::string &target) { return target.rfind("emulator", 0) == 0; }

/// A name that gtest accepts.
inline std::string identifier(std::string name) {
  for (char &c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)))
      c = '_';
  return name;
}

} // namespace special_values

#endif // ATTN_TEST_INTEGRATION_CPU_SPECIALVALUES_H
