// Float16 loops and casts, in blocks of float32.
#include <array>
#include <utility>

#include "codegen/loops/half_blocks.hpp"

namespace plait::loops::PLAIT_TIER {
namespace {

// Runs the float32 loop of an operation on blocks of its operands. A value that does not vary is
// widened once and keeps stride 0.
struct Through {
  explicit Through(OpId op)
      : loop(elementwise(op, DType::Float32)),
        arity(op_info(op).arity),
        to_bool(op_info(op).out == OutRule::Bool) {}
  LoopFn loop;
  int arity;
  bool to_bool;

  // Once for all operations: inlined into each, it is most of what a tier takes to compile.
  [[gnu::noinline]] void run(Args args, Strides s, std::int64_t n) const {
    alignas(64) float blocks[4][kHalfBlock];
    for (std::int64_t begin = 0; begin < n; begin += kHalfBlock) {
      const std::int64_t count = std::min(kHalfBlock, n - begin);
      void* block_args[4];
      std::int64_t block_strides[4];
      for (int k = 0; k < arity; ++k) {
        widen_halves(static_cast<char*>(args[k]) + begin * s[k], s[k], blocks[k], s[k] ? count : 1);
        block_args[k] = blocks[k];
        block_strides[k] = s[k] ? sizeof(float) : 0;
      }
      char* out = static_cast<char*>(args[arity]) + begin * s[arity];
      block_args[arity] = to_bool ? static_cast<void*>(out) : blocks[arity];
      block_strides[arity] = to_bool ? s[arity] : std::int64_t(sizeof(float));
      loop(block_args, block_strides, count);
      if (!to_bool) round_to_halves(blocks[arity], out, s[arity], count);
    }
  }
};
template <OpId op>
void through_float32(Args args, Strides s, std::int64_t n) {
  static const Through through(op);
  through.run(args, s, n);
}
template <int... ids>
constexpr std::array<LoopFn, sizeof...(ids)> float32_table(std::integer_sequence<int, ids...>) {
  return {&through_float32<static_cast<OpId>(ids)>...};
}

// The neighbours of a half are not those of the float: bit arithmetic, NumPy's npy_half_nextafter.
bool is_nan(std::uint16_t h) { return (h & 0x7fff) > 0x7c00; }
std::uint16_t next(std::uint16_t h, bool up) {
  if ((h & 0x7fff) == 0) return up ? 0x0001 : 0x8001;
  return static_cast<std::uint16_t>(up == ((h & 0x8000) == 0) ? h + 1 : h - 1);
}
void nextafter(Args args, Strides s, std::int64_t n) {
  using H = std::uint16_t;
  bool overflow = false;
  binary<H, H, H>(args, s, n, [&overflow](H a, H b) -> H {
    if (is_nan(a)) return a;
    if (is_nan(b)) return b;
    const float x = half_to_float(a), y = half_to_float(b);
    const H r = x == y ? a : next(a, y > x);
    overflow |= (r & 0x7fff) == 0x7c00 && x != y;
    return r;
  });
  if (overflow) raise_flags(FE_OVERFLOW);
}
// The distance to the next number above, whatever the sign: so does NumPy for this dtype.
void spacing(Args args, Strides s, std::int64_t n) {
  using H = std::uint16_t;
  unsigned invalid = 0, last = 0;
  unary<H, H>(args, s, n, [&](H a) -> H {
    const unsigned size = a & 0x7fffu, special = size >= 0x7c00u;
    invalid |= special;
    last |= unsigned(a == 0x7bff);
    // The numbers in between have an exponent in common: that of the smaller one.
    const unsigned exponent = std::max((size - unsigned(a > 0x8000)) >> 10, 1u);
    const unsigned distance =
        exponent > 10 ? (exponent - 10) << 10 : 1u << std::min(exponent - 1, 9u);
    return H(special ? 0x7e00u : a == 0x7bff ? 0x7c00u : distance);
  });
  if (invalid) raise_flags(FE_INVALID);
  if (last) raise_flags(FE_OVERFLOW);
}

template <DType to>
void widen(Args args, Strides s, std::int64_t n) {
  static const LoopFn loop = cast(DType::Float32, to);
  alignas(64) float block[kHalfBlock];
  for (std::int64_t begin = 0; begin < n; begin += kHalfBlock) {
    const std::int64_t count = std::min(kHalfBlock, n - begin);
    widen_halves(static_cast<char*>(args[0]) + begin * s[0], s[0], block, count);
    void* block_args[2] = {block, static_cast<char*>(args[1]) + begin * s[1]};
    const std::int64_t block_strides[2] = {sizeof(float), s[1]};
    loop(block_args, block_strides, count);
  }
}
template <DType from>
void narrow(Args args, Strides s, std::int64_t n) {
  static const LoopFn loop = cast(from, DType::Float32);
  alignas(64) float block[kHalfBlock];
  for (std::int64_t begin = 0; begin < n; begin += kHalfBlock) {
    const std::int64_t count = std::min(kHalfBlock, n - begin);
    void* block_args[2] = {static_cast<char*>(args[0]) + begin * s[0], block};
    const std::int64_t block_strides[2] = {s[0], sizeof(float)};
    loop(block_args, block_strides, count);
    round_to_halves(block, static_cast<char*>(args[1]) + begin * s[1], s[1], count);
  }
}
// From float64 directly: through float32 it would round twice. A complex value begins with its
// real part.
void narrow_double(Args args, Strides s, std::int64_t n) {
  bool overflow = false;
  unary<f64, std::uint16_t>(args, s, n, [&overflow](f64 a) {
    const std::uint16_t h = double_to_half(a);
    overflow |= (h & 0x7fff) == 0x7c00 && __builtin_isfinite(a);
    return h;
  });
  if (overflow) raise_flags(FE_OVERFLOW);
}

template <int... types>
LoopFn half_cast_table(DType from, DType to, std::integer_sequence<int, types...>) {
  static constexpr LoopFn widening[] = {&widen<static_cast<DType>(types)>...};
  static constexpr LoopFn narrowing[] = {&narrow<static_cast<DType>(types)>...};
  return from == DType::Float16 ? widening[static_cast<int>(to)]
                                : narrowing[static_cast<int>(from)];
}

}  // namespace

LoopFn half_loop(OpId op) {
  static constexpr auto table = float32_table(std::make_integer_sequence<int, kOpCount>{});
  if (op == OpId::Nextafter) return &nextafter;
  if (op == OpId::Spacing) return &spacing;
  return elementwise(op, DType::Float32) ? table[static_cast<int>(op)] : nullptr;
}

LoopFn half_cast(DType from, DType to) {
  if (to == DType::Float16 && (from == DType::Float64 || from == DType::Complex128))
    return &narrow_double;
  return half_cast_table(from, to, std::make_integer_sequence<int, kNumPyDTypes>{});
}

}  // namespace plait::loops::PLAIT_TIER
