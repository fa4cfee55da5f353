// What calls are answered from: the kept calls of a function, the plans of a graph's structure, the
// machine code of a loop. A call finds the variant that fits it. Bounded: the variant that was used
// longest ago goes. The caller guards the cache, but what a variant is asked may change the cache.
#pragma once
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace plait::engine {

// Variant: a handle, which can be null.
template <class Variant, std::size_t limit>
class CallCache {
 public:
  // The first variant that fits(variant): the next search begins with it. Null: there is none.
  template <class Fits>
  Variant find(Fits&& fits) {
    for (std::size_t i = 0; i < variants_.size(); ++i) {
      Variant v = variants_[i];  // the cache may drop it meanwhile
      if (!fits(v)) continue;
      const auto at = i < variants_.size() && variants_[i] == v ? variants_.begin() + offset(i)
                                                                : std::ranges::find(variants_, v);
      if (at != variants_.end()) std::rotate(variants_.begin(), at, at + 1);
      return v;
    }
    return {};
  }
  // The same, out of the cache: its user may have it alone. `fits` leaves the cache as it is.
  template <class Fits>
  Variant take(Fits&& fits) {
    const auto at = std::ranges::find_if(variants_, fits);
    if (at == variants_.end()) return {};
    Variant v = std::move(*at);
    variants_.erase(at);
    return v;
  }

  // The next search begins with v. Returns the variant that goes for it, or null.
  Variant add(Variant v) {
    Variant gone{};
    if (variants_.size() == limit) {
      gone = std::move(variants_.back());
      variants_.pop_back();
    }
    variants_.insert(variants_.begin(), std::move(v));
    return gone;
  }
  void erase(const Variant& v) {
    take([&](const Variant& other) { return other == v; });
  }
  // What the variants' ends call finds the cache empty.
  void clear() { std::vector<Variant>().swap(variants_); }

  // The one used last comes first.
  auto begin() const { return variants_.begin(); }
  auto end() const { return variants_.end(); }
  std::size_t size() const { return variants_.size(); }
  bool empty() const { return variants_.empty(); }

 private:
  static std::ptrdiff_t offset(std::size_t i) { return static_cast<std::ptrdiff_t>(i); }

  std::vector<Variant> variants_;
};

// Of one function's calls: more that differ are not worth the search.
inline constexpr std::size_t kKeptCalls = 32;

}  // namespace plait::engine
