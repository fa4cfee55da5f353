// Memory of one type's objects, kept for the next ones. The caller guards it.
#pragma once
#include <new>
#include <utility>

namespace plait {

template <class T>
class FreeList {
 public:
  template <class... Args>
  T* make(Args&&... args) {
    if (!first_) [[unlikely]]
      refill();
    T* memory = first_;
    first_ = next(memory);
    try {
      // T() would first fill the memory with zeros.
      if constexpr (sizeof...(Args) == 0)
        return ::new (memory) T;
      else
        return ::new (memory) T(std::forward<Args>(args)...);
    } catch (...) {
      keep(memory);
      throw;
    }
  }
  void destroy(T* t) {
    t->~T();
    keep(t);
  }

 private:
  // What is free holds the link to the next one.
  static T*& next(T* memory) { return *reinterpret_cast<T**>(memory); }
  void keep(T* memory) {
    next(memory) = first_;
    first_ = memory;
  }
  void refill() {
    constexpr int kSlab = 64;
    auto* slab = static_cast<T*>(::operator new(sizeof(T) * kSlab));
    for (int i = 0; i < kSlab; ++i) keep(slab + i);
  }
  T* first_ = nullptr;
};

}  // namespace plait
