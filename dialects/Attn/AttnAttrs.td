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

/// `letters` are those of its captured operand ("" if it takes none); where that broadcasts, a lower rank has the last
/// of them.
class Attn_Mod<string name, string keyword, bit mask, string letters, bit broadcasts> : AttrDef<Attn_Dialect, name,
    [DeclareAttrInterfaceMethods<Attn_NamedModInterface, ["verifyMod", "buildMod"]>]> {
  let mnemonic = keyword;
  let extraClassDefinition = "::llvm::StringRef $cppClass::getKeyword() const { return \"" # keyword # "\"; }\n" #
    "bool $cppClass::isMask() const { return " # !if(mask, "true", "false") # "; }\n" #
    "unsigned $cppClass::getNumCaptures() const { return " # !if(!empty(letters), "0", "1") # "; }\n" #
    "::llvm::StringRef $cppClass::getCaptureLetters(unsigned rank) const { return ::llvm::StringRef(\"" # letters #
    "\").take_back(rank); }\n" #
    "bool $cppClass::captureBroadcasts() const { return " # !if(broadcasts, "true", "false") # "; }\n";
}
class Attn_NamedMask<string name, string keyword, string letters = "", bit broadcasts = 0>
  : Attn_Mod<name, keyword, 1, letters, broadcasts>;
class Attn_NamedScore<string name, string keyword, string letters = "", bit broadcasts = 0>
  : Attn_Mod<name, keyword, 0, letters, broadcasts>;

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
def Attn_PrefixAttr : Attn_NamedMask<"Prefix", "prefix", "b"> {
  let summary = "prefix-LM: keep j <= i + offset or j < prefix[b]";
  let description = [{
    `prefix<top_left>(%prefix : tensor<2xi32>)`: causal, and beside it every query sees the first prefix[b] keys.
    The captured operand has shape [batch], of i32, i64 or index.
  }];
  let parameters = (ins "::attn::Diagonal":$diagonal);
  let hasCustomAssemblyFormat = 1;
}
def Attn_BooleanAttr : Attn_NamedMask<"Boolean", "boolean", "bhij", 1> {
  let summary = "keep where the captured i1 tensor is true";
  let description = [{
    `boolean(%mask : tensor<2x1x33x65xi1>)`: the operand broadcasts to [batch, heads, queryLen, kvLen], aligned at
    the last dimension, each of its dimensions 1 or the full size.
  }];
}

//===-- score functions --------------------------------------------------===//

def Attn_SoftcapAttr : Attn_NamedScore<"Softcap", "softcap"> {
  let summary = "cap * tanh(score / cap)";
  let description = [{ `softcap<30.0>`: cap is finite and above 0 in the type of the score. Source: Gemma 2, arXiv:2408.00118, section 2. }];
  let parameters = (ins "::mlir::FloatAttr":$cap);
  let hasCustomAssemblyFormat = 1;
}
def Attn_AlibiAttr : Attn_NamedScore<"Alibi", "alibi", "h"> {
  let summary = "score + slope[h] * (j - i)";
  let description = [{
    `alibi(%slopes : tensor<8xf32>)`: the operand has shape [heads], f32 (f64 for f64). Source: arXiv:2108.12409,
    section 3; a diagonal other than top_left adds a constant to a row, which softmax does not see.
  }];
}
class Attn_AddedTensor<string name, string keyword> : Attn_NamedScore<name, keyword, "bhij", 1> {
  let summary = "score + tensor[b, h, i, j]";
  let description = [{
    The operand is a float tensor that broadcasts to [batch, heads, queryLen, kvLen], aligned at the last dimension,
    each of its dimensions 1 or the full size. A score that becomes -inf drops its key. `bias` and `additive` mean
    the same; write `additive` for a mask in additive form.
  }];
}
def Attn_BiasAttr : Attn_AddedTensor<"Bias", "bias">;
def Attn_AdditiveAttr : Attn_AddedTensor<"Additive", "additive">;

#endif
