// Sorting, searching, order statistics, sets, scans and histograms.
#include "numpy_compat/sorting.hpp"

#include "box.hpp"
#include "numpy_compat/functions.hpp"
#include "numpy_compat/indexing.hpp"
#include "numpy_compat/record.hpp"
#include "numpy_compat/signal.hpp"
#include "plait/scan.hpp"
#include "plait/sorting.hpp"
#include "tracer/calls.hpp"

namespace plait::detail {

Handle sort(const Handle& a, std::int64_t axis, bool stable) {
  return made("sort", [&] { return numpy::sort(unwrap(a), axis, stable); });
}
Handle argsort(const Handle& a, std::int64_t axis) {
  return made("argsort", [&] { return numpy::argsort(unwrap(a), axis); });
}
Handle partition(const Handle& a, std::int64_t kth, std::int64_t axis, bool indices) {
  return made(indices ? "argpartition" : "partition", [&] {
    const tracer::Array& x = unwrap(a);
    const std::int64_t n = x.shape[numpy::normalize_axis(axis, x.ndim())];
    if (kth < -n || kth >= n)
      throw ValueError("kth(=" + std::to_string(kth) + ") out of bounds (" + std::to_string(n) +
                       ")");
    // A sorted array is one that is parted at every index.
    return indices ? numpy::argsort(x, axis) : numpy::sort(x, axis);
  });
}
Handle searchsorted(const Handle& a, const Handle& v, bool right) {
  return made("searchsorted", [&] { return numpy::searchsorted(unwrap(a), unwrap(v), right); });
}
Handle median(const Handle& a, const Span* axes, bool keepdims) {
  return made("median", [&] { return numpy::median(unwrap(a), optional_dims(axes), keepdims); });
}
Handle quantile(const Handle& a, const double* q, int n, double whole, const Span* axes,
                bool keepdims) {
  return made(whole == 1 ? "quantile" : "percentile", [&] {
    std::vector<double> parts;
    for (int i = 0; i < (n ? n : 1); ++i) parts.push_back(q[i] / whole);
    const tracer::Array all = numpy::quantile(unwrap(a), parts, optional_dims(axes), keepdims);
    return n ? all : numpy::take_at(all, 0, 0);
  });
}
Handle unique(const Handle& a, Handle* counts) {
  return named("unique", [&] {
    if (!counts) return wrap(numpy::unique(unwrap(a)));
    numpy::Unique u = numpy::unique_counts(unwrap(a));
    *counts = wrap(std::move(u.counts));
    return wrap(std::move(u.values));
  });
}
Handle unique_all(const Handle& a, UniqueParts& parts) {
  return named("unique_all", [&] {
    const tracer::Array flat = tracer::reshape(unwrap(a), Dims{-1});
    numpy::Unique u = numpy::unique_counts(flat);
    const tracer::Array order = numpy::argsort(flat), sorted = numpy::sort(flat);
    parts.indices = wrap(*numpy::take(order, numpy::searchsorted(sorted, u.values), 0));
    parts.inverse =
        wrap(tracer::reshape(numpy::searchsorted(u.values, flat), Dims(unwrap(a).shape)));
    parts.counts = wrap(std::move(u.counts));
    return wrap(std::move(u.values));
  });
}
Handle lexsort(const Handle* keys, int n) {
  return made("lexsort", [&] {
    std::optional<tracer::Array> order;
    for (int i = 0; i < n; ++i) {
      const tracer::Array& key = unwrap(keys[i]);
      if (key.ndim() != 1 || key.shape != unwrap(keys[0]).shape)
        throw ValueError("the keys are of one axis and of one length");
      order = order ? *numpy::take(*order, numpy::argsort(*numpy::take(key, *order, 0)), 0)
                    : numpy::argsort(key);
    }
    return *order;
  });
}
Handle combined(set_operation o, const Handle& a, const Handle& b) {
  constexpr const char* names[] = {"union1d", "intersect1d", "setxor1d", "setdiff1d"};
  return made(names[static_cast<int>(o)], [&] {
    const tracer::Array &x = unwrap(a), &y = unwrap(b);
    switch (o) {
      case set_operation::intersect:
        return numpy::intersect1d(x, y);
      case set_operation::exclude:
        return numpy::setxor1d(x, y);
      case set_operation::subtract:
        return numpy::setdiff1d(x, y);
      case set_operation::unite:
        break;
    }
    const tracer::Array both[] = {x, y};
    return numpy::unique(numpy::concatenate(both, std::nullopt));
  });
}
Handle isin(const Handle& a, const Handle& b) {
  return made("isin", [&] { return numpy::isin(unwrap(a), unwrap(b)); });
}

Handle cumulate(scan s, const Handle& a, const std::int64_t* axis) {
  const bool sums = s == scan::sum || s == scan::sum_of_numbers;
  return made(sums ? "cumsum" : "cumprod", [&] {
    tracer::Array x = axis ? unwrap(a) : tracer::reshape(unwrap(a), Dims{-1});
    if ((s == scan::sum_of_numbers || s == scan::product_of_numbers) && !numpy::is_exact(x.dtype))
      x = numpy::call(OpId::Where, numpy::call(OpId::NotEqual, x, x), numpy::weak(sums ? 0 : 1), x);
    return tracer::accumulate(sums ? OpId::Add : OpId::Multiply, x, axis ? *axis : 0);
  });
}

Handle bincount(const Handle& x, const Handle* weights, std::int64_t least) {
  return made("bincount", [&] {
    const tracer::Array& given = unwrap(x);
    if (given.ndim() != 1) throw ValueError("takes an array of one dimension");
    if (weights && unwrap(*weights).shape != given.shape)
      throw ValueError("The weights and list don't have the same length.");
    if (least < 0) throw ValueError("'minlength' must not be negative");
    if (!can_cast(given.dtype, DType::Int64, Casting::Safe))
      throw DTypeError("takes integers that int64 holds, not " + std::string(name(given.dtype)));
    const auto found = numpy::bincount(given, weights ? &unwrap(*weights) : nullptr, least);
    if (!found) throw ValueError("takes an array on the host without negative elements");
    return *found;
  });
}
Handle histogram(const Handle& a, std::int64_t bins, const double* range, Handle& edges) {
  return made("histogram", [&] {
    std::optional<numpy::Range> r;
    if (range) r = numpy::Range{range[0], range[1]};
    numpy::Histogram h = numpy::histogram(unwrap(a), bins, r);
    edges = wrap(std::move(h.edges));
    return std::move(h.counts);
  });
}
Handle histogram_between(const Handle& a, const Handle& edges) {
  return made("histogram", [&] { return numpy::histogram_between(unwrap(a), unwrap(edges)); });
}
Handle digitize(const Handle& x, const Handle& bins, bool right) {
  return made("digitize", [&] { return numpy::digitize(unwrap(x), unwrap(bins), right); });
}
Handle interp(const Handle& x, const Handle& xp, const Handle& fp) {
  return made("interp", [&] { return numpy::interp(unwrap(x), unwrap(xp), unwrap(fp)); });
}
Handle convolve(const Handle& a, const Handle& v, int mode) {
  return made("convolve", [&] {
    return numpy::convolve(unwrap(a), unwrap(v), static_cast<numpy::Convolution>(mode));
  });
}

}  // namespace plait::detail
