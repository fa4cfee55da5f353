// Indexing by arrays of integers and of booleans. Each function gives nothing where NumPy has to
// look at the call: keys that are wrong (it words the error), arrays on a device, and what is not
// covered; nothing has changed then. Indices and masks are evaluated, the array that is read is
// not.
#pragma once
#include <optional>
#include <span>
#include <variant>

#include "tracer/array.hpp"

namespace plait::numpy {

using tracer::Array;
// An entry of a key: basic ones, or an array of integers or booleans.
using KeyEntry = std::variant<tracer::Index, Array>;
using Key = std::span<const KeyEntry>;

// a[key] for keys with at least one array: a copy, laid out as NumPy's.
std::optional<Array> getitem(const Array& a, Key key);
// a[key] = value; with indices that name an element twice the last value stays.
bool setitem(const Array& a, Key key, const tracer::Operand& value);

// The result is in C order, whatever the order of the array.
std::optional<Array> take(const Array& a, const Array& indices, std::optional<std::int64_t> axis);
std::optional<Array> take_along_axis(const Array& a, const Array& indices, std::int64_t axis);

// The elements, or the rows along `axis`, where a 1-D mask is true; the mask may be shorter than
// the axis.
std::optional<Array> compress(const Array& mask, const Array& a, std::optional<std::int64_t> axis);
// arr[...] = values at the places that take_along_axis() reads.
bool put_along_axis(const Array& a, const Array& indices, const tracer::Operand& values,
                    std::int64_t axis);
// The coordinates of what is not zero: (count, ndim), where those of an element lie side by side,
// or those of an axis.
enum class Coordinates : std::uint8_t { Interleaved, ByAxis };
std::optional<Array> argwhere(const Array& a, Coordinates layout);

// a[key] = fn(a[key], value) for each index in turn, as ufunc.at() does it.
bool at(OpId fn, const Array& a, Key key, const tracer::Operand& value);

std::optional<Array> bincount(const Array& x, const Array* weights, std::int64_t least);
// How many values of a float64 array lie between each two edges, which are equally far apart.
std::optional<Array> histogram(const Array& a, const Array& edges);

}  // namespace plait::numpy
