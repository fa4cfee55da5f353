// These tests are about what is recorded: shapes, dtypes, layouts and errors. Values are compared
// with NumPy by the Python tests.
#pragma once
#include <catch2/catch.hpp>
#include <string>

#include "numpy_compat/functions.hpp"
#include "tracer/context.hpp"

namespace plait::numpy::test {

// Never asked for a value here.
struct NoEvaluator : tracer::Evaluator {
  void evaluate(std::span<tracer::Node* const>) override { throw InternalError("evaluated"); }
  bool eager(OpId, std::span<const Array* const>, const Array&) override { return false; }
};
inline void without_values() {
  static NoEvaluator e;
  tracer::install(&e);
}

template <class E, class F>
std::string message(F f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "no error";
}

inline ReduceOptions along(const Dims& axes, bool keepdims = false) {
  ReduceOptions o;
  o.axes = axes;
  o.keepdims = keepdims;
  return o;
}

}  // namespace plait::numpy::test
