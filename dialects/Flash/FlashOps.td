//===- FlashOps.td - steps of the FlashAttention loop ----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FLASH_OPS
#define FLASH_OPS

include "FlashBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// Tiles of one op have the same number of rows; a view has the extent of its tile along headDim or valueDim; elements
/// are `T`, those of memory and of query tiles whatever `T` is for. Each verifier checks that much of its op.
class Flash_Op<string mnemonic, list<Trait> traits = []> : Op<Flash_Dialect, mnemonic, traits>;

/// As Attn_ModRegions: the op's regions are score or mask regions.
def Flash_ModRegions : NativeOpTrait<"ModRegions"> {
  let cppNamespace = "::attn";
}

def Flash_PositiveFloat : AttrConstraint<CPred<"::llvm::cast<::mlir::FloatAttr>($_self).getValueAsDouble() > 0">,
                                         "whose value is positive">;

def Flash_Wide : AnyTypeOf<[F32, F64]>;
/// A view [batch, heads or kvHeads, length, headDim or valueDim] of an operand, whatever its layout in memory.
def Flash_View : MemRefRankOf<[F16, BF16, F32, F64], [4]>;

/// A score in natural units is `unit` times what tiles of scores and rows of maxima hold (flash-fold-scale).
def Flash_Unit : DefaultValuedAttr<ConfinedAttr<F64Attr, [Flash_PositiveFloat]>, "::llvm::APFloat(1.0)">;

/// The keys of a tile that some row of each chunk of rows may keep, [first, end) counted from the tile's first key, in
/// equal chunks: memref [chunks, 2]. Keys outside have scores of -inf and weights of 0, and no step looks at them.
def Flash_ChunkKeys : MemRefRankOf<[Index], [2]>;

/// Query heads that share a tile: see flash.load_query.
def Flash_Group : DefaultValuedAttr<ConfinedAttr<I64Attr, [IntPositive]>, "1">;

//===----------------------------------------------------------------------===//
// Tile steps, in the order in which the loop has them
//===----------------------------------------------------------------------===//

def Flash_LoadQueryOp : Flash_Op<"load_query", [MemoryEffects<[MemRead]>]> {
  let summary = "load a tile of queries";
  let description = [{
    `result[r, d] = source[b, h(r), i(r), d]` for r < rows, 0 for the other rows.

    Here and in the other steps of the tile row r is head `h(r) = h + r mod group` and query `i(r) = i0 + r / group`:
    heads that share keys and values may share a tile. Without `group` it is 1, and a tile has one head.
  }];
  let arguments = (ins Flash_View:$source, Index:$b, Index:$h, Index:$i0, Index:$rows, Flash_Group:$group);
  let results = (outs Flash_QueryType:$result);
  let assemblyFormat = [{ $source `[` $b `,` $h `,` $i0 `]` `rows` $rows (`group` $group^)? attr-dict
    `:` type($source) `->` qualified(type($result)) }];
  let hasVerifier = 1;
}

def Flash_InitOp : Flash_Op<"init", [AttrSizedOperandSegments]> {
  let summary = "start the online softmax";
  let description = [{
    `max = -inf, sum = 0, acc = 0`; with a sink above -inf `max = sink, sum = 1, acc = 0`: the partial result of one
    key with logit sink and value 0. valueDim is the second extent of acc where that is dynamic.

    Each op is a tile of its own, as an allocation is: two of them in one block are not one, although they are equal.
  }];
  let arguments = (ins Optional<Flash_Wide>:$sink, Optional<Index>:$valueDim);
  let results = (outs Flash_RowsType:$max, Flash_RowsType:$sum, Res<Flash_AccType, "", [MemAlloc]>:$acc);
  let assemblyFormat = [{ (`sink` $sink^ `:` type($sink))? (`value_dim` $valueDim^)? attr-dict `:`
    qualified(type($max)) `,` qualified(type($sum)) `,` qualified(type($acc)) }];
  let hasVerifier = 1;
}

def Flash_ScoresOp : Flash_Op<"scores", [RecursiveMemoryEffects, MemoryEffects<[MemRead]>, SingleBlock,
    Flash_ModRegions, AttrSizedOperandSegments]> {
  let summary = "scores of a tile of queries and a tile of keys, and the maximum of each row";
  let description = [{
    ```
    s = scale * sum_d query[r, d] * key[b, hk, j0 + k, d]      scale: 1 without the operand
    s = score(s, b, h, i, j)                                   if there is a score region; h = h(r), i = i(r), j = j0 + k
    s = where(b, h, i, j) ? s : -inf                           if there is a mask region
    scores[r, k] = s, rowMax[r] = max over k < keys
    ```
    Keys at and behind `keys` are not read and take no part. Regions are evaluated for rows at and behind `rows` at the
    last valid row: r = rows - 1. Captured loads in the regions are in bounds for every index in
    range (convert-attn-to-flash clamps what is not proved).

    With `prefetch`, memory is asked meanwhile for the rows of that view at the same keys, and for the keys of the next
    tile; with `each_step`, for a part of both in each step of the product, and for keys soon to come (flash-prefetch).
    `chunk_keys`: see flash-chunk-keys. `stage`: where in shared memory the tile of keys lies, in bytes.
  }];
  let arguments = (ins Flash_QueryType:$query, Flash_View:$key, Index:$b, Index:$h, Index:$hk, Index:$i0, Index:$j0,
                       Index:$rows, Index:$keys, Optional<Flash_Wide>:$scale, Optional<Flash_View>:$prefetch,
                       Optional<Flash_ChunkKeys>:$chunkKeys, Optional<I32>:$stage, UnitAttr:$eachStep,
                       Flash_Group:$group);
  let results = (outs Flash_ScoresType:$scores, Flash_RowsType:$rowMax);
  let regions = (region MaxSizedRegion<1>:$scoreRegion, MaxSizedRegion<1>:$maskRegion);
  let assemblyFormat = [{ $query `,` $key `at` `(` $b `,` $h `:` $hk `,` $i0 `,` $j0 `)` `rows` $rows `keys` $keys
    (`group` $group^)? (`scale` $scale^ `:` type($scale))? (`prefetch` $prefetch^ `:` type($prefetch))?
    (`each_step` $eachStep^)? (`chunk_keys` $chunkKeys^ `:` type($chunkKeys))? (`stage` $stage^)?
    (`score` `` custom<ScoreRegion>($scoreRegion)^)? (`where` `` custom<MaskRegion>($maskRegion)^)?
    attr-dict `:` qualified(type($query)) `,` type($key) `->` qualified(type($scores)) `,` qualified(type($rowMax)) }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Flash_UpdateMaxOp : Flash_Op<"update_max", [Pure, AllTypesMatch<["old", "tileMax", "newMax", "rescale"]>]> {
  let summary = "fold the maximum of a tile into the running maximum";
  let description = [{
    `newMax = max(old, tileMax)`, `rescale = exp(unit * (old - newMax))`, 0 where newMax is -inf. Consumes old.
  }];
  let arguments = (ins Flash_RowsType:$old, Flash_RowsType:$tileMax, Flash_Unit:$unit);
  let results = (outs Flash_RowsType:$newMax, Flash_RowsType:$rescale);
  let assemblyFormat = "$old `,` $tileMax (`unit` $unit^)? attr-dict `:` qualified(type($old))";
}

def Flash_WeightsOp : Flash_Op<"weights", [MemoryEffects<[MemRead]>, AllTypesMatch<["scores", "weights"]>,
    AllTypesMatch<["max", "sum", "rescale", "newSum"]>]> {
  let summary = "unnormalised weights of a tile, and the running sum";
  let description = [{
    `weights[r, k] = exp(unit * (scores[r, k] - max[r]))`, `newSum = sum * rescale + sum over k < keys of weights`. The
    difference is taken before it is scaled to base 2, so that finite scores of any size stay finite. A row whose max is
    -inf has weights 0. Rows at and behind `rows` are left undefined. Consumes scores and sum.
  }];
  let arguments = (ins Flash_ScoresType:$scores, Flash_RowsType:$max, Flash_RowsType:$sum, Flash_RowsType:$rescale,
                       Index:$rows, Index:$keys, Optional<Flash_ChunkKeys>:$chunkKeys, Flash_Unit:$unit);
  let results = (outs Flash_ScoresType:$weights, Flash_RowsType:$newSum);
  let assemblyFormat = [{ $scores `,` $max `,` $sum `,` $rescale `rows` $rows `keys` $keys (`unit` $unit^)?
    (`chunk_keys` $chunkKeys^ `:` type($chunkKeys))? attr-dict `:` qualified(type($scores)) `,`
    qualified(type($max)) }];
  let hasVerifier = 1;
}

def Flash_AccumulateOp : Flash_Op<"accumulate", [MemoryEffects<[MemRead]>, AllTypesMatch<["acc", "result"]>,
    AttrSizedOperandSegments]> {
  let summary = "add a tile's weighted values";
  let description = [{
    `result[r, e] = acc[r, e] * rescale[r] + sum over k < keys of weights[r, k] * value[b, hk, j0 + k, e]`. Rows at
    and behind `rows` are left undefined. Consumes acc and weights. `chunk_keys`, `stage`: as flash.scores has them, of
    the tile of values.
  }];
  let arguments = (ins Flash_AccType:$acc, Flash_RowsType:$rescale, Flash_ScoresType:$weights, Flash_View:$value,
                       Index:$b, Index:$hk, Index:$j0, Index:$rows, Index:$keys, Optional<Flash_ChunkKeys>:$chunkKeys,
                       Optional<I32>:$stage);
  let results = (outs Flash_AccType:$result);
  let assemblyFormat = [{ $acc `,` $rescale `,` $weights `,` $value `[` $b `,` $hk `,` $j0 `]` `rows` $rows `keys` $keys
    (`chunk_keys` $chunkKeys^ `:` type($chunkKeys))? (`stage` $stage^)? attr-dict
    `:` qualified(type($acc)) `,` qualified(type($rescale)) `,` qualified(type($weights)) `,` type($value) }];
  let hasVerifier = 1;
}

def Flash_StoreOp : Flash_Op<"store", [MemoryEffects<[MemWrite]>]> {
  let summary = "normalise a tile and write its rows";
  let description = [{
    `dest[b, h(r), i(r), e] = acc[r, e] / sum[r]` for r < rows, 0 where sum is 0; rounded once to dest's element type.
    Consumes acc.
  }];
  let arguments = (ins Flash_AccType:$acc, Flash_RowsType:$sum, Flash_View:$dest, Index:$b, Index:$h, Index:$i0,
                       Index:$rows, Flash_Group:$group);
  let assemblyFormat = [{ $acc `,` $sum `,` $dest `[` $b `,` $h `,` $i0 `]` `rows` $rows (`group` $group^)? attr-dict `:`
    qualified(type($acc)) `,` qualified(type($sum)) `,` type($dest) }];
  let hasVerifier = 1;
}

def Flash_StoreLseOp : Flash_Op<"store_lse", [MemoryEffects<[MemWrite]>, AllTypesMatch<["max", "sum"]>]> {
  let summary = "write the logarithm of the denominators";
  let description = [{ `dest[b, h(r), i(r)] = unit * max[r] + log(sum[r])` for r < rows; -inf where sum is 0. }];
  let arguments = (ins Flash_RowsType:$max, Flash_RowsType:$sum, MemRefRankOf<[F32, F64], [3]>:$dest, Index:$b,
                       Index:$h, Index:$i0, Index:$rows, Flash_Group:$group, Flash_Unit:$unit);
  let assemblyFormat = [{ $max `,` $sum `,` $dest `[` $b `,` $h `,` $i0 `]` `rows` $rows (`group` $group^)?
    (`unit` $unit^)? attr-dict `:`
    qualified(type($max)) `,` type($dest) }];
  let hasVerifier = 1;
}

def Flash_StoreWeightsOp : Flash_Op<"store_weights", [MemoryEffects<[MemWrite]>, AllTypesMatch<["max", "sum"]>]> {
  let summary = "write the final weights of a tile";
  let description = [{
    `dest[b, h(r), i(r), j0 + k] = exp(unit * (scores[r, k] - max[r])) / sum[r]` for r < rows and k < keys, 0 where sum is 0;
    max and sum are the final ones of the row. Keys from `keys` to `zeros` get 0. Consumes scores.
  }];
  let arguments = (ins Flash_ScoresType:$scores, Flash_RowsType:$max, Flash_RowsType:$sum, Flash_View:$dest, Index:$b,
                       Index:$h, Index:$i0, Index:$j0, Index:$rows, Index:$keys, Index:$zeros,
                       Flash_Group:$group, Flash_Unit:$unit);
  let assemblyFormat = [{ $scores `,` $max `,` $sum `,` $dest `[` $b `,` $h `,` $i0 `,` $j0 `]` `rows` $rows
    `keys` $keys `zeros` $zeros (`group` $group^)? (`unit` $unit^)? attr-dict `:` qualified(type($scores)) `,` qualified(type($max)) `,` type($dest) }];
  let hasVerifier = 1;
}

def Flash_ClassifyTileOp : Flash_Op<"classify_tile", [RecursiveMemoryEffects, MemoryEffects<[MemRead]>, SingleBlock,
    Flash_ModRegions]> {
  let summary = "look at the mask of one tile";
  let description = [{
    `result` is 0 where the mask drops every key k < keys of every row r < rows of the tile (empty), 2 where it keeps them
    all (full), 1 otherwise (partial). The region is that of `flash.scores`, evaluated at points until the tile is known to
    be partial. keys = 0 gives 0.
  }];
  let arguments = (ins Index:$b, Index:$h, Index:$i0, Index:$j0, Index:$rows, Index:$keys, I64Attr:$tileRows);
  let results = (outs I32:$result);
  let regions = (region MaxSizedRegion<1>:$maskRegion);
  let assemblyFormat = [{ `at` `(` $b `,` $h `,` $i0 `,` $j0 `)` `rows` $rows `of` $tileRows `keys` $keys
    `where` `` custom<MaskRegion>($maskRegion) attr-dict }];
}

//===----------------------------------------------------------------------===//
// Products under way: flash-overlap-products
//===----------------------------------------------------------------------===//

def Flash_BeginScoresOp : Flash_Op<"begin_scores", [MemoryEffects<[MemRead]>]> {
  let summary = "begin the product of a tile of queries and a tile of keys";
  let description = [{
    The first half of `flash.scores`: `result[r, k] = sum_d query[r, d] * key[b, hk, j0 + k, d]`. It may be under way
    until `flash.finish_scores`, its only user, in the same block. `wait_turn`, `pass_turn`: see flash-ping-pong.
  }];
  let arguments = (ins Flash_QueryType:$query, Flash_View:$key, Index:$b, Index:$hk, Index:$j0, Index:$keys,
                       UnitAttr:$waitTurn, UnitAttr:$passTurn);
  let results = (outs Flash_ScoresType:$result);
  let assemblyFormat = [{ $query `,` $key `[` $b `,` $hk `,` $j0 `]` `keys` $keys (`wait_turn` $waitTurn^)?
    (`pass_turn` $passTurn^)? attr-dict
    `:` qualified(type($query)) `,` type($key) `->` qualified(type($result)) }];
  let hasVerifier = 1;
}

def Flash_FinishScoresOp : Flash_Op<"finish_scores", [RecursiveMemoryEffects, SingleBlock, Flash_ModRegions,
    AllTypesMatch<["products", "scores"]>]> {
  let summary = "wait for a product of queries and keys, and make scores of it";
  let description = [{
    The second half of `flash.scores`: scale, regions and maxima. Consumes products. `later` products that were begun
    behind these may still be under way.
  }];
  let arguments = (ins Flash_ScoresType:$products, Index:$b, Index:$h, Index:$i0, Index:$j0, Index:$rows, Index:$keys,
                       Optional<Flash_Wide>:$scale, Flash_Group:$group,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$later);
  let results = (outs Flash_ScoresType:$scores, Flash_RowsType:$rowMax);
  let regions = (region MaxSizedRegion<1>:$scoreRegion, MaxSizedRegion<1>:$maskRegion);
  let assemblyFormat = [{ $products `at` `(` $b `,` $h `,` $i0 `,` $j0 `)` `rows` $rows `keys` $keys
    (`group` $group^)? (`scale` $scale^ `:` type($scale))? (`later` $later^)?
    (`score` `` custom<ScoreRegion>($scoreRegion)^)? (`where` `` custom<MaskRegion>($maskRegion)^)?
    attr-dict `:` qualified(type($products)) `,` qualified(type($rowMax)) }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Flash_RoundWeightsOp : Flash_Op<"round_weights", [Pure]> {
  let summary = "round weights to the elements of values";
  let description = [{
    `result[r, k] = weights[r, k]` rounded to nearest even, as a product of 16-bit elements takes it. Consumes weights.
  }];
  let arguments = (ins Flash_ScoresType:$weights);
  let results = (outs Flash_ScoresType:$result);
  let assemblyFormat = "$weights attr-dict `:` qualified(type($weights)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

def Flash_BeginAccumulateOp : Flash_Op<"begin_accumulate", [MemoryEffects<[MemRead]>,
    AllTypesMatch<["acc", "result"]>]> {
  let summary = "begin to add a tile's weighted values";
  let description = [{
    `flash.accumulate` of rounded weights. It may be under way until `flash.finish_accumulate`, its only user, in the
    same block. Consumes acc and weights. `wait_turn`, `pass_turn`: see flash-ping-pong.
  }];
  let arguments = (ins Flash_AccType:$acc, Flash_RowsType:$rescale, Flash_ScoresType:$weights, Flash_View:$value,
                       Index:$b, Index:$hk, Index:$j0, Index:$keys, UnitAttr:$waitTurn, UnitAttr:$passTurn);
  let results = (outs Flash_AccType:$result);
  let assemblyFormat = [{ $acc `,` $rescale `,` $weights `,` $value `[` $b `,` $hk `,` $j0 `]` `keys` $keys
    (`wait_turn` $waitTurn^)? (`pass_turn` $passTurn^)? attr-dict
    `:` qualified(type($acc)) `,` qualified(type($rescale)) `,` qualified(type($weights)) `,` type($value) }];
  let hasVerifier = 1;
}

def Flash_FinishAccumulateOp : Flash_Op<"finish_accumulate", [AllTypesMatch<["acc", "result"]>]> {
  let summary = "wait for weighted values";
  let description = [{ `result = acc`, which `flash.begin_accumulate` has under way. Consumes acc. }];
  let arguments = (ins Flash_AccType:$acc);
  let results = (outs Flash_AccType:$result);
  let assemblyFormat = "$acc attr-dict `:` qualified(type($acc))";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Partial results: keys in segments
//===----------------------------------------------------------------------===//

/// Memory of maxima or sums, and of accumulators, in T.
def Flash_PartialRows : MemRefRankOf<[F32, F64], [3]>;
def Flash_PartialAcc : MemRefRankOf<[F32, F64], [4]>;

def Flash_StorePartialOp : Flash_Op<"store_partial", [MemoryEffects<[MemWrite]>, AllTypesMatch<["max", "sum"]>,
    AllTypesMatch<["maxDest", "sumDest"]>]> {
  let summary = "keep the state of the softmax over some of the keys";
  let description = [{
    `maxDest[p, h(r), i(r)] = max[r]`, `sumDest[p, h(r), i(r)] = sum[r]`, `accDest[p, h(r), i(r), e] = acc[r, e]` for
    r < rows: a partial result, not normalised and not rounded. `p` numbers the pairs of a batch entry and a segment of
    its keys. The maxima count in the unit of the ops around: those around the `load_partial` that reads them have the
    same one. Consumes acc.
  }];
  let arguments = (ins Flash_RowsType:$max, Flash_RowsType:$sum, Flash_AccType:$acc, Flash_PartialRows:$maxDest,
                       Flash_PartialRows:$sumDest, Flash_PartialAcc:$accDest, Index:$p, Index:$h, Index:$i0,
                       Index:$rows, Flash_Group:$group);
  let assemblyFormat = [{ $max `,` $sum `,` $acc `,` $maxDest `,` $sumDest `,` $accDest `[` $p `,` $h `,` $i0 `]`
    `rows` $rows (`group` $group^)? attr-dict `:` qualified(type($max)) `,` qualified(type($acc)) `,` type($maxDest)
    `,` type($accDest) }];
  let hasVerifier = 1;
}

def Flash_LoadPartialOp : Flash_Op<"load_partial", [MemoryEffects<[MemRead]>, AllTypesMatch<["max", "sum"]>,
    AllTypesMatch<["maxSource", "sumSource"]>]> {
  let summary = "read what store_partial kept";
  let description = [{
    `max`, `sum` and `acc` as `store_partial` wrote them at the same place, for r < rows. Rows at and behind `rows` are
    left undefined.
  }];
  let arguments = (ins Flash_PartialRows:$maxSource, Flash_PartialRows:$sumSource, Flash_PartialAcc:$accSource,
                       Index:$p, Index:$h, Index:$i0, Index:$rows, Flash_Group:$group);
  let results = (outs Flash_RowsType:$max, Flash_RowsType:$sum, Flash_AccType:$acc);
  let assemblyFormat = [{ $maxSource `,` $sumSource `,` $accSource `[` $p `,` $h `,` $i0 `]` `rows` $rows
    (`group` $group^)? attr-dict `:` type($maxSource) `,` type($accSource) `->` qualified(type($max)) `,`
    qualified(type($acc)) }];
  let hasVerifier = 1;
}

def Flash_MergeOp : Flash_Op<"merge", [Pure,
    AllTypesMatch<["max", "sum", "otherMax", "otherSum", "newMax", "newSum"]>,
    AllTypesMatch<["acc", "otherAcc", "newAcc"]>]> {
  let summary = "merge the results over two sets of keys";
  let description = [{
    ```
    newMax = max(max, otherMax)
    x = exp(unit * (max - newMax)), y = exp(unit * (otherMax - newMax))                   0 where newMax is -inf
    newSum = sum * x + otherSum * y
    newAcc[r, e] = acc[r, e] * x[r] + otherAcc[r, e] * y[r]
    ```
    for r < rows; the other rows are left undefined. (-inf, 0, 0), the result over no key, changes nothing. A NaN in a
    row of either makes its sum and accumulator NaN. Associative up to rounding. Consumes all of its operands.
    Source: FlashDecoding (https://crfm.stanford.edu/2023/10/12/flashdecoding.html).
  }];
  let arguments = (ins Flash_RowsType:$max, Flash_RowsType:$sum, Flash_AccType:$acc, Flash_RowsType:$otherMax,
                       Flash_RowsType:$otherSum, Flash_AccType:$otherAcc, Index:$rows, Flash_Unit:$unit);
  let results = (outs Flash_RowsType:$newMax, Flash_RowsType:$newSum, Flash_AccType:$newAcc);
  let assemblyFormat = [{ `(` $max `,` $sum `,` $acc `)` `,` `(` $otherMax `,` $otherSum `,` $otherAcc `)`
    `rows` $rows (`unit` $unit^)? attr-dict `:` qualified(type($max)) `,` qualified(type($acc)) }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// What generated code asks of the runtime
//===----------------------------------------------------------------------===//

def Flash_RequireOp : Flash_Op<"require", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "end the call with an error unless a condition holds";
  let description = [{
    Where `condition` is false the call ends and reports `message`, in which {0} and {1} stand for the values. Inside a
    parallel loop the loop ends first: items that have not started are left out.
  }];
  let arguments = (ins I1:$condition, StrAttr:$message, Variadic<Index>:$values);
  let assemblyFormat = "$condition `,` $message (`(` $values^ `)`)? attr-dict";
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def Flash_CountKvTilesOp : Flash_Op<"count_kv_tiles", [MemoryEffects<[MemWrite]>]> {
  let summary = "count computed kv tiles in the call's report";
  let description = [{ Adds `count` to the call's counter of kv tiles: for tests and profiles, not in ordinary code. }];
  let arguments = (ins Index:$count);
  let assemblyFormat = "$count attr-dict";
}

def Flash_ItemWorkOp : Flash_Op<"item_work", [MemoryEffects<[MemWrite]>]> {
  let summary = "say how much work an item of the parallel loop is";
  let description = [{
    One iteration of the scf.forall around takes about `multiply_adds` multiply-adds of f32 at most, so that the runtime
    can keep a small loop on one thread. The value is known in front of the loop. In a loop that is not outermost, and
    outside of one, it says nothing.
  }];
  let arguments = (ins Index:$multiplyAdds);
  let assemblyFormat = "$multiplyAdds attr-dict";
}

def Flash_ParallelForOp : Flash_Op<"parallel_for", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "run a function over [0, count) in parallel";
  let description = [{
    Calls `body(begin, end, scratch, captures...)` for disjoint ranges that cover [0, count), each on some thread with
    `scratch_bytes` bytes of scratch memory of its own. `work`: multiply-adds of an item, negative where they are unknown.
  }];
  let arguments = (ins FlatSymbolRefAttr:$body, Index:$count, Index:$work, Index:$scratchBytes,
    Variadic<AnyType>:$captures);
  let assemblyFormat = [{ $body `count` $count `work` $work `scratch_bytes` $scratchBytes
    (`(` $captures^ `:` type($captures) `)`)? attr-dict }];
}

def Flash_LaunchOp : Flash_Op<"launch", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "run a kernel for each item in [0, items) on the device";
  let description = [{
    Calls `kernel(item, captures...)` of a gpu.module for every item, in any order and side by side, behind the launches
    before it and in front of those after it. memrefs are memory of the device. How many threads share an item is said
    by the kernel's `flash.kernel` attribute (convert-flash-to-nvvm).
  }];
  let arguments = (ins SymbolRefAttr:$kernel, Index:$items, Variadic<AnyType>:$captures);
  let assemblyFormat = [{ $kernel `items` $items (`(` $captures^ `:` type($captures) `)`)? attr-dict }];
}

#endif
