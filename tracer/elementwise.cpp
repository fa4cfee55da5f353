// Recording of elementwise operations: type resolution, broadcasting, layout, `out=` and `where=`.
#include "elementwise.hpp"

#include <cstring>

#include "core/array_memory.hpp"
#include "core/mixed_compare.hpp"
#include "elements.hpp"

namespace plait::tracer {

namespace {

bool comparison(OpId fn) {
  return fn == OpId::Equal || fn == OpId::NotEqual || fn == OpId::Less || fn == OpId::LessEqual ||
         fn == OpId::Greater || fn == OpId::GreaterEqual;
}

bool int_fits(std::int64_t v, DType t) {
  try {
    checked_scalar(scalar_int(v), Weak::Int, t);
    return true;
  } catch (const OverflowError&) {
    return false;
  }
}

// `u8 < 300`: a Python integer that the array's dtype cannot hold compares as the number it is.
std::optional<bool> out_of_range_comparison(OpId fn, std::span<const Operand> operands) {
  if (!comparison(fn)) return std::nullopt;
  const int scalar_at = operands[0].array ? 1 : 0;
  const Operand& s = operands[static_cast<std::size_t>(scalar_at)];
  const Operand& other = operands[static_cast<std::size_t>(1 - scalar_at)];
  if (s.array || s.weak != Weak::Int) return std::nullopt;
  const DType t = other.array ? other.array->dtype : other.scalar.dtype;
  if (other.weak != Weak::None || !is_integer(t)) return std::nullopt;
  const auto v = s.scalar.as<std::int64_t>();
  if (int_fits(v, t)) return std::nullopt;
  const bool scalar_greater = v > 0;
  const bool left_less = scalar_at == 1 ? scalar_greater : !scalar_greater;
  switch (fn) {
    case OpId::Equal:
      return false;
    case OpId::NotEqual:
      return true;
    case OpId::Less:
    case OpId::LessEqual:
      return left_less;
    default:
      return !left_less;
  }
}

// A comparison that needs no loop: its operands stay what they are.
LoopTypes constant_types(std::span<const Operand> operands) {
  LoopTypes t{{DType::Int64, DType::Int64, DType::Int64}, DType::Bool};
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (operands[i].array) t.in[i] = operands[i].array->dtype;
  return t;
}

DType operand_dtype(const Operand& o) { return o.array ? o.array->dtype : o.scalar.dtype; }

[[noreturn]] void throw_not_broadcast(std::span<const Operand> operands, const Array* where,
                                      const Array* out) {
  std::string text = "operands could not be broadcast together with shapes ";
  for (const Operand& o : operands) text += shape_text(o.array ? o.array->shape : Dims()) + ' ';
  if (out) text += shape_text(out->shape) + ' ';
  if (where) text += shape_text(where->shape) + ' ';
  throw ShapeError(text);
}

Dims broadcast_all(std::span<const Operand> operands, const Layouts& layouts,
                   const ElementwiseOptions& opt) {
  Dims shape;
  if (!broadcast_shape(layouts.all(), shape)) throw_not_broadcast(operands, opt.where, opt.out);
  if (!opt.out) return shape;
  const Array& out = *opt.out;
  if (broadcastable(shape, out.shape)) return out.shape;
  const Laid both[] = {{shape, shape}, {out.shape, out.strides}};
  Dims joint;
  if (!broadcast_shape(both, joint)) throw_not_broadcast(operands, opt.where, opt.out);
  throw ShapeError("non-broadcastable output operand with shape " + shape_text(out.shape) +
                   " doesn't match the broadcast shape " + shape_text(joint));
}

// Whether NumPy's iterator converts an operand. 0-D operands are converted beforehand; logical
// functions of mixed dtypes convert to Bool.
bool converts(OpId fn, std::span<const Operand> operands, const LoopTypes& types) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Operand& o = operands[i];
    if (!o.array || o.array->ndim() == 0) continue;
    const bool mixed = logical(fn) && operand_dtype(operands[1 - i]) != o.array->dtype;
    if (o.array->dtype != (mixed ? DType::Bool : types.in[i])) return true;
  }
  return false;
}

// Strides of a fresh result, as NumPy's ufunc machinery allocates it.
Dims result_strides(OpId fn, std::span<const Operand> operands, const Layouts& layouts,
                    const Array* where, const Dims& shape, const LoopTypes& types, char order) {
  const std::int64_t size = item_bytes(types.out);
  if (order == 'C' || order == 'F' || shape.size() <= 1)
    return dense_strides(shape, size, order == 'F' ? 'F' : 'C');
  // Operands that need no conversion and agree in C or F order skip NumPy's iterator; otherwise
  // axes of extent 1 may come out with other strides.
  bool all_c = true, all_f = true;
  for (const Operand& o : operands) {
    if (!o.array || o.array->ndim() == 0) continue;
    const Array& a = *o.array;
    const bool same = a.shape == shape;
    all_c = all_c && same && is_c_contiguous(a);
    all_f = all_f && same && is_f_contiguous(a);
    if (!all_c && !all_f) break;
  }
  if ((all_c || all_f) && (order == 'A' || (!where && !converts(fn, operands, types))))
    return dense_strides(shape, size, all_c ? 'C' : 'F');
  if (order == 'A') return dense_strides(shape, size, 'C');
  return iterated_strides(shape, layouts.all(), size);
}

// Raises for integer ** negative integer, which depends on the exponent's values: on those that an
// element of the result is computed from.
void check_exponent(const Operand& exponent, DType loop, const Dims& shape, const Array* where) {
  if (kind(loop) != Kind::Signed || element_count(shape) == 0) return;
  if (exponent.array && kind(exponent.array->dtype) != Kind::Signed) return;
  if (!exponent.array && cast(exponent.scalar, DType::Int64).as<std::int64_t>() >= 0) return;
  ReduceOptions all;
  bool negative;
  if (!exponent.array) {
    negative = !where || item(reduce(ReduceKind::Any, *where, all), {}).as<bool>();
  } else {
    all.where = where;
    if (where) all.initial = scalar_int(0);
    const Array least = reduce(ReduceKind::Min,
                               where ? broadcast_to(*exponent.array, shape) : *exponent.array, all);
    negative = cast(item(least, {}), DType::Int64).as<std::int64_t>() < 0;
  }
  if (negative) throw ValueError("Integers to negative integer powers are not allowed.");
}

LoopTypes loop_types(OpId fn, std::span<const Operand> operands, const ElementwiseOptions& opt) {
  OperandType t[kMaxOperands];
  const DType* only = nullptr;
  bool uniform = !opt.dtype;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Operand& o = operands[i];
    t[i] = {o.array ? o.array->dtype : o.scalar.dtype, o.weak};
    if (o.weak == Weak::None || o.weak == Weak::Bool) {
      uniform = uniform && (!only || *only == t[i].dtype);
      if (!only) only = &t[i].dtype;
    }
  }
  const std::span<const OperandType> all(t, operands.size());
  if (opt.dtype) return resolve_with_dtype(fn, all, *opt.dtype, opt.casting);
  if (uniform && only && fn != OpId::Where) {
    for (const OperandType& o : all)
      if (o.weak != Weak::None && promote_weak(*only, o.weak) != *only) uniform = false;
    if (uniform) return uniform_loop(fn, *only).types;
  }
  return resolve(fn, all);
}

// 'no' and 'equiv' let no operand be converted. Python's numbers take the loop's type, and logical
// functions read any.
void check_inputs(OpId fn, std::span<const Operand> operands, const LoopTypes& types,
                  Casting casting) {
  if (casting > Casting::Equiv || logical(fn)) return;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const DType t = operand_dtype(operands[i]);
    if (operands[i].weak != Weak::None || t == types.in[i]) continue;
    throw DTypeError("Cannot cast ufunc '" + std::string(op_info(fn).name) + "' input " +
                     (operands.size() > 1 ? std::to_string(i) + ' ' : "") + "from " + quoted(t) +
                     " to " + quoted(types.in[i]) + " with casting rule '" +
                     std::string(casting_name(casting)) + "'");
  }
}

Ref<Node> elementwise_node(OpId fn, DType out, const Dims& shape, const Dims& strides,
                           std::initializer_list<Ref<Node>> inputs) {
  return loop_node(fn, inputs.size(), out, shape, strides,
                   [&](std::size_t i) { return inputs.begin()[i]; });
}

// int64 against uint64: no common dtype holds both, so signs are compared apart.
Ref<Node> mixed_compare_node(OpId fn, const Ref<Node>& a, const Ref<Node>& b, const Dims& shape,
                             const Dims& strides) {
  const bool signed_first = a->dtype == DType::Int64;
  const MixedCompare m = compare_signs(fn, signed_first);
  const Ref<Node>& s = signed_first ? a : b;
  const Ref<Node> sign =
      elementwise_node(m.sign_test, DType::Bool, shape, strides, {s, scalar_node(scalar_int(0))});
  const Ref<Node> both = elementwise_node(fn, DType::Bool, shape, strides,
                                          {as_dtype(a, DType::UInt64), as_dtype(b, DType::UInt64)});
  return elementwise_node(m.combine, DType::Bool, shape, strides, {sign, both});
}

DeviceId result_device(std::span<const Operand> operands) {
  for (const Operand& o : operands)
    if (o.array) return device_of(*o.array);
  return kAnyDevice;
}

// Whether the operation can raise a floating-point flag (integers: by a zero divisor).
bool may_raise(OpId fn, const LoopTypes& types) {
  if (types.out == DType::Bool) return false;
  return is_float(types.in[0]) || is_complex(types.in[0]) || fn == OpId::FloorDivide ||
         fn == OpId::Remainder || fn == OpId::Fmod || fn == OpId::Reciprocal;
}

// The operand where `where` holds, elsewhere a value that raises no flag: NumPy does not compute
// what is not selected.
Ref<Node> selected_node(OpId fn, Ref<Node> value, const Array& where, const Dims& shape) {
  Ref<Node> n = take_node(NodeKind::Elementwise);
  n->fn = OpId::Where;
  n->dtype = value->dtype;
  n->shape = shape;
  n->strides = contiguous_strides(shape, item_bytes(n->dtype));
  n->n_inputs = 3;
  n->inputs[0] = node_of(where);
  const int quiet = op_info(fn).flags & kPoleAtOne ? 0 : 1;
  n->inputs[2] = scalar_node(cast(scalar_int(quiet), n->dtype));
  n->inputs[1] = std::move(value);
  return record(std::move(n));
}

// Fresh memory of the value's layout, for a masked result.
Array uninitialised_like(const Node& value) {
  Ref<Node> memory = take_node(NodeKind::Data);
  memory->dtype = value.dtype;
  memory->shape = value.shape;
  memory->strides = value.strides;
  memory->data = allocate_array(value.shape, value.dtype, std::max(value.device, kHost));
  return wrap(record(std::move(memory)));
}

void check_masked(const OpInfo& info, const LoopTypes& types, const ElementwiseOptions& opt) {
  if (opt.where && opt.where->dtype != DType::Bool)
    throw DTypeError("Cannot cast array data from " + quoted(opt.where->dtype) + " to " +
                     quoted(DType::Bool) + " according to the rule 'safe'");
  if (opt.out && !can_cast(types.out, opt.out->dtype, opt.casting))
    throw DTypeError("Cannot cast ufunc '" + std::string(info.name) + "' output from " +
                     quoted(types.out) + " to " + quoted(opt.out->dtype) + " with casting rule '" +
                     std::string(casting_name(opt.casting)) + "'");
}

[[noreturn]] void throw_arity(const OpInfo& info) {
  throw ValueError("ufunc '" + std::string(info.name) + "' takes " + std::to_string(info.arity) +
                   " operands");
}

}  // namespace

// Logical functions ask only whether it is zero, so no integer is out of range for them.
Scalar loop_scalar(OpId fn, const Operand& o, DType to) {
  if (logical(fn) && o.weak == Weak::Int)
    return cast(scalar_bool(o.scalar.as<std::int64_t>() != 0), to);
  return checked_scalar(o.scalar, o.weak, to);
}

Array elementwise(OpId fn, std::span<const Operand> operands, const ElementwiseOptions& opt) {
  const OpInfo& info = op_info(fn);
  if (static_cast<int>(operands.size()) != info.arity) throw_arity(info);
  // NumPy looks at this before it looks at any dtype.
  if (opt.out && !opt.out->writeable) throw ValueError("output array is read-only");
  const Lock held = hold();
  const bool fresh = !opt.out && !opt.where;
  if (fresh && !opt.dtype && opt.order == 'K') {
    Dims joint;
    if (const PlainCall call = plain_call(fn, operands, joint); call.shape) {
      report_casts(fn, operands, *call.types);
      return fresh_elementwise(fn, operands, *call.types, *call.shape,
                               dense_strides(*call.shape, item_bytes(call.types->out), 'C'), true);
    }
  }

  if (opt.out && !opt.where && !opt.dtype && computed_in_place(fn, operands, *opt.out))
    return *opt.out;

  // Everything that can be wrong is found before anything is recorded.
  const std::optional<bool> constant =
      operands.size() == 2 ? out_of_range_comparison(fn, operands) : std::nullopt;
  const LoopTypes types = constant ? constant_types(operands) : loop_types(fn, operands, opt);
  if (!constant) check_inputs(fn, operands, types, opt.casting);
  if (!fresh) check_masked(info, types, opt);
  const Layouts layouts(operands, opt.where);
  const Dims shape = broadcast_all(operands, layouts, opt);
  for (std::size_t i = 0; !constant && i < operands.size(); ++i)
    if (!operands[i].array) loop_scalar(fn, operands[i], types.in[i]);
  if (!constant) report_casts(fn, operands, types);
  if (fn == OpId::Power) check_exponent(operands[1], types.in[1], shape, opt.where);

  const bool whole_out = opt.out && opt.out->shape == shape && opt.out->dtype == types.out;
  const Dims strides =
      whole_out && !opt.where && is_c_contiguous(*opt.out)
          ? opt.out->strides
          : result_strides(fn, operands, layouts, opt.where, shape, types, opt.order);
  if (fresh && !constant && !is_mixed_compare(types))
    return fresh_elementwise(fn, operands, types, shape, strides, !opt.dtype);

  bound_graph();
  const bool eager = surfaces_at_once(operands);
  Ref<Node> n;
  if (constant)
    n = fill_node(shape, strides, scalar_bool(*constant), result_device(operands));
  else if (operands.size() == 2 && is_mixed_compare(types))
    n = mixed_compare_node(fn, operand_node(fn, operands[0], types.in[0]),
                           operand_node(fn, operands[1], types.in[1]), shape, strides);
  else
    n = loop_node(fn, operands.size(), types.out, shape, strides, [&](std::size_t i) {
      Ref<Node> value = operand_node(fn, operands[i], types.in[i]);
      return opt.where && may_raise(fn, types)
                 ? selected_node(fn, std::move(value), *opt.where, shape)
                 : value;
    });
  if (fresh) {
    Array result = wrap(std::move(n), shape, strides);
    finish(result, eager);
    return result;
  }
  Array result = opt.out ? *opt.out : uninitialised_like(*n);
  store(result, std::move(n), opt.where ? node_of(*opt.where) : nullptr);
  finish(result, eager);
  return result;
}

Array power_operator(const Array& base, const Operand& exponent) {
  const Operand b(base);
  auto unary = [&](OpId fn) { return elementwise(fn, std::span(&b, 1)); };
  const bool inexact = (is_float(base.dtype) && !is_narrow(base.dtype)) || is_complex(base.dtype);
  if (!exponent.array && (exponent.weak == Weak::Int || exponent.weak == Weak::Float)) {
    const double e = exponent.weak == Weak::Int
                         ? static_cast<double>(exponent.scalar.as<std::int64_t>())
                         : exponent.scalar.as<double>();
    if (inexact) {
      if (e == 2.0) return unary(OpId::Square);
      if (e == 1.0) return unary(OpId::Positive);
      if (e == 0.5) return unary(OpId::Sqrt);
      if (e == -1.0 && (exponent.weak == Weak::Int || !is_complex(base.dtype)))
        return unary(OpId::Reciprocal);
    } else if (e == 2.0 && exponent.weak == Weak::Int) {
      return unary(OpId::Square);
    }
  }
  const Operand both[] = {b, exponent};
  return elementwise(OpId::Power, both);
}

namespace {
// A copy of few elements in memory, made at once.
Array copied_now(const Array& a, const Dims& strides) {
  Array made = fresh_array(a.dtype, a.shape, strides);
  give_memory(made);
  copy_elements(a, made);
  return made;
}
}  // namespace

Array astype(const Array& a, DType t, char order, bool copy_always) {
  const Lock held = hold();
  const std::int64_t from = item_bytes(a.dtype);
  if (!copy_always && a.dtype == t &&
      (order == 'K' || (order == 'A' && (is_c_contiguous(a) || is_f_contiguous(a))) ||
       (order == 'C' && is_c_contiguous(a)) || (order == 'F' && is_f_contiguous(a))))
    return a;
  const Dims strides = copy_strides(a.shape, a.strides, from, order);
  if (a.dtype == t && few(a.shape) && eager_limit() > 0 && context().evaluator && in_host_memory(a))
    return copied_now(a, strides);
  bound_graph();
  const Dims scaled = scaled_strides(a.shape, strides, from, item_bytes(t));
  const bool eager = eager_errors() || reads_export(a);
  Array result = wrap(cast_node(read(a), t, scaled));
  finish(result, eager);
  return result;
}

Array copy(const Array& a, char order) { return astype(a, a.dtype, order, true); }

}  // namespace plait::tracer
