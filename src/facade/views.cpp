// Views: slicing and the shape functions.
#include <algorithm>
#include <new>
#include <string>
#include <vector>

#include "box.hpp"
#include "numpy_compat/functions.hpp"
#include "plait/view.hpp"

namespace plait::detail {

Handle slice(const Handle& a, const Index* indices, int n, bool writeable) {
  constexpr int kFew = 8;
  alignas(tracer::Index) std::byte few[kFew * sizeof(tracer::Index)];  // filled below
  std::vector<tracer::Index> many(n > kFew ? static_cast<std::size_t>(n) : 0);
  const std::span list(n > kFew ? many.data() : reinterpret_cast<tracer::Index*>(few),
                       static_cast<std::size_t>(n));
  for (tracer::Index& out : list) {
    const Index* const i = indices++;
    switch (i->kind) {
      case Index::Kind::integer:
        new (&out) tracer::Index(i->start);
        break;
      case Index::Kind::all:
        new (&out) tracer::Index(tracer::All{});
        break;
      case Index::Kind::newaxis:
        new (&out) tracer::Index(tracer::NewAxis{});
        break;
      case Index::Kind::ellipsis:
        new (&out) tracer::Index(tracer::Ellipsis{});
        break;
      case Index::Kind::slice: {
        tracer::Slice s;
        if (i->has_start) s.start = i->start;
        if (i->has_stop) s.stop = i->stop;
        if (i->has_step) s.step = i->step;
        new (&out) tracer::Index(s);
        break;
      }
    }
  }
  return named("view", [&] {
    unwrap(a);  // reads selections: not under the lock
    Handle h = wrap_made([&] {
      tracer::Array view = tracer::slice(unwrap(a), list);
      view.writeable = view.writeable && writeable;
      return view;
    });
    keep_lease(h, a);
    return h;
  });
}

Handle transpose(const Handle& a, Span axes) {
  return made_view("transpose", a, [&] {
    return tracer::transpose(unwrap(a), std::span(axes.data, static_cast<std::size_t>(axes.size)));
  });
}
Handle reshape(const Handle& a, Span shape) {
  return made_view("reshape", a, [&] { return tracer::reshape(unwrap(a), dims(shape)); });
}
Handle broadcast_to(const Handle& a, Span shape) {
  return made_view("broadcast_to", a, [&] { return tracer::broadcast_to(unwrap(a), dims(shape)); });
}
shape_type common_shape(const Handle* arrays, int n) {
  Dims shape;
  named("vectorize", [&] {
    for (int i = 0; i < n; ++i) shape = plait::broadcast_shapes(shape, unwrap(arrays[i]).shape);
  });
  return shape_type(shape.begin(), shape.end());
}
shape_type broadcast_shapes(const extents* shapes, int n) {
  int ndim = 0;
  for (int i = 0; i < n; ++i) ndim = std::max(ndim, shapes[i].size());
  shape_type out(static_cast<std::size_t>(ndim), 1);
  for (int axis = 0; axis < ndim; ++axis) {
    std::int64_t& extent = out[static_cast<std::size_t>(axis)];
    for (int i = 0, first = 0; i < n; ++i) {
      const int at = axis + shapes[i].size() - ndim;
      const std::int64_t here = at < 0 ? 1 : shapes[i].data()[at];
      if (here == 1 || here == extent) continue;
      if (extent != 1) {
        const auto text = [&](int k) {
          return "arg " + std::to_string(k) + " with shape " + to_string(dims(span_of(shapes[k])));
        };
        throw ShapeError(
            "shape mismatch: objects cannot be broadcast to a single shape.  Mismatch is between " +
            text(first) + " and " + text(i) + ".");
      }
      extent = here;
      first = i;
    }
  }
  return out;
}
Handle squeeze(const Handle& a, const Span* axes) {
  return made_view("squeeze", a, [&] { return tracer::squeeze(unwrap(a), optional_dims(axes)); });
}
Handle expand_dims(const Handle& a, Span axes) {
  return made_view("expand_dims", a, [&] { return tracer::expand_dims(unwrap(a), dims(axes)); });
}
Handle flip(const Handle& a, const Span* axes) {
  return made_view("flip", a, [&] { return tracer::flip(unwrap(a), optional_dims(axes)); });
}
Handle swapaxes(const Handle& a, std::int64_t i, std::int64_t j) {
  return made_view("swapaxes", a, [&] { return tracer::swapaxes(unwrap(a), i, j); });
}
Handle moveaxis(const Handle& a, Span from, Span to) {
  return made_view("moveaxis", a,
                   [&] { return tracer::moveaxis(unwrap(a), dims(from), dims(to)); });
}
Handle diagonal(const Handle& a, std::int64_t offset, std::int64_t axis1, std::int64_t axis2) {
  return made_view("diagonal", a, [&] {
    tracer::Array view = tracer::diagonal(unwrap(a), offset, axis1, axis2);
    view.writeable = unwrap(a).writeable;  // NumPy's is read-only for the time being
    return view;
  });
}
Handle rot90(const Handle& a, std::int64_t k, std::int64_t axis1, std::int64_t axis2) {
  return made_view("rot90", a, [&] { return numpy::rot90(unwrap(a), k, axis1, axis2); });
}
Handle atleast(const Handle& a, int ndim) {
  return made_view("atleast", a, [&] { return numpy::atleast_nd(unwrap(a), ndim); });
}
Handle windows(const Handle& a, Span window, const Span* axes) {
  return made_view("sliding_window_view", a, [&] {
    return numpy::sliding_window_view(unwrap(a), dims(window), optional_dims(axes));
  });
}
Handle real(const Handle& a) {
  return made_view("real", a, [&] { return tracer::real(unwrap(a)); });
}
Handle imag(const Handle& a) {
  return made_view("imag", a, [&] { return tracer::imag(unwrap(a)); });
}

}  // namespace plait::detail
