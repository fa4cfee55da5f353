// Rows of the table of calls for the Python half of the package, and the scans.
#include "tracer/calls.hpp"
#include "functions.hpp"
#include "tracer/device.hpp"

#include <cmath>

namespace plait::py {
namespace {

OpId op_named(PyObject* name) { return find_op(utf8(name)); }

// call(name, arrays, numbers=(), fn=None, order="C"): the result of a row of calls.def, or a tuple
// of several. NotImplemented when the arrays are not the engine's.
PyObject* call(PyObject*, Args args, Py_ssize_t n) {
  if (n < 2 || n > 5) {
    exact_count(n, 5);
    return nullptr;
  }
  return guarded([&]() -> PyObject* {
    const char* const name = utf8(args[0]);
    const CallId id = find_call(name);
    if (id == kNoCall) throw plait::ValueError("there is no call " + std::string(name));
    std::vector<tracer::Array> inputs;
    Owned items(check(PySequence_Tuple(args[1])));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.get()); ++i) {
      auto a = parse_array(PyTuple_GET_ITEM(items.get(), i));
      if (!a) return not_implemented();
      inputs.push_back(std::move(*a));
    }
    CallAttributes attributes;
    if (n > 2) attributes.numbers = *parse_axes(args[2], Axes::List);
    if (n > 3 && args[3] != Py_None) attributes.fn = op_named(args[3]);
    auto results = tracer::call(id, inputs, attributes, n > 4 ? order_of(args[4]) : 'C');
    if (results.size() == 1)
      return wrap_returned(std::move(results[0]), &PyTuple_GET_ITEM(items.get(), 0),
                           inputs.empty() ? 0 : 1);
    Owned tuple(check(PyTuple_New(static_cast<Py_ssize_t>(results.size()))));
    for (std::size_t i = 0; i < results.size(); ++i)
      PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i),
                       wrap_returned(std::move(results[i]), &PyTuple_GET_ITEM(items.get(), 0), 1));
    return tuple.release();
  });
}

// accumulate(ufunc's name, a, axis, dtype, out); without an axis all elements in C order, as
// cumsum.
PyObject* accumulate(Exactly<5>& args) {
  const OpId fn = op_named(args[0]);
  if (fn == OpId::Count_ || overrides_ufuncs(args[1]) || overrides_ufuncs(args[4]))
    return not_implemented();
  auto a = parse_array(args[1]);
  if (!a) return not_implemented();
  tracer::AccumulateOptions opt;
  if (args[3] != Py_None) {
    opt.dtype = parse_dtype(args[3]);
    if (!opt.dtype) return not_implemented();
  }
  if (args[4] != Py_None) {
    if (!is_array(args[4]) || as_array(args[4])->host) return not_implemented();
    opt.out = &as_array(args[4])->array;
  }
  std::int64_t axis = 0;
  if (args[2] == Py_None) {
    if (a->ndim() != 1) a = tracer::reshape(*a, Dims{a->size()});
  } else if (has_index(args[2])) {
    axis = integer(args[2]);
  } else {
    return not_implemented();
  }
  return or_numpy([&]() -> PyObject* {
    const auto type = tracer::accumulation_dtype(fn, a->dtype, opt);
    if (!type || a->ndim() == 0 || drops_imaginary(a->dtype, *type)) return not_implemented();
    // NumPy casts through a buffer.
    if (opt.out && opt.out->dtype != *type) return not_implemented();
    tracer::Array made = tracer::accumulate(fn, *a, axis, opt);
    if (opt.out) return Py_NewRef(args[4]);
    return wrap_like(std::move(made), args + 1, 1);
  });
}

// reduceat(kind, a, indices, axis, dtype)
PyObject* reduceat(Exactly<5>& args) {
  if (overrides_ufuncs(args[1]) || !has_index(args[3])) return not_implemented();
  auto a = parse_array(args[1]);
  auto indices = parse_array(args[2]);
  std::optional<DType> dtype;
  if (args[4] != Py_None) {
    dtype = parse_dtype(args[4]);
    if (!dtype) return not_implemented();
  }
  if (!a || !indices || a->ndim() == 0 || indices->ndim() != 1) return not_implemented();
  if (kind(indices->dtype) != Kind::Signed) return not_implemented();
  if (tracer::device_of(*a) != kHost || tracer::device_of(*indices) != kHost)
    return not_implemented();
  const auto kind = static_cast<ReduceKind>(integer(args[0]));
  const std::int64_t axis = integer(args[3]);
  if (axis < -a->ndim() || axis >= a->ndim()) return not_implemented();
  return or_numpy([&]() -> PyObject* {
    tracer::ReduceOptions types;
    types.dtype = dtype;
    const DType t = tracer::reduction_dtype(kind, a->dtype, types);
    // Half sums are NumPy's, which keeps them in single precision.
    if (drops_imaginary(a->dtype, t) || t == DType::Float16) return not_implemented();
    if (indices->dtype != DType::Int64) indices = tracer::astype(*indices, DType::Int64);
    return wrap_like(tracer::reduceat(reduce_info(kind).combine, *a, *indices, axis, dtype),
                     args + 1, 1);
  });
}

}  // namespace

PyMethodDef call_functions[] = {
    {"call", c(call), METH_FASTCALL, nullptr},
    row<accumulate, Beyond::NumPys>("accumulate"),
    row<reduceat, Beyond::NumPys>("reduceat"),
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace plait::py
