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

// Numbers the keys in the order in which they come: open addressing, a quarter full at
// most: a key that has to look further is a branch that was not foreseen.
class KeyTable {
 public:
  std::int64_t code(std::uint64_t key, std::int64_t place) {
    for (std::size_t s = slot(key);; s = (s + 1) & (slots_.size() - 1)) {
      const Slot& there = slots_[s];
      if (there.code < 0) return add(s, key, place);
      if (there.key == key) return there.code;
    }
  }
  const std::vector<std::uint64_t>& keys() const { return keys_; }
  const std::vector<std::int64_t>& first() const { return first_; }

 private:
  struct Slot {
    std::uint64_t key;
    std::int64_t code;  // -1: empty
  };
  std::size_t slot(std::uint64_t key) const {
    constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;
    const std::uint64_t mixed = (key ^ (key >> 32)) * kGolden;
    return static_cast<std::size_t>((mixed ^ (mixed >> 29)) * kGolden >> shift_);
  }
  std::int64_t add(std::size_t s, std::uint64_t key, std::int64_t place) {
    const auto code = static_cast<std::int64_t>(keys_.size());
    slots_[s] = {key, code};
    keys_.push_back(key);
    first_.push_back(place);
    if (4 * keys_.size() > slots_.size()) grow();
    return code;
  }
  void grow() {
    slots_.assign(2 * slots_.size(), {0, -1});
    --shift_;
    for (std::size_t k = 0; k < keys_.size(); ++k) {
      std::size_t s = slot(keys_[k]);
      while (slots_[s].code >= 0) s = (s + 1) & (slots_.size() - 1);
      slots_[s] = {keys_[k], static_cast<std::int64_t>(k)};
    }
  }
  int shift_ = 64 - 10;
  std::vector<Slot> slots_ = std::vector<Slot>(1 << 10, Slot{0, -1});
  std::vector<std::uint64_t> keys_;
  std::vector<std::int64_t> first_;
};

constexpr double kHashed = 4e-9;  // seconds of a key

// Parts of the keys have tables of their own, which are joined in order.
template <class T>
std::vector<std::int64_t> code_keys(const std::byte* keys, std::int64_t n, std::int64_t* codes) {
  const double seconds = kHashed * static_cast<double>(n);
  const int parts = seconds < kUnsplit ? 1 : team_threads(seconds);
  const auto begin_of = [&](std::int64_t part) { return n * part / parts; };
  std::vector<KeyTable> tables(static_cast<std::size_t>(parts));
  split(parts, seconds / parts, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p) {
      KeyTable& table = tables[static_cast<std::size_t>(p)];
      for (std::int64_t i = begin_of(p); i < begin_of(p + 1); ++i) {
        T v;
        std::memcpy(&v, keys + i * static_cast<std::int64_t>(sizeof v), sizeof v);
        codes[i] = table.code(ordered(v), i);
      }
    }
  });
  // The code in the first table of what has one in another.
  KeyTable& all = tables.front();
  std::vector<std::vector<std::int64_t>> ranks(tables.size());
  for (std::size_t p = 1; p < tables.size(); ++p)
    for (std::size_t k = 0; k < tables[p].keys().size(); ++k)
      ranks[p].push_back(all.code(tables[p].keys()[k], tables[p].first()[k]));
  std::vector<std::size_t> order(all.keys().size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return all.keys()[a] < all.keys()[b]; });
  std::vector<std::int64_t> first(order.size());
  std::vector<std::int64_t>& rank = ranks.front();
  rank.resize(order.size());
  for (std::size_t r = 0; r < order.size(); ++r) {
    rank[order[r]] = static_cast<std::int64_t>(r);
    first[r] = all.first()[order[r]];
  }
  for (std::size_t p = 1; p < tables.size(); ++p)
    for (std::int64_t& code : ranks[p]) code = rank[static_cast<std::size_t>(code)];
  split(parts, host_machine().counted * static_cast<double>(n) / parts,
        [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t p = begin; p < end; ++p) {
            const std::int64_t* const to = ranks[static_cast<std::size_t>(p)].data();
            for (std::int64_t i = begin_of(p); i < begin_of(p + 1); ++i) codes[i] = to[codes[i]];
          }
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
