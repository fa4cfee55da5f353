// x[indices] and x[mask] of few elements in memory, read and written: short loops. What is longer,
// keys of any other kind and every error are NumPy's.
#include <bit>
#include <cstring>
#include <mutex>
#include <vector>

#include "core/fixed_size.hpp"
#include "element_now.hpp"
#include "ndarray.hpp"
#include "tracer/context.hpp"
#include "tracer/device.hpp"

namespace plait::py {
namespace {

constexpr std::int64_t kFew = 4096;

// A 1-D run of int64 or bool.
struct Run {
  DType dtype;
  const std::byte* data;
  std::int64_t stride, count;

  std::int64_t integer(std::int64_t i) const {
    std::int64_t v;
    std::memcpy(&v, data + i * stride, sizeof v);
    return v;
  }
  bool truth(std::int64_t i) const { return data[i * stride] != std::byte{0}; }
};

bool in_memory_here(const tracer::Array& a) {
  return tracer::is_materialised(a) && tracer::device_of(a) == kHost;
}

// Where the first element lies, for who holds the lock and knows that it is in memory.
std::byte* first_element(const tracer::Array& a) {
  const tracer::Node& v = *a.storage->version;
  return v.data->data + v.data_offset + a.storage->base + a.offset;
}

std::optional<std::vector<std::int64_t>> whole_numbers(PyObject* list) {
  const Py_ssize_t n = PyList_GET_SIZE(list);
  if (n == 0 || n > kFew) return std::nullopt;
  std::vector<std::int64_t> out(static_cast<std::size_t>(n));
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* o = PyList_GET_ITEM(list, i);
    int overflow = 0;
    if (!PyLong_CheckExact(o)) return std::nullopt;
    out[static_cast<std::size_t>(i)] = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (overflow) return std::nullopt;
  }
  return out;
}

std::optional<std::vector<std::int64_t>> numbers_of(PyObject* range) {
  const auto number = [range](const char* name) -> std::optional<std::int64_t> {
    const Owned o(PyObject_GetAttrString(range, name));
    int overflow = 0;
    const long long v = o ? PyLong_AsLongLongAndOverflow(o.get(), &overflow) : -1;
    return overflow || !o ? std::nullopt : std::optional<std::int64_t>(v);
  };
  const Py_ssize_t n = PyObject_Size(range);
  const auto start = number("start"), step = number("step");
  PyErr_Clear();  // where it is longer than any array
  if (n <= 0 || n > kFew || !start || !step) return std::nullopt;
  std::vector<std::int64_t> out(static_cast<std::size_t>(n));
  std::int64_t last = 0;
  if (__builtin_mul_overflow(n - 1, *step, &last) || __builtin_add_overflow(last, *start, &last))
    return std::nullopt;
  for (Py_ssize_t i = 0; i < n; ++i) out[static_cast<std::size_t>(i)] = *start + i * *step;
  return out;
}

// The numbers of a key that holds Python's. Read before the recorder's lock is taken, under which
// no code of Python's runs.
std::optional<std::vector<std::int64_t>> listed_in(PyObject* key) {
  if (PyList_CheckExact(key)) return whole_numbers(key);
  return PyRange_Check(key) ? numbers_of(key) : std::nullopt;
}

std::optional<Run> run_of(PyArrayObject* a) {
  if (PyArray_NDIM(a) != 1 || !PyArray_ISBEHAVED_RO(a)) return std::nullopt;
  const auto t = native_dtype(PyArray_DESCR(a));
  if (!t) return std::nullopt;
  return Run{*t, static_cast<const std::byte*>(PyArray_DATA(a)), PyArray_STRIDE(a, 0),
             PyArray_DIM(a, 0)};
}
std::optional<Run> run_of(const tracer::Array& a) {
  if (a.ndim() != 1 || !in_memory_here(a)) return std::nullopt;
  return Run{a.dtype, first_element(a), a.strides[0], a.shape[0]};
}

// Calls f(i) for each of n bytes that is not zero: masks are often false for long stretches.
template <class F>
void each_true(const std::byte* mask, std::int64_t n, F&& f) {
  std::int64_t i = 0;
  if constexpr (std::endian::native == std::endian::little)
    for (std::uint64_t word; i + 8 <= n; i += 8)
      for (std::memcpy(&word, mask + i, 8); word != 0;) {
        const int bit = std::countr_zero(word) & ~7;
        f(i + bit / 8);
        word &= ~(std::uint64_t{0xff} << bit);
      }
  for (; i < n; ++i)
    if (mask[i] != std::byte{0}) f(i);
}

// The rows that the key names, from 0 on; nullopt when it is wrong.
std::optional<std::vector<std::int64_t>> rows_of(const Run& key, std::int64_t length) {
  std::vector<std::int64_t> rows;
  if (key.dtype == DType::Bool) {
    if (key.count != length) return std::nullopt;
    rows.reserve(static_cast<std::size_t>(key.count));
    if (key.stride == 1)
      each_true(key.data, key.count, [&](std::int64_t i) { rows.push_back(i); });
    else
      for (std::int64_t i = 0; i < key.count; ++i)
        if (key.truth(i)) rows.push_back(i);
    return rows;
  }
  bool outside = false;  // found without a branch for each
  rows.resize(static_cast<std::size_t>(key.count));
  for (std::int64_t i = 0; i < key.count; ++i) {
    std::int64_t k = key.integer(i);
    k += k < 0 ? length : 0;
    outside |= static_cast<std::uint64_t>(k) >= static_cast<std::uint64_t>(length);
    rows[static_cast<std::size_t>(i)] = k;
  }
  if (outside) return std::nullopt;
  return rows;
}

// What a key says that is not NumPy's to read; `listed`: see listed_in().
std::optional<Run> run_named_by(PyObject* key,
                                const std::optional<std::vector<std::int64_t>>& listed) {
  std::optional<Run> run;
  if (listed) {
    run = Run{DType::Int64, reinterpret_cast<const std::byte*>(listed->data()), 8,
              static_cast<std::int64_t>(listed->size())};
  } else if (is_array(key) && !as_array(key)->host) {
    run = run_of(as_array(key)->array);
  } else if (PyArray_CheckExact(key)) {
    run = run_of(reinterpret_cast<PyArrayObject*>(key));
  }
  if (!run || run->count > kFew || (run->dtype != DType::Int64 && run->dtype != DType::Bool))
    return std::nullopt;
  return run;
}
std::optional<std::vector<std::int64_t>> rows_named_by(
    PyObject* key, const std::optional<std::vector<std::int64_t>>& listed, std::int64_t length) {
  const auto run = run_named_by(key, listed);
  return run ? rows_of(*run, length) : std::nullopt;
}

// Rows of several elements have to lie in one piece.
bool has_rows(const tracer::Array& a) {
  return a.ndim() > 0 && a.size() > 0 && (a.ndim() == 1 || tracer::is_c_contiguous(a));
}
std::size_t row_bytes(const tracer::Array& a) {
  return itemsize(a.dtype) * static_cast<std::size_t>(a.size() / a.shape[0]);
}
bool few_bytes(std::size_t bytes) { return bytes <= static_cast<std::size_t>(kFew) * 16; }

}  // namespace

bool may_name_rows(PyObject* key) {
  return PyList_CheckExact(key) || PyRange_Check(key) || is_array(key) || PyArray_CheckExact(key);
}

std::optional<tracer::Array> gather(const tracer::Array& a, PyObject* key) {
  if (!has_rows(a)) return std::nullopt;
  const auto listed = listed_in(key);
  const std::lock_guard held(tracer::lock());  // nobody writes meanwhile
  if (!in_memory_here(a)) return std::nullopt;
  std::optional<std::vector<std::int64_t>> chosen;
  const auto run = run_named_by(key, listed);
  if (!run) return std::nullopt;
  const std::int64_t length = a.shape[0];
  if (run->dtype == DType::Bool && !(chosen = rows_of(*run, length))) return std::nullopt;

  const std::size_t row = row_bytes(a);
  Dims shape = a.shape;
  shape[0] = chosen ? static_cast<std::int64_t>(chosen->size()) : run->count;
  const std::size_t size = row * static_cast<std::size_t>(shape[0]);
  if (!few_bytes(size)) return std::nullopt;
  Ref<Buffer> memory = allocate(size);
  const auto* from = first_element(a);
  std::byte* to = memory->data;
  bool outside = false;
  with_fixed_size(row, [=, &chosen, &outside, stride = a.strides[0]](auto bytes) mutable {
    if (chosen) {
      for (const std::int64_t r : *chosen) {
        std::memcpy(to, from + r * stride, bytes);
        to += bytes;
      }
      return;
    }
    bool wrong = false;  // without a branch for each
    for (std::int64_t i = 0; i < run->count; ++i) {
      std::int64_t r = run->integer(i);
      r += r < 0 ? length : 0;
      const bool is_wrong = static_cast<std::uint64_t>(r) >= static_cast<std::uint64_t>(length);
      wrong |= is_wrong;
      std::memcpy(to, from + (is_wrong ? 0 : r) * stride, bytes);
      to += bytes;
    }
    outside = wrong;
  });
  if (outside) return std::nullopt;
  return tracer::from_buffer(
      std::move(memory), a.dtype, shape,
      contiguous_strides(shape, static_cast<std::int64_t>(itemsize(a.dtype))), 0);
}

namespace {

// a[mask] = number for a mask of its own shape, both in C order.
bool fill_where(const tracer::Array& a, PyObject* key, const tracer::Operand& value) {
  if (!is_array(key) || as_array(key)->host) return false;
  const tracer::Array& mask = as_array(key)->array;
  if (mask.dtype != DType::Bool || mask.shape != a.shape || mask.storage == a.storage ||
      a.ndim() < 2 || a.size() > kFew)
    return false;
  if (!tracer::is_c_contiguous(a) || !tracer::is_c_contiguous(mask)) return false;
  const std::lock_guard held(tracer::lock());
  if (!in_memory_here(mask)) return false;
  std::byte* const to = tracer::own_memory(a);
  if (!to) return false;
  const Scalar s = tracer::reported_cast(value, a.dtype);
  with_fixed_size(itemsize(a.dtype), [&s, to, n = a.size(), on = first_element(mask)](auto bytes) {
    each_true(on, n, [&](std::int64_t i) {
      std::memcpy(to + i * static_cast<std::int64_t>(bytes), s.bytes, bytes);
    });
  });
  return true;
}

}  // namespace

bool scatter(const tracer::Array& a, PyObject* key, const tracer::Operand& value) {
  const bool one = !value.array;
  if (one && fill_where(a, key, value)) return true;
  if (!has_rows(a) || (one && a.ndim() > 1)) return false;
  const auto listed = listed_in(key);
  const std::lock_guard held(tracer::lock());
  const auto rows = rows_named_by(key, listed, a.shape[0]);
  const std::size_t row = row_bytes(a);
  if (!rows || !few_bytes(row * rows->size())) return false;
  if (!one) {
    const tracer::Array& v = *value.array;
    Dims shape = a.shape;
    shape[0] = static_cast<std::int64_t>(rows->size());
    if (v.dtype != a.dtype || v.shape != shape || !has_rows(v) || v.storage == a.storage ||
        !in_memory_here(v))
      return false;
  }
  std::byte* const to = tracer::own_memory(a);
  if (!to) return false;
  const Scalar s = one ? tracer::reported_cast(value, a.dtype) : Scalar{};
  const auto* from =
      one ? reinterpret_cast<const std::byte*>(s.bytes) : first_element(*value.array);
  const std::int64_t step = one ? 0 : value.array->strides[0];
  with_fixed_size(row, [=, &rows, stride = a.strides[0]](auto bytes) mutable {
    for (const std::int64_t r : *rows) {
      std::memcpy(to + r * stride, from, bytes);
      from += step;
    }
  });
  return true;
}

}  // namespace plait::py
