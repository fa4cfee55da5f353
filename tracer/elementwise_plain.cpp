// Elementwise operations with fresh results: the plain ones are found by a few comparisons, small
// ones are computed at once.
#include <cstdlib>
#include <cstring>

#include "core/config.hpp"
#include "elementwise.hpp"

namespace plait::tracer {

namespace {

// Scalars of the short way sit in 0-D arrays that are made once.
const Array& scalar_array(int i, const Scalar& s) {
  static std::array<Array, kMaxOperands> scalars;  // guarded by the lock
  Array& a = scalars[static_cast<std::size_t>(i)];
  if (!a) a = from_scalar(scalar_complex({}));
  Node& n = *a.storage->version;
  a.dtype = n.dtype = s.dtype;
  std::memcpy(n.data->data, s.bytes, sizeof s.bytes);
  return a;
}

// A scalar operand of a loop for dtype `t` that raises no question of range or promotion.
bool plain_scalar(const Operand& o, DType t) {
  switch (o.weak) {
    case Weak::None:
      return o.scalar.dtype == t;
    case Weak::Int:
      return t == DType::Int64 || is_float(t);
    case Weak::Float:
      return is_float(t);
    default:
      return false;
  }
}

}  // namespace

const UniformLoop& uniform_loop(OpId fn, DType t) {
  static std::array<std::array<UniformLoop, kDTypeCount>, kOpCount> table;  // guarded by the lock
  UniformLoop& e = table[static_cast<std::size_t>(fn)][static_cast<std::size_t>(t)];
  if (!e.known) [[unlikely]] {
    const OperandType same[kMaxOperands] = {{t}, {t}, {t}};
    const auto arity = static_cast<std::size_t>(op_info(fn).arity);
    e.types = resolve(fn, std::span(same, arity));
    e.plain = fn != OpId::Power && fn != OpId::Where && !is_narrow(e.types.in[0]);
    for (std::size_t i = 0; i < arity; ++i) e.plain = e.plain && e.types.in[i] == t;
    e.known = true;
  }
  return e;
}

PlainCall plain_call(OpId fn, std::span<const Operand> operands, Dims& joint) {
  constexpr PlainCall kNone{};
  const Array* model = operands[0].array ? operands[0].array : operands.back().array;
  if (!model || !is_c_contiguous(*model)) return kNone;
  bool alike = true;
  for (const Operand& o : operands) {
    if (!o.array) {
      if (!plain_scalar(o, model->dtype)) return kNone;
    } else if (o.array != model) {
      if (o.array->dtype != model->dtype) return kNone;
      const bool same = o.array->shape == model->shape;
      if ((!same || o.array->strides != model->strides) && !is_c_contiguous(*o.array)) return kNone;
      alike = alike && same;
    }
  }
  const UniformLoop& loop = uniform_loop(fn, model->dtype);
  if (!loop.plain) return kNone;
  if (alike) return {&model->shape, &loop.types};
  return broadcast_shape(Layouts(operands).all(), joint) ? PlainCall{&joint, &loop.types} : kNone;
}

bool small_and_ready(OpId fn, DType loop, std::span<const Operand> operands, const Dims& shape) {
  const std::int64_t limit = eager_limit(), elements = element_count(shape);
  if (limit <= 0 || !context().evaluator) return false;
  const bool small = elements <= limit;
  if (!small && !at_once_here(elements, element_seconds(loop, static_cast<int>(op_info(fn).cost))))
    return false;
  for (const Operand& o : operands)
    if (o.array && !in_host_memory(*o.array) && (small || !brought(*o.array))) return false;
  return true;
}

namespace {

// Computes at once what is small and ready; `result` has dtype, shape and strides. False: record.
bool compute_now(OpId fn, std::span<const Operand> operands, const LoopTypes& types,
                 Array& result) {
  const Array* in[kMaxOperands];
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Operand& o = operands[i];
    in[i] = o.array ? o.array : &scalar_array(static_cast<int>(i), loop_scalar(fn, o, types.in[i]));
  }
  give_memory(result);
  return evaluator().eager(fn, std::span(in, operands.size()), result);
}

}  // namespace

namespace {
// Whether an element of the operand is read only for the same element of `out`, if they share
// memory at all.
bool same_or_apart(const Array& a, const Array& out) {
  return a.storage != out.storage || (a.offset == out.offset && a.strides == out.strides);
}

// No two elements share memory: rows lie apart.
bool nested(const Array& a) {
  std::int64_t reach = item_bytes(a.dtype);
  for (int d = a.ndim(); d-- > 0;) {
    if (a.shape[d] == 1) continue;
    if (std::abs(a.strides[d]) < reach) return false;
    reach = std::abs(a.strides[d]) * a.shape[d];
  }
  return true;
}
}  // namespace

bool computed_in_place(OpId fn, std::span<const Operand> operands, const Array& out) {
  if (element_count(out.shape) > std::max(eager_limit(), kMiddling) || !nested(out)) return false;
  for (const Operand& o : operands) {
    const bool plain = o.array ? o.array->dtype == out.dtype && o.array->shape == out.shape &&
                                     same_or_apart(*o.array, out)
                               : plain_scalar(o, out.dtype);
    if (!plain) return false;
  }
  const UniformLoop& loop = uniform_loop(fn, out.dtype);
  if (!loop.plain || loop.types.out != out.dtype ||
      !small_and_ready(fn, out.dtype, operands, out.shape) || !own_memory(out))
    return false;
  const Array* in[kMaxOperands];
  for (std::size_t i = 0; i < operands.size(); ++i)
    in[i] = operands[i].array
                ? operands[i].array
                : &scalar_array(static_cast<int>(i), loop_scalar(fn, operands[i], out.dtype));
  report_casts(fn, operands, loop.types);
  Node& written = *out.storage->version;
  recorded_here(written);
  written.site = 0;  // warnings name the line of now
  return evaluator().eager(fn, std::span(in, operands.size()), out);
}

Array fresh_elementwise(OpId fn, std::span<const Operand> operands, const LoopTypes& types,
                        const Dims& shape, const Dims& strides, bool direct) {
  Array result = fresh_array(types.out, shape, strides);
  if (direct && !is_narrow(types.in[0]) && !is_narrow(types.out) &&
      small_and_ready(fn, types.in[0], operands, shape) && compute_now(fn, operands, types, result))
    return result;
  bound_graph();
  const bool eager = surfaces_at_once(operands);
  make_storage(
      result, loop_node(fn, operands.size(), types.out, shape, strides,
                        [&](std::size_t i) { return operand_node(fn, operands[i], types.in[i]); }));
  finish(result, eager);
  return result;
}

}  // namespace plait::tracer
