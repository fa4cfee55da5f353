#include "context.hpp"

#include <pthread.h>

#include "codegen/cuda/cuda.hpp"
#include "core/config.hpp"
#include "core/device.hpp"
#include "engine/devices/found.hpp"
#include "plait/error.hpp"
#include "tracer/context.hpp"

namespace plait::gpu {
namespace {

constexpr std::size_t kRememberedLaunches = 8;

std::atomic<bool> in_child{false};

void watch_forks() {
  static std::once_flag once;
  std::call_once(once, [] { pthread_atfork(nullptr, nullptr, [] { in_child.store(true); }); });
}

}  // namespace

bool forked() { return in_child.load(std::memory_order_relaxed); }

int device_count() {
  const Driver& d = driver();
  int n = 0;
  if (const Result r = d.device_count(&n); r != kSuccess)
    throw DeviceError("CUDA devices cannot be counted: " + d.text(r));
  return n;
}

}  // namespace plait::gpu

std::vector<plait::engine::FoundDevice> plait::engine::find_devices() try {
  using namespace gpu;
  std::string missing;
  (void)cuda::nvrtc_available(&missing);
  std::vector<FoundDevice> found;
  const Driver& d = driver();
  for (int n = 0, count = device_count(); n < count; ++n) {
    FoundDevice info{.name = "cuda:" + std::to_string(n), .why = missing};
    DeviceHandle handle = 0;
    char model[256] = {};
    Result r = d.device_get(&handle, n);
    if (r == kSuccess) r = d.device_name(model, sizeof model - 1, handle);
    if (r == kSuccess) r = d.device_memory(&info.memory, handle);
    info.model = model;
    if (r != kSuccess) info.why = d.text(r);
    found.push_back(std::move(info));
  }
  return found;
} catch (const DeviceError& e) {
  return {{.name = "cuda", .why = e.what()}};
}

namespace plait::gpu {

int ordinal_of(const void* memory) {
  const Driver& d = driver();
  int ordinal = -1;
  if (const Result r =
          d.pointer_attribute(&ordinal, kPointerDeviceOrdinal, reinterpret_cast<Address>(memory));
      r != kSuccess || ordinal < 0)
    throw DeviceError("memory that is on no CUDA device: " + d.text(r));
  return ordinal;
}

Context::Context(int number) : api(driver()), ordinal(number) {
  const int count = device_count();
  if (ordinal >= count)
    throw DeviceError("there is no device '" + label() + "': the driver " + api.path + " has " +
                      std::to_string(count) + (count == 1 ? " device" : " devices"));
  watch_forks();
  check(api.device_get(&device_, ordinal), "opening it");
  auto attribute = [&](int which) {
    int value = 0;
    check(api.device_attribute(&value, which, device_), "asking for its properties");
    return value;
  };
  char text[256] = {};
  check(api.device_name(text, sizeof text - 1, device_), "asking for its name");
  properties_.name = text;
  properties_.compute_capability = attribute(kAttributeMajor) * 10 + attribute(kAttributeMinor);
  properties_.multiprocessors = attribute(kAttributeMultiprocessors);
  properties_.shared_per_block = attribute(kAttributeSharedOptIn);
  properties_.shared_per_sm = attribute(kAttributeSharedPerSm);
  const auto known = [&](int which) {
    int value = 0;
    return api.device_attribute(&value, which, device_) == kSuccess ? value : 0;
  };
  properties_.clock = 1e3 * known(kAttributeClock);
  properties_.cache = known(kAttributeCache);
  // Twice a cycle, so many bits.
  properties_.memory_rate = 2e3 * known(kAttributeMemoryClock) * known(kAttributeMemoryWidth) / 8;
  check(api.device_memory(&properties_.memory, device_), "asking for its memory");
  check(api.primary_retain(&context_, device_), "retaining its primary context");
  const Current current(*this);
  for (StreamHandle* s : {&stream_, &copies_})
    check(api.stream_create(s, kStreamNonBlocking), "creating a stream");
}

Context::Current::Current(const Context& c) {
  if (forked())
    throw DeviceError(
        "device '" + c.label() +
        "' cannot be used here: CUDA was in use before this process was forked. Start it with "
        "spawn, or use the device only in the children");
  if (c.is_lost_.load(std::memory_order_acquire))
    throw DeviceError("device '" + c.label() + "' was lost: " + c.lost_);
  ContextHandle now = nullptr;
  if (c.api.context_get(&now) == kSuccess && now == c.context_) return;
  if (const Result r = now ? c.api.context_push(c.context_) : c.api.context_set(c.context_);
      r != kSuccess)
    throw DeviceError("device '" + c.label() + "' cannot be used: " + c.api.text(r));
  if (now) pushed_ = &c.api;
}

Context::Current::~Current() {
  ContextHandle popped = nullptr;
  if (pushed_) pushed_->context_pop(&popped);
}

std::string Context::under_way() const {
  std::string text;
  for (const Launched& l : launches_) {
    const std::string where = tracer::site_text(l.site);
    text += "\n  " + l.region + (where.empty() ? "" : ", recorded at " + where);
  }
  return text;
}

void Context::check(Result r, const char* what) {
  if (r == kSuccess) return;
  std::string message = "device '" + label() + "': " + what + ": " + api.text(r);
  if (is_fatal(r)) {
    const std::lock_guard held(mutex_);
    if (!launches_.empty())
      message += launches_.size() == 1 ? "\nit ran the region" + under_way()
                                       : "\nit ran one of the regions" + under_way();
    if (!is_lost_) {
      lost_ = message;
      is_lost_.store(true, std::memory_order_release);
    }
  }
  throw DeviceError(message);
}

void Context::synchronise() {
  const Current current(*this);
  ++transfer_stats().waits;
  check(api.stream_synchronize(stream_), "waiting for it");
  const std::lock_guard held(mutex_);
  launches_.clear();
  next_launch_ = 0;
}

void Context::synchronise_all() {
  const Current current(*this);
  if (logging(Log::Transfer))
    log(Log::Transfer, label() + ": waits for the streams of other programs");
  check(api.context_synchronise(), "waiting for other programs");
}

void Context::note_launch(std::string_view region, std::uint32_t site) {
  const std::lock_guard held(mutex_);
  if (launches_.size() < kRememberedLaunches) launches_.emplace_back();
  Launched& slot = launches_[next_launch_++ % kRememberedLaunches];
  slot.region.assign(region);
  slot.site = site;
}

void Context::order(StreamHandle first, StreamHandle then) {
  if (first == then) return;
  const Current current(*this);
  EventHandle event = nullptr;
  check(api.event_create(&event, kEventNoTiming), "creating an event");
  Result r = api.event_record(event, first);
  if (r == kSuccess) r = api.stream_wait(then, event, 0);
  api.event_destroy(event);  // work that waits for it still does
  check(r, "ordering two streams");
}
void Context::wait_for(StreamHandle other) { order(other, stream_); }
void Context::let_wait(StreamHandle other) { order(stream_, other); }

}  // namespace plait::gpu
