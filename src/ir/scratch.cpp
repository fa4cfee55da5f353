#include "analysis.hpp"

namespace plait::ir {
namespace {

std::size_t local_bytes(const Local& l, bool per_lane, const std::int64_t* params, int lanes) {
  constexpr std::size_t kAlign = 64;
  const std::size_t bytes = static_cast<std::size_t>(local_count(l, params) * l.stages) *
                            itemsize(l.dtype) * (per_lane ? lanes : 1);
  return (bytes + kAlign - 1) / kAlign * kAlign;
}

}  // namespace

std::int64_t local_count(const Local& l, const std::int64_t* params) {
  std::int64_t n = l.count.param == kNoParam ? l.count.value : params[l.count.param];
  return n > 0 ? n : 0;
}

std::vector<bool> per_lane_locals(const Kernel& k) {
  std::vector<bool> out;
  if (k.locals.empty()) return out;
  const Analysis a = analyse(k);
  for (const Local& l : k.locals) out.push_back(a.per_lane(l));
  return out;
}

std::vector<std::size_t> local_offsets(const Kernel& k, const std::int64_t* params, int lanes) {
  const std::vector<bool> per_lane = per_lane_locals(k);
  std::vector<std::size_t> offsets{0};
  for (std::size_t i = 0; i < k.locals.size(); ++i)
    offsets.push_back(offsets.back() + local_bytes(k.locals[i], per_lane[i], params, lanes));
  return offsets;
}

std::size_t scratch_bytes(const Kernel& k, const std::vector<bool>& per_lane,
                          const std::int64_t* params, int lanes) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < k.locals.size(); ++i)
    bytes += local_bytes(k.locals[i], per_lane[i], params, lanes);
  return bytes;
}

std::size_t scratch_bytes(const Kernel& k, const std::int64_t* params, int lanes) {
  return scratch_bytes(k, per_lane_locals(k), params, lanes);
}

}  // namespace plait::ir
