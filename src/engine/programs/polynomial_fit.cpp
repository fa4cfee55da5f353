#include "polynomial_fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace plait::engine {
namespace {

bool is_whole(double x) { return std::trunc(x) == x && std::abs(x) < 0x1p62; }

}  // namespace

PolynomialFit::PolynomialFit(const fusion::Plan& p, std::vector<std::int32_t> points,
                             const Extents& base, std::vector<Sample> samples)
    : plan_(p), points_(std::move(points)), samples_(std::move(samples)) {
  for (const std::int32_t n : points_) grid_ *= static_cast<std::size_t>(n);
  for (const Sample& s : samples_) {
    Extents from_base = s.extents;
    for (std::size_t i = 0; i < base.size(); ++i) from_base[i] -= base[i];
    from_base_.push_back(std::move(from_base));
  }
}

std::vector<NumberScalar> PolynomialFit::scalars() const {
  const auto rows = of_each([&](const Trace& t) { return t.scalars(plan_); });
  std::vector<NumberScalar> made;
  for (std::size_t i = 0; i < rows[0].size(); ++i) {
    std::vector<Scalar> column;
    for (const auto& row : rows) column.push_back(row[i]);
    made.push_back(scalar(column));
  }
  return made;
}

Number PolynomialFit::number(const std::vector<std::int64_t>& values, std::uint32_t site) const {
  if (std::ranges::all_of(values, [&](std::int64_t v) { return v == values[0]; }))
    return {{values[0]}};
  Number n{{values.begin(), values.begin() + static_cast<std::ptrdiff_t>(grid_)}};
  std::size_t step = grid_;
  for (const std::int32_t points : points_) {
    step /= static_cast<std::size_t>(points);
    for (std::int32_t k = 1; k < points; ++k)
      for (std::size_t i = grid_; i-- > 0;) {
        const std::size_t along = i / step % static_cast<std::size_t>(points);
        if (along >= static_cast<std::size_t>(k) &&
            __builtin_sub_overflow(n.differences[i], n.differences[i - step], &n.differences[i]))
          throw NoPolynomial(site);
      }
  }
  for (std::size_t i = grid_; i < values.size(); ++i)
    if (n.at(from_base_[i], points_) != values[i]) throw NoPolynomial(site);
  return n;
}

NumberScalar PolynomialFit::scalar(const std::vector<Scalar>& column) const {
  const DType t = column[0].dtype;
  const auto same = [](const Scalar& a, const Scalar& b) {
    return std::memcmp(a.bytes, b.bytes, itemsize(a.dtype)) == 0;
  };
  if (std::ranges::all_of(column, [&](const Scalar& s) { return same(s, column[0]); }))
    return {NumberScalar::Kind::Constant, t, column[0], {{0}}};
  if (is_complex(t)) throw NoPolynomial();
  std::vector<std::int64_t> whole;
  for (const Scalar& s : column)
    if (is_whole(cast(s, DType::Float64).as<double>()))
      whole.push_back(cast(s, DType::Int64).as<std::int64_t>());
  if (whole.size() == column.size()) return {NumberScalar::Kind::Number, t, {}, number(whole, 0)};
  // Something divided by an extent, or a product of some.
  const double first = cast(column[0], DType::Float64).as<double>();
  for (unsigned chosen = 0; chosen < 1U << points_.size(); ++chosen) {
    std::vector<std::int64_t> by;
    for (const Sample& s : samples_) {
      std::int64_t product = 1;
      for (std::size_t e = 0; e < points_.size(); ++e)
        if (chosen >> e & 1 && __builtin_mul_overflow(product, s.extents[e], &product))
          throw NoPolynomial();
      by.push_back(product);
    }
    const Scalar of = scalar_float(std::nearbyint(first * static_cast<double>(by[0])));
    bool equal = true;
    for (std::size_t i = 0; i < by.size(); ++i) {
      const double quotient = of.as<double>() / static_cast<double>(by[i]);
      equal &= same(cast(scalar_float(quotient), t), column[i]);
    }
    if (equal) return {NumberScalar::Kind::Quotient, t, of, number(by, 0)};
  }
  throw NoPolynomial();
}

}  // namespace plait::engine
