// Lists and tuples of Python's numbers in compiled loops: arrays for as long as a loop runs, and
// lists of what it leaves. plait/_python_loops/listed.py does the same for calls by way of Python.
#pragma once
#include "python.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "functions.hpp"

namespace plait::py {

using NumberType = std::pair<PyTypeObject*, DType>;  // of Python's or NumPy's

// A number as Python has it; imaginary: of a complex one, the other part.
PyObject* number_as(const Scalar& s, const Scalar* imaginary, const NumberType& type);

// Of the numbers at one place of all rows: a word of 64 bits, and behind it a tag where they are of
// several types.
struct Column {
  DType word;
  std::vector<std::pair<NumberType, std::int64_t>> kinds;  // and their tags
  std::size_t words() const { return kinds.size() > 1 ? 2 : 1; }
};
// The elements of a list: numbers, or tuples of such and of tuples.
struct Rows {
  static constexpr int kNumber = -1;
  // Of an element, outer parts first: how many parts a tuple has, or kNumber.
  std::vector<int> form;
  std::vector<Column> columns;
  std::size_t words() const {
    std::size_t n = 0;
    for (const Column& c : columns) n += c.words();
    return n;
  }
};

struct Sequence {
  enum class Of {
    List,
    Tuple,
    Bytes,
    EmptyList,
    Grid
  } of;                      // a grid: a list of lists of one length
  DType dtype;               // of the array
  std::optional<Rows> rows;  // where elements are no plain numbers of it
};
// The numbers of one for a run.
struct Numbers {
  std::vector<std::int64_t> memory;
  std::array<std::int64_t, 2> shape, strides;
};

// Whether x is such a sequence, of which `to` has the numbers then.
bool read_sequence(const Sequence& s, PyObject* x, Numbers& to);
// The lists that it consists of.
void lists_of(const Sequence& s, PyObject* x, std::vector<PyObject*>& all);
// What a run has written goes to the lists that it was read from. Throws.
void write_back(const Sequence& s, PyObject* x, const Numbers& from);
// A new list. Throws.
PyObject* list_of_rows(const Rows& rows, const std::int64_t* words, std::int64_t count);
// list[:] = elements. Throws.
void replace_elements(PyObject* list, PyObject* elements);

}  // namespace plait::py
