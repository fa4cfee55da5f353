// What a mask or a label selects: elements are counted, then their values or their places are
// written, in blocks that the team shares. Masks, labels and values lie in one piece, in C order.
#pragma once
#include <cstdint>
#include <vector>

#include "core/buffer.hpp"
#include "core/dtype.hpp"

namespace plait::engine {

// Elements by their labels, in the order in which they lie: a stable counting sort of each block,
// so that what one label selects is found without looking at the others.
class Groups {
 public:
  // The labels that are told apart; what has another one is in no group.
  static constexpr std::int64_t kLabels = 256;
  static constexpr std::int64_t kBlock = 1 << 13;

  // n labels of an integer dtype.
  Groups(DType t, const std::byte* labels, std::int64_t n);
  std::int64_t size() const { return n_; }

  // The places of a label in a block, counted from the block's first element.
  struct Places {
    const std::uint16_t* at;
    std::int64_t count;
  };
  Places places(std::int64_t block, std::int64_t label) const {
    const std::uint16_t* const s = starts_.data() + block * kLabels + label;
    const std::int64_t first = label == 0 ? 0 : s[-1];
    return {at() + block * kBlock + first, s[0] - first};
  }

 private:
  std::uint16_t* at() const { return reinterpret_cast<std::uint16_t*>(memory_->data); }
  std::int64_t n_;
  Ref<Buffer> memory_;
  std::vector<std::uint16_t> starts_;  // where each group of a block ends
};

class Selection {
 public:
  // `mask`: n bytes, 0 or 1. It has to stay.
  Selection(const std::byte* mask, std::int64_t n);
  // The elements of a label below kLabels. The groups have to stay.
  Selection(const Groups& groups, std::int64_t label);
  std::int64_t count() const { return before_.back(); }

  // out[k] = values[i], where element i is the k-th that is selected; items of 1, 2, 4, 8 or 16
  // bytes.
  void compress(std::size_t item, const std::byte* values, std::byte* out) const;
  // values[i] = from[k]. Nothing else is written to.
  void expand(std::size_t item, std::byte* values, const std::byte* from) const;
  // out[k] = i.
  void places(std::int64_t* out) const;

 private:
  double moved() const;  // seconds of a block
  const std::byte* mask_ = nullptr;
  const Groups* groups_ = nullptr;
  std::int64_t label_ = 0;
  std::int64_t n_;
  std::vector<std::int64_t> before_;  // selected elements in front of each block, and of all
};

}  // namespace plait::engine
