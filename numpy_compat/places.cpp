#include "places.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "core/array_memory.hpp"
#include "core/even_steps.hpp"
#include "engine/direct/direct_kernels.hpp"
#include "engine/direct/gather.hpp"
#include "tracer/capture.hpp"
#include "tracer/device.hpp"
#include "tracer/layout.hpp"

namespace plait::numpy {

bool here(const Array& a) {
  return tracer::device_of(a) == kHost && !(a.storage->any_bytes && a.dtype == DType::Bool);
}

Array fresh(const Dims& shape, DType t, Ref<Buffer>& memory) {
  memory = allocate_array(shape, t);
  return tracer::from_buffer(memory, t, shape,
                             contiguous_strides(shape, static_cast<std::int64_t>(itemsize(t))), 0);
}

namespace {

// Those that are not inside are led there, so that nothing else is touched before somebody hears of
// it.
Array demanded_within(tracer::Capture& call_, const Array& indices, std::int64_t extent) {
  const Array given =
      indices.dtype == DType::Int64 ? indices : tracer::astype(indices, DType::Int64);
  const Array from_0 = call(OpId::Where, call(OpId::Less, given, strong(0)),
                            call(OpId::Add, given, strong(extent)), given);
  const Array inside =
      call(OpId::Maximum, call(OpId::Minimum, from_0, strong(extent - 1)), strong(0));
  call_.demand(tracer::reduce(ReduceKind::All, call(OpId::Equal, inside, from_0)),
               "an index is out of bounds");
  return inside;
}

}  // namespace

std::optional<Array> within(const Array& indices, std::int64_t extent) {
  if (tracer::Capture* c = tracer::recording_alone(); c && extent > 0)
    return demanded_within(*c, indices, extent);
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

namespace {

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

}  // namespace

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
  for (const Split::Indexed& i : s->indexed)
    p.terms.push_back({i.indices, s->view.strides[i.axis]});
  p.first = s->where;
  p.last = s->where + common.size();
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

namespace {

// Fewer indices are even by chance: whatever they are, they have one plan.
constexpr std::int64_t kFewIndices = 16;

// Whether an index is the first one and what each axis adds to it.
bool adds_axes(const Array& indices) {
  const auto wide = [](std::int64_t e) { return e > 1; };
  if (std::count_if(indices.shape.begin(), indices.shape.end(), wide) < 2) return true;
  const Held held(indices);
  const int inner = indices.ndim() - 1;
  const std::int64_t columns = indices.shape[inner], step = indices.strides[inner];
  const auto at = [&](std::int64_t offset) {
    return *reinterpret_cast<const std::int64_t*>(held.data() + offset);
  };
  std::vector<std::int64_t> along(static_cast<std::size_t>(columns));
  for (std::int64_t j = 0; j < columns; ++j)
    along[static_cast<std::size_t>(j)] = at(j * step) - at(0);
  Dims index(indices.ndim());
  for (std::int64_t left = indices.size() / columns; left-- > 0;) {
    std::int64_t row = 0, sum = at(0), wrong = 0;
    for (int d = 0; d < inner; ++d) {
      row += index[d] * indices.strides[d];
      sum += at(index[d] * indices.strides[d]) - at(0);
    }
    for (std::int64_t j = 0; j < columns; ++j)
      wrong |= at(row + j * step) ^ (sum + along[static_cast<std::size_t>(j)]);
    if (wrong != 0) return false;
    for (int d = inner; d-- > 0 && ++index[d] == indices.shape[d];) index[d] = 0;
  }
  return true;
}

// The elements as a view whose axes are in the order of a copy's memory; an axis of the indices is
// several where they step by other ways.
std::optional<Array> shown_by_steps(const Places& p) {
  const auto count =
      element_count(Dims(p.view.shape.begin() + p.first, p.view.shape.begin() + p.last));
  if (count <= kFewIndices || tracer::recording_alone()) return std::nullopt;
  std::vector<Held> held(p.terms.size(), Held(p.terms[0].indices));
  for (std::size_t t = 1; t < held.size(); ++t) held[t] = Held(p.terms[t].indices);
  const auto at = [&](std::size_t term, std::int64_t offset) {
    return *reinterpret_cast<const std::int64_t*>(held[term].data() + offset);
  };
  std::vector<Dims> extents, strides;  // of each axis
  std::int64_t start = 0;
  for (std::size_t t = 0; t < held.size(); ++t) start += at(t, 0) * p.terms[t].bytes;
  for (int d = 0; d < p.view.ndim(); ++d) {
    extents.push_back({p.view.shape[d]});
    strides.push_back({p.view.strides[d]});
    if (d < p.first || d >= p.last) continue;
    Dims apart(static_cast<int>(held.size()));
    for (std::size_t t = 0; t < held.size(); ++t) {
      const Array& i = p.terms[t].indices;
      const int own = d - p.last + i.ndim();
      if (own >= 0 && i.shape[own] != 1) apart[static_cast<int>(t)] = i.strides[own];
    }
    const auto step = [&](std::int64_t n, std::int64_t stride) {
      std::int64_t bytes = 0;
      for (std::size_t t = 0; t < held.size(); ++t)
        if (const std::int64_t a = apart[static_cast<int>(t)]; a != 0)
          bytes += (at(t, n * a) - at(t, (n - stride) * a)) * p.terms[t].bytes;
      return bytes;
    };
    const auto even = even_extents(p.view.shape[d], [&](std::int64_t n, std::int64_t stride) {
      return step(n, stride) == step(stride, stride);
    });
    if (!even) return std::nullopt;
    extents.back() = *even;
    strides.back() = *even;
    std::int64_t stride = 1;
    for (int e = even->size(); e-- > 0; stride *= (*even)[e])
      strides.back()[e] = step(stride, stride);
  }
  if (!std::all_of(p.terms.begin(), p.terms.end(),
                   [](const Places::Term& t) { return adds_axes(t.indices); }))
    return std::nullopt;
  Array shown = p.view;
  shown.shape.clear();
  shown.strides.clear();
  shown.offset += start;
  std::vector<int> order(static_cast<std::size_t>(p.view.ndim()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return p.strides[a] > p.strides[b]; });
  for (const int d : order)
    for (int e = 0; e < extents[static_cast<std::size_t>(d)].size(); ++e) {
      shown.shape.push_back(extents[static_cast<std::size_t>(d)][e]);
      shown.strides.push_back(strides[static_cast<std::size_t>(d)][e]);
    }
  if (shown.ndim() > kMaxDims) return std::nullopt;
  return shown;
}

}  // namespace

Array gathered(const Places& p) {
  if (p.view.size() == 0) {
    Ref<Buffer> none;
    return fresh(p.view.shape, p.view.dtype, none);
  }
  const std::optional<Array> shown = shown_by_steps(p);
  if (!shown) return tracer::gather(p.view, p.at, p.step, p.strides);
  Array copy = tracer::copy(*shown, 'C');
  copy.shape = p.view.shape;
  copy.strides = p.strides;
  return copy;
}

const Array* whole_mask(const Array& a, Key key) {
  if (key.size() != 1 || !is_mask(key[0])) return nullptr;
  const Array& m = std::get<Array>(key[0]);
  return m.ndim() > 0 && m.shape == a.shape && here(m) ? &m : nullptr;
}

std::optional<Array> stored_value(const Operand& value, const Array& target, const Dims& shape,
                                  DType t) {
  Array v = value.array ? *value.array : tracer::from_scalar(tracer::reported_cast(value, t));
  if (const DeviceId on = tracer::device_of(v);
      on > kHost ? on != tracer::device_of(target) : !here(v))
    return std::nullopt;
  while (v.ndim() > shape.size() && v.shape[0] == 1) {
    v.shape.erase(0);
    v.strides.erase(0);
  }
  if (!tracer::broadcastable(v.shape, shape)) return std::nullopt;
  if (v.dtype != t)
    v = tracer::astype(v, t);
  else if (v.storage == target.storage)
    v = tracer::copy(v);
  return tracer::broadcast_to(v, shape);
}

}  // namespace plait::numpy
