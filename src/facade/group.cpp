// Groups of equal keys. What is folded for each group is combined by index, as ufunc.at does it.
#include "plait/group.hpp"

#include <cstring>

#include "box.hpp"
#include "core/scatter.hpp"
#include "engine/direct/key_codes.hpp"
#include "numpy_compat/by_index.hpp"
#include "numpy_compat/indexing.hpp"
#include "numpy_compat/places.hpp"
#include "numpy_compat/record.hpp"
#include "numpy_compat/sorting.hpp"
#include "tracer/calls.hpp"

namespace plait::detail {

namespace {

const tracer::Array& line_of_keys(const Handle& keys) {
  const tracer::Array& a = unwrap(keys);
  if (a.ndim() != 1) throw ValueError("takes keys of one dimension");
  if (tracer::device_of(a) != kHost)
    throw DeviceError("takes arrays on the host: to_device(x, plait::cpu())");
  if (is_complex(a.dtype)) throw DTypeError("takes real keys, not " + std::string(name(a.dtype)));
  return a;
}

struct Ends {
  Scalar least, greatest;  // as UInt64 or Int64
};
// Of integers; evaluates them, too.
Ends ends_of(const tracer::Array& keys) {
  const tracer::Array all[] = {numpy::min(keys), numpy::max(keys), keys};
  tracer::evaluate(all);
  return {tracer::item(all[0], {}), tracer::item(all[1], {})};
}

// The elements as they are now, whatever is written to the array: its memory, where it is all of
// that, or a copy.
tracer::Array kept(const tracer::Array& a) {
  const std::lock_guard held(tracer::lock());
  const Ref<tracer::Node> n = tracer::read(a);
  const bool whole = n->materialised() && n->dtype == a.dtype && n->shape == a.shape &&
                     n->strides == a.strides && tracer::is_c_contiguous(a);
  return whole ? tracer::wrap(n) : tracer::copy(a, 'C');
}

tracer::Array counted(const tracer::Array& codes, std::int64_t bins) {
  if (codes.size() == 0 || bins == 0) return tracer::full({bins}, scalar_int(0));
  return tracer::call(CallId::Bincount, {&codes, 1}, {.numbers = {bins}})[0];
}

class Combiner {
 public:
  explicit Combiner(const Grouping& g)
      : codes_(unwrap(g.codes)), bins_(g.bins), present_(g.present) {}

  // fn of the values that have each code, from `start` on.
  tracer::Array by_code(OpId fn, const Scalar& start, const tracer::Array& values) const {
    Dims shape = values.shape;
    shape[0] = bins_;
    const tracer::Array init = tracer::full(shape, start);
    return values.size() == 0 ? init : numpy::combined(fn, init, codes_, values);
  }
  tracer::Array sums(const tracer::Array& values) const {
    return by_code(OpId::Add, cast(scalar_int(0), values.dtype), values);
  }
  tracer::Array extremes(OpId fn, const tracer::Array& values) const {
    return by_code(fn, cast(fold_identity(scatter_fold(fn), values.dtype), values.dtype), values);
  }
  // What each element's code has.
  tracer::Array spread(const tracer::Array& by_code) const {
    tracer::Array source = by_code, at = codes_;
    source.shape[0] = codes_.shape[0];
    source.strides[0] = 0;
    for (int d = 1; d < by_code.ndim(); ++d) at = tracer::expand_dims(at, Dims{d});
    return tracer::gather(source, at, by_code.strides[0],
                          contiguous_strides(source.shape, numpy::item_bytes(source)));
  }
  // Of the codes that are there.
  tracer::Array of_groups(const tracer::Array& by_code) const {
    return present_ ? *numpy::take(by_code, unwrap(present_), 0) : by_code;
  }
  tracer::Array places(OpId fn) const {
    const std::int64_t n = codes_.shape[0];
    return of_groups(extremes(fn, tracer::arange(n, scalar_int(0), scalar_int(1))));
  }

 private:
  tracer::Array codes_;
  std::int64_t bins_;
  Handle present_;
};

// a / counts, in the dtype that both promote to, then as `t`.
tracer::Array divided(const tracer::Array& a, tracer::Array counts, DType t) {
  for (int d = 1; d < a.ndim(); ++d) counts = tracer::expand_dims(counts, Dims{d});
  return numpy::as(numpy::call(OpId::Divide, a, counts), t);
}

// The dtype in which values are folded: half precision in single, bools as bytes.
DType folds_in(DType t) {
  if (is_complex(t)) throw DTypeError("takes real values, not " + std::string(name(t)));
  return t == DType::Float16 ? DType::Float32 : t == DType::Bool ? DType::UInt8 : computes_in(t);
}

tracer::Array folded(aggregate what, const Grouping& g, const tracer::Array& v, double ddof) {
  const Combiner by(g);
  const tracer::Array& counts = unwrap(g.counts);
  switch (what) {
    case aggregate::sum:
    case aggregate::prod: {
      const DType t = reduce_dtype(ReduceKind::Sum, v.dtype), in = folds_in(t);
      const tracer::Array wide = numpy::as(v, in);
      return numpy::as(
          by.of_groups(what == aggregate::sum
                           ? by.sums(wide)
                           : by.by_code(OpId::Multiply, cast(scalar_int(1), in), wide)),
          t);
    }
    case aggregate::min:
    case aggregate::max: {
      const OpId fn = what == aggregate::min ? OpId::Minimum : OpId::Maximum;
      return numpy::as(by.of_groups(by.extremes(fn, numpy::as(v, folds_in(v.dtype)))), v.dtype);
    }
    case aggregate::first:
    case aggregate::last: {
      const auto at = by.places(what == aggregate::first ? OpId::Minimum : OpId::Maximum);
      const auto found = numpy::take(v, at, 0);
      if (!found) throw ValueError("a group has no elements");
      return *found;
    }
    default:
      break;
  }
  const DType t = numpy::is_exact(v.dtype) ? DType::Float64 : v.dtype, in = folds_in(t);
  const tracer::Array wide = numpy::as(v, in);
  const tracer::Array means = divided(by.sums(wide), counts, in);
  if (what == aggregate::mean) return numpy::as(by.of_groups(means), t);
  const tracer::Array apart = numpy::call(OpId::Subtract, wide, by.spread(means));
  const tracer::Array left = numpy::call(
      OpId::Maximum, numpy::call(OpId::Subtract, counts, numpy::strong(scalar_float(ddof))),
      numpy::strong(0));
  const tracer::Array spread = divided(by.sums(numpy::call(OpId::Square, apart)), left, in);
  return numpy::as(by.of_groups(what == aggregate::std ? numpy::call(OpId::Sqrt, spread) : spread),
                   t);
}

Grouping grouped(tracer::Array codes, std::int64_t bins, tracer::Array labels) {
  Grouping g;
  g.bins = g.size = bins;
  g.counts = wrap(counted(codes, bins));
  g.codes = wrap(std::move(codes));
  g.labels = wrap(std::move(labels));
  return g;
}

// Integers from `low` on, in a table of all in between.
Grouping by_table(const tracer::Array& keys, const Scalar& low, std::int64_t bins) {
  const DType t = low.dtype;
  const Scalar one = cast(scalar_int(1), t);
  const tracer::Array from_low =
      cast(low, DType::Int64).as<std::int64_t>() == 0
          ? keys
          : numpy::call(OpId::Subtract, numpy::as(keys, t), numpy::strong(low));
  Grouping g = grouped(kept(numpy::as(from_low, DType::Int64)), bins,
                       numpy::as(tracer::arange(bins, low, one), keys.dtype));
  const auto* counts = static_cast<const std::int64_t*>(tracer::data(unwrap(g.counts)));
  std::vector<std::int64_t> present;
  for (std::int64_t b = 0; b < bins; ++b)
    if (counts[b] > 0) present.push_back(b);
  g.size = static_cast<std::int64_t>(present.size());
  if (g.size < bins) g.present = from_values(present.data(), {&g.size, 1}, dtype::int64);
  return g;
}

Grouping by_hash(const tracer::Array& keys) {
  const DType t = is_float(keys.dtype)          ? DType::Float64
                  : keys.dtype == DType::UInt64 ? DType::UInt64
                                                : DType::Int64;
  const std::int64_t n = keys.size();
  const tracer::Array typed = numpy::as(keys, t);
  const numpy::Held held(tracer::is_c_contiguous(typed) ? typed : tracer::copy(typed, 'C'));
  Ref<Buffer> memory;
  const tracer::Array codes = numpy::fresh({n}, DType::Int64, memory);
  const std::vector<std::int64_t> first =
      engine::code_keys(t, held.data(), n, reinterpret_cast<std::int64_t*>(memory->data));
  const auto size = static_cast<std::int64_t>(first.size());
  const Handle places = from_values(first.data(), {&size, 1}, dtype::int64);
  return grouped(codes, size, *numpy::take(keys, unwrap(places), 0));
}

}  // namespace

Grouping group(const Handle& handle) {
  return named("group_by", [&] {
    const tracer::Array& keys = line_of_keys(handle);
    if (keys.size() == 0) return grouped(tracer::empty({0}, DType::Int64), 0, tracer::copy(keys));
    if (!numpy::is_exact(keys.dtype)) return by_hash(keys);
    // A table is as fast as it is small: of as many bins as elements at most, or few.
    const std::uint64_t most = std::max<std::uint64_t>(2 * keys.size(), 4096);
    const Ends ends = ends_of(keys);
    const DType t = keys.dtype == DType::UInt64 ? DType::UInt64 : DType::Int64;
    const Scalar low = cast(ends.least, t), high = cast(ends.greatest, t);
    const std::uint64_t width = cast(high, DType::UInt64).as<std::uint64_t>() -
                                cast(low, DType::UInt64).as<std::uint64_t>();
    return width < most ? by_table(keys, low, static_cast<std::int64_t>(width) + 1) : by_hash(keys);
  });
}

Grouping group(const Handle& handle, std::int64_t n) {
  return named("group_by", [&] {
    const tracer::Array& keys = line_of_keys(handle);
    if (n < 0) throw ValueError("the number of groups must not be negative");
    if (!numpy::is_exact(keys.dtype))
      throw DTypeError("takes integers below the number of groups, not " +
                       std::string(name(keys.dtype)));
    if (keys.size() > 0) {
      const Ends ends = ends_of(keys);
      for (const Scalar& s : {ends.least, ends.greatest}) {
        const auto key = cast(s, DType::Int64).as<std::int64_t>();
        if (key < 0 || key >= n)
          throw IndexError("key " + std::to_string(key) + " is out of bounds for " +
                           std::to_string(n) + " groups");
      }
    }
    return grouped(kept(numpy::as(keys, DType::Int64)), n,
                   numpy::as(tracer::arange(n, scalar_int(0), scalar_int(1)), keys.dtype));
  });
}

Grouping group_together(const Grouping* by, int n) {
  return named("group_by", [&] {
    tracer::Array codes = unwrap(by[0].codes);
    std::int64_t bins = by[0].bins;
    for (int i = 1; i < n; ++i) {
      const tracer::Array& other = unwrap(by[i].codes);
      if (other.shape != codes.shape)
        throw ShapeError("keys of lengths " + std::to_string(codes.size()) + " and " +
                         std::to_string(other.size()));
      if (__builtin_mul_overflow(bins, by[i].bins, &bins))
        throw ValueError("more combinations of keys than an int64 counts");
      codes = numpy::call(OpId::Add, numpy::call(OpId::Multiply, codes, numpy::strong(by[i].bins)),
                          other);
    }
    return group(wrap(codes));
  });
}

Handle keys_of(const Grouping& g) {
  return made("keys", [&] { return Combiner(g).of_groups(unwrap(g.labels)); });
}
Handle keys_of(const Grouping& g, const Grouping* by, int n, int i) {
  return made("keys", [&] {
    tracer::Array place = Combiner(g).of_groups(unwrap(g.labels));
    std::int64_t below = 1;
    for (int j = i + 1; j < n; ++j) below *= by[j].bins;
    if (place.size() == 0) return tracer::copy(unwrap(by[i].labels));
    place = numpy::call(OpId::FloorDivide, place, numpy::strong(below));
    place = numpy::call(OpId::Remainder, place, numpy::strong(by[i].bins));
    return *numpy::take(unwrap(by[i].labels), place, 0);
  });
}
Handle labels_of(const Grouping& g) {
  return made("labels", [&] {
    const tracer::Array& codes = unwrap(g.codes);
    return g.present ? numpy::searchsorted(unwrap(g.present), codes) : tracer::copy(codes);
  });
}

Handle aggregated(aggregate what, const Grouping& g, const Handle* values, double ddof) {
  constexpr const char* names[] = {"count", "sum",   "prod", "mean", "min",
                                   "max",   "first", "last", "var",  "stddev"};
  return made(names[static_cast<int>(what)], [&] {
    if (!values) return tracer::copy(Combiner(g).of_groups(unwrap(g.counts)));
    const tracer::Array& v = unwrap(*values);
    if (v.ndim() == 0 || v.shape[0] != unwrap(g.codes).shape[0])
      throw ShapeError("values of shape " + to_string(v.shape) + " for " +
                       std::to_string(unwrap(g.codes).shape[0]) + " keys");
    return folded(what, g, v, ddof);
  });
}

}  // namespace plait::detail
