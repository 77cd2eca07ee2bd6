//===- Workload.cpp - what attn-bench measures -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Workload.h"

#include "attn/Support/InputFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"

#include <cstdio>

using namespace attn;
using namespace attn::tool;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

/// Reports fields that are not among `known`, so that a misspelt optional one does not go unseen.
static bool hasOnly(const json::Value &value, llvm::ArrayRef<llvm::StringRef> known, llvm::StringLiteral message,
                    json::Path path) {
  const json::Object *object = value.getAsObject();
  if (!object) {
    path.report("expected object");
    return false;
  }
  for (const auto &field : *object)
    if (!llvm::is_contained(known, field.first.str())) {
      path.field(field.first).report(message);
      return false;
    }
  return true;
}

/// Reads an optional object from numbers of arguments to texts; parse(text) is false for a wrong one.
template <typename T, typename Parse>
static bool mapArguments(const json::Object &object, llvm::StringLiteral field, std::map<size_t, T> &values,
                         llvm::StringLiteral message, json::Path path, Parse parse) {
  const json::Value *value = object.get(field);
  std::map<std::string, std::string> texts;
  if (!value)
    return true;
  if (!json::fromJSON(*value, texts, path.field(field)))
    return false;
  for (const auto &[number, text] : texts) {
    size_t argument;
    if (llvm::StringRef(number).getAsInteger(10, argument)) {
      path.field(field).field(number).report("expected the number of an argument");
      return false;
    }
    auto parsed = parse(text);
    if (!parsed) {
      path.field(field).field(number).report(message);
      return false;
    }
    values[argument] = *parsed;
  }
  return true;
}

static bool mapData(const json::Object &object, DataSettings &data, json::Path path) {
  auto keep = [](const std::string &text) { return std::optional<std::string>(text); };
  return mapArguments(object, "shape", data.shapes, "expected sizes, as in 2x8x33x64", path, parseSizes) &&
         mapArguments(object, "fill", data.fills, "expected a fill, as in normal or range:0:65", path, parseFill) &&
         mapArguments(object, "out-shape", data.outShapes, "expected sizes, as in 2x8x33x64", path, parseSizes) &&
         mapArguments(object, "scalar", data.scalars, "expected a number", path, keep);
}

namespace attn::tool {
static bool fromJSON(const json::Value &value, PeerDescription &peers, json::Path path) {
  json::ObjectMapper mapper(value, path);
  return hasOnly(value, {"left", "right", "lengths"}, "unknown field: expected left, right or lengths", path) &&
         mapper.map("left", peers.left) && mapper.map("right", peers.right) && mapper.map("lengths", peers.lengths);
}

static bool fromJSON(const json::Value &value, Workload &workload, json::Path path) {
  if (!hasOnly(value,
               {"name", "title", "source", "function", "bound", "reach", "unfused", "peers", "shape", "fill", "scalar",
                "out-shape"},
               "unknown field: expected name, title, source, function, bound, reach, unfused, peers, shape, fill, "
               "scalar or out-shape",
               path))
    return false;
  json::ObjectMapper mapper(value, path);
  std::string bound = "compute";
  if (!mapper.map("name", workload.name) || !mapper.map("title", workload.title) ||
      !mapper.map("source", workload.source) || !mapper.map("function", workload.function) ||
      !mapper.mapOptional("bound", bound) || !mapper.mapOptional("reach", workload.reach) ||
      !mapper.mapOptional("unfused", workload.comparesUnfused) || !mapper.map("peers", workload.peers))
    return false;
  workload.isMemoryBound = bound == "memory";
  if (!workload.isMemoryBound && bound != "compute") {
    path.field("bound").report("expected compute or memory");
    return false;
  }
  if (workload.reach < 0 || workload.reach > 1) {
    path.field("reach").report("expected a number from 0 to 1");
    return false;
  }
  return mapData(*value.getAsObject(), workload.data, path);
}
} // namespace attn::tool

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// LLVM's "[line:column, byte=N]: message" as an error of ours.
static Error syntaxError(const std::string &path, llvm::Error error) {
  std::string text = llvm::toString(std::move(error));
  Location location{path, 0, 0};
  if (std::sscanf(text.c_str(), "[%d:%d", &location.line, &location.column) == 2)
    text = text.substr(std::min(text.size(), text.find("]: ") + 3));
  return {ErrorCode::Parse, "expects JSON: " + text, location};
}

Result<std::vector<Workload>> tool::loadWorkloads(const std::string &path) {
  auto buffer = readInputFile(path);
  if (!buffer)
    return Error{ErrorCode::Io, "cannot read the workload file: " + buffer.getError().message(), {path, 0, 0}};
  llvm::Expected<json::Value> value = json::parse((*buffer)->getBuffer());
  if (!value)
    return syntaxError(path, value.takeError());
  json::Path::Root root;
  std::vector<Workload> workloads;
  bool isRight = hasOnly(*value, {"workloads"}, "unknown field: expected workloads", root) &&
                 json::ObjectMapper(*value, root).map("workloads", workloads);
  if (!isRight)
    return Error{ErrorCode::Parse, llvm::toString(root.getError()), {path, 0, 0}};
  for (Workload &workload : workloads) {
    llvm::SmallString<128> source(llvm::sys::path::parent_path(path));
    llvm::sys::path::append(source, workload.source);
    if (!llvm::sys::path::is_absolute(workload.source))
      workload.source = source.str().str();
  }
  return workloads;
}

static std::string listNames(const std::vector<Workload> &workloads) {
  return llvm::join(llvm::map_range(workloads, [](const Workload &workload) { return workload.name; }), ", ");
}

/// Marks the workloads whose names match.
static Status markMatches(const std::vector<Workload> &workloads, const std::string &expression,
                          std::vector<bool> &isSelected) {
  llvm::Regex regex(expression);
  std::string problem;
  if (!regex.isValid(problem))
    return usageError("--workload expects a regular expression, but got '" + expression + "': " + problem);
  bool matches = false;
  for (size_t i = 0; i < workloads.size(); ++i)
    if (regex.match(workloads[i].name))
      isSelected[i] = matches = true;
  return matches ? Status() : usageError("no workload matches '" + expression + "'; there are " + listNames(workloads));
}

Result<std::vector<Workload>> tool::selectWorkloads(std::vector<Workload> workloads,
                                                    const std::vector<std::string> &expressions) {
  std::vector<bool> isSelected(workloads.size(), expressions.empty());
  for (const std::string &expression : expressions)
    if (Status status = markMatches(workloads, expression, isSelected); !status)
      return status.error();
  std::vector<Workload> selected;
  for (size_t i = 0; i < workloads.size(); ++i)
    if (isSelected[i])
      selected.push_back(std::move(workloads[i]));
  return selected;
}
