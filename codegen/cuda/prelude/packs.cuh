// P neighbours along the innermost flattened loop, of which those in [low, high) exist.
template <int P>
struct Run {
  Index first, low, high;
  bool spread;  // its elements lie between those of the other lanes of the warp
  PLAIT_INLINE int step() const { return spread ? 32 : 1; }
  PLAIT_INLINE bool whole() const { return first >= low && first + (P - 1) * step() < high; }
  PLAIT_INLINE bool has(int k) const {
    return first + k * step() >= low && first + k * step() < high;
  }
  // The iteration that stands for element k: the nearest that exists.
  PLAIT_INLINE Index at(int k) const {
    const Index i = first + k * step();
    return i < low ? low : i >= high ? high - 1 : i;
  }
};
// The n-th of a row, which `lead` elements stand before. Spread ones are those of a warp together, so
// that each of their accesses reaches neighbours.
template <int P>
PLAIT_INLINE Run<P> run_at(Index n, Index lead, bool spread, Index low, Index high) {
  return {low - lead + (spread ? n / 32 * 32 * P + n % 32 : n * P), low, high, spread};
}
// A spread one all of whose elements exist.
template <int P>
struct SpreadRun {
  Index first;
  PLAIT_INLINE Index at(int k) const { return first + k * 32; }
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
    if (run.has(k)) store<T>(p, offset + k * run.step() * Index(sizeof(T)), x[k]);
}
template <class T, int P>
PLAIT_INLINE Pack<T, P> load_pack(const void* p, Index offset, const SpreadRun<P>&, bool) {
  Pack<T, P> x;
#pragma unroll
  for (int k = 0; k < P; ++k) x[k] = load<T>(p, offset + k * 32 * Index(sizeof(T)));
  return x;
}
template <class T, int P>
PLAIT_INLINE void store_pack(void* p, Index offset, const Pack<T, P>& x, const SpreadRun<P>&, bool) {
#pragma unroll
  for (int k = 0; k < P; ++k) store<T>(p, offset + k * 32 * Index(sizeof(T)), x[k]);
}
