#include "lapack.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "blas_library.hpp"
#include "plait/error.hpp"

namespace plait::engine {

namespace {

enum Routine { Gesv, Getrf, Potrf, Geqrf, Orgqr, Gesdd, Syevd, Geev, Gelsd, kRoutines };
constexpr const char* kReal[] = {"gesv",  "getrf", "potrf", "geqrf", "orgqr",
                                 "gesdd", "syevd", "geev",  "gelsd"};
constexpr const char* kComplex[] = {"gesv",  "getrf", "potrf", "geqrf", "ungqr",
                                    "gesdd", "heevd", "geev",  "gelsd"};

struct Table {
  std::array<std::array<void (*)(), kRoutines>, 4> routines{};
  bool complete = true;
};
Table load() {
  Table t;
  for (std::size_t type = 0; type < 4; ++type)
    for (int r = 0; r < kRoutines; ++r) {
      const std::string name =
          std::string(1, "sdcz"[type]) + (type < 2 ? kReal : kComplex)[r] + "_";
      if (!blas_library().find(name, t.routines[type][static_cast<std::size_t>(r)]))
        t.complete = false;
    }
  return t;
}
const Table& table() {
  static const Table t = load();
  return t;
}

// An integer of LAPACK, of 32 or 64 bits: on machines whose low bytes come first both are read and
// written in one of 64.
using Int = std::int64_t;
int info_of(Int i) { return static_cast<int>(static_cast<std::int32_t>(i)); }

template <class T>
inline constexpr bool is_complex_v = !std::is_same_v<T, Real<T>>;
template <class T>
constexpr std::size_t type_index() {
  return (is_complex_v<T> ? 2 : 0) + (std::is_same_v<Real<T>, double> ? 1 : 0);
}

// Arguments are pointers, as Fortran takes them.
template <class T, class... P>
void call(Routine r, P... arguments) {
  const auto f = table().routines[type_index<T>()][static_cast<std::size_t>(r)];
  reinterpret_cast<void (*)(P...)>(f)(arguments...);
}

template <class T>
Int length(T asked) {
  return std::max<Int>(1, static_cast<Int>(std::real(asked)));
}
// Of a routine that says by its first elements how much memory it wants: f(work, lwork).
template <class T, class F>
void with_work(F&& f) {
  T asked{};
  Int ask = -1;
  f(&asked, &ask);
  Int n = length(asked);
  std::vector<T> work(static_cast<std::size_t>(n));
  f(work.data(), &n);
}

}  // namespace

bool has_lapack() { return table().complete; }
void lapack_missing(const char* function) {
  throw Error(
      std::string(function) +
      " needs LAPACK, which comes with OpenBLAS: install libopenblas0, or set PLAIT_BLAS to "
      "a library with LAPACK's routines");
}

namespace lapack {

template <class T>
int solve(Int n, Int k, T* a, T* b) {
  std::vector<Int> pivots(static_cast<std::size_t>(n));
  Int info = 0;
  call<T>(Gesv, &n, &k, a, &n, pivots.data(), b, &n, &info);
  return info_of(info);
}

template <class T>
void determinant(Int n, T* a, T& sign, Real<T>& log_modulus) {
  std::vector<Int> pivots(static_cast<std::size_t>(n));
  Int info = 0;
  call<T>(Getrf, &n, &n, a, &n, pivots.data(), &info);
  sign = T(info_of(info) > 0 ? 0 : 1);
  log_modulus = info_of(info) > 0 ? -INFINITY : Real<T>(0);
  if (info_of(info) > 0) return;
  for (Int i = 0; i < n; ++i) {
    Int pivot = 0;
    const std::size_t size = blas_library().is_wide ? 8 : 4;
    std::memcpy(&pivot,
                reinterpret_cast<const char*>(pivots.data()) + size * static_cast<std::size_t>(i),
                size);
    if (pivot != i + 1) sign = -sign;
    const T d = a[i * (n + 1)];
    const Real<T> modulus = std::abs(d);
    sign *= d / modulus;
    log_modulus += std::log(modulus);
  }
}

template <class T>
int cholesky(Int n, T* a, bool upper) {
  const char triangle = upper ? 'U' : 'L';
  Int info = 0;
  call<T>(Potrf, &triangle, &n, a, &n, &info);
  return info_of(info);
}

template <class T>
int qr(Int m, Int n, T* a, Int columns, T* q) {
  Int reflectors = std::min(m, n), info = 0;
  std::vector<T> tau(static_cast<std::size_t>(std::max<Int>(1, reflectors)));
  with_work<T>(
      [&](T* work, Int* size) { call<T>(Geqrf, &m, &n, a, &m, tau.data(), work, size, &info); });
  std::copy(a, a + m * reflectors, q);
  with_work<T>([&](T* work, Int* size) {
    call<T>(Orgqr, &m, &columns, &reflectors, q, &m, tau.data(), work, size, &info);
  });
  return info_of(info);
}

template <class T>
int svd(Int m, Int n, T* a, Vectors v, Real<T>* s, T* u, T* vt) {
  const char job = static_cast<char>(v);
  const Int least = std::min(m, n), most = std::max(m, n);
  Int rows = v == Vectors::All ? n : v == Vectors::Some ? least : 1, info = 0;
  std::vector<Int> integers(static_cast<std::size_t>(8 * least));
  std::vector<Real<T>> reals;
  if (is_complex_v<T>)
    reals.resize(static_cast<std::size_t>(
        v == Vectors::None ? 7 * least
                           : least * std::max(5 * least + 7, 2 * most + 2 * least + 1)));
  with_work<T>([&](T* work, Int* size) {
    if constexpr (is_complex_v<T>)
      call<T>(Gesdd, &job, &m, &n, a, &m, s, u, &m, vt, &rows, work, size, reals.data(),
              integers.data(), &info);
    else
      call<T>(Gesdd, &job, &m, &n, a, &m, s, u, &m, vt, &rows, work, size, integers.data(), &info);
  });
  return info_of(info);
}

template <class T>
int eigh(Int n, T* a, bool upper, bool vectors, Real<T>* w) {
  const char job = vectors ? 'V' : 'N', triangle = upper ? 'U' : 'L';
  Int info = 0, ask = -1, integers_asked = 0;
  T asked{};
  Real<T> reals_asked{};
  const auto run = [&](T* work, Int* size, Real<T>* reals, Int* reals_size, Int* integers,
                       Int* integers_size) {
    if constexpr (is_complex_v<T>)
      call<T>(Syevd, &job, &triangle, &n, a, &n, w, work, size, reals, reals_size, integers,
              integers_size, &info);
    else
      call<T>(Syevd, &job, &triangle, &n, a, &n, w, work, size, integers, integers_size, &info);
  };
  run(&asked, &ask, &reals_asked, &ask, &integers_asked, &ask);
  Int size = length(asked), reals_size = length(reals_asked);
  Int integers_size = std::max<Int>(1, integers_asked);
  std::vector<T> work(static_cast<std::size_t>(size));
  std::vector<Real<T>> reals(static_cast<std::size_t>(reals_size));
  std::vector<Int> integers(static_cast<std::size_t>(integers_size));
  run(work.data(), &size, reals.data(), &reals_size, integers.data(), &integers_size);
  return info_of(info);
}

template <class T>
int eig(Int n, T* a, std::complex<Real<T>>* w, std::complex<Real<T>>* v) {
  using R = Real<T>;
  const char no = 'N', job = v ? 'V' : 'N';
  Int info = 0;
  const auto count = static_cast<std::size_t>(n);
  if constexpr (is_complex_v<T>) {
    std::vector<R> reals(2 * count);
    with_work<T>([&](T* work, Int* size) {
      call<T>(Geev, &no, &job, &n, a, &n, w, v, &n, v, &n, work, size, reals.data(), &info);
    });
  } else {
    std::vector<R> re(count), im(count), columns(v ? count * count : 1);
    with_work<T>([&](T* work, Int* size) {
      call<T>(Geev, &no, &job, &n, a, &n, re.data(), im.data(), columns.data(), &n, columns.data(),
              &n, work, size, &info);
    });
    for (std::size_t i = 0; i < count; ++i) w[i] = {re[i], im[i]};
    // A pair of conjugates has its vectors' real and imaginary parts in two columns.
    for (std::size_t j = 0; v && j < count; ++j) {
      const R* x = columns.data() + j * count;
      const bool pair = im[j] != 0 && j + 1 < count;
      for (std::size_t i = 0; i < count; ++i) {
        v[j * count + i] = {x[i], pair ? x[i + count] : R(0)};
        if (pair) v[(j + 1) * count + i] = {x[i], -x[i + count]};
      }
      if (pair) ++j;
    }
  }
  return info_of(info);
}

template <class T>
int least_squares(Int m, Int n, Int k, T* a, T* b, Real<T>* s, Real<T> rcond, Int& rank) {
  using R = Real<T>;
  Int info = 0, ask = -1, integers_asked = 0, rows = std::max<Int>({1, m, n});
  T asked{};
  R reals_asked{};
  rank = 0;
  const auto run = [&](T* work, Int* size, R* reals, Int* integers) {
    if constexpr (is_complex_v<T>)
      call<T>(Gelsd, &m, &n, &k, a, &m, b, &rows, s, &rcond, &rank, work, size, reals, integers,
              &info);
    else
      call<T>(Gelsd, &m, &n, &k, a, &m, b, &rows, s, &rcond, &rank, work, size, integers, &info);
  };
  run(&asked, &ask, &reals_asked, &integers_asked);
  Int size = length(asked);
  std::vector<T> work(static_cast<std::size_t>(size));
  std::vector<R> reals(static_cast<std::size_t>(length(reals_asked)));
  std::vector<Int> integers(static_cast<std::size_t>(std::max<Int>(1, integers_asked)));
  rank = 0;
  run(work.data(), &size, reals.data(), integers.data());
  return info_of(info);
}

#define PLAIT_LAPACK(T)                                                      \
  template int solve(Int, Int, T*, T*);                                      \
  template void determinant(Int, T*, T&, Real<T>&);                          \
  template int cholesky(Int, T*, bool);                                      \
  template int qr(Int, Int, T*, Int, T*);                                    \
  template int svd(Int, Int, T*, Vectors, Real<T>*, T*, T*);                 \
  template int eigh(Int, T*, bool, bool, Real<T>*);                          \
  template int eig(Int, T*, std::complex<Real<T>>*, std::complex<Real<T>>*); \
  template int least_squares(Int, Int, Int, T*, T*, Real<T>*, Real<T>, Int&);
PLAIT_LAPACK(float)
PLAIT_LAPACK(double)
PLAIT_LAPACK(std::complex<float>)
PLAIT_LAPACK(std::complex<double>)
#undef PLAIT_LAPACK

}  // namespace lapack
}  // namespace plait::engine
