//===- AttnInterfaces.td - what a named mask or score must provide -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_INTERFACES
#define ATTN_INTERFACES

include "mlir/IR/OpBase.td"

def Attn_NamedModInterface : AttrInterface<"NamedModInterface"> {
  let cppNamespace = "::attn";
  let description = [{
    A named mask or score function: sugar for a few operations in the mask or score region. A new one is an attribute
    that implements this interface and one line in the table of names (AttnMods.cpp); the parser, verifier and
    `attn-expand-named` need no change.
  }];
  let methods = [
    InterfaceMethod<"The word that names it in the assembly.", "::llvm::StringRef", "getKeyword">,
    InterfaceMethod<"True for a mask (yields keep), false for a score function (yields the new score).",
      "bool", "isMask">,
    InterfaceMethod<"How many captured operands it takes.", "unsigned", "getNumCaptures">,
    InterfaceMethod<[{
      The same with so many captured operands; null if it cannot take that many.
      }], "::mlir::Attribute", "withNumCaptures", (ins "unsigned":$count), "",
      "return count == $_attr.getNumCaptures() ? ::mlir::Attribute($_attr) : ::mlir::Attribute();">,
    InterfaceMethod<[{
      Which of the letters b h i j each dimension of a captured operand, of the given rank, stands for; '*' for a size
      of its own.
      }], "::llvm::StringRef", "getCaptureLetters", (ins "unsigned":$capture, "unsigned":$rank)>,
    InterfaceMethod<[{
      The size of the dimension that has the letter '*'; kDynamic for any.
      }], "int64_t", "getCaptureSize", (ins "unsigned":$capture), "", "return ::mlir::ShapedType::kDynamic;">,
    InterfaceMethod<"True if a dimension of its captured operand may be 1 instead of the full size.",
      "bool", "captureBroadcasts">,
    InterfaceMethod<[{
      The queryLen and kvLen (without kv_lengths) that it is defined for; kDynamic for any.
      }], "int64_t", "getLength", (ins), "", "return ::mlir::ShapedType::kDynamic;">,
    InterfaceMethod<[{
      Checks its parameters and the types of its captured operands against the sizes of the op.
      }], "::llvm::LogicalResult", "verifyMod",
      (ins "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError, "const ::attn::AttentionDims &":$dims,
           "::mlir::TypeRange":$captures)>,
    InterfaceMethod<[{
      Builds its operations at the builder's insertion point, inside the region. Returns the new score or `keep` (i1).
      }], "::mlir::Value", "buildMod",
      (ins "::mlir::ImplicitLocOpBuilder &":$builder, "const ::attn::ModValues &":$values,
           "::mlir::ValueRange":$captures)>,
  ];
}

#endif
