// Small operands in memory are computed at once. The common case, all of one dtype and dense or
// 0-D, is one call of a precompiled loop.
#include <cstring>

#include "codegen/loops/loops.hpp"
#include "core/mixed_compare.hpp"
#include "direct.hpp"
#include "direct_kernels.hpp"
#include "engine/products/product.hpp"
#include "engine/reports/report.hpp"
#include "fp_flags.hpp"
#include "tracer/elementwise.hpp"

namespace plait::engine {

namespace {

using tracer::Array;

// The loop for operands that all have one dtype, when NumPy has one for just that dtype.
struct Entry {
  loops::LoopFn loop = nullptr;
  bool known = false;
};

loops::LoopFn uniform_loop(OpId fn, DType t) {
  static Entry table[kOpCount][kDTypeCount][kTiers.size()];  // guarded by the recorder's lock
  const CpuTier tier = config().tier;
  Entry& e = table[static_cast<int>(fn)][static_cast<int>(t)][static_cast<int>(tier)];
  if (!e.known) [[unlikely]] {
    const OperandType same[] = {{t}, {t}, {t}};
    const auto arity = static_cast<std::size_t>(op_info(fn).arity);
    const LoopTypes types = resolve(fn, std::span(same, arity));
    bool direct = fn != OpId::Where;
    for (std::size_t i = 0; i < arity; ++i) direct = direct && types.in[i] == t;
    e.loop = direct ? loops::elementwise(fn, t, tier) : nullptr;
    e.known = true;
  }
  return e.loop;
}

std::byte* address(const Array& a) {
  const tracer::Node& n = *a.storage->version;
  return n.data->data + n.data_offset + a.storage->base + a.offset;
}

// In element order of `out`, with one stride: dense in the same order, or one value.
bool flat(const Array& a, const Array& out, std::int64_t& stride) {
  if (a.ndim() == 0) {
    stride = 0;
    return true;
  }
  if (a.shape != out.shape) return false;
  const auto item = static_cast<std::int64_t>(itemsize(a.dtype));
  stride = item;
  if (a.ndim() == 1) {
    stride = a.strides[0];
    return true;
  }
  const auto out_item = static_cast<std::int64_t>(itemsize(out.dtype));
  for (int i = 0; i < a.ndim(); ++i)
    if (a.strides[i] * out_item != out.strides[i] * item) return false;
  return true;
}

void compute_general(OpId fn, std::span<const Array* const> in, const Array& out,
                     const LoopTypes& types) {
  std::array<Memory, 3> operands;
  std::array<Ref<Buffer>, 3> converted;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const Array& a = *in[i];
    Memory m{address(a), a.strides};
    if (a.dtype != types.in[i]) {
      const auto size = static_cast<std::int64_t>(itemsize(types.in[i]));
      converted[i] = allocate(static_cast<std::size_t>(a.size() * size));
      const Memory to{converted[i]->data, contiguous_strides(a.shape, size)};
      run_cast(a.dtype, types.in[i], a.shape, m, to);
      m = to;
    }
    operands[i] = {m.data, tracer::broadcast_strides(a.shape, m.strides, out.shape)};
  }
  run_elementwise(fn, types.in[fn == OpId::Where ? 1 : 0], out.shape,
                  std::span<const Memory>(operands.data(), in.size()), {address(out), out.strides});
}

}  // namespace

bool direct_eager(OpId fn, std::span<const Array* const> in, const Array& out) {
  const std::size_t arity = in.size();
  const DType t = in[0]->dtype;
  bool uniform = true;
  for (std::size_t i = 1; i < arity; ++i) uniform = uniform && in[i]->dtype == t;
  loops::LoopFn loop = uniform ? uniform_loop(fn, t) : nullptr;

  void* args[4];
  std::int64_t strides[4];
  const std::int64_t size = out.size();
  bool one_call = loop != nullptr;
  if (out.ndim() > 1) one_call = one_call && is_c_contiguous(out);
  for (std::size_t i = 0; one_call && i < arity; ++i) {
    args[i] = address(*in[i]);
    one_call = flat(*in[i], out, strides[i]);
  }
  clear_flags();
  if (one_call) {
    args[arity] = address(out);
    strides[arity] =
        out.ndim() == 1 ? out.strides[0] : static_cast<std::int64_t>(itemsize(out.dtype));
    loop(args, strides, size);
  } else {
    OperandType types[3];
    for (std::size_t i = 0; i < arity; ++i) types[i] = {in[i]->dtype};
    const LoopTypes resolved = resolve(fn, std::span(types, arity));
    if (is_mixed_compare(resolved) || resolved.out != out.dtype) return false;
    compute_general(fn, in, out, resolved);
  }
  report_flags(raised_flags(), op_info(fn).name, *out.storage->version);
  return true;
}

void direct_product(const Array& a, const Array& b, const Array& out) {
  const auto item = static_cast<std::int64_t>(itemsize(a.dtype));
  const bool row = a.ndim() == 1, column = b.ndim() == 1;
  MatrixProduct p{.dtype = a.dtype,
                  .m = row ? 1 : a.shape[0],
                  .n = column ? 1 : b.shape[1],
                  .k = b.shape[0],
                  .a = address(a),
                  .a_row = row ? item * a.shape[0] : a.strides[0],
                  .a_column = a.strides[row ? 0 : 1],
                  .b = address(b),
                  .b_row = b.strides[0],
                  .b_column = column ? item : b.strides[1],
                  .c = address(out)};
  clear_flags();
  multiply(p);
  report_flags(raised_flags(), "matmul", *out.storage->version);
}

bool run_small(OpId fn, DType t, void** arguments, const std::int64_t* strides, std::int64_t n,
               tracer::Node& value) {
  const loops::LoopFn loop = uniform_loop(fn, t);
  if (!loop) return false;
  const AtCall at_call;
  clear_flags();
  loop(arguments, strides, n);
  if (const unsigned flags = raised_flags()) [[unlikely]] {
    tracer::recorded_here(value);
    report_flags(flags, op_info(fn).name, value);
  }
  at_call.done(op_info(fn).name, value.dtype, value.shape);
  return true;
}

void run_small_sum(DType t, const void* in, std::int64_t stride, std::int64_t n, void* out,
                   tracer::Node& value) {
  const AtCall at_call;
  std::memset(out, 0, itemsize(t));
  clear_flags();
  loops::reduce(ReduceKind::Sum, t, config().tier)(out, in, stride, n);
  if (const unsigned flags = raised_flags()) [[unlikely]] {
    tracer::recorded_here(value);
    report_flags(flags, "reduce", value);
  }
  at_call.done("sum", value.dtype, value.shape);
}

}  // namespace plait::engine
