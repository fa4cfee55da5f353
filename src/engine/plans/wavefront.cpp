#include "wavefront.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "core/buffer.hpp"
#include "core/timeline.hpp"
#include "engine/direct/fp_flags.hpp"
#include "engine/threads/seconds.hpp"
#include "engine/threads/team.hpp"
#include "run.hpp"
#include "tracer/evaluation_scope.hpp"

namespace plait::engine {

namespace {

// Workers wait for each other, so none may come late: longer loops are OpenMP's (team.hpp).
constexpr double kTeam = 0.05;

// Of one stage, while it is run by one thread at a time.
class Runner {
 public:
  Runner(const Stage& s, std::byte* slots) : s_(s), buffers_(s.buffers), slots_(slots) {
    if (s.trail) home_ = static_cast<std::byte*>(buffers_[static_cast<std::size_t>(buffer())]);
  }
  static std::size_t slots_bytes(const Stage& s) {
    return s.trail ? static_cast<std::size_t>(s.delay + 1) * s.trail->slot_bytes(s.chunk) : 0;
  }

  // Chunks [from, to), counted from the stage's first one.
  void run(std::int64_t from, std::int64_t to, std::byte* scratch) {
    clear_flags();
    if (s_.trail)
      trail(from, to, scratch);
    else
      for (std::int64_t at = from; at < to;) {
        const std::int64_t chunk = (s_.first + at) % s_.chunks();
        const std::int64_t count = std::min(to - at, s_.chunks() - chunk);
        call(chunk, count, scratch);
        at += count;
      }
    flags_ |= raised_flags();
  }
  unsigned flags() const { return flags_; }

 private:
  std::int32_t buffer() const { return s_.trail->buffer; }
  std::byte* slot(std::int64_t chunk) const {
    std::byte* const slot =
        slots_ + s_.trail->slot_bytes(s_.chunk) * static_cast<std::size_t>(chunk % (s_.delay + 1));
    return s_.trail->in_slot(slot, home_, chunk * s_.chunk);
  }
  void call(std::int64_t chunk, std::int64_t count, std::byte* scratch) {
    s_.kernel->call({buffers_.data(), s_.params, s_.scalars}, chunk * s_.chunk,
                    std::min(s_.extent, (chunk + count) * s_.chunk), scratch);
  }
  void trail(std::int64_t from, std::int64_t to, std::byte* scratch) {
    const Trail& t = *s_.trail;
    for (std::int64_t c = from; c < to; ++c) {
      buffers_[static_cast<std::size_t>(buffer())] = slot(c) - t.first - c * s_.chunk * t.stride;
      call(c, 1, scratch);
      if (c >= s_.delay) put(c - s_.delay);
    }
    if (to != s_.chunks()) return;
    for (std::int64_t c = std::max<std::int64_t>(0, to - s_.delay); c < to; ++c) put(c);
  }
  void put(std::int64_t chunk) {
    put_back(*s_.trail, home_, slot(chunk), chunk * s_.chunk,
             std::min(s_.extent, (chunk + 1) * s_.chunk));
  }

  const Stage& s_;
  std::vector<void*> buffers_;
  std::byte *slots_, *home_ = nullptr;
  unsigned flags_ = 0;
};

// Rounds of each band, in order, and behind those of the band before.
class Bands {
 public:
  Bands(std::size_t count, std::int64_t rounds)
      : count_(count), rounds_(rounds), bands_(std::make_unique<Band[]>(count)) {}

  // A band with a round that may begin, the one at hand if it has one. There is such a round, or
  // somebody works at one in front of it.
  std::size_t claim(std::size_t at_hand) {
    for (;;) {
      if (at_hand < count_ && take(at_hand)) return at_hand;
      for (std::size_t b = 0; b < count_; ++b)
        if (take(b)) return b;
      pause_a_moment();
    }
  }
  std::int64_t round(std::size_t band) const {
    return bands_[band].done.load(std::memory_order_relaxed);
  }
  void end(std::size_t band) {
    bands_[band].done.fetch_add(1, std::memory_order_release);
    bands_[band].taken.store(false, std::memory_order_release);
  }

 private:
  struct alignas(64) Band {
    std::atomic<std::int64_t> done{0};
    std::atomic<bool> taken{false};
  };
  bool ready(std::size_t b) const {
    const std::int64_t done = bands_[b].done.load(std::memory_order_acquire);
    return done < rounds_ && (b == 0 || bands_[b - 1].done.load(std::memory_order_acquire) > done);
  }
  bool take(std::size_t b) {
    if (!ready(b) || bands_[b].taken.exchange(true, std::memory_order_acquire)) return false;
    if (ready(b)) return true;
    bands_[b].taken.store(false, std::memory_order_release);
    return false;
  }

  std::size_t count_;
  std::int64_t rounds_;
  std::unique_ptr<Band[]> bands_;
};

// All that a schedule follows from.
std::vector<std::int64_t> key_of(std::span<const Stage> stages, int threads) {
  std::vector<std::int64_t> key{threads};
  std::unordered_map<const Buffer*, std::int64_t> number;
  for (const Stage& s : stages) {
    key.push_back(reinterpret_cast<std::intptr_t>(s.kernel));
    key.push_back(s.extent);
    key.insert(key.end(), s.params, s.params + s.kernel->ir().params);
    key.push_back(s.trail ? s.trail->reach : -1);
    for (std::size_t b = 0; b < s.buffers.size(); ++b) {
      key.push_back(number.try_emplace(s.memory[b], number.size()).first->second);
      key.push_back(static_cast<std::byte*>(s.buffers[b]) - s.memory[b]->data);
    }
  }
  return key;
}

struct KeptSchedule {
  struct Chunks {
    std::int64_t chunk, first, delay;
  };
  std::vector<std::int64_t> key;
  std::vector<Chunks> chunks;  // of each stage
  Schedule schedule;
  const char* end;

  KeptSchedule(std::vector<std::int64_t> k, std::span<const Stage> stages, Schedule s,
               const char* why)
      : key(std::move(k)), schedule(std::move(s)), end(why) {
    for (const Stage& stage : stages) chunks.push_back({stage.chunk, stage.first, stage.delay});
  }
  void set(std::span<Stage> stages) const {
    for (std::size_t s = 0; s < stages.size(); ++s) {
      stages[s].chunk = chunks[s].chunk;
      stages[s].first = chunks[s].first;
      stages[s].delay = chunks[s].delay;
    }
  }
};

// One after the other. None may end half way, when some of them have written in place: what lacks
// memory for its threads has what was taken before the first one ran.
std::vector<unsigned> run_apart(std::span<const Stage> stages) {
  std::size_t scratch = 0, slots = 0;
  for (const Stage& s : stages) {
    scratch = std::max(scratch, s.kernel->scratch_need({s.buffers.data(), s.params, s.scalars}));
    slots = std::max(slots, Runner::slots_bytes(s));
  }
  const Ref<Buffer> reserve = allocate(scratch + slots);
  std::vector<Runner> alone;
  alone.reserve(stages.size());
  for (const Stage& s : stages) alone.emplace_back(s, reserve->data + scratch);
  std::vector<unsigned> flags(stages.size());
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const Stage& s = stages[i];
    try {
      flags[i] = s.kernel->run({s.buffers.data(), s.params, s.scalars}, s.extent, s.predicted,
                               {.trail = s.trail ? &*s.trail : nullptr});
    } catch (const std::bad_alloc&) {
      alone[i].run(0, s.chunks(), reserve->data);
      flags[i] = alone[i].flags();
    }
  }
  return flags;
}

}  // namespace

bool side_by_side(const std::shared_ptr<void>& kept) {
  return static_cast<const KeptSchedule*>(kept.get())->schedule.overlaps();
}

std::string schedule_text(const std::shared_ptr<void>& kept) {
  const auto& k = *static_cast<const KeptSchedule*>(kept.get());
  std::ostringstream out;
  const std::vector<std::size_t>& bands = k.schedule.bands();
  out << "  this and the " << k.chunks.size() - 1 << " regions behind it ";
  if (!k.schedule.overlaps()) {
    out << "run one after the other: none can begin long before the one in front of it ends\n";
    return out.str();
  }
  out << "run together, a chunk of each at a time: " << bands.size() - 1 << " bands of "
      << bands[1] - bands[0] << ", with about " << k.schedule.band_bytes() / 1024
      << " KiB between the first of a band and its last\n";
  if (k.end) out << "  no more of them: " << k.end << "\n";
  return out.str();
}

std::vector<unsigned> run_stages(std::span<Stage> stages, std::shared_ptr<void>& kept,
                                 const char* end) {
  double predicted = 0;
  for (const Stage& s : stages) predicted += s.predicted;
  const int threads = team_threads(predicted);
  std::vector<std::int64_t> key = key_of(stages, threads);
  auto known = std::static_pointer_cast<KeptSchedule>(kept);
  if (!known || known->key != key) {
    Schedule made(stages, threads);
    known = std::make_shared<KeptSchedule>(std::move(key), stages, std::move(made), end);
    kept = known;
  }
  known->set(stages);
  const Schedule& schedule = known->schedule;
  if (!schedule.overlaps()) return run_apart(stages);

  std::size_t slots = 0, scratch = 0;
  for (const Stage& s : stages) {
    slots += Runner::slots_bytes(s);
    scratch = std::max(scratch, s.kernel->scratch_need({s.buffers.data(), s.params, s.scalars}));
  }
  const auto workers = static_cast<std::size_t>(threads);
  const Ref<Buffer> memory = allocate(slots + scratch * workers);
  std::byte* slot = memory->data + scratch * workers;
  std::vector<Runner> runners;
  runners.reserve(stages.size());
  for (const Stage& s : stages) {
    s.kernel->prepare(s.predicted);
    runners.emplace_back(s, slot);
    slot += Runner::slots_bytes(s);
  }

  const std::vector<std::size_t>& bands = schedule.bands();
  Bands left(bands.size() - 1, schedule.rounds());
  constexpr std::size_t kApart = 8;  // in cache lines of their own
  std::vector<std::size_t> at_hand(workers * kApart, bands.size());
  const ParallelLoop loop{.extent = static_cast<std::int64_t>(bands.size() - 1) * schedule.rounds(),
                          .seconds = std::min(predicted, kTeam),
                          .threads = threads};
  counters().steps_together += stages.size();
  const tracer::Unlocked others_record;
  timeline::Span span(timeline::Category::Kernel);
  span.name("kernels together");
  span.arg("kernels", static_cast<std::int64_t>(stages.size()));
  const double started = seconds_now();
  run_parallel(loop, [&](std::int64_t begin, std::int64_t end, int worker) {
    const auto w = static_cast<std::size_t>(worker);
    for (std::int64_t i = begin; i < end; ++i) {
      const std::size_t band = at_hand[w * kApart] = left.claim(at_hand[w * kApart]);
      const std::int64_t round = left.round(band);
      for (std::size_t s = bands[band]; s < bands[band + 1]; ++s) {
        const std::int64_t from = schedule.done(round, s), to = schedule.done(round + 1, s);
        if (from < to) runners[s].run(from, to, memory->data + scratch * w);
      }
      left.end(band);
    }
    return true;
  });
  const double took = seconds_now() - started;
  std::vector<unsigned> flags;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    stages[s].kernel->ran(took * stages[s].predicted / predicted);
    flags.push_back(runners[s].flags());
  }
  return flags;
}

}  // namespace plait::engine
