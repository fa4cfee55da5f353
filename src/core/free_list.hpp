// Memory of one type's objects, kept for the next ones. The caller guards it.
#pragma once
#include <algorithm>
#include <cstddef>
#include <functional>
#include <new>
#include <utility>
#include <vector>

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

  // Gives slabs back none of whose objects is in use; returns their bytes. Throws std::bad_alloc
  // with nothing changed.
  std::size_t trim() {
    std::vector<Slab*> slabs;
    for (Slab* s = slabs_; s; s = s->next) slabs.push_back(s);
    std::sort(slabs.begin(), slabs.end(), std::less<>());
    std::vector<int> unused(slabs.size());
    const auto slab_of = [&](T* memory) {
      const auto above = std::upper_bound(slabs.begin(), slabs.end(), memory, [](T* m, Slab* s) {
        return std::less<const void*>()(m, s);
      });
      return static_cast<std::size_t>(above - slabs.begin()) - 1;
    };
    for (T* f = first_; f; f = next(f)) ++unused[slab_of(f)];
    T** link = &first_;
    while (T* f = *link)
      if (unused[slab_of(f)] == kSlab)
        *link = next(f);
      else
        link = &next(f);
    std::size_t bytes = 0;
    slabs_ = nullptr;
    for (std::size_t i = 0; i < slabs.size(); ++i)
      if (unused[i] == kSlab) {
        ::operator delete(slabs[i]);
        bytes += kSlabBytes;
      } else {
        slabs[i]->next = slabs_;
        slabs_ = slabs[i];
      }
    return bytes;
  }

 private:
  static constexpr int kSlab = 64;
  // Stands before the objects of a slab.
  struct Slab {
    Slab* next;
  };
  static constexpr std::size_t kFirst = std::max(alignof(T), sizeof(Slab));
  static constexpr std::size_t kSlabBytes = kFirst + sizeof(T) * kSlab;
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

  // What is free holds the link to the next one.
  static T*& next(T* memory) { return *reinterpret_cast<T**>(memory); }
  void keep(T* memory) {
    next(memory) = first_;
    first_ = memory;
  }
  void refill() {
    auto* bytes = static_cast<std::byte*>(::operator new(kSlabBytes));
    slabs_ = ::new (bytes) Slab{slabs_};
    for (int i = 0; i < kSlab; ++i) keep(reinterpret_cast<T*>(bytes + kFirst) + i);
  }
  T* first_ = nullptr;
  Slab* slabs_ = nullptr;
};

}  // namespace plait
