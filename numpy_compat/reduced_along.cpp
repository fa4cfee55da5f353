#include "reduced_along.hpp"

#include <cmath>
#include <mutex>
#include <vector>

#include "core/device.hpp"
#include "engine/plans/state.hpp"
#include "functions.hpp"
#include "tracer/context.hpp"
#include "tracer/derived.hpp"
#include "tracer/error_states.hpp"
#include "tracer/graph.hpp"

namespace plait::numpy {
using engine::ReductionsAlong;

namespace {

constexpr std::int64_t kLarge = 1 << 16;  // below, a pass costs less than what is kept of it

class Quietly {
 public:
  Quietly() {
    constexpr auto kIgnore = tracer::ErrorAction::Ignore;
    tracer::set_error_state({kIgnore, kIgnore, kIgnore, kIgnore});
  }
  ~Quietly() { tracer::record_under(before_); }
  Quietly(const Quietly&) = delete;
  Quietly& operator=(const Quietly&) = delete;

 private:
  tracer::KnownErrorState before_ = tracer::recorded_under();
};

Array recorded(FullReduction what, const Array& a) {
  switch (what) {
    case FullReduction::Sum:
      return tracer::reduce(ReduceKind::Sum, a);
    case FullReduction::Prod:
      return tracer::reduce(ReduceKind::Prod, a);
    case FullReduction::Min:
      return tracer::reduce(ReduceKind::Min, a);
    case FullReduction::Max:
      return tracer::reduce(ReduceKind::Max, a);
    case FullReduction::Mean:
      return mean(a);
    case FullReduction::Var:
      return var(a);
    default:
      return std(a);
  }
}

// The number of contents that nobody but Plait can write to, else 0.
std::uint64_t own_contents(const Array& a) {
  const tracer::Storage& s = *a.storage;
  if (!tracer::is_materialised(a) || tracer::exported(s) || s.borrowed || !s.version->data ||
      s.version->data->watched)
    return 0;
  return tracer::contents_of(*s.version);
}

// False where one of them is not finite: an event that it raised belongs to its own call.
bool compute(ReductionsAlong::Kinds kinds, const Array& a, ReductionsAlong::Values& values) {
  std::vector<Array> all;
  std::vector<std::size_t> places;
  {
    const Quietly ignore;
    for (std::size_t k = 0; k < engine::kFullReductions; ++k)
      if (kinds >> k & 1) {
        all.push_back(recorded(static_cast<FullReduction>(k), a));
        places.push_back(k);
      }
  }
  tracer::evaluate(all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Scalar v = tracer::item(all[i], {});
    if (!std::isfinite(cast(v, DType::Float64).as<double>())) return false;
    values[places[i]] = v;
  }
  return true;
}

// NumPy's default, for what this thread records now.
bool default_errors() { return !tracer::eager_errors() && tracer::current_error_state() == 0; }

}  // namespace

std::optional<Scalar> reduced_along(FullReduction what, const Array& a, std::uint32_t site) {
  if (site == 0 || a.size() < kLarge || (a.dtype != DType::Float64 && a.dtype != DType::Float32) ||
      tracer::device_of(a) != kHost)
    return std::nullopt;
  ReductionsAlong& along = engine::state().reductions_along;
  ReductionsAlong::Shown now;
  ReductionsAlong::Answer answer;
  {
    const std::lock_guard held(tracer::lock());
    const std::uint64_t contents = own_contents(a);
    if (contents == 0) return std::nullopt;
    now = {contents, a.dtype, a.shape, a.strides, a.offset};
    answer = along.ask(now, site, what, default_errors());
  }
  if (answer.value || answer.expected == 0) return answer.value;
  ReductionsAlong::Values values;
  const bool quiet = compute(answer.expected | ReductionsAlong::bit(what), a, values);
  const std::lock_guard held(tracer::lock());
  if (!quiet) {
    along.raised_an_event(site);
    return std::nullopt;
  }
  along.computed(now, answer.expected, values);
  return values[static_cast<std::size_t>(what)];
}

}  // namespace plait::numpy
