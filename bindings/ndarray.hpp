// plait.ndarray and plait's lazy scalar as C-API types, and the roads between them, NumPy's arrays
// and Python's numbers.
#pragma once
#include <algorithm>
#include <optional>
#include <string_view>

#include "python.hpp"
#include "tracer/array.hpp"

namespace plait::py {

// An array that the engine knows, or, for dtypes it does not cover, a host numpy.ndarray.
struct ArrayObject {
  PyObject_HEAD tracer::Array array;  // empty when `host` is set
  PyObject* host;
  PyObject* base;  // the array this is a view of, or whose memory it is made over, or null
  PyObject* weakrefs;
  bool standard;  // keeps to the array API standard: what it gives without axes is an array, too
};
// The value of a full reduction that has not been computed; passes for NumPy's scalar. See
// lazy.cpp.
struct LazyObject {
  PyObject_HEAD tracer::Array array;  // 0-D
  PyObject* value;                    // NumPy's scalar, once somebody asked
  LazyObject *prev, *next;            // those that nobody has asked yet
};

// Objects of both types that are alive, and lazy scalars alone, counted under the GIL.
extern Py_ssize_t live_objects, live_scalars;

extern PyTypeObject* array_type;
extern PyTypeObject* lazy_type;
PyTypeObject* make_array_type();  // null with a Python error
// Has NumPy's objects count as instances of a class that stands for NumPy's; after
// make_array_type().
void add_metaclass(PyTypeObject* type);
PyTypeObject* make_lazy_type();

inline bool is_array(PyObject* o) {
  return Py_TYPE(o) == array_type || PyType_IsSubtype(Py_TYPE(o), array_type);
}
// Whether the class, a subclass of plait.ndarray, defines __array_ufunc__ or __array_wrap__ itself:
// operations on its arrays are plait/_overrides.py's. The same of __array_function__.
bool class_overrides_ufuncs(PyTypeObject* type);
bool class_overrides_functions(PyTypeObject* type);
inline bool overrides_ufuncs(PyObject* o) {
  return Py_TYPE(o) != array_type && is_array(o) && class_overrides_ufuncs(Py_TYPE(o));
}
inline bool is_lazy(PyObject* o) { return Py_TYPE(o) == lazy_type; }
inline ArrayObject* as_array(PyObject* o) { return reinterpret_cast<ArrayObject*>(o); }
inline LazyObject* as_lazy(PyObject* o) { return reinterpret_cast<LazyObject*>(o); }

// Arrays of plait.array_api. NumPy's arrays give its scalars for results and elements without axes;
// the standard has none, and these give arrays, which are of the standard in turn.
inline bool is_standard(PyObject* o) { return Py_TYPE(o) == array_type && as_array(o)->standard; }
inline bool any_standard(PyObject* const* operands, Py_ssize_t n) {
  return std::any_of(operands, operands + n, is_standard);
}
// What was made, as an array of the standard: arrays that nobody has yet are marked, NumPy's
// scalars and lazy ones become arrays on the device of `model`. All else stays. Takes the
// reference.
PyObject* as_standard(PyObject* made, PyObject* model);

// --- making Python objects: new references, throw on failure
PyObject* wrap(tracer::Array&& a, PyObject* base = nullptr, PyTypeObject* type = nullptr);
void set_base(PyObject* array, PyObject* base);
inline PyObject* wrap(const tracer::Array& a, PyObject* base = nullptr,
                      PyTypeObject* type = nullptr) {
  return wrap(tracer::Array(a), base, type);
}
// What an operation returns: 0-D results are NumPy's scalars, computed now, or lazy ones inside
// plait.jit and on devices.
PyObject* wrap_result(tracer::Array&& a);
PyObject* wrap_host(PyObject* numpy_array, PyTypeObject* type = nullptr);
PyObject* wrap_element(DType t, const void* at);  // NumPy's scalar of what stands there
inline PyObject* wrap_scalar(const Scalar& s) { return wrap_element(s.dtype, s.bytes); }
// The element of a full index as NumPy's scalar.
PyObject* read_element(const tracer::Array& a, std::span<const std::int64_t> index);
// Calls __array_finalize__, NumPy's hook for subclasses: `made` comes from `from`.
void finalize(PyObject* made, PyObject* from);
// An attribute of plait.ndarray or of a subclass; numpys_methods.cpp.
PyObject* class_attribute(PyObject* cls, PyObject* name);
// Has view() of NumPy's arrays take Plait's classes.
void take_numpys_view();
// As wrap_result, in the subclass of plait.ndarray that one of the operands has, if any: of the
// highest __array_priority__, the first.
PyObject* wrap_like(tracer::Array&& a, PyObject* const* operands, Py_ssize_t n);
// The same from functions that are no ufuncs: their 0-D results are scalars whatever the operands.
inline PyObject* wrap_returned(tracer::Array&& a, PyObject* const* operands, Py_ssize_t n) {
  return a.ndim() == 0 && !any_standard(operands, n) ? wrap_result(std::move(a))
                                                     : wrap_like(std::move(a), operands, n);
}

// --- NumPy
PyArray_Descr* descr_of(DType t);  // borrowed
std::optional<DType> native_dtype(PyArray_Descr* d);
// Whether the memory of a Bool array may have been written as another dtype.
bool may_hold_any_bytes(PyArrayObject* a);
// Anything numpy.dtype() accepts, if the engine covers it. Throws PythonError when it is no dtype.
std::optional<DType> parse_dtype(PyObject* o);
// The array's memory as `dtype`; none for a dtype of NumPy's alone or elements that would not be
// aligned.
std::optional<tracer::Array> viewed(const tracer::Array& a, PyObject* dtype);
// A live export: the numpy array shares the memory until it and its views are gone.
PyObject* to_numpy(ArrayObject* a, bool for_good = false);
enum class Take { Copy, Adopt, Share };
// Copy: later writes to the numpy array are not seen. Adopt: nobody else uses it. Share: both sides
// see writes. Views of live exports become views of the exported array. dtypes outside the engine
// become host arrays.
PyObject* from_numpy(PyObject* numpy_array, Take take);
// The engine's array, when the dtype and layout allow one.
std::optional<tracer::Array> native_from_numpy(PyArrayObject* a, Take take);
// The plait array whose memory a numpy array shares through a live export, if any.
const tracer::Array* exported(PyArrayObject* a);
bool make_export_type();
bool is_export(PyObject* o);  // the base of live exports
// Where the memory of an array comes from, through all that are views of one another: the last
// array, and what it is made over, null when the memory is its own. Both are borrowed.
struct Origin {
  PyArrayObject* array;
  PyObject* base;
};
Origin origin_of(PyArrayObject* a);
// A result of NumPy as a Plait array.
PyObject* adopted(PyArrayObject* result);

inline bool is_list(PyObject* o) { return PyList_CheckExact(o) || PyTuple_CheckExact(o); }
// Lists and tuples, at any depth, with NumPy's arrays for those of Plait in them. They are copies:
// while NumPy reads an array of Plait's, another thread may change a list.
Owned with_numpys_arrays(PyObject* o);

// --- operands
enum class Parsed { Operand, Fallback };
// An operand of a native operation. Temporaries live in the holder.
struct OperandHolder {
  std::optional<tracer::Operand> operand;
  tracer::Array temporary;
  bool is_object = false;  // came from an array or lazy scalar, not from a number
};
Parsed parse_operand(PyObject* o, OperandHolder& holder);
// What NumPy takes for an integer: whatever has __index__, arrays without axes among it, but no
// bool.
bool has_index_method(PyObject* o);
inline bool has_index(PyObject* o) { return PyLong_CheckExact(o) || has_index_method(o); }
// A Python number or NumPy scalar.
inline bool is_number(PyObject* o) {
  return PyFloat_Check(o) || PyLong_Check(o) || PyComplex_Check(o) || PyArray_IsScalar(o, Generic);
}
// A number as NumPy stores it in an array of `to`, with its warnings; nullopt where NumPy refuses.
std::optional<Scalar> pack(PyObject* number, DType to);
// Lists and tuples of Python's plain numbers, or of equally long ones of these, as NumPy reads
// them; nullopt for all else.
std::optional<tracer::Array> from_list(PyObject* o);
// x[key] with one array of indices or one mask, of few elements in memory; nullopt for all else,
// and where the key is wrong.
std::optional<tracer::Array> gather(const tracer::Array& a, PyObject* key);
// x[key] = value for the same keys, where both are in memory and nobody waits for the old contents;
// false for all else. A scalar is one that the dtype holds.
bool scatter(const tracer::Array& a, PyObject* key, const tracer::Operand& value);
// x[key] by NumPy.
PyObject* getitem_by_numpy(PyObject* self, PyObject* key);
// A native array from anything array-like; nullopt when NumPy has to do it.
std::optional<tracer::Array> parse_array(PyObject* o);
// The same, for a view: code under plait.jit goes on with NumPy's array beside it, so that the two
// share memory.
std::optional<tracer::Array> parse_viewed(PyObject* o);
bool in_jit();  // this thread runs a jitted function

// --- evaluation without the GIL
void force(const tracer::Array& a);
Scalar item(const tracer::Array& a);  // the one element
PyObject* lazy_value(LazyObject* s);  // borrowed

// --- pieces of the types, one file each
PyObject* binary_op(OpId fn, PyObject* a, PyObject* b);
PyObject* inplace_op(OpId fn, PyObject* a, PyObject* b);
PyObject* unary_op(OpId fn, PyObject* a);
PyObject* rich_compare(PyObject* a, PyObject* b, int op);
extern PyType_Slot number_slots[];  // zero-terminated
extern PyGetSetDef array_getset[];
void document(PyGetSetDef* attributes);      // with the text of numpy.ndarray's
void add_quiet_setters(PyTypeObject* type);  // _set_shape() and so on, where NumPy has them
extern PyMethodDef array_methods[];
PyObject* array_getitem(PyObject* self, PyObject* key);
PyObject* array_sequence_item(PyObject* self, Py_ssize_t i);
int array_setitem(PyObject* self, PyObject* key, PyObject* value);
int array_getbuffer(PyObject* self, Py_buffer* view, int flags);
void array_releasebuffer(PyObject* self, Py_buffer* view);
PyObject* array_new(PyTypeObject* type, PyObject* args, PyObject* kwargs);

// numpy attributes used often.
PyObject* numpy_attr(const char* name);  // borrowed, cached for the process's life

}  // namespace plait::py
