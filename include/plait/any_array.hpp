// plait::any_array: an array whose element type is known at run time only, as files, databases and
// Python give them. It is array<void>, so that what takes an array<T> takes it: operators,
// functions and reductions give an any_array again, of the dtype that NumPy's promotion (NEP 50)
// finds when they are called. What the compiler refuses of an array<T> is a DTypeError here.
#pragma once
#include "plait/array.hpp"

namespace plait {

namespace detail {
[[noreturn]] PLAIT_API void throw_other_dtype(const char* function, dtype there);
inline Handle zeros(Span shape, dtype t) {
  Value zero;
  zero.type = t;
  return full(shape, zero);
}
}  // namespace detail

/// any_array: an array whose element type is known at run time only. What takes an `array<T>` takes
/// it, and gives an any_array again, of the dtype that NumPy's promotion (NEP 50) finds.
template <>
class array<void> {
 public:
  using value_type = void;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;

  array() : array(array<double>()) {}
  explicit array(detail::Handle h) : handle_(std::move(h)) {}
  array(const array&) = default;
  array(array&&) noexcept = default;
  array& operator=(const array&) & = default;
  array& operator=(array&&) & noexcept = default;
  // Another name of an array, or of the value of an expression.
  template <class T>
  array(const array<T>& a) : handle_(a.handle()) {}
  template <class T>
  array(array<T>&& a) : handle_(std::move(a).handle()) {}
  // A copy of what is selected.
  template <class T>
  array(const selection<T>& s) : handle_(detail::selected(s.handle())) {}
  /// Borrows memory as plait::adapt() does: in C order, or with byte strides. A pointer to const
  /// gives a read-only array.
  static array adapt(void* data, plait::dtype t, const extents& shape) {
    return array(detail::borrow(data, detail::span_of(shape), {nullptr, 0}, t, true));
  }
  static array adapt(void* data, plait::dtype t, const extents& shape, const extents& strides) {
    return array(detail::borrow(data, detail::span_of(shape), detail::span_of(strides), t, true));
  }
  static array adapt(const void* data, plait::dtype t, const extents& shape) {
    return array(
        detail::borrow(const_cast<void*>(data), detail::span_of(shape), {nullptr, 0}, t, false));
  }
  static array adapt(const void* data, plait::dtype t, const extents& shape,
                     const extents& strides) {
    return array(detail::borrow(const_cast<void*>(data), detail::span_of(shape),
                                detail::span_of(strides), t, false));
  }

  // --- inspection: none of these evaluates
  /// The dtype of the elements. Nothing up to handle() evaluates.
  plait::dtype dtype() const { return detail::dtype_of(handle_); }
  /// The extents.
  shape_type shape() const { return list(detail::shape_of(handle_)); }
  /// One extent; negative axes count from the end. AxisError.
  std::int64_t shape(int axis) const { return detail::extent(handle_, axis); }
  /// The distances of neighbours along each axis, in bytes.
  shape_type strides() const { return list(detail::strides_of(handle_)); }  // in bytes
  /// How many elements there are.
  size_type size() const { return static_cast<size_type>(detail::size_of(handle_)); }
  /// How many axes there are: ndim() under xtensor's name.
  size_type dimension() const { return static_cast<size_type>(ndim()); }
  /// How many axes there are.
  int ndim() const { return detail::shape_of(handle_).size; }
  /// Whether the elements lie in C order without gaps.
  bool is_contiguous() const { return detail::is_contiguous(handle_); }
  /// For the library's own functions.
  const detail::Handle& handle() const& { return handle_; }
  detail::Handle handle() && { return std::move(handle_); }

  // --- the typed array
  /// The typed array, which shares the elements. DTypeError when they are not of type T.
  template <class T>
  array<T> as() const {
    if (dtype() != dtype_of_v<T>) detail::throw_other_dtype("as", dtype());
    return array<T>(handle_);
  }
  /// The elements converted to T (numpy.ndarray.astype). DTypeError from complex to real.
  template <class T>
  array<T> astype() const {
    return array<T>(detail::astype(handle_, dtype_of_v<T>));
  }
  /// The elements converted to a dtype. DTypeError from complex to real.
  array astype(plait::dtype t) const { return array(detail::astype(handle_, t)); }

  // --- values: these evaluate
  /// Evaluates: runs what is recorded.
  const array& eval() const& {
    detail::evaluate(&handle_, 1);
    return *this;
  }
  array eval() && {
    detail::evaluate(&handle_, 1);
    return std::move(*this);
  }
  /// The memory: element (0, 0, ...) is first, strides() apart. Evaluates.
  const void* data() const& { return detail::data(handle_); }
  void* data() & { return detail::mutable_data(handle_); }
  const void* data() const&& = delete;  // the memory may go with the temporary: name the array
  /// The value of an array of one element, converted; ValueError for any other size.
  template <class T>
  T item() const {
    return astype<T>().item();
  }

  // --- writing: views of this array see it
  /// Writes a value or an array, which broadcasts, to the elements; views of this array see it.
  template <class B>
  void assign(const B& value) {
    detail::assign(handle_, detail::operand_traits<B>::operand(value), nullptr);
  }
  /// The same where `mask` (bool, broadcastable) is true (numpy.copyto).
  template <class B>
  void assign(const B& value, const array<bool>& mask) {
    detail::assign(handle_, detail::operand_traits<B>::operand(value), &mask.handle());
  }
  /// Writes one value to all elements (numpy.ndarray.fill).
  template <class V>
  void fill(const V& value) {
    static_assert(!detail::is_array_type<V>::value, "plait: fill() takes one value");
    assign(value);
  }
#define PLAIT_IN_PLACE(op, id)                                                    \
  template <class B, detail::if_updates<detail::fn::id, void, B> = 0>             \
  array& operator op(const B & b) {                                               \
    this->template update<detail::fn::id>(b);                                     \
    return *this;                                                                 \
  }                                                                               \
  template <class B, class Why = detail::if_not_updated<detail::fn::id, void, B>> \
  void operator op(const B& b) = delete;
  PLAIT_IN_PLACE_OPERATORS(PLAIT_IN_PLACE)
#undef PLAIT_IN_PLACE

  // x[mask], x[indices]: the elements that an array names (indexing.hpp).
  template <class A, detail::if_array<A> = 0>
  array operator[](const A& index) const&;
  template <class A, detail::if_array<A> = 0>
  selection<void> operator[](const A& index) &;

  // --- derived arrays
  /// A copy of the elements, in C order.
  array copy() const { return array(detail::copy(handle_)); }  // in C order
  /// The elements in another shape, in which one extent may be -1 (numpy.reshape); a view where
  /// strides can say it.
  array reshape(const extents& shape) const {
    return array(detail::reshape(handle_, detail::span_of(shape)));
  }
  /// A view with the axes in another order, reversed by default (numpy.transpose).
  array transpose(const extents& axes = {}) const {
    return array(detail::transpose(handle_, detail::span_of(axes)));
  }

 protected:
  detail::Handle handle_;

 private:
  template <detail::fn F, class B>
  void update(const B& b) {
    const detail::Operand operands[] = {{&handle_, {}, nullptr},
                                        detail::operand_traits<B>::operand(b)};
    detail::elementwise_into(F, operands, 2, handle_);
  }
  static shape_type list(detail::Span s) { return shape_type(s.data, s.data + s.size); }
};
/// An array whose element type is known at run time only.
using any_array = array<void>;

/// What view() of an any_array gives: its assignment writes elements.
template <>
class array_view<void> : public any_array {
 public:
  explicit array_view(detail::Handle h) : any_array(std::move(h)) {}
  array_view(const array_view&) = default;
  array_view& operator=(const array_view& o) {
    assign(o);
    return *this;
  }
  template <class B, class = std::enable_if_t<detail::operand_traits<B>::valid>>
  array_view& operator=(const B& value) {
    assign(value);
    return *this;
  }
};
namespace detail {
template <>
class read_only<void> : public any_array {
 public:
  using any_array::any_array;
  template <class... A>
  void assign(const A&...) = delete;
  template <class... A>
  void fill(const A&...) = delete;
};
}  // namespace detail
/// What view() of a const any_array gives: in-place operations are a ValueError.
template <>
class array_view<const void> : public detail::read_only<void> {
 public:
  explicit array_view(detail::Handle h) : detail::read_only<void>(std::move(h)) {}
  array_view(const array_view&) = default;
  template <class B>
  array_view& operator=(const B&) = delete;
  array_view& operator=(const array_view&) = delete;
};

/// An array of such a dtype and shape with whatever is in memory (numpy.empty).
inline any_array empty(dtype t, const extents& shape) {
  return any_array(detail::empty(detail::span_of(shape), t));
}
/// An array of zeros (numpy.zeros).
inline any_array zeros(dtype t, const extents& shape) {
  return any_array(detail::zeros(detail::span_of(shape), t));
}
/// An array of one value (numpy.full). OverflowError for an integer that the dtype cannot hold.
template <class V>
any_array full(dtype t, const extents& shape, const V& value) {
  any_array a = empty(t, shape);
  a.fill(value);
  return a;
}
/// An array of ones (numpy.ones).
inline any_array ones(dtype t, const extents& shape) { return full(t, shape, 1); }
/// empty() of the dtype and shape of `a` (numpy.empty_like).
inline any_array empty_like(const any_array& a) { return empty(a.dtype(), a.shape()); }
/// zeros() of the dtype and shape of `a` (numpy.zeros_like).
inline any_array zeros_like(const any_array& a) { return zeros(a.dtype(), a.shape()); }
/// ones() of the dtype and shape of `a` (numpy.ones_like).
inline any_array ones_like(const any_array& a) { return ones(a.dtype(), a.shape()); }
/// full() of the dtype and shape of `a` (numpy.full_like).
template <class V>
any_array full_like(const any_array& a, const V& value) {
  return full(a.dtype(), a.shape(), value);
}

namespace detail {

template <class R>
struct visited {
  using type = R;
};
template <class T>
struct visited<array<T>> {
  using type = any_array;
};
template <class F, class T>
using visited_t = typename visited<std::decay_t<std::invoke_result_t<F&, array<T>>>>::type;

template <class F, class First, class... T>
auto visit_as(const any_array& a, F& f) {
  using R = visited_t<F, First>;
  static_assert((std::is_same_v<R, visited_t<F, T>> && ...),
                "plait: a function that visit() takes returns one type, or arrays");
  using Call = R (*)(const any_array&, F&);
  Call call = nullptr;
  const auto offer = [&](dtype t, Call c) {
    if (a.dtype() == t) call = c;
  };
  offer(dtype_of_v<First>, [](const any_array& x, F& g) -> R { return g(x.template as<First>()); });
  (offer(dtype_of_v<T>, [](const any_array& x, F& g) -> R { return g(x.template as<T>()); }), ...);
  if (!call) throw_other_dtype("visit", a.dtype());
  return call(a, f);
}
template <class F, std::size_t... I>
auto visit_all(const any_array& a, F& f, std::index_sequence<I...>) {
  return visit_as<F, element_t<static_cast<dtype>(I)>...>(a, f);
}

}  // namespace detail

/// `f(a.as<T>())` for the T that a's elements are of. f is compiled for each element type, or for
/// those that are named: `visit<float, double>(a, f)` throws DTypeError for others. Arrays that f
/// returns become an any_array.
template <class... T, class F>
auto visit(const any_array& a, F&& f) {
  if constexpr (sizeof...(T) > 0)
    return detail::visit_as<std::remove_reference_t<F>, T...>(a, f);
  else
    return detail::visit_all(a, f, std::make_index_sequence<kDTypes>());
}

}  // namespace plait
