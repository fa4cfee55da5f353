#include "values.hpp"

namespace plait::engine {
using fusion::UpdateMode;

namespace {
// Fewer bytes of secured values that nobody reads are not worth looking for.
constexpr std::size_t kWorthALook = 1 << 20;
}  // namespace

void Values::stored(std::span<const Root> roots, UpdateMode update) {
  for (const Root& r : roots) {
    Slot& stored = slot(r.node);
    if (r.kept)
      recording_.keep(r, stored.memory);
    else
      own_.push_back(&r);
    stored.of_run = !r.kept;
    if (update != UpdateMode::InPlace) continue;
    Slot& old = slot(r.update->old);
    old.memory = {};
    old.secured = 0;
    if (old.of_run) continue;
    recording_.give_up(r.update->old);
    overwritten_ = true;
  }
}

void Values::drop(std::span<const std::int32_t> nodes) {
  for (const std::int32_t n : nodes) {
    Slot& s = slot(n);
    s.memory = {};
    if (!s.secured) continue;
    dead_bytes_ += s.secured;
    dead_.push_back(n);
  }
}

void Values::secure() {
  if (!overwritten_) return;
  for (const Root* r : own_) {
    Slot& s = slot(r->node);
    if (!s.memory || !s.of_run) continue;
    recording_.secure(*r, s.memory);
    s.of_run = false;
    s.secured = s.memory.buffer->bytes;
  }
  own_.clear();
  if (dead_bytes_ < kWorthALook) return;
  recording_.let_go(dead_);
  dead_bytes_ = 0;
}

}  // namespace plait::engine
