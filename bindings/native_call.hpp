// Compiled loops that C calls: as the loops of NumPy's ufuncs (native_ufunc.cpp), and by pointers
// to C functions (native_function.cpp). plait/_python_loops/natively.py says what each is given.
#pragma once
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <vector>

#include "core/scalar.hpp"
#include "engine/sequential/sequential_program.hpp"

namespace plait::py {

// A sequential program, and where a run finds what it is given: fixed, or one of what C gives.
class NativeCall {
 public:
  static constexpr std::size_t kMost = 64;  // buffers, parameters, results
  // Room for as many numbers, which is no work to make.
  struct Scalars {
    Scalars() {}  // NOLINT
    union {
      Scalar all[kMost];
    };
  };

  // As Python describes them: (kind, number), kind one of the names below.
  NativeCall(pybind11::object procedure, const pybind11::sequence& arrays,
             const pybind11::sequence& params, const pybind11::sequence& args);

  // What the code has said: nothing, or something to tell, as a warning or an error.
  enum class Outcome { Quiet, Told };
  // operands: addresses of arrays; words: numbers of 64 bits.
  Outcome run(char* const* operands, const std::int64_t* words, Scalar* results) const;
  std::size_t result_count() const { return program_->result_count(); }

 private:
  enum class From : std::uint8_t { Fixed, Operand, Word };
  struct Source {
    From from;
    std::int64_t value;  // what is fixed, or its number
  };
  static Source source(const pybind11::handle& pair);

  pybind11::object held_;
  const engine::SequentialProgram* program_;
  std::vector<Source> arrays_, params_, args_;
};

// The results of a run, as Python has them.
pybind11::tuple numbers_of(const Scalar* results, std::size_t count);
pybind11::tuple integers_of(const std::int64_t* numbers, std::size_t count);

void add_native_ufuncs(pybind11::module_& m);
void add_native_functions(pybind11::module_& m);
void add_native_calls(pybind11::module_& m);

}  // namespace plait::py
