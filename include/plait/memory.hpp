// Memory of the application: taken over, lent with an owner, computed into, and NumPy's files.
#pragma once
#include "plait/build.hpp"

namespace plait {

/// A 1-D array in the memory of a vector that is given up: no copy, and nobody else's.
template <class T, class A>
array<T> adopt(std::vector<T, A>&& v) {
  static_assert(!std::is_same_v<T, bool>, "plait: std::vector<bool> is packed; array<bool>(v)");
  const auto n = static_cast<std::int64_t>(v.size());
  auto* const owner = new std::vector<T, A>(std::move(v));
  return array<T>(
      detail::take_over(owner->data(), {&n, 1}, dtype_of_v<T>, [owner] { delete owner; }));
}
template <class T, class A>
array<T> adopt(const std::vector<T, A>&) = delete;  // std::move(v), or array<T>(v), which copies

/// adapt() for memory with an owner: `deleter(data)` is called once, from any thread, when the last
/// array over it is gone. Writes reach the memory as adapt() says.
template <class T, class D, std::enable_if_t<std::is_invocable_v<D&, T*>, int> = 0>
array<std::remove_const_t<T>> adapt(T* data, const extents& shape, D deleter) {
  using E = std::remove_const_t<T>;
  return array<E>(detail::borrow(const_cast<E*>(data), detail::span_of(shape), {nullptr, 0},
                                 dtype_of_v<E>, !std::is_const_v<T>,
                                 [data, deleter]() mutable { deleter(data); }));
}

/// target[...] = value, now: where `target` is (a view of) adapted memory, the loop that computes
/// the value stores there. ShapeError.
template <class T, class B>
void assign(array<T>& target, B&& value) {
  target.assign(value);
  if constexpr (detail::is_array_type<B>::value) std::forward<B>(value).handle();  // goes now
  target.eval();
}
template <class T, class B>
void assign(array_view<T>&& target, B&& value) {
  assign(static_cast<array<T>&>(target), std::forward<B>(value));
}

/// NumPy's .npy files (numpy.load). What is read is in the memory order of the file and converts to
/// T where every value is kept; else DTypeError. Without T, load_npy(path) is an any_array of the
/// file's dtype. Error for a file that cannot be opened, ValueError for one that is damaged.
template <class T = void>
array<T> load_npy(const std::string& path) {
  if constexpr (std::is_void_v<T>) {
    return any_array(detail::load_npy(path, nullptr));
  } else {
    const dtype wanted = dtype_of_v<T>;
    return array<T>(detail::load_npy(path, &wanted));
  }
}
/// The same of a dtype. The format has no names for the dtypes of ml_dtypes: those are read when
/// they are asked for.
inline any_array load_npy(const std::string& path, dtype t) {
  return any_array(detail::load_npy(path, &t));
}
/// Writes an array as a .npy file (numpy.save). Error for a file that cannot be written.
template <class T>
void dump_npy(const std::string& path, const array<T>& a) {
  detail::dump_npy(path, a.handle());
}

namespace detail {
PLAIT_API Handle load_csv(const std::string& path, dtype t, char delimiter, std::int64_t skip);
PLAIT_API void dump_csv(const std::string& path, const Handle& a, char delimiter);
}  // namespace detail
/// Rows of real numbers, one a line, of two dimensions; `skip` lines in front of them are left out
/// (numpy.loadtxt). ValueError for what is no number, or a row of another length.
template <class T>
array<T> load_csv(const std::string& path, char delimiter = ',', std::int64_t skip = 0) {
  return array<T>(detail::load_csv(path, dtype_of_v<T>, delimiter, skip));
}
/// Writes rows of numbers so that they are read as they were; of one dimension, one a line
/// (numpy.savetxt).
template <class T>
void dump_csv(const std::string& path, const array<T>& a, char delimiter = ',') {
  detail::dump_csv(path, a.handle(), delimiter);
}

}  // namespace plait
