//===- Roofline.cpp - results of attn-bench as a picture ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Williams, Waterman and Patterson, "Roofline: an insightful visual performance model", 2009.
//
//===----------------------------------------------------------------------===//

#include "Report.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>

using namespace attn;
using namespace attn::tool;

namespace {

// In pixels: the plot, and the list of workloads to the right of it.
constexpr double plotLeft = 80, plotRight = 640, plotTop = 60, plotBottom = 520;
constexpr double listLeft = 670, pictureWidth = 1060, pictureHeight = 580, lineHeight = 15;

/// A logarithmic axis from `low` to `high`, mapped to [begin, end] in pixels.
struct Axis {
  double low, high, begin, end;
  double operator()(double value) const { return begin + (end - begin) * std::log(value / low) / std::log(high / low); }
};

/// A text in the plot.
struct Label {
  double x, y;
  std::string text;
  // 7 pixels a letter at this size.
  bool overlaps(const Label &other) const {
    return x < other.x + 7.0 * static_cast<double>(other.text.size()) &&
           other.x < x + 7.0 * static_cast<double>(text.size()) && std::abs(y - other.y) < lineHeight;
  }
};

/// Draws one picture.
class Roofline {
public:
  explicit Roofline(const Findings &findings);
  std::string draw();

private:
  double peakOf(Peak wanted) const;
  void drawText(double x, double y, const std::string &text, const char *attributes = "");
  void drawLine(double x0, double y0, double x1, double y1, const char *attributes);
  void drawAxes();
  void drawPeaks();
  void drawWorkloads();

  const Findings &findings;
  Axis across, up;
  std::string svg;
};

} // namespace

static std::string escape(const std::string &text) {
  std::string escaped;
  for (char c : text)
    escaped += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  return escaped;
}

/// The numbers 1, 2 and 5 times a power of ten from the last at or below `low` to the first at or above `high`.
static std::vector<double> ticksAround(double low, double high) {
  std::vector<double> ticks;
  for (double decade = std::pow(10, std::floor(std::log10(low))); ticks.empty() || ticks.back() < high; decade *= 10)
    for (double factor : {1, 2, 5}) {
      double tick = decade * factor;
      if (!ticks.empty() && ticks.back() >= high)
        break;
      if (tick <= low)
        ticks.clear();
      ticks.push_back(tick);
    }
  return ticks;
}

Roofline::Roofline(const Findings &findings) : findings(findings) {
  double lowX = 1, highX = 100, lowY = 10, highY = 10;
  for (auto [peak, value] : findings.peaks)
    if (peak != Peak::Read) {
      highY = std::max(highY, value);
      highX = std::max(highX, 4 * value / peakOf(Peak::Read));
    }
  for (const Measurement &measurement : findings.measurements) {
    if (!measurement.hasCeiling())
      continue;
    lowX = std::min(lowX, measurement.intensity() / 2);
    highX = std::max(highX, measurement.intensity() * 2);
    lowY = std::min(lowY, measurement.gflops() / 2);
  }
  std::vector<double> ticksX = ticksAround(lowX, highX), ticksY = ticksAround(lowY, highY * 1.2);
  across = {ticksX.front(), ticksX.back(), plotLeft, plotRight};
  up = {ticksY.front(), ticksY.back(), plotBottom, plotTop};
}

double Roofline::peakOf(Peak wanted) const {
  for (auto [peak, value] : findings.peaks)
    if (peak == wanted)
      return value;
  return 0;
}

void Roofline::drawText(double x, double y, const std::string &text, const char *attributes) {
  svg += llvm::formatv("<text x=\"{0:f1}\" y=\"{1:f1}\" {2}>{3}</text>\n", x, y, attributes, escape(text)).str();
}

void Roofline::drawLine(double x0, double y0, double x1, double y1, const char *attributes) {
  svg +=
      llvm::formatv("<line x1=\"{0:f1}\" y1=\"{1:f1}\" x2=\"{2:f1}\" y2=\"{3:f1}\" {4}/>\n", x0, y0, x1, y1, attributes)
          .str();
}

void Roofline::drawAxes() {
  const char *grid = "stroke=\"#dddddd\"";
  auto name = [](double tick) { return llvm::formatv("{0}", llvm::format("%g", tick)).str(); };
  for (double tick : ticksAround(across.low, across.high)) {
    drawLine(across(tick), plotTop, across(tick), plotBottom, grid);
    drawText(across(tick), plotBottom + 18, name(tick), "text-anchor=\"middle\"");
  }
  for (double tick : ticksAround(up.low, up.high)) {
    drawLine(plotLeft, up(tick), plotRight, up(tick), grid);
    drawText(plotLeft - 8, up(tick) + 4, name(tick), "text-anchor=\"end\"");
  }
  drawText((plotLeft + plotRight) / 2, plotBottom + 42, "useful operations for each byte that has to be moved",
           "text-anchor=\"middle\"");
  drawText(plotLeft - 50, plotTop - 14, "useful GFLOP/s");
}

void Roofline::drawPeaks() {
  const char *stroke = "stroke=\"#444444\" stroke-width=\"2\"";
  double read = peakOf(Peak::Read), highest = 0;
  for (auto [peak, value] : findings.peaks) {
    if (peak == Peak::Read)
      continue;
    highest = std::max(highest, value);
    drawLine(across(value / read), up(value), plotRight, up(value), stroke);
    drawText(plotRight - 4, up(value) - 6, llvm::formatv("{0}: {1:f1} GFLOP/s", toString(peak), value).str(),
             "text-anchor=\"end\"");
  }
  // From where the slope enters the plot, at the left or at the bottom, up to the highest peak.
  double first = std::max(across.low, up.low / read), last = highest / read, middle = std::sqrt(first * last);
  drawLine(across(first), up(first * read), across(last), up(highest), stroke);
  drawText(across(middle) + 12, up(middle * read) + 8, llvm::formatv("read: {0:f1} GB/s", read).str());
}

void Roofline::drawWorkloads() {
  std::vector<Label> labels;
  double line = plotTop;
  for (const Measurement &measurement : findings.measurements) {
    const Workload &workload = measurement.workload;
    if (!measurement.hasCeiling())
      continue;
    double x = across(measurement.intensity()), y = up(measurement.gflops());
    svg += llvm::formatv("<circle cx=\"{0:f1}\" cy=\"{1:f1}\" r=\"5\" fill=\"{2}\"/>\n", x, y,
                         measurement.ceiling == Peak::Read ? "#d95f02" : "#1b6ca8")
               .str();
    Label label{x + 8, y + 4, workload.name};
    while (std::any_of(labels.begin(), labels.end(), [&](const Label &other) { return label.overlaps(other); }))
      label.y += lineHeight;
    labels.push_back(label);
    drawText(label.x, label.y, label.text, "font-weight=\"bold\"");
    drawText(listLeft, line += lineHeight, workload.name + ": " + workload.title, "font-weight=\"bold\"");
    drawText(listLeft, line += lineHeight,
             llvm::formatv("{0:f2} ms, {1:f1} {2}, {3:f1} % of {4}", measurement.samples.medianSeconds() * 1e3,
                           measurement.speed(), unitOf(measurement.ceiling), 100 * measurement.share(),
                           toString(measurement.ceiling))
                 .str());
    line += lineHeight / 2;
  }
}

std::string Roofline::draw() {
  // A long list makes the picture longer.
  double height = std::max(pictureHeight, plotTop + 2.5 * lineHeight * (1.0 + findings.measurements.size()));
  svg = llvm::formatv("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
                      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" "
                      "fill=\"white\"/>\n",
                      static_cast<int>(pictureWidth), static_cast<int>(height))
            .str();
  drawText(plotLeft, 24, llvm::formatv("{0}, {1} threads", findings.cpu, findings.threads).str(),
           "font-size=\"16\" font-weight=\"bold\"");
  drawAxes();
  drawPeaks();
  drawWorkloads();
  return svg + "</svg>\n";
}

std::string tool::formatRoofline(const Findings &findings) { return Roofline(findings).draw(); }
