// Evaluates a graph an operation at a time, in topological order.
#include "direct.hpp"

#include <cstring>
#include <vector>

#include "core/array_memory.hpp"
#include "core/timeline.hpp"
#include "engine/engine.hpp"
#include "engine/products/packed_operands.hpp"
#include "engine/reports/report.hpp"
#include "engine/threads/interruption.hpp"
#include "fp_flags.hpp"
#include "fusion/schedule/cost.hpp"
#include "operation.hpp"
#include "tracer/derived.hpp"
#include "tracer/evaluation_scope.hpp"
#include "tracer/ownership.hpp"
#include "undo.hpp"

namespace plait::engine {

namespace {

using tracer::Node;
using tracer::NodeKind;

// What a node needs in memory before it can be computed. Scalars never are; a Fill that is read
// elementwise is read as one value.
bool needs_memory(const Node& n, int input) {
  const Node& in = *n.inputs[input];
  if (in.materialised() || in.kind == NodeKind::Scalar) return false;
  if (in.kind != NodeKind::Fill) return true;
  return n.kind == NodeKind::View || (n.kind == NodeKind::Gather && input == 0) ||
         (n.kind == NodeKind::Update && input == 0);
}

// The value of an update that nobody else reads: its operation may write to the update's memory
// itself, and is computed with the update.
Node* own_value(const Node& n) {
  if (n.kind != NodeKind::Update || n.n_inputs != 2) return nullptr;
  Node& v = *n.inputs[1];
  const bool map = v.kind == NodeKind::Elementwise || v.kind == NodeKind::Cast;
  const bool own =
      map && tracer::only_known(v, 1) && v.dtype == n.view_dtype && v.shape == n.view_shape;
  return own ? &v : nullptr;
}

// Memory that is made of nothing.
bool is_creation(const Node& n) {
  return n.kind == NodeKind::Fill || n.kind == NodeKind::Iota || n.kind == NodeKind::Empty;
}

// Operands before their consumers; iterative, as chains may be a million nodes long. Of a node's
// operands creations come last: the rounds of a loop that each write into a new array then find the
// memory of the one before, instead of making those of all rounds first.
std::vector<Node*> topological_order(std::span<Node* const> wanted) {
  struct Frame {
    Node* node;
    int next;
  };
  const std::uint64_t walk = tracer::next_walk();
  std::vector<Node*> order;
  std::vector<Frame> stack;
  order.reserve(16);
  stack.reserve(16);
  for (Node* w : wanted) {
    if (w->materialised() || w->walk == walk) continue;
    w->walk = walk;
    stack.push_back({w, 0});
    while (!stack.empty()) {
      Frame& f = stack.back();
      const Node* const value = own_value(*f.node);
      const int inputs = value ? 1 + value->n_inputs : f.node->n_inputs;
      if (f.next == 2 * inputs) {
        order.push_back(f.node);
        stack.pop_back();
        continue;
      }
      const bool creations = f.next >= inputs;
      const int i = f.next++ % inputs;
      const bool of_value = value && i > 0;
      const Node& reader = of_value ? *value : *f.node;
      const int input = of_value ? i - 1 : i;
      Node* in = reader.inputs[input].get();
      if (is_creation(*in) != creations || !needs_memory(reader, input) || in->walk == walk)
        continue;
      in->walk = walk;
      stack.push_back({in, 0});
    }
  }
  return order;
}

std::int64_t item_bytes(DType t) { return static_cast<std::int64_t>(itemsize(t)); }

// An input's value in memory; a Fill's is one element.
Operand operand_of(Node& n) {
  if (n.materialised())
    return {n.data->data + n.data_offset, n.dtype, n.shape, n.strides, packable_contents(n)};
  const Node& scalar = n.kind == NodeKind::Fill ? *n.inputs[0] : n;
  return {const_cast<std::byte*>(reinterpret_cast<const std::byte*>(scalar.scalar.bytes)), n.dtype,
          n.shape, Dims(n.shape.size(), 0)};
}

Operation operation_of(const Node& n) {
  return {n.kind, n.dtype, n.view_dtype, n.fn,         n.reduce,       n.call,  n.offset,
          n.step, n.shape, n.axes,       n.view_shape, n.view_strides, n.scalar};
}

// The name NumPy's warnings give the operation, or the function that it is a part of.
std::string_view warning_name(const Node& n) {
  return warning_name(operation_of(n), n.n_inputs > 0 ? n.inputs[0]->dtype : n.dtype);
}

Ref<Buffer> result_memory(const Node& n) { return allocate_array(n.shape, n.dtype); }

// Nothing but this update can see the memory it is about to write to. Nodes that only the update
// reads, or its value where that is still to be computed, do not count: they are read before, or
// copied.
bool may_take_over(const Node& n, const Node* value) {
  const Node& old = *n.inputs[0];
  if (n.in_place) return true;
  std::uint32_t nodes = 1, buffers = 1;
  const Ref<Node>* const begin = value ? value->inputs : n.inputs + 1;
  const Ref<Node>* const end = begin + (value ? value->n_inputs : 1);
  for (const Ref<Node>* in = begin; in != end; ++in) {
    const auto same = [&](const Ref<Node>& o) { return o.get() == in->get(); };
    if (in->get() == &old)
      ++nodes;
    else if ((*in)->data == old.data && std::find_if(begin, end, same) == in &&
             tracer::only_known(**in, static_cast<std::uint32_t>(std::count_if(begin, end, same))))
      ++buffers;
  }
  return tracer::only_known(old, nodes) && tracer::owned_memory(*old.data, buffers);
}

// `fresh` memory holds nothing that an interrupt could spoil.
void compute_into(const Node& n, const Memory& out, bool fresh) {
  std::array<Operand, 3> in;
  for (int i = 0; i < n.n_inputs; ++i) in[static_cast<std::size_t>(i)] = operand_of(*n.inputs[i]);
  run_operation(operation_of(n), {in.data(), n.n_inputs}, out, fresh);
}

// What is overwritten is lost to an interrupt: not by what takes long, where a copy would go
// unnoticed.
bool may_overwrite(const Node& n) {
  return !Undo::pays(fusion::operation_seconds(host_machine(), n),
                     static_cast<double>(element_count(n.shape) * item_bytes(n.dtype)));
}

// An operand that only this operation reads, of the result's layout: loops read an element before
// they write it, so the result may take its memory over.
const Node* dying_operand(const Node& n) {
  if (n.kind != NodeKind::Elementwise || !may_overwrite(n)) return nullptr;
  for (int i = 0; i < n.n_inputs; ++i) {
    const Node& in = *n.inputs[i];
    if (in.data && tracer::only_known(in, 1) && in.dtype == n.dtype && in.shape == n.shape &&
        in.strides == n.strides && !in.data->foreign && tracer::owned_memory(*in.data))
      return &in;
  }
  return nullptr;
}

// Computes the value in the memory that it is stored to, where every element of that is read for
// itself alone, if it is read; false where it is not so.
bool store_own_value(Node& n, Node& value) {
  const Node& old = *n.inputs[0];
  if (!may_take_over(n, &value) || !may_overwrite(value)) return false;
  const Memory target{old.data->data + old.data_offset + n.offset, n.view_strides};
  const std::int64_t size = item_bytes(n.view_dtype);
  for (int i = 0; i < value.n_inputs; ++i) {
    Node& in = *value.inputs[i];
    const Operand o = operand_of(in);
    const Memory m{o.data, tracer::broadcast_strides(o.shape, o.strides, n.view_shape)};
    const bool same =
        in.dtype == n.view_dtype && m.data == target.data && m.strides == target.strides;
    if (!same && overlap(n.view_shape, target, size, m, item_bytes(in.dtype))) return false;
  }
  clear_flags();
  compute_into(value, target, false);
  const unsigned flags = raised_flags();
  const Ref<Node> done = n.inputs[1];  // its name and place
  Ref<Buffer> memory = old.data;
  const std::int64_t at = old.data_offset;
  tracer::settle(n, std::move(memory), at);
  if (const std::string_view name = warning_name(*done); !name.empty())
    report_flags(flags, name, *done);
  return true;
}

void compute_update(Node& n) {
  const Node& old = *n.inputs[0];
  if (Node* const value = own_value(n)) {
    if (store_own_value(n, *value)) return;
    compute_direct(*value);
  }
  const bool in_place = may_take_over(n, nullptr);
  Ref<Buffer> memory = old.data;
  std::int64_t at = old.data_offset;
  if (!in_place) {
    const tracer::Extent e = tracer::extent(n.shape, n.strides, item_bytes(n.dtype));
    Ref<Buffer> fresh = allocate(static_cast<std::size_t>(e.last - e.first));
    std::memcpy(fresh->data, memory->data + at + e.first,
                static_cast<std::size_t>(e.last - e.first));
    memory = std::move(fresh);
    at = -e.first;
  }
  compute_into(n, {memory->data + at, n.strides}, !in_place);
  tracer::settle(n, std::move(memory), at);
}

void compute(Node& n) {
  if (n.kind == NodeKind::Empty) {
    tracer::settle(n, result_memory(n), 0);
    return;
  }
  if (n.kind == NodeKind::View) {
    const Ref<Node> in = n.inputs[0];
    if (packable_contents(*in)) tracer::share_contents(n, *in);
    tracer::settle(n, in->data, in->data_offset + n.offset);
    return;
  }
  if (n.kind == NodeKind::Update) {
    compute_update(n);
    return;
  }
  const Node* over = dying_operand(n);
  Ref<Buffer> memory = over ? over->data : result_memory(n);
  const std::int64_t at = over ? over->data_offset : 0;
  const Memory out{memory->data + at, n.strides};
  compute_into(n, out, !over);
  tracer::settle(n, std::move(memory), at);
}

}  // namespace

void compute_direct(Node& n) {
  const std::string_view name = warning_name(n);
  if (name.empty()) {
    compute(n);
    return;
  }
  clear_flags();
  compute(n);
  report_flags(raised_flags(), name, n);
}

void allocate_empty(std::span<Node* const> wanted) {
  for (Node* n : topological_order(wanted))
    if (n->kind == NodeKind::Empty) compute(*n);
}

void evaluate_direct(std::span<Node* const> wanted) {
  const SameFlag one_look_for_a_handler;
  // A node in the list is alive while a consumer after it has not been settled, or it is wanted.
  for (Node* n : topological_order(wanted)) {
    if (timeline::on() && n->kind != NodeKind::View) [[unlikely]] {
      timeline::Span span(timeline::Category::Operation);
      span.name(value_of(*n, {}).type);
      span.site(n->site);
      compute_direct(*n);
    } else {
      compute_direct(*n);
    }
  }
}

}  // namespace plait::engine
