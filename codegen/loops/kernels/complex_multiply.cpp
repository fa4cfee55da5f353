// Products and squares of complex numbers with the roundings of NumPy's vector loops: where the CPU
// has fused multiply-add, one of the two products in each part is not rounded.
#include "codegen/loops/vector.hpp"

namespace plait::loops::PLAIT_TIER {
namespace {

// Numbers as they lie in memory: real parts in even lanes, imaginary ones in odd lanes.
template <class V>
PLAIT_INLINE V multiply(V a, V b) {
  using Lanes = std::conditional_t<sizeof(a[0]) == 4, vi, vl>;
  constexpr int n = sizeof(V) / sizeof(a[0]);
  Lanes real, imaginary, swapped;
  for (int i = 0; i < n; ++i) real[i] = i & ~1, imaginary[i] = i | 1, swapped[i] = i ^ 1;
  return fma_alternating(__builtin_shuffle(a, real), b,
                         __builtin_shuffle(a, imaginary) * __builtin_shuffle(b, swapped));
}

template <class T>
using Parts = std::conditional_t<std::is_same_v<T, c64>, vf, vd>;
template <class T>
inline constexpr int kNumbers = sizeof(Parts<T>) / sizeof(T);

// `count` numbers and the first of them again.
template <class T>
PLAIT_INLINE Parts<T> numbers(const T* p, std::int64_t count) {
  T all[kNumbers<T>];
  for (int i = 0; i < kNumbers<T>; ++i) all[i] = p[i < count ? i : 0];
  return load<Parts<T>>(all);
}

template <class T>
void products(Args args, Strides s, std::int64_t n) {
  using V = Parts<T>;
  constexpr int lanes = kNumbers<T>;
  Source<T> left(args[0], s[0], n, s[1] != 0), right(args[1], s[1], n, true);
  Sink<T> to(args[2], s[2], n);
  const bool whole = (left.dense() || left.one()) && (right.dense() || right.one()) && to.dense();
  in_blocks(whole, kPackCount<T>, n, [&](std::int64_t begin, std::int64_t count) {
    const T *a = left.block(begin, count), *b = right.block(begin, count);
    T* out = to.block(begin);
    const V x0 = numbers(a, 1), y0 = numbers(b, 1);
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes)
      store<V>(out + i,
               multiply(left.one() ? x0 : load<V>(a + i), right.one() ? y0 : load<V>(b + i)));
    if (i < count) {
      const V r = multiply(left.one() ? x0 : numbers(a + i, count - i),
                           right.one() ? y0 : numbers(b + i, count - i));
      std::memcpy(out + i, &r, std::size_t(count - i) * sizeof(T));
    }
    to.done(begin, count);
  });
}

template <class T>
void squares(Args args, Strides s, std::int64_t n) {
  void* const twice[] = {args[0], args[0], args[1]};
  const std::int64_t strides[] = {s[0], s[0], s[1]};
  products<T>(twice, strides, n);
}

}  // namespace

LoopFn complex_multiply_loop(OpId op, DType t) {
  const bool single = t == DType::Complex64;
  if (op == OpId::Multiply) return single ? &products<c64> : &products<c128>;
  if (op == OpId::Square) return single ? &squares<c64> : &squares<c128>;
  return nullptr;
}

}  // namespace plait::loops::PLAIT_TIER
