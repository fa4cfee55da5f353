#include "analysis.hpp"

namespace plait::ir {
namespace {

constexpr std::size_t kAlign = 64;

}  // namespace

std::int64_t local_count(const Local& l, const std::int64_t* params) {
  std::int64_t n = l.count.param == kNoParam ? l.count.value : params[l.count.param];
  return n > 0 ? n : 0;
}

std::vector<std::size_t> local_offsets(const Kernel& k, const std::int64_t* params, int lanes) {
  Analysis a = analyse(k);
  std::vector<std::size_t> offsets;
  std::size_t at = 0;
  for (const Local& l : k.locals) {
    offsets.push_back(at);
    std::size_t bytes = static_cast<std::size_t>(local_count(l, params)) * itemsize(l.dtype) *
                        (a.per_lane(l) ? lanes : 1);
    at += (bytes + kAlign - 1) / kAlign * kAlign;
  }
  offsets.push_back(at);
  return offsets;
}

std::size_t scratch_bytes(const Kernel& k, const std::int64_t* params, int lanes) {
  return local_offsets(k, params, lanes).back();
}

}  // namespace plait::ir
