// What the LLVM module (a private shared object) and its host agree on: one C entry point, plain
// data. The module links nothing of Plait; it reads the kernel through ir.hpp's structs.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/config.hpp"
#include "ir/externals.hpp"
#include "ir/ir.hpp"
#include "jit.hpp"

namespace plait::jit {

// A precompiled function that generated code calls; the host resolves it for the CPU tier.
struct HelperRef {
  enum Kind : std::uint8_t { Elementwise, Cast, Vector, Fragment, External };
  Kind kind = Elementwise;
  OpId op = OpId::Count_;    // Elementwise, Vector
  DType type = DType::Bool;  // operand dtype; Cast: from; Fragment: of A
  DType to = DType::Bool;    // Cast; Fragment: of B
  // Vector: lanes the code was compiled for. External: which function.
  std::int32_t number = 0;
  bool operator==(const HelperRef&) const = default;
};
static_assert(sizeof(HelperRef) == 8);

struct ModuleRequest {
  const ir::Kernel* kernel;
  CpuTier tier;
  Effort effort;
  int (*vector_lanes)(OpId op, DType type, CpuTier tier);      // of loops::vector_function, 0: none
  void (*identity)(ReduceKind kind, DType type, Scalar* out);  // fold_identity
  const ir::ExternalFunction* externals;
  bool want_ir, want_assembly;
  int fail_at;  // tests: memory is short at the n-th allocation; 0: never
};
// Callbacks, so that no memory changes owner across the boundary.
struct ModuleReply {
  void* context;
  // Position-independent code and constants in one piece, executable anywhere at 64-byte alignment.
  void (*code)(void* context, const void* bytes, std::size_t size, std::size_t entry, int lanes,
               const HelperRef* helpers, std::size_t helper_count);
  void (*text)(void* context, const char* text, std::size_t size);  // LLVM IR, assembly
  void (*error)(void* context, const char* message);
};
enum class ModuleResult : std::int32_t {
  Done,
  Failed,         // and always will: reply.error says why
  ShortOfMemory,  // nothing was begun: later it may work
};
// One call at a time.
using ModuleEntry = ModuleResult (*)(const ModuleRequest* request, const ModuleReply* reply);
inline constexpr const char* kModuleEntryName = "plait_jit_module_compile_5";

}  // namespace plait::jit
