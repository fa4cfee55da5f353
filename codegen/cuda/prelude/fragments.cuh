// Fragments: C += A * B by all threads of a block, from memory that they share. Each thread has a
// tile of C in registers; it sums along k in order, with one rounding a step, and adds what it has
// to C once, as ir::Product says.
PLAIT_INLINE float fused(float a, float b, float c) { return ::fmaf(a, b, c); }
PLAIT_INLINE double fused(double a, double b, double c) { return ::fma(a, b, c); }

// What 16 bytes hold.
template <class T>
struct alignas(16) Several {
  static constexpr int count = 16 / sizeof(T);
  T of[count];
};
template <class T>
PLAIT_INLINE bool is_aligned(const T* p) {
  return (int64(p) & 15) == 0;
}
template <class T>
PLAIT_INLINE Several<T> several(const T* p) {
  PLAIT_TOUCH(p, Several<T>);
  return *reinterpret_cast<const Several<T>*>(p);
}
template <class T>
PLAIT_INLINE T single(const T* p) {
  PLAIT_TOUCH(p, T);
  return *p;
}

// What lies side by side: lines of an operand (rows of A, columns of B), or steps along k.
enum class Near { None, Lines, Steps };
// ir::Panels. A thread has neighbouring lines of what has lines side by side, else lines that are
// `tiles` apart, so that threads side by side read rows side by side.
template <class T, int Width, Near near>
struct Panels {
  typedef T type;
  static constexpr int V = Several<T>::count;
  const T* at;
  int stride, step;
  PLAIT_INLINE const T* operator()(int line, int p) const {
    if constexpr (Width == 1)
      return at + line * stride + p * step;
    else
      return at + line / Width * stride + p * step + line % Width;
  }
  PLAIT_INLINE bool aligned() const {
    if constexpr (near == Near::None) return false;
    const int apart = near == Near::Steps ? stride : Width == 1 ? step : stride | step;
    return is_aligned(at) && apart % V == 0 && (Width == 1 || Width % V == 0);
  }
  template <int Tile>
  static PLAIT_INLINE int line(int tile, int tiles, int n) {
    return near == Near::Lines ? tile * Tile + n : tile + n * tiles;
  }
  // V steps of a tile from p on; of lines beyond the last one, that again.
  template <int Tile, bool Vectors>
  PLAIT_INLINE void read(T (&x)[V][Tile], int tile, int tiles, int lines, int p) const {
    if (Vectors && near == Near::Lines && (tile + 1) * Tile <= lines) {
#pragma unroll
      for (int q = 0; q < V; ++q)
#pragma unroll
        for (int n = 0; n < Tile; n += V) {
          const Several<T> s = several((*this)(tile * Tile + n, p + q));
#pragma unroll
          for (int e = 0; e < V; ++e) x[q][n + e] = s.of[e];
        }
      return;
    }
#pragma unroll
    for (int n = 0; n < Tile; ++n) {
      const int l = line<Tile>(tile, tiles, n), there = l < lines ? l : lines - 1;
      if (Vectors && near == Near::Steps) {
        const Several<T> s = several((*this)(there, p));
#pragma unroll
        for (int q = 0; q < V; ++q) x[q][n] = s.of[q];
      } else {
#pragma unroll
        for (int q = 0; q < V; ++q) x[q][n] = single((*this)(there, p + q));
      }
    }
  }
  template <int Tile>
  PLAIT_INLINE T one(int tile, int tiles, int lines, int n, int p) const {
    const int l = line<Tile>(tile, tiles, n);
    return single((*this)(l < lines ? l : lines - 1, p));
  }
};

template <int M, int N, bool Vectors, class A, class B, class T>
PLAIT_INLINE void multiply_tiles(const A& a, const B& b, T* c, int row, int m, int n, int k,
                                 bool first) {
  constexpr int V = A::V;
  const int down = (m + M - 1) / M, across = (n + N - 1) / N;
  for (int tile = threadIdx.x; tile < down * across; tile += blockDim.x) {
    const int i = tile / across, j = tile % across;
    T s[M][N] = {};
    int p = 0;
    for (; p + V <= k; p += V) {
      T x[V][M], y[V][N];
      a.template read<M, Vectors>(x, i, down, m, p);
      b.template read<N, Vectors>(y, j, across, n, p);
#pragma unroll
      for (int q = 0; q < V; ++q)
#pragma unroll
        for (int u = 0; u < M; ++u)
#pragma unroll
          for (int v = 0; v < N; ++v) s[u][v] = fused(x[q][u], y[q][v], s[u][v]);
    }
    for (; p < k; ++p) {
      T x[M], y[N];
#pragma unroll
      for (int u = 0; u < M; ++u) x[u] = a.template one<M>(i, down, m, u, p);
#pragma unroll
      for (int v = 0; v < N; ++v) y[v] = b.template one<N>(j, across, n, v, p);
#pragma unroll
      for (int u = 0; u < M; ++u)
#pragma unroll
        for (int v = 0; v < N; ++v) s[u][v] = fused(x[u], y[v], s[u][v]);
    }
#pragma unroll
    for (int u = 0; u < M; ++u)
#pragma unroll
      for (int v = 0; v < N; ++v) {
        const int r = A::template line<M>(i, down, u), q = B::template line<N>(j, across, v);
        if (r >= m || q >= n) continue;
        T* const to = c + r * row + q;
        PLAIT_TOUCH(to, T);
        *to = first ? s[u][v] : *to + s[u][v];
      }
  }
}

// Larger tiles read less of either operand, where there is one for each thread.
template <class A, class B, class T>
PLAIT_INLINE void multiply(const A& a, const B& b, T* c, int row, int m, int n, int k, bool first) {
  constexpr int large = sizeof(T) == 4 ? 8 : 4;
  if (!a.aligned() || !b.aligned())
    multiply_tiles<4, 4, false>(a, b, c, row, m, n, k, first);
  else if ((m + large - 1) / large * ((n + 3) / 4) >= int(blockDim.x))
    multiply_tiles<large, 4, true>(a, b, c, row, m, n, k, first);
  else
    multiply_tiles<4, 4, true>(a, b, c, row, m, n, k, first);
}
