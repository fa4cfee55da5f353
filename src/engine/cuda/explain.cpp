// What explain() says of a kernel for an architecture, with or without a device.
#include <charconv>
#include <sstream>

#include "codegen/cuda/cuda.hpp"
#include "engine/devices/device.hpp"
#include "plait/error.hpp"
#include "products.hpp"

namespace plait::engine {
namespace {

// What is known of an architecture without a device: shared memory decides how many blocks of a
// product a multiprocessor has.
GpuMachine published(int arch) {
  GpuMachine g;
  g.arch = arch;
  const int kib = arch < 70                      ? 48
                  : arch < 75                    ? 96
                  : arch == 75                   ? 64
                  : arch == 80 || arch == 87     ? 163
                  : arch < 90 || arch / 10 == 12 ? 99
                                                 : 227;
  g.shared_bytes = kib * 1024;
  return g;
}

int architecture(std::string_view target) {
  constexpr std::string_view prefix = "cuda:sm_";
  int arch = 0;
  if (target.substr(0, prefix.size()) == prefix) {
    const char* end = target.data() + target.size();
    const auto [at, error] = std::from_chars(target.data() + prefix.size(), end, arch);
    if (error != std::errc() || at != end) arch = 0;
  }
  if (arch == 0)
    throw ValueError("explain: target is \"cpu\" or, for an architecture, \"cuda:sm_90\", not \"" +
                     std::string(target) + "\"");
  return arch;
}

std::string program_text(const cuda::Program& program, const cuda::Launch& shape, int arch,
                         bool source) {
  const auto binary = cuda::compile(program, arch);
  std::ostringstream out;
  out << "  sm_" << arch << ": " << shape.grid[0] << " blocks of " << shape.block[0]
      << " threads, ";
  if (binary->ptx)
    out << "PTX, which the driver compiles: this NVRTC is older than the architecture\n";
  else
    out << binary->registers << " registers a thread, "
        << binary->shared_bytes + static_cast<int>(shape.shared_bytes)
        << " bytes of shared memory, " << binary->spill_bytes << " bytes spilled\n";
  if (!source) return out.str();
  // The prelude is the same for all and stands before the argument structure.
  const std::string& text = cuda::source(program);
  std::istringstream lines(text.substr(text.find("struct Arguments")));
  for (std::string line; std::getline(lines, line);) out << "    " << line << "\n";
  return out.str();
}

}  // namespace

Machine machine_of_architecture(std::string_view target) {
  return device_machine(published(architecture(target)));
}

std::string explain_kernel(const ir::Kernel& k, const KernelExtents& e, std::string_view target,
                           bool source) {
  const int arch = architecture(target);
  std::string why;
  if (!cuda::supports(k, &why)) return "  runs on the host: " + why + "\n";
  const cuda::Extents extents{e.params, e.grid, e.split};
  const auto program = cuda::generate(k, published(arch), extents);
  std::string text;
  std::istringstream lines(cuda::mapping_text(*program, extents));
  for (std::string line; std::getline(lines, line);) text += "  " + line + "\n";
  return text + program_text(*program, cuda::launch_shape(*program, extents), arch, source);
}

std::string explain_product(const DeviceProduct& p, std::string_view target, bool source) {
  const int arch = architecture(target);
  const auto program = cuda::generate_product(p.dtype, published(arch));
  const cuda::Product product{p.dtype, p.m, p.n, p.k, p.batch, {}, {}, nullptr, nullptr, nullptr};
  const cuda::Launch shape = cuda::product_shape(*program, product);
  std::string text = gpu::Products::takes(p.dtype)
                         ? "  by cuBLASLt; where that cannot, a tiled kernel"
                         : "  a tiled kernel";
  if (shape.scratch_bytes)
    text += ", whose chunks of k a second one adds in their order (" +
            std::to_string(shape.scratch_bytes) + " bytes of scratch memory)";
  return text + ":\n" + program_text(*program, shape, arch, source);
}

}  // namespace plait::engine
