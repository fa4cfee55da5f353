#include "operation.hpp"

#include <cstring>
#include <optional>

#include "core/array_memory.hpp"
#include "core/replaceable.hpp"
#include "direct.hpp"
#include "direct_kernels.hpp"
#include "engine/threads/interruption.hpp"
#include "plait/error.hpp"
#include "tracer/contraction.hpp"
#include "tracer/evaluation_scope.hpp"

namespace plait::engine {

namespace {

using tracer::NodeKind;

std::int64_t item_bytes(DType t) { return static_cast<std::int64_t>(itemsize(t)); }

Memory seen_as(const Operand& o, const Dims& shape) {
  return {o.data, tracer::broadcast_strides(o.shape, o.strides, shape)};
}

Scalar scalar_of(const Operand& o) {
  Scalar s;
  s.dtype = o.dtype;
  std::memcpy(s.bytes, o.data, itemsize(o.dtype));
  return s;
}

void run_map(const Operation& op, std::span<const Operand> operands, const Memory& out) {
  std::array<Memory, 3> in;
  for (std::size_t i = 0; i < operands.size(); ++i) in[i] = seen_as(operands[i], op.shape);
  const DType loop = operands[op.fn == OpId::Where ? 1 : 0].dtype;
  run_elementwise(op.fn, loop, op.shape, std::span<const Memory>(in.data(), operands.size()), out);
}

void run_fold(const Operation& op, std::span<const Operand> in, const Memory& out) {
  const Dims& shape = in[0].shape;
  std::optional<Memory> mask;
  if (in.size() == 2) mask = seen_as(in[1], shape);
  run_reduce(op.reduce, in[0].dtype, op.dtype, shape, op.axes, seen_as(in[0], shape),
             mask ? &*mask : nullptr, out);
}

void run_call(const Operation& op, std::span<const Operand> operands, const Memory& out) {
  std::array<Operand, 3> seen;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Operand& o = operands[i];
    seen[i] = {o.data, o.dtype, o.shape, tracer::broadcast_strides(o.shape, o.strides, o.shape)};
  }
  const std::span<const Operand> in(seen.data(), operands.size());
  const CallInfo& info = call_info(op.call);
  const auto results = static_cast<std::size_t>(info.results);
  const CallAttributes attributes{op.axes, op.scalar, op.fn};
  std::array<Operand, kMaxCallResults> to;
  if (results == 1) {
    to[0] = {out.data, op.dtype, op.shape, out.strides};
  } else {
    std::array<ValueType, 3> given;
    for (std::size_t i = 0; i < in.size(); ++i) given[i] = {in[i].dtype, in[i].shape};
    std::array<ValueType, kMaxCallResults> types;
    info.rule({given.data(), in.size()}, attributes, {types.data(), results});
    const CallBlock block = call_block({types.data(), results});
    for (std::size_t i = 0; i < results; ++i)
      to[i] = {out.data + block.offsets[i], types[i].dtype, types[i].shape,
               contiguous_strides(types[i].shape, item_bytes(types[i].dtype))};
  }
  call_function(op.call)({in, {to.data(), results}, attributes});
}

// An update: in[0] is what `out` holds.
void run_store(const Operation& op, std::span<const Operand> in, const Memory& out, bool fresh) {
  const DType t = op.view_dtype;
  const Memory target{out.data + op.offset, op.view_strides};
  Memory value = seen_as(in[1], op.view_shape);
  Ref<Buffer> held;
  if (!fresh && overlap(op.view_shape, target, item_bytes(t), value, item_bytes(t))) {
    held = allocate_array(op.view_shape, t);
    const Memory copy{held->data, contiguous_strides(op.view_shape, item_bytes(t))};
    run_cast(t, t, op.view_shape, value, copy);
    value = copy;
  }
  std::optional<Memory> mask;
  if (in.size() == 3) mask = seen_as(in[2], op.view_shape);
  run_cast(t, t, op.view_shape, value, target, mask ? &*mask : nullptr);
}

std::int64_t work_of(const Operation& op, std::span<const Operand> in) {
  std::int64_t work = element_count(op.shape);
  if (op.kind == NodeKind::Reduce) work = element_count(in[0].shape);
  if (op.kind == NodeKind::MatMul)
    work = work *
           tracer::product_depth(in[0].shape, tracer::product_axes(op.axes, op.shape.size())) /
           (kUnlockedProducts / kUnlockedWork);
  if (op.kind == NodeKind::Call)
    for (const Operand& o : in) work = std::max(work, element_count(o.shape));
  return work;
}

}  // namespace

bool overlap(const Dims& shape, const Memory& a, std::int64_t a_size, const Memory& b,
             std::int64_t b_size) {
  const tracer::Extent x = tracer::extent(shape, a.strides, a_size);
  const tracer::Extent y = tracer::extent(shape, b.strides, b_size);
  return a.data + x.first < b.data + y.last && b.data + y.first < a.data + x.last;
}

PLAIT_REPLACEABLE void run_operation(const Operation& op, std::span<const Operand> in,
                                     const Memory& out, bool fresh) {
  // What an update overwrites was seen by nobody who lets go of the lock.
  std::optional<tracer::Unlocked> others_record;
  const bool is_long = op.kind != NodeKind::Update && work_of(op, in) >= kUnlockedWork;
  if (is_long) others_record.emplace();
  const InterruptScope scope(is_long && fresh);
  switch (op.kind) {
    case NodeKind::Scalar:
      run_fill(op.scalar, op.shape, out);
      break;
    case NodeKind::Fill:
      run_fill(scalar_of(in[0]), op.shape, out);
      break;
    case NodeKind::Iota:
      run_iota(scalar_of(in[0]), scalar_of(in[1]), op.shape[0], out.data);
      break;
    case NodeKind::Elementwise:
      run_map(op, in, out);
      break;
    case NodeKind::Cast:
      run_cast(in[0].dtype, op.dtype, op.shape, seen_as(in[0], op.shape), out);
      break;
    case NodeKind::Reduce:
      run_fold(op, in, out);
      break;
    case NodeKind::Gather:
      run_gather(op.dtype, op.shape, {in[0].data + op.offset, op.view_strides},
                 seen_as(in[1], op.shape), op.step, out);
      break;
    case NodeKind::MatMul:
      run_product(op, in, out);
      break;
    case NodeKind::Call:
      run_call(op, in, out);
      break;
    case NodeKind::Update:
      run_store(op, in, out, fresh);
      break;
    case NodeKind::Data:
    case NodeKind::Empty:
    case NodeKind::View:
      throw InternalError("nothing computes what is in memory");
  }
}

PLAIT_REPLACEABLE bool computes(NodeKind) { return true; }

PLAIT_REPLACEABLE std::string_view warning_name(const Operation& op, DType first_operand) {
  switch (op.kind) {
    case NodeKind::Elementwise:
      return op_info(op.fn).name;
    case NodeKind::Cast:
      return op.dtype == first_operand ? "" : "cast";
    case NodeKind::Reduce:
      return is_arg(op.reduce) ? "" : "reduce";
    case NodeKind::MatMul:
      return "matmul";
    case NodeKind::Call: {
      const CallInfo& info = call_info(op.call);
      if (!(info.flags & kCallReports)) return "";
      return info.flags & kCallIsUfunc ? op_info(op.fn).name : info.name;
    }
    default:
      return "";
  }
}

}  // namespace plait::engine
