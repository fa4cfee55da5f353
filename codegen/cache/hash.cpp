#include <cstring>

#include "disk_cache.hpp"

namespace plait::cache {
namespace {

// Folded 64 x 64 bit multiplication: every bit of the input reaches every bit of the product.
std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  auto p = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(p) ^ static_cast<std::uint64_t>(p >> 64);
}

}  // namespace

std::uint64_t hash(std::string_view bytes, std::uint64_t seed) {
  constexpr std::uint64_t kA = 0x9e3779b97f4a7c15u, kB = 0xd1b54a32d192ed03u;
  std::uint64_t h = mix(seed ^ kA, bytes.size() ^ kB);
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data(), 8);
    h = mix(h ^ word ^ kB, kA) + (h << 1 | h >> 63);
  }
  std::uint64_t last = 0;
  std::memcpy(&last, bytes.data(), bytes.size());
  return mix(h ^ last, kB) ^ mix(h, kA);
}

}  // namespace plait::cache
