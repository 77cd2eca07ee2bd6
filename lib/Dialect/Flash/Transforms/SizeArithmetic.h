//===- SizeArithmetic.h - sizes in bytes that may overflow ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_DIALECT_FLASH_TRANSFORMS_SIZEARITHMETIC_H
#define ATTN_LIB_DIALECT_FLASH_TRANSFORMS_SIZEARITHMETIC_H

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"

namespace attn::flash {

/// What the runtime aligns scratch to, in bytes; each buffer in it starts at a multiple.
inline constexpr int64_t kScratchAlignment = 64;

/// memref.alloc and memref.alloca.
bool isAllocation(mlir::Operation *op);

/// Builds sums and products of sizes of at least 0, and remembers whether one of them left 63 bits. Constants are
/// folded. Ops go where the builder stands.
class SizeArithmetic {
public:
  explicit SizeArithmetic(mlir::ImplicitLocOpBuilder &builder) : builder(builder) {}

  mlir::OpFoldResult multiply(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult add(mlir::OpFoldResult a, mlir::OpFoldResult b);

  /// The next multiple of kScratchAlignment.
  mlir::OpFoldResult align(mlir::OpFoldResult size);

  /// Bytes of the buffer that `alloc`, an isAllocation, makes.
  mlir::OpFoldResult allocationBytes(mlir::Operation *alloc, const mlir::DataLayout &layout);

  mlir::Value toValue(mlir::OpFoldResult size);

  /// Ends the call with `message` if anything overflowed up to here: a flash.require, or nothing if nothing can have.
  void require(llvm::StringRef message);

private:
  void addFlag(mlir::Value flag);

  mlir::ImplicitLocOpBuilder &builder;
  mlir::Value overflowed;
};

} // namespace attn::flash

#endif // ATTN_LIB_DIALECT_FLASH_TRANSFORMS_SIZEARITHMETIC_H
