// Generated programs, run on the CPU both ways (emulated.hpp), against the interpreter's reading of
// the same kernels.
#include "emulated.hpp"

#include <set>

#include "../interp/fold_kernel.hpp"
#include "../interp/product_kernel.hpp"
#include "named.hpp"

using namespace plait;
using test::By;
using test::compare;
using test::compiler;
using test::Emulated;
using test::HostLibrary;
using test::interpreted;
using test::kOrders;
using test::Library;
using test::Memory;

namespace {

bool exact(OpId op, DType t) {
  const OpInfo& info = op_info(op);
  if (is_complex(t)) return info.cost == Cost::Cheap && op != OpId::Absolute && op != OpId::Sign;
  return !is_float(t) || info.cost != Cost::Expensive;
}

// Units in the last place. A complex power is exp(b log(a)): what either rounds grows by the size
// of the logarithm.
double tolerance(OpId op, DType t) {
  if (exact(op, t)) return 0;
  return is_complex(t) && (op == OpId::Power || op == OpId::FloatPower) ? 40 : 16;
}

}  // namespace

TEST_CASE("the emulation finds missing and divergent barriers, races and stray addresses") {
  // Each thread passes its number to the one after it.
  const auto program = [](const std::string& body) {
    auto p = std::make_shared<cuda::Program>();
    p->source =
        "typedef int Index;\nstruct Arguments {\n  int* out;\n};\n"
        "extern \"C\" __global__ void plait_kernel(const Arguments a) {\n"
        "  int* slots = reinterpret_cast<int*>(shared_memory);\n"
        "  const int me = threadIdx.x, left = (me + 63) % 64;\n" +
        body + "}\n";
    return p;
  };
  const std::string before = "  slots[me] = me;\n", after = "  a.out[me] = slots[left];\n";
  const HostLibrary library(
      {program(before + "  __syncthreads();\n" + after), program(before + after),
       program(before + "  if (me < 40) __syncthreads();\n" + after),
       program("  __shfl_sync(0xffu << me / 8 % 4 * 8, me, (me + 8) % 32, 32);\n"),
       program("  PLAIT_TOUCH(a.out + me + 1, int);\n"),
       program("  PLAIT_TOUCH(slots + me, int);\n" + before +
               "  PLAIT_TOUCH(slots + left, int);\n" + after),
       program("  PLAIT_TOUCH(slots + me, int);\n" + before +
               "  __syncthreads();\n  PLAIT_TOUCH(slots + left, int);\n" + after),
       program("  PLAIT_TOUCH(slots + me, int);\n" + before +
               "  __shfl_sync(~0u, me, me % 32, 32);\n  PLAIT_TOUCH(slots + (me ^ 1), int);\n"),
       program("  PLAIT_TOUCH(slots + me, int);\n" + before +
               "  __syncwarp(~0u);\n  PLAIT_TOUCH(slots + (me ^ 1), int);\n")});
  const auto run = [&](std::size_t n, emulated::Order order, const char** fault) {
    std::vector<int> out(64);
    std::vector<std::byte> arguments(sizeof(int*));
    int* at = out.data();
    std::memcpy(arguments.data(), &at, sizeof at);
    *fault = library.run(n, {1, 64, 256, order, nullptr, 0}, arguments,
                         {{out.data(), out.size() * sizeof(int)}});
    return out;
  };
  const char* fault;
  const std::vector<int> right = run(0, emulated::Order::Forward, &fault);
  CHECK(right[5] == 4);
  for (emulated::Order order : kOrders) {
    CHECK(run(0, order, &fault) == right);
    CHECK(fault == nullptr);
    CHECK(run(1, order, &fault) != right);
    run(2, order, &fault);
    CHECK_THAT(fault, Catch::Contains("not every thread reaches"));
    run(3, order, &fault);
    CHECK_THAT(fault, Catch::Contains("takes no part"));
    run(4, order, &fault);
    CHECK_THAT(fault, Catch::Contains("outside the launch's memory"));
    run(5, order, &fault);
    CHECK_THAT(fault, Catch::Contains("a race"));
    CHECK(run(6, order, &fault) == right);
    CHECK(fault == nullptr);
    run(7, order, &fault);
    CHECK_THAT(fault, Catch::Contains("a race"));
    run(8, order, &fault);
    CHECK(fault == nullptr);
  }
}

TEST_CASE("every operation gives what the interpreter gives") {
  std::vector<test::RandomKernel> kernels;
  std::vector<std::vector<double>> units;
  for (const test::OperationKernel& o : test::operation_kernels()) {
    units.emplace_back(o.buffers.size());
    for (const auto& [op, buffer] : o.outputs) units.back()[buffer] = tolerance(op, o.dtype);
    kernels.push_back(o);
  }
  const Emulated programs(compiler(), kernels);
  for (std::size_t n = 0; n < programs.size(); ++n)
    compare(programs.kernel(n), interpreted(programs.kernel(n)),
            programs.run(n, emulated::Order::Forward), units[n]);
}

TEST_CASE("random kernels give the reference's bits, whatever the order of threads") {
  const Emulated programs(compiler(), test::random_kernels());
  int teams = 0;
  for (std::size_t n = 0; n < programs.size(); ++n) {
    const test::RandomKernel& r = programs.kernel(n);
    teams += programs.program(n).mapping.team > 1;
    Memory want = r.buffers;
    r.call(want, [&](const ir::CallArgs& args) { reference::run(r.kernel, args, 0, r.grid); });
    compare(r, want, programs.run(n, kOrders[n % 3]));
    if (compiler() == By::Host && r.grid < 600)
      compare(r, want, programs.run(n, kOrders[(n + 1) % 3]));
  }
  CHECK(teams >= 10);
}

TEST_CASE("every mapping gives the interpreter's bits") {
  const std::vector<test::Case> cases = test::mapping_cases();
  std::vector<test::RandomKernel> kernels;
  for (const test::Case& c : cases) kernels.push_back(c.kernel);
  const Emulated programs(compiler(), kernels, test::kSmallDevice);
  for (std::size_t n = 0; n < cases.size(); ++n) {
    INFO("case " << n << ": " << to_string(programs.program(n).mapping) << " for "
                 << to_string(cases[n].mapping));
    CHECK(programs.program(n).mapping == cases[n].mapping);
    if (compiler() == By::Nvrtc && cases[n].huge) continue;
    const test::RandomKernel& r = programs.kernel(n);
    if (!cases[n].slow) {
      const Memory want = interpreted(r);
      for (emulated::Order order : kOrders)
        if (compiler() == By::Host || order == kOrders[n % 3])
          compare(r, want, programs.run(n, order));
      continue;
    }
    const std::int64_t from = r.grid - 40;
    Memory want = interpreted(r, from, r.grid), got = programs.run(n, emulated::Order::Shuffled);
    for (std::size_t b = 0; b < want.size(); ++b)
      if (r.kernel.buffers[b].written)
        std::copy_n(got[b].begin(), got[b].size() / r.grid * from, want[b].begin());
    compare(r, want, got);
  }
}

TEST_CASE("products by fragments give the interpreter's bits") {
  std::vector<test::RandomKernel> kernels;
  std::vector<double> units;
  for (const test::ProductShape& s : test::product_shapes()) {
    kernels.push_back(test::product_kernel(s));
    // Tensor cores have an order of their own, which shows where a sum is close to 0.
    units.push_back(s.dtype == DType::Float16 && compiler() == By::Nvrtc ? 16 : 0);
  }
  const Emulated programs(compiler(), kernels);
  for (std::size_t n = 0; n < programs.size(); ++n)
    compare(kernels[n], interpreted(kernels[n]), programs.run(n, kOrders[n % 3]), {units[n]});
}

TEST_CASE("folds of several values give the interpreter's bits, but for exponentials") {
  std::vector<test::RandomKernel> kernels;
  std::vector<double> units;
  for (const test::FoldShape& s : test::fold_shapes()) {
    kernels.push_back(test::fold_kernel(s));
    units.push_back(s.row == &test::kSoftmax ? 100 : 0);
  }
  const Emulated programs(compiler(), kernels);
  for (std::size_t n = 0; n < programs.size(); ++n)
    compare(kernels[n], interpreted(kernels[n]), programs.run(n, kOrders[n % 3]), {units[n]});
}

TEST_CASE("indices of 64 bits give the same") {
  if (compiler() == By::Host) return;  // each of the named set is compiled there once
  std::vector<test::RandomKernel> kernels = test::random_kernels();
  kernels.resize(10);
  for (const test::Case& c : test::mapping_cases())
    if (!c.slow) kernels.push_back(c.kernel);
  const Emulated programs(By::Nvrtc, kernels, test::kSmallDevice, true);
  for (std::size_t n = 0; n < programs.size(); ++n) {
    INFO(to_string(programs.program(n).mapping));
    CHECK(programs.program(n).source.find("typedef long long Index") == 0);
    compare(kernels[n], interpreted(kernels[n]), programs.run(n, kOrders[n % 3]));
  }
}

TEST_CASE("the named set is small, and every operation, mapping and dtype is in it") {
  std::set<std::pair<OpId, DType>> operations;
  const std::vector<test::OperationKernel> kernels = test::operation_kernels();
  for (const test::OperationKernel& o : kernels)
    for (const auto& [op, buffer] : o.outputs) operations.emplace(op, o.dtype);
  for (int op = 0; op < kOpCount; ++op)
    for (const char c : op_info(static_cast<OpId>(op)).loops)
      for (int t = 0; t < kNumPyDTypes; ++t)
        if (code(static_cast<DType>(t)) == c)
          CHECK(operations.count({static_cast<OpId>(op), static_cast<DType>(t)}) == 1);
  const std::vector<test::Case> cases = test::mapping_cases();
  const auto any = [&](auto has) {
    return std::any_of(cases.begin(), cases.end(),
                       [&](const test::Case& c) { return has(c.mapping); });
  };
  for (int team : {1, 8, 32, 256, 1024})
    CHECK(any([&](const cuda::Mapping& m) { return m.team == team; }));
  for (int loop : {-1, 1, 2})
    CHECK(any([&](const cuda::Mapping& m) { return m.streamed == loop; }));
  for (int pack : {1, 2, 4}) CHECK(any([&](const cuda::Mapping& m) { return m.pack == pack; }));
  for (bool cuda::Mapping::* is : {&cuda::Mapping::transposed, &cuda::Mapping::whole_tiles,
                                   &cuda::Mapping::row_tiles, &cuda::Mapping::rows_shared})
    CHECK(any([&](const cuda::Mapping& m) { return m.*is; }));
  CHECK(kernels.size() + test::random_kernels().size() + cases.size() + test::kJoins.size() <= 160);
}

namespace {

// Chunks as engine::Chunks cuts NumPy's tree.
void cut(std::int64_t begin, std::int64_t n, std::vector<std::int64_t>& bounds) {
  if (n <= 1000) return bounds.push_back(begin + n);
  const std::int64_t left = n / 2 - n / 2 % 8;
  cut(begin, left, bounds);
  cut(begin + left, n - left, bounds);
}

}  // namespace

TEST_CASE("partial results join in NumPy's order") {
  constexpr std::int64_t extent = 21001, outputs = 2;
  const CpuTier tier = detected_tier();
  std::vector<std::vector<double>> columns(outputs);
  for (std::int64_t i = 0; i < extent; ++i)
    for (std::int64_t o = 0; o < outputs; ++o)
      columns[o].push_back(std::sin(static_cast<double>(i * (o + 1))) / 3);
  std::vector<std::int64_t> bounds{0};
  cut(0, extent, bounds);
  const auto chunks = static_cast<std::int64_t>(bounds.size()) - 1;
  std::int64_t longest = 0;
  for (std::int64_t c = 0; c < chunks; ++c) longest = std::max(longest, bounds[c + 1] - bounds[c]);
  const auto sum = loops::reduce(ReduceKind::Sum, DType::Float64, tier);
  const auto most = loops::arg_reduce(ReduceKind::ArgMax, DType::Float64, tier);
  std::vector<double> sums(chunks * outputs, -0.0), extremes(chunks * outputs);
  std::vector<std::int64_t> indices(chunks * outputs, -1);
  for (std::int64_t c = 0; c < chunks; ++c)
    for (std::int64_t o = 0; o < outputs; ++o) {
      const std::int64_t n = bounds[c + 1] - bounds[c], at = c * outputs + o;
      sum(&sums[at], &columns[o][bounds[c]], 8, n);
      most(&extremes[at], &indices[at], &columns[o][bounds[c]], 8, n, bounds[c]);
    }

  test::Programs programs;
  for (const test::JoinCase& c : test::kJoins)
    programs.push_back(cuda::generate_join(c.kind, c.dtype, c.tree, {}));
  const std::unique_ptr<Library> library = test::library_of(programs, compiler());
  auto join = [&](std::size_t program, const double* rows, void* out) {
    // The second output comes first in the result.
    const test::JoinCase& c = test::kJoins[program];
    const cuda::Join j{c.kind, c.dtype, c.tree, extent, chunks, longest, outputs, {outputs}, {-8}};
    std::vector<std::byte> arguments;
    cuda::pack_join(j, {rows, indices.data(), bounds.data(), static_cast<char*>(out) + 8},
                    arguments);
    library->launch(program, cuda::join_shape(*programs[program], j), arguments,
                    {{rows, columns.size() * chunks * sizeof *rows},
                     {indices.data(), indices.size() * sizeof indices[0]},
                     {bounds.data(), bounds.size() * sizeof bounds[0]},
                     {out, outputs * sizeof(double)}},
                    emulated::Order::Forward);
  };
  double tree[2], ordered[2];
  std::int64_t best[2];
  join(0, sums.data(), tree);
  join(1, sums.data(), ordered);
  join(2, extremes.data(), best);
  for (std::int64_t o = 0; o < outputs; ++o) {
    double whole = -0.0, row = sums[o];
    sum(&whole, columns[o].data(), 8, extent);
    for (std::int64_t c = 1; c < chunks; ++c) row += sums[c * outputs + o];
    double extreme;
    std::int64_t index = -1;
    most(&extreme, &index, columns[o].data(), 8, extent, 0);
    CHECK(tree[1 - o] == whole);
    CHECK(ordered[1 - o] == row);
    CHECK(best[1 - o] == index);
  }
}
