//===- ConversionPasses.td - from one level to the next ------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_CONVERSION_PASSES
#define ATTN_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

def ConvertAttnToLinalgPass : Pass<"convert-attn-to-linalg"> {
  let summary = "Lower the unfused vocabulary to linalg";
  let description = [{
    `attn.matmul`, `attn.mask` and `attn.softmax` on tensors become linalg.generic ops with the same numbers: f32 inside
    (f64 for f64), one rounding at the end, rows of -inf give 0. Sizes that only the run knows are compared in front
    (flash.require). Reads of a mask region that are not proved inside of their tensors are clamped, as those of
    attention. `attn.attention` is left alone.

    Precondition: tensors, no named masks (attn-expand-named); anything else is an error. Postcondition: no op of the
    unfused vocabulary. Before (test/Conversion/AttnToLinalg/doc-example.mlir): `attn.mask` with a region. After:
    ```mlir
    ^bb0(%score: f32, %out: f32):
      %i = linalg.index 2 : index
      %j = linalg.index 3 : index
      %keep = arith.cmpi sle, %j, %i : index
      %masked = arith.select %keep, %score, %minus_infinity : f32
      linalg.yield %masked : f32
    ```
  }];
  let dependentDialects = ["::attn::flash::FlashDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

def AnalyzeMaskPass : Pass<"attn-analyze-mask", "::mlir::func::FuncOp"> {
  let summary = "Say what is proved of the masks of attention";
  let description = [{
    A remark (category `attn`) for each `attn.attention` with a mask: the bounds of the keys that a tile of rows visits
    and of those that need no mask, symbolic in rows and sizes; for static sizes the share of tiles that is skipped; or
    why the tiles are classified at run time; whether rows may keep no key. It is what convert-attn-to-flash decides
    from, and says, too; nothing is changed.

    Precondition: no named masks (attn-expand-named); tensors or memrefs. Skipped: attention without a mask.
    Example: test/Conversion/AttnToFlash/analyze-mask.mlir.
  }];
  let options = [
    Option<"tileQ", "tile-q", "int64_t", "0",
           "query rows of a tile; a power of two from 1 to 1024, 0 lets the target's cost model choose">,
    Option<"tileKv", "tile-kv", "int64_t", "0",
           "keys of a tile; 1 to 65536, 0 lets the target's cost model choose">,
    Option<"target", "target", "std::string", "\"host\"",
           "CPU that the cost model is asked for: host, or an LLVM CPU name such as x86-64-v3">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ConvertAttnToFlashPass : Pass<"convert-attn-to-flash", "::mlir::func::FuncOp"> {
  let summary = "Tile attention into the FlashAttention loop";
  let description = [{
    `attn.attention` on memrefs becomes scf.forall over (batch, head, query tile) around an scf.for over kv tiles of the
    `flash` steps (arXiv:2307.08691, algorithm 1). Layouts become views, sizes that only the run knows are checked in
    front of the loop (flash.require), captured loads whose indices are not proved in bounds are clamped.
    `attn.classify_tiles` on memrefs becomes the parallel loop that writes its record.

    Few queries and long keys: the scf.forall has a fourth dimension, over segments of the keys, each a fixed number of
    kv tiles, and ends in `store_partial`; a second one over (batch, head, query tile) merges them in ascending order.
    queryLen and kvLen alone decide (`chooseSegmentTiles` in attn/Target/TileModel.h), so that neither threads nor batch
    change a bit. Attention with weights is not split. Example: test/Conversion/AttnToFlash/segments.mlir.

    Precondition: memrefs, no named masks (attn-expand-named). Postcondition: no attn op; flash-verify-form holds.
    Example: test/Conversion/AttnToFlash/doc-example.mlir.
  }];
  let options = [
    Option<"tileQ", "tile-q", "int64_t", "0",
           "query rows of a tile; a power of two from 1 to 1024, 0 lets the target's cost model choose">,
    Option<"tileKv", "tile-kv", "int64_t", "0",
           "keys of a tile; 1 to 65536, 0 lets the target's cost model choose">,
    Option<"segmentKeys", "segment-keys", "int64_t", "0",
           "keys of a segment, rounded up to whole tiles; 1 to 1073741824, 0 lets the cost model choose whether and where "
           "keys are split">,
    Option<"target", "target", "std::string", "\"host\"",
           "CPU that the cost model is asked for: host, or an LLVM CPU name such as x86-64-v3">,
    Option<"skipTiles", "skip-tiles", "bool", "true",
           "skip the kv tiles that the mask empties; false computes every tile, to the same bits">,
    Option<"countKvTiles", "count-kv-tiles", "bool", "false", "count the computed kv tiles in the call's report">,
  ];
  let dependentDialects = ["::attn::flash::FlashDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def PrefetchPass : Pass<"flash-prefetch", "::mlir::func::FuncOp"> {
  let summary = "Have memory fetch the values, and later keys, while scores are computed";
  let description = [{
    `flash.scores` gets the values that go with its keys as its `prefetch` operand. Without, a tile of few rows would wait
    for every row, since the walk along several at once is none that the hardware foresees, and other tiles for the start
    of each tile of keys that is not in the second-level cache. Tiles of at most two vectors of rows do so little for each
    key that reading the keys takes their time: they ask in each step of the product (`each_step`).

    Decides: `prefetch` and `each_step` of flash.scores. Example: test/Conversion/FlashToCpu/prefetch.mlir.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"host\"",
           "CPU that the cost model is asked for: host, or an LLVM CPU name such as x86-64-v3">,
  ];
  let dependentDialects = ["::attn::flash::FlashDialect"];
}

def ChunkKeysPass : Pass<"flash-chunk-keys", "::mlir::func::FuncOp"> {
  let summary = "Find the keys of a tile that each chunk of rows may keep";
  let description = [{
    The loop over tiles visits those that some row of the query tile keeps. On the border of a mask most chunks of rows
    keep few of their keys: the bounds of the mask are computed again in front of `flash.scores`, with the rows of each
    chunk, and are the `chunk_keys` of scores, weights and accumulate, which leave out what lies outside. A weight that is
    left out is 0, and an accumulator is never -0, so no bit changes. Tiles of one chunk, masks without bounds, and steps
    that are not in one chain, are left alone.

    Decides: `chunk_keys` of flash.scores, weights and accumulate. Example: test/Conversion/FlashToCpu/chunk-keys.mlir.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"host\"",
           "CPU that the cost model is asked for: host, or an LLVM CPU name such as x86-64-v3">,
  ];
  let dependentDialects = ["::attn::flash::FlashDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def ConvertFlashToCpuPass : Pass<"convert-flash-to-cpu", "::mlir::func::FuncOp"> {
  let summary = "Lower flash tiles to vector code with queries as lanes";
  let description = [{
    Tiles become transposed scratch buffers, queries along the lanes, one piece of memory for each chunk of L rows (as
    many queries as the registers of a block hold):

    | tile | form |
    |---|---|
    | query<R x D> | memref<R/L x D x L> of T |
    | scores<R x K> | memref<R/L x K x L> of T, weights overwrite scores |
    | acc<R x E> | memref<R/L x E x L> of T |
    | rows<R> | memref<R x T> |

    Both products are register-blocked outer products (vector.fma with a broadcast key or value element, accumulators in
    iter_args), over one chunk at a time: its part of the tiles stays in the nearest cache, the tile of keys and values in
    the next (flash-prefetch). Chunks without a query are skipped. Score and mask regions are widened over the lanes: what depends on i is a vector, all else a scalar. What
    does not depend on j is built once a chunk. A captured read that varies by row, and whose index in the last dimension
    is j plus something (held between bounds or not), is copied for the chunk and tile as a transposed block; others are
    gathered.
    The unit of an exponential is a part of its constants.
    Each chunk works on its `chunk_keys` (flash-chunk-keys).
    Scratch is memref.alloc at the top of the parallel body (flash-outline-parallel makes it per-thread memory).

    Postcondition: no flash tile left. Example: test/Conversion/FlashToCpu/doc-example.mlir.
  }];
  let options = [
    Option<"blockRows", "block-rows", "int64_t", "0",
           "keys (or value columns) of a register block; 1 to 16, 0 lets the target's cost model choose">,
    Option<"target", "target", "std::string", "\"host\"",
           "CPU that the cost model is asked for: host, or an LLVM CPU name such as x86-64-v3">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def ConvertLinalgToCpuPass : Pass<"convert-linalg-to-cpu", "::mlir::func::FuncOp"> {
  let summary = "Lower linalg around attention to vector code";
  let description = [{
    Every linalg op on memrefs becomes an scf.forall over items of enough work, or plain loops where the types tell that
    one item has it all:
    - matrix products of floats (any layout, any number of dimensions, casts to a wider type in the body) become register
      blocks of vector.fma with a broadcast left element. The right operand is copied, panel by panel, once for an item;
      few rows read it in place. Sums are f32 (f64 for f64), in the order of k, and are rounded once;
    - all else becomes loops with lanes along the dimension in which most operands are contiguous, reductions with a sum a
      lane and four vectors side by side. What is left behind the last whole vector is done under a mask. Sums of 16-bit
      floats are f32. Bodies that lanes cannot run (integer division, regions) run element by element.

    Items depend on sizes alone, and so does the order of every sum: the same bits for any number of threads. Remarks say
    how a product is blocked. Ops whose body has effects, such as cf.assert, and ops in a parallel loop become plain loops
    on scalars. Precondition: bufferized. Postcondition: no linalg.
    Before (test/Conversion/LinalgToCpu/doc-example.mlir): `linalg.matmul` of 512 x 768 x 768. After, innermost:
    ```mlir
    scf.for %k = %k0 to %k1 step %c1 iter_args(%s0 = ..., %s5 = ...) -> (vector<16xf32>, ...) {
      %right = vector.load %panels[%panel, %inDepth, %c0] : memref<16x256x16xf32>, vector<16xf32>
      %left = memref.load %a[%row, %k] : memref<512x768xf32>
      %wide = vector.broadcast %left : f32 to vector<16xf32>
      %t0 = vector.fma %wide, %right, %s0 : vector<16xf32>
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", "\"host\"",
           "CPU that the cost model is asked for: host, or an LLVM CPU name such as x86-64-v3">,
  ];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def ConvertFlashToNvvmPass : Pass<"convert-flash-to-nvvm", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Lower flash tiles to fragments of tensor core products";
  let description = [{
    Each kernel of flash-outline-kernels becomes the code of one thread. In a kernel with tiles a block of threads does
    one item, warp w the rows from w * R on (R is 32 or 16, TileModel.h). Thread 4 * g + t of a warp holds of 16 x 8
    values the elements (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1): what mma.sync accumulates.

    | tile | form |
    |---|---|
    | query<Q x D> | shared memory, rows of D, read by each product |
    | scores<Q x K> | R/16 x K/8 x 4 values of f32 a thread; pairs of them are the left operand of the second product |
    | acc<Q x E> | R/16 x E/8 x 4 values of f32 a thread |
    | rows<Q> | R/16 x 2 values of f32 a thread; a sum is in parts, one in each of four threads |

    Tiles of keys and values come into two stages of shared memory by cp.async, one tile ahead of the products; rows are
    padded with zeros to whole fragments and swizzled so that ldmatrix meets no bank twice. Memory that is not aligned to
    16 bytes is copied, and written, element by element, which is decided at run time. f32 is multiplied as three
    products of tf32 parts; with `allow-tf32` as one product of the rounded values. Score and mask regions are built over
    the four elements of a fragment; where the mask analysis proves the warp's part of a tile full, the mask is left out at
    run time. Kernels without tiles run one item a thread.

    On sm_90a warpgroups multiply 16-bit tiles of 64 or 128 rows, 64 rows each, and another one copies. R is 16. Tiles
    in shared memory are boxes of 64 columns, swizzled as copies by tensor map write and wgmma reads them; a view that
    no map is possible for is copied as on sm_80. Full and empty stages are counted by barriers in shared memory. The
    products of the next keys and of these values are under way together (`flash-overlap-products`), and two warpgroups
    take turns.

    Kernels get `flash.kernel`, a #flash.kernel attribute, for their launches.
    Postcondition: no flash op. Examples: test/Conversion/FlashToNvvm/doc-example.mlir, warpgroups.mlir.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"sm_80\"", "GPU: sm_80, sm_86, sm_89, sm_90, sm_90a, ...">,
    Option<"allowTf32", "allow-tf32", "bool", "false",
           "multiply f32 as one product of tf32, each operand within 2^-11 of its value, in place of three within 2^-20">,
  ];
  let dependentDialects = ["::attn::flash::FlashDialect", "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect", "::mlir::NVVM::NVVMDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def ConvertDeviceToLLVMPass : Pass<"convert-device-to-llvm", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Convert a device module to the LLVM and NVVM dialects";
  let description = [{
    One full conversion of func, cf, arith, math, memref and vector; kernels become `llvm.func` with `nvvm.kernel`, their
    memrefs the fields of descriptors. What LLVM has no instruction for is an error: a device has no libm.

    Precondition: no scf, affine, flash. Postcondition: the LLVM and NVVM dialects alone.
    Example: test/Conversion/DeviceToLLVM/doc-example.mlir.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

def ConvertFlashToLLVMPass : Pass<"convert-flash-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Convert the target level to the LLVM dialect";
  let description = [{
    One full conversion of func, cf, arith, math, memref, vector and what is left of flash (parallel loops, checks),
    with calls into the runtime's C ABI (runtime/README.md). Each public function f without results gets an entry
    `attn_entry_f(ptr)`, which takes one array of pointers: to the C-interface descriptor of each memref argument and to
    each scalar argument.

    With `on-device` memrefs are memory of a device: elements that are read and written here go through the runtime.
    Device modules are left alone.

    With `check-bounds` the entries make the tensors known to the runtime (`attn_rt_guard_tensor`), and the module gets
    the attribute `attn.check_bounds`, by which its translation to LLVM IR checks each access of memory.

    Precondition: no scf, affine, tensor or linalg. Postcondition: the LLVM dialect alone, without
    unrealized casts. Example: test/Conversion/FlashToLLVM/doc-example.mlir.
  }];
  let options = [
    Option<"onDevice", "on-device", "bool", "false", "memrefs are memory of a device">,
    Option<"checkBounds", "check-bounds", "bool", "false", "have the code check its accesses of memory">,
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif
