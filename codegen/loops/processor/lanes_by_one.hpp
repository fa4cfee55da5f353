// Of processors whose loads and stores have no masks.
#pragma once

namespace plait::loops::PLAIT_TIER {
namespace {

template <class T>
struct Lanes {
  using Vector = typename Register<T>::type;
  std::int64_t count;
  explicit Lanes(std::int64_t n) : count(n) {}
  Vector load(const T* p) const {
    Vector v{};
    for (std::int64_t i = 0; i < count; ++i) v[i] = p[i];
    return v;
  }
  Vector load_factors(const T* p) const {
    Vector v = splat(*p);
    for (std::int64_t i = 1; i < count; ++i) v[i] = p[i];
    return v;
  }
  void store(T* p, Vector v) const {
    for (std::int64_t i = 0; i < count; ++i) p[i] = v[i];
  }
  Vector multiply_add(Vector a, Vector b, Vector c) const { return fma(a, b, c); }
};

}  // namespace
}  // namespace plait::loops::PLAIT_TIER
