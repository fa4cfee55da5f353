// What LLVM's archives bring along with every code generator and kernels never use. The build reads
// the names of LLVM's functions here and links with --wrap: calls of them come here, and what only
// they lead to is not linked. It makes the module 6 % smaller.
//
// In a release of LLVM where a function has another name, its line has no effect: all is linked.
#include <llvm/Support/ErrorHandling.h>
#include <cstddef>
#include <cstdint>

// GlobalISel, the instruction selector of other targets: the target machine selects by DAGs.
// Its passes would be made only by its options, which nobody sets.
extern "C" {
void __wrap__ZN4llvm20initializeGlobalISelERNS_12PassRegistryE(void*) {}  // initializeGlobalISel
void* __wrap__ZN4llvm28createX86InstructionSelectorERKNS_16X86TargetMachineERKNS_12X86SubtargetERKNS_19X86RegisterBankInfoE(
    const void*, const void*, const void*) {  // createX86InstructionSelector
  return nullptr;
}
#define PLAIT_LEFT_OUT(name) \
  [[noreturn]] void __wrap_##name() { llvm::report_fatal_error("GlobalISel is left out"); }
PLAIT_LEFT_OUT(_ZN4llvm12IRTranslatorC1ENS_15CodeGenOptLevelE)
PLAIT_LEFT_OUT(_ZN4llvm9LegalizerC1Ev)
PLAIT_LEFT_OUT(_ZN4llvm13RegBankSelectC1ERcNS0_4ModeE)
PLAIT_LEFT_OUT(_ZN4llvm17InstructionSelectC1ENS_15CodeGenOptLevelERc)
}

// Compression of sections, for debug information, which kernels do not have: it is an option of
// LLVM's, which nobody sets. So the module needs neither zlib nor zstd, to build or to run.
extern "C" {
#define PLAIT_NO_COMPRESSION(name) \
  [[noreturn]] void name() { llvm::report_fatal_error("compression of sections is left out"); }
PLAIT_NO_COMPRESSION(compress2)
PLAIT_NO_COMPRESSION(compressBound)
PLAIT_NO_COMPRESSION(uncompress)
PLAIT_NO_COMPRESSION(ZSTD_CCtx_setParameter)
PLAIT_NO_COMPRESSION(ZSTD_compress2)
PLAIT_NO_COMPRESSION(ZSTD_compressBound)
PLAIT_NO_COMPRESSION(ZSTD_createCCtx)
PLAIT_NO_COMPRESSION(ZSTD_decompress)
PLAIT_NO_COMPRESSION(ZSTD_freeCCtx)
PLAIT_NO_COMPRESSION(ZSTD_getErrorName)
PLAIT_NO_COMPRESSION(ZSTD_isError)

// zlib's, of which LLVM makes checksums.
unsigned long crc32(unsigned long crc, const unsigned char* bytes, unsigned n) {
  auto c = ~static_cast<std::uint32_t>(crc);
  for (; n; --n) {
    c ^= *bytes++;
    for (int bit = 0; bit < 8; ++bit) c = c >> 1 ^ (c & 1 ? 0xedb88320U : 0);
  }
  return static_cast<std::uint32_t>(~c);
}
}
