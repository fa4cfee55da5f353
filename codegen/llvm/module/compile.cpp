// The module's one entry point: optimise lightly, generate code, link.
#include "compile.hpp"

#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/InitializePasses.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/PassRegistry.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Scalar.h>

#include <mutex>

#include "codegen/llvm/module.hpp"
#include "emitter.hpp"

namespace plait::jit {
using namespace llvm;
namespace {

constexpr const char* kSymbol = "kernel";

// One target machine a thread and tier: making one costs about as much as a small kernel.
TargetMachine& machine(CpuTier tier) {
  static std::once_flag once;
  std::call_once(once, [] {
    // LLVM aborts where it cannot go on; a kernel that it cannot compile must not end the process.
    // What the compilation held is lost.
    install_fatal_error_handler([](void*, const char* reason, bool) {
      throw CompileError(std::string("LLVM: ") + reason);
    });
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
  thread_local std::unique_ptr<TargetMachine> machines[3];
  auto& tm = machines[static_cast<int>(tier)];
  if (tm) return *tm;
  const std::string triple = "x86_64-unknown-linux-gnu";
  std::string error;
  const llvm::Target* target = TargetRegistry::lookupTarget(triple, error);
  if (!target) throw CompileError(error);
  const char* cpu[] = {"x86-64-v2", "x86-64-v3", "x86-64-v4"};
  // The generic v4 level prefers 256 bits; kernels ask for 512 outright.
  std::string features = tier == CpuTier::Avx512 ? "-prefer-256-bit" : "";
  TargetOptions options;
  options.AllowFPOpFusion = FPOpFusion::Strict;
  options.UnsafeFPMath = false;
  tm.reset(target->createTargetMachine(triple, cpu[static_cast<int>(tier)], features, options,
                                       Reloc::PIC_, CodeModel::Small, CodeGenOptLevel::Less));
  if (!tm) throw CompileError("LLVM has no x86-64 code generator");
  return *tm;
}

void run_passes(llvm::Module& m, TargetMachine& tm, raw_pwrite_stream& out, CodeGenFileType type) {
  legacy::PassManager passes;
  passes.add(createTargetTransformInfoWrapperPass(tm.getTargetIRAnalysis()));
  passes.add(createSROAPass());
  passes.add(createEarlyCSEPass());
  passes.add(createLICMPass());
  if (tm.addPassesToEmitFile(passes, out, nullptr, type, true))
    throw CompileError("LLVM cannot emit code for this target");
  passes.run(m);
}

std::string text_of(const llvm::Module& m) {
  std::string s;
  raw_string_ostream(s) << m;
  return s;
}

void compile(const ModuleRequest& request, const ModuleReply& reply) {
  TargetMachine& tm = machine(request.tier);
  const int bytes[] = {16, 32, 64};
  const Target target{request.tier, bytes[static_cast<int>(request.tier)], request.vector_lanes,
                      request.identity};
  LLVMContext context;
  llvm::Module m("plait", context);
  m.setTargetTriple(tm.getTargetTriple().str());
  m.setDataLayout(tm.createDataLayout());
  Emitter emitter(m, *request.kernel, target);
  emitter.run(kSymbol);
#ifndef NDEBUG
  std::string broken;
  raw_string_ostream why(broken);
  if (verifyModule(m, &why)) throw CompileError("invalid LLVM IR: " + broken + text_of(m));
#endif
  if (request.want_ir) {
    std::string s = text_of(m);
    reply.text(reply.context, s.data(), s.size());
    if (!request.want_assembly) return;
  }
  SmallVector<char, 0> object_bytes;
  raw_svector_ostream stream(object_bytes);
  if (request.want_assembly) {
    run_passes(m, tm, stream, CodeGenFileType::AssemblyFile);
    return reply.text(reply.context, object_bytes.data(), object_bytes.size());
  }
  run_passes(m, tm, stream, CodeGenFileType::ObjectFile);
  auto object = object::ObjectFile::createELFObjectFile(
      MemoryBufferRef(StringRef(object_bytes.data(), object_bytes.size()), "kernel"));
  if (!object) throw CompileError(toString(object.takeError()));
  Image image = link(**object, kSymbol);
  reply.code(reply.context, image.bytes.data(), image.bytes.size(), image.entry, emitter.lanes(),
             emitter.helpers().data(), emitter.helpers().size());
}

}  // namespace
}  // namespace plait::jit

// No exception crosses into the host.
extern "C" __attribute__((visibility("default"))) bool plait_jit_module_compile_1(
    const plait::jit::ModuleRequest* request, const plait::jit::ModuleReply* reply) {
  try {
    plait::jit::compile(*request, *reply);
    return true;
  } catch (const std::exception& e) {
    reply->error(reply->context, e.what());
    return false;
  }
}
