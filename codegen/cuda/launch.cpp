// What generate() gives for a kernel, and how it is called.
#include <algorithm>
#include <cstring>
#include <utility>

#include "emit.hpp"
#include "fusion/mapping/transposed.hpp"
#include "ir/abilities.hpp"
#include "ir/verify.hpp"
#include "packs.hpp"

namespace plait::cuda {

namespace {

constexpr std::size_t kMostArgumentBytes = 4000;  // CUDA's limit is 4096
constexpr std::int64_t kWaves = 64;               // blocks for one that is resident, at most
constexpr std::int64_t kMostScratch = std::int64_t{256} << 20;

std::int64_t padded(std::int64_t bytes) { return (bytes + 255) / 256 * 256; }

std::int64_t thread_local_bytes(const ir::Local& l, const std::int64_t* params,
                                std::int64_t threads) {
  const auto item = static_cast<std::int64_t>(itemsize(l.dtype));
  return padded(std::max<std::int64_t>(1, ir::local_count(l, params)) * item * threads);
}
// Global memory for locals: those of teams, then what each thread has of its own.
std::int64_t scratch_bytes(const Program& p, const std::int64_t* params, std::int64_t threads) {
  std::int64_t total =
      padded(team_bytes(p.kernel, ir::Space::Global, params) * (threads / p.mapping.team));
  for (const ir::Local& l : p.kernel.locals)
    if (l.space == ir::Space::Cache) total += thread_local_bytes(l, params, threads);
  return total;
}

bool fits_arguments(const ir::Kernel& k, std::string* why) {
  const std::size_t bytes =
      8 * (k.buffers.size() + static_cast<std::size_t>(k.params) + k.locals.size() + 8) +
      kMostTiles * (sizeof(TileShape) + 8) + 16 * k.scalars.size();
  if (bytes <= kMostArgumentBytes) return true;
  if (why) *why = "more arguments than a CUDA kernel takes";
  return false;
}

void apply(Program& p) {
  mapping::apply(p.kernel, p.nest, p.mapping);
#ifdef PLAIT_CHECKS
  ir::verify_without_barriers(p.kernel);
#endif
}

template <class T>
void put(std::vector<std::byte>& out, const T& v) {
  const auto* p = reinterpret_cast<const std::byte*>(&v);
  out.insert(out.end(), p, p + sizeof v);
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
  if (p->mapping.keeps_rows) p->asked = {p->kernel, p->nest};
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
  const bool light = !m.uses_shared_memory() && scratch_bytes(p, e.params, threads) == 0;
  const std::int64_t waves = light ? kWaves : 1;
  std::int64_t blocks =
      std::clamp<std::int64_t>((total + threads - 1) / threads, 1,
                               p.target.threads / threads * p.target.multiprocessors * waves);
  // Long rows of scratch leave room for fewer threads.
  while (blocks * threads > m.team && scratch_bytes(p, e.params, blocks * threads) > kMostScratch)
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
        exchange_bytes(p.kernel, m) + team_bytes(p.kernel, ir::Space::Shared, e.params);
    l.shared_bytes = static_cast<std::size_t>(bytes * (threads / m.team));
  }
  if (m.transposed) l.shared_bytes = static_cast<std::size_t>(transposed_bytes(p.kernel, p.nest));
  if (m.whole_tiles || m.row_tiles)
    l.shared_bytes = static_cast<std::size_t>(
        lay_out_tiles(p.kernel, p.nest, m, p.target, e.params, threads).bytes);
  l.scratch_bytes = static_cast<std::size_t>(scratch_bytes(p, e.params, blocks * threads));
  return l;
}

void pack_arguments(const Program& p, const Launch& l, const ir::CallArgs& args, std::int64_t begin,
                    std::int64_t end, void* scratch, std::vector<std::byte>& out) {
  const ir::Kernel& k = p.kernel;
  out.clear();
  for (std::size_t n = 0; n < k.buffers.size(); ++n) put(out, args.buffers[n]);
  for (std::int32_t n = 0; n < k.params; ++n) put(out, args.params[n]);
  const Extents e{args.params, end - begin};
  std::int64_t total = iterations(k, p.nest, e);
  Packs packs{};
  if (p.mapping.pack > 1 && total > 0) {
    packs = cut_into_packs(p, args, begin, end);
    total = total / trips(k, p.nest.chain.back(), e) * packs.in_row;
  }
  if (p.mapping.transposed) total = transposed_count(k, p.nest, e);
  put(out, begin);
  put(out, end);
  put(out, total);
  put(out, scratch);
  if (p.each) put(out, p.sharers(total));
  if (p.mapping.pack > 1) put(out, packs);
  if (p.mapping.whole_tiles || p.mapping.row_tiles) {
    const Tiles tiles = lay_out_tiles(k, p.nest, p.mapping, p.target, args.params, l.block[0]);
    if (p.mapping.streamed >= 0) put(out, tiles.piece);
    for (std::size_t n = 0; n < k.buffers.size(); ++n) {
      if (!p.tiled(n)) continue;
      put(out, tiles.at[n]);
      put(out, tiles.shapes[n]);
    }
  }
  const std::int64_t threads = std::int64_t{l.grid[0]} * l.block[0];
  const std::int64_t shared = team_bytes(k, ir::Space::Shared, args.params),
                     scratch_of_team = team_bytes(k, ir::Space::Global, args.params);
  std::int64_t in_row[] = {0, 0}, at = padded(scratch_of_team * (threads / p.mapping.team));
  if (p.mapping.team > 1) {
    put(out, shared);
    put(out, scratch_of_team);
  }
  for (const ir::Local& local : k.locals) {
    if (of_team(local)) {
      std::int64_t& here = in_row[local.space == ir::Space::Global];
      put(out, here);
      here += row_bytes(local, args.params);
    } else if (local.space == ir::Space::Cache) {
      put(out, at);
      at += thread_local_bytes(local, args.params, threads);
    }
  }
  for (std::size_t n = 0; n < k.scalars.size(); ++n) {
    const std::size_t start = out.size();
    out.resize(start + (itemsize(k.scalars[n]) + 7) / 8 * 8);
    std::memcpy(&out[start], args.scalars[n].bytes, itemsize(k.scalars[n]));
  }
}

}  // namespace plait::cuda
