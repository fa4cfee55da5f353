#include "device.hpp"

#include <atomic>
#include <cstring>
#include <utility>

#include "core/config.hpp"
#include "core/shape_limits.hpp"
#include "graph.hpp"

namespace plait::tracer {

namespace {

// Not a device: nobody has said anything yet.
constexpr DeviceId kUnsaid = kThreadDefault;

std::atomic<DeviceId> process_default{kUnsaid};
thread_local DeviceId thread_device = kUnsaid;

// The one value that an input from elsewhere stands for, if it is one: 0-D, or that broadcast.
const Node* single_value(const Node& n) {
  if (n.shape.size() == 0) return &n;
  const bool broadcast = n.kind == NodeKind::View && n.inputs[0]->shape.size() == 0;
  return broadcast ? n.inputs[0].get() : nullptr;
}

Scalar value_of(Node& n) {
  if (n.kind == NodeKind::Scalar) return n.scalar;
  if (n.kind == NodeKind::Fill && !n.data) return n.inputs[0]->scalar;
  const Ref<Node> hold(&n);
  evaluate_nodes(std::span(&hold, 1));
  Scalar s;
  s.dtype = n.dtype;
  if (n.device == kHost)
    std::memcpy(s.bytes, n.data->data + n.data_offset, itemsize(n.dtype));
  else
    devices().memory(n.device).download(s.bytes, n.data->data + n.data_offset, itemsize(n.dtype),
                                        "a 0-D operand");
  return s;
}

// --- memory of one device as the other's ---

Ref<Buffer> moved(Buffer& from, DeviceId to) {
  const std::size_t bytes = from.bytes;
  if (to == kHost) {
    Ref<Buffer> b = allocate(bytes);
    const Ref<Buffer>& mirror = static_cast<DeviceBuffer&>(from).mirror;
    if (mirror)
      std::memcpy(b->data, mirror->data, bytes);
    else
      devices().memory(from.device).download(b->data, from.data, bytes, "to_device");
    return b;
  }
  const std::byte* source = from.device == kHost ? from.data : host_mirror(from);
  return devices().memory(to).upload(source, bytes, "to_device");
}

}  // namespace

DeviceId device_of(const Array& a) { return std::max(a.storage->version->device, kHost); }

Ref<Node> on_device(Ref<Node> value, DeviceId device) {
  if (value->device == device || value->device == kAnyDevice) return value;
  const Node* single = single_value(*value);
  if (!single)
    throw DeviceMismatchError("operands are on different devices, '" +
                              devices().name(value->device) + "' and '" + devices().name(device) +
                              "': move one of them with to_device()");
  const Scalar s = value_of(const_cast<Node&>(*single));
  if (value->shape.size() == 0) return scalar_node(s);
  return fill_node(value->shape,
                   dense_strides(value->shape, static_cast<std::int64_t>(itemsize(s.dtype)), 'C'),
                   s);
}

void place(Node& n) {
  if (n.data) {
    n.device = n.data->device;
    return;
  }
  if (n.kind == NodeKind::Scalar || n.kind == NodeKind::Fill || n.kind == NodeKind::Iota) return;
  // Arrays decide; among single values a device comes before the host.
  DeviceId device = kAnyDevice;
  bool decided = false;
  for (int i = 0; i < n.n_inputs; ++i) {
    const Node& in = *n.inputs[i];
    if (in.device == kAnyDevice) continue;
    const bool array = !single_value(in);
    if (array && !decided)
      device = in.device;
    else if (!decided)
      device = std::max(device, in.device);
    decided = decided || array;
  }
  n.device = device;
  for (int i = 0; i < n.n_inputs; ++i) {
    if (n.inputs[i]->device == device || n.inputs[i]->device == kAnyDevice) continue;
    n.inputs[i] = on_device(n.inputs[i], device);
  }
}

Array to_device(const Array& a, DeviceId device) {
  if (device_of(a) == device) return a;
  const Lock held = hold_evaluated(a);
  if (a.ndim() == 0 && device_of(a) == kHost)
    return wrap(fill_node({}, {}, value_of(*node_of(a)), device));
  const Node& v = *a.storage->version;
  const Extent covered = extent(a.shape, a.strides, static_cast<std::int64_t>(itemsize(a.dtype)));
  const std::int64_t first = v.data_offset + a.storage->base + a.offset + covered.first;
  const bool whole =
      first == 0 && static_cast<std::size_t>(covered.last - covered.first) == v.data->bytes &&
      a.size() * static_cast<std::int64_t>(itemsize(a.dtype)) == covered.last - covered.first;
  // Of a view only its elements travel.
  if (!whole) return to_device(copy(a), device);
  Ref<Node> n = new_node(NodeKind::Data);
  n->dtype = a.dtype;
  n->shape = a.shape;
  n->strides = a.strides;
  n->data = moved(*v.data, device);
  n->data_offset = -covered.first;
  return wrap(record(std::move(n)));
}

bool is_aligned(DType t, std::int64_t address, const Dims& shape, const Dims& strides) {
  const auto item = static_cast<std::int64_t>(itemsize(t));
  const std::int64_t alignment = is_complex(t) ? item / 2 : item;
  bool aligned = address % alignment == 0;
  for (int d = 0; d < shape.size(); ++d) aligned &= shape[d] <= 1 || strides[d] % alignment == 0;
  return aligned || element_count(shape) == 0;
}

bool is_aligned(const Array& a) {
  const Lock held = hold();
  const Storage& s = *a.storage;
  const std::int64_t at = a.offset + s.base;
  const auto aligned = [&](std::int64_t address) {
    return is_aligned(a.dtype, address, a.shape, a.strides);
  };
  // Where updates that are pending write, if they need no memory of their own.
  const Node* now = s.version.get();
  while (now->kind == NodeKind::Update && !now->data) now = now->inputs[0].get();
  if (now->data &&
      !aligned(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(now->data->data)) +
               now->data_offset + at))
    return false;
  // A version in memory of its own begins where a block does; exported ones stay where they are.
  const Node& v = *s.version;
  const Extent all = extent(v.shape, v.strides, static_cast<std::int64_t>(itemsize(v.dtype)));
  return exported(s) || aligned(at - all.first);
}

Array adopt(std::byte* at, DType t, const Dims& shape, const Dims& strides, DeviceId device,
            void* stream, bool writeable, void (*release)(void*), void* owner) {
  check_shape(shape, static_cast<std::int64_t>(itemsize(t)));
  if (!is_aligned(t, static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(at)), shape,
                  strides))
    throw ValueError("memory on '" + devices().name(device) + "' is not aligned for " +
                     std::string(name(t)) + ": kernels cannot read it");
  const Extent covered = extent(shape, strides, static_cast<std::int64_t>(itemsize(t)));
  Ref<Buffer> buffer = devices().memory(device).adopt(
      at + covered.first, static_cast<std::size_t>(covered.last - covered.first), stream, release,
      owner);
  buffer->writeable = writeable;
  Array a = from_buffer(std::move(buffer), t, shape, strides, -covered.first);
  a.writeable = writeable;
  if (covered.last > covered.first) pin(a, device);
  return a;
}

DeviceId current_device() {
  if (thread_device != kUnsaid) return thread_device;
  DeviceId device = process_default.load(std::memory_order_relaxed);
  if (device == kUnsaid) [[unlikely]] {
    const std::string& name = config().device;
    device = name.empty() ? kHost : devices().open(name);
    process_default.store(device);
  }
  return device;
}
void set_default_device(DeviceId device) { process_default.store(device); }

DeviceId set_thread_device(DeviceId device) { return std::exchange(thread_device, device); }

Array placed(const Array& made) { return to_device(made, current_device()); }

OnDevice::OnDevice(DeviceId device) : outer_(set_thread_device(device)) {}
OnDevice::~OnDevice() { set_thread_device(outer_); }

}  // namespace plait::tracer
