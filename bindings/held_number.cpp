// Numbers of Python's and NumPy's that an array holds as they are, or rounded as floats are: what
// is stored to single elements most.
#include <cmath>
#include <cstring>

#include "functions.hpp"

namespace plait::py {
namespace {

// What a number is, without looking for whatever else could be one.
std::optional<Scalar> exact_number(PyObject* o) {
  PyTypeObject* const type = Py_TYPE(o);
  if (type == &PyFloat_Type) return scalar_float(PyFloat_AS_DOUBLE(o));
  if (type == &PyLong_Type) {
    int overflow;
    const std::int64_t v = PyLong_AsLongLongAndOverflow(o, &overflow);
    return overflow ? std::nullopt : std::optional(scalar_int(v));
  }
  if (type == &PyBool_Type) return scalar_bool(o == Py_True);
  if (type == &PyDoubleArrType_Type) return scalar_float(PyArrayScalar_VAL(o, Double));
  static const struct {
    PyTypeObject* type;
    DType dtype;
  } numpys[] = {{&PyLongArrType_Type, DType::Int64},  {&PyIntArrType_Type, DType::Int32},
                {&PyBoolArrType_Type, DType::Bool},   {&PyFloatArrType_Type, DType::Float32},
                {&PyUByteArrType_Type, DType::UInt8}, {&PyByteArrType_Type, DType::Int8},
                {&PyShortArrType_Type, DType::Int16}, {&PyUShortArrType_Type, DType::UInt16},
                {&PyUIntArrType_Type, DType::UInt32}, {&PyULongArrType_Type, DType::UInt64},
                {&PyHalfArrType_Type, DType::Float16}};
  for (const auto& t : numpys)
    if (t.type == type) {
      Scalar s;
      s.dtype = t.dtype;
      // All of them have their value behind the object's head.
      std::memcpy(s.bytes, &PyArrayScalar_VAL(o, Byte), itemsize(t.dtype));
      return s;
    }
  return std::nullopt;
}

bool holds(DType t, std::int64_t v) {
  const int bits = static_cast<int>(itemsize(t)) * 8;
  if (t == DType::Bool) return v == 0 || v == 1;
  if (kind(t) == Kind::Unsigned) return v >= 0 && (bits == 64 || v >> bits == 0);
  if (kind(t) == Kind::Signed) return bits == 64 || v >> (bits - 1) == 0 || v >> (bits - 1) == -1;
  const std::int64_t most = std::int64_t{1} << (bits == 16 ? 11 : bits == 32 ? 24 : 53);
  return v >= -most && v <= most;
}

// Whether rounding to a float of few bits reports nothing.
bool rounds(DType t, double v) {
  if (t == DType::Float64 || v == 0) return true;
  const bool half = t == DType::Float16;
  return std::abs(v) >= (half ? 0x1p-14 : 0x1p-126) && std::abs(v) <= (half ? 65504 : 0x1p127);
}

}  // namespace

std::optional<Scalar> held_number(PyObject* o, DType t) {
  const std::optional<Scalar> s = exact_number(o);
  if (!s || s->dtype == t || is_complex(t)) return s && s->dtype == t ? s : std::nullopt;
  const bool fits =
      is_float(s->dtype)
          ? is_float(t) && rounds(t, cast(*s, DType::Float64).as<double>())
          : s->dtype != DType::UInt64 && holds(t, cast(*s, DType::Int64).as<std::int64_t>());
  return fits ? std::optional(cast(*s, t)) : std::nullopt;
}

}  // namespace plait::py
