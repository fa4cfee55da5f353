// What a kept call of a function is found by: dtypes, layouts and overlaps of the arrays among the
// arguments, and the values of all else.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "engine/plans/captured_call.hpp"
#include "ndarray.hpp"

namespace plait::py {

// An array of NumPy's or of Plait's as a plan is made for it.
struct ArrayKey {
  bool numpys;
  bool writeable;
  bool any_bytes;  // Bool, of which others than 0 and 1 may be in memory
  DType dtype;
  Dims shape, strides;
  std::int64_t first, last;  // bytes that it spans, from its first element
  std::optional<engine::ArrayLayout> plaits;

  bool operator==(const ArrayKey&) const = default;
};
// nullopt: what the engine has no array for, or what is not in memory of the host alone.
std::optional<ArrayKey> array_key(PyObject* o);

// An argument, or a list, tuple or dict of such; or an object by its identity and its attributes,
// whose arrays are no arguments: they are the same ones, with their contents at each call.
class ArgumentKey {
 public:
  // Appends the arrays in it to `arrays`, which the keys number. Throws Unknown for what cannot be
  // compared with that of another call.
  struct Unknown {
    const char* what;
  };
  ArgumentKey(PyObject* o, std::vector<PyObject*>& arrays) : ArgumentKey(o, &arrays, 0) {}

  // Whether o is such an argument, as far as the arrays' own keys do not say; its arrays go to
  // `arrays`, of which there is room for those of all keys.
  bool matches(PyObject* o, PyObject** arrays) const;

 private:
  // Of an object's attributes where `arrays` is null.
  ArgumentKey(PyObject* o, std::vector<PyObject*>* arrays, int depth);
  void take_items(PyObject* dict, std::vector<PyObject*>* arrays, int depth);
  bool items_match(PyObject* dict, PyObject** arrays) const;

  enum class Kind { Array, Same, Equal, Float, Complex, Scalar, Sequence, Dict, Object };
  Kind kind_;
  std::size_t array_ = 0;
  Owned value_;  // of arrays and sequences, their type
  Owned names_;  // tuple: of a dict's items, of an object's attributes
  std::vector<ArgumentKey> items_;
};

// Of all arguments.
class CallKey {
 public:
  // Positional arguments, then those by name. Throws Unknown.
  CallKey(PyObject* const* args, Py_ssize_t n, PyObject* names);

  const std::vector<PyObject*>& found() const { return found_; }  // while it is made
  std::size_t size() const { return arrays_.size(); }
  const ArrayKey& operator[](std::size_t i) const { return arrays_[i]; }
  bool numpys() const { return arrays_.empty() || arrays_[0].numpys; }

  bool matches(PyObject* const* args, Py_ssize_t n, PyObject* names, PyObject** arrays) const;
  // Whether arguments that the key was made of are still such, but for their arrays.
  bool arguments_match(const std::vector<Owned>& args) const;

 private:
  bool overlap_alike(PyObject* const* arrays) const;

  Py_ssize_t positional_;
  std::vector<std::pair<Owned, ArgumentKey>> named_;
  std::vector<ArgumentKey> arguments_;
  std::vector<ArrayKey> arrays_;
  std::vector<PyObject*> found_;
  std::vector<std::int64_t> apart_;  // of each pair: bytes between those that overlap, or kApart
  bool overlap_ = false;
  std::uint8_t error_state_;
};

}  // namespace plait::py
