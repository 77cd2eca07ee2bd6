//===- Compare.cpp - the pass rule of the tests ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/Reference/Compare.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace attn::reference;

static Comparison mismatch(const std::string &message) {
  Comparison result;
  result.pass = false;
  result.message = message;
  return result;
}

/// `[1, 0, 5]`.
static std::string describePosition(const Tensor &tensor, int64_t position) {
  SmallVector<int64_t> indices(tensor.rank());
  for (int64_t k = tensor.rank() - 1; k >= 0; --k) {
    indices[k] = position % tensor.shape[k];
    position /= tensor.shape[k];
  }
  return llvm::formatv("[{0:$[, ]}]", llvm::make_range(indices.begin(), indices.end())).str();
}

/// Whether a value that is not finite on one side at least is right.
static bool agreesNotFinite(Type type, double actual, double exact) {
  if (std::isnan(actual) || std::isnan(exact))
    return std::isnan(actual) && std::isnan(exact);
  return actual == roundToType(type, exact);
}

static bool isKnown(const Tensor &tensor, int64_t position) { return tensor.known.empty() || tensor.known[position]; }

/// Twice the largest error of the unfused formula, and the largest magnitude.
static std::pair<double, double> measure(const Tensor &exact, const Tensor &rounded) {
  double error = 0, magnitude = 0;
  for (int64_t k = 0, e = exact.size(); k < e; ++k) {
    double x = exact.data[k].real, r = rounded.data[k].real;
    if (!isKnown(exact, k) || !std::isfinite(x))
      continue;
    magnitude = std::max(magnitude, std::fabs(x));
    if (std::isfinite(r))
      error = std::max(error, std::fabs(r - x));
  }
  return {2 * error, magnitude};
}

static Comparison compareIntegers(const Tensor &actual, const Tensor &exact) {
  Comparison result;
  for (int64_t k = 0, e = exact.size(); k < e; ++k)
    if (actual.data[k].integer != exact.data[k].integer && ++result.numWrong == 1)
      result.position = k;
  result.numCompared = exact.size();
  result.pass = result.numWrong == 0;
  result.message = result.pass
                       ? "equal"
                       : llvm::formatv("{0} of {1} integers differ; first at {2}: expected {3}, got {4}",
                                       result.numWrong, exact.size(), describePosition(exact, result.position),
                                       exact.data[result.position].integer, actual.data[result.position].integer)
                             .str();
  return result;
}

static Comparison compareReals(const Tensor &actual, const Tensor &exact, const Tensor &rounded) {
  Type type = exact.elementType;
  auto [unfused, magnitude] = measure(exact, rounded);
  bool narrow = type.getIntOrFloatBitWidth() <= 16;
  double floor = (type.isF64() ? 1e-13 : 2e-6) * std::max(1.0, magnitude);
  Comparison result;
  int64_t firstWrong = -1, numFinite = 0;
  double sum = 0;
  for (int64_t k = 0, e = exact.size(); k < e; ++k) {
    if (!isKnown(exact, k))
      continue;
    ++result.numCompared;
    double a = actual.data[k].real, x = exact.data[k].real;
    bool right;
    if (std::isfinite(a) && std::isfinite(x)) {
      double error = std::fabs(a - x), allowed = unfused + (narrow ? ulpOfType(type, x) : floor);
      right = error <= allowed;
      sum += error;
      ++numFinite;
      if (result.position < 0 || error > result.maxError) {
        result.maxError = error;
        result.allowed = allowed;
        result.position = k;
      }
    } else {
      right = agreesNotFinite(type, a, x);
    }
    if (!right && ++result.numWrong == 1)
      firstWrong = k;
  }
  result.pass = result.numWrong == 0;
  result.meanError = numFinite ? sum / numFinite : 0;
  result.message = llvm::formatv("max error {0:e3}, allowed {1:e3}", result.maxError, result.allowed).str();
  if (!result.pass) {
    result.position = firstWrong;
    result.message += llvm::formatv("; {0} of {1} elements are wrong, first at {2}: expected {3}, got {4}",
                                    result.numWrong, result.numCompared, describePosition(exact, firstWrong),
                                    exact.data[firstWrong].real, actual.data[firstWrong].real)
                          .str();
  }
  return result;
}

Comparison attn::reference::compare(const Tensor &actual, const Tensor &exact, const Tensor &rounded) {
  if (actual.shape != exact.shape || rounded.shape != exact.shape)
    return mismatch(llvm::formatv("expected shape [{0:$[, ]}], got [{1:$[, ]}]",
                                  llvm::make_range(exact.shape.begin(), exact.shape.end()),
                                  llvm::make_range(actual.shape.begin(), actual.shape.end()))
                        .str());
  if (actual.isReal() != exact.isReal() || rounded.isReal() != exact.isReal())
    return mismatch("expected values that are all floats or all integers");
  return exact.isReal() ? compareReals(actual, exact, rounded) : compareIntegers(actual, exact);
}
