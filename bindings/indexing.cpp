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

PyObject* take(PyObject*, Args args, Py_ssize_t n) {  // (a, indices, axis)
  if (!exact_count(n, 3)) return nullptr;
  return guarded_within_int64([&]() -> PyObject* {
    const auto a = parse_array(args[0]), indices = parse_indices(args[1]);
    bool known = false;
    const auto axis = axis_of(args[2], known);
    if (!a || !indices || !known) return not_implemented();
    return made_by({a->size(), indices->size()}, args,
                   [&] { return np::take(*a, *indices, axis); });
  });
}
PyObject* take_along_axis(PyObject*, Args args, Py_ssize_t n) {  // (a, indices, axis)
  if (!exact_count(n, 3)) return nullptr;
  return guarded_within_int64([&]() -> PyObject* {
    const auto a = parse_array(args[0]), indices = parse_array(args[1]);
    if (!a || !indices || !has_index(args[2])) return not_implemented();
    const std::int64_t axis = integer(args[2]);
    return made_by({a->size(), indices->size()}, args,
                   [&] { return np::take_along_axis(*a, *indices, axis); });
  });
}
PyObject* put_along_axis(PyObject*, Args args, Py_ssize_t n) {  // (a, indices, values, axis)
  if (!exact_count(n, 4)) return nullptr;
  return guarded_within_int64([&]() -> PyObject* {
    const auto a = parse_array(args[0]), indices = parse_array(args[1]), v = parse_array(args[2]);
    if (!a || !indices || !v || !has_index(args[3]) ||
        !can_cast(v->dtype, a->dtype, Casting::SameKind))
      return not_implemented();
    const std::int64_t axis = integer(args[3]);
    bool done = false;
    without_gil_if_long({a->size(), indices->size()},
                        [&] { done = np::put_along_axis(*a, *indices, *v, axis); });
    return done ? Py_NewRef(Py_None) : not_implemented();
  });
}
PyObject* compress(PyObject*, Args args, Py_ssize_t n) {  // (mask, a, axis)
  if (!exact_count(n, 3)) return nullptr;
  return guarded_within_int64([&]() -> PyObject* {
    const auto mask = parse_indices(args[0]), a = parse_array(args[1]);
    bool known = false;
    const auto axis = axis_of(args[2], known);
    if (!a || !mask || !known) return not_implemented();
    return made_by({a->size(), mask->size()}, args + 1,
                   [&] { return np::compress(*mask, *a, axis); });
  });
}
PyObject* argwhere(PyObject*, Args args, Py_ssize_t n) {  // (a)
  if (!exact_count(n, 1)) return nullptr;
  return guarded([&]() -> PyObject* {
    const auto a = parse_array(args[0]);
    if (!a) return not_implemented();
    std::optional<tracer::Array> made;
    without_gil_if_long({a->size()}, [&] { made = np::argwhere(*a, np::Coordinates::ByAxis); });
    return made ? wrap(std::move(*made)) : not_implemented();
  });
}
PyObject* nonzero(PyObject*, Args args, Py_ssize_t n) {  // (a)
  if (!exact_count(n, 1)) return nullptr;
  return guarded([&]() -> PyObject* {
    const auto a = parse_array(args[0]);
    if (!a) return not_implemented();
    std::optional<tracer::Array> made;
    without_gil_if_long({a->size()},
                        [&] { made = np::argwhere(*a, np::Coordinates::Interleaved); });
    if (!made) return not_implemented();
    Owned all(check(PyTuple_New(a->ndim())));
    for (int d = 0; d < a->ndim(); ++d) {
      const tracer::Index column[] = {tracer::All{}, std::int64_t{d}};
      PyTuple_SET_ITEM(all.get(), d, wrap(tracer::slice(*made, column)));
    }
    return all.release();
  });
}
PyObject* ufunc_at(PyObject*, Args args, Py_ssize_t n) {  // (name, a, key, value)
  if (!exact_count(n, 4)) return nullptr;
  return guarded([&]() -> PyObject* {
    const char* name = PyUnicode_AsUTF8(args[0]);
    if (!name) throw PythonError{};
    const OpId fn = find_op(name);
    const auto a = parse_array(args[1]);
    const auto key = parse_advanced(args[2]);
    OperandHolder value;
    if (fn == OpId::Count_ || !a || !key || parse_operand(args[3], value) == Parsed::Fallback)
      return not_implemented();
    bool done = false;
    without_gil_if_long({a->size(), longest(*key)},
                        [&] { done = np::at(fn, *a, *key, *value.operand); });
    return done ? Py_NewRef(Py_None) : not_implemented();
  });
}
PyObject* bincount(PyObject*, Args args, Py_ssize_t n) {  // (x, weights, minlength)
  if (!exact_count(n, 3)) return nullptr;
  return guarded_within_int64([&]() -> PyObject* {
    const auto x = parse_array(args[0]);
    std::optional<tracer::Array> weights;
    if (args[1] != Py_None && !(weights = parse_array(args[1]))) return not_implemented();
    if (!x || !has_index(args[2])) return not_implemented();
    const std::int64_t least = integer(args[2]);
    return made_by({x->size()}, args,
                   [&] { return np::bincount(*x, weights ? &*weights : nullptr, least); });
  });
}
PyObject* extremes(PyObject*, Args args, Py_ssize_t n) {  // (a) -> least and greatest, one pass
  if (!exact_count(n, 1)) return nullptr;
  return guarded([&]() -> PyObject* {
    const auto a = parse_array(args[0]);
    if (!a) return not_implemented();
    const tracer::Array both[] = {tracer::reduce(ReduceKind::Min, *a),
                                  tracer::reduce(ReduceKind::Max, *a), *a};
    without_gil([&] { tracer::evaluate(both); });
    const Owned low(python_number(item(both[0]))), high(python_number(item(both[1])));
    return check(PyTuple_Pack(2, low.get(), high.get()));
  });
}
PyObject* histogram(PyObject*, Args args, Py_ssize_t n) {  // (a, edges)
  if (!exact_count(n, 2)) return nullptr;
  return guarded([&]() -> PyObject* {
    const auto a = parse_array(args[0]), edges = parse_array(args[1]);
    if (!a || !edges) return not_implemented();
    return made_by({a->size()}, args, [&] { return np::histogram(*a, *edges); });
  });
}

}  // namespace

PyMethodDef indexing_functions[] = {{"take", c(take), METH_FASTCALL, nullptr},
                                    {"take_along_axis", c(take_along_axis), METH_FASTCALL, nullptr},
                                    {"put_along_axis", c(put_along_axis), METH_FASTCALL, nullptr},
                                    {"compress", c(compress), METH_FASTCALL, nullptr},
                                    {"argwhere", c(argwhere), METH_FASTCALL, nullptr},
                                    {"nonzero", c(nonzero), METH_FASTCALL, nullptr},
                                    {"ufunc_at", c(ufunc_at), METH_FASTCALL, nullptr},
                                    {"bincount", c(bincount), METH_FASTCALL, nullptr},
                                    {"extremes", c(extremes), METH_FASTCALL, nullptr},
                                    {"histogram", c(histogram), METH_FASTCALL, nullptr},
                                    {nullptr, nullptr, 0, nullptr}};

}  // namespace plait::py
