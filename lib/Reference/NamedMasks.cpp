//===- NamedMasks.cpp - named masks by formula -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NamedModTensors.h"

using namespace mlir;
using namespace attn;
using namespace attn::reference;

//===----------------------------------------------------------------------===//
// Windows and padding
//===----------------------------------------------------------------------===//

/// -1 is no limit.
static bool isInWindow(int64_t distance, int64_t left, int64_t right) {
  return (left < 0 || distance >= -left) && (right < 0 || distance <= right);
}

static MaskFunction bindCausal(CausalAttr attr, Captures &) {
  return [diagonal = attr.getDiagonal()](const Point &p) { return p.j <= positionOf(diagonal, p); };
}

static MaskFunction bindWindow(WindowAttr attr, Captures &) {
  return [attr](const Point &p) {
    return isInWindow(p.j - positionOf(attr.getDiagonal(), p), attr.getLeft(), attr.getRight());
  };
}

static MaskFunction bindDilated(DilatedAttr attr, Captures &) {
  return [attr](const Point &p) {
    int64_t distance = p.j - positionOf(attr.getDiagonal(), p);
    return isInWindow(distance, attr.getLeft(), attr.getRight()) && distance % attr.getStep() == 0;
  };
}

static MaskFunction bindGlobalWindow(GlobalWindowAttr attr, Captures &) {
  return [attr](const Point &p) {
    int64_t position = positionOf(attr.getDiagonal(), p);
    if (p.j < attr.getGlobals() || position < attr.getGlobals())
      return true;
    return isInWindow(p.j - position, attr.getLeft(), attr.getRight());
  };
}

static MaskFunction bindPrefix(PrefixAttr attr, Captures &captures) {
  Table prefix = captures.table(0, "b");
  return [diagonal = attr.getDiagonal(), prefix](const Point &p) {
    return p.j <= positionOf(diagonal, p) || p.j < prefix.at(p.b).integer;
  };
}

static MaskFunction bindPaddingLeft(PaddingLeftAttr, Captures &captures) {
  return [start = captures.table(0, "b")](const Point &p) { return p.j >= start.at(p.b).integer; };
}

static MaskFunction bindPaddingRight(PaddingRightAttr, Captures &captures) {
  return [end = captures.table(0, "b")](const Point &p) { return p.j < end.at(p.b).integer; };
}

static MaskFunction bindBoolean(BooleanAttr, Captures &captures) {
  return [mask = captures.broadcast(0)](const Point &p) { return mask.at(p.b, p.h, p.i, p.j).integer != 0; };
}

//===----------------------------------------------------------------------===//
// Documents, blocks, grid, tree
//===----------------------------------------------------------------------===//

/// Whether query and key have the same id; `first`: the number of the queries' ids.
static MaskFunction bindIds(bool separate, Captures &captures, unsigned first) {
  Table queries = captures.table(first, "bi");
  if (captures.failed())
    return {};
  Table keys = captures.table(separate ? first + 1 : first, "bj");
  return [queries, keys](const Point &p) { return queries.at(p.b, p.i).integer == keys.at(p.b, p.j).integer; };
}

static MaskFunction bindDocument(DocumentAttr attr, Captures &captures) {
  return bindIds(attr.getSeparate(), captures, 0);
}

static MaskFunction bindDocumentCausal(DocumentCausalAttr attr, Captures &captures) {
  return [diagonal = attr.getDiagonal(), same = bindIds(attr.getSeparate(), captures, 0)](const Point &p) {
    return p.j <= positionOf(diagonal, p) && same(p);
  };
}

static MaskFunction bindSharedPrefix(SharedPrefixAttr attr, Captures &captures) {
  Table prefix = captures.table(0, "b");
  if (captures.failed())
    return {};
  return [prefix, same = bindIds(attr.getSeparate(), captures, 1)](const Point &p) {
    return p.j < prefix.at(p.b).integer || same(p);
  };
}

static MaskFunction bindChunked(ChunkedAttr attr, Captures &) {
  return [attr](const Point &p) {
    // From the start of the query's chunk to the query.
    int64_t position = positionOf(attr.getDiagonal(), p);
    return p.j >= floorOf(position, attr.getSize()) * attr.getSize() && p.j <= position;
  };
}

static MaskFunction bindBlockDiagonal(BlockDiagonalAttr attr, Captures &) {
  return [attr](const Point &p) {
    int64_t start = floorOf(positionOf(attr.getDiagonal(), p), attr.getSize()) * attr.getSize();
    return p.j >= start && p.j < start + attr.getSize();
  };
}

static MaskFunction bindBlockCausal(BlockCausalAttr attr, Captures &) {
  return [attr](const Point &p) {
    return p.j < (floorOf(positionOf(attr.getDiagonal(), p), attr.getSize()) + 1) * attr.getSize();
  };
}

static MaskFunction bindBlockDiffusion(BlockDiffusionAttr attr, Captures &captures) {
  captures.hasLength(2 * attr.getHalf());
  return [half = attr.getHalf(), block = attr.getBlock()](const Point &p) {
    bool cleanQuery = p.i >= half, cleanKey = p.j >= half;
    int64_t query = p.i % half / block, key = p.j % half / block;
    if (!cleanKey)
      return !cleanQuery && key == query;
    return cleanQuery ? key <= query : key < query;
  };
}

/// Whether key is one of the `kernel` neighbours of query on [0, size), which are moved inside at the borders.
static bool isNeighbour(int64_t query, int64_t key, int64_t size, int64_t kernel) {
  int64_t first = query - kernel / 2;
  if (first < 0)
    first = 0;
  if (first + kernel > size)
    first = size - kernel;
  return key >= first && key < first + kernel;
}

static MaskFunction bindLocal2d(Local2dAttr attr, Captures &captures) {
  captures.hasLength(attr.getRows() * attr.getColumns());
  return [attr, width = attr.getColumns()](const Point &p) {
    return isNeighbour(p.i / width, p.j / width, attr.getRows(), attr.getKernelRows()) &&
           isNeighbour(p.i % width, p.j % width, width, attr.getKernelColumns());
  };
}

static MaskFunction bindTree(TreeAttr, Captures &captures) {
  return [ancestors = captures.table(0, "bii")](const Point &p) {
    int64_t node = p.j - (p.kvLen - p.queryLen);
    return node < 0 || ancestors.at(p.b, p.i, node).integer != 0;
  };
}

//===----------------------------------------------------------------------===//
// By attribute
//===----------------------------------------------------------------------===//

/// Calls the one of the functions whose attribute it is; an empty function if there is none.
template <typename... AttrTs>
static MaskFunction dispatch(Attribute attr, Captures &captures, MaskFunction (*...functions)(AttrTs, Captures &)) {
  MaskFunction result;
  auto attempt = [&](auto function, auto known) {
    if (known)
      result = function(known, captures);
  };
  (attempt(functions, dyn_cast<AttrTs>(attr)), ...);
  return result;
}

MaskFunction attn::reference::bindMask(const Frame &frame, const NamedMod &mod, ArrayRef<int64_t> sizes,
                                       std::string &error) {
  Captures captures(frame, mod, sizes, error);
  MaskFunction mask =
      dispatch(mod.attr, captures, bindCausal, bindWindow, bindDilated, bindGlobalWindow, bindPrefix, bindPaddingLeft,
               bindPaddingRight, bindBoolean, bindDocument, bindDocumentCausal, bindSharedPrefix, bindChunked,
               bindBlockDiagonal, bindBlockCausal, bindBlockDiffusion, bindLocal2d, bindTree);
  if (captures.failed())
    return {};
  if (!mask)
    error = "has a named mask that the reference interpreter does not support";
  return mask;
}
