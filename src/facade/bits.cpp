// Bits as elements, in the library's own names.
#include "plait/bits.hpp"

#include "errors.hpp"
#include "plait/build.hpp"
#include "plait/join.hpp"
#include "plait/math.hpp"
#include "plait/reduce.hpp"
#include "plait/view.hpp"

namespace plait::detail {

namespace {

// The array with the axis last, or all elements along one.
any_array lines(const any_array& given, const std::int64_t* axis) {
  const any_array a = atleast_1d(given);
  return axis ? moveaxis(a, *axis, -1) : ravel(a);
}
any_array back(const any_array& a, const std::int64_t* axis) {
  return axis ? moveaxis(a, -1, *axis) : a;
}
// By how much to shift each bit of a byte.
array<std::uint8_t> shifts(bit_order order) {
  const auto up = plait::arange<std::uint8_t>(8);
  return order == bit_order::big ? flip(up) : up;
}

}  // namespace

any_array packbits(const any_array& a, const std::int64_t* axis, bit_order order) {
  return named("packbits", [&]() -> any_array {
    if (a.dtype() != dtype::bool_ && !is_integer(a.dtype()))
      throw DTypeError("Expected an input array of integer or boolean data type");
    any_array bits = lines(a != 0, axis);
    const std::int64_t n = bits.shape(-1), bytes = (n + 7) / 8;
    if (const std::int64_t missing = bytes * 8 - n; missing > 0) {
      shape_type shape = bits.shape();
      shape.back() = missing;
      bits = concatenate({bits, zeros(dtype::bool_, shape)}, -1);
    }
    shape_type shape = bits.shape();
    shape.back() = bytes;
    shape.push_back(8);
    const any_array weighed = bits.reshape(shape).astype<std::uint8_t>() << shifts(order);
    return back(sum(weighed, -1).astype<std::uint8_t>(), axis);
  });
}

any_array unpackbits(const any_array& a, const std::int64_t* axis, const std::int64_t* count,
                     bit_order order) {
  return named("unpackbits", [&]() -> any_array {
    if (a.dtype() != dtype::uint8)
      throw DTypeError("Expected an input array of unsigned byte data type");
    const any_array bytes = lines(a, axis);
    shape_type shape = bytes.shape();
    shape.back() *= 8;
    any_array bits = ((view(bytes, ellipsis(), newaxis()) >> shifts(order)) & 1).reshape(shape);
    if (count) {
      const std::int64_t n = bits.shape(-1), wanted = *count < 0 ? n + *count : *count;
      if (wanted < 0) throw ValueError("-count larger than number of elements");
      if (wanted <= n) {
        bits = view(bits, ellipsis(), range(0, wanted));
      } else {
        shape.back() = wanted - n;
        bits = concatenate({bits, zeros(dtype::uint8, shape)}, -1);
      }
    }
    return back(bits, axis);
  });
}

}  // namespace plait::detail
