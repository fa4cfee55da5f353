// Masks in words of eight elements, and by instructions that move the selected elements to the
// front where there are some.
#include "codegen/loops/selecting.hpp"

#include <bit>
#include <cstring>

#include "codegen/loops/processor/compress.hpp"
#include "core/fixed_size.hpp"

namespace plait::loops::PLAIT_TIER {
namespace {

std::uint64_t word(const std::byte* p) {
  std::uint64_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
constexpr std::uint64_t kAll = 0x0101010101010101;

// each(i, k) for every true place i, the k-th one.
template <class F>
void for_each_true(const std::byte* mask, std::int64_t n, F&& each) {
  std::int64_t i = 0, k = 0;
  for (; i + 8 <= n; i += 8) {
    std::uint64_t w = word(mask + i);
    if (w == kAll) {
      for (std::int64_t j = 0; j < 8; ++j) each(i + j, k + j);
      k += 8;
      continue;
    }
    for (; w != 0; w &= w - 1) each(i + std::countr_zero(w) / 8, k++);
  }
  for (; i < n; ++i)
    if (mask[i] != std::byte{0}) each(i, k++);
}

std::int64_t count(const std::byte* mask, std::int64_t n) {
  std::int64_t c = 0, i = 0;
  for (; i + 8 <= n; i += 8) c += std::popcount(word(mask + i));
  for (; i < n; ++i) c += mask[i] != std::byte{0};
  return c;
}

void compress(std::size_t item, const std::byte* mask, std::int64_t n, const std::byte* values,
              std::byte* out) {
  const Compressed done = compress_at_once(item, mask, n, values, out);
  mask += done.read;
  n -= done.read;
  values += done.read * static_cast<std::int64_t>(item);
  out += done.selected * static_cast<std::int64_t>(item);
  with_fixed_size(item, [=](auto bytes) {
    for_each_true(mask, n, [=](std::int64_t i, std::int64_t k) {
      std::memcpy(out + k * static_cast<std::int64_t>(bytes),
                  values + i * static_cast<std::int64_t>(bytes), bytes);
    });
  });
}

void expand(std::size_t item, const std::byte* mask, std::int64_t n, std::byte* values,
            const std::byte* from) {
  with_fixed_size(item, [=](auto bytes) {
    for_each_true(mask, n, [=](std::int64_t i, std::int64_t k) {
      std::memcpy(values + i * static_cast<std::int64_t>(bytes),
                  from + k * static_cast<std::int64_t>(bytes), bytes);
    });
  });
}

void places(const std::byte* mask, std::int64_t n, std::int64_t first, std::int64_t* out) {
  const Compressed done = places_at_once(mask, n, first, out);
  mask += done.read;
  n -= done.read;
  first += done.read;
  out += done.selected;
  for_each_true(mask, n, [=](std::int64_t i, std::int64_t k) { out[k] = first + i; });
}

}  // namespace

const Selecting& selecting() {
  static constexpr Selecting all{count, compress, expand, places};
  return all;
}

}  // namespace plait::loops::PLAIT_TIER
