#include "along.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <vector>

#include "core/device.hpp"
#include "functions.hpp"
#include "numpy_compat/functions.hpp"
#include "sites.hpp"
#include "tracer/context.hpp"
#include "tracer/error_states.hpp"
#include "tracer/graph.hpp"

namespace plait::py {
namespace {

constexpr std::int64_t kLarge = 1 << 16;  // below, a pass costs less than what is kept of it

using Clock = std::chrono::steady_clock;
constexpr auto kKept = std::chrono::seconds(5);  // too short for 2^32 writes
using Kinds = std::uint32_t;                     // a bit each
constexpr int kKinds = static_cast<int>(FullReduction::Count_);
Kinds bit(FullReduction r) { return 1U << static_cast<int>(r); }

// Contents of memory. Numbers of writes are not used again by any storage before 2^32 others.
struct Contents {
  const tracer::Storage* storage = nullptr;
  std::uint32_t writes = 0;
  DType dtype{};
  Dims shape, strides;
  std::int64_t offset = 0;
  bool operator==(const Contents&) const = default;
};

// The reductions of one array's contents since the call site that began.
struct Sequence {
  Contents of;
  Clock::time_point began;
  std::uint32_t site = 0;
  std::array<std::uint32_t, 8> others{};  // sites that have asked since
  std::size_t other_sites = 0;
  Kinds asked = 0;  // there
  Kinds known = 0;
  std::array<Scalar, kKinds> values;
};
// What followed at a call site.
struct Habit {
  std::uint32_t site = 0;
  Kinds last = 0, expected = 0;
  bool off = false;  // a value raised a flag, so its own call has to compute it
};

// The GIL guards them.
Sequence sequence;
std::array<Habit, 256> habits;
std::uint64_t passes = 0, given = 0;

Habit& habit(std::uint32_t site) {
  Habit& h = habits[site % habits.size()];
  if (h.site != site) h = {.site = site};
  return h;
}

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

tracer::Array recorded(FullReduction what, const tracer::Array& a) {
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
      return numpy::mean(a);
    case FullReduction::Var:
      return numpy::var(a);
    default:
      return numpy::std(a);
  }
}

// Nobody but Plait can write to it.
bool private_memory(const tracer::Array& a) {
  const tracer::Storage& s = *a.storage;
  return tracer::is_materialised(a) && !tracer::exported(s) && !s.borrowed && s.version->data &&
         !s.version->data->watched && s.writes != 0;
}

bool finite(const Scalar& s) {
  if (s.dtype == DType::Float32) {
    float v;
    std::memcpy(&v, s.bytes, sizeof v);
    return std::isfinite(v);
  }
  double v;
  std::memcpy(&v, s.bytes, sizeof v);
  return std::isfinite(v);
}

// `first` and what is expected, in one evaluation; false where one of them is not finite: flags
// that it raised belong to its own call.
bool together(Sequence& s, FullReduction first, Kinds expected, const tracer::Array& a) {
  std::vector<tracer::Array> all;
  std::vector<int> kinds;
  {
    const Quietly ignore;
    for (int k = 0; k < kKinds; ++k)
      if ((expected | bit(first)) >> k & 1) {
        all.push_back(recorded(static_cast<FullReduction>(k), a));
        kinds.push_back(k);
      }
  }
  tracer::evaluate(all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Scalar v = tracer::item(all[i], {});
    if (!finite(v)) return false;
    s.values[static_cast<std::size_t>(kinds[i])] = v;
  }
  s.known = expected;
  return true;
}

// False where a site comes round again, which begins the next sequence: in a loop over an array
// that nobody writes to, the site that began the last one need not come again.
bool follows(Sequence& s, std::uint32_t site, FullReduction what) {
  if (site == s.site) return false;
  const auto end = s.others.begin() + static_cast<std::ptrdiff_t>(s.other_sites);
  if (s.known & bit(what)) return true;
  if (std::find(s.others.begin(), end, site) != end || s.other_sites == s.others.size())
    return false;
  s.others[s.other_sites++] = site;
  return true;
}

// NumPy's default, for what this thread records now.
bool default_errors() { return !tracer::eager_errors() && tracer::current_error_state() == 0; }

PyObject* counts(PyObject*, PyObject*) { return Py_BuildValue("KK", passes, given); }

}  // namespace

PyObject* reduced_along(FullReduction what, PyObject* self) {
  if (Py_TYPE(self) != array_type || as_array(self)->host || is_standard(self) ||
      scalars_stay_pending())
    return nullptr;
  const tracer::Array a = as_array(self)->array;
  if (a.size() < kLarge || (a.dtype != DType::Float64 && a.dtype != DType::Float32) ||
      tracer::device_of(a) != kHost || !private_memory(a))
    return nullptr;
  const Contents now{a.storage.get(), a.storage->writes, a.dtype, a.shape, a.strides, a.offset};
  const std::uint32_t site = current_site();
  if (site == 0) return nullptr;
  const auto time = Clock::now();
  if (sequence.of == now && time - sequence.began < kKept && follows(sequence, site, what)) {
    sequence.asked |= bit(what);
    if (!(sequence.known & bit(what)) || !default_errors()) return nullptr;
    sequence.known &= ~bit(what);
    ++given;
    return wrap_scalar(sequence.values[static_cast<std::size_t>(what)]);
  }
  if (sequence.site != 0) {  // what has begun there is over
    Habit& h = habit(sequence.site);
    h.expected = h.last & sequence.asked;
    h.last = sequence.asked;
  }
  sequence = {.of = now, .began = time, .site = site};
  const Habit h = habit(site);
  if (h.off || h.expected == 0 || !default_errors()) return nullptr;
  Sequence s = sequence;
  if (!together(s, what, h.expected, a)) {
    habit(site).off = true;
    return nullptr;
  }
  ++passes;
  sequence = s;
  return wrap_scalar(s.values[static_cast<std::size_t>(what)]);
}

PyMethodDef along_functions[] = {
    {"reductions_along", counts, METH_NOARGS,
     "(passes that computed reductions for later calls, values that those were given)"},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace plait::py
