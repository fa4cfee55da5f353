// sum + x * y, in one rounding where there is one.
PLAIT_INLINE float add_product(float sum, float x, float y) { return ::fmaf(x, y, sum); }
PLAIT_INLINE double add_product(double sum, double x, double y) { return ::fma(x, y, sum); }
PLAIT_INLINE uint32 add_product(uint32 sum, uint32 x, uint32 y) { return sum + x * y; }
PLAIT_INLINE uint64 add_product(uint64 sum, uint64 x, uint64 y) { return sum + x * y; }
PLAIT_INLINE bool add_product(bool sum, bool x, bool y) { return sum | (x & y); }
template <class T>
PLAIT_INLINE Complex<T> add_product(Complex<T> sum, Complex<T> x, Complex<T> y) {
  return {add_product(add_product(sum.re, x.re, y.re), -x.im, y.im),
          add_product(add_product(sum.im, x.re, y.im), x.im, y.re)};
}

// c = a @ b in squares of `side` by `side` elements, one a block at a time. Strips of a and b that are `deep`
// long lie in shared memory as Sum, the type that NumPy's own loop adds up in; a thread adds up `each` by `each`
// elements, `threads` apart, along k in order. Where k is cut, a square's chunks are blocks of their own, whose
// sums go to `parts`; add_chunks() is the kernel that follows.
template <class T, class Sum, int each, int threads, int deep>
struct Multiply {
  static constexpr int side = each * threads, pitch = side + 1;

  static PLAIT_INLINE Sum wide(T v) {
    if constexpr (is_same<T, float16>)
      return widen(v);
    else
      return Sum(v);
  }
  static PLAIT_INLINE T rounded(Sum v) {
    if constexpr (is_same<T, float16>)
      return narrow(v);
    else
      return T(v);
  }

  // Element d of the factor's line l goes to strip[d * pitch + l], zeros where the factor has ended. Neighbouring
  // threads read neighbours in memory, whichever way the factor lies.
  static PLAIT_INLINE void fetch(Shared<Sum> strip, const char* from, int64 line, int64 along, int64 lines,
                                 int64 depth) {
    const bool lines_first = line < 0 ? -line < along || -line < -along : line < along || line < -along;
#pragma unroll 4
    for (int i = threadIdx.x; i < side * deep; i += threads * threads) {
      const int l = lines_first ? i % side : i / deep, d = lines_first ? i / side : i % deep;
      Sum v{};
      if (l < lines && d < depth) v = wide(load<T>(from, l * line + d * along));
      strip[d * pitch + l] = v;
    }
  }

  // Element `column` of row `row` of c, rows of all batches counted through.
  static PLAIT_INLINE void finish(const Arguments& a, int64 row, int64 column, Sum sum) {
    T v = rounded(sum);
    if (a.added) v = T(v + load<T>(a.added, (row * a.added_row + column) * int64(sizeof(T))));
    store<T>(a.c, (row * a.n + column) * int64(sizeof(T)), v);
  }

  static PLAIT_INLINE void run(const Arguments& a) {
    const Shared<Sum> left{reinterpret_cast<Sum*>(shared_memory)}, right{left.at + deep * pitch};
    const int row = threadIdx.x / threads, column = threadIdx.x % threads;
    const int64 down = (a.m + side - 1) / side, across = (a.n + side - 1) / side;
    for (int64 square = blockIdx.x; square < a.chunks * a.batches * down * across; square += gridDim.x) {
      int64 rest = square;
      const int64 left_most = take(rest, across) * side, top = take(rest, down) * side;
      const int64 first_row = rest * a.m + top;  // counted through batches and chunks
      const char *x = a.a + top * a.a_row, *y = a.b + left_most * a.b_column;
      for (int64 axis = a.rank - 1; axis >= 0; --axis) {
        const int64 i = take(rest, a.shape[axis]);
        x += i * a.a_batch[axis];
        y += i * a.b_batch[axis];
      }
      const int64 begin = rest * a.chunk, end = begin + a.chunk < a.k ? begin + a.chunk : a.k;
      Sum sums[each][each] = {};
      for (int64 k = begin; k < end; k += deep) {
        fetch(left, x + k * a.a_column, a.a_row, a.a_column, a.m - top, end - k);
        fetch(right, y + k * a.b_row, a.b_column, a.b_row, a.n - left_most, end - k);
        __syncthreads();
#pragma unroll
        for (int d = 0; d < deep; ++d) {
          Sum p[each], q[each];
#pragma unroll
          for (int i = 0; i < each; ++i) {
            p[i] = left[d * pitch + row + i * threads];
            q[i] = right[d * pitch + column + i * threads];
          }
#pragma unroll
          for (int i = 0; i < each; ++i)
#pragma unroll
            for (int j = 0; j < each; ++j) sums[i][j] = add_product(sums[i][j], p[i], q[j]);
        }
        __syncthreads();
      }
#pragma unroll
      for (int i = 0; i < each; ++i)
#pragma unroll
        for (int j = 0; j < each; ++j) {
          const int64 at_row = row + i * threads, at_column = column + j * threads;
          if (at_row >= a.m - top || at_column >= a.n - left_most) continue;
          const int64 c_row = first_row + at_row, c_column = left_most + at_column;
          if (a.parts)
            store<Sum>(a.parts, (c_row * a.n + c_column) * int64(sizeof(Sum)), sums[i][j]);
          else
            finish(a, c_row, c_column, sums[i][j]);
        }
    }
  }

  static PLAIT_INLINE void add_chunks(const Arguments& a) {
    const int64 results = a.batches * a.m * a.n;
    for (int64 i = thread_index(); i < results; i += thread_count()) {
      Sum sum = load<Sum>(a.parts, i * int64(sizeof(Sum)));
#pragma unroll 8
      for (int64 chunk = 1; chunk < a.chunks; ++chunk)
        sum = sum + load<Sum>(a.parts, (chunk * results + i) * int64(sizeof(Sum)));
      int64 row = i;
      const int64 column = take(row, a.n);
      finish(a, row, column, sum);
    }
  }
};
