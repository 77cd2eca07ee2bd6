//===- TileMapSvg.cpp - tile maps as a picture --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Panels one below the other, then a legend. Neighbouring tiles of one class in a row are one rectangle. Partial tiles
// and those that the run decides are hatched, so that the picture reads without colour.
//
//===----------------------------------------------------------------------===//

#include "TileMapFormat.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

using namespace mlir;
using namespace attn;

namespace {

/// Lengths in pixels.
constexpr double kMargin = 20, kAxis = 60, kLine = 18, kMaxTile = 24, kGridSize = 640, kWidth = 760;
/// Tiles below this size have no lines between them.
constexpr double kLinedTile = 5;

/// Draws from top to bottom.
class Picture {
public:
  void add(const NamedTileMap &named);
  void addLegend();
  void print(llvm::raw_ostream &os) const;

private:
  void text(double x, double y, StringRef words, StringRef attributes = "");
  void paragraph(StringRef words, StringRef attributes = "", size_t columns = 112);
  void addMap(const AttentionTileMap &maps, const TileMap &map);
  void addTiles(const TileMap &map, double width, double height);
  void addLines(const TileMap &map, double width, double height);
  void addAxes(const AttentionTileMap &maps, const TileMap &map, double width, double height);

  std::string body;
  llvm::raw_string_ostream os{body};
  double y = kMargin;
};

} // namespace

static std::string escape(StringRef words) {
  std::string escaped;
  for (char c : words)
    escaped += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  return escaped;
}

/// Pixels with two digits.
static std::string px(double value) { return llvm::formatv("{0:F2}", value).str(); }

/// What a class is filled with: its colour, or its hatching.
static std::string fillOf(const TileStyle &style) {
  bool isHatched = style.tileClass == TileClass::Partial || style.tileClass == TileClass::RunTime;
  return isHatched ? "url(#" + std::string(style.tileClass == TileClass::Partial ? "partial" : "runtime") + ")"
                   : style.colour.str();
}

void Picture::text(double x, double y, StringRef words, StringRef attributes) {
  os << "<text x=\"" << px(x) << "\" y=\"" << px(y) << "\"" << (attributes.empty() ? "" : " ") << attributes << ">"
     << escape(words) << "</text>\n";
}

/// One line, broken between words where it is longer than the picture is wide.
void Picture::paragraph(StringRef words, StringRef attributes, size_t columns) {
  while (!words.empty()) {
    size_t end = words.size() <= columns ? words.size() : words.take_front(columns).rfind(' ');
    end = end == StringRef::npos ? columns : end;
    text(kMargin, y += kLine, words.take_front(end), attributes);
    words = words.drop_front(end).ltrim();
  }
}

//===----------------------------------------------------------------------===//
// One map
//===----------------------------------------------------------------------===//

/// Rectangles, one for each run of equal tiles in a row.
void Picture::addTiles(const TileMap &map, double width, double height) {
  for (int64_t row = 0; row < map.queryTiles; ++row)
    for (int64_t first = 0, end; first < map.kvTiles; first = end) {
      for (end = first + 1; end < map.kvTiles && map.at(row, end) == map.at(row, first); ++end)
        ;
      os << llvm::formatv("<rect x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" fill=\"{4}\"/>\n",
                          px(kMargin + kAxis + first * width), px(y + row * height), px((end - first) * width),
                          px(height), fillOf(styleOf(map.at(row, first))));
    }
}

/// Lines between tiles, where these are large enough, and a frame.
void Picture::addLines(const TileMap &map, double width, double height) {
  double left = kMargin + kAxis, totalWidth = map.kvTiles * width, totalHeight = map.queryTiles * height;
  os << "<path stroke=\"#ffffff\" stroke-width=\"0.7\" d=\"";
  for (int64_t k = 1; width >= kLinedTile && k < map.kvTiles; ++k)
    os << "M" << px(left + k * width) << " " << px(y) << "v" << px(totalHeight);
  for (int64_t k = 1; height >= kLinedTile && k < map.queryTiles; ++k)
    os << "M" << px(left) << " " << px(y + k * height) << "h" << px(totalWidth);
  os << llvm::formatv("\"/>\n<rect x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" fill=\"none\" "
                      "stroke=\"#404040\"/>\n",
                      px(left), px(y), px(totalWidth), px(totalHeight));
}

/// Tiles between two labels of an axis, so that labels have so many pixels.
static int64_t labelStep(double tileSize, double room) {
  return std::max<int64_t>(1, static_cast<int64_t>(room / tileSize + 0.999));
}

/// First keys above the tiles, first queries to the left.
void Picture::addAxes(const AttentionTileMap &maps, const TileMap &map, double width, double height) {
  double left = kMargin + kAxis;
  text(left, y - kLine, "key");
  for (int64_t k = 0, step = labelStep(width, 56); k < map.kvTiles; k += step)
    text(left + k * width, y - 4, std::to_string(k * maps.kvTile), "class=\"axis\"");
  text(kMargin, y - 4, "query");
  for (int64_t k = 0, step = labelStep(height, 14); k < map.queryTiles; k += step)
    text(left - 6, y + k * height + std::min(height / 2 + 4, 11.0), std::to_string(k * maps.queryTile),
         "class=\"axis\" text-anchor=\"end\"");
}

void Picture::addMap(const AttentionTileMap &maps, const TileMap &map) {
  if (map.tiles.empty())
    return;
  double width = std::min(kGridSize / map.kvTiles, kMaxTile), height = std::min(kGridSize / map.queryTiles, kMaxTile);
  y += 2 * kLine + 8;
  addAxes(maps, map, width, height);
  addTiles(map, width, height);
  addLines(map, width, height);
  y += map.queryTiles * height + kLine / 2;
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

void Picture::add(const NamedTileMap &named) {
  paragraph(named.title + ": " + named.mask, "class=\"title\"", /*columns=*/75);
  paragraph(sizesText(named.maps));
  for (const std::string &fact : factsOf(named.maps))
    paragraph(fact, "class=\"note\"");
  for (auto &[map, entries] : named.maps.maps) {
    y += kLine / 2;
    paragraph(entriesText(named.maps, entries) + ": " + summaryText(named.maps, map));
    addMap(named.maps, map);
  }
  y += kLine;
}

void Picture::addLegend() {
  double x = kMargin;
  y += kLine;
  for (const TileStyle &style : kTileStyles) {
    os << llvm::formatv("<rect x=\"{0}\" y=\"{1}\" width=\"14\" height=\"14\" fill=\"{2}\" stroke=\"#404040\"/>\n",
                        px(x), px(y - 12), fillOf(style));
    text(x + 20, y, style.meaning);
    x += 44 + 6.6 * style.meaning.size();
  }
  y += kMargin;
}

/// A pattern of diagonal lines on a ground.
static void printHatching(llvm::raw_ostream &os, StringRef name, TileClass tileClass, StringRef lines) {
  os << llvm::formatv("<pattern id=\"{0}\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
                      "<rect width=\"6\" height=\"6\" fill=\"{1}\"/><path d=\"{2}\" stroke=\"#404040\" "
                      "stroke-width=\"0.6\"/></pattern>\n",
                      name, styleOf(tileClass).colour, lines);
}

void Picture::print(llvm::raw_ostream &stream) const {
  stream << llvm::formatv("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                          "viewBox=\"0 0 {0} {1}\">\n",
                          static_cast<int64_t>(kWidth), static_cast<int64_t>(y));
  stream << "<style>text { font: 12px sans-serif; fill: #202020 } .title { font: bold 15px sans-serif } "
            ".note { fill: #505050 } .axis { font-size: 10px }</style>\n<defs>\n";
  printHatching(stream, "partial", TileClass::Partial, "M0 6L6 0");
  printHatching(stream, "runtime", TileClass::RunTime, "M0 6L6 0M0 0L6 6");
  stream << "</defs>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n" << body << "</svg>\n";
}

void attn::printTileMapsAsSvg(llvm::raw_ostream &os, ArrayRef<NamedTileMap> maps) {
  Picture picture;
  for (const NamedTileMap &named : maps)
    picture.add(named);
  picture.addLegend();
  picture.print(os);
}
