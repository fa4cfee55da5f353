// NumPy's .npz files: arrays by name.
#pragma once
#include "plait/any_array.hpp"

namespace plait {

/// Arrays by name, in the order of the file.
class named_arrays : public std::vector<std::pair<std::string, any_array>> {
 public:
  using vector::vector;
  /// The array of a name. ValueError when there is none.
  PLAIT_API const any_array& at(const std::string& name) const;
  const any_array& operator[](const std::string& name) const { return at(name); }
};

namespace detail {
PLAIT_API void savez(const std::string& path, const named_arrays& arrays);
PLAIT_API named_arrays load_npz(const std::string& path, const std::string* name,
                                const dtype* wanted);
}  // namespace detail

/// Writes a .npz file (numpy.savez): savez("a.npz", {{"x", x}, {"y", y}}).
inline void savez(const std::string& path, const named_arrays& arrays) {
  detail::savez(path, arrays);
}
/// The same without names: arrays are arr_0, arr_1 ...
template <class... A, class = std::enable_if_t<(detail::is_array_type<A>::value && ...)>>
void savez(const std::string& path, const A&... arrays) {
  named_arrays all;
  (all.emplace_back("arr_" + std::to_string(all.size()), arrays), ...);
  detail::savez(path, all);
}
/// All arrays of a .npz file by name (numpy.load). Error for a file of savez_compressed(),
/// ValueError for one that is damaged.
inline named_arrays load_npz(const std::string& path) {
  return detail::load_npz(path, nullptr, nullptr);
}
/// One array of a file, as `load_npy<T>()` reads it.
template <class T = void>
array<T> load_npz(const std::string& path, const std::string& name) {
  if constexpr (std::is_void_v<T>) {
    return detail::load_npz(path, &name, nullptr).at(name);
  } else {
    const dtype wanted = dtype_of_v<T>;
    return detail::load_npz(path, &name, &wanted).at(name).template as<T>();
  }
}

}  // namespace plait
