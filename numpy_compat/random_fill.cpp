// A number takes some draws of the generator, most often one, and how many is known only when it is
// drawn. So the draws are cut into blocks, a number belongs to the block that its first draw lies
// in, and a thread that comes to a block before it is known where the first number begins there
// takes it for the block's first draw. What it finds from there on is right as soon as a number
// begins at the same draw in both readings, which is almost at once: only what is before that is
// drawn again when the end of the block before is known.
#include "random_fill.hpp"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "engine/threads/team.hpp"

namespace plait::numpy {
namespace {

constexpr std::int64_t kBlock = 1 << 14;  // draws; even, as two halves are a word

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
  void skip() { bits(); }
  double uniform() { return uniform_of(bits()); }
};
struct Halves {
  static constexpr std::int64_t kInWord = 2;
  Pcg64 generator;
  std::int64_t at;
  std::uint32_t other = 0;
  Halves(const Pcg64& first, std::int64_t start) : generator(first), at(start & ~1) {
    generator.advance(static_cast<Wide>(start / 2));
    if (start & 1) skip();
  }
  std::uint32_t half() {
    if (at++ & 1) return other;
    const std::uint64_t both = generator.bits();
    other = static_cast<std::uint32_t>(both >> 32);
    return static_cast<std::uint32_t>(both);
  }
  void skip() { half(); }
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
    const int threads = n_ > 2 * kBlock ? engine::team_threads(seconds) : 1;
    if (threads > 1) scratch_.resize(static_cast<std::size_t>(threads));
    while (threads > 1 && n_ - filled() > 2 * kBlock) {
      const engine::ParallelLoop loop{
          .extent = (n_ - filled()) / kBlock, .seconds = seconds, .threads = threads};
      // Blocks are begun in order, whoever runs which part of the loop: nobody waits for one that
      // nobody has begun.
      engine::run_parallel(loop, [this](std::int64_t begin, std::int64_t end, int worker) {
        for (; begin < end; ++begin)
          fill_block(begun_.fetch_add(1), scratch_[static_cast<std::size_t>(worker)]);
        return true;
      });
    }
    Draws d(first_, always_one_ ? filled() : at_);
    fill(d, filled(), n_);
    return d;
  }

 private:
  std::int64_t filled() const { return always_one_ ? begun_.load() * kBlock : filled_; }

  void fill(Draws& draws, std::int64_t from, std::int64_t to) {
    Draws d = draws;  // in registers
    for (std::int64_t i = from; i < to; ++i) out_[i] = next_(d);
    draws = d;
  }
  // Up to the end of the block.
  std::int64_t read(Draws& draws, T* out, std::int64_t end) {
    Draws d = draws;
    T* to = out;
    while (d.at < end) *to++ = next_(d);
    draws = d;
    return to - out;
  }

  struct Scratch {
    std::vector<T> numbers = std::vector<T>(kBlock), corrected = numbers;
  };

  void fill_block(std::int64_t block, Scratch& scratch) {
    const std::int64_t begin = block * kBlock, end = begin + kBlock;
    if (always_one_) {
      Draws d(first_, begin);
      return fill(d, begin, std::min(end, n_));
    }
    if (known_.load(std::memory_order_acquire) == block) {
      // A block has at most as many numbers as draws.
      Draws d(first_, at_);
      const std::int64_t from = filled_;
      if (n_ - from >= kBlock) return publish(block, d, from + read(d, out_ + from, end));
      return publish(block, d, from);  // the rest is drawn one by one: see run()
    }
    auto& [numbers, corrected] = scratch;
    Draws guess(first_, begin), sure = guess, guessed = guess;
    std::int64_t count = read(guess, numbers.data(), end);
    for (int turns = 0; known_.load(std::memory_order_acquire) != block; ++turns)
      turns % 1024 == 1023 ? std::this_thread::yield() : engine::pause_a_moment();

    const std::int64_t from = filled_, at = at_;
    if (n_ - from < kBlock) return publish(block, Draws(first_, at), from);
    while (sure.at < at) sure.skip();
    std::int64_t right = 0, wrong = 0;
    while (sure.at != guessed.at && sure.at < end) {
      if (sure.at < guessed.at)
        corrected[static_cast<std::size_t>(right++)] = next_(sure);
      else
        next_(guessed), ++wrong;
    }
    if (sure.at >= end) {
      count = wrong;
      guess = sure;
    }
    publish(block, guess, from + right + count - wrong);
    T* to = std::copy_n(corrected.data(), right, out_ + from);
    std::copy_n(numbers.data() + wrong, count - wrong, to);
  }
  void publish(std::int64_t block, const Draws& d, std::int64_t filled) {
    at_ = d.at;
    filled_ = filled;
    known_.store(block + 1, std::memory_order_release);
  }

  const Pcg64 first_;
  T* const out_;
  const std::int64_t n_;
  const Next next_;
  const bool always_one_;
  std::vector<Scratch> scratch_;                   // of each worker
  std::atomic<std::int64_t> begun_{0}, known_{0};  // blocks
  std::int64_t at_ = 0, filled_ = 0;               // where the block behind the known ones begins
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
