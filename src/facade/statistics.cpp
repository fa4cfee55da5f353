// Covariances, order statistics without NaNs, histograms of several dimensions.
#include "plait/statistics.hpp"

#include <limits>

#include "box.hpp"
#include "numpy_compat/functions.hpp"
#include "numpy_compat/record.hpp"
#include "numpy_compat/signal.hpp"
#include "numpy_compat/sorting.hpp"
#include "plait/plait.hpp"

namespace plait::detail {

namespace {

// Variables as rows.
any_array variables(const any_array& given, const char* name, bool rows, dtype t) {
  if (given.ndim() > 2) throw ValueError(std::string(name) + " has more than 2 dimensions");
  const any_array a = atleast_2d(given.astype(t));
  return rows || given.ndim() == 1 ? a : transpose(a);
}
any_array within_one(const any_array& a) { return clip(a, -1.0, 1.0); }

}  // namespace

any_array cov(const any_array& a, const any_array* b, bool rows, double ddof) {
  return named("cov", [&]() -> any_array {
    dtype t = promote(a.dtype(), dtype::float64);
    if (b) t = promote(t, b->dtype());
    any_array x = variables(a, "m", rows, t);
    if (x.shape(0) == 0) return zeros(t, {0, 0});
    if (b) x = concatenate({x, variables(*b, "y", rows, t)});
    const any_array apart = x - mean(x, {1}, keep_dims);
    const double freedom = std::max(static_cast<double>(x.shape(1)) - ddof, 0.0);
    return squeeze(dot(apart, conj(transpose(apart))) * (1 / freedom));
  });
}

any_array corrcoef(const any_array& a, const any_array* b, bool rows) {
  return named("corrcoef", [&]() -> any_array {
    const any_array c = detail::cov(a, b, rows, 1);
    if (c.ndim() == 0) return c / c;
    const any_array spread = sqrt(any_array(real(diag(c).handle())));
    const any_array r = c / view(spread, all(), newaxis()) / spread;
    if (!is_complex(r.dtype())) return within_one(r);
    const std::complex<double> i(0, 1);
    return within_one(any_array(real(r.handle()))) + within_one(any_array(imag(r.handle()))) * i;
  });
}

Handle correlate(const Handle& a, const Handle& v, int mode) {
  return made("correlate", [&] {
    const tracer::Array& x = unwrap(a);
    tracer::Array y = unwrap(v);
    if (is_complex(y.dtype)) y = numpy::call(OpId::Conjugate, y);
    const auto how = static_cast<numpy::Convolution>(mode);
    // The longer one is slid over, and what comes of it read backwards.
    if (y.size() <= x.size()) return numpy::convolve(x, tracer::flip(y, Dims{0}), how);
    return tracer::flip(numpy::convolve(y, tracer::flip(x, Dims{0}), how), Dims{0});
  });
}

Handle nanmedian(const Handle& a, const Span* axes, bool keepdims) {
  return made("nanmedian",
              [&] { return numpy::nanmedian(unwrap(a), optional_dims(axes), keepdims); });
}
Handle nanquantile(const Handle& a, const double* q, int n, double whole, const Span* axes) {
  return made(whole == 1 ? "nanquantile" : "nanpercentile", [&] {
    std::vector<double> parts;
    for (int i = 0; i < (n ? n : 1); ++i) parts.push_back(q[i] / whole);
    const tracer::Array all = numpy::nanquantile(unwrap(a), parts, optional_dims(axes));
    return n ? all : numpy::take_at(all, 0, 0);
  });
}
Handle nanarg(const Handle& a, bool least, const Span* axis) {
  return made(least ? "nanargmin" : "nanargmax", [&] {
    tracer::ReduceOptions o;
    o.axes = optional_dims(axis);
    tracer::Array x = unwrap(a);
    if (!numpy::is_exact(x.dtype)) {
      const tracer::Array nan = numpy::call(OpId::Isnan, x);
      if (x.size() > 0 && tracer::item(numpy::any(numpy::all(nan, o)), {}).as<bool>())
        throw ValueError("All-NaN slice encountered");
      const double last = std::numeric_limits<double>::infinity();
      x = numpy::call(OpId::Where, nan,
                      numpy::strong(cast(scalar_float(least ? last : -last), x.dtype)), x);
    }
    return least ? numpy::argmin(x, o) : numpy::argmax(x, o);
  });
}

Handle bin_edges(const Handle& a, std::int64_t bins, const double* range) {
  return made("histogram_bin_edges", [&] {
    std::optional<numpy::Range> r;
    if (range) r = numpy::Range{range[0], range[1]};
    return numpy::bin_edges(unwrap(a), bins, r);
  });
}
any_array histogramdd(const std::vector<any_array>& columns, const std::vector<any_array>& edges) {
  return named("histogramdd", [&]() -> any_array {
    if (columns.size() != edges.size())
      throw ValueError("The dimension of bins must be equal to the dimension of the sample x.");
    // The bin of each sample, as an index into a table that has one bin more at either end.
    any_array bin = plait::zeros<std::int64_t>({1});
    shape_type extents;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const any_array &x = columns[i], &e = edges[i];
      if (x.shape() != columns[0].shape() || x.ndim() != 1)
        throw ValueError("x and y must have the same length.");
      if (e.ndim() != 1 || e.size() < 2 || any(diff(e) < 0).item<bool>())
        throw ValueError("`bins[" + std::to_string(i) +
                         "]` must be monotonically increasing, when an array");
      const auto n = static_cast<std::int64_t>(e.size());
      const any_array place = searchsorted(e, x, side::right);
      bin = bin * (n + 1) + (place - (x == view(e, n - 1)));
      extents.push_back(n + 1);
    }
    std::int64_t bins = 1;
    for (const std::int64_t n : extents) bins *= n;
    any_array table = bincount(bin, bins).reshape(extents);
    std::vector<Index> inner;
    for (const std::int64_t n : extents) inner.push_back(range(1, n - 1));
    table = any_array(slice(table.handle(), inner.data(), static_cast<int>(inner.size())));
    return table.astype<double>();
  });
}

}  // namespace plait::detail
