// Which elements a key names, and the operands of what is read from and stored to them.
#pragma once
#include <mutex>
#include <optional>
#include <vector>

#include "engine/direct/scatter.hpp"
#include "engine/direct/select.hpp"
#include "engine/direct/undo.hpp"
#include "engine/threads/interruption.hpp"
#include "indexing.hpp"
#include "labels.hpp"
#include "record.hpp"
#include "tracer/graph.hpp"

namespace plait::numpy {

inline std::int64_t item_bytes(const Array& a) {
  return static_cast<std::int64_t>(itemsize(a.dtype));
}

// An array in memory, which stays there as it is while this lives.
class Held {
 public:
  explicit Held(const Array& a) : array_(a) {
    const tracer::Lock held = tracer::hold_evaluated(a);
    node_ = tracer::read(a);
    data_ = static_cast<std::byte*>(tracer::data(a));
  }
  engine::Memory memory() const { return {data_, array_.strides}; }
  std::byte* data() const { return data_; }

 private:
  Array array_;
  Ref<tracer::Node> node_;
  std::byte* data_ = nullptr;
};

// On the host, with no bytes for booleans but 0 and 1.
bool here(const Array& a);
// A new array in C order.
Array fresh(const Dims& shape, DType t, Ref<Buffer>& memory);

// Indices into an axis of `extent` as Int64 from 0 on, laid out as they are; nothing when one is
// outside.
std::optional<Array> within(const Array& indices, std::int64_t extent);

// A mask in one piece, with what it selects.
struct Mask {
  Array array;
  Group group;
  std::optional<Held> held;  // where it is no group
  engine::Selection selection;
  explicit Mask(const Array& m)
      : array(tracer::is_c_contiguous(m) ? m : tracer::copy(m, 'C')),
        group(group_of(array)),
        selection(group.groups ? engine::Selection(*group.groups, group.label)
                               : engine::Selection(held.emplace(array).data(), array.size())) {}
  Array places() const {
    Ref<Buffer> memory;
    Array at = fresh({selection.count()}, DType::Int64, memory);
    selection.places(reinterpret_cast<std::int64_t*>(memory->data));
    return at;
  }
};

// Where a key's elements are: those of `view`, which has the shape of a[key] and stands still along
// the axes of the indices, and from there `at` * `step` bytes on.
struct Places {
  Array view, at;
  std::int64_t step = 0;
  Dims strides;  // of a copy
  // What `at` is the sum of: indices in memory, and bytes from one to the next. They broadcast to
  // the axes [first, last) of the view.
  struct Term {
    Array indices;
    std::int64_t bytes;
  };
  std::vector<Term> terms = {};
  int first = 0, last = 0;
};
std::optional<Places> find_places(const Array& a, Key key);

// A copy of the elements. Indices that step evenly, as those that are made of ranges do, name what
// a view shows.
Array gathered(const Places& p);

// A mask of the whole array as the only entry.
const Array* whole_mask(const Array& a, Key key);

// The value as `t`, the dtype of what it is stored to, of its shape, in memory that the store does
// not touch; nothing when the shape does not fit.
std::optional<Array> stored_value(const Operand& value, const Array& target, const Dims& shape,
                                  DType t);

// What becomes of leading ones that the value's shape has too many.
enum class LeadingOnes : std::uint8_t { Dropped, Refused };

// run(shape, value, index, step, to): what is stored to the elements that the key names, all of it
// in memory, the value as `t`. False for keys and values that NumPy has to look at.
template <class F>
bool write(const Array& a, Key key, const Operand& value, DType t, LeadingOnes ones, F&& run) {
  std::optional<Places> p = find_places(a, key);
  if (!p) return false;
  if (ones == LeadingOnes::Refused && value.array && value.array->ndim() > p->view.ndim())
    return false;
  const std::optional<Array> v = stored_value(value, a, p->view.shape, t);
  if (!v) return false;
  if (p->view.size() == 0) return true;
  if (p->at.storage == a.storage) p->at = tracer::copy(p->at);
  const Held from(*v), at(p->at);
  const std::lock_guard held(tracer::lock());
  auto* const memory = static_cast<std::byte*>(tracer::writable_data(a));
  std::byte* const to = memory + (p->view.offset - a.offset);
  const engine::Memory index{at.data(),
                             tracer::broadcast_strides(p->at.shape, p->at.strides, p->view.shape)};
  // All of a long write has happened, or nothing.
  const std::int64_t bytes = a.size() * item_bytes(a);
  engine::Undo undo;
  const engine::InterruptScope scope(
      engine::Undo::pays(engine::scatter_seconds(p->view.size(), bytes),
                         static_cast<double>(bytes)) &&
      undo.keep(a.dtype, a.shape, {memory, a.strides}));
  try {
    run(p->view.shape, from.memory(), index, p->step, engine::Memory{to, p->view.strides});
  } catch (const engine::Interrupted&) {
    undo.restore();
    throw;
  }
  return true;
}

}  // namespace plait::numpy
