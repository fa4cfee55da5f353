// Runs compiled kernels on the memory of a random kernel.
#pragma once
#include <cstdlib>
#include <cstring>

#include "../interp/random_kernel.hpp"
#include "../interp/reference.hpp"
#include "codegen/llvm/jit.hpp"

namespace plait::test {

using Memory = std::vector<std::vector<unsigned char>>;

inline std::vector<CpuTier> tiers() {
  std::vector<CpuTier> t;
  for (CpuTier tier : kTiers)
    if (tier <= detected_tier()) t.push_back(tier);
  return t;
}

inline void run_code(const jit::Code& code, const ir::Kernel& k, const ir::CallArgs& args,
                     std::int64_t begin, std::int64_t end) {
  std::size_t bytes = (ir::scratch_bytes(k, args.params, code.lanes) + 127) / 64 * 64;
  void* scratch = std::aligned_alloc(64, bytes);
  std::memset(scratch, 0x5a, bytes);
  code.fn(&args, begin, end, scratch, code.helpers.data());
  std::free(scratch);
}

// The first element in which two runs differ, as text; empty when none does.
inline std::string difference(const ir::Kernel& k, const Memory& want, const Memory& got) {
  for (std::size_t b = 0; b < want.size(); ++b) {
    DType t = k.buffers[b].dtype;
    for (std::size_t at = 0; at < want[b].size(); at += itemsize(t))
      if (!reference::same_value(t, &want[b][at], &got[b][at]))
        return "buffer " + std::to_string(b) + " (" + std::string(name(t)) + ") element " +
               std::to_string(at / itemsize(t));
  }
  return {};
}

}  // namespace plait::test
