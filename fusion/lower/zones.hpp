// A loop of a region's roots, cut where what they read goes from one part of an array to another.
// Code is right wherever the edges lie: a zone begins behind all that it reads as if beside, and
// ends in front. Where they lie now decides only which zones there are.
#pragma once
#include <vector>

#include "part_reads.hpp"

namespace plait::fusion {

// How iterations lie to a dimension of what was written.
enum class Side : std::uint8_t { Unknown, Inside, Beside };

class LoopZones : NestPart {
 public:
  // Iterations [low, high) of a loop, and how they lie to each of its crossings.
  struct Zone {
    ExprId low, high;
    std::vector<Side> sides;
  };

  LoopZones(Nest& nest, const LoopBox& box, PartReads& reads, int level,
            const PartReads::RequireStored& need);
  const std::vector<Zone>& all() const { return zones_; }  // none: it crosses no edge
  // The zone whose code follows; 0 with close(): none.
  const Zone& open(std::size_t zone) {
    open_ = zone + 1;
    return zones_[zone];
  }
  void close() { open_ = 0; }
  bool is_open() const { return open_ > 0; }
  // Of a read, in the zone that is open.
  Side side(int read, int d) const;

 private:
  // A dimension of a read that steps along the loop. Iterations read inside from `from` up to `to`,
  // in front of it up to `before`, and behind it from `behind` on; the loops around vary in
  // between. -1: nothing is beside it there.
  struct Crossing {
    int read, dim;
    ExprId from, to, before, behind;
  };
  void find_crossings(const PartReads::RequireStored& need);
  void find_zones(ExprId low, ExprId high);

  const LoopBox& box_;
  PartReads& reads_;
  int level_;
  std::vector<Crossing> crossings_;
  std::vector<Zone> zones_;
  std::size_t open_ = 0;  // its number, and 1
};

}  // namespace plait::fusion
