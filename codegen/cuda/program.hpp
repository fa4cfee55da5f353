// A generated program: its text, and what a launch has to know of it.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "argument_layout.hpp"
#include "cuda.hpp"
#include "ir/iterations.hpp"

namespace plait::cuda {

// What a kernel names the blocks by that registers of a multiprocessor have to suffice for. Where
// that makes them spill, it is compiled for one.
inline constexpr char kResident[] = "PLAIT_RESIDENT";
using namespace mapping;

struct LaunchValues;  // arguments.hpp

class Program {
 public:
  std::string source, entry = "plait_kernel";
  ir::Kernel kernel;  // as it is printed, with the mapping applied; empty for a join
  NestFacts nest;
  // What generate() was asked for, when that is another kernel.
  struct Asked {
    ir::Kernel kernel;
    NestFacts nest;
  };
  std::optional<Asked> asked;
  Mapping mapping;
  std::optional<ir::Iterations> each;  // of a sequential kernel
  Target target;
  ArgumentLayout<LaunchValues> arguments;
  // For other extents of the same kernel.
  std::vector<CostedMapping> mappings(const Extents& e) const {
    return asked ? mapping::mappings(asked->kernel, asked->nest, target, e)
                 : mapping::mappings(kernel, nest, target, e);
  }
  bool tiled(std::size_t buffer) const {
    const Tile t = nest.tiles.empty() ? Tile::None : nest.tiles[buffer];
    return (t == Tile::Whole && mapping.whole_tiles) || (t == Tile::Rows && mapping.row_tiles);
  }
  // Threads that run an iteration of a sequential kernel, of so many: as many as keep a device
  // busy.
  std::int64_t sharers(std::int64_t total) const {
    std::int64_t n = 1;
    if (each && each->shared >= 0)
      while (n < 1024 && 2 * n * total <= std::int64_t{target.threads} * target.multiprocessors)
        n *= 2;
    return n;
  }
};

}  // namespace plait::cuda
