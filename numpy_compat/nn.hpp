// Conveniences for networks, recorded as if the caller had written them: what plait.nn has in
// Python. Throws ValueError for shapes that do not meet.
#pragma once
#include <optional>

#include "tracer/array.hpp"

namespace plait::numpy::nn {

using tracer::Array;

struct Attention {
  const Array* mask = nullptr;  // Bool: true where a key counts; or floats, added to the scores
  bool is_causal = false;       // query i counts keys 0 to i + keys - queries
  std::optional<double> scale;  // 1 / sqrt(d)
};
// softmax(q @ k.T * scale) @ v over the last two axes.
Array attention(const Array& q, const Array& k, const Array& v, const Attention& options = {});

// One number for all window axes, or one for each.
struct Convolution {
  const Array* bias = nullptr;
  Dims stride{1}, padding{0}, dilation{1};
  std::int64_t groups = 1;
};
// x: (N, C, *extents), w: (O, C / groups, *window) -> (N, O, *extents); filters are not turned.
Array conv(const Array& x, const Array& w, const Convolution& options = {});

struct Pool {
  std::optional<Dims> stride;  // the size
  Dims padding{0};             // below every number, or zeros, which count in means
  bool mean = false;           // else the maximum
};
Array pool(const Array& x, const Dims& size, const Pool& options = {});

}  // namespace plait::numpy::nn
