// A stand-in for libnvrtc.so: programs are compiled by the host's compiler against the emulation,
// and the "cubin" is the shared object behind its length, which fake_driver.cpp loads.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>

namespace {

struct Program {
  std::string source, image, log, target;
};
std::atomic<int> ptx_made{0};

// Programs that are to be under way at once before any is built.
std::mutex mutex;  // guards these
std::condition_variable arrivals;
int to_meet = 0, waiting = 0;
bool met = false;
void meet() {
  std::unique_lock held(mutex);
  if (to_meet == 0) return;
  if (++waiting >= to_meet) met = true;
  arrivals.notify_all();
  arrivals.wait_for(held, std::chrono::seconds(60), [] { return met; });
}

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The name that follows the launch bounds of the one kernel.
std::string entry_of(const std::string& source) {
  const std::size_t at = source.find("extern \"C\" __global__");
  if (at == std::string::npos) return "";
  const std::size_t begin = source.find(") ", at) + 2;
  return source.substr(begin, source.find('(', begin) - begin);
}

bool build(Program& p) {
  const std::string entry = entry_of(p.source);
  if (entry.empty()) {
    p.log = "no kernel in the program";
    return false;
  }
  const char* base = std::getenv("TMPDIR");
  std::string folder = std::string(base ? base : "/tmp") + "/plait_nvrtc_XXXXXX";
  if (!mkdtemp(folder.data())) return false;
  std::ofstream(folder + "/kernel.cpp")
      << "#include \"" PLAIT_EMULATION "\"\n"
      << p.source << "extern \"C\" const unsigned fake_argument_bytes = sizeof(Arguments);\n"
      << "extern \"C\" const char* fake_" << entry
      << "(const void* a, const emulated::Launch& l) {\n"
      << "  return emulated::launch<Arguments, " << entry << ">(a, l);\n}\n";
  const std::string command = PLAIT_CXX
                              " -std=c++17 -O0 -w -ffp-contract=off -fwrapv "
                              "-fno-strict-aliasing -fno-gnu-unique -shared -fPIC -o " +
                              folder + "/kernel.so " + folder + "/kernel.cpp >" + folder +
                              "/log 2>&1";
  const bool built = std::system(command.c_str()) == 0;
  p.log = built ? "ptxas info    : Used 32 registers, used 0 barriers\n" : read(folder + "/log");
  if (built) {
    const std::string object = read(folder + "/kernel.so");
    const std::size_t bytes = object.size();
    p.image.assign(reinterpret_cast<const char*>(&bytes), sizeof bytes);
    p.image += object;
  }
  std::filesystem::remove_all(folder);
  return built;
}

}  // namespace

extern "C" {
int nvrtcVersion(int* major, int* minor) { return *major = 99, *minor = 0, 0; }
int nvrtcCreateProgram(Program** p, const char* source, const char*, int, const char* const*,
                       const char* const*) {
  return *p = new Program{source, "", "", ""}, 0;
}
// So many programs wait for each other, a minute at most; 0 ends it and tells whether they met.
bool fake_nvrtc_meet(int programs) {
  const std::lock_guard held(mutex);
  to_meet = programs;
  waiting = 0;
  return programs ? (met = false) : met;
}
int nvrtcCompileProgram(Program* p, int, const char* const* options) {
  meet();
  p->target = options[0];
  const bool known = p->target == "-arch=sm_80" || p->target == "-arch=sm_90" ||
                     p->target == "-arch=compute_80" || p->target == "-arch=compute_90";
  return !known ? 5 : build(*p) ? 0 : 6;
}
int nvrtcDestroyProgram(Program** p) { return delete *p, *p = nullptr, 0; }
int nvrtcGetCUBINSize(Program* p, std::size_t* n) { return *n = p->image.size(), 0; }
int nvrtcGetCUBIN(Program* p, char* out) {
  return std::memcpy(out, p->image.data(), p->image.size()), 0;
}
int nvrtcGetPTXSize(Program* p, std::size_t* n) {
  return *n = p->image.size(), p->target.find("compute_90") == std::string::npos ? 6 : 0;
}
int nvrtcGetPTX(Program* p, char* out) {
  return std::memcpy(out, p->image.data(), p->image.size()), ++ptx_made, 0;
}
int fake_nvrtc_ptx_made() { return ptx_made; }
int nvrtcGetProgramLogSize(Program* p, std::size_t* n) { return *n = p->log.size() + 1, 0; }
int nvrtcGetProgramLog(Program* p, char* out) {
  return std::memcpy(out, p->log.c_str(), p->log.size() + 1), 0;
}
const char* nvrtcGetErrorString(int) { return "NVRTC_ERROR_COMPILATION"; }
int nvrtcGetNumSupportedArchs(int* n) { return *n = 2, 0; }
int nvrtcGetSupportedArchs(int* a) { return a[0] = 80, a[1] = 90, 0; }
}
