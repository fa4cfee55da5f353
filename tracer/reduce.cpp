// Recording of reductions: axes, dtypes, errors of empty ones, keepdims, where, initial, out.
#include "graph.hpp"

namespace plait::tracer {

namespace {

std::int64_t item_bytes(DType t) { return static_cast<std::int64_t>(itemsize(t)); }
bool arg_reduction(ReduceKind k) { return k == ReduceKind::ArgMin || k == ReduceKind::ArgMax; }

// The ufunc's name in messages.
std::string ufunc_name(ReduceKind k) {
  if (k == ReduceKind::ArgMin) return "argmin";
  if (k == ReduceKind::ArgMax) return "argmax";
  return std::string(op_info(reduce_info(k).combine).name);
}

struct Plan {
  Dims axes;       // sorted
  Dims kept;       // shape without the axes
  Dims with_ones;  // shape with 1 along them
  Dims kept_strides, ones_strides;
};

Plan layout(ReduceKind kind, const Array& a, const Array* where, const Dims& axes, DType out) {
  Plan p;
  p.axes = axes;
  p.with_ones = a.shape;
  for (std::int64_t axis : axes) p.with_ones[static_cast<int>(axis)] = 1;
  if (arg_reduction(kind)) {
    p.ones_strides = dense_strides(p.with_ones, item_bytes(out), 'C');
  } else {
    const Dims strides[] = {
        broadcast_strides(a.shape, a.strides, a.shape),
        where ? broadcast_strides(where->shape, where->strides, a.shape) : Dims()};
    const std::size_t count = where ? 2 : 1;
    p.ones_strides = strides_in_order(
        p.with_ones, iteration_order(a.ndim(), std::span(strides, count)), item_bytes(out));
  }
  int next = 0;
  for (int i = 0; i < a.ndim(); ++i) {
    if (next < axes.size() && axes[next] == i) {
      ++next;
      continue;
    }
    p.kept.push_back(a.shape[i]);
    p.kept_strides.push_back(p.ones_strides[i]);
  }
  return p;
}

// NumPy converts to the type of `out` whatever it is.
void check_out(ReduceKind kind, const Array& out, const Dims& shape) {
  const std::string fn = ufunc_name(kind);
  if (arg_reduction(kind)) {
    if (out.shape != shape)
      throw ShapeError("output array does not match result of np." + fn + ".");
    if (!can_cast(out.dtype, DType::Int64, Casting::Safe))
      throw DTypeError("Cannot cast array data from " + quoted(out.dtype) + " to " +
                       quoted(DType::Int64) + " according to the rule 'safe'");
  } else {
    if (out.ndim() != shape.size())
      throw ShapeError("output parameter for reduction operation " + fn +
                       " has the wrong number of dimensions: Found " + std::to_string(out.ndim()) +
                       " but expected " + std::to_string(shape.size()));
    if (out.shape != shape)
      throw ShapeError("output parameter for reduction operation " + fn +
                       " has a shape mismatch: expected " + shape_text(shape) + ", found " +
                       shape_text(out.shape));
  }
  if (!out.writeable) throw ValueError("output array is read-only");
}

// What the operand is converted to before it is reduced, and what the fold computes in.
struct Types {
  DType operand, fold, result;
};
Types reduction_types(ReduceKind kind, DType t, const ReduceOptions& opt) {
  if (arg_reduction(kind)) return {t, DType::Int64, DType::Int64};
  Types r;
  r.result = reduction_dtype(kind, t, opt);
  r.operand = r.fold = r.result;
  // Half sums and products are kept in single precision and rounded once.
  if ((kind == ReduceKind::Sum || kind == ReduceKind::Prod) && r.result == DType::Float16)
    r.operand = r.fold = DType::Float32;
  return r;
}

}  // namespace

DType reduction_dtype(ReduceKind kind, DType t, const ReduceOptions& opt) {
  if (arg_reduction(kind)) return DType::Int64;
  const OpId fn = reduce_info(kind).combine;
  const OperandType both[] = {{opt.out ? opt.out->dtype : t}, {t}};
  if (opt.dtype) return resolve_with_dtype(fn, both, *opt.dtype, Casting::Unsafe).out;
  return opt.out ? resolve(fn, both).out : reduce_dtype(kind, t);
}

Array reduce(ReduceKind kind, const Array& source, const ReduceOptions& opt) {
  const Lock held = hold();
  Array a = source;
  const int ndim = a.ndim();
  Dims axes;
  if (opt.axes && ndim == 0 && opt.axes->size() == 1 && (*opt.axes)[0] >= -1 &&
      (*opt.axes)[0] <= 0) {
    // NumPy lets axis 0 or -1 of a 0-D array pass.
  } else if (opt.axes) {
    axes = normalise_axes(*opt.axes, arg_reduction(kind) ? std::max(ndim, 1) : ndim);
    if (arg_reduction(kind) && axes.size() != 1)
      throw DTypeError("'tuple' object cannot be interpreted as an integer");
  } else {
    for (int i = 0; i < ndim; ++i) axes.push_back(i);
  }
  const Types types = reduction_types(kind, a.dtype, opt);

  std::int64_t folded = 1;
  for (std::int64_t axis : axes) folded *= a.shape[static_cast<int>(axis)];
  const ReduceInfo& info = reduce_info(kind);
  Dims final_shape;
  {
    int next = 0;
    for (int i = 0; i < ndim; ++i) {
      if (next < axes.size() && axes[next] == i) {
        ++next;
        if (opt.keepdims) final_shape.push_back(1);
      } else {
        final_shape.push_back(a.shape[i]);
      }
    }
  }
  if (opt.where) {
    if (opt.where->dtype != DType::Bool)
      throw DTypeError("Cannot cast array data from " + quoted(opt.where->dtype) + " to " +
                       quoted(DType::Bool) + " according to the rule 'safe'");
    if (!info.has_identity && !opt.initial)
      throw ValueError("reduction operation '" + ufunc_name(kind) +
                       "' does not have an identity, so to use a where mask one has to specify "
                       "'initial'");
    if (!broadcastable(opt.where->shape, a.shape))
      throw ShapeError("operands could not be broadcast together with shapes " +
                       shape_text(a.shape) + " " + shape_text(opt.where->shape) + " ");
  }
  if (folded == 0 && !info.has_identity && !opt.initial)
    throw ValueError(arg_reduction(kind)
                         ? "attempt to get " + ufunc_name(kind) + " of an empty sequence"
                         : "zero-size array to reduction operation " + ufunc_name(kind) +
                               " which has no identity");
  if (opt.out) check_out(kind, *opt.out, final_shape);

  bound_graph();
  const bool eager =
      eager_errors() || reads_export(source) || (opt.where && reads_export(*opt.where));
  Plan p;
  if (arg_reduction(kind) && (!opt.axes || ndim == 0) && ndim != 1) {
    a = reshape(a, Dims{a.size()});  // the index counts in C order
    p = layout(kind, a, nullptr, Dims{0}, types.fold);
  } else {
    p = layout(kind, a, opt.where, axes, types.fold);
  }
  Ref<Node> n;
  if (p.axes.empty() && !opt.where) {
    // Over no axes every element is its own fold.
    Ref<Node> in = as_dtype(node_of(a), types.operand);
    n = cast_node(std::move(in), types.fold, p.kept_strides);
  } else if (folded == 0 && !info.has_identity && opt.initial) {
    n = fill_node(p.kept, p.kept_strides, cast(*opt.initial, types.fold));
  } else {
    n = take_node(NodeKind::Reduce);
    n->reduce = kind;
    n->dtype = types.fold;
    n->shape = p.kept;
    n->strides = p.kept_strides;
    n->axes = p.axes;
    n->n_inputs = opt.where ? 2 : 1;
    n->inputs[0] = as_dtype(node_of(a), types.operand);
    if (opt.where) n->inputs[1] = node_of(*opt.where);
    n = record(std::move(n));
  }
  // A fold starts from `initial`; a sum over no axes still adds to zero, which shows in -0.0.
  std::optional<Scalar> start;
  if (opt.initial && !arg_reduction(kind) && (folded != 0 || info.has_identity))
    start = opt.initial;
  else if (p.axes.empty() && kind == ReduceKind::Sum && !is_integer(types.fold))
    start = scalar_int(0);
  if (start) {
    Ref<Node> c = take_node(NodeKind::Elementwise);
    c->fn = info.combine;
    c->dtype = types.fold;
    c->shape = p.kept;
    c->strides = p.kept_strides;
    c->n_inputs = 2;
    c->inputs[0] = std::move(n);
    c->inputs[1] = scalar_node(cast(*start, types.fold));
    n = record(std::move(c));
  }
  n = as_dtype(std::move(n), types.result);

  Dims shape = p.kept, strides = n->strides;
  if (opt.keepdims) {
    const std::int64_t scale = item_bytes(types.result), unit = item_bytes(types.fold);
    shape = final_shape;
    if (shape.size() == p.with_ones.size()) {
      strides = p.ones_strides;
      for (std::int64_t& s : strides) s = s / unit * scale;
    } else {
      strides = dense_strides(shape, scale, 'C');
    }
  }
  if (!opt.out) {
    Array result = wrap(std::move(n), shape, strides);
    finish(result, eager);
    return result;
  }
  Array target = *opt.out;
  if (opt.keepdims) {
    target.shape = p.kept;
    target.strides.clear();
    int next = 0;
    for (int i = 0; i < ndim; ++i) {
      if (next < axes.size() && axes[next] == i)
        ++next;
      else
        target.strides.push_back(opt.out->strides[i]);
    }
  }
  store(target, std::move(n), nullptr);
  finish(*opt.out, eager);
  return *opt.out;
}

}  // namespace plait::tracer
