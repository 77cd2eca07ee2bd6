//===- AttnBase.td - the attn dialect -----------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_BASE
#define ATTN_BASE

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Attn_Dialect : Dialect {
  let name = "attn";
  let cppNamespace = "::attn";
  let summary = "Whole attention operations on tensors or memrefs";
  let description = [{
    The graph level. Dimensions have the same names everywhere: `batch, heads, kvHeads, queryLen, kvLen, headDim,
    valueDim`; in layouts and regions the letters b h i j d e stand for one index along each of them (h is the query
    head). Rationale.md in this folder tells why the ops look as they do.
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

/// The operands that are not optional are there, where segments of operands have sizes of their own.
def Attn_RequiredOperands : NativeOpTrait<"RequiredOperands"> {
  let cppNamespace = "::attn";
}

/// The op's regions are score or mask regions: they end in attn.yield.
def Attn_ModRegions : NativeOpTrait<"ModRegions"> {
  let cppNamespace = "::attn";
}

#endif
