// The LLVM backend: loop IR -> LLVM IR with explicit vectors -> machine code through ORC. This
// header has no LLVM types; the implementation lives in a private shared object that is loaded at
// the first compile.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/background.hpp"
#include "core/config.hpp"
#include "ir/ir.hpp"

namespace plait::jit {

// Compiled code: f(args, begin, end, scratch, helpers). `helpers` is the table of precompiled
// functions the code calls; the code itself has no relocations, so it can be cached on disk and
// mapped without LLVM.
using KernelFn = void (*)(const ir::CallArgs* args, std::int64_t begin, std::int64_t end,
                          void* scratch, const void* const* helpers);
// How much work goes into code. Quick is for sequential kernels that something waits for: a tenth
// of the time, or less, of code that takes several times as long.
enum class Effort : std::uint8_t { Quick, Full };
struct Code {
  KernelFn fn = nullptr;
  int lanes = 1;                     // for ir::scratch_bytes
  std::vector<const void*> helpers;  // resolved; keep alive with the code
  std::shared_ptr<void> memory;      // owner of the executable pages
  std::size_t bytes = 0;             // of those pages
  Effort effort = Effort::Full;
  double seconds = 0;  // that it took to compile; 0 of what was kept on disk
};

bool available();  // built with LLVM and the shared object can be loaded; the reason why not is
                   // logged once
bool expected();   // whether it may be, without loading it
// Loads it in the background: something will be compiled soon.
void load_async() noexcept;
// True when the kernel has only what the emitter supports; otherwise *why says what it lacks.
bool supports(const ir::Kernel& k, std::string* why);
// Compiles now, in this thread. Consults and fills the disk cache, where only full effort goes;
// code of full effort that is there already serves for quick. Throws CompileError, and
// std::bad_alloc where memory is short.
std::shared_ptr<const Code> compile(const ir::Kernel& k, CpuTier tier,
                                    Effort effort = Effort::Full);
// Code of full effort as the disk cache keeps it, for any tier, and that for this processor mapped;
// null where that has not the tier's precompiled loops. What may be damaged is checked before.
std::string packed_code(const ir::Kernel& k, CpuTier tier);
std::shared_ptr<const Code> code_of(std::string_view packed, CpuTier tier);
// The kernel's text for PLAIT_LOG=code and explain: LLVM IR and, if asked, assembly.
std::string dump(const ir::Kernel& k, CpuTier tier, bool assembly);

// Where code arrives, looked at by any thread meanwhile. The code lives as long as the slot.
class CodeSlot {
 public:
  const Code* get() const { return code_.load(std::memory_order_acquire); }
  void set(std::shared_ptr<const Code> code) {
    owner_ = std::move(code);
    code_.store(owner_.get(), std::memory_order_release);
    state_.store(State::Settled, std::memory_order_release);
  }

  // Whether nobody has asked for the code yet; whoever claims it asks.
  bool unclaimed() const { return state_.load(std::memory_order_relaxed) == State::Unclaimed; }
  bool claim() {
    State s = State::Unclaimed;
    return state_.compare_exchange_strong(s, State::Awaited);
  }
  bool awaited() const { return state_.load(std::memory_order_acquire) == State::Awaited; }
  void give_up() { state_.store(State::Settled, std::memory_order_release); }
  void ask_later() { state_.store(State::Unclaimed, std::memory_order_release); }

 private:
  enum class State : std::uint8_t { Unclaimed, Awaited, Settled };
  std::atomic<const Code*> code_{nullptr};
  std::atomic<State> state_{State::Unclaimed};
  std::shared_ptr<const Code> owner_;
};

// Compiles in this thread into a claimed slot and never throws: what cannot be compiled is given
// up, what there is no memory for may be asked for later. Either is logged.
void compile_into(CodeSlot& slot, const ir::Kernel& k, CpuTier tier,
                  Effort effort = Effort::Full) noexcept;
// The same in a thread of low priority, or of the program's own where it crawls until the code is
// there; in this one where no other can be started.
void compile_async(std::shared_ptr<const ir::Kernel> k, CpuTier tier,
                   std::shared_ptr<CodeSlot> slot,
                   Background::Priority p = Background::Priority::Low,
                   Effort effort = Effort::Full) noexcept;
// Drops the kernels kept in memory (code in use lives on); returns their bytes.
std::size_t forget_compiled();
void fail_allocation(int nth);  // tests: LLVM's n-th of the next kernel, counted from 1
void wait_idle();               // until the queue is empty: tests and benchmarks

}  // namespace plait::jit
