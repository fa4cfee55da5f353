// What generate() gives for a kernel, and how it is called.
#include <algorithm>
#include <utility>

#include "arguments.hpp"
#include "emit.hpp"
#include "fusion/mapping/transposed.hpp"
#include "ir/abilities.hpp"

namespace plait::cuda {

namespace {

constexpr std::int64_t kWaves = 64;  // blocks for one that is resident, at most
constexpr std::int64_t kMostScratch = std::int64_t{256} << 20;

void apply(Program& p) {
  mapping::apply(p.kernel, p.nest, p.mapping);
#ifdef PLAIT_CHECKS
  ir::verify(p.kernel);
#endif
  p.arguments = argument_layout(p);
}

}  // namespace

const std::string& source(const Program& p) { return p.source; }
const std::string& entry(const Program& p) { return p.entry; }

bool uses_shared_memory(const Program& p) { return p.mapping.uses_shared_memory(); }

std::string mapping_text(const Program& p, const Extents& e) {
  std::string text;
  for (const CostedMapping& o : p.mappings(e)) {
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, " (%.3g us)", 1e6 * o.seconds);
    text += (text.empty() ? "" : "not ") + to_string(o.mapping) + seconds + "\n";
  }
  return text;
}

constexpr ir::Abilities kAbilities{.spaces = ir::bit(ir::Space::Cache),
                                   .scopes = ir::bit(ir::Scope::Serial) |
                                             ir::bit(ir::Scope::Unrolled) |
                                             ir::bit(ir::Scope::Grid) | ir::bit(ir::Scope::Lanes)};

bool supports(const ir::Kernel& k, std::string* why) {
  if (k.sequential) {
    if (why) *why = "a sequential kernel";
    return false;
  }
  // The mapping says which locals are in shared memory, and where barriers stand.
  if (const std::string what = ir::lacking(k, kAbilities); !what.empty()) {
    if (why) *why = what;
    return false;
  }
  return fits_arguments(k, why);
}

bool supports(const ir::Kernel& k, const ir::Iterations&, std::string* why) {
  return ir::runs_apart(k, why) && fits_arguments(k, why);
}

std::shared_ptr<const Program> generate(const ir::Kernel& k, const Target& t, const Extents& e) {
  auto p = std::make_shared<Program>();
  p->kernel = k;
  p->nest = analyse_nest(k);
  p->target = t;
  p->mapping = choose(k, p->nest, t, e);
  if (p->mapping.team > 1) p->asked = {p->kernel, p->nest};
  apply(*p);
  p->source = Emitter(*p).run();
  return p;
}

std::shared_ptr<const Program> generate(const ir::Kernel& k, const ir::Iterations& each,
                                        const Target& t) {
  auto p = std::make_shared<Program>();
  p->kernel = k;
  p->each = each;
  p->nest.chain = {0};
  p->mapping.wide = true;
  p->target = t;
  apply(*p);
  p->source = Emitter(*p).run();
  return p;
}

std::ptrdiff_t find(std::span<const std::shared_ptr<const Program>> programs, const Extents& e) {
  if (programs.empty()) return -1;
  if (programs.front()->each) return 0;
  const Mapping m = programs.front()->mappings(e).front().mapping;
  const auto found = std::find_if(programs.begin(), programs.end(),
                                  [&](const auto& p) { return p->mapping == m; });
  return found == programs.end() ? -1 : found - programs.begin();
}

Launch launch_shape(const Program& p, const Extents& e) {
  const Mapping& m = p.mapping;
  const std::int64_t total =
      m.transposed ? transposed_count(p.kernel, p.nest, e) * m.threads()
                   : iterations(p.kernel, p.nest, e) / m.pack * m.team * p.sharers(e.grid);
  std::int64_t threads = m.threads();
  // Long iterations that are few go to as many multiprocessors as there are.
  while (p.each && threads > 32 && total < threads * p.target.multiprocessors) threads /= 2;
  // Where a block begins with nothing, many small shares end at the same time.
  const bool light = !m.uses_shared_memory() && lay_out_locals(p, e.params, threads).scratch == 0;
  const std::int64_t waves = light ? kWaves : 1;
  std::int64_t blocks =
      std::clamp<std::int64_t>((total + threads - 1) / threads, 1,
                               p.target.threads / threads * p.target.multiprocessors * waves);
  // Long rows of scratch leave room for fewer threads.
  while (blocks * threads > m.team &&
         lay_out_locals(p, e.params, blocks * threads).scratch > kMostScratch)
    if (blocks > 1)
      blocks /= 2;
    else if (m.team == 1 && threads > 32)
      threads /= 2;
    else
      break;
  Launch l;
  l.grid[0] = static_cast<unsigned>(blocks);
  l.block[0] = static_cast<unsigned>(threads);
  if (m.team > 1) {
    const std::int64_t bytes =
        exchange_bytes(p.kernel, m) + lay_out_locals(p, e.params, threads).team_shared;
    l.shared_bytes = static_cast<std::size_t>(bytes * (threads / m.team));
  }
  if (m.transposed) l.shared_bytes = static_cast<std::size_t>(transposed_bytes(p.kernel, p.nest));
  if (m.whole_tiles || m.row_tiles)
    l.shared_bytes = static_cast<std::size_t>(
        lay_out_tiles(p.kernel, p.nest, m, p.target, e.params, threads).bytes);
  l.scratch_bytes = static_cast<std::size_t>(lay_out_locals(p, e.params, blocks * threads).scratch);
  return l;
}

}  // namespace plait::cuda
