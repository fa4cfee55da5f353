// Matrix products through a CBLAS found at run time: the one NumPy has loaded in this process,
// PLAIT_BLAS, or the system's OpenBLAS. It is called single-threaded on fixed tiles that the engine
// schedules, because a threaded BLAS changes bits with the number of threads.
#include "gemm.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <string>

#include "core/config.hpp"
#include "direct.hpp"
#include "engine.hpp"

namespace plait::engine {

namespace {

constexpr int kRowMajor = 101, kNoTrans = 111, kTrans = 112;
constexpr std::int64_t kTileRows = 192;

template <class Int>
struct Cblas {
  using S = void (*)(int, int, int, Int, Int, Int, float, const float*, Int, const float*, Int,
                     float, float*, Int);
  using D = void (*)(int, int, int, Int, Int, Int, double, const double*, Int, const double*, Int,
                     double, double*, Int);
  using Z = void (*)(int, int, int, Int, Int, Int, const void*, const void*, Int, const void*, Int,
                     const void*, void*, Int);
  S s = nullptr;
  D d = nullptr;
  Z c = nullptr, z = nullptr;

  void call(DType t, int ta, int tb, Int m, Int n, Int k, const void* a, Int lda, const void* b,
            Int ldb, void* out, Int ldc) const {
    const std::complex<float> one32(1), zero32(0);
    const std::complex<double> one64(1), zero64(0);
    switch (t) {
      case DType::Float32:
        s(kRowMajor, ta, tb, m, n, k, 1, static_cast<const float*>(a), lda,
          static_cast<const float*>(b), ldb, 0, static_cast<float*>(out), ldc);
        break;
      case DType::Float64:
        d(kRowMajor, ta, tb, m, n, k, 1, static_cast<const double*>(a), lda,
          static_cast<const double*>(b), ldb, 0, static_cast<double*>(out), ldc);
        break;
      case DType::Complex64:
        c(kRowMajor, ta, tb, m, n, k, &one32, a, lda, b, ldb, &zero32, out, ldc);
        break;
      default:
        z(kRowMajor, ta, tb, m, n, k, &one64, a, lda, b, ldb, &zero64, out, ldc);
        break;
    }
  }
};

struct Library {
  Cblas<int> narrow;
  Cblas<std::int64_t> wide;
  bool is_wide = false;
  int (*set_local)(int) = nullptr;  // threads for the calling thread; gives the number before
  void (*set_global)(int) = nullptr;
  int (*get_global)() = nullptr;
  bool good = false;
};

template <class F>
bool symbol(void* lib, const std::string& name, F& f) {
  f = reinterpret_cast<F>(dlsym(lib, name.c_str()));
  return f != nullptr;
}

template <class Int>
bool load(void* lib, const std::string& prefix, const std::string& suffix, Cblas<Int>& c) {
  return symbol(lib, prefix + "cblas_sgemm" + suffix, c.s) &&
         symbol(lib, prefix + "cblas_dgemm" + suffix, c.d) &&
         symbol(lib, prefix + "cblas_cgemm" + suffix, c.c) &&
         symbol(lib, prefix + "cblas_zgemm" + suffix, c.z);
}

bool use(void* lib, Library& l) {
  if (!lib) return false;
  struct Spelling {
    const char *prefix, *suffix;
    bool wide;
  };
  for (const Spelling s : {Spelling{"scipy_", "64_", true},
                           {"", "64_", true},
                           {"scipy_", "", false},
                           {"", "", false}}) {
    if (!(s.wide ? load(lib, s.prefix, s.suffix, l.wide) : load(lib, s.prefix, s.suffix, l.narrow)))
      continue;
    const std::string p = s.prefix, x = s.suffix;
    symbol(lib, p + "openblas_set_num_threads_local" + x, l.set_local);
    symbol(lib, p + "openblas_set_num_threads" + x, l.set_global);
    symbol(lib, p + "openblas_get_num_threads" + x, l.get_global);
    l.is_wide = s.wide;
    return l.good = true;
  }
  return false;
}

// NumPy's wheels carry an OpenBLAS of their own.
int find_openblas(dl_phdr_info* info, std::size_t, void* out) {
  if (!info->dlpi_name || !std::strstr(info->dlpi_name, "openblas")) return 0;
  *static_cast<std::string*>(out) = info->dlpi_name;
  return 1;
}

Library find_library() {
  Library l;
  if (const char* named = std::getenv("PLAIT_BLAS")) {
    use(dlopen(named, RTLD_NOW | RTLD_LOCAL), l);
    return l;
  }
  std::string loaded;
  dl_iterate_phdr(find_openblas, &loaded);
  if (!loaded.empty() && use(dlopen(loaded.c_str(), RTLD_NOW | RTLD_NOLOAD), l)) return l;
  // Debian's 0.3.21 takes newer processors for a Haswell.
  if (config().tier == CpuTier::Avx512) setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
  use(dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL), l);
  return l;
}

const Library& library() {
  static const Library l = find_library();
  return l;
}

// Row-major operand for CBLAS: transposed or not, and its leading dimension in elements; false for
// other strides.
bool orient(std::int64_t row, std::int64_t column, std::int64_t rows, std::int64_t columns,
            std::int64_t item, int& trans, std::int64_t& ld) {
  if ((column == item || columns == 1) && row % item == 0 && (row >= columns * item || rows == 1)) {
    trans = kNoTrans;
    ld = std::max(rows == 1 ? columns : row / item, columns);
    return true;
  }
  if ((row == item || rows == 1) && column % item == 0 && (column >= rows * item || columns == 1)) {
    trans = kTrans;
    ld = std::max(columns == 1 ? rows : column / item, rows);
    return true;
  }
  return false;
}

class OneThread {
 public:
  explicit OneThread(const Library& l) : l_(l) {
    if (l_.set_local)
      before_ = l_.set_local(1);
    else if (l_.get_global && l_.set_global && (before_ = l_.get_global()) != 1)
      l_.set_global(1);
  }
  ~OneThread() {
    if (l_.set_local)
      l_.set_local(before_);
    else if (l_.set_global && before_ > 1)
      l_.set_global(before_);
  }

 private:
  const Library& l_;
  int before_ = 1;
};

bool gemm(const Gemm& g) {
  if (g.dtype != DType::Float32 && g.dtype != DType::Float64 && g.dtype != DType::Complex64 &&
      g.dtype != DType::Complex128)
    return false;
  const Library& l = library();
  if (!l.good || g.m == 0 || g.n == 0 || g.k == 0) return false;
  const auto item = static_cast<std::int64_t>(itemsize(g.dtype));
  int ta = 0, tb = 0;
  std::int64_t lda = 0, ldb = 0;
  if (!orient(g.a_row, g.a_column, g.m, g.k, item, ta, lda) ||
      !orient(g.b_row, g.b_column, g.k, g.n, item, tb, ldb))
    return false;
  constexpr std::int64_t kMost = 1 << 30;
  if (!l.is_wide && std::max({g.m, g.n, g.k, lda, ldb}) > kMost) return false;

  const std::int64_t tiles = (g.m + kTileRows - 1) / kTileRows;
  const bool team =
      tiles > 1 &&
      static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k) > 1e6;
  const OneThread here(l);
#pragma omp parallel for num_threads(team ? num_threads() : 1) schedule(dynamic, 1) if (team)
  for (std::int64_t t = 0; t < tiles; ++t) {
    if (l.set_local) l.set_local(1);
    const std::int64_t first = t * kTileRows, rows = std::min(kTileRows, g.m - first);
    const auto* a = static_cast<const std::byte*>(g.a) + first * g.a_row;
    auto* c = static_cast<std::byte*>(g.c) + first * g.n * item;
    if (l.is_wide)
      l.wide.call(g.dtype, ta, tb, rows, g.n, g.k, a, lda, g.b, ldb, c, g.n);
    else
      l.narrow.call(g.dtype, ta, tb, static_cast<int>(rows), static_cast<int>(g.n),
                    static_cast<int>(g.k), a, static_cast<int>(lda), g.b, static_cast<int>(ldb), c,
                    static_cast<int>(g.n));
  }
  return true;
}

}  // namespace

void install_blas() { set_gemm(gemm); }

}  // namespace plait::engine
