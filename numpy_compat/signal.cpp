#include "signal.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "indexing.hpp"
#include "record.hpp"
#include "sorting.hpp"
#include "tracer/calls.hpp"

namespace plait::numpy {
namespace {

double number(const Array& a) {
  return plait::cast(tracer::item(a, {}), DType::Float64).as<double>();
}
Array line(const Array& a) { return tracer::reshape(a, Dims{-1}); }
bool truth(const Array& a) { return tracer::item(all(a), {}).as<bool>(); }
Array rest(const Array& a) { return slice_axis(a, 0, 1, a.size()); }
Array front(const Array& a) { return slice_axis(a, 0, 0, a.size() - 1); }

void check_line(const char* function, const char* what, const Array& a) {
  if (a.ndim() != 1)
    throw ValueError(std::string(function) + ": " + what + " takes one dimension, not " +
                     std::to_string(a.ndim()));
}

}  // namespace

Array bin_edges(const Array& a, std::int64_t bins, const std::optional<Range>& given) {
  if (bins < 1) throw ValueError("`bins` must be positive, when an integer");
  if (!is_exact(a.dtype) && !is_float(a.dtype))
    throw DTypeError("histogram: takes real numbers, not " + std::string(name(a.dtype)));
  Range r = given.value_or(Range{0, 1});
  if (!given && a.size() > 0) {
    const Array ends[] = {min(a), max(a), a};
    tracer::evaluate(ends);
    r = {number(ends[0]), number(ends[1])};
  }
  if (!std::isfinite(r.low) || !std::isfinite(r.high))
    throw ValueError(given ? "supplied range is not finite" : "autodetected range is not finite");
  if (r.low > r.high) throw ValueError("max must be larger than min in range parameter.");
  if (r.low == r.high) r = {r.low - 0.5, r.high + 0.5};
  if (!std::isfinite(r.high - r.low)) throw ValueError("the width of the range is not finite");
  const Array edges = linspace(r.low, r.high, bins + 1);
  if (!truth(call(OpId::Less, front(edges), rest(edges))))
    throw ValueError("Too many bins for data range. Cannot create " + std::to_string(bins) +
                     " finite-sized bins.");
  return edges;
}

Histogram histogram(const Array& a, std::int64_t bins, const std::optional<Range>& range) {
  const Array edges = bin_edges(a, bins, range);
  if (a.size() == 0) return {tracer::full({bins}, scalar_int(0)), edges};
  const auto counts = histogram(as(line(a), DType::Float64), edges);
  if (!counts) throw DeviceError("histogram: takes an array on the host: to_device(x, cpu())");
  return {*counts, edges};
}

Array histogram_between(const Array& a, const Array& edges) {
  check_line("histogram", "the list of edges", edges);
  if (edges.size() < 2 || !truth(call(OpId::LessEqual, front(edges), rest(edges))))
    throw ValueError("`bins` must increase monotonically, when an array");
  const DType t = promote(promote(a.dtype, edges.dtype), DType::Float64);
  const Array sorted = sort(as(line(a), t)), between = as(edges, t);
  const Array last = slice_axis(between, 0, edges.size() - 1, edges.size());
  const Array parts[] = {searchsorted(sorted, front(between)), searchsorted(sorted, last, true)};
  return diff(concatenate(parts));
}

Array digitize(const Array& x, const Array& bins, bool right) {
  check_line("digitize", "the list of bins", bins);
  if (bins.size() < 2 || truth(call(OpId::LessEqual, front(bins), rest(bins))))
    return searchsorted(bins, x, !right);
  if (!truth(call(OpId::GreaterEqual, front(bins), rest(bins))))
    throw ValueError("bins must be monotonically increasing or decreasing");
  const Array up = tracer::flip(bins, Dims{0});
  return call(OpId::Subtract, strong(bins.size()), searchsorted(up, x, !right));
}

Array interp(const Array& x, const Array& xp, const Array& fp) {
  check_line("interp", "xp", xp);
  check_line("interp", "fp", fp);
  if (xp.size() != fp.size()) throw ValueError("fp and xp are not of the same length.");
  if (xp.size() == 0) throw ValueError("array of sample points is empty");
  const Array at = as(x, DType::Float64), points = as(xp, DType::Float64);
  const Array values = as(fp, DType::Float64);
  if (at.size() == 0) return tracer::copy(at);
  const Array inputs[] = {at, points, values};
  return tracer::call(CallId::Interp, inputs, {})[0];
}

Array convolve(const Array& given_a, const Array& given_v, Convolution mode) {
  check_line("convolve", "a", given_a);
  check_line("convolve", "v", given_v);
  if (given_a.size() == 0) throw ValueError("a cannot be empty");
  if (given_v.size() == 0) throw ValueError("v cannot be empty");
  const DType t = promote(given_a.dtype, given_v.dtype);
  const bool swapped = given_v.size() > given_a.size();
  const Array a = as(swapped ? given_v : given_a, t), v = as(swapped ? given_a : given_v, t);
  const std::int64_t m = v.size();
  const Dims widths = mode == Convolution::Full    ? Dims{m - 1, m - 1}
                      : mode == Convolution::Valid ? Dims{0, 0}
                                                   : Dims{m / 2, (m - 1) / 2};
  const Array kernel = tracer::flip(v, Dims{0});
  // Windows of `part` with so many elements on either side that are not there.
  const auto windows = [&](const Array& part, std::int64_t before, std::int64_t after) {
    const Dims outside{before, after};
    const Array padded = outside == Dims{0, 0} ? part
                                               : pad(part, outside, Padding::Constant,
                                                     plait::cast(scalar_int(0), part.dtype));
    return sliding_window_view(padded, {m}, std::nullopt);
  };
  if (!(is_float(t) || is_complex(t)) || truth(call(OpId::Isfinite, v)))
    return tracer::matmul(windows(a, widths[0], widths[1]), kernel);
  // Zeros beside `a` would make NaN of what is not finite in the kernel.
  const auto end = [&](const Array& part, std::int64_t before, std::int64_t after) {
    const Array there = windows(tracer::full({m - 1}, scalar_bool(true)), before, after);
    const Array products = call(OpId::Multiply, windows(part, before, after), kernel);
    return tracer::reduce(ReduceKind::Sum,
                          call(OpId::Where, there, products, strong(plait::cast(scalar_int(0), t))),
                          {.axes = Dims{1}});
  };
  const auto [before, after] = std::pair(widths[0], widths[1]);
  std::vector<Array> parts;
  if (before > 0) parts.push_back(end(slice_axis(a, 0, 0, m - 1), before, 0));
  parts.push_back(tracer::matmul(windows(a, 0, 0), kernel));
  if (after > 0) parts.push_back(end(slice_axis(a, 0, a.size() - m + 1, a.size()), 0, after));
  return concatenate(parts);
}

}  // namespace plait::numpy
