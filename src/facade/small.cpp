#include "small.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "core/config.hpp"
#include "core/fixed_size.hpp"
#include "engine/direct/direct.hpp"
#include "tracer/elementwise.hpp"
#include "tracer/graph.hpp"
#include "tracer/ownership.hpp"

namespace plait::detail {

namespace {

using tracer::kMaxOperands;
using tracer::Node;
using tracer::NodeKind;
using tracer::Storage;

constexpr std::int64_t kMostElements = 64;

bool in_c_order(const tracer::Array& a) {
  if (a.ndim() == 1) return a.strides[0] == static_cast<std::int64_t>(itemsize(a.dtype));
  return tracer::is_c_contiguous(a);
}

// Boxes of arrays that are gone, the last one first; guarded by the recorder's lock.
class Kept {
 public:
  // Returns the one that has no place any more: shapes of long ago make way.
  Box* put(Box& b) {
    Box* oldest = nullptr;
    if (count_ == boxes_.size()) {
      oldest = boxes_.front();
      std::move(boxes_.begin() + 1, boxes_.end(), boxes_.begin());
      --count_;
    }
    boxes_[count_++] = &b;
    return oldest;
  }
  Box* take(DType t, const Dims& shape) {
    for (std::size_t i = count_; i-- > 0;) {
      Box* const b = boxes_[i];
      if (b->array.dtype != t || b->array.shape != shape) continue;
      boxes_[i] = boxes_[--count_];
      return b;
    }
    return nullptr;
  }
  Box* take_any() { return count_ == 0 ? nullptr : boxes_[--count_]; }

 private:
  std::array<Box*, 8> boxes_{};
  std::size_t count_ = 0;
};
constinit Kept kept;

// Nobody but the box knows the array and its memory, which is all the array's.
bool is_alone(const Box& b) {
  const tracer::Array& a = b.array;
  if (!a.storage || a.size() > kMostElements || a.size() == 0 || b.lease || b.selection ||
      !a.writeable || a.offset != 0)
    return false;
  const Storage& s = *a.storage;
  if (!tracer::only_known(s, 1) || s.base != 0 || s.exports != 0 || s.pinned || s.borrowed ||
      s.listed || s.any_bytes)
    return false;
  const Node& v = *s.version;
  if (v.kind != NodeKind::Data || !tracer::only_known(v, 1) || v.accounting != 0 ||
      v.device != kHost || v.dtype != a.dtype || v.data_offset != 0 || v.shape != a.shape ||
      v.strides != a.strides || !in_c_order(a))
    return false;
  const Buffer& m = *v.data;
  return tracer::owned_memory(m) && !m.foreign;
}

// A number as an element, where nothing could be said of the conversion.
bool plain_value(const Value& v, DType t, std::byte* element) {
  const auto put = [element](auto number) {
    std::memcpy(element, &number, sizeof number);
    return true;
  };
  if (v.weakness == weak::integer) {
    if (t == DType::Float64) return put(static_cast<double>(v.as<std::int64_t>()));
    return t == DType::Int64 && put(v.as<std::int64_t>());
  }
  if (v.weakness != weak::floating) return false;
  const auto number = v.as<double>();
  if (t == DType::Float64) return put(number);
  const auto narrow = static_cast<float>(number);
  return t == DType::Float32 && (std::isnormal(narrow) || number == 0) && put(narrow);
}

// A result is no older than what was written last; ahead of that it would seem to be made by
// whatever is recorded next.
void is_written(Storage& s) { s.writes = tracer::last_write(); }

// The memory of a kept box, which is about to be written to.
std::byte* begin_write(Box& b) {
  Storage& s = *b.array.storage;
  is_written(s);
  return s.version->data->data;
}
void end_write(Box& b) {
  Storage& s = *b.array.storage;
  s.readable.store(s.version->data->data, std::memory_order_release);
}

bool is_small(std::int64_t n) {
  return n > 0 && n <= std::min(kMostElements, tracer::eager_limit());
}

}  // namespace

bool keep_small(Box& b) {
  if (!is_alone(b)) return false;
  if (Box* const oldest = kept.put(b)) boxes.destroy(oldest);
  return true;
}

std::size_t trim_small() {
  std::size_t bytes = 0;
  while (Box* b = kept.take_any()) {
    bytes += b->array.storage->version->data->bytes;
    boxes.destroy(b);
  }
  return bytes;
}

Handle small_elementwise(OpId fn, const Operand* operands, int n, std::optional<DType> wanted) {
  const tracer::Array* model = nullptr;
  for (int i = 0; i < n && !model; ++i)
    if (operands[i].array && *operands[i].array) model = &operands[i].array->get()->array;
  if (!model || model->size() > std::min(kMostElements, tracer::eager_limit())) return {};
  const DType t = model->dtype;
  const tracer::UniformLoop& loop = tracer::uniform_loop(fn, t);
  const DType result = loop.types.out;
  if (!loop.plain || (wanted && *wanted != result)) return {};

  alignas(16) std::byte values[kMaxOperands][16];
  void* arguments[kMaxOperands + 1];
  std::int64_t strides[kMaxOperands + 1];
  const Operand* own = nullptr;  // given away with memory that takes the result
  for (int i = 0; i < n; ++i) {
    const Operand& o = operands[i];
    if (!o.array) {
      if (!plain_value(o.value, t, values[i])) return {};
      arguments[i] = values[i];
      strides[i] = 0;
      continue;
    }
    if (!*o.array) return {};
    const Box& b = *o.array->get();
    const tracer::Array& a = b.array;
    const Node& v = *a.storage->version;
    if (a.dtype != t || !v.materialised() || v.device != kHost || a.storage->any_bytes ||
        (&a != model && a.shape != model->shape) || !in_c_order(a))
      return {};
    arguments[i] = v.data->data + v.data_offset + a.storage->base + a.offset;
    strides[i] = static_cast<std::int64_t>(itemsize(t));
    if (!own && o.given && result == t && only_handle(b) && is_alone(b)) own = &o;
  }
  Box* const to = own ? own->array->get() : kept.take(result, model->shape);
  if (!to) return {};
  Handle h = own ? std::move(*own->given) : Handle(to);
  Storage& s = *to->array.storage;
  Node& value = *s.version;
  is_written(s);
  arguments[n] = value.data->data;
  strides[n] = static_cast<std::int64_t>(itemsize(result));
  if (!engine::run_small(fn, t, arguments, strides, to->array.size(), value)) {
    if (own) *own->given = std::move(h);
    return {};
  }
  s.readable.store(value.data->data, std::memory_order_release);
  return h;
}

Handle small_filled(const Dims& shape, DType t, const void* elements, bool all) {
  std::int64_t n = 1;
  for (const std::int64_t extent : shape)
    if (n *= extent; !is_small(n)) return {};
  const std::lock_guard held(tracer::lock());
  if (tracer::current_device() != kHost) return {};
  Box* const to = kept.take(t, shape);
  if (!to) return {};
  std::byte* const memory = begin_write(*to);
  if (all)
    std::memcpy(memory, elements, static_cast<std::size_t>(n) * itemsize(t));
  else
    with_fixed_size(itemsize(t), [&](auto bytes) {
      for (std::int64_t i = 0; i < n; ++i) std::memcpy(memory + i * bytes, elements, bytes);
    });
  end_write(*to);
  return Handle(to);
}

Handle small_sum(const Handle& h) {
  if (!h) return {};
  const tracer::Array& a = h.get()->array;
  const Node& v = *a.storage->version;
  if (a.ndim() != 1 || !is_small(a.size()) ||
      (a.dtype != DType::Float64 && a.dtype != DType::Float32) || !v.materialised() ||
      v.device != kHost || a.storage->any_bytes)
    return {};
  Box* const to = kept.take(a.dtype, Dims());
  if (!to) return {};
  Handle sum(to);
  engine::run_small_sum(a.dtype, v.data->data + v.data_offset + a.storage->base + a.offset,
                        a.strides[0], a.size(), begin_write(*to), *to->array.storage->version);
  end_write(*to);
  return sum;
}

}  // namespace plait::detail
