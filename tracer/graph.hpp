// The recorder's own state and the helpers its files share. Callers hold the lock.
#pragma once
#include <array>
#include <atomic>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "at_once.hpp"
#include "capture.hpp"
#include "context.hpp"
#include "core/config.hpp"
#include "core/free_list.hpp"
#include "device.hpp"
#include "error_states.hpp"
#include "layout.hpp"

namespace plait::tracer {

// Bits of Node::accounting.
inline constexpr std::uint8_t kPending = 1;   // counted in pending_nodes
inline constexpr std::uint8_t kRetained = 2;  // counted in retained_bytes
inline constexpr std::uint8_t kFailed = 4;    // could not be computed: flush() leaves it alone
inline constexpr std::uint8_t kComputed = 8;  // see computed.hpp
inline constexpr std::uint8_t kOpen = 16;     // somebody outside may write to the memory
inline constexpr std::uint8_t kShown = 32;    // Node::contents is that of another node

// A site of at_once.hpp. seen: how often since that evaluation. trial: its first rounds, with those
// of other sites; 0: not begun. Then how often it comes by in a round, and how often it still may.
struct AtOnce {
  std::uint32_t site = 0, evaluation = 0, seen = 0;
  std::uint32_t trial = 0, epoch = 0, rounds = 0, each = 0, left = 0;
};

struct Context {
  RecursiveLock mutex;
  Evaluator* evaluator = nullptr;
  HostLock host_lock{[]() -> void* { return nullptr; }, [](void*) {}};

  std::size_t pending_nodes = 0;
  std::size_t recorded = 0;
  std::size_t flushes = 0;
  std::size_t retained_bytes = 0;  // values that only pending nodes keep alive
  std::size_t node_limit = 4096;
  std::size_t byte_limit = std::size_t{1} << 30;
  // A loop of the caller's is cut where it comes round: see keep_bounds().
  std::size_t loop_limit = 1024;
  std::size_t next_anchor = 512;  // a new anchor is taken at this many pending nodes
  std::uint32_t anchor = 0, last_site = 0;
  std::array<AtOnce, 1024> at_once{};  // at the site's number
  std::uint32_t at_once_epoch = 0, last_middling = 0;
  std::uint32_t trial = 1, evaluation = 0;
  double trial_left = 0;  // seconds
  int watched = 0;
  std::uint64_t last_contents = 0;  // see derived.hpp
  void (*contents_gone)(std::uint64_t) = nullptr;
  // Starts high, apart from walks that other layers number themselves.
  std::uint64_t walks = std::uint64_t{1} << 63;
  Storage* pending = nullptr;  // storages whose version was pending when it was set

  std::array<ErrorState, 256> error_states{};  // of which the first is NumPy's default
  int error_state_count = 1;
  std::atomic<bool> warnings_caught{false};
  std::uint32_t (*site)() = nullptr;
  std::string (*site_text)(std::uint32_t) = nullptr;
  void (*fp_sink)(FpEvent, std::string_view, const ErrorState&, std::uint32_t) = nullptr;

  FreeList<Node> nodes;
  FreeList<Storage> storages;
  std::vector<Node*> dying;  // nodes whose last reference went while another was being destroyed
  bool destroying = false;
};
// Made before any code runs, and never destroyed: arrays in static storage may outlive any static.
union ContextMemory {
  Context context;
  constexpr ContextMemory() : context() {}
  ~ContextMemory() {}
};
extern constinit ContextMemory context_memory;
inline Context& context() { return context_memory.context; }

// What a thread records from now on.
struct ThreadState {
  KnownErrorState errors;
  NamedAs named = NamedAs::Itself;
};
ThreadState& thread_state();

using Lock = std::unique_lock<RecursiveLock>;
inline Lock hold() { return Lock(context().mutex); }

// new_node() for callers that hold the lock.
inline Ref<Node> take_node(NodeKind kind) {
  Node* n = context().nodes.make();
  n->kind = kind;
  return Ref<Node>(n);
}

void set_version(Storage& s, Ref<Node> n);
std::uint64_t evaluations_so_far();  // that have begun, of all threads
std::uint32_t last_write();          // see Storage::writes
// Few elements of memory that only the target's storage sees are stored to without a node; false
// where that is not so, or where `v` is not in memory, of other shape or dtype, or may overlap.
bool stored_at_once(const Array& target, const Scalar& v);
bool stored_at_once(const Array& target, const Array& v);

inline bool exported(const Storage& s) { return s.exports != 0 || s.pinned; }

// Completes a node: error state, call site, accounting, checks. Its fields are set. Small work on
// what is in memory is done at once, because a plan costs more than it could save.
void complete(Node& n);
inline Ref<Node> record(Ref<Node> n) {
  complete(*n);
  return n;
}
bool computed_at_once(const Node& n);
inline bool few(const Dims& shape) { return element_count(shape) <= eager_limit(); }
// Whether this call is one of at_once.hpp's, for an operation that takes so long an element; counts
// it.
bool at_once_here(std::int64_t elements, double of_element);
// Evaluates what is pending and not long, for such a call; then as in_host_memory().
bool brought(const Array& a);
// Seconds of an element that is read and written, in units of an operation's cost beside that.
inline double element_seconds(DType t, int cost = 1) {
  return 3 * static_cast<double>(itemsize(t)) * kMachine.memory[0].byte + cost * kMachine.cycle;
}
inline bool is_pending(const Node& n) { return !n.data && n.kind != NodeKind::Scalar; }
Ref<Buffer> duplicate(const Buffer& b);  // on its device
// flush() of these versions alone: what cannot be computed stays pending.
void flush(std::vector<Ref<Node>> wanted);
// Pending versions of storages that are computed from materialised nodes for which `reads` holds;
// it is asked of each of those once.
std::vector<Ref<Node>> pending_readers(const std::function<bool(Node&)>& reads);
// Evaluates what is pending when the graph has grown past its bounds; call before recording.
void keep_bounds();
inline void bound_graph() {
  const Context& c = context();
  if (c.pending_nodes > c.loop_limit || c.retained_bytes > c.byte_limit) [[unlikely]]
    keep_bounds();
}
// Brings evaluated contents of borrowed memory there, where their owner looks: call before memory
// of the storage is handed out. Nobody else evaluates.
void settle_borrowed(Storage& s);
// Call before the storage's memory, which is evaluated, is written to: what is pending and reads it
// is computed, or has a copy of it where that fails.
void release_readers(Storage& s);
// Evaluates nodes through the installed evaluator, those that are not in memory yet.
void evaluate_nodes(std::span<const Ref<Node>> nodes);

// Evaluates the array and holds the lock: another thread may write to its storage as soon as that
// is let go.
Lock hold_evaluated(const Array& a);

// Sets the node's device: that of its inputs, or of its memory. Values of 0-D inputs from elsewhere
// become scalars; throws DeviceError for other inputs from elsewhere. Asked only once devices are
// in use.
void place(Node& n);
// `value` as kernels of `device` can take it, by the same rule.
Ref<Node> on_device(Ref<Node> value, DeviceId device);

// read() for callers that hold the lock.
Ref<Node> view_node(const Array& a);
// Whether the array's elements are bytes of which any but 0 is true: loops take 0 and 1 alone.
inline bool has_any_bytes(const Array& a) { return a.storage->any_bytes && a.dtype == DType::Bool; }
Ref<Node> truth_node(const Array& a);
inline Ref<Node> node_of(const Array& a) {
  if (Capture* const c = capture()) [[unlikely]]
    c->reads(*a.storage);
  if (has_any_bytes(a)) [[unlikely]]
    return truth_node(a);
  const Ref<Node>& v = a.storage->version;
  const bool whole = a.offset + a.storage->base == 0 && v->dtype == a.dtype &&
                     v->shape == a.shape && v->strides == a.strides;
  return whole ? v : view_node(a);
}
// An array that has no storage yet. (To list its members makes compilers fill it with zeros first.)
inline Array fresh_array(DType t, const Dims& shape, const Dims& strides) {
  Array a;
  a.dtype = t;
  a.shape = shape;
  a.strides = strides;
  return a;
}
// Gives an array of the node's dtype, shape and strides a storage whose version is `n`.
void make_storage(Array& a, Ref<Node> n);
// Gives a fresh array a storage in memory, for whoever computes it at once.
void give_memory(Array& a);
// Whether loops can read the array as it is.
inline bool in_host_memory(const Array& a) {
  const Node& n = *a.storage->version;
  return n.materialised() && n.device == kHost && !has_any_bytes(a);
}
// A fresh array of `shape` and `strides` whose storage's version is `n`.
inline Array wrap(Ref<Node> n, const Dims& shape, const Dims& strides) {
  Array a = fresh_array(n->dtype, shape, strides);
  make_storage(a, std::move(n));
  return a;
}
inline Array wrap(const Ref<Node>& n) { return wrap(n, n->shape, n->strides); }
// Evaluates `result` when the caller may not be left with a pending node: an operand's memory is
// exported, or float errors are to surface in this call.
void finish(const Array& result, bool eager);
inline bool reads_export(const Array& a) { return exported(*a.storage); }

Ref<Node> scalar_node(const Scalar& s);
// Without a device it is at home wherever it is used, as a scalar is.
Ref<Node> fill_node(const Dims& shape, const Dims& strides, const Scalar& s,
                    DeviceId device = kAnyDevice);
Ref<Node> cast_node(Ref<Node> value, DType to, const Dims& strides);
// `n` as `to`, in the iterator's layout for it; `n` itself when nothing changes.
Ref<Node> converted(Ref<Node> n, DType to);
inline Ref<Node> as_dtype(Ref<Node> n, DType to) {
  return n->dtype == to ? n : converted(std::move(n), to);
}
// A fresh node reading `n` with the given shape: stride 0 along broadcast axes.
Ref<Node> broadcast_node(Ref<Node> n, const Dims& shape);

// Stores a node (dtype and shape may still differ: cast and broadcast) through target's view. The
// caller has validated shapes and writeability.
void store(const Array& target, Ref<Node> value, Ref<Node> mask);

std::int64_t normalise_axis(std::int64_t axis, int ndim, const char* prefix = "");
// Sorted and distinct; throws "duplicate value in 'axis'".
Dims normalise_axes(const Dims& axes, int ndim);
Scalar checked_scalar(const Scalar& s, Weak weak, DType to);  // OverflowError as NumPy's
// Reports overflow in NumPy's cast of a scalar, and underflow unless it is Python's own number.
// What plainly fits costs a comparison.
void report_narrowing(const Scalar& s, Weak weak, DType to);
inline void report_cast(const Scalar& s, Weak weak, DType to) {
  if (to != DType::Float32 && to != DType::Float16 && to != DType::Complex64) return;
  if (to != DType::Float16) {
    if (s.dtype == DType::Int64) return;
    const double x = s.dtype == DType::Float64 ? std::abs(s.as<double>()) : 0;
    if (s.dtype == DType::Float64 && (x == 0 || (x >= 0x1p-126 && x <= 0x1p127))) return;
  }
  if (s.dtype != to) report_narrowing(s, weak, to);
}
// Whether where() casts Python's numbers as arrays of their own, which may underflow; NumPy does
// not from 2.5 on.
inline bool where_casts_numbers = true;
std::string quoted(DType t);  // dtype('float64')
std::string_view casting_name(Casting c);

}  // namespace plait::tracer
