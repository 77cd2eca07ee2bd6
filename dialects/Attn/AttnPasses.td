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
    * Operations of the index dialect, `affine.delinearize_index` and `affine.linearize_index` become those of arith, so
      that masks and bodies have one spelling of them; `tensor.gather` becomes `linalg.generic`.
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

def DropUnneededPass : Pass<"attn-drop-unneeded", "::mlir::ModuleOp"> {
  let summary = "Drop what no kernel needs";
  let description = [{
    With `function`, that function becomes the only public one, and everything at the top level of the module goes that
    it does not refer to, directly or through others: functions, globals, modules, operations. Without it, functions and
    globals go that no public function refers to; nested modules and operations that are no symbols stay, since nothing
    says that they are not wanted. A module of which nothing would be left is an error.

    What goes may be anything that parses and verifies. Precondition: none. Postcondition: none that a later pass needs.
    Example: test/Transforms/attn-drop-unneeded/doc-example.mlir.
  }];
  let options = [
    Option<"function", "function", "std::string", "\"\"",
           "the function to keep, with what it refers to; empty: all public ones">,
  ];
}

def VerifyGraphPass : Pass<"attn-verify-graph", "::mlir::ModuleOp"> {
  let summary = "Check that the compiler knows every operation";
  let description = [{
    The postcondition of the front end. Each of these is an error at its place, and all of a module are reported:
    * an operation without a lowering, registered or not (unregistered ones parse, since exporters write them and
      attn-raise replaces some), and one at the top level of the module other than a function;
    * a nested module; a call of a function without a body; functions that call each other in a cycle, which is named;
    * a type without a lowering: complex numbers, floats but f16, bf16, f32 and f64, integers of more than 64 bits,
      tensors of integers whose size is no power of two, unranked or encoded tensors, functions;
    * a module whose data layout gives index another size than 64 bits;
    * an affine map that divides by a constant below 1, or by what is no constant;
    * a linalg operation that writes one element of an output at several points of its parallel loops, or not all of its
      elements, and one that may read outside of an operand (what is monotone in all loops is checked at run time);
    * expand_shape and collapse_shape whose groups are not all dimensions in order, or that turn other than one element
      into a tensor without dimensions, or one into others: upstream's verifier passes some;
    * a constant whose data the module lacks (printed with elided resources): the first one.

    Precondition: none. Example: test/Transforms/attn-verify-graph/doc-example.mlir.
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

def FusePass : Pass<"attn-fuse", "::mlir::func::FuncOp"> {
  let summary = "Turn unfused attention into attn.attention";
  let description = [{
    A contraction of softmax weights with values, the scores being a function of one contraction of queries and keys,
    becomes `attn.attention`. The graph is read by the elements of its tensors, so that it does not matter by which ops
    it is written: transposes, broadcasts, reshapes, slices, concatenations and conversions only change at which indices
    the same elements are read. What is matched:

    * the softmax as a quotient, a product with the reciprocal, exp(x - (max + log sum)) or base 2; the maximum
      subtracted once or twice, from -inf, the lowest float or, where NaN is ignored, from NaN; over one key, whose
      maximum and sums upstream's tosa conversion folds away, exp(x - x) over itself;
    * keys that a condition leaves out of maximum and sum, and that get the weight 0 (`where=` of JAX), as a mask;
    * sinks: up to eight columns beside the keys, in front or behind, without a value; and exponentials that are added to
      the sum, exp(-max) being that of a sink of 0. Several are joined to one logit a head in front of the op;
    * the scale wherever it stands, any function of the score, indices and other tensors (the score region);
    * -inf that is selected or added, as a mask; a finite constant of -1e30 or below as well where every row is proved to
      keep a key. Where that is not proved the constant stays in the score region, for a row without a key is uniform in
      the graph, and a mask drops its keys in the rows that keep one: these are found at run time, by a reduction in front.
      Nothing is looked for where there are fewer keys than `least-checked-keys`, hardly any of which would be skipped. A
      guard (below) on the mask lets any finite constant of at most -1e30 be one. Kept scores are taken to be far above
      such constants. Other finite constants stay in the score region. The remark says which;
    * heads of keys and values that several query heads share, operands in any layout that is a view;
    * a select that gives rows without a key the weights 0; weights that others use, as a result.

    Parts of a concatenation, a pad or an insertion are read in place of the whole. Regions read always, the graph in its
    own part alone: where a part may have no elements, the region reads another tensor in its place, of one element.

    Everything is compared as expressions of indices, never by sizes. Arithmetic of the scores in 16 bits is done in f32.
    The one difference that is permitted: where the graph gives NaN for a row whose scores are -inf throughout, the op
    gives 0.

    A softmax that is not fused becomes `attn.softmax`, where its scores are a tensor.

    In branches and loops attention is fused as elsewhere; what it replaces may stand in front of the branch.

    Precondition: tensors. Postcondition: a remark (category `attn`) for each softmax, fused with what was absorbed, or
    not, with the first reason. Skipped: scores that others use, or that are computed outside of a loop whose body uses
    them (they would be computed again); maxima that are not subtracted, unless asked for.

    With `verify` (`--attn-verify-fusion` turns it on wherever the pass runs) both sides are evaluated by the f64
    reference before anything is replaced, on generated data, and compared: at the function's own sizes, dynamic ones
    small, where a side takes at most 1e8 scalar operations; and as the canonical form, written out from what was matched
    alone, with all its axes of size 4, of different sizes and of size 1. An axis keeps its size where a constant fixes
    it: a captured constant tensor, a stride or a divisor of an index. Elements agree where they differ by at most 1e-9
    of the larger one, or of 1; at the function's own sizes by 1e-5 where scores are f32, for constants are folded in that
    type. Dead rows may be NaN in the graph and 0 in the op. A difference is an error that names the first element, and
    nothing is replaced. What is not compared, and which sizes were kept, is an analysis remark.

    Before (test/Transforms/attn-fuse/doc-example.mlir): batch_matmul with a transposed key, a generic that scales and adds
    `select(j <= i, 0, -inf)`, a maximum, exp, a sum, a quotient, batch_matmul. After:
    ```mlir
    %r = attn.attention %query, %key, %value scale(%scale)
        layout(query(b, i, d), key(b, j, d), value(b, j, e), out(b, i, e)) where(%b, %h, %i, %j) {
      %keep = arith.cmpi sle, %j, %i : index
      attn.yield %keep : i1
    } : tensor<6x5x4xf32>, tensor<6x7x4xf32>, tensor<6x7x8xf32> outs(%out : tensor<6x5x8xf32>) -> tensor<6x5x8xf32>
    ```
  }];
  let options = [
    Option<"allowUnshiftedExp", "allow-unshifted-exp", "bool", "false",
           "take exp(x) / sum exp(x) for a softmax, though it overflows where a softmax does not">,
    Option<"verify", "verify", "bool", "false",
           "evaluate each fusion and its graph by the reference, and fail where they differ">,
    Option<"leastCheckedKeys", "least-checked-keys", "int64_t", "256",
           "find the rows that keep a key by a finite mask where there are at least so many keys, or an unknown number">,
  ];
  let dependentDialects = ["::attn::AttnDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def LowerElementwisePass : Pass<"attn-lower-elementwise"> {
  let summary = "Turn arith and math on whole tensors into linalg";
  let description = [{
    Each elementwise arith or math op on tensors becomes a linalg.generic with the op in its body, by upstream's
    pattern. Upstream's own pass (convert-elementwise-to-linalg) folds the ops first, and of `x - x`, `x ^ x` and
    `x < x` makes a splat constant also where a size is open, which no constant may have; here nothing folds.

    Precondition: tensor form. Postcondition: no arith or math op has a ranked tensor as an operand, constants aside.
    Before (test/Transforms/attn-lower-elementwise/doc-example.mlir): `%r = arith.xori %x, %x : tensor<3x?xi1>`. After:
    ```mlir
    %r = linalg.generic {...} ins(%x, %x : tensor<3x?xi1>, tensor<3x?xi1>) outs(%x : tensor<3x?xi1>) {
    ^bb0(%a: i1, %b: i1, %o: i1):
      %y = arith.xori %a, %b : i1
      linalg.yield %y : i1
    } -> tensor<3x?xi1>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def InsertChecksPass : Pass<"attn-insert-checks"> {
  let summary = "Check at run time what the ops around attention expect";
  let description = [{
    In front of each op whose types leave sizes, indices or divisors to the run, puts a check of what it expects: that
    dynamic sizes of a linalg op's operands agree, that tensor.extract and slices stay inside, that tensor.cast,
    tensor.expand_shape, tensor.collapse_shape and tensor.pad get sizes that fit, that integer division divides by no zero, that a reduction
    which does not read its output has iterations. What would be read
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

def MergeProjectionsPass : Pass<"attn-merge-projections", "::mlir::func::FuncOp"> {
  let summary = "Make one product of products with a shared left operand";
  let description = [{
    Matrix products (linalg.matmul and its like, contractions as linalg.generic) of one left operand become one product
    with their right operands side by side: the projections to query, key and value, gates. Right operands may stand
    behind a linalg.transpose. Constants are put together at compile time; other right operands at run time, which pays
    for narrow ones only. Each result is a slice of the product's. The numbers are the same bit for bit, since the order
    of a sum is that of k.

    Merged are products of one block and the same kind, maps, types and initial scalar, of sizes that are known, where
    attn::estimateMerge (attn/Target/LoopModel.h) finds that it saves more than it costs. Skipped, with a missed remark:
    products of the same left operand that differ in one of these, results that somebody reads who would need a copy of
    the slice, such as a return, and what does not pay.

    Precondition: tensors. Before (test/Transforms/attn-merge-projections/doc-example.mlir):
    ```mlir
    %q = linalg.matmul ins(%x, %wq : tensor<3x5xf32>, tensor<5x4xf32>) ...
    %k = linalg.matmul ins(%x, %wk : tensor<3x5xf32>, tensor<5x2xf32>) ...
    ```
    After:
    ```mlir
    %qk = linalg.matmul ins(%x, %w : tensor<3x5xf32>, tensor<5x6xf32>) ...
    %q = tensor.extract_slice %qk[0, 0] [3, 4] [1, 1] : tensor<3x6xf32> to tensor<3x4xf32>
    %k = tensor.extract_slice %qk[0, 4] [3, 2] [1, 1] : tensor<3x6xf32> to tensor<3x2xf32>
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", "\"host\"",
           "CPU that decides what pays: host, or a CPU name of LLVM's such as x86-64-v3">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def FuseElementwisePass : Pass<"attn-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Fuse elementwise ops into the ops that read them";
  let description = [{
    Linalg ops on tensors that compute each element by itself move into the linalg op that reads their result, with
    upstream's fusion, so that the result needs no memory. It is done where
    - the reader is the only one, and reads each element once; or
    - the body is cheap, at most two operations and no function or division, and every reader is a linalg.generic: it is
      done again in each of them, and for each element of a broadcast.

    Transposes and casts to wider types move into matrix products as well, whose operands may have any layout; other
    producers do not, since a product reads its operands many times. Bodies with effects (cf.assert) neither move nor
    take up others. Named ops that may fuse become linalg.generic. Sizes of results are taken from operands. Each op
    that overwrites a linalg.fill gets one of its own, since a shared one would be copied.

    Precondition: tensors. Before (test/Transforms/attn-fuse-elementwise/doc-example.mlir):
    ```mlir
    %scaled = linalg.generic ... ins(%x) { arith.mulf %a, %half } ...
    %sum = linalg.generic ... ins(%scaled, %y) { arith.addf %a, %b } ...
    ```
    After:
    ```mlir
    %sum = linalg.generic ... ins(%x, %y) { arith.mulf %a, %half ... arith.addf %m, %b } ...
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
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

def CanonicalizePass : Pass<"attn-canonicalize"> {
  let summary = "Simplify by a list of rewrites that are known to be right";
  let description = [{
    Runs what lib/Dialect/Attn/Canonicalization lists and nothing else: patterns of the attn and flash dialects, our own
    ones for slices and casts of tensors, and those patterns and folders of upstream that compilation needs and tests
    cover. Several of upstream's others are wrong (test/README.md lists which, and how the list is extended), so
    `canonicalize` has no place in a pipeline here.

    A slice whose sizes become constants keeps the dimensions that it drops; a slice that would be out of bounds as a
    constant stays dynamic, for the run-time check in front of it (attn-insert-checks) to end the call. A tensor.cast
    that hides sizes from linalg and attn ops is dropped. Operations that are not listed are left alone, unless they are
    dead.

    Precondition: verified ops. Postcondition: none.

    Before (test/Transforms/attn-canonicalize/doc-example.mlir):
    ```mlir
    %heads = arith.constant 3 : index
    %token = tensor.extract_slice %cache[0, 0, %at, 0] [1, %heads, 1, 4] [1, 1, 1, 1]
        : tensor<1x?x16x4xf32> to tensor<1x?x4xf32>
    ```
    After:
    ```mlir
    %slice = tensor.extract_slice %cache[0, 0, %at, 0] [1, 3, 1, 4] [1, 1, 1, 1]
        : tensor<1x?x16x4xf32> to tensor<1x3x4xf32>
    %token = tensor.cast %slice : tensor<1x3x4xf32> to tensor<1x?x4xf32>
    ```
  }];
  let options = [
    Option<"keepLoops", "keep-loops", "bool", "false",
           "leave each scf.forall a loop, also one of a single item: on a GPU it is a launch">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::tensor::TensorDialect"];
}

def BufferizePass : Pass<"attn-bufferize", "::mlir::ModuleOp"> {
  let summary = "Turn tensors into buffers, and slices into views that name what they drop";
  let description = [{
    Upstream's one-shot bufferization across functions. What is done around it here makes each view say what it means:

    * memref.subview that drops unit dimensions becomes one that keeps all, then a memref.collapse_shape whose groups
      name the dropped ones. Upstream's subview leaves them to be guessed from the strides, and guesses wrong where
      strides are dynamic. The dimensions that stay are those whose sizes are the result's, in order; which one of
      several unit dimensions stays makes no difference to any element.
    * tensor.reshape becomes a collapse to one dimension and an expansion by the elements of its shape, of index or any
      integer; upstream's lowering reads shapes of one integer type only.
    * An open size of a tensor that is reshaped to or from one without dimensions becomes 1 in its type, as memref's
      reshapes expect; attn-insert-checks has it checked.
    * What an scf.if chooses from buffers of unit stride in the last dimension has it, too; upstream's knows no stride.

    Precondition: tensor form, attn-export-functions. Postcondition: no tensors; no view whose meaning depends on its
    strides.

    Before (test/Transforms/attn-bufferize/doc-example.mlir):
    ```mlir
    %slot = tensor.extract_slice %packed[0, 0, 1, 0] [1, 7, 1, 4] [1, 1, 1, 1]
        : tensor<1x7x3x4xf32> to tensor<1x7x4xf32>
    ```
    After:
    ```mlir
    %view = memref.subview %packed[0, 0, 1, 0] [1, 7, 1, 4] [1, 1, 1, 1] : ...
    %slot = memref.collapse_shape %view [[0], [1, 2], [3]] : ...
    ```
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::arith::ArithDialect"];
}

#endif
