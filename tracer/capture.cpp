#include "capture.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "graph.hpp"

namespace plait::tracer {

namespace {
thread_local constinit Capture* mine = nullptr;
}

namespace detail {
constinit std::atomic<int> captures{0};
Capture* this_threads_capture() { return mine; }
}  // namespace detail

Capture::Capture(std::span<const Array> arguments, bool only_records)
    : only_records_(only_records), evaluations_(evaluations_so_far()), began_(last_write()) {
  for (const Array& a : arguments)
    if (!is_argument(*a.storage)) arguments_.push_back(a.storage);
  mine = this;
  ++detail::captures;
}

Capture::~Capture() {
  end();
  const Lock held = hold();
  held_.clear();
  scalars_.clear();
  demands_.clear();
}

const char* Capture::obstacle() const {
  if (obstacle_) return obstacle_;
  return another_call_ || evaluations_ != evaluations_so_far() ? "" : nullptr;
}

void Capture::end() {
  if (std::exchange(ended_, true)) return;
  mine = nullptr;
  --detail::captures;
}

bool Capture::is_argument(const Storage& s) const {
  return std::any_of(arguments_.begin(), arguments_.end(),
                     [&](const Ref<Storage>& a) { return a.get() == &s; });
}

Ref<Node>& Capture::scalar(const Scalar& s) {
  std::array<std::byte, sizeof s.bytes> bytes{};
  std::memcpy(bytes.data(), s.bytes, itemsize(s.dtype));
  return scalars_[{s.dtype, bytes}];
}

void Capture::reads(const Storage& s) {
  const Node& n = *s.version;
  if (is_argument(s)) return;
  if (is_pending(n)) {
    another_call_ |= was_there(s);  // how it was recorded is no part of the function
    return;
  }
  held_.try_emplace(&n, s.version);
  if (was_there(s)) others_.try_emplace(&n, Ref<Storage>(const_cast<Storage*>(&s)));
}

void Capture::writes(const Storage& s) {
  if (was_there(s) && !is_argument(s))
    obstruct("it writes to an array that is not among its arguments");
}

}  // namespace plait::tracer
