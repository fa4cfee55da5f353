// Storages, their versions, and the way from an array to its value.
#include "storage.hpp"

#include <cstring>
#include <unordered_map>

#include "deferred.hpp"
#include "derived.hpp"
#include "evaluation_scope.hpp"

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
}  // namespace

std::uint32_t last_write() { return writes_so_far; }

void open_to_writes(Storage& s) {
  s.writes = next_write();
  forget_contents(*s.version);
  if (exported(s))
    s.version->accounting |= kOpen;
  else
    s.version->accounting &= static_cast<std::uint8_t>(~kOpen);
}

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

Ref<Node> same_value(const Node& v, Ref<Buffer> memory) {
  Ref<Node> n = new_node(NodeKind::Data);
  n->dtype = v.dtype;
  n->shape = v.shape;
  n->strides = v.strides;
  n->data = std::move(memory);
  n->data_offset = v.data_offset;
  return record(std::move(n));
}

namespace {
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

}  // namespace plait::tracer
