//===- InspectionPasses.td - what the compiler decides, shown -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_INSPECTION_PASSES
#define ATTN_INSPECTION_PASSES

include "mlir/Pass/PassBase.td"

def PrintTileMapPass : Pass<"attn-print-tile-map", "::mlir::ModuleOp"> {
  let summary = "Print which tiles the masks of attention empty or leave whole";
  let description = [{
    For each `attn.attention` and given sizes, prints to standard output which (query tile, kv tile) is skipped, full,
    partial (the mask is evaluated for each score), or decided at run time, and the share of the work that is saved.
    Batch entries and heads with the same map share one picture.

    The map is what the compiler does with the op: a copy of the module goes through the graph level of the compile
    pipeline, the ends of the key loops are those that convert-attn-to-flash builds, and where it would classify tiles
    in front of the loop, the reference interpreter evaluates the mask of each score. What that reads must be constants,
    sizes, or arguments of the function given in `values`; an integer that is not given is an error, and a tensor with
    unknown content leaves tiles to the run. The module itself is not changed.

    Precondition: verified ops; tensors, or memrefs. Example: test/Transforms/attn-print-tile-map/doc-example.mlir.
  }];
  let options = [
    Option<"format", "format", "::attn::TileMapFormat", "::attn::TileMapFormat::Text", "how to print the maps",
           [{::llvm::cl::values(
               clEnumValN(::attn::TileMapFormat::Text, "text", "characters"),
               clEnumValN(::attn::TileMapFormat::Svg, "svg", "one SVG picture"))}]>,
    ListOption<"sizes", "sizes", "std::string",
               "sizes that the types leave open, such as batch=1,heads=8,queryLen=256,kvLen=256">,
    ListOption<"values", "values", "std::string",
               "contents of integer arguments, by position: 3:17 for a scalar, 4:100:200 for a tensor of two elements">,
    Option<"function", "function", "std::string", "\"\"", "name of the function to look at; empty: all functions">,
    Option<"tileQ", "tile-q", "int64_t", "0",
           "query rows of a tile; a power of two from 1 to 1024, 0 lets the target's cost model choose">,
    Option<"tileKv", "tile-kv", "int64_t", "0",
           "keys of a tile; 1 to 65536, 0 lets the target's cost model choose">,
    Option<"target", "target", "std::string", "\"host\"",
           "CPU that the cost model is asked for: host, or an LLVM CPU name such as x86-64-v3">,
  ];
}

#endif
