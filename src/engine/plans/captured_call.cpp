#include "captured_call.hpp"

#include <algorithm>
#include <cstring>

#include "core/array_memory.hpp"
#include "engine/products/packed_operands.hpp"
#include "tracer/layout.hpp"

namespace plait::engine {
using tracer::Array;
using tracer::Node;
using tracer::NodeKind;

namespace {

bool in_memory(const tracer::Storage& s) {
  const Node& n = *s.version;
  return n.data && n.device <= kHost && s.exports == 0 && !s.pinned && !s.any_bytes;
}

bool pending(const Node& n) { return !n.data && n.kind != NodeKind::Scalar; }

NodeMemory copy_of(const NodeMemory& m) {
  Ref<Buffer> own = allocate(m.buffer->bytes);
  std::memcpy(own->data, m.buffer->data, m.buffer->bytes);
  return {std::move(own), m.offset};
}

}  // namespace

std::optional<ArrayLayout> layout_of(const Array& a) {
  const tracer::Storage& s = *a.storage;
  const Node& n = *s.version;
  if (!in_memory(s)) return std::nullopt;
  return ArrayLayout{a.dtype,           a.writeable, a.shape, a.strides,
                     a.offset + s.base, n.dtype,     n.shape, n.strides};
}

bool has_layout(const Array& a, const ArrayLayout& l) {
  const tracer::Storage& s = *a.storage;
  const Node& n = *s.version;
  return in_memory(s) && a.dtype == l.dtype && a.writeable == l.writeable && a.shape == l.shape &&
         a.strides == l.strides && a.offset + s.base == l.offset && n.dtype == l.whole_dtype &&
         n.shape == l.whole_shape && n.strides == l.whole_strides;
}

// The number of the value that is the node's.
std::int32_t CapturedCall::add_value(const Node& n) {
  Value v{n.dtype, n.shape, n.strides, {}};
  if (!pending(n)) {
    v.constant = {n.data, n.data_offset};
  } else if (element_count(n.shape) > 0) {
    const auto at = std::find(wanted_.begin(), wanted_.end(), &n);
    v.computed = static_cast<std::int32_t>(at - wanted_.begin());
    if (at == wanted_.end()) wanted_.push_back(const_cast<Node*>(&n));
  }
  values_.push_back(std::move(v));
  return static_cast<std::int32_t>(values_.size()) - 1;
}

std::shared_ptr<CapturedCall> CapturedCall::make(const tracer::Capture& capture,
                                                 std::span<const Argument> arguments,
                                                 std::span<const Outside> outside,
                                                 std::span<const Array> results, PlanAhead& ahead,
                                                 const char*& why) {
  why = capture.obstacle();
  if (why) return nullptr;
  auto call = std::make_shared<CapturedCall>();
  std::vector<const Node*> inputs;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::size_t first = 0;
    while (arguments[first].array.storage != arguments[i].array.storage) ++first;
    call->storages_.push_back(static_cast<std::int32_t>(first));
    inputs.push_back(first == i ? arguments[i].node : nullptr);
    const Node& now = *arguments[i].array.storage->version;
    const bool written = first == i && &now != arguments[i].node;
    if (written && !pending(now)) {
      why = "it stores to an argument at once";
      return nullptr;
    }
    call->written_.push_back(written ? call->add_value(now) : -1);
  }
  // In the order of another recording's.
  std::vector<std::pair<const tracer::Storage*, const Node*>> others;
  for (const auto& [node, storage] : capture.others()) others.emplace_back(storage.get(), node);
  std::ranges::sort(others);
  for (const auto& [storage, node] : others) {
    inputs.push_back(node);
    call->others_.push_back({Ref<tracer::Storage>(const_cast<tracer::Storage*>(storage)),
                             node->dtype, node->shape, node->strides});
  }
  for (const Outside& o : outside) inputs.push_back(o.node);

  std::vector<std::pair<const tracer::Storage*, std::int32_t>> known;
  for (const Array& a : results) {
    Place p;
    p.as.dtype = a.dtype;
    p.as.shape = a.shape;
    p.as.strides = a.strides;
    p.as.writeable = a.writeable;
    for (std::size_t i = 0; i < arguments.size() && p.argument < 0; ++i)
      if (arguments[i].array.storage == a.storage) {
        p.argument = static_cast<std::int32_t>(i);
        p.offset = a.offset - arguments[i].array.offset;
      }
    if (p.argument < 0) {
      const Node* n = a.storage->version.get();
      p.offset = a.offset + a.storage->base;
      if (n->kind == NodeKind::View && pending(*n) && n->inputs[0]->kind == NodeKind::Call) {
        p.offset += n->offset;  // one of a call's results, which lie in its block
        n = n->inputs[0].get();
      }
      if (n->kind == NodeKind::Empty)
        why = "it returns memory that nobody has written to";
      else if (!pending(*n) && (!n->data || std::ranges::find(inputs, n) != inputs.end()))
        why = "it returns an array that is not among its arguments";
      if (why) return nullptr;
      const auto same = std::ranges::find(known, a.storage.get(), [](auto& k) { return k.first; });
      if (same != known.end()) {
        p.value = same->second;
      } else {
        p.value = call->add_value(*n);
        known.emplace_back(a.storage.get(), p.value);
      }
    }
    call->results_.push_back(std::move(p));
  }
  if (call->wanted_.empty()) return call;
  call->executable_ = Executable::make(call->wanted_, inputs, ahead);
  if (!call->executable_) {
    why = ahead.on_its_way() ? "" : "it computes on a device";
    return nullptr;
  }
  for (const Node* n : call->executable_->constants())
    if (!capture.knows(*n)) {
      why = "it reads memory that is not an array's";
      return nullptr;
    }
  call->wanted_.clear();
  return call;
}

// Where the value of a written argument was not computed in its own memory.
void CapturedCall::copy_back(std::size_t argument, const NodeMemory& to,
                             const Executable::Result& from) const {
  const Value& v = values_[static_cast<std::size_t>(written_[argument])];
  const auto e =
      tracer::extent(v.shape, from.strides, static_cast<std::int64_t>(itemsize(v.dtype)));
  if (to.at() == from.memory.at()) return;
  std::memcpy(to.at() + e.first, from.memory.at() + e.first,
              static_cast<std::size_t>(e.last - e.first));
}

bool CapturedCall::take_numbers(const CapturedCall& other, const Executable::Numbers& n) {
  const auto same_value = [](const Value& a, const Value& b) {
    if (a.dtype != b.dtype || a.shape != b.shape || a.strides != b.strides ||
        a.computed != b.computed || bool(a.constant) != bool(b.constant))
      return false;
    if (!a.constant || a.constant.at() == b.constant.at()) return true;
    const auto e = tracer::extent(a.shape, a.strides, static_cast<std::int64_t>(itemsize(a.dtype)));
    return std::memcmp(a.constant.at() + e.first, b.constant.at() + e.first,
                       static_cast<std::size_t>(e.last - e.first)) == 0;
  };
  const auto same_place = [](const Place& a, const Place& b) {
    return a.argument == b.argument && a.value == b.value && a.offset == b.offset &&
           a.as.dtype == b.as.dtype && a.as.shape == b.as.shape && a.as.strides == b.as.strides &&
           a.as.writeable == b.as.writeable;
  };
  return storages_ == other.storages_ && written_ == other.written_ && others_ == other.others_ &&
         std::ranges::equal(values_, other.values_, same_value) &&
         std::ranges::equal(results_, other.results_, same_place) && executable_ &&
         other.executable_ && executable_->take_numbers(*other.executable_, n);
}

bool CapturedCall::compute(Frame& f, std::span<const NodeMemory> arguments,
                           std::span<const NodeMemory> outside, std::span<const Scalar> numbers) {
  if (!executable_) return true;
  f.computed.resize(executable_->results());
  std::span<const NodeMemory> inputs = arguments;
  if (!others_.empty() || !outside.empty()) f.inputs.assign(arguments.begin(), arguments.end());
  for (const Other& o : others_) {
    Node& n = *o.storage->version;
    if (!n.data || n.dtype != o.dtype || n.shape != o.shape || n.strides != o.strides ||
        n.device > kHost)
      return false;
    f.inputs.push_back({n.data, n.data_offset, packable_contents(n)});
  }
  f.inputs.insert(f.inputs.end(), outside.begin(), outside.end());
  if (!f.inputs.empty()) inputs = f.inputs;
  executable_->run(inputs, numbers, f.computed);
  for (std::size_t i = 0; i < written_.size(); ++i)
    if (written_[i] >= 0) {
      const Value& v = values_[static_cast<std::size_t>(written_[i])];
      if (v.computed >= 0)
        copy_back(i, arguments[i], f.computed[static_cast<std::size_t>(v.computed)]);
    }
  return true;
}

Ref<tracer::Storage> CapturedCall::make_value(std::size_t value, Frame& f,
                                              std::span<const NodeMemory> arguments) {
  const Value& v = values_[value];
  if (v.computed < 0) {
    const NodeMemory m = v.constant ? copy_of(v.constant) : NodeMemory{allocate(0), 0};
    return tracer::from_buffer(m.buffer, v.dtype, v.shape, v.strides, m.offset).storage;
  }
  const auto c = static_cast<std::size_t>(v.computed);
  Executable::Result& computed = f.computed[c];
  // Another array, or an argument, has the same value in that memory.
  const bool shared = f.taken[c] || std::ranges::any_of(arguments, [&](const NodeMemory& m) {
                        return m.buffer == computed.memory.buffer;
                      });
  f.taken[c] = true;
  NodeMemory m = shared ? copy_of(computed.memory) : computed.memory;
  return tracer::from_buffer(std::move(m.buffer), v.dtype, v.shape, computed.strides, m.offset)
      .storage;
}

bool CapturedCall::run(std::span<const NodeMemory> arguments, std::span<const NodeMemory> outside,
                       std::span<const Scalar> numbers, std::span<Array> results) {
  std::unique_ptr<Frame> frame;
  if (!idle_.empty()) {
    frame = std::move(idle_.back());
    idle_.pop_back();
  } else {
    frame = std::make_unique<Frame>();
  }
  Frame& f = *frame;
  if (!compute(f, arguments, outside, numbers)) return false;
  f.taken.assign(f.computed.size(), false);
  f.made.resize(values_.size());
  for (std::size_t r = 0; r < results_.size(); ++r) {
    const Place& p = results_[r];
    if (p.value < 0) continue;
    const auto at = static_cast<std::size_t>(p.value);
    if (!f.made[at]) f.made[at] = make_value(at, f, arguments);
    Array& a = results[r];
    a = p.as;
    a.storage = f.made[at];
    a.offset = p.offset;
  }
  f.inputs.clear();
  f.computed.clear();
  f.made.clear();
  idle_.push_back(std::move(frame));
  return true;
}

}  // namespace plait::engine
