// Interoperation with xtensor, both ways without a copy.
#pragma once
#include <memory>
#include <xtensor/xadapt.hpp>
#include <xtensor/xarray.hpp>
#include <xtensor/xstrided_view.hpp>
#include <xtensor/xtensor.hpp>
#include <xtensor/xview.hpp>

#include "plait/build.hpp"

namespace plait {

namespace detail {

template <class E>
using xt_element = std::remove_pointer_t<decltype(std::declval<E&>().data())>;
template <class E>
using if_xt_memory = std::enable_if_t<xt::is_xexpression<std::decay_t<E>>::value &&
                                          is_element_v<std::remove_const_t<xt_element<E>>> &&
                                          (sizeof(std::declval<E&>().strides()) > 0 &&
                                           sizeof(std::declval<E&>().data_offset()) > 0),
                                      int>;

template <class E>
auto adapt_xt(E& e) {
  using T = xt_element<E>;
  shape_type shape(e.shape().begin(), e.shape().end()), strides;
  for (auto s : e.strides())
    strides.push_back(static_cast<std::int64_t>(s) * static_cast<std::int64_t>(sizeof(T)));
  return plait::adapt(e.data() + e.data_offset(), extents(shape), extents(strides));
}

}  // namespace detail

// Borrows the elements of an xt::xarray, xt::xtensor or adaptor, in any layout; a const container
// gives a read-only array. See adapt(pointer, shape) in build.hpp for when writes arrive.
template <class E, detail::if_xt_memory<E> = 0>
auto adapt(E& e) {
  return detail::adapt_xt(e);
}
// Views may be temporaries, as long as they refer to a container that lives on.
template <class C, class... S>
auto adapt(xt::xview<C, S...>&& v) {
  static_assert(std::is_lvalue_reference_v<C>,
                "plait: the view owns its container, which would die here");
  return detail::adapt_xt(v);
}
template <class C, class S, xt::layout_type L, class F>
auto adapt(xt::xstrided_view<C, S, L, F>&& v) {
  static_assert(std::is_lvalue_reference_v<C>,
                "plait: the view owns its container, which would die here");
  return detail::adapt_xt(v);
}

// A row-major xtensor adaptor that owns a reference to the array's memory: evaluates, and copies
// only an array that is not C-contiguous or is read-only. Without a copy the two sides see each
// other's writes.
template <class T>
auto as_xtensor(const array<T>& a) {
  const bool as_it_is = a.is_contiguous() && detail::is_writeable(a.handle());
  detail::Handle h = as_it_is ? a.handle() : detail::copy(a.handle());
  T* memory = static_cast<T*>(detail::export_memory(h));
  std::shared_ptr<void> owner(memory, [h](void*) { detail::unexport(h); });
  const shape_type s = a.shape();
  return xt::adapt_smart_ptr(std::move(memory), std::vector<std::size_t>(s.begin(), s.end()),
                             std::move(owner));
}

}  // namespace plait
