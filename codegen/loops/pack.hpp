// Strided operands in blocks: elements are brought side by side on the stack, so that the vector
// loops serve every layout.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#define PLAIT_INLINE inline __attribute__((always_inline))

namespace plait::loops::PLAIT_TIER {

template <class T>
PLAIT_INLINE T load(const void* p) {
  T v;
  std::memcpy(&v, p, sizeof(T));
  return v;
}
template <class T>
PLAIT_INLINE void store(void* p, T v) {
  std::memcpy(p, &v, sizeof(T));
}

// Elements as bits, one loop a width.
struct Wide {
  std::uint64_t words[2];
};
template <int bytes>
using Element = std::conditional_t<
    bytes == 1, std::uint8_t,
    std::conditional_t<bytes == 2, std::uint16_t,
                       std::conditional_t<bytes == 4, std::uint32_t,
                                          std::conditional_t<bytes == 8, std::uint64_t, Wide>>>>;

// n elements `stride` bytes apart to or from memory where they lie side by side; one of the widths
// above. In kernels/pack.cpp.
template <class U>
void gather_strided(void* out, const char* in, std::int64_t stride, std::int64_t n);
template <class U>
void scatter_strided(char* out, std::int64_t stride, const void* in, std::int64_t n);

inline constexpr std::int64_t kPackBytes = 4096;

// How many elements of the widest of the types are a block.
template <class... T>
inline constexpr std::int64_t kPackCount =
    std::min(kPackBytes / std::int64_t(std::max({sizeof(T)...})), std::int64_t(512));

// An operand whose elements are asked for a block at a time, or `one` value for all of them where
// the loop has a path for that.
template <class T>
class Source {
 public:
  Source(const void* p, std::int64_t stride, std::int64_t n, bool may_be_one)
      : p_(static_cast<const char*>(p)),
        stride_(n == 1 ? std::int64_t(sizeof(T)) : stride),
        one_(may_be_one && stride_ == 0) {}
  PLAIT_INLINE bool dense() const { return stride_ == sizeof(T); }
  PLAIT_INLINE bool one() const { return one_; }
  PLAIT_INLINE const T* block(std::int64_t begin, std::int64_t count) {
    const char* p = p_ + begin * stride_;
    if (dense() || one_) return reinterpret_cast<const T*>(p);
    gather_strided<Element<sizeof(T)>>(block_, p, stride_, count);
    return reinterpret_cast<const T*>(block_);
  }

 private:
  const char* p_;
  std::int64_t stride_;
  bool one_;
  alignas(64) char block_[kPackBytes];
};
// And a result.
template <class T>
class Sink {
 public:
  Sink(void* p, std::int64_t stride, std::int64_t n)
      : p_(static_cast<char*>(p)), stride_(n == 1 ? std::int64_t(sizeof(T)) : stride) {}
  PLAIT_INLINE bool dense() const { return stride_ == sizeof(T); }
  PLAIT_INLINE T* block(std::int64_t begin) {
    return reinterpret_cast<T*>(dense() ? p_ + begin * stride_ : block_);
  }
  PLAIT_INLINE void done(std::int64_t begin, std::int64_t count) {
    if (!dense()) scatter_strided<Element<sizeof(T)>>(p_ + begin * stride_, stride_, block_, count);
  }

 private:
  char* p_;
  std::int64_t stride_;
  alignas(64) char block_[kPackBytes];
};

// run(begin, count) for the blocks of n elements, or for all of them at once.
template <class Run>
PLAIT_INLINE void in_blocks(bool whole, std::int64_t block, std::int64_t n, Run run) {
  const std::int64_t step = whole ? n : block;
  for (std::int64_t begin = 0; begin < n; begin += step) run(begin, std::min(step, n - begin));
}

}  // namespace plait::loops::PLAIT_TIER
