#include "plait/compile.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "box.hpp"
#include "core/config.hpp"
#include "engine/plans/call_cache.hpp"
#include "engine/plans/captured_call.hpp"
#include "engine/plans/seen_calls.hpp"
#include "engine/products/packed_operands.hpp"
#include "tracer/at_once.hpp"

namespace plait::detail {

using engine::CapturedCall;
using engine::SeenCalls;

namespace {

// Calls that are kept of one layout, of which only numbers differ: more would come and go.
constexpr std::ptrdiff_t kMostAlike = 8;

const tracer::Array& array_of(const CompiledCall& c, int i) { return unwrap(*c.arrays[i]); }

// Floating-point and complex numbers may be arguments of a plan; others decide what is recorded.
bool decides(const Value& v) { return !is_float(core(v.type)) && !is_complex(core(v.type)); }
bool same_number(const Scalar& a, const Value& b) {
  return a.dtype == core(b.type) && std::memcmp(a.bytes, b.bytes, itemsize(a.dtype)) == 0;
}

// Whether this thread's calls may be kept and run from what is kept.
bool possible() {
  return config().fuse && !tracer::eager_errors() && !tracer::everything_recorded() &&
         tracer::current_device() <= kHost;
}

std::vector<tracer::Array> arrays_of(const CompiledCall& c) {
  std::vector<tracer::Array> arrays;
  arrays.reserve(static_cast<std::size_t>(c.n_arrays));
  for (int i = 0; i < c.n_arrays; ++i) arrays.push_back(array_of(c, i));
  return arrays;
}
bool any_pending(const CompiledCall& c) {
  for (int i = 0; i < c.n_arrays; ++i)
    if (!array_of(c, i).storage->version->data) return true;
  return false;
}

std::vector<Scalar> numbers_of(const CompiledCall& c) {
  std::vector<Scalar> numbers;
  for (int i = 0; i < c.n_numbers; ++i) numbers.push_back(to_scalar(c.numbers[i]));
  return numbers;
}

}  // namespace

struct KeptCalls::Calls {
  // Of a call: all but the numbers that may be arguments.
  struct Key {
    const void* types;
    std::vector<engine::ArrayLayout> layouts;
    std::vector<std::int32_t> storages;  // of each array: the first of the same storage
    std::vector<Scalar> deciding;
    std::uint8_t error_state;

    bool operator==(const Key& o) const {
      return types == o.types && layouts == o.layouts && storages == o.storages &&
             error_state == o.error_state &&
             std::ranges::equal(deciding, o.deciding, engine::same_bits);
    }
    bool matches(const CompiledCall& c) const {
      if (c.types != types || error_state != tracer::current_error_state()) return false;
      for (int i = 0; i < c.n_arrays; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const tracer::Array& a = array_of(c, i);
        if (!engine::has_layout(a, layouts[at]) || storages[at] != first_of(c, i)) return false;
      }
      auto number = deciding.begin();
      return std::all_of(c.numbers, c.numbers + c.n_numbers,
                         [&](const Value& v) { return !decides(v) || same_number(*number++, v); });
    }
    static std::int32_t first_of(const CompiledCall& c, int i) {
      const tracer::Storage* const s = array_of(c, i).storage.get();
      std::int32_t first = 0;
      while (array_of(c, first).storage.get() != s) ++first;
      return first;
    }
    // nullopt: such a call is not kept.
    static std::optional<Key> of(const CompiledCall& c);
  };

  struct Kept : GuardedRefCounted {
    Kept(Key k, std::shared_ptr<CapturedCall> c, std::vector<Scalar> n, std::vector<std::int32_t> b)
        : key(std::move(k)),
          call(std::move(c)),
          numbers(std::move(n)),
          given(numbers.size()),
          bound(std::move(b)) {}
    static void destroy(Kept* k) { delete k; }

    Key key;
    std::shared_ptr<CapturedCall> call;
    std::vector<Scalar> numbers;      // as they were recorded
    std::vector<bool> given;          // those that are arguments of the plan
    std::vector<std::int32_t> bound;  // arrays whose variable is assigned: the last results

    bool has(const CompiledCall& c) const {
      if (key.types != c.types) return false;
      for (int i = 0; i < c.n_numbers; ++i) {
        const auto at = static_cast<std::size_t>(i);
        if (!given[at] && !same_number(numbers[at], c.numbers[i])) return false;
      }
      return key.matches(c);
    }
  };
  // Of a run, kept for the next one.
  struct Frame {
    std::vector<engine::NodeMemory> memory;
    std::vector<Scalar> numbers;
    std::vector<tracer::Array> results;
  };
  // Guarded by the recorder's lock.
  engine::CallCache<Ref<Kept>, engine::kKeptCalls> kept;
  std::vector<std::unique_ptr<Frame>> idle;
  SeenCalls<Key> seen;
  bool obstructed = false;

  void obstruct(const char* why) {
    obstructed = true;
    if (logging(Log::Fallback))
      log(Log::Fallback, std::string("a compiled function is called each time: ") + why);
  }
};

std::optional<KeptCalls::Calls::Key> KeptCalls::Calls::Key::of(const CompiledCall& c) {
  if (!possible()) return std::nullopt;
  Key k{c.types, {}, {}, {}, tracer::current_error_state()};
  for (int i = 0; i < c.n_arrays; ++i) {
    auto layout = engine::layout_of(array_of(c, i));
    if (!layout) return std::nullopt;
    k.layouts.push_back(*std::move(layout));
    k.storages.push_back(first_of(c, i));
  }
  for (int i = 0; i < c.n_numbers; ++i)
    if (decides(c.numbers[i])) k.deciding.push_back(to_scalar(c.numbers[i]));
  return k;
}

KeptCalls::KeptCalls() : calls_(new Calls) { start(); }
KeptCalls::KeptCalls(KeptCalls&& o) noexcept : calls_(std::exchange(o.calls_, nullptr)) {}
KeptCalls::~KeptCalls() {
  const std::lock_guard held(tracer::lock());
  delete calls_;
}

bool KeptCalls::run(const CompiledCall& c) {
  if (tracer::capture()) return false;
  for (int i = 0; i < c.n_arrays; ++i) unwrap(*c.arrays[i]);  // reads selections
  std::unique_lock held(tracer::lock());
  auto& kept = calls_->kept;
  if (kept.empty() || !possible()) return false;
  if (any_pending(c)) {  // others go on meanwhile
    held.unlock();
    tracer::evaluate(arrays_of(c));
    held.lock();
  }
  // Others may run, and drop it, meanwhile.
  const Ref<Calls::Kept> k = kept.find([&](const auto& known) { return known->has(c); });
  if (!k) return false;
  CapturedCall& call = *k->call;
  std::unique_ptr<Calls::Frame> frame;
  if (!calls_->idle.empty()) {
    frame = std::move(calls_->idle.back());
    calls_->idle.pop_back();
  } else {
    frame = std::make_unique<Calls::Frame>();
  }
  Calls::Frame& f = *frame;
  for (int i = 0; i < c.n_arrays; ++i) {
    const tracer::Array& a = array_of(c, i);
    const bool writes = call.writes(static_cast<std::size_t>(i));
    if (writes) tracer::writable_data(a);
    tracer::Node& v = *a.storage->version;
    f.memory.push_back({v.data, v.data_offset, writes ? 0 : engine::packable_contents(v)});
  }
  for (int i = 0; i < c.n_numbers; ++i) f.numbers.push_back(to_scalar(c.numbers[i]));
  f.results.resize(call.results().size());
  if (!call.holds(f.numbers) || !call.run(f.memory, {}, f.numbers, f.results)) return false;
  for (std::size_t i = 0; i < f.results.size(); ++i) {
    const CapturedCall::Place& place = call.results()[i];
    const auto n = static_cast<std::int32_t>(i) - c.n_results;
    Handle& to = n < 0 ? c.results[i] : c.bound[k->bound[static_cast<std::size_t>(n)]];
    if (place.argument < 0) {
      to = wrap_made([&] { return std::move(f.results[i]); });
      continue;
    }
    tracer::Array view = place.as;
    const tracer::Array& of = array_of(c, place.argument);
    view.storage = of.storage;
    view.offset = of.offset + place.offset;
    to = wrap_view(std::move(view), *c.arrays[place.argument]);
  }
  f.memory.clear();
  f.numbers.clear();
  calls_->idle.push_back(std::move(frame));
  return true;
}

struct KeptCalls::Watch::State {
  Calls& calls;
  const CompiledCall& call;
  std::shared_ptr<SeenCalls<Calls::Key>::Seen> seen;
  std::vector<Handle> handles;  // before the call: f may assign to the caller's variables
  std::vector<CapturedCall::Argument> arguments;
  std::optional<tracer::Capture> capture;
};

KeptCalls::Watch::Watch(KeptCalls& calls, const CompiledCall& c) : state_(nullptr) {
  Calls& of = *calls.calls_;
  if (of.obstructed || tracer::capture()) return;
  const std::vector<tracer::Array> arrays = arrays_of(c);
  tracer::evaluate(arrays);
  const std::lock_guard held(tracer::lock());
  const auto key = Calls::Key::of(c);
  if (!key) return;
  const auto alike =
      std::ranges::count_if(of.kept, [&](const auto& k) { return k->key.matches(c); });
  if (alike >= kMostAlike) {
    of.obstruct("it decides by a floating-point number, or computes with what follows from one");
    return;
  }
  auto seen =
      of.seen.to_watch([&](const Calls::Key& k) { return k.matches(c); }, [&] { return *key; });
  if (!seen) return;
  state_ = new State{of, c, std::move(seen), {}, {}, {}};
  for (int i = 0; i < c.n_arrays; ++i) {
    state_->handles.push_back(*c.arrays[i]);
    const tracer::Array& a = arrays[static_cast<std::size_t>(i)];
    state_->arguments.push_back({a, a.storage->version.get()});
  }
  state_->capture.emplace(arrays);
}
KeptCalls::Watch::~Watch() { delete state_; }

void KeptCalls::Watch::by_function() {
  if (!state_) return;
  State& s = *state_;
  const CompiledCall& c = s.call;
  s.capture->end();
  std::vector<tracer::Array> results;
  std::vector<std::int32_t> bound;
  for (int i = 0; i < c.n_results; ++i) results.push_back(unwrap(c.results[i]));
  for (int i = 0; i < c.n_arrays; ++i)
    if (c.arrays[i]->get() != s.handles[static_cast<std::size_t>(i)].get()) {
      results.push_back(array_of(c, i));
      bound.push_back(i);
    }
  const std::lock_guard held(tracer::lock());
  const char* why = nullptr;
  auto call = CapturedCall::make(*s.capture, s.arguments, {}, results, s.seen->plan, why);
  for (std::size_t i = 0; call && i < s.arguments.size(); ++i)
    if (call->writes(i) && s.arguments[i].array.storage->borrowed) {
      why = "it writes to borrowed memory";
      call.reset();
    }
  if (!call) {
    if (*why != 0) s.calls.obstruct(why);
    return;
  }
  auto& kept = s.calls.kept;
  const std::vector<Scalar> numbers = numbers_of(c);
  for (const auto& k : kept) {
    if (k->bound != bound || !(k->key == s.seen->key)) continue;
    if (!k->call->take_numbers(*call, {k->numbers, numbers})) continue;
    for (int i = 0; i < c.n_numbers; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (!same_number(k->numbers[at], c.numbers[i])) k->given[at] = true;
    }
    return;
  }
  kept.add(
      Ref<Calls::Kept>(new Calls::Kept(s.seen->key, std::move(call), numbers, std::move(bound))));
}

}  // namespace plait::detail
