//===- NamedScores.cpp - named score functions by formula --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NamedModTensors.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace attn;
using namespace attn::reference;

/// The bucket of key - query position. The logarithms are taken in f64, whose error is far below the distance of their
/// ratio from an integer unless it is one: a value within 1e-9 of an integer stands on a border.
static int64_t t5Bucket(T5BiasAttr attr, int64_t relative) {
  int64_t buckets = attr.getBuckets(), base = 0;
  if (attr.getBidirectional()) {
    buckets /= 2;
    if (relative > 0)
      base = buckets;
    relative = std::abs(relative);
  } else {
    relative = relative < 0 ? -relative : 0;
  }
  int64_t exact = buckets / 2;
  if (relative < exact)
    return base + relative;
  double ratio = std::log(double(relative) / exact) / std::log(double(attr.getMaxDistance()) / exact);
  int64_t step = static_cast<int64_t>(std::floor(ratio * (buckets - exact) + 1e-9));
  return base + std::min(buckets - 1, exact + step);
}

template <typename T>
ScoreFunction<T> attn::reference::bindScore(const Frame &frame, const NamedMod &mod, ArrayRef<int64_t> sizes,
                                            std::string &error) {
  Captures captures(frame, mod, sizes, error);
  // Adds the element of a table that `index` picks.
  auto added = [&](auto element) -> ScoreFunction<T> {
    return [element](T score, const Point &p) { return score + static_cast<T>(element(p).real); };
  };
  auto function =
      llvm::TypeSwitch<Attribute, ScoreFunction<T>>(mod.attr)
          .Case([&](SoftcapAttr attr) -> ScoreFunction<T> {
            return [cap = static_cast<T>(attr.getCap().getValueAsDouble())](T score, const Point &) {
              return cap * std::tanh(score / cap);
            };
          })
          .Case([&](LogShiftAttr attr) -> ScoreFunction<T> {
            return [shift = static_cast<T>(attr.getShift().getValueAsDouble())](T score, const Point &) {
              return std::log((score < 0 ? T(0) : score) + shift);
            };
          })
          .Case([&](AlibiAttr attr) -> ScoreFunction<T> {
            return [attr, slopes = captures.table(0, "h")](T score, const Point &p) {
              return score +
                     static_cast<T>(slopes.at(p.h).real) * static_cast<T>(p.j - positionOf(attr.getDiagonal(), p));
            };
          })
          .Case([&](HeadScaleAttr) -> ScoreFunction<T> {
            return [scales = captures.table(0, "h")](T score, const Point &p) {
              return score * static_cast<T>(scales.at(p.h).real);
            };
          })
          .template Case<BiasAttr, AdditiveAttr>([&](auto) -> ScoreFunction<T> {
            return added([term = captures.broadcast(0)](const Point &p) { return term.at(p.b, p.h, p.i, p.j); });
          })
          .Case([&](T5BiasAttr attr) -> ScoreFunction<T> {
            return added([attr, table = captures.table(0, "*h", attr.getBuckets())](const Point &p) {
              return table.at(t5Bucket(attr, p.j - positionOf(attr.getDiagonal(), p)), p.h);
            });
          })
          .Case([&](DistanceBiasAttr attr) -> ScoreFunction<T> {
            return added(
                [attr, max = attr.getMax(), table = captures.table(0, "h*", 2 * attr.getMax() + 1)](const Point &p) {
                  int64_t distance = p.j - positionOf(attr.getDiagonal(), p);
                  return table.at(p.h, distance < -max ? 0 : distance > max ? 2 * max : distance + max);
                });
          })
          .Case([&](IndexedBiasAttr) -> ScoreFunction<T> {
            Table index = captures.table(0, "ij");
            Table table = captures.failed() ? Table() : captures.table(1, "*h");
            return added([index, table](const Point &p) {
              int64_t last = table.tensor->shape[0] - 1, entry = index.at(p.i, p.j).integer;
              return table.at(entry < 0 ? 0 : std::min(entry, last), p.h);
            });
          })
          .Default([&](Attribute) -> ScoreFunction<T> {
            error = "has a named score function that the reference interpreter does not support";
            return {};
          });
  return captures.failed() ? ScoreFunction<T>() : function;
}

template ScoreFunction<float> attn::reference::bindScore<float>(const Frame &, const NamedMod &, ArrayRef<int64_t>,
                                                                std::string &);
template ScoreFunction<double> attn::reference::bindScore<double>(const Frame &, const NamedMod &, ArrayRef<int64_t>,
                                                                  std::string &);
