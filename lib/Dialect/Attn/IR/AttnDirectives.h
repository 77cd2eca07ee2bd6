//===- AttnDirectives.h - custom directives of the attn ops --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the assembly formats in AttnOps.td call by name, beside the regions of AttnSyntax.h. Private to the dialect.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_DIALECT_ATTN_IR_ATTNDIRECTIVES_H
#define ATTN_LIB_DIALECT_ATTN_IR_ATTNDIRECTIVES_H

#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/IR/AttnSyntax.h"

namespace attn {

using UnresolvedOperands = llvm::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand>;

/// The four layouts by the word that introduces each, and the letters of its map's dimensions.
inline constexpr llvm::StringLiteral kLayoutNames[] = {"query", "key", "value", "out"};
inline constexpr llvm::StringLiteral kLayoutLetters[] = {"bhid", "bhjd", "bhje", "bhie"};

/// `%scale`, or `%scale : f64`.
mlir::ParseResult parseScale(mlir::OpAsmParser &parser, mlir::OpAsmParser::UnresolvedOperand &scale, mlir::Type &type);
void printScale(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::Value scale, mlir::Type type);

/// `(query(b, i, h, d), key(...), value(...), out(...))`, any of them, in any order.
mlir::ParseResult parseLayouts(mlir::OpAsmParser &parser, mlir::AffineMapAttr &query, mlir::AffineMapAttr &key,
                               mlir::AffineMapAttr &value, mlir::AffineMapAttr &out);
void printLayouts(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::AffineMapAttr query, mlir::AffineMapAttr key,
                  mlir::AffineMapAttr value, mlir::AffineMapAttr out);

/// The named mask (or score function) that comes next, with its parameters, without its captured operands; failure
/// after a diagnostic, also where no such name is known. Knows the table of names.
mlir::FailureOr<NamedModInterface> parseMod(mlir::AsmParser &parser, bool masks);
/// Prints the name and the parameters.
void printMod(mlir::AsmPrinter &printer, NamedModInterface mod);

/// `(softcap<30.0>, alibi(%slopes : tensor<8xf32>))`: score functions with their captured operands.
mlir::ParseResult parseNamedScores(mlir::OpAsmParser &parser, mlir::ArrayAttr &mods, UnresolvedOperands &captures,
                                   llvm::SmallVectorImpl<mlir::Type> &types);
void printNamedScores(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::ArrayAttr mods,
                      mlir::OperandRange captures, mlir::TypeRange types);

/// `(causal<top_left>, boolean(%m : tensor<5x7xi1>))`: masks with their captured operands.
mlir::ParseResult parseNamedMasks(mlir::OpAsmParser &parser, mlir::ArrayAttr &mods, UnresolvedOperands &captures,
                                  llvm::SmallVectorImpl<mlir::Type> &types);
void printNamedMasks(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::ArrayAttr mods,
                     mlir::OperandRange captures, mlir::TypeRange types);

} // namespace attn

#endif // ATTN_LIB_DIALECT_ATTN_IR_ATTNDIRECTIVES_H
