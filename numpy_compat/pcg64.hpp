// PCG64: O'Neill, "PCG: a family of simple fast space-efficient statistically good algorithms"
// (2014), with the output XSL-RR.
#pragma once
#include <cstdint>

namespace plait::numpy {

__extension__ using Wide = unsigned __int128;

class Pcg64 {
 public:
  Pcg64() = default;
  Pcg64(Wide state, Wide increment) : state_(state), increment_(increment) {}
  static Pcg64 seeded(Wide seed, Wide sequence) {
    Pcg64 g(0, sequence << 1 | 1);
    g.step();
    g.state_ += seed;
    g.step();
    return g;
  }

  std::uint64_t bits() {
    step();
    const auto folded =
        static_cast<std::uint64_t>(state_ >> 64) ^ static_cast<std::uint64_t>(state_);
    const auto turn = static_cast<unsigned>(state_ >> 122);
    return folded >> turn | folded << (-turn & 63);
  }
  // As if so many had been drawn: the step is applied to itself, doubling (Brown, "Random number
  // generation with arbitrary strides", 1994).
  void advance(Wide draws) {
    Wide factor = kFactor, increment = increment_;
    for (; draws > 0; draws >>= 1) {
      if (draws & 1) state_ = state_ * factor + increment;
      increment *= factor + 1;
      factor *= factor;
    }
  }
  Wide state() const { return state_; }
  Wide increment() const { return increment_; }

 private:
  static constexpr Wide kFactor = Wide{2549297995355413924U} << 64 | 4865540595714422341U;
  void step() { state_ = state_ * kFactor + increment_; }
  Wide state_ = 0, increment_ = 0;
};

}  // namespace plait::numpy
