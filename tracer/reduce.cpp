// Recording of reductions: axes, dtypes, errors of empty ones, keepdims, where, initial, out.
#include "elementwise.hpp"
#include "one_hot.hpp"

namespace plait::tracer {

namespace {

// The ufunc's name in messages.
std::string ufunc_name(ReduceKind k) {
  if (k == ReduceKind::ArgMin) return "argmin";
  if (k == ReduceKind::ArgMax) return "argmax";
  return std::string(op_info(reduce_info(k).combine).name);
}

// A bit an axis.
using AxisSet = std::uint64_t;
static_assert(kMaxDims <= 64);
bool holds(AxisSet axes, int axis) { return axes >> axis & 1; }
AxisSet all_axes(int ndim) { return ndim ? ~AxisSet{0} >> (64 - ndim) : 0; }

AxisSet reduced_axes(ReduceKind kind, int ndim, const std::optional<Dims>& given) {
  if (!given) return all_axes(ndim);
  // NumPy lets axis 0 or -1 of a 0-D array pass.
  if (ndim == 0 && given->size() == 1 && (*given)[0] >= -1 && (*given)[0] <= 0) return 0;
  const bool position = is_arg(kind);
  AxisSet axes = 0;
  bool twice = false;
  for (std::int64_t axis : *given) {
    const auto bit = AxisSet{1} << normalise_axis(axis, position ? std::max(ndim, 1) : ndim);
    twice = twice || (axes & bit);
    axes |= bit;
  }
  if (twice) throw ValueError("duplicate value in 'axis'");
  if (position && given->size() != 1)
    throw DTypeError("'tuple' object cannot be interpreted as an integer");
  return axes;
}

// `shape` without the axes, or with 1 along them.
Dims without(const Dims& shape, AxisSet axes) {
  Dims out;
  for (int i = 0; i < shape.size(); ++i)
    if (!holds(axes, i)) out.push_back(shape[i]);
  return out;
}
Dims with_ones(const Dims& shape, AxisSet axes) {
  Dims out = shape;
  for (int i = 0; i < shape.size(); ++i)
    if (holds(axes, i)) out[i] = 1;
  return out;
}

// Strides of the result with 1 along the axes: NumPy's iterator lays it out.
Dims ones_strides(ReduceKind kind, const Array& a, const Array* where, const Dims& ones,
                  DType out) {
  if (is_arg(kind)) return dense_strides(ones, item_bytes(out), 'C');
  Laid operands[2] = {{a.shape, a.strides}, {}};
  if (where) operands[1] = {where->shape, where->strides};
  return iterated_strides(ones, std::span(operands, where ? 2 : 1), item_bytes(out));
}

// NumPy converts to the type of `out` whatever it is.
void check_out(ReduceKind kind, const Array& out, const Dims& shape) {
  const std::string fn = ufunc_name(kind);
  if (is_arg(kind)) {
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
Types reduction_types(ReduceKind kind, DType t, DeviceId device, const ReduceOptions& opt) {
  if (is_arg(kind)) return {computes_in(t), DType::Int64, DType::Int64};
  Types r;
  r.result = reduction_dtype(kind, t, opt);
  r.operand = r.fold = computes_in(r.result);
  // Half sums are kept in single precision and rounded once; products as NumPy's, where it shows
  // what overflows on the way, but for those that a device joins from chunks.
  if (r.result == DType::Float16 &&
      (kind == ReduceKind::Sum || (kind == ReduceKind::Prod && device > kHost)))
    r.operand = r.fold = DType::Float32;
  return r;
}

}  // namespace

DType reduction_dtype(ReduceKind kind, DType t, const ReduceOptions& opt) {
  if (is_arg(kind)) return DType::Int64;
  const OpId fn = reduce_info(kind).combine;
  const OperandType both[] = {{opt.out ? opt.out->dtype : t}, {t}};
  if (opt.dtype) return resolve_with_dtype(fn, both, *opt.dtype, Casting::Unsafe).out;
  return opt.out ? resolve(fn, both).out : reduce_dtype(kind, t);
}

namespace {

void check_where(ReduceKind kind, const Array& a, const ReduceOptions& opt) {
  if (opt.where->dtype != DType::Bool)
    throw DTypeError("Cannot cast array data from " + quoted(opt.where->dtype) + " to " +
                     quoted(DType::Bool) + " according to the rule 'safe'");
  if (!reduce_info(kind).has(kHasIdentity) && !opt.initial)
    throw ValueError("reduction operation '" + ufunc_name(kind) +
                     "' does not have an identity, so to use a where mask one has to specify "
                     "'initial'");
  if (!broadcastable(opt.where->shape, a.shape))
    throw ShapeError("operands could not be broadcast together with shapes " + shape_text(a.shape) +
                     " " + shape_text(opt.where->shape) + " ");
}

[[noreturn]] void throw_empty(ReduceKind kind) {
  throw ValueError(is_arg(kind) ? "attempt to get " + ufunc_name(kind) + " of an empty sequence"
                                : "zero-size array to reduction operation " + ufunc_name(kind) +
                                      " which has no identity");
}

// What a fold starts from: `initial`. A sum over no axes still adds to zero, which shows in -0.0.
std::optional<Scalar> start_value(ReduceKind kind, const ReduceOptions& opt, DType fold,
                                  bool over_none) {
  if (opt.initial && !is_arg(kind)) return opt.initial;
  if (over_none && kind == ReduceKind::Sum && !is_integer(fold)) return scalar_int(0);
  return std::nullopt;
}

Ref<Node> started_from(const Scalar& start, ReduceKind kind, Ref<Node> fold) {
  Ref<Node> n = take_node(NodeKind::Elementwise);
  n->fn = reduce_info(kind).combine;
  n->dtype = fold->dtype;
  n->shape = fold->shape;
  n->strides = fold->strides;
  n->n_inputs = 2;
  n->inputs[1] = scalar_node(cast(start, fold->dtype));
  n->inputs[0] = std::move(fold);
  return record(std::move(n));
}

// `out` as an array of the kept axes alone.
Array without_axes(const Array& out, AxisSet axes) {
  Array a = out;
  a.shape = without(out.shape, axes);
  a.strides = without(out.strides, axes);
  return a;
}

}  // namespace

Array reduce(ReduceKind kind, const Array& source, const ReduceOptions& opt) {
  const Lock held = hold();
  const int ndim = source.ndim();
  const AxisSet given = reduced_axes(kind, ndim, opt.axes);
  const Types types = reduction_types(kind, source.dtype, device_of(source), opt);
  std::optional<Naming> named;  // what else a reduction does than to fold
  if (types.operand != source.dtype || types.result != types.fold || opt.initial || opt.out)
    named.emplace(NamedAs::Reduce);

  std::int64_t folded = 1;
  for (int i = 0; i < ndim; ++i)
    if (holds(given, i)) folded *= source.shape[i];
  const ReduceInfo& info = reduce_info(kind);
  if (opt.where) check_where(kind, source, opt);
  if (folded == 0 && !info.has(kHasIdentity) && !opt.initial) throw_empty(kind);
  if (opt.out)
    check_out(kind, *opt.out,
              opt.keepdims ? with_ones(source.shape, given) : without(source.shape, given));

  const bool plain = !opt.keepdims && !opt.dtype && !opt.initial && !opt.where && !opt.out;
  if (kind == ReduceKind::Sum && plain && ndim == 2 && (given == 1 || given == 2))
    if (std::optional<Array> counts = counted_by_label(source, given == 1 ? 0 : 1))
      return *std::move(counts);

  bound_graph();
  const bool eager =
      eager_errors() || reads_export(source) || (opt.where && reads_export(*opt.where));
  Array flat;
  const Array* a = &source;
  AxisSet axes = given;
  if (is_arg(kind) && (!opt.axes || ndim == 0) && ndim != 1) {
    flat = reshape(source, Dims{source.size()});  // the index counts in C order
    a = &flat;
    axes = 1;
  }
  Dims strides;  // with 1 along the axes, where there are others or they are kept
  if (opt.keepdims || axes != all_axes(a->ndim()))
    strides = ones_strides(kind, *a, opt.where, with_ones(a->shape, axes), types.fold);
  const bool over_none = axes == 0 && !opt.where;
  const bool only_initial = folded == 0 && !info.has(kHasIdentity);
  Ref<Node> n;
  if (over_none) {  // every element is its own fold
    n = cast_node(as_dtype(node_of(*a), types.operand), types.fold, strides);
  } else if (only_initial) {
    n = fill_node(without(a->shape, axes), without(strides, axes), cast(*opt.initial, types.fold));
  } else {
    n = take_node(NodeKind::Reduce);
    n->reduce = kind;
    n->dtype = types.fold;
    for (int i = 0; i < a->ndim(); ++i) {
      if (holds(axes, i)) {
        n->axes.push_back(i);
      } else {
        n->shape.push_back(a->shape[i]);
        n->strides.push_back(strides[i]);
      }
    }
    n->n_inputs = opt.where ? 2 : 1;
    n->inputs[0] = as_dtype(node_of(*a), types.operand);
    if (opt.where) n->inputs[1] = node_of(*opt.where);
    n = record(std::move(n));
  }
  if (!only_initial)
    if (const auto start = start_value(kind, opt, types.fold, axes == 0))
      n = started_from(*start, kind, std::move(n));
  const std::int64_t size = item_bytes(types.result), fold_size = item_bytes(types.fold);
  auto rounded = [&](const Dims& shape, const Dims& fold_strides) {
    return scaled_strides(shape, fold_strides, fold_size, size);
  };
  if (types.result != types.fold) n = cast_node(n, types.result, rounded(n->shape, n->strides));

  if (opt.out) {
    store(opt.keepdims ? without_axes(*opt.out, given) : *opt.out, std::move(n), nullptr);
    finish(*opt.out, eager);
    return *opt.out;
  }
  Array result = fresh_array(types.result, n->shape, n->strides);
  if (opt.keepdims) {
    result.shape = with_ones(source.shape, given);
    result.strides =
        rounded(result.shape, a == &source ? strides : dense_strides(result.shape, fold_size, 'C'));
  }
  make_storage(result, std::move(n));
  finish(result, eager);
  return result;
}

}  // namespace plait::tracer
