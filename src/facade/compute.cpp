// Elementwise functions, assignment and casts.
#include "small.hpp"

namespace plait::detail {

namespace {

constexpr OpId op_ids[] = {
#define PLAIT_FUNCTION(id, ...) OpId::id,
#include "plait/detail/functions.def"
#undef PLAIT_FUNCTION
};

// f(the operands as the recorder takes them)
template <class F>
tracer::Array with_operands(const Operand* o, int n, F&& f) {
  using List = const tracer::Operand[];
  if (n == 1) return f(std::span<const tracer::Operand>(List{to_operand(o[0])}));
  if (n == 2) return f(std::span<const tracer::Operand>(List{to_operand(o[0]), to_operand(o[1])}));
  return f(
      std::span<const tracer::Operand>(List{to_operand(o[0]), to_operand(o[1]), to_operand(o[2])}));
}

bool is_sole(const Handle& h) {
  const Box& b = *h.get();
  return only_handle(b) && !b.lease && !b.selection;
}

}  // namespace

void check_storable(const char* function, const Operand& from, DType to) {
  const DType t = from.array ? unwrap(*from.array).dtype : core(from.value.type);
  if (is_complex(t) && !is_complex(to))
    throw DTypeError(std::string(function) +
                     ": complex values do not fit a real array; take real()");
}

OpId op_of(fn f) { return op_ids[static_cast<int>(f)]; }

Handle elementwise_of(fn f, const Operand* operands, int n, std::optional<DType> result) {
  const OpId id = op_of(f);
  Handle h;
  named(op_info(id).name.data(), [&] {
    for (const Operand* o = operands; o != operands + n; ++o)
      if (o->array) unwrap(*o->array);  // reads selections
    const std::lock_guard held(tracer::lock());
    h = small_elementwise(id, operands, n, result);
    if (h) {
      for (const Operand* o = operands; o != operands + n; ++o)
        if (o->given && *o->given && !o->given->get()->lease) *o->given = Handle();
      return;
    }
    tracer::Array a = with_operands(operands, n, [id](std::span<const tracer::Operand> o) {
      return tracer::elementwise(id, o);
    });
    // Only an unsigned scalar beyond int64 resolves otherwise at run time than at compile time.
    if (result && a.dtype != *result)
      throw OverflowError("integer out of bounds for " + std::string(name(*result)));
    // The box of an operand that is given away serves the result.
    for (const Operand* o = operands; o != operands + n; ++o)
      if (o->given && *o->given && is_sole(*o->given)) {
        if (h) {
          *o->given = Handle();
        } else {
          std::swap(o->given->get()->array, a);
          o->given->get()->show();
          h = std::move(*o->given);
        }
      }
    if (!h) h = Handle(boxes.make([&]() -> tracer::Array { return std::move(a); }));
  });
  // What is left has a lease, whose end may evaluate: not under the lock.
  for (const Operand* o = operands; o != operands + n; ++o)
    if (o->given) *o->given = Handle();
  return h;
}

Handle elementwise(fn f, const Operand* operands, int n, dtype result) {
  return elementwise_of(f, operands, n, core(result));
}

void elementwise_into(fn f, const Operand* operands, int n, const Handle& out) {
  tracer::ElementwiseOptions options;
  options.out = &unwrap(out);
  const OpId id = op_of(f);
  named(op_info(id).name.data(), [&] {
    with_operands(operands, n, [&](std::span<const tracer::Operand> o) {
      return tracer::elementwise(id, o, options);
    });
  });
}

Handle astype(const Handle& a, dtype t) {
  check_storable("astype", {&a, {}, nullptr}, core(t));
  return made("astype", [&] { return tracer::astype(unwrap(a), core(t)); });
}
Handle copy(const Handle& a) {
  return made("copy", [&] { return tracer::copy(unwrap(a), 'C'); });
}
void swap_elements(const Handle& a, const Handle& b) {
  const tracer::Array &x = unwrap(a), &y = unwrap(b);
  if (x.shape != y.shape)
    throw ShapeError("swap: views of shapes " + to_string(x.shape) + " and " + to_string(y.shape));
  const tracer::Array before = tracer::copy(x);
  tracer::assign(x, y);
  tracer::assign(y, before);
}

void assign(const Handle& target, const Operand& value, const Handle* mask) {
  check_storable("assign", value, unwrap(target).dtype);
  named("assign", [&] {
    tracer::assign(unwrap(target), to_operand(value), mask ? &unwrap(*mask) : nullptr);
  });
}

}  // namespace plait::detail
