// Matrix products through a CBLAS found at run time. It is called single-threaded on fixed tiles
// that the engine schedules, because a threaded BLAS changes bits with the number of threads.
#include "gemm.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <optional>
#include <string>

#include "blas_library.hpp"
#include "core/buffer.hpp"
#include "core/replaceable.hpp"
#include "engine/direct/direct.hpp"
#include "engine/direct/direct_kernels.hpp"
#include "engine/direct/mirror.hpp"
#include "engine/engine.hpp"
#include "engine/threads/interruption.hpp"
#include "engine/threads/team.hpp"
#include "product.hpp"

namespace plait::engine {

namespace {

constexpr int kRowMajor = 101, kNoTrans = 111, kTrans = 112, kUpper = 121;
constexpr std::int64_t kTileRows = 192;
constexpr std::int64_t kTileProducts = 1 << 16;  // of a matrix and a vector
// Between two looks whether somebody waits for an end: some ten milliseconds.
constexpr std::int64_t kMostProducts = std::int64_t{1} << 28, kMostRead = std::int64_t{1} << 25;
constexpr std::int64_t kPanel = 64;  // columns of a tile come in multiples of it
// Multiplications so few that no library divides them among threads: telling it not to costs more
// than they do.
constexpr double kFewProducts = 4096;

template <class Int>
struct Cblas {
  using S = void (*)(int, int, int, Int, Int, Int, float, const float*, Int, const float*, Int,
                     float, float*, Int);
  using D = void (*)(int, int, int, Int, Int, Int, double, const double*, Int, const double*, Int,
                     double, double*, Int);
  using Z = void (*)(int, int, int, Int, Int, Int, const void*, const void*, Int, const void*, Int,
                     const void*, void*, Int);
  using Sv = void (*)(int, int, Int, Int, float, const float*, Int, const float*, Int, float,
                      float*, Int);
  using Dv = void (*)(int, int, Int, Int, double, const double*, Int, const double*, Int, double,
                      double*, Int);
  using Zv = void (*)(int, int, Int, Int, const void*, const void*, Int, const void*, Int,
                      const void*, void*, Int);
  using Syrk = void (*)(int, int, int, Int, Int, float, const float*, Int, float, float*, Int);
  using Dsyrk = void (*)(int, int, int, Int, Int, double, const double*, Int, double, double*, Int);
  using Zsyrk = void (*)(int, int, int, Int, Int, const void*, const void*, Int, const void*, void*,
                         Int);
  S s = nullptr;
  D d = nullptr;
  Z c = nullptr, z = nullptr;
  Sv sv = nullptr;
  Dv dv = nullptr;
  Zv cv = nullptr, zv = nullptr;
  Syrk ssyrk = nullptr;
  Dsyrk dsyrk = nullptr;
  Zsyrk csyrk = nullptr, zsyrk = nullptr;

  // On and right of the diagonal of a @ a.T. As the others, `adds` to `out` or not.
  void square(DType t, int ta, Int n, Int k, const void* a, Int lda, void* out, Int ldc,
              bool adds) const {
    const float beta = adds ? 1 : 0;
    const std::complex<float> one32(1), beta32(beta);
    const std::complex<double> one64(1), beta64(beta);
    switch (t) {
      case DType::Float32:
        ssyrk(kRowMajor, kUpper, ta, n, k, 1, static_cast<const float*>(a), lda, beta,
              static_cast<float*>(out), ldc);
        break;
      case DType::Float64:
        dsyrk(kRowMajor, kUpper, ta, n, k, 1, static_cast<const double*>(a), lda, beta,
              static_cast<double*>(out), ldc);
        break;
      case DType::Complex64:
        csyrk(kRowMajor, kUpper, ta, n, k, &one32, a, lda, &beta32, out, ldc);
        break;
      default:
        zsyrk(kRowMajor, kUpper, ta, n, k, &one64, a, lda, &beta64, out, ldc);
        break;
    }
  }

  // A matrix of `rows` rows in memory, or what is its transpose, times a vector.
  void vector(DType t, int trans, Int rows, Int columns, const void* a, Int lda, const void* x,
              Int step, void* y, bool adds) const {
    const float beta = adds ? 1 : 0;
    const std::complex<float> one32(1), beta32(beta);
    const std::complex<double> one64(1), beta64(beta);
    switch (t) {
      case DType::Float32:
        sv(kRowMajor, trans, rows, columns, 1, static_cast<const float*>(a), lda,
           static_cast<const float*>(x), step, beta, static_cast<float*>(y), 1);
        break;
      case DType::Float64:
        dv(kRowMajor, trans, rows, columns, 1, static_cast<const double*>(a), lda,
           static_cast<const double*>(x), step, beta, static_cast<double*>(y), 1);
        break;
      case DType::Complex64:
        cv(kRowMajor, trans, rows, columns, &one32, a, lda, x, step, &beta32, y, 1);
        break;
      default:
        zv(kRowMajor, trans, rows, columns, &one64, a, lda, x, step, &beta64, y, 1);
        break;
    }
  }

  void call(DType t, int ta, int tb, Int m, Int n, Int k, const void* a, Int lda, const void* b,
            Int ldb, void* out, Int ldc, bool adds) const {
    const float beta = adds ? 1 : 0;
    const std::complex<float> one32(1), beta32(beta);
    const std::complex<double> one64(1), beta64(beta);
    switch (t) {
      case DType::Float32:
        s(kRowMajor, ta, tb, m, n, k, 1, static_cast<const float*>(a), lda,
          static_cast<const float*>(b), ldb, beta, static_cast<float*>(out), ldc);
        break;
      case DType::Float64:
        d(kRowMajor, ta, tb, m, n, k, 1, static_cast<const double*>(a), lda,
          static_cast<const double*>(b), ldb, beta, static_cast<double*>(out), ldc);
        break;
      case DType::Complex64:
        c(kRowMajor, ta, tb, m, n, k, &one32, a, lda, b, ldb, &beta32, out, ldc);
        break;
      default:
        z(kRowMajor, ta, tb, m, n, k, &one64, a, lda, b, ldb, &beta64, out, ldc);
        break;
    }
  }
};

struct Library {
  const BlasLibrary& of;
  Cblas<int> narrow{};
  Cblas<std::int64_t> wide{};
  bool good = false;
};

template <class Int>
bool load(const BlasLibrary& l, Cblas<Int>& c) {
  return l.find("cblas_sgemm", c.s) && l.find("cblas_dgemm", c.d) && l.find("cblas_cgemm", c.c) &&
         l.find("cblas_zgemm", c.z) && l.find("cblas_sgemv", c.sv) && l.find("cblas_dgemv", c.dv) &&
         l.find("cblas_cgemv", c.cv) && l.find("cblas_zgemv", c.zv) &&
         l.find("cblas_ssyrk", c.ssyrk) && l.find("cblas_dsyrk", c.dsyrk) &&
         l.find("cblas_csyrk", c.csyrk) && l.find("cblas_zsyrk", c.zsyrk);
}

Library load_library() {
  Library l{blas_library()};
  l.good = l.of.is_wide ? load(l.of, l.wide) : load(l.of, l.narrow);
  return l;
}

const Library& library() {
  static const Library l = load_library();
  return l;
}

// A row-major operand as CBLAS takes it: transposed or not, and its leading dimension in elements.
// One whose elements lie apart along both axes is copied.
struct GemmOperand {
  const std::byte* at;
  std::int64_t row, column;  // bytes
  int trans = kNoTrans;
  std::int64_t ld = 0;
  Ref<Buffer> copy;

  GemmOperand(DType t, const void* data, std::int64_t row_stride, std::int64_t column_stride,
              std::int64_t rows, std::int64_t columns)
      : at(static_cast<const std::byte*>(data)), row(row_stride), column(column_stride) {
    const auto item = static_cast<std::int64_t>(itemsize(t));
    if (const auto l = blas_layout(item, row, column, rows, columns)) {
      trans = l->transposed ? kTrans : kNoTrans;
      ld = l->ld;
    } else {
      copy = allocate(static_cast<std::size_t>(rows * columns * item));
      const Dims shape{rows, columns};
      run_cast(t, t, shape, {const_cast<std::byte*>(at), Dims{row, column}},
               {copy->data, Dims{columns * item, item}});
      at = copy->data;
      row = columns * item;
      column = item;
      ld = columns;
    }
  }
};

// The transpose of a product whose result is one row: of one column.
MatrixProduct upright(const MatrixProduct& g) {
  if (g.m != 1 || g.n == 1) return g;
  MatrixProduct t = g;
  t.m = g.n;
  t.n = 1;
  t.a = g.b;
  t.a_row = g.b_column;
  t.a_column = g.b_row;
  t.b = g.a;
  t.b_row = g.a_column;
  t.b_column = g.a_row;
  return t;
}

// One entry of a batch.
bool multiply(const Library& l, const MatrixProduct& as_given) {
  const MatrixProduct g = upright(as_given);
  const auto item = static_cast<std::int64_t>(itemsize(g.dtype));
  const GemmOperand a(g.dtype, g.a, g.a_row, g.a_column, g.m, g.k);
  const bool column = g.n == 1 && g.b_row > 0 && g.b_row % item == 0;
  const std::int64_t step = g.b_row / item;  // of a column
  const GemmOperand b(g.dtype, g.b, column ? item : g.b_row, g.b_column, g.k, g.n);
  constexpr std::int64_t kMost = 1 << 30;
  if (!l.of.is_wide && std::max({g.m, g.n, g.k, a.ld, b.ld, step}) > kMost) return false;

  const bool symmetric = !column && by_own_transpose(g);
  const std::int64_t height = column ? std::clamp(kMostRead / g.k, std::int64_t{8},
                                                  std::max(kTileRows, kTileProducts / g.k))
                                     : kTileRows;
  const std::int64_t most = kMostProducts / (is_complex(g.dtype) ? 4 : 1);
  const std::int64_t width = std::max(most / (height * g.k * kPanel), std::int64_t{1}) * kPanel;
  // Of the sums; what comes later is added.
  const std::int64_t depth =
      column ? std::max(kMostRead / height, std::int64_t{1}) : most / (height * kPanel);
  const std::int64_t tiles = (g.m + height - 1) / height;
  const double products =
      static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k);
  std::optional<OneBlasThread> here;
  if (products > kFewProducts) here.emplace();
  // Fewer run with the lock held that a handler may need.
  Interruption interruption(products >= static_cast<double>(kUnlockedProducts));
  auto tile = [&]<class Int>(const Cblas<Int>& blas, std::int64_t first, std::int64_t rows,
                             int worker) {
    const auto n = [](std::int64_t v) { return static_cast<Int>(v); };
    const std::byte* part = a.at + first * a.row;
    std::byte* c = g.c + first * g.n * item;
    if (column) {
      const bool turned = a.trans == kTrans;
      for (std::int64_t k = 0; k < g.k && interruption.goes_on(worker); k += depth) {
        const std::int64_t some = std::min(depth, g.k - k);
        blas.vector(g.dtype, a.trans, n(turned ? some : rows), n(turned ? rows : some),
                    part + k * a.column, n(a.ld), g.b + k * g.b_row, n(step), c, k > 0);
      }
      return;
    }
    std::int64_t left = 0;
    if (symmetric) {
      for (std::int64_t k = 0; k < g.k && interruption.goes_on(worker); k += depth)
        blas.square(g.dtype, a.trans, n(rows), n(std::min(depth, g.k - k)), part + k * a.column,
                    n(a.ld), c + first * item, n(g.n), k > 0);
      left = first + rows;
    }
    for (; left < g.n; left += width)
      for (std::int64_t k = 0; k < g.k && interruption.goes_on(worker); k += depth)
        blas.call(g.dtype, a.trans, b.trans, n(rows), n(std::min(width, g.n - left)),
                  n(std::min(depth, g.k - k)), part + k * a.column, n(a.ld),
                  b.at + left * b.column + k * b.row, n(b.ld), c + left * item, n(g.n), k > 0);
  };
  auto run = [&](std::int64_t t, int worker) {
    const std::int64_t first = t * height, rows = std::min(height, g.m - first);
    if (l.of.is_wide)
      tile(l.wide, first, rows, worker);
    else
      tile(l.narrow, first, rows, worker);
  };
  const double read = static_cast<double>((g.m + g.n) * g.k * item);
  const double seconds = std::max(seconds_of(g, fusion::ProductImpl::Blas),
                                  fusion::memory_seconds(host_machine(), read));
  const ParallelLoop loop{.extent = tiles, .seconds = seconds, .threads = team_threads(seconds)};
  run_parallel(loop, [&](std::int64_t begin, std::int64_t end, int worker) {
    if (worker != 0 && l.of.set_local) l.of.set_local(1);
    for (std::int64_t t = begin; t < end && interruption.goes_on(worker); ++t) run(t, worker);
    return interruption.goes_on(worker);
  });
  interruption.end();
  if (symmetric) mirror_upper(g.dtype, g.c, g.n);
  return true;
}

}  // namespace

std::optional<BlasLayout> blas_layout(std::int64_t item, std::int64_t row, std::int64_t column,
                                      std::int64_t rows, std::int64_t columns) {
  const auto fits = [item](std::int64_t wide, std::int64_t narrow, std::int64_t lines,
                           std::int64_t length) {
    return (narrow == item || length == 1) && wide % item == 0 &&
           (wide >= length * item || lines == 1);
  };
  if (fits(row, column, rows, columns))
    return BlasLayout{false, std::max(rows == 1 ? columns : row / item, columns)};
  if (fits(column, row, columns, rows))
    return BlasLayout{true, std::max(columns == 1 ? rows : column / item, rows)};
  return std::nullopt;
}

PLAIT_REPLACEABLE bool blas_product(const MatrixProduct& p) {
  if (!p.types().uniform() || !(is_float(p.dtype) || is_complex(p.dtype))) return false;
  if (p.dtype == DType::Float16 || p.products() == 0) return false;
  const Library& l = library();
  if (!l.good) return false;
  for (std::int64_t i = 0, count = p.entries(); i < count; ++i)
    if (!multiply(l, p.entry(i))) return false;
  return true;
}

double seconds_of(const MatrixProduct& p, fusion::ProductImpl by) {
  const auto size = [](std::int64_t n) { return static_cast<double>(n); };
  return fusion::product_seconds(host_machine(), by, p.types(), size(p.m), size(p.n), size(p.k)) *
         size(p.entries());
}

PLAIT_REPLACEABLE bool prefers_blas(const MatrixProduct& p) {
  static const bool named = blas_library().is_named;
  const double blas = seconds_of(p, fusion::ProductImpl::Blas);
  return std::isfinite(blas) && (named || blas < seconds_of(p, fusion::ProductImpl::Tiles));
}

}  // namespace plait::engine
