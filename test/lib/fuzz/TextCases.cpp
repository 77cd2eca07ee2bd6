//===- TextCases.cpp - damaged .mlir text ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Cases.h"
#include "Children.h"
#include "MutateText.h"
#include "tools/support/Data.h"

#include "attn/InitAllDialects.h"
#include "attn/InitAllPasses.h"
#include "attn/Pipelines/PassChecks.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <algorithm>

using namespace attn;
using namespace attn::fuzz;

//===----------------------------------------------------------------------===//
// Seeds
//===----------------------------------------------------------------------===//

/// Whether the file's functions are there to be refused.
static bool isInvalid(llvm::StringRef file) { return llvm::sys::path::filename(file).starts_with("invalid"); }

static std::vector<std::string> listFiles(const std::vector<std::string> &folders) {
  std::vector<std::string> files;
  for (const std::string &folder : folders) {
    std::error_code code;
    for (llvm::sys::fs::recursive_directory_iterator at(folder, code), end; at != end && !code; at.increment(code))
      if (llvm::StringRef(at->path()).ends_with(".mlir"))
        files.push_back(at->path());
  }
  // Those that are valid come first.
  std::sort(files.begin(), files.end(), [](const std::string &a, const std::string &b) {
    return std::pair(isInvalid(a), a) < std::pair(isInvalid(b), b);
  });
  return files;
}

/// The words of a RUN line; quotes hold words together and go.
static std::vector<std::string> splitCommand(llvm::StringRef line) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  for (char c : line) {
    if (quote ? c == quote : c == '"' || c == '\'') {
      quote = quote ? 0 : c;
    } else if (c == ' ' && !quote) {
      words.push_back(std::move(word));
      word.clear();
    } else {
      word += c;
    }
  }
  words.push_back(std::move(word));
  return words;
}

/// "--a=b" as "a{b}", joined; "" where the words hold no pass that is known.
static std::string convertToPipeline(const std::vector<std::string> &words) {
  llvm::SmallVector<std::string> passes;
  for (const std::string &word : words) {
    auto [flag, options] = llvm::StringRef(word).ltrim('-').split('=');
    if (flag == "pass-pipeline" && options.consume_front("builtin.module(") && options.consume_back(")"))
      passes.push_back(options.str());
    else if (llvm::StringRef(word).starts_with("-") &&
             (mlir::PassInfo::lookup(flag) || mlir::PassPipelineInfo::lookup(flag)))
      passes.push_back(options.empty() ? flag.str() : (flag + "{" + options + "}").str());
  }
  return llvm::join(passes, ",");
}

static bool isPipeline(const std::string &text) {
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  mlir::OpPassManager passes(mlir::ModuleOp::getOperationName(), mlir::OpPassManager::Nesting::Implicit);
  return !text.empty() && mlir::succeeded(mlir::parsePassPipeline(text, passes, stream));
}

static std::vector<std::string> findPipelines(llvm::StringRef text) {
  std::vector<std::string> pipelines;
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n');
  for (llvm::StringRef line : lines) {
    size_t command = line.find("attn-opt ");
    if (!line.contains("RUN:") || command == llvm::StringRef::npos)
      continue;
    std::string pipeline = convertToPipeline(splitCommand(line.drop_front(command).split('|').first));
    if (isPipeline(pipeline))
      pipelines.push_back(pipeline);
  }
  return pipelines;
}

/// The functions of a part, each with the aliases of attributes and types in front of it.
static std::vector<std::string> splitFunctions(llvm::StringRef part) {
  std::vector<std::string> functions;
  std::string aliases, function;
  bool isAlias = false;
  llvm::SmallVector<llvm::StringRef> lines;
  part.split(lines, '\n');
  for (llvm::StringRef line : lines) {
    // The lines that follow one of an alias, or of a function, are indented.
    bool isIndented = line.starts_with(" ");
    isAlias = line.starts_with("#") || line.starts_with("!") || (isAlias && isIndented);
    if (isAlias && function.empty())
      aliases += (line + "\n").str();
    if (line.starts_with("func.func") || !function.empty())
      function += (line + "\n").str();
    if (!function.empty() && !isIndented && line.ends_with("}"))
      functions.push_back(aliases + std::exchange(function, ""));
  }
  return functions;
}

/// The parts of the files between "// -----" lines, and the functions of long ones; long texts would take most of the
/// time.
static std::vector<Seed> readSeeds(const std::vector<std::string> &folders) {
  constexpr size_t maxBytes = 8000, shortBytes = 1500;
  std::vector<Seed> seeds;
  for (const std::string &file : listFiles(folders)) {
    auto buffer = llvm::MemoryBuffer::getFile(file);
    if (!buffer)
      continue;
    std::vector<std::string> pipelines = findPipelines((*buffer)->getBuffer());
    llvm::SmallVector<llvm::StringRef> parts;
    (*buffer)->getBuffer().split(parts, "// -----\n");
    for (llvm::StringRef part : parts) {
      std::vector<std::string> texts;
      if (part.size() > shortBytes)
        texts = splitFunctions(part);
      if (part.size() < maxBytes)
        texts.push_back(part.str());
      for (const std::string &text : texts)
        if (text.size() < maxBytes)
          seeds.push_back({file, tokenize(text), pipelines});
    }
  }
  return seeds;
}

//===----------------------------------------------------------------------===//
// What is done with a text
//===----------------------------------------------------------------------===//

/// Sizes of generated arguments: small ones for what the type leaves open. nullopt for what is no tensor that fits.
static std::optional<std::vector<int64_t>> chooseSizes(Random &random, const ValueType &type) {
  std::vector<int64_t> sizes = type.sizes;
  int64_t count = 1;
  for (int64_t &size : sizes) {
    if (size == dynamicSize)
      size = static_cast<int64_t>(random.below(6));
    if (size > 64 || (count *= size) > 4096)
      return std::nullopt;
  }
  return sizes;
}

/// Settings that give each argument a value; false where one would be too large.
static bool chooseData(Random &random, const FunctionSignature &signature, tool::DataSettings &settings) {
  for (size_t i = 0; i < signature.arguments.size(); ++i) {
    const ValueType &type = signature.arguments[i];
    bool isInteger = !isFloat(type.dtype) && type.dtype != DType::I1;
    if (type.isTensor) {
      auto sizes = chooseSizes(random, type);
      if (!sizes)
        return false;
      settings.shapes[i] = *sizes;
      if (isInteger)
        settings.fills[i] = *tool::parseFill("range:0:3");
    } else if (isInteger) {
      settings.scalars[i] = std::to_string(random.below(4));
    }
  }
  return true;
}

/// Loops may take as long as their text says, so modules with loops are left out.
static void evaluate(Random &random, const Module &module, const FunctionSignature &signature,
                     const std::string &text) {
  tool::DataSettings settings;
  if (text.find("scf.") != std::string::npos || text.find("cf.") != std::string::npos ||
      text.find("tosa.while") != std::string::npos || text.size() > 8000)
    return;
  for (const std::vector<ValueType> *types : {&signature.arguments, &signature.results})
    for (const ValueType &type : *types)
      if (type.dtype == DType::Other)
        return;
  if (!chooseData(random, signature, settings))
    return;
  auto inputs = tool::makeInputs(settings, signature);
  if (!inputs)
    return;
  setPhase("evaluating");
  addCount(Evaluated);
  static_cast<void>(module.resultSizes(signature.name, inputs->arguments));
  static_cast<void>(module.evaluate(signature.name, inputs->arguments));
}

static void compile(Random &random, const Module &module, const FunctionSignature &signature) {
  CompileOptions options;
  options.fuse(!random.oneIn(4));
  if (random.oneIn(4))
    options.tileQ(int64_t(1) << random.below(8)).tileKv(1 + random.below(100)).segmentKeys(random.below(500));
  if (random.oneIn(3))
    options.onDiagnostic([](const Diagnostic &) {});
  static const std::vector<std::string> targets = {"x86-64-v3", "x86-64-v3", "x86-64-v4", "sm_80", "sm_90a"};
  Target target = Target::named(random.of(targets));
  bool isWhole = random.oneIn(3);
  setPhase((isWhole ? "compiling for " : "lowering for ") + target.name());
  addCount(isWhole ? Compiled : Lowered);
  static_cast<void>(module.emit(signature.name, isWhole ? Stage::Assembly : Stage::LlvmDialect, target, options));
}

/// As attn-run does.
static void runModule(Random &random, const std::string &text) {
  setPhase("parsing");
  auto module = Module::parse(text, "case.mlir");
  addCount(module ? Accepted : Refused);
  if (!module)
    return;
  std::vector<FunctionSignature> functions = module->functions();
  if (functions.empty())
    return;
  if (random.oneIn(2))
    evaluate(random, *module, random.of(functions), text);
  if (random.oneIn(6))
    compile(random, *module, random.of(functions));
}

static const mlir::DialectRegistry &everyDialect() {
  static const mlir::DialectRegistry registry = [] {
    mlir::DialectRegistry made;
    mlir::registerAllDialects(made);
    mlir::registerAllExtensions(made);
    attn::registerAllDialects(made);
    return made;
  }();
  return registry;
}

/// As attn-opt does.
static void runPasses(const std::string &text, const std::string &pipeline) {
  setPhase("parsing with every dialect");
  mlir::MLIRContext context(everyDialect(), mlir::MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects();
  mlir::ScopedDiagnosticHandler quiet(&context, [](mlir::Diagnostic &) { return mlir::success(); });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context));
  addCount(module ? Accepted : Refused);
  if (!module)
    return;
  setPhase("running " + pipeline);
  addCount(Transformed);
  mlir::PassManager passes(&context, mlir::ModuleOp::getOperationName(), mlir::PassManager::Nesting::Implicit);
  tracePasses(passes);
  if (mlir::succeeded(mlir::parsePassPipeline(pipeline, passes, llvm::nulls())))
    static_cast<void>(passes.run(*module));
}

namespace {

class TextCases : public Cases {
public:
  TextCases(uint64_t seed, const std::vector<std::string> &folders)
      : seed(seed), seeds(readSeeds(folders)), dictionary(collectWords(seeds)),
        validCount(std::count_if(seeds.begin(), seeds.end(), [](const Seed &text) { return !isInvalid(text.file); })) {}

  std::string make(uint64_t index) const override {
    Random random(seed, index);
    const Seed &start = choose(random);
    return mutateText(random, start, seeds, dictionary);
  }
  const char *suffix() const override { return ".mlir"; }
  void run(uint64_t index, const std::string &input) const override;
  std::vector<std::string> split(const std::string &input, bool finely) const override;

private:
  /// Mostly a valid one.
  const Seed &choose(Random &random) const {
    return validCount == 0 || random.oneIn(8) ? random.of(seeds) : seeds[random.below(validCount)];
  }

  uint64_t seed;
  std::vector<Seed> seeds;
  Dictionary dictionary;
  size_t validCount;
};

} // namespace

void TextCases::run(uint64_t index, const std::string &input) const {
  // The first choice of `make`, then others than its own.
  Random first(seed, index), random(~seed, index);
  const Seed &start = choose(first);
  if (!start.pipelines.empty() && random.oneIn(2))
    runPasses(input, random.of(start.pipelines));
  else
    runModule(random, input);
}

std::vector<std::string> TextCases::split(const std::string &input, bool finely) const {
  std::vector<std::string> parts;
  for (const Token &token : tokenize(input)) {
    if (parts.empty() || finely || parts.back().back() == '\n')
      parts.emplace_back();
    parts.back() += token.text;
  }
  return parts;
}

std::unique_ptr<Cases> attn::fuzz::createTextCases(uint64_t seed, const std::vector<std::string> &folders) {
  mlir::registerAllPasses();
  attn::registerAllPasses();
  return std::make_unique<TextCases>(seed, folders);
}
