#include "ufunc.hpp"

#include <structmember.h>

#include <string_view>
#include <unordered_map>

#include "functions.hpp"
#include "ndarray.hpp"
#include "operators.hpp"
#include "tracer/capture.hpp"

namespace plait::py {
namespace {

PyTypeObject *the_type = nullptr, *numpys_type = nullptr;

// numpy.ufunc -> the native plait.ufunc; both live as long as the module.
std::unordered_map<PyObject*, PyObject*>& natives() {
  static auto& all = *new std::unordered_map<PyObject*, PyObject*>;
  return all;
}

struct UfuncObject {
  PyObject_HEAD vectorcallfunc call;
  OpId fn;          // Count_: NumPy's only
  bool matmul;      // not elementwise: two arrays, no keywords
  PyObject* numpy;  // the numpy.ufunc
};
UfuncObject* as_ufunc(PyObject* o) { return reinterpret_cast<UfuncObject*>(o); }

Owned positional(PyObject* const* args, Py_ssize_t n) {
  Owned t(check(PyTuple_New(n)));
  for (Py_ssize_t i = 0; i < n; ++i) PyTuple_SET_ITEM(t.get(), i, Py_NewRef(args[i]));
  return t;
}
Owned keywords(PyObject* const* values, PyObject* names) {
  Owned d(check(PyDict_New()));
  for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); ++i)
    check(PyDict_SetItem(d.get(), PyTuple_GET_ITEM(names, i), values[i]));
  return d;
}
// Whether nobody is to be asked about a call: its operands are NumPy's numbers and arrays of dtypes
// that only NumPy has, or arrays of so few elements that nothing is won by doing it here.
bool is_numpys(PyObject* const* args, Py_ssize_t n, PyObject* names) {
  constexpr std::int64_t kFew = 128;
  if (names || noting_fallbacks() || tracer::capture()) return false;
  std::int64_t elements = 0;
  bool host = false;
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* o = args[i];
    if (Py_TYPE(o) == array_type) {
      host = host || as_array(o)->host;
      if (!as_array(o)->host) elements += as_array(o)->array.size();
    } else if (!PyFloat_CheckExact(o) && !PyLong_CheckExact(o) && !PyBool_Check(o) &&
               !PyComplex_CheckExact(o) && !PyUnicode_CheckExact(o) && !PyArray_CheckExact(o) &&
               !PyArray_CheckScalar(o)) {
      return false;
    }
  }
  return host || elements < kFew;
}
PyObject* fallback(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* names) {
  if (is_numpys(args, n, names)) return by_numpy(as_ufunc(self)->numpy, Py_None, args, n, names);
  Owned t = positional(args, n), d = keywords(args + n, names);
  return call_hook(hooks.ufunc, self, t.get(), d.get());
}

// "equiv" is NumPy's: it refuses some Python numbers that "no" takes.
std::optional<Casting> parse_casting(PyObject* o) {
  const char* text = PyUnicode_Check(o) ? PyUnicode_AsUTF8(o) : nullptr;
  if (!text) return std::nullopt;
  std::string_view s = text;
  if (s == "same_kind") return Casting::SameKind;
  if (s == "unsafe") return Casting::Unsafe;
  if (s == "safe") return Casting::Safe;
  if (s == "no") return Casting::No;
  return std::nullopt;
}

// The keywords of a call, as far as the recorder knows them.
struct Keywords {
  tracer::ElementwiseOptions options;
  PyObject* out = nullptr;
  bool says_out = false;
  tracer::Array where;

  bool parse_out(PyObject* o) {
    if (says_out) return false;  // twice, which NumPy words
    says_out = true;
    if (PyTuple_CheckExact(o) && PyTuple_GET_SIZE(o) == 1) o = PyTuple_GET_ITEM(o, 0);
    if (o == Py_None) return true;
    if (!is_array(o) || as_array(o)->host || overrides_ufuncs(o)) return false;
    out = o;
    options.out = &as_array(o)->array;
    return true;
  }
  bool parse(PyObject* name, PyObject* value) {
    std::string_view key = PyUnicode_AsUTF8(name);
    if (key == "out") return parse_out(value);
    if (key == "where") {
      // numpy._NoValue, which NumPy's own functions pass on.
      if (value == Py_True || std::string_view(Py_TYPE(value)->tp_name) == "_NoValueType")
        return true;
      if (overrides_ufuncs(value)) return false;
      auto mask = parse_array(value);
      if (!mask || mask->dtype != DType::Bool) return false;
      where = std::move(*mask);
      options.where = &where;
      return true;
    }
    if (key == "dtype") {
      if (value == Py_None) return true;
      options.dtype = parse_dtype(value);
      return options.dtype.has_value();
    }
    if (key == "casting") {
      auto c = parse_casting(value);
      if (c) options.casting = *c;
      return c.has_value();
    }
    if (key == "order") {
      const char* text = PyUnicode_Check(value) ? PyUnicode_AsUTF8(value) : nullptr;
      if (!text || std::string_view("KACF").find(text[0]) == std::string_view::npos || text[1])
        return false;
      options.order = text[0];
      return true;
    }
    return key == "subok" && PyBool_Check(value);
  }
};

// matmul(a, b), and with dtype=, which is the product of casts.
PyObject* call_matmul(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* names) {
  const Py_ssize_t keywords = names ? PyTuple_GET_SIZE(names) : 0;
  std::optional<DType> in;
  if (keywords == 1 && std::string_view(PyUnicode_AsUTF8(PyTuple_GET_ITEM(names, 0))) == "dtype")
    in = parse_dtype(args[n]);
  const bool plain = keywords == 0 || (in && !is_narrow(*in) && *in != DType::Bool);
  if (n == 2 && plain && !overrides_ufuncs(args[0]) && !overrides_ufuncs(args[1])) {
    auto a = parse_array(args[0]), b = parse_array(args[1]);
    const auto taken = [&](std::optional<tracer::Array>& x) {
      if (!x || x->ndim() == 0) return false;
      if (!in || x->dtype == *in) return true;
      if (!can_cast(x->dtype, *in, Casting::SameKind)) return false;  // NumPy's error
      x = tracer::astype(*x, *in, 'K', false);
      return true;
    };
    if (taken(a) && taken(b)) return wrap_like(tracer::matmul(*a, *b), args, 2);
  }
  return fallback(self, args, n, names);
}

PyObject* call(PyObject* self, PyObject* const* args, std::size_t nargsf, PyObject* names) {
  return guarded([&]() -> PyObject* {
    UfuncObject* u = as_ufunc(self);
    Py_ssize_t n = PyVectorcall_NARGS(nargsf);
    if (u->matmul) return call_matmul(self, args, n, names);
    if (u->fn == OpId::Count_) return fallback(self, args, n, names);
    int arity = op_info(u->fn).arity;
    if (n != arity && n != arity + 1) return fallback(self, args, n, names);
    // NumPy warns of a third array, which many take for another operand.
    const bool extremum = u->fn == OpId::Maximum || u->fn == OpId::Minimum;
    if (extremum && n == 3 && args[2] != Py_None) return fallback(self, args, n, names);
    OperandHolder holders[3];
    bool any_object = false;
    for (int i = 0; i < arity; ++i) {
      if (parse_operand(args[i], holders[i]) == Parsed::Fallback)
        return fallback(self, args, n, names);
      any_object |= holders[i].is_object;
      // Neighbours of a narrow float are not those of what it is computed in.
      const tracer::Operand& o = *holders[i].operand;
      if ((u->fn == OpId::Nextafter || u->fn == OpId::Spacing) &&
          is_narrow(o.array ? o.array->dtype : o.scalar.dtype))
        return fallback(self, args, n, names);
    }
    Keywords kw;
    if (n == arity + 1 && !kw.parse_out(args[arity])) return fallback(self, args, n, names);
    if (names)
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i)
        if (!kw.parse(PyTuple_GET_ITEM(names, i), args[n + i]))
          return fallback(self, args, n, names);
    // NumPy warns of imaginary parts that are dropped.
    if (kw.out && kw.options.casting == Casting::Unsafe) {
      const DType to = kw.options.out->dtype;
      bool drops = kw.options.dtype && drops_imaginary(*kw.options.dtype, to);
      for (int i = 0; i < arity; ++i) {
        const tracer::Operand& o = *holders[i].operand;
        drops |= drops_imaginary(o.array ? o.array->dtype : o.scalar.dtype, to);
      }
      if (drops) return fallback(self, args, n, names);
    }
    // NumPy warns of what is left as it was.
    if (kw.options.where && !kw.says_out) return fallback(self, args, n, names);
    // Numbers among themselves have dtypes of their own, which `out` has no say in.
    if (!any_object)
      return kw.out ? fallback(self, args, n, names)
                    : check(PyObject_Vectorcall(u->numpy, args, n, names));
    auto run = [&](std::span<const tracer::Operand> operands) -> PyObject* {
      try {
        tracer::Array made = tracer::elementwise(u->fn, operands, kw.options);
        return kw.out ? Py_NewRef(kw.out) : wrap_like(std::move(made), args, arity);
      } catch (const DTypeError&) {
        Owned t = positional(args, n), d = keywords(args + n, names);
        raise_dtype_error(u->fn, t.get(), d.get());
        throw;
      }
    };
    if (arity == 1) return run(std::span(&*holders[0].operand, 1));
    const tracer::Operand operands[] = {*holders[0].operand, *holders[1].operand};
    return is_numpys_comparison(u->fn, operands) ? fallback(self, args, n, names) : run(operands);
  });
}

void dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_XDECREF(as_ufunc(self)->numpy);
  PyObject_Free(self);
  Py_DECREF(type);
}
PyObject* getattro(PyObject* self, PyObject* name) {
  PyObject* own = PyObject_GenericGetAttr(self, name);
  if (own || !PyErr_ExceptionMatches(PyExc_AttributeError)) return own;
  PyErr_Clear();
  return PyObject_GetAttr(as_ufunc(self)->numpy, name);
}
PyObject* repr(PyObject* self) { return PyObject_Repr(as_ufunc(self)->numpy); }
PyObject* get_numpy(PyObject* self, void*) { return Py_NewRef(as_ufunc(self)->numpy); }
PyObject* get_from_numpy(PyObject* self, void* name) {
  return PyObject_GetAttrString(as_ufunc(self)->numpy, static_cast<const char*>(name));
}
int set_at_numpy(PyObject* self, PyObject* value, void* name) {
  return PyObject_SetAttrString(as_ufunc(self)->numpy, static_cast<const char*>(name), value);
}
PyObject* get_class(PyObject*, void*) {
  return Py_NewRef(reinterpret_cast<PyObject*>(numpys_type));
}
PyObject* numpy_or_itself(PyObject* o) { return Py_IS_TYPE(o, the_type) ? as_ufunc(o)->numpy : o; }
PyObject* compare(PyObject* self, PyObject* other, int op) {
  return equal_to(numpy_or_itself(self), numpy_or_itself(other), op);
}
Py_hash_t hash(PyObject* self) { return PyObject_Hash(as_ufunc(self)->numpy); }
PyObject* get_native(PyObject* self, void*) {
  return PyBool_FromLong(as_ufunc(self)->fn != OpId::Count_);
}

char doc_name[] = "__doc__", name_name[] = "__name__", qualname_name[] = "__qualname__";
PyGetSetDef getset[] = {
    {"__doc__", get_from_numpy, set_at_numpy, nullptr, doc_name},
    {"__name__", get_from_numpy, nullptr, nullptr, name_name},
    {"__qualname__", get_from_numpy, nullptr, nullptr, qualname_name},
    {"__class__", get_class, nullptr, "numpy.ufunc", nullptr},
    {"_numpy", get_numpy, nullptr, "the numpy.ufunc of this name", nullptr},
    {"_native", get_native, nullptr, "True when the engine has this operation", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(UfuncObject, call), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                       {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                       {Py_tp_getattro, reinterpret_cast<void*>(getattro)},
                       {Py_tp_repr, reinterpret_cast<void*>(repr)},
                       {Py_tp_richcompare, reinterpret_cast<void*>(compare)},
                       {Py_tp_hash, reinterpret_cast<void*>(hash)},
                       {Py_tp_getset, getset},
                       {Py_tp_members, members},
                       {0, nullptr}};
PyType_Spec spec = {
    "plait.ufunc", sizeof(UfuncObject), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

}  // namespace

PyTypeObject* make_ufunc_type() {
  const Owned umath(PyImport_ImportModule("numpy")),
      type(umath ? PyObject_GetAttrString(umath.get(), "ufunc") : nullptr);
  if (!type) return nullptr;
  numpys_type = reinterpret_cast<PyTypeObject*>(type.get());
  the_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (the_type) add_metaclass(the_type);
  return the_type;
}
PyTypeObject* ufunc_type() { return the_type; }
PyTypeObject* numpys_ufunc_type() { return numpys_type; }

PyObject* make_ufunc(PyObject* numpy_ufunc, const char* name) {
  auto* u = PyObject_New(UfuncObject, the_type);
  if (!u) throw PythonError{};
  u->call = call;
  u->fn = find_op(name);
  u->matmul = std::string_view(name) == "matmul";
  u->numpy = Py_NewRef(numpy_ufunc);
  auto* made = reinterpret_cast<PyObject*>(u);
  const bool native = u->fn != OpId::Count_ || u->matmul;
  if (native && natives().try_emplace(numpy_ufunc, made).second) Py_INCREF(made);
  return made;
}

PyObject* call_native_ufunc(PyObject* numpy_ufunc, PyObject* const* args, Py_ssize_t n) {
  const auto ours = natives().find(numpy_ufunc);
  return ours == natives().end() ? nullptr
                                 : call(ours->second, args, static_cast<std::size_t>(n), nullptr);
}

}  // namespace plait::py
