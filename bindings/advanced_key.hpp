// Keys with arrays, for x[key] and the functions that take indices.
#pragma once
#include <vector>

#include "ndarray.hpp"
#include "numpy_compat/indexing.hpp"

namespace plait::py {

// An array of indices or a mask, or a list of them; an empty list is one of indices.
std::optional<tracer::Array> parse_indices(PyObject* o);

using AdvancedKey = std::vector<numpy::KeyEntry>;
// nullopt for entries that only NumPy reads.
std::optional<AdvancedKey> parse_advanced(PyObject* o);

// f(), letting other threads of Python's run where it may take long.
template <class F>
void without_gil_if_long(std::initializer_list<std::int64_t> sizes, F&& f) {
  constexpr std::int64_t kShort = 4096;
  if (std::max(sizes) > kShort)
    without_gil(f);
  else
    f();
}
inline std::int64_t longest(const AdvancedKey& key) {
  std::int64_t size = 0;
  for (const numpy::KeyEntry& e : key)
    if (const auto* array = std::get_if<tracer::Array>(&e)) size = std::max(size, array->size());
  return size;
}

}  // namespace plait::py
