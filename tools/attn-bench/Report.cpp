//===- Report.cpp - results of attn-bench as text and JSON -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Report.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace attn;
using namespace attn::tool;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

std::string tool::alignRows(const std::vector<Row> &rows, size_t leftColumns) {
  std::vector<size_t> widths(rows.front().size(), 0);
  for (const Row &row : rows)
    for (size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], row[column].size());
  std::string text;
  for (const Row &row : rows) {
    std::string line;
    for (size_t column = 0; column < row.size(); ++column) {
      std::string padding(widths[column] - row[column].size(), ' ');
      line += (column ? "  " : "") + (column < leftColumns ? row[column] + padding : padding + row[column]);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

static std::string percent(double share) { return llvm::formatv("{0:f1} %", 100 * share).str(); }

static Row rowOf(const Measurement &measurement) {
  const Samples &samples = measurement.samples;
  const Workload &workload = measurement.workload;
  return {workload.name,
          workload.title,
          llvm::formatv("{0:f2}", samples.medianSeconds() * 1e3).str(),
          measurement.hasSpeed() ? llvm::formatv("{0:f1} {1}", measurement.speed(), unitOf(measurement.ceiling)).str()
                                 : "n/a",
          measurement.hasCeiling()
              ? llvm::formatv("{0} {1:f1}", toString(measurement.ceiling), samples.medianBeside()).str()
              : "n/a",
          measurement.hasCeiling() ? percent(measurement.share()) : "n/a",
          workload.reach > 0 ? percent(workload.reach) : "",
          llvm::formatv("{0:f0}", measurement.compile.warm).str(),
          llvm::formatv("{0:f0}", measurement.compile.cold).str(),
          std::to_string(samples.voided) + (samples.isQuiet ? "" : "!")};
}

/// Workloads with and without fusion of attention, a line each. Empty where none compares them.
static std::string formatUnfused(const Findings &findings) {
  std::vector<Row> rows = {{"", "", "fused ms", "unfused ms", "unfused / fused"}};
  for (const Measurement &measurement : findings.measurements)
    if (measurement.workload.comparesUnfused)
      rows.push_back({measurement.workload.name, measurement.workload.title,
                      llvm::formatv("{0:f2}", measurement.samples.medianSeconds() * 1e3).str(),
                      llvm::formatv("{0:f2}", measurement.samples.medianBeside() * 1e3).str(),
                      llvm::formatv("{0:f2}", measurement.unfusedOverFused()).str()});
  return rows.size() == 1 ? "" : alignRows(rows, /*leftColumns=*/2);
}

/// The peers that have a time; then a line for each that has none. Empty without peers.
static std::string formatPeers(const Findings &findings) {
  std::vector<Row> rows = {{"", "peer", "ms", "over ours", "share", "compile ms", "void"}};
  std::string problems;
  for (const Measurement &measurement : findings.measurements)
    for (const PeerTime &time : measurement.peers) {
      if (!time.problem.empty()) {
        problems += measurement.workload.name + ": " + time.peer + ": " + time.problem + "\n";
        continue;
      }
      rows.push_back({measurement.workload.name, time.peer + " " + time.version + ", " + time.how,
                      llvm::formatv("{0:f2}", time.medianSeconds * 1e3).str(),
                      llvm::formatv("{0:f2}", measurement.overOurs(time)).str(), percent(measurement.shareOf(time)),
                      llvm::formatv("{0:f0}", time.compileSeconds * 1e3).str(),
                      std::to_string(time.voided) + (time.isQuiet ? "" : "!")});
    }
  if (rows.size() == 1)
    return problems;
  return alignRows(rows, /*leftColumns=*/2) + problems;
}

/// Errors against f64, a line for each result; then the workloads that have none. Empty where nothing was compared.
static std::string formatErrors(const Findings &findings) {
  std::vector<Row> rows = {{"", "result", "elements", "largest error", "mean error", "allowed", ""}};
  std::string problems;
  for (const Measurement &measurement : findings.measurements) {
    if (!measurement.errorProblem.empty())
      problems += measurement.workload.name + ": no errors: " + measurement.errorProblem + "\n";
    for (const ResultError &error : measurement.errors)
      rows.push_back({measurement.workload.name, error.type, std::to_string(error.comparison.compared),
                      llvm::formatv("{0:e1}", error.comparison.maxError).str(),
                      llvm::formatv("{0:e1}", error.comparison.meanError).str(),
                      llvm::formatv("{0:e1}", error.comparison.allowed).str(),
                      error.comparison.pass ? "" : std::to_string(error.comparison.wrong) + " wrong"});
  }
  if (rows.size() == 1)
    return problems;
  return alignRows(rows, /*leftColumns=*/2) + problems;
}

std::string tool::formatTable(const Findings &findings) {
  std::string text = llvm::formatv("{0}, {1} threads, {2} repetitions of at least {3:f0} ms\npeaks:", findings.cpu,
                                   findings.threads, findings.sampling.repeat, findings.sampling.leastSeconds * 1e3)
                         .str();
  for (auto [peak, value] : findings.peaks)
    text += llvm::formatv(" {0} {1:f1} {2},", toString(peak), value, unitOf(peak)).str();
  text.back() = '\n';
  std::vector<Row> rows = {
      {"", "workload", "ms", "speed", "ceiling", "share", "reach", "compile ms", "cold ms", "void"}};
  bool isQuiet = true;
  for (const Measurement &measurement : findings.measurements) {
    rows.push_back(rowOf(measurement));
    isQuiet &= measurement.samples.isQuiet;
    for (const PeerTime &time : measurement.peers)
      isQuiet &= time.isQuiet;
  }
  text += alignRows(rows, /*leftColumns=*/2) + formatUnfused(findings) + formatErrors(findings) + formatPeers(findings);
  if (!isQuiet)
    text += "!: too few repetitions were quiet, the least disturbed count; end what else runs, or raise --quiet\n";
  return text;
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static json::Object jsonOf(const Profile &profile) {
  json::Array loops;
  for (const LoopProfile &loop : profile.run.loops) {
    json::Array threads;
    for (const LoopProfile::Worker &worker : loop.workers)
      threads.push_back(
          json::Object{{"busySeconds", worker.busySeconds}, {"items", worker.items}, {"kvTiles", worker.kvTiles}});
    loops.push_back(json::Object{{"seconds", loop.seconds}, {"items", loop.items}, {"threads", std::move(threads)}});
  }
  return json::Object{{"seconds", profile.run.seconds},
                      {"serialSeconds", profile.serialSeconds()},
                      {"loops", std::move(loops)},
                      {"kvTilesVisited", profile.run.kvTiles},
                      {"kvTilesSkipped", profile.allKvTiles - profile.run.kvTiles}};
}

static json::Array jsonOfPeers(const Measurement &measurement) {
  json::Array peers;
  for (const PeerTime &time : measurement.peers) {
    if (!time.problem.empty()) {
      peers.push_back(json::Object{{"name", time.peer}, {"problem", time.problem}});
      continue;
    }
    peers.push_back(json::Object{{"name", time.peer},
                                 {"version", time.version},
                                 {"how", time.how},
                                 {"medianSeconds", time.medianSeconds},
                                 {"bestSeconds", time.bestSeconds},
                                 {"overOurs", measurement.overOurs(time)},
                                 {"ceiling", time.ceiling},
                                 {"share", measurement.shareOf(time)},
                                 {"compileMilliseconds", time.compileSeconds * 1e3},
                                 {"voided", time.voided},
                                 {"isQuiet", time.isQuiet}});
  }
  return peers;
}

static json::Array jsonOfErrors(const Measurement &measurement) {
  json::Array errors;
  for (const ResultError &error : measurement.errors)
    errors.push_back(json::Object{{"type", error.type},
                                  {"elements", error.comparison.compared},
                                  {"largest", error.comparison.maxError},
                                  {"mean", error.comparison.meanError},
                                  {"allowed", error.comparison.allowed},
                                  {"wrong", error.comparison.wrong}});
  return errors;
}

/// Fields that are left out where the work, or what it is compared with, is not known.
static void addSpeed(json::Object &object, const Measurement &measurement) {
  if (!measurement.hasSpeed())
    return;
  object["speed"] = measurement.speed();
  object["unit"] = unitOf(measurement.ceiling);
  object["work"] = json::Object{{"keptOperations", measurement.work.kept},
                                {"totalOperations", measurement.work.total},
                                {"bytes", measurement.work.bytes}};
  if (!measurement.hasCeiling())
    return;
  object["ceiling"] =
      json::Object{{"name", toString(measurement.ceiling)}, {"median", measurement.samples.medianBeside()}};
  object["share"] = measurement.share();
  if (measurement.workload.reach > 0)
    object["reach"] = measurement.workload.reach;
}

static json::Object jsonOf(const Measurement &measurement) {
  const Workload &workload = measurement.workload;
  const Samples &samples = measurement.samples;
  json::Array repetitions;
  const char *beside = workload.comparesUnfused ? "unfusedSeconds" : "ceiling";
  for (const Sample &sample : samples.counted)
    repetitions.push_back(
        json::Object{{"seconds", sample.seconds}, {beside, sample.beside}, {"disturbance", sample.disturbance}});
  json::Object object{{"name", workload.name}, {"title", workload.title}, {"function", workload.function}};
  object["medianSeconds"] = samples.medianSeconds();
  object["bestSeconds"] = samples.bestSeconds();
  if (workload.comparesUnfused)
    object["unfused"] = json::Object{{"medianSeconds", samples.medianBeside()},
                                     {"bestSeconds", samples.bestBeside()},
                                     {"overFused", measurement.unfusedOverFused()}};
  addSpeed(object, measurement);
  object["compileMilliseconds"] = measurement.compile.warm;
  object["coldCompileMilliseconds"] = measurement.compile.cold;
  object["voided"] = samples.voided;
  object["isQuiet"] = samples.isQuiet;
  if (!measurement.errors.empty())
    object["errors"] = jsonOfErrors(measurement);
  if (!measurement.errorProblem.empty())
    object["errorProblem"] = measurement.errorProblem;
  if (!measurement.peers.empty())
    object["peers"] = jsonOfPeers(measurement);
  object["profile"] = jsonOf(measurement.profile);
  object["repetitions"] = std::move(repetitions);
  return object;
}

std::string tool::formatJson(const Findings &findings) {
  json::Array peaks, workloads;
  for (auto [peak, value] : findings.peaks)
    peaks.push_back(json::Object{{"name", toString(peak)}, {"value", value}, {"unit", unitOf(peak)}});
  for (const Measurement &measurement : findings.measurements)
    workloads.push_back(jsonOf(measurement));
  json::Object settings{{"repeat", findings.sampling.repeat},
                        {"leastSeconds", findings.sampling.leastSeconds},
                        {"quiet", findings.sampling.quiet}};
  json::Value root = json::Object{{"machine", json::Object{{"cpu", findings.cpu},
                                                           {"threads", findings.threads},
                                                           {"vectors", peakVectors()},
                                                           {"peaks", std::move(peaks)}}},
                                  {"settings", std::move(settings)},
                                  {"workloads", std::move(workloads)}};
  return llvm::formatv("{0:2}\n", root).str();
}
