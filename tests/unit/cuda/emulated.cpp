// Generated programs, run on the CPU, against the interpreter's reading of the same kernels.
#include <dlfcn.h>
#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "../interp/reference.hpp"
#include "codegen/cuda/program.hpp"
#include "codegen/interp/interp.hpp"
#include "kernels.hpp"

using namespace plait;

namespace {

using Memory = std::vector<std::vector<unsigned char>>;
using Launcher = void (*)(const void* arguments, unsigned grid, unsigned block, bool reversed);

// Programs compiled by the host's compiler with the emulation, in one shared object.
class Library {
 public:
  explicit Library(const std::vector<std::shared_ptr<const cuda::Program>>& programs) {
    test::Batch batch(
        "extern \"C\" void launch@(const void* a, unsigned g, unsigned b, bool r) {\n"
        "  launch<Arguments>(kernel@, a, g, b, r);\n}\n");
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
  void launch(std::size_t n, const cuda::Launch& shape, const std::vector<std::byte>& arguments,
              bool reversed) const {
    const auto entry =
        reinterpret_cast<Launcher>(dlsym(handle_, ("launch" + std::to_string(n)).c_str()));
    entry(arguments.data(), shape.grid[0], shape.block[0], reversed);
  }

 private:
  void* handle_ = nullptr;
};

class Emulated {
 public:
  explicit Emulated(std::vector<test::RandomKernel> kernels)
      : kernels_(std::move(kernels)), programs_(generated(kernels_)), library_(programs_) {}
  std::size_t size() const { return kernels_.size(); }
  const test::RandomKernel& kernel(std::size_t n) const { return kernels_[n]; }

  Memory run(std::size_t n, bool reversed) const {
    const test::RandomKernel& r = kernels_[n];
    const cuda::Launch shape = cuda::launch_shape(*programs_[n], {r.params.data(), r.grid});
    std::vector<unsigned char> scratch(shape.scratch_bytes, 0x5a);
    Memory got = r.buffers;
    r.call(got, [&](const ir::CallArgs& args) {
      std::vector<std::byte> arguments;
      cuda::pack_arguments(*programs_[n], shape, args, 0, r.grid, scratch.data(), arguments);
      library_.launch(n, shape, arguments, reversed);
    });
    return got;
  }

 private:
  std::vector<test::RandomKernel> kernels_;
  std::vector<std::shared_ptr<const cuda::Program>> programs_;
  Library library_;
  static std::vector<std::shared_ptr<const cuda::Program>> generated(
      const std::vector<test::RandomKernel>& kernels) {
    std::vector<std::shared_ptr<const cuda::Program>> all;
    for (const test::RandomKernel& r : kernels)
      all.push_back(cuda::generate(r.kernel, {}, {r.params.data(), r.grid}));
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

TEST_CASE("every operation gives what the interpreter gives") {
  std::vector<test::RandomKernel> kernels;
  std::vector<bool> bits;
  for (auto [op, t] : test::operations()) {
    kernels.push_back(test::operation_kernel(op, t));
    bits.push_back(exact(op, t));
  }
  const Emulated emulated(std::move(kernels));
  for (std::size_t n = 0; n < emulated.size(); ++n)
    compare(emulated.kernel(n), interpreted(emulated.kernel(n)), emulated.run(n, false),
            bits[n] ? 0 : 16);
}

TEST_CASE("random kernels give the reference's bits, whatever the order of threads") {
  std::vector<test::RandomKernel> kernels;
  for (std::uint32_t seed = 0; kernels.size() < 100; ++seed) {
    test::RandomKernel r = test::KernelGenerator(seed, false, seed % 4 != 0).make();
    if (cuda::supports(r.kernel, nullptr)) kernels.push_back(std::move(r));
  }
  const Emulated emulated(std::move(kernels));
  for (std::size_t n = 0; n < emulated.size(); ++n) {
    const test::RandomKernel& r = emulated.kernel(n);
    Memory want = r.buffers;
    r.call(want, [&](const ir::CallArgs& args) { reference::run(r.kernel, args, 0, r.grid); });
    for (bool reversed : {false, true}) compare(r, want, emulated.run(n, reversed), 0);
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
      cuda::generate_join(ReduceKind::Sum, DType::Float64, {}),
      cuda::generate_join(ReduceKind::ArgMax, DType::Float64, {})};
  const Library library(programs);
  auto join = [&](std::size_t program, bool tree, const double* rows, void* out) {
    // The second output comes first in the result.
    const cuda::Join j{program == 0 ? ReduceKind::Sum : ReduceKind::ArgMax,
                       DType::Float64,
                       tree,
                       extent,
                       chunks,
                       outputs,
                       {outputs},
                       {-8}};
    std::vector<std::byte> arguments;
    cuda::pack_join(j, {rows, indices.data(), bounds.data(), static_cast<char*>(out) + 8},
                    arguments);
    library.launch(program, cuda::join_shape(*programs[program], j), arguments, false);
  };
  double tree[2], ordered[2];
  std::int64_t best[2];
  join(0, true, sums.data(), tree);
  join(0, false, sums.data(), ordered);
  join(1, false, extremes.data(), best);
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
