// Functions of single elements, applied to arrays: numpy.vectorize and fromfunction.
#pragma once
#include "plait/build.hpp"
#include "plait/view.hpp"

namespace plait {

namespace detail {
struct NumberWanted {};
}  // namespace detail

/// Stands for one element of an array while a function is recorded: operators and elementwise
/// functions take it. It is no number: branches are spelled where(x > 0, x, -x). A function that
/// asks for the number, `if (x > 0)` or double(x), is called again for each element.
template <class T>
class traced {
 public:
  using value_type = T;
  explicit traced(detail::Handle h) : elements_(std::move(h)) {}
  /// Converted to U.
  template <class U>
  traced<U> astype() const {
    return traced<U>(elements_.template astype<U>().handle());
  }
  explicit operator T() const {
    if (elements_.ndim() != 0) throw detail::NumberWanted();
    return elements_.item();
  }
  /// Of every element: what the function that was recorded gives.
  const array<T>& elements() const { return elements_; }

 private:
  array<T> elements_;
};

namespace detail {

template <class T>
struct operand_traits<traced<T>> {
  static constexpr bool valid = true;
  static constexpr bool is_array = true;
  static constexpr operand_type type = {dtype_of_v<T>, weak::none};
  static Operand operand(const traced<T>& e) { return {&e.elements().handle(), {}, nullptr}; }
};

// An argument of vectorize(): arrays stand for their elements, numbers for themselves.
template <class A, bool Array = is_array_type<A>::value>
struct argument {
  using recorded = A;
  using one = A;
  static const A& record(const A& v) { return v; }
  static const A& record_one(const A& v) { return v; }
  struct values {
    values(const A& v, Span) : value(v) {}
    const A& operator[](std::int64_t) const { return value; }
    A value;
  };
};
template <class A>
struct argument<A, true> {
  using one = typename A::value_type;
  using recorded = traced<one>;
  static recorded record(const A& a) { return recorded(a.handle()); }
  static recorded record_one(const one& v) { return recorded(full({nullptr, 0}, Value::of(v))); }
  struct values {
    values(const A& a, Span shape)
        : elements(detail::broadcast_to(a.handle(), shape)),
          begin(static_cast<const array<one>&>(elements).begin()) {}
    const one& operator[](std::int64_t i) const { return begin[i]; }
    array<one> elements;
    typename array<one>::const_iterator begin;
  };
};

template <class A>
void add_handle(std::vector<Handle>& out, const A& a) {
  if constexpr (is_array_type<A>::value) out.push_back(a.handle());
}
template <class R>
Handle spread(const traced<R>& r, Span shape) {
  return broadcast_to(r.elements().handle(), shape);
}
template <class R>
Handle spread(const R& number, Span shape) {
  return full(shape, Value::of(number));
}
template <class R>
struct traced_or_number {
  using type = R;
};
template <class R>
struct traced_or_number<traced<R>> {
  using type = R;
};

template <class R>
const R& number(const R& r) {
  return r;
}
template <class R>
R number(const traced<R>& r) {
  return R(r);
}
// f(values[i] ...) for each element of an array of that shape.
template <class R, class F, class... V>
array<R> called_for_each(F&& f, Span shape, const V&... values) {
  note_called_for_each("vectorize");
  array<R> out(empty(shape, dtype_of_v<R>));
  std::int64_t i = 0;
  for (R& o : out) o = number(f(values[i]...)), ++i;
  return out;
}

}  // namespace detail

/// f(a[i], b[i], ...) of operands that broadcast; numbers count for every element
/// (numpy.vectorize). A generic f is called once, with a `traced` for each array, and what it does
/// is recorded: it fuses with what stands around it, and runs on every device. One that takes
/// numbers, [](double x) ..., or has an `if` is called for each element, in this thread, which the
/// log's topic "fallback" shows.
template <class F, class... A, class = std::enable_if_t<(detail::is_array_type<A>::value || ...)>>
auto vectorize(F&& f, const A&... operands) {
  std::vector<detail::Handle> handles;
  (detail::add_handle(handles, operands), ...);
  const shape_type common = detail::common_shape(handles.data(), static_cast<int>(handles.size()));
  const detail::Span shape = {common.data(), static_cast<int>(common.size())};
  if constexpr (std::is_invocable_v<F&, typename detail::argument<A>::recorded...>) {
    using R = typename detail::traced_or_number<
        std::decay_t<std::invoke_result_t<F&, typename detail::argument<A>::recorded...>>>::type;
    static_assert(is_element_v<R>, "plait: vectorize() takes functions that return one element");
    try {
      return array<R>(detail::spread(f(detail::argument<A>::record(operands)...), shape));
    } catch (const detail::NumberWanted&) {
      return detail::called_for_each<R>(
          [&](const auto&... v) { return f(detail::argument<A>::record_one(v)...); }, shape,
          typename detail::argument<A>::values(operands, shape)...);
    }
  } else {
    static_assert(std::is_invocable_v<F&, typename detail::argument<A>::one...>,
                  "plait: the function does not take as many arguments, or other ones");
    using R = std::decay_t<std::invoke_result_t<F&, typename detail::argument<A>::one...>>;
    static_assert(is_element_v<R>, "plait: vectorize() takes functions that return one element");
    return detail::called_for_each<R>(f, shape,
                                      typename detail::argument<A>::values(operands, shape)...);
  }
}
/// vectorize(f)(a, b), as NumPy and xtensor spell it.
template <class F>
auto vectorize(F f) {
  return [f](const auto&... operands) { return vectorize(f, operands...); };
}

namespace detail {
template <class F, class T, std::size_t... I>
auto vectorize_list(F& f, const array<T>* operands, std::index_sequence<I...>) {
  return plait::vectorize(f, operands[I]...);
}
}  // namespace detail
/// f(i, j, ...) of the indices of each element of an array of the given extents, as vectorize()
/// calls it (numpy.fromfunction). T is the type of the indices: NumPy's default is double.
template <class T = double, class F, class... N>
auto fromfunction(F&& f, N... extent) {
  int axis = 0;
  const auto index = [&axis](std::int64_t size) {
    shape_type along(sizeof...(N), 1);
    along[static_cast<std::size_t>(axis++)] = size;
    return arange<T>(static_cast<T>(size)).reshape(along);
  };
  const array<T> indices[] = {index(static_cast<std::int64_t>(extent))...};
  return detail::vectorize_list(f, indices, std::index_sequence_for<N...>());
}

}  // namespace plait
