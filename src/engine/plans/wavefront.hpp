// Steps of a plan that follow each other, run together: each takes a chunk of its grid as soon as
// what that reads is there, and what it writes over is not read by those before. So what a step
// stores is still in the cache when the next ones read it: a loop in time passes through memory
// once for many steps. Which chunk follows from which is found by the bytes that they touch
// (ir/footprint.hpp). Values are those of the steps run one after the other.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernel.hpp"

namespace plait::engine {

// One step with what it is run on.
struct Stage {
  CompiledKernel* kernel = nullptr;
  std::vector<void*> buffers;
  std::vector<const Buffer*> memory;  // that each of them is in
  const std::int64_t* params = nullptr;
  const Scalar* scalars = nullptr;
  std::int64_t extent = 0;     // iterations of its grid
  std::int64_t bytes = 0;      // that all of them load and store
  double predicted = 0;        // seconds of machine code on one thread
  std::optional<Trail> trail;  // it writes over what its own next chunks read

  // Set by the schedule.
  std::int64_t chunk = 1;  // iterations
  std::int64_t first = 0;  // the chunk that it begins with; behind the last one comes chunk 0
  std::int64_t delay = 0;  // chunks that pass before one is put in its place, with `trail`

  std::int64_t chunks() const { return (extent + chunk - 1) / chunk; }
};

// How far each stage is after each round. In a round a stage does what has become possible, but no
// more than its share of chunks, so that all of them go through memory side by side.
class Schedule {
 public:
  Schedule(std::span<Stage> stages, int threads);

  std::int64_t rounds() const { return rounds_; }
  // Chunks that the stage has done after so many rounds.
  std::int64_t done(std::int64_t round, std::size_t stage) const {
    return round == 0 ? 0 : done_[static_cast<std::size_t>(round - 1) * stages_ + stage];
  }
  // Stages that a thread runs a round of at a time: where each band begins, and the end. As many as
  // keep what lies between the first one's place and the last one's in the cache.
  const std::vector<std::size_t>& bands() const { return bands_; }
  // Of memory, between the first stage of a band and its last one.
  std::int64_t band_bytes() const { return band_bytes_; }
  // Whether stages run side by side at all.
  bool overlaps() const { return overlaps_; }

 private:
  void choose_bands(std::span<const Stage> stages, int threads);

  std::size_t stages_;
  std::int64_t rounds_ = 0, bytes_ = 0, band_bytes_ = 0;
  bool overlaps_ = false;
  std::vector<std::int32_t> done_;
  std::vector<std::size_t> bands_;
};

// Runs them all, on this thread or on the team: one after the other where none could begin before
// the one in front of it ends. Returns the floating-point exceptions of each. Throws std::bad_alloc
// before anything ran. `kept`: the schedule of an earlier run, which serves others of such numbers,
// wherever their memory is.
// `end`: why no more steps are among them, for schedule_text().
std::vector<unsigned> run_stages(std::span<Stage> stages, std::shared_ptr<void>& kept,
                                 const char* end);
// Whether it has them run side by side.
bool side_by_side(const std::shared_ptr<void>& kept);
// What explain() says of a schedule that was kept: how many steps share what, and why not more.
std::string schedule_text(const std::shared_ptr<void>& kept);

}  // namespace plait::engine
