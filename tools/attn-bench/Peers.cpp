//===- Peers.cpp - times of other implementations ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Peers.h"

#include "CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace attn;
using namespace attn::tool;
namespace json = llvm::json;
namespace sys = llvm::sys;

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

static Error wrongDescription(const std::string &expectation) {
  return {ErrorCode::InvalidArgument, "peers expects " + expectation, {}};
}

/// The key lengths in an argument.
static Result<json::Array> readLengths(const Inputs &inputs, int64_t argument) {
  if (argument < 0 || argument >= static_cast<int64_t>(inputs.arrays.size()))
    return wrongDescription("lengths to be the number of an argument, but got " + std::to_string(argument));
  const Array &array = inputs.arrays[argument];
  if (array.sizes() != std::vector<int64_t>{inputs.arrays[0].sizes()[0]})
    return wrongDescription("argument " + std::to_string(argument) + " to hold a length for each batch");
  json::Array lengths;
  for (int64_t i = 0; i < array.size(); ++i)
    lengths.push_back(static_cast<int64_t>(array.number(i)));
  return lengths;
}

Result<std::string> tool::makePeerTask(const PeerDescription &description, const Inputs &inputs, double kept,
                                       int64_t threads, const SampleOptions &sampling) {
  json::Object task{{"threads", threads},
                    {"repeat", sampling.repeat},
                    {"leastSeconds", sampling.leastSeconds},
                    {"quiet", sampling.quiet},
                    {"keptOperations", kept}};
  const char *const names[] = {"query", "key", "value"};
  for (size_t i = 0; i < std::size(names); ++i) {
    if (i >= inputs.arrays.size() || inputs.arrays[i].sizes().size() != 4)
      return wrongDescription("argument " + std::to_string(i) + " to be the " + names[i] + ", a tensor of rank 4");
    task[names[i]] = json::Array(inputs.arrays[i].sizes());
  }
  task["dtype"] = toString(inputs.arrays[0].dtype());
  if (description.left)
    task["left"] = *description.left;
  if (description.right)
    task["right"] = *description.right;
  if (description.lengths) {
    auto lengths = readLengths(inputs, *description.lengths);
    if (!lengths)
      return lengths.error();
    task["lengths"] = std::move(*lengths);
  }
  return llvm::formatv("{0}\n", json::Value(std::move(task))).str();
}

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

static std::string lastLine(llvm::StringRef text) { return text.rtrim().rsplit('\n').second.str(); }

/// The last line of a file; of one line all of it. Empty where it cannot be read.
static std::string lastLineOf(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? lastLine("\n" + (*buffer)->getBuffer().str()) : "";
}

static std::string readAnswer(const std::string &line, PeerTime &time) {
  std::string problem = "expects a line of JSON with its time, but got '" + line.substr(0, 60) + "'";
  llvm::Expected<json::Value> value = json::parse(line);
  if (!value) {
    llvm::consumeError(value.takeError());
    return problem;
  }
  const json::Object *answer = value->getAsObject();
  if (!answer)
    return problem;
  for (const char *reason : {"unsupported", "error"})
    if (auto text = answer->getString(reason))
      return std::string(reason) + ": " + text->str();
  json::Path::Root root;
  json::ObjectMapper mapper(*value, root);
  bool isRight = mapper.map("version", time.version) && mapper.map("how", time.how) &&
                 mapper.map("medianSeconds", time.medianSeconds) && mapper.map("bestSeconds", time.bestSeconds) &&
                 mapper.map("compileSeconds", time.compileSeconds) && mapper.map("voided", time.voided) &&
                 mapper.map("isQuiet", time.isQuiet);
  if (!isRight)
    return "expects an answer with its time: " + llvm::toString(root.getError());
  return time.medianSeconds > 0 ? "" : "expects a time above 0, but got " + std::to_string(time.medianSeconds);
}

//===----------------------------------------------------------------------===//
// Processes
//===----------------------------------------------------------------------===//

namespace {

/// A file that goes when this goes, and after an interrupt.
class TemporaryFile {
public:
  TemporaryFile() : code(sys::fs::createTemporaryFile("attn-bench", "txt", path)), remover(path) {
    sys::RemoveFileOnSignal(path);
  }
  ~TemporaryFile() { sys::DontRemoveFileOnSignal(path); }

  std::error_code error() const { return code; }
  std::string name() const { return path.str().str(); }

private:
  llvm::SmallString<128> path;
  std::error_code code;
  llvm::FileRemover remover;
};

} // namespace

static std::string writeTask(const std::string &path, const std::string &task) {
  std::error_code code;
  llvm::raw_fd_ostream file(path, code);
  if (!code) {
    file << task;
    file.close();
    code = file.error();
    file.clear_error();
  }
  return code ? "cannot write its task: " + code.message() : "";
}

PeerTime Peers::run(const std::string &script, const std::string &task) const {
  PeerTime time;
  time.peer = sys::path::stem(script).str();
  TemporaryFile in, out, err;
  for (const TemporaryFile *file : {&in, &out, &err})
    if (file->error()) {
      time.problem = "cannot make a temporary file: " + file->error().message();
      return time;
    }
  time.problem = writeTask(in.name(), task);
  if (!time.problem.empty())
    return time;
  std::string inName = in.name(), outName = out.name(), errName = err.name(), message;
  std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(inName), llvm::StringRef(outName),
                                                llvm::StringRef(errName)};
  int code = sys::ExecuteAndWait(python, {python, script}, std::nullopt, redirects, static_cast<unsigned>(seconds), 0,
                                 &message);
  if (code == 0)
    time.problem = readAnswer(lastLineOf(outName), time);
  else if (code > 0)
    time.problem = "ended with exit code " + std::to_string(code) + ": " + lastLineOf(errName);
  else if (llvm::StringRef(message).contains("timed out"))
    time.problem = "took longer than " + std::to_string(seconds) + " s";
  else
    time.problem = (code == -2 ? "was ended: " : "cannot be run: ") + message;
  return time;
}

Result<Peers> Peers::find(const std::string &environment, const std::string &scripts, int64_t seconds) {
  Peers peers;
  peers.seconds = seconds;
  llvm::SmallString<128> python(environment);
  sys::path::append(python, "bin", "python");
  peers.python = python.str().str();
  if (!sys::fs::can_execute(peers.python))
    return usageError("--peers expects a folder made by tools/scripts/bench-peers, but got '" + environment +
                      "', which has no bin/python");
  std::error_code code;
  for (sys::fs::directory_iterator file(scripts, code), end; file != end && !code; file.increment(code))
    if (sys::path::extension(file->path()) == ".py")
      peers.scripts.push_back(file->path());
  std::sort(peers.scripts.begin(), peers.scripts.end());
  if (peers.scripts.empty())
    return Error{ErrorCode::Io, "cannot find the scripts of the peers", {scripts, 0, 0}};
  return peers;
}

std::vector<PeerTime> Peers::measure(const std::string &task, const std::function<double()> &ceiling) const {
  std::vector<PeerTime> times;
  for (const std::string &script : scripts) {
    PeerTime time = run(script, task);
    if (time.problem.empty())
      time.ceiling = median({ceiling(), ceiling(), ceiling()});
    times.push_back(std::move(time));
  }
  return times;
}
