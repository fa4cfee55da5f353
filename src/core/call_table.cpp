#include "call_table.hpp"

#include <iterator>

#include "call_rules.hpp"

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
  return CallId::Count_;
}

}  // namespace plait
