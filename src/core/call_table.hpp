// The one table of calls: operations that are neither elementwise nor reductions nor views (scans,
// sorts, transforms, factorisations). A call reads operands in memory and computes one or several
// results by a direct function. Adding one is a row in calls.def, its rule in call_rules.cpp and
// its function in engine/calls/.
#pragma once
#include <span>
#include <string_view>

#include "call_id.hpp"
#include "dims.hpp"
#include "op_table.hpp"
#include "scalar.hpp"

namespace plait {

enum class CallId : std::uint8_t {
#define PLAIT_CALL(id, ...) id,
#include "calls.def"
#undef PLAIT_CALL
  Count_
};
inline constexpr int kCallCount = static_cast<int>(CallId::Count_);
inline constexpr int kMaxCallResults = 8;

// What a call is asked for beside its operands. What the numbers are stands in calls.def.
struct CallAttributes {
  Dims numbers;            // axis, kind, descending ...
  Scalar scalar;           // a factor, a fill value ...
  OpId fn = OpId::Count_;  // of accumulate and the like
};

struct ValueType {
  DType dtype = DType::Float64;
  Dims shape;
};

enum CallFlags : std::uint8_t {
  kCallRaises = 1,   // the function may raise for what the values are: it runs before the caller
                     // goes on
  kCallReports = 2,  // floating-point events are reported under the call's name
  kCallIsUfunc = 4,  // or under that of `fn`
};

// Gives the results' dtypes and shapes. Throws NumPy's errors of the operands' dtypes and shapes
// and of the attributes.
using CallRule = void (*)(std::span<const ValueType> inputs, const CallAttributes& attributes,
                          std::span<ValueType> results);

struct CallInfo {
  CallId id;
  std::string_view name;
  int fewest_inputs, most_inputs, results;
  CallRule rule;
  double seconds;  // an element of the largest operand or result
  std::uint8_t flags;
};
const CallInfo& call_info(CallId id);
// kNoCall when there is none of this name.
CallId find_call(std::string_view name);

// Where the results of a call with several of them lie, C-contiguous each, in one block of bytes.
struct CallBlock {
  std::int64_t offsets[kMaxCallResults];
  std::int64_t bytes = 0;
};
// Throws ValueError for shapes that no array has.
CallBlock call_block(std::span<const ValueType> results);

}  // namespace plait
