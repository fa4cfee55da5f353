// The threads of the engine's parallel loops. The caller of a loop works from the start and claims
// one piece of it after another; helpers that are awake in time claim pieces, too. Nobody waits for
// a helper that has not begun, so a loop takes hardly longer on a team than on one thread, whatever
// else keeps the machine busy; how much a team is worth is learnt from what it has brought. Loops
// of a tenth of a second and more are OpenMP's.
#pragma once
#include <cstdint>
#include <memory>
#include <type_traits>

namespace plait::engine {

// Iterations [0, extent) that may run in pieces of any size, in any order, on any thread.
struct ParallelLoop {
  std::int64_t extent = 0;
  double seconds = 0;         // what all of it takes on one thread, roughly
  int threads = 1;            // at most so many work, see team_threads()
  std::int64_t multiple = 1;  // pieces begin at multiples of it
  double longest = 5e-3;      // seconds of a piece, so that `body` can look around between two
};

// What runs a piece: bool(begin, end, worker). Workers are numbered below `threads`, the caller is
// 0. `false` ends the loop: no further piece begins. Must not throw. The caller runs an empty piece
// now and then while it waits for others to end theirs, so that `body` can look around.
class LoopBody {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, LoopBody>)
  LoopBody(F&& f)  // NOLINT(google-explicit-constructor): a reference to what is called
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* o, std::int64_t begin, std::int64_t end, int worker) -> bool {
          return (*static_cast<std::remove_reference_t<F>*>(o))(begin, end, worker);
        }) {}
  bool operator()(std::int64_t begin, std::int64_t end, int worker) const {
    return call_(object_, begin, end, worker);
  }

 private:
  void* object_;
  bool (*call_)(void*, std::int64_t, std::int64_t, int);
};

// When helpers are asked: when it pays, or always and with small pieces, for tests (also
// PLAIT_TEAM=always).
enum class Sharing : std::uint8_t { WhenItPays, Always };
void set_sharing(Sharing s);
bool shares_always();

// How many threads a loop of so many seconds may use: at most the setting, the CPUs of the affinity
// mask and those of the quota.
int team_threads(double seconds);

// Runs all of the loop and gives the seconds that one thread would have taken for it, as far as
// this run shows. Where threads or memory for them are missing it runs on fewer.
double run_parallel(const ParallelLoop& loop, LoopBody body);

// In a loop that waits for another thread.
void pause_a_moment();

// memcpy by the team: one thread does not keep up with memory.
void copy_memory(void* to, const void* from, std::int64_t bytes);

// Around fork(): the child has no helpers and starts its own.
void reset_team_in_child();

}  // namespace plait::engine
