// Full reductions that come along. Where a full reduction gives its number at the call,
// `(x - x.min()) / (x.max() - x.min())` would read x once a reduction. Where others of the same
// contents followed a call site in the last two rounds, they are computed in its pass, and their
// values wait for them: of one array at a time, until the array is written to, and each is given
// once. This is what is remembered of call sites and which reductions it says will follow;
// numpy_compat/reduced_along.hpp computes them.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/dims.hpp"
#include "core/dtype.hpp"
#include "core/scalar.hpp"

namespace plait::engine {

enum class FullReduction : std::uint8_t { Sum, Prod, Min, Max, Mean, Var, Std, Count_ };
inline constexpr std::size_t kFullReductions = static_cast<std::size_t>(FullReduction::Count_);

// The recorder's lock is held.
class ReductionsAlong {
 public:
  using Kinds = std::uint32_t;  // a bit each
  using Values = std::array<Scalar, kFullReductions>;
  static constexpr Kinds bit(FullReduction r) { return 1U << static_cast<int>(r); }

  // An array that shows contents of memory.
  struct Shown {
    std::uint64_t contents = 0;  // tracer::contents_of()
    DType dtype{};
    Dims shape, strides;
    std::int64_t offset = 0;
    bool operator==(const Shown&) const = default;
  };
  struct Answer {
    std::optional<Scalar> value = {};  // from an earlier pass
    Kinds expected = 0;                // what will follow, and had better be computed with it
  };
  // `quiet`: nobody hears more of events than NumPy's defaults have, so that values may come from
  // another call's pass.
  Answer ask(const Shown& of, std::uint32_t site, FullReduction what, bool quiet);
  // What was expected has been computed in the pass of `what`.
  void computed(const Shown& of, Kinds expected, const Values& values);
  // A value raised an event, which its own call has to tell of: nothing is expected there again.
  void raised_an_event(std::uint32_t site) { habit(site).off = true; }

  std::uint64_t passes = 0, given = 0;  // that computed for later calls; values that those got

 private:
  // The reductions of one array since the call site that began.
  struct Sequence {
    Shown of;
    std::uint32_t site = 0;
    std::array<std::uint32_t, 8> others{};  // sites that have asked since
    std::size_t other_sites = 0;
    Kinds asked = 0;  // there
    Kinds known = 0;
    Values values = {};
  };
  // What followed at a call site.
  struct Habit {
    std::uint32_t site = 0;
    Kinds last = 0, expected = 0;
    bool off = false;
  };

  bool follows(std::uint32_t site, FullReduction what);
  Habit& habit(std::uint32_t site);

  Sequence sequence_;
  std::array<Habit, 256> habits_;
};

}  // namespace plait::engine
