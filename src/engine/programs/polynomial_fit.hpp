// The numbers of one plan as polynomials of the dynamic extents: by differences of what was
// recorded on a grid of extents, checked at others.
#pragma once
#include <memory>
#include <vector>

#include "exporter.hpp"

namespace plait::engine {

struct NoPolynomial : Refused {
  explicit NoPolynomial(std::uint32_t site = 0)
      : Refused(
            "a number in it follows from the dynamic extents in another way than by a polynomial "
            "of second degree",
            site) {}
};

class PolynomialFit {
 public:
  struct Sample {
    Extents extents;
    std::shared_ptr<WatchedCall> call;
  };
  // The samples: first those of the grid, which has so many points along each extent from `base`
  // on, then others to check by.
  PolynomialFit(const fusion::Plan& p, std::vector<std::int32_t> points, const Extents& base,
                std::vector<Sample> samples);

  // What f gives of each sample.
  template <class F>
  auto of_each(F&& f) const {
    std::vector<decltype(f(samples_[0].call->trace()))> rows;
    for (const Sample& s : samples_) rows.push_back(f(s.call->trace()));
    return rows;
  }

  // Of lists of one length, one of each sample.
  template <class Rows>
  std::vector<Number> numbers(const Rows& rows,
                              const std::vector<std::uint32_t>& sites = {}) const {
    std::vector<std::vector<std::int64_t>> columns;
    for (const auto& row : rows) {
      columns.resize(static_cast<std::size_t>(row.size()));
      auto column = columns.begin();
      for (const std::int64_t n : row) (column++)->push_back(n);
    }
    std::vector<Number> made;
    for (std::size_t i = 0; i < columns.size(); ++i)
      made.push_back(number(columns[i], sites.empty() ? 0 : sites[i]));
    return made;
  }

  std::vector<NumberScalar> scalars() const;

 private:
  // Newton's differences of the values on the grid. Throws NoPolynomial where they do not give
  // those elsewhere.
  Number number(const std::vector<std::int64_t>& values, std::uint32_t site) const;
  NumberScalar scalar(const std::vector<Scalar>& column) const;

  const fusion::Plan& plan_;
  const std::vector<std::int32_t> points_;
  const std::vector<Sample> samples_;
  std::size_t grid_ = 1;  // samples of it
  std::vector<Extents> from_base_;
};

}  // namespace plait::engine
