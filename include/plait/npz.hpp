// NumPy's .npz files: arrays by name.
#pragma once
#include "plait/any_array.hpp"

namespace plait {

// Arrays by name, in the order of the file.
class named_arrays : public std::vector<std::pair<std::string, any_array>> {
 public:
  using vector::vector;
  // Throws ValueError when there is none of that name.
  PLAIT_API const any_array& at(const std::string& name) const;
  const any_array& operator[](const std::string& name) const { return at(name); }
};

namespace detail {
PLAIT_API void savez(const std::string& path, const named_arrays& arrays);
PLAIT_API named_arrays load_npz(const std::string& path, const std::string* name,
                                const dtype* wanted);
}  // namespace detail

// numpy.savez: savez("a.npz", {{"x", x}, {"y", y}}); without names they are arr_0, arr_1 ...
inline void savez(const std::string& path, const named_arrays& arrays) {
  detail::savez(path, arrays);
}
template <class... A, class = std::enable_if_t<(detail::is_array_type<A>::value && ...)>>
void savez(const std::string& path, const A&... arrays) {
  named_arrays all;
  (all.emplace_back("arr_" + std::to_string(all.size()), arrays), ...);
  detail::savez(path, all);
}
// All arrays of a file by name; or one, as load_npy<T>() reads it. Error for a file of
// savez_compressed(), ValueError for one that is damaged.
inline named_arrays load_npz(const std::string& path) {
  return detail::load_npz(path, nullptr, nullptr);
}
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
