// What random::engine keeps, and the arrays that it fills.
#pragma once
#include <vector>

#include "box.hpp"
#include "numpy_compat/distributions.hpp"
#include "numpy_compat/random_fill.hpp"
#include "plait/random_engine.hpp"
#include "random_laws.hpp"

namespace plait::random {

struct engine::stream : Stream {
  explicit stream(numpy::SeedSequence s) : Stream(s), seeds(std::move(s)) {}
  numpy::SeedSequence seeds;
  numpy::Binomial binomial;
};

// A new array of T that fill(memory, n) fills, in C order.
template <class T, class Fill>
detail::Handle made(const extents& shape, Fill&& fill) {
  detail::start();
  const detail::OnHost host;
  const detail::Handle h = detail::empty(detail::span_of(shape), dtype_of_v<T>);
  if (const std::int64_t n = detail::size_of(h); n > 0)
    fill(static_cast<T*>(detail::mutable_data(h)), n);
  return host.placed(h);
}
// The same, whose i-th element is next(i).
template <class T, class F>
detail::Handle filled(const extents& shape, F&& next) {
  return made<T>(shape, [&](T* out, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) out[i] = next(i);
  });
}

// Elements in C order.
template <class T>
std::vector<T> list(const detail::Handle& a) {
  std::vector<T> out(static_cast<std::size_t>(detail::size_of(a)));
  if (!out.empty()) detail::compute_into(a, out.data());
  return out;
}

// NumPy's errors for a shape, before anything is drawn.
inline std::int64_t count_of(const extents& shape) {
  std::int64_t n = 1;
  for (int i = 0; i < shape.size(); ++i) {
    require(shape.data()[i] >= 0, "negative dimensions are not allowed");
    n *= shape.data()[i];
  }
  return n;
}
// Kahan's.
inline double compensated_sum(const double* values, std::int64_t n) {
  double sum = n > 0 ? values[0] : 0, lost = 0;
  for (std::int64_t i = 1; i < n; ++i) {
    const double y = values[i] - lost, t = sum + y;
    lost = (t - sum) - y;
    sum = t;
  }
  return sum;
}

}  // namespace plait::random
