// Storages, their versions, and the way from an array to its value.
#include <cstring>
#include <unordered_map>

#include "core/fixed_size.hpp"
#include "deferred.hpp"
#include "derived.hpp"
#include "elements.hpp"
#include "evaluation_scope.hpp"
#include "graph.hpp"
#include "ownership.hpp"

namespace plait::tracer {

namespace {

void unlist(Context& c, Storage& s) {
  if (!s.listed) return;
  (s.prev ? s.prev->next : c.pending) = s.next;
  if (s.next) s.next->prev = s.prev;
  s.prev = s.next = nullptr;
  s.listed = false;
}

void list(Context& c, Storage& s) {
  if (s.listed) return;
  s.next = c.pending;
  if (s.next) s.next->prev = &s;
  c.pending = &s;
  s.listed = true;
}

// One storage less has this version.
void leave_version(Context& c, Node& n) {
  if (--n.handles == 0 && n.data && !only_known(n, 1)) {
    c.retained_bytes += n.data->bytes;
    n.accounting |= kRetained;
  }
}

// The address of an array's element 0 in its evaluated version.
std::byte* address(const Array& a, const Node& n) {
  return n.data->data + n.data_offset + a.storage->base + a.offset;
}

}  // namespace

Ref<Buffer> duplicate(const Buffer& b) {
  if (b.device > kHost) {
    Ref<Buffer> own = devices().memory(b.device).allocate(b.bytes);
    devices().memory(b.device).copy(own->data, b.data, b.bytes);
    return own;
  }
  Ref<Buffer> own = allocate(b.bytes);
  std::memcpy(own->data, b.data, b.bytes);
  return own;
}

void Storage::destroy(Storage* s) {
  Context& c = context();
  const Lock held = hold();
  leave_version(c, *s->version);
  unlist(c, *s);
  c.storages.destroy(s);
}

namespace {
// Of all storages together, so that a number stands for contents even where a storage's place is
// used again. The recorder's lock is held.
std::uint32_t writes_so_far = 0;
std::uint32_t next_write() { return ++writes_so_far; }
// The memory of the contents may be written to from now on.
void open_to_writes(Storage& s) {
  s.writes = next_write();
  forget_contents(*s.version);
  if (exported(s))
    s.version->accounting |= kOpen;
  else
    s.version->accounting &= static_cast<std::uint8_t>(~kOpen);
}
}  // namespace

std::uint32_t last_write() { return writes_so_far; }

void set_version(Storage& s, Ref<Node> n) {
  Context& c = context();
  if (Capture* const watching = capture()) [[unlikely]]
    watching->writes(s);
  s.readable.store(nullptr, std::memory_order_relaxed);
  if (n) {
    ++n->handles;
    if (exported(s)) n->accounting |= kOpen;
    if (n->accounting & kRetained) {
      c.retained_bytes -= n->data->bytes;
      n->accounting &= static_cast<std::uint8_t>(~kRetained);
    }
  }
  std::swap(s.version, n);
  s.writes = next_write();
  if (n) leave_version(c, *n);
  if (s.version && is_pending(*s.version))
    list(c, s);
  else
    unlist(c, s);
}

void make_storage(Array& a, Ref<Node> n) {
  Context& c = context();
  Storage* s = c.storages.make();
  a.storage = Ref<Storage>(s);
  s->bytes = element_count(n->shape) * static_cast<std::int64_t>(itemsize(n->dtype));
  s->writes = next_write();
  ++n->handles;
  if (is_pending(*n)) list(c, *s);
  s->version = std::move(n);
}

namespace {
// Whether the array is all of its storage, in C order, and nobody outside sees the memory.
bool has_all(const Array& a) {
  const Storage& s = *a.storage;
  const Node& v = *s.version;
  return a.offset + s.base == 0 && v.kind != NodeKind::View && v.dtype == a.dtype &&
         v.shape == a.shape && v.strides == a.strides && is_c_contiguous(a) && !exported(s) &&
         !s.borrowed && !s.any_bytes && (!v.data || owned_memory(*v.data));
}
}  // namespace

bool is_owned(const Array& a) {
  const Lock held = hold();
  return a.writeable && only_known(*a.storage, 1) && has_all(a);
}

Array fork(const Array& a) {
  const Lock held = hold();
  return has_all(a) && !capture() ? wrap(a.storage->version) : copy(a);
}

namespace {
thread_local constinit bool reads_wait = false;

bool is_open(const Node& n) { return (n.accounting & kOpen) != 0; }
bool meet(const Buffer& a, const Buffer& b) {
  return a.device == b.device && a.data < b.data + b.bytes && b.data < a.data + a.bytes;
}
}  // namespace

bool let_reads_wait(bool wait) {
  const bool waited = std::exchange(reads_wait, wait);
  if (waited) {
    const Lock held = hold();
    if (const auto late = pending_readers(is_open); !late.empty()) evaluate_nodes(late);
  }
  return waited;
}

void finish(const Array& result, bool eager) {
  if (!eager) [[likely]]
    return;
  if (reads_wait && !eager_errors()) return;
  evaluate(result);
}

Ref<Node> view_node(const Array& a) {
  Ref<Node> n = take_node(NodeKind::View);
  n->dtype = a.dtype;
  n->shape = a.shape;
  n->strides = a.strides;
  n->offset = a.offset + a.storage->base;
  n->n_inputs = 1;
  const Node& version = *a.storage->version;
  if (version.kind == NodeKind::View) {  // one of a call's results; views are relative to memory
    n->offset += version.offset;
    n->inputs[0] = version.inputs[0];
  } else {
    n->inputs[0] = a.storage->version;
  }
  return record(std::move(n));
}

Ref<Node> truth_node(const Array& a) {
  Array bytes = a;
  bytes.dtype = DType::UInt8;
  return converted(node_of(bytes), DType::Bool);
}

Ref<Node> read(const Array& a) {
  const Lock held = hold();
  return node_of(a);
}

void take_any_bytes(const Array& a) {
  const Lock held = hold();
  a.storage->any_bytes = true;
  a.storage->readable.store(nullptr, std::memory_order_relaxed);
}

bool is_materialised(const Array& a) { return a.storage->version->materialised() && !capture(); }

constexpr const char* kValueNeeded = "it needs a value before it returns";

namespace {
std::atomic<std::uint64_t> evaluations{0};
}
std::uint64_t evaluations_so_far() { return evaluations; }

void evaluate_nodes(std::span<const Ref<Node>> nodes) {
  obstruct_capture(kValueNeeded);
  std::vector<Node*> wanted;
  for (const Ref<Node>& n : nodes)
    if (is_pending(*n)) wanted.push_back(n.get());
  if (!wanted.empty()) {
    ++evaluations;
    evaluator().evaluate(wanted);
  }
  const Lock held = hold();
  Context& c = context();
  if (!wanted.empty()) ++c.evaluation;
  for (Storage* s = c.pending; s;) {
    Storage* next = s->next;
    if (!is_pending(*s->version)) unlist(c, *s);
    s = next;
  }
}

std::vector<Ref<Node>> pending_readers(const std::function<bool(Node&)>& reads) {
  std::unordered_map<const Node*, bool> known;
  std::vector<Node*> stack;
  std::vector<Ref<Node>> found;
  for (Storage* s = context().pending; s; s = s->next) {
    stack.push_back(s->version.get());
    while (!stack.empty()) {
      Node& n = *stack.back();
      bool ready = true, reader = false;
      if (!known.contains(&n)) {
        if (!is_pending(n)) reader = n.data && reads(n);
        for (int i = 0; is_pending(n) && i < n.n_inputs; ++i) {
          if (!n.inputs[i]) continue;
          const auto input = known.find(n.inputs[i].get());
          if (input == known.end()) {
            stack.push_back(n.inputs[i].get());
            ready = false;
          } else {
            reader |= input->second;
          }
        }
        if (!ready) continue;
        known[&n] = reader;
      }
      stack.pop_back();
    }
    if (known[s->version.get()] && is_pending(*s->version)) found.push_back(s->version);
  }
  return found;
}

void evaluate(std::span<const Array> arrays) {
  obstruct_capture(kValueNeeded);
  const Lock held = hold();
  std::vector<Ref<Node>> nodes;
  for (const Array& a : arrays)
    if (is_pending(*a.storage->version)) nodes.push_back(a.storage->version);
  if (!nodes.empty()) evaluate_nodes(nodes);
}

Lock hold_evaluated(const Array& a) {
  obstruct_capture(kValueNeeded);
  for (;;) {
    Lock held = hold();
    if (!is_pending(*a.storage->version)) return held;
    held.unlock();
    evaluate(a);
  }
}

void* data(const Array& a) {
  const Lock held = hold_evaluated(a);
  const Node& v = *a.storage->version;
  if (v.device > kHost) {
    // The host's copy is read, never written: it would not go back.
    const std::byte* mirror = host_mirror(*v.data);
    return const_cast<std::byte*>(mirror) + v.data_offset + a.storage->base + a.offset;
  }
  return address(a, v);
}

namespace {
// The storage's value in another node.
Ref<Node> same_value(const Node& v, Ref<Buffer> memory) {
  Ref<Node> n = new_node(NodeKind::Data);
  n->dtype = v.dtype;
  n->shape = v.shape;
  n->strides = v.strides;
  n->data = std::move(memory);
  n->data_offset = v.data_offset;
  return record(std::move(n));
}

// Another storage may hold the same value (its version is the same node): writes through a pointer
// must not reach it, nor values recorded before.
void part_from_others(Storage& s) {
  release_readers(s);
  const Node& v = *s.version;
  const bool shared = v.handles > 1 || shared_memory(*v.data);
  // What is borrowed stays where its owner looks.
  const bool lent = v.data->foreign && (s.borrowed || v.data->watched);
  if (shared && !lent) set_version(s, same_value(v, duplicate(*v.data)));
}
}  // namespace

void release_readers(Storage& s) {
  // Another storage may lie over memory of somebody else's, too.
  const bool others_wait = reads_wait && exported(s);
  if (only_known(*s.version, 1) && !others_wait) return;
  const Buffer* memory = s.version->data.get();
  const auto reads = [&](const Node& n) {
    return n.data.get() == memory || (others_wait && is_open(n) && meet(*n.data, *memory));
  };
  flush(pending_readers(reads));
  // What is left could not be computed.
  if (pending_readers(reads).empty()) return;
  const Ref<Node> read = s.version;
  Ref<Buffer> copy = duplicate(*read->data);
  set_version(s, same_value(*read, read->data));
  read->data = std::move(copy);
}

// Whether nothing has to be computed, moved or copied before others may see the memory.
static bool ready_to_share(const Storage& s, DeviceId device) {
  const Node& v = *s.version;
  return !is_pending(v) && std::max(v.device, kHost) == device && !s.borrowed && only_known(v, 1) &&
         (exported(s) || !shared_memory(*v.data)) && nobody_evaluates();
}

void* export_memory(const Array& a, DeviceId device) {
  let_reads_wait(false);
  {
    obstruct_capture(kValueNeeded);
    const Lock held = hold();
    Storage& s = *a.storage;
    if (ready_to_share(s, device)) {
      ++s.exports;
      open_to_writes(s);
      return address(a, *s.version);
    }
  }
  evaluate(a);
  const Lock held = hold();
  const EvaluationScope whole(EvaluationScope::LockWhileRunning::Kept);
  const Lock evaluated = hold_evaluated(a);
  Storage& s = *a.storage;
  if (device_of(a) != device)
    throw DeviceError("memory on '" + devices().name(device_of(a)) + "' cannot be seen from '" +
                      devices().name(device) + "': take a copy with to_device()");
  settle_borrowed(s);
  if (exported(s))
    release_readers(s);  // of another thread's, that wait
  else
    part_from_others(s);
  ++s.exports;
  open_to_writes(s);
  return address(a, *s.version);
}

void* writable_data(const Array& a) {
  evaluate(a);
  const Lock held = hold();
  const EvaluationScope whole(EvaluationScope::LockWhileRunning::Kept);
  const Lock evaluated = hold_evaluated(a);
  settle_borrowed(*a.storage);
  part_from_others(*a.storage);
  open_to_writes(*a.storage);
  return address(a, *a.storage->version);
}

void unexport(const Array& a) {
  const Lock held = hold();
  if (a.storage->exports == 0) throw InternalError("unexport of memory that is not exported");
  --a.storage->exports;
  open_to_writes(*a.storage);
}

void* pin(const Array& a, DeviceId device) {
  void* memory = export_memory(a, device);
  const Lock held = hold();
  a.storage->pinned = true;
  --a.storage->exports;
  return memory;
}

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
