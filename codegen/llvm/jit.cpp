// Compiling a kernel: memory cache, disk cache, module.
#include "jit.hpp"

#include <chrono>
#include <cstdio>
#include <mutex>

#include "backend.hpp"
#include "codegen/cache/disk_cache.hpp"
#include "codegen/loops/loops.hpp"
#include "core/at_fork.hpp"
#include "core/bounded_table.hpp"
#include "core/os/memory.hpp"
#include "core/replaceable.hpp"
#include "core/timeline.hpp"
#include "ir/forward_variables.hpp"
#include "ir/one_thread.hpp"
#include "ir/ranges.hpp"

namespace plait::jit {
namespace {

// Memory that is left for others while a kernel is compiled.
constexpr std::size_t kLeft = std::size_t{32} << 20;

std::atomic<int> fail_at{0};

struct Collected {
  std::string packed, text;
  char error[512] = "";
  bool short_of_memory = false;

  template <class F>
  void keep(F&& f) noexcept {
    try {
      f();
    } catch (const std::bad_alloc&) {
      short_of_memory = true;
    }
  }
};

std::mutex& compile_mutex() {
  static std::mutex& m = *[] {
    auto* created = new std::mutex;
    hold_over_fork(*created);
    return created;
  }();
  return m;
}

Collected ask_module(const ir::Kernel& k, CpuTier tier, Effort effort, bool want_ir = false,
                     bool want_assembly = false) {
  ModuleEntry entry = module_entry();
  if (!entry) throw CompileError("no JIT in this build or installation");
  std::string why;
  if (!supports(k, &why)) throw CompileError("kernel " + k.name + " has " + why);
  Collected c;
  ModuleRequest request{
      &k,
      tier,
      effort,
      &vector_lanes,
      [](ReduceKind kind, DType t, Scalar* out) { *out = fold_identity(kind, t); },
      ir::externals().data(),
      want_ir,
      want_assembly,
      fail_at.exchange(0)};
  // What the module calls throws nothing: LLVM has no way back.
  ModuleReply reply{&c,
                    [](void* p, const void* bytes, std::size_t size, std::size_t entry, int lanes,
                       const HelperRef* helpers, std::size_t n) {
                      auto& c = *static_cast<Collected*>(p);
                      c.keep([&] { c.packed = pack(bytes, size, entry, lanes, helpers, n); });
                    },
                    [](void* p, const char* text, std::size_t size) {
                      auto& c = *static_cast<Collected*>(p);
                      c.keep([&] { c.text.append(text, size); });
                    },
                    [](void* p, const char* message) {
                      auto& c = *static_cast<Collected*>(p);
                      std::snprintf(c.error, sizeof c.error, "%s", message);
                    }};
  if (!os::memory_left_for(kLeft)) throw std::bad_alloc();
  ModuleResult result;
  {
    // A fork in the middle would leave LLVM's own locks taken in the child.
    std::lock_guard lock(compile_mutex());
    result = entry(&request, &reply);
  }
  if (result == ModuleResult::ShortOfMemory || c.short_of_memory) throw std::bad_alloc();
  if (result != ModuleResult::Done) throw CompileError("kernel " + k.name + ": " + c.error);
  return c;
}

// The kernel as the module compiles it, where that is not as it is. Loops without checks are copies
// of those with them: twice the code.
std::optional<ir::Kernel> rewritten(const ir::Kernel& k, Effort effort) {
  if (!k.sequential && ir::is_placed(k)) {
    ir::Kernel made = ir::on_one_thread(k);
    std::optional<ir::Kernel> carried = with_carried_places(made);
    return carried ? std::move(carried) : std::optional(std::move(made));
  }
  if (!k.sequential) return with_carried_places(k);
  ir::Kernel made = ir::forward_variables(k);
  if (effort == Effort::Full) made = ir::without_range_checks(made);
#ifdef PLAIT_CHECKS
  ir::verify(made);
#endif
  return made;
}

std::string cache_key(const ir::Kernel& k, CpuTier tier) {
  return module_identity() + " tier " + std::to_string(static_cast<int>(tier)) + "\n" +
         ir::serialize(k);
}

// The most recent kernels, so that plans that make the same kernel share its code.
class MemoryCache {
 public:
  std::shared_ptr<const Code> find(const std::string& key) {
    std::lock_guard lock(mutex_);
    const auto* known = codes_.find(key);
    return known ? known->value : nullptr;
  }
  void insert(const std::string& key, std::shared_ptr<const Code> code) {
    std::lock_guard lock(mutex_);
    auto& known = codes_.at(key);
    if (known.value) return;
    codes_.add(known, code->bytes);
    known.value = std::move(code);
    codes_.keep_bounded();
  }
  std::size_t clear() {
    std::lock_guard lock(mutex_);
    return codes_.clear();
  }
  std::mutex& mutex() { return mutex_; }

 private:
  static constexpr std::size_t kMostBytes = 8 << 20;
  std::mutex mutex_;
  BoundedTable<std::shared_ptr<const Code>> codes_{kMostBytes};
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

PLAIT_REPLACEABLE bool available() try {
  return module_entry() != nullptr;
} catch (const std::bad_alloc&) {
  if (logging(Log::Compile)) log(Log::Compile, "the interpreter carries on: memory is short");
  return false;
}

namespace {

std::shared_ptr<const Code> kept(const std::string& key, CpuTier tier) {
  if (auto code = memory_cache().find(key)) return code;
  auto packed = module_identity().empty() ? std::nullopt : cache::load(key);
  std::shared_ptr<const Code> code = packed ? map(*packed, tier) : nullptr;
  if (code) memory_cache().insert(key, code);
  return code;
}

}  // namespace

std::shared_ptr<const Code> compile(const ir::Kernel& given, CpuTier tier, Effort effort) {
  timeline::Span span(timeline::Category::Compile);
  if (span) span.name("compile " + given.name);
  std::optional<ir::Kernel> other = rewritten(given, Effort::Full);
  std::string key = cache_key(other ? *other : given, tier);
  if (auto code = kept(key, tier)) {
    span.arg("from", "the cache");
    return code;
  }
  const bool quick = effort == Effort::Quick;
  if (quick) {
    other = rewritten(given, effort);
    key = "quick " + cache_key(other ? *other : given, tier);
    if (auto code = memory_cache().find(key)) {
      span.arg("from", "the cache");
      return code;
    }
  }
  const ir::Kernel& k = other ? *other : given;
  auto start = std::chrono::steady_clock::now();
  if (logging(Log::Code)) dump_kernel(k, tier);
  const Collected made = ask_module(k, tier, effort);
  const std::shared_ptr<Code> code = map(made.packed, tier);
  if (!code) throw CompileError("kernel " + k.name + " needs a precompiled loop that is not there");
  code->effort = effort;
  code->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (logging(Log::Compile)) {
    char text[64];
    std::snprintf(text, sizeof text, "%.2f ms, %zu bytes%s: ", code->seconds * 1e3,
                  made.packed.size(), quick ? ", quick" : "");
    log(Log::Compile, text + k.name);
  }
  span.arg("bytes", static_cast<std::int64_t>(made.packed.size()));
  if (!quick && !module_identity().empty()) cache::store(key, made.packed);
  memory_cache().insert(key, code);
  return code;
}

std::string packed_code(const ir::Kernel& given, CpuTier tier) {
  const std::optional<ir::Kernel> other = rewritten(given, Effort::Full);
  const ir::Kernel& k = other ? *other : given;
  const std::string key = cache_key(k, tier);
  const bool caches = !module_identity().empty();
  if (caches)
    if (auto packed = cache::load(key)) return *std::move(packed);
  std::string packed = ask_module(k, tier, Effort::Full).packed;
  if (caches) cache::store(key, packed);
  return packed;
}

std::string dump(const ir::Kernel& k, CpuTier tier, bool assembly) {
  const std::optional<ir::Kernel> other = rewritten(k, Effort::Full);
  return ask_module(other ? *other : k, tier, Effort::Full, true, assembly).text;
}

void fail_allocation(int nth) { fail_at = nth; }

std::size_t forget_compiled() { return memory_cache().clear(); }

}  // namespace plait::jit
