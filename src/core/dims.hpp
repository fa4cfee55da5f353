// A short vector of int64 for shapes, strides and index lists: inline up to six entries, as almost
// every array is.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <utility>

namespace plait {

inline constexpr int kMaxDims = 64;  // NumPy 2's limit

class Dims {
 public:
  Dims() = default;
  explicit Dims(int n, std::int64_t value = 0) {
    if (n > kInline) {
      resize(n, value);
      return;
    }
    for (std::int64_t& v : inline_) v = value;
    size_ = n;
  }
  Dims(std::initializer_list<std::int64_t> v) : Dims(v.begin(), v.end()) {}
  Dims(const std::int64_t* b, const std::int64_t* e) { assign(b, e); }
  Dims(const Dims& o) {
    if (o.heap_) [[unlikely]]
      assign(o.begin(), o.end());
    else
      copy_inline(o);
  }
  Dims(Dims&& o) noexcept {
    copy_inline(o);
    heap_ = std::exchange(o.heap_, nullptr);
    o.size_ = 0;
  }
  Dims& operator=(const Dims& o) {
    if (heap_ || o.heap_) [[unlikely]] {
      if (this != &o) assign(o.begin(), o.end());
    } else {
      copy_inline(o);
    }
    return *this;
  }
  Dims& operator=(Dims&& o) noexcept {
    if (this != &o) {
      if (heap_) [[unlikely]]
        delete[] heap_;
      copy_inline(o);
      heap_ = std::exchange(o.heap_, nullptr);
      o.size_ = 0;
    }
    return *this;
  }
  ~Dims() {
    if (heap_) [[unlikely]]
      delete[] heap_;
  }

  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::int64_t* data() { return heap_ ? heap_ : inline_; }
  const std::int64_t* data() const { return heap_ ? heap_ : inline_; }
  std::int64_t& operator[](int i) { return data()[i]; }
  std::int64_t operator[](int i) const { return data()[i]; }
  std::int64_t back() const { return data()[size_ - 1]; }
  std::int64_t* begin() { return data(); }
  std::int64_t* end() { return data() + size_; }
  const std::int64_t* begin() const { return data(); }
  const std::int64_t* end() const { return data() + size_; }

  void resize(int n, std::int64_t value = 0) {
    reserve(n);
    for (int i = size_; i < n; ++i) data()[i] = value;
    size_ = n;
  }
  void push_back(std::int64_t v) {
    reserve(size_ + 1);
    data()[size_++] = v;
  }
  void insert(int at, std::int64_t v) {
    push_back(v);
    std::rotate(begin() + at, end() - 1, end());
  }
  void erase(int at) {
    std::copy(begin() + at + 1, end(), begin() + at);
    --size_;
  }
  void clear() { size_ = 0; }
  bool operator==(const Dims& o) const {
    if (size_ != o.size_) return false;
    const std::int64_t *a = data(), *b = o.data();
    for (int i = 0; i < size_; ++i)  // a call of memcmp costs more than a few comparisons
      if (a[i] != b[i]) return false;
    return true;
  }
  bool operator!=(const Dims& o) const { return !(*this == o); }

 private:
  static constexpr int kInline = 6;
  // Whole: a few moves of constant size instead of a call of memcpy.
  void copy_inline(const Dims& o) {
    size_ = o.size_;
    std::memcpy(inline_, o.inline_, sizeof inline_);
  }
  void assign(const std::int64_t* b, const std::int64_t* e);
  void reserve(int n) {
    if (n > kInline && (!heap_ || n > inline_[0])) [[unlikely]]
      spill(n);
  }
  void spill(int n);
  std::int64_t* heap_ = nullptr;
  int size_ = 0;
  std::int64_t inline_[kInline];  // the first is the capacity of heap_, where there is one
};

// Product of the extents; 1 for a 0-D shape.
inline std::int64_t element_count(const Dims& shape) {
  std::int64_t n = 1;
  for (std::int64_t e : shape) n *= e;
  return n;
}
// "(2, 3)", "(4,)", "()": NumPy's spelling, used in messages.
std::string to_string(const Dims& shape);
// "(2,3)", "(4,)", "()": NumPy's spelling in broadcasting errors.
std::string to_compact_string(const Dims& shape);
// C-order byte strides.
Dims contiguous_strides(const Dims& shape, std::int64_t itemsize);
// Broadcasts two shapes; throws ShapeError with NumPy's "operands could not be broadcast together
// with shapes (..) (..) ".
Dims broadcast_shapes(const Dims& a, const Dims& b);

}  // namespace plait
