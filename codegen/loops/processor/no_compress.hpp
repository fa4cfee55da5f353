#pragma once

namespace plait::loops::PLAIT_TIER {
namespace {

Compressed compress_at_once(std::size_t, const std::byte*, std::int64_t, const std::byte*,
                            std::byte*) {
  return {};
}
Compressed places_at_once(const std::byte*, std::int64_t, std::int64_t, std::int64_t*) {
  return {};
}

}  // namespace
}  // namespace plait::loops::PLAIT_TIER
