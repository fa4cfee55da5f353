#include "call.hpp"

namespace plait::engine {

CallFn call_function(CallId id) {
  static constexpr CallFn functions[] = {
#define PLAIT_CALL(id, name, fewest, most, results, rule, run, ns, flags) &run,
#include "core/calls.def"
#undef PLAIT_CALL
  };
  return functions[static_cast<int>(id)];
}

}  // namespace plait::engine
