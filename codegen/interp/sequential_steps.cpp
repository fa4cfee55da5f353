#include <complex>
#include <functional>
#include <type_traits>

#include "ir/sequential_call.hpp"
#include "plait/error.hpp"
#include "sequential.hpp"

namespace plait::interp::steps {
namespace {

// Int64 wraps around, as UInt64.
using Word = std::uint64_t;
bool is_word(DType t) { return t == DType::Int64 || t == DType::UInt64; }

template <class T, class R, class F>
const Step* unary(const SequentialFrame& f, const Step* s) {
  f.set<R>(s->out, F()(f.get<T>(s->in[0])));
  return s + 1;
}
template <class T, class R, class F>
const Step* binary(const SequentialFrame& f, const Step* s) {
  f.set<R>(s->out, F()(f.get<T>(s->in[0]), f.get<T>(s->in[1])));
  return s + 1;
}

// Calls `f` with the functor of a comparison.
template <class T, class F>
StepFn comparison(OpId fn, F&& f) {
  switch (fn) {
    case OpId::Equal:
      return f(std::equal_to<T>());
    case OpId::NotEqual:
      return f(std::not_equal_to<T>());
    case OpId::Less:
      return f(std::less<T>());
    case OpId::LessEqual:
      return f(std::less_equal<T>());
    case OpId::Greater:
      return f(std::greater<T>());
    case OpId::GreaterEqual:
      return f(std::greater_equal<T>());
    default:
      return nullptr;
  }
}
template <class T>
StepFn comparison(OpId fn) {
  return comparison<T>(fn, []<class F>(F) -> StepFn { return binary<T, bool, F>; });
}

template <class T, class F, bool when>
const Step* compare_and_jump(const SequentialFrame& f, const Step* s) {
  return s + (F()(f.get<T>(s->in[0]), f.get<T>(s->in[1])) == when ? s->jump : 1);
}
template <class T>
StepFn branch_of(OpId fn, bool when) {
  return comparison<T>(fn, [when]<class F>(F) -> StepFn {
    return when ? compare_and_jump<T, F, true> : compare_and_jump<T, F, false>;
  });
}

template <class T>
StepFn arithmetic(OpId fn) {
  switch (fn) {
    case OpId::Add:
      return binary<T, T, std::plus<T>>;
    case OpId::Subtract:
      return binary<T, T, std::minus<T>>;
    case OpId::Multiply:
      return binary<T, T, std::multiplies<T>>;
    default:
      return nullptr;
  }
}

template <class T>
StepFn bitwise(OpId fn) {
  switch (fn) {
    case OpId::BitwiseAnd:
      return binary<T, T, std::bit_and<T>>;
    case OpId::BitwiseOr:
      return binary<T, T, std::bit_or<T>>;
    case OpId::BitwiseXor:
      return binary<T, T, std::bit_xor<T>>;
    default:
      return nullptr;
  }
}

StepFn logical(OpId fn) {
  switch (fn) {
    case OpId::LogicalAnd:
      return binary<bool, bool, std::logical_and<bool>>;
    case OpId::LogicalOr:
      return binary<bool, bool, std::logical_or<bool>>;
    case OpId::LogicalNot:
      return unary<bool, bool, std::logical_not<bool>>;
    default:
      return bitwise<std::uint8_t>(fn);
  }
}

template <class T>
struct To {
  template <class From>
  T operator()(From v) const {
    return static_cast<T>(v);
  }
};

template <class T>
const Step* select(const SequentialFrame& f, const Step* s) {
  f.set<T>(s->out, f.get<T>(s->in[f.get<bool>(s->in[0]) ? 1 : 2]));
  return s + 1;
}

template <int arity>
const Step* precompiled(const SequentialFrame& f, const Step* s) {
  void* args[arity + 1];
  for (int n = 0; n < arity; ++n) args[n] = f.at(s->in[n]);
  args[arity] = f.at(s->out);
  static constexpr std::int64_t kStrides[4] = {};
  s->loop(args, kStrides, 1);
  return s + 1;
}

template <class F>
StepFn by_size(DType t, F&& f) {
  switch (itemsize(t)) {
    case 1:
      return f(std::uint8_t{});
    case 2:
      return f(std::uint16_t{});
    case 4:
      return f(std::uint32_t{});
    case 8:
      return f(std::uint64_t{});
    default:
      return f(std::complex<double>{});
  }
}

char* address(const SequentialFrame& f, const Step* s) {
  // A heap begins at address 0.
  const Word at = f.get<Word>(s->in[0]) + f.get<Word>(s->in[1]) * f.get<Word>(s->in[2]);
  return reinterpret_cast<char*>(reinterpret_cast<std::uintptr_t>(f.memory[s->index]) + at);
}

template <OpId fn>
const Step* overflows(const SequentialFrame& f, const Step* s) {
  const auto a = f.get<std::int64_t>(s->in[0]), b = f.get<std::int64_t>(s->in[1]);
  std::int64_t r;
  f.set<bool>(s->out, fn == OpId::Add        ? __builtin_add_overflow(a, b, &r)
                      : fn == OpId::Subtract ? __builtin_sub_overflow(a, b, &r)
                                             : __builtin_mul_overflow(a, b, &r));
  return s + 1;
}

// Whether to return.
bool is_stopped(const SequentialFrame& f) {
  if (!f.args.stop->load(std::memory_order_relaxed)) return false;
  auto& call = reinterpret_cast<ir::SequentialCall&>(const_cast<ir::CallArgs&>(f.args));
  return call.returns(call);
}

}  // namespace

StepFn operation(OpId fn, DType in) {
  if (fn == OpId::Where) return by_size(in, []<class T>(T) -> StepFn { return select<T>; });
  StepFn found = nullptr;
  switch (in) {
    case DType::Bool:
      return logical(fn);
    case DType::Int64:
      found = comparison<std::int64_t>(fn);
      break;
    case DType::UInt64:
      found = comparison<Word>(fn);
      break;
    case DType::Float64:
      if (fn == OpId::Divide) return binary<double, double, std::divides<double>>;
      if (fn == OpId::Negative) return unary<double, double, std::negate<double>>;
      found = comparison<double>(fn);
      return found ? found : arithmetic<double>(fn);
    default:
      return nullptr;
  }
  if (!found) found = arithmetic<Word>(fn);
  return found ? found : bitwise<Word>(fn);
}

bool same_bits(DType from, DType to) { return from == to || (is_word(from) && is_word(to)); }

StepFn branch(OpId fn, DType in, bool when) {
  return in == DType::Int64     ? branch_of<std::int64_t>(fn, when)
         : in == DType::UInt64  ? branch_of<Word>(fn, when)
         : in == DType::Float64 ? branch_of<double>(fn, when)
                                : nullptr;
}

StepFn conversion(DType from, DType to) {
  if (same_bits(from, to)) return move(to);
  if (from == DType::Bool && is_word(to)) return unary<bool, Word, To<Word>>;
  if (from == DType::Int64 && to == DType::Float64) return unary<std::int64_t, double, To<double>>;
  if (from == DType::Bool && to == DType::Float64) return unary<bool, double, To<double>>;
  return nullptr;
}

StepFn loop(int arity) {
  return arity == 1 ? precompiled<1> : arity == 2 ? precompiled<2> : precompiled<3>;
}

StepFn move(DType t) {
  return by_size(t, []<class T>(T) -> StepFn {
    return [](const SequentialFrame& f, const Step* s) {
      f.set<T>(s->out, f.get<T>(s->in[0]));
      return s + 1;
    };
  });
}

StepFn overflow(OpId fn) {
  return fn == OpId::Add        ? overflows<OpId::Add>
         : fn == OpId::Subtract ? overflows<OpId::Subtract>
                                : overflows<OpId::Multiply>;
}

StepFn load(DType t) {
  return by_size(t, []<class T>(T) -> StepFn {
    return [](const SequentialFrame& f, const Step* s) {
      std::memcpy(f.at(s->out), address(f, s), sizeof(T));
      return s + 1;
    };
  });
}

StepFn store(DType t) {
  return by_size(t, []<class T>(T) -> StepFn {
    return [](const SequentialFrame& f, const Step* s) {
      std::memcpy(address(f, s), f.at(s->out), sizeof(T));
      return s + 1;
    };
  });
}

const Step* scatter(const SequentialFrame& f, const Step* s) {
  static constexpr std::int64_t kHere = 0;
  s->scatter({.out = address(f, s),
              .out_stride = 0,
              .step = 0,
              .index = reinterpret_cast<const char*>(&kHere),
              .index_stride = 0},
             f.at(s->out), 0, 1);
  return s + 1;
}

const Step* multiply_add(const SequentialFrame& f, const Step* s) {
  f.set(s->out, f.get<Word>(s->in[0]) + f.get<Word>(s->in[1]) * f.get<Word>(s->in[2]));
  return s + 1;
}

const Step* index(const SequentialFrame& f, const Step* s) {
  const Word i = f.get<Word>(s->in[0]);
  f.set(s->out, static_cast<std::int64_t>(i) < 0 ? i + f.get<Word>(s->in[1]) : i);
  return s + 1;
}

const Step* external(const SequentialFrame& f, const Step* s) {
  const void* operands[3] = {f.at(s->in[0]), f.at(s->in[1]), f.at(s->in[2])};
  s->external->call(s->external->address, operands, f.at(s->out));
  return s + 1;
}

const Step* jump(const SequentialFrame&, const Step* s) { return s + s->jump; }

const Step* jump_if(const SequentialFrame& f, const Step* s) {
  return s + (f.get<bool>(s->in[0]) ? s->jump : 1);
}

const Step* jump_if_not(const SequentialFrame& f, const Step* s) {
  return s + (f.get<bool>(s->in[0]) ? 1 : s->jump);
}

const Step* enter(const SequentialFrame& f, const Step* s) {
  const auto begin = f.get<std::int64_t>(s->in[0]);
  f.set(s->out, begin);
  return s + (begin < f.get<std::int64_t>(s->in[1]) ? 1 : s->jump);
}

const Step* next(const SequentialFrame& f, const Step* s) {
  const std::int64_t left = f.get<std::int64_t>(s->in[1]) - 1, i = f.get<std::int64_t>(s->out);
  if (i >= left) return s + 1;
  f.set(s->out, i + 1);
  return is_stopped(f) ? nullptr : s + s->jump;
}

const Step* again(const SequentialFrame& f, const Step* s) {
  return is_stopped(f) ? nullptr : s + s->jump;
}

const Step* start_fold(const SequentialFrame& f, const Step* s) {
  const auto begin = f.get<std::int64_t>(s->in[0]), end = f.get<std::int64_t>(s->in[1]);
  const Word trips = begin < end ? static_cast<Word>(end) - static_cast<Word>(begin) : 0;
  fold_start(f.registers, f.folds[s->index], begin, static_cast<std::int64_t>(trips), 1);
  return s + 1;
}

const Step* fold(const SequentialFrame& f, const Step* s) {
  fold_step(f.registers, f.folds[s->index], f.get<std::int64_t>(s->out),
            f.get<std::int64_t>(s->in[0]), 1);
  return s + 1;
}

const Step* end(const SequentialFrame&, const Step*) { return nullptr; }

}  // namespace plait::interp::steps
