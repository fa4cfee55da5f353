// Programs to binaries, kept in memory and on disk.
#include <algorithm>
#include <mutex>
#include <sstream>
#include <vector>

#include "codegen/cache/disk_cache.hpp"
#include "core/bounded_table.hpp"
#include "core/config.hpp"
#include "nvrtc.hpp"
#include "plait/error.hpp"
#include "program.hpp"

namespace plait::cuda {

namespace {

std::mutex mutex;  // guards compiled()
BoundedTable<std::shared_ptr<const Binary>>& compiled() {
  static auto& table = *new BoundedTable<std::shared_ptr<const Binary>>(code_limit());
  return table;
}

// The number that stands before `unit` in ptxas's report.
int reported(const std::string& log, const std::string& unit) {
  std::size_t end = log.find(unit);
  if (end == std::string::npos || end == 0) return 0;
  std::size_t begin = end;
  while (begin > 0 && log[begin - 1] >= '0' && log[begin - 1] <= '9') --begin;
  return begin == end ? 0 : std::stoi(log.substr(begin, end - begin));
}

std::string serialized(const Binary& b) {
  return std::to_string(b.registers) + " " + std::to_string(b.spill_bytes) + " " +
         std::to_string(b.shared_bytes) + "\n" + b.image;
}
Binary deserialized(const std::string& bytes) {
  Binary b;
  const std::size_t line = bytes.find('\n');
  std::istringstream(bytes.substr(0, line)) >> b.registers >> b.spill_bytes >> b.shared_bytes;
  b.image = bytes.substr(line + 1);
  return b;
}

Binary build(const Program& p, int arch, bool ptx, bool one_block = false) {
  const Nvrtc& n = nvrtc();
  ProgramHandle program = nullptr;
  int r = n.create(&program, p.source.c_str(), "kernel.cu", 0, nullptr, nullptr);
  if (r != 0) throw CompileError(std::string("NVRTC: ") + n.error(r));
  struct Destroy {
    const Nvrtc& n;
    ProgramHandle program;
    ~Destroy() { n.destroy(&program); }
  } destroy{n, program};
  const std::string target = (ptx ? "-arch=compute_" : "-arch=sm_") + std::to_string(arch);
  const std::string resident = std::string("-D") + kResident + "=1";
  std::vector<const char*> options{target.c_str(), "--std=c++17", "--fmad=false",
                                   "-default-device"};
  if (!ptx) options.push_back("--ptxas-options=-v");
  if (one_block) options.push_back(resident.c_str());
  r = n.compile(program, static_cast<int>(options.size()), options.data());
  std::size_t size = 0;
  n.log_size(program, &size);
  std::string log(size, '\0');
  n.log(program, log.data());
  if (r != 0) throw CompileError(std::string("NVRTC: ") + n.error(r) + "\n" + log.c_str());
  Binary b;
  r = ptx ? n.ptx_size(program, &size) : n.cubin_size(program, &size);
  b.image.resize(size);
  if (r == 0) r = ptx ? n.ptx(program, b.image.data()) : n.cubin(program, b.image.data());
  if (r != 0) throw CompileError(std::string("NVRTC: ") + n.error(r));
  b.registers = reported(log, " registers");
  b.spill_bytes = reported(log, " bytes spill stores");
  b.shared_bytes = reported(log, " bytes smem");
  return b;
}

}  // namespace

std::shared_ptr<const Binary> compile(const Program& p, int arch) {
  std::string why;
  if (!nvrtc_available(&why)) throw DeviceError("NVRTC is missing. " + why);
  // The driver compiles for an architecture that this NVRTC does not know.
  const std::vector<int> known = nvrtc_architectures();
  const bool ptx = std::find(known.begin(), known.end(), arch) == known.end();
  if (ptx) {
    int newest = 0;
    for (int a : known)
      if (a <= arch) newest = std::max(newest, a);
    if (newest == 0) throw DeviceError("NVRTC does not compile for sm_" + std::to_string(arch));
    arch = newest;
  }
  const std::string key = "cuda 3 " + std::to_string(arch) + (ptx ? " ptx " : " ") +
                          std::to_string(nvrtc_version()) + "\n" + p.source;
  {
    const std::lock_guard held(mutex);
    if (const auto* known = compiled().find(key)) return known->value;
  }
  Binary b;
  if (const std::optional<std::string> kept = cache::load(key)) {
    b = deserialized(*kept);
  } else {
    b = build(p, arch, ptx);
    if (b.spill_bytes > 0 && p.source.find(kResident) != std::string::npos)
      b = build(p, arch, ptx, true);
    cache::store(key, serialized(b));
  }
  b.ptx = ptx;
  b.entry = p.entry;
  auto shared = std::make_shared<const Binary>(std::move(b));
  const std::lock_guard held(mutex);
  auto& kept = compiled().at(key);
  if (kept.value) return kept.value;
  kept.value = shared;
  compiled().add(kept, sizeof *shared + shared->image.size());
  compiled().keep_bounded();
  return shared;
}

void forget_compiled() {
  const std::lock_guard held(mutex);
  compiled().clear();
}

}  // namespace plait::cuda
