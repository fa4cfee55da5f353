#include "gather.hpp"

#include <complex>
#include <cstring>

namespace plait::loops {
namespace {

std::int64_t index_at(const char* p) {
  std::int64_t i;
  std::memcpy(&i, p, sizeof i);
  return i;
}

template <class T>
void gather_items(char* out, std::int64_t out_stride, const Gather& g, std::int64_t n) {
  const auto* base = static_cast<const char*>(g.base);
  const auto* index = static_cast<const char*>(g.index);
  constexpr auto item = static_cast<std::int64_t>(sizeof(T));
  // The strides as constants: an address is one scaled operand.
  if (out_stride == item && g.lane_stride == 0 && g.stride == item && g.index_stride == 8) {
    for (std::int64_t i = 0; i < n; ++i)
      std::memcpy(out + i * item, base + index_at(index + i * 8) * item, sizeof(T));
    return;
  }
  for (std::int64_t i = 0; i < n; ++i)
    std::memcpy(out + i * out_stride,
                base + i * g.lane_stride + index_at(index + i * g.index_stride) * g.stride,
                sizeof(T));
}

}  // namespace

void gather(void* out, std::int64_t out_stride, const Gather& g, std::int64_t n, int itemsize) {
  auto* to = static_cast<char*>(out);
  switch (itemsize) {
    case 1:
      return gather_items<std::uint8_t>(to, out_stride, g, n);
    case 2:
      return gather_items<std::uint16_t>(to, out_stride, g, n);
    case 4:
      return gather_items<std::uint32_t>(to, out_stride, g, n);
    case 8:
      return gather_items<std::uint64_t>(to, out_stride, g, n);
    default:
      return gather_items<std::complex<double>>(to, out_stride, g, n);
  }
}

}  // namespace plait::loops
