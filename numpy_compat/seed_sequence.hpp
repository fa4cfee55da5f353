// numpy.random.SeedSequence: words of 32 bits that are made of any entropy, and of where a stream
// stands among those that were spawned. Source: O'Neill's randutils (2015).
#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace plait::numpy {

class SeedSequence {
 public:
  // Of integers, each in as many words as it needs.
  explicit SeedSequence(const std::vector<std::uint64_t>& entropy);
  static SeedSequence of_chance();  // what the system has of it

  std::vector<std::uint64_t> words(std::size_t n) const;  // of 64 bits
  // Sequences that no other call gives.
  std::vector<SeedSequence> spawn(std::int64_t n);

 private:
  explicit SeedSequence(std::vector<std::uint32_t> entropy, std::vector<std::uint32_t> key);
  std::vector<std::uint32_t> entropy_, key_;  // key_: which child of which child
  std::array<std::uint32_t, 4> pool_{};
  std::uint32_t spawned_ = 0;
};

}  // namespace plait::numpy
