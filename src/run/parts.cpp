// What libplait_run has in the place of functions that are marked PLAIT_REPLACEABLE. A program is
// machine code from the start, so nobody interprets or compiles; its steps are regions and
// products. Of the precompiled loops it calls those that code has no instructions for, of its tier.
#include <complex>
#include <cstring>
#include <type_traits>
#include <utility>

#include "codegen/interp/interp.hpp"
#include "codegen/llvm/jit.hpp"
#include "codegen/loops/tier.hpp"
#include "codegen/loops/types.hpp"
#include "codegen/loops/vector_product.hpp"
#include "core/convert.hpp"
#include "core/dispatch.hpp"
#include "engine/direct/operation.hpp"
#include "engine/plans/kernel.hpp"
#include "engine/products/product.hpp"
#include "plait/error.hpp"

namespace plait {
namespace {
[[noreturn]] void absent() { throw InternalError("libplait_run has no such part"); }
}  // namespace

namespace engine {
bool computes(tracer::NodeKind kind) { return kind == tracer::NodeKind::MatMul; }
void run_operation(const Operation& op, std::span<const Operand> in, const Memory& out, bool) {
  run_product(op, in, out);
}
bool prefers_blas(const MatrixProduct&) { return false; }
bool blas_product(const MatrixProduct&) { return false; }
std::string_view warning_name(const Operation&, DType) { return ""; }
std::shared_ptr<CompiledKernel> compiled(const ir::Kernel&) { absent(); }
}  // namespace engine

namespace interp {
std::shared_ptr<const Program> prepare(const ir::Kernel&, CpuTier) { absent(); }
std::size_t bytes_of(const Program&) { return 0; }
std::size_t scratch_bytes(const Program&, const ir::CallArgs&) { return 0; }
void run(const Program&, const ir::CallArgs&, std::int64_t, std::int64_t, void*) { absent(); }
}  // namespace interp

namespace jit {
bool available() { return false; }
bool expected() { return false; }
bool supports(const ir::Kernel&, std::string*) { return false; }
void compile_into(CodeSlot&, const ir::Kernel&, CpuTier, Effort) noexcept {}
void compile_async(std::shared_ptr<const ir::Kernel>, CpuTier, std::shared_ptr<CodeSlot>,
                   Background::Priority, Effort) noexcept {}
}  // namespace jit

namespace loops {
namespace {

// Of partial results, of which there are few: as the loops of their operations, in all that shows.
template <ReduceKind kKind, class T>
T joined(T a, T b) {
  constexpr bool complex = requires { a.imag(); };
  using enum ReduceKind;
  if constexpr (std::is_same_v<T, bool>) {
    constexpr bool either =
        kKind == Sum || kKind == Max || kKind == FMax || kKind == Any || kKind == BitOr;
    return kKind == BitXor ? a != b : either ? a || b : a && b;
  } else if constexpr (complex) {
    return kKind == Sum ? T(a.real() + b.real(), a.imag() + b.imag())
                        : T(a.real() * b.real() - a.imag() * b.imag(),
                            a.real() * b.imag() + a.imag() * b.real());
  } else if constexpr (kKind == Sum || kKind == Prod) {
    if constexpr (std::is_integral_v<T>) {  // wraps
      const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
      return static_cast<T>(kKind == Sum ? x + y : x * y);
    } else {
      return kKind == Sum ? a + b : a * b;
    }
  } else if constexpr (kKind == Min || kKind == FMin) {
    return (a <= b) | (kKind == Min ? a != a : b != b) ? a : b;
  } else if constexpr (kKind == Max || kKind == FMax) {
    return (a >= b) | (kKind == Max ? a != a : b != b) ? a : b;
  } else if constexpr (std::is_integral_v<T>) {
    return kKind == BitAnd ? a & b : kKind == BitOr ? a | b : a ^ b;
  } else {
    return a;  // there are none
  }
}

template <ReduceKind kKind, class T>
void join_all(void* const* args, const std::int64_t*, std::int64_t n) {
  const auto* a = static_cast<const T*>(args[0]);
  const auto* b = static_cast<const T*>(args[1]);
  auto* out = static_cast<T*>(args[2]);
  for (std::int64_t i = 0; i < n; ++i) out[i] = joined<kKind>(a[i], b[i]);
}

// Whether partial results of the dtype can be joined so.
template <class T>
constexpr bool joins(ReduceKind kind) {
  using enum ReduceKind;
  if (std::is_same_v<T, Half>) return false;
  if (kind == Any || kind == All) return std::is_same_v<T, bool>;
  if (kind == BitAnd || kind == BitOr || kind == BitXor) return std::is_integral_v<T>;
  return kind == Sum || kind == Prod || !requires(T x) { x.imag(); };
}

template <ReduceKind kKind>
LoopFn join_of(DType t) {
  return dispatch(t, [](auto tag) -> LoopFn {
    using T = typename decltype(tag)::type;
    if constexpr (joins<T>(kKind))
      return &join_all<kKind, T>;
    else
      return nullptr;
  });
}

template <class From, class To>
void cast_all(void* const* args, const std::int64_t* strides, std::int64_t n) {
  const auto* in = static_cast<const char*>(args[0]);
  auto* out = static_cast<char*>(args[1]);
  for (; n > 0; --n, in += strides[0], out += strides[1]) {
    From x;
    std::memcpy(&x, in, sizeof x);
    const To y = convert<To>(x);
    std::memcpy(out, &y, sizeof y);
  }
}

}  // namespace

LoopFn join(ReduceKind kind, DType t, CpuTier) {
  using Of = LoopFn (*)(DType);
  return [&]<std::size_t... k>(std::index_sequence<k...>) {
    const Of of[] = {&join_of<static_cast<ReduceKind>(k)>...};
    return is_arg(kind) ? nullptr : of[static_cast<int>(kind)](t);
  }(std::make_index_sequence<kReduceKindCount>());
}
ArgReduceFn arg_reduce(ReduceKind kind, DType t, CpuTier) { return baseline::arg_reduce(kind, t); }
ReduceFn reduce(ReduceKind, DType, CpuTier) { return nullptr; }
ArgColumnsFn arg_columns(ReduceKind, DType, CpuTier) { return nullptr; }

// Copies, and those from and to float16 that code has no instructions for.
LoopFn cast(DType from, DType to, CpuTier) {
  if (is_narrow(from) || is_narrow(to)) return nullptr;
  return dispatch(from, [&](auto x) -> LoopFn {
    using From = typename decltype(x)::type;
    if (from == to) return &cast_all<From, From>;
    if constexpr (std::is_same_v<From, Half>)
      return dispatch(to,
                      [](auto y) -> LoopFn { return &cast_all<Half, typename decltype(y)::type>; });
    else
      return to == DType::Float16 ? &cast_all<From, Half> : nullptr;
  });
}

LoopFn elementwise(OpId op, DType t, CpuTier tier) {
  if (t != DType::Float32 && t != DType::Float64) return nullptr;
  PLAIT_AT_TIER_OF_PROGRAMS(tier, math_loop(op, t));
}
VectorFn vector_function(OpId op, DType t, CpuTier tier) {
  PLAIT_AT_TIER_OF_PROGRAMS(tier, vector_function(op, t));
}
const Product* product(DType a, DType b, CpuTier tier) {
  PLAIT_AT_TIER_OF_PROGRAMS(tier, product(a, b));
}
// Tiles do it, with the same bits.
VectorProductFn vector_product(DType /*t*/, CpuTier /*tier*/) { return nullptr; }

}  // namespace loops
}  // namespace plait
