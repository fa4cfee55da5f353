#include "dims.hpp"

#include "plait/error.hpp"
#include "shape_limits.hpp"

namespace plait {
namespace {

std::string spell(const Dims& shape, const char* separator) {
  std::string s = "(";
  for (int i = 0; i < shape.size(); ++i) {
    if (i) s += separator;
    s += std::to_string(shape[i]);
  }
  if (shape.size() == 1) s += ',';
  return s + ')';
}

}  // namespace

void Dims::assign(const std::int64_t* b, const std::int64_t* e) {
  size_ = 0;
  reserve(static_cast<int>(e - b));
  size_ = static_cast<int>(e - b);
  std::copy(b, e, data());
}

void Dims::spill(int n) {
  const int capacity = std::max(2 * n, kMaxDims);
  auto* h = new std::int64_t[static_cast<std::size_t>(capacity)];
  std::copy(begin(), end(), h);
  delete[] heap_;
  heap_ = h;
  inline_[0] = capacity;
}

std::string to_string(const Dims& shape) { return spell(shape, ", "); }
std::string to_compact_string(const Dims& shape) { return spell(shape, ","); }

Dims contiguous_strides(const Dims& shape, std::int64_t itemsize) {
  check_shape(shape, itemsize);
  Dims strides(shape.size());
  if (element_count(shape) == 0) return strides;  // NumPy 2 gives empty arrays zero strides
  std::int64_t step = itemsize;
  for (int i = shape.size() - 1; i >= 0; --i) {
    strides[i] = step;
    step *= shape[i];
  }
  return strides;
}

Dims broadcast_shapes(const Dims& a, const Dims& b) {
  const Dims& longer = a.size() >= b.size() ? a : b;
  const Dims& shorter = a.size() >= b.size() ? b : a;
  Dims out = longer;
  const int shift = longer.size() - shorter.size();
  for (int i = 0; i < shorter.size(); ++i) {
    const std::int64_t x = longer[i + shift], y = shorter[i];
    if (x == y || y == 1) continue;
    if (x != 1)
      throw ShapeError("operands could not be broadcast together with shapes " +
                       to_compact_string(a) + ' ' + to_compact_string(b) + ' ');
    out[i + shift] = y;
  }
  return out;
}

}  // namespace plait
