// The numbers of numpy.random.default_rng(seed): SeedSequence, PCG64 and the methods of Generator
// that draw from it, one number after the other.
#pragma once
#include <cstdint>
#include <vector>

#include "draws.hpp"
#include "seed_sequence.hpp"

namespace plait::numpy {

// A bit generator of NumPy's (numpy/random/bitgen.h), whoever made it.
struct BitGenerator {
  void* state;
  std::uint64_t (*next_uint64)(void*);
  std::uint32_t (*next_uint32)(void*);
  double (*next_double)(void*);
  std::uint64_t (*next_raw)(void*);
};

class RandomStream {
 public:
  explicit RandomStream(const SeedSequence& seeds);
  explicit RandomStream(const BitGenerator* source) : source_(source) {}
  // What NumPy's PCG64 has as its state.
  struct State {
    Pcg64 generator;
    bool has_half = false;  // the other half of the last 64 bits that were drawn for 32
    std::uint32_t half = 0;
  };
  explicit RandomStream(const State& s) : own_(s) {}
  State& own() { return own_; }
  const State& own() const { return own_; }

  std::uint64_t bits() {
    return source_ ? source_->next_uint64(source_->state) : own_.generator.bits();
  }
  std::uint32_t half();  // 32 bits
  double uniform() {     // in [0, 1)
    return source_ ? source_->next_double(source_->state) : uniform_of(own_.generator.bits());
  }
  double normal();
  double exponential();
  // Of single precision, which draw 32 bits where the others draw 64.
  float uniform_float() { return uniform_float_of(half()); }
  float normal_float();
  float exponential_float();
  std::uint64_t below_or_at(std::uint64_t most);
  std::uint64_t masked(std::uint64_t most);  // the same by other bits, as permutations draw it
  // In place, from `first` on: the elements before it are only exchanged with later ones.
  void shuffle(std::int64_t* values, std::int64_t n, std::int64_t first = 1);
  // `n` different indices below `population`, in random order.
  std::vector<std::int64_t> sample(std::int64_t population, std::int64_t n);

 private:
  const BitGenerator* source_ = nullptr;  // of the bits, where they are not this stream's
  State own_;
};

// below_or_at(most) for integers of 1, 8 or 16 bits: Generator.integers() takes 32 bits at a time
// for them, and uses them up part by part.
class NarrowIntegers {
 public:
  NarrowIntegers(RandomStream& stream, int bits)
      : stream_(stream), bits_(bits), greatest_((1U << bits) - 1) {}
  std::uint32_t below_or_at(std::uint32_t most);

 private:
  std::uint32_t part();
  RandomStream& stream_;
  int bits_;
  std::uint32_t greatest_, word_ = 0;
  int left_ = 0;  // parts of the word that were not used
};

}  // namespace plait::numpy
