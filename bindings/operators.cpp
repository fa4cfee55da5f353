// Number and comparison slots of plait.ndarray and of lazy scalars. Operands the engine covers go
// straight to the recorder; everything else goes to NumPy through the fallback hooks.
#include "operators.hpp"
#include "core/fixed_size.hpp"
#include "functions.hpp"
#include "ndarray.hpp"
#include "temporaries.hpp"
#include "tracer/capture.hpp"
#include "tracer/device.hpp"

#include <cstring>
#include <optional>

namespace plait::py {

void raise_dtype_error(OpId fn, PyObject* args, PyObject* kwargs) {
  // NumPy words these errors from its ufunc objects and raises subclasses of TypeError: let it.
  Owned name(PyUnicode_FromStringAndSize(op_info(fn).name.data(),
                                         static_cast<Py_ssize_t>(op_info(fn).name.size())));
  Owned none(call_hook(hooks.dtype_error, check(name.get()), args, kwargs));
}

bool is_numpys_comparison(OpId fn, std::span<const tracer::Operand> operands) {
  if (fn != OpId::Less && fn != OpId::LessEqual && fn != OpId::Greater && fn != OpId::GreaterEqual)
    return false;
  if (tracer::capture()) return false;
  bool complex = false;
  for (const tracer::Operand& o : operands) {
    complex |= is_complex(o.array ? o.array->dtype : o.scalar.dtype);
    if (o.array && tracer::device_of(*o.array) != kHost) return false;
  }
  return complex;
}

namespace {

PyObject* op_name(OpId fn) {  // borrowed, interned
  static PyObject* names[kOpCount] = {};
  PyObject*& n = names[static_cast<int>(fn)];
  if (!n) {
    Owned text(PyUnicode_FromStringAndSize(op_info(fn).name.data(),
                                           static_cast<Py_ssize_t>(op_info(fn).name.size())));
    n = text.release();
    PyUnicode_InternInPlace(&n);
  }
  return n;
}

tracer::Array run(OpId fn, std::span<const tracer::Operand> operands, PyObject* a, PyObject* b,
                  const tracer::ElementwiseOptions& opt = {}) {
  try {
    return tracer::elementwise(fn, operands, opt);
  } catch (const DTypeError&) {
    Owned args(b ? PyTuple_Pack(2, a, b) : PyTuple_Pack(1, a));
    Owned kwargs(PyDict_New());
    if (opt.out) check(PyDict_SetItemString(kwargs.get(), "out", a));
    raise_dtype_error(fn, check(args.get()), check(kwargs.get()));
    throw;
  }
}

// NumPy's float64 is a Python float: a Python complex in front of one computes itself and stays a
// Python complex. nullptr where that is not so, or where it would not compute.
PyObject* (*computed_by_complex(OpId fn, PyObject* a, PyObject* b))(PyObject*, PyObject*) {
  if (!PyComplex_CheckExact(a) || !is_lazy(b) || as_lazy(b)->array.dtype != DType::Float64)
    return nullptr;
  switch (fn) {
    case OpId::Add:
      return PyNumber_Add;
    case OpId::Subtract:
      return PyNumber_Subtract;
    case OpId::Multiply:
      return PyNumber_Multiply;
    case OpId::Divide:
      return PyNumber_TrueDivide;
    case OpId::Power:
      return [](PyObject* x, PyObject* y) { return PyNumber_Power(x, y, Py_None); };
    default:
      return nullptr;
  }
}

// What NumPy computes of arrays of dtypes that only it has, among themselves and with numbers and
// texts: nobody else is to be asked. Objects are, and may hold arrays.
bool is_numpys_alone(PyObject* a, PyObject* b) {
  bool host = false;
  for (PyObject* o : {a, b}) {
    if (Py_TYPE(o) == array_type) {
      auto* const theirs = reinterpret_cast<PyArrayObject*>(as_array(o)->host);
      if (theirs && PyDataType_REFCHK(PyArray_DESCR(theirs))) return false;
      host |= theirs != nullptr;
    } else if (!PyFloat_CheckExact(o) && !PyLong_CheckExact(o) && !PyUnicode_CheckExact(o) &&
               !PyBytes_CheckExact(o) && !PyArray_IsScalar(o, Generic)) {
      return false;
    }
  }
  return host && !noting_fallbacks();
}
// Python's operator, as plait/_fallback.py names it; `table` is there for as long as the module.
PyObject* pythons_operator(OpId fn, const char* table) {
  const Owned module(check(PyImport_ImportModule("plait._fallback")));
  const Owned all(check(PyObject_GetAttrString(module.get(), table)));
  PyObject* const found = PyDict_GetItemWithError(all.get(), op_name(fn));
  if (!found && PyErr_Occurred()) throw PythonError{};
  return found;
}
PyObject* binary_fallback(OpId fn, PyObject* a, PyObject* b, bool in_place) {
  static PyObject* known[2][kOpCount] = {};
  if (is_numpys_alone(a, b)) {
    PyObject*& compute = known[in_place][static_cast<int>(fn)];
    if (!compute) compute = pythons_operator(fn, in_place ? "_INPLACE" : "_OPERATORS");
    PyObject* const both[] = {a, b};
    if (compute) return by_numpy(compute, Py_None, both, 2, nullptr);
  }
  PyObject* const made =
      check(call_hook(hooks.binary, op_name(fn), a, b, in_place ? Py_True : Py_False));
  PyObject* const both[] = {a, b};
  return !in_place && any_standard(both, 2) ? as_standard(made, is_array(a) ? a : b) : made;
}

}  // namespace

PyObject* binary_op(OpId fn, PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    if (auto* compute = computed_by_complex(fn, a, b))
      return check(compute(a, lazy_value(as_lazy(b))));
    OperandHolder x, y;
    if (parse_operand(a, x) == Parsed::Fallback || parse_operand(b, y) == Parsed::Fallback)
      return binary_fallback(fn, a, b, false);
    const tracer::Operand operands[] = {*x.operand, *y.operand};
    if (is_numpys_comparison(fn, operands)) return binary_fallback(fn, a, b, false);
    PyObject* both[] = {a, b};
    return wrap_like(run(fn, operands, a, b), both, 2);
  });
}

PyObject* inplace_op(OpId fn, PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    OperandHolder x, y;
    if (parse_operand(a, x) == Parsed::Fallback || parse_operand(b, y) == Parsed::Fallback)
      return binary_fallback(fn, a, b, true);
    const tracer::Operand operands[] = {*x.operand, *y.operand};
    tracer::ElementwiseOptions opt;
    opt.out = &as_array(a)->array;
    run(fn, operands, a, b, opt);
    return Py_NewRef(a);
  });
}

PyObject* unary_op(OpId fn, PyObject* a) {
  return guarded([&]() -> PyObject* {
    OperandHolder x;
    if (parse_operand(a, x) == Parsed::Fallback) {
      PyObject* const made = check(call_hook(hooks.unary, op_name(fn), a, Py_False));
      return is_standard(a) ? as_standard(made, a) : made;
    }
    return wrap_like(run(fn, std::span(&*x.operand, 1), a, nullptr), &a, 1);
  });
}

PyObject* rich_compare(PyObject* a, PyObject* b, int op) {
  constexpr OpId ids[] = {OpId::Less,     OpId::LessEqual, OpId::Equal,
                          OpId::NotEqual, OpId::Greater,   OpId::GreaterEqual};
  return binary_op(ids[op], a, b);
}

namespace {

// NumPy takes x**2, x**0.5, x**-1 and x**1 to other ufuncs when the exponent is a Python number:
// the one for `a ** b`, or Power.
OpId power_ufunc(PyObject* a, PyObject* b) {
  const bool is_float = PyFloat_CheckExact(b), is_int = PyLong_CheckExact(b);
  if (!(is_float || is_int) || !is_array(a) || as_array(a)->host) return OpId::Power;
  const DType t = as_array(a)->array.dtype;
  const bool inexact = (plait::is_float(t) || is_complex(t)) && !is_narrow(t);
  const double e = is_float ? PyFloat_AS_DOUBLE(b) : PyLong_AsDouble(b);
  if (e == -1.0 && PyErr_Occurred()) PyErr_Clear();
  if (overrides_ufuncs(a)) {  // who is told of the ufunc is told of NumPy's choice
    if (e == 2.0 && is_int) return OpId::Square;
    if (e == 0.5 && inexact) return OpId::Sqrt;
    return e == -1.0 && is_int && inexact ? OpId::Reciprocal : OpId::Power;
  }
  if (e == 2.0 && (inexact || is_int)) return OpId::Square;
  if (inexact) {
    if (e == 1.0) return OpId::Positive;
    if (e == -1.0 && (is_int || !is_complex(t))) return OpId::Reciprocal;
    if (e == 0.5) return OpId::Sqrt;
  }
  return OpId::Power;
}
// NumPy calls its own choice for a float exponent "power" all the same, unless it is sqrt.
class NamedPower {
 public:
  NamedPower(OpId fn, PyObject* exponent) {
    if (fn != OpId::Sqrt && PyFloat_CheckExact(exponent)) named_.emplace(tracer::NamedAs::Power);
  }

 private:
  std::optional<tracer::Naming> named_;
};
PyObject* power(PyObject* a, PyObject* b, PyObject* modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  const OpId fn = power_ufunc(a, b);
  const NamedPower named(fn, b);
  return fn == OpId::Power ? binary_op(fn, a, b) : unary_op(fn, a);
}
PyObject* inplace_power(PyObject* a, PyObject* b, PyObject*) {
  const OpId fn = power_ufunc(a, b);
  const NamedPower named(fn, b);
  if (fn == OpId::Power) return inplace_op(fn, a, b);
  return guarded([&]() -> PyObject* {
    if (overrides_ufuncs(a)) return call_hook(hooks.unary, op_name(fn), a, Py_True);
    const tracer::Operand operand(as_array(a)->array);
    tracer::ElementwiseOptions opt;
    opt.out = &as_array(a)->array;
    run(fn, std::span(&operand, 1), a, nullptr, opt);
    return Py_NewRef(a);
  });
}

// Two operations, which warn by the name of the one that they are to NumPy.
PyObject* divmod(PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    static PyObject* const name = PyUnicode_InternFromString("divmod");
    OperandHolder x, y;
    if (overrides_ufuncs(a) || overrides_ufuncs(b) || parse_operand(a, x) == Parsed::Fallback ||
        parse_operand(b, y) == Parsed::Fallback)
      return call_hook(hooks.binary, name, a, b, Py_False);
    const tracer::Operand operands[] = {*x.operand, *y.operand};
    PyObject* both[] = {a, b};
    try {
      const tracer::Naming named(tracer::NamedAs::Divmod);
      const Owned q(wrap_like(tracer::elementwise(OpId::FloorDivide, operands), both, 2));
      const Owned r(wrap_like(tracer::elementwise(OpId::Remainder, operands), both, 2));
      return check(PyTuple_Pack(2, q.get(), r.get()));
    } catch (const DTypeError&) {
      return call_hook(hooks.binary, name, a, b, Py_False);
    }
  });
}

PyObject* matmul(PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    OperandHolder x, y;
    bool native = parse_operand(a, x) == Parsed::Operand && parse_operand(b, y) == Parsed::Operand;
    static PyObject* const name = PyUnicode_InternFromString("matmul");
    if (!native || !x.operand->array || !y.operand->array)
      return call_hook(hooks.binary, name, a, b, Py_False);
    PyObject* both[] = {a, b};
    const Temporaries temporaries(both, 2);
    return wrap_like(tracer::matmul(*x.operand->array, *y.operand->array), both, 2);
  });
}
PyObject* inplace_matmul(PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    static PyObject* const name = PyUnicode_InternFromString("matmul");
    return call_hook(hooks.binary, name, a, b, Py_True);
  });
}

// Python's conversions go through NumPy's array, which words the errors.
Owned as_numpy(PyObject* self) {
  ArrayObject* a = as_array(self);
  if (a->host || a->array.ndim() > 0) return Owned(to_numpy(a));
  Owned scalar(wrap_scalar(item(a->array)));
  return Owned(check(PyArray_FromScalar(scalar.get(), nullptr)));
}
// The element of an array without axes that is in memory: nothing is computed, no guarded() is
// needed.
std::optional<Scalar> only_element_now(PyObject* self) {
  const tracer::Array& a = as_array(self)->array;
  if (!a || a.ndim() != 0 || events_pending.load(std::memory_order_relaxed)) return std::nullopt;
  const std::byte* const at = tracer::peek(a, {});
  if (!at) return std::nullopt;
  Scalar s;
  s.dtype = a.dtype;
  with_fixed_size(itemsize(a.dtype), [&](auto n) { std::memcpy(s.bytes, at, n); });
  return s;
}
PyObject* python_int(const Scalar& s) {
  return kind(s.dtype) == Kind::Signed
             ? PyLong_FromLongLong(cast(s, DType::Int64).as<std::int64_t>())
             : PyLong_FromUnsignedLongLong(cast(s, DType::UInt64).as<std::uint64_t>());
}

int to_bool(PyObject* self) {
  if (const auto now = only_element_now(self)) return cast(*now, DType::Bool).bytes[0] != 0;
  return guarded_int([&]() -> int {
    ArrayObject* a = as_array(self);
    if (!a->host) {
      std::int64_t n = a->array.size();
      if (n == 1) {
        Scalar s = cast(item(a->array), DType::Bool);
        return s.bytes[0] != 0;
      }
      if (n > 1)
        raise_error(PyExc_ValueError,
                    "The truth value of an array with more than one element is ambiguous. Use "
                    "a.any() or a.all()");
    }
    return PyObject_IsTrue(as_numpy(self).get());
  });
}
PyObject* to_int(PyObject* self) {
  if (const auto now = only_element_now(self); now && is_integer(now->dtype))
    return python_int(*now);
  return guarded([&] {
    const tracer::Array& a = as_array(self)->array;
    if (a && a.ndim() == 0 && kind(a.dtype) == Kind::Signed)
      return check(PyLong_FromLongLong(cast(item(a), DType::Int64).as<std::int64_t>()));
    return check(PyNumber_Long(as_numpy(self).get()));
  });
}
PyObject* to_float(PyObject* self) {
  if (const auto now = only_element_now(self); now && !is_complex(now->dtype))
    return PyFloat_FromDouble(cast(*now, DType::Float64).as<double>());
  return guarded([&] {
    const tracer::Array& a = as_array(self)->array;
    if (a && a.ndim() == 0 && !is_complex(a.dtype))
      return check(PyFloat_FromDouble(cast(item(a), DType::Float64).as<double>()));
    return check(PyNumber_Float(as_numpy(self).get()));
  });
}
PyObject* to_index(PyObject* self) {
  if (const auto now = only_element_now(self); now && is_integer(now->dtype))
    return python_int(*now);
  return guarded([&]() -> PyObject* {
    ArrayObject* a = as_array(self);
    if (a->host) return check(PyNumber_Index(a->host));
    if (a->array.ndim() != 0 || !is_integer(a->array.dtype))
      raise_error(PyExc_TypeError, "only integer scalar arrays can be converted to a scalar index");
    return check(python_int(item(a->array)));
  });
}

template <OpId fn>
PyObject* slot2(PyObject* a, PyObject* b) {
  return binary_op(fn, a, b);
}
template <OpId fn>
PyObject* slot2_in(PyObject* a, PyObject* b) {
  return inplace_op(fn, a, b);
}
template <OpId fn>
PyObject* slot1(PyObject* a) {
  return unary_op(fn, a);
}
template <class F>
void* p(F* f) {
  return reinterpret_cast<void*>(f);
}

}  // namespace

#define PLAIT_ARITHMETIC_SLOTS                                                                 \
  {Py_nb_add, p(slot2<OpId::Add>)}, {Py_nb_subtract, p(slot2<OpId::Subtract>)},                \
      {Py_nb_multiply, p(slot2<OpId::Multiply>)}, {Py_nb_true_divide, p(slot2<OpId::Divide>)}, \
      {Py_nb_floor_divide, p(slot2<OpId::FloorDivide>)},                                       \
      {Py_nb_remainder, p(slot2<OpId::Remainder>)}, {Py_nb_divmod, p(divmod)},                 \
      {Py_nb_power, p(power)}, {Py_nb_and, p(slot2<OpId::BitwiseAnd>)},                        \
      {Py_nb_or, p(slot2<OpId::BitwiseOr>)}, {Py_nb_xor, p(slot2<OpId::BitwiseXor>)},          \
      {Py_nb_lshift, p(slot2<OpId::LeftShift>)}, {Py_nb_rshift, p(slot2<OpId::RightShift>)},   \
      {Py_nb_negative, p(slot1<OpId::Negative>)}, {Py_nb_positive, p(slot1<OpId::Positive>)},  \
      {Py_nb_absolute, p(slot1<OpId::Absolute>)}, {Py_nb_invert, p(slot1<OpId::Invert>)}, {    \
    Py_tp_richcompare, p(rich_compare)                                                         \
  }

PyType_Slot number_slots[] = {PLAIT_ARITHMETIC_SLOTS,
                              {Py_nb_inplace_add, p(slot2_in<OpId::Add>)},
                              {Py_nb_inplace_subtract, p(slot2_in<OpId::Subtract>)},
                              {Py_nb_inplace_multiply, p(slot2_in<OpId::Multiply>)},
                              {Py_nb_inplace_true_divide, p(slot2_in<OpId::Divide>)},
                              {Py_nb_inplace_floor_divide, p(slot2_in<OpId::FloorDivide>)},
                              {Py_nb_inplace_remainder, p(slot2_in<OpId::Remainder>)},
                              {Py_nb_inplace_power, p(inplace_power)},
                              {Py_nb_inplace_and, p(slot2_in<OpId::BitwiseAnd>)},
                              {Py_nb_inplace_or, p(slot2_in<OpId::BitwiseOr>)},
                              {Py_nb_inplace_xor, p(slot2_in<OpId::BitwiseXor>)},
                              {Py_nb_inplace_lshift, p(slot2_in<OpId::LeftShift>)},
                              {Py_nb_inplace_rshift, p(slot2_in<OpId::RightShift>)},
                              {Py_nb_matrix_multiply, p(matmul)},
                              {Py_nb_inplace_matrix_multiply, p(inplace_matmul)},
                              {Py_nb_bool, p(to_bool)},
                              {Py_nb_int, p(to_int)},
                              {Py_nb_float, p(to_float)},
                              {Py_nb_index, p(to_index)},
                              {0, nullptr}};

PyType_Slot lazy_number_slots[] = {PLAIT_ARITHMETIC_SLOTS, {0, nullptr}};

}  // namespace plait::py
