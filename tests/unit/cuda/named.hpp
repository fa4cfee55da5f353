// The named set: every kernel that runs on the CPU. Few enough to be compiled in a minute, and
// between them every operation, mapping and dtype, which a test counts.
#pragma once
#include "codegen/cuda/program.hpp"
#include "kernels.hpp"

namespace plait::test {

// A kernel and how it is to be spread on a device of one multiprocessor, so that few rows are many.
struct Case {
  RandomKernel kernel;
  cuda::Mapping mapping;
  // So much work that the last iterations in one order of threads are enough, or that it is too
  // much for an interpreter of PTX.
  bool slow = false, huge = false;
};
inline const cuda::Target kSmallDevice{.multiprocessors = 1};

// The length of a complex number is no operation that rounds alike everywhere.
inline bool rounds_alike(const ir::Kernel& k) {
  return std::none_of(k.insts.begin(), k.insts.end(), [&](const ir::Inst& i) {
    return i.op == ir::Op::Apply && i.fn == OpId::Absolute &&
           is_complex(k.insts[i.operands[0]].type);
  });
}
inline std::vector<RandomKernel> random_kernels() {
  std::vector<RandomKernel> kernels;
  for (std::uint32_t seed = 0; kernels.size() < 54; ++seed) {
    RandomKernel r = KernelGenerator(seed, false, seed % 4 != 0).make();
    if (cuda::supports(r.kernel, nullptr) && rounds_alike(r.kernel))
      kernels.push_back(std::move(r));
  }
  return kernels;
}

// Whatever is aligned.
inline void add_packs(std::vector<Case>& cases) {
  constexpr DType f4 = DType::Float32, f8 = DType::Float64;
  for (std::int64_t from : {0, 1, 2})
    for (std::int64_t to : {0, 3}) {
      cases.push_back({shifted_kernel(1, 4099, 0, from, to, f4, true), {.pack = 4}});
      cases.push_back({shifted_kernel(40, 101, 104 + from, from, to, from == 1 ? f8 : f4, false),
                       {.pack = from == 1 ? 2 : 4}});
    }
  cases.push_back({shifted_kernel(100, 40, 40, 0, 0, f4, false), {}});
}

// k-means: means, stored (K, D) or (D, K), and points in shared memory, as a whole or in pieces
// along K or D.
inline void add_tiles(std::vector<Case>& cases) {
  constexpr DType f4 = DType::Float32, f8 = DType::Float64;
  const auto add = [&](std::int64_t means, std::int64_t columns, DType t, cuda::Mapping m,
                       std::int64_t points = 513, bool turned = false) {
    cases.push_back({nearest_kernel(points, means, columns, t, turned), m, means * columns > 20000,
                     points * means * columns > 25'000'000});
  };
  const cuda::Mapping both{.whole_tiles = true, .row_tiles = true}, means{.whole_tiles = true};
  const auto pieces = [](cuda::Mapping m, std::int32_t loop, int threads = 128) {
    m.streamed = loop;
    m.row_threads = threads;
    return m;
  };
  constexpr std::int32_t along_k = 1, along_d = 2;
  add(5, 20, f4, both, 1100);
  add(64, 33, f8, both, 1100);
  add(64, 64, f4, both);
  add(3, 2, f8, means, 1100);
  add(900, 40, f4, pieces(both, along_k), 1100);
  add(200, 200, f4, pieces(both, along_k));
  add(200, 150, f8, pieces(both, along_k, 64));
  add(1100, 128, f4, pieces(both, along_k));
  add(20000, 3, f4, pieces(means, along_k));
  add(5, 2001, f4, pieces(both, along_d));
  add(9, 700, f4, pieces(both, along_d), 1100);
  add(2, 30000, f4, pieces(both, along_d));
  add(3, 1000, f8, pieces(both, along_d, 64));
  add(901, 40, f4, pieces(both, along_k), 1100, true);
  add(200, 150, f8, pieces(both, along_k, 64), 513, true);
  add(4096, 128, f4, pieces(both, along_k), 513, true);
  add(20000, 3, f4, pieces(means, along_k), 513, true);
  add(9, 2001, f4, pieces(both, along_d), 513, true);
  for (bool turned : {false, true}) {
    cases.push_back({nearest_short_kernel(513, 9001, 4, f4, turned), pieces(means, along_k), true});
    cases.push_back({nearest_short_kernel(1100, 21, 3, f8, turned), means});
  }
}

inline void add_transposed(std::vector<Case>& cases) {
  const auto add = [&](RandomKernel k, bool transposed) {
    cases.push_back({std::move(k), {.transposed = transposed}});
  };
  add(transposed_kernel(1, 64, 96, DType::Float32), true);
  add(transposed_kernel(3, 33, 70, DType::Float64), true);
  add(transposed_kernel(2, 131, 37, DType::Complex128), true);
  add(transposed_kernel(1, 200, 31, DType::Float32), false);
}

inline void add_rows(std::vector<Case>& cases) {
  constexpr DType f2 = DType::Float16, f4 = DType::Float32, f8 = DType::Float64,
                  c8 = DType::Complex64;
  const auto add = [&](RowWork work, std::int64_t rows, std::int64_t columns, DType t, int team,
                       bool kept, bool shared = true) {
    cases.push_back({row_kernel(work, rows, columns, t),
                     {.team = team, .rows_shared = shared, .keeps_rows = kept}});
  };
  add(RowWork::Softmax, 300, 100, f4, 8, true);
  add(RowWork::Softmax, 70, 700, f8, 32, true);
  add(RowWork::Softmax, 3, 1000, f4, 256, true);
  add(RowWork::Softmax, 2, 9000, f8, 1024, true);
  add(RowWork::Softmax, 2, 70000, f4, 1024, false, false);
  add(RowWork::Standardise, 5, 130, f4, 32, true);
  add(RowWork::Standardise, 3, 2049, f8, 256, true);
  add(RowWork::Standardise, 2, 33000, f4, 1024, true);
  add(RowWork::Standardise, 2, 58000, f4, 1024, false);
  add(RowWork::Standardise, 66, 90, f8, 8, true);
  add(RowWork::Standardise, 3, 5000, f4, 256, true);
  add(RowWork::Standardise, 3, 1001, f2, 256, true);
  add(RowWork::ArgMax, 80, 260, f4, 32, false);
  add(RowWork::ArgMax, 1, 9001, f8, 1024, false);
  add(RowWork::Sums, 4, 1031, c8, 256, false);
  add(RowWork::Sums, 70, 33, f4, 8, false);
  add(RowWork::Sums, 1, 70001, f8, 1024, false);
  add(RowWork::Sums, 3, 6000, f2, 256, false);
}

inline std::vector<Case> mapping_cases() {
  std::vector<Case> cases;
  add_packs(cases);
  add_tiles(cases);
  add_transposed(cases);
  add_rows(cases);
  return cases;
}

// Joins of partial results: kind, dtype, whether in NumPy's tree.
struct JoinCase {
  ReduceKind kind;
  DType dtype;
  bool tree;
};
inline const std::vector<JoinCase> kJoins = {{ReduceKind::Sum, DType::Float64, true},
                                             {ReduceKind::Sum, DType::Float64, false},
                                             {ReduceKind::ArgMax, DType::Float64, false}};

}  // namespace plait::test
