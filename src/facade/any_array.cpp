// Arrays whose element type is known at run time only.
#include "plait/any_array.hpp"

#include <algorithm>

#include "box.hpp"

namespace plait {

std::string to_string(dtype t) { return std::string(name(detail::core(t))); }

dtype to_dtype(const std::string& name) {
  for (int i = 0; i < kDTypes; ++i)
    if (plait::name(static_cast<DType>(i)) == name) return static_cast<dtype>(i);
  throw DTypeError("to_dtype: '" + name + "' names no element type of Plait's arrays");
}

namespace detail {

Handle elementwise(fn f, const Operand* operands, int n) {
  // An integer beyond int64 travels as a strong uint64, but is weak: where the result would have
  // another dtype for it, it does not fit.
  const auto is_large = [](const Operand& o) { return !o.array && o.value.type == dtype::uint64; };
  if (std::none_of(operands, operands + n, is_large)) return elementwise_of(f, operands, n, {});
  operand_type types[3];
  for (int i = 0; i < n; ++i) {
    const Operand& o = operands[i];
    types[i] = o.array ? operand_type{dtype_of(*o.array), weak::none}
                       : operand_type{o.value.type, is_large(o) ? weak::integer : o.value.weakness};
  }
  return elementwise(f, operands, n, resolve(f, types, n).result);
}

void throw_no_common(dtype a, dtype b) {
  promote(core(a), core(b));
  throw InternalError("a common dtype");
}

void throw_other_dtype(const char* function, dtype there) {
  throw DTypeError(std::string(function) + ": the elements are of type " + to_string(there) +
                   ": astype() converts them");
}

}  // namespace detail
}  // namespace plait
