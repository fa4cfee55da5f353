// Loops over arrays in memory that the team shares: what is long is cut along its longest axis.
// Each piece computes what it would on one thread.
#pragma once
#include <algorithm>

#include "engine/direct/direct_rows.hpp"
#include "interruption.hpp"
#include "team.hpp"

namespace plait::engine {

// Seconds that are no matter for a team.
inline constexpr double kUnsplit = 20e-6;

// Whether what a loop does may be dropped half way, when somebody asked for it: then it throws.
enum class Interrupts : std::uint8_t { Heeded, Ignored };

// piece(begin, end) for all of [0, n), of `seconds` each.
template <class F>
void split(std::int64_t n, double seconds, F&& piece, Interrupts interrupts = Interrupts::Heeded) {
  const double all = seconds * static_cast<double>(n);
  if (all < kUnsplit) {
    if (n > 0) piece(std::int64_t{0}, n);
    return;
  }
  Interruption interruption(interrupts == Interrupts::Heeded);
  const ParallelLoop loop{.extent = n, .seconds = all, .threads = team_threads(all)};
  run_parallel(loop, [&](std::int64_t begin, std::int64_t end, int worker) {
    if (!interruption.goes_on(worker)) return false;
    if (begin < end) piece(begin, end);
    return interruption.goes_on(worker);
  });
  interruption.end();
}

// rows(part) for parts of operands of one shape, of `seconds` an element; the first operand decides
// the order of the axes.
template <class F>
void split_rows(const Dims& shape, std::span<const Memory> operands, double seconds, F&& rows,
                Interrupts interrupts = Interrupts::Heeded) {
  const std::int64_t total = element_count(shape);
  const double all = seconds * static_cast<double>(total);
  if (all < kUnsplit) {
    rows(make_rows(shape, operands, 1));
    return;
  }
  int axis = 0;
  for (int d = 1; d < shape.size(); ++d)
    if (shape[d] > shape[axis]) axis = d;
  const auto each = static_cast<double>(total / shape[axis]);
  Interruption interruption(interrupts == Interrupts::Heeded);
  const ParallelLoop loop{.extent = shape[axis],
                          .seconds = all,
                          .threads = team_threads(all),
                          .multiple = each < 64 ? 64 : 1};
  run_parallel(loop, [&](std::int64_t begin, std::int64_t end, int worker) {
    if (!interruption.goes_on(worker)) return false;
    if (begin < end) {
      Dims part = shape;
      part[axis] = end - begin;
      std::array<Memory, kMaxRowOperands> moved;
      for (std::size_t i = 0; i < operands.size(); ++i)
        moved[i] = {operands[i].data + begin * operands[i].strides[axis], operands[i].strides};
      rows(make_rows(part, std::span<const Memory>(moved.data(), operands.size()), 1));
    }
    return interruption.goes_on(worker);
  });
  interruption.end();
}

}  // namespace plait::engine
