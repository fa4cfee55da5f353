// Fragments: C += A * B by all threads of a block, from memory that they share, as ir::Fragment
// says. Each thread has a tile of C in registers; it sums along k in order, with one rounding a
// step, and adds what it has to C once. Operands of float16 are multiplied by tensor cores, where
// the architecture has such of float32 sums: there a warp has a tile.
PLAIT_INLINE float fused(float a, float b, float c) { return ::fmaf(a, b, c); }
PLAIT_INLINE double fused(double a, double b, double c) { return ::fma(a, b, c); }
PLAIT_INLINE float fused(float16 a, float16 b, float c) { return ::fmaf(widen(a), widen(b), c); }

// Elements of one access: 16 bytes, of halves 8.
template <class T>
struct alignas(sizeof(T) < 4 ? 8 : 16) Several {
  static constexpr int count = sizeof(T) < 4 ? 4 : 16 / sizeof(T);
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
// ir::Panels. Of what has lines side by side a thread has groups of those that one access reads,
// `tiles` groups apart, else single lines that are `tiles` apart: threads side by side read what
// lies side by side.
template <class T, int Width, Near near>
struct Panels {
  typedef T type;
  static constexpr int V = Several<T>::count;
  static constexpr bool grouped = near == Near::Lines;
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
    constexpr int whole = 16 / sizeof(T);
    return is_aligned(at) && apart % whole == 0 && (Width == 1 || Width % whole == 0);
  }
  static PLAIT_INLINE int line(int tile, int tiles, int n) {
    return near == Near::Lines ? (n / V * tiles + tile) * V + n % V : tile + n * tiles;
  }
  // What a thread reads of a tile. In the place of lines beyond the last one it reads that again,
  // or, where it reads whole groups, the last one of these: aligned, it lies in the local.
  template <int Tile, bool Vectors>
  struct Reader {
    static constexpr bool grouped = Vectors && near == Near::Lines;
    static constexpr int each = grouped ? V : 1, starts = Tile / each;
    const T* from[starts];
    int step;
    PLAIT_INLINE Reader(const Panels& p, int tile, int tiles, int lines) : step(p.step) {
      const int last = (lines - 1) / each * each;
#pragma unroll
      for (int n = 0; n < starts; ++n) {
        const int l = line(tile, tiles, n * each);
        from[n] = p(l < last ? l : last, 0);
      }
    }
    PLAIT_INLINE void read(T (&x)[V][Tile], int p) const {
#pragma unroll
      for (int n = 0; n < starts; ++n)
        if constexpr (Vectors && near == Near::Steps) {
          const Several<T> s = several(from[n] + p);
#pragma unroll
          for (int q = 0; q < V; ++q) x[q][n] = s.of[q];
        } else {
#pragma unroll
          for (int q = 0; q < V; ++q) one(x[q], n, p + q);
        }
    }
    PLAIT_INLINE void read(T (&x)[Tile], int p) const {
#pragma unroll
      for (int n = 0; n < starts; ++n) one(x, n, p);
    }
    PLAIT_INLINE void one(T (&x)[Tile], int n, int p) const {
      if constexpr (grouped) {
        const Several<T> s = several(from[n] + p * step);
#pragma unroll
        for (int e = 0; e < V; ++e) x[n * V + e] = s.of[e];
      } else {
        x[n] = single(from[n] + p * step);
      }
    }
  };
};

// A tile is added to C, or becomes it. `Vectors`: rows of C are aligned.
template <bool First, bool Vectors, class A, class B, int M, int N, class T>
PLAIT_INLINE void add_tile(const T (&s)[M][N], T* c, int row, int i, int down, int m, int j,
                           int across, int n) {
  constexpr int V = Vectors && B::grouped ? Several<T>::count : 1;
#pragma unroll
  for (int v = 0; v < N; v += V) {
    const int q = B::line(j, across, v);
    if (q >= n) continue;
    const bool whole = q + V <= n;
#pragma unroll
    for (int u = 0; u < M; ++u) {
      const int r = A::line(i, down, u);
      if (r >= m) continue;
      T* const to = c + r * row + q;
      if (V > 1 && whole) {
        Several<T> now;
        if (!First) now = several(to);
#pragma unroll
        for (int e = 0; e < V; ++e) now.of[e] = First ? s[u][v + e] : now.of[e] + s[u][v + e];
        PLAIT_TOUCH(to, Several<T>);
        *reinterpret_cast<Several<T>*>(to) = now;
        continue;
      }
#pragma unroll
      for (int e = 0; e < V; ++e) {
        if (q + e >= n) continue;
        PLAIT_TOUCH(to + e, T);
        to[e] = First ? s[u][v + e] : to[e] + s[u][v + e];
      }
    }
  }
}

template <int M, int N, bool Vectors, class A, class B, class T>
PLAIT_INLINE void multiply_tiles(const A& a, const B& b, T* c, int row, int m, int n, int k,
                                 bool first) {
  constexpr int V = A::V;
  const int down = (m + M - 1) / M, across = (n + N - 1) / N;
  // A warp has tiles of a square, which read the fewest lines, if there are such squares.
  const bool squares = down % 4 == 0 && across % 8 == 0;
  for (int tile = threadIdx.x; tile < down * across; tile += blockDim.x) {
    const int square = tile / 32, lane = tile % 32;
    const int i = squares ? square / (across / 8) * 4 + lane / 8 : tile / across;
    const int j = squares ? square % (across / 8) * 8 + lane % 8 : tile % across;
    T s[M][N] = {};
    {
      const typename A::template Reader<M, Vectors> down_from(a, i, down, m);
      const typename B::template Reader<N, Vectors> across_from(b, j, across, n);
      int p = 0;
#pragma unroll 1
      for (; p + V <= k; p += V) {
        typename A::type x[V][M], y[V][N];
        down_from.read(x, p);
        across_from.read(y, p);
#pragma unroll
        for (int q = 0; q < V; ++q)
#pragma unroll
          for (int u = 0; u < M; ++u)
#pragma unroll
            for (int v = 0; v < N; ++v) s[u][v] = fused(x[q][u], y[q][v], s[u][v]);
      }
#pragma unroll 1
      for (; p < k; ++p) {
        typename A::type x[M], y[N];
        down_from.read(x, p);
        across_from.read(y, p);
#pragma unroll
        for (int u = 0; u < M; ++u)
#pragma unroll
          for (int v = 0; v < N; ++v) s[u][v] = fused(x[u], y[v], s[u][v]);
      }
    }
    if (first)
      add_tile<true, Vectors, A, B>(s, c, row, i, down, m, j, across, n);
    else
      add_tile<false, Vectors, A, B>(s, c, row, i, down, m, j, across, n);
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
template <int Most, class A, class B>
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

// The tiles of at most so many elements that take the least time; of those that take the same, the
// larger ones, which read less of either operand.
template <int Most, class A, class B, class T, class In>
PLAIT_INLINE void multiply(const A& a, const B& b, T* c, int row, int m, int n, int k, bool first,
                           In) {
  constexpr int large = sizeof(In) == 4 && Most >= 32 ? 8 : 4, across = Most >= 64 ? large : 4;
  const auto time = [&](int rows, int columns) {
    const int tiles = (m + rows - 1) / rows * ((n + columns - 1) / columns);
    return (tiles + int(blockDim.x) - 1) / int(blockDim.x) * rows * columns;
  };
  const int longest = time(large, across), middle = time(large, 4), shortest = time(4, 4);
  if (!a.aligned() || !b.aligned() || !is_aligned(c) || row * int(sizeof(T)) % 16 != 0)
    multiply_tiles<4, 4, false>(a, b, c, row, m, n, k, first);
  else if (across > 4 && longest <= middle && longest <= shortest)
    multiply_tiles<large, across, true>(a, b, c, row, m, n, k, first);
  else if (large > 4 && middle <= shortest)
    multiply_tiles<large, 4, true>(a, b, c, row, m, n, k, first);
  else
    multiply_tiles<4, 4, true>(a, b, c, row, m, n, k, first);
}
template <int Most, class A, class B, class T>
PLAIT_INLINE void multiply(const A& a, const B& b, T* c, int row, int m, int n, int k, bool first) {
  multiply<Most>(a, b, c, row, m, n, k, first, typename A::type{});
}
