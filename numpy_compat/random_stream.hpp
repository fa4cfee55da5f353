// The numbers of numpy.random.default_rng(seed): SeedSequence, PCG64 and the methods of Generator
// that draw from it, one number after the other. Sources: O'Neill, "PCG: a family of simple fast
// space-efficient statistically good algorithms" (2014); Marsaglia and Tsang, "The ziggurat method"
// (2000); Lemire, "Fast random integer generation in an interval" (2019).
#pragma once
#include <cstdint>
#include <vector>

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
  explicit RandomStream(std::uint64_t seed);
  explicit RandomStream(const BitGenerator* source) : source_(source) {}

  std::uint64_t bits();
  double uniform();  // in [0, 1)
  double normal();
  double exponential();
  // Of single precision, which draw 32 bits where the others draw 64.
  float uniform_float() { return static_cast<float>(half() >> 8) * 0x1p-24F; }
  float normal_float();
  float exponential_float();
  std::uint64_t below_or_at(std::uint64_t most);
  std::uint32_t half();                      // 32 bits
  std::uint64_t masked(std::uint64_t most);  // the same by other bits, as permutations draw it
  // In place, from `first` on: the elements before it are only exchanged with later ones.
  void shuffle(std::int64_t* values, std::int64_t n, std::int64_t first = 1);
  // `n` different indices below `population`, in random order.
  std::vector<std::int64_t> sample(std::int64_t population, std::int64_t n);

 private:
  void step();
  const BitGenerator* source_ = nullptr;  // of the bits, where they are not this stream's
  unsigned __int128 state_ = 0, increment_ = 0;
  bool has_half_ = false;  // the other half of the last 64 bits that were drawn for 32
  std::uint32_t half_ = 0;
};

// below_or_at(most) for integers of 1, 8 or 16 bits: Generator.integers() takes 32 bits at a time
// for them, and uses them up part by part.
class NarrowIntegers {
 public:
  NarrowIntegers(RandomStream& stream, int bits, std::uint32_t most)
      : stream_(stream), bits_(bits), greatest_((1U << bits) - 1), most_(most) {}
  std::uint32_t next();

 private:
  std::uint32_t part();
  RandomStream& stream_;
  int bits_;
  std::uint32_t greatest_, most_, word_ = 0;
  int left_ = 0;  // parts of the word that were not used
};

}  // namespace plait::numpy
