#include "trailing.hpp"

#include <algorithm>
#include <cstring>

#include "core/buffer.hpp"
#include "engine/direct/fp_flags.hpp"
#include "engine/threads/team.hpp"
#include "kernel.hpp"

namespace plait::engine {
using fusion::Footprint;

namespace {

// What the chunks of one thread store before it is put back, and what they read meanwhile, stays
// in the cache: the first level's where rows are as short as that, else the second's.
constexpr std::int64_t kNearReach = 12 << 10, kNearChunk = 2 << 10;
constexpr std::int64_t kFarReach = 96 << 10, kFarChunk = 96 << 10;
constexpr std::int64_t kFarthest = 1 << 20;  // of one among others
constexpr std::int64_t kWorthBytes = 1 << 20;
constexpr std::int64_t kParts = 8;  // of the grid, for each thread

// First and one-past-last byte of iteration 0.
struct Span {
  std::int64_t first, last;
};
Span span_of(const Footprint& f, const std::vector<std::int64_t>& values) {
  Span s{values[f.offset], values[f.offset] + f.item};
  for (const Footprint::Inner& i : f.inner) {
    const std::int64_t reach = (values[i.extent] - 1) * values[i.stride];
    (reach < 0 ? s.first : s.last) += reach;
  }
  return s;
}

// In pieces: a long memcpy may bypass the cache, where both ends already are. Not inlined: the
// library's takes the widest registers.
__attribute__((noinline)) void copy_piece(std::byte* to, const std::byte* from, std::size_t n) {
  std::memcpy(to, from, n);
}
void copy_in_cache(std::byte* to, const std::byte* from, std::int64_t n) {
  constexpr std::int64_t kPiece = 4096;
  for (std::int64_t at = 0; at < n; at += kPiece)
    copy_piece(to + at, from + at, static_cast<std::size_t>(std::min(kPiece, n - at)));
}

void put_rows(const Trail& t, std::size_t d, std::byte* to, const std::byte* from) {
  if (d == t.rows.size()) {
    copy_in_cache(to, from, t.run);
    return;
  }
  const Trail::Row& r = t.rows[d];
  for (std::int64_t i = 0; i < r.extent; ++i)
    put_rows(t, d + 1, to + i * r.stride, from + i * r.stride);
}

}  // namespace

std::optional<Trail> trail(const fusion::Trailing& t, const std::vector<std::int64_t>& values,
                           std::int64_t extent, bool alone) {
  const Span store = span_of(t.store, values);
  Trail r{t.buffer,     store.first, values[t.store.stride], store.last - store.first, 0,
          t.store.item, {}};
  if (r.stride <= 0 || (alone && r.stride * extent < kWorthBytes)) return std::nullopt;
  for (const Footprint& f : t.loads) {
    if (values[f.stride] != r.stride) return std::nullopt;
    const Span load = span_of(f, values);
    const std::int64_t far = std::max(store.last - load.first, load.last - store.first) - 1;
    r.reach = std::max(r.reach, far / r.stride);
  }
  std::vector<Trail::Row> rows;
  for (const Footprint::Inner& i : t.store.inner) {
    if (values[i.stride] <= 0) return std::nullopt;
    rows.push_back({values[i.extent], values[i.stride]});
  }
  std::sort(rows.begin(), rows.end(), [](auto a, auto b) { return a.stride > b.stride; });
  while (!rows.empty() && rows.back().stride == r.run) {
    r.run *= rows.back().extent;
    rows.pop_back();
  }
  r.rows = std::move(rows);
  if (r.run < 64 && !(r.rows.empty() && r.stride == r.run)) return std::nullopt;
  if (r.reach * r.stride > (alone ? kFarReach : kFarthest) || r.reach * 8 > extent)
    return std::nullopt;
  return r;
}

void put_back(const Trail& t, std::byte* buffer, const std::byte* from, std::int64_t begin,
              std::int64_t end) {
  std::byte* const to = buffer + t.first + begin * t.stride;
  if (t.rows.empty() && t.run == t.stride) {
    copy_in_cache(to, from, (end - begin) * t.run);
    return;
  }
  for (std::int64_t i = 0; i < end - begin; ++i)
    put_rows(t, 0, to + i * t.stride, from + i * t.stride);
}

unsigned CompiledKernel::launch_trailing(const ir::CallArgs& args, std::int64_t extent,
                                         double predicted, const Trail& t) {
  const std::int64_t bytes = t.reach * t.stride > kNearReach ? kFarChunk : kNearChunk;
  std::int64_t chunk = std::max<std::int64_t>(1, bytes / t.stride);
  chunk = whole_chunk(chunk);
  // So many chunks later nothing that is still to be computed reads what a chunk writes to.
  const std::int64_t delay = std::max<std::int64_t>(1, (t.reach + chunk - 1) / chunk);
  const std::int64_t chunks = (extent + chunk - 1) / chunk;
  ParallelLoop loop = loop_of(extent, predicted);
  // Parts of the grid are put back on their own but for their ends, beside which the neighbours
  // read: those wait until all parts are done.
  loop.extent = loop.threads == 1
                    ? 1
                    : std::clamp<std::int64_t>(chunks / (32 * delay), 1, kParts * loop.threads);
  const std::int64_t parts = loop.extent;
  loop.multiple = 1;
  const std::size_t need = scratch_need(args);
  const std::size_t slot = t.slot_bytes(chunk);
  const auto ends = static_cast<std::size_t>(2 * delay) * slot;  // of one part
  const std::size_t each = need + static_cast<std::size_t>(delay + 1) * slot;
  const Ref<Buffer> kept = allocate(ends * static_cast<std::size_t>(parts));
  const Ref<Buffer> memory = allocate(each * static_cast<std::size_t>(loop.threads));
  auto* const home = static_cast<std::byte*>(args.buffers[t.buffer]);
  std::vector<std::vector<void*>> tables(
      static_cast<std::size_t>(loop.threads),
      std::vector<void*>(args.buffers, args.buffers + kernel_->buffers.size()));

  struct Part {
    std::int64_t from, to, first, last;  // chunks; those outside [first, last) wait
  };
  auto part = [&](std::int64_t p) {
    Part r{chunks * p / parts, chunks * (p + 1) / parts, 0, 0};
    r.first = std::min(r.from + delay, r.to);
    r.last = std::max(r.to - delay, r.first);
    return r;
  };
  auto waiting = [&](std::int64_t p, const Part& r, std::int64_t c) {
    const std::int64_t at = c < r.first ? c - r.from : delay + c - r.last;
    std::byte* const of_part = kept->data + ends * static_cast<std::size_t>(p);
    return t.in_slot(of_part + slot * static_cast<std::size_t>(at), home, c * chunk);
  };
  auto put = [&](std::int64_t c, const std::byte* from) {
    put_back(t, home, from, c * chunk, std::min(extent, (c + 1) * chunk));
  };
  std::atomic<unsigned> flags{0};
  auto run_part = [&](std::int64_t p, int worker) {
    std::byte* const scratch = memory->data + each * static_cast<std::size_t>(worker);
    std::vector<void*>& buffers = tables[static_cast<std::size_t>(worker)];
    const Part r = part(p);
    auto place = [&](std::int64_t c) {
      if (c < r.first || c >= r.last) return waiting(p, r, c);
      return t.in_slot(scratch + need + slot * static_cast<std::size_t>(c % (delay + 1)), home,
                       c * chunk);
    };
    for (std::int64_t c = r.from; c < r.to; ++c) {
      buffers[static_cast<std::size_t>(t.buffer)] = place(c) - t.first - c * chunk * t.stride;
      call({buffers.data(), args.params, args.scalars}, c * chunk,
           std::min(extent, (c + 1) * chunk), scratch);
      if (c - delay >= r.first && c - delay < r.last) put(c - delay, place(c - delay));
    }
  };
  const bool code = jitted();
  clear_flags();
  measured(run_parallel(loop,
                        [&](std::int64_t begin, std::int64_t end, int worker) {
                          if (worker != 0) clear_flags();
                          for (std::int64_t p = begin; p < end; ++p) run_part(p, worker);
                          flags.fetch_or(raised_flags(), std::memory_order_relaxed);
                          return true;
                        }),
           predicted, code);
  for (std::int64_t p = 0; p < parts; ++p) {
    const Part r = part(p);
    for (std::int64_t c = r.from; c < r.first; ++c) put(c, waiting(p, r, c));
    for (std::int64_t c = r.last; c < r.to; ++c) put(c, waiting(p, r, c));
  }
  return flags;
}

}  // namespace plait::engine
