// Packed code, and code mapped for execution.
#include <cstring>

#include "backend.hpp"
#include "codegen/loops/fragment.hpp"
#include "codegen/loops/loops.hpp"
#include "core/os/pages.hpp"
#include "ir/externals.hpp"

namespace plait::jit {
namespace {

struct Header {
  std::uint32_t layout = 1;
  std::int32_t lanes = 1;
  std::uint64_t entry = 0, code_size = 0, helper_count = 0;
};

const void* resolve(const HelperRef& h, CpuTier tier) {
  switch (h.kind) {
    case HelperRef::Elementwise:
      return reinterpret_cast<const void*>(loops::elementwise(h.op, h.type, tier));
    case HelperRef::Cast:
      return reinterpret_cast<const void*>(loops::cast(h.type, h.to, tier));
    case HelperRef::Vector: {
      loops::VectorFn f = loops::vector_function(h.op, h.type, tier);
      return f.lanes == h.number ? f.fn : nullptr;
    }
    case HelperRef::Fragment:
      return reinterpret_cast<const void*>(loops::fragment(h.type, h.to, tier));
    case HelperRef::External: {
      const auto all = ir::externals();
      return h.number >= 0 && h.number < std::ssize(all) ? all[h.number].address : nullptr;
    }
  }
  return nullptr;
}

// Written once, then read and execute only.
std::shared_ptr<void> executable(const char* code, std::size_t size, std::size_t bytes) {
  std::byte* const p = os::map_pages(bytes);
  if (!p) throw std::bad_alloc();
  std::shared_ptr<void> owner(p, [bytes](void* q) { os::unmap_pages(q, bytes); });
  std::memcpy(p, code, size);
  __builtin___clear_cache(reinterpret_cast<char*>(p), reinterpret_cast<char*>(p) + size);
  if (!os::make_executable(p, bytes))
    throw CompileError("this system does not let memory be made executable");
  return owner;
}

}  // namespace

int vector_lanes(OpId op, DType type, CpuTier tier) {
  return loops::vector_function(op, type, tier).lanes;
}

std::string pack(const void* code, std::size_t size, std::size_t entry, int lanes,
                 const HelperRef* helpers, std::size_t helper_count) {
  Header h{.lanes = lanes, .entry = entry, .code_size = size, .helper_count = helper_count};
  std::string s(reinterpret_cast<const char*>(&h), sizeof h);
  s.append(reinterpret_cast<const char*>(helpers), helper_count * sizeof(HelperRef));
  s.append(static_cast<const char*>(code), size);
  return s;
}

std::shared_ptr<Code> map(std::string_view packed, CpuTier tier) {
  Header h;
  if (packed.size() < sizeof h) return nullptr;
  std::memcpy(&h, packed.data(), sizeof h);
  packed.remove_prefix(sizeof h);
  if (h.layout != Header{}.layout || h.lanes < 1 ||
      h.helper_count > packed.size() / sizeof(HelperRef) ||
      h.helper_count * sizeof(HelperRef) + h.code_size != packed.size() || h.entry >= h.code_size)
    return nullptr;
  auto code = std::make_shared<Code>();
  code->lanes = h.lanes;
  for (std::uint64_t i = 0; i < h.helper_count; ++i) {
    HelperRef ref;
    std::memcpy(&ref, packed.data() + i * sizeof ref, sizeof ref);
    if (ref.kind > HelperRef::External || ref.op > OpId::Count_ ||
        static_cast<int>(ref.type) >= kDTypeCount || static_cast<int>(ref.to) >= kDTypeCount)
      return nullptr;
    const void* fn = resolve(ref, tier);
    if (!fn) return nullptr;
    code->helpers.push_back(fn);
  }
  const std::size_t page = os::page_bytes();
  code->bytes = (h.code_size + page - 1) / page * page;
  code->memory =
      executable(packed.data() + h.helper_count * sizeof(HelperRef), h.code_size, code->bytes);
  code->fn = reinterpret_cast<KernelFn>(static_cast<char*>(code->memory.get()) + h.entry);
  return code;
}

std::shared_ptr<const Code> code_of(std::string_view packed, CpuTier tier) {
  return map(packed, tier);
}

}  // namespace plait::jit
