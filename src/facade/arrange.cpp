// Creation by rule, joining and splitting, rearranging.
#include <algorithm>
#include <vector>

#include "box.hpp"
#include "numpy_compat/record.hpp"
#include "plait/rearrange.hpp"

namespace plait::detail {

namespace {
std::vector<tracer::Array> unwrap_all(const Handle* arrays, int n) {
  std::vector<tracer::Array> list;
  for (int i = 0; i < n; ++i) list.push_back(unwrap(arrays[i]));
  return list;
}
}  // namespace

Handle linspace(double first, double last, std::int64_t n, bool endpoint, dtype t) {
  start();
  return made("linspace", [&] { return numpy::linspace(first, last, n, endpoint, core(t)); });
}
Handle logspace(double first, double last, std::int64_t n, bool endpoint, double base, dtype t) {
  start();
  return made("logspace", [&] {
    const tracer::Array exponents = numpy::linspace(first, last, n, endpoint);
    return numpy::as(numpy::call(OpId::Power, numpy::weak(base), exponents), core(t));
  });
}
Handle geomspace(double first, double last, std::int64_t n, bool endpoint, dtype t) {
  start();
  return made("geomspace", [&] {
    if (first == 0 || last == 0) throw ValueError("Geometric sequence cannot include zero");
    const double sign = first < 0 && last < 0 ? -1 : 1;
    const tracer::Array exponents =
        numpy::linspace(std::log10(sign * first), std::log10(sign * last), n, endpoint);
    const tracer::Array a = numpy::call(
        OpId::Multiply, numpy::call(OpId::Power, numpy::weak(10.0), exponents), numpy::weak(sign));
    const auto set = [&a](std::int64_t i, double v) {
      tracer::set_item(a, std::span(&i, 1), scalar_float(v));
    };
    if (n > 0) set(0, first);
    if (n > 1 && endpoint) set(n - 1, last);
    return numpy::as(a, core(t));
  });
}
Handle eye(std::int64_t rows, std::int64_t columns, std::int64_t k, dtype t) {
  start();
  return made("eye", [&] { return numpy::eye(rows, columns, k, core(t)); });
}
Handle arange(const Value& first, const Value& stop, const Value& step) {
  start();
  return made("arange", [&] {
    return numpy::arange(to_scalar(first), to_scalar(stop), to_scalar(step), core(first.type));
  });
}
Handle indices(Span shape) {
  start();
  return made("indices", [&] { return numpy::indices(dims(shape)); });
}
std::vector<Handle> meshgrid(const Handle* arrays, int n, bool xy, bool sparse) {
  return named("meshgrid", [&] {
    std::vector<Handle> out;
    for (tracer::Array& a : numpy::meshgrid(unwrap_all(arrays, n), {.xy = xy, .sparse = sparse}))
      out.push_back(wrap(std::move(a)));
    return out;
  });
}
Handle triangle(const Handle& a, std::int64_t k, bool lower) {
  return made(lower ? "tril" : "triu",
              [&] { return lower ? numpy::tril(unwrap(a), k) : numpy::triu(unwrap(a), k); });
}

Handle join(joining how, const Handle* arrays, int n, std::int64_t axis) {
  constexpr const char* names[] = {"concatenate", "stack",  "hstack",
                                   "vstack",      "dstack", "column_stack"};
  return made(names[static_cast<int>(how)], [&] {
    const std::vector<tracer::Array> list = unwrap_all(arrays, n);
    switch (how) {
      case joining::concatenate:
        return numpy::concatenate(list, axis);
      case joining::stack:
        return numpy::stack(list, axis);
      case joining::hstack:
        return numpy::hstack(list);
      case joining::vstack:
        return numpy::vstack(list);
      case joining::dstack:
        return numpy::dstack(list);
      case joining::column_stack:
        return numpy::column_stack(list);
    }
    throw InternalError("unknown way to join arrays");
  });
}
namespace {
std::vector<Handle> wrap_views(std::vector<tracer::Array>&& parts, const Handle& base) {
  std::vector<Handle> out;
  for (tracer::Array& a : parts) {
    out.push_back(wrap_view(std::move(a), base));
    part_from_value(out.back(), base);
  }
  return out;
}
}  // namespace
void check_ndim(const char* function, const Handle& a, int least) {
  if (const int n = unwrap(a).ndim(); n < least)
    throw ValueError(std::string(function) + " takes arrays of " + std::to_string(least) +
                     " or more dimensions, not of " + std::to_string(n));
}
std::vector<Handle> split(const Handle& a, std::int64_t parts, std::int64_t axis, bool equal) {
  return named(equal ? "split" : "array_split", [&] {
    return wrap_views(
        equal ? numpy::split(unwrap(a), parts, axis) : numpy::array_split(unwrap(a), parts, axis),
        a);
  });
}
std::vector<Handle> split_at(const Handle& a, Span indices, std::int64_t axis) {
  return named("split", [&] {
    return wrap_views(
        numpy::split_at(unwrap(a), {indices.data, static_cast<std::size_t>(indices.size)}, axis),
        a);
  });
}

Handle tile(const Handle& a, Span reps) {
  return made("tile", [&] { return numpy::tile(unwrap(a), dims(reps)); });
}
Handle repeat(const Handle& a, std::int64_t n, std::int64_t axis) {
  return made("repeat", [&] { return numpy::repeat(unwrap(a), n, axis); });
}
Handle resize(const Handle& given, Span span) {
  return made("resize", [&] {
    const tracer::Array& a = unwrap(given);
    const Dims shape = dims(span);
    if (std::any_of(shape.begin(), shape.end(), [](std::int64_t n) { return n < 0; }))
      throw ValueError("all elements of `new_shape` must be non-negative");
    const std::int64_t size = element_count(shape);
    if (size == 0 || a.size() == 0) return tracer::full(shape, cast(scalar_int(0), a.dtype));
    const std::int64_t times = (size + a.size() - 1) / a.size();
    const tracer::Array whole = numpy::tile(tracer::reshape(a, Dims{-1}), Dims{times});
    const tracer::Index part[] = {tracer::Slice{std::nullopt, size, std::nullopt}};
    return tracer::copy(tracer::reshape(tracer::slice(whole, part), shape));
  });
}
Handle roll(const Handle& a, Span shifts, const Span* axes) {
  return made("roll", [&] { return numpy::roll(unwrap(a), dims(shifts), optional_dims(axes)); });
}
Handle diff(const Handle& a, std::int64_t n, std::int64_t axis) {
  return made("diff", [&] { return numpy::diff(unwrap(a), n, axis); });
}
Handle diag(const Handle& a, std::int64_t k) {
  return made_view("diag", a, [&] { return numpy::diag(unwrap(a), k); });
}
Handle pad(const Handle& a, Span widths, padding how, const Value& value) {
  static_assert(static_cast<int>(padding::wrap) == static_cast<int>(numpy::Padding::Wrap));
  return made("pad", [&] {
    return numpy::pad(unwrap(a), dims(widths), static_cast<numpy::Padding>(how), to_scalar(value));
  });
}

}  // namespace plait::detail
