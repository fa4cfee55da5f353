// Functions that take indices and masks, for the Python half of the package. NotImplemented:
// NumPy's to do.
#include "advanced_key.hpp"
#include "functions.hpp"

#include <string_view>

namespace plait::py {
namespace {

namespace np = plait::numpy;

// The result of f(), which takes as long as arrays of these sizes do; NotImplemented for none.
template <class F>
PyObject* made_by(std::initializer_list<std::int64_t> sizes, PyObject* const* args, F&& f) {
  std::optional<tracer::Array> made;
  without_gil_if_long(sizes, [&] { made = f(); });
  return made ? wrap_like(std::move(*made), args, 1) : not_implemented();
}

std::optional<std::int64_t> axis_of(PyObject* o, bool& known) {
  known = o == Py_None || has_index(o);
  if (!known || o == Py_None) return std::nullopt;
  return integer(o);
}

PyObject* take(Exactly<3>& args) {  // (a, indices, axis)
  const auto a = parse_array(args[0]), indices = parse_indices(args[1]);
  bool known = false;
  const auto axis = axis_of(args[2], known);
  if (!a || !indices || !known) return not_implemented();
  return made_by({a->size(), indices->size()}, args, [&] { return np::take(*a, *indices, axis); });
}
PyObject* take_along_axis(Exactly<3>& args) {  // (a, indices, axis)
  const auto a = parse_array(args[0]), indices = parse_array(args[1]);
  if (!a || !indices || !has_index(args[2])) return not_implemented();
  const std::int64_t axis = integer(args[2]);
  return made_by({a->size(), indices->size()}, args,
                 [&] { return np::take_along_axis(*a, *indices, axis); });
}
PyObject* put_along_axis(Exactly<4>& args) {  // (a, indices, values, axis)
  const auto a = parse_array(args[0]), indices = parse_array(args[1]), v = parse_array(args[2]);
  if (!a || !indices || !v || !has_index(args[3]) ||
      !can_cast(v->dtype, a->dtype, Casting::SameKind))
    return not_implemented();
  const std::int64_t axis = integer(args[3]);
  bool done = false;
  without_gil_if_long({a->size(), indices->size()},
                      [&] { done = np::put_along_axis(*a, *indices, *v, axis); });
  return done ? Py_NewRef(Py_None) : not_implemented();
}
PyObject* compress(Exactly<3>& args) {  // (mask, a, axis)
  const auto mask = parse_indices(args[0]), a = parse_array(args[1]);
  bool known = false;
  const auto axis = axis_of(args[2], known);
  if (!a || !mask || !known) return not_implemented();
  return made_by({a->size(), mask->size()}, args + 1,
                 [&] { return np::compress(*mask, *a, axis); });
}
PyObject* argwhere(Exactly<1>& args) {  // (a)
  const auto a = parse_array(args[0]);
  if (!a) return not_implemented();
  std::optional<tracer::Array> made;
  without_gil_if_long({a->size()}, [&] { made = np::argwhere(*a, np::Coordinates::ByAxis); });
  return made ? wrap(std::move(*made)) : not_implemented();
}
PyObject* nonzero(Exactly<1>& args) {  // (a)
  const auto a = parse_array(args[0]);
  if (!a) return not_implemented();
  std::optional<tracer::Array> made;
  without_gil_if_long({a->size()}, [&] { made = np::argwhere(*a, np::Coordinates::Interleaved); });
  if (!made) return not_implemented();
  Owned all(check(PyTuple_New(a->ndim())));
  for (int d = 0; d < a->ndim(); ++d) {
    const tracer::Index column[] = {tracer::All{}, std::int64_t{d}};
    PyTuple_SET_ITEM(all.get(), d, wrap(tracer::slice(*made, column)));
  }
  return all.release();
}
PyObject* ufunc_at(Exactly<4>& args) {  // (name, a, key, value)
  const OpId fn = find_op(utf8(args[0]));
  const auto a = parse_array(args[1]);
  const auto key = parse_advanced(args[2]);
  OperandHolder value;
  if (fn == OpId::Count_ || !a || !key || parse_operand(args[3], value) == Parsed::Fallback)
    return not_implemented();
  bool done = false;
  without_gil_if_long({a->size(), longest(*key)},
                      [&] { done = np::at(fn, *a, *key, *value.operand); });
  return done ? Py_NewRef(Py_None) : not_implemented();
}
PyObject* bincount(Exactly<3>& args) {  // (x, weights, minlength)
  const auto x = parse_array(args[0]);
  std::optional<tracer::Array> weights;
  if (args[1] != Py_None && !(weights = parse_array(args[1]))) return not_implemented();
  if (!x || !has_index(args[2])) return not_implemented();
  const std::int64_t least = integer(args[2]);
  return made_by({x->size()}, args,
                 [&] { return np::bincount(*x, weights ? &*weights : nullptr, least); });
}
PyObject* extremes(Exactly<1>& args) {  // (a) -> least and greatest, one pass
  const auto a = parse_array(args[0]);
  if (!a) return not_implemented();
  const tracer::Array both[] = {tracer::reduce(ReduceKind::Min, *a),
                                tracer::reduce(ReduceKind::Max, *a), *a};
  without_gil([&] { tracer::evaluate(both); });
  const Owned low(python_number(item(both[0]))), high(python_number(item(both[1])));
  return check(PyTuple_Pack(2, low.get(), high.get()));
}
PyObject* histogram(Exactly<2>& args) {  // (a, edges)
  const auto a = parse_array(args[0]), edges = parse_array(args[1]);
  if (!a || !edges) return not_implemented();
  return made_by({a->size()}, args, [&] { return np::histogram(*a, *edges); });
}

}  // namespace

PyMethodDef indexing_functions[] = {row<take, Beyond::NumPys>("take"),
                                    row<take_along_axis, Beyond::NumPys>("take_along_axis"),
                                    row<put_along_axis, Beyond::NumPys>("put_along_axis"),
                                    row<compress, Beyond::NumPys>("compress"),
                                    row<argwhere>("argwhere"),
                                    row<nonzero>("nonzero"),
                                    row<ufunc_at>("ufunc_at"),
                                    row<bincount, Beyond::NumPys>("bincount"),
                                    row<extremes>("extremes"),
                                    row<histogram>("histogram"),
                                    {nullptr, nullptr, 0, nullptr}};

}  // namespace plait::py
