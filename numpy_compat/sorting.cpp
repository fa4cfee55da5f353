#include "sorting.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "indexing.hpp"
#include "places.hpp"
#include "record.hpp"
#include "tracer/calls.hpp"
#include "tracer/capture.hpp"
#include "tracer/device.hpp"

namespace plait::numpy {
namespace {

Array one_call(CallId id, std::span<const Array> inputs, const Dims& numbers, char order = 'C') {
  return tracer::call(id, inputs, {numbers, {}, OpId::Count_}, order)[0];
}

// Elements where a mask of one axis is true.
Array selected(const Array& a, const Array& mask) { return *compress(mask, a, 0); }

// The array with the axes to work along as one, its last, and the result's shape with them kept.
struct Lines {
  Array array;
  int axis;
  Dims kept;
};
Lines lines_of(const Array& a, const std::optional<Dims>& given) {
  if (!given) return {flat(a), 0, Dims(a.ndim(), 1)};
  const Dims axes = normalize_axes(*given, a.ndim());
  for (int i = 0; i < axes.size(); ++i)
    if (std::find(axes.begin(), axes.begin() + i, axes[i]) != axes.begin() + i)
      throw ValueError("repeated axis");
  Dims order, extents, kept = a.shape;
  for (const std::int64_t axis : axes) kept[static_cast<int>(axis)] = 1;
  for (int d = 0; d < a.ndim(); ++d)
    if (std::find(axes.begin(), axes.end(), d) == axes.end()) {
      order.push_back(d);
      extents.push_back(a.shape[d]);
    }
  const int axis = extents.size();
  std::int64_t length = 1;
  for (int d = 0; d < a.ndim(); ++d)
    if (std::find(axes.begin(), axes.end(), d) != axes.end()) {
      order.push_back(d);
      length *= a.shape[d];
    }
  extents.push_back(length);
  const std::span<const std::int64_t> permuted(order.data(),
                                               static_cast<std::size_t>(order.size()));
  return {tracer::reshape(tracer::transpose(a, permuted), extents), axis, kept};
}

// What stands at the ranks, which ascend, of the sorted lines; as many rows.
Array statistics(const Lines& lines, const Dims& ranks) {
  Dims numbers = ranks;
  numbers.insert(0, lines.axis);
  return one_call(CallId::OrderStatistics, {&lines.array, 1}, numbers);
}

// A sorted table of few numbers that many are looked for in: buckets of equal width narrow the
// places down, so that what is recorded is a look-up and a comparison or two, which the loops
// around it compute as they go.
struct Buckets {
  double low = 0, scale = 0;
  std::int64_t count = 0, widest = 0;  // widest: elements of one bucket
  std::vector<std::int64_t> starts;    // of each, and of what lies behind
};
constexpr std::int64_t kFewNumbers = 4096, kBucketsEach = 4, kSearchesEach = 64;
constexpr std::int64_t kWidest = 3;

std::optional<Buckets> buckets_of(const double* sorted, std::int64_t n) {
  Buckets b;
  b.low = sorted[0];
  b.count = kBucketsEach * n;
  b.scale = static_cast<double>(b.count) / (sorted[n - 1] - sorted[0]);
  if (!std::isfinite(b.scale) || !std::isfinite(b.low)) return std::nullopt;
  b.starts.assign(static_cast<std::size_t>(b.count) + 1, n);
  // The bucket of a number never falls as numbers grow: see bucket() below.
  for (std::int64_t i = n; i-- > 0;) {
    const double at = (sorted[i] - b.low) * b.scale;
    b.starts[at < static_cast<double>(b.count) ? static_cast<std::size_t>(at)
                                               : static_cast<std::size_t>(b.count)] = i;
  }
  for (std::size_t k = b.starts.size(); k-- > 1;) {
    b.starts[k - 1] = std::min(b.starts[k - 1], b.starts[k]);
    b.widest = std::max(b.widest, b.starts[k] - b.starts[k - 1]);
  }
  b.widest = std::max(b.widest, n - b.starts.back());
  return b.widest <= kWidest ? std::optional(b) : std::nullopt;
}

std::optional<Array> searched_by_buckets(const Array& a, const Array& v, bool right) {
  const std::int64_t n = a.size();
  if (a.dtype != DType::Float64 || n > kFewNumbers || v.size() < kSearchesEach * n ||
      tracer::device_of(a) != kHost || tracer::device_of(v) != kHost || tracer::capture())
    return std::nullopt;
  const Array sorted = tracer::copy(a, 'C');
  const Held held(sorted);
  const auto b = buckets_of(reinterpret_cast<const double*>(held.data()), n);
  if (!b) return std::nullopt;
  Ref<Buffer> memory;
  const Array starts = fresh({b->count + 1}, DType::Int64, memory);
  std::memcpy(memory->data, b->starts.data(), b->starts.size() * sizeof b->starts[0]);
  // NaN, too, is in the last bucket.
  const Array share = call(OpId::Multiply, call(OpId::Subtract, v, weak(b->low)), weak(b->scale));
  const Array bucket =
      call(OpId::Where, call(OpId::Less, share, weak(static_cast<double>(b->count))),
           as(call(OpId::Maximum, share, weak(0)), DType::Int64), strong(b->count));
  Array place = looked_up(starts, clamped(bucket, b->count + 1));
  for (std::int64_t i = 0; i < b->widest; ++i) {
    const Array element = looked_up(sorted, clamped(place, n));
    const Array in_front =
        call(OpId::LogicalNot, call(right ? OpId::Greater : OpId::GreaterEqual, element, v));
    place = call(OpId::Minimum, call(OpId::Add, place, as(in_front, DType::Int64)), strong(n));
  }
  return place;
}

Array without_elements(const Lines& lines, DType t) {
  Dims shape = lines.array.shape;
  shape.erase(lines.axis);
  return tracer::full(shape, cast(scalar_float(std::numeric_limits<double>::quiet_NaN()), t));
}

void check_quantiles(std::span<const double> q) {
  for (const double x : q)
    if (!(x >= 0 && x <= 1)) throw ValueError("quantile: quantiles must be in the range [0, 1]");
}

// Sorted lines, whose NaNs are last, and how many numbers each has.
struct Numbers {
  Array sorted, count;
  explicit Numbers(const Lines& lines) : sorted(sort(lines.array)) {
    ReduceOptions along;
    along.axes = Dims{lines.axis};
    count = sum(call(OpId::LogicalNot, call(OpId::Isnan, lines.array)), along);
  }
  // What stands at a rank of each line, or first where it has none.
  Array at(const Array& rank) const {
    const Array place = call(OpId::Maximum, rank, strong(0));
    const Array found = *take_along_axis(sorted, tracer::expand_dims(place, Dims{-1}), -1);
    return take_at(found, found.ndim() - 1, 0);
  }
};

DType mean_dtype(DType t) { return is_exact(t) ? DType::Float64 : t; }

std::int64_t first_integer(const Array& a) {
  const std::int64_t zero = 0;
  return tracer::item(a, {&zero, 1}).as<std::int64_t>();
}

// The different elements of both in order, each as often as it stands in one of them, and where one
// is the next one's equal.
struct Doubled {
  Array both, beside;
};
Doubled doubled(const Array& a, const Array& b) {
  const Array parts[] = {unique(a), unique(b)};
  const Array both = sort(concatenate(parts));
  const std::int64_t n = both.size();
  return {both, call(OpId::Equal, slice_axis(both, 0, std::min<std::int64_t>(n, 1), n),
                     slice_axis(both, 0, 0, std::max<std::int64_t>(n - 1, 0)))};
}

}  // namespace

Array sort(const Array& a, std::int64_t axis, bool stable) {
  const int along = normalize_axis(axis, a.ndim());
  if (a.size() == 0) return tracer::copy(a);
  return one_call(CallId::Sort, {&a, 1}, {along, stable}, 'K');
}
Array argsort(const Array& a, std::int64_t axis) {
  const int along = normalize_axis(axis, a.ndim());
  if (a.size() == 0) return tracer::empty(a.shape, DType::Int64);
  return one_call(CallId::Argsort, {&a, 1}, {along});
}
Array searchsorted(const Array& a, const Array& v, bool right) {
  if (a.ndim() != 1)
    throw ValueError("searchsorted: the sorted array has " + std::to_string(a.ndim()) +
                     " dimensions, not one");
  if (a.size() == 0 || v.size() == 0) return tracer::full(v.shape, scalar_int(0));
  const DType t = promote(a.dtype, v.dtype);
  if (const auto places = searched_by_buckets(as(a, t), as(v, t), right)) return *places;
  const Array inputs[] = {as(a, t), as(v, t)};
  return one_call(CallId::Searchsorted, inputs, {right});
}

Array median(const Array& a, const std::optional<Dims>& axes, bool keepdims) {
  const Lines lines = lines_of(a, axes);
  const std::int64_t n = lines.array.shape[lines.axis];
  Array result;
  if (n == 0) {
    warn(Warning::Runtime, "Mean of empty slice.");
    result = without_elements(lines, mean_dtype(a.dtype));
  } else {
    tracer::ReduceOptions first;
    first.axes = Dims{0};
    result = mean(statistics(lines, n % 2 ? Dims{n / 2} : Dims{n / 2 - 1, n / 2}), first);
  }
  return keepdims ? tracer::reshape(result, lines.kept) : result;
}

Array quantile(const Array& a, std::span<const double> q, const std::optional<Dims>& axes,
               bool keepdims) {
  if (!is_exact(a.dtype) && !is_float(a.dtype))
    throw DTypeError("quantile: a must be an array of real numbers");
  check_quantiles(q);
  const Lines lines = lines_of(a.dtype == DType::Bool ? as(a, DType::Float64) : a, axes);
  const std::int64_t n = lines.array.shape[lines.axis];
  const DType t = mean_dtype(a.dtype);
  if (n == 0) throw IndexError("quantile: there is no quantile of no elements");
  Dims ranks;
  for (const double x : q) {
    const double at = static_cast<double>(n - 1) * x;
    for (const double rank : {std::floor(at), std::min(std::floor(at) + 1, double(n - 1))})
      ranks.push_back(static_cast<std::int64_t>(rank));
  }
  std::sort(ranks.begin(), ranks.end());
  const Dims different(ranks.begin(), std::unique(ranks.begin(), ranks.end()));
  const Array found = as(statistics(lines, different), t);
  const auto row = [&](double rank) {
    const auto at =
        std::lower_bound(different.begin(), different.end(), static_cast<std::int64_t>(rank));
    return take_at(found, 0, at - different.begin());
  };
  std::vector<Array> results;
  for (const double x : q) {
    const double at = static_cast<double>(n - 1) * x, before = std::floor(at), t01 = at - before;
    const Array low = row(before), high = row(std::min(before + 1, double(n - 1)));
    // From the nearer end, as NumPy's _lerp.
    const bool far = t01 >= 0.5;
    const Array step =
        call(OpId::Multiply, call(OpId::Subtract, high, low), weak(far ? -(1 - t01) : t01));
    const Array result = call(OpId::Add, far ? high : low, step);
    results.push_back(keepdims ? tracer::reshape(result, lines.kept) : result);
  }
  return stack(results);
}

Array nanmedian(const Array& a, const std::optional<Dims>& axes, bool keepdims) {
  if (is_exact(a.dtype) || a.size() == 0) return median(a, axes, keepdims);
  const Lines lines = lines_of(a, axes);
  const Numbers numbers(lines);
  const auto rank = [&](std::int64_t offset) {
    return call(OpId::FloorDivide, call(OpId::Subtract, numbers.count, strong(offset)), strong(2));
  };
  const Array middle[] = {numbers.at(rank(1)), numbers.at(rank(0))};
  ReduceOptions first;
  first.axes = Dims{0};
  const Array result = mean(stack(middle), first);
  return keepdims ? tracer::reshape(result, lines.kept) : result;
}

Array nanquantile(const Array& a, std::span<const double> q, const std::optional<Dims>& axes,
                  bool keepdims) {
  if (!is_float(a.dtype) || a.size() == 0) return quantile(a, q, axes, keepdims);
  check_quantiles(q);
  const Lines lines = lines_of(a, axes);
  const Numbers numbers(lines);
  const Array last = call(OpId::Subtract, numbers.count, strong(1));
  std::vector<Array> results;
  for (const double x : q) {
    const Array at = call(OpId::Multiply, last, weak(x)), before = call(OpId::Floor, at);
    const Array part = call(OpId::Subtract, at, before), rank = as(before, DType::Int64);
    const Array low = numbers.at(rank);
    const Array high = numbers.at(call(OpId::Minimum, call(OpId::Add, rank, strong(1)), last));
    const Array apart = call(OpId::Subtract, high, low);
    // From the nearer end, as NumPy's _lerp.
    const Array up = call(OpId::Add, low, call(OpId::Multiply, apart, part));
    const Array down = call(OpId::Subtract, high,
                            call(OpId::Multiply, apart, call(OpId::Subtract, weak(1), part)));
    const Array result =
        as(call(OpId::Where, call(OpId::GreaterEqual, part, weak(0.5)), down, up), a.dtype);
    results.push_back(keepdims ? tracer::reshape(result, lines.kept) : result);
  }
  return stack(results);
}

Array unique(const Array& a) {
  const Array line = flat(a);
  if (line.size() == 0) return tracer::copy(line);
  const std::vector<Array> made =
      tracer::call(CallId::Unique, {&line, 1}, {Dims{1}, {}, OpId::Count_});
  return tracer::copy(slice_axis(made[0], 0, 0, first_integer(made[1])));
}
Unique unique_counts(const Array& a) {
  const Array line = flat(a);
  if (line.size() == 0) return {tracer::copy(line), tracer::empty({0}, DType::Int64)};
  const std::vector<Array> made =
      tracer::call(CallId::UniqueCounts, {&line, 1}, {Dims{1}, {}, OpId::Count_});
  const std::int64_t n = first_integer(made[2]);
  return {tracer::copy(slice_axis(made[0], 0, 0, n)), tracer::copy(slice_axis(made[1], 0, 0, n))};
}

Array intersect1d(const Array& a, const Array& b) {
  const Doubled d = doubled(a, b);
  return selected(slice_axis(d.both, 0, 0, d.beside.size()), d.beside);
}
Array setxor1d(const Array& a, const Array& b) {
  const Doubled d = doubled(a, b);
  if (d.both.size() == 0) return d.both;
  const Array end = tracer::full({1}, scalar_bool(true));
  const Array parts[] = {end, call(OpId::LogicalNot, d.beside), end};
  const Array alone = concatenate(parts);
  const std::int64_t n = d.both.size();
  return selected(
      d.both, call(OpId::LogicalAnd, slice_axis(alone, 0, 1, n + 1), slice_axis(alone, 0, 0, n)));
}
Array isin(const Array& a, const Array& b) {
  if (b.size() == 0) return tracer::full(a.shape, scalar_bool(false));
  const DType t = promote(a.dtype, b.dtype);
  const Array known = as(unique(b), t), given = as(a, t);
  const Array place = call(OpId::Minimum, searchsorted(known, given), strong(known.size() - 1));
  if (given.size() == 0) return tracer::full(a.shape, scalar_bool(false));
  const Array found = tracer::reshape(*take(known, flat(place), 0), a.shape);
  return call(OpId::Equal, found, given);
}
Array setdiff1d(const Array& a, const Array& b) {
  const Array different = unique(a);
  return selected(different, call(OpId::LogicalNot, isin(different, b)));
}

}  // namespace plait::numpy
