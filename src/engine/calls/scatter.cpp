// Rows combined into the rows of a table that indices name.
#include "engine/direct/scatter.hpp"

#include <cstring>

#include "call.hpp"
#include "codegen/loops/loops.hpp"
#include "core/machine.hpp"
#include "core/scatter.hpp"
#include "engine/direct/bins.hpp"
#include "engine/direct/direct_kernels.hpp"
#include "units.hpp"

namespace plait::engine {

void run_scatter_call(const CallRun& r) {
  const Operand &init = r.inputs[0], &index = r.inputs[1], &values = r.inputs[2];
  const Operand& out = r.results[0];
  const OpId fn = r.attributes.fn;
  run_cast(init.dtype, out.dtype, out.shape, {init.data, init.strides}, {out.data, out.strides});
  const std::int64_t n = index.shape[0], table = element_count(out.shape);
  const std::int64_t elements = element_count(values.shape);
  const std::int64_t pieces = scatter_pieces(elements, table);
  const auto item = static_cast<std::int64_t>(itemsize(out.dtype));
  const Dims dense = contiguous_strides(out.shape, item);
  std::vector<std::byte> tables(static_cast<std::size_t>((pieces - 1) * table * item));
  const Scalar identity = fold_identity(scatter_fold(fn), out.dtype);
  for (std::size_t at = 0; at < tables.size(); at += itemsize(out.dtype))
    std::memcpy(&tables[at], identity.bytes, itemsize(out.dtype));
  const auto table_of = [&](std::int64_t piece) {
    return &tables[static_cast<std::size_t>((piece - 1) * table * item)];
  };
  Dims at_strides(values.shape.size(), 0);
  at_strides[0] = index.strides[0];
  run_units(pieces, elements, host_machine().added * static_cast<double>(elements),
            [&](std::int64_t p, auto&&) {
              const std::int64_t first = n * p / pieces;
              Dims shape = values.shape;
              shape[0] = n * (p + 1) / pieces - first;
              if (shape[0] == 0) return;
              const InterruptScope piece(false);  // they are looked for between two pieces
              // Rows stand still along the axis of the indices.
              Memory to{p == 0 ? out.data : table_of(p), p == 0 ? out.strides : dense};
              const std::int64_t step = to.strides[0];
              to.strides[0] = 0;
              run_combine(fn, out.dtype, shape,
                          {values.data + first * values.strides[0], values.strides},
                          {index.data + first * index.strides[0], at_strides}, step, to);
            });
  if (pieces == 1) return;
  const loops::LoopFn join = loops::elementwise(fn, out.dtype, config().tier);
  std::vector<std::byte> sum(static_cast<std::size_t>(table * item));
  const Memory whole{sum.data(), dense};
  run_cast(out.dtype, out.dtype, out.shape, {out.data, out.strides}, whole);
  const std::int64_t strides[] = {item, item, item};
  for (std::int64_t p = 1; p < pieces; ++p) {
    void* args[] = {sum.data(), table_of(p), sum.data()};
    join(args, strides, table);
  }
  run_cast(out.dtype, out.dtype, out.shape, whole, {out.data, out.strides});
}

void run_bincount(const CallRun& r) {
  const Operand &at = r.inputs[0], &out = r.results[0];
  count_bins(at.data, at.strides[0], at.shape[0], reinterpret_cast<std::int64_t*>(out.data),
             out.shape[0]);
}

}  // namespace plait::engine
