#include "trailing.hpp"

#include <omp.h>

#include <algorithm>
#include <cstring>

#include "core/buffer.hpp"
#include "fp_flags.hpp"
#include "kernel.hpp"

namespace plait::engine {
using fusion::Footprint;

namespace {

// What the chunks of one thread store before it is put back, and what they read meanwhile, stays
// in the cache: the first level's where rows are as short as that, else the second's.
constexpr std::int64_t kNearReach = 12 << 10, kNearChunk = 2 << 10;
constexpr std::int64_t kFarReach = 96 << 10, kFarChunk = 96 << 10;
constexpr std::int64_t kWorthBytes = 1 << 20;

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
    std::memcpy(to, from, static_cast<std::size_t>(t.run));
    return;
  }
  const Trail::Row& r = t.rows[d];
  for (std::int64_t i = 0; i < r.extent; ++i)
    put_rows(t, d + 1, to + i * r.stride, from + i * r.stride);
}

}  // namespace

std::optional<Trail> trail(const fusion::Trailing& t, const std::vector<std::int64_t>& values,
                           std::int64_t extent) {
  const Span store = span_of(t.store, values);
  Trail r{t.buffer,     store.first, values[t.store.stride], store.last - store.first, 0,
          t.store.item, {}};
  if (r.stride <= 0 || r.stride * extent < kWorthBytes) return std::nullopt;
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
  if (r.reach * r.stride > kFarReach || r.reach * 8 > extent) return std::nullopt;
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

unsigned CompiledKernel::launch_trailing(const ir::CallArgs& args, std::int64_t extent, double work,
                                         const Trail& t) {
  const std::int64_t bytes = t.reach * t.stride > kNearReach ? kFarChunk : kNearChunk;
  std::int64_t chunk = std::max<std::int64_t>(1, bytes / t.stride);
  if (vector_grid_) chunk = whole_lanes(chunk);
  // So many chunks later nothing that is still to be computed reads what a chunk writes to.
  const std::int64_t delay = std::max<std::int64_t>(1, (t.reach + chunk - 1) / chunk);
  const std::int64_t chunks = (extent + chunk - 1) / chunk;
  const int team =
      static_cast<int>(std::clamp<std::int64_t>(chunks / (4 * delay), 1, threads_for(work)));
  const std::size_t need = scratch_need(args);
  const auto slot = static_cast<std::size_t>((chunk - 1) * t.stride + t.span + 63) / 64 * 64;
  const std::size_t each = need + static_cast<std::size_t>(2 * delay + 1) * slot;
  const Ref<Buffer> memory = allocate(each * static_cast<std::size_t>(team));
  auto* const home = static_cast<std::byte*>(args.buffers[t.buffer]);
  std::vector<std::vector<void*>> tables(
      static_cast<std::size_t>(team),
      std::vector<void*>(args.buffers, args.buffers + kernel_->buffers.size()));

  unsigned flags = 0;
#pragma omp parallel num_threads(team) reduction(| : flags)
  {
    const int me = omp_get_thread_num(), all = omp_get_num_threads();
    clear_flags();
    std::byte* const scratch = memory->data + each * static_cast<std::size_t>(me);
    const std::int64_t from = chunks * me / all, to = chunks * (me + 1) / all;
    // The neighbours read beside the first and the last chunks: they wait for the whole team.
    const std::int64_t first = std::min(from + delay, to), last = std::max(to - delay, first);
    auto place = [&](std::int64_t c) {
      const std::int64_t at = c < first ? c - from : delay + c % (delay + 1);
      return scratch + need + slot * static_cast<std::size_t>(at);
    };
    auto put = [&](std::int64_t c) {
      put_back(t, home, place(c), c * chunk, std::min(extent, (c + 1) * chunk));
    };
    std::vector<void*>& buffers = tables[static_cast<std::size_t>(me)];
    for (std::int64_t c = from; c < to; ++c) {
      buffers[static_cast<std::size_t>(t.buffer)] = place(c) - t.first - c * chunk * t.stride;
      call({buffers.data(), args.params, args.scalars}, c * chunk,
           std::min(extent, (c + 1) * chunk), scratch);
      if (c - delay >= first) put(c - delay);
    }
    flags |= raised_flags();
#pragma omp barrier
    for (std::int64_t c = from; c < first; ++c) put(c);
    for (std::int64_t c = last; c < to; ++c) put(c);
  }
  return flags;
}

}  // namespace plait::engine
