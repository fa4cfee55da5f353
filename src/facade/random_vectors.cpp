// Laws whose numbers are vectors, along a last axis.
#include <algorithm>

#include "plait/linalg.hpp"
#include "random_stream.hpp"

namespace plait::random {

namespace {
extents with_last(const extents& shape, std::int64_t last) {
  shape_type all(shape.data(), shape.data() + shape.size());
  all.push_back(last);
  return all;
}
}  // namespace

detail::Handle engine::normals(const detail::Handle& mean, const detail::Handle& covariance,
                               const extents& shape, factor how) {
  return detail::named("multivariate_normal", [&] {
    const detail::Span m = detail::shape_of(mean), c = detail::shape_of(covariance);
    require(m.size == 1, "mean must be 1 dimensional");
    require(c.size == 2 && c.data[0] == c.data[1], "cov must be 2 dimensional and square");
    require(m.data[0] == c.data[0], "mean and cov must have same length");
    const array<double> x(draw_standard(law::normal, with_last(shape, m.data[0]), dtype::float64));
    const array<double> given(covariance);
    array<double> root;
    if (how == factor::cholesky) {
      root = linalg::cholesky(given);
    } else if (how == factor::eigh) {
      const auto [values, vectors] = linalg::eigh(given);
      root = vectors * sqrt(abs(values));
    } else {
      const auto [u, s, vh] = linalg::svd(given);
      root = u * sqrt(s);
    }
    return (array<double>(mean) + matmul(x, transpose(root))).handle();
  });
}

detail::Handle engine::counts(std::int64_t n, const detail::Handle& p, const extents& shape) {
  return detail::named("multinomial", [&] {
    stream& s = own();
    const detail::Span given = detail::shape_of(p);
    require(given.size == 1 && given.data[0] > 0,
            "pvals must have 1 dimension, which must be greater than 0.");
    const std::vector<double> probabilities = list<double>(p);
    const auto kinds = static_cast<std::int64_t>(probabilities.size());
    for (const double v : probabilities) check({"pvals", Rule::probability}, v, true);
    require(!(compensated_sum(probabilities.data(), kinds - 1) > 1.0 + 1e-12),
            "sum(pvals[:-1]) > 1.0");
    check({"n", Rule::not_negative}, static_cast<double>(n), false);
    return made<std::int64_t>(with_last(shape, kinds), [&](std::int64_t* out, std::int64_t size) {
      std::fill_n(out, size, 0);
      for (std::int64_t i = 0; i < size; i += kinds)
        numpy::multinomial(s, s.binomial, n, probabilities.data(), kinds, out + i);
    });
  });
}

detail::Handle engine::colors_of(const detail::Handle& colors, std::int64_t sample,
                                 const extents& shape, bool by_counts) {
  return detail::named("multivariate_hypergeometric", [&] {
    require(sample >= 0, "nsample must be nonnegative.");
    const std::vector<std::int64_t> each = list<std::int64_t>(colors);
    bool valid = detail::shape_of(colors).size == 1;
    std::int64_t total = 0;
    bool fits = true;
    for (const std::int64_t v : each) {
      valid &= v >= 0;
      fits &= !__builtin_add_overflow(total, v, &total);
    }
    require(valid,
            "colors must be a one-dimensional sequence of nonnegative integers not "
            "exceeding 9223372036854775807.");
    if (by_counts)
      require(fits,
              "sum(colors) must not exceed the maximum value of a 64 bit signed integer "
              "(9223372036854775807)");
    else
      require(fits && total < 1000000000,
              "When method is \"marginals\", sum(colors) must be less than 1000000000.");
    require(sample <= total, "nsample > sum(colors)");
    const auto kinds = static_cast<std::int64_t>(each.size());
    return made<std::int64_t>(with_last(shape, kinds), [&](std::int64_t* out, std::int64_t size) {
      std::fill_n(out, size, 0);
      numpy::multivariate_hypergeometric(own(), each, sample, by_counts, size / kinds, out);
    });
  });
}

detail::Handle engine::parts(const detail::Handle& alpha, const extents& shape) {
  return detail::named("dirichlet", [&] {
    require(detail::shape_of(alpha).size == 1, "object of too small depth for desired array");
    const std::vector<double> each = list<double>(alpha);
    for (const double v : each) require(!(v < 0), "alpha < 0");
    const auto kinds = static_cast<std::int64_t>(each.size());
    return made<double>(with_last(shape, kinds), [&](double* out, std::int64_t size) {
      std::fill_n(out, size, 0);
      numpy::dirichlet(own(), each, size / kinds, out);
    });
  });
}

}  // namespace plait::random
