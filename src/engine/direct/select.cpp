#include "select.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "codegen/loops/selecting.hpp"
#include "core/fixed_size.hpp"
#include "core/machine.hpp"
#include "engine/threads/split.hpp"

namespace plait::engine {
namespace {

constexpr std::int64_t kBlock = Groups::kBlock;
// Seconds of a block: of one that is counted, and of one whose elements are moved.
constexpr double kCounted = 1e-6, kMoved = 8e-6;

const loops::Selecting& table() { return loops::selecting(config().tier); }

std::int64_t blocks_of(std::int64_t n) { return (n + kBlock - 1) / kBlock; }

// block(i, first, length) for each.
template <class F>
void for_each_block(std::int64_t n, double seconds, Interrupts interrupts, F&& block) {
  split(
      blocks_of(n), seconds,
      [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t b = begin; b < end; ++b)
          block(static_cast<std::size_t>(b), b * kBlock, std::min(kBlock, n - b * kBlock));
      },
      interrupts);
}

// Places of a block's elements, by label; ends[k]: where group k ends.
template <class T>
void group(const T* labels, std::int64_t n, std::uint16_t* at, std::uint16_t* ends) {
  constexpr auto kOthers = static_cast<std::uint64_t>(Groups::kLabels);
  const auto group_of = [=](std::int64_t i) {
    return std::min(static_cast<std::uint64_t>(labels[i]), kOthers);
  };
  // Equal labels often follow each other: every second one is counted apart.
  std::array<std::uint16_t, kOthers + 1> even{}, odd{};
  std::int64_t i = 0;
  for (; i + 1 < n; i += 2) {
    ++even[group_of(i)];
    ++odd[group_of(i + 1)];
  }
  if (i < n) ++even[group_of(i)];
  std::array<std::uint16_t, kOthers + 1> next;
  std::uint16_t sum = 0;
  for (std::size_t k = 0; k <= kOthers; ++k) {
    next[k] = sum;
    sum = static_cast<std::uint16_t>(sum + even[k] + odd[k]);
    if (k < kOthers) ends[k] = sum;
  }
  for (i = 0; i < n; ++i) at[next[group_of(i)]++] = static_cast<std::uint16_t>(i);
}

// f(pointer to integers of the dtype's width); those of a sign extend, so that they are no label.
template <class F>
void with_integers(DType t, const std::byte* p, F&& f) {
  const bool is_signed = kind(t) == Kind::Signed;
  const auto as = [&](auto s, auto u) {
    is_signed ? f(reinterpret_cast<const decltype(s)*>(p))
              : f(reinterpret_cast<const decltype(u)*>(p));
  };
  switch (itemsize(t)) {
    case 1:
      return as(std::int8_t{}, std::uint8_t{});
    case 2:
      return as(std::int16_t{}, std::uint16_t{});
    case 4:
      return as(std::int32_t{}, std::uint32_t{});
    default:
      return as(std::int64_t{}, std::uint64_t{});
  }
}

}  // namespace

Groups::Groups(DType t, const std::byte* labels, std::int64_t n)
    : n_(n),
      memory_(allocate(static_cast<std::size_t>(n) * sizeof(std::uint16_t))),
      starts_(static_cast<std::size_t>(blocks_of(n) * kLabels)) {
  with_integers(t, labels, [&](const auto* p) {
    for_each_block(n, 2 * host_machine().counted * static_cast<double>(kBlock), Interrupts::Heeded,
                   [&](std::size_t b, std::int64_t first, std::int64_t length) {
                     group(p + first, length, at() + first,
                           starts_.data() + b * static_cast<std::size_t>(kLabels));
                   });
  });
}

Selection::Selection(const std::byte* mask, std::int64_t n) : mask_(mask), n_(n) {
  before_.resize(static_cast<std::size_t>(blocks_of(n)) + 1);
  for_each_block(n, kCounted, Interrupts::Heeded,
                 [&](std::size_t b, std::int64_t first, std::int64_t length) {
                   before_[b + 1] = table().count(mask_ + first, length);
                 });
  for (std::size_t b = 1; b < before_.size(); ++b) before_[b] += before_[b - 1];
}

Selection::Selection(const Groups& groups, std::int64_t label)
    : groups_(&groups), label_(label), n_(groups.size()) {
  const std::int64_t blocks = blocks_of(n_);
  before_.resize(static_cast<std::size_t>(blocks) + 1);
  for (std::int64_t b = 0; b < blocks; ++b) {
    const auto i = static_cast<std::size_t>(b);
    before_[i + 1] = before_[i] + groups.places(b, label).count;
  }
}

double Selection::moved() const {
  if (mask_) return kMoved;
  return kMoved * static_cast<double>(count()) / static_cast<double>(std::max<std::int64_t>(n_, 1));
}

void Selection::compress(std::size_t item, const std::byte* values, std::byte* out) const {
  const auto size = static_cast<std::int64_t>(item);
  for_each_block(
      n_, moved(), Interrupts::Heeded, [&](std::size_t b, std::int64_t first, std::int64_t length) {
        if (before_[b + 1] == before_[b]) return;
        const std::byte* const from = values + first * size;
        std::byte* const to = out + before_[b] * size;
        if (mask_) return table().compress(item, mask_ + first, length, from, to);
        const auto [at, n] = groups_->places(static_cast<std::int64_t>(b), label_);
        with_fixed_size(item, [=, at = at, n = n](auto bytes) {
          for (std::int64_t i = 0; i < n; ++i)
            std::memcpy(to + static_cast<std::size_t>(i) * bytes, from + at[i] * bytes, bytes);
        });
      });
}

void Selection::expand(std::size_t item, std::byte* values, const std::byte* from) const {
  const auto size = static_cast<std::int64_t>(item);
  // What is half written cannot be dropped.
  for_each_block(n_, moved(), Interrupts::Ignored,
                 [&](std::size_t b, std::int64_t first, std::int64_t length) {
                   if (before_[b + 1] == before_[b]) return;
                   std::byte* const to = values + first * size;
                   const std::byte* const by = from + before_[b] * size;
                   if (mask_) return table().expand(item, mask_ + first, length, to, by);
                   const auto [at, n] = groups_->places(static_cast<std::int64_t>(b), label_);
                   with_fixed_size(item, [=, at = at, n = n](auto bytes) {
                     for (std::int64_t i = 0; i < n; ++i)
                       std::memcpy(to + at[i] * bytes, by + static_cast<std::size_t>(i) * bytes,
                                   bytes);
                   });
                 });
}

void Selection::places(std::int64_t* out) const {
  for_each_block(n_, moved(), Interrupts::Heeded,
                 [&](std::size_t b, std::int64_t first, std::int64_t length) {
                   if (before_[b + 1] == before_[b]) return;
                   std::int64_t* const to = out + before_[b];
                   if (mask_) return table().places(mask_ + first, length, first, to);
                   const auto [at, n] = groups_->places(static_cast<std::int64_t>(b), label_);
                   for (std::int64_t i = 0; i < n; ++i) to[i] = first + at[i];
                 });
}

}  // namespace plait::engine
