//===- Lowering.h - pieces of convert-flash-to-nvvm ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_CONVERSION_FLASHTONVVM_LOWERING_H
#define ATTN_CONVERSION_FLASHTONVVM_LOWERING_H

#include "../FlashLanes/Lanes.h"
#include "Warp.h"
#include "attn/Dialect/Flash/IR/FlashOps.h"
#include "mlir/Transforms/DialectConversion.h"

namespace attn::nvvm {

/// The stages of keys, or of values, as one role of a kernel of warpgroups meets them: one after the other.
struct StageRing {
  /// How many it has met: an i32 in the thread's own memory, which LLVM makes a register.
  mlir::Value counter;
  /// Of the stages' barriers; of the stages; bytes of a stage.
  int64_t barrierOffset = 0, offset = 0, bytes = 0;
};

/// The kernel's arguments for copies of a view by tensor map: the map (a pointer), and whether it may be used (i1).
struct TensorMapArguments {
  mlir::Value map, isUsable;
};

/// What one of the two roles knows (Roles.cpp).
struct Role {
  StageRing keys, values;
  llvm::DenseMap<mlir::Value, TensorMapArguments> maps;
  /// Warpgroup of this thread among those that multiply, i32.
  mlir::Value warpgroup;
};

/// What the patterns of a kernel share.
struct NvvmLowering {
  KernelShape shape;
  ThreadPlace place;
  /// f32 is one product of tf32, not three.
  bool allowTf32 = false;
  /// Threads that copy a tile together: of the block, or of a role. place.thread counts them.
  int64_t copyThreads = 0;
  /// Of a kernel of warpgroups.
  Role role;

  /// The first row of the fragment `m` of the warp that this thread holds a part of, i32: warp * warpRows + 16 m + g.
  mlir::Value fragmentRow(mlir::ImplicitLocOpBuilder &builder, int64_t m) const;
};

/// One f32 value of each row that a thread has a part of: 2 m for row g of fragment m, 2 m + 1 for row g + 8.
inline int64_t rowSlot(int64_t m, int64_t element) { return 2 * m + element / 2; }

/// A row of a tile of which this thread holds a part.
struct FragmentRow {
  mlir::Value exists;
  /// In memory: [entry, head, query].
  mlir::SmallVector<mlir::Value> place;
};
FragmentRow buildRow(mlir::ImplicitLocOpBuilder &builder, const NvvmLowering &lowering, const lanes::TileRows &rows,
                     mlir::Value entry, int64_t slot);

/// Where the fragments of a tile are written to.
struct StoreTarget {
  /// [entry, head, query, column], 16 or 32 bits an element.
  mlir::Value view;
  mlir::Value entry;
  lanes::TileRows rows;
  /// The column of the tile's first one; null for 0. Columns of the tile that exist.
  mlir::Value firstColumn, endColumn;
};

/// Writes the rows and columns that exist of a tile of `columns` columns, rounded to the view's elements. All threads
/// of a warp do it together.
void buildStore(mlir::ImplicitLocOpBuilder &builder, const NvvmLowering &lowering, const StoreTarget &target,
                int64_t columns, mlir::ValueRange values);

/// The fragments of scores: products with the tile of keys at an offset of shared memory (i32, in bytes).
mlir::SmallVector<mlir::Value> buildScoreProducts(mlir::ImplicitLocOpBuilder &builder, const NvvmLowering &lowering,
                                                  mlir::Value keys);

/// The regions of an op that makes scores, and its operands as values of the code that is being built.
struct ScorePlace {
  mlir::Region &scoreRegion, &maskRegion;
  mlir::Value batch, j0, keys;
  lanes::TileRows rows;
};

/// The regions over fragments, and -inf where there is no key. Failure after a diagnostic.
mlir::LogicalResult applyRegions(mlir::ImplicitLocOpBuilder &builder, const NvvmLowering &lowering,
                                 const ScorePlace &place, llvm::MutableArrayRef<mlir::Value> scores);

/// acc += weights * the tile of values at an offset of shared memory (i32, in bytes). Both in fragments.
void buildValueProducts(mlir::ImplicitLocOpBuilder &builder, const NvvmLowering &lowering, mlir::Value values,
                        mlir::ValueRange weights, llvm::MutableArrayRef<mlir::Value> acc);

/// Copies `rows` rows of a view into a tile of shared memory, zeros behind them and behind the columns. Where memory
/// allows it by cp.async, of which the caller commits and waits; the block's threads do it together. `rows` is at least
/// 1.
void buildCopy(mlir::ImplicitLocOpBuilder &builder, const NvvmLowering &lowering, const SharedTile &tile,
               mlir::Value base, mlir::Value view, mlir::Value batch, const lanes::TileRows &rows);

/// Brings the keys and values of each kv loop into shared memory, one tile ahead. The scores and accumulate ops, which
/// are left alone else, get the `stage` where they find them.
void placeCopies(mlir::func::FuncOp kernel, const NvvmLowering &lowering);

/// The same products by warpgroups, begun when their stage is there. `weights` are in pairs.
mlir::SmallVector<mlir::Value> beginWarpgroupScores(mlir::ImplicitLocOpBuilder &builder, const NvvmLowering &lowering,
                                                    flash::BeginScoresOp op);
void beginWarpgroupValues(mlir::ImplicitLocOpBuilder &builder, const NvvmLowering &lowering,
                          flash::BeginAccumulateOp op, mlir::ValueRange weights,
                          llvm::MutableArrayRef<mlir::Value> acc);
/// Waits for the products of a ring's last stage that was met, but for `later` ones that were begun behind them, and
/// gives the stage free.
void finishWarpgroupProducts(mlir::ImplicitLocOpBuilder &builder, const NvvmLowering &lowering, const StageRing &ring,
                             int64_t later);

/// What the multiplying warpgroups do behind the copy of their query tile.
void finishQueryCopy(mlir::ImplicitLocOpBuilder &builder, const NvvmLowering &lowering);

/// Says what the launch has to know.
void describeKernel(mlir::func::FuncOp kernel, const KernelShape &shape,
                    llvm::ArrayRef<flash::TensorMapAttr> tensorMaps = {});

/// Gives the kernel its two roles and converts the tiles in them; its code starts at the builder. Failure after a
/// diagnostic.
mlir::LogicalResult convertRoles(mlir::func::FuncOp kernel, NvvmLowering &lowering,
                                 mlir::ImplicitLocOpBuilder &builder);

/// Converts the tiles of some ops, and of all in them, to fragments. Failure after a diagnostic.
mlir::LogicalResult convertTiles(llvm::ArrayRef<mlir::Operation *> ops, NvvmLowering &lowering);

/// query -> nothing, scores, acc and rows as ConversionPasses.td has them.
class FragmentTypeConverter : public mlir::TypeConverter {
public:
  explicit FragmentTypeConverter(const KernelShape &shape);
};

/// Patterns for the ops on tiles, and for classify_tile.
void populateFragmentPatterns(const FragmentTypeConverter &converter, const NvvmLowering &lowering,
                              mlir::RewritePatternSet &patterns);
void populateClassifyFragmentPatterns(const FragmentTypeConverter &converter, const NvvmLowering &lowering,
                                      mlir::RewritePatternSet &patterns);

} // namespace attn::nvvm

#endif // ATTN_CONVERSION_FLASHTONVVM_LOWERING_H
