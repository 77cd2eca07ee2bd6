//===- MatrixOperations.cpp - ldmatrix, stmatrix and mma.sync -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layouts of the PTX ISA, for lane l with g = l / 4 and t = l % 4:
//   8x8 matrix of ldmatrix: elements (g, 2t) and (g, 2t + 1); .trans: (2t, g) and (2t + 1, g)
//   A, two elements a register: register i holds (g + 8 (i % R), 2t + 8 (i / R)) and its right neighbour, R = M / 8
//   A, one element a register: (g + 8 (i % R), t + 4 (i / R))
//   B: register i holds k = 2t + 8i and 2t + 8i + 1, or k = t + 4i, of column g
//   C and D: element i is (g + 8 (i / 2), 2t + i % 2)
//
//===----------------------------------------------------------------------===//

#include "Numbers.h"
#include "Operations.h"
#include "Vectorize.h"

using namespace attn::emulator;

static constexpr uint32_t kRows = 8;
static constexpr uint32_t kRowBytes = 16;

//===----------------------------------------------------------------------===//
// ldmatrix and stmatrix: lane 8 m + r has the address of row r of matrix m
//===----------------------------------------------------------------------===//

/// The rows of matrix m, checked.
template <bool Writes> static void findRows(Warp &warp, const Site &site, uint32_t matrix, char *(&rows)[kRows]) {
  Block &block = *warp.block;
  uint32_t offsets[kRows];
  for (uint32_t row = 0; row < kRows; ++row) {
    uint32_t lane = matrix * kRows + row;
    Thread &thread = warp.threads[lane];
    rows[row] = block.shared(thread, site, argument<uint64_t>(warp.arguments[lane], 0), kRowBytes, kRowBytes);
    offsets[row] = block.offsetOf(rows[row]);
    if (Writes)
      block.noteWrite(thread, site, rows[row], kRowBytes);
    else
      block.noteRead(thread, site, rows[row], kRowBytes);
  }
  if (block.launchState().counts)
    block.counters.bankConflicts += countBankConflicts(offsets, kRows, kRowBytes);
}

static void requireWholeWarp(Thread &thread, const Site &site) {
  if (thread.warp->lanes != ~0u)
    thread.block->fail(thread, site,
                       "expects a warp of 32 threads, but got " + llvm::Twine(__builtin_popcount(thread.warp->lanes)));
}

/// What ldmatrix and stmatrix share. Where this is the last lane to come: move(lane, at, shared, bytes) for each part
/// of a row that the lane's registers hold, `at` bytes from the first of them: two neighbours, or with `Transposes` one
/// element of each of two rows. False for the other lanes.
template <uint32_t Matrices, bool Transposes, bool Writes, typename Move>
static bool moveMatrices(Thread &thread, const Site &site, const uint64_t *arguments, void *results, Move move) {
  requireWholeWarp(thread, site);
  if (!thread.block->arrive(thread, site, ~0u, arguments, results))
    return false;
  for (uint32_t matrix = 0; matrix < Matrices; ++matrix) {
    char *rows[kRows];
    findRows<Writes>(*thread.warp, site, matrix, rows);
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      uint32_t g = lane / 4, t = lane % 4;
      if (Transposes) {
        move(lane, matrix * 4, rows[2 * t] + g * 2, 2);
        move(lane, matrix * 4 + 2, rows[2 * t + 1] + g * 2, 2);
      } else {
        move(lane, matrix * 4, rows[g] + t * 4, 4);
      }
    }
  }
  return true;
}

template <uint32_t Matrices, bool Transposes>
static void loadMatrix(Thread &thread, const Site &site, const uint64_t *arguments, void *results) {
  auto move = [&](uint32_t lane, uint32_t at, const char *shared, size_t bytes) {
    std::memcpy(static_cast<char *>(thread.warp->results[lane]) + at, shared, bytes);
  };
  if (!moveMatrices<Matrices, Transposes, /*Writes=*/false>(thread, site, arguments, results, move))
    return;
  ++thread.block->counters.ldmatrix;
  thread.block->release(thread, ~0u);
}

template <uint32_t Matrices, bool Transposes>
static void storeMatrix(Thread &thread, const Site &site, const uint64_t *arguments, void *results) {
  // The register of matrix m is the low half of argument 1 + m.
  auto move = [&](uint32_t lane, uint32_t at, char *shared, size_t bytes) {
    auto *value = reinterpret_cast<const char *>(thread.warp->arguments[lane] + 1 + at / 4);
    std::memcpy(shared, value + at % 4, bytes);
  };
  if (!moveMatrices<Matrices, Transposes, /*Writes=*/true>(thread, site, arguments, results, move))
    return;
  ++thread.block->counters.stmatrix;
  thread.block->release(thread, ~0u);
}

//===----------------------------------------------------------------------===//
// mma.sync
//===----------------------------------------------------------------------===//

struct F16 {
  using Number = float;
  static constexpr uint32_t kInRegister = 2;
  static float read(uint64_t slot, uint32_t element) { return f16ToFloat(uint16_t(slot >> 16 * element)); }
};
struct Bf16 {
  using Number = float;
  static constexpr uint32_t kInRegister = 2;
  static float read(uint64_t slot, uint32_t element) { return bf16ToFloat(uint16_t(slot >> 16 * element)); }
};
struct Tf32 {
  using Number = float;
  static constexpr uint32_t kInRegister = 1;
  static float read(uint64_t slot, uint32_t) { return tf32ToFloat(uint32_t(slot)); }
};
struct F64 {
  using Number = double;
  static constexpr uint32_t kInRegister = 1;
  static double read(uint64_t slot, uint32_t) {
    double value;
    std::memcpy(&value, &slot, sizeof(value));
    return value;
  }
};

/// D = A B + C with A of M x K and B of K x 8. C and D are numbers, or with F16Sums pairs of f16.
template <typename Element, uint32_t M, uint32_t K, bool F16Sums = false> struct Mma {
  using Number = typename Element::Number;
  static constexpr uint32_t kN = 8;
  static constexpr uint32_t kIn = Element::kInRegister;
  static constexpr uint32_t kGroups = M / 8;
  static constexpr uint32_t kRegistersA = M * K / kWarpSize / kIn;
  static constexpr uint32_t kRegistersB = kN * K / kWarpSize / kIn;
  static constexpr uint32_t kSums = M * kN / kWarpSize;
  /// Columns of A, rows of B, that all lanes' i-th registers cover.
  static constexpr uint32_t kSpan = 4 * kIn;

  static void gather(const Warp &warp, Number (&a)[M][K], Number (&b)[K][kN]) {
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      const uint64_t *slots = warp.arguments[lane];
      uint32_t g = lane / 4, t = lane % 4;
      for (uint32_t i = 0; i < kRegistersA; ++i)
        for (uint32_t e = 0; e < kIn; ++e)
          a[g + 8 * (i % kGroups)][kIn * t + e + kSpan * (i / kGroups)] = Element::read(slots[i], e);
      for (uint32_t i = 0; i < kRegistersB; ++i)
        for (uint32_t e = 0; e < kIn; ++e)
          b[kIn * t + e + kSpan * i][g] = Element::read(slots[kRegistersA + i], e);
    }
  }

  static void scatter(const Warp &warp, const Number (&product)[M][kN]) {
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      const uint64_t *sums = warp.arguments[lane] + kRegistersA + kRegistersB;
      for (uint32_t i = 0; i < kSums; ++i) {
        Number value = product[lane / 4 + 8 * (i / 2)][lane % 4 * 2 + i % 2];
        if constexpr (F16Sums)
          setResult(warp.results[lane], floatToF16(F16::read(sums[i / 2], i % 2) + value), i * 2);
        else
          setResult<Number>(warp.results[lane], argument<Number>(sums, i) + value, i * sizeof(Number));
      }
    }
  }

  static void product8(const float *a, const float *b, float *product) { multiplyBy8(a, b, product, M, K); }
  static void product8(const double *a, const double *b, double *product) {
    for (uint32_t m = 0; m < M; ++m)
      for (uint32_t n = 0; n < kN; ++n) {
        double sum = 0;
        for (uint32_t k = 0; k < K; ++k)
          sum += a[m * K + k] * b[k * kN + n];
        product[m * kN + n] = sum;
      }
  }

  static void run(Thread &thread, const Site &site, const uint64_t *arguments, void *results) {
    requireWholeWarp(thread, site);
    if (!thread.block->arrive(thread, site, ~0u, arguments, results))
      return;
    Number a[M][K], b[K][kN];
    gather(*thread.warp, a, b);
    Number product[M][kN];
    product8(&a[0][0], &b[0][0], &product[0][0]);
    scatter(*thread.warp, product);
    ++thread.block->counters.mma;
    thread.block->release(thread, ~0u);
  }
};

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

template <uint32_t Matrices> static void addMatrixMoves(OperationTable &table) {
  for (const char *space : {".p0", ".p3"}) {
    auto name = [&](const char *operation, const char *layout) {
      return (kNvvm + llvm::Twine(operation) + ".sync.aligned.m8n8.x" + llvm::Twine(Matrices) + layout + ".b16" + space)
          .str();
    };
    table.handle(name("ldmatrix", ""), loadMatrix<Matrices, false>);
    table.handle(name("ldmatrix", ".trans"), loadMatrix<Matrices, true>);
    table.handle(name("stmatrix", ""), storeMatrix<Matrices, false>);
    table.handle(name("stmatrix", ".trans"), storeMatrix<Matrices, true>);
  }
}

void attn::emulator::addMatrixOperations(OperationTable &table) {
  addMatrixMoves<1>(table);
  addMatrixMoves<2>(table);
  addMatrixMoves<4>(table);
  const std::string prefix = std::string(kNvvm) + "mma.";
  table.handle(prefix + "m16n8k16.row.col.f32.f32", Mma<F16, 16, 16>::run);
  table.handle(prefix + "m16n8k8.row.col.f32.f32", Mma<F16, 16, 8>::run);
  table.handle(prefix + "m16n8k16.row.col.f16.f16", Mma<F16, 16, 16, true>::run);
  table.handle(prefix + "m16n8k8.row.col.f16.f16", Mma<F16, 16, 8, true>::run);
  table.handle(prefix + "m16n8k16.row.col.bf16", Mma<Bf16, 16, 16>::run);
  table.handle(prefix + "m16n8k8.row.col.bf16", Mma<Bf16, 16, 8>::run);
  table.handle(prefix + "m16n8k8.row.col.tf32", Mma<Tf32, 16, 8>::run);
  table.handle(prefix + "m16n8k4.row.col.tf32", Mma<Tf32, 16, 4>::run);
  table.handle(prefix + "m8n8k4.row.col.f64", Mma<F64, 8, 4>::run);
  table.handle(prefix + "m16n8k4.row.col.f64", Mma<F64, 16, 4>::run);
  table.handle(prefix + "m16n8k8.row.col.f64", Mma<F64, 16, 8>::run);
  table.handle(prefix + "m16n8k16.row.col.f64", Mma<F64, 16, 16>::run);
}
