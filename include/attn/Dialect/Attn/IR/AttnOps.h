//===- AttnOps.h - the attn dialect -------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops, attributes and the small value types that their interfaces share.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_DIALECT_ATTN_IR_ATTNOPS_H
#define ATTN_DIALECT_ATTN_IR_ATTNOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace attn {

/// No length, head or batch count is above this; generated code checks it in front of the loops (flash.require).
constexpr int64_t kMaxExtent = int64_t(1) << 30;

/// Sizes of an attention as its types tell them; ShapedType::kDynamic where they do not.
struct AttentionDims {
  int64_t batch = mlir::ShapedType::kDynamic, heads = mlir::ShapedType::kDynamic, kvHeads = mlir::ShapedType::kDynamic;
  int64_t queryLen = mlir::ShapedType::kDynamic, kvLen = mlir::ShapedType::kDynamic;
  int64_t headDim = mlir::ShapedType::kDynamic, valueDim = mlir::ShapedType::kDynamic;
  /// True if kvLen is each batch entry's own (`kv_lengths`), so that no static size tells the diagonal.
  bool hasLengths = false;
  /// f32, or f64 for f64 inputs.
  mlir::Type scoreType;
};

/// The values that a named mask or score function builds on, all defined where it is built.
struct ModValues {
  /// The score so far; null for a mask.
  mlir::Value score;
  /// Indices, of type index; h is the query head.
  mlir::Value b, h, i, j;
  /// Lengths in rows and keys, of type index; kvLen is kv_lengths[b] where there are such.
  mlir::Value queryLen, kvLen;
};

/// Reads one element of a ranked tensor or a memref.
mlir::Value readElement(mlir::ImplicitLocOpBuilder &builder, mlir::Value shaped, mlir::ValueRange indices);

/// The size of one dimension of a ranked tensor or a memref: a constant where it is static.
mlir::Value getDimension(mlir::ImplicitLocOpBuilder &builder, mlir::Value shaped, int64_t dimension);

/// Marks the ops whose regions are score or mask regions.
template <typename OpTy> class ModRegions : public mlir::OpTrait::TraitBase<OpTy, ModRegions> {};

/// Verifies that each of the segments `required`, given with their operands' names, holds one operand.
mlir::LogicalResult verifyRequiredOperands(mlir::Operation *op, llvm::ArrayRef<int32_t> segments,
                                           llvm::ArrayRef<std::pair<unsigned, llvm::StringLiteral>> required);

/// Verifies operandSegmentSizes as far as ODS does not, before anything looks at the operands by name.
template <typename OpTy> class RequiredOperands : public mlir::OpTrait::TraitBase<OpTy, RequiredOperands> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) {
    return verifyRequiredOperands(op, llvm::cast<OpTy>(op).getProperties().operandSegmentSizes,
                                  OpTy::getRequiredSegments());
  }
};

/// Verifies a score region over scores of the given type, or a mask region where that is null: (C11) of attn.attention.
mlir::LogicalResult verifyModRegion(mlir::Operation *op, mlir::Region &region, mlir::Type score);

} // namespace attn

#include "Attn/AttnEnums.h.inc"

#include "Attn/AttnAttrInterfaces.h.inc"
#include "Attn/AttnDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "Attn/AttnAttrs.h.inc"
#define GET_OP_CLASSES
#include "Attn/AttnOps.h.inc"

namespace attn {

/// Positions of the letters in the four layout maps: (b, h, i, d), (b, h, j, d), (b, h, j, e), (b, h, i, e).
enum LayoutDim : unsigned { kBatchDim = 0, kHeadDim = 1, kLengthDim = 2, kFeatureDim = 3 };

/// Where a layout map has the given letter, as the operand's dimension; nullopt if the letter is absent (size 1).
std::optional<unsigned> findLayoutDim(mlir::AffineMap map, LayoutDim dim);

/// Words of the record that attn.classify_tiles writes; the op's description has the whole of it.
enum TileRecordWord : int64_t {
  kMarkWord,
  kQueryTileWord,
  kKvTileWord,
  kBatchWord,
  kHeadsWord,
  kQueryLenWord,
  kKvLenWord,
  kFirstLengthWord
};
inline constexpr int32_t kTileRecordMark = 0x41545443;

/// What attn.tile_classes_size yields for sizes batch, heads, queryLen, kvLen; nullopt beyond 63 bits, and where a size
/// is not in 0 to kMaxExtent.
std::optional<int64_t> countTileRecordWords(llvm::ArrayRef<int64_t> sizes, int64_t queryTile, int64_t kvTile);

/// Lets attn ops bufferize by one-shot-bufferize.
void registerBufferizableOpInterfaceModels(mlir::DialectRegistry &registry);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_IR_ATTNOPS_H
