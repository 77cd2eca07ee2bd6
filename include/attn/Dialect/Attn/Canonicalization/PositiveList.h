//===- PositiveList.h - the rewrites that may run -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Some of upstream's patterns and folders are wrong (test/README.md has those that a graph can reach), and a greedy
// driver runs every folder. So ours runs what is listed here and nothing else.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_DIALECT_ATTN_CANONICALIZATION_POSITIVELIST_H
#define ATTN_DIALECT_ATTN_CANONICALIZATION_POSITIVELIST_H

#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace attn {

/// True if the op's own folder is on the list.
bool isFoldListed(mlir::Operation *op);

/// One pattern that folds the listed ops. Constants go to the front of the function.
void populateListedFolds(mlir::RewritePatternSet &patterns);

/// The list: the folds, our own patterns, and those of upstream that we need. With `keepsLoops` an scf.forall stays
/// one, however few items it has.
void populateListedPatterns(mlir::RewritePatternSet &patterns, bool keepsLoops);

/// Our own patterns for slices and casts of tensors, whose dropped dimensions and sizes come from the ops themselves.
void populateSlicePatterns(mlir::RewritePatternSet &patterns);

/// For a greedy driver that folds nothing on its own account.
inline mlir::GreedyRewriteConfig listedOnly() { return mlir::GreedyRewriteConfig().enableFolding(false); }

/// The same for a dialect conversion.
inline mlir::ConversionConfig withoutFolding() {
  mlir::ConversionConfig config;
  config.foldingMode = mlir::DialectConversionFoldingMode::Never;
  return config;
}

} // namespace attn

#endif // ATTN_DIALECT_ATTN_CANONICALIZATION_POSITIVELIST_H
