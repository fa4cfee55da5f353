// Compiling in the background, and what becomes of a kernel that cannot be compiled.
#include <algorithm>
#include <cstdio>
#include <utility>

#include "backend.hpp"
#include "core/background.hpp"
#include "core/replaceable.hpp"
#include "core/timeline.hpp"

namespace plait::jit {
namespace {

class Compilation final : public Job {
 public:
  Compilation(std::shared_ptr<const ir::Kernel> kernel, CpuTier tier,
              std::shared_ptr<CodeSlot> slot, Effort effort)
      : kernel_(std::move(kernel)), tier_(tier), slot_(std::move(slot)), effort_(effort) {}
  void run(const std::atomic<bool>&) noexcept override {
    compile_into(*slot_, *kernel_, tier_, effort_);
  }
  // What waited may be asked for again; what was in work stays on the interpreter.
  void lost(bool begun) noexcept override { begun ? slot_->give_up() : slot_->ask_later(); }

 private:
  std::shared_ptr<const ir::Kernel> kernel_;
  CpuTier tier_;
  std::shared_ptr<CodeSlot> slot_;
  Effort effort_;
};

class Loading final : public Job {
 public:
  void run(const std::atomic<bool>&) noexcept override {
    timeline::Span span(timeline::Category::Compile);
    span.name("load the compiler");
    (void)available();
  }
  void lost(bool) noexcept override {}
};

Background& compiler(Background::Priority p) {
  static Background& low = *new Background("plait: compiler");
  if (p == Background::Priority::Low) return low;
  static Background& normal = *new Background("plait: compiler of what is awaited", p);
  return normal;
}

}  // namespace

PLAIT_REPLACEABLE void compile_into(CodeSlot& slot, const ir::Kernel& k, CpuTier tier,
                                    Effort effort) noexcept {
  // Without building a text: there may be no memory for one.
  auto report = [](const char* why) noexcept {
    if (!logging(Log::Compile)) return;
    char line[600];
    const int n = std::snprintf(line, sizeof line, "the interpreter carries on: %s", why);
    log(Log::Compile, {line, std::min(static_cast<std::size_t>(n), sizeof line - 1)});
  };
  try {
    slot.set(compile(k, tier, effort));
  } catch (const std::bad_alloc&) {
    slot.ask_later();
    report("memory is short");
  } catch (const std::exception& e) {
    slot.give_up();
    report(e.what());
  }
}

PLAIT_REPLACEABLE void compile_async(std::shared_ptr<const ir::Kernel> k, CpuTier tier,
                                     std::shared_ptr<CodeSlot> slot, Background::Priority p,
                                     Effort effort) noexcept try {
  std::unique_ptr<Job> job = std::make_unique<Compilation>(std::move(k), tier, slot, effort);
  // Quick code is of what runs now, the more so the later it is asked for, and soon done.
  const auto turn = effort == Effort::Quick ? Background::Turn::Next : Background::Turn::Last;
  switch (compiler(p).add(job, SIZE_MAX, turn)) {
    case Background::Answer::Accepted:
      break;
    case Background::Answer::NoThread:
      job->run(ir::kNeverStopped);
      break;
    case Background::Answer::Full:
    case Background::Answer::Ending:
      slot->give_up();
      break;
  }
} catch (const std::bad_alloc&) {
  slot->ask_later();
}

void load_async() noexcept try {
  std::unique_ptr<Job> job = std::make_unique<Loading>();
  (void)compiler(Background::Priority::Normal).add(job);
} catch (const std::bad_alloc&) {
}

void wait_idle() {
  compiler(Background::Priority::Low).wait_idle();
  compiler(Background::Priority::Normal).wait_idle();
}

}  // namespace plait::jit
