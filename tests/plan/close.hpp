// What products are compared by.
#pragma once
#include <catch2/catch.hpp>

#include "arrays.hpp"

namespace plait::test {

// Of float32: within so many units of one.
inline void check_close(const Both& r, double units = 200) {
  REQUIRE(r.fused.size() == r.direct.size());
  for (std::size_t at = 0; at < r.fused.size(); at += sizeof(float)) {
    float a, b;
    std::memcpy(&a, &r.fused[at], sizeof a);
    std::memcpy(&b, &r.direct[at], sizeof b);
    if (!(a == b) && !(std::isnan(a) && std::isnan(b)) &&
        !(std::abs(a - b) <= units * 1.2e-7 * (1 + std::abs(b)))) {
      INFO(r.text << at / sizeof a << ": " << a << " and not " << b);
      FAIL();
    }
  }
}

}  // namespace plait::test
