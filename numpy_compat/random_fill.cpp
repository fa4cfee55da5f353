// A number takes some draws of the generator, most often one, and how many is known only when it is
// drawn. So the draws are cut into blocks, a number belongs to the block that its first draw lies
// in, and a block is read before it is known where its first number begins, as if that were at its
// first draw. What is found is right as soon as a number begins at the same draw in both readings,
// which is almost at once: only what is before that is drawn again.
#include "random_fill.hpp"

#include <algorithm>
#include <vector>

#include "engine/threads/team.hpp"

namespace plait::numpy {
namespace {

constexpr std::int64_t kBlock = 1 << 14;  // draws; even, as two halves are a word
constexpr std::int64_t kRound = 32;       // blocks

// The draws of a generator from one of them on, by words of 64 bits or by their halves.
struct Words {
  static constexpr std::int64_t kInWord = 1;
  Pcg64 generator;
  std::int64_t at;
  Words(const Pcg64& first, std::int64_t start) : generator(first), at(start) {
    generator.advance(static_cast<Wide>(start));
  }
  std::uint64_t bits() {
    ++at;
    return generator.bits();
  }
  double uniform() { return uniform_of(bits()); }
};
struct Halves {
  static constexpr std::int64_t kInWord = 2;
  Pcg64 generator;
  std::int64_t at;
  std::uint32_t other = 0;
  Halves(const Pcg64& first, std::int64_t start) : generator(first), at(start & ~1) {
    generator.advance(static_cast<Wide>(start / 2));
    if (start & 1) half();
  }
  std::uint32_t half() {
    if (at++ & 1) return other;
    const std::uint64_t both = generator.bits();
    other = static_cast<std::uint32_t>(both >> 32);
    return static_cast<std::uint32_t>(both);
  }
  float uniform_float() { return uniform_float_of(half()); }
};

template <class Draws, class T, class Next>
class Filling {
 public:
  // `always_one`: next() takes one draw, never more.
  Filling(const Pcg64& first, T* out, std::int64_t n, Next next, bool always_one)
      : first_(first), out_(out), n_(n), next_(next), always_one_(always_one) {}

  // The draws behind the last number's.
  Draws run(double seconds_each) {
    const double seconds = seconds_each * static_cast<double>(n_);
    const int threads = n_ > 4 * kBlock ? engine::team_threads(seconds) : 1;
    if (threads > 1) always_one_ ? fill_apart(threads, seconds) : fill_ahead(threads, seconds_each);
    Draws d(first_, at_);
    draw(d, filled_, n_);
    return d;
  }

 private:
  // What was read from a block.
  struct Reading {
    std::vector<T> numbers = std::vector<T>(kBlock);
    std::int64_t count = 0, end = 0;  // `end`: the draw behind its last number
    T* to = nullptr;                  // where the right numbers belong,
    std::int64_t wrong = 0;           // which these are before
  };

  void draw(Draws& draws, std::int64_t from, std::int64_t to) const {
    Draws d = draws;  // in registers
    const Next next = next_;
    T* const out = out_;
    for (std::int64_t i = from; i < to; ++i) out[i] = next(d);
    draws = d;
  }
  void fill_apart(int threads, double seconds) {
    const engine::ParallelLoop loop{.extent = n_ / kBlock, .seconds = seconds, .threads = threads};
    engine::run_parallel(loop, [this](std::int64_t begin, std::int64_t end, int) {
      Draws d(first_, begin * kBlock);
      draw(d, begin * kBlock, end * kBlock);
      return true;
    });
    at_ = filled_ = n_ / kBlock * kBlock;
  }

  // In rounds of some blocks: all are read, then it is found, one after the other, where their
  // numbers belong. They are taken there in the next round.
  void fill_ahead(int threads, double seconds_each) {
    std::vector<Reading> readings(static_cast<std::size_t>(std::min(n_ / kBlock, kRound)));
    for (std::int64_t first = 0, blocks = 1; blocks > 0; first += blocks) {
      // A block has at most as many numbers as draws.
      blocks = std::min((n_ - filled_) / kBlock, static_cast<std::int64_t>(readings.size()));
      const std::int64_t extent = blocks > 0 ? blocks : static_cast<std::int64_t>(readings.size());
      const engine::ParallelLoop loop{
          .extent = extent,
          .seconds = seconds_each * static_cast<double>(extent * kBlock),
          .threads = threads};
      engine::run_parallel(loop, [&](std::int64_t begin, std::int64_t end, int) {
        for (; begin < end; ++begin) {
          Reading& r = readings[static_cast<std::size_t>(begin)];
          take_over(r);
          if (begin < blocks) read(r, first + begin);
        }
        return true;
      });
      for (std::int64_t i = blocks; i < static_cast<std::int64_t>(readings.size()); ++i)
        take_over(readings[static_cast<std::size_t>(i)]);
      for (std::int64_t i = 0; i < blocks; ++i)
        place(readings[static_cast<std::size_t>(i)], first + i);
    }
  }
  void read(Reading& r, std::int64_t block) {
    Draws d(first_, block * kBlock);
    T* to = r.numbers.data();
    while (d.at < (block + 1) * kBlock) *to++ = next_(d);
    r.count = to - r.numbers.data();
    r.end = d.at;
  }
  void take_over(Reading& r) {
    if (r.to) std::copy_n(r.numbers.data() + r.wrong, r.count - r.wrong, r.to);
    r.to = nullptr;
  }
  // The blocks before are placed: the first number begins at draw at_.
  void place(Reading& r, std::int64_t block) {
    const std::int64_t end = (block + 1) * kBlock;
    r.wrong = 0;
    if (at_ > block * kBlock) {
      Draws guessed(first_, block * kBlock), sure(first_, at_);
      while (sure.at != guessed.at && sure.at < end) {
        if (sure.at < guessed.at)
          out_[filled_++] = next_(sure);
        else
          next_(guessed), ++r.wrong;
      }
      if (sure.at >= end) {
        r.wrong = r.count;
        r.end = sure.at;
      }
    }
    r.to = out_ + filled_;
    filled_ += r.count - r.wrong;
    at_ = r.end;
  }

  const Pcg64 first_;
  T* const out_;
  const std::int64_t n_;
  const Next next_;
  const bool always_one_;
  std::int64_t at_ = 0, filled_ = 0;  // the draws and the numbers that are done with
};

template <class Draws, class T, class Next>
void fill(RandomStream& s, T* out, std::int64_t n, double seconds_each, Next next,
          bool always_one = false) {
  RandomStream::State& own = s.own();
  if constexpr (Draws::kInWord == 2) {
    // Halves are counted from the first of a word on.
    for (; n > 0 && own.has_half; --n) *out++ = next(s);
  }
  if (n == 0) return;
  Filling<Draws, T, Next> filling(own.generator, out, n, next, always_one);
  const Draws end = filling.run(seconds_each);
  own.generator = end.generator;
  if constexpr (Draws::kInWord == 2) {
    own.has_half = end.at & 1;
    own.half = end.other;
  }
}

}  // namespace

void fill_uniform(RandomStream& s, double* out, std::int64_t n, Affine to) {
  fill<Words>(s, out, n, 3e-9, [=](auto& d) { return to.location + to.scale * d.uniform(); }, true);
}
void fill_normal(RandomStream& s, double* out, std::int64_t n, Affine to) {
  fill<Words>(s, out, n, 5e-9,
              [=, &l = normal_layers()](auto& d) { return to.location + to.scale * normal(d, l); });
}
void fill_exponential(RandomStream& s, double* out, std::int64_t n, Affine to) {
  fill<Words>(s, out, n, 5e-9, [=, &l = exponential_layers()](auto& d) {
    return to.location + to.scale * exponential(d, l);
  });
}
void fill_uniform(RandomStream& s, float* out, std::int64_t n) {
  fill<Halves>(s, out, n, 3e-9, [](auto& d) { return d.uniform_float(); }, true);
}
void fill_normal(RandomStream& s, float* out, std::int64_t n) {
  fill<Halves>(s, out, n, 5e-9,
               [&l = normal_float_layers()](auto& d) { return normal_float(d, l); });
}
void fill_exponential(RandomStream& s, float* out, std::int64_t n) {
  fill<Halves>(s, out, n, 5e-9,
               [&l = exponential_float_layers()](auto& d) { return exponential_float(d, l); });
}

template <class T>
void fill_integers(RandomStream& s, T* out, std::int64_t n, std::uint64_t low, std::uint64_t most) {
  constexpr double kSeconds = 3e-9;
  const auto number = [low](std::uint64_t above) { return static_cast<T>(low + above); };
  // Where they divide the draws evenly, none is refused.
  const bool even = (most & (most + 1)) == 0;
  if (most == 0)
    std::fill_n(out, n, number(0));
  else if (most == UINT32_MAX)
    fill<Halves>(s, out, n, kSeconds, [=](auto& d) { return number(d.half()); }, true);
  else if (most < UINT32_MAX)
    fill<Halves>(
        s, out, n, kSeconds, [=](auto& d) { return number(below_or_at_by_halves(d, most)); }, even);
  else if (most == UINT64_MAX)
    fill<Words>(s, out, n, kSeconds, [=](auto& d) { return number(d.bits()); }, true);
  else
    fill<Words>(
        s, out, n, kSeconds, [=](auto& d) { return number(below_or_at_by_words(d, most)); }, even);
}
template void fill_integers(RandomStream&, std::int32_t*, std::int64_t, std::uint64_t,
                            std::uint64_t);
template void fill_integers(RandomStream&, std::uint32_t*, std::int64_t, std::uint64_t,
                            std::uint64_t);
template void fill_integers(RandomStream&, std::int64_t*, std::int64_t, std::uint64_t,
                            std::uint64_t);
template void fill_integers(RandomStream&, std::uint64_t*, std::int64_t, std::uint64_t,
                            std::uint64_t);

}  // namespace plait::numpy
