#include "argsort.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <numeric>
#include <vector>

#include "core/dispatch.hpp"
#include "engine/direct/direct_rows.hpp"
#include "keys.hpp"
#include "long_sort.hpp"
#include "sort_run.hpp"

namespace plait::engine {
namespace {

constexpr std::int64_t kWordsPiece = 1 << 15;
constexpr double kWordsSeconds = 0.5e-9;  // an element of a pass over the words

// How a word is made of a key and an index.
struct WordLayout {
  std::uint64_t least = 0;  // subtracted from keys
  int lost = 0;             // bits of a key that have no place
  int index_bits = 0;
  std::uint64_t word(std::uint64_t key, std::int64_t i) const {
    return (key - least) >> lost << index_bits | static_cast<std::uint64_t>(i);
  }
  std::uint64_t index_mask() const { return (std::uint64_t{1} << index_bits) - 1; }
  bool same_key(std::uint64_t a, std::uint64_t b) const {
    return a >> index_bits == b >> index_bits;
  }
};

// Pieces on the team where there are many, all at once otherwise.
template <class F>
void over_words(std::int64_t n, F&& f) {
  if (n < 2 * kWordsPiece)
    f(std::int64_t{0}, n);
  else
    run_pieces(n, static_cast<double>(n) * kWordsSeconds, kWordsPiece, f);
}

// `key_bits`: keys are below 1 << key_bits.
template <class Key>
WordLayout word_layout(const Key& key, int key_bits, std::int64_t n) {
  WordLayout l;
  l.index_bits = std::bit_width(static_cast<std::uint64_t>(n - 1));
  if (key_bits + l.index_bits <= 64) return l;
  std::atomic<std::uint64_t> least{~std::uint64_t{0}}, most{0};
  over_words(n, [&](std::int64_t begin, std::int64_t end) {
    std::uint64_t low = ~std::uint64_t{0}, high = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::uint64_t k = key(i);
      low = std::min(low, k);
      high = std::max(high, k);
    }
    for (std::uint64_t seen = least; low < seen && !least.compare_exchange_weak(seen, low);) {
    }
    for (std::uint64_t seen = most; high > seen && !most.compare_exchange_weak(seen, high);) {
    }
  });
  l.least = least;
  l.lost = std::max(0, static_cast<int>(std::bit_width(most - least)) + l.index_bits - 64);
  return l;
}

// The order of keys that are equal as far as a word has them: `words` holds the indices in order.
void order_rest(std::uint64_t* words, std::int64_t n, std::uint64_t mask,
                std::vector<std::uint64_t>& keys);

// Orders words of one thread's keys, and what is equal in them.
template <class Key>
void order_equal(const Key& key, const WordLayout& l, std::uint64_t* words, std::int64_t begin,
                 std::int64_t end, std::int64_t n) {
  std::vector<std::uint64_t> keys;
  // A run belongs to the piece that it begins in. Others may reorder the indices meanwhile, never
  // the keys.
  const auto at = [&](std::int64_t i) {
    return std::atomic_ref(words[i]).load(std::memory_order_relaxed);
  };
  std::int64_t i = begin;
  if (i > 0)
    while (i < end && l.same_key(at(i), at(i - 1))) ++i;
  while (i < end) {
    std::int64_t next = i + 1;
    while (next < n && l.same_key(at(next), at(i))) ++next;
    if (next - i > 1) {
      keys.clear();
      for (std::int64_t j = i; j < next; ++j)
        keys.push_back(key(static_cast<std::int64_t>(words[j] & l.index_mask())));
      if (!std::is_sorted(keys.begin(), keys.end()))
        order_rest(words + i, next - i, l.index_mask(), keys);
    }
    i = next;
  }
}

// The indices of keys [0, n) in their order to `out`, on one thread.
void argsort_keys(const std::vector<std::uint64_t>& keys, std::uint64_t* out) {
  const auto n = static_cast<std::int64_t>(keys.size());
  const auto key = [&](std::int64_t i) { return keys[static_cast<std::size_t>(i)]; };
  const auto [least, most] = std::minmax_element(keys.begin(), keys.end());
  WordLayout l;
  l.index_bits = std::bit_width(static_cast<std::uint64_t>(n - 1));
  l.least = *least;
  l.lost = std::max(0, static_cast<int>(std::bit_width(*most - *least)) + l.index_bits - 64);
  for (std::int64_t i = 0; i < n; ++i) out[i] = l.word(key(i), i);
  sort_run(DType::UInt64, out, n, false);
  if (l.lost > 0) order_equal(key, l, out, 0, n, n);
  for (std::int64_t i = 0; i < n; ++i) out[i] &= l.index_mask();
}

void order_rest(std::uint64_t* words, std::int64_t n, std::uint64_t mask,
                std::vector<std::uint64_t>& keys) {
  const auto count = static_cast<std::size_t>(n);
  std::vector<std::uint64_t> order(count), indices(count);
  if (n <= 16) {
    std::iota(order.begin(), order.end(), std::uint64_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint64_t i, std::uint64_t j) { return keys[i] < keys[j]; });
  } else {
    argsort_keys(std::vector(keys), order.data());
  }
  for (std::size_t i = 0; i < count; ++i) indices[i] = words[i] & mask;
  for (std::size_t i = 0; i < count; ++i)
    std::atomic_ref(words[i]).store((words[i] & ~mask) | indices[order[i]],
                                    std::memory_order_relaxed);
}

constexpr std::int64_t kCounted = 64;  // fewer are sorted before 256 counts are added

// Keys of a byte: those of each are counted, and then have their places one after the other.
template <class Key>
void count_keys(const Key& key, std::int64_t n, std::uint64_t* order) {
  std::array<std::int64_t, 256> place{};
  in_parts(n, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t i = first; i < first + count; ++i) ++place[key(i)];
  });
  std::exclusive_scan(place.begin(), place.end(), place.begin(), std::int64_t{0});
  in_parts(n, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t i = first; i < first + count; ++i)
      order[place[key(i)]++] = static_cast<std::uint64_t>(i);
  });
}

template <class T>
void argsort_line(const Line& line, LongSort& sort, std::uint64_t* words) {
  const auto key = [&](std::int64_t i) {
    return key_of(element_at<T>(line.data + i * line.stride));
  };
  if constexpr (sizeof(T) == 1)
    if (line.n >= kCounted) return count_keys(key, line.n, words);
  const WordLayout l = word_layout(key, sizeof(T) * 8, line.n);
  const auto fill = [&](std::int64_t begin, std::int64_t end, std::byte* to) {
    auto* const run = reinterpret_cast<std::uint64_t*>(to);
    for (std::int64_t i = begin; i < end; ++i) run[i - begin] = l.word(key(i), i);
  };
  sort.sort(reinterpret_cast<std::byte*>(words), fill);
  if (l.lost > 0)
    over_words(line.n, [&](std::int64_t begin, std::int64_t end) {
      order_equal(key, l, words, begin, end, line.n);
    });
  over_words(line.n, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) words[i] &= l.index_mask();
  });
}

}  // namespace

struct ArgsortLine::State {
  DType dtype;
  LongSort sort;
  std::vector<std::byte> gapless;  // of a complex line
};

ArgsortLine::ArgsortLine(DType t, std::int64_t n)
    : state_(
          new State{t,
                    LongSort(DType::UInt64,
                             is_complex(t) || (itemsize(t) == 1 && n >= kCounted) ? 0 : n, false),
                    {}}) {}
ArgsortLine::~ArgsortLine() = default;

void ArgsortLine::run(const Line& line, std::int64_t* out) {
  const DType t = state_->dtype;
  if (line.n == 0) return;
  if (is_complex(t)) {
    state_->gapless.resize(static_cast<std::size_t>(line.n) * itemsize(t));
    gather_line(line, itemsize(t), state_->gapless.data());
    std::iota(out, out + line.n, std::int64_t{0});
    argsort_run(t, state_->gapless.data(), out, line.n);
    return;
  }
  dispatch(t, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!kIsComplex<T>)
      argsort_line<T>(line, state_->sort, reinterpret_cast<std::uint64_t*>(out));
  });
}

void run_argsort(const CallRun& r) {
  const Operand &in = r.inputs[0], &out = r.results[0];
  const int axis = static_cast<int>(r.attributes.numbers[0]);
  const Lines from(in, axis), to(out, axis);
  const std::int64_t n = in.shape[axis];
  const auto lines = [&](std::int64_t begin, std::int64_t end) {
    ArgsortLine sort(in.dtype, n);
    std::vector<std::int64_t> order;
    for (std::int64_t i = begin; i < end; ++i) {
      const Line target = to[i];
      if (target.stride == 8) {
        sort.run(from[i], reinterpret_cast<std::int64_t*>(target.data));
        continue;
      }
      order.resize(static_cast<std::size_t>(n));
      sort.run(from[i], order.data());
      scatter_line(reinterpret_cast<const std::byte*>(order.data()), 8, target);
    }
  };
  if (n >= LongSort::kLeast)
    lines(0, from.count());
  else
    run_pieces(from.count(),
               static_cast<double>(from.count()) * 2 * LongSort::seconds(DType::UInt64, n), 1,
               lines);
}

}  // namespace plait::engine
