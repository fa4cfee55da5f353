#include "plait/compile.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "box.hpp"
#include "core/config.hpp"
#include "engine/plans/captured_call.hpp"
#include "engine/plans/seen_calls.hpp"
#include "engine/products/packed_operands.hpp"
#include "tracer/at_once.hpp"

namespace plait::detail {

using engine::CapturedCall;
using engine::SeenCalls;

namespace {

constexpr std::size_t kMostCalls = 32;

struct CallKey {
  std::vector<engine::ArrayLayout> layouts;
  std::vector<std::int32_t> storages;  // of each argument: the first of the same storage
  std::uint8_t error_state;
  bool operator==(const CallKey&) const = default;
};

// nullopt: such a call is not kept.
std::optional<CallKey> key_of(const std::vector<tracer::Array>& arguments) {
  if (!config().fuse || tracer::eager_errors() || tracer::everything_recorded() ||
      tracer::current_device() > kHost)
    return std::nullopt;
  CallKey k;
  k.error_state = tracer::current_error_state();
  for (const tracer::Array& a : arguments) {
    auto layout = engine::layout_of(a);
    if (!layout) return std::nullopt;
    k.layouts.push_back(*std::move(layout));
    const auto first = std::ranges::find_if(
        arguments, [&](const tracer::Array& b) { return a.storage == b.storage; });
    k.storages.push_back(static_cast<std::int32_t>(first - arguments.begin()));
  }
  return k;
}

std::vector<tracer::Array> arrays_of(const Handle* arguments, int n) {
  std::vector<tracer::Array> arrays;
  arrays.reserve(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) arrays.push_back(unwrap(arguments[i]));
  tracer::evaluate(arrays);
  return arrays;
}

}  // namespace

struct KeptCalls::Calls {
  struct Kept {
    CallKey key;
    std::shared_ptr<CapturedCall> call;
  };
  // Guarded by the recorder's lock.
  std::vector<Kept> kept;  // the last to be used first
  SeenCalls<CallKey> seen;
  bool obstructed = false;
};

KeptCalls::KeptCalls() : calls_(new Calls) { start(); }
KeptCalls::KeptCalls(KeptCalls&& o) noexcept : calls_(std::exchange(o.calls_, nullptr)) {}
KeptCalls::~KeptCalls() { delete calls_; }

Handle KeptCalls::run(const Handle* arguments, int n) {
  if (tracer::capture()) return {};
  const std::vector<tracer::Array> arrays = arrays_of(arguments, n);
  const std::unique_lock held(tracer::lock());
  auto& kept = calls_->kept;
  if (kept.empty()) return {};
  const auto key = key_of(arrays);
  const auto at = std::ranges::find_if(kept, [&](const auto& k) { return key && k.key == *key; });
  if (at == kept.end()) return {};
  const std::shared_ptr<CapturedCall> call = at->call;
  std::rotate(kept.begin(), at, at + 1);
  std::vector<engine::NodeMemory> memory;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (call->writes(i)) tracer::writable_data(arrays[i]);
    tracer::Node& v = *arrays[i].storage->version;
    memory.push_back({v.data, v.data_offset, call->writes(i) ? 0 : engine::packable_contents(v)});
  }
  const CapturedCall::Place& place = call->results()[0];
  tracer::Array result;
  if (!call->run(memory, {}, {&result, 1})) return {};
  if (place.argument < 0) return wrap(std::move(result));
  const auto from = static_cast<std::size_t>(place.argument);
  result = place.as;
  result.storage = arrays[from].storage;
  result.offset = arrays[from].offset + place.offset;
  return wrap_view(std::move(result), arguments[from]);
}

struct KeptCalls::Watch::State {
  Calls& calls;
  std::shared_ptr<SeenCalls<CallKey>::Seen> seen;
  std::vector<CapturedCall::Argument> arguments;
  std::optional<tracer::Capture> capture;
};

KeptCalls::Watch::Watch(KeptCalls& calls, const Handle* arguments, int n) : state_(nullptr) {
  if (calls.calls_->obstructed || tracer::capture()) return;
  const std::vector<tracer::Array> arrays = arrays_of(arguments, n);
  const std::lock_guard held(tracer::lock());
  const auto key = key_of(arrays);
  if (!key) return;
  auto seen = calls.calls_->seen.to_watch([&](const CallKey& k) { return k == *key; },
                                          [&] { return *key; });
  if (!seen) return;
  state_ = new State{*calls.calls_, std::move(seen), {}, {}};
  for (const tracer::Array& a : arrays) state_->arguments.push_back({a, a.storage->version.get()});
  state_->capture.emplace(arrays);
}
KeptCalls::Watch::~Watch() { delete state_; }

void KeptCalls::Watch::end(const Handle& result) {
  if (!state_) return;
  state_->capture->end();
  const tracer::Array& a = unwrap(result);
  const std::lock_guard held(tracer::lock());
  const char* why = nullptr;
  auto call =
      CapturedCall::make(*state_->capture, state_->arguments, {}, {&a, 1}, state_->seen->plan, why);
  for (std::size_t i = 0; call && i < state_->arguments.size(); ++i)
    if (call->writes(i) && state_->arguments[i].array.storage->borrowed) {
      why = "it writes to borrowed memory";
      call.reset();
    }
  if (!call) {
    if (*why == 0) return;
    state_->calls.obstructed = true;
    if (logging(Log::Fallback))
      log(Log::Fallback, std::string("a compiled function is called each time: ") + why);
    return;
  }
  state_->calls.seen.forget(state_->seen);
  auto& kept = state_->calls.kept;
  kept.insert(kept.begin(), {state_->seen->key, std::move(call)});
  if (kept.size() > kMostCalls) kept.pop_back();
}

}  // namespace plait::detail
