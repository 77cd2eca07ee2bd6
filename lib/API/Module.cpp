//===- Module.cpp - functions in MLIR text -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Diagnostics.h"
#include "ModuleImpl.h"
#include "Registry.h"

#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Pipelines/PassChecks.h"
#include "attn/Support/InputFile.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace attn;

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

DType attn::convertElementType(mlir::Type type) {
  if (type.isF16())
    return DType::F16;
  if (type.isBF16())
    return DType::BF16;
  if (type.isF32())
    return DType::F32;
  if (type.isF64())
    return DType::F64;
  if (type.isIndex() || type.isSignlessInteger(64))
    return DType::I64;
  if (type.isSignlessInteger(1))
    return DType::I1;
  if (type.isSignlessInteger(8))
    return DType::I8;
  if (type.isSignlessInteger(16))
    return DType::I16;
  return type.isSignlessInteger(32) ? DType::I32 : DType::Other;
}

static ValueType convertType(mlir::Type type) {
  ValueType result;
  llvm::raw_string_ostream(result.text) << type;
  auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
  result.isTensor = tensor != nullptr;
  if (!tensor) {
    result.dtype = convertElementType(type);
    return result;
  }
  // An encoding (sparse, for one) gives the elements another form in memory.
  result.dtype = tensor.getEncoding() ? DType::Other : convertElementType(tensor.getElementType());
  for (int64_t size : tensor.getShape())
    result.sizes.push_back(mlir::ShapedType::isDynamic(size) ? dynamicSize : size);
  return result;
}

static FunctionSignature convertFunction(mlir::func::FuncOp function) {
  FunctionSignature result;
  result.name = function.getName().str();
  result.location = convertLocation(function.getLoc());
  for (mlir::Type type : function.getArgumentTypes())
    result.arguments.push_back(convertType(type));
  for (mlir::Type type : function.getResultTypes())
    result.results.push_back(convertType(type));
  return result;
}

static std::string listTypes(const std::vector<ValueType> &types) {
  std::string text = "(";
  for (size_t i = 0; i < types.size(); ++i)
    text += (i ? ", " : "") + types[i].text;
  return text + ")";
}

std::string FunctionSignature::str() const { return "@" + name + listTypes(arguments) + " -> " + listTypes(results); }

Status attn::checkSupported(const FunctionSignature &signature) {
  auto check = [&](const char *what, const std::vector<ValueType> &types) -> Status {
    for (size_t i = 0; i < types.size(); ++i)
      if (types[i].dtype == DType::Other)
        return Error{ErrorCode::Unsupported,
                     std::string(what) + " " + std::to_string(i) + " of @" + signature.name + " has type " +
                         types[i].text +
                         ", which kernels do not support; use ranked tensors and scalars of f16, bf16, f32, f64, i1, "
                         "i8, i16, i32, i64 or index",
                     signature.location};
    return {};
  };
  Status arguments = check("argument", signature.arguments);
  return arguments ? check("result", signature.results) : arguments;
}

//===----------------------------------------------------------------------===//
// Module
//===----------------------------------------------------------------------===//

Module::Impl::Impl() : context(compilerDialects(), mlir::MLIRContext::Threading::DISABLED) {
  // Messages name a place; the operation there, regions and all, would bury them.
  context.printOpOnDiagnostic(false);
  // Exporters write operations of their own. Some are raised; compiling names the others.
  context.allowUnregisteredDialects();
}

Result<const FunctionSignature *> Module::Impl::find(std::string_view name) const {
  // A function that is named needs nothing of the rest.
  if (name.empty() && error)
    return *error;
  std::string names;
  for (size_t k = 0; k < functions.size(); ++k) {
    const FunctionSignature &signature = functions[k];
    if (signature.name == name || (name.empty() && functions.size() == 1)) {
      if (parts[k].error)
        return *parts[k].error;
      return &signature;
    }
    names += (names.empty() ? "@" : ", @") + signature.name;
  }
  std::string message;
  if (functions.empty())
    message = "the module has no public function with a body";
  else if (name.empty())
    message = "the module has several functions; name one of " + names;
  else
    message = "the module has no public function @" + std::string(name) + " with a body; it has " + names;
  return Error{ErrorCode::NotFound, message, {}};
}

mlir::ModuleOp Module::Impl::partOf(const FunctionSignature &signature) const {
  return parts[&signature - functions.data()].module.get();
}

mlir::func::FuncOp Module::Impl::lookup(const FunctionSignature &signature) const {
  return partOf(signature).lookupSymbol<mlir::func::FuncOp>(signature.name);
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

/// Takes a function out of the module. It is raised here and not in each compilation, so that the reference, the sizes
/// of results and the count of work see it, too.
static void addFunction(Module::Impl &impl, mlir::ModuleOp module, mlir::func::FuncOp function,
                        const ParseOptions &options) {
  DiagnosticCollector diagnostics(&impl.context, options.onDiagnostic);
  Module::Impl::Part part{cloneNeeded(module, function), {}};
  mlir::PassManager passes(&impl.context);
  auto verdict = checkPasses(passes);
  passes.addPass(createRaisePass());
  if (mlir::failed(passes.run(*part.module)))
    part.error = diagnostics.takeError(codeOf(*verdict, ErrorCode::Unsupported), "attn-raise failed without a message");
  impl.functions.push_back(convertFunction(part.module->lookupSymbol<mlir::func::FuncOp>(function.getName())));
  impl.parts.push_back(std::move(part));
}

/// What stands beside functions and symbols: nothing says that it is not wanted.
static std::optional<Error> checkTopLevel(Module::Impl &impl, mlir::ModuleOp module) {
  DiagnosticCollector diagnostics(&impl.context, nullptr);
  if (mlir::succeeded(verifyTopLevel(module)))
    return std::nullopt;
  return diagnostics.takeError(ErrorCode::Unsupported, "the module holds more than functions");
}

static mlir::OwningOpRef<mlir::ModuleOp> parseModule(Module::Impl &impl, std::unique_ptr<llvm::MemoryBuffer> buffer) {
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  return mlir::parseSourceFile<mlir::ModuleOp>(sources, mlir::ParserConfig(&impl.context));
}

static Result<std::shared_ptr<Module::Impl>> parseBuffer(std::unique_ptr<llvm::MemoryBuffer> buffer,
                                                         const ParseOptions &options) {
  auto impl = std::make_shared<Module::Impl>();
  mlir::OwningOpRef<mlir::ModuleOp> module;
  {
    DiagnosticCollector diagnostics(&impl->context, options.onDiagnostic);
    module = parseModule(*impl, std::move(buffer));
    if (!module)
      return diagnostics.takeError(ErrorCode::Parse, "the text is not an MLIR module");
  }
  impl->error = checkTopLevel(*impl, *module);
  for (auto function : module->getOps<mlir::func::FuncOp>())
    if (function.isPublic() && !function.isExternal())
      addFunction(*impl, *module, function, options);
  bool isUsable = llvm::any_of(impl->parts, [](const Module::Impl::Part &part) { return !part.error; });
  if (!isUsable && !impl->parts.empty())
    return *impl->parts.front().error;
  return impl;
}

Result<Module> Module::parse(std::string_view text, std::string_view name, const ParseOptions &options) {
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(text.data(), text.size()),
                                                     llvm::StringRef(name.data(), name.size()));
  auto impl = parseBuffer(std::move(buffer), options);
  if (!impl)
    return impl.error();
  return Module(*impl);
}

Result<Module> Module::parseFile(const std::string &path, const ParseOptions &options) {
  auto buffer = readInputFile(path);
  if (std::error_code code = buffer.getError())
    return Error{ErrorCode::Io, "cannot read the file: " + code.message(), {path, 0, 0}};
  auto impl = parseBuffer(std::move(*buffer), options);
  if (!impl)
    return impl.error();
  return Module(*impl);
}

std::vector<FunctionSignature> Module::functions() const { return impl->functions; }

Result<FunctionSignature> Module::function(std::string_view name) const {
  auto signature = impl->find(name);
  if (!signature)
    return signature.error();
  return **signature;
}
