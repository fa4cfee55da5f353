// P neighbours along the innermost flattened loop, of which those in [low, high) exist.
template <int P>
struct Run {
  Index first, low, high;
  PLAIT_INLINE bool whole() const { return first >= low && first + P <= high; }
  PLAIT_INLINE bool has(int k) const { return first + k >= low && first + k < high; }
  // The iteration that stands for element k: the nearest that exists.
  PLAIT_INLINE Index at(int k) const {
    const Index i = first + k;
    return i < low ? low : i >= high ? high - 1 : i;
  }
};
// Their values, moved by one access of up to 16 bytes.
template <class T, int P>
struct alignas(sizeof(T) * P) Pack {
  T of[P];
  PLAIT_INLINE T& operator[](int k) { return of[k]; }
  PLAIT_INLINE const T& operator[](int k) const { return of[k]; }
};
// `offset` is that of the first element, `aligned` whether it lies at a multiple of the pack.
template <class T, int P>
PLAIT_INLINE Pack<T, P> load_pack(const void* p, Index offset, const Run<P>& run, bool aligned) {
  Pack<T, P> x;
  if (aligned && run.whole()) {
    if constexpr (is_bool<T>) {
      const auto bytes = load<Pack<uint8, P>>(p, offset);
#pragma unroll
      for (int k = 0; k < P; ++k) x[k] = bytes[k] != 0;
    } else {
      x = load<Pack<T, P>>(p, offset);
    }
    return x;
  }
#pragma unroll
  for (int k = 0; k < P; ++k)
    x[k] = load<T>(p, offset + (run.at(k) - run.first) * Index(sizeof(T)));
  return x;
}
template <class T, int P>
PLAIT_INLINE void store_pack(void* p, Index offset, const Pack<T, P>& x, const Run<P>& run,
                             bool aligned) {
  if (aligned && run.whole()) return store<Pack<T, P>>(p, offset, x);
#pragma unroll
  for (int k = 0; k < P; ++k)
    if (run.has(k)) store<T>(p, offset + k * Index(sizeof(T)), x[k]);
}
