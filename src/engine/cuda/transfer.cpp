#include "transfer.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "core/config.hpp"
#include "core/device.hpp"
#include "core/timeline.hpp"
#include "engine/threads/team.hpp"

namespace plait::gpu {
namespace {

constexpr std::size_t kStaging = 8 << 20;
constexpr std::size_t kBeside = 1 << 20;  // copies from here on have a stream of their own

void describe(timeline::Span& span, const std::string& device, bool to_device, std::size_t bytes,
              std::string_view why) {
  span.name(to_device ? "cpu -> " + device : device + " -> cpu");
  span.bytes(static_cast<std::int64_t>(bytes));
  span.arg("why", why);
}

}  // namespace

void Transfer::log_copy(bool to_device, std::size_t bytes, std::string_view why) const {
  TransferStats& s = transfer_stats();
  ++(to_device ? s.to_device : s.to_host);
  (to_device ? s.bytes_to_device : s.bytes_to_host) += bytes;
  if (logging(Log::Transfer))
    log(Log::Transfer, (to_device ? "cpu -> " + context_.label() : context_.label() + " -> cpu") +
                           ": " + std::to_string(bytes) + " bytes, " + std::string(why));
}

Transfer::Staging& Transfer::ready(int i) {
  Staging& s = staging_[i];
  if (!s.memory) {
    void* memory = nullptr;
    const Result r = context_.api.host_alloc(&memory, kStaging, 0);
    if (r == kOutOfMemory) throw std::bad_alloc();
    context_.check(r, "allocating pinned memory");
    s.memory = memory;
  }
  if (!s.done)
    context_.check(context_.api.event_create(&s.done, kEventNoTiming), "making an event");
  if (s.busy) {
    context_.check(context_.api.event_synchronize(s.done), "copying from the host");
    s.busy = false;
  }
  return s;
}

void Transfer::submit(Address to, const void* from, std::size_t bytes, StreamHandle stream) {
  int turn = 0;
  for (std::size_t at = 0; at < bytes; at += kStaging, turn ^= 1) {
    Staging& s = ready(turn);
    const std::size_t n = std::min(kStaging, bytes - at);
    engine::copy_memory(s.memory, static_cast<const char*>(from) + at,
                        static_cast<std::int64_t>(n));
    context_.check(context_.api.copy_to_device(to + at, s.memory, n, stream),
                   "copying from the host");
    s.busy = true;
    context_.check(context_.api.event_record(s.done, stream), "copying from the host");
  }
}

void Transfer::upload(Address to, const void* from, std::size_t bytes, std::string_view why,
                      const LastUse& last) {
  if (bytes == 0) return;
  timeline::Span span(timeline::Category::Transfer);
  if (span) describe(span, context_.label(), true, bytes, why);
  const std::lock_guard held(mutex_);
  const Context::Current current(context_);
  if (bytes < kBeside) {
    submit(to, from, bytes, context_.stream());
    log_copy(true, bytes, why);
    return;
  }
  if (!arrived_)
    context_.check(context_.api.event_create(&arrived_, kEventNoTiming), "making an event");
  if (last.known == LastUse::Unknown)
    context_.let_wait(context_.copies());
  else if (last.known == LastUse::Event)
    context_.check(context_.api.stream_wait(context_.copies(), last.event, 0),
                   "ordering two streams");
  try {
    submit(to, from, bytes, context_.copies());
    context_.check(context_.api.event_record(arrived_, context_.copies()), "copying from the host");
    context_.check(context_.api.stream_wait(context_.stream(), arrived_, 0),
                   "ordering two streams");
  } catch (...) {
    context_.api.stream_synchronize(context_.copies());  // the memory goes back to the pool
    throw;
  }
  log_copy(true, bytes, why);
}

void Transfer::download(void* to, Address from, std::size_t bytes, std::string_view why) {
  if (bytes == 0) return;
  timeline::Span span(timeline::Category::Transfer);
  if (span) describe(span, context_.label(), false, bytes, why);
  const std::lock_guard held(mutex_);
  const Context::Current current(context_);
  auto submit = [&](std::size_t at, int turn) {
    Staging& s = ready(turn);
    const std::size_t n = std::min(kStaging, bytes - at);
    context_.check(context_.api.copy_to_host(s.memory, from + at, n, context_.stream()),
                   "copying to the host");
    context_.check(context_.api.event_record(s.done, context_.stream()), "copying to the host");
  };
  submit(0, 0);
  int turn = 0;
  for (std::size_t at = 0; at < bytes; at += kStaging, turn ^= 1) {
    if (at + kStaging < bytes) submit(at + kStaging, turn ^ 1);
    const std::size_t n = std::min(kStaging, bytes - at);
    context_.check(context_.api.event_synchronize(staging_[turn].done), "copying to the host");
    engine::copy_memory(static_cast<char*>(to) + at, staging_[turn].memory,
                        static_cast<std::int64_t>(n));
  }
  ++transfer_stats().waits;
  log_copy(false, bytes, why);
}

}  // namespace plait::gpu
