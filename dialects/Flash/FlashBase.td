//===- FlashBase.td - the flash dialect and its tile types ----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FLASH_BASE
#define FLASH_BASE

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"

def Flash_Dialect : Dialect {
  let name = "flash";
  let cppNamespace = "::attn::flash";
  let summary = "The FlashAttention loop as operations on opaque tiles";
  let description = [{
    The tiled level: one op for each step of the online-softmax algorithm (arXiv:2307.08691, algorithm 1), on tiles
    whose storage is the target's business. Tile values are linear: each is consumed once (`flash-verify-form`), so a
    target may update them in place. Rationale.md in this folder tells why.

    Row r of a tile is query i0 + r of head h; key k of a tile is key j0 + k. Scores are in natural units throughout.
    `T` is f32, or f64 for f64 inputs.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::attn::AttnDialect"];
}

class Flash_Type<string name, string keyword> : TypeDef<Flash_Dialect, name> {
  let mnemonic = keyword;
  let genVerifyDecl = 1;
}

def Flash_QueryType : Flash_Type<"Query", "query"> {
  let summary = "query tile, rows x headDim (? where dynamic), in the form that the target wants";
  let parameters = (ins "int64_t":$rows, "int64_t":$headDim, "::mlir::Type":$element);
  let assemblyFormat = "`<` $rows `x` custom<Extent>($headDim) `,` $element `>`";
}
def Flash_ScoresType : Flash_Type<"Scores", "scores"> {
  let summary = "scores, later weights, rows x keys of T; rounded weights of f16 or bf16";
  let parameters = (ins "int64_t":$rows, "int64_t":$keys, "::mlir::Type":$element);
  let assemblyFormat = "`<` $rows `x` $keys `,` $element `>`";
}
def Flash_AccType : Flash_Type<"Acc", "acc"> {
  let summary = "output accumulator, rows x valueDim (? where dynamic) of T";
  let parameters = (ins "int64_t":$rows, "int64_t":$valueDim, "::mlir::Type":$element);
  let assemblyFormat = "`<` $rows `x` custom<Extent>($valueDim) `,` $element `>`";
}
def Flash_RowsType : Flash_Type<"Rows", "rows"> {
  let summary = "one T for each row of a tile; may be read until an op consumes it";
  let parameters = (ins "int64_t":$rows, "::mlir::Type":$element);
  let assemblyFormat = "`<` $rows `,` $element `>`";
}

class Flash_Attr<string name, string keyword> : AttrDef<Flash_Dialect, name> {
  let mnemonic = keyword;
  let genVerifyDecl = 1;
}

def Flash_TensorMapAttr : Flash_Attr<"TensorMap", "tensor_map"> {
  let summary = "a tensor map that a launch makes: of the memref with that number among its captures, for boxes of so many rows";
  let parameters = (ins "int64_t":$capture, "int64_t":$rows);
  let assemblyFormat = "`<` `capture` `=` $capture `,` `rows` `=` $rows `>`";
}

def Flash_KernelAttr : Flash_Attr<"Kernel", "kernel"> {
  let summary = "what a launch has to know of a kernel";
  let description = [{
    `threads` of a block, `items` that a block does, bytes of dynamic shared memory, and the tensor maps that come behind
    the kernel's other arguments, each with an i1 that says whether it may be used. convert-flash-to-nvvm sets it as
    `flash.kernel` of the function; flash.launch reads it.
  }];
  let parameters = (ins "int64_t":$threads, "int64_t":$items, "int64_t":$sharedBytes,
                        OptionalArrayRefParameter<"::attn::flash::TensorMapAttr">:$tensorMaps);
  let assemblyFormat = [{ `<` `threads` `=` $threads `,` `items` `=` $items `,` `shared_bytes` `=` $sharedBytes
    (`,` `tensor_maps` `=` `[` qualified($tensorMaps)^ `]`)? `>` }];
  let extraClassDeclaration = [{
    static constexpr ::llvm::StringLiteral getAttrName() { return "flash.kernel"; }
    /// That of a kernel; null where none is set.
    static KernelAttr of(::mlir::Operation *kernel) { return kernel->getAttrOfType<KernelAttr>(getAttrName()); }
  }];
}

#endif
