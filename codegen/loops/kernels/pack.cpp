// Elements brought side by side, and back.
#include "codegen/loops/pack.hpp"

namespace plait::loops::PLAIT_TIER {

// Every second element, as of the parts of complex numbers, goes by shuffles, one for all by
// stores.
template <class U>
void gather_strided(void* out, const char* in, std::int64_t stride, std::int64_t n) {
  auto* r = static_cast<U*>(out);
  if (stride == 2 * sizeof(U)) {
    auto* p = reinterpret_cast<const U*>(in);
    for (std::int64_t i = 0; i < n; ++i) r[i] = p[2 * i];
  } else if (stride == 0) {
    const U one = load<U>(in);
    for (std::int64_t i = 0; i < n; ++i) r[i] = one;
  } else {
    for (std::int64_t i = 0; i < n; ++i) r[i] = load<U>(in + i * stride);
  }
}
template <class U>
void scatter_strided(char* out, std::int64_t stride, const void* in, std::int64_t n) {
  auto* p = static_cast<const U*>(in);
  for (std::int64_t i = 0; i < n; ++i) store<U>(out + i * stride, p[i]);
}

#define PLAIT_WIDTH(U)                                                             \
  template void gather_strided<U>(void*, const char*, std::int64_t, std::int64_t); \
  template void scatter_strided<U>(char*, std::int64_t, const void*, std::int64_t);
PLAIT_WIDTH(std::uint8_t)
PLAIT_WIDTH(std::uint16_t)
PLAIT_WIDTH(std::uint32_t)
PLAIT_WIDTH(std::uint64_t)
PLAIT_WIDTH(Wide)
#undef PLAIT_WIDTH

}  // namespace plait::loops::PLAIT_TIER
