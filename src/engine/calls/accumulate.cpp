// Running folds along an axis, in order, as NumPy's ufunc.accumulate.
#include "call.hpp"
#include "engine/direct_kernels.hpp"

namespace plait::engine {

namespace {

Dims without(const Dims& d, int axis) {
  Dims rest = d;
  rest.erase(axis);
  return rest;
}

}  // namespace

void run_accumulate(const CallRun& r) {
  const Operand &in = r.inputs[0], &out = r.results[0];
  const int axis = static_cast<int>(r.attributes.numbers[0]);
  const Dims shape = without(in.shape, axis);
  const Dims from = without(in.strides, axis), to = without(out.strides, axis);
  run_cast(in.dtype, in.dtype, shape, {in.data, from}, {out.data, to});
  for (std::int64_t i = 1; i < in.shape[axis]; ++i) {
    std::byte* const last = out.data + (i - 1) * out.strides[axis];
    const Memory operands[] = {{last, to}, {in.data + i * in.strides[axis], from}};
    run_elementwise(r.attributes.fn, in.dtype, shape, operands, {last + out.strides[axis], to});
  }
}

}  // namespace plait::engine
