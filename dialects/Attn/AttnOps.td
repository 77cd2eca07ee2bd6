//===- AttnOps.td - operations of the graph level ------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_OPS
#define ATTN_OPS

include "AttnAttrs.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Attn_FloatShaped : AnyTypeOf<[RankedTensorOf<[F16, BF16, F32, F64]>, MemRefOf<[F16, BF16, F32, F64]>],
  "ranked tensor or memref of f16, bf16, f32 or f64">;
def Attn_WideShaped : AnyTypeOf<[RankedTensorOf<[F32, F64]>, MemRefOf<[F32, F64]>],
  "ranked tensor or memref of f32 or f64">;
def Attn_IndexShaped : AnyTypeOf<[RankedTensorOf<[I32, I64, Index]>, MemRefOf<[I32, I64, Index]>],
  "ranked tensor or memref of i32, i64 or index">;
def Attn_AnyShaped : AnyTypeOf<[AnyRankedTensor, AnyMemRef], "ranked tensor or memref">;
def Attn_TileClasses : AnyTypeOf<[1DTensorOf<[I32]>, MemRefRankOf<[I32], [1]>], "1D tensor or memref of i32">;

class Attn_Op<string mnemonic, list<Trait> traits = []> : Op<Attn_Dialect, mnemonic, traits>;

/// An op that writes its `outs`: on tensors it returns them, on memrefs it has its own memory effects
/// (RecursiveMemoryEffects alone would let canonicalize delete it).
class Attn_DestinationOp<string mnemonic, list<Trait> traits = []> : Attn_Op<mnemonic, !listconcat(traits, [
    DeclareOpInterfaceMethods<DestinationStyleOpInterface>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>])>;

def Attn_AttentionOp : Attn_DestinationOp<"attention", [AttrSizedOperandSegments, Attn_RequiredOperands,
    SingleBlock, Attn_ModRegions]> {
  let summary = "softmax(score(scale * query key^T), where mask) value, over any layout, mask and score function";
  let description = [{
    Formula, with g = heads / kvHeads (consecutive query heads share a kv head):

    ```
    score[b,h,i,j]   = scale * sum_d query[b,h,i,d] * key[b,h/g,j,d]
    score            = each of `scores` in written order, then the `score` region
    keep[b,h,i,j]    = all of `masks`, the `where` region, and j < kv_lengths[b]
    weights[b,h,i,:] = softmax over the kept j (with `sink`: one more term exp(sink[h]) in the denominator)
    out[b,h,i,e]     = sum_j weights[b,h,i,j] * value[b,h/g,j,e]
    lse[b,h,i]       = log of the denominator, natural units, sink included
    ```

    | operand | shape in the default layout | element type | unit |
    |---|---|---|---|
    | query | batch, heads, queryLen, headDim | f16, bf16, f32 or f64 | |
    | key | batch, kvHeads, kvLen, headDim | as query | |
    | value | batch, kvHeads, kvLen, valueDim | as query | |
    | scale | scalar | f32, f64 for f64 | score per dot product |
    | captures of `scores` and `masks` | see each attribute | | |
    | sink | heads | f32, f64 for f64 | natural-log score |
    | kv_lengths | batch | i32, i64 or index | keys |
    | tiles | see `attn.classify_tiles` | i32 | |
    | outs | batch, heads, queryLen, valueDim | as query, or f32 | |
    | lse | batch, heads, queryLen | f32, f64 for f64 | natural log |
    | weights | batch, heads, queryLen, kvLen | f32, f64 for f64 | |

    `layout(query(b, i, h, d), key(b, j, 1, h, d), ...)` names what each dimension of an operand is: letters b, h, i
    (query, out) or j (key, value), d (query, key) or e (value, out), in any order, b and h absent meaning size 1, an
    integer a fixed position (packed QKV). Operands not named have the default layout.

    Regions take `score(%s, %b, %h, %i, %j)` and `where(%b, %h, %i, %j)`; h is the query head, indices are of type
    index, the score is f32 (f64 for f64) in natural units. They may use any value from outside, hold only pure
    operations and reads, and must be defined for every index in range. f64 is written out: `scale(%s : f64)`,
    `score(%s : f64, %b, %h, %i, %j)`.

    `tiles(%classes : tensor<?xi32> of 64 x 120)` gives the classes of the mask's tiles, kept from an
    `attn.classify_tiles` with the same masks: no result changes, the pre-pass is saved. The caller promises that the
    masks and what they capture are the same; tile sizes, sizes and lengths are compared at run time, and the kernel
    uses tiles of the stated size. What the tensor holds never leads outside of the operands.

    Edge cases: a key is dropped if a mask drops it or its final score is -inf; a row with every key dropped
    (kvLen 0 included) and no sink gives output 0, weights 0, lse -inf; with a sink output 0 and lse = sink. NaN or
    +inf in a kept score makes that row NaN and no other. Keys at and behind kv_lengths[b] are never read, and may hold
    NaN. What `outs` held before is never read.

    What is not finite: a mask, whichever it is, drops scores, and not the reading of K and V. So the keys that a mask
    drops for some row, and the values of keys that are dropped in any way, must be finite; where one is not, the results
    of its batch entry and kv head are unspecified (never a fault), and comparisons with the reference leave them out.
    Kept keys and values may be anything: the formula says what they give. Sums of weighted values are divided by the
    sum of the weights at the end, in the type of the score: they must be in its range, which values up to the largest
    number divided by kvLen are.

    Constraints:
    * (C1) query, key and value share one element type.
    * (C2) a layout names each dimension of its operand once, with letters that the operand has; without a layout
      the operand has rank 4.
    * (C3) query and key share headDim.
    * (C4) query, key and value share batch; key and value share kvHeads and kvLen.
    * (C5) kvHeads divides heads; kvHeads is not 0 where heads is not.
    * (C6) out is [batch, heads, queryLen, valueDim] in its layout, of query's element type or f32.
    * (C7) lse is [batch, heads, queryLen] of f32 (f64 for f64).
    * (C8) weights is [batch, heads, queryLen, kvLen] of f32 (f64 for f64).
    * (C9) scale is f32 (f64 for f64) and finite if constant.
    * (C10) each named mask and score function holds its own conditions; a diagonal is written unless
      queryLen = kvLen is known and there are no kv_lengths.
    * (C11) regions hold only pure operations without regions and reads, and yield the score's type or i1.
    * (C12) sink is [heads] of f32 (f64 for f64).
    * (C13) kv_lengths is [batch] of i32, i64 or index.
    * (C14) all operands are tensors, or all are memrefs; results are there for tensors alone and have the types of
      outs, lse, weights.
    * (C15) the number of elements of each operand, and of the scores, fits in 63 bits.
    * (C16) dropout is reserved and not supported yet.
    * (C17) a query tile is a power of two from 1 to 1024 and a kv tile 1 to 65536; both are there with `tiles` alone.

    Example (test/Dialect/Attn/ops.mlir):

    ```mlir
    %out, %lse = attn.attention %q, %k, %v scale(%s)
        layout(query(b, i, h, d)) scores(softcap<30.0>) masks(causal<bottom_right>)
        score(%x, %b, %h, %i, %j) {
          %t = tensor.extract %table[%h, %j] : tensor<8x?xf32>
          %y = arith.addf %x, %t : f32
          attn.yield %y : f32
        }
        : tensor<2x?x8x64xf32>, tensor<2x4x?x64xf32>, tensor<2x4x?x80xf32>
          outs(%o : tensor<2x8x?x80xf32>) lse(%l : tensor<2x8x?xf32>) -> tensor<2x8x?x80xf32>, tensor<2x8x?xf32>
    ```

    Source: arXiv:1706.03762, section 3.2; grouped heads arXiv:2305.13245; the tiled algorithm it becomes
    arXiv:2307.08691, section 3.1.
  }];
  let arguments = (ins
    Attn_FloatShaped:$query, Attn_FloatShaped:$key, Attn_FloatShaped:$value, AnyTypeOf<[F32, F64]>:$scale,
    Variadic<Attn_AnyShaped>:$scoreCaptures, Variadic<Attn_AnyShaped>:$maskCaptures,
    Optional<Attn_WideShaped>:$sink, Optional<Attn_IndexShaped>:$kvLengths, Optional<Attn_TileClasses>:$tiles,
    Attn_FloatShaped:$out, Optional<Attn_WideShaped>:$lse, Optional<Attn_WideShaped>:$weights,
    OptionalAttr<ArrayAttr>:$scores, OptionalAttr<ArrayAttr>:$masks,
    OptionalAttr<AffineMapAttr>:$queryLayout, OptionalAttr<AffineMapAttr>:$keyLayout,
    OptionalAttr<AffineMapAttr>:$valueLayout, OptionalAttr<AffineMapAttr>:$outLayout,
    OptionalAttr<I64Attr>:$queryTile, OptionalAttr<I64Attr>:$kvTile, UnitAttr:$dropout);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region MaxSizedRegion<1>:$scoreRegion, MaxSizedRegion<1>:$maskRegion);
  let assemblyFormat = [{
    $query `,` $key `,` $value `scale` `(` custom<Scale>($scale, type($scale)) `)`
    (`layout` `` custom<Layouts>($queryLayout, $keyLayout, $valueLayout, $outLayout)^)?
    (`scores` `` custom<NamedScores>($scores, $scoreCaptures, type($scoreCaptures))^)?
    (`masks` `` custom<NamedMasks>($masks, $maskCaptures, type($maskCaptures))^)?
    (`score` `` custom<ScoreRegion>($scoreRegion)^)?
    (`where` `` custom<MaskRegion>($maskRegion)^)?
    (`sink` `(` $sink^ `:` type($sink) `)`)?
    (`kv_lengths` `(` $kvLengths^ `:` type($kvLengths) `)`)?
    (`tiles` `(` $tiles^ `:` type($tiles) `of` $queryTile `x` $kvTile `)`)?
    (`dropout` $dropout^)?
    attr-dict `:` type($query) `,` type($key) `,` type($value)
    `outs` `(` $out `:` type($out) `)` (`lse` `(` $lse^ `:` type($lse) `)`)?
    (`weights` `(` $weights^ `:` type($weights) `)`)? (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    /// The size of each dimension as far as the types tell, ShapedType::kDynamic where not.
    ::attn::AttentionDims getDims();
    /// Type of scores, lse and weights: f64 for f64 inputs, f32 otherwise.
    ::mlir::FloatType getScoreType();
    /// The layout of an operand as a map from (b, h, i | j, d | e); the identity where none is written.
    ::mlir::AffineMap getQueryMap();
    ::mlir::AffineMap getKeyMap();
    ::mlir::AffineMap getValueMap();
    ::mlir::AffineMap getOutMap();
    /// The operand segments that hold one operand each, with the names of these.
    static ::llvm::ArrayRef<::std::pair<unsigned, ::llvm::StringLiteral>> getRequiredSegments();
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
}

def Attn_YieldOp : Attn_Op<"yield", [Pure, Terminator, ReturnLike]> {
  let summary = "end a score or mask region";
  let description = [{ Yields the new score, or whether the key is kept (i1). }];
  let arguments = (ins AnyType:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Attn_MatmulOp : Attn_DestinationOp<"matmul"> {
  let summary = "matrix product over leading batch dimensions";
  let description = [{
    `out[..., m, n] = sum_k lhs[..., m, k] * rhs[..., k, n]`, with `transpose_rhs` rhs is [..., n, k]. Products and sum
    are f32 (f64 for f64), rounded once to out's element type. k = 0 gives 0.

    | operand | shape | element type |
    |---|---|---|
    | lhs | batch dims, m, k | f16, bf16, f32 or f64 |
    | rhs | batch dims, k, n | as lhs |
    | outs | batch dims, m, n | as lhs, or f32 |

    Constraints: (C1) lhs, rhs and out have the same rank, at least 2; (C2) batch dimensions, m, n and k agree;
    (C3) lhs and rhs share an element type, out has it or f32; (C4) all operands are tensors, or all are memrefs;
    (C5) the number of elements of each fits in 63 bits.

    Example: test/Dialect/Attn/ops.mlir, `@matmul`. Source: the unfused form of arXiv:1706.03762, section 3.2.1.
  }];
  let arguments = (ins Attn_FloatShaped:$lhs, Attn_FloatShaped:$rhs, Attn_FloatShaped:$out, UnitAttr:$transposeRhs);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{ $lhs `,` $rhs (`transpose_rhs` $transposeRhs^)? attr-dict `:` type($lhs) `,` type($rhs)
    `outs` `(` $out `:` type($out) `)` (`->` type($result)^)? }];
  let hasVerifier = 1;
}

def Attn_MaskOp : Attn_DestinationOp<"mask", [SingleBlock, Attn_ModRegions]> {
  let summary = "select -inf where a mask drops a key";
  let description = [{
    `out[b,h,i,j] = keep(b,h,i,j) ? scores[b,h,i,j] : -inf`; masks and region as in `attn.attention`.

    | operand | shape | element type |
    |---|---|---|
    | scores, outs | batch, heads, queryLen, kvLen | f16, bf16, f32 or f64 |

    Constraints: (C1) scores has rank 4 and out has its type; (C2) masks and region as (C10), (C11) of
    `attn.attention`; (C3) all operands are tensors, or all are memrefs; (C4) the number of scores fits in 63 bits.

    Example: test/Dialect/Attn/ops.mlir, `@mask`. Source: arXiv:1706.03762, section 3.2.3.
  }];
  let arguments = (ins Attn_FloatShaped:$input, Variadic<Attn_AnyShaped>:$maskCaptures, Attn_FloatShaped:$out,
                       OptionalAttr<ArrayAttr>:$masks);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let regions = (region MaxSizedRegion<1>:$maskRegion);
  let assemblyFormat = [{ $input (`masks` `` custom<NamedMasks>($masks, $maskCaptures, type($maskCaptures))^)?
    (`where` `` custom<MaskRegion>($maskRegion)^)? attr-dict `:` type($input)
    `outs` `(` $out `:` type($out) `)` (`->` type($result)^)? }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Attn_SoftmaxOp : Attn_DestinationOp<"softmax"> {
  let summary = "softmax over one axis";
  let description = [{
    `out[..., j, ...] = exp(x[j] - max_j x) / sum_j exp(x[j] - max_j x)` over `axis`. Any rank, any axis; f32 inside
    (f64 for f64), rounded once. A row that is -inf throughout gives 0; NaN or +inf makes its own row NaN.

    Constraints: (C1) out has the shape of the input; (C2) 0 <= axis < rank; (C3) tensors, or memrefs; (C4) out has the
    input's element type or f32; (C5) the number of elements fits in 63 bits.

    Example: test/Dialect/Attn/ops.mlir, `@softmax`. Source: arXiv:1805.02867, algorithm 2.
  }];
  let arguments = (ins Attn_FloatShaped:$input, Attn_FloatShaped:$out, I64Attr:$axis);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{ $input `axis` `(` $axis `)` attr-dict `:` type($input) `outs` `(` $out `:` type($out) `)`
    (`->` type($result)^)? }];
  let hasVerifier = 1;
}

def Attn_ClassifyTilesOp : Attn_DestinationOp<"classify_tiles", [AttrSizedOperandSegments, Attn_RequiredOperands,
    SingleBlock, Attn_ModRegions]> {
  let summary = "which tiles of a mask are empty, full or partial, to be kept";
  let description = [{
    For a mask that the compiler cannot turn into loop bounds, an attention classifies its tiles in front of the loop.
    This op does the same once, for any number of attentions with the same masks (`tiles` of `attn.attention`) as long
    as what these capture stays the same.

    A tile has the queries [n * queryTile, (n + 1) * queryTile) below queryLen and the keys [m * kvTile, (m + 1) *
    kvTile) below the logical end of the keys: kv_lengths[b], or kvLen. It is full if the masks keep all of its pairs,
    empty if they keep none, else partial. batch and heads are 1 where one record serves every batch entry or head: an
    attention whose mask depends on them asks for their full number.

    The record is a vector of i32, of `attn.tile_classes_size` elements:

    | words | what |
    |---|---|
    | 0 | 0x41545443, the mark of a record |
    | 1, 2 | queryTile, kvTile |
    | 3 to 6 | batch, heads, queryLen, kvLen |
    | batch words | the logical end of the keys of each batch entry |
    | 1 + 2 * ceil(kvLen / kvTile) words for each (b, h, n) | the number of runs, then the runs, then zeros |

    A run is 2 * first + (full ? 1 : 0) and the end: kv tiles [first, end), all of one class; runs ascend, empty tiles
    are in none, and two runs that meet differ in class. Memory: linear in the number of tiles, never in that of pairs.

    | operand | shape | element type | unit |
    |---|---|---|---|
    | sizes: batch, heads, queryLen, kvLen | scalars | index | |
    | captures of `masks` | see each attribute | | |
    | kv_lengths | batch | i32, i64 or index | keys |
    | outs | the words of the record | i32 | |

    Edge cases: a size of 0 gives no runs. outs of another number of words, and kv_lengths outside of 0 to kvLen, end
    the call with an error.

    Constraints:
    * (C1) a query tile is a power of two from 1 to 1024 and a kv tile 1 to 65536.
    * (C2) masks and region as (C10), (C11) of `attn.attention`.
    * (C3) all operands are tensors, or all are memrefs.
    * (C4) constant sizes are in 0 to 2^30.
    * (C5) kv_lengths is [batch].

    Example (test/Dialect/Attn/ops-tiles.mlir):

    ```mlir
    %n = attn.tile_classes_size 64 x 120 sizes(%one, %one, %len, %len)
    %o = tensor.empty(%n) : tensor<?xi32>
    %classes = attn.classify_tiles 64 x 120 sizes(%one, %one, %len, %len) masks(document(%ids : tensor<?xi32>, %ids : tensor<?xi32>))
        : outs(%o : tensor<?xi32>) -> tensor<?xi32>
    ```

    Source: the block masks of FlexAttention (arXiv:2412.05496, section 3.2), without a table of all blocks.
  }];
  let arguments = (ins
    I64Attr:$queryTile, I64Attr:$kvTile, Index:$batch, Index:$heads, Index:$queryLen, Index:$kvLen,
    Variadic<Attn_AnyShaped>:$maskCaptures, Optional<Attn_IndexShaped>:$kvLengths, Attn_TileClasses:$out,
    OptionalAttr<ArrayAttr>:$masks);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let regions = (region MaxSizedRegion<1>:$maskRegion);
  let assemblyFormat = [{ $queryTile `x` $kvTile `sizes` `(` $batch `,` $heads `,` $queryLen `,` $kvLen `)`
    (`masks` `` custom<NamedMasks>($masks, $maskCaptures, type($maskCaptures))^)?
    (`where` `` custom<MaskRegion>($maskRegion)^)?
    (`kv_lengths` `(` $kvLengths^ `:` type($kvLengths) `)`)?
    attr-dict `:` `outs` `(` $out `:` type($out) `)` (`->` type($result)^)? }];
  let extraClassDeclaration = [{
    /// The sizes as far as they are constant, ShapedType::kDynamic where not.
    ::attn::AttentionDims getDims();
    static ::llvm::ArrayRef<::std::pair<unsigned, ::llvm::StringLiteral>> getRequiredSegments();
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Attn_TileClassesSizeOp : Attn_Op<"tile_classes_size", [Pure]> {
  let summary = "number of words of a record of tile classes";
  let description = [{
    `7 + batch + batch * heads * ceil(queryLen / queryTile) * (1 + 2 * ceil(kvLen / kvTile))`, modulo 2^64: what
    `attn.classify_tiles` of these sizes writes.

    Constraints: (C1) a query tile is a power of two from 1 to 1024 and a kv tile 1 to 65536.

    Example: test/Dialect/Attn/ops-tiles.mlir, `@size`.
  }];
  let arguments = (ins I64Attr:$queryTile, I64Attr:$kvTile, Index:$batch, Index:$heads, Index:$queryLen, Index:$kvLen);
  let results = (outs Index:$size);
  let assemblyFormat = [{ $queryTile `x` $kvTile `sizes` `(` $batch `,` $heads `,` $queryLen `,` $kvLen `)` attr-dict }];
  let hasVerifier = 1;
}

#endif
