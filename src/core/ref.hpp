// Intrusive reference counting: one word, no control block.
#pragma once
#include <atomic>
#include <cstdint>
#include <utility>

namespace plait {

// T derives from RefCounted and has a static void destroy(T*), called when the last reference goes.
struct RefCounted {
  std::atomic<std::uint32_t> refs{0};
};

template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  explicit Ref(T* p) : p_(p) {
    if (!p) return;
    // A fresh object is its maker's alone, so its first reference needs no atomic addition.
    if (p->refs.load(std::memory_order_relaxed) == 0)
      p->refs.store(1, std::memory_order_relaxed);
    else
      retain();
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
    if (p_) p_->refs.fetch_add(1, std::memory_order_relaxed);
  }
  void release() {
    if (!p_) return;
    // Nobody can add a reference to an object of which this is the only one.
    if (p_->refs.load(std::memory_order_acquire) == 1) {
      p_->refs.store(0, std::memory_order_relaxed);
      T::destroy(p_);
    } else if (p_->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      T::destroy(p_);
    }
  }
  T* p_ = nullptr;
};

}  // namespace plait
