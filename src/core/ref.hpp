// Intrusive reference counting: one word, no control block.
#pragma once
#include <atomic>
#include <cstdint>
#include <utility>

namespace plait {

// What Ref counts derives from one of these and has a static void destroy(T*), called when the last
// reference goes.
struct RefCounted {
  std::atomic<std::uint32_t> refs{0};
};
// References come and go only under a lock that guards the type: no atomic additions.
struct GuardedRefCounted {
  std::uint32_t refs = 0;
};

namespace detail {
// A fresh object is its maker's alone, so its first reference needs no atomic addition.
inline void first_reference(std::atomic<std::uint32_t>& refs) {
  if (refs.load(std::memory_order_relaxed) == 0)
    refs.store(1, std::memory_order_relaxed);
  else
    refs.fetch_add(1, std::memory_order_relaxed);
}
inline void add_reference(std::atomic<std::uint32_t>& refs) {
  refs.fetch_add(1, std::memory_order_relaxed);
}
// Whether it was the last one. Nobody can add a reference to an object of which this is the only
// one.
inline bool drop_reference(std::atomic<std::uint32_t>& refs) {
  if (refs.load(std::memory_order_acquire) != 1)
    return refs.fetch_sub(1, std::memory_order_acq_rel) == 1;
  refs.store(0, std::memory_order_relaxed);
  return true;
}

inline void first_reference(std::uint32_t& refs) { ++refs; }
inline void add_reference(std::uint32_t& refs) { ++refs; }
inline bool drop_reference(std::uint32_t& refs) { return --refs == 0; }
}  // namespace detail

template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  explicit Ref(T* p) : p_(p) {
    if (p) detail::first_reference(p->refs);
  }
  Ref(const Ref& o) : p_(o.p_) { retain(); }
  Ref(Ref&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  Ref& operator=(Ref o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~Ref() { release(); }
  void reset() {
    release();
    p_ = nullptr;
  }
  T* get() const { return p_; }
  T* operator->() const { return p_; }
  T& operator*() const { return *p_; }
  explicit operator bool() const { return p_ != nullptr; }
  bool operator==(const Ref& o) const { return p_ == o.p_; }
  bool operator!=(const Ref& o) const { return p_ != o.p_; }

 private:
  void retain() {
    if (p_) detail::add_reference(p_->refs);
  }
  void release() {
    if (p_ && detail::drop_reference(p_->refs)) T::destroy(p_);
  }
  T* p_ = nullptr;
};

}  // namespace plait
