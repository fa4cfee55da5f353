// What the processor multiplies and adds at most, in 1e9 products a second of all threads: the
// instructions that products of matrices are made of, on registers alone. A line for each that it
// has: its name, and how many.
#include <omp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <utility>

namespace {

constexpr int kRounds = 100000, kPasses = 10;

// `round` does `products` of them.
template <class Round>
void measure(const char* name, double products, Round round) {
  double best = 0;
  for (int pass = 0; pass < kPasses; ++pass) {
    double start = 0, end = 0;
#pragma omp parallel
    {
#pragma omp barrier
#pragma omp single
      start = omp_get_wtime();
      for (int i = 0; i < kRounds; ++i) round();
#pragma omp barrier
#pragma omp single
      end = omp_get_wtime();
    }
    best = std::max(best, products * kRounds * omp_get_max_threads() / (end - start));
  }
  std::printf("%s %.0f\n", name, best * 1e-9);
}

// Sums in twelve registers, or four tiles, which do not wait for each other.
#define INTO(name, text)                  \
  template <int sums>                     \
  void name() {                           \
    asm volatile(text "%c0" ::"i"(sums)); \
  }
INTO(float32_avx2, "vfmadd231ps %%ymm12, %%ymm13, %%ymm")
INTO(float32_avx512, "vfmadd231ps %%zmm12, %%zmm13, %%zmm")
INTO(bfloat16_avx512, "vdpbf16ps %%zmm12, %%zmm13, %%zmm")
INTO(int8_avx512, "vpdpbusd %%zmm12, %%zmm13, %%zmm")
INTO(bfloat16_amx, "tdpbf16ps %%tmm5, %%tmm4, %%tmm")
INTO(int8_amx, "tdpbssd %%tmm5, %%tmm4, %%tmm")

#define ALL(name, count)                                                                         \
  [] {                                                                                           \
    [&]<int... i>(std::integer_sequence<int, i...>) {                                            \
      (name<i>(), ...);                                                                          \
    }(std::make_integer_sequence<int, count>());                                                 \
    asm volatile("" ::                                                                           \
                     : "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", \
                       "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13");                      \
  }

struct Tiles {
  std::uint8_t palette = 1, start = 0, reserved[14] = {};
  std::uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

bool may_use_tiles() {
  constexpr long kRequest = 0x1023, kTileData = 18;
  return __builtin_cpu_supports("amx-int8") && __builtin_cpu_supports("amx-bf16") &&
         syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
}

}  // namespace

int main() {
  __builtin_cpu_init();
  const bool avx512 = __builtin_cpu_supports("avx512f");
  if (__builtin_cpu_supports("fma")) {
    // No sum overflows, and none is subnormal.
#pragma omp parallel
    asm volatile("vzeroall" ::: "memory");
    measure("float32,avx2", 12 * 8, ALL(float32_avx2, 12));
  }
  if (avx512) measure("float32,avx512", 12 * 16, ALL(float32_avx512, 12));
  if (__builtin_cpu_supports("avx512bf16"))
    measure("bfloat16,avx512", 12 * 32, ALL(bfloat16_avx512, 12));
  if (__builtin_cpu_supports("avx512vnni")) measure("int8,avx512", 12 * 64, ALL(int8_avx512, 12));
  if (may_use_tiles()) {
    static const Tiles shapes;
#pragma omp parallel
    asm volatile("ldtilecfg %0" ::"m"(shapes));
    measure("bfloat16,amx", 4 * 16 * 16 * 32, ALL(bfloat16_amx, 4));
    measure("int8,amx", 4 * 16 * 16 * 64, ALL(int8_amx, 4));
#pragma omp parallel
    asm volatile("tilerelease");
  }
}
