#include "elements.hpp"

#include <cstring>
#include <optional>

#include "core/fixed_size.hpp"
#include "storage.hpp"

namespace plait::tracer {

namespace {
std::int64_t element_offset(const Array& a, std::span<const std::int64_t> index) {
  const int n = static_cast<int>(index.size());
  if (n > a.ndim())
    throw IndexError("too many indices for array: array is " + std::to_string(a.ndim()) +
                     "-dimensional, but " + std::to_string(n) + " were indexed");
  if (n < a.ndim()) throw ValueError("incorrect number of indices for array");
  std::int64_t at = 0;
  for (int i = 0; i < n; ++i) {
    const std::int64_t k = index[static_cast<std::size_t>(i)];
    if (k < -a.shape[i] || k >= a.shape[i])
      throw IndexError("index " + std::to_string(k) + " is out of bounds for axis " +
                       std::to_string(i) + " with size " + std::to_string(a.shape[i]));
    at += (k < 0 ? k + a.shape[i] : k) * a.strides[i];
  }
  return at;
}
}  // namespace

Scalar item(const Array& a, std::span<const std::int64_t> index) {
  const std::int64_t at = element_offset(a, index);
  const Lock held = hold_evaluated(a);
  Scalar s;
  s.dtype = a.dtype;
  const Node& v = *a.storage->version;
  if (v.device > kHost) {
    const auto& buffer = static_cast<const DeviceBuffer&>(*v.data);
    if (buffer.mirror)
      std::memcpy(s.bytes, buffer.mirror->data + (address(a, v) - buffer.data) + at,
                  itemsize(a.dtype));
    else
      devices().memory(v.device).download(s.bytes, address(a, v) + at, itemsize(a.dtype), "item");
    return s;
  }
  std::memcpy(s.bytes, address(a, v) + at, itemsize(a.dtype));
  // Borrowed contents that lie elsewhere go home when somebody else's borrowing ends.
  if ((!a.storage->borrowed || v.data->foreign) && !a.storage->any_bytes)
    a.storage->readable.store(v.data->data + v.data_offset + a.storage->base,
                              std::memory_order_release);
  if (has_any_bytes(a)) s = cast(Scalar::of(DType::UInt8, s.as<std::uint8_t>()), DType::Bool);
  return s;
}

namespace {
// From the array's element 0; nothing where the index is out of bounds.
inline std::optional<std::int64_t> offset_within(const Array& a,
                                                 std::span<const std::int64_t> index) {
  const int n = a.ndim();
  if (static_cast<int>(index.size()) != n) return std::nullopt;
  const std::int64_t *const shape = a.shape.data(), *const strides = a.strides.data();
  std::int64_t at = 0;
  for (int i = 0; i < n; ++i) {
    const std::int64_t k = index[static_cast<std::size_t>(i)], extent = shape[i];
    if (k < -extent || k >= extent) return std::nullopt;
    at += (k < 0 ? k + extent : k) * strides[i];
  }
  return at;
}
}  // namespace

const std::byte* peek(const Array& a, std::span<const std::int64_t> index) noexcept {
  const std::byte* const contents = a.storage->readable.load(std::memory_order_acquire);
  if (!contents || capture()) return nullptr;
  const std::optional<std::int64_t> at = offset_within(a, index);
  return at ? contents + a.offset + *at : nullptr;
}

namespace {
// Whether only the storage itself can see its memory: a store to it is the new version. Whoever
// lends memory sees it, too, and is to see what is stored.
bool nobody_else_sees(const Storage& s) {
  const Node& v = *s.version;
  return v.kind == NodeKind::Data && only_known(v, 1) && v.device == kHost && !exported(s) &&
         owned_memory(*v.data);
}

// Whether other storages hold the same value, and this one may have a copy of it in less time than
// it takes to record and plan one.
bool parts_at_once(const Storage& s) {
  constexpr std::size_t kMostBytes = 1 << 16;
  const Node& v = *s.version;
  return v.kind == NodeKind::Data && v.handles > 1 && v.device == kHost && !exported(s) &&
         !s.borrowed && owned_memory(*v.data) && v.data->bytes <= kMostBytes && !capture();
}

std::byte* memory_to_write(const Array& a) {
  Storage& s = *a.storage;
  if (parts_at_once(s))
    set_version(s, same_value(*s.version, duplicate(*s.version->data)));
  else if (!nobody_else_sees(s))
    return nullptr;
  open_to_writes(s);
  return address(a, *s.version);
}
// own_memory() of what has memory already.
std::byte* own_memory_now(const Array& a) {
  return a.writeable && eager_limit() > 0 ? memory_to_write(a) : nullptr;
}

void copy_row(std::byte* to, std::int64_t stride, const std::byte* from, std::int64_t step,
              std::int64_t n, std::size_t item) {
  const auto dense = static_cast<std::int64_t>(item);
  if (stride == dense && step == dense) {
    std::memcpy(to, from, static_cast<std::size_t>(n) * item);
    return;
  }
  with_fixed_size(item, [=](auto bytes) mutable {
    for (std::int64_t i = 0; i < n; ++i, to += stride, from += step) std::memcpy(to, from, bytes);
  });
}

void copy(std::byte* to, std::span<const std::int64_t> strides, const std::byte* from,
          std::span<const std::int64_t> steps, std::span<const std::int64_t> shape,
          std::size_t item) {
  if (shape.empty()) return copy_row(to, 0, from, 0, 1, item);
  if (shape.size() == 1) return copy_row(to, strides[0], from, steps[0], shape[0], item);
  for (std::int64_t i = 0; i < shape[0]; ++i)
    copy(to + i * strides[0], strides.subspan(1), from + i * steps[0], steps.subspan(1),
         shape.subspan(1), item);
}

void fill(std::byte* to, std::span<const std::int64_t> shape, std::span<const std::int64_t> strides,
          const Scalar& v, std::size_t item) {
  const Dims nowhere(static_cast<int>(shape.size()), 0);
  copy(to, strides, reinterpret_cast<const std::byte*>(v.bytes), nowhere, shape, item);
}
}  // namespace

void copy_elements(const Array& from, const Array& to) {
  const std::size_t item = itemsize(to.dtype);
  std::byte* const at = address(to, *to.storage->version);
  const std::byte* const source = address(from, *from.storage->version);
  if (from.strides == to.strides && is_c_contiguous(to)) {
    std::memcpy(at, source, static_cast<std::size_t>(to.size()) * item);
    return;
  }
  copy(at, to.strides, source, from.strides, to.shape, item);
}

std::byte* own_memory(const Array& a) {
  if (!a.writeable || eager_limit() == 0) return nullptr;
  if (a.storage->version->kind == NodeKind::Empty) evaluate(a);
  return memory_to_write(a);
}

bool stored_at_once(const Array& target, const Scalar& v) {
  if (!few(target.shape)) return false;
  std::byte* const to = own_memory(target);
  if (to) fill(to, target.shape, target.strides, v, itemsize(target.dtype));
  return to;
}

bool stored_at_once(const Array& target, const Array& v) {
  if (v.shape != target.shape || v.dtype != target.dtype || v.storage == target.storage)
    return false;
  const auto dense_rows = [](const Array& a) {
    return a.ndim() > 0 && a.strides.back() == static_cast<std::int64_t>(itemsize(a.dtype));
  };
  if (!few(target.shape) &&
      !(dense_rows(target) && dense_rows(v) &&
        at_once_here(element_count(target.shape), element_seconds(target.dtype)) &&
        brought(target) && brought(v)))
    return false;
  const Node& from = *v.storage->version;
  if (!from.materialised() || from.device > kHost) return false;
  std::byte* const to = own_memory(target);
  if (to)
    copy(to, target.strides, address(v, from), v.strides, target.shape, itemsize(target.dtype));
  return to;
}

std::byte* poke(const Array& a, std::span<const std::int64_t> index) {
  const std::optional<std::int64_t> at = offset_within(a, index);
  if (!at) return nullptr;
  const Lock held = hold();
  std::byte* const to = own_memory(a);
  return to ? to + *at : nullptr;
}

bool set_item_now(const Array& a, std::span<const std::int64_t> index, const Scalar& v) {
  const std::optional<std::int64_t> at = offset_within(a, index);
  if (!at || v.dtype != a.dtype) return false;
  const Lock held = hold();
  std::byte* const to = own_memory_now(a);
  if (to) with_fixed_size(itemsize(a.dtype), [&](auto n) { std::memcpy(to + *at, v.bytes, n); });
  return to;
}

void set_item(const Array& a, std::span<const std::int64_t> index, const Scalar& v) {
  const Lock held = hold();
  if (std::byte* const to = v.dtype == a.dtype ? poke(a, index) : nullptr) {
    std::memcpy(to, v.bytes, itemsize(a.dtype));
    return;
  }
  const std::int64_t at = element_offset(a, index);
  Array element = a;
  element.offset += at;
  element.shape.clear();
  element.strides.clear();
  assign(element, Operand(v, Weak::None));
}

}  // namespace plait::tracer
