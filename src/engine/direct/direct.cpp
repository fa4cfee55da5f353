// Evaluates a graph an operation at a time, in topological order.
#include "direct.hpp"

#include <cstring>
#include <optional>
#include <vector>

#include "core/array_memory.hpp"
#include "direct_kernels.hpp"
#include "engine/calls/call.hpp"
#include "engine/engine.hpp"
#include "engine/threads/interruption.hpp"
#include "fp_flags.hpp"
#include "fusion/schedule/cost.hpp"
#include "tracer/contraction.hpp"
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

// An input's memory, seen with `shape`.
Memory memory_of(const Node& n, const Dims& shape) {
  if (n.materialised())
    return {n.data->data + n.data_offset, tracer::broadcast_strides(n.shape, n.strides, shape)};
  const Node& scalar = n.kind == NodeKind::Fill ? *n.inputs[0] : n;
  return {const_cast<std::byte*>(reinterpret_cast<const std::byte*>(scalar.scalar.bytes)),
          Dims(shape.size(), 0)};
}

Ref<Buffer> result_memory(const Node& n) { return allocate_array(n.shape, n.dtype); }

void compute_elementwise(Node& n, const Memory& out) {
  std::array<Memory, 3> in;
  for (int i = 0; i < n.n_inputs; ++i)
    in[static_cast<std::size_t>(i)] = memory_of(*n.inputs[i], n.shape);
  const DType loop = n.inputs[n.fn == OpId::Where ? 1 : 0]->dtype;
  run_elementwise(n.fn, loop, n.shape, std::span<const Memory>(in.data(), n.n_inputs), out);
}

void compute_reduce(Node& n, const Memory& out) {
  const Node& in = *n.inputs[0];
  const Memory values = memory_of(in, in.shape);
  if (n.n_inputs == 2) {
    const Memory mask = memory_of(*n.inputs[1], in.shape);
    run_reduce(n.reduce, in.dtype, n.dtype, in.shape, n.axes, values, &mask, out);
  } else {
    run_reduce(n.reduce, in.dtype, n.dtype, in.shape, n.axes, values, nullptr, out);
  }
}

void compute_call(Node& n, const Memory& out) {
  const CallInfo& info = call_info(n.call);
  const auto inputs = static_cast<std::size_t>(n.n_inputs);
  const auto results = static_cast<std::size_t>(info.results);
  std::array<Operand, 3> in;
  for (std::size_t i = 0; i < inputs; ++i) {
    const Node& from = *n.inputs[i];
    const Memory m = memory_of(from, from.shape);
    in[i] = {m.data, from.dtype, from.shape, m.strides};
  }
  const CallAttributes attributes{n.axes, n.scalar, n.fn};
  std::array<Operand, kMaxCallResults> to;
  if (results == 1) {
    to[0] = {out.data, n.dtype, n.shape, out.strides};
  } else {
    std::array<ValueType, 3> given;
    for (std::size_t i = 0; i < inputs; ++i) given[i] = {in[i].dtype, in[i].shape};
    std::array<ValueType, kMaxCallResults> types;
    info.rule({given.data(), inputs}, attributes, {types.data(), results});
    const CallBlock block = call_block({types.data(), results});
    for (std::size_t i = 0; i < results; ++i)
      to[i] = {out.data + block.offsets[i], types[i].dtype, types[i].shape,
               contiguous_strides(types[i].shape, item_bytes(types[i].dtype))};
  }
  call_function(n.call)({{in.data(), inputs}, {to.data(), results}, attributes});
}

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

bool overlap(const Memory& a, const Dims& shape, std::int64_t a_size, const Memory& b,
             std::int64_t b_size) {
  const tracer::Extent x = tracer::extent(shape, a.strides, a_size);
  const tracer::Extent y = tracer::extent(shape, b.strides, b_size);
  return a.data + x.first < b.data + y.last && b.data + y.first < a.data + x.last;
}

std::int64_t work_of(const Node& n) {
  std::int64_t work = element_count(n.shape);
  if (n.kind == NodeKind::Reduce) work = element_count(n.inputs[0]->shape);
  if (n.kind == NodeKind::MatMul)
    work = work * tracer::product_depth(n) / (kUnlockedProducts / kUnlockedWork);
  if (n.kind == NodeKind::Call)
    for (int i = 0; i < n.n_inputs; ++i) work = std::max(work, element_count(n.inputs[i]->shape));
  return work;
}

// `fresh` memory holds nothing that an interrupt could spoil.
void compute_into(Node& n, const Memory& out, bool fresh) {
  std::optional<tracer::Unlocked> others_record;
  const bool is_long = work_of(n) >= kUnlockedWork;
  if (is_long) others_record.emplace();
  const InterruptScope scope(is_long && fresh);
  switch (n.kind) {
    case NodeKind::Scalar:
      run_fill(n.scalar, n.shape, out);
      break;
    case NodeKind::Fill:
      run_fill(n.inputs[0]->scalar, n.shape, out);
      break;
    case NodeKind::Iota:
      run_iota(n.inputs[0]->scalar, n.inputs[1]->scalar, n.shape[0], out.data);
      break;
    case NodeKind::Elementwise:
      compute_elementwise(n, out);
      break;
    case NodeKind::Cast:
      run_cast(n.inputs[0]->dtype, n.dtype, n.shape, memory_of(*n.inputs[0], n.shape), out);
      break;
    case NodeKind::Reduce:
      compute_reduce(n, out);
      break;
    case NodeKind::Gather: {
      const Memory at = memory_of(*n.inputs[1], n.shape);
      const Memory from{memory_of(*n.inputs[0], n.inputs[0]->shape).data + n.offset,
                        n.view_strides};
      run_gather(n.dtype, n.shape, from, at, n.step, out);
      break;
    }
    case NodeKind::MatMul: {
      const Node &a = *n.inputs[0], &b = *n.inputs[1];
      run_product(n.dtype, tracer::product_axes(n), {a.shape, memory_of(a, a.shape)},
                  {b.shape, memory_of(b, b.shape)}, out.data);
      break;
    }
    case NodeKind::Call:
      compute_call(n, out);
      break;
    case NodeKind::Data:
    case NodeKind::Empty:
    case NodeKind::View:
    case NodeKind::Update:
      break;  // in memory, or done above
  }
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

// The name NumPy's warnings give the operation; empty for those whose flags it does not look at.
std::string_view warning_name(const Node& n) {
  switch (n.kind) {
    case NodeKind::Elementwise:
      return op_info(n.fn).name;
    case NodeKind::Cast:
      return n.dtype == n.inputs[0]->dtype ? "" : "cast";
    case NodeKind::Reduce:
      return is_arg(n.reduce) ? "" : "reduce";
    case NodeKind::MatMul:
      return "matmul";
    case NodeKind::Call: {
      const CallInfo& info = call_info(n.call);
      if (n.named == tracer::NamedAs::Nobody || !(info.flags & kCallReports)) return "";
      return info.flags & kCallIsUfunc ? op_info(n.fn).name : info.name;
    }
    default:
      return "";
  }
}

// Computes the value in the memory that it is stored to, where every element of that is read for
// itself alone, if it is read; false where it is not so.
bool store_own_value(Node& n, Node& value) {
  const Node& old = *n.inputs[0];
  if (!may_take_over(n, &value) || !may_overwrite(value)) return false;
  const Memory target{old.data->data + old.data_offset + n.offset, n.view_strides};
  const std::int64_t size = item_bytes(n.view_dtype);
  for (int i = 0; i < value.n_inputs; ++i) {
    const Node& in = *value.inputs[i];
    const Memory m = memory_of(in, n.view_shape);
    const bool same =
        in.dtype == n.view_dtype && m.data == target.data && m.strides == target.strides;
    if (!same && overlap(target, n.view_shape, size, m, item_bytes(in.dtype))) return false;
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
  Memory value = memory_of(*n.inputs[1], n.view_shape);
  Ref<Buffer> held;
  if (in_place) {
    const Memory target{memory->data + at + n.offset, n.view_strides};
    const std::int64_t size = item_bytes(n.view_dtype);
    if (overlap(target, n.view_shape, size, value, size)) {
      held = allocate_array(n.view_shape, n.view_dtype);
      const Memory copy{held->data, contiguous_strides(n.view_shape, size)};
      run_cast(n.view_dtype, n.view_dtype, n.view_shape, value, copy);
      value = copy;
    }
  } else {
    const tracer::Extent e = tracer::extent(n.shape, n.strides, item_bytes(n.dtype));
    Ref<Buffer> fresh = allocate(static_cast<std::size_t>(e.last - e.first));
    std::memcpy(fresh->data, memory->data + at + e.first,
                static_cast<std::size_t>(e.last - e.first));
    memory = std::move(fresh);
    at = -e.first;
  }
  const Memory target{memory->data + at + n.offset, n.view_strides};
  if (n.n_inputs == 3) {
    const Memory mask = memory_of(*n.inputs[2], n.view_shape);
    run_cast(n.view_dtype, n.view_dtype, n.view_shape, value, target, &mask);
  } else {
    run_cast(n.view_dtype, n.view_dtype, n.view_shape, value, target);
  }
  tracer::settle(n, std::move(memory), at);
}

void compute(Node& n) {
  if (n.kind == NodeKind::Empty) {
    tracer::settle(n, result_memory(n), 0);
    return;
  }
  if (n.kind == NodeKind::View) {
    const Node& in = *n.inputs[0];
    Ref<Buffer> memory = in.data;
    const std::int64_t at = in.data_offset + n.offset;
    tracer::settle(n, std::move(memory), at);
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
  for (Node* n : topological_order(wanted)) compute_direct(*n);
}

}  // namespace plait::engine
