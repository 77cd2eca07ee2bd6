//===- MaskDomain.cpp - the mask of an op and where it is defined ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MaskDomain.h"
#include "IndexMath.h"
#include "attn/Dialect/Flash/IR/FlashOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attn;
using flash::RequireOp;

void attn::requireEqual(ImplicitLocOpBuilder &b, Value got, Value expected, const Twine &message) {
  std::optional<int64_t> known = getConstantIntValue(got);
  if (got == expected || (known && known == getConstantIntValue(expected)))
    return;
  Value holds = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, got, expected);
  RequireOp::create(b, holds, b.getStringAttr(message), ValueRange{got, expected});
}

void attn::requireAtMost(ImplicitLocOpBuilder &b, Value got, int64_t limit, const Twine &what) {
  if (std::optional<int64_t> known = getConstantIntValue(got); known && *known >= 0 && *known <= limit)
    return;
  Value bound = constantIndex(b, limit);
  // One unsigned comparison covers both ends.
  RequireOp::create(b, arith::CmpIOp::create(b, arith::CmpIPredicate::ule, got, bound),
                    b.getStringAttr("expected " + what + " in 0 to {1}, but got {0}"), ValueRange{got, bound});
}

Value MaskDomain::kvEnd(ImplicitLocOpBuilder &b, Value batchIndex) const {
  if (!kvLengths)
    return kvLen;
  Value length = readElement(b, kvLengths, batchIndex);
  return length.getType().isIndex() ? length : arith::IndexCastOp::create(b, b.getIndexType(), length).getResult();
}

void MaskDomain::buildChecks(ImplicitLocOpBuilder &b) const {
  requireAtMost(b, batch, kMaxExtent, "batch");
  requireAtMost(b, heads, kMaxExtent, "heads");
  requireAtMost(b, queryLen, kMaxExtent, "queryLen");
  requireAtMost(b, kvLen, kMaxExtent, "kvLen");
  if (!kvLengths)
    return;
  scf::ForOp::create(b, constantIndex(b, 0), batch, constantIndex(b, 1), ValueRange{},
                     [&](OpBuilder &nested, Location loc, Value index, ValueRange) {
                       ImplicitLocOpBuilder b(loc, nested);
                       Value length = kvEnd(b, index);
                       RequireOp::create(
                           b, arith::CmpIOp::create(b, arith::CmpIPredicate::ule, length, kvLen),
                           b.getStringAttr("expected each of kv_lengths in 0 to kvLen = {1}, but got {0}"),
                           ValueRange{length, kvLen});
                       scf::YieldOp::create(b);
                     });
}

//===----------------------------------------------------------------------===//
// Captured tensors
//===----------------------------------------------------------------------===//

void attn::clampCapturedLoads(Region &region, const AttentionDims &dims) {
  // Larger sizes are refused at run time.
  clampCapturedLoads(region, {dims.batch, dims.heads, dims.queryLen, dims.kvLen}, kMaxExtent);
}

void attn::clampCapturedLoads(AttentionOp op) {
  clampCapturedLoads(op.getScoreRegion(), op.getDims());
  clampCapturedLoads(op.getMaskRegion(), op.getDims());
}

void attn::buildCaptureChecks(ImplicitLocOpBuilder &b, const MaskDomain &domain, ArrayRef<Region *> regions) {
  buildCaptureChecks(b, {domain.batch, domain.heads, domain.queryLen, domain.kvLen}, regions);
}
