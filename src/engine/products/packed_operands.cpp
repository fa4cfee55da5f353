#include "packed_operands.hpp"

#include <algorithm>
#include <utility>

#include "core/config.hpp"
#include "core/device.hpp"
#include "tracer/derived.hpp"

namespace plait::engine {

namespace {

// Matrices of fewer bytes are packed before a table is searched.
constexpr std::size_t kLeastBytes = 64 << 10;
// That are remembered.
constexpr std::size_t kMostOperands = 512;

}  // namespace

std::size_t PackedOperand::bytes() const {
  const std::int64_t last = (k - 1) / tiles->depth * tiles->depth;
  return static_cast<std::size_t>(offset(last, 0) + tiles->panels(n, k - last, tiles->columns));
}

std::int64_t PackedOperand::offset(std::int64_t from, std::int64_t j) const {
  const std::int64_t depth = tiles->depth;
  return from / depth * tiles->panels(n, depth, tiles->columns) +
         j / tiles->columns * tiles->panel(tiles->columns, std::min(depth, k - from));
}

PackedOperands::Found PackedOperands::find(const PackedOperand& o) {
  const std::lock_guard held(mutex_);
  if (o.contents == 0 || limit_ == 0) return {};
  const auto e = std::ranges::find(entries_, o, &Entry::of);
  if (e == entries_.end()) {
    if (entries_.size() == kMostOperands) {
      const auto oldest = std::ranges::min_element(entries_, {}, &Entry::used);
      if (oldest->panels) bytes_ -= oldest->panels->bytes;
      entries_.erase(oldest);
    }
    entries_.push_back({o, {}, ++clock_});
    return {};
  }
  const std::uint64_t before = std::exchange(e->used, ++clock_);
  if (e->panels) {
    ++found_;
    return {e->panels, false};
  }
  return {{}, make_room(o.bytes(), before)};
}

// What was read since then stays: matrices that take turns and do not all have room would push each
// other out before they are read again.
bool PackedOperands::make_room(std::size_t bytes, std::uint64_t since) {
  std::size_t idle = 0;
  for (const Entry& e : entries_)
    if (e.panels && e.used < since) idle += e.panels->bytes;
  if (bytes > limit_ || bytes_ - idle > limit_ - bytes) return false;
  while (bytes_ + bytes > limit_) {
    Entry* oldest = nullptr;
    for (Entry& e : entries_)
      if (e.panels && (!oldest || e.used < oldest->used)) oldest = &e;
    bytes_ -= oldest->panels->bytes;
    oldest->panels = {};
  }
  return true;
}

void PackedOperands::put(const PackedOperand& o, Ref<Buffer> panels) {
  const std::lock_guard held(mutex_);
  // Gone meanwhile, packed by another thread, or others have taken the room.
  const auto e = std::ranges::find(entries_, o, &Entry::of);
  if (e == entries_.end() || e->panels || bytes_ + panels->bytes > limit_) return;
  bytes_ += panels->bytes;
  e->panels = std::move(panels);
  ++packed_;
}

std::size_t PackedOperands::kept(std::uint64_t contents) const {
  const std::lock_guard held(mutex_);
  std::size_t bytes = 0;
  for (const Entry& e : entries_)
    if (e.of.contents == contents && e.panels) bytes += e.panels->bytes;
  return bytes;
}

void PackedOperands::drop(std::uint64_t contents) {
  const std::lock_guard held(mutex_);
  std::erase_if(entries_, [&](const Entry& e) {
    if (e.of.contents != contents) return false;
    if (e.panels) bytes_ -= e.panels->bytes;
    return true;
  });
}

std::size_t PackedOperands::trim() {
  const std::lock_guard held(mutex_);
  entries_.clear();
  return std::exchange(bytes_, 0);
}

void PackedOperands::set_limit(std::size_t bytes) {
  const std::lock_guard held(mutex_);
  limit_ = bytes;
  if (bytes_ <= limit_) return;
  entries_.clear();
  bytes_ = 0;
}

PackedOperands::Stats PackedOperands::stats() const {
  const std::lock_guard held(mutex_);
  const auto count = std::ranges::count_if(entries_, [](const Entry& e) { return !!e.panels; });
  return {static_cast<std::size_t>(count), bytes_, packed_, found_};
}

std::uint64_t packable_contents(tracer::Node& n) {
  if (!n.data || n.data->bytes < kLeastBytes || n.data->device > kHost || n.data->foreign ||
      n.data->watched || n.kind != tracer::NodeKind::Data)
    return 0;
  return tracer::contents_of(n);
}

}  // namespace plait::engine
