// Fragments: C += A * B by all threads of a block, from memory that they share, as ir::Fragment
// says. Each thread has a tile of C in registers; it sums along k in order, with one rounding a
// step, and adds what it has to C once. Operands of float16 are multiplied by tensor cores, where
// the architecture has such of float32 sums: there a warp has a tile.
PLAIT_INLINE float fused(float a, float b, float c) { return ::fmaf(a, b, c); }
PLAIT_INLINE double fused(double a, double b, double c) { return ::fma(a, b, c); }
PLAIT_INLINE float fused(float16 a, float16 b, float c) { return ::fmaf(widen(a), widen(b), c); }

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
  // Of 16 lines from `first` on, 16 steps from p on, as tensor cores take them: x[0] has the first
  // 8 of both, x[1] the first 8 steps of the other lines, x[2] and x[3] the other steps. In each,
  // lane n has two steps from n % 4 * 2 on of line n / 4. Steps from k on are 0; of lines beyond
  // the last one it does not matter what is there.
  PLAIT_INLINE void sixteen(uint32 (&x)[4], int first, int lines, int p, int k) const {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int n = 0; n < 4; ++n) {
      const int l = first + n % 2 * 8 + lane / 4, there = l < lines ? l : lines - 1;
      x[n] = 0;
#pragma unroll
      for (int e = 0; e < 2; ++e)
        if (const int q = p + n / 2 * 8 + lane % 4 * 2 + e; q < k)
          x[n] |= uint32(single((*this)(there, q)).bits) << 16 * e;
    }
  }
#if __CUDA_ARCH__ >= 800
  // The same where 16 bytes are aligned and all steps are there. Each lane names a row of 8 by 8
  // elements.
  PLAIT_INLINE void sixteen(uint32 (&x)[4], int first, int lines, int p) const {
    const int lane = threadIdx.x % 32, l = first + lane / 8 % 2 * 8, q = p + lane / 16 * 8;
    const int last = lines - 1, line = near == Near::Steps ? l + lane % 8 : l < lines ? l : first;
    const uint32 row = uint32(__cvta_generic_to_shared(
        near == Near::Steps ? (*this)(line < last ? line : last, q) : (*this)(line, q + lane % 8)));
    if constexpr (near == Near::Steps)
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                   : "r"(row)
                   : "memory");
    else
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                   : "r"(row)
                   : "memory");
  }
#endif
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
      typename A::type x[V][M], y[V][N];
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
      typename A::type x[M], y[N];
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

#if __CUDA_ARCH__ >= 800
// 16 * M rows and 16 * N columns are the tile of a warp.
template <int M, int N, bool Vectors, class A, class B>
PLAIT_INLINE void multiply_on_tensor_cores(const A& a, const B& b, float* c, int row, int m, int n,
                                           int k, bool first) {
  const int down = (m + 16 * M - 1) / (16 * M), across = (n + 16 * N - 1) / (16 * N);
  const int lane = threadIdx.x % 32;
  for (int tile = threadIdx.x / 32; tile < down * across; tile += blockDim.x / 32) {
    const int i = tile / across * 16 * M, j = tile % across * 16 * N;
    float s[M][2 * N][4] = {};
    for (int p = 0; p < k; p += 16) {
      uint32 x[M][4], y[N][4];
#pragma unroll
      for (int u = 0; u < M; ++u)
        if (i + 16 * u < m) {
          if (Vectors && p + 16 <= k)
            a.sixteen(x[u], i + 16 * u, m, p);
          else
            a.sixteen(x[u], i + 16 * u, m, p, k);
        }
#pragma unroll
      for (int v = 0; v < N; ++v)
        if (j + 16 * v < n) {
          if (Vectors && p + 16 <= k)
            b.sixteen(y[v], j + 16 * v, n, p);
          else
            b.sixteen(y[v], j + 16 * v, n, p, k);
        }
#pragma unroll
      for (int u = 0; u < M; ++u)
#pragma unroll
        for (int v = 0; v < 2 * N; ++v) {
          if (i + 16 * u >= m || j + 8 * v >= n) continue;
          float(&t)[4] = s[u][v];
          asm volatile(
              "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
              "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
              : "+f"(t[0]), "+f"(t[1]), "+f"(t[2]), "+f"(t[3])
              : "r"(x[u][0]), "r"(x[u][1]), "r"(x[u][2]), "r"(x[u][3]), "r"(y[v / 2][v % 2]),
                "r"(y[v / 2][2 + v % 2]));
        }
    }
    // Of the 16 rows and 8 columns a lane has two columns of row n / 4 and of that 8 below.
#pragma unroll
    for (int u = 0; u < M; ++u)
#pragma unroll
      for (int v = 0; v < 2 * N; ++v)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int r = i + 16 * u + lane / 4 + e / 2 * 8, q = j + 8 * v + lane % 4 * 2 + e % 2;
          if (r >= m || q >= n) continue;
          float* const to = c + r * row + q;
          *to = first ? s[u][v][e] : *to + s[u][v][e];
        }
  }
}
template <class A, class B>
PLAIT_INLINE void multiply(const A& a, const B& b, float* c, int row, int m, int n, int k,
                           bool first, float16) {
  if (!a.aligned() || !b.aligned())
    multiply_on_tensor_cores<1, 1, false>(a, b, c, row, m, n, k, first);
  else if ((m + 31) / 32 * ((n + 31) / 32) >= int(blockDim.x / 32))
    multiply_on_tensor_cores<2, 2, true>(a, b, c, row, m, n, k, first);
  else
    multiply_on_tensor_cores<1, 1, true>(a, b, c, row, m, n, k, first);
}
#endif

// Larger tiles read less of either operand, where there is one for each thread.
template <class A, class B, class T, class In>
PLAIT_INLINE void multiply(const A& a, const B& b, T* c, int row, int m, int n, int k, bool first,
                           In) {
  constexpr int large = sizeof(In) == 4 ? 8 : 4;
  if (!a.aligned() || !b.aligned())
    multiply_tiles<4, 4, false>(a, b, c, row, m, n, k, first);
  else if ((m + large - 1) / large * ((n + 3) / 4) >= int(blockDim.x))
    multiply_tiles<large, 4, true>(a, b, c, row, m, n, k, first);
  else
    multiply_tiles<4, 4, true>(a, b, c, row, m, n, k, first);
}
template <class A, class B, class T>
PLAIT_INLINE void multiply(const A& a, const B& b, T* c, int row, int m, int n, int k, bool first) {
  multiply(a, b, c, row, m, n, k, first, typename A::type{});
}
