// State of the engine that its files share.
#pragma once
#include <bit>
#include <optional>
#include <span>
#include <vector>

#include "codegen/loops/product.hpp"
#include "core/buffer.hpp"
#include "core/machine.hpp"
#include "engine/engine.hpp"
#include "fusion/plan.hpp"
#include "kernel.hpp"

namespace plait::engine {

struct Root;

Stats& counters();
// What the host is planned for. Numbers of threads that are much the same have one plan; where the
// machine is to make no difference, all have.
inline fusion::Target host_target() {
  fusion::Target t{.machine = &host_machine(), .product_depth = loops::kProductDepth};
  if (!config().deterministic)
    t.workers = static_cast<int>(std::bit_ceil(static_cast<unsigned>(num_threads())));
  return t;
}
// Rows of ir::kFragmentTypes that a device computes.
constexpr std::uint32_t fragments_of_devices() {
  std::uint32_t rows = 0;
  for (std::size_t i = 0; i < std::size(ir::kFragmentTypes); ++i)
    for (const FragmentShape& s : kFragmentShapes)
      if (const ir::FragmentTypes& t = ir::kFragmentTypes[i];
          of_device(s.unit) && s.a == t.a && s.b == t.b)
        rows |= 1U << i;
  return rows;
}
// What devices are planned for. cuBLASLt adds a bias, and a matrix C, before it rounds, which are
// NumPy's roundings only where sums are kept in the product's own type. It adds no bias to complex
// products, and multiplies C by a complex 1 there, which need not leave infinities alone. Blocks of
// products fit shared memory, two of them, so that one copies while the other multiplies, and rows
// there begin 16 bytes apart.
inline fusion::Target device_target(const Machine& m) {
  return {.machine = &m,
          .lanes = false,
          .summed_products =
              1u << static_cast<int>(DType::Float32) | 1u << static_cast<int>(DType::Float64),
          .ordered_products = false,
          .product_depth = 64,
          .fragments = fragments_of_devices(),
          .blocks = {.rows = 128,
                     .many_rows = 128,
                     .operand_bytes = 96 << 10,
                     .product_bytes = 64 << 10,
                     .strip_bytes = 512,
                     .attention_bytes = 48 << 10,
                     .columns = 128,
                     .packed_bytes = 64 << 10,
                     .gemv_rows = 4,
                     .depth = 32,
                     .at_sums = true,
                     .row_padding = kFragmentWord},
          .min_parallel_rows = fusion::kFewTeams};
}
// Owners of plans that are only for explain(): of devices, of the host.
inline constexpr int kLookedAt = 127, kLookedAtHere = 126;
// The plan of a graph, from the cache or made now, and the values of its expressions for it. Plans
// hold the code of one `owner`: 0 is the host, others are devices and what explain() compiles for.
std::shared_ptr<fusion::Plan> plan_for(const fusion::Graph& g, std::vector<std::int64_t>& values,
                                       int owner = 0, const fusion::Target& target = host_target());
// The one in the cache, if it holds for this graph and was made for as many workers.
std::shared_ptr<fusion::Plan> known_plan(const fusion::Graph& g, std::vector<std::int64_t>& values,
                                         int owner = 0, int workers = host_target().workers);
// A plan that was made for a graph like this one, unless there is one already. The recorder's lock
// is held.
void add_plan(const fusion::Graph& g, std::shared_ptr<fusion::Plan> plan);
// Benchmarks: evaluations of graphs like this one take this plan.
void adopt_plan(const fusion::Graph& g, std::shared_ptr<fusion::Plan> plan);
void note_plan(const fusion::Plan& p);   // for last_plan()
std::string target_of(DeviceId device);  // as ExplainOptions name it
std::string plan_text(const fusion::Graph& g, fusion::Plan& plan,
                      const std::vector<std::int64_t>& values, const ExplainOptions& options);

// The next evaluation plans, and takes its kernels, afresh. Returns the bytes.
std::size_t forget_plans();
void bound_plans();  // by the limit that settings have now
TableSize plans_kept();

// Chunks of a chunked region's split axis and how their partial results join.
struct Chunks {
  std::vector<std::int64_t> bounds;  // chunk c is [bounds[c], bounds[c + 1])
  // Postfix over a stack of chunks: >= 0 pushes that chunk, -1 joins the two on top into the lower
  // one.
  std::vector<std::int32_t> joins;
  std::int64_t count() const { return static_cast<std::int64_t>(bounds.size()) - 1; }
};
// NumPy's summation tree over `extent` elements, cut at subtrees of a cache-friendly size.
Chunks tree_chunks(std::int64_t extent);
// Equal chunks of about kChunkElements elements, `inner` elements an iteration, joined in order.
Chunks even_chunks(std::int64_t extent, std::int64_t inner);

// As many pieces of one length, joined in order.
Chunks equal_chunks(std::int64_t extent, std::int64_t pieces);

// Of a full any() or all() of what is in memory, with `partials` at the identity: the first chunk
// that decides ends it. nullopt for what has to be computed whole.
std::optional<EarlyExit> early_exit_of(const fusion::LoweredKernel& l,
                                       std::span<const Ref<Buffer>> partials, std::int64_t outputs,
                                       std::int64_t chunks);

// Joins the chunks' rows of `outputs` values into row 0 (Sum, Prod, Min ...).
void join_partials(const Chunks& c, ReduceKind kind, DType t, std::int64_t outputs,
                   std::byte* rows);
// Arg-reductions: rows of extreme values and of indices; the winning index of each output goes to
// row 0 of `indices`.
void join_arg_partials(const Chunks& c, ReduceKind kind, DType t, std::int64_t outputs,
                       const std::byte* extremes, std::int64_t* indices);

// `count` stretches of `bytes`, `pitch` bytes from one's begin to the next's.
struct Stretches {
  std::int64_t begin, bytes, count, pitch;
};
// What an update leaves of the old contents, in bytes from element 0: `kept` within [first, last).
// All of it when a mask or steps make its target no box.
struct UpdateCopy {
  std::int64_t first, last;
  std::vector<Stretches> kept;
};
UpdateCopy surviving(const Root& update);

}  // namespace plait::engine
