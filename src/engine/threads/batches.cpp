#include "batches.hpp"

#include <atomic>

#include "engine/calls/lines.hpp"
#include "engine/direct/fp_flags.hpp"

namespace plait::engine {
namespace {

// Problems [begin, end) in C order of the batch, as long runs along its last axis as there are.
void run_range(const BatchLoop& l, std::int64_t begin, std::int64_t end) {
  const int nd = l.batch.size();
  const std::size_t count = l.operands.size();
  std::vector<char*> args(count);
  std::vector<std::intptr_t> dims(1 + l.sizes.size()), steps;
  for (const Dims& s : l.strides) steps.push_back(nd == 0 ? 0 : s[nd - 1]);
  steps.insert(steps.end(), l.core_steps.begin(), l.core_steps.end());
  while (begin < end) {
    args = l.operands;
    std::int64_t rest = begin, run = 1;
    for (int d = nd; d-- > 0;) {
      const std::int64_t at = rest % l.batch[d];
      rest /= l.batch[d];
      if (d == nd - 1) run = l.batch[d] - at;
      for (std::size_t k = 0; k < count; ++k) args[k] += at * l.strides[k][d];
    }
    run = std::min(run, end - begin);
    dims[0] = run;
    for (std::size_t i = 0; i < l.sizes.size(); ++i) dims[i + 1] = l.sizes[i];
    l.fn(args.data(), dims.data(), steps.data(), l.data);
    begin += run;
  }
}

}  // namespace

unsigned run_batches(const BatchLoop& l) {
  const std::int64_t count = element_count(l.batch);
  const unsigned before = raised_flags();
  std::atomic<unsigned> raised{0};
  run_pieces(count, static_cast<double>(count) * l.seconds, 1,
             [&](std::int64_t begin, std::int64_t end) {
               clear_flags();
               if (begin < end) run_range(l, begin, end);
               raised.fetch_or(raised_flags(), std::memory_order_relaxed);
             });
  clear_flags();
  raise_flags(before);
  return raised;
}

}  // namespace plait::engine
