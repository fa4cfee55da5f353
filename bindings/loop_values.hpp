// The values of a call: whether they are what an entry's code is for, and what it is given of them.
#pragma once
#include "loop_entry.hpp"  // Python's headers first

#include <memory>
#include <vector>

#include "loop_description.hpp"
#include "tracer/array.hpp"

namespace plait::py {

// Counters of loops are that far from the ends of int64, so that they need no check.
constexpr std::int64_t kFar = std::int64_t{1} << 62;

// What a look-up knows of a call: the variables of the loop's function, or the arguments of a
// function as a whole.
struct Known {
  PyObject* locals;
  PyObject* const* arguments;
};

// What lies in a slot of a run: an array, or a list that is one meanwhile.
struct Slot {
  const Input* input;
  PyObject* object;
  std::size_t numbers;  // of the lists
};

// The memory of a call's arrays; that of `plaits` goes to pointers[at].
struct Memory {
  std::vector<void*> pointers;
  std::vector<tracer::Array> plaits;
  std::vector<std::size_t> at;
};

// A call's values.
struct Given {
  std::vector<Scalar> numbers;
  Memory arrays;
  std::vector<std::int64_t> params;
  std::vector<std::int64_t> first, last;  // bytes that an array spans, from its first element
  std::vector<Owned> held;
  std::vector<PyObject*> found;  // by input
  std::vector<Slot> slots;
  std::vector<Numbers> lists;  // of which `listed` are in use
  std::size_t listed = 0;
  double work = 0;  // ints and elements of arrays
  double room = 0;  // elements of lists that it takes no longer to carry over than the loop
  std::vector<PyObject*> bits;  // of generators that draw
  std::vector<Scalar> results;

  void clear() {
    for (auto* const all : {&numbers, &results}) all->clear();
    for (auto* const all : {&params, &first, &last}) all->clear();
    for (auto* const all : {&found, &bits}) all->clear();
    arrays.pointers.clear();
    arrays.plaits.clear();
    arrays.at.clear();
    slots.clear();
    listed = 0;
    work = 0;
    held.clear();
  }
  PyObject* hold(PyObject* o) {  // takes the reference over
    held.emplace_back(o);
    return o;
  }
};

// Where short loops are run often, their memory is kept. A run inside another has memory of its
// own.
class KeptGiven {
 public:
  KeptGiven();
  ~KeptGiven();
  KeptGiven(const KeptGiven&) = delete;
  KeptGiven& operator=(const KeptGiven&) = delete;
  Given& operator*() const { return *given_; }

 private:
  std::unique_ptr<Given> given_;
};

// While one of these lives, a Python error that was raised before stands aside.
class ErrorAside {
 public:
  ErrorAside() { PyErr_Fetch(&type_, &value_, &traceback_); }
  ~ErrorAside() { PyErr_Restore(type_, value_, traceback_); }
  ErrorAside(const ErrorAside&) = delete;
  ErrorAside& operator=(const ErrorAside&) = delete;

 private:
  PyObject *type_, *value_, *traceback_;
};

// Others who draw from these generators wait, as in NumPy.
class Drawing {
 public:
  explicit Drawing(const std::vector<PyObject*>& bits);
  ~Drawing();
  Drawing(const Drawing&) = delete;
  Drawing& operator=(const Drawing&) = delete;

 private:
  std::vector<Owned> locks_;
};

// Takes the values of a call: whether they fit. Throws.
bool take_all(const Description& d, const Range* range, const Known& known, Given& g,
              bool objects_known = false);
// Whether arrays that have to lie apart do, as far as all pointers are known.
bool lie_apart(const Description& d, const Given& g);
// Whether the dicts that objects of globals are looked up in are as look_at_dicts() saw them.
bool dicts_are_as_before(const Description& d);
void look_at_dicts(Description& d);

PyObject* in_dict(PyObject* dict, PyObject* name);  // borrowed; null where it is not. Throws

}  // namespace plait::py
