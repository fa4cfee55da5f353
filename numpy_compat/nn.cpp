#include "nn.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "einsum.hpp"
#include "record.hpp"

namespace plait::numpy::nn {
namespace {

Dims per_axis(const Dims& value, int count, const char* name, std::int64_t least) {
  if (value.size() != 1 && value.size() != count)
    throw ValueError(std::string(name) + " has " + std::to_string(value.size()) + " entries for " +
                     std::to_string(count) + " axes");
  for (const std::int64_t v : value)
    if (v < least)
      throw ValueError(std::string(name) + " has to be at least " + std::to_string(least) +
                       ", but it is " + std::to_string(v));
  return value.size() == count ? value : Dims(count, value[0]);
}

// `size` elements, `dilation` apart, every `stride`, over the axes from the third on: a view with
// the windows as its last axes.
Array windows(const Array& x, const Dims& size, const Dims& stride, const Dims& dilation) {
  Dims spans, axes;
  std::vector<tracer::Index> every{tracer::All{}, tracer::All{}};
  for (int i = 0; i < size.size(); ++i) {
    axes.push_back(2 + i);
    spans.push_back((size[i] - 1) * dilation[i] + 1);
    every.emplace_back(tracer::Slice{{}, {}, stride[i]});
  }
  for (const std::int64_t d : dilation) every.emplace_back(tracer::Slice{{}, {}, d});
  return tracer::slice(sliding_window_view(x, spans, axes), every);
}

Array padded(const Array& x, const Dims& padding, const Scalar& value) {
  Dims widths{0, 0, 0, 0};
  bool any = false;
  for (const std::int64_t p : padding) {
    widths.push_back(p);
    widths.push_back(p);
    any |= p != 0;
  }
  return any ? pad(x, widths, Padding::Constant, value) : x;
}

Array merged(const Array& a, int first, int second) {
  Dims shape = a.shape;
  shape[first] *= shape[second];
  shape.erase(second);
  return tracer::reshape(a, shape);
}

}  // namespace

Array attention(const Array& q, const Array& k, const Array& v, const Attention& options) {
  if (q.ndim() < 2 || k.ndim() < 2 || v.ndim() < 2 || !is_float(q.dtype))
    throw ValueError("attention: takes floats of at least two axes, (..., queries, d)");
  const double d = static_cast<double>(q.shape[q.ndim() - 1]);
  Array s = call(OpId::Multiply, tracer::matmul(q, tracer::swapaxes(k, -1, -2)),
                 weak(options.scale.value_or(std::pow(d, -0.5))));
  const Operand nothing = weak(-std::numeric_limits<double>::infinity());
  if (options.mask)
    s = options.mask->dtype == DType::Bool ? call(OpId::Where, *options.mask, s, nothing)
                                           : call(OpId::Add, s, *options.mask);
  if (options.is_causal) {
    const std::int64_t queries = s.shape[s.ndim() - 2], keys = s.shape[s.ndim() - 1];
    const Array last = tracer::arange(queries, scalar_int(keys - queries), scalar_int(1));
    const Array key = tracer::arange(keys, scalar_int(0), scalar_int(1));
    s = call(OpId::Where, call(OpId::GreaterEqual, tracer::expand_dims(last, {1}), key), s,
             nothing);
  }
  ReduceOptions rows;
  rows.axes = Dims{-1};
  rows.keepdims = true;
  const Array e = call(OpId::Exp, call(OpId::Subtract, s, max(s, rows)));
  return tracer::matmul(call(OpId::Divide, e, sum(e, rows)), v);
}

Array conv(const Array& x, const Array& w, const Convolution& options) {
  const int axes = w.ndim() - 2;
  const auto shapes = [&] {
    return "conv: x " + to_string(x.shape) + " and w " + to_string(w.shape);
  };
  if (axes < 1 || axes > 6 || x.ndim() != w.ndim())
    throw ValueError(shapes() + " need as many axes, and three to eight");
  const std::int64_t groups = options.groups;
  if (groups < 1 || x.shape[1] != w.shape[1] * groups || w.shape[0] % groups)
    throw ValueError(shapes() + " do not meet in " + std::to_string(groups) +
                     " groups of channels");
  const Dims stride = per_axis(options.stride, axes, "stride", 1);
  const Dims dilation = per_axis(options.dilation, axes, "dilation", 1);
  const Dims padding = per_axis(options.padding, axes, "padding", 0);
  Dims window;
  for (int i = 0; i < axes; ++i) window.push_back(w.shape[2 + i]);
  Array v = windows(padded(x, padding, cast(scalar_int(0), x.dtype)), window, stride, dilation);
  Array filters = w;
  const std::string places = std::string("hwdefg").substr(0, static_cast<std::size_t>(axes));
  const std::string inside = std::string("ijklmp").substr(0, static_cast<std::size_t>(axes));
  std::string subscripts = "nc" + places + inside + ",oc" + inside + "->no" + places;
  if (groups > 1) {
    Dims of_v = v.shape, of_w = w.shape;
    of_v[1] /= groups;
    of_v.insert(1, groups);
    of_w[0] /= groups;
    of_w.insert(0, groups);
    v = tracer::reshape(v, of_v);
    filters = tracer::reshape(w, of_w);
    subscripts = "nbc" + places + inside + ",boc" + inside + "->nbo" + places;
  }
  const Array both[] = {v, filters};
  const auto made = einsum(subscripts, both, EinsumLike::Loop);
  if (!made) throw ValueError(shapes() + " have no elements, or no such window");
  const Array y = groups > 1 ? merged(made->array, 1, 2) : made->array;
  if (!options.bias) return y;
  Dims column(axes + 1, 1);
  column[0] = -1;
  return call(OpId::Add, y, tracer::reshape(*options.bias, column));
}

Array pool(const Array& x, const Dims& given_size, const Pool& options) {
  const int axes = x.ndim() - 2;
  if (axes < 1) throw ValueError("pool: x " + to_string(x.shape) + " needs at least three axes");
  const Dims size = per_axis(given_size, axes, "size", 1);
  const Dims stride = options.stride ? per_axis(*options.stride, axes, "stride", 1) : size;
  const Dims padding = per_axis(options.padding, axes, "padding", 0);
  const Scalar outside =
      options.mean ? cast(scalar_int(0), x.dtype) : fold_identity(ReduceKind::Max, x.dtype);
  ReduceOptions windowed;
  windowed.axes.emplace();
  for (int i = 0; i < axes; ++i) windowed.axes->push_back(-1 - i);
  const Array v = windows(padded(x, padding, outside), size, stride, Dims(axes, 1));
  return options.mean ? mean(v, windowed) : max(v, windowed);
}

}  // namespace plait::numpy::nn
