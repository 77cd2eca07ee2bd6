//===- BenchReportTest.cpp - what attn-bench writes, from made-up findings ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/attn-bench/Report.h"

#include "llvm/Support/JSON.h"
#include <gtest/gtest.h>

using namespace attn;
using namespace attn::tool;

/// A workload of three repetitions of 1, 2 and 3 times `seconds`.
static Measurement makeMeasurement(const std::string &name, double reach, Peak ceiling, double seconds, double kept,
                                   double bytes) {
  Measurement measurement;
  measurement.workload.name = name;
  measurement.workload.title = name == "A" ? "short" : "longer title";
  measurement.workload.reach = reach;
  measurement.ceiling = ceiling;
  measurement.compile = {98.7, 234.6};
  measurement.work.kept = measurement.work.total = kept;
  measurement.work.bytes = bytes;
  for (int n = 1; n <= 3; ++n)
    measurement.samples.counted.push_back({n * seconds, ceiling == Peak::Read ? 20.0 : 200.0, 0});
  return measurement;
}

/// A: 100 GFLOP/s of 200 at 100 operations a byte. B: 10 GB/s of 20 at 2, disturbed.
static Findings makeFindings() {
  Findings findings;
  findings.cpu = "cpu";
  findings.threads = 2;
  findings.sampling = {3, 0.25, 0.05};
  findings.peaks = {{Peak::FmaF32, 200}, {Peak::Read, 20}};
  findings.measurements.push_back(makeMeasurement("A", 0.9, Peak::FmaF32, 0.005, 1e9, 1e7));
  findings.measurements.push_back(makeMeasurement("B", 0, Peak::Read, 0.5, 2e10, 1e10));
  findings.measurements[1].samples.voided = 7;
  findings.measurements[1].samples.isQuiet = false;
  return findings;
}

TEST(BenchReport, table_is_aligned_and_marks_disturbed_workloads) {
  EXPECT_EQ(formatTable(makeFindings()),
            "cpu, 2 threads, 3 repetitions of at least 250 ms\n"
            "peaks: f32 FMA 200.0 GFLOP/s, read 20.0 GB/s\n"
            "   workload           ms          speed        ceiling   share   reach  compile ms  cold ms  void\n"
            "A  short           10.00  100.0 GFLOP/s  f32 FMA 200.0  50.0 %  90.0 %          99      235     0\n"
            "B  longer title  1000.00      10.0 GB/s      read 20.0  50.0 %                  99      235    7!\n"
            "!: too few repetitions were quiet, the least disturbed count; end what else runs, or raise --quiet\n");
}

TEST(BenchReport, unfused_attention_is_a_time_and_no_ceiling) {
  Findings findings = makeFindings();
  Measurement &layer = findings.measurements[0];
  layer.workload.comparesUnfused = true;
  layer.work = WorkCount();
  for (Sample &sample : layer.samples.counted)
    sample.beside = 3 * sample.seconds;
  std::string table = formatTable(findings);
  EXPECT_NE(table.find("A  short           10.00        n/a        n/a     n/a"), std::string::npos) << table;
  EXPECT_NE(table.find("          fused ms  unfused ms  unfused / fused\n"
                       "A  short     10.00       30.00             3.00\n"),
            std::string::npos)
      << table;
}

/// A with two results, the second of them wrong; B cannot be compared.
static Findings makeErrors() {
  Findings findings = makeFindings();
  Comparison exact, wrong;
  exact.pass = true;
  exact.maxError = 2.5e-7;
  exact.meanError = 1e-8;
  exact.allowed = 2e-6;
  exact.compared = 1000;
  wrong = exact;
  wrong.pass = false;
  wrong.wrong = 7;
  wrong.maxError = 0.5;
  findings.measurements[0].errors = {{"5x200xf32", exact}, {"5xf32", wrong}};
  findings.measurements[1].errorProblem = "it is a secret";
  return findings;
}

TEST(BenchReport, table_of_errors) {
  std::string table = formatTable(makeErrors());
  size_t at = table.find("   result");
  ASSERT_NE(at, std::string::npos) << table;
  EXPECT_EQ(table.substr(at, table.find('!', at) - at),
            "   result     elements  largest error  mean error  allowed\n"
            "A  5x200xf32      1000        2.5e-07     1.0e-08  2.0e-06\n"
            "A  5xf32          1000        5.0e-01     1.0e-08  2.0e-06  7 wrong\n"
            "B: no errors: it is a secret\n");
}

TEST(BenchReport, json_has_the_errors) {
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(formatJson(makeErrors()));
  ASSERT_TRUE(static_cast<bool>(value)) << llvm::toString(value.takeError());
  const llvm::json::Array &workloads = *value->getAsObject()->getArray("workloads");
  const llvm::json::Object &a = *workloads[0].getAsObject(), &b = *workloads[1].getAsObject();
  ASSERT_EQ(a.getArray("errors")->size(), 2u);
  const llvm::json::Object &wrong = *(*a.getArray("errors"))[1].getAsObject();
  EXPECT_EQ(wrong.getString("type"), "5xf32");
  EXPECT_EQ(wrong.getInteger("elements"), 1000);
  EXPECT_EQ(wrong.getNumber("largest"), 0.5);
  EXPECT_EQ(wrong.getNumber("mean"), 1e-8);
  EXPECT_EQ(wrong.getNumber("allowed"), 2e-6);
  EXPECT_EQ(wrong.getInteger("wrong"), 7);
  EXPECT_EQ(b.getString("errorProblem"), "it is a secret");
  EXPECT_EQ(b.get("errors"), nullptr);
}

TEST(BenchReport, json_has_the_numbers) {
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(formatJson(makeFindings()));
  ASSERT_TRUE(static_cast<bool>(value)) << llvm::toString(value.takeError());
  const llvm::json::Array &workloads = *value->getAsObject()->getArray("workloads");
  ASSERT_EQ(workloads.size(), 2u);
  const llvm::json::Object &a = *workloads[0].getAsObject(), &b = *workloads[1].getAsObject();
  EXPECT_EQ(a.getNumber("medianSeconds"), 0.01);
  EXPECT_EQ(a.getNumber("bestSeconds"), 0.005);
  EXPECT_DOUBLE_EQ(*a.getNumber("share"), 0.5);
  EXPECT_EQ(a.getString("unit"), "GFLOP/s");
  EXPECT_EQ(a.getNumber("compileMilliseconds"), 98.7);
  EXPECT_EQ(a.getNumber("coldCompileMilliseconds"), 234.6);
  EXPECT_EQ(a.getBoolean("isQuiet"), true);
  EXPECT_DOUBLE_EQ(*b.getNumber("speed"), 10);
  EXPECT_EQ(b.getString("unit"), "GB/s");
  EXPECT_EQ(b.getInteger("voided"), 7);
  EXPECT_EQ(b.getBoolean("isQuiet"), false);
  EXPECT_EQ(b.get("reach"), nullptr);
}

/// The value of an attribute of the n-th element `name` of the picture.
static double attribute(const std::string &svg, const std::string &name, int n, const std::string &attribute) {
  size_t at = 0;
  for (int k = 0; k <= n; ++k)
    at = svg.find("<" + name + " ", at) + 1;
  at = svg.find(" " + attribute + "=\"", at) + attribute.size() + 3;
  return std::stod(svg.substr(at));
}

/// Both axes are logarithmic and end in whole ticks: 1, 2, 5, 10, ...
TEST(BenchReport, points_lie_where_their_numbers_are) {
  std::string svg = formatRoofline(makeFindings());
  double ax = attribute(svg, "circle", 0, "cx"), bx = attribute(svg, "circle", 1, "cx");
  double ay = attribute(svg, "circle", 0, "cy"), by = attribute(svg, "circle", 1, "cy");
  // Intensities 2 and 100 on an axis from 1 to 200, speeds 20 and 100 on one from 10 to 500.
  EXPECT_NEAR(bx, 80 + 560 * std::log(2) / std::log(200), 0.1);
  EXPECT_NEAR(ax, 80 + 560 * std::log(100) / std::log(200), 0.1);
  EXPECT_NEAR(by, 520 - 460 * std::log(2) / std::log(50), 0.1);
  EXPECT_NEAR(ay, 520 - 460 * std::log(10) / std::log(50), 0.1);
}

TEST(BenchReport, labels_of_equal_points_do_not_overlap) {
  Findings findings = makeFindings();
  findings.measurements = {findings.measurements[0], findings.measurements[0], findings.measurements[0]};
  std::string svg = formatRoofline(findings);
  std::vector<double> heights;
  for (size_t at = 0; (at = svg.find(">A</text>", at)) != std::string::npos; ++at)
    heights.push_back(std::stod(svg.substr(svg.rfind("y=\"", at) + 3)));
  ASSERT_EQ(heights.size(), 3u);
  EXPECT_GE(heights[1] - heights[0], 12);
  EXPECT_GE(heights[2] - heights[1], 12);
}
