#include "call_table.hpp"

#include <iterator>

#include "call_rules.hpp"
#include "shape_limits.hpp"

namespace plait {
namespace {

constexpr CallInfo kCalls[] = {
#define PLAIT_CALL(id, name, fewest, most, results, rule, run, ns, flags) \
  {CallId::id, name, fewest, most, results, &call_rules::rule, (ns) * 1e-9, flags},
#include "calls.def"
#undef PLAIT_CALL
};
static_assert(std::size(kCalls) == kCallCount);

}  // namespace

const CallInfo& call_info(CallId id) { return kCalls[static_cast<int>(id)]; }

CallId find_call(std::string_view name) {
  for (const CallInfo& c : kCalls)
    if (c.name == name) return c.id;
  return kNoCall;
}

CallBlock call_block(std::span<const ValueType> results) {
  constexpr std::int64_t kLine = 64;  // bytes; of a cache, and of the widest vector
  CallBlock b;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const ValueType& r = results[i];
    b.offsets[i] = b.bytes;
    const auto item = static_cast<std::int64_t>(itemsize(r.dtype));
    check_shape(r.shape, item);
    const std::int64_t bytes = element_count(r.shape) * item;
    b.bytes += (bytes + kLine - 1) / kLine * kLine;
  }
  return b;
}

}  // namespace plait
