// Polynomials, in the library's own names: the sequences of numpy/lib/_polynomial_impl.py.
#include "errors.hpp"
#include "plait/plait.hpp"

namespace plait::detail {

namespace {

any_array between(const any_array& p, std::int64_t first, std::int64_t last) {
  return view(p, range(first, last));
}
any_array joined(const any_array& a, const any_array& b) { return concatenate({a, b}); }
dtype common(const any_array& a, const any_array& b) { return promote(a.dtype(), b.dtype()); }
std::int64_t length(const any_array& p) { return static_cast<std::int64_t>(p.size()); }

any_array coefficients(const any_array& given) {
  if (given.ndim() > 1) throw ValueError("Polynomial must be 1d only.");
  return atleast_1d(given);
}
// Without the zeros in front of the others; a 0 where there are no others. Evaluates.
any_array trimmed(const any_array& given) {
  const any_array p = coefficients(given);
  const auto places = flatnonzero(p);
  if (places.size() == 0) return zeros(p.dtype(), {1});
  return between(p, places.get(0), length(p));
}

}  // namespace

any_array polyval(const any_array& p, const any_array& x) {
  return named("polyval", [&] {
    check_ndim("polyval", p.handle(), 1);
    any_array y = zeros_like(x).astype(common(p, x));
    for (std::int64_t i = 0; i < p.shape(0); ++i) y = std::move(y) * x + view(p, i);
    return y;
  });
}

any_array polyfit(const any_array& given_x, const any_array& given_y, std::int64_t degree,
                  const any_array* weights) {
  return named("polyfit", [&]() -> any_array {
    if (degree < 0) throw ValueError("expected deg >= 0");
    if (given_x.ndim() != 1) throw DTypeError("expected 1D vector for x");
    if (given_x.size() == 0) throw DTypeError("expected non-empty vector for x");
    if (given_y.ndim() < 1 || given_y.ndim() > 2) throw DTypeError("expected 1D or 2D array for y");
    if (given_x.shape(0) != given_y.shape(0))
      throw DTypeError("expected x and y to have same length");
    const any_array x = given_x + 0.0;
    any_array sides = given_y + 0.0, powers = vander(x, degree + 1, false);
    if (weights) {
      if (weights->ndim() != 1) throw DTypeError("expected a 1-d array for weights");
      if (weights->shape(0) != given_y.shape(0))
        throw DTypeError("expected w and y to have the same length");
      const any_array w = *weights + 0.0, column = view(w, all(), newaxis());
      powers = powers * column;
      sides = sides * (sides.ndim() == 2 ? column : w);
    }
    const any_array scale = sqrt(sum(powers * powers, 0));
    const bool single = real_of(x.dtype()) == dtype::float32;
    const double precision =
        single ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
    const double rcond = static_cast<double>(x.size()) * precision;
    Handle solution, residuals, s;
    lstsq((powers / scale).handle(), sides.handle(), &rcond, &solution, &residuals, &s);
    const any_array c(std::move(solution));
    return transpose(transpose(c) / scale);
  });
}

any_array polyadd(const any_array& given_a, const any_array& given_b, bool subtract) {
  return named(subtract ? "polysub" : "polyadd", [&]() -> any_array {
    any_array a = coefficients(given_a), b = coefficients(given_b);
    const std::int64_t longer = length(a) - length(b);
    any_array& shorter = longer > 0 ? b : a;
    if (longer != 0) shorter = joined(zeros(shorter.dtype(), {std::abs(longer)}), shorter);
    return subtract ? a - b : a + b;
  });
}

any_array polymul(const any_array& a, const any_array& b) {
  return named("polymul", [&]() -> any_array { return convolve(trimmed(a), trimmed(b)); });
}

std::pair<any_array, any_array> polydiv(const any_array& given_u, const any_array& given_v) {
  return named("polydiv", [&]() -> std::pair<any_array, any_array> {
    const any_array u = coefficients(given_u) + 0.0, v = coefficients(given_v) + 0.0;
    const std::int64_t m = length(u) - 1, n = length(v) - 1;
    const any_array scale = 1.0 / view(v, 0);
    any_array rest = u.astype(common(u, v)).copy();
    any_array quotient = zeros(rest.dtype(), {std::max<std::int64_t>(m - n + 1, 1)});
    for (std::int64_t k = 0; k <= m - n; ++k) {
      const any_array factor = scale * view(rest, k);
      view(quotient, k) = factor;
      view(rest, range(k, k + n + 1)) -= factor * v;
    }
    while (rest.size() > 1 && any_array(abs(view(rest, 0)) <= 1e-8).item<bool>())
      rest = between(rest, 1, length(rest));
    return {quotient, rest};
  });
}

any_array polyder(const any_array& p, std::int64_t m) {
  return named("polyder", [&] {
    if (m < 0) throw ValueError("Order of derivative must be positive (see polyint)");
    any_array d = coefficients(p).astype(promote(p.dtype(), dtype::int64));
    for (; m > 0; --m) {
      const std::int64_t n = std::max<std::int64_t>(length(d) - 1, 0);
      d = between(d, 0, n) * plait::arange<std::int64_t>(n, 0, -1);
    }
    return d;
  });
}

any_array polyint(const any_array& p, std::int64_t m, double k) {
  return named("polyint", [&] {
    if (m < 0) throw ValueError("Order of integral must be positive (see polyder)");
    const any_array given = coefficients(p);
    any_array integral = given.astype((given / plait::ones<std::int64_t>({length(given)})).dtype());
    for (; m > 0; --m)
      integral = joined(integral / plait::arange<std::int64_t>(length(integral), 0, -1),
                        full(integral.dtype(), {1}, k));
    return integral;
  });
}

any_array roots(const any_array& given) {
  return named("roots", [&]() -> any_array {
    const any_array p = atleast_1d(given);
    if (p.ndim() != 1) throw ValueError("Input must be a rank-1 array.");
    const dtype factored = kind_of(p.dtype()) < kind::floating ? dtype::float64 : p.dtype();
    const dtype spectrum = complex_for(factored);
    const auto places = flatnonzero(p);
    if (places.size() == 0) return zeros(spectrum, {0});
    const std::int64_t first = places.get(0), last = places.get(-1), n = last - first;
    any_array found = zeros(spectrum, {0});
    if (n > 0) {
      const any_array leading = between(p, first, last + 1).astype(factored);
      any_array companion(eye(n, n, -1, factored));
      view(companion, 0) = -between(leading, 1, n + 1) / view(leading, 0);
      Handle values;
      factorise(factorisation::eigvals, companion.handle(), false, &values);
      found = any_array(std::move(values));
    }
    return joined(found, zeros(spectrum, {length(p) - last - 1}));
  });
}

any_array poly(const any_array& zeros) {
  return named("poly", [&] {
    if (zeros.ndim() != 1) throw ValueError("takes the zeros along one axis");
    const dtype t = kind_of(zeros.dtype()) < kind::floating ? dtype::float64 : zeros.dtype();
    const any_array given = zeros.astype(t), one = ones(t, {1});
    any_array p = one;
    for (std::int64_t i = 0; i < length(given); ++i)
      p = convolve(p, joined(one, -between(given, i, i + 1)));
    return p;
  });
}

any_array vander(const any_array& given, std::int64_t n, bool increasing) {
  return named("vander", [&]() -> any_array {
    if (given.ndim() != 1) throw ValueError("x must be a one-dimensional array or sequence.");
    const any_array x = given.astype(promote(given.dtype(), dtype::int64));
    if (n == -1) n = length(x);
    if (n < 0) throw ValueError("negative dimensions are not allowed");
    if (n == 0) return zeros(x.dtype(), {length(x), 0});
    std::vector<any_array> columns{ones_like(x)};
    while (static_cast<std::int64_t>(columns.size()) < n)
      columns.push_back(columns.size() == 1 ? x : columns.back() * x);
    const any_array powers = stack(columns, 1);
    return increasing ? powers : fliplr(powers);
  });
}

}  // namespace plait::detail
