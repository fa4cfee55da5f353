// The recorder's functions as plain C-API functions: the Python half of the package wraps them with
// NumPy's signatures. Each returns NotImplemented when its arguments are not the engine's, and the
// caller falls back to NumPy.
#pragma once
#include "ndarray.hpp"
#include "rows.hpp"

namespace plait::py {

extern PyMethodDef native_functions[];
extern PyMethodDef memory_functions[];       // memory.cpp
extern PyMethodDef compat_functions[];       // compat.cpp: those of numpy_compat
extern PyMethodDef indexing_functions[];     // indexing.cpp
extern PyMethodDef call_functions[];         // calls.cpp: rows of the table of calls
extern PyMethodDef fallback_functions[];     // fallback.cpp: calls of NumPy
extern PyMethodDef list_functions[];         // lists.cpp
bool add_asking_function(PyObject* module);  // dispatch.cpp: the type of what asking() makes
extern PyMethodDef dispatch_functions[];     // dispatch.cpp: who asks __array_function__
extern PyMethodDef device_functions[];       // devices.cpp
extern PyMethodDef lazy_functions[];         // lazy.cpp: where scalars stay pending
bool scalars_stay_pending();                 // in this thread
extern PyMethodDef explain_functions[];      // explain.cpp
extern PyMethodDef trace_functions[];        // timeline.cpp

extern PyMethodDef short_method_functions[];  // short_methods.cpp
PyMethodDef* with_short_methods(const PyMethodDef* others);

// Small reductions of computed arrays are computed at once: their result is NumPy's own scalar.
inline constexpr std::int64_t kEagerReduction = 4096;

extern PyMethodDef sorting_functions[];  // sorting.cpp
extern PyMethodDef loop_functions[];     // loops.cpp: loops of NumPy's generalized ufuncs
void add_programs(PyObject* module);     // program.cpp
void lend_sorts();                       // once, before anything is sorted

// Plain calls of functions of the namespace; NotImplemented where there is more to it.
using BriefFunction = PyObject* (*)(Args args, Py_ssize_t n, PyObject* names);
BriefFunction brief_of(PyObject* name);  // short_functions.cpp; null for most
PyObject* sorted_copy(Args args, Py_ssize_t n, PyObject* names);
extern PyMethodDef creation_functions[];
bool default_dtype_differs();  // whether new arrays of this thread have another than float64

inline PyObject* not_implemented() { return Py_NewRef(Py_NotImplemented); }
// a == b and a != b of objects that stand for others, by what they stand for.
inline PyObject* equal_to(PyObject* a, PyObject* b, int op) {
  if (a != b || (op != Py_EQ && op != Py_NE)) return not_implemented();
  return PyBool_FromLong(op == Py_EQ);
}

// body(), or NotImplemented where the caller made a mistake: NumPy, asked to make the same call,
// finds it in its own order and words it.
template <class F>
PyObject* or_numpy(F&& body) {
  try {
    return body();
  } catch (const DTypeError&) {
  } catch (const plait::ValueError&) {
  } catch (const plait::IndexError&) {
  } catch (const plait::OverflowError&) {
  }
  return not_implemented();
}

// NumPy warns of the imaginary parts that a conversion drops.
inline bool drops_imaginary(DType from, DType to) {
  return is_complex(from) && !is_complex(to) && to != DType::Bool;
}

// tracer::full(). Small arrays are written at once: it takes less time than recording, and what is
// computed from them is then computed at once as well.
tracer::Array filled(const Dims& shape, const Scalar& s, char order);

// Whether somebody wants to know what goes to NumPy: PLAIT_LOG=fallback, or plait.explain.
bool noting_fallbacks();

// A function of NumPy's with Plait's arguments and results, as a vectorcall has them; its name for
// the log, or None. The first `plain` arguments hold nothing of Plait's.
PyObject* by_numpy(PyObject* function, PyObject* name, Args args, Py_ssize_t n, PyObject* names,
                   Py_ssize_t plain = 0);
// Whether the arrays among arguments have fewer elements, so that NumPy does what is composed.
bool few_elements(Args args, Py_ssize_t n, PyObject* names, std::int64_t few);

// Argument parsing shared with the methods.
// Axes as NumPy's functions in C take them (an integer or a tuple), lists of integers, too, or
// whatever can be iterated over. None: nullopt.
enum class Axes { Tuple, List, Iterable };
std::optional<Dims> parse_axes(PyObject* o, Axes accepted = Axes::Tuple);
// Those of a function that takes axes away from an array: of a 0-D one, 0 and -1 say nothing.
std::optional<Dims> parse_axes_of(PyObject* o, int ndim);
std::optional<Dims> parse_shape(PyObject* o);
std::int64_t integer(PyObject* o);  // throws OverflowError for what int64 does not hold
char order_of(PyObject* o);         // 'C', 'F', 'A' or 'K'; None is 'C'

// A Python int, float, complex or bool.
PyObject* python_number(const Scalar& s);
// The number as an element of the dtype, where the dtype holds it without a warning or an error.
std::optional<Scalar> held_number(PyObject* o, DType t);
// The element that an integer for each axis names, as a Python number; else NotImplemented.
PyObject* element_of(const tracer::Array& a, PyObject* const* at, Py_ssize_t n);
// args: a, axis, dtype, out, keepdims, initial, where. NotImplemented: NumPy's to do.
PyObject* reduced(ReduceKind kind, PyObject* const* args);
// mean, var, std, ptp and count_nonzero; args: name, a, axis, dtype, out, keepdims, where, ddof,
// mean. NotImplemented: NumPy's to do.
PyObject* statistic(Exactly<9>& args);
// A view or copy made from `from`: views name it as their base and keep its subclass.
PyObject* wrap_view(tracer::Array a, PyObject* from);

}  // namespace plait::py
