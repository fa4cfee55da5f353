// Generated programs, run on the CPU, against the interpreter's reading of the same kernels.
#include <dlfcn.h>
#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "../../cuda/emulated_launch.hpp"
#include "../interp/reference.hpp"
#include "codegen/cuda/program.hpp"
#include "codegen/interp/interp.hpp"
#include "kernels.hpp"

using namespace plait;

namespace {

using Memory = std::vector<std::vector<unsigned char>>;
constexpr emulated::Order kOrders[] = {emulated::Order::Forward, emulated::Order::Backward,
                                       emulated::Order::Shuffled};

// Programs compiled by the host's compiler with the emulation, in one shared object.
class Library {
 public:
  explicit Library(const std::vector<std::shared_ptr<const cuda::Program>>& programs) {
    test::Batch batch(
        "extern \"C\" const char* launch@(const void* a, const emulated::Launch& l) {\n"
        "  return emulated::launch<Arguments, kernel@>(a, l);\n}\n");
    for (const auto& p : programs) batch.add(cuda::source(*p), cuda::entry(*p), false);
    char folder[] = "plait_cuda_XXXXXX";
    REQUIRE(mkdtemp(folder));
    const std::string at = std::filesystem::absolute(folder).string();
    std::ofstream(at + "/kernels.cpp") << "#include \"" PLAIT_EMULATION "\"\n" << batch.source();
    const std::string command = PLAIT_CXX
                                " -std=c++17 -O1 -w -ffp-contract=off -fwrapv "
                                "-fno-strict-aliasing -shared -fPIC -o " +
                                at + "/kernels.so " + at + "/kernels.cpp";
    const bool built = std::system(command.c_str()) == 0;
    if (built) handle_ = dlopen((at + "/kernels.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    std::filesystem::remove_all(at);
    REQUIRE(handle_);
  }
  ~Library() { dlclose(handle_); }
  // What the emulation found wrong, or null.
  const char* run(std::size_t n, emulated::Launch launch, const std::vector<std::byte>& arguments,
                  const std::vector<emulated::Range>& memory) const {
    const auto entry = reinterpret_cast<emulated::Launcher>(
        dlsym(handle_, ("launch" + std::to_string(n)).c_str()));
    launch.memory = memory.data();
    launch.ranges = memory.size();
    return entry(arguments.data(), launch);
  }
  void launch(std::size_t n, const cuda::Launch& shape, const std::vector<std::byte>& arguments,
              const std::vector<emulated::Range>& memory, emulated::Order order) const {
    const emulated::Launch l{shape.grid[0], shape.block[0], shape.shared_bytes, order, nullptr, 0};
    if (const char* fault = run(n, l, arguments, memory))
      FAIL_CHECK("kernel " << n << ": " << fault);
  }

 private:
  void* handle_ = nullptr;
};

class Emulated {
 public:
  explicit Emulated(std::vector<test::RandomKernel> kernels, cuda::Target target = {})
      : kernels_(std::move(kernels)), programs_(generated(kernels_, target)), library_(programs_) {}
  std::size_t size() const { return kernels_.size(); }
  const test::RandomKernel& kernel(std::size_t n) const { return kernels_[n]; }
  const cuda::Program& program(std::size_t n) const { return *programs_[n]; }

  Memory run(std::size_t n, emulated::Order order) const {
    const test::RandomKernel& r = kernels_[n];
    const cuda::Launch shape = cuda::launch_shape(*programs_[n], {r.params.data(), r.grid});
    std::vector<unsigned char> scratch(shape.scratch_bytes, 0x5a);
    Memory got = r.buffers;
    std::vector<emulated::Range> memory{{scratch.data(), scratch.size()}};
    for (const auto& b : got) memory.push_back({b.data(), b.size()});
    r.call(got, [&](const ir::CallArgs& args) {
      std::vector<std::byte> arguments;
      cuda::pack_arguments(*programs_[n], shape, args, 0, r.grid, scratch.data(), arguments);
      library_.launch(n, shape, arguments, memory, order);
    });
    return got;
  }

 private:
  std::vector<test::RandomKernel> kernels_;
  std::vector<std::shared_ptr<const cuda::Program>> programs_;
  Library library_;
  static std::vector<std::shared_ptr<const cuda::Program>> generated(
      const std::vector<test::RandomKernel>& kernels, const cuda::Target& target) {
    std::vector<std::shared_ptr<const cuda::Program>> all;
    for (const test::RandomKernel& r : kernels)
      all.push_back(cuda::generate(r.kernel, target, {r.params.data(), r.grid}));
    return all;
  }
};

Memory interpreted(const test::RandomKernel& r) {
  const auto program = interp::prepare(r.kernel, detected_tier());
  Memory want = r.buffers;
  r.call(want, [&](const ir::CallArgs& args) {
    const std::size_t bytes = (interp::scratch_bytes(*program, args) + 127) / 64 * 64;
    void* scratch = std::aligned_alloc(64, bytes);
    interp::run(*program, args, 0, r.grid, scratch);
    std::free(scratch);
  });
  return want;
}

// Whether two values differ by rounding only: `units` in the last place of the larger part.
bool close(DType t, const unsigned char* a, const unsigned char* b, double units) {
  if (reference::same_value(t, a, b)) return true;
  if (!is_float(t) && !is_complex(t)) return false;
  Scalar x{}, y{};
  x.dtype = y.dtype = t;
  std::memcpy(x.bytes, a, itemsize(t));
  std::memcpy(y.bytes, b, itemsize(t));
  const auto p = cast(x, DType::Complex128).as<std::complex<double>>();
  const auto q = cast(y, DType::Complex128).as<std::complex<double>>();
  const bool single = t == DType::Float32 || t == DType::Complex64;
  const double ulp = t == DType::Float16 ? 1e-3 : single ? 1.2e-7 : 2.3e-16;
  auto finite = [](double v) { return std::isfinite(v) ? std::abs(v) : 0; };
  const double size = std::max({finite(p.real()), finite(p.imag()), finite(q.real()), 1e-300});
  auto same = [&](double u, double v) {
    return u == v || (u != u && v != v) || std::abs(u - v) <= units * ulp * size;
  };
  return same(p.real(), q.real()) && same(p.imag(), q.imag());
}

void compare(const test::RandomKernel& r, const Memory& want, const Memory& got, double units) {
  for (std::size_t b = 0; b < want.size(); ++b) {
    const DType t = r.kernel.buffers[b].dtype;
    for (std::size_t at = 0; at < want[b].size(); at += itemsize(t))
      if (!close(t, &want[b][at], &got[b][at], units)) {
        Scalar x{}, y{};
        x.dtype = y.dtype = t;
        std::memcpy(x.bytes, &want[b][at], itemsize(t));
        std::memcpy(y.bytes, &got[b][at], itemsize(t));
        const auto p = cast(x, DType::Complex128).as<std::complex<double>>();
        const auto q = cast(y, DType::Complex128).as<std::complex<double>>();
        INFO(p << " is wanted, " << q << " was computed");
        FAIL_CHECK(r.kernel.name << ": buffer " << b << " (" << name(t) << ") element "
                                 << at / itemsize(t));
        return;
      }
  }
  SUCCEED();
}

bool exact(OpId op, DType t) {
  const OpInfo& info = op_info(op);
  if (is_complex(t)) return info.cost == Cost::Cheap && op != OpId::Absolute && op != OpId::Sign;
  return !is_float(t) || info.cost != Cost::Expensive;
}

}  // namespace

TEST_CASE("the emulation finds missing and divergent barriers and stray addresses") {
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
  const Library library(
      {program(before + "  __syncthreads();\n" + after), program(before + after),
       program(before + "  if (me < 40) __syncthreads();\n" + after),
       program("  __shfl_sync(0xffu << me / 8 % 4 * 8, me, (me + 8) % 32, 32);\n"),
       program("  PLAIT_TOUCH(a.out + me + 1, int);\n")});
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
  }
}

TEST_CASE("every operation gives what the interpreter gives") {
  std::vector<test::RandomKernel> kernels;
  std::vector<bool> bits;
  for (auto [op, t] : test::operations()) {
    kernels.push_back(test::operation_kernel(op, t));
    bits.push_back(exact(op, t));
  }
  const Emulated programs(std::move(kernels));
  for (std::size_t n = 0; n < programs.size(); ++n)
    compare(programs.kernel(n), interpreted(programs.kernel(n)),
            programs.run(n, emulated::Order::Forward), bits[n] ? 0 : 16);
}

TEST_CASE("random kernels give the reference's bits, whatever the order of threads") {
  std::vector<test::RandomKernel> kernels;
  for (std::uint32_t seed = 0; kernels.size() < 60; ++seed) {
    test::RandomKernel r = test::KernelGenerator(seed, false, seed % 4 != 0).make();
    if (cuda::supports(r.kernel, nullptr)) kernels.push_back(std::move(r));
  }
  const Emulated programs(std::move(kernels));
  int teams = 0;
  for (std::size_t n = 0; n < programs.size(); ++n) {
    const test::RandomKernel& r = programs.kernel(n);
    teams += programs.program(n).mapping.team > 1;
    Memory want = r.buffers;
    r.call(want, [&](const ir::CallArgs& args) { reference::run(r.kernel, args, 0, r.grid); });
    compare(r, want, programs.run(n, kOrders[n % 3]), 0);
    if (r.grid < 600) compare(r, want, programs.run(n, kOrders[(n + 1) % 3]), 0);
  }
  CHECK(teams > 10);
}

TEST_CASE("packs give the interpreter's bits, whatever is aligned") {
  constexpr DType f4 = DType::Float32, f8 = DType::Float64;
  std::vector<test::RandomKernel> kernels;
  std::vector<int> packs;
  for (std::int64_t from : {0, 1, 2})
    for (std::int64_t to : {0, 3}) {
      kernels.push_back(test::shifted_kernel(1, 4099, 0, from, to, f4, true));
      packs.push_back(4);
      kernels.push_back(
          test::shifted_kernel(40, 101, 104 + from, from, to, from == 1 ? f8 : f4, false));
      packs.push_back(from == 1 ? 2 : 4);
    }
  kernels.push_back(test::shifted_kernel(100, 40, 40, 0, 0, f4, false));
  packs.push_back(1);
  const Emulated programs(std::move(kernels), {.multiprocessors = 1});
  for (std::size_t n = 0; n < programs.size(); ++n) {
    INFO("case " << n);
    CHECK(programs.program(n).mapping.pack == packs[n]);
    const Memory want = interpreted(programs.kernel(n));
    for (emulated::Order order : kOrders)
      compare(programs.kernel(n), want, programs.run(n, order), 0);
  }
}

TEST_CASE("tiles give the interpreter's bits") {
  struct Case {
    std::int64_t means, columns;
    DType dtype;
    bool means_shared, points_shared;
  };
  constexpr DType f4 = DType::Float32, f8 = DType::Float64;
  const std::vector<Case> cases = {{5, 20, f4, true, true},    {64, 33, f8, true, true},
                                   {3, 2, f8, true, false},    {900, 40, f4, false, true},
                                   {7, 2000, f8, true, false}, {40, 2000, f8, false, false}};
  std::vector<test::RandomKernel> kernels;
  for (const Case& c : cases)
    kernels.push_back(
        test::nearest_kernel(c.columns > 1000 ? 513 : 1100, c.means, c.columns, c.dtype));
  const Emulated programs(std::move(kernels), {.multiprocessors = 1});
  for (std::size_t n = 0; n < programs.size(); ++n) {
    INFO("case " << n);
    CHECK(programs.program(n).mapping.whole_tiles == cases[n].means_shared);
    CHECK(programs.program(n).mapping.row_tiles == cases[n].points_shared);
    const Memory want = interpreted(programs.kernel(n));
    for (emulated::Order order : kOrders)
      compare(programs.kernel(n), want, programs.run(n, order), 0);
  }
}

TEST_CASE("turned tiles give the interpreter's bits") {
  std::vector<test::RandomKernel> kernels;
  kernels.push_back(test::transposed_kernel(1, 64, 96, DType::Float32));
  kernels.push_back(test::transposed_kernel(3, 33, 70, DType::Float64));
  kernels.push_back(test::transposed_kernel(2, 131, 37, DType::Complex128));
  kernels.push_back(test::transposed_kernel(1, 200, 31, DType::Float32));
  const Emulated programs(std::move(kernels), {.multiprocessors = 1});
  for (std::size_t n = 0; n < programs.size(); ++n) {
    INFO("case " << n);
    CHECK(programs.program(n).mapping.turned == (n < 3));
    const Memory want = interpreted(programs.kernel(n));
    for (emulated::Order order : kOrders)
      compare(programs.kernel(n), want, programs.run(n, order), 0);
  }
}

TEST_CASE("rows give the interpreter's bits, whoever shares them") {
  using test::RowWork;
  struct Case {
    RowWork work;
    std::int64_t rows, columns;
    DType dtype;
    int team;
    bool in_shared_memory = true;
  };
  constexpr DType f4 = DType::Float32, f8 = DType::Float64, c8 = DType::Complex64;
  // Of a device with one multiprocessor, so that few rows are many.
  const std::vector<Case> cases = {{RowWork::Softmax, 300, 100, f4, 8},
                                   {RowWork::Softmax, 70, 700, f8, 32},
                                   {RowWork::Softmax, 3, 1000, f4, 256},
                                   {RowWork::Softmax, 2, 9000, f8, 1024},
                                   {RowWork::Softmax, 2, 70000, f4, 1024, false},
                                   {RowWork::Standardise, 5, 130, f4, 32},
                                   {RowWork::Standardise, 3, 2049, f8, 256},
                                   {RowWork::Standardise, 2, 33000, f4, 1024},
                                   {RowWork::Standardise, 66, 90, f8, 8},
                                   {RowWork::Standardise, 3, 5000, f4, 256},
                                   {RowWork::ArgMax, 80, 260, f4, 32},
                                   {RowWork::ArgMax, 3, 9001, f8, 1024},
                                   {RowWork::Sums, 4, 1031, c8, 256},
                                   {RowWork::Sums, 70, 33, f4, 8},
                                   {RowWork::Sums, 1, 70001, f8, 1024},
                                   {RowWork::Sums, 3, 6000, DType::Float16, 256}};
  std::vector<test::RandomKernel> kernels;
  for (const Case& c : cases)
    kernels.push_back(test::row_kernel(c.work, c.rows, c.columns, c.dtype));
  const Emulated programs(std::move(kernels), {.multiprocessors = 1});
  for (std::size_t n = 0; n < cases.size(); ++n) {
    INFO("case " << n);
    CHECK(programs.program(n).mapping.team == cases[n].team);
    CHECK(programs.program(n).mapping.rows_shared == cases[n].in_shared_memory);
    const Memory want = interpreted(programs.kernel(n));
    for (emulated::Order order : kOrders)
      compare(programs.kernel(n), want, programs.run(n, order), 0);
  }
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

  const std::vector<std::shared_ptr<const cuda::Program>> programs{
      cuda::generate_join(ReduceKind::Sum, DType::Float64, true, {}),
      cuda::generate_join(ReduceKind::Sum, DType::Float64, false, {}),
      cuda::generate_join(ReduceKind::ArgMax, DType::Float64, false, {})};
  const Library library(programs);
  auto join = [&](std::size_t program, const double* rows, void* out) {
    // The second output comes first in the result.
    const cuda::Join j{program < 2 ? ReduceKind::Sum : ReduceKind::ArgMax,
                       DType::Float64,
                       program == 0,
                       extent,
                       chunks,
                       longest,
                       outputs,
                       {outputs},
                       {-8}};
    std::vector<std::byte> arguments;
    cuda::pack_join(j, {rows, indices.data(), bounds.data(), static_cast<char*>(out) + 8},
                    arguments);
    library.launch(program, cuda::join_shape(*programs[program], j), arguments,
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
