// std::vector: an American put by regression over simulated paths (Longstaff and Schwartz).
#include <plait/plait.hpp>

#include "ports.hpp"

namespace ported {
namespace {

struct Option {
  double S0 = 100, K = 105, r = 0.05, sigma = 0.25, T = 1;
};

array<double> paths(const Option& o, size_t steps, size_t n) {
  const double dt = o.T / double(steps);
  array<double> Z = plait::random::engine(5).standard_normal({steps, n});
  array<double> S = plait::empty<double>({steps + 1, n});
  plait::row(S, 0) = o.S0;
  view(S, range(1, steps + 1)) =
      o.S0 * plait::exp(plait::cumsum(
                 (o.r - 0.5 * o.sigma * o.sigma) * dt + o.sigma * std::sqrt(dt) * Z, 0));
  return S;
}

double price(const Option& o, const array<double>& S, size_t steps) {
  const double discount = std::exp(-o.r * o.T / double(steps));
  array<double> payoff = plait::maximum(o.K - S, 0.0);
  array<double> cashflows = plait::row(payoff, steps).copy();
  for (size_t t = steps - 1; t > 0; --t) {
    cashflows *= discount;
    const auto immediate = plait::row(payoff, t);
    const auto in_the_money = plait::flatnonzero(immediate > 0.0);
    if (in_the_money.size() == 0) continue;
    const array<double> spot = plait::row(S, t)[in_the_money];
    const auto phi = plait::column_stack({plait::ones_like(spot), spot, spot * spot});
    const auto beta =
        plait::linalg::solve(plait::matmul(plait::transpose(phi), phi),
                             plait::matmul(plait::transpose(phi), cashflows[in_the_money]));
    const array<double> continuation = plait::matmul(phi, beta);
    const array<double> exercise = immediate[in_the_money];
    const auto stop = in_the_money[exercise > continuation];
    cashflows[stop] = immediate[stop];
  }
  return plait::mean(cashflows)() * discount;
}

double loops(const Option& o, const Reals& S, size_t steps, size_t n) {
  const double discount = std::exp(-o.r * o.T / double(steps));
  Reals cash(n);
  for (size_t i = 0; i < n; ++i) cash[i] = std::fmax(o.K - S[steps * n + i], 0);
  for (size_t t = steps - 1; t > 0; --t) {
    double m[3][4] = {};
    for (size_t i = 0; i < n; ++i) {
      cash[i] *= discount;
      const double s = S[t * n + i];
      if (s >= o.K) continue;
      const double phi[] = {1, s, s * s, cash[i]};
      for (int j = 0; j < 3; ++j)
        for (int k = 0; k < 4; ++k) m[j][k] += phi[j] * phi[k];
    }
    if (m[0][0] == 0) continue;
    for (int k = 0; k < 3; ++k)
      for (int i = 0; i < 3; ++i) {
        if (i == k) continue;
        const double factor = m[i][k] / m[k][k];
        for (int j = k; j < 4; ++j) m[i][j] -= factor * m[k][j];
      }
    for (size_t i = 0; i < n; ++i) {
      const double s = S[t * n + i];
      const double on = m[0][3] / m[0][0] + m[1][3] / m[1][1] * s + m[2][3] / m[2][2] * s * s;
      if (s < o.K && o.K - s > on) cash[i] = o.K - s;
    }
  }
  double sum = 0;
  for (double x : cash) sum += x;
  return sum / double(n) * discount;
}

}  // namespace

void american_put() {
  const Option o;
  const array<double> S = paths(o, 12, 3000);
  const double got = price(o, S, 12);
  expect_near(got, loops(o, Reals(S.begin(), S.end()), 12, 3000), 1e-6, "American put");
  expect(got > 9.5 && got < 12, "between the European price and the bound of the paths");
}

}  // namespace ported
