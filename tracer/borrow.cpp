// Memory of somebody else, found again by its address range: borrowed buffers that overlap share
// one storage.
#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include "derived.hpp"
#include "evaluation_scope.hpp"
#include "graph.hpp"
#include "ownership.hpp"

namespace plait::tracer {

namespace {

struct Borrowed {
  std::byte* first;
  std::byte* last;
  Ref<Storage> storage;  // keeps writes alive until they have reached the memory
  Ref<Lender> lender;
  int leases = 1;                           // borrowings that have not ended
  bool as_bool = false, as_others = false;  // whether arrays show it as Bool, as another dtype
};

// By their addresses; no two meet.
std::vector<Borrowed>& registry() {
  static auto& r = *new std::vector<Borrowed>;  // guarded by the lock
  return r;
}

// The buffers of a borrowed range keep its lender.
Ref<Buffer> lent(std::byte* first, std::byte* last, bool writeable, const Ref<Lender>& lender) {
  auto* held = new Ref<Lender>(lender);
  try {
    Ref<Buffer> b = adopt(
        first, static_cast<std::size_t>(last - first), writeable,
        [](void* p) { delete static_cast<Ref<Lender>*>(p); }, held);
    b->watched = false;  // until the borrowing ends
    return b;
  } catch (...) {
    delete held;
    throw;
  }
}

Ref<Node> data_node(Ref<Buffer> memory, DType t, const Dims& shape, const Dims& strides,
                    std::int64_t offset = 0) {
  Ref<Node> n = new_node(NodeKind::Data);
  n->dtype = t;
  n->shape = shape;
  n->strides = strides;
  n->data = std::move(memory);
  n->data_offset = offset;
  return record(std::move(n));
}

// The whole range as bytes: arrays of any dtype and layout read it through views.
Ref<Node> bytes_node(std::byte* first, std::byte* last, bool writeable, const Ref<Lender>& lender) {
  return data_node(lent(first, last, writeable, lender), DType::UInt8, Dims{last - first}, Dims{1});
}

Extent extent_of(const Node& v) {
  return extent(v.shape, v.strides, static_cast<std::int64_t>(itemsize(v.dtype)));
}
const std::byte* first_byte(const Node& v) {
  return v.data->data + v.data_offset + extent_of(v).first;
}

// Brings the storage's evaluated contents into the borrowed memory, where its version lies from
// now on. Nothing that is pending reads what was there.
void bring_home(Borrowed& b) {
  if (const Ref<Node> pending = b.storage->version; is_pending(*pending))
    evaluate_nodes(std::span(&pending, 1));  // flush() could not: here is who asks
  const Node& v = *b.storage->version;
  const Extent e = extent_of(v);
  const std::byte* from = first_byte(v);
  if (from == b.first) return;
  std::memcpy(b.first, from, static_cast<std::size_t>(e.last - e.first));
  set_version(*b.storage, data_node(lent(b.first, b.last, true, b.lender), v.dtype, v.shape,
                                    v.strides, -e.first));
}

// From now on both sides see what the other writes, as between NumPy's arrays.
void share_for_good(Borrowed& b) {
  b.storage->borrowed = false;
  b.storage->pinned = true;
  b.storage->version->data->watched = true;
  forget_contents(*b.storage->version);
  b.storage->version->accounting |= kOpen;
}

// What the arrays that are left hold is theirs alone: the memory may go.
void part_from(Borrowed& b) {
  b.storage->borrowed = false;
  const Ref<Node> v = b.storage->version;
  Ref<Buffer> own = allocate(v->data->bytes);
  std::memcpy(own->data, v->data->data, v->data->bytes);
  set_version(*b.storage,
              data_node(std::move(own), v->dtype, v->shape, v->strides, v->data_offset));
}

// The first entry that ends behind the address.
std::vector<Borrowed>::iterator behind(const std::byte* address) {
  return std::ranges::upper_bound(registry(), address, {}, &Borrowed::last);
}

// The entries whose ranges meet [first, last).
struct Meeting {
  Borrowed* one = nullptr;
  int count = 0;
  bool covers = false;  // the one contains the whole range
};
Meeting meeting(const std::byte* first, const std::byte* last) {
  Meeting m;
  auto& all = registry();
  for (auto b = behind(first); b != all.end() && b->first < last; ++b) {
    m.one = &*b;
    ++m.count;
    m.covers = b->first <= first && last <= b->last;
  }
  return m;
}

// A range that meets several entries would join storages which arrays already refer to. They stay
// apart and share their memory instead.
void share_all(const std::byte* first, const std::byte* last) {
  auto& all = registry();
  for (std::size_t i = all.size(); i-- > 0;)
    if (first < all[i].last && all[i].first < last) {
      bring_home(all[i]);
      share_for_good(all[i]);
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

void grow(Borrowed& b, std::byte* first, std::byte* last, bool writeable,
          const Ref<Lender>& lender) {
  bring_home(b);
  b.storage->base += std::max<std::int64_t>(b.first - first, 0);
  b.first = std::min(b.first, first);
  b.last = std::max(b.last, last);
  b.lender = lender;  // keeps as much alive: one piece of memory has one owner
  set_version(*b.storage, bytes_node(b.first, b.last, writeable, lender));
}

}  // namespace

void Lender::destroy(Lender* l) {
  l->release(l->context);
  delete l;
}

Array borrow(void* data, DType t, const Dims& shape, const Dims& strides, bool writeable,
             const Ref<Lender>& lender) {
  const Lock held = hold();
  const auto unit = static_cast<std::int64_t>(itemsize(t));
  const Extent e = extent(shape, strides, unit);
  auto* origin = static_cast<std::byte*>(data);
  std::byte* first = origin + e.first;
  std::byte* last = origin + e.last;
  Array a;
  if (first == last) {
    const OnDevice host(kHost);
    a = empty(shape, t);
    a.strides = strides;
    a.writeable = writeable;
    return a;
  }
  Meeting known = meeting(first, last);
  std::optional<EvaluationScope> whole;
  if (known.count > 1 || (known.one && !known.covers)) {
    whole.emplace(EvaluationScope::LockWhileRunning::Kept);
    flush();
    known = meeting(first, last);  // the lock may have been free
  }
  if (known.count == 1) {
    Borrowed& same = *known.one;
    if (!known.covers) grow(same, first, last, writeable, lender);
    (t == DType::Bool ? same.as_bool : same.as_others) = true;
    ++same.leases;
    a.storage = same.storage;
    a.dtype = t;
    a.shape = shape;
    a.strides = strides;
    a.offset = (origin - same.first) - same.storage->base;
    if (same.as_bool && same.as_others) take_any_bytes(a);
  } else {
    if (known.count > 1) share_all(first, last);
    const bool plain = c_contiguous(shape, strides, unit) || e.first == 0;
    a = wrap(plain ? data_node(lent(first, last, writeable, lender), t, shape, strides)
                   : bytes_node(first, last, writeable, lender),
             shape, strides);
    a.dtype = t;
    a.offset = -e.first;
    a.storage->borrowed = true;
    Borrowed fresh{first, last, a.storage, lender};
    (t == DType::Bool ? fresh.as_bool : fresh.as_others) = true;
    if (known.count > 1) share_for_good(fresh);
    registry().insert(behind(first), std::move(fresh));
  }
  a.writeable = writeable;
  return a;
}

void write_borrowed(const Array& a) {
  flush();
  const Lock held = hold();
  const EvaluationScope whole(EvaluationScope::LockWhileRunning::Kept);
  flush();  // what others have recorded in between
  for (Borrowed& b : registry())
    if (b.storage == a.storage) bring_home(b);
}

void drop_writes(const Array& a) {
  const Lock held = hold();
  for (Borrowed& b : registry())
    if (b.storage == a.storage && is_pending(*b.storage->version))
      set_version(*b.storage, bytes_node(b.first, b.last, true, b.lender));
}

namespace {

// What is pending and reads memory for which `ends` holds gets a copy of it.
void copy_for_readers(const std::function<bool(const Buffer&)>& ends) {
  std::vector<Node*> readers;
  (void)pending_readers([&](Node& n) {
    if (n.data->foreign && n.data->device == kHost && ends(*n.data)) readers.push_back(&n);
    return false;
  });
  // The storages go on over the memory itself, which may be read-only.
  for (Borrowed& b : registry())
    if (const Ref<Node> v = b.storage->version;
        std::find(readers.begin(), readers.end(), v.get()) != readers.end())
      set_version(*b.storage, data_node(v->data, v->dtype, v->shape, v->strides, v->data_offset));
  std::map<const Buffer*, Ref<Buffer>> copies;
  for (Node* n : readers) {
    Ref<Buffer>& own = copies[n->data.get()];
    if (!own) own = duplicate(*n->data);
    n->data = own;
  }
}

bool lies_in(const Borrowed& b, const Buffer& memory) {
  return memory.data < b.last && b.first < memory.data + memory.bytes;
}

}  // namespace

void settle_borrowed(Storage& s) {
  if (!s.borrowed) return;
  for (Borrowed& b : registry()) {
    if (b.storage.get() != &s || first_byte(*s.version) == b.first) continue;
    const auto old = [&](const Buffer& memory) { return lies_in(b, memory); };
    flush(pending_readers([&](const Node& n) { return n.data->device == kHost && old(*n.data); }));
    copy_for_readers(old);  // what could not be computed
    bring_home(b);
  }
}

void end_borrow(std::span<const Array> arrays, Leftover leftover) {
  std::vector<const Storage*> storages;
  for (const Array& a : arrays) storages.push_back(a.storage.get());
  std::ranges::sort(storages);
  const auto of = [&](const Borrowed& b) {  // how many of the arrays show it
    return static_cast<std::uint32_t>(std::ranges::equal_range(storages, b.storage.get()).size());
  };
  {
    const Lock held = hold();
    for (Borrowed& b : registry()) b.leases -= static_cast<int>(of(b));
  }
  // When an error or an interrupt ends this, the next call does what is left.
  if (leftover == Leftover::Evaluated) flush();
  const Lock held = hold();
  const EvaluationScope whole(EvaluationScope::LockWhileRunning::Kept);
  auto& all = registry();
  if (leftover == Leftover::Evaluated) {
    flush();  // what others have recorded in between
  } else {
    std::vector<Ref<Node>> written;
    for (const Borrowed& b : all) written.push_back(b.storage->version);
    flush(std::move(written));
    copy_for_readers([&](const Buffer& memory) {
      return std::any_of(all.begin(), all.end(),
                         [&](const Borrowed& b) { return b.leases <= 0 && lies_in(b, memory); });
    });
  }
  for (std::size_t i = all.size(); i-- > 0;) {
    const std::uint32_t ours = 1 + of(all[i]);
    if (ours == 1 && is_pending(*all[i].storage->version)) continue;  // cannot be computed
    bring_home(all[i]);
    if (all[i].leases > 0) continue;
    Borrowed b = std::move(all[i]);
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
    if (b.lender || exported(*b.storage))
      share_for_good(b);
    else if (!only_known(*b.storage, ours))
      part_from(b);
    else
      b.storage->borrowed = false;
  }
}

}  // namespace plait::tracer
