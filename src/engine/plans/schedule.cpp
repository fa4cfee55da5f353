// Which chunk of which stage may follow which: see wavefront.hpp.
#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "core/machine.hpp"
#include "engine/threads/team.hpp"
#include "ir/footprint.hpp"
#include "wavefront.hpp"

namespace plait::engine {

namespace {

// What a chunk loads and stores leaves room for others in the nearest cache, and takes far longer
// than a call.
constexpr std::int64_t kChunkBytes = 64 << 10;
constexpr std::int64_t kMaxChunks = 1024;
// Of those behind another stage's first chunk, one of so many may be the first of a stage.
constexpr std::int64_t kStarts = 8;
constexpr std::int64_t kSeveral = 4;  // chunks: fewer have no middle
constexpr double kPair = 50e-9;       // seconds to find out for which chunks one has to wait

struct Bytes {
  std::int64_t first, last;
  bool empty() const { return first >= last; }
};
bool overlap(const Bytes& a, const Bytes& b) { return a.first < b.last && b.first < a.last; }
Bytes join(const Bytes& a, const Bytes& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return {std::min(a.first, b.first), std::max(a.last, b.last)};
}

// Addresses that a stage touches in each chunk, by one access or several beside each other.
struct Stream {
  bool stored;
  Bytes all{};
  std::vector<Bytes> chunks;
  std::vector<Bytes> up_to, from;  // of the chunks up to each, and from each on

  bool beside(const Stream& o) const {
    if (stored != o.stored) return false;
    for (std::size_t c = 0; c < chunks.size(); ++c)
      if (!overlap(chunks[c], o.chunks[c]) && !chunks[c].empty() && !o.chunks[c].empty())
        return false;
    return true;
  }
  void finish() {
    up_to = from = chunks;
    for (std::size_t c = 1; c < chunks.size(); ++c) up_to[c] = join(up_to[c - 1], chunks[c]);
    for (std::size_t c = chunks.size() - 1; c-- > 0;) from[c] = join(from[c + 1], chunks[c]);
    all = from[0];
  }
};

// What stages of one kernel on the same memory have in common.
struct Pattern {
  std::int64_t chunks;
  std::vector<Stream> streams;
};

// Fills a pattern's streams, chunk by chunk.
class Tracing {
 public:
  explicit Tracing(const Stage& s) : s_(s), chunks_(static_cast<std::size_t>(s.chunks())) {}

  Pattern run() {
    for (std::size_t c = 0; c < chunks_; ++c) {
      const auto begin = static_cast<std::int64_t>(c) * s_.chunk;
      const std::int64_t end = std::min(s_.extent, begin + s_.chunk);
      const std::vector<Bytes> touched = at(begin, end);
      for (std::size_t i = 0; i < touched.size(); ++i) streams_[i].chunks[c] = touched[i];
    }
    cut_wide_ones();
    Pattern p{s_.chunks(), {}};
    for (Stream& s : streams_) {
      const auto known = std::find_if(p.streams.begin(), p.streams.end(),
                                      [&](const Stream& o) { return o.beside(s); });
      if (known == p.streams.end()) {
        p.streams.push_back(std::move(s));
        continue;
      }
      for (std::size_t c = 0; c < chunks_; ++c)
        known->chunks[c] = join(known->chunks[c], s.chunks[c]);
    }
    for (Stream& s : p.streams) s.finish();
    return p;
  }

 private:
  // Of each access.
  std::vector<Bytes> at(std::int64_t begin, std::int64_t end) {
    std::vector<Bytes> bytes;
    for (const ir::Touched& t : ir::footprint(s_.kernel->ir(), s_.params, begin, end)) {
      const auto from =
          reinterpret_cast<std::intptr_t>(s_.buffers[static_cast<std::size_t>(t.buffer)]);
      bytes.push_back(t.first == t.last ? Bytes{0, 0} : Bytes{from + t.first, from + t.last});
      if (bytes.size() > streams_.size())
        streams_.push_back({t.stored, {}, std::vector<Bytes>(chunks_), {}, {}});
    }
    return bytes;
  }

  // A chunk in which an index starts again, at the end of a period, seems to touch all that lies
  // between: it has a stream for either side.
  void cut_wide_ones() {
    for (std::size_t i = 0, n = streams_.size(); i < n; ++i) {
      std::int64_t usual = std::numeric_limits<std::int64_t>::max();
      for (const Bytes& b : streams_[i].chunks)
        if (!b.empty()) usual = std::min(usual, b.last - b.first);
      for (std::size_t c = 0; c < chunks_; ++c) {
        const Bytes whole = streams_[i].chunks[c];
        if (whole.empty() || (whole.last - whole.first) / 4 <= usual) continue;
        const auto begin = static_cast<std::int64_t>(c) * s_.chunk;
        Bytes sides[2] = {};
        const std::int64_t middle = whole.first + (whole.last - whole.first) / 2;
        split(i, begin, std::min(s_.extent, begin + s_.chunk), usual, middle, sides);
        if (sides[0].empty() || sides[1].empty()) continue;
        // The smaller one is where no other chunk goes on.
        if (sides[0].last - sides[0].first < sides[1].last - sides[1].first)
          std::swap(sides[0], sides[1]);
        streams_[i].chunks[c] = sides[0];
        streams_.push_back({streams_[i].stored, {}, std::vector<Bytes>(chunks_), {}, {}});
        streams_.back().chunks[c] = sides[1];
      }
    }
  }
  void split(std::size_t access, std::int64_t begin, std::int64_t end, std::int64_t usual,
             std::int64_t middle, Bytes (&sides)[2]) {
    const Bytes b = at(begin, end)[access];
    if (b.empty()) return;
    if (end - begin > 1 && (b.last - b.first) / 2 > usual) {
      const std::int64_t half = begin + (end - begin) / 2;
      split(access, begin, half, usual, middle, sides);
      split(access, half, end, usual, middle, sides);
      return;
    }
    Bytes& side = sides[b.first >= middle];
    side = join(side, b);
  }

  const Stage& s_;
  std::size_t chunks_;
  std::vector<Stream> streams_;
};

// Chunks [first, last] of one stage.
struct ChunkRange {
  std::int64_t first, last;
};
// Of each chunk of a later stage: the chunks of an earlier one that it has to wait for.
using Waits = std::vector<std::vector<ChunkRange>>;

Waits waits_of(const Pattern& earlier, const Pattern& later) {
  Waits w(static_cast<std::size_t>(later.chunks));
  for (const Stream& a : earlier.streams)
    for (const Stream& b : later.streams) {
      if ((!a.stored && !b.stored) || !overlap(a.all, b.all)) continue;
      for (std::size_t c = 0; c < b.chunks.size(); ++c) {
        const Bytes& x = b.chunks[c];
        if (x.empty()) continue;
        // The last chunk from which on something is touched, and the first up to which.
        const auto after = std::partition_point(a.from.begin(), a.from.end(),
                                                [&](const Bytes& y) { return overlap(y, x); });
        const auto before = std::partition_point(a.up_to.begin(), a.up_to.end(),
                                                 [&](const Bytes& y) { return !overlap(y, x); });
        const ChunkRange r{before - a.up_to.begin(), after - a.from.begin() - 1};
        if (r.first > r.last) continue;
        auto& of = w[c];
        const auto near = std::find_if(of.begin(), of.end(), [&](const ChunkRange& o) {
          return r.first <= o.last + 1 && o.first <= r.last + 1;
        });
        if (near == of.end())
          of.push_back(r);
        else
          *near = {std::min(near->first, r.first), std::max(near->last, r.last)};
      }
    }
  return w;
}

// How many chunks of a stage with `chunks`, which begins with `first`, are done when those are.
std::int64_t needed(const std::vector<ChunkRange>& ranges, std::int64_t first,
                    std::int64_t chunks) {
  std::int64_t most = 0;
  for (const ChunkRange& r : ranges) {
    if (r.first < first && first <= r.last) return chunks;
    most = std::max(most, (r.last - first + chunks) % chunks + 1);
  }
  return most;
}

// Of memory that an iteration passes over: a column moves little, but goes through all rows.
std::int64_t bytes_of_iteration(const Stage& s) {
  std::int64_t most = s.bytes;
  for (const ir::Touched& t : ir::footprint(s.kernel->ir(), s.params, 0, s.extent))
    if (t.last - t.first < ir::kAnywhere) most = std::max(most, t.last - t.first);
  return std::max<std::int64_t>(1, most / s.extent);
}

void set_chunks(Stage& s) {
  const std::int64_t bytes = shares_always() ? kChunkBytes / 256 : kChunkBytes;
  const std::int64_t wanted = std::max(bytes / bytes_of_iteration(s), s.extent / kMaxChunks);
  s.chunk = s.kernel->whole_chunk(std::clamp<std::int64_t>(wanted, 1, s.extent));
  if (s.trail) s.delay = std::max<std::int64_t>(1, (s.trail->reach + s.chunk - 1) / s.chunk);
}

// Which pattern each stage has.
struct Patterns {
  std::vector<const Stage*> first;  // stage of each
  std::vector<Pattern> all;
  std::vector<std::size_t> of;
  std::map<std::pair<std::size_t, std::size_t>, Waits> waits;

  explicit Patterns(std::span<const Stage> stages) {
    for (const Stage& s : stages) {
      const auto params = static_cast<std::size_t>(s.kernel->ir().params);
      const auto known = std::find_if(first.begin(), first.end(), [&](const Stage* o) {
        return o->kernel == s.kernel && o->extent == s.extent && o->buffers == s.buffers &&
               std::equal(s.params, s.params + params, o->params);
      });
      of.push_back(static_cast<std::size_t>(known - first.begin()));
      if (known == first.end()) first.push_back(&s);
    }
  }
  // Seconds to find out which chunks of one wait for which of another.
  double seconds() const {
    double chunks = 0;
    for (const Stage* s : first)
      chunks += static_cast<double>(s->chunks()) * static_cast<double>(s->buffers.size());
    return kPair * chunks * static_cast<double>(first.size());
  }
  void find() {
    for (const Stage* s : first) all.push_back(Tracing(*s).run());
  }
  const Waits& between(std::size_t earlier, std::size_t later) {
    const auto [it, made] = waits.try_emplace({earlier, later});
    if (made) it->second = waits_of(all[earlier], all[later]);
    return it->second;
  }
};

// The latest stage of a pattern in front of another: those before it are always further.
struct Wait {
  const Waits* chunks;
  std::size_t stage;
};

}  // namespace

Schedule::Schedule(std::span<Stage> stages, int threads) : stages_(stages.size()) {
  for (Stage& s : stages) set_chunks(s);
  Patterns patterns(stages);
  double predicted = 0;
  for (const Stage& s : stages) predicted += s.predicted;
  if (patterns.seconds() > predicted && !shares_always()) return;
  patterns.find();
  for (const Pattern& p : patterns.all)
    for (const Stream& s : p.streams)
      if (s.stored) bytes_ += s.all.last - s.all.first;

  std::vector<std::vector<Wait>> waits(stages_);
  std::vector<std::ptrdiff_t> latest(patterns.all.size(), -1);
  std::int64_t most = 1;
  for (std::size_t s = 0; s < stages_; ++s) {
    Stage& stage = stages[s];
    const std::int64_t n = stage.chunks();
    most = std::max(most, n);
    std::ptrdiff_t before = -1;
    for (std::size_t p = 0; p < latest.size(); ++p) {
      if (latest[p] < 0) continue;
      const Waits& w = patterns.between(p, patterns.of[s]);
      if (std::all_of(w.begin(), w.end(), [](const auto& r) { return r.empty(); })) continue;
      waits[s].push_back({&w, static_cast<std::size_t>(latest[p])});
      before = std::max(before, latest[p]);
    }
    latest[patterns.of[s]] = static_cast<std::ptrdiff_t>(s);
    if (before < 0) continue;
    // Where the first chunk wants the last one of a stage before, as with periodic boundaries,
    // another one is the first.
    auto wanted = [&](std::int64_t first) {
      double share = 0;
      for (const Wait& w : waits[s])
        if (stages[w.stage].chunks() >= kSeveral)
          share = std::max(
              share, static_cast<double>(needed((*w.chunks)[static_cast<std::size_t>(first)],
                                                stages[w.stage].first, stages[w.stage].chunks())) /
                         static_cast<double>(stages[w.stage].chunks()));
      return share;
    };
    const Stage& led = stages[static_cast<std::size_t>(before)];
    const std::int64_t same = led.first * n / led.chunks();
    double least = 2;
    for (std::int64_t k = 0; k < std::min(kStarts, n) && !stage.trail; ++k) {
      const std::int64_t first = (same + k) % n;
      if (const double share = wanted(first); share < least) {
        least = share;
        stage.first = first;
      }
      if (least < 0.5) break;
    }
  }

  std::vector<std::int64_t> at(stages_), placed(stages_);
  // Of stages of several chunks: those that the one before them is still at work beside.
  std::vector<char> half(stages_);
  std::int64_t beside = 0, all = 0;
  for (std::size_t ended = 0; ended < stages_; ++rounds_) {
    ended = 0;
    for (std::size_t s = 0; s < stages_; ++s) {
      const Stage& stage = stages[s];
      const std::int64_t n = stage.chunks();
      const std::int64_t share = std::min(n, (n * (rounds_ + 1) + most - 1) / most);
      auto free = [&](std::int64_t chunk) {
        return std::all_of(waits[s].begin(), waits[s].end(), [&](const Wait& w) {
          const Stage& o = stages[w.stage];
          return needed((*w.chunks)[static_cast<std::size_t>(chunk)], o.first, o.chunks()) <=
                 placed[w.stage];
        });
      };
      while (at[s] < share && free((stage.first + at[s]) % n)) ++at[s];
      if (n >= kSeveral && !half[s] && at[s] >= n / 2) {
        half[s] = 1;
        std::size_t before = s;
        while (before > 0 && stages[--before].chunks() < kSeveral) {
        }
        beside += before == s || 5 * at[before] <= 4 * stages[before].chunks();
        ++all;
      }
      placed[s] = at[s] == n ? n : std::max<std::int64_t>(0, at[s] - stage.delay);
      ended += at[s] == n;
      done_.push_back(static_cast<std::int32_t>(at[s]));
    }
  }
  overlaps_ = 2 * beside > all;
  choose_bands(stages, threads);
}

void Schedule::choose_bands(std::span<const Stage> stages, int threads) {
  const Machine& m = host_machine();
  // What lies between two stages when half of all is done.
  auto share = [&](std::size_t s) {
    return static_cast<double>(done(rounds_ / 2, s)) / static_cast<double>(stages[s].chunks());
  };
  auto length = [&](std::size_t from, double room) {
    std::size_t to = from + 1;
    double own = 0;
    for (; to < stages_; ++to) {
      const Stage& s = stages[to];
      if (s.trail) own += static_cast<double>((s.delay + 1) * s.chunk * s.trail->stride);
      if ((share(from) - share(to)) * static_cast<double>(bytes_) + own > room) break;
    }
    return to - from;
  };
  const double near = static_cast<double>(m.memory[0].bytes) / 2;
  const double far = static_cast<double>(m.memory[1].bytes) / 2 / threads;
  const std::size_t middle = stages_ / 3;
  std::size_t each = length(middle, near);
  if (each < 4) each = std::max(each, length(middle, far));
  // As many for every thread.
  const auto t = static_cast<std::size_t>(threads);
  std::size_t bands = (stages_ + each - 1) / each;
  bands = std::min(stages_, (bands + t - 1) / t * t);
  for (std::size_t b = 0; b <= bands; ++b) bands_.push_back(stages_ * b / bands);
  const std::size_t b = bands / 2;
  band_bytes_ = static_cast<std::int64_t>((share(bands_[b]) - share(bands_[b + 1] - 1)) *
                                          static_cast<double>(bytes_));
}

}  // namespace plait::engine
