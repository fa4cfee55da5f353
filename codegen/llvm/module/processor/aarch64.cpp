#include <llvm/BinaryFormat/ELF.h>
#include <llvm/Support/TargetSelect.h>

#include <cstring>

#include "../processor.hpp"

namespace plait::jit {
using namespace llvm;

// Of the tiny model, in which all code and constants are within a megabyte: references are relative
// to the instruction itself, so that an image may lie anywhere.
const Processor kProcessor{"aarch64-unknown-linux-gnu", CodeModel::Tiny,
                           // Of any core: code is kept on disk and exported.
                           [](CpuTier) { return "generic"; }, [](CpuTier) { return ""; },
                           [] {
                             LLVMInitializeAArch64TargetInfo();
                             LLVMInitializeAArch64Target();
                             LLVMInitializeAArch64TargetMC();
                             LLVMInitializeAArch64AsmPrinter();
                           }};

// Of vectors, those that order raise flags, and LLVM takes what may not raise any apart. Extrema
// and equality raise none: x >= y where the larger one is x.
llvm::Value* quiet_order(IRBuilderBase& b, CmpInst::Predicate p, llvm::Value* x, llvm::Value* y) {
  if (!x->getType()->isVectorTy()) return b.CreateFCmp(p, x, y);
  if (CmpInst::isUnordered(p))
    return b.CreateNot(quiet_order(b, CmpInst::getInversePredicate(p), x, y));
  const bool greater = p == CmpInst::FCMP_OGT || p == CmpInst::FCMP_OGE;
  llvm::Value* extremum =
      b.CreateBinaryIntrinsic(greater ? Intrinsic::maximum : Intrinsic::minimum, x, y);
  llvm::Value* reaches = b.CreateFCmpOEQ(extremum, x);
  if (p == CmpInst::FCMP_OGE || p == CmpInst::FCMP_OLE) return reaches;
  return b.CreateAnd(reaches, b.CreateNot(b.CreateFCmpOEQ(x, y)));
}

void order_streamed_stores(IRBuilderBase& b) { b.CreateFence(AtomicOrdering::Release); }

bool relocate(std::uint64_t type, std::byte* image, std::size_t where, std::int64_t target) {
  const std::int64_t distance = target - static_cast<std::int64_t>(where);
  std::uint32_t word;
  std::memcpy(&word, image + where, sizeof word);
  // Of `count` bits at `at`, in units of 2^scale bytes.
  const auto put = [&](int scale, int count, int at) {
    const std::int64_t units = distance >> scale, half = std::int64_t{1} << (count - 1);
    if (units << scale != distance || units < -half || units >= half) return false;
    word |= (static_cast<std::uint32_t>(units) & ((std::uint32_t{1} << count) - 1)) << at;
    return true;
  };
  switch (type) {
    case ELF::R_AARCH64_LD_PREL_LO19:
    case ELF::R_AARCH64_CONDBR19:
      if (!put(2, 19, 5)) return false;
      break;
    case ELF::R_AARCH64_ADR_PREL_LO21: {
      if (distance < -(1 << 20) || distance >= 1 << 20) return false;
      const auto bits = static_cast<std::uint32_t>(distance);
      word |= (bits & 3) << 29 | (bits >> 2 & 0x7ffff) << 5;
      break;
    }
    case ELF::R_AARCH64_CALL26:
    case ELF::R_AARCH64_JUMP26:
      if (!put(2, 26, 0)) return false;
      break;
    case ELF::R_AARCH64_PREL32:
      word = static_cast<std::uint32_t>(distance);
      break;
    default:
      return false;
  }
  std::memcpy(image + where, &word, sizeof word);
  return true;
}

}  // namespace plait::jit
