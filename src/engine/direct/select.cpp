#include "select.hpp"

#include "codegen/loops/selecting.hpp"
#include "engine/threads/split.hpp"

namespace plait::engine {
namespace {

constexpr std::int64_t kBlock = 1 << 13;
// Seconds of a block: of one that is counted, and of one whose elements are moved.
constexpr double kCounted = 1e-6, kMoved = 8e-6;

const loops::Selecting& table() { return loops::selecting(config().tier); }

// block(i, first, length) for each.
template <class F>
void for_each_block(std::int64_t n, double seconds, Interrupts interrupts, F&& block) {
  split((n + kBlock - 1) / kBlock, seconds,
        [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t b = begin; b < end; ++b)
            block(static_cast<std::size_t>(b), b * kBlock, std::min(kBlock, n - b * kBlock));
        },
        interrupts);
}

}  // namespace

Selection::Selection(const std::byte* mask, std::int64_t n) : mask_(mask), n_(n) {
  before_.resize(static_cast<std::size_t>((n + kBlock - 1) / kBlock) + 1);
  for_each_block(n, kCounted, Interrupts::Heeded,
                 [&](std::size_t b, std::int64_t first, std::int64_t length) {
                   before_[b + 1] = table().count(mask_ + first, length);
                 });
  for (std::size_t b = 1; b < before_.size(); ++b) before_[b] += before_[b - 1];
}

void Selection::compress(std::size_t item, const std::byte* values, std::byte* out) const {
  const auto size = static_cast<std::int64_t>(item);
  for_each_block(n_, kMoved, Interrupts::Heeded,
                 [&](std::size_t b, std::int64_t first, std::int64_t length) {
                   if (before_[b + 1] > before_[b])
                     table().compress(item, mask_ + first, length, values + first * size,
                                      out + before_[b] * size);
                 });
}

void Selection::expand(std::size_t item, std::byte* values, const std::byte* from) const {
  const auto size = static_cast<std::int64_t>(item);
  // What is half written cannot be dropped.
  for_each_block(n_, kMoved, Interrupts::Ignored,
                 [&](std::size_t b, std::int64_t first, std::int64_t length) {
                   if (before_[b + 1] > before_[b])
                     table().expand(item, mask_ + first, length, values + first * size,
                                    from + before_[b] * size);
                 });
}

void Selection::places(std::int64_t* out) const {
  for_each_block(n_, kMoved, Interrupts::Heeded,
                 [&](std::size_t b, std::int64_t first, std::int64_t length) {
                   if (before_[b + 1] > before_[b])
                     table().places(mask_ + first, length, first, out + before_[b]);
                 });
}

}  // namespace plait::engine
