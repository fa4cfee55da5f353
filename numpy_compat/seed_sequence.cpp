#include "seed_sequence.hpp"

#include <random>

namespace plait::numpy {
namespace {

std::vector<std::uint32_t> halves(const std::vector<std::uint64_t>& integers) {
  std::vector<std::uint32_t> words;
  for (const std::uint64_t v : integers) {
    words.push_back(static_cast<std::uint32_t>(v));
    if (v >> 32) words.push_back(static_cast<std::uint32_t>(v >> 32));
  }
  return words;
}

}  // namespace

SeedSequence::SeedSequence(const std::vector<std::uint64_t>& entropy)
    : SeedSequence(halves(entropy), {}) {}

SeedSequence SeedSequence::of_chance() {
  std::random_device chance;
  return SeedSequence({chance(), chance(), chance(), chance()}, {});
}

SeedSequence::SeedSequence(std::vector<std::uint32_t> entropy, std::vector<std::uint32_t> key)
    : entropy_(std::move(entropy)), key_(std::move(key)) {
  std::vector<std::uint32_t> all = entropy_;
  if (!key_.empty() && all.size() < pool_.size()) all.resize(pool_.size());
  all.insert(all.end(), key_.begin(), key_.end());

  std::uint32_t factor = 0x43b0d7e5;
  const auto hashed = [&factor](std::uint32_t v) {
    v ^= factor;
    factor *= 0x931e8875;
    v *= factor;
    return v ^ (v >> 16);
  };
  const auto mix = [&](std::uint32_t& into, std::uint32_t from) {
    const std::uint32_t v = 0xca01f9dd * into - 0x4973f715 * hashed(from);
    into = v ^ (v >> 16);
  };
  for (std::size_t i = 0; i < pool_.size(); ++i) pool_[i] = hashed(i < all.size() ? all[i] : 0);
  for (std::size_t from = 0; from < pool_.size(); ++from)
    for (std::size_t to = 0; to < pool_.size(); ++to)
      if (from != to) mix(pool_[to], pool_[from]);
  for (std::size_t from = pool_.size(); from < all.size(); ++from)
    for (std::uint32_t& to : pool_) mix(to, all[from]);
}

std::vector<std::uint64_t> SeedSequence::words(std::size_t n) const {
  std::uint32_t factor = 0x8b51f9dd;
  std::size_t at = 0;
  const auto next = [&] {
    std::uint32_t v = pool_[at++ % pool_.size()] ^ factor;
    factor *= 0x58f38ded;
    v *= factor;
    return v ^ (v >> 16);
  };
  std::vector<std::uint64_t> out(n);
  for (std::uint64_t& w : out) {
    w = next();
    w |= std::uint64_t{next()} << 32;
  }
  return out;
}

std::vector<SeedSequence> SeedSequence::spawn(std::int64_t n) {
  std::vector<SeedSequence> children;
  for (std::int64_t i = 0; i < n; ++i) {
    std::vector<std::uint32_t> key = key_;
    key.push_back(spawned_++);
    children.push_back(SeedSequence(entropy_, std::move(key)));
  }
  return children;
}

}  // namespace plait::numpy
