#include "array_memory.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>

#include "device.hpp"

namespace plait {
namespace {

// A number of bytes as NumPy spells it: three digits and a binary unit, "512. PiB".
struct Size {
  double number;
  const char* unit;
};
Size binary_size(double bytes) {
  constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  while (unit + 1 < std::size(kUnits) && std::round(bytes) >= 1024) {
    bytes /= 1024;
    ++unit;
  }
  return {bytes, kUnits[unit]};
}

}  // namespace

ArrayMemoryError::ArrayMemoryError(const Dims& shape, DType t) noexcept {
  double bytes = static_cast<double>(itemsize(t));
  for (const std::int64_t extent : shape) bytes *= static_cast<double>(extent);
  const Size size = binary_size(bytes);
  std::size_t at = 0;
  const auto append = [&](const char* format, auto... values) {
    const int n = std::snprintf(text_ + at, sizeof text_ - at, format, values...);
    at = std::min(sizeof text_ - 1, at + static_cast<std::size_t>(std::max(n, 0)));
  };
  const bool whole = size.unit[0] == 'b', digits = std::round(size.number) >= 1000;
  append(whole    ? "Unable to allocate %.0f %s"
         : digits ? "Unable to allocate %#.0f %s"
                  : "Unable to allocate %#.3g %s",
         size.number, size.unit);
  append(" for an array with shape (");
  for (int i = 0; i < shape.size(); ++i)
    append(i ? ", %lld" : "%lld", static_cast<long long>(shape[i]));
  const std::string_view dtype = name(t);
  append(shape.size() == 1 ? ",) and data type %.*s" : ") and data type %.*s",
         static_cast<int>(dtype.size()), dtype.data());
}

Ref<Buffer> allocate_array(const Dims& shape, DType t, DeviceId device) {
  const std::size_t bytes = static_cast<std::size_t>(element_count(shape)) * itemsize(t);
  try {
    return device == kHost ? allocate(bytes) : devices().memory(device).allocate(bytes);
  } catch (const std::bad_alloc&) {
    throw ArrayMemoryError(shape, t);
  }
}

}  // namespace plait
