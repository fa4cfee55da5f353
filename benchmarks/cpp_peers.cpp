// What C++ programs do with arrays, beside xtensor, with xsimd, and Eigen, where they are
// installed, and loops written by hand, all compiled with -O3 -march=native. The ways of a case
// take turns, a millisecond or more each; printed are medians and what Plait takes of each peer's
// time: below 1 it is ahead. One thread and two, by OpenMP in loops over much and in Eigen's over
// banks of small matrices; all other peers have one. An argument picks cases by a part of their
// names. cpp_page.py writes docs/cpp_performance.md from what is printed.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <plait/plait.hpp>
#include <random>
#include <string>
#include <vector>

#include "cases.hpp"
#if __has_include(<xtensor/xarray.hpp>)
#if __has_include(<xsimd/xsimd.hpp>)
#define XTENSOR_USE_XSIMD
#define WITH_XSIMD " with xsimd"
#else
#define WITH_XSIMD " without xsimd"
#endif
#define XTENSOR(...) __VA_ARGS__
#include <xtensor/xarray.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xnoalias.hpp>
#include <xtensor/xtensor.hpp>
#include <xtensor/xview.hpp>
#else
#define XTENSOR(...)
#endif
#if __has_include(<Eigen/Dense>)
#define EIGEN(...) __VA_ARGS__
#include <Eigen/Dense>
#else
#define EIGEN(...)
#endif

#define QUOTED(x) #x
#define NUMBER(x) QUOTED(x)

namespace {

constexpr int kSmall = 1000, kSteps = 100;

std::vector<Case> small_cases() {
  std::vector<Case> cases;
  static plait::array<double> a = plait::arange<double>(0, 10), b = a + 1, c = a + 2;
  static plait::array<double> grid = plait::ones({10, 10}), line = plait::zeros({1000});
  plait::eval(a, b, c, grid, line);
  static std::vector<double> la(10, 1), lb(10, 2), lc(10, 3), lline(1000);
  XTENSOR(static xt::xarray<double> xa = xt::arange<double>(0, 10), xb = xa + 1, xc = xa + 2;
          static xt::xarray<double> xgrid = xt::ones<double>({10, 10});
          static xt::xarray<double> xline = xt::zeros<double>({1000});)
  EIGEN(static Eigen::ArrayXd ea = Eigen::ArrayXd::LinSpaced(10, 0, 9), eb = ea + 1, ec = ea + 2;
        static Eigen::ArrayXXd egrid = Eigen::ArrayXXd::Ones(10, 10);
        static Eigen::ArrayXd eline = Eigen::ArrayXd::Zero(1000);)

  const auto keep = [](auto* p) { asm volatile("" : : "g"(p) : "memory"); };
  cases.push_back({"a(i) = v",
                   1000,
                   {{"plait",
                     [] {
                       for (int i = 0; i < 1000; ++i) line(i) = i;
                     }},
                    {"loop",
                     [=] {
                       for (int i = 0; i < 1000; ++i) lline[static_cast<std::size_t>(i)] = i;
                       keep(lline.data());
                     }},
                    XTENSOR({"xtensor", [=] {
                               for (int i = 0; i < 1000; ++i) xline(i) = i;
                               keep(xline.data());
                             }}, ) EIGEN({"Eigen", [=] {
                                            for (int i = 0; i < 1000; ++i) eline(i) = i;
                                            keep(eline.data());
                                          }})}});
  cases.push_back({"a.set(v, i)", 1000, {{"plait", [] {
                                            for (int i = 0; i < 1000; ++i) line.set(i, i);
                                          }}}});
  cases.push_back({"a(i) read", 1000, {{"plait", [] {
                                          double s = 0;
                                          for (int i = 0; i < 1000; ++i) s += line(i);
                                          sink = s;
                                        }}}});
  cases.push_back({"a * 2 + b * c of 10",
                   kSmall,
                   {{"plait", often([=] {
                       plait::array<double> r = a * 2.0 + b * c;
                       keep(&r);
                     })},
                    {"loop", often([=] {
                       std::vector<double> r(10);
                       for (std::size_t i = 0; i < 10; ++i) r[i] = la[i] * 2 + lb[i] * lc[i];
                       keep(r.data());
                     })},
                    XTENSOR({"xtensor", often([=] {
                               xt::xarray<double> r = xa * 2.0 + xb * xc;
                               keep(r.data());
                             })}, ) EIGEN({"Eigen", often([=] {
                                             Eigen::ArrayXd r = ea * 2.0 + eb * ec;
                                             keep(r.data());
                                           })})}});
  cases.push_back({"sum of 10",
                   kSmall,
                   {{"plait", often([] { sink = plait::sum(a).item(); })},
                    {"loop", often([] {
                       double s = 0;
                       for (const double x : la) s += x;
                       sink = s;
                     })},
                    XTENSOR({"xtensor", often([] { sink = xt::sum(xa)(); })}, )
                        EIGEN({"Eigen", often([] { sink = ea.sum(); })})}});
  cases.push_back({"view",
                   kSmall,
                   {{"plait", often([=] {
                       auto v = plait::view(grid, plait::all(), 1);
                       keep(&v);
                     })},
                    XTENSOR({"xtensor", often([=] {
                               auto v = xt::view(xgrid, xt::all(), 1);
                               keep(std::addressof(v));
                             })}, ) EIGEN({"Eigen", often([=] {
                                             auto v = egrid.row(1);
                                             keep(&v);
                                           })})}});
  cases.push_back({"zeros of 10",
                   kSmall,
                   {{"plait", often([=] {
                       auto z = plait::zeros({10});
                       keep(&z);
                     })},
                    {"loop", often([=] {
                       std::vector<double> z(10);
                       keep(z.data());
                     })},
                    XTENSOR({"xtensor", often([=] {
                               xt::xarray<double> z = xt::zeros<double>({10});
                               keep(z.data());
                             })}, ) EIGEN({"Eigen", often([=] {
                                             Eigen::ArrayXd z = Eigen::ArrayXd::Zero(10);
                                             keep(z.data());
                                           })})}});
  cases.push_back({"from a list of 10",
                   kSmall,
                   {{"plait", often([=] {
                       plait::array<double> z{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
                       keep(&z);
                     })},
                    {"loop", often([=] {
                       std::vector<double> z{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
                       keep(z.data());
                     })},
                    XTENSOR({"xtensor", often([=] {
                               xt::xarray<double> z{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
                               keep(z.data());
                             })}, ) EIGEN({"Eigen", often([=] {
                                             Eigen::ArrayXd z{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}};
                                             keep(z.data());
                                           })})}});
  return cases;
}

// Ten operations on arrays of n elements, recorded at each call and compiled once.
template <int n>
void add_steps(std::vector<Case>& cases, const char* recorded, const char* compiled) {
  static plait::array<double> a = plait::linspace(0, 1, n), b = a + 1.0, c = a + 2.0;
  plait::eval(a, b, c);
  static const std::vector<double> la(a.begin(), a.end()), lb(b.begin(), b.end()),
      lc(c.begin(), c.end());
  XTENSOR(static xt::xtensor<double, 1> xa = xt::linspace<double>(0, 1, n), xb = xa + 1.0,
          xc = xa + 2.0;)
  EIGEN(static Eigen::ArrayXd ea = Eigen::ArrayXd::LinSpaced(n, 0, 1), eb = ea + 1, ec = ea + 2;)
#define STEP(a, b, c) ((a * 2.0 + b * c - a) * (b + 1.0) / (c + 3.0) - 0.5 * a + b)
  const auto keep = [](auto* p) { asm volatile("" : : "g"(p) : "memory"); };
  using array = plait::array<double>;
  static auto step = plait::compile(
      [](const array& a, const array& b, const array& c) -> array { return STEP(a, b, c); });
  const std::vector<Way> peers{{"loop", often([=] {
                                  std::vector<double> r(n);
                                  for (std::size_t i = 0; i < n; ++i)
                                    r[i] = STEP(la[i], lb[i], lc[i]);
                                  keep(r.data());
                                })},
                               XTENSOR({"xtensor", often([=] {
                                          xt::xtensor<double, 1> r = STEP(xa, xb, xc);
                                          keep(r.data());
                                        })}, ) EIGEN({"Eigen", often([=] {
                                                        Eigen::ArrayXd r = STEP(ea, eb, ec);
                                                        keep(r.data());
                                                      })})};
  const auto add = [&](const char* name, Work ours) {
    std::vector<Way> ways{{"plait", std::move(ours)}};
    ways.insert(ways.end(), peers.begin(), peers.end());
    cases.push_back({name, kSmall, std::move(ways)});
  };
  add(recorded, often([] { STEP(a, b, c).eval(); }));
  add(compiled, often([] { step(a, b, c).eval(); }));
#undef STEP
}

std::vector<Case> step_cases() {
  std::vector<Case> cases;
  add_steps<10>(cases, "ten operations, 10", "ten operations, 10, compiled");
  add_steps<100>(cases, "ten operations, 100", "ten operations, 100, compiled");
  add_steps<1000>(cases, "ten operations, 1000", "ten operations, 1000, compiled");
  return cases;
}

// The standard library's algorithms on an array, and its distribution beside draws of an array.
std::vector<Case> library_cases() {
  constexpr std::size_t n = 1'000'000, draws = 10'000'000;
  static plait::array<double> from = plait::random::rand({n}).eval(), to = from.copy();
  static const std::vector<double> lfrom(from.begin(), from.end());
  static std::vector<double> lto = lfrom, ldraws(draws);
  to.eval();
  static std::mt19937_64 bits(1);
  static plait::random::engine rng(1);
  const Work standard = [] {
    std::normal_distribution<double> normal;
    for (double& x : ldraws) x = normal(bits);
  };
  return {{"std::sort of 1M",
           1,
           {{"plait",
             [] {
               std::copy(from.begin(), from.end(), to.begin());
               std::sort(to.begin(), to.end());
             }},
            {"loop",
             [] {
               std::copy(lfrom.begin(), lfrom.end(), lto.begin());
               std::sort(lto.begin(), lto.end());
             }}}},
          {"randn of 10M",
           1,
           {{"plait", [] { plait::random::randn({draws}).eval(); }}, {"loop", standard}}},
          {"standard_normal of 10M",
           1,
           {{"plait", [] { rng.standard_normal({draws}).eval(); }}, {"loop", standard}}}};
}

// Explicit steps of the heat equation, n x n.
template <int n>
Case heat(const char* name) {
  static plait::array<double> u = plait::zeros({n, n});
  u(n / 2, n / 2) = 1;
  static std::vector<double> from(n * n), to(n * n);
  from[n * (n / 2) + n / 2] = 1;
  XTENSOR(static xt::xtensor<double, 2> xu = xt::zeros<double>({n, n}), xnext = xu;
          xu(n / 2, n / 2) = 1;)
  EIGEN(static Eigen::ArrayXXd eu = Eigen::ArrayXXd::Zero(n, n), enext = eu; eu(n / 2, n / 2) = 1;)
  return {name,
          kSteps,
          {{"plait",
            [] {
              const auto mid = plait::range(1, -1), low = plait::range(0, -2),
                         high = plait::range(2, plait::placeholders::_);
              for (int t = 0; t < kSteps; ++t)
                plait::view(u, mid, mid) +=
                    0.1 * (plait::view(u, low, mid) + plait::view(u, high, mid) +
                           plait::view(u, mid, low) + plait::view(u, mid, high) -
                           4.0 * plait::view(u, mid, mid));
              u.eval();
            }},
           {"loop",
            [] {
              for (int t = 0; t < kSteps; ++t) {
#pragma omp parallel for num_threads(threads_now)
                for (std::size_t i = 1; i < n - 1; ++i)
                  for (std::size_t j = 1; j < n - 1; ++j)
                    to[i * n + j] =
                        from[i * n + j] +
                        0.1 * (from[(i - 1) * n + j] + from[(i + 1) * n + j] + from[i * n + j - 1] +
                               from[i * n + j + 1] - 4.0 * from[i * n + j]);
                std::swap(from, to);
              }
            }},
           XTENSOR({"xtensor", [] {
                      auto mid = xt::range(1, n - 1), low = xt::range(0, n - 2),
                           high = xt::range(2, n);
                      for (int t = 0; t < kSteps; ++t) {
                        xt::noalias(xt::view(xnext, mid, mid)) =
                            xt::view(xu, mid, mid) +
                            0.1 * (xt::view(xu, low, mid) + xt::view(xu, high, mid) +
                                   xt::view(xu, mid, low) + xt::view(xu, mid, high) -
                                   4.0 * xt::view(xu, mid, mid));
                        std::swap(xu, xnext);
                      }
                    }}, ) EIGEN({"Eigen", [] {
                                   constexpr int m = n - 2;
                                   for (int t = 0; t < kSteps; ++t) {
                                     enext.block(1, 1, m, m) =
                                         eu.block(1, 1, m, m) +
                                         0.1 * (eu.block(0, 1, m, m) + eu.block(2, 1, m, m) +
                                                eu.block(1, 0, m, m) + eu.block(1, 2, m, m) -
                                                4.0 * eu.block(1, 1, m, m));
                                     std::swap(eu, enext);
                                   }
                                 }})}};
}

std::vector<Case> large_cases() {
  std::vector<Case> cases;
  constexpr std::size_t n = 4'000'000;
  static plait::array<double> x = plait::linspace<double>(-5, 5, n);
  x.eval();
  static const std::vector<double> lx(x.begin(), x.end());
  static std::vector<double> ly(n);
  XTENSOR(static xt::xtensor<double, 1> xx = xt::linspace<double>(-5, 5, n), xy = xx;)
  EIGEN(static Eigen::ArrayXd ex = Eigen::ArrayXd::LinSpaced(n, -5, 5), ey = ex;)
#define FUNCTION(f)                                                                              \
  cases.push_back(                                                                               \
      {#f " of 4M",                                                                              \
       1,                                                                                        \
       {{"plait", [] { plait::f(x).eval(); }},                                                   \
        {"loop",                                                                                 \
         [] {                                                                                    \
           _Pragma("omp parallel for num_threads(threads_now)") for (std::size_t i = 0; i < n;   \
                                                                     ++i) ly[i] = std::f(lx[i]); \
         }},                                                                                     \
        XTENSOR({"xtensor", [] { xt::noalias(xy) = xt::f(xx); }}, )                              \
            EIGEN({"Eigen", [] { ey = ex.f(); }})}})
  FUNCTION(exp);
  FUNCTION(sin);
#undef FUNCTION

  constexpr std::size_t points = 1'000'000, dims = 4, k = 8;
  static plait::array<double> p = [] {
    plait::random::seed(1);
    return plait::random::rand<double>({points, dims});
  }();
  p.eval();
  static const std::vector<double> lp(p.begin(), p.end());
  static plait::array<double> centres =
      plait::array<double>(plait::view(p, plait::range(k))).copy();
  centres.eval();
  static std::vector<double> lcentres(lp.begin(), lp.begin() + k * dims);
  cases.push_back({"k-means 1M x 4, K = 8",
                   1,
                   {{"plait",
                     [] {
                       const plait::array<double> d =
                           plait::expand_dims(p, 1) - plait::expand_dims(centres, 0);
                       const auto label = plait::argmin(plait::sum(d * d, 2), 1);
                       plait::array<double> sums = plait::zeros({k, dims}),
                                            count = plait::zeros({k});
                       plait::add_at(sums, label, p);
                       plait::add_at(count, label, 1.0);
                       centres = sums / plait::expand_dims(count, 1);
                       centres.eval();
                     }},
                    {"loop", [] {
                       double sums[k][dims] = {}, count[k] = {}, across[dims][k];
                       for (std::size_t j = 0; j < k; ++j)
                         for (std::size_t a = 0; a < dims; ++a)
                           across[a][j] = lcentres[j * dims + a];
#pragma omp parallel for num_threads(threads_now) reduction(+ : sums, count)
                       for (std::size_t i = 0; i < points; ++i) {
                         double distance[k] = {};  // vectors of centres
                         for (std::size_t a = 0; a < dims; ++a)
                           for (std::size_t j = 0; j < k; ++j) {
                             const double d = lp[i * dims + a] - across[a][j];
                             distance[j] += d * d;
                           }
                         std::size_t label = 0;
                         for (std::size_t j = 1; j < k; ++j)
                           label = distance[j] < distance[label] ? j : label;
                         for (std::size_t a = 0; a < dims; ++a) sums[label][a] += lp[i * dims + a];
                         count[label] += 1;
                       }
                       for (std::size_t j = 0; j < k; ++j)
                         for (std::size_t a = 0; a < dims; ++a)
                           lcentres[j * dims + a] = sums[j][a] / count[j];
                     }}}});
  return cases;
}

// 100,000 matrices, 4 x 4, and as many Kalman filters of four states and two observations. Eigen's
// loop of fixed sizes has as many threads as Plait.
std::vector<Case> bank_cases() {
  std::vector<Case> cases;
  constexpr std::int64_t n = 100'000;
  using plait::matmul;
  namespace linalg = plait::linalg;
  static const auto random = [](std::initializer_list<std::int64_t> shape) {
    return plait::random::randn<double>(plait::shape_type(shape));
  };
  static const auto turned = [](const plait::array<double>& m) {
    return plait::swapaxes(m, -1, -2);
  };
  plait::random::seed(1);
  static plait::array<double> a = random({n, 4, 4}), b = random({n, 4, 4}),
                              p = matmul(a, turned(a)) + plait::eye(4), x = random({n, 4, 1}),
                              z = random({n, 2, 1}), f = plait::eye(4) + 0.1 * random({4, 4}),
                              h = random({2, 4}), q = 0.1 * plait::eye(4), r = 0.1 * plait::eye(2);
  plait::eval(a, b, p, x, z, f, h, q, r);
#if __has_include(<Eigen/Dense>)
  using Matrix = Eigen::Matrix<double, 4, 4, Eigen::RowMajor>;
  using In = Eigen::Map<const Matrix>;
  using Out = Eigen::Map<Matrix>;
  static std::vector<double> to(n * 16), x_to(n * 4);
  static const double *ea = a.data(), *eb = b.data(), *ep = p.data(), *ex = x.data(),
                      *ez = z.data();
  static const Matrix ef = In(f.data()), eq = In(q.data());
  static const Eigen::Matrix<double, 2, 4> eh =
      Eigen::Map<const Eigen::Matrix<double, 2, 4, Eigen::RowMajor>>(h.data());
  static const Eigen::Matrix2d er = Eigen::Map<const Eigen::Matrix2d>(r.data());
  // one(i) of every matrix
  const auto loop = [](auto one) -> Work {
    return [one] {
#pragma omp parallel for num_threads(threads_now)
      for (std::int64_t i = 0; i < n; ++i) one(i);
    };
  };
  const auto peer = [&](auto one) { return std::vector<Way>{{"Eigen", loop(one)}}; };
#else
  const auto peer = [](auto) { return std::vector<Way>{}; };
#endif
  const auto add = [&](const char* name, Work ours, std::vector<Way> peers) {
    peers.insert(peers.begin(), Way{"plait", std::move(ours)});
    cases.push_back({name, 1, std::move(peers)});
  };
#define BANK(name, ours, theirs)                                                 \
  add(                                                                           \
      name, [] { plait::array<double>(ours).eval(); }, peer([](std::int64_t i) { \
        EIGEN(theirs;)                                                           \
        static_cast<void>(i);                                                    \
      }))
  BANK("small matmul", matmul(a, b), Out(to.data() + 16 * i) = In(ea + 16 * i) * In(eb + 16 * i));
  BANK("small solve", linalg::solve(a, b),
       Out(to.data() + 16 * i) = In(ea + 16 * i).partialPivLu().solve(In(eb + 16 * i)));
  BANK("small inv", linalg::inv(a), Out(to.data() + 16 * i) = In(ea + 16 * i).inverse());
  BANK("small det", linalg::det(a),
       to[static_cast<std::size_t>(i)] = In(ea + 16 * i).determinant());
  BANK("small cholesky", linalg::cholesky(p),
       Out(to.data() + 16 * i) = In(ep + 16 * i).llt().matrixL());
#undef BANK
  add(
      "Kalman bank",
      [] {
        const plait::array<double> x1 = matmul(f, x), p1 = matmul(matmul(f, p), turned(f)) + q,
                                   ph = matmul(p1, turned(h)), s = matmul(h, ph) + r,
                                   k = matmul(ph, linalg::inv(s)),
                                   x2 = x1 + matmul(k, z - matmul(h, x1)),
                                   p2 = matmul(plait::eye(4) - matmul(k, h), p1);
        plait::eval(x2, p2);
      },
      peer([](std::int64_t i) {
        EIGEN(const Eigen::Vector4d x1 = ef * Eigen::Map<const Eigen::Vector4d>(ex + 4 * i);
              const Matrix p1 = ef * In(ep + 16 * i) * ef.transpose() + eq;
              const Eigen::Matrix<double, 4, 2> ph = p1 * eh.transpose();
              const Eigen::Matrix2d s = eh * ph + er;
              const Eigen::Matrix<double, 4, 2> k = ph * s.inverse();
              const Eigen::Vector2d seen = Eigen::Map<const Eigen::Vector2d>(ez + 2 * i);
              Eigen::Map<Eigen::Vector4d>(x_to.data() + 4 * i) = x1 + k * (seen - eh * x1);
              Out(to.data() + 16 * i) = (Matrix::Identity() - k * eh) * p1;)
        static_cast<void>(i);
      }));
  return cases;
}

// Tables that elements name.
std::vector<Case> table_cases() {
  std::vector<Case> cases;
  constexpr std::int64_t n = 2'000'000, groups = 1000, pixels = 10'000'000;
  plait::random::seed(1);
  static plait::array<std::int64_t> keys = plait::random::randint({n}, 0, groups).eval();
  static plait::array<double> values = plait::random::rand({n}).eval();
  static plait::array<double> image = (plait::random::rand({pixels}) * 256.0).eval();
  static const std::vector<std::int64_t> lkeys(keys.begin(), keys.end());
  static const std::vector<double> lvalues(values.begin(), values.end());
  static const std::vector<double> limage(image.begin(), image.end());
  static std::vector<double> lout(pixels);
  cases.push_back({"group by: sum of 2M",
                   1,
                   {{"plait", [] { sink = plait::group_by(keys, groups).sum(values).get(3); }},
                    {"loop", [] {
                       double sums[groups] = {};
#pragma omp parallel for num_threads(threads_now) reduction(+ : sums)
                       for (std::size_t i = 0; i < n; ++i)
                         sums[static_cast<std::size_t>(lkeys[i])] += lvalues[i];
                       sink = sums[3];
                     }}}});
  cases.push_back({"group by: mean, max of 2M",
                   1,
                   {{"plait",
                     [] {
                       const auto g = plait::group_by(keys, groups);
                       const auto mean = g.mean(values), max = g.max(values);
                       plait::eval(mean, max);
                       sink = mean.get(3) + max.get(3);
                     }},
                    {"loop", [] {
                       double sums[groups] = {}, max[groups] = {};  // of values from 0 on
                       std::int64_t count[groups] = {};
#pragma omp parallel for num_threads(threads_now) reduction(+ : sums, count) reduction(max : max)
                       for (std::size_t i = 0; i < n; ++i) {
                         const auto k = static_cast<std::size_t>(lkeys[i]);
                         sums[k] += lvalues[i];
                         ++count[k];
                         max[k] = std::max(max[k], lvalues[i]);
                       }
                       for (std::size_t k = 0; k < groups; ++k)
                         sums[k] /= static_cast<double>(count[k]);
                       sink = sums[3] + max[3];
                     }}}});
  cases.push_back({"histogram equalisation 10M",
                   1,
                   {{"plait",
                     [] {
                       const auto h = plait::histogram(image, 256, 0, 256);
                       const auto shares = plait::cumsum(h.counts) / static_cast<double>(pixels);
                       const plait::array<double> points =
                           plait::view(h.edges, plait::range(0, 256));
                       sink = plait::interp(image, points, shares).get(5);
                     }},
                    {"loop", [] {
                       std::int64_t counts[256] = {};
#pragma omp parallel for num_threads(threads_now) reduction(+ : counts)
                       for (std::size_t i = 0; i < pixels; ++i)
                         ++counts[static_cast<std::size_t>(limage[i])];
                       std::vector<double> shares(257);
                       std::int64_t sum = 0;
                       for (std::size_t b = 0; b < 256; ++b)
                         shares[b] = static_cast<double>(sum += counts[b]) / pixels;
                       shares[256] = shares[255];
#pragma omp parallel for num_threads(threads_now)
                       for (std::size_t i = 0; i < pixels; ++i) {
                         const auto b = static_cast<std::size_t>(limage[i]);
                         lout[i] = shares[b] + (shares[b + 1] - shares[b]) *
                                                   (limage[i] - static_cast<double>(b));
                       }
                       sink = lout[5];
                     }}}});
  cases.push_back({"masked statistics of 10M",
                   1,
                   {{"plait",
                     [] {
                       const plait::array<double> chosen = image[image > 100];
                       const auto mean = plait::mean(chosen), spread = plait::stddev(chosen),
                                  max = plait::max(chosen);
                       plait::eval(mean, spread, max);
                       sink = mean.item() + spread.item() + max.item();
                     }},
                    {"loop", [] {
                       double sum = 0, squares = 0, max = 0, count = 0;
#pragma omp parallel for num_threads(threads_now) reduction(+ : sum, count) reduction(max : max)
                       for (std::size_t i = 0; i < pixels; ++i)
                         if (const double x = limage[i]; x > 100)
                           sum += x, ++count, max = std::max(max, x);
                       const double mean = sum / count;
#pragma omp parallel for num_threads(threads_now) reduction(+ : squares)
                       for (std::size_t i = 0; i < pixels; ++i)
                         if (const double x = limage[i]; x > 100)
                           squares += (x - mean) * (x - mean);
                       sink = sum / count + std::sqrt(squares / count) + max;
                     }}}});
  return cases;
}

// A step of the shallow-water equations with Rusanov fluxes, n x n cells.
Case shallow_water() {
  constexpr std::int64_t n = 400;
  static constexpr double g = 9.81, dt = 0.01;  // cells are 1 wide
  plait::random::seed(1);
  // No water is at rest, where the first waves would be subnormal numbers, which take long.
  static plait::array<double> h = 1.0 + 0.1 * plait::random::rand({n, n}),
                              hu = plait::random::randn({n, n}), hv = plait::random::randn({n, n});
  plait::eval(h, hu, hv);
  constexpr std::size_t cells = n * n;
  struct Field {
    std::vector<double> h, hu, hv;
  };
  static Field from{std::vector<double>(h.begin(), h.end()),
                    std::vector<double>(hu.begin(), hu.end()),
                    std::vector<double>(hv.begin(), hv.end())},
      across{from}, down{from};  // fluxes to the right and down
  static std::vector<double> u(cells), v(cells), c(cells);
  return {
      "shallow water 400 x 400",
      1,
      {{"plait",
        [] {
          [] {
            using plait::all, plait::range, plait::view, plait::placeholders::_;
            const plait::array<double> u = hu / h, v = hv / h, c = plait::sqrt(g * h),
                                       pressure = 0.5 * g * h * h;
            const auto l = range(0, -1), r = range(1, _), mid = range(1, -1);
            const auto down = [&](const plait::array<double>& q, const plait::array<double>& f) {
              const plait::array<double> s = plait::abs(u) + c;
              return 0.5 * (view(f, l) + view(f, r)) -
                     0.5 * plait::maximum(view(s, l), view(s, r)) * (view(q, r) - view(q, l));
            };
            const auto across = [&](const plait::array<double>& q, const plait::array<double>& f) {
              const plait::array<double> s = plait::abs(v) + c;
              return 0.5 * (view(f, all(), l) + view(f, all(), r)) -
                     0.5 * plait::maximum(view(s, all(), l), view(s, all(), r)) *
                         (view(q, all(), r) - view(q, all(), l));
            };
            const auto step = [&](plait::array<double>& q, const plait::array<double>& x,
                                  const plait::array<double>& y) {
              view(q, mid, mid) -=
                  dt * (view(x, r, mid) - view(x, l, mid) + view(y, mid, r) - view(y, mid, l));
            };
            const plait::array<double> xh = down(h, hu), xhu = down(hu, hu * u + pressure),
                                       xhv = down(hv, hv * u), yh = across(h, hv),
                                       yhu = across(hu, hu * v),
                                       yhv = across(hv, hv * v + pressure);
            step(h, xh, yh);
            step(hu, xhu, yhu);
            step(hv, xhv, yhv);
          }();
          plait::eval(h, hu, hv);
        }},
       {"loop", [] {
          const auto flux = [](double l, double r, double fl, double fr, double s) {
            return 0.5 * (fl + fr) - 0.5 * s * (r - l);
          };
#pragma omp parallel num_threads(threads_now)
          {
#pragma omp for
            for (std::size_t i = 0; i < cells; ++i) {
              u[i] = from.hu[i] / from.h[i];
              v[i] = from.hv[i] / from.h[i];
              c[i] = std::sqrt(g * from.h[i]);
            }
#pragma omp for
            for (std::size_t i = 0; i < n; ++i) {
              const double *ph = &from.h[i * n], *phu = &from.hu[i * n], *phv = &from.hv[i * n],
                           *pu = &u[i * n], *pv = &v[i * n], *pc = &c[i * n];
              const auto pressure = [&](std::size_t k) { return 0.5 * g * ph[k] * ph[k]; };
              double *th = &across.h[i * n], *thu = &across.hu[i * n], *thv = &across.hv[i * n];
#pragma omp simd
              for (std::size_t a = 0; a < n - 1; ++a) {
                const std::size_t b = a + 1;
                const double s = std::max(std::abs(pv[a]) + pc[a], std::abs(pv[b]) + pc[b]);
                th[a] = flux(ph[a], ph[b], phv[a], phv[b], s);
                thu[a] = flux(phu[a], phu[b], phu[a] * pv[a], phu[b] * pv[b], s);
                thv[a] = flux(phv[a], phv[b], phv[a] * pv[a] + pressure(a),
                              phv[b] * pv[b] + pressure(b), s);
              }
              if (i == n - 1) continue;
              th = &down.h[i * n], thu = &down.hu[i * n], thv = &down.hv[i * n];
#pragma omp simd
              for (std::size_t a = 0; a < n; ++a) {
                const std::size_t b = a + n;
                const double s = std::max(std::abs(pu[a]) + pc[a], std::abs(pu[b]) + pc[b]);
                th[a] = flux(ph[a], ph[b], phu[a], phu[b], s);
                thu[a] = flux(phu[a], phu[b], phu[a] * pu[a] + pressure(a),
                              phu[b] * pu[b] + pressure(b), s);
                thv[a] = flux(phv[a], phv[b], phv[a] * pu[a], phv[b] * pu[b], s);
              }
            }
#pragma omp for
            for (std::size_t i = 1; i < n - 1; ++i) {
              const auto step = [&](double* q, const double* x, const double* y) {
#pragma omp simd
                for (std::size_t k = i * n + 1; k < i * n + n - 1; ++k)
                  q[k] -= dt * (x[k] - x[k - n] + y[k] - y[k - 1]);
              };
              step(from.h.data(), down.h.data(), across.h.data());
              step(from.hu.data(), down.hu.data(), across.hu.data());
              step(from.hv.data(), down.hv.data(), across.hv.data());
            }
          }
        }}}};
}

// The accelerations of n bodies that attract each other, softened.
std::vector<Case> body_cases() {
  constexpr std::int64_t n = 4000;
  static constexpr double soft = 1e-3;
  plait::random::seed(1);
  static plait::array<double> p = plait::random::randn<double>({3, n}),
                              m = plait::random::rand({n});
  static plait::array<double> x = plait::row(p, 0).copy(), y = plait::row(p, 1).copy(),
                              z = plait::row(p, 2).copy();
  static plait::array<double> xy = plait::transpose(plait::view(p, plait::range(2))).copy();
  plait::eval(x, y, z, m, xy);
  static const double *lx = x.data(), *ly = y.data(), *lz = z.data(), *lm = m.data();
  static std::vector<double> to(3 * n);
  std::vector<Case> cases;
  cases.push_back({"N-body 4000, 3-D",
                   1,
                   {{"plait",
                     [] {
                       const auto apart = [](const plait::array<double>& q) {
                         return plait::expand_dims(q, 0) - plait::expand_dims(q, 1);
                       };
                       const plait::array<double> dx = apart(x), dy = apart(y), dz = apart(z);
                       const plait::array<double> r2 = dx * dx + dy * dy + dz * dz + soft,
                                                  w = m / (r2 * plait::sqrt(r2));
                       const auto ax = plait::sum(w * dx, 1), ay = plait::sum(w * dy, 1),
                                  az = plait::sum(w * dz, 1);
                       plait::eval(ax, ay, az);
                     }},
                    {"loop", [] {
#pragma omp parallel for num_threads(threads_now)
                       for (std::size_t i = 0; i < n; ++i) {
                         double ax = 0, ay = 0, az = 0;
#pragma omp simd reduction(+ : ax, ay, az)
                         for (std::size_t j = 0; j < n; ++j) {
                           const double dx = lx[j] - lx[i], dy = ly[j] - ly[i], dz = lz[j] - lz[i];
                           const double r2 = dx * dx + dy * dy + dz * dz + soft;
                           const double w = lm[j] / (r2 * std::sqrt(r2));
                           ax += w * dx;
                           ay += w * dy;
                           az += w * dz;
                         }
                         to[i] = ax, to[n + i] = ay, to[2 * n + i] = az;
                       }
                     }}}});
  cases.push_back({"N-body 4000, 2-D",
                   1,
                   {{"plait",
                     [] {
                       const plait::array<double> d =
                           plait::expand_dims(xy, 0) - plait::expand_dims(xy, 1);
                       const plait::array<double> r2 = plait::sum(d * d, 2) + soft,
                                                  w = m / (r2 * plait::sqrt(r2));
                       plait::sum(plait::expand_dims(w, 2) * d, 1).eval();
                     }},
                    {"loop", [] {
#pragma omp parallel for num_threads(threads_now)
                       for (std::size_t i = 0; i < n; ++i) {
                         double ax = 0, ay = 0;
#pragma omp simd reduction(+ : ax, ay)
                         for (std::size_t j = 0; j < n; ++j) {
                           const double dx = lx[j] - lx[i], dy = ly[j] - ly[i];
                           const double r2 = dx * dx + dy * dy + soft;
                           const double w = lm[j] / (r2 * std::sqrt(r2));
                           ax += w * dx;
                           ay += w * dy;
                         }
                         to[2 * i] = ax, to[2 * i + 1] = ay;
                       }
                     }}}});
  return cases;
}

// The components of a picture of 2000 x 2000, by a union-find of pixels in two passes.
std::vector<Case> component_cases() {
  constexpr std::int64_t n = 2000;
  static plait::array<bool> noise, blobs;
  plait::random::seed(1);
  const plait::array<double> field = plait::random::rand({n, n}).eval();
  noise = field < 0.5;
  // Sums of squares of 9 x 9 pixels: spots that are some pixels wide.
  plait::array<double> sum = field - 0.5;
  for (const int axis : {0, 1}) {
    plait::array<double> wide = sum;
    for (int by = 1; by < 9; ++by) wide = wide + plait::roll(sum, by, axis);
    sum = wide;
  }
  blobs = sum > 0;
  plait::eval(noise, blobs);
  static std::vector<std::int32_t> labels(n * n), parent(n * n / 2 + 1);
  const auto loop = [](const plait::array<bool>& mask) -> Work {
    return [p = mask.data()] {
      const auto root = [](std::int32_t i) {
        while (parent[static_cast<std::size_t>(i)] != i) {
          auto& up = parent[static_cast<std::size_t>(i)];
          i = up = parent[static_cast<std::size_t>(up)];
        }
        return i;
      };
      std::int32_t used = 0, count = 0;
      parent[0] = 0;
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          const auto at = static_cast<std::size_t>(i * n + j);
          labels[at] = 0;
          if (!p[at]) continue;
          const std::int32_t above = i > 0 ? labels[at - n] : 0, left = j > 0 ? labels[at - 1] : 0;
          if (above && left) {
            const std::int32_t a = root(above), b = root(left);
            parent[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
            labels[at] = std::min(a, b);
          } else if (above || left) {
            labels[at] = above + left;
          } else {
            labels[at] = ++used;
            parent[static_cast<std::size_t>(used)] = used;
          }
        }
      for (std::int32_t i = 1; i <= used; ++i) {
        auto& up = parent[static_cast<std::size_t>(i)];
        up = up == i ? ++count : parent[static_cast<std::size_t>(up)];
      }
      for (std::int32_t& l : labels) l = parent[static_cast<std::size_t>(l)];
      sink = count;
    };
  };
  return {{"components of spots",
           1,
           {{"plait", [] { sink = static_cast<double>(plait::label(blobs).count); }},
            {"loop", loop(blobs)}}},
          {"components of noise",
           1,
           {{"plait", [] { sink = static_cast<double>(plait::label(noise).count); }},
            {"loop", loop(noise)}}}};
}

}  // namespace

int main(int argc, char** argv) {
  const std::string part = argc > 1 ? argv[1] : "";
  std::vector<Case> cases = small_cases();
  const auto add = [&](std::vector<Case> more) {
    for (Case& c : more) cases.push_back(std::move(c));
  };
  add(step_cases());
  add(library_cases());
  add({heat<64>("heat step 64 x 64"), heat<256>("heat step 256 x 256"), shallow_water()});
  add(body_cases());
  add(large_cases());
  add(bank_cases());
  add(table_cases());
  add(component_cases());
  std::printf("GCC " __VERSION__ XTENSOR(", xtensor " NUMBER(XTENSOR_VERSION_MAJOR) "." NUMBER(
      XTENSOR_VERSION_MINOR) "." NUMBER(XTENSOR_VERSION_PATCH) WITH_XSIMD)
                  EIGEN(", Eigen " NUMBER(EIGEN_WORLD_VERSION) "." NUMBER(
                      EIGEN_MAJOR_VERSION) "." NUMBER(EIGEN_MINOR_VERSION)) "\n");
  compare_all(cases, part);
}
