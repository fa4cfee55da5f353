#include "undo.hpp"

#include <algorithm>
#include <new>

#include "core/array_memory.hpp"
#include "direct_kernels.hpp"
#include "engine/threads/split.hpp"
#include "fusion/schedule/cost.hpp"

namespace plait::engine {
namespace {

// An operation that takes less, in seconds and in copies of what it writes to, is not worth a copy.
constexpr double kMinSeconds = 0.05, kMinCopies = 8;

double copy_seconds(double bytes) { return fusion::memory_seconds(host_machine(), 2 * bytes); }

void copy_box(DType t, const Dims& shape, const Memory& from, const Memory& to) {
  const InterruptScope whole(false);
  if (shape.empty()) return run_cast(t, t, shape, from, to);
  const int axis = static_cast<int>(std::max_element(shape.begin(), shape.end()) - shape.begin());
  const auto bytes = static_cast<double>(element_count(shape)) * static_cast<double>(itemsize(t));
  const auto part = [axis](const Memory& m, std::int64_t first) {
    return Memory{m.data + first * m.strides[axis], m.strides};
  };
  split(
      shape[axis],
      copy_seconds(bytes) / static_cast<double>(std::max<std::int64_t>(1, shape[axis])),
      [&](std::int64_t begin, std::int64_t end) {
        Dims some = shape;
        some[axis] = end - begin;
        run_cast(t, t, some, part(from, begin), part(to, begin));
      },
      Interrupts::Ignored);
}

Memory dense(const Ref<Buffer>& b, const Dims& shape, DType t) {
  return {b->data, contiguous_strides(shape, static_cast<std::int64_t>(itemsize(t)))};
}

}  // namespace

bool Undo::pays(double seconds, double bytes) {
  return seconds > kMinSeconds && seconds > kMinCopies * copy_seconds(bytes);
}

bool Undo::keep(DType t, const Dims& shape, const Memory& contents) {
  try {
    kept_.push_back({t, shape, contents, allocate_array(shape, t)});
  } catch (const std::bad_alloc&) {
    kept_.clear();
    return false;
  }
  copy_box(t, shape, contents, dense(kept_.back().copy, shape, t));
  return true;
}

void Undo::restore() {
  for (; !kept_.empty(); kept_.pop_back()) {
    const Kept& k = kept_.back();
    copy_box(k.dtype, k.shape, dense(k.copy, k.shape, k.dtype), k.of);
  }
}

}  // namespace plait::engine
