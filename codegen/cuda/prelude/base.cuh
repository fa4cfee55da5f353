// Types under NumPy's names and access to memory. `Index` is int or int64, as the program's extents
// need. An emulation of the device defines PLAIT_EMULATED, and PLAIT_TOUCH to check addresses.
#ifndef PLAIT_EMULATED
#define PLAIT_TOUCH(p, T)
#endif
#define PLAIT_INLINE __device__ __forceinline__

typedef signed char int8;
typedef unsigned char uint8;
typedef short int16;
typedef unsigned short uint16;
typedef int int32;
typedef unsigned int uint32;
typedef long long int64;
typedef unsigned long long uint64;
typedef float float32;
typedef double float64;
// Arithmetic happens in float32: widen() and narrow().
struct float16 {
  uint16 bits;
};
template <class T>
struct Complex {
  T re, im;
};
typedef Complex<float> complex64;
typedef Complex<double> complex128;

template <class T>
struct Unsigned {
  static constexpr bool integer = false;
};
#define PLAIT_INTEGER(T, U)                                           \
  template <>                                                         \
  struct Unsigned<T> {                                                \
    typedef U type;                                                   \
    static constexpr bool integer = true, is_signed = T(-1) < T(0);   \
    static constexpr T smallest = T(U(is_signed) << (sizeof(T) * 8 - 1)); \
  };
PLAIT_INTEGER(int8, uint8)
PLAIT_INTEGER(uint8, uint8)
PLAIT_INTEGER(int16, uint16)
PLAIT_INTEGER(uint16, uint16)
PLAIT_INTEGER(int32, uint32)
PLAIT_INTEGER(uint32, uint32)
PLAIT_INTEGER(int64, uint64)
PLAIT_INTEGER(uint64, uint64)
#undef PLAIT_INTEGER
template <class A, class B>
constexpr bool is_same = false;
template <class A>
constexpr bool is_same<A, A> = true;
template <class T>
constexpr bool is_bool = is_same<T, bool>;
template <class T>
constexpr bool is_integer = Unsigned<T>::integer;
template <class T>
constexpr bool is_real = is_same<T, float> || is_same<T, double>;
template <class T>
constexpr bool is_complex = is_same<T, complex64> || is_same<T, complex128>;

// Offsets are bytes. Every byte but 0 is true: other libraries and views of bytes store them.
template <class T>
PLAIT_INLINE T load(const void* p, Index offset) {
  if constexpr (is_bool<T>) {
    return load<uint8>(p, offset) != 0;
  } else {
    PLAIT_TOUCH(static_cast<const char*>(p) + offset, T);
    return *reinterpret_cast<const T*>(static_cast<const char*>(p) + offset);
  }
}
template <class T>
PLAIT_INLINE void store(void* p, Index offset, T v) {
  PLAIT_TOUCH(static_cast<char*>(p) + offset, T);
  *reinterpret_cast<T*>(static_cast<char*>(p) + offset) = v;
}
PLAIT_INLINE float from_bits(uint32 b) { return __uint_as_float(b); }
PLAIT_INLINE double from_bits(uint64 b) { return __longlong_as_double(int64(b)); }
PLAIT_INLINE uint32 to_bits(float v) { return __float_as_uint(v); }
PLAIT_INLINE uint64 to_bits(double v) { return uint64(__double_as_longlong(v)); }
PLAIT_INLINE float infinity(float) { return from_bits(0x7f800000u); }
PLAIT_INLINE double infinity(double) { return from_bits(uint64(0x7ff0000000000000)); }
PLAIT_INLINE float not_a_number(float) { return from_bits(0x7fc00000u); }
PLAIT_INLINE double not_a_number(double) { return from_bits(uint64(0x7ff8000000000000)); }

// The variable of a flattened nest's innermost remaining loop; `rest` goes on to the next one.
PLAIT_INLINE Index take(Index& rest, Index extent) {
  typedef typename Unsigned<Index>::type U;
  const Index quotient = Index(U(rest) / U(extent)), remainder = rest - quotient * extent;
  rest = quotient;
  return remainder;
}
PLAIT_INLINE Index thread_index() { return Index(blockIdx.x) * blockDim.x + threadIdx.x; }
PLAIT_INLINE Index thread_count() { return Index(gridDim.x) * blockDim.x; }

// Memory of a local: the elements of one thread are `step` apart.
template <class T>
struct Row {
  T* at;
  int64 step;
  PLAIT_INLINE T& operator[](Index i) const {
    PLAIT_TOUCH(at + i * step, T);
    return at[i * step];
  }
};
