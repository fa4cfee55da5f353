// Memory of somebody else, found again by its address range: borrowed buffers that overlap share
// one storage.
#include <cstring>

#include "graph.hpp"

namespace plait::tracer {

namespace {

struct Borrowed {
  std::byte* first;
  std::byte* last;
  Ref<Storage> storage;  // keeps writes alive until they have reached the memory
};

std::vector<Borrowed>& registry() {
  static auto& r = *new std::vector<Borrowed>;  // guarded by the lock
  return r;
}

void no_release(void*) {}

// The whole range as bytes: arrays of any dtype and layout read it through views.
Ref<Node> bytes_node(std::byte* first, std::byte* last, bool writeable) {
  Ref<Node> n = new_node(NodeKind::Data);
  n->dtype = DType::UInt8;
  n->shape = Dims{last - first};
  n->strides = Dims{1};
  n->data = adopt(first, static_cast<std::size_t>(last - first), writeable, no_release, nullptr);
  return record(std::move(n));
}

// Brings the storage's current contents into the borrowed memory.
void write_back(const Borrowed& b) {
  const Node& v = *b.storage->version;
  const Extent e = extent(v.shape, v.strides, static_cast<std::int64_t>(itemsize(v.dtype)));
  const std::byte* from = v.data->data + v.data_offset + e.first;
  if (from != b.first && v.data->writeable)
    std::memcpy(b.first, from, static_cast<std::size_t>(e.last - e.first));
}

}  // namespace

Array borrow(void* data, DType t, const Dims& shape, const Dims& strides, bool writeable) {
  const Lock held = hold();
  const auto unit = static_cast<std::int64_t>(itemsize(t));
  const Extent e = extent(shape, strides, unit);
  auto* origin = static_cast<std::byte*>(data);
  std::byte* first = origin + e.first;
  std::byte* last = origin + e.last;
  if (first == last) {
    const OnDevice host(kHost);
    Array a = empty(shape, t);
    a.strides = strides;
    a.writeable = writeable;
    return a;
  }
  auto& all = registry();
  Borrowed* same = nullptr;
  for (Borrowed& b : all)
    if (first < b.last && b.first < last) {
      if (same) {
        // The new range joins two storages that arrays already refer to.
        release_borrowed();
        same = nullptr;
        break;
      }
      same = &b;
    }
  Array a;
  if (!same) {
    Ref<Node> n;
    const bool plain = c_contiguous(shape, strides, unit) || e.first == 0;
    if (plain) {
      n = new_node(NodeKind::Data);
      n->dtype = t;
      n->shape = shape;
      n->strides = strides;
      n->data =
          adopt(first, static_cast<std::size_t>(last - first), writeable, no_release, nullptr);
      n = record(std::move(n));
    } else {
      n = bytes_node(first, last, writeable);
    }
    a = wrap(std::move(n), shape, strides);
    a.dtype = t;
    a.offset = -e.first;
    a.storage->borrowed = true;
    all.push_back({first, last, a.storage});
  } else {
    if (first < same->first || last > same->last) {
      evaluate_nodes(std::span(&same->storage->version, 1));
      flush();
      write_back(*same);
      const std::int64_t grown = std::max<std::int64_t>(same->first - first, 0);
      same->first = std::min(same->first, first);
      same->last = std::max(same->last, last);
      same->storage->base += grown;
      set_version(*same->storage, bytes_node(same->first, same->last, writeable));
    }
    a.storage = same->storage;
    a.dtype = t;
    a.shape = shape;
    a.strides = strides;
    a.offset = (origin - same->first) - same->storage->base;
  }
  a.writeable = writeable;
  return a;
}

void release_borrowed() {
  flush();
  const Lock held = hold();
  std::vector<Borrowed> all;
  all.swap(registry());
  for (Borrowed& b : all) {
    write_back(b);
    b.storage->borrowed = false;
    // Who still holds the array keeps a copy of its own: the memory goes back to its owner.
    const bool held_elsewhere = b.storage->refs.load(std::memory_order_relaxed) > 1;
    const Ref<Node> v = b.storage->version;
    if (!held_elsewhere || !v->data->foreign) continue;
    Ref<Buffer> own = allocate(v->data->bytes);
    std::memcpy(own->data, v->data->data, v->data->bytes);
    Ref<Node> n = new_node(NodeKind::Data);
    n->dtype = v->dtype;
    n->shape = v->shape;
    n->strides = v->strides;
    n->data = std::move(own);
    n->data_offset = v->data_offset;
    set_version(*b.storage, record(std::move(n)));
  }
}

void write_borrowed(const Array& a) {
  flush();
  const Lock held = hold();
  for (Borrowed& b : registry()) {
    if (b.storage != a.storage) continue;
    write_back(b);
    const Node& v = *b.storage->version;
    if (v.data->foreign || !v.data->writeable) return;
    const Extent e = extent(v.shape, v.strides, static_cast<std::int64_t>(itemsize(v.dtype)));
    Ref<Node> n = new_node(NodeKind::Data);
    n->dtype = v.dtype;
    n->shape = v.shape;
    n->strides = v.strides;
    n->data = adopt(b.first, static_cast<std::size_t>(b.last - b.first), true, no_release, nullptr);
    n->data_offset = -e.first;
    set_version(*b.storage, record(std::move(n)));
    return;
  }
}

void end_borrow(const Array& a) {
  write_borrowed(a);
  const Lock held = hold();
  auto& all = registry();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].storage == a.storage && a.storage->refs.load(std::memory_order_relaxed) == 2) {
      const Borrowed last = std::move(all[i]);  // dies after the registry has forgotten it
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
}

}  // namespace plait::tracer
