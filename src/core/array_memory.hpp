// Memory for the elements of an array.
#pragma once
#include <new>

#include "buffer.hpp"
#include "dims.hpp"
#include "dtype.hpp"

namespace plait {

// What allocate_array() throws: std::bad_alloc in NumPy's words. The text takes no memory of its
// own.
class ArrayMemoryError : public std::bad_alloc {
 public:
  ArrayMemoryError(const Dims& shape, DType t) noexcept;
  const char* what() const noexcept override { return text_; }

 private:
  char text_[512];
};

// allocate() for as many elements as the shape has, which has passed check_shape().
Ref<Buffer> allocate_array(const Dims& shape, DType t, DeviceId device = 0);

}  // namespace plait
