//===- Module.h - functions in MLIR text --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_API_MODULE_H
#define ATTN_API_MODULE_H

#include "attn/API/Kernel.h"

namespace attn {

struct ParseOptions {
  /// Receives warnings and remarks; without it they are dropped.
  std::function<void(const Diagnostic &)> onDiagnostic;
};

/// A result of the reference interpreter: dense and row-major, of rank 0 for a scalar.
struct ReferenceTensor {
  /// The function's type; the elements are not rounded to it.
  DType dtype = DType::F64;
  std::vector<int64_t> sizes;
  /// The elements of a floating-point type.
  std::vector<double> reals;
  /// The elements of an integer type or I1.
  std::vector<int64_t> integers;
};

struct ReferenceRun {
  /// One for each result of the function.
  std::vector<ReferenceTensor> results;
  /// Computed indices into captured tensors that lay outside and were clamped, a message for each operation.
  std::vector<Diagnostic> clamped;
};

/// How well one output agrees with the reference.
struct Comparison {
  bool pass = false;
  /// The largest error, and what was allowed, in the output's own unit (absolute). 0 for integers, which must be equal.
  double maxError = 0;
  double allowed = 0;
  /// Elements out of tolerance, or that differ in NaN or infinity.
  int64_t wrong = 0;
  /// A line for people; it names the first wrong element.
  std::string message;
  /// The mean error, and the elements that were compared.
  double meanError = 0;
  int64_t compared = 0;
  /// Of these, elements that are NaN in the unfused graph, for rows whose masks drop every key, and were compared with
  /// what attention makes of such a row: 0.
  int64_t elementsWithoutKeys = 0;
};

/// How Module::check compares. All setters return the object.
class CheckOptions {
public:
  /// Compares only so many query rows of each attention, or all where there are no more: spread evenly over batch,
  /// heads and positions, the first and the last among them; 0, the default: all. For results too large to compute in
  /// f64. KernelRefused where the function does anything with an attention's results but return them.
  CheckOptions &rows(int64_t n) { return sampleRows = n, *this; }

  int64_t rows() const { return sampleRows; }

private:
  int64_t sampleRows = 0;
};

/// Work of the attentions in a function, those that fusion makes included.
struct WorkCount {
  /// Floating-point operations (2 for a multiplication and an addition; softmax and score functions are not counted):
  /// 2 * (headDim + valueDim) for each query and key, and for those that are kept.
  double total = 0;
  double kept = 0;
  /// Bytes that have to be moved once: queries, outputs, and the keys and values from the first to the last that any
  /// query of their head sees.
  double bytes = 0;
  int64_t attentions = 0;
  /// False where `kept` and `bytes` are upper bounds: a mask or kv_lengths read floats, data that is not given, or
  /// results of other operations, or the mask is evaluated for more than 2^26 scores that no bound decides.
  bool isExact = true;
};

/// Functions parsed from MLIR text: upstream's tensor dialects, tosa and `attn`. tosa and the whole attentions and
/// scans of torch-mlir and IREE (in generic form) are raised to these while parsing, so that all else, the reference
/// included, sees linalg and attn in their place; other unregistered operations parse, and compiling names them.
/// A function stands by itself, with what it refers to: what else the text holds is no obstacle, as long as it parses.
/// Immutable; a value (copies are the same module). Any number of threads may use one at once; they wait for each other
/// while they compile from the same module.
class Module {
public:
  /// Parses and verifies text. name stands for the file in error locations. The error is the first of the text, with
  /// notes and further errors on lines of their own. Unsupported where no function is left whose operations, as far as
  /// they are known, can be raised; where others are, those alone that are asked for by name say so.
  static Result<Module> parse(std::string_view text, std::string_view name = "<text>",
                              const ParseOptions &options = {});
  static Result<Module> parseFile(const std::string &path, const ParseOptions &options = {});

  /// The public functions with a body, in the text's order.
  std::vector<FunctionSignature> functions() const;

  /// The function of that name; for "" the module's only one, which then has to be all that there is: a nested module,
  /// or an operation beside functions and symbols, is Unsupported.
  Result<FunctionSignature> function(std::string_view name = "") const;

  /// Compiles a function (and the private ones that it calls) to native code: milliseconds to tenths of a second. For
  /// "" the module's only function. Arguments and results are tensors or scalars of the types in DType. A target that
  /// this machine cannot run is refused: use emit to look at code for others.
  Result<Kernel> compile(std::string_view name = "", const Target &target = Target::host(),
                         const CompileOptions &options = CompileOptions()) const;

  /// The function's text at a stage of its compilation. Runs nothing, so any known target will do.
  Result<std::string> emit(std::string_view name, Stage stage, const Target &target = Target::host(),
                           const CompileOptions &options = CompileOptions()) const;

  /// Evaluates a function by the reference interpreter: plain loops in f64 over the graph level, on the inputs that a
  /// kernel takes. Slow. It shares no code with the compiler. Inputs are checked by the rules of Kernel::run, and what
  /// compiled code would refuse is KernelRefused.
  Result<ReferenceRun> evaluate(std::string_view name, const std::vector<Argument> &inputs) const;

  /// Compares what a kernel wrote with the reference, one comparison for each output. The rule: an error against f64 of
  /// at most twice the largest error that an unfused implementation makes in the function's own types (f32 scores and
  /// softmax, weights and results rounded once), plus a floor: 2e-6 * max(1, largest result) for f32, one ulp for f16
  /// and bf16, 1e-13 * max(1, largest result) for f64. NaN must meet NaN, infinity the same infinity. One difference is
  /// no error: where an unfused graph gives NaN for a row without keys, and the function with its attention fused gives
  /// a number (0, and what follows from it), that number is right, too; the message says how many elements that are.
  /// Elements that are unspecified (attn.attention says when) are left out: Comparison::compared counts the others.
  Result<std::vector<Comparison>> check(std::string_view name, const std::vector<Argument> &inputs,
                                        const std::vector<TensorView> &outputs,
                                        const CheckOptions &options = CheckOptions()) const;

  /// The sizes of each result for these inputs, where the types and the operations tell them; dynamicSize where not.
  /// Data is not looked at (scalars are), so views may have null data.
  Result<std::vector<std::vector<int64_t>>> resultSizes(std::string_view name,
                                                        const std::vector<Argument> &inputs) const;

  /// The work of a function for these inputs, see WorkCount. Unsupported where the sizes of an attention do not follow
  /// from the inputs' sizes and scalars, and inside of control flow. Of data, integers that masks and kv_lengths read
  /// are looked at. Of the options, `fuse` counts. Compiles to the graph level: milliseconds, and seconds where a mask
  /// has to be evaluated for many scores.
  Result<WorkCount> countWork(std::string_view name, const std::vector<Argument> &inputs,
                              const CompileOptions &options = CompileOptions()) const;

  class Impl;

private:
  explicit Module(std::shared_ptr<const Impl> impl) : impl(std::move(impl)) {}
  std::shared_ptr<const Impl> impl;
};

} // namespace attn

#endif // ATTN_API_MODULE_H
