// Every row of the table of operations, one dtype of each class, and casts.
#include "everywhere.hpp"

using namespace plait;
using namespace plait::test;

namespace {
constexpr DType kClasses[] = {DType::Bool,    DType::Int8,    DType::UInt64,    DType::Int64,
                              DType::Float32, DType::Float64, DType::Complex128};

Array operation(OpId fn, const Array& a, const Array& b) {
  const Operand in[] = {a, b, b};
  if (fn == OpId::Where) {
    const Array c = apply(OpId::Less, a, b);
    const Operand where[] = {c, a, b};
    return tracer::elementwise(fn, where);
  }
  return tracer::elementwise(fn, std::span(in, static_cast<std::size_t>(op_info(fn).arity)));
}
}  // namespace

TEST_CASE("every operation gives the reference's bits") {
  for (int i = 0; i < kOpCount; ++i)
    for (DType t : kClasses) {
      const OpId fn = static_cast<OpId>(i);
      const Array a = sample(t, {131}, 1), b = sample(t, {131}, 2);
      try {
        operation(fn, a, b);
      } catch (const Error&) {
        continue;  // no loop for this dtype
      }
      everywhere(std::string(op_info(fn).name) + " " + std::to_string(static_cast<int>(t)),
                 [&] { return operation(fn, a, b); });
    }
}

TEST_CASE("casts between the classes") {
  for (DType from : kClasses)
    for (DType to : kClasses) {
      const Array a = sample(from, {261}, 3, false);
      everywhere("cast", [&] { return tracer::astype(a, to); });
    }
}
