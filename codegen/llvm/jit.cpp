// Compiling a kernel: memory cache, disk cache, module.
#include "jit.hpp"

#include <chrono>
#include <cstdio>
#include <list>
#include <mutex>
#include <unordered_map>

#include "backend.hpp"
#include "codegen/cache/disk_cache.hpp"
#include "codegen/loops/loops.hpp"
#include "fork.hpp"

namespace plait::jit {
namespace {

struct Collected {
  std::string packed, text, error;
};

std::mutex& compile_mutex() {
  static std::mutex& m = *[] {
    auto* created = new std::mutex;
    hold_over_fork(*created);
    return created;
  }();
  return m;
}

Collected ask_module(const ir::Kernel& k, CpuTier tier, bool want_ir, bool want_assembly) {
  ModuleEntry entry = module_entry();
  if (!entry) throw CompileError("no JIT in this build or installation");
  std::string why;
  if (!supports(k, &why)) throw CompileError("kernel " + k.name + " has " + why);
  Collected c;
  ModuleRequest request{
      &k,
      tier,
      &vector_lanes,
      [](ReduceKind kind, DType t, Scalar* out) { *out = fold_identity(kind, t); },
      want_ir,
      want_assembly};
  ModuleReply reply{
      &c,
      [](void* p, const void* bytes, std::size_t size, std::size_t entry, int lanes,
         const HelperRef* helpers, std::size_t n) {
        static_cast<Collected*>(p)->packed = pack(bytes, size, entry, lanes, helpers, n);
      },
      [](void* p, const char* text, std::size_t size) {
        static_cast<Collected*>(p)->text.append(text, size);
      },
      [](void* p, const char* message) { static_cast<Collected*>(p)->error = message; }};
  bool made;
  {
    // A fork in the middle would leave LLVM's own locks taken in the child.
    std::lock_guard lock(compile_mutex());
    made = entry(&request, &reply);
  }
  if (!made) throw CompileError("kernel " + k.name + ": " + c.error);
  return c;
}

std::string cache_key(const std::string& serialized, CpuTier tier) {
  return module_identity() + " tier " + std::to_string(static_cast<int>(tier)) + "\n" + serialized;
}

// The most recent kernels, so that plans that make the same kernel share its code.
class MemoryCache {
 public:
  std::shared_ptr<const Code> find(const std::string& key) {
    std::lock_guard lock(mutex_);
    auto it = index_.find(key);
    if (it == index_.end()) return nullptr;
    order_.splice(order_.begin(), order_, it->second);
    return it->second->second;
  }
  void insert(const std::string& key, std::shared_ptr<const Code> code) {
    std::lock_guard lock(mutex_);
    if (index_.contains(key)) return;
    order_.emplace_front(key, std::move(code));
    index_[key] = order_.begin();
    if (order_.size() <= kMost) return;
    index_.erase(order_.back().first);
    order_.pop_back();
  }
  void clear() {
    std::lock_guard lock(mutex_);
    index_.clear();
    order_.clear();
  }
  std::mutex& mutex() { return mutex_; }

 private:
  static constexpr std::size_t kMost = 512;
  std::mutex mutex_;
  std::list<std::pair<std::string, std::shared_ptr<const Code>>> order_;
  std::unordered_map<std::string, decltype(order_)::iterator> index_;
};

// Never destroyed: the compile thread and late evaluations may outlive static destructors.
MemoryCache& memory_cache() {
  static MemoryCache& cache = *[] {
    auto* c = new MemoryCache;
    hold_over_fork(c->mutex());
    return c;
  }();
  return cache;
}

void dump_kernel(const ir::Kernel& k, CpuTier tier) {
  log(Log::Code, "loop IR\n" + ir::to_string(k));
  log(Log::Code, "LLVM IR\n" + dump(k, tier, false));
}

}  // namespace

bool available() { return module_entry() != nullptr; }

std::shared_ptr<const Code> compile(const ir::Kernel& k, CpuTier tier) {
  const std::string key = cache_key(ir::serialize(k), tier);
  if (auto code = memory_cache().find(key)) return code;
  const bool on_disk = !module_identity().empty();
  if (auto packed = on_disk ? cache::load(key) : std::nullopt)
    if (auto code = map(*packed, tier)) {
      memory_cache().insert(key, code);
      return code;
    }
  auto start = std::chrono::steady_clock::now();
  if (logging(Log::Code)) dump_kernel(k, tier);
  const Collected made = ask_module(k, tier, false, false);
  auto code = map(made.packed, tier);
  if (!code) throw CompileError("kernel " + k.name + " needs a precompiled loop that is not there");
  if (logging(Log::Compile)) {
    std::chrono::duration<double, std::milli> ms = std::chrono::steady_clock::now() - start;
    char text[64];
    std::snprintf(text, sizeof text, "%.2f ms, %zu bytes: ", ms.count(), made.packed.size());
    log(Log::Compile, text + k.name);
  }
  if (on_disk) cache::store(key, made.packed);
  memory_cache().insert(key, code);
  return code;
}

std::string dump(const ir::Kernel& k, CpuTier tier, bool assembly) {
  return ask_module(k, tier, true, assembly).text;
}

void forget_compiled() { memory_cache().clear(); }

}  // namespace plait::jit
