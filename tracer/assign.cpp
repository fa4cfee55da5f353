// Writing through views: every write is a new version of the storage.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "evaluation_scope.hpp"
#include "graph.hpp"
#include "ownership.hpp"

namespace plait::tracer {

namespace {

bool covers(const Array& target, const Node& version) {
  return target.offset + target.storage->base == 0 && target.dtype == version.dtype &&
         target.shape == version.shape && target.strides == version.strides;
}

// The value may become the version itself: fresh, in the very layout, and nobody else's.
bool can_be_version(const Node& value, const Array& target) {
  return value.handles == 0 && is_pending(value) && value.kind != NodeKind::View &&
         value.dtype == target.dtype && value.shape == target.shape &&
         value.strides == target.strides;
}

bool dense(const Node& n) {
  const Extent e = extent(n.shape, n.strides, static_cast<std::int64_t>(itemsize(n.dtype)));
  return e.first == 0 &&
         e.last == element_count(n.shape) * static_cast<std::int64_t>(itemsize(n.dtype));
}

bool same_elements(const Array& a, const Array& b) {
  return a.storage == b.storage && a.offset == b.offset && a.dtype == b.dtype &&
         a.shape == b.shape && a.strides == b.strides;
}

// Whether several elements may share memory, as those of overlapping windows do.
bool may_share_memory_within(const Array& a) {
  Dims order;
  for (int d = 0; d < a.ndim(); ++d)
    if (a.shape[d] > 1) order.push_back(d);
  std::sort(order.begin(), order.end(), [&](std::int64_t d, std::int64_t e) {
    return std::abs(a.strides[d]) < std::abs(a.strides[e]);
  });
  auto span = static_cast<std::int64_t>(itemsize(a.dtype));
  for (const std::int64_t d : order) {
    const std::int64_t step = std::abs(a.strides[d]);
    if (step < span) return true;
    span += step * (a.shape[d] - 1);
  }
  return false;
}

// Computes what a view shows, too.
void evaluate_value(const Ref<Node>& value) {
  const Ref<Node>* n = &value;
  while ((*n)->kind == NodeKind::View && is_pending(**n)) n = &(*n)->inputs[0];
  if (is_pending(**n) && (*n)->kind != NodeKind::Scalar) {
    const Ref<Node> base = *n;
    evaluate_nodes(std::span(&base, 1));
  }
}

// Whether a write into the version's memory can be seen only through its storage. The references
// are the storage's and that of the update to come.
bool nobody_else_reads(const Node& version) { return own_version(version, 2); }

// Whether a masked write is better a choice between the written and the old elements: all of a
// value that is still to be computed is written to, so that both may be one loop. What is in memory
// is stored to.
bool chooses(const Array& target, const Node& old) {
  const NodeKind k = old.kind;
  return (k == NodeKind::Elementwise || k == NodeKind::Cast || k == NodeKind::MatMul) &&
         is_pending(old) && covers(target, old) && dense(old) && !target.storage->borrowed &&
         !few(target.shape);
}

Ref<Node> choice(const Node& old, Ref<Node> mask, Ref<Node> written, Ref<Node> kept) {
  Ref<Node> n = take_node(NodeKind::Elementwise);
  n->fn = OpId::Where;
  n->dtype = old.dtype;
  n->shape = old.shape;
  n->strides = old.strides;
  n->n_inputs = 3;
  n->inputs[0] = std::move(mask);
  n->inputs[1] = std::move(written);
  n->inputs[2] = std::move(kept);
  return record(std::move(n));
}

// Somebody outside sees the storage's memory: the new version has to appear in it, now.
void store_in_place(Storage& s, Ref<Node> update) {
  const Ref<Buffer> memory = s.version->data;
  const std::int64_t at = s.version->data_offset;
  flush();  // readers of the old version
  update->in_place = true;
  evaluate_nodes(std::span(&update, 1));
  if (update->data != memory) {
    // The evaluator could not take the memory over; the layouts are equal.
    const Extent e =
        extent(update->shape, update->strides, static_cast<std::int64_t>(itemsize(update->dtype)));
    std::byte* to = memory->data + at + e.first;
    const std::byte* from = update->data->data + update->data_offset + e.first;
    const auto bytes = static_cast<std::size_t>(e.last - e.first);
    if (memory->device > kHost) {
      devices().memory(memory->device).copy(to, from, bytes);
      static_cast<DeviceBuffer&>(*memory).mirror.reset();
    } else {
      std::memcpy(to, from, bytes);
    }
    settle(*update, memory, at);
  }
  set_version(s, std::move(update));
}

// Many writes of few elements, one after the other: each would be a region of its own, while in
// memory they are stores.
bool ends_a_run_of_writes(const Node& version) {
  constexpr int kRun = 8;
  const Node* n = &version;
  if (n->kind == NodeKind::Fill) return true;
  for (int i = 0; i < kRun; ++i, n = n->inputs[0].get())
    if (n->kind != NodeKind::Update || !few(n->view_shape)) return false;
  return true;
}

}  // namespace

void store(const Array& target, Ref<Node> value, Ref<Node> mask) {
  Storage& s = *target.storage;
  if (target.size() == 0) return;
  const bool outside = exported(s);
  std::optional<EvaluationScope> whole;
  if (outside) whole.emplace(EvaluationScope::LockWhileRunning::Kept);
  const Ref<Node>& old = s.version;
  const bool float_errors = eager_errors();
  const DeviceId device = std::max(old->device, kHost);
  if (devices_in_use()) [[unlikely]] {
    value = on_device(std::move(value), device);
    if (mask) mask = on_device(std::move(mask), device);
  }

  if (!outside && !mask && covers(target, *old) && dense(*old) && !s.borrowed) {
    if (value->kind == NodeKind::Scalar) {
      value = fill_node(target.shape, target.strides, cast(value->scalar, target.dtype), device);
    } else {
      value = broadcast_node(std::move(value), target.shape);
      if (!can_be_version(*value, target))
        value = cast_node(std::move(value), target.dtype, target.strides);
      value->device = device;
    }
    set_version(s, std::move(value));
  } else if (!outside && mask && chooses(target, *old)) {
    value = as_dtype(std::move(value), target.dtype);
    set_version(s, choice(*old, std::move(mask), std::move(value), old));
  } else {
    if (context().evaluator && few(target.shape) && ends_a_run_of_writes(*old)) {
      // What is written, too: this write and those to come are stores then.
      const Ref<Node> both[] = {old, value};
      evaluate_nodes(std::span(both, value->kind == NodeKind::View ? 1 : 2));
    }
    if (outside) release_readers(s);
    value = broadcast_node(as_dtype(std::move(value), target.dtype), target.shape);
    if (mask) mask = broadcast_node(std::move(mask), target.shape);
    if (may_share_memory_within(target)) {
      // Loops would read what they have written for another element.
      evaluate_value(value);
      if (mask) evaluate_value(mask);
    }
    Ref<Node> n = take_node(NodeKind::Update);
    n->dtype = old->dtype;
    n->shape = old->shape;
    n->strides = old->strides;
    n->offset = target.offset + s.base;
    n->view_shape = target.shape;
    n->view_strides = target.strides;
    n->view_dtype = target.dtype;
    n->n_inputs = mask ? 3 : 2;
    n->inputs[0] = old;
    n->inputs[1] = std::move(value);
    n->inputs[2] = std::move(mask);
    if (outside || nobody_else_reads(*old)) {
      n->in_place = true;
      n->in_place = computed_at_once(*n);
    }
    n = record(std::move(n));
    if (outside && !n->materialised()) {
      store_in_place(s, std::move(n));
      return;
    }
    set_version(s, std::move(n));
  }
  finish(target, float_errors);
}

void assign(const Array& target, const Operand& value, const Array* mask) {
  const Lock held = hold();
  if (!target.writeable) throw ValueError("assignment destination is read-only");
  if (mask) {
    if (mask->dtype != DType::Bool)
      throw DTypeError("Cannot cast array data from " + quoted(mask->dtype) + " to " +
                       quoted(DType::Bool) + " according to the rule 'safe'");
    if (!broadcastable(mask->shape, target.shape))
      throw ShapeError("could not broadcast where mask from shape " + shape_text(mask->shape) +
                       " into shape " + shape_text(target.shape));
  }
  if (!value.array) {
    const Scalar s = checked_scalar(value.scalar, value.weak, target.dtype);
    report_cast(value.scalar, value.weak, target.dtype);
    if (target.size() == 0 || (!mask && stored_at_once(target, s))) return;
    bound_graph();
    store(target, scalar_node(s), mask ? node_of(*mask) : nullptr);
    return;
  }
  Array source = *value.array;
  // NumPy drops leading axes of extent 1 from what is assigned.
  while (source.ndim() > target.ndim() && source.shape[0] == 1) {
    source.shape.erase(0);
    source.strides.erase(0);
  }
  if (!broadcastable(source.shape, target.shape))
    throw ShapeError("could not broadcast input array from shape " + shape_text(source.shape) +
                     " into shape " + shape_text(target.shape));
  // What `x[i] += y` ends with in Python: the view is written to itself.
  if (same_elements(source, target)) return;
  if (!mask && stored_at_once(target, source)) return;
  bound_graph();
  if (mask && source.ndim() == 0 && source.dtype == target.dtype && in_host_memory(source)) {
    store(target, scalar_node(item(source, {})), node_of(*mask));
    finish(target, reads_export(*mask));
    return;
  }
  const bool eager = reads_export(source) || (mask && reads_export(*mask));
  store(target, node_of(source), mask ? node_of(*mask) : nullptr);
  finish(target, eager);
}

}  // namespace plait::tracer
