//===- FlashDialect.cpp - registration, types and ops of flash --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/Dialect/Attn/IR/AttnSyntax.h"
#include "attn/Dialect/Flash/IR/FlashOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FoldInterfaces.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;
using namespace attn::flash;

/// An integer of at least 0, or `?`.
static ParseResult parseExtent(AsmParser &parser, int64_t &extent) {
  extent = ShapedType::kDynamic;
  if (succeeded(parser.parseOptionalQuestion()))
    return success();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseInteger(extent))
    return failure();
  if (extent < 0)
    return parser.emitError(loc, "expected an extent of at least 0, but got ") << extent;
  return success();
}

static void printExtent(AsmPrinter &printer, int64_t extent) {
  if (ShapedType::isDynamic(extent))
    printer << '?';
  else
    printer << extent;
}

#include "Flash/FlashDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "Flash/FlashAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "Flash/FlashTypes.cpp.inc"
#define GET_OP_CLASSES
#include "Flash/FlashOps.cpp.inc"

namespace {

/// Constants of score and mask regions stay in them.
struct RegionConstants : DialectFoldInterface {
  using DialectFoldInterface::DialectFoldInterface;
  bool shouldMaterializeInto(Region *region) const final {
    return isa<ScoresOp, FinishScoresOp, ClassifyTileOp>(region->getParentOp());
  }
};

struct FlashInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final { return true; }
};

} // namespace

void FlashDialect::initialize() {
  addInterfaces<RegionConstants, FlashInliner>();
  addOperations<
#define GET_OP_LIST
#include "Flash/FlashOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "Flash/FlashAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "Flash/FlashTypes.cpp.inc"
      >();
}
