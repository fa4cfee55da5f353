// What an entry knows of its version of a loop's code, as plait/_python_loops/entries.py describes
// it: what the code is given, what that has to be, and what becomes of its results.
#pragma once
#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/sequential/sequential_program.hpp"
#include "loop_lists.hpp"

namespace plait::py {

// Where a name is looked up: in this order, where each is not null.
struct Place {
  PyObject* name;
  bool local;
  PyObject *cell, *scope, *module, *builtins;
  std::ptrdiff_t owner;     // the input whose attribute it is; negative of all else
  std::ptrdiff_t argument;  // of a function as a whole; negative of all else
};

struct Input {
  enum class Kind { Object, Class, Method, Missing, Number, Array, List, Generator } kind;
  Place place;
  PyObject *object, *beneath;  // what it is, and what it is without what stands for NumPy's
  PyTypeObject* type;          // Class, Number, Generator
  unsigned version;            // of a class of which attributes are asked; 0 of others
  DType dtype;
  int ndim;
  bool packed, written, counter;
  bool exact;         // a generator of NumPy's own class
  Sequence sequence;  // List
};

// An argument beside the inputs: the address of a function that draws, or of a generator's bits.
struct Argument {
  std::int64_t address;
  PyObject* source;  // a RandomState, where that is asked
};

// The array or the list that a variable stands for behind a loop: of the results, whether there is
// one, its address, and then its extents and strides, or how many elements it has.
struct Left {
  Py_ssize_t at;  // of the variables, or -1
  std::ptrdiff_t owner;
  PyObject* name;  // an attribute of that input's, or null
  DType dtype;
  std::size_t ndim;
  std::optional<Rows> rows;  // of a list
  std::size_t results() const { return rows ? 3 : 2 + 2 * ndim; }
};
// A list that was given, and may be longer or shorter now.
struct Grown {
  std::size_t input;
  Rows rows;
  bool forgotten;  // nobody reads it behind the loop
};
// An attribute that becomes a number.
struct Cell {
  std::ptrdiff_t owner;
  PyObject* name;
  bool complex;
};
// What a module or a class has to have.
struct Attribute {
  PyObject *of, *name, *value;
};

struct Output {
  enum class Kind { Variable, Returns, Returned } kind;
  Py_ssize_t at;  // of the variables; of the parts of what is returned
  bool tagged;
  PyTypeObject* type;
  DType dtype;
};

constexpr double kShort = 100e-6;  // seconds; threads share no loop that is that short (sharing.py)
constexpr int kOften = 3;          // runs in a row that are not short
constexpr unsigned kSeldom = 64;   // of so many runs one is measured, whatever it was given

// Which calls of a function as a whole are short, by their work: the ints and the elements of
// arrays that they are given. What takes longer can do with what the other way costs, and gains by
// threads.
class Lengths {
 public:
  bool is_long(double work) const { return work >= limit_; }
  bool is_new(double work) const { return work > known_; }
  bool is_measured(double work) { return is_new(work) || ++runs_ % kSeldom == 0; }
  void took(double seconds, double work) {
    if (seconds <= kShort) {
      known_ = std::max(known_, work);
      late_ = 0;
    } else if (++late_ >= kOften) {
      limit_ = work;
    }
  }

 private:
  double known_ = -1, limit_ = std::numeric_limits<double>::infinity();
  int late_ = 0;
  unsigned runs_ = 0;
};

struct Description {
  const engine::SequentialProgram* program;
  PyObject* code;  // Python's, which has the rest where it goes on in Python
  std::optional<std::int64_t> step;
  bool ranged;
  bool makes_floats;   // arrays of the default dtype
  double shared_from;  // seconds from which threads share it; negative where they never do
  double each = -1;    // seconds of an iteration; negative where that is not known
  std::vector<Input> inputs;
  std::size_t arrays = 0, numbers = 0;
  std::vector<std::pair<std::size_t, std::size_t>> apart;
  std::vector<PyObject*> stored;
  std::vector<Output> outputs;
  std::vector<std::pair<PyTypeObject*, DType>> classes;  // by tag
  Py_ssize_t returned = 0;  // parts of a tuple or a list; -1: the value itself; -2: None
  bool listed = false;      // a list
  std::vector<Argument> arguments;
  std::vector<Attribute> attributes;
  int limit = -1;  // of recursion; negative: any
  std::vector<std::pair<std::size_t, std::int64_t>>
      largest;                       // slots, and elements of the array there
  std::vector<std::size_t> changed;  // slots of lists that no other name has
  std::vector<std::pair<std::size_t, std::size_t>>
      different;  // inputs that are not the same object
  std::vector<Left> left;
  std::vector<Grown> grown;
  std::vector<Cell> cells;
  std::size_t behind = 0;       // results behind those of `grown`
  PyObject* forgets = nullptr;  // says whether lists that are forgotten need not be given back
  PyObject* adopt = nullptr;    // what makes an array of Plait's of NumPy's
  std::int64_t runs = 0;
  // Of a function as a whole whose last statement returns variables: those, as one of `stored` or
  // an argument, and whether they are one value.
  struct Part {
    std::ptrdiff_t stored, argument;
  };
  std::vector<Part> parts;
  bool single = false;
  Lengths lengths;
  // Dicts in which its objects of globals are looked up, as they were when those were found: until
  // one changes, they are found there.
  std::vector<std::pair<PyObject*, std::uint64_t>> dicts;
};

// References of what it names are borrowed from `given`. Throws pybind11's errors.
std::unique_ptr<Description> describe(const pybind11::dict& given);
Rows rows_of(const pybind11::handle& from);  // the same

unsigned version_of(PyTypeObject* type);  // of its attributes; 0: it has none

}  // namespace plait::py
