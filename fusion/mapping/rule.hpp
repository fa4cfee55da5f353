// A rule marks what a kernel allows whatever its extents, and for the extents of a launch offers
// mappings with what they cost. It decides nothing: the cheapest of all offers is taken. Adding
// one: a file in fusion/mapping/rules, a line in search.cpp.
#pragma once
#include "mapping.hpp"

namespace plait::mapping {

// A launch that a mapping is looked for.
struct MappingQuery {
  const ir::Kernel& kernel;
  const NestFacts& nest;
  const GpuMachine& gpu;
  const Extents& extents;
  std::int64_t rows;    // iterations of the flattened loop
  std::int64_t length;  // of the longest loop that a team shares
  double waves;         // threads, one a row, against those that keep the device busy
  bool across;          // neighbours lie along the rows' loop rather than in a row
  bool walks;           // threads would walk over rows of their own, side by side
  CostedMapping plain;  // a thread a row, nothing in shared memory

  std::int64_t trips(std::int32_t loop) const { return mapping::trips(kernel, loop, extents); }
};

struct MappingRule {
  void (*mark)(const ir::Kernel&, NestFacts&);
  void (*offer)(const MappingQuery&, std::vector<CostedMapping>&);
};
extern const MappingRule pack_neighbours;  // 16 bytes an access
extern const MappingRule transpose_tiles;  // operands that lie across the grain
extern const MappingRule stage_tiles;      // what threads read again, in shared memory
extern const MappingRule share_rows;       // a team a row
void mark_all(const ir::Kernel& k, NestFacts& n);

}  // namespace plait::mapping
