//===- Graph.h - a graph and its data -------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TEST_LIB_GRAPHS_GRAPH_H
#define ATTN_TEST_LIB_GRAPHS_GRAPH_H

#include "attn/attn.h"
#include <map>
#include <string>
#include <vector>

namespace graphs {

using Sizes = std::vector<int64_t>;

enum class Element { F16, BF16, F32, F64, I1, I8, I32, I64, Index };

/// MLIR's spelling.
const char *toString(Element element);
bool isFloat(Element element);
attn::DType dtypeOf(Element element);
int64_t countElements(const Sizes &sizes);

/// One argument of the graph's function.
struct Input {
  Element element = Element::F32;
  bool isScalar = false;
  Sizes sizes;
  /// Row-major; integers for integers.
  std::vector<double> values;
  /// Elements between two rows of the last dimension, beyond their own.
  int64_t rowPadding = 0;
  /// The input whose memory this one is, or -1.
  int alias = -1;
};

/// The text of a module whose public function is @main, and what it is called with.
struct Graph {
  std::string text;
  std::vector<Input> inputs;
  /// How often each kind of operation was built.
  std::map<std::string, int> kinds;
};

/// What a graph is made for.
struct GraphOptions {
  uint64_t seed = 1;
  /// GPUs take no f64, only head sizes that types tell, and no reads at computed places.
  bool isGpu = false;
  /// Names of producers that are left out.
  std::vector<std::string> without;
};

Graph makeGraph(const GraphOptions &options);

/// The names of all producers.
std::vector<std::string> producerNames();

} // namespace graphs

#endif // ATTN_TEST_LIB_GRAPHS_GRAPH_H
