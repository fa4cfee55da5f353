// The short ways to elements, asked before all others.
#pragma once
#include "ndarray.hpp"

namespace plait::py {

// read_element() of what is in memory: nothing is computed, no guarded() is needed. Null, without
// an error, where there is more to do.
PyObject* element_now(const tracer::Array& a, std::span<const std::int64_t> index) noexcept;
// Whether the key may be one that gather() knows: a list, a range or an array.
bool may_name_rows(PyObject* key);

}  // namespace plait::py
