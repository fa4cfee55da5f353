// Sorting, searching, order statistics and sets over the engine's calls, for arrays of any native
// dtype, empty ones included. NaN comes last, as in NumPy.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "tracer/array.hpp"

namespace plait::numpy {

using tracer::Array;

Array sort(const Array& a, std::int64_t axis = -1, bool stable = false);
Array argsort(const Array& a, std::int64_t axis = -1);  // stable
// Where the elements of `v` belong in `a`, which is sorted and has one axis; behind equal ones when
// `right`.
Array searchsorted(const Array& a, const Array& v, bool right = false);

// Of all elements without `axes`. NaN where a line has one, or none at all.
Array median(const Array& a, const std::optional<Dims>& axes = {}, bool keepdims = false);
// Between the two nearest elements (NumPy's method "linear"); each of `q`, from 0 to 1, along a new
// first axis.
Array quantile(const Array& a, std::span<const double> q, const std::optional<Dims>& axes = {},
               bool keepdims = false);
// As if the NaNs were not there; NaN where a line has nothing else.
Array nanmedian(const Array& a, const std::optional<Dims>& axes = {}, bool keepdims = false);
Array nanquantile(const Array& a, std::span<const double> q, const std::optional<Dims>& axes = {},
                  bool keepdims = false);

struct Unique {
  Array values, counts;
};
// The different elements in order, NaN once; evaluates how many they are.
Array unique(const Array& a);
Unique unique_counts(const Array& a);
// Of the different elements of both, in order: in both, in one only, in the first only.
Array intersect1d(const Array& a, const Array& b);
Array setxor1d(const Array& a, const Array& b);
Array setdiff1d(const Array& a, const Array& b);
// Whether each element of `a` is one of `b`.
Array isin(const Array& a, const Array& b);

}  // namespace plait::numpy
