// Factorisations.
#include "numpy_compat/linalg.hpp"

#include "box.hpp"
#include "plait/linalg.hpp"

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

}  // namespace plait::detail
