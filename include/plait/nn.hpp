// Conveniences for networks: attention, convolutions, pooling. Throws ValueError for shapes that do
// not meet.
#pragma once
#include "plait/array.hpp"

namespace plait::nn {

/// What attention() may be told.
struct attention_options {
  bool is_causal = false;  ///< query i counts keys 0 to i + keys - queries
  double scale = 0;        ///< 0: 1 / sqrt(d)
};
/// What conv() may be told: one number, or one for each axis of the window.
struct conv_options {
  extents stride = 1, padding = 0, dilation = 1;
  std::int64_t groups = 1;
};
/// What pool() makes of a window.
enum class pooling { max, mean };
/// What pool() may be told.
struct pool_options {
  extents stride = {};  ///< none: the size
  extents padding = 0;  ///< below every number, or zeros, which count in means
  pooling kind = pooling::max;
};

}  // namespace plait::nn

namespace plait::detail {
PLAIT_API Handle attention(const Handle& q, const Handle& k, const Handle& v, const Handle* mask,
                           const nn::attention_options& o);
PLAIT_API Handle conv(const Handle& x, const Handle& w, const Handle* bias,
                      const nn::conv_options& o);
PLAIT_API Handle pool(const Handle& x, Span size, const nn::pool_options& o);
}  // namespace plait::detail

namespace plait::nn {

/// softmax(q @ k.T * scale) @ v over the last two axes: q (..., queries, d), k (..., keys, d), v
/// (..., keys, e). ValueError for shapes that do not meet.
template <class T>
array<T> attention(const array<T>& q, const array<T>& k, const array<T>& v,
                   const attention_options& o = {}) {
  return array<T>(detail::attention(q.handle(), k.handle(), v.handle(), nullptr, o));
}
/// The same with a mask, broadcast to (..., queries, keys): bools, true where a key counts, or
/// floats that are added to the scores. A query that counts no key is NaN.
template <class T, class M>
array<T> attention(const array<T>& q, const array<T>& k, const array<T>& v, const array<M>& mask,
                   const attention_options& o = {}) {
  static_assert(std::is_same_v<M, bool> || std::is_same_v<M, T>,
                "plait: a mask is of bools, or of the scores' type");
  return array<T>(detail::attention(q.handle(), k.handle(), v.handle(), &mask.handle(), o));
}
/// x (N, C, extents...), w (O, C / groups, window...): (N, O, extents...). Filters are not turned.
/// ValueError for shapes that do not meet.
template <class T>
array<T> conv(const array<T>& x, const array<T>& w, const conv_options& o = {}) {
  return array<T>(detail::conv(x.handle(), w.handle(), nullptr, o));
}
/// The same with a bias (O), which is added.
template <class T>
array<T> conv(const array<T>& x, const array<T>& w, const array<T>& bias,
              const conv_options& o = {}) {
  return array<T>(detail::conv(x.handle(), w.handle(), &bias.handle(), o));
}
/// The maximum or the mean of windows of x (N, C, extents...). ValueError for windows that do not
/// fit.
template <class T>
array<T> pool(const array<T>& x, const extents& size, const pool_options& o = {}) {
  static_assert(std::is_floating_point_v<T> || std::is_same_v<T, float16>,
                "plait: pool takes floating-point numbers");
  return array<T>(detail::pool(x.handle(), detail::span_of(size), o));
}

}  // namespace plait::nn
