// What NVRTC makes of the tiled matrix product; what it computes is tested on a device's double, in
// tests/cuda/own_products.cpp. Without NVRTC there is nothing to test.
#include <catch2/catch.hpp>
#include <iostream>

#include "codegen/cuda/cuda.hpp"

using namespace plait;

TEST_CASE("a tiled product of every dtype leaves room for two blocks on a multiprocessor") {
  if (std::string why; !cuda::nvrtc_available(&why)) {
    std::cout << "skipped, NVRTC is missing: " << why << "\n";
    return;
  }
  for (int arch : {80, 90, 100})
    for (int code = 0; code < kDTypeCount; ++code) {
      const auto t = static_cast<DType>(code);
      if (arch != 90 && !is_float(t) && !is_complex(t)) continue;
      INFO(name(t) << ", sm_" << arch);
      const auto p = cuda::generate_product(t, {.arch = arch});
      const auto b = cuda::compile(*p, arch);
      const cuda::Launch l = cuda::product_shape(*p, {t, 1000, 1000, 1000, {}, {}, {}, {}, {}});
      CHECK(b->registers * static_cast<int>(l.block[0]) * 2 <= 65536);
      CHECK(b->spill_bytes == 0);
      // No launch has to ask for more than any device gives.
      CHECK(l.shared_bytes + static_cast<std::size_t>(b->shared_bytes) <= 48 * 1024);
    }
}
