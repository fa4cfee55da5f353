#include "key_codes.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "core/machine.hpp"
#include "engine/threads/split.hpp"

namespace plait::engine {
namespace {

constexpr std::uint64_t kSign = std::uint64_t{1} << 63;

// Bits that ascend as the keys do.
std::uint64_t ordered(std::uint64_t v) { return v; }
std::uint64_t ordered(std::int64_t v) { return static_cast<std::uint64_t>(v) ^ kSign; }
std::uint64_t ordered(double v) {
  if (v != v) return ~std::uint64_t{0};
  const auto bits = std::bit_cast<std::uint64_t>(v + 0.0);  // -0.0 becomes 0.0
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

// Numbers the keys in the order in which they come: open addressing, half full at most.
class KeyTable {
 public:
  std::int64_t code(std::uint64_t key, std::int64_t place) {
    for (std::size_t s = slot(key);; s = (s + 1) & (slots_.size() - 1)) {
      if (slots_[s] < 0) {
        slots_[s] = static_cast<std::int64_t>(keys_.size());
        keys_.push_back(key);
        first_.push_back(place);
        if (2 * keys_.size() > slots_.size()) grow();
        return static_cast<std::int64_t>(keys_.size()) - 1;
      }
      if (keys_[static_cast<std::size_t>(slots_[s])] == key) return slots_[s];
    }
  }
  const std::vector<std::uint64_t>& keys() const { return keys_; }
  const std::vector<std::int64_t>& first() const { return first_; }

 private:
  std::size_t slot(std::uint64_t key) const {
    constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;
    return static_cast<std::size_t>((key ^ (key >> 32)) * kGolden >> shift_);
  }
  void grow() {
    slots_.assign(2 * slots_.size(), -1);
    --shift_;
    for (std::size_t k = 0; k < keys_.size(); ++k) {
      std::size_t s = slot(keys_[k]);
      while (slots_[s] >= 0) s = (s + 1) & (slots_.size() - 1);
      slots_[s] = static_cast<std::int64_t>(k);
    }
  }
  int shift_ = 64 - 10;
  std::vector<std::int64_t> slots_ = std::vector<std::int64_t>(1 << 10, -1);
  std::vector<std::uint64_t> keys_;
  std::vector<std::int64_t> first_;
};

template <class T>
std::vector<std::int64_t> code_keys(const std::byte* keys, std::int64_t n, std::int64_t* codes) {
  KeyTable table;
  in_parts(n, [&](std::int64_t begin, std::int64_t some) {
    for (std::int64_t i = begin; i < begin + some; ++i) {
      T v;
      std::memcpy(&v, keys + i * static_cast<std::int64_t>(sizeof v), sizeof v);
      codes[i] = table.code(ordered(v), i);
    }
  });
  std::vector<std::size_t> order(table.keys().size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return table.keys()[a] < table.keys()[b]; });
  std::vector<std::int64_t> rank(order.size()), first(order.size());
  for (std::size_t r = 0; r < order.size(); ++r) {
    rank[order[r]] = static_cast<std::int64_t>(r);
    first[r] = table.first()[order[r]];
  }
  split(n, host_machine().counted, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) codes[i] = rank[static_cast<std::size_t>(codes[i])];
  });
  return first;
}

}  // namespace

std::vector<std::int64_t> code_keys(DType t, const std::byte* keys, std::int64_t n,
                                    std::int64_t* codes) {
  return t == DType::Int64    ? code_keys<std::int64_t>(keys, n, codes)
         : t == DType::UInt64 ? code_keys<std::uint64_t>(keys, n, codes)
                              : code_keys<double>(keys, n, codes);
}

}  // namespace plait::engine
