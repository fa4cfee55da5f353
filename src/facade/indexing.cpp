// Elements by index and by mask.
#include "numpy_compat/indexing.hpp"

#include <algorithm>
#include <vector>

#include "box.hpp"
#include "numpy_compat/functions.hpp"
#include "plait/indexing.hpp"

namespace plait::detail {

namespace {

std::int64_t extreme(const tracer::Array& a, bool least) {
  return plait::cast(tracer::item(least ? numpy::min(a) : numpy::max(a), {}), DType::Int64)
      .as<std::int64_t>();
}

void check_range(const tracer::Array& indices, std::int64_t extent, int axis) {
  if (indices.size() == 0) return;
  std::int64_t index = extreme(indices, true);
  if (index >= -extent) index = extreme(indices, false);
  if (index < -extent || index >= extent)
    throw IndexError("index " + std::to_string(index) + " is out of bounds for axis " +
                     std::to_string(axis) + " with size " + std::to_string(extent));
}

// Throws for an array that indexing does not read.
void check_host(const tracer::Array& a) {
  if (tracer::device_of(a) != kHost)
    throw DeviceError("takes arrays on the host: to_device(x, plait::cpu())");
}
[[noreturn]] void refuse(const tracer::Array& a, const tracer::Array& indices) {
  check_host(a);
  check_host(indices);
  throw IndexError("an index of shape " + to_string(indices.shape) + " and dtype " +
                   std::string(name(indices.dtype)) + " does not fit an array of shape " +
                   to_string(a.shape));
}

int checked_axis(const tracer::Array& a, std::int64_t axis) {
  if (axis < -a.ndim() || axis >= a.ndim())
    throw AxisError("axis " + std::to_string(axis) + " is out of bounds for array of dimension " +
                    std::to_string(a.ndim()));
  return static_cast<int>(axis < 0 ? axis + a.ndim() : axis);
}

tracer::Array integers(const std::vector<std::int64_t>& list) {
  const auto n = static_cast<std::int64_t>(list.size());
  return unwrap(from_values(list.data(), {&n, 1}, dtype::int64));
}

// The indices of an axis that keep() or drop() leaves.
tracer::Array left_of(const Key& k, std::int64_t extent, int axis) {
  for (const std::int64_t i : k.list)
    if (i < -extent || i >= extent)
      throw IndexError("index " + std::to_string(i) + " is out of bounds for axis " +
                       std::to_string(axis) + " with size " + std::to_string(extent));
  if (k.kind == Key::Kind::keep) return integers(k.list);
  std::vector<bool> gone(static_cast<std::size_t>(extent));
  for (const std::int64_t i : k.list) gone[static_cast<std::size_t>(i < 0 ? i + extent : i)] = true;
  std::vector<std::int64_t> left;
  for (std::int64_t i = 0; i < extent; ++i)
    if (!gone[static_cast<std::size_t>(i)]) left.push_back(i);
  return integers(left);
}

bool is_list(const Key& k) { return k.kind == Key::Kind::keep || k.kind == Key::Kind::drop; }
bool is_rest(const Key& k) {
  return k.kind == Key::Kind::basic && k.basic.kind == Index::Kind::ellipsis;
}
int axes_of(const Key& k) {
  if (k.kind == Key::Kind::array)
    return unwrap(k.array).dtype == DType::Bool ? unwrap(k.array).ndim() : 1;
  return k.kind == Key::Kind::basic && (is_rest(k) || k.basic.kind == Index::Kind::newaxis) ? 0 : 1;
}

// f(entry, the first axis that it is about) for each
template <class F>
void for_each_axis(const tracer::Array& a, const std::vector<Key>& key, F&& f) {
  int used = 0;
  for (const Key& k : key) used += axes_of(k);
  if (used > a.ndim())
    throw IndexError("too many indices for array: array is " + std::to_string(a.ndim()) +
                     "-dimensional, but " + std::to_string(used) + " were indexed");
  int axis = 0;
  for (const Key& k : key) {
    f(k, axis);
    axis += is_rest(k) ? a.ndim() - used : axes_of(k);
  }
}

tracer::Index basic_of(const Index& i) {
  switch (i.kind) {
    case Index::Kind::integer:
      return i.start;
    case Index::Kind::newaxis:
      return tracer::NewAxis{};
    case Index::Kind::ellipsis:
      return tracer::Ellipsis{};
    case Index::Kind::slice: {
      tracer::Slice s;
      if (i.has_start) s.start = i.start;
      if (i.has_stop) s.stop = i.stop;
      if (i.has_step) s.step = i.step;
      return s;
    }
    default:
      return tracer::All{};
  }
}

// A key as numpy_compat takes it, and what it is of: lists count each for its axis, so that the
// basic entries beside them are a view, and several lists one index for every axis. A place that
// integers and slices name by themselves is the one element of an axis in front.
struct Place {
  tracer::Array of;
  std::vector<numpy::KeyEntry> key;
  bool alone = false;
};
Place place_of(const tracer::Array& a, const std::vector<Key>& entries) {
  Place p{a, {}};
  const auto is_array = [](const Key& k) { return k.kind == Key::Kind::array; };
  const auto is_number = [&](const Key& k) {
    return is_array(k) && unwrap(k.array).ndim() == 0 && is_integer(unwrap(k.array).dtype);
  };
  // As in NumPy, arrays of no axes are integers, and broadcast beside other arrays.
  std::vector<Key> key = entries;
  if (std::none_of(key.begin(), key.end(),
                   [&](const Key& k) { return is_array(k) && !is_number(k); }))
    for (Key& k : key)
      if (is_number(k)) k = to_key(only_item(k.array).as<std::int64_t>());
  if (std::any_of(key.begin(), key.end(), is_array)) {
    for_each_axis(a, key, [&](const Key& k, int axis) {
      if (is_list(k))
        p.key.emplace_back(left_of(k, a.shape[axis], axis));
      else if (is_number(k))
        p.key.emplace_back(tracer::reshape(unwrap(k.array), Dims{1}));
      else if (is_array(k))
        p.key.emplace_back(unwrap(k.array));
      else
        p.key.emplace_back(basic_of(k.basic));
    });
    return p;
  }
  struct List {
    int axis;  // of the view
    tracer::Array indices;
  };
  std::vector<List> lists;
  std::vector<tracer::Index> basic;
  int next = 0, used = 0;
  for (const Key& k : key) used += axes_of(k);
  for_each_axis(a, key, [&](const Key& k, int axis) {
    if (is_list(k)) lists.push_back({next, left_of(k, a.shape[axis], axis)});
    basic.push_back(is_list(k) ? tracer::All{} : basic_of(k.basic));
    if (is_rest(k))
      next += a.ndim() - used;
    else if (!std::holds_alternative<std::int64_t>(basic.back()))
      ++next;
  });
  if (lists.empty()) {
    basic.insert(basic.begin(), tracer::NewAxis{});
    p = {tracer::slice(a, basic), {integers({0})}, true};
    return p;
  }
  p.of = tracer::slice(a, basic);
  const int axes = p.of.ndim();
  for (int d = 0; d < axes; ++d) {
    const auto list =
        std::find_if(lists.begin(), lists.end(), [d](const List& l) { return l.axis == d; });
    if (list == lists.end() && lists.size() == 1) {
      p.key.emplace_back(tracer::Index(tracer::All{}));
      continue;
    }
    const tracer::Array at = list != lists.end()
                                 ? list->indices
                                 : tracer::arange(p.of.shape[d], scalar_int(0), scalar_int(1));
    Dims along(axes, 1);
    along[d] = -1;
    p.key.emplace_back(lists.size() == 1 ? at : tracer::reshape(at, along));
  }
  return p;
}

// Throws what is wrong with a key that numpy_compat refused.
[[noreturn]] void refuse_key(const tracer::Array& a, const std::vector<Key>& key) {
  check_host(a);
  std::vector<Dims> shapes;
  for_each_axis(a, key, [&](const Key& k, int axis) {
    if (k.kind != Key::Kind::array) {
      const std::int64_t extent = axis < a.ndim() ? a.shape[axis] : 0, i = k.basic.start;
      if (k.kind == Key::Kind::basic && k.basic.kind == Index::Kind::integer &&
          (i < -extent || i >= extent))
        throw IndexError("index " + std::to_string(i) + " is out of bounds for axis " +
                         std::to_string(axis) + " with size " + std::to_string(extent));
      return;
    }
    const tracer::Array& indices = unwrap(k.array);
    check_host(indices);
    if (indices.dtype != DType::Bool) {
      check_range(indices, a.shape[axis], axis);
      shapes.push_back(indices.shape);
      return;
    }
    for (int d = 0; d < indices.ndim(); ++d)
      if (indices.shape[d] != a.shape[axis + d])
        throw IndexError(
            "boolean index did not match indexed array along axis " + std::to_string(axis + d) +
            "; size of axis is " + std::to_string(a.shape[axis + d]) +
            " but size of corresponding boolean axis is " + std::to_string(indices.shape[d]));
  });
  std::string list;
  for (const Dims& s : shapes) list += " " + to_string(s);
  throw IndexError("index arrays could not be broadcast together, or are not one at least:" + list);
}

}  // namespace

std::vector<Key> point_key(const std::vector<shape_type>& points) {
  const std::size_t axes = points.empty() ? 1 : points.front().size();
  std::vector<Key> key;
  for (std::size_t d = 0; d < axes; ++d) {
    shape_type along;
    for (const shape_type& p : points) {
      if (p.size() != axes)
        throw IndexError("index_view: points of " + std::to_string(axes) + " and of " +
                         std::to_string(p.size()) + " coordinates");
      along.push_back(p[d]);
    }
    const auto n = static_cast<std::int64_t>(along.size());
    key.push_back({Key::Kind::array,
                   {Index::Kind::all},
                   from_values(along.data(), {&n, 1}, dtype::int64),
                   {}});
  }
  return key;
}

Handle get_selection(const Handle& a, const std::vector<Key>& key) {
  return made("view", [&] {
    const Place p = place_of(unwrap(a), key);
    const auto found = numpy::getitem(p.of, p.key);
    if (!found) refuse_key(unwrap(a), key);
    return p.alone ? tracer::squeeze(*found, Dims{0}) : *found;
  });
}

Handle select(const Handle& a, std::vector<Key> key) {
  unwrap(a);  // an array that was moved from is an error here
  auto selection = std::make_unique<Selection>(Selection{a.alias(), std::move(key)});
  Handle h = wrap({});
  h.get()->selection = std::move(selection);
  return h;
}

void read_selection(Box& b) {
  b.array = unwrap(get_selection(b.selection->from, b.selection->key));
}

Handle selected(const Handle& h) {
  Handle own = wrap(unwrap(h));
  h.get()->array = {};  // the next one that reads has a copy of its own
  return own;
}

void set_selected(const Handle& selection, const Operand& value) {
  const auto& [a, key] = *selection.get()->selection;
  named("view", [&] {
    const tracer::Array& target = unwrap(a);
    if (!target.writeable) throw ValueError("assignment destination is read-only");
    check_storable("view", value, target.dtype);
    // One value where a mask is true: in the loop that computes what stands around it.
    if (key.size() == 1 && key[0].kind == Key::Kind::array && !value.array) {
      const tracer::Array& mask = unwrap(key[0].array);
      if (mask.dtype == DType::Bool && mask.shape == target.shape) {
        tracer::assign(target, to_operand(value), &mask);
        return;
      }
    }
    const Place p = place_of(target, key);
    if (numpy::setitem(p.of, p.key, to_operand(value))) return;
    const auto place = numpy::getitem(p.of, p.key);
    if (!place) refuse_key(target, key);
    const Dims shape = value.array ? unwrap(*value.array).shape : Dims();
    throw ShapeError("shape mismatch: value array of shape " + to_string(shape) +
                     " could not be broadcast to indexing result of shape " +
                     to_string(place->shape));
  });
  selection.get()->array = {};  // of before
}

void combine_at(fn f, const Handle& a, const std::vector<Key>& key, const Operand& values) {
  const OpId id = op_of(f);
  named((std::string(op_info(id).name) + ".at").c_str(), [&] {
    const tracer::Array& target = unwrap(a);
    if (!target.writeable) throw ValueError("assignment destination is read-only");
    const Place p = place_of(target, key);
    if (numpy::at(id, p.of, p.key, to_operand(values))) return;
    if (!numpy::getitem(p.of, p.key)) refuse_key(target, key);
    throw ValueError("the values do not fit the elements that the indices name");
  });
}

Handle take(const Handle& a, const Handle& indices, const std::int64_t* axis) {
  return made("take", [&] {
    const tracer::Array &from = unwrap(a), &at = unwrap(indices);
    const int along = axis ? checked_axis(from, *axis) : 0;
    const auto found = numpy::take(from, at.ndim() == 0 ? tracer::reshape(at, Dims{1}) : at,
                                   axis ? std::optional<std::int64_t>(along) : std::nullopt);
    if (!found) {
      check_host(from);
      check_host(at);
      if (is_integer(at.dtype)) check_range(at, axis ? from.shape[along] : from.size(), along);
      refuse(from, at);
    }
    return at.ndim() == 0 ? tracer::squeeze(*found, Dims{along}) : *found;
  });
}

Handle take_along_axis(const Handle& a, const Handle& indices, std::int64_t axis) {
  return made("take_along_axis", [&] {
    const tracer::Array &from = unwrap(a), &at = unwrap(indices);
    const int along = checked_axis(from, axis);
    const auto found = numpy::take_along_axis(from, at, along);
    if (!found) {
      if (is_integer(at.dtype) && at.ndim() == from.ndim())
        check_range(at, from.shape[along], along);
      refuse(from, at);
    }
    return *found;
  });
}

void put_along_axis(const Handle& a, const Handle& indices, const Operand& values,
                    std::int64_t axis) {
  named("put_along_axis", [&] {
    const tracer::Array &to = unwrap(a), &at = unwrap(indices);
    const int along = checked_axis(to, axis);
    if (!to.writeable) throw ValueError("assignment destination is read-only");
    if (numpy::put_along_axis(to, at, to_operand(values), along)) return;
    if (is_integer(at.dtype) && at.ndim() == to.ndim()) check_range(at, to.shape[along], along);
    refuse(to, at);
  });
}

Handle compress(const Handle& mask, const Handle& a, const std::int64_t* axis) {
  return made("compress", [&] {
    const tracer::Array &from = unwrap(a), &m = unwrap(mask);
    std::optional<std::int64_t> along;
    if (axis) along = checked_axis(from, *axis);
    const auto found = numpy::compress(m, from, along);
    if (!found) {
      if (m.ndim() != 1) throw ValueError("condition must be a 1-d array");
      check_host(from);
      throw IndexError("the mask selects beyond the end of the axis");
    }
    return *found;
  });
}

std::vector<Handle> nonzero(const Handle& a) {
  return named("nonzero", [&] {
    const tracer::Array& from = unwrap(a);
    if (from.ndim() == 0) throw ValueError("takes arrays of one dimension or more: atleast_1d(x)");
    const auto found = numpy::argwhere(from, numpy::Coordinates::ByAxis);
    if (!found) refuse(from, from);
    std::vector<Handle> out;
    for (std::int64_t d = 0; d < from.ndim(); ++d)
      out.push_back(wrap(tracer::slice(*found, std::vector<tracer::Index>{tracer::All{}, d})));
    return out;
  });
}

Handle argwhere(const Handle& a) {
  return made("argwhere", [&] {
    const tracer::Array& from = unwrap(a);
    const auto found = numpy::argwhere(from, numpy::Coordinates::Interleaved);
    if (!found) throw ValueError("takes arrays of one dimension or more, on the host");
    return *found;
  });
}

Handle repeat_each(const Handle& a, const Handle& counts, std::int64_t axis) {
  return made("repeat", [&] {
    const tracer::Array& from = unwrap(a);
    const int along = checked_axis(from, axis);
    const tracer::Array n = tracer::copy(tracer::astype(unwrap(counts), DType::Int64), 'C');
    if (n.ndim() != 1 || n.size() != from.shape[along])
      throw ShapeError("counts of shape " + to_string(n.shape) + " for an axis of " +
                       std::to_string(from.shape[along]));
    const auto* count = static_cast<const std::int64_t*>(tracer::data(n));
    std::vector<std::int64_t> at;
    for (std::int64_t i = 0; i < n.size(); ++i) {
      if (count[i] < 0) throw ValueError("repeats may not contain negative values.");
      at.insert(at.end(), static_cast<std::size_t>(count[i]), i);
    }
    return *numpy::take(from, integers(at), along);
  });
}

}  // namespace plait::detail
