#include "indexing.hpp"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "by_index.hpp"
#include "core/array_memory.hpp"
#include "core/scatter.hpp"
#include "core/shape_limits.hpp"
#include "engine/bins.hpp"
#include "engine/direct_kernels.hpp"
#include "engine/fp_flags.hpp"
#include "engine/gather.hpp"
#include "engine/scatter.hpp"
#include "engine/select.hpp"
#include "record.hpp"
#include "tracer/device.hpp"
#include "tracer/layout.hpp"

namespace plait::numpy {
namespace {

std::int64_t item_bytes(const Array& a) { return static_cast<std::int64_t>(itemsize(a.dtype)); }

// An array in memory, which stays there as it is while this lives.
class Held {
 public:
  explicit Held(const Array& a) : array_(a) {
    for (;;) {
      const std::lock_guard held(tracer::lock());
      if (tracer::is_materialised(a)) {
        node_ = tracer::read(a);
        data_ = static_cast<std::byte*>(tracer::data(a));
        return;
      }
      tracer::evaluate(a);
    }
  }
  engine::Memory memory() const { return {data_, array_.strides}; }
  std::byte* data() const { return data_; }

 private:
  Array array_;
  Ref<tracer::Node> node_;
  std::byte* data_ = nullptr;
};

bool here(const Array& a) {
  return tracer::device_of(a) == kHost && !(a.storage->any_bytes && a.dtype == DType::Bool);
}

Array fresh(const Dims& shape, DType t, Ref<Buffer>& memory) {
  memory = allocate_array(shape, t);
  return tracer::from_buffer(memory, t, shape,
                             contiguous_strides(shape, static_cast<std::int64_t>(itemsize(t))), 0);
}

// Indices into an axis of `extent` as Int64 from 0 on, laid out as they are; nothing when one is
// outside.
std::optional<Array> within(const Array& indices, std::int64_t extent) {
  const Held held(indices);
  const engine::Indices seen =
      engine::look_at_indices(indices.dtype, indices.shape, held.memory(), extent);
  if (seen == engine::Indices::Outside) return std::nullopt;
  if (seen == engine::Indices::Fine && indices.dtype == DType::Int64) return indices;
  const Dims strides = tracer::copy_strides(indices.shape, indices.strides, 8, 'K');
  Ref<Buffer> memory = allocate_array(indices.shape, DType::Int64);
  engine::run_cast(indices.dtype, DType::Int64, indices.shape, held.memory(),
                   {memory->data, strides});
  if (seen == engine::Indices::Negative)
    engine::wrap_indices(reinterpret_cast<std::int64_t*>(memory->data), indices.size(), extent);
  return tracer::from_buffer(std::move(memory), DType::Int64, indices.shape, strides, 0);
}

// A mask in one piece, with what it selects.
struct Mask {
  Array array;
  Held held;
  engine::Selection selection;
  explicit Mask(const Array& m)
      : array(tracer::is_c_contiguous(m) ? m : tracer::copy(m, 'C')),
        held(array),
        selection(held.data(), array.size()) {}
  Array places() const {
    Ref<Buffer> memory;
    Array at = fresh({selection.count()}, DType::Int64, memory);
    selection.places(reinterpret_cast<std::int64_t*>(memory->data));
    return at;
  }
};

// The coordinates along each axis of places in an array in C order.
std::vector<Array> coordinates(const Array& places, const Dims& shape) {
  std::vector<Array> out(static_cast<std::size_t>(shape.size()));
  Array rest = places;
  for (int d = shape.size(); d-- > 1;) {
    const Operand extent = strong(std::max<std::int64_t>(shape[d], 1));
    out[static_cast<std::size_t>(d)] = call(OpId::Remainder, rest, extent);
    rest = call(OpId::FloorDivide, rest, extent);
  }
  out[0] = rest;
  return out;
}

// Where a key's elements are: those of `view`, which has the shape of a[key] and stands still along
// the axes of the indices, and from there `at` * `step` bytes on.
struct Places {
  Array view, at;
  std::int64_t step = 0;
  Dims strides;  // of a copy
};

// The key in terms of a view and index arrays for some of its axes.
struct Split {
  Array view;
  struct Indexed {
    int axis;  // of the view
    Array indices;
  };
  std::vector<Indexed> indexed;
  int where = 0;  // axes in front of those of the indices
};

bool is_advanced(const KeyEntry& e) {
  return e.index() == 1 || std::get<0>(e).index() == 0;  // integers stand with the arrays
}

// The axis, or axes, that a mask selects from, as one axis where they lie in one piece.
bool merge_axes(Array& view, int axis, int count) {
  std::int64_t extent = view.shape[axis + count - 1], stride = view.strides[axis + count - 1];
  for (int d = axis + count - 2; d >= axis; --d) {
    if (view.shape[d] != 1 && view.strides[d] != stride * extent) return false;
    extent *= view.shape[d];
  }
  for (int d = 1; d < count; ++d) {
    view.shape.erase(axis);
    view.strides.erase(axis);
  }
  view.shape[axis] = extent;
  view.strides[axis] = stride;
  return true;
}

std::optional<Split> split_key(const Array& a, Key key) {
  // NumPy's iterator takes so many arrays, a mask counting for each of its axes.
  constexpr int kFewAxes = 32;
  int consumed = 0, ellipses = 0, indexed = 0;
  for (const KeyEntry& e : key) {
    if (const auto* array = std::get_if<Array>(&e)) {
      if (!here(*array) || array->ndim() == 0) return std::nullopt;
      if (array->dtype != DType::Bool && !is_integer(array->dtype)) return std::nullopt;
      const int axes = array->dtype == DType::Bool ? array->ndim() : 1;
      consumed += axes;
      indexed += axes;
    } else if (std::holds_alternative<tracer::Ellipsis>(std::get<0>(e))) {
      ++ellipses;
    } else if (!std::holds_alternative<tracer::NewAxis>(std::get<0>(e))) {
      ++consumed;
    }
  }
  if (ellipses > 1 || consumed > a.ndim() || indexed > kFewAxes) return std::nullopt;

  Split s;
  std::vector<tracer::Index> basic;
  struct Masked {
    int axis;
    const Array* mask;
  };
  std::vector<Masked> masks;
  int axis = 0, of_view = 0;
  enum class Run : std::uint8_t { None, Open, Closed, Parted } run = Run::None;
  for (const KeyEntry& e : key) {
    if (!is_advanced(e)) {
      if (run == Run::Open) run = Run::Closed;
    } else if (run == Run::None) {
      run = Run::Open;
      s.where = of_view;
    } else if (run == Run::Closed) {
      run = Run::Parted;
    }
    if (const auto* array = std::get_if<Array>(&e)) {
      const int axes = array->dtype == DType::Bool ? array->ndim() : 1;
      if (array->dtype == DType::Bool) {
        for (int d = 0; d < axes; ++d)
          if (array->shape[d] != a.shape[axis + d]) return std::nullopt;
        masks.push_back({static_cast<int>(s.indexed.size()), array});
      }
      s.indexed.push_back({of_view, *array});
      for (int d = 0; d < axes; ++d) basic.emplace_back(tracer::All{});
      axis += axes;
      of_view += axes;
      continue;
    }
    const tracer::Index& i = std::get<0>(e);
    basic.push_back(i);
    if (std::holds_alternative<tracer::Ellipsis>(i)) {
      axis += a.ndim() - consumed;
      of_view += a.ndim() - consumed;
    } else if (std::holds_alternative<tracer::NewAxis>(i)) {
      ++of_view;
    } else {
      if (i.index() == 0) {
        const std::int64_t k = std::get<std::int64_t>(i), extent = a.shape[axis];
        if (k < -extent || k >= extent) return std::nullopt;
      } else {
        ++of_view;
      }
      ++axis;
    }
  }
  if (run == Run::Parted) s.where = 0;
  s.view = tracer::slice(a, basic);

  // Masks are the places where they are true; from the last one on, as axes go.
  for (auto m = masks.rbegin(); m != masks.rend(); ++m) {
    const auto slot = static_cast<std::size_t>(m->axis);
    const int first = s.indexed[slot].axis, count = m->mask->ndim();
    const Mask mask(*m->mask);
    const Array at = mask.places();
    if (count == 1 || merge_axes(s.view, first, count)) {
      s.indexed[slot].indices = at;
      for (std::size_t later = slot + 1; later < s.indexed.size(); ++later)
        s.indexed[later].axis -= count - 1;
      continue;
    }
    std::vector<Array> by_axis = coordinates(at, mask.array.shape);
    s.indexed[slot].indices = by_axis[0];
    for (int d = 1; d < count; ++d)
      s.indexed.insert(s.indexed.begin() + static_cast<std::ptrdiff_t>(slot) + d,
                       {first + d, by_axis[static_cast<std::size_t>(d)]});
  }
  return s;
}

bool is_mask(const KeyEntry& e) { return e.index() == 1 && std::get<1>(e).dtype == DType::Bool; }

// One offset for what several indices say, in steps.
Array offsets(const Split& s, std::int64_t& step) {
  const std::int64_t item = item_bytes(s.view);
  step = s.view.strides[s.indexed[0].axis];
  if (s.indexed.size() == 1) return s.indexed[0].indices;
  step = item;
  for (const Split::Indexed& i : s.indexed)
    if (s.view.strides[i.axis] % item != 0) step = 1;
  Array sum;
  for (const Split::Indexed& i : s.indexed) {
    const std::int64_t stride = s.view.strides[i.axis] / step;
    const Array term = stride == 1 ? i.indices : call(OpId::Multiply, i.indices, strong(stride));
    sum = sum ? call(OpId::Add, sum, term) : term;
  }
  return sum;
}

// Dense strides with the axes in the order of those of a view, whatever their extents.
Dims sorted_strides(const Dims& shape, const Dims& view, std::int64_t item) {
  std::vector<int> order;
  for (int d = 0; d < shape.size(); ++d) order.push_back(d);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return std::abs(view[a]) > std::abs(view[b]); });
  Dims strides(shape.size());
  std::int64_t stride = item;
  for (auto d = order.rbegin(); d != order.rend(); ++d) {
    strides[*d] = stride;
    stride *= shape[*d];
  }
  return strides;
}

std::optional<Places> find_places(const Array& a, Key key) {
  std::optional<Split> s = split_key(a, key);
  if (!s || s->indexed.empty()) return std::nullopt;
  std::vector<tracer::Laid> laid;
  for (Split::Indexed& i : s->indexed) {
    std::optional<Array> inside = within(i.indices, s->view.shape[i.axis]);
    if (!inside) return std::nullopt;
    i.indices = std::move(*inside);
  }
  for (const Split::Indexed& i : s->indexed) laid.emplace_back(i.indices.shape, i.indices.strides);
  Dims common;
  if (!tracer::broadcast_shape(laid, common)) return std::nullopt;

  Places p;
  p.at = offsets(*s, p.step);
  // Axes of the view that no index names, around those of the indices.
  Dims shape, strides;
  std::size_t next = 0;
  for (int d = 0; d < s->view.ndim(); ++d) {
    if (next < s->indexed.size() && s->indexed[next].axis == d) {
      ++next;
      continue;
    }
    shape.push_back(s->view.shape[d]);
    strides.push_back(s->view.strides[d]);
  }
  if (shape.size() + common.size() > kMaxDims) return std::nullopt;
  // NumPy's iterator walks the indices outside and the view's axes, as they lie, inside.
  const std::int64_t item = item_bytes(a);
  const Dims inner_strides = sorted_strides(shape, strides, item);
  Dims outer_strides;
  if (element_count(shape) == 1) {
    outer_strides = tracer::iterated_strides(common, laid, item);
  } else {
    Dims all = common;
    for (std::int64_t e : shape) all.push_back(e);
    outer_strides = tracer::dense_strides(all, item, 'C');
  }
  p.view = s->view;
  p.view.shape.clear();
  p.view.strides.clear();
  auto add_inner = [&](int from, int to) {
    for (int d = from; d < to; ++d) {
      p.view.shape.push_back(shape[d]);
      p.view.strides.push_back(strides[d]);
      p.strides.push_back(inner_strides[d]);
    }
  };
  add_inner(0, s->where);
  for (int d = 0; d < common.size(); ++d) {
    p.view.shape.push_back(common[d]);
    p.view.strides.push_back(0);
    p.strides.push_back(outer_strides[d]);
  }
  add_inner(s->where, shape.size());
  for (int d = s->where; d < shape.size(); ++d) {
    p.at.shape.push_back(1);
    p.at.strides.push_back(0);
  }
  return p;
}

// A mask of the whole array as the only entry.
const Array* whole_mask(const Array& a, Key key) {
  if (key.size() != 1 || !is_mask(key[0])) return nullptr;
  const Array& m = std::get<Array>(key[0]);
  return m.ndim() > 0 && m.shape == a.shape && here(m) ? &m : nullptr;
}

Array compressed(const Array& a, const Mask& mask) {
  const Array values = tracer::is_c_contiguous(a) ? a : tracer::copy(a, 'C');
  const Held held(values);
  Ref<Buffer> memory;
  Array made = fresh({mask.selection.count()}, a.dtype, memory);
  mask.selection.compress(itemsize(a.dtype), held.data(), memory->data);
  return made;
}

Array gathered(const Places& p) {
  if (p.view.size() == 0) {
    Ref<Buffer> none;
    return fresh(p.view.shape, p.view.dtype, none);
  }
  return tracer::gather(p.view, p.at, p.step, p.strides);
}

// The value as the dtype of what it is stored to, of its shape, in memory that the store does not
// touch; nothing when the shape does not fit.
std::optional<Array> stored_value(const Operand& value, const Array& target, const Dims& shape) {
  Array v =
      value.array ? *value.array : tracer::from_scalar(tracer::reported_cast(value, target.dtype));
  if (!here(v)) return std::nullopt;
  while (v.ndim() > shape.size() && v.shape[0] == 1) {
    v.shape.erase(0);
    v.strides.erase(0);
  }
  if (!tracer::broadcastable(v.shape, shape)) return std::nullopt;
  if (v.dtype != target.dtype)
    v = tracer::astype(v, target.dtype);
  else if (v.storage == target.storage)
    v = tracer::copy(v);
  return tracer::broadcast_to(v, shape);
}

// What becomes of leading ones that the value's shape has too many.
enum class LeadingOnes : std::uint8_t { Dropped, Refused };

// run(shape, value, index, step, to): what is stored to the elements that the key names, all of it
// in memory. False for keys and values that NumPy has to look at.
template <class F>
bool write(const Array& a, Key key, const Operand& value, LeadingOnes ones, F&& run) {
  std::optional<Places> p = find_places(a, key);
  if (!p) return false;
  if (ones == LeadingOnes::Refused && value.array && value.array->ndim() > p->view.ndim())
    return false;
  const std::optional<Array> v = stored_value(value, a, p->view.shape);
  if (!v) return false;
  if (p->view.size() == 0) return true;
  if (p->at.storage == a.storage) p->at = tracer::copy(p->at);
  const Held from(*v), at(p->at);
  const std::lock_guard held(tracer::lock());
  std::byte* const to =
      static_cast<std::byte*>(tracer::writable_data(a)) + (p->view.offset - a.offset);
  const engine::Memory index{at.data(),
                             tracer::broadcast_strides(p->at.shape, p->at.strides, p->view.shape)};
  run(p->view.shape, from.memory(), index, p->step, engine::Memory{to, p->view.strides});
  return true;
}

}  // namespace

std::optional<Array> getitem(const Array& a, Key key) {
  if (!here(a)) return std::nullopt;
  if (const Array* m = whole_mask(a, key)) {
    const Mask mask(*m);
    return compressed(a, mask);
  }
  const std::optional<Places> p = find_places(a, key);
  if (!p) return std::nullopt;
  return gathered(*p);
}

bool setitem(const Array& a, Key key, const Operand& value) {
  if (!here(a) || !a.writeable) return false;
  const Array* const m = whole_mask(a, key);
  if (m && value.array && value.array->ndim() > 1) return false;  // an error of NumPy's
  if (m && value.array && tracer::is_c_contiguous(a)) {
    const Mask mask(m->storage == a.storage ? tracer::copy(*m) : *m);
    const std::optional<Array> v = stored_value(value, a, {mask.selection.count()});
    if (!v) return false;
    const Array flat = tracer::is_c_contiguous(*v) ? *v : tracer::copy(*v, 'C');
    const Held from(flat);
    const std::lock_guard held(tracer::lock());
    mask.selection.expand(itemsize(a.dtype), static_cast<std::byte*>(tracer::writable_data(a)),
                          from.data());
    return true;
  }
  return write(a, key, value, LeadingOnes::Dropped,
               [&](auto&&... operands) { engine::run_scatter(a.dtype, operands...); });
}

std::optional<Array> take(const Array& a, const Array& indices, std::optional<std::int64_t> axis) {
  if (!here(a) || !here(indices) || !is_integer(indices.dtype)) return std::nullopt;
  Array from = a;
  int at = 0;
  if (axis) {
    if (*axis < -a.ndim() || *axis >= a.ndim()) return std::nullopt;
    at = static_cast<int>(*axis < 0 ? *axis + a.ndim() : *axis);
  } else if (a.ndim() != 1) {
    from = tracer::reshape(a, Dims{-1});
  }
  if (indices.ndim() == 0) return std::nullopt;
  const std::optional<Array> inside = within(indices, from.shape[at]);
  if (!inside) return std::nullopt;
  Places p;
  p.view = from;
  p.at = *inside;
  p.step = from.strides[at];
  p.view.shape.clear();
  p.view.strides.clear();
  for (int d = 0; d < from.ndim(); ++d) {
    if (d != at) {
      p.view.shape.push_back(from.shape[d]);
      p.view.strides.push_back(from.strides[d]);
      if (d > at) {
        p.at.shape.push_back(1);
        p.at.strides.push_back(0);
      }
      continue;
    }
    for (int i = 0; i < indices.ndim(); ++i) {
      p.view.shape.push_back(indices.shape[i]);
      p.view.strides.push_back(0);
    }
  }
  if (p.view.ndim() > kMaxDims || checked_element_count(p.view.shape) < 0) return std::nullopt;
  p.strides = tracer::dense_strides(p.view.shape, item_bytes(a), 'C');
  return gathered(p);
}

namespace {
// Indices along one axis, with ranges for the others that broadcast with them.
std::optional<std::vector<KeyEntry>> key_along(const Array& a, const Array& indices,
                                               std::int64_t axis) {
  if (!here(a) || !here(indices) || !is_integer(indices.dtype) || indices.ndim() != a.ndim() ||
      a.ndim() == 0 || axis < -a.ndim() || axis >= a.ndim())
    return std::nullopt;
  const auto along = static_cast<int>(axis < 0 ? axis + a.ndim() : axis);
  std::vector<KeyEntry> key;
  for (int d = 0; d < a.ndim(); ++d) {
    if (d == along) {
      key.emplace_back(indices);
      continue;
    }
    Dims shape(a.ndim(), 1);
    shape[d] = a.shape[d];
    key.emplace_back(
        tracer::reshape(tracer::arange(a.shape[d], scalar_int(0), scalar_int(1)), shape));
  }
  return key;
}
}  // namespace

std::optional<Array> take_along_axis(const Array& a, const Array& indices, std::int64_t axis) {
  const auto key = key_along(a, indices, axis);
  return key ? getitem(a, *key) : std::nullopt;
}

bool put_along_axis(const Array& a, const Array& indices, const Operand& values,
                    std::int64_t axis) {
  const auto key = key_along(a, indices, axis);
  return key && setitem(a, *key, values);
}

std::optional<Array> compress(const Array& mask, const Array& a, std::optional<std::int64_t> axis) {
  if (!here(a) || !here(mask) || mask.ndim() != 1 || mask.dtype != DType::Bool) return std::nullopt;
  const Mask selected(mask);
  return take(a, selected.places(), axis);
}

std::optional<Array> argwhere(const Array& a, Coordinates layout) {
  if (!here(a) || a.ndim() == 0) return std::nullopt;
  const Mask mask(
      a.dtype == DType::Bool ? a : call(OpId::NotEqual, a, strong(cast(scalar_int(0), a.dtype))));
  const Array places = mask.places();
  const std::int64_t n = places.size(), axes = a.ndim();
  if (axes == 1) return tracer::reshape(places, {n, 1});
  const bool by_axis = layout == Coordinates::ByAxis;
  Ref<Buffer> memory;
  const Array out = fresh(by_axis ? Dims{axes, n} : Dims{n, axes}, DType::Int64, memory);
  const Held at(places);
  engine::write_coordinates(reinterpret_cast<const std::int64_t*>(at.data()), n, a.shape,
                            reinterpret_cast<std::int64_t*>(memory->data), by_axis ? 1 : axes,
                            by_axis ? n : 1);
  return by_axis ? tracer::transpose(out) : out;
}

namespace {
// Recorded where something is yet to be computed, and where there is enough for several threads.
bool at_later(OpId fn, const Array& a, Key key, const Operand& value) {
  const auto* index = key.size() == 1 ? std::get_if<Array>(key.data()) : nullptr;
  if (fn == OpId::Subtract || !value.array || !index || !here(*index) || index->ndim() != 1 ||
      index->dtype != DType::Int64 || a.ndim() == 0 || value.array->ndim() > a.ndim())
    return false;
  Dims shape = a.shape;
  shape[0] = index->shape[0];
  const std::int64_t elements = checked_element_count(shape);
  if (elements <= 16 * config().eager_limit) return false;
  const std::optional<std::int64_t> bound = index_bound(*index);
  const bool known = bound && *bound <= a.shape[0];
  const std::optional<Array> inside = known ? *index : within(*index, a.shape[0]);
  if (!inside ||
      !(combined_later(*inside, *value.array, elements) || scatter_pieces(elements, a.size()) > 1))
    return false;
  const std::optional<Array> values = stored_value(value, a, shape);
  if (values && inside->strides[0] > 0) tracer::assign(a, combined(fn, a, *inside, *values));
  return values && inside->strides[0] > 0;
}
}  // namespace

bool at(OpId fn, const Array& a, Key key, const Operand& value) {
  if (!here(a) || !a.writeable || !engine::combines(fn, a.dtype)) return false;
  // Whether a narrow integer holds a number of Python's, the recorder would say.
  if (value.weak == Weak::Int && a.dtype != DType::Int64 && !is_float(a.dtype)) return false;
  const OperandType types[] = {{a.dtype},
                               {value.array ? value.array->dtype : value.scalar.dtype, value.weak}};
  const LoopTypes loop = resolve(fn, types);
  if (loop.in[0] != a.dtype || loop.in[1] != a.dtype || loop.out != a.dtype) return false;
  if (at_later(fn, a, key, value)) return true;
  return write(a, key, value, LeadingOnes::Refused, [&](auto&&... operands) {
    engine::clear_flags();
    engine::run_combine(fn, a.dtype, operands...);
    engine::report_flags(engine::raised_flags(), op_info(fn).name, *a.storage->version);
  });
}

std::optional<Array> bincount(const Array& x, const Array* weights, std::int64_t least) {
  if (x.size() == 0) weights = nullptr;  // NumPy counts then
  if (!here(x) || x.ndim() != 1 || least < 0 || !can_cast(x.dtype, DType::Int64, Casting::Safe))
    return std::nullopt;
  if (weights && (!here(*weights) || weights->ndim() != 1 || weights->size() != x.size() ||
                  !can_cast(weights->dtype, DType::Float64, Casting::Safe)))
    return std::nullopt;
  Array at = as(x, DType::Int64);
  const auto summed = [&](std::int64_t bins) {
    const tracer::Naming unheard(tracer::NamedAs::Nobody);
    const DType t = weights ? DType::Float64 : DType::Int64;
    return combined(OpId::Add, tracer::full({bins}, cast(scalar_int(0), t)), at,
                    weights ? as(*weights, t)
                            : tracer::broadcast_to(tracer::from_scalar(scalar_int(1)), at.shape));
  };
  const Array& values = weights ? *weights : at;
  if (const auto bound = index_bound(at);
      bound && *bound <= least && combined_later(at, values, at.size()))
    return summed(least);
  if (!tracer::is_c_contiguous(at)) at = tracer::copy(at, 'C');
  const Held held(at);
  const auto* p = reinterpret_cast<const std::int64_t*>(held.data());
  const engine::Ends ends = engine::ends_of(p, at.size());
  if (at.size() > 0 && ends.least < 0) return std::nullopt;
  const std::int64_t bins = std::max(least, at.size() > 0 ? ends.greatest + 1 : 0);
  if (bins < 0 || bins > (std::int64_t{1} << 40)) return std::nullopt;
  if (combined_later(at, values, at.size())) return summed(bins);
  Ref<Buffer> memory;
  if (!weights) {
    Array out = fresh({bins}, DType::Int64, memory);
    engine::count_bins(p, at.size(), reinterpret_cast<std::int64_t*>(memory->data), bins);
    return out;
  }
  Array w = as(*weights, DType::Float64);
  if (!tracer::is_c_contiguous(w)) w = tracer::copy(w, 'C');
  const Held with(w);
  Array out = fresh({bins}, DType::Float64, memory);
  engine::sum_bins(p, reinterpret_cast<const double*>(with.data()), at.size(),
                   reinterpret_cast<double*>(memory->data), bins);
  return out;
}

std::optional<Array> histogram(const Array& a, const Array& edges) {
  if (!here(a) || !here(edges) || a.dtype != DType::Float64 || edges.dtype != DType::Float64 ||
      edges.ndim() != 1 || edges.size() < 2)
    return std::nullopt;
  const Array values = tracer::is_c_contiguous(a) ? a : tracer::copy(a, 'C');
  const Array bounds = tracer::is_c_contiguous(edges) ? edges : tracer::copy(edges, 'C');
  const Held from(values), by(bounds);
  Ref<Buffer> memory;
  const std::int64_t bins = edges.size() - 1;
  Array out = fresh({bins}, DType::Int64, memory);
  engine::count_in_range(reinterpret_cast<const double*>(from.data()), values.size(),
                         reinterpret_cast<const double*>(by.data()), bins,
                         reinterpret_cast<std::int64_t*>(memory->data));
  return out;
}

}  // namespace plait::numpy
