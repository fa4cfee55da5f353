// Comparisons, logic and tests of real numbers; results are Bool bytes. Quiet: a NaN raises no
// flag.
#include <cmath>
#include <cstring>
#include <limits>

#include "codegen/loops/drivers.hpp"

namespace plait::loops::PLAIT_TIER {
namespace {

struct Equal {
  static constexpr bool kTurns = true;
  template <class T>
  static bool f(T a, T b) {
    return a == b;
  }
};
struct NotEqual {
  static constexpr bool kTurns = true;
  template <class T>
  static bool f(T a, T b) {
    return a != b;
  }
};
struct Less {
  template <class T>
  static bool f(T a, T b) {
    return a < b;
  }
};
struct LessEqual {
  template <class T>
  static bool f(T a, T b) {
    return a <= b;
  }
};
// With the operands the other way round.
struct Greater {
  using Turned = Less;
};
struct GreaterEqual {
  using Turned = LessEqual;
};
struct And {
  static constexpr bool kTurns = true;
  template <class T>
  static bool f(T a, T b) {
    return (a != 0) & (b != 0);
  }
};
struct Or {
  static constexpr bool kTurns = true;
  template <class T>
  static bool f(T a, T b) {
    return (a != 0) | (b != 0);
  }
};
struct Xor {
  static constexpr bool kTurns = true;
  template <class T>
  static bool f(T a, T b) {
    return (a != 0) ^ (b != 0);
  }
};
struct Not {
  template <class T>
  static bool f(T a) {
    return a == 0;
  }
};
struct Isfinite {
  template <class T>
  static bool f(T a) {
    return std::abs(a) <= std::numeric_limits<T>::max();
  }
};
struct Isinf {
  template <class T>
  static bool f(T a) {
    return std::abs(a) > std::numeric_limits<T>::max();
  }
};
struct Isnan {
  template <class T>
  static bool f(T a) {
    return a != a;
  }
};
struct Signbit {
  template <class T>
  static bool f(T a) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    return __builtin_bit_cast(Bits, a) >> (8 * sizeof(T) - 1);
  }
};

// Of integers the answer is known.
template <bool kAnswer>
void known(Args args, Strides s, std::int64_t n) {
  auto* out = static_cast<char*>(args[1]);
  if (s[1] == 1) {
    std::memset(out, kAnswer, std::size_t(n));
  } else {
    for (std::int64_t i = 0; i < n; ++i) out[i * s[1]] = kAnswer;
  }
}
template <class Op, class T>
void test(Args args, Strides s, std::int64_t n) {
  if constexpr (std::is_floating_point_v<T>) {
    const QuietFlags quiet;
    unary_loop<Op, T, std::uint8_t>(args, s, n);
  } else {
    unary_loop<Op, T, std::uint8_t>(args, s, n);
  }
}
template <class Op, class T>
void compare(Args args, Strides s, std::int64_t n) {
  if constexpr (requires { typename Op::Turned; }) {
    void* const turned[] = {args[1], args[0], args[2]};
    const std::int64_t strides[] = {s[1], s[0], s[2]};
    compare<typename Op::Turned, T>(turned, strides, n);
  } else if constexpr (std::is_floating_point_v<T>) {
    const QuietFlags quiet;
    binary_loop<Op, T, std::uint8_t>(args, s, n);
  } else {
    binary_loop<Op, T, std::uint8_t>(args, s, n);
  }
}
template <class Op, class... Ts>
LoopFn tests(Types<Ts...>, DType t) {
  LoopFn fn = nullptr;
  ((t == dtype_of<Ts>() ? void(fn = &test<Op, Ts>) : void()), ...);
  return fn;
}
template <class Op, class... Ts>
LoopFn comparisons(Types<Ts...>, DType t) {
  LoopFn fn = nullptr;
  ((t == dtype_of<Ts>() ? void(fn = &compare<Op, Ts>) : void()), ...);
  return fn;
}

// Where the sign of an integer does not matter, one loop a width will do.
template <class Op>
LoopFn bitwise_test(DType t) {
  const LoopFn fn = tests<Op>(Unsigneds{}, as_unsigned(t));
  return fn ? fn : tests<Op>(Floats{}, t);
}
template <class Op, bool kOfIntegers>
LoopFn float_test(DType t) {
  const LoopFn fn = tests<Op>(Floats{}, t);
  return fn ? fn : &known<kOfIntegers>;
}
template <class Op>
LoopFn bitwise_comparison(DType t) {
  const LoopFn fn = comparisons<Op>(Unsigneds{}, as_unsigned(t));
  return fn ? fn : comparisons<Op>(Floats{}, t);
}
template <class Op>
LoopFn ordered_comparison(DType t) {
  if (t == DType::Bool) t = DType::UInt8;
  const LoopFn fn = comparisons<Op>(Ints{}, t);
  return fn ? fn : comparisons<Op>(Floats{}, t);
}

}  // namespace

LoopFn compare_loop(OpId op, DType t) {
  switch (op) {
    case OpId::Equal:
      return bitwise_comparison<Equal>(t);
    case OpId::NotEqual:
      return bitwise_comparison<NotEqual>(t);
    case OpId::Less:
      return ordered_comparison<Less>(t);
    case OpId::LessEqual:
      return ordered_comparison<LessEqual>(t);
    case OpId::Greater:
      return ordered_comparison<Greater>(t);
    case OpId::GreaterEqual:
      return ordered_comparison<GreaterEqual>(t);
    case OpId::LogicalAnd:
      return bitwise_comparison<And>(t);
    case OpId::LogicalOr:
      return bitwise_comparison<Or>(t);
    case OpId::LogicalXor:
      return bitwise_comparison<Xor>(t);
    case OpId::LogicalNot:
      return bitwise_test<Not>(t);
    case OpId::Isfinite:
      return float_test<Isfinite, true>(t);
    case OpId::Isinf:
      return float_test<Isinf, false>(t);
    case OpId::Isnan:
      return float_test<Isnan, false>(t);
    case OpId::Signbit:
      return tests<Signbit>(Floats{}, t);
    default:
      return nullptr;
  }
}

}  // namespace plait::loops::PLAIT_TIER
