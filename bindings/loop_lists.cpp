#include "loop_lists.hpp"

#include <algorithm>
#include <cstring>

#include "ndarray.hpp"

namespace plait::py {
namespace {

constexpr std::int64_t kExact = std::int64_t{1} << 53;  // floats have all ints up to there

struct Items {
  PyObject** first;
  Py_ssize_t count;
};
Items items_of(PyObject* list_or_tuple) {
  return {PySequence_Fast_ITEMS(list_or_tuple), PySequence_Fast_GET_SIZE(list_or_tuple)};
}

bool put_int(PyObject* o, std::int64_t& to) {
  int over = 0;
  to = PyLong_AsLongLongAndOverflow(o, &over);
  return over == 0;
}

// Of the very class that the array is of, at its place.
bool put_plain(DType t, PyObject* o, void* memory, std::int64_t at) {
  if (t == DType::Float64) {
    if (!PyFloat_CheckExact(o)) return false;
    static_cast<double*>(memory)[at] = PyFloat_AS_DOUBLE(o);
    return true;
  }
  if (t == DType::Bool) {
    static_cast<unsigned char*>(memory)[at] = o == Py_True;
    return PyBool_Check(o);
  }
  return PyLong_CheckExact(o) && put_int(o, static_cast<std::int64_t*>(memory)[at]);
}

PyObject* plain(DType t, const void* memory, std::int64_t at) {
  if (t == DType::Float64) return check(PyFloat_FromDouble(static_cast<const double*>(memory)[at]));
  if (t == DType::Bool) return PyBool_FromLong(static_cast<const unsigned char*>(memory)[at]);
  return check(PyLong_FromLongLong(static_cast<const std::int64_t*>(memory)[at]));
}

// The words of a number of Python's, behind which `to` is then.
bool put_words(const Column& c, PyObject* o, std::int64_t*& to) {
  const auto kind = std::find_if(c.kinds.begin(), c.kinds.end(),
                                 [&](const auto& k) { return k.first.first == Py_TYPE(o); });
  if (kind == c.kinds.end()) return false;
  std::int64_t word = 0;
  if (PyFloat_CheckExact(o)) {
    const double v = PyFloat_AS_DOUBLE(o);
    std::memcpy(&word, &v, sizeof v);
  } else {
    if (!put_int(o, word)) return false;
    if (c.word == DType::Float64) {
      if (word > kExact || word < -kExact) return false;
      const auto v = static_cast<double>(word);
      std::memcpy(&word, &v, sizeof v);
    }
  }
  *to++ = word;
  if (c.kinds.size() > 1) *to++ = kind->second;
  return true;
}

// Where an element's parts are read or made.
struct Walk {
  const int* form;
  const Column* column;
  explicit Walk(const Rows& rows) : form(rows.form.data()), column(rows.columns.data()) {}
};

bool put_part(Walk& at, PyObject* o, std::int64_t*& to) {
  const int parts = *at.form++;
  if (parts == Rows::kNumber) return put_words(*at.column++, o, to);
  if (!PyTuple_CheckExact(o) || PyTuple_GET_SIZE(o) != parts) return false;
  for (Py_ssize_t i = 0; i < parts; ++i)
    if (!put_part(at, PyTuple_GET_ITEM(o, i), to)) return false;
  return true;
}

PyObject* number_of(const Column& c, const std::int64_t*& words) {
  Scalar s = Scalar::of(DType::Int64, *words);
  if (c.word == DType::Float64) {
    double v = 0;
    std::memcpy(&v, words, sizeof v);
    s = Scalar::of(DType::Float64, v);
  }
  ++words;
  const NumberType* type = &c.kinds.front().first;
  if (c.kinds.size() > 1) {
    const std::int64_t tag = *words++;
    for (const auto& [kind, its] : c.kinds)
      if (its == tag) type = &kind;
  }
  return number_as(s, nullptr, *type);
}

PyObject* part_of(Walk& at, const std::int64_t*& words) {
  const int parts = *at.form++;
  if (parts == Rows::kNumber) return number_of(*at.column++, words);
  Owned made(check(PyTuple_New(parts)));
  for (Py_ssize_t i = 0; i < parts; ++i) PyTuple_SET_ITEM(made.get(), i, part_of(at, words));
  PyObject_GC_UnTrack(made.get());  // as the first collection does with tuples of numbers
  return made.release();
}

void lay_out(Numbers& n, std::int64_t rows, std::int64_t wide, std::int64_t item) {
  n.shape = {rows, wide};
  n.strides = {wide * item, item};
}

bool read_plain(DType t, const Items& items, void* memory, std::int64_t from) {
  for (Py_ssize_t i = 0; i < items.count; ++i)
    if (!put_plain(t, items.first[i], memory, from + i)) return false;
  return true;
}

bool read_grid(DType t, const Items& lists, Numbers& to) {
  std::vector<PyObject*> seen(lists.first, lists.first + lists.count);
  std::sort(seen.begin(), seen.end());
  if (std::adjacent_find(seen.begin(), seen.end()) != seen.end()) return false;
  if (lists.count == 0 || !PyList_CheckExact(lists.first[0])) return false;
  const Py_ssize_t wide = PyList_GET_SIZE(lists.first[0]);
  if (wide == 0) return false;
  lay_out(to, lists.count, wide, static_cast<std::int64_t>(itemsize(t)));
  to.memory.resize(static_cast<std::size_t>(lists.count * wide));
  for (Py_ssize_t i = 0; i < lists.count; ++i) {
    PyObject* const row = lists.first[i];
    if (!PyList_CheckExact(row) || PyList_GET_SIZE(row) != wide ||
        !read_plain(t, items_of(row), to.memory.data(), i * wide))
      return false;
  }
  return true;
}

bool read_rows(const Rows& rows, const Items& items, Numbers& to) {
  const auto wide = static_cast<std::int64_t>(rows.words());
  lay_out(to, items.count, wide, sizeof(std::int64_t));
  to.memory.resize(static_cast<std::size_t>(items.count * wide));
  std::int64_t* at = to.memory.data();
  for (Py_ssize_t i = 0; i < items.count; ++i)
    if (Walk walk(rows); !put_part(walk, items.first[i], at)) return false;
  return true;
}

}  // namespace

PyObject* number_as(const Scalar& s, const Scalar* imaginary, const NumberType& wanted) {
  const auto& [type, dtype] = wanted;
  auto* const made_by = reinterpret_cast<PyObject*>(type);
  if (imaginary && is_complex(dtype)) {
    const double re = cast(s, DType::Float64).as<double>();
    const double im = cast(*imaginary, DType::Float64).as<double>();
    Owned number(check(PyComplex_FromDoubles(re, im)));
    return type == &PyComplex_Type ? number.release()
                                   : check(PyObject_CallOneArg(made_by, number.get()));
  }
  if (s.dtype == dtype) {
    if (type == &PyLong_Type || type == &PyFloat_Type || type == &PyBool_Type)
      return python_number(s);
    return wrap_scalar(s);
  }
  const Owned number(python_number(s));
  return check(PyObject_CallOneArg(made_by, number.get()));
}

bool read_sequence(const Sequence& s, PyObject* x, Numbers& to) {
  using Of = Sequence::Of;
  const auto item = static_cast<std::int64_t>(itemsize(s.dtype));
  if (s.of == Of::Bytes) {
    if (!PyBytes_CheckExact(x)) return false;
    const auto* const bytes = reinterpret_cast<const unsigned char*>(PyBytes_AS_STRING(x));
    to.memory.assign(bytes, bytes + PyBytes_GET_SIZE(x));
    lay_out(to, PyBytes_GET_SIZE(x), 1, item);
    return true;
  }
  if (s.of == Of::Tuple ? !PyTuple_CheckExact(x) : !PyList_CheckExact(x)) return false;
  const Items items = items_of(x);
  if ((items.count == 0) != (s.of == Of::EmptyList)) return false;
  if (s.of == Of::Grid) return read_grid(s.dtype, items, to);
  if (s.rows) return read_rows(*s.rows, items, to);
  lay_out(to, items.count, 1, item);
  to.memory.resize(static_cast<std::size_t>(items.count));
  return read_plain(s.dtype, items, to.memory.data(), 0);
}

void lists_of(const Sequence& s, PyObject* x, std::vector<PyObject*>& all) {
  all.push_back(x);
  if (s.of != Sequence::Of::Grid) return;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(x); ++i) all.push_back(PyList_GET_ITEM(x, i));
}

void write_back(const Sequence& s, PyObject* x, const Numbers& from) {
  const auto numbers = [&](std::int64_t begin, std::int64_t count) {
    Owned made(check(PyList_New(count)));
    for (Py_ssize_t i = 0; i < count; ++i)
      PyList_SET_ITEM(made.get(), i, plain(s.dtype, from.memory.data(), begin + i));
    return made;
  };
  if (s.of != Sequence::Of::Grid) return replace_elements(x, numbers(0, from.shape[0]).get());
  std::vector<Owned> rows;  // as another thread may have changed the outer list meanwhile
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(x); ++i)
    rows.push_back(Owned::borrow(PyList_GET_ITEM(x, i)));
  const auto count = std::min(static_cast<std::int64_t>(rows.size()), from.shape[0]);
  for (std::int64_t i = 0; i < count; ++i)
    replace_elements(rows[static_cast<std::size_t>(i)].get(),
                     numbers(i * from.shape[1], from.shape[1]).get());
}

PyObject* list_of_rows(const Rows& rows, const std::int64_t* words, std::int64_t count) {
  Owned made(check(PyList_New(count)));
  for (Py_ssize_t i = 0; i < count; ++i) {
    Walk walk(rows);
    PyList_SET_ITEM(made.get(), i, part_of(walk, words));
  }
  return made.release();
}

void replace_elements(PyObject* list, PyObject* elements) {
  check(PyList_SetSlice(list, 0, PyList_GET_SIZE(list), elements));
}

}  // namespace plait::py
