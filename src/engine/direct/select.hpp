// What a mask selects: true elements are counted, then their values or their places are written, in
// pieces that the team shares. Masks and values lie in one piece, in C order.
#pragma once
#include <cstdint>
#include <vector>

#include "core/dtype.hpp"

namespace plait::engine {

class Selection {
 public:
  // `mask`: n bytes, 0 or 1. It has to stay.
  Selection(const std::byte* mask, std::int64_t n);
  std::int64_t count() const { return before_.back(); }

  // out[k] = values[i], where element i is the k-th true one; items of 1, 2, 4, 8 or 16 bytes.
  void compress(std::size_t item, const std::byte* values, std::byte* out) const;
  // values[i] = from[k]. Nothing else is written to.
  void expand(std::size_t item, std::byte* values, const std::byte* from) const;
  // out[k] = i.
  void places(std::int64_t* out) const;

 private:
  const std::byte* mask_;
  std::int64_t n_;
  std::vector<std::int64_t> before_;  // true elements in front of each block, and of all
};

}  // namespace plait::engine
