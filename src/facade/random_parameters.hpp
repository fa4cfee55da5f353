// What a law is drawn with: numbers, and arrays of them that broadcast.
#pragma once
#include <vector>

#include "plait/random_engine.hpp"
#include "random_laws.hpp"

namespace plait::random {

// Parameters for a number of the result after the other.
class Parameters {
 public:
  // Of the shape given, or of the arrays' common one. Throws ValueError, and DTypeError where
  // something is no integer.
  Parameters(const Parameter* kinds, const parameter* const* given, int n, const extents* shape);
  const shape_type& shape() const { return shape_; }
  bool has_arrays() const { return has_arrays_; }
  // Of the i-th number. Valid until the next call.
  const Number* operator[](std::int64_t i) {
    for (int k = 0; k < n_; ++k)
      if (elements_[k]) now_[k] = elements_[k][i];
    return now_;
  }

 private:
  void add(const Parameter& kind, const parameter& given);

  int n_;
  bool has_arrays_ = false;
  shape_type shape_;
  std::vector<detail::Handle> arrays_;  // one a parameter, empty for numbers
  const Number* elements_[3] = {};
  Number now_[3] = {};
};

}  // namespace plait::random
