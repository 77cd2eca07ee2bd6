//===- AttnAttrs.td - named masks and score functions --------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_ATTRS
#define ATTN_ATTRS

include "AttnBase.td"
include "AttnInterfaces.td"

def Attn_Diagonal : I32EnumAttr<"Diagonal", "where the diagonal of a mask starts", [
    I32EnumAttrCase<"Implied", 0, "implied">,
    I32EnumAttrCase<"TopLeft", 1, "top_left">,
    I32EnumAttrCase<"BottomRight", 2, "bottom_right">]> {
  let cppNamespace = "::attn";
  let genSpecializedAttr = 0;
}

/// `letters`: for each captured operand those of its dimensions ('*' for a size of its own); a lower rank has the last
/// of them. `pairs`: the last operand may be absent (then the one before it stands for both; parameter `separate`).
/// `overrides`: what else of the interface the attribute defines.
class Attn_Mod<string name, string keyword, bit mask, list<string> letters, bit broadcasts, bit pairs,
    list<string> overrides> : AttrDef<Attn_Dialect, name,
    [DeclareAttrInterfaceMethods<Attn_NamedModInterface, !listconcat(["verifyMod", "buildMod"], overrides)>]> {
  let mnemonic = keyword;
  let extraClassDefinition = "::llvm::StringRef $cppClass::getKeyword() const { return \"" # keyword # "\"; }\n" #
    "bool $cppClass::isMask() const { return " # !if(mask, "true", "false") # "; }\n" #
    "unsigned $cppClass::getNumCaptures() const { return " # !size(letters) #
    !if(pairs, " - !getSeparate()", "") # "; }\n" #
    "::llvm::StringRef $cppClass::getCaptureLetters(unsigned capture, unsigned rank) const {\n" #
    "  static constexpr ::llvm::StringLiteral letters[] = {" # !interleave(!foreach(l, !if(!empty(letters), [""],
    letters), "\"" # l # "\""), ", ") # "};\n  return letters[capture].take_back(rank);\n}\n" #
    "bool $cppClass::captureBroadcasts() const { return " # !if(broadcasts, "true", "false") # "; }\n";
}
class Attn_NamedMask<string name, string keyword, list<string> letters = [], bit broadcasts = 0, bit pairs = 0,
    list<string> overrides = []> : Attn_Mod<name, keyword, 1, letters, broadcasts, pairs, overrides>;
class Attn_NamedScore<string name, string keyword, list<string> letters = [], bit broadcasts = 0,
    list<string> overrides = []> : Attn_Mod<name, keyword, 0, letters, broadcasts, 0, overrides>;

//===-- masks ----------------------------------------------------------===//

def Attn_CausalAttr : Attn_NamedMask<"Causal", "causal"> {
  let summary = "keep j <= i + offset";
  let description = [{
    `causal<top_left>` has offset 0, `causal<bottom_right>` has offset kvLen - queryLen (with `kv_lengths`:
    kv_lengths[b] - queryLen). A plain `causal` is allowed only where queryLen = kvLen is known.
  }];
  let parameters = (ins "::attn::Diagonal":$diagonal);
  let hasCustomAssemblyFormat = 1;
}
def Attn_WindowAttr : Attn_NamedMask<"Window", "window"> {
  let summary = "keep i + offset - left <= j <= i + offset + right";
  let description = [{
    `window<left = 255, right = 0, bottom_right>`: both ends are inclusive, an absent end is unlimited (-1 in the
    attribute), the diagonal is as in `causal`.
  }];
  let parameters = (ins "int64_t":$left, "int64_t":$right, "::attn::Diagonal":$diagonal);
  let hasCustomAssemblyFormat = 1;
}
def Attn_PrefixAttr : Attn_NamedMask<"Prefix", "prefix", ["b"]> {
  let summary = "prefix-LM: keep j <= i + offset or j < prefix[b]";
  let description = [{
    `prefix<top_left>(%prefix : tensor<2xi32>)`: causal, and beside it every query sees the first prefix[b] keys.
    The captured operand has shape [batch], of i32, i64 or index.
  }];
  let parameters = (ins "::attn::Diagonal":$diagonal);
  let hasCustomAssemblyFormat = 1;
}
def Attn_BooleanAttr : Attn_NamedMask<"Boolean", "boolean", ["bhij"], 1> {
  let summary = "keep where the captured i1 tensor is true";
  let description = [{
    `boolean(%mask : tensor<2x1x33x65xi1>)`: the operand broadcasts to [batch, heads, queryLen, kvLen], aligned at
    the last dimension, each of its dimensions 1 or the full size.
  }];
}

//===-- masks: windows and padding ---------------------------------------===//

def Attn_DilatedAttr : Attn_NamedMask<"Dilated", "dilated"> {
  let summary = "window with a step: keep -left <= d <= right and d mod step = 0, with d = j - (i + offset)";
  let description = [{
    `dilated<left = 64, right = 64, step = 4, bottom_right>`: ends and diagonal as in `window`, counted in keys, not in
    steps; step is at least 1. Source: arXiv:2004.05150, section 3.1.
  }];
  let parameters = (ins "int64_t":$left, "int64_t":$right, "int64_t":$step, "::attn::Diagonal":$diagonal);
  let hasCustomAssemblyFormat = 1;
}
def Attn_GlobalWindowAttr : Attn_NamedMask<"GlobalWindow", "global_window"> {
  let summary = "window, and global tokens: keep also j < globals or i + offset < globals";
  let description = [{
    `global_window<globals = 2, left = 64, right = 64, top_left>`: every query sees the first `globals` keys, and the
    queries at the first `globals` positions see every key. A query's position is i + offset, so that query and key of
    one token are global together. Ends and diagonal as in `window`; globals is at least 0. Source: arXiv:2004.05150,
    section 3.1.
  }];
  let parameters = (ins "int64_t":$globals, "int64_t":$left, "int64_t":$right, "::attn::Diagonal":$diagonal);
  let hasCustomAssemblyFormat = 1;
}
def Attn_PaddingLeftAttr : Attn_NamedMask<"PaddingLeft", "padding_left", ["b"]> {
  let summary = "keep j >= start[b]";
  let description = [{
    `padding_left(%starts : tensor<2xi32>)`: batch entry b has its first key at start[b]. The captured operand has shape
    [batch], of i32, i64 or index.
  }];
}
def Attn_PaddingRightAttr : Attn_NamedMask<"PaddingRight", "padding_right", ["b"]> {
  let summary = "keep j < end[b]";
  let description = [{
    `padding_right(%ends : tensor<2xi32>)`: the keys of batch entry b end in front of end[b]; with `padding_left` keep
    start[b] <= j < end[b]. The captured operand has shape [batch], of i32, i64 or index. Only a mask: K and V are read
    to kvLen, and must be finite there; `kv_lengths` is a logical end.
  }];
}

//===-- masks: documents, blocks and tables ------------------------------===//

def Attn_DocumentAttr : Attn_NamedMask<"Document", "document", ["bi", "bj"], 0, /*pairs=*/1, ["withNumCaptures"]> {
  let summary = "keep where query and key belong to one document: queryIds[b, i] = keyIds[b, j]";
  let description = [{
    `document(%ids : tensor<2x33xi32>)`: one operand [queryLen] or [batch, queryLen] for queries and keys, where
    queryLen = kvLen is known. `document(%queryIds : tensor<2x5xi32>, %keyIds : tensor<33xi32>)`: one for each,
    [queryLen] and [kvLen], each with or without batch. Both are i32, or both i64. Ids need no order. (`separate` in
    the attribute: two operands; the assembly of an op tells it by their number.) Source: sample packing,
    arXiv:2107.02027.
  }];
  let parameters = (ins "bool":$separate);
  let hasCustomAssemblyFormat = 1;
}
def Attn_DocumentCausalAttr
  : Attn_NamedMask<"DocumentCausal", "document_causal", ["bi", "bj"], 0, /*pairs=*/1, ["withNumCaptures"]> {
  let summary = "document and causal: keep queryIds[b, i] = keyIds[b, j] and j <= i + offset";
  let description = [{
    `document_causal<top_left>(%ids : tensor<33xi32>)`: operands as in `document`, diagonal as in `causal`.
  }];
  let parameters = (ins "bool":$separate, "::attn::Diagonal":$diagonal);
  let hasCustomAssemblyFormat = 1;
}
def Attn_SharedPrefixAttr
  : Attn_NamedMask<"SharedPrefix", "shared_prefix", ["b", "bi", "bj"], 0, /*pairs=*/1, ["withNumCaptures"]> {
  let summary = "keep j < prefix[b] or queryIds[b, i] = keyIds[b, j]";
  let description = [{
    `shared_prefix(%prefix : tensor<2xi32>, %ids : tensor<2x33xi32>)`: the first prefix[b] keys are visible to all, the
    rest to queries of their own document. The first operand has shape [batch], of i32, i64 or index; then one or two
    operands as in `document`. With `causal` beside it, many continuations of one prompt. Source: arXiv:2402.05099.
  }];
  let parameters = (ins "bool":$separate);
  let hasCustomAssemblyFormat = 1;
}
class Attn_Blocks<string name, string keyword> : Attn_NamedMask<name, keyword> {
  let parameters = (ins "int64_t":$size, "::attn::Diagonal":$diagonal);
  let hasCustomAssemblyFormat = 1;
}
def Attn_ChunkedAttr : Attn_Blocks<"Chunked", "chunked"> {
  let summary = "causal inside chunks: keep floor((i + offset) / size) = floor(j / size) and j <= i + offset";
  let description = [{
    `chunked<size = 8192, top_left>`: size is at least 1, diagonal as in `causal`. Source: the chunked layers of Llama
    4.
  }];
}
def Attn_BlockDiagonalAttr : Attn_Blocks<"BlockDiagonal", "block_diagonal"> {
  let summary = "keep floor((i + offset) / size) = floor(j / size)";
  let description = [{
    `block_diagonal<size = 64, top_left>`: size is at least 1, diagonal as in `causal`. Source: arXiv:1911.02972.
  }];
}
def Attn_BlockCausalAttr : Attn_Blocks<"BlockCausal", "block_causal"> {
  let summary = "keep floor(j / size) <= floor((i + offset) / size)";
  let description = [{
    `block_causal<size = 64, top_left>`: every query sees its own block and those before it. size is at least 1,
    diagonal as in `causal`. Source: arXiv:2503.09573.
  }];
}
def Attn_BlockDiffusionAttr : Attn_NamedMask<"BlockDiffusion", "block_diffusion", [], 0, 0, ["getLength"]> {
  let summary = "BD3-LM training: a noisy half that sees its own block and the clean blocks before it";
  let description = [{
    `block_diffusion<half = 128, block = 16>`: queries and keys are [noisy | clean], half of each, so queryLen = kvLen =
    2 * half. With block(x) = floor((x mod half) / block):

    | query | key | keep |
    |---|---|---|
    | noisy | noisy | block(j) = block(i) |
    | noisy | clean | block(j) < block(i) |
    | clean | noisy | never |
    | clean | clean | block(j) <= block(i) |

    half and block are at least 1; block need not divide half. Source: arXiv:2503.09573.
  }];
  let parameters = (ins "int64_t":$half, "int64_t":$block);
  let hasCustomAssemblyFormat = 1;
}
def Attn_Local2dAttr : Attn_NamedMask<"Local2d", "local_2d", [], 0, 0, ["getLength"]> {
  let summary = "neighbourhood on a grid, clamped at the borders: every query sees kernel_rows * kernel_columns keys";
  let description = [{
    `local_2d<rows = 8, columns = 9, kernel_rows = 3, kernel_columns = 5>`: position n is at row floor(n / columns),
    column n mod columns, and queryLen = kvLen = rows * columns. With first(x, kernel, size) = min(max(x -
    floor(kernel / 2), 0), size - kernel), keep where first(row(i)) <= row(j) < first(row(i)) + kernel_rows, and the
    same for columns. Each kernel is at least 1 and at most its size. Source: arXiv:2204.07143, section 3.1.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns, "int64_t":$kernelRows, "int64_t":$kernelColumns);
  let hasCustomAssemblyFormat = 1;
}
def Attn_TreeAttr : Attn_NamedMask<"Tree", "tree", ["bii"]> {
  let summary = "a tree of queries behind a context: keep j < context or ancestors[b, i, j - context]";
  let description = [{
    `tree(%ancestors : tensor<7x7xi1>)`: the last queryLen keys are the queries' own, context = kvLen - queryLen (with
    `kv_lengths`: kv_lengths[b] - queryLen) keys are in front of them. The operand is i1 [queryLen, queryLen] or
    [batch, queryLen, queryLen]: whether node n of the tree is visible to query i (its ancestors and itself). Source:
    speculative decoding, arXiv:2305.09781.
  }];
}

//===-- score functions --------------------------------------------------===//

def Attn_SoftcapAttr : Attn_NamedScore<"Softcap", "softcap"> {
  let summary = "cap * tanh(score / cap)";
  let description = [{ `softcap<30.0>`: cap is finite and above 0 in the type of the score. Source: Gemma 2, arXiv:2408.00118, section 2. }];
  let parameters = (ins "::mlir::FloatAttr":$cap);
  let hasCustomAssemblyFormat = 1;
}
def Attn_AlibiAttr : Attn_NamedScore<"Alibi", "alibi", ["h"]> {
  let summary = "score + slope[h] * (j - (i + offset))";
  let description = [{
    `alibi<bottom_right>(%slopes : tensor<8xf32>)`: the operand has shape [heads], f32 (f64 for f64), diagonal as in
    `causal`. The distance is taken in integers, so the term is exact to one rounding near the diagonal, however many
    keys are in front of it. The diagonal adds a constant to a row: the weights do not depend on it without a sink, lse
    does, and so do the weights with one. Source: arXiv:2108.12409, section 3.
  }];
  let parameters = (ins "::attn::Diagonal":$diagonal);
  let hasCustomAssemblyFormat = 1;
}
class Attn_AddedTensor<string name, string keyword> : Attn_NamedScore<name, keyword, ["bhij"], 1> {
  let summary = "score + tensor[b, h, i, j]";
  let description = [{
    The operand is a float tensor that broadcasts to [batch, heads, queryLen, kvLen], aligned at the last dimension,
    each of its dimensions 1 or the full size. A score that becomes -inf drops its key. `bias` and `additive` mean
    the same; write `additive` for a mask in additive form.
  }];
}
def Attn_BiasAttr : Attn_AddedTensor<"Bias", "bias">;
def Attn_AdditiveAttr : Attn_AddedTensor<"Additive", "additive">;

//===-- score functions: scales and relative positions ----------------------===//

def Attn_HeadScaleAttr : Attn_NamedScore<"HeadScale", "head_scale", ["h"]> {
  let summary = "score * scale[h]";
  let description = [{
    `head_scale(%scales : tensor<8xf32>)`: the operand has shape [heads], f32 (f64 for f64), of any sign or 0. Source:
    learned temperatures of cosine attention, arXiv:2111.09883.
  }];
}
def Attn_LogShiftAttr : Attn_NamedScore<"LogShift", "log_shift"> {
  let summary = "log(max(score, 0) + shift)";
  let description = [{
    `log_shift<1.0e-3>`: weights are then proportional to relu(score) + shift in place of exp(score). shift is finite
    and above 0 in the type of the score; NaN stays NaN.
  }];
  let parameters = (ins "::mlir::FloatAttr":$shift);
  let hasCustomAssemblyFormat = 1;
}
def Attn_T5BiasAttr : Attn_NamedScore<"T5Bias", "t5_bias", ["*h"], 0, ["getCaptureSize"]> {
  let summary = "score + table[bucket(j - (i + offset)), h]";
  let description = [{
    `t5_bias<buckets = 32, max_distance = 128, bidirectional, top_left>(%table : tensor<32x8xf32>)`: with r = j - (i +
    offset), n = buckets / 2 and x = |r| (`bidirectional`), or n = buckets and x = max(-r, 0) (`causal`), and e =
    floor(n / 2):

    ```
    bucket = x                                                             where x < e
             min(n - 1, e + floor(log(x / e) / log(max_distance / e) * (n - e)))   elsewhere
    bucket = bucket + n                                                    where bidirectional and r > 0
    ```

    The logarithms are exact: the first x of each bucket is an integer that the compiler derives without floating
    point. (An implementation with logarithms in f32 may put a distance that is exactly on a border one bucket lower;
    for 32 buckets and 128 they agree.) buckets is from 2 (bidirectional: 4, and even) to 256, max_distance above e
    and at most 2^20, diagonal as in `causal`. The operand has shape [buckets, heads] of f16, bf16, f32 or f64.
    Source: arXiv:1910.10683, section 2.1, as Hugging Face's T5Attention computes it.
  }];
  let parameters = (ins "int64_t":$buckets, "int64_t":$maxDistance, "bool":$bidirectional,
                        "::attn::Diagonal":$diagonal);
  let hasCustomAssemblyFormat = 1;
}
def Attn_DistanceBiasAttr : Attn_NamedScore<"DistanceBias", "distance_bias", ["h*"], 0, ["getCaptureSize"]> {
  let summary = "score + table[h, clamp(j - (i + offset), -max, max) + max]";
  let description = [{
    `distance_bias<max = 16, top_left>(%table : tensor<8x33xf32>)`: the operand has shape [2 * max + 1] or [heads, 2 *
    max + 1] of f16, bf16, f32 or f64; max is at least 0, diagonal as in `causal`. Source: arXiv:1803.02155, section
    3.2.
  }];
  let parameters = (ins "int64_t":$max, "::attn::Diagonal":$diagonal);
  let hasCustomAssemblyFormat = 1;
}
def Attn_IndexedBiasAttr : Attn_NamedScore<"IndexedBias", "indexed_bias", ["ij", "*h"]> {
  let summary = "score + table[index[i, j], h]";
  let description = [{
    `indexed_bias(%index : tensor<49x49xi32>, %table : tensor<169x4xf32>)`: index has shape [queryLen, kvLen] of i32,
    i64 or index; table has shape [entries, heads] of f16, bf16, f32 or f64, with at least one entry. An index outside
    of [0, entries) is clamped. Source: the 2-D relative bias of Swin, arXiv:2103.14030, section 3.2.
  }];
}

#endif
