// How what reads a node finds its elements, where that is other than one by one at the same index.
// It follows from what multiplies, scans and combines, and from index maps.
#pragma once
#include <cstdint>
#include <vector>

namespace plait::fusion {
class Candidate;

struct ReadMode {
  enum Kind : std::uint8_t {
    Whole,
    Packed,     // a write to part of an array that only packing of operands reads: it needs no
                // memory, the part is found
    Padded,     // the same of one that only loops over elements read
    Window,     // a matrix of patches, or matrices that are repeated: only packing reads it, where
                // it shows what there is once
    SplitAxes,  // a view that merges axes of what columns of a product are computed from: its loops
                // go over those
  } kind = Whole;
  int products = 0;  // of a write: so many pack it

  // A write that needs no memory.
  bool in_parts() const { return kind == Packed || kind == Padded; }
};

// Of each node; empty where all are read whole. Of a candidate that has nothing in memory yet.
std::vector<ReadMode> find_read_modes(const Candidate& c);

// Whether loops over elements read the node, and nothing else does.
bool read_in_loops(const Candidate& c, std::int32_t node);

}  // namespace plait::fusion
