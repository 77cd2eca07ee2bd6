//===- AttnSyntax.h - custom pieces of the assembly formats --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parsers and printers that the generated code calls by name. Also used by the flash dialect, whose regions look
// alike.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_DIALECT_ATTN_IR_ATTNSYNTAX_H
#define ATTN_DIALECT_ATTN_IR_ATTNSYNTAX_H

#include "mlir/IR/OpImplementation.h"

namespace attn {

/// `(%s, %b, %h, %i, %j) { ... }`: the index types are implied, the score is f32 unless `%s : f64` is written.
mlir::ParseResult parseScoreRegion(mlir::OpAsmParser &parser, mlir::Region &region);
void printScoreRegion(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::Region &region);

/// `(%b, %h, %i, %j) { ... }`.
mlir::ParseResult parseMaskRegion(mlir::OpAsmParser &parser, mlir::Region &region);
void printMaskRegion(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::Region &region);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_IR_ATTNSYNTAX_H
