// Shapes and strides as NumPy computes them: iteration order, layouts of fresh results, contiguity,
// reshape without a copy.
#pragma once
#include <span>
#include <string>

#include "core/dims.hpp"

namespace plait::tracer {

// "(2,3)", "(4,)", "()": how ufunc messages spell shapes.
std::string shape_text(const Dims& shape);

// Strides of an operand broadcast to `to`: 0 along axes of extent 1 and along new leading axes.
Dims broadcast_strides(const Dims& shape, const Dims& strides, const Dims& to);
bool broadcastable(const Dims& from, const Dims& to);

// An operand of the iterator before it is broadcast.
struct Laid {
  Laid() = default;
  Laid(const Dims& shape, const Dims& strides)
      : ndim(shape.size()), shape(shape.data()), strides(strides.data()) {}
  int ndim;
  const std::int64_t* shape;
  const std::int64_t* strides;
};
// What the operands broadcast to; false when they do not. Throws ValueError where that has more
// elements than NumPy's iterator counts.
bool broadcast_shape(std::span<const Laid> operands, Dims& shape);

// The iterator's axis order, fastest first. Each entry of `strides` is broadcast to `ndim` axes.
Dims iteration_order(int ndim, std::span<const Dims> strides);
// Dense strides of `shape` with its axes in the iterator's order over operands that broadcast to as
// many axes: how NumPy lays out a result of theirs.
Dims iterated_strides(const Dims& shape, std::span<const Laid> operands, std::int64_t itemsize);
// The strides of fresh memory are computed by the functions from here to scaled_strides(); they
// throw ValueError for shapes that no array has.
Dims dense_strides(const Dims& shape, std::int64_t itemsize, char order);  // 'C' or 'F'
// Layout of a copy with order C, F, A or K (numpy's NewLikeArray).
Dims copy_strides(const Dims& shape, const Dims& strides, std::int64_t itemsize, char order);
// Dense strides of elements of `from` bytes, for those of `to` bytes.
Dims scaled_strides(const Dims& shape, const Dims& strides, std::int64_t from, std::int64_t to);

bool c_contiguous(const Dims& shape, const Dims& strides, std::int64_t itemsize);
bool f_contiguous(const Dims& shape, const Dims& strides, std::int64_t itemsize);

// New strides when `to` can be a view of (shape, strides); false when it needs a copy.
bool reshape_strides(const Dims& shape, const Dims& strides, std::int64_t itemsize, const Dims& to,
                     bool fortran, Dims& out);

// Bytes [first, last) that the elements cover, relative to element 0; empty arrays cover [0, 0).
struct Extent {
  std::int64_t first, last;
};
Extent extent(const Dims& shape, const Dims& strides, std::int64_t itemsize);

}  // namespace plait::tracer
