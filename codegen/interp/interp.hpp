// Tier 0: runs a kernel at once, with precompiled loops over L1-sized tiles of the tiled loop.
// Also the oracle the JIT is compared with.
#pragma once
#include <memory>

#include "core/config.hpp"
#include "ir/ir.hpp"

namespace plait::interp {

class Program;  // a kernel prepared for execution; immutable, shared by threads
std::shared_ptr<const Program> prepare(const ir::Kernel& k, CpuTier tier);
std::size_t bytes_of(const Program& p);  // of memory, roughly
// Scratch bytes one thread needs (tiles and locals).
std::size_t scratch_bytes(const Program& p, const ir::CallArgs& args);
// Runs grid iterations [begin, end). Scratch is 64-byte aligned. No exceptions, no allocation.
void run(const Program& p, const ir::CallArgs& args, std::int64_t begin, std::int64_t end,
         void* scratch);

}  // namespace plait::interp
