// Factorisations.
#include "numpy_compat/linalg.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "box.hpp"
#include "numpy_compat/record.hpp"
#include "plait/linalg.hpp"
#include "plait/norms.hpp"

namespace plait::detail {

namespace {
namespace np = numpy::linalg;

void give(Handle* results, tracer::Array first, tracer::Array second) {
  results[0] = wrap(std::move(first));
  results[1] = wrap(std::move(second));
}
}  // namespace

void factorise(factorisation f, const Handle& a, bool flag, Handle* results) {
  constexpr const char* names[] = {"linalg::inv",      "linalg::det",    "linalg::slogdet",
                                   "linalg::cholesky", "linalg::qr",     "linalg::svd",
                                   "linalg::svdvals",  "linalg::eigh",   "linalg::eigvalsh",
                                   "linalg::eig",      "linalg::eigvals"};
  named(names[static_cast<int>(f)], [&] {
    const tracer::Array& x = unwrap(a);
    switch (f) {
      case factorisation::inv:
        results[0] = wrap(np::inv(x));
        break;
      case factorisation::det:
        results[0] = wrap(np::det(x));
        break;
      case factorisation::slogdet: {
        np::Slogdet d = np::slogdet(x);
        give(results, std::move(d.sign), std::move(d.logabsdet));
        break;
      }
      case factorisation::cholesky:
        results[0] = wrap(np::cholesky(x, flag));
        break;
      case factorisation::qr: {
        np::Qr d = np::qr(x, flag);
        give(results, std::move(d.q), std::move(d.r));
        break;
      }
      case factorisation::svd: {
        np::Svd d = np::svd(x, flag);
        give(results, std::move(d.u), std::move(d.s));
        results[2] = wrap(std::move(d.vh));
        break;
      }
      case factorisation::svdvals:
        results[0] = wrap(np::svdvals(x));
        break;
      case factorisation::eigh: {
        np::Eigen d = np::eigh(x, flag);
        give(results, std::move(d.values), std::move(d.vectors));
        break;
      }
      case factorisation::eigvalsh:
        results[0] = wrap(np::eigvalsh(x, flag));
        break;
      case factorisation::eig: {
        np::Eigen d = np::eig(x);
        give(results, std::move(d.values), std::move(d.vectors));
        break;
      }
      case factorisation::eigvals:
        results[0] = wrap(np::eigvals(x));
        break;
    }
  });
}

Handle solve(const Handle& a, const Handle& b) {
  return made("linalg::solve", [&] { return np::solve(unwrap(a), unwrap(b)); });
}
Handle tensorinv(const Handle& given, int ind) {
  return made("linalg::tensorinv", [&] {
    const tracer::Array& a = unwrap(given);
    if (ind <= 0) throw ValueError("Invalid ind argument.");
    const int rows = std::min(ind, a.ndim());
    Dims shape(a.shape.begin() + rows, a.shape.end());
    const std::int64_t columns = element_count(shape);
    for (int i = 0; i < rows; ++i) shape.push_back(a.shape[i]);
    return tracer::reshape(np::inv(tracer::reshape(a, Dims{columns, -1})), shape);
  });
}
Handle tensorsolve(const Handle& a, const Handle& given, Span axes) {
  return made("linalg::tensorsolve", [&] {
    tracer::Array x = unwrap(a);
    const tracer::Array& b = unwrap(given);
    if (axes.size > 0) {
      Dims last(axes.size);
      std::iota(last.begin(), last.end(), x.ndim() - axes.size);
      x = tracer::moveaxis(x, dims(axes), last);
    }
    const Dims shape(x.shape.begin() + std::min(b.ndim(), x.ndim()), x.shape.end());
    const std::int64_t n = element_count(shape);
    if (x.size() != n * n)
      throw LinAlgError(
          "Input arrays must satisfy the requirement             prod(a.shape[b.ndim:]) == "
          "prod(a.shape[:b.ndim])");
    return tracer::reshape(np::solve(tracer::reshape(x, Dims{n, n}), tracer::reshape(b, Dims{-1})),
                           shape);
  });
}
std::int64_t lstsq(const Handle& a, const Handle& b, const double* rcond, Handle* x,
                   Handle* residuals, Handle* s) {
  return named("linalg::lstsq", [&] {
    np::Lstsq l = np::lstsq(unwrap(a), unwrap(b), rcond ? std::optional(*rcond) : std::nullopt);
    *x = wrap(std::move(l.x));
    *residuals = wrap(std::move(l.residuals));
    *s = wrap(std::move(l.s));
    return l.rank;
  });
}
Handle pinv(const Handle& a, double rcond) {
  return made("linalg::pinv", [&] { return np::pinv(unwrap(a), rcond); });
}
Handle matrix_power(const Handle& a, std::int64_t n) {
  return made("linalg::matrix_power", [&] { return np::matrix_power(unwrap(a), n); });
}
Handle matrix_rank(const Handle& a, const double* tolerance) {
  return made("linalg::matrix_rank", [&] {
    return np::matrix_rank(unwrap(a), tolerance ? std::optional(*tolerance) : std::nullopt);
  });
}

Handle cond(const Handle& given, double order) {
  return made("linalg::cond", [&] {
    const tracer::Array& a = unwrap(given);
    if (a.ndim() >= 2 && a.size() == 0) throw LinAlgError("cond is not defined on empty arrays");
    const Dims axes{-2, -1};
    tracer::Array found;
    if (order == 2 || order == -2) {
      const tracer::Array s = np::svdvals(a);
      const int axis = s.ndim() - 1;
      const tracer::Array greatest = numpy::take_at(s, axis, 0),
                          least = numpy::take_at(s, axis, s.shape[axis] - 1);
      found = order == 2 ? numpy::call(OpId::Divide, greatest, least)
                         : numpy::call(OpId::Divide, least, greatest);
    } else {
      // Singular matrices, which have no inverse, are not inverted.
      tracer::Array x = numpy::is_exact(a.dtype) ? numpy::as(a, DType::Float64) : a;
      const tracer::Array singular = numpy::call(OpId::Equal, np::slogdet(x).sign, numpy::weak(0));
      x = numpy::call(OpId::Where, tracer::expand_dims(singular, Dims{-2, -1}),
                      numpy::identity(x.shape[x.ndim() - 1], x.dtype), x);
      found = numpy::call(OpId::Multiply, numpy::norm(x, order, axes),
                          numpy::norm(np::inv(x), order, axes));
      found = numpy::call(
          OpId::Where, singular,
          numpy::strong(cast(scalar_float(std::numeric_limits<double>::quiet_NaN()), found.dtype)),
          found);
    }
    // NaN of finite matrices stands for infinity.
    tracer::ReduceOptions each;
    each.axes = axes;
    const tracer::Array lost =
        numpy::call(OpId::LogicalAnd, numpy::call(OpId::Isnan, found),
                    numpy::call(OpId::LogicalNot, numpy::any(numpy::call(OpId::Isnan, a), each)));
    const Scalar infinity = scalar_float(std::numeric_limits<double>::infinity());
    return numpy::call(OpId::Where, lost, numpy::strong(cast(infinity, found.dtype)), found);
  });
}

void check_matrix(const char* function, const Handle& a) {
  if (const int n = unwrap(a).ndim(); n != 2)
    throw ValueError(std::string(function) + " takes arrays of two dimensions, not of " +
                     std::to_string(n));
}

Handle multi_dot(const Handle* arrays, int n) {
  return made("linalg::multi_dot", [&] {
    if (n < 2) throw ValueError("Expecting at least two arrays.");
    std::vector<tracer::Array> factors;
    for (int i = 0; i < n; ++i) factors.push_back(unwrap(arrays[i]));
    const bool row = factors.front().ndim() == 1, column = factors.back().ndim() == 1;
    if (row) factors.front() = tracer::expand_dims(factors.front(), Dims{0});
    if (column) factors.back() = tracer::expand_dims(factors.back(), Dims{1});
    for (const tracer::Array& a : factors)
      if (a.ndim() != 2)
        throw LinAlgError(std::to_string(a.ndim()) +
                          "-dimensional array given. Array must be two-dimensional");
    // cost[i, j]: of the cheapest way to multiply factors i to j; `cut`: behind which it is cut.
    const auto size = static_cast<std::size_t>(n);
    std::vector<double> cost(size * size);
    std::vector<std::size_t> cut(size * size);
    const auto rows = [&](std::size_t i) { return static_cast<double>(factors[i].shape[0]); };
    for (std::size_t length = 1; length < size; ++length)
      for (std::size_t i = 0; i + length < size; ++i) {
        const std::size_t j = i + length;
        double& least = cost[i * size + j];
        least = std::numeric_limits<double>::infinity();
        for (std::size_t k = i; k < j; ++k) {
          const double c = cost[i * size + k] + cost[(k + 1) * size + j] +
                           rows(i) * rows(k + 1) * static_cast<double>(factors[j].shape[1]);
          if (c < least) least = c, cut[i * size + j] = k;
        }
      }
    const auto product = [&](auto&& self, std::size_t i, std::size_t j) -> tracer::Array {
      if (i == j) return factors[i];
      const std::size_t k = cut[i * size + j];
      return numpy::dot(self(self, i, k), self(self, k + 1, j));
    };
    tracer::Array all = product(product, 0, size - 1);
    if (row) all = numpy::take_at(all, 0, 0);
    return column ? numpy::take_at(all, all.ndim() - 1, 0) : all;
  });
}

}  // namespace plait::detail
