// What a kernel's program is given at a launch.
#pragma once
#include "argument_layout.hpp"
#include "fusion/mapping/tiles.hpp"
#include "packs.hpp"

namespace plait::cuda {

// Where the locals that are not in registers lie, for so many threads: offsets within a team's
// shared memory or its global scratch, or, of those that each thread has, in all of the scratch.
struct LocalMemory {
  std::vector<std::int64_t> at;
  std::int64_t team_shared = 0, team_scratch = 0;  // bytes of a team
  std::int64_t scratch = 0;                        // bytes in all
};
LocalMemory lay_out_locals(const Program& p, const std::int64_t* params, std::int64_t threads);

struct LaunchValues {
  const ir::CallArgs& args;
  std::int64_t begin, end, total, sharers;
  void* scratch;
  Packs packs;
  mapping::Tiles tiles;
  LocalMemory locals;
};
// Of a program whose kernel the mapping was applied to.
ArgumentLayout<LaunchValues> argument_layout(const Program& p);
// Whether a program of the kernel has few enough, whatever its mapping.
bool fits_arguments(const ir::Kernel& k, std::string* why);

}  // namespace plait::cuda
