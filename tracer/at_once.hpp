// Operations of middling size that are computed at their call, as small ones are, where nodes and a
// plan would only cost. That is where call sites come by often and nobody asks for a value, as in a
// loop in time, until they have taken a few times what planning would; and where the graph is
// known, and waits for its plan or has one that is slower. What waits to be computed and is read
// there is computed then. Callers hold the lock.
#pragma once
#include <cstdint>
#include <span>

#include "core/machine.hpp"

namespace plait::tracer {

// The largest such operation, in elements and in seconds: of longer ones a node's cost does not
// show.
inline constexpr std::int64_t kMiddling = 1 << 16;
inline constexpr double kMiddlingSeconds = 20e-6;
// Seconds of an operation, times the number of sites in their first rounds, before they record.
inline constexpr double kFirstRounds = 10 * kMachine.plan_node;

// At these sites, for so many rounds. A site stands there as often as it comes by in a round. Once
// one of them has been there as often as said, all of them record again.
void compute_at_once(std::span<const std::uint32_t> sites, std::uint32_t rounds);
// How many rounds have gone by since, as this site counts them.
std::uint32_t rounds_at_once(std::uint32_t site);
// A plan has come.
void record_again();
// While somebody watches, everything is recorded. Calls nest.
void record_everything(bool on);
bool everything_recorded();

}  // namespace plait::tracer
