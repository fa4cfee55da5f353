#include "arguments.hpp"

#include <algorithm>

#include "emit.hpp"
#include "fusion/mapping/transposed.hpp"

namespace plait::cuda {

namespace {

constexpr std::size_t kMostArgumentBytes = 4000;  // CUDA's limit is 4096

std::int64_t padded(std::int64_t bytes) { return (bytes + 255) / 256 * 256; }

}  // namespace

LocalMemory lay_out_locals(const Program& p, const std::int64_t* params, std::int64_t threads) {
  const std::vector<ir::Local>& locals = p.kernel.locals;
  LocalMemory m;
  m.at.resize(locals.size());
  const auto take = [&](std::size_t n, std::int64_t& next, std::int64_t bytes) {
    m.at[n] = next;
    next += bytes;
  };
  for (std::size_t n = 0; n < locals.size(); ++n)
    if (ir::shares(locals[n].space))
      take(n, locals[n].space == ir::Space::Shared ? m.team_shared : m.team_scratch,
           row_bytes(locals[n], params));
  m.scratch = padded(m.team_scratch * (threads / p.mapping.team));
  for (std::size_t n = 0; n < locals.size(); ++n)
    if (locals[n].space == ir::Space::Cache)
      take(n, m.scratch,
           padded(std::max<std::int64_t>(1, ir::local_count(locals[n], params)) *
                  static_cast<std::int64_t>(itemsize(locals[n].dtype)) * threads));
  return m;
}

ArgumentLayout<LaunchValues> argument_layout(const Program& p) {
  using V = const LaunchValues&;
  const ir::Kernel& k = p.kernel;
  ArgumentLayout<LaunchValues> l;
  for (std::size_t n = 0; n < k.buffers.size(); ++n)
    l.pointer(numbered("b", n), [n](V v) { return v.args.buffers[n]; }, k.buffers[n].written);
  for (std::int32_t n = 0; n < k.params; ++n)
    l.number(numbered("p", n), [n](V v) { return v.args.params[n]; });
  l.number("begin", [](V v) { return v.begin; });
  l.number("end", [](V v) { return v.end; });
  l.number("total", [](V v) { return v.total; });
  l.pointer("scratch", [](V v) { return v.scratch; }, true);
  if (p.each) l.number("sharers", [](V v) { return v.sharers; });
  if (p.mapping.pack > 1) {
    l.number("packs", [](V v) { return v.packs.in_row; });
    l.number("lead", [](V v) { return v.packs.lead; });
    l.number("aligned", [](V v) { return v.packs.aligned; });
    l.number("spread", [](V v) { return v.packs.spread; });
  }
  if (p.mapping.streamed >= 0) l.number("piece", [](V v) { return v.tiles.piece; });
  for (std::size_t n = 0; n < k.buffers.size(); ++n) {
    if (!p.tiled(n)) continue;
    const std::string tile = numbered("m", n);
    l.number(tile + "_at", [n](V v) { return v.tiles.at[n]; });
    l.number(tile + "_low", [n](V v) { return v.tiles.shapes[n].low; });
    l.number(tile + "_bytes", [n](V v) { return v.tiles.shapes[n].bytes; });
    l.number(tile + "_pitch", [n](V v) { return v.tiles.shapes[n].pitch; });
    l.number(tile + "_stride", [n](V v) { return v.tiles.shapes[n].stride; });
  }
  if (p.mapping.team > 1) {
    l.number("row_bytes", [](V v) { return v.locals.team_shared; });
    l.number("scratch_bytes", [](V v) { return v.locals.team_scratch; });
  }
  for (std::size_t n = 0; n < k.locals.size(); ++n)
    if (k.locals[n].space != ir::Space::Register)
      l.number(numbered("l", n), [n](V v) { return v.locals.at[n]; });
  for (std::size_t n = 0; n < k.scalars.size(); ++n)
    l.scalar(numbered("s", n), k.scalars[n],
             [n](V v) -> const Scalar& { return v.args.scalars[n]; });
  return l;
}

bool fits_arguments(const ir::Kernel& k, std::string* why) {
  const std::size_t numbers =
      k.buffers.size() + static_cast<std::size_t>(k.params) + k.locals.size() + 12 + 5 * kMostTiles;
  if (8 * numbers + 16 * k.scalars.size() <= kMostArgumentBytes) return true;
  if (why) *why = "more arguments than a CUDA kernel takes";
  return false;
}

void pack_arguments(const Program& p, const Launch& l, const ir::CallArgs& args, std::int64_t begin,
                    std::int64_t end, void* scratch, std::vector<std::byte>& out) {
  const ir::Kernel& k = p.kernel;
  const Extents e{args.params, end - begin};
  LaunchValues v{.args = args,
                 .begin = begin,
                 .end = end,
                 .total = iterations(k, p.nest, e),
                 .sharers = 1,
                 .scratch = scratch,
                 .packs = {},
                 .tiles = {},
                 .locals = lay_out_locals(p, args.params, std::int64_t{l.grid[0]} * l.block[0])};
  if (p.mapping.pack > 1 && v.total > 0) {
    v.packs = cut_into_packs(p, args, begin, end);
    v.total = v.total / trips(k, p.nest.chain.back(), e) * v.packs.in_row;
  }
  if (p.mapping.transposed) v.total = transposed_count(k, p.nest, e);
  v.sharers = p.sharers(v.total);
  if (p.mapping.whole_tiles || p.mapping.row_tiles)
    v.tiles = lay_out_tiles(k, p.nest, p.mapping, p.target, args.params, l.block[0]);
  p.arguments.pack(v, out);
}

}  // namespace plait::cuda
