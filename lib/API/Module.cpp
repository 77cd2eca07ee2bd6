//===- Module.cpp - functions in MLIR text -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Diagnostics.h"
#include "ModuleImpl.h"
#include "Registry.h"

#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Pipelines/PassTrace.h"
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
  std::string names;
  for (const FunctionSignature &signature : functions) {
    if (signature.name == name || (name.empty() && functions.size() == 1))
      return &signature;
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

mlir::func::FuncOp Module::Impl::lookup(const FunctionSignature &signature) const {
  return module.get().lookupSymbol<mlir::func::FuncOp>(signature.name);
}

static Result<std::shared_ptr<Module::Impl>> parseBuffer(std::unique_ptr<llvm::MemoryBuffer> buffer,
                                                         const ParseOptions &options) {
  auto impl = std::make_shared<Module::Impl>();
  DiagnosticCollector diagnostics(&impl->context, options.onDiagnostic);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  impl->module = mlir::parseSourceFile<mlir::ModuleOp>(sources, mlir::ParserConfig(&impl->context));
  if (!impl->module)
    return diagnostics.takeError(ErrorCode::Parse, "the text is not an MLIR module");
  // Here and not in each compilation, so that the reference, the sizes of results and the count of work see it, too.
  mlir::PassManager passes(&impl->context);
  tracePasses(passes);
  passes.addPass(createRaisePass());
  if (mlir::failed(passes.run(*impl->module)))
    return diagnostics.takeError(ErrorCode::Unsupported, "attn-raise failed without a message");
  for (auto function : impl->module->getOps<mlir::func::FuncOp>())
    if (function.isPublic() && !function.isExternal())
      impl->functions.push_back(convertFunction(function));
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
