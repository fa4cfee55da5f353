// The host half's seams: the module that compiles, and code as it is stored.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "jit.hpp"
#include "module.hpp"
#include "plait/error.hpp"

namespace plait::jit {

// The compiling module, opened at the first call; nullptr when there is none (logged once). Throws
// std::bad_alloc when there is no room for it now.
ModuleEntry module_entry();
// Which module would compile, without opening it: its build id, so that a change of the emitter
// never meets code of another. Empty when that cannot be told: then nothing is kept on disk.
std::string module_identity();

// A kernel's code as bytes for the disk cache: entry, lanes, helpers, machine code.
std::string pack(const void* code, std::size_t size, std::size_t entry, int lanes,
                 const HelperRef* helpers, std::size_t helper_count);
// Maps packed code executable and resolves its helpers; nullptr when the bytes are not what pack()
// writes or a helper is not what the code expects.
std::shared_ptr<Code> map(std::string_view packed, CpuTier tier);

// The kernel with the arg-reductions carried by their loops that the emitter has no loops for,
// where there are any.
std::optional<ir::Kernel> with_carried_places(const ir::Kernel& k);

int vector_lanes(OpId op, DType type, CpuTier tier);

}  // namespace plait::jit
