//===- FlashPasses.td - passes on the tiled and target level --*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FLASH_PASSES
#define FLASH_PASSES

include "mlir/Pass/PassBase.td"

def VerifyFormPass : Pass<"flash-verify-form"> {
  let summary = "Check that every tile value is consumed once";
  let description = [{
    Query tiles may be read by any number of `flash.scores`; every `scores` and `acc` value must have one use on every
    path: it is consumed by the one op that uses it, in the block that defines it or by the loop around. Errors name the
    value and its uses. Changes nothing. Example: test/Transforms/flash-verify-form/doc-example.mlir.
  }];
}

def OutlineParallelPass : Pass<"flash-outline-parallel", "::mlir::ModuleOp"> {
  let summary = "Outline parallel loops into functions with scratch memory";
  let description = [{
    Each outermost scf.forall becomes `flash.parallel_for` and a private function over a range of the linearised
    indices. memref.alloc ops in its body become views of the scratch that the runtime hands to each thread: their
    total size, a formula of the sizes, is computed in front of the loop. So nothing is allocated inside. The work of
    an item is what `flash.item_work` at the top of the body says, or unknown.

    Precondition: scf.forall without results, allocations at the top of its body, with sizes from outside it.
    Postcondition: no scf.forall and flash.item_work. Inner scf.forall become sequential loops.
    Example: test/Transforms/flash-outline-parallel/doc-example.mlir.
  }];
  let dependentDialects = ["::attn::flash::FlashDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def ParallelizeLinalgPass : Pass<"flash-parallelize-linalg", "::mlir::func::FuncOp"> {
  let summary = "Make parallel loops of linalg ops and copies on memrefs";
  let description = [{
    Every linalg op and memref.copy becomes an scf.forall over its parallel dimensions, with loops over the others
    inside; one without parallel dimensions is one item. The simplest form that a device can run.

    Precondition: bufferized. Postcondition: no linalg and memref.copy.
    Example: test/Transforms/flash-parallelize-linalg/doc-example.mlir.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def ReportChecksPass : Pass<"flash-report-checks", "::mlir::func::FuncOp"> {
  let summary = "Carry failing checks out of parallel loops that become kernels";
  let description = [{
    A kernel cannot end the call. So a check (flash.require, cf.assert) inside of an outermost scf.forall becomes a
    branch: where it holds, what follows it in its block runs; elsewhere its number is noted in a word of device memory,
    with its place in the loops' order, and loops go on with zeros. Notes are combined by an atomic minimum, so that the
    first failing check in the order of sequential loops is left, as on a CPU. Behind the loop the host reads the word,
    which waits for the kernel, and ends the call with that check's message, in which values of the run are "?". Loops
    without checks stay as they are.

    Precondition: the memory of memref.alloc is the device's. Refused: checks in scf.while, which zeros may repeat for
    ever, and those that something without a zero follows, such as a memref that a branch gives.
    Postcondition: no check inside of scf.forall.
    Example: test/Transforms/flash-report-checks/doc-example.mlir.
  }];
  let dependentDialects = ["::attn::flash::FlashDialect", "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def OutlineKernelsPass : Pass<"flash-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Outline parallel loops into kernels of a device module";
  let description = [{
    Each outermost scf.forall becomes `flash.launch` and a function over one linearised index, in a gpu.module that all
    kernels share. `flash.item_work` goes: a device starts every item.

    Precondition: scf.forall without results and without allocations.
    Postcondition: no scf.forall and flash.item_work. Inner scf.forall become sequential loops.
    Example: test/Transforms/flash-outline-kernels/doc-example.mlir.
  }];
  let dependentDialects = ["::attn::flash::FlashDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::gpu::GPUDialect", "::mlir::scf::SCFDialect"];
}

def FoldScalePass : Pass<"flash-fold-scale", "::mlir::func::FuncOp"> {
  let summary = "Multiply exponents by the scale of the scores in place of the scores";
  let description = [{
    Where all scores of a softmax have one constant scale from 2^-16 to 1 and nothing but the softmax looks at them (no
    score region, no sink), tiles hold dot products: the scale leaves `flash.scores` and becomes the `unit` of the ops
    that need natural units, which multiply by a constant already. Elsewhere a scale of 1 leaves `flash.scores`, and
    nothing else changes. Keys in segments and the merge of their results are one softmax.

    Decides: `scale` of flash.scores, `unit` of flash.update_max, weights, merge, store_lse and store_weights.
    Example: test/Transforms/flash-fold-scale/doc-example.mlir.
  }];
  let dependentDialects = ["::attn::flash::FlashDialect"];
}

def OverlapProductsPass : Pass<"flash-overlap-products", "::mlir::func::FuncOp"> {
  let summary = "Multiply the next tile's keys beside the softmax and the values of this one";
  let description = [{
    In a kernel that warpgroups multiply (16-bit elements and 64 or 128 rows on sm_90a) products become two ops, one that
    begins them and one that waits. A loop over keys whose body is the steps of one tile is turned by half a step, so
    that in iteration n the products of keys n and of values n - 1 are under way together, and the softmax of n runs
    beside the second (FlashAttention-3, arXiv:2407.08608, section 3.2):

    ```
    if there is a tile {
      scores, softmax and rounded weights of the first tile
      for each other tile n {
        begin_scores n; begin_accumulate n - 1
        finish_scores n; softmax of n; finish_accumulate n - 1; round_weights n
      }
      begin_accumulate, finish_accumulate of the last tile
    }
    ```

    Other loops, and other kernels, stay in order. convert-flash-to-nvvm does this to the part of a kernel that multiplies,
    where registers allow it; this pass shows it on the tiled level.
    Example: test/Transforms/flash-overlap-products/doc-example.mlir.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"sm_90a\"", "GPU: sm_80, sm_86, sm_89, sm_90, sm_90a, ...">,
  ];
  let dependentDialects = ["::attn::flash::FlashDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def PingPongPass : Pass<"flash-ping-pong", "::mlir::func::FuncOp"> {
  let summary = "Have two warpgroups multiply by turns";
  let description = [{
    One warpgroup multiplies (keys of tile n + 1 and values of tile n) while the other one does the softmax of tile n, and
    the other way round (FlashAttention-3, arXiv:2407.08608, section 3.1). A turn is the products between two softmaxes.
    The first product of a turn waits for it; behind the last one, which is under way then, it is passed on. Products that
    no softmax follows belong to the turn before. For kernels whose products are split (flash-overlap-products), whether
    their loops are turned or not.

    Decides: `wait_turn` and `pass_turn` of flash.begin_scores and begin_accumulate.
    Example: test/Transforms/flash-ping-pong/doc-example.mlir.
  }];
  let dependentDialects = ["::attn::flash::FlashDialect"];
}

def FreeBuffersPass : Pass<"flash-free-buffers", "::mlir::func::FuncOp"> {
  let summary = "Free each temporary buffer after its last use";
  let description = [{
    Inserts memref.dealloc behind the last use, in the block of the memref.alloc, of every buffer that does not leave
    that block. The runtime frees what is left (buffers that a loop carries or a function returns) when the call ends.

    Precondition: memrefs. Buffers that are freed already are skipped.
    Example: test/Transforms/flash-free-buffers/doc-example.mlir.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def CheckAllocationsPass : Pass<"flash-check-allocations", "::mlir::func::FuncOp"> {
  let summary = "End the call where the size of a buffer overflows";
  let description = [{
    In front of every memref.alloc whose size in bytes may leave 63 bits goes a flash.require that it does not. Static
    sizes that fit need none.

    Precondition: no allocation in parallel loops (flash-outline-parallel has its own check).
    Example: test/Transforms/flash-check-allocations/doc-example.mlir.
  }];
  let dependentDialects = ["::attn::flash::FlashDialect", "::mlir::arith::ArithDialect"];
}

def ExpandOpsPass : Pass<"flash-expand-ops", "::mlir::func::FuncOp"> {
  let summary = "Expand the ops that the LLVM conversion would turn into calls";
  let description = [{
    Leaves no op behind that LLVM could only serve with a library which compiled kernels do not have, or slowly:
    - memref.copy between strided buffers becomes loops (contiguous ones stay: they become memcpy);
    - arith ceildiv and floordiv become divisions; f32 and f64 to bf16 become integer arithmetic (one rounding, to
      nearest even);
    - math.isinf, isnormal, clampf, ipowi and fma of 16-bit types become arith, and fpowi becomes products or powf;
    - f32 vector math (exp, exp2, log, tanh, erf, sin, cos, ...) becomes polynomials; scalar math is left for libm;
    - vector transposes, broadcasts, transfers, masks and the like become the simpler vector ops that LLVM has.
    For a device, which has no libm, scalar math and remainders become vector code, too, and conversions to bf16 stay:
    they are instructions.

    The largest errors in f32, in units of the last place of the result, on CPUs and GPUs, as vectors and as scalars:

    | ulp | functions |
    |---|---|
    | 0 | abs, neg, ceil, floor, trunc, round, roundeven, copysign, minimum, maximum, comparisons, remf |
    | 0.5 | +, -, *, /, fma, sqrt |
    | 0.6 | sin, cos, exp2, powf, fpowi |
    | 1 | atan, cbrt, exp, log, log2, fpowi by a constant |
    | 1.5 | acos, atan2, rsqrt |
    | 2 | acosh, asinh, atanh, cosh, log10, sinh, tan |
    | 3 | erfc, expm1, log1p |
    | 5 | erf, tanh |
    | 8 | asin |

    Functions of f16 and bf16 are computed in f32 and rounded once. Those of f64 are the C library's (4 ulp at most);
    fpowi rounds exponents beyond 53 bits, but not their sign. Zeros, infinities and NaN give what the C library gives.
    Denormals are numbers like others, as arguments and as results; only the softmax's own exponentials are
    off by up to the smallest normal number there. The result of a lane depends on no other lane. Tests:
    test/Integration/CPU/SpecialValuesTest.cpp on all pairs of special values, test/Unit/VectorMathTest.cpp on ranges.

    Precondition: before scf is lowered. Example: test/Transforms/flash-expand-ops/doc-example.mlir.
  }];
  let options = [Option<"onDevice", "on-device", "bool", "false", "expand for the kernels of a GPU">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def ExpandViewsPass : Pass<"flash-expand-views", "::mlir::func::FuncOp"> {
  let summary = "Turn views of buffers into offsets, sizes and strides";
  let description = [{
    Each memref.subview, expand_shape, collapse_shape and reinterpret_cast becomes one memref.reinterpret_cast of the
    buffer that it is a part of, however many views lie between; offset and strides are arith. The metadata and pointers
    of views become those of the buffer. Constants are folded, nothing else is touched.

    Dropped dimensions are those that the shape lacks, merged ones those of the reassociation: no stride is looked at to
    find them. Where sizes that only the run knows are merged, the stride is that of the last one that is not 1.

    Precondition: strided layouts. Example: test/Transforms/flash-expand-views/doc-example.mlir.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def VerifyMachinePass : Pass<"flash-verify-machine", "::mlir::ModuleOp"> {
  let summary = "Check that a module holds nothing but the LLVM dialect";
  let description = [{
    The postcondition of the machine level: errors name each op of another dialect, unrealized casts (of builtin)
    included. Device modules may hold ops of NVVM, too. Changes nothing.
    Example: test/Transforms/flash-verify-machine/doc-example.mlir.
  }];
}

#endif
