//===- AttnPasses.td - passes on the graph level -------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_PASSES
#define ATTN_PASSES

include "mlir/Pass/PassBase.td"

def RaisePass : Pass<"attn-raise", "::mlir::ModuleOp"> {
  let summary = "Turn what exporters write into attn, linalg, tensor, arith and math";
  let description = [{
    * `tosa` goes through upstream's conversions, with shapes inferred first; `tosa.scatter`, which these lack, becomes
      a loop over slices.
    * `tm_tensor.attention` (torch-mlir) and `iree_linalg_ext.attention`, in generic form and unregistered, become
      `attn.attention`: an i1 mask `boolean`, a float one `additive` (a region where its map or IREE's score function
      asks for one); no `scale` means 1/sqrt(headDim). A batch dimension that holds batch and heads is called heads.
    * `torch.aten.scaled_dot_product_attention` becomes `attn.attention` between builtin.unrealized_conversion_cast
      where dropout is 0 and is_causal and scale are constants; the rest of a module of the torch dialect stays.
    * `tm_tensor.scan` and `iree_linalg_ext.scan` become loops over tensors.
    * What exporters leave undefined gets one of its meanings: a linalg reduction that starts from an empty tensor
      starts from its neutral element (a remark says so), and an unranked result that is a cast gets the ranked
      type, in functions that nothing calls.

    Precondition: verified ops; dialects that are not registered are allowed. Postcondition: no op of tosa, and none of
    the others above but SDPA ops, for each of which a missed remark (category attn) says why. A malformed attention or
    scan, and an op of tosa without a conversion, is an error. Other operations are left alone; a module without any of
    these costs one walk.

    Before (test/Transforms/attn-raise/doc-example.mlir):
    ```mlir
    %r = "tm_tensor.attention"(%q, %k, %v, %m, %o) <{operandSegmentSizes = array<i32: 4, 1>, scale = 0.5 : f64}>
        : (tensor<6x7x4xf32>, tensor<6x9x4xf32>, tensor<6x9x5xf32>, tensor<6x7x9xi1>, tensor<6x7x5xf32>)
        -> tensor<6x7x5xf32>
    ```
    After:
    ```mlir
    %r = attn.attention %q, %k, %v scale(%half)
        layout(query(h, i, d), key(h, j, d), value(h, j, e), out(h, i, e)) masks(boolean(%m : tensor<6x7x9xi1>))
        : tensor<6x7x4xf32>, tensor<6x9x4xf32>, tensor<6x9x5xf32> outs(%o : tensor<6x7x5xf32>) -> tensor<6x7x5xf32>
    ```
  }];
  let dependentDialects = ["::attn::AttnDialect", "::mlir::arith::ArithDialect", "::mlir::index::IndexDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def VerifyGraphPass : Pass<"attn-verify-graph"> {
  let summary = "Check that the compiler knows every operation";
  let description = [{
    The postcondition of the front end: an operation that no dialect here registers is an error that names it, and so is
    a constant whose data the module lacks (printed with elided resources). Only the first one is reported. Unregistered
    operations parse, since exporters write them and attn-raise replaces some.
    Example: test/Transforms/attn-verify-graph/doc-example.mlir.
  }];
}

def ExpandNamedPass : Pass<"attn-expand-named"> {
  let summary = "Expand named masks and score functions into regions";
  let description = [{
    Rewrites `scores(...)` and `masks(...)` of `attn.attention`, `attn.mask` and `attn.classify_tiles` into operations at the front of their
    score and mask regions, so that everything after has one mechanism to deal with. Named scores come first, in
    written order, and the region goes on from their result; masks are anded with what the region yields. Sizes come
    from tensor.dim or memref.dim in front of the op, where all that depends on no index stands. Where the types do not
    settle that a captured operand has the full size (or is 1 where it may broadcast), a cf.assert checks it there.
    `attn.tile_classes_size` becomes its formula.

    Precondition: verified ops. Postcondition: no op has `scores` or `masks`. Nothing is skipped; operations that the
    regions held before are left as they are.

    Before: `masks(causal<top_left>)`. After (test/Transforms/attn-expand-named/doc-example.mlir):
    ```mlir
    where(%b, %h, %i, %j) {
      %keep = arith.cmpi sle, %j, %i : index
      attn.yield %keep : i1
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::cf::ControlFlowDialect"];
}

def InsertChecksPass : Pass<"attn-insert-checks"> {
  let summary = "Check at run time what the ops around attention expect";
  let description = [{
    In front of each op whose types leave sizes, indices or divisors to the run, puts a check of what it expects: that
    dynamic sizes of a linalg op's operands agree, that tensor.extract and slices stay inside, that tensor.cast,
    tensor.expand_shape and tensor.pad get sizes that fit, that integer division divides by no zero. What would be read
    or written out of bounds, or trap, ends the call with an error that names the op and its place. Most checks are
    cf.assert, from upstream's RuntimeVerifiableOpInterface, the others flash.require. Linalg ops with static types are
    skipped, and so are the regions of attention: what they read is clamped.

    Precondition: tensor form, elementwise ops on tensors are linalg. Postcondition: none that a later pass needs.
    Before (test/Transforms/attn-insert-checks/doc-example.mlir): `%r = arith.divsi %x, %y : i32`. After, in front:
    ```mlir
    %holds = arith.cmpi ne, %y, %zero : i32
    flash.require %holds, "'arith.divsi' at graph.mlir:3:8: divides by zero"
    ```
  }];
  let dependentDialects = ["::attn::flash::FlashDialect", "::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::index::IndexDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ExportFunctionsPass : Pass<"attn-export-functions", "::mlir::ModuleOp"> {
  let summary = "Give public functions the calling convention of compiled kernels";
  let description = [{
    Every public function with a body gets memref arguments alone, of layout `strided<[?, ..., ?, 1], offset: ?>`:
    tensor arguments are read through bufferization.to_tensor, results (tensors, or scalars as rank-0 memrefs) are
    written to out parameters through bufferization.materialize_in_destination (memref.store). Scalar and memref
    arguments stay. The function gets `attn.results = n`, the number of out parameters, which are last.

    Where a result's size is dynamic the caller's buffer decides, and flash.require compares it with the result's size.
    The check is made in front of everything, so that no buffer is overrun; where the size cannot be had there, the
    result is computed in a buffer of its own and copied after the check.

    Precondition: tensor form, ranked types, one block a function. Postcondition: public functions return nothing and
    are not called: calls go to a private copy `f__private`. Private functions and declarations are left alone.
    Example: test/Transforms/attn-export-functions/doc-example.mlir.
  }];
  let dependentDialects = ["::attn::flash::FlashDialect", "::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif
