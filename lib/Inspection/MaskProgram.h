//===- MaskProgram.h - what the compiled loops ask of a mask -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_INSPECTION_MASKPROGRAM_H
#define ATTN_LIB_INSPECTION_MASKPROGRAM_H

#include "KnownSlice.h"
#include "attn/Reference/Interpreter.h"
#include "lib/Conversion/AttnToFlash/KvLoops.h"

namespace attn {

/// What the compiled loops know of an attention's mask.
struct AnalyzedMask {
  /// The op has no named masks; captured loads are clamped in place, as convert-attn-to-flash does.
  explicit AnalyzedMask(AttentionOp op);

  /// Batch entries and heads that the mask and kv_lengths tell apart; one stands for all where they do not.
  int64_t batches(const MaskSizes &sizes) const;
  int64_t heads(const MaskSizes &sizes) const;

  MaskRanges ranges;
  MaskPlan plan;
  bool hasLengths;
};

/// The ends of the key loops and the mask of one attention, as functions that the reference interpreter evaluates.
class MaskProgram {
public:
  /// The op has no named masks. What is not known widens the loops.
  MaskProgram(AttentionOp op, const MaskRanges &ranges, const MaskSizes &sizes, const TileMapInputs &inputs);

  /// The ends of the loops of a tile of queries; failure after a diagnostic.
  mlir::FailureOr<KeyLoopEnds> loopEnds(int64_t b, int64_t h, int64_t i0, int64_t rows);

  /// Whether each of rows x keys scores is kept, row-major; failure after a diagnostic. Only where knowsMask().
  mlir::FailureOr<std::vector<bool>> keep(int64_t b, int64_t h, int64_t i0, int64_t rows, int64_t j0, int64_t keys);

  /// Everything that the ends of the loops depend on is known.
  bool knowsLoops() const { return !isWidened && knowsKvEnd(); }
  /// kv_lengths are known, or absent.
  bool knowsKvEnd() const { return !lacksLengths; }
  /// Everything that the mask reads is known.
  bool knowsMask() const { return static_cast<bool>(keepFunction); }
  /// What is not known; arguments, and results of operations that read memory.
  llvm::ArrayRef<mlir::Value> unknown() const { return unknownValues.getArrayRef(); }

private:
  mlir::func::FuncOp createFunction(llvm::StringRef name, unsigned numArguments);
  Bound relax(mlir::ImplicitLocOpBuilder &builder, KnownSlice &slice, const Bound &bound, bool isUpper);
  mlir::Value buildKvEnd(mlir::ImplicitLocOpBuilder &builder, KnownSlice &slice, mlir::Value batchIndex);
  void buildLoopEnds();
  void buildKeep();
  mlir::FailureOr<reference::Evaluation> evaluate(mlir::func::FuncOp function, llvm::ArrayRef<int64_t> arguments);
  void note(const KnownSlice &slice) { unknownValues.insert_range(slice.unknown()); }

  AttentionOp op;
  MaskRanges ranges;
  MaskSizes sizes;
  const TileMapInputs &inputs;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp loopEndsFunction, keepFunction;
  bool isWidened = false, lacksLengths = false;
  llvm::SetVector<mlir::Value> unknownValues;
};

} // namespace attn

#endif // ATTN_LIB_INSPECTION_MASKPROGRAM_H
