// Programs run on the CPU: compiled by the host's compiler with the emulation of the device, or as
// the PTX that NVRTC makes of them.
#pragma once
#include <dlfcn.h>
#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "../../cuda/ptx.hpp"
#include "../interp/reference.hpp"
#include "codegen/cuda/program.hpp"
#include "codegen/interp/interp.hpp"
#include "kernels.hpp"

namespace plait::test {

using Memory = std::vector<std::vector<unsigned char>>;
inline constexpr emulated::Order kOrders[] = {emulated::Order::Forward, emulated::Order::Backward,
                                              emulated::Order::Shuffled};

using Programs = std::vector<std::shared_ptr<const cuda::Program>>;

class Library {
 public:
  virtual ~Library() = default;
  // What was found wrong, or null.
  const char* run(std::size_t n, emulated::Launch launch, const std::vector<std::byte>& arguments,
                  const std::vector<emulated::Range>& memory) const {
    launch.memory = memory.data();
    launch.ranges = memory.size();
    return start(n, arguments.data(), launch);
  }
  void launch(std::size_t n, const cuda::Launch& shape, const std::vector<std::byte>& arguments,
              const std::vector<emulated::Range>& memory, emulated::Order order) const {
    const emulated::Launch l{shape.grid[0], shape.block[0], shape.shared_bytes, order, nullptr, 0};
    if (const char* fault = run(n, l, arguments, memory))
      FAIL_CHECK("kernel " << n << ": " << fault);
  }

 private:
  virtual const char* start(std::size_t n, const void* arguments,
                            const emulated::Launch& launch) const = 0;
};

// Compiled by the host's compiler with the emulation, in one shared object.
class HostLibrary : public Library {
 public:
  explicit HostLibrary(const Programs& programs) {
    Batch batch(
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
  ~HostLibrary() override { dlclose(handle_); }

 private:
  void* handle_ = nullptr;
  const char* start(std::size_t n, const void* arguments,
                    const emulated::Launch& launch) const override {
    const auto entry = reinterpret_cast<emulated::Launcher>(
        dlsym(handle_, ("launch" + std::to_string(n)).c_str()));
    return entry(arguments, launch);
  }
};

// Compiled by NVRTC, to PTX, as no architecture has this number.
class PtxLibrary : public Library {
 public:
  explicit PtxLibrary(const Programs& programs) {
    for (const auto& p : programs) {
      modules_.push_back(ptx::parse(cuda::compile(*p, 999)->image));
      kernels_.push_back(ptx::find(*modules_.back(), cuda::entry(*p)));
      REQUIRE(kernels_.back());
    }
  }

 private:
  std::vector<std::shared_ptr<const ptx::Module>> modules_;
  std::vector<const ptx::Function*> kernels_;
  const char* start(std::size_t n, const void* arguments,
                    const emulated::Launch& launch) const override {
    return ptx::run(*modules_[n], *kernels_[n], arguments, launch);
  }
};

enum class By { Host, Nvrtc };
inline std::unique_ptr<Library> library_of(const Programs& programs, By compiler) {
  if (compiler == By::Host) return std::make_unique<HostLibrary>(programs);
  return std::make_unique<PtxLibrary>(programs);
}
// The host's compiler, which takes a second for a kernel, where NVRTC is missing only.
inline By compiler() {
  static const By by = [] {
    if (cuda::nvrtc_available(nullptr)) return By::Nvrtc;
    std::cout << "NVRTC is missing: nothing runs as PTX\n";
    return By::Host;
  }();
  return by;
}

class Emulated {
 public:
  // `wide`: with indices of 64 bits, though the extents need none.
  Emulated(By compiler, std::vector<RandomKernel> kernels, cuda::Target target = {},
           bool wide = false)
      : kernels_(std::move(kernels)),
        programs_(generated(kernels_, target, wide)),
        library_(library_of(programs_, compiler)) {}
  std::size_t size() const { return kernels_.size(); }
  const RandomKernel& kernel(std::size_t n) const { return kernels_[n]; }
  const cuda::Program& program(std::size_t n) const { return *programs_[n]; }

  Memory run(std::size_t n, emulated::Order order) const {
    const RandomKernel& r = kernels_[n];
    const cuda::Launch shape = cuda::launch_shape(*programs_[n], {r.params.data(), r.grid});
    std::vector<unsigned char> scratch(shape.scratch_bytes, 0x5a);
    Memory got = r.buffers;
    std::vector<emulated::Range> memory{{scratch.data(), scratch.size()}};
    for (const auto& b : got) memory.push_back({b.data(), b.size()});
    r.call(got, [&](const ir::CallArgs& args) {
      std::vector<std::byte> arguments;
      cuda::pack_arguments(*programs_[n], shape, args, 0, r.grid, scratch.data(), arguments);
      library_->launch(n, shape, arguments, memory, order);
    });
    return got;
  }

 private:
  std::vector<RandomKernel> kernels_;
  Programs programs_;
  std::unique_ptr<Library> library_;
  static Programs generated(const std::vector<RandomKernel>& kernels, const cuda::Target& target,
                            bool wide) {
    Programs all;
    for (const RandomKernel& r : kernels) {
      all.push_back(cuda::generate(r.kernel, target, {r.params.data(), r.grid}));
      if (!wide) continue;
      auto again = std::make_shared<cuda::Program>(*all.back());
      again->mapping.wide = true;
      again->source = cuda::Emitter(*again).run();
      all.back() = std::move(again);
    }
    return all;
  }
};

// Iterations [from, to) of what the interpreter computes.
inline Memory interpreted(const RandomKernel& r, std::int64_t from, std::int64_t to) {
  const auto program = interp::prepare(r.kernel, detected_tier());
  Memory want = r.buffers;
  r.call(want, [&](const ir::CallArgs& args) {
    const std::size_t bytes = (interp::scratch_bytes(*program, args) + 127) / 64 * 64;
    void* scratch = std::aligned_alloc(64, bytes);
    interp::run(*program, args, from, to, scratch);
    std::free(scratch);
  });
  return want;
}
inline Memory interpreted(const RandomKernel& r) { return interpreted(r, 0, r.grid); }

// Whether two values differ by rounding only: `units` in the last place of the larger part.
inline bool close(DType t, const unsigned char* a, const unsigned char* b, double units) {
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

// `units`: of each buffer, or of all.
inline void compare(const RandomKernel& r, const Memory& want, const Memory& got,
                    const std::vector<double>& units = {0}) {
  for (std::size_t b = 0; b < want.size(); ++b) {
    const DType t = r.kernel.buffers[b].dtype;
    for (std::size_t at = 0; at < want[b].size(); at += itemsize(t))
      if (!close(t, &want[b][at], &got[b][at], units[units.size() == 1 ? 0 : b])) {
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

}  // namespace plait::test
