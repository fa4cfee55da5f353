#include "calls.hpp"

#include <array>
#include <cstring>

#include "core/scatter.hpp"
#include "elementwise.hpp"
#include "graph.hpp"

namespace plait::tracer {

namespace {

struct Results {
  std::array<ValueType, kMaxCallResults> types;
  std::size_t count;
  std::span<const ValueType> all() const { return {types.data(), count}; }
};

Results results_of(const CallInfo& info, std::span<const ValueType> inputs,
                   const CallAttributes& attributes) {
  if (static_cast<int>(inputs.size()) < info.fewest_inputs ||
      static_cast<int>(inputs.size()) > info.most_inputs)
    throw ValueError(std::string(info.name) + " takes " + std::to_string(info.fewest_inputs) +
                     " to " + std::to_string(info.most_inputs) + " arrays, got " +
                     std::to_string(inputs.size()));
  Results r{{}, static_cast<std::size_t>(info.results)};
  info.rule(inputs, attributes, {r.types.data(), r.count});
  return r;
}

// The node without dtype and layout of its value.
Ref<Node> call_node(CallId id, std::span<Ref<Node>> inputs, const CallAttributes& attributes) {
  Ref<Node> n = take_node(NodeKind::Call);
  n->call = id;
  n->fn = attributes.fn;
  n->axes = attributes.numbers;
  n->scalar = attributes.scalar;
  n->n_inputs = static_cast<std::uint8_t>(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) n->inputs[i] = std::move(inputs[i]);
  return n;
}

// A part of the block that holds all results.
Ref<Node> part_of(const Ref<Node>& block, const ValueType& type, std::int64_t offset) {
  Ref<Node> v = take_node(NodeKind::View);
  v->dtype = type.dtype;
  v->shape = type.shape;
  v->strides = dense_strides(type.shape, item_bytes(type.dtype), 'C');
  v->offset = offset;
  v->n_inputs = 1;
  v->inputs[0] = block;
  return record(std::move(v));
}

}  // namespace

namespace {
// Calls compute in what narrow dtypes are computed in; what is of that dtype goes back.
std::vector<Array> call_widened(CallId id, std::span<const Array> inputs, DType narrow,
                                const CallAttributes& attributes, char order) {
  std::vector<Array> wide;
  for (const Array& a : inputs) wide.push_back(astype(a, computes_in(a.dtype), 'K', false));
  std::vector<Array> results = call(id, wide, attributes, order);
  for (Array& r : results)
    if (r.dtype == computes_in(narrow)) r = astype(r, narrow, 'K', false);
  return results;
}
}  // namespace

std::vector<Array> call(CallId id, std::span<const Array> inputs, const CallAttributes& attributes,
                        char order) {
  const Lock held = hold();
  for (const Array& a : inputs)
    if (is_narrow(a.dtype)) return call_widened(id, inputs, a.dtype, attributes, order);
  const CallInfo& info = call_info(id);
  std::array<ValueType, 3> types;
  std::array<Ref<Node>, 3> nodes;
  if (inputs.size() > nodes.size()) throw ValueError("a call takes at most three arrays");
  bool eager = eager_errors() || (info.flags & kCallRaises);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    types[i] = {inputs[i].dtype, inputs[i].shape};
    eager |= reads_export(inputs[i]);
  }
  const Results r = results_of(info, {types.data(), inputs.size()}, attributes);
  bound_graph();
  for (std::size_t i = 0; i < inputs.size(); ++i) nodes[i] = node_of(inputs[i]);
  Ref<Node> n = call_node(id, {nodes.data(), inputs.size()}, attributes);
  std::vector<Array> results;
  results.reserve(r.count);
  if (r.count == 1) {
    const ValueType& only = r.types[0];
    const bool like = order == 'K' && !inputs.empty() && only.shape == inputs[0].shape;
    n->dtype = only.dtype;
    n->shape = only.shape;
    n->strides = like ? scaled_strides(only.shape,
                                       copy_strides(only.shape, inputs[0].strides,
                                                    item_bytes(inputs[0].dtype), 'K'),
                                       item_bytes(inputs[0].dtype), item_bytes(only.dtype))
                      : dense_strides(only.shape, item_bytes(only.dtype), 'C');
    results.push_back(wrap(record(std::move(n))));
  } else {
    const CallBlock block = call_block(r.all());
    n->dtype = DType::UInt8;
    n->shape = Dims{block.bytes};
    n->strides = Dims{1};
    n = record(std::move(n));
    for (std::size_t i = 0; i < r.count; ++i)
      results.push_back(wrap(part_of(n, r.types[i], block.offsets[i])));
  }
  if (eager) evaluate(results);
  return results;
}

std::optional<DType> accumulation_dtype(OpId fn, DType t, const AccumulateOptions& opt) {
  const OpInfo& info = op_info(fn);
  if (info.arity != 2) return std::nullopt;
  if (fn == OpId::LogicalAnd || fn == OpId::LogicalOr || fn == OpId::LogicalXor)
    return opt.dtype.value_or(opt.out ? opt.out->dtype : DType::Bool) == DType::Bool
               ? std::optional(DType::Bool)
               : std::nullopt;
  std::optional<DType> dtype = opt.dtype;
  // Sums and products of small integers are the platform's, as those of reductions.
  if (!dtype && !opt.out && (fn == OpId::Add || fn == OpId::Multiply))
    dtype = reduce_dtype(ReduceKind::Sum, t);
  const OperandType both[] = {{opt.out ? opt.out->dtype : t}, {t}};
  const LoopTypes types =
      dtype ? resolve_with_dtype(fn, both, *dtype, Casting::Unsafe) : resolve(fn, both);
  if (types.in[0] != types.out || types.in[1] != types.out) return std::nullopt;
  if (fn == OpId::Power && is_integer(types.out)) return std::nullopt;
  return types.out;
}

Array accumulate(OpId fn, const Array& a, std::int64_t axis, const AccumulateOptions& opt) {
  const Lock held = hold();
  const std::string name = std::string(op_info(fn).name) + ".accumulate";
  const std::optional<DType> t = accumulation_dtype(fn, a.dtype, opt);
  if (!t) throw DTypeError(name + " has no loop for " + quoted(a.dtype));
  if (a.ndim() == 0) throw DTypeError("cannot accumulate on a scalar");
  axis = normalise_axis(axis, a.ndim());
  if (opt.out) {
    if (opt.out->shape != a.shape)
      throw ShapeError("output of " + name + " has shape " + shape_text(opt.out->shape) +
                       ", the array " + shape_text(a.shape));
    if (!opt.out->writeable) throw ValueError("output array is read-only");
  }
  bound_graph();
  const bool eager = eager_errors() || reads_export(a);
  const DType wide = computes_in(*t);
  Ref<Node> inputs[] = {as_dtype(node_of(a), wide)};
  Ref<Node> n = call_node(CallId::Accumulate, inputs, {Dims{axis}, {}, fn});
  n->dtype = wide;
  n->shape = a.shape;
  const Laid laid(a.shape, a.strides);
  n->strides = iterated_strides(a.shape, std::span(&laid, 1), item_bytes(wide));
  n = as_dtype(record(std::move(n)), *t);
  if (opt.out) {
    store(*opt.out, std::move(n), nullptr);
    finish(*opt.out, eager);
    return *opt.out;
  }
  Array result = wrap(n);
  finish(result, eager);
  return result;
}

Array reduceat(OpId fn, const Array& a, const Array& indices, std::int64_t axis,
               const std::optional<DType>& dtype) {
  if (a.ndim() == 0) throw DTypeError("cannot reduceat on a scalar");
  if (indices.dtype != DType::Int64 || indices.ndim() != 1)
    throw DTypeError("reduceat takes a 1-D array of int64 indices");
  axis = normalise_axis(axis, a.ndim());
  const int along = static_cast<int>(axis);
  std::optional<DType> t;
  if (const std::optional<ReduceKind> kind = kind_combining(fn)) {
    ReduceOptions types;
    types.dtype = dtype;
    t = reduction_dtype(*kind, a.dtype, types);
  } else {
    AccumulateOptions types;
    types.dtype = dtype;
    t = accumulation_dtype(fn, a.dtype, types);
    if (!t)
      throw DTypeError(std::string(op_info(fn).name) + ".reduceat has no loop for " +
                       quoted(a.dtype));
  }
  const auto* at = static_cast<const std::byte*>(data(indices));
  for (std::int64_t i = 0; i < indices.shape[0]; ++i) {
    std::int64_t index;
    std::memcpy(&index, at + i * indices.strides[0], sizeof index);
    if (index < 0 || index >= a.shape[along])
      throw IndexError("index " + std::to_string(index) + " out-of-bounds in " +
                       std::string(op_info(fn).name) + ".reduceat [0, " +
                       std::to_string(a.shape[along]) + ")");
  }
  const Lock held = hold();
  bound_graph();
  const bool eager = eager_errors() || reads_export(a) || reads_export(indices);
  // Folds of half precision are kept in single.
  const DType wide = *t == DType::Float16 ? DType::Float32 : computes_in(*t);
  Ref<Node> inputs[] = {as_dtype(node_of(a), wide), node_of(indices)};
  Ref<Node> n = call_node(CallId::Reduceat, inputs, {Dims{axis}, {}, fn});
  n->dtype = wide;
  n->shape = a.shape;
  n->shape[along] = indices.shape[0];
  // NumPy's iterator goes along the indices there.
  Dims strides = a.strides;
  strides[along] = 0;
  const Laid laid(n->shape, strides);
  n->strides = iterated_strides(n->shape, std::span(&laid, 1), item_bytes(wide));
  Array result = wrap(as_dtype(record(std::move(n)), *t));
  finish(result, eager);
  return result;
}

}  // namespace plait::tracer
