#include "shape_limits.hpp"

#include "plait/error.hpp"

namespace plait {
namespace {

[[noreturn]] void throw_too_big() {
  throw ValueError(
      "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible "
      "size.");
}

// NumPy's extents wrap around before it looks at them.
[[noreturn]] void throw_extent(std::int64_t wrapped) {
  if (wrapped < 0) throw ValueError("negative dimensions are not allowed");
  throw_too_big();
}

}  // namespace

void check_shape(const Dims& shape, std::int64_t itemsize) {
  if (shape.size() > kMaxDims)
    throw ValueError("maximum supported dimension for an ndarray is currently " +
                     std::to_string(kMaxDims) + ", found " + std::to_string(shape.size()));
  std::int64_t bytes = itemsize;
  for (const std::int64_t extent : shape) {
    if (extent < 0) throw ValueError("negative dimensions are not allowed");
    if (extent != 0 && __builtin_mul_overflow(bytes, extent, &bytes)) throw_too_big();
  }
}

std::int64_t checked_element_count(const Dims& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) {
    if (extent == 0) return 0;
    if (__builtin_mul_overflow(count, extent, &count)) return -1;
  }
  return count;
}

void check_iteration(const Dims& shape) {
  if (checked_element_count(shape) < 0) throw ValueError("iterator is too large");
}

std::int64_t joined_extent(std::int64_t a, std::int64_t b) {
  std::int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) throw_extent(sum);
  return sum;
}

std::int64_t repeated_extent(std::int64_t extent, std::int64_t times) {
  std::int64_t product;
  if (__builtin_mul_overflow(extent, times, &product)) throw_extent(product);
  return product;
}

}  // namespace plait
