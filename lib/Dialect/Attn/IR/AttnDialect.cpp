//===- AttnDialect.cpp - registration and generated code --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FoldInterfaces.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "Attn/AttnDialect.cpp.inc"
#include "Attn/AttnEnums.cpp.inc"

#include "Attn/AttnAttrInterfaces.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "Attn/AttnAttrs.cpp.inc"

namespace {

/// Constants of a score or mask region stay in it, so that the region reads whole and clones whole.
struct RegionConstants : DialectFoldInterface {
  using DialectFoldInterface::DialectFoldInterface;
  bool shouldMaterializeInto(Region *region) const final { return region->getParentOp()->hasTrait<attn::ModRegions>(); }
};

/// Regions capture implicitly and hold pure operations only, so attn ops may be inlined anywhere.
struct AttnInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final { return true; }
};

} // namespace

void attn::AttnDialect::initialize() {
  addInterfaces<RegionConstants, AttnInliner>();
  addOperations<
#define GET_OP_LIST
#include "Attn/AttnOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "Attn/AttnAttrs.cpp.inc"
      >();
}
