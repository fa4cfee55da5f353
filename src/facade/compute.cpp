// Elementwise functions, assignment and casts.
#include "box.hpp"

namespace plait::detail {

namespace {

constexpr OpId op_ids[] = {
#define PLAIT_FUNCTION(id, ...) OpId::id,
#include "plait/detail/functions.def"
#undef PLAIT_FUNCTION
};

struct Operands {
  Operands(const Operand* list, int n)
      : count(static_cast<std::size_t>(n)),
        values{to_operand(list[0]), to_operand(list[n > 1 ? 1 : 0]),
               to_operand(list[n > 2 ? 2 : 0])} {}
  operator std::span<const tracer::Operand>() const { return {values, count}; }
  std::size_t count;
  tracer::Operand values[3];
};

}  // namespace

Handle elementwise(fn f, const Operand* operands, int n, dtype result) {
  tracer::Array a = tracer::elementwise(op_ids[static_cast<int>(f)], Operands(operands, n));
  // Only an unsigned scalar beyond int64 resolves otherwise at run time than at compile time.
  if (a.dtype != core(result))
    throw OverflowError(std::string(op_info(op_ids[static_cast<int>(f)]).name) +
                        ": integer out of bounds for " + std::string(name(core(result))));
  return wrap(std::move(a));
}

void elementwise_into(fn f, const Operand* operands, int n, const Handle& out) {
  tracer::ElementwiseOptions options;
  options.out = &unwrap(out);
  tracer::elementwise(op_ids[static_cast<int>(f)], Operands(operands, n), options);
}

Handle astype(const Handle& a, dtype t) { return wrap(tracer::astype(unwrap(a), core(t))); }
Handle copy(const Handle& a) { return wrap(tracer::copy(unwrap(a))); }

void assign(const Handle& target, const Operand& value, const Handle* mask) {
  tracer::assign(unwrap(target), to_operand(value), mask ? &unwrap(*mask) : nullptr);
}

}  // namespace plait::detail
