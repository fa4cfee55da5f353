// plait::array<T>: a handle to an array of the library, as a Python name is one to an ndarray.
// Copying an array copies the reference; .copy() copies the elements. Assigning to one makes it
// name another array; a view, which view() gives, is the one thing whose assignment writes
// elements. Operations are recorded and run when a value is needed: eval(), data(), element reads,
// iteration.
#pragma once
#include <initializer_list>

#include "plait/detail/element_reference.hpp"
#include "plait/detail/in_place.hpp"
#include "plait/detail/iterator.hpp"

namespace plait {

template <class T>
class array_view;
template <class T>
class traced;
template <class T>
class selection;
namespace detail {
template <class T>
class read_only;
}  // namespace detail

template <>
class array<void>;  // any_array

namespace detail {

PLAIT_API Handle elementwise(fn f, const Operand* operands, int n);  // of array<void> and others

template <class T>
struct is_array_type : std::false_type {};
template <class T>
struct is_array_type<array<T>> : std::true_type {};
template <class T>
struct is_array_type<array_view<T>> : std::true_type {};
template <class T>
struct is_array_type<selection<T>> : std::true_type {};

template <class A>
struct untyped<A, std::enable_if_t<is_array_type<A>::value>>
    : std::is_void<typename A::value_type> {};

template <class A>
struct operand_traits<A, std::enable_if_t<is_array_type<A>::value>> {
  static constexpr bool valid = true;
  static constexpr bool is_array = true;
  static constexpr operand_type type = {dtype_of_v<typename A::value_type>, weak::none};
  static Operand operand(const A& a) { return {&a.handle(), {}, nullptr}; }
};

// Of functions that take arrays, named or given away: the element type of their argument.
template <class A>
using element_of = typename std::decay_t<A>::value_type;
template <class A>
using if_array = std::enable_if_t<is_array_type<std::decay_t<A>>::value, int>;

template <class A>
using like = array<element_of<A>>;

// Whether a value of A may be stored in an array of T: everything but complex into real.
// Where a type is known at run time only, the call checks it.
template <class A, class T>
constexpr bool can_store() {
  if constexpr (is_untyped<A> || std::is_void_v<T>)
    return true;
  else
    return !(kind_of(operand_traits<A>::type.type) == kind::complex &&
             kind_of(dtype_of_v<T>) != kind::complex);
}
template <class A, class T>
inline constexpr bool storable = can_store<A, T>();
// Whether an in-place operation may write its result into T (NumPy's same_kind rule).
template <fn F, class T, class B>
constexpr bool updatable() {
  if constexpr (is_untyped<B> || std::is_void_v<T>) {
    return true;
  } else {
    constexpr operand_type types[] = {{dtype_of_v<T>, weak::none}, operand_traits<B>::type};
    constexpr resolution r = resolve(F, types, 2);
    return r.found() && can_cast_same_kind(r.result, dtype_of_v<T>);
  }
}
// Whether array<U> becomes array<T> by itself, and whether at all.
template <class U, class T>
constexpr bool is_implicit() {
  if constexpr (std::is_void_v<U>)
    return false;
  else
    return can_cast_safely(dtype_of_v<U>, dtype_of_v<T>);
}
template <class U, class T>
inline constexpr bool is_explicit = !std::is_void_v<U> && !is_implicit<U, T>();

// Operands that are given away, as the temporaries of an expression are, go when the operation is
// recorded: nobody asks for their values, so that no evaluation stores them.
template <class A>
Operand operand_of(A&& a) {
  Operand o = operand_traits<std::decay_t<A>>::operand(a);
  if constexpr (is_array_type<A>::value) o.given = const_cast<Handle*>(o.array);
  return o;
}
// What an elementwise function gives: of elements, which vectorize() has functions work on,
// another.
template <class A>
inline constexpr bool is_traced = false;
template <class T>
inline constexpr bool is_traced<traced<T>> = true;
template <class R, class... A>
using applied = std::conditional_t<(is_traced<A> || ...), traced<R>, array<R>>;

template <fn F, class... A>
auto recorded(A&&... a) {
  using R = typename result<F, std::decay_t<A>...>::type;
  const Operand operands[] = {operand_of(std::forward<A>(a))...};
  if constexpr (std::is_void_v<R>)
    return array<void>(elementwise(F, operands, sizeof...(A)));
  else
    return applied<R, std::decay_t<A>...>(elementwise(F, operands, sizeof...(A), dtype_of_v<R>));
}
template <fn F, class... A>
auto apply(A&&... a) {
  static_assert(
      !(is_traced<std::decay_t<A>> || ...) || !(is_array_type<std::decay_t<A>>::value || ...),
      "plait: a function of elements takes arrays as arguments: vectorize(f, a, b)");
  static_assert(are_operands<std::decay_t<A>...>,
                "plait: operands are arrays and numbers, not text, pointers or std::vector: "
                "array<double>(v) makes an array of a vector");
  if constexpr (are_operands<std::decay_t<A>...>)
    return recorded<F>(std::forward<A>(a)...);
  else  // no second error of a result without a type
    return applied<double, std::decay_t<A>...>(Handle());
}

}  // namespace detail

template <class T>
class array {
  static_assert(
      is_element_v<T>,
      "plait: T must be bool, a fixed-width integer, float, double, std::complex of float "
      "or double, or a type of Plait's own: float16, bfloat16, int4 ...");

 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = element_reference<T>;
  using iterator = element_iterator<T>;
  using const_iterator = element_iterator<const T>;
  using reverse_iterator = std::reverse_iterator<iterator>;
  using const_reverse_iterator = std::reverse_iterator<const_iterator>;

  // An empty 1-D array.
  array() : array(std::initializer_list<T>{}) {}
  explicit array(detail::Handle h) : handle_(detail::of_dtype(std::move(h), dtype_of_v<T>)) {}
  array(const array&) = default;
  // What was moved from looks empty, and throws ValueError when it is used before it is assigned
  // to.
  array(array&&) noexcept = default;
  array& operator=(const array&) & = default;
  array& operator=(array&&) & noexcept = default;
  // A copy of what is selected.
  array(const selection<T>& s) : handle_(detail::selected(s.handle())) {}
  array& operator=(const selection<T>& s) & { return *this = array(s); }
  // One value, of no dimension. An array that is there is filled by view(a) = 0.
  template <class V, std::enable_if_t<std::is_arithmetic_v<V> &&
                                          !(std::is_same_v<T, bool> && !std::is_same_v<V, bool>),
                                      int> = 0>
  array(V value)
      : handle_(detail::full({nullptr, 0}, detail::Value::of(detail::element_value<T>(value)))) {}
  template <class V, std::enable_if_t<std::is_arithmetic_v<V>, int> = 0>
  array& operator=(V value) = delete;
  // Nested lists of elements, C order. Throws ValueError when rows differ in length.
  // (A template, so that {{1}, {2}} is a column without doubt.)
  template <int = 0>
  array(std::initializer_list<T> values) {
    const auto n = static_cast<std::int64_t>(values.size());
    handle_ = detail::from_values(values.begin(), {&n, 1}, dtype_of_v<T>);
  }
  array(std::initializer_list<std::initializer_list<T>> rows) { from_list<2>(rows); }
  array(std::initializer_list<std::initializer_list<std::initializer_list<T>>> planes) {
    from_list<3>(planes);
  }
  // Copies of what ranges of elements hold: std::vector, std::span, a pair of iterators ...; 1-D.
  template <
      class C,
      std::enable_if_t<!detail::is_array_type<C>::value && !std::is_same_v<C, extents>, int> = 0,
      class = std::enable_if_t<
          std::is_convertible_v<decltype(*std::begin(std::declval<const C&>())), T>>>
  explicit array(const C& range) : array(std::begin(range), std::end(range)) {}
  template <class I, class = typename std::iterator_traits<I>::iterator_category>
  array(I first, I last) {
    std::vector<cell> cells;
    for (; first != last; ++first) cells.push_back({static_cast<T>(*first)});
    const auto n = static_cast<std::int64_t>(cells.size());
    handle_ = detail::from_values(cells.data(), {&n, 1}, dtype_of_v<T>);
  }
  // From another element type: implicit where every value is kept (NumPy's safe cast).
  template <class U,
            std::enable_if_t<detail::is_implicit<U, T>() && !std::is_same_v<U, T>, int> = 0>
  array(const array<U>& a) : handle_(detail::astype(a.handle(), dtype_of_v<T>)) {}
  template <class U,
            std::enable_if_t<detail::is_implicit<U, T>() && !std::is_same_v<U, T>, int> = 0>
  array(array<U>&& a) : handle_(detail::astype(std::move(a).handle(), dtype_of_v<T>)) {}
  template <class U,
            std::enable_if_t<detail::is_explicit<U, T> && detail::storable<array<U>, T>, int> = 0>
  explicit array(const array<U>& a) : handle_(detail::astype(a.handle(), dtype_of_v<T>)) {}

  // --- inspection: none of these evaluates
  shape_type shape() const { return list(detail::shape_of(handle_)); }
  // One extent; negative axes count from the end. Throws AxisError.
  std::int64_t shape(int axis) const { return detail::extent(handle_, axis); }
  shape_type strides() const { return list(detail::strides_of(handle_)); }  // in bytes, as NumPy's
  size_type size() const { return static_cast<size_type>(detail::size_of(handle_)); }
  size_type dimension() const { return static_cast<size_type>(detail::shape_of(handle_).size); }
  int ndim() const { return detail::shape_of(handle_).size; }
  static constexpr plait::dtype dtype() { return dtype_of_v<T>; }
  bool is_contiguous() const { return detail::is_contiguous(handle_); }
  const detail::Handle& handle() const& { return handle_; }
  detail::Handle handle() && { return std::move(handle_); }

  // --- values: these evaluate
  const array& eval() const& {
    detail::evaluate(&handle_, 1);
    return *this;
  }
  array eval() && {
    detail::evaluate(&handle_, 1);
    return std::move(*this);
  }
  // The values in C order into memory of the application, size() elements, or into an array or view
  // of one shape: by the loop that computes them, which stores them there alone where nothing else
  // names the value.
  void eval_into(T* out) const& { detail::compute_into(handle_, out); }
  void eval_into(T* out) && { detail::compute_into(std::move(handle_), out); }
  void eval_into(array& out) const& { out.eval_from(*this); }
  void eval_into(array&& out) const& { out.eval_from(*this); }
  void eval_into(array& out) && { out.eval_from(std::move(*this)); }
  void eval_into(array&& out) && { out.eval_from(std::move(*this)); }
  // The memory: element (0, 0, ...) is first, strides() apart. Good until the array is written to
  // or dies. Through the mutable pointer, write before the array is used in further operations.
  const T* data() const& { return static_cast<const T*>(detail::data(handle_)); }
  T* data() & { return static_cast<T*>(detail::mutable_data(handle_)); }
  const T* data() const&& = delete;  // the memory may go with the temporary: name the array
  // Elements in C order, whatever the strides. To write through an iterator is to write through
  // data(); ValueError from a mutable one of a read-only array.
  iterator begin() & { return iterator(handle_, 0); }
  iterator end() & { return iterator(handle_, count()); }
  const_iterator begin() const& { return cbegin(); }
  const_iterator end() const& { return cend(); }
  const_iterator cbegin() const& { return const_iterator(handle_, 0); }
  const_iterator cend() const& { return const_iterator(handle_, count()); }
  reverse_iterator rbegin() & { return reverse_iterator(end()); }
  reverse_iterator rend() & { return reverse_iterator(begin()); }
  const_reverse_iterator rbegin() const& { return crbegin(); }
  const_reverse_iterator rend() const& { return crend(); }
  const_reverse_iterator crbegin() const& { return const_reverse_iterator(cend()); }
  const_reverse_iterator crend() const& { return const_reverse_iterator(cbegin()); }
  // One element, negative indices from the end. In memory, the read takes a few nanoseconds and no
  // lock. Throws IndexError.
  template <class... I>
  T get(I... index) const {
    const std::int64_t i[] = {static_cast<std::int64_t>(index)..., 0};
    return detail::read_element<T>(handle_, i, sizeof...(I));
  }
  template <class V, class... I>
  void set(const V& value, I... index) {
    const std::int64_t i[] = {static_cast<std::int64_t>(index)..., 0};
    detail::write_element(handle_, i, sizeof...(I), detail::element_value<T>(value));
  }
  // x(i, j): the element; of a named mutable array a reference that can be assigned to.
  template <class... I>
  T operator()(I... index) const& {
    return get(index...);
  }
  template <class... I>
  T operator()(I... index) && {
    return std::as_const(*this)(index...);
  }
  template <class... I>
  element_reference<T> operator()(I... index) & {
    return element_reference<T>(handle_, index...);
  }
  // The same under the names of std and xtensor: x.at(i, j), x[{i, j}], and x[i] of a 1-D array.
  template <class... I>
  T at(I... index) const& {
    return get(index...);
  }
  template <class... I>
  element_reference<T> at(I... index) & {
    return element_reference<T>(handle_, index...);
  }
  T operator[](const extents& index) const& {
    return detail::read_element<T>(handle_, index.data(), index.size());
  }
  element_reference<T> operator[](const extents& index) & {
    return element_reference<T>(handle_, index);
  }
  // x[mask], x[indices]: the elements that an array names, to be read or written to (indexing.hpp).
  template <class A, std::enable_if_t<detail::is_array_type<A>::value, int> = 0>
  array operator[](const A& index) const& {
    return selection<T>::of(handle_, index);
  }
  template <class A, std::enable_if_t<detail::is_array_type<A>::value, int> = 0>
  selection<T> operator[](const A& index) & {
    return selection<T>::of(handle_, index);
  }
  // The value of an array of one element; ValueError for any other size.
  T item() const { return detail::only_item(handle_).template as<T>(); }
  explicit operator T() const { return item(); }

  // --- writing: views of this array see it
  template <class B>
  void assign(const B& value) {
    static_assert(detail::storable<B, T>,
                  "plait: complex values do not fit a real array; take real()");
    detail::assign(handle_, detail::operand_traits<B>::operand(value), nullptr);
  }
  // Where `mask` (bool, broadcastable) is true.
  template <class B>
  void assign(const B& value, const array<bool>& mask) {
    static_assert(detail::storable<B, T>,
                  "plait: complex values do not fit a real array; take real()");
    detail::assign(handle_, detail::operand_traits<B>::operand(value), &mask.handle());
  }
  template <class V>
  void fill(const V& value) {
    static_assert(!detail::is_array_type<V>::value, "plait: fill() takes one value");
    assign(value);
  }
#define PLAIT_IN_PLACE(op, id)                \
  template <class B>                          \
  array& operator op(const B & b) {           \
    this->template update<detail::fn::id>(b); \
    return *this;                             \
  }
  PLAIT_IN_PLACE_OPERATORS(PLAIT_IN_PLACE)
#undef PLAIT_IN_PLACE

  // --- derived arrays
  array copy() const { return array(detail::copy(handle_)); }  // in C order
  template <class U>
  array<U> astype() const& {
    return cast_to<U>(handle_);
  }
  template <class U>
  array<U> astype() && {
    return cast_to<U>(detail::Handle(std::move(handle_)));
  }
  // These share memory with this array where NumPy's do.
  array reshape(const extents& shape) const& {
    return array(detail::reshape(handle_, detail::span_of(shape)));
  }
  array reshape(const extents& shape) && {
    return array(detail::reshape(std::move(*this).handle(), detail::span_of(shape)));
  }
  array transpose(const extents& axes = {}) const& {
    return array(detail::transpose(handle_, detail::span_of(axes)));
  }
  array transpose(const extents& axes = {}) && {
    return array(detail::transpose(std::move(*this).handle(), detail::span_of(axes)));
  }

 protected:
  template <detail::fn F, class B>
  void update(const B& b) {
    static_assert(
        detail::updatable<F, T, B>(),
        "plait: the result does not fit this array's element type (NumPy's same_kind rule)");
    const detail::Operand operands[] = {{&handle_, {}, nullptr},
                                        detail::operand_traits<B>::operand(b)};
    detail::elementwise_into(F, operands, 2, handle_);
  }
  detail::Handle handle_;

 private:
  template <class U>
  static array<U> cast_to(const detail::Handle& h) {
    static_assert(detail::storable<array, U>,
                  "plait: complex values do not fit a real array; take real()");
    return array<U>(detail::astype(h, dtype_of_v<U>));
  }
  static shape_type list(detail::Span s) { return shape_type(s.data, s.data + s.size); }
  void eval_from(array value) {
    if (shape() != value.shape())
      detail::throw_shapes("eval_into", detail::shape_of(value.handle_), detail::shape_of(handle_));
    assign(value);
    value.handle_ = detail::Handle();
    eval();
  }
  std::int64_t count() const { return detail::size_of(handle_); }

  // std::vector<bool> is packed, arrays of bool are not.
  struct cell {
    T value;
  };
  template <int N, class L>
  void from_list(const L& nested) {
    std::int64_t shape[N] = {};
    std::vector<cell> cells;
    measure(nested, shape);
    std::size_t n = 1;
    for (const std::int64_t extent : shape) n *= static_cast<std::size_t>(extent);
    cells.reserve(n);
    flatten(nested, shape, cells);
    handle_ = detail::from_values(cells.data(), {shape, N}, dtype_of_v<T>);
  }
  static void measure(const T&, std::int64_t*) {}
  template <class L>
  static void measure(const std::initializer_list<L>& l, std::int64_t* shape) {
    *shape = static_cast<std::int64_t>(l.size());
    if (l.size()) measure(*l.begin(), shape + 1);
  }
  static void flatten(const T& v, const std::int64_t*, std::vector<cell>& out) {
    out.push_back({v});
  }
  template <class L>
  static void flatten(const std::initializer_list<L>& l, const std::int64_t* shape,
                      std::vector<cell>& out) {
    if (static_cast<std::int64_t>(l.size()) != *shape) detail::throw_ragged();
    for (const L& e : l) flatten(e, shape + 1, out);
  }
};

}  // namespace plait

#include "plait/any_array.hpp"          // IWYU pragma: export
#include "plait/detail/array_view.hpp"  // IWYU pragma: export
