#include <llvm/BinaryFormat/ELF.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/Support/TargetSelect.h>

#include <cstring>

#include "../processor.hpp"

namespace plait::jit {
using namespace llvm;

const Processor kProcessor{
    "x86_64-unknown-linux-gnu", CodeModel::Small, [](CpuTier tier) { return info(tier).target; },
    // The generic v4 level prefers 256 bits; kernels ask for 512 outright.
    [](CpuTier tier) { return tier == CpuTier::Avx512 ? "-prefer-256-bit" : ""; },
    [] {
      LLVMInitializeX86TargetInfo();
      LLVMInitializeX86Target();
      LLVMInitializeX86TargetMC();
      LLVMInitializeX86AsmPrinter();
    }};

// The plain relations of vectors signal NaN; constrained ones do not.
llvm::Value* quiet_order(IRBuilderBase& b, CmpInst::Predicate p, llvm::Value* x, llvm::Value* y) {
  return b.CreateConstrainedFPCmp(Intrinsic::experimental_constrained_fcmp, p, x, y, "",
                                  fp::ebIgnore);
}

void order_streamed_stores(IRBuilderBase& b) {
  b.CreateIntrinsic(Intrinsic::x86_sse_sfence, {}, {});
}

bool relocate(std::uint64_t type, std::byte* image, std::size_t where, std::int64_t target) {
  if (type != ELF::R_X86_64_PC32 && type != ELF::R_X86_64_PLT32) return false;
  const auto value = static_cast<std::int32_t>(target - static_cast<std::int64_t>(where));
  std::memcpy(image + where, &value, sizeof value);
  return true;
}

}  // namespace plait::jit
