//===- AttnMods.h - what named masks and score functions share -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Syntax, conditions and pieces of the expansion. Private to the dialect.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_DIALECT_ATTN_IR_ATTNMODS_H
#define ATTN_LIB_DIALECT_ATTN_IR_ATTNMODS_H

#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Support/Builders.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace attn {

/// No mod takes more captured operands than this.
constexpr unsigned kMaxCaptures = 3;

using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

/// A parameter written `name = value`; `absent` is its value where it is not written, nullopt if it must be.
struct IntegerParameter {
  llvm::StringRef name;
  int64_t minimum;
  std::optional<int64_t> absent;
  int64_t value = 0;
};

/// A parameter that is a word.
struct WordParameter {
  llvm::StringRef name;
  bool value = false;
};

/// Parses nothing or `<a = 3, word, bottom_right>`, in any order, for the mod `keyword`. `diagonal`: null if it has
/// none.
mlir::ParseResult parseParameters(mlir::AsmParser &parser, llvm::StringRef keyword,
                                  llvm::MutableArrayRef<IntegerParameter> integers,
                                  llvm::MutableArrayRef<WordParameter> words, Diagonal *diagonal);

/// Prints them so that parseParameters reads them back.
void printParameters(mlir::AsmPrinter &printer, llvm::ArrayRef<IntegerParameter> integers,
                     llvm::ArrayRef<WordParameter> words, Diagonal diagonal);

//===----------------------------------------------------------------------===//
// Conditions: all of them (C10)
//===----------------------------------------------------------------------===//

/// An implied diagonal needs queryLen = kvLen known.
mlir::LogicalResult verifyDiagonal(EmitError emitError, llvm::StringRef keyword, Diagonal diagonal,
                                   const AttentionDims &dims);

/// A parameter must be at least `minimum`.
mlir::LogicalResult verifyAtLeast(EmitError emitError, llvm::StringRef keyword, llvm::StringRef name, int64_t value,
                                  int64_t minimum);

/// The known ones of queryLen and kvLen must be `length`, which is `formula`.
mlir::LogicalResult verifyLength(EmitError emitError, llvm::StringRef keyword, llvm::StringRef formula, int64_t length,
                                 const AttentionDims &dims);

/// A dimension of a captured operand; `size` may be kDynamic.
struct CaptureDim {
  llvm::StringRef name;
  int64_t size;
};

/// What a captured operand may hold.
struct Elements {
  llvm::function_ref<bool(mlir::Type)> accepts;
  llvm::StringRef text;
};
bool isIndexElement(mlir::Type type);
bool isFloatElement(mlir::Type type);

/// Largest length that a mask may fix, in positions: its product with 2 and the sums of indices fit in 32 bits.
constexpr int64_t kMaxGridLength = int64_t(1) << 29;

/// Verifies captured operand `capture` of the mod: the shape, or its last dimensions as long as they are at least
/// `minimumRank`.
mlir::LogicalResult verifyCapture(EmitError emitError, NamedModInterface mod, unsigned capture, mlir::Type type,
                                  llvm::ArrayRef<CaptureDim> shape, unsigned minimumRank, const Elements &elements);

/// Verifies a captured operand that broadcasts to [batch, heads, queryLen, kvLen].
mlir::LogicalResult verifyBroadcast(EmitError emitError, llvm::StringRef keyword, mlir::Type type,
                                    const AttentionDims &dims);

//===----------------------------------------------------------------------===//
// Expansion
//===----------------------------------------------------------------------===//

mlir::Value compare(mlir::ImplicitLocOpBuilder &builder, mlir::arith::CmpIPredicate predicate, mlir::Value lhs,
                    mlir::Value rhs);
mlir::Value both(mlir::ImplicitLocOpBuilder &builder, mlir::Value lhs, mlir::Value rhs);
mlir::Value either(mlir::ImplicitLocOpBuilder &builder, mlir::Value lhs, mlir::Value rhs);

/// The position of query i: i + offset of the diagonal; top_left and implied (queryLen = kvLen) have offset 0.
mlir::Value queryPosition(mlir::ImplicitLocOpBuilder &builder, Diagonal diagonal, const ModValues &values);

/// Reads element [index], or [b, index] of an operand of rank 2.
mlir::Value readAt(mlir::ImplicitLocOpBuilder &builder, mlir::Value capture, const ModValues &values,
                   mlir::Value index);

/// An integer or index value as an index.
mlir::Value toIndex(mlir::ImplicitLocOpBuilder &builder, mlir::Value value);

/// Reads a captured operand that broadcasts. A dynamic dimension may turn out to be 1: min(index, size - 1) is then 0,
/// and the index itself otherwise (attn-expand-named checks that there is no third case).
mlir::Value readBroadcast(mlir::ImplicitLocOpBuilder &builder, mlir::Value capture, const ModValues &values);

} // namespace attn

#endif // ATTN_LIB_DIALECT_ATTN_IR_ATTNMODS_H
