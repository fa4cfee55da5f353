// plait::array<T>: a handle to an array of the library, as a Python name is one to an ndarray.
// Copying an array copies the reference; .copy() copies the elements. Assigning to one makes it
// name another array; a view, which view() gives, is the one thing whose assignment writes
// elements. Operations are recorded and run when a value is needed: eval(), data(), element reads,
// iteration.
#pragma once
#include "plait/detail/element_reference.hpp"
#include "plait/detail/in_place.hpp"
#include "plait/detail/iterator.hpp"
#include "plait/detail/nested.hpp"
#include "plait/detail/operands.hpp"

namespace plait {

/// An array of elements of type T, as numpy.ndarray: a reference, whose copies share the elements.
/// Operations are recorded and run when a value is needed: eval(), data(), reads of elements,
/// iteration.
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
  array() : handle_(detail::from_values(nullptr, detail::span_of(0), dtype_of_v<T>)) {}
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
  template <class V,
            class Why = detail::why::a_number_is_no_array__a_fill_x_writes_it_to_the_elements,
            std::enable_if_t<std::is_arithmetic_v<V>, int> = 0>
  array& operator=(V value) = delete;
  template <
      class U,
      class Why = detail::why::the_element_type_does_not_hold_every_value__convert_with_astype,
      std::enable_if_t<detail::is_explicit<U, T>, int> = 0>
  array& operator=(const array<U>& a) = delete;
  // Nested lists of elements of any depth, C order. Throws ValueError when rows differ in length.
  array(std::initializer_list<detail::nested<T>> entries) {
    const detail::nested<T> list(entries);
    std::int64_t shape[detail::kMostAxes];
    const int axes = list.measure(shape);
    std::size_t n = 1;
    for (int i = 0; i < axes; ++i) n *= static_cast<std::size_t>(shape[i]);
    cell few[16];  // of short lists, which would take memory for longer than anything else
    std::vector<cell> many(n > 16 ? n : 0);
    cell* const cells = n > 16 ? many.data() : few;
    list.flatten(shape, axes, cells);
    handle_ = detail::from_values(cells, {shape, axes}, dtype_of_v<T>);
  }
  // Copies of what ranges of elements hold: std::vector, std::span, a pair of iterators ...; 1-D.
  template <
      class C,
      std::enable_if_t<!detail::is_array_type<C>::value && !std::is_same_v<C, extents>, int> = 0,
      class = std::enable_if_t<
          std::is_convertible_v<decltype(*std::begin(std::declval<const C&>())), T>>>
  explicit array(const C& range) : array(std::begin(range), std::end(range)) {}
  // Of ranges in ranges, such as a std::vector of rows: of as many axes. Throws ValueError when
  // rows differ in length.
  template <class C, std::enable_if_t<detail::is_range_of_ranges<C, T>, int> = 0>
  explicit array(const C& rows) {
    std::vector<cell> cells;
    shape_type shape;
    gather(rows, 0, shape, cells);
    handle_ = detail::from_values(cells.data(), detail::span_of(shape), dtype_of_v<T>);
  }
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
  /// The extents. Nothing up to handle() evaluates.
  shape_type shape() const { return list(detail::shape_of(handle_)); }
  /// One extent; negative axes count from the end. AxisError.
  std::int64_t shape(int axis) const { return detail::extent(handle_, axis); }
  /// The distances of neighbours along each axis, in bytes, as NumPy's.
  shape_type strides() const { return list(detail::strides_of(handle_)); }  // in bytes, as NumPy's
  /// How many elements there are.
  size_type size() const { return static_cast<size_type>(detail::size_of(handle_)); }
  /// How many axes there are: ndim() under xtensor's name.
  size_type dimension() const { return static_cast<size_type>(detail::shape_of(handle_).size); }
  /// How many axes there are.
  int ndim() const { return detail::shape_of(handle_).size; }
  /// The dtype of the elements.
  static constexpr plait::dtype dtype() { return dtype_of_v<T>; }
  /// Whether the elements lie in C order without gaps.
  bool is_contiguous() const { return detail::is_contiguous(handle_); }
  /// For the library's own functions.
  const detail::Handle& handle() const& { return handle_; }
  detail::Handle handle() & { return handle_.alias(); }
  detail::Handle handle() && { return std::move(handle_); }

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
  /// The values in C order into memory of the application, size() elements, or into an array or
  /// view of one shape: by the loop that computes them, which stores them there alone where nothing
  /// else names the value. ShapeError.
  void eval_into(T* out) const& { detail::compute_into(handle_, out); }
  void eval_into(T* out) && { detail::compute_into(std::move(handle_), out); }
  void eval_into(array& out) const& { out.eval_from(*this); }
  void eval_into(array&& out) const& { out.eval_from(*this); }
  void eval_into(array& out) && { out.eval_from(std::move(*this)); }
  void eval_into(array&& out) && { out.eval_from(std::move(*this)); }
  /// The memory: element (0, 0, ...) is first, strides() apart. Good until the array is written to
  /// or dies. Through the mutable pointer, write before the array is used in further operations.
  /// Evaluates.
  const T* data() const& { return static_cast<const T*>(detail::data(handle_)); }
  T* data() & { return static_cast<T*>(detail::mutable_data(handle_)); }
  const T* data() const&& = delete;  // the memory may go with the temporary: name the array
  /// Elements in C order, whatever the strides. To write through an iterator is to write through
  /// data(); ValueError from a mutable one of a read-only array. Evaluates.
  iterator begin() & { return iterator(handle_, 0); }
  const_iterator begin() const& { return cbegin(); }
  /// Behind the last element.
  iterator end() & { return iterator(handle_, count()); }
  const_iterator end() const& { return cend(); }
  /// begin() of what is only read.
  const_iterator cbegin() const& { return const_iterator(handle_, 0); }
  /// end() of what is only read.
  const_iterator cend() const& { return const_iterator(handle_, count()); }
  /// The last element first.
  reverse_iterator rbegin() & { return reverse_iterator(end()); }
  const_reverse_iterator rbegin() const& { return crbegin(); }
  /// Behind the first element.
  reverse_iterator rend() & { return reverse_iterator(begin()); }
  const_reverse_iterator rend() const& { return crend(); }
  /// rbegin() of what is only read.
  const_reverse_iterator crbegin() const& { return const_reverse_iterator(cend()); }
  /// rend() of what is only read.
  const_reverse_iterator crend() const& { return const_reverse_iterator(cbegin()); }
  /// One element, negative indices from the end. In memory, the read takes a few nanoseconds and no
  /// lock. IndexError.
  template <class... I>
  T get(I... index) const {
    detail::check_indices<I...>();
    const std::int64_t i[] = {static_cast<std::int64_t>(index)..., 0};
    return detail::read_element<T>(handle_, i, sizeof...(I));
  }
  /// Writes one element. IndexError; OverflowError for an integer that T cannot hold.
  template <class V, class... I>
  void set(const V& value, I... index) {
    detail::check_indices<I...>();
    const std::int64_t i[] = {static_cast<std::int64_t>(index)..., 0};
    detail::write_element(handle_, i, sizeof...(I), detail::element_value<T>(value));
  }
  /// x(i, j): the element; of a named mutable array a reference that can be assigned to.
  /// IndexError.
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
  /// The same under the names of std and xtensor: x.at(i, j).
  template <class... I>
  T at(I... index) const& {
    return get(index...);
  }
  template <class... I>
  element_reference<T> at(I... index) & {
    return element_reference<T>(handle_, index...);
  }
  /// x[{i, j}], and x[i] of a 1-D array: the element, as x(i, j). IndexError.
  T operator[](const extents& index) const& {
    return detail::read_element<T>(handle_, index.data(), index.size());
  }
  element_reference<T> operator[](const extents& index) & {
    return element_reference<T>(handle_, index);
  }
  template <class I, std::enable_if_t<detail::is_extent<I>, int> = 0>
  T operator[](const I& index) const& {
    return get(index);
  }
  template <class I, std::enable_if_t<detail::is_extent<I>, int> = 0>
  element_reference<T> operator[](const I& index) & {
    return element_reference<T>(handle_, index);
  }
  /// x[mask], x[indices]: the elements that an array names, to be read or written to
  /// (indexing.hpp).
  template <class A, std::enable_if_t<detail::is_array_type<A>::value, int> = 0>
  array operator[](const A& index) const& {
    return selection<T>::of(handle_, index);
  }
  template <class A, std::enable_if_t<detail::is_array_type<A>::value, int> = 0>
  selection<T> operator[](const A& index) & {
    return selection<T>::of(handle_, index);
  }
  /// The value of an array of one element; ValueError for any other size.
  T item() const { return detail::only_item(handle_).template as<T>(); }
  explicit operator T() const { return item(); }

  // --- writing: views of this array see it
  /// Writes a value or an array, which broadcasts, to the elements; views of this array see it.
  /// ShapeError.
  template <class B>
  void assign(const B& value) {
    static_assert(detail::storable<B, T>,
                  "plait: complex values do not fit a real array; take real()");
    detail::assign(handle_, detail::operand_traits<B>::operand(value), nullptr);
  }
  /// The same where `mask` (bool, broadcastable) is true (numpy.copyto).
  template <class B>
  void assign(const B& value, const array<bool>& mask) {
    static_assert(detail::storable<B, T>,
                  "plait: complex values do not fit a real array; take real()");
    detail::assign(handle_, detail::operand_traits<B>::operand(value), &mask.handle());
  }
  /// Writes one value to all elements (numpy.ndarray.fill).
  template <class V>
  void fill(const V& value) {
    static_assert(!detail::is_array_type<V>::value, "plait: fill() takes one value");
    assign(value);
  }
#define PLAIT_IN_PLACE(op, id)                                                 \
  template <class B, detail::if_updates<detail::fn::id, T, B> = 0>             \
  array& operator op(const B & b) {                                            \
    this->template update<detail::fn::id>(b);                                  \
    return *this;                                                              \
  }                                                                            \
  template <class B, class Why = detail::if_not_updated<detail::fn::id, T, B>> \
  void operator op(const B& b) = delete;
  PLAIT_IN_PLACE_OPERATORS(PLAIT_IN_PLACE)
#undef PLAIT_IN_PLACE

  // --- derived arrays
  /// A copy of the elements, in C order.
  array copy() const { return array(detail::copy(handle_)); }  // in C order
  /// The elements converted to U (numpy.ndarray.astype); complex to real does not compile.
  template <class U>
  array<U> astype() const& {
    return cast_to<U>(handle_);
  }
  template <class U>
  array<U> astype() && {
    return cast_to<U>(detail::Handle(std::move(handle_)));
  }
  /// The elements in another shape, in which one extent may be -1 (numpy.reshape); a view where
  /// strides can say it.
  array reshape(const extents& shape) const& {
    return array(detail::reshape(handle_, detail::span_of(shape)));
  }
  array reshape(const extents& shape) & {
    return array(detail::reshape(handle(), detail::span_of(shape)));
  }
  array reshape(const extents& shape) && {
    return array(detail::reshape(std::move(*this).handle(), detail::span_of(shape)));
  }
  /// A view with the axes in another order, reversed by default (numpy.transpose).
  array transpose(const extents& axes = {}) const& {
    return array(detail::transpose(handle_, detail::span_of(axes)));
  }
  array transpose(const extents& axes = {}) & {
    return array(detail::transpose(handle(), detail::span_of(axes)));
  }
  array transpose(const extents& axes = {}) && {
    return array(detail::transpose(std::move(*this).handle(), detail::span_of(axes)));
  }

 protected:
  array(detail::as_value value, detail::Handle h) noexcept : handle_(value, std::move(h)) {}
  template <detail::fn F, class B>
  void update(const B& b) {
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
  template <class C>
  static void gather(const C& range, std::size_t axis, shape_type& shape,
                     std::vector<cell>& cells) {
    const auto n = static_cast<std::int64_t>(std::distance(std::begin(range), std::end(range)));
    if (axis == shape.size())
      shape.push_back(n);
    else if (shape[axis] != n)
      detail::throw_ragged();
    for (const auto& entry : range)
      if constexpr (detail::is_range_of<C, T>)
        cells.push_back({static_cast<T>(entry)});
      else
        gather(entry, axis + 1, shape, cells);
  }
};

}  // namespace plait

#include "plait/any_array.hpp"          // IWYU pragma: export
#include "plait/detail/array_view.hpp"  // IWYU pragma: export
