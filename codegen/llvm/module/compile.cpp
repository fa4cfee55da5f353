// The module's one entry point: optimise lightly, generate code, link.
#include "compile.hpp"

#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/InitializePasses.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/PassRegistry.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Scalar.h>

#include <memory>

#include "codegen/llvm/module.hpp"
#include "emitter.hpp"
#include "guard.hpp"
#include "optimise.hpp"
#include "processor.hpp"

namespace plait::jit {
using namespace llvm;
namespace {

constexpr const char* kSymbol = "kernel";

// One target machine a tier: making one costs about as much as a small kernel. Calls come one at a
// time.
std::unique_ptr<TargetMachine> machines[kTiers.size()];

// Strength reduction of loops is a third of what a kernel takes to compile. Addresses here are
// bases and a counter as they are emitted, which the processor adds up by itself: without it loops
// are as fast. There is no other way to leave it out than this option.
void leave_out_strength_reduction() {
  const auto& options = cl::getRegisteredOptions();
  if (const auto found = options.find("disable-lsr"); found != options.end())
    found->second->addOccurrence(0, "disable-lsr", "true");
}

TargetMachine& machine(CpuTier tier) {
  static const bool initialised = [] {
    leave_out_strength_reduction();
    kProcessor.initialise();
    return true;
  }();
  (void)initialised;
  auto& tm = machines[static_cast<int>(tier)];
  if (tm) return *tm;
  const std::string triple = kProcessor.triple;
  std::string error;
  const llvm::Target* target = TargetRegistry::lookupTarget(triple, error);
  if (!target) throw CompileError(error);
  TargetOptions options;
  options.AllowFPOpFusion = FPOpFusion::Strict;
  options.UnsafeFPMath = false;
  tm.reset(target->createTargetMachine(triple, kProcessor.cpu(tier), kProcessor.features(tier),
                                       options, Reloc::PIC_, kProcessor.code_model,
                                       CodeGenOptLevel::Less));
  if (!tm) throw CompileError("LLVM has no code generator for " + triple);
  return *tm;
}

// LLVM's objects of one kernel.
struct Work {
  explicit Work(const ModuleRequest& request, const Target& target, TargetMachine& tm)
      : sequential(request.kernel->sequential),
        quick(request.effort == Effort::Quick),
        module("plait", context),
        emitter(module, *request.kernel, target) {
    module.setTargetTriple(tm.getTargetTriple().str());
    module.setDataLayout(tm.createDataLayout());
  }
  const bool sequential, quick;
  LLVMContext context;
  llvm::Module module;
  Emitter emitter;
  legacy::PassManager passes;
};

void run_passes(Work& w, TargetMachine& tm, raw_pwrite_stream& out, CodeGenFileType type) {
  w.passes.add(createTargetTransformInfoWrapperPass(tm.getTargetIRAnalysis()));
  tm.setOptLevel(w.quick        ? CodeGenOptLevel::None
                 : w.sequential ? CodeGenOptLevel::Default
                                : CodeGenOptLevel::Less);
  tm.setFastISel(w.quick);  // else it stays as the kernel before had it
  if (w.quick) {
    optimise_quickly(w.module, tm);
  } else if (w.sequential) {
    optimise(w.module, tm);
  } else {
    w.passes.add(createSROAPass());
    w.passes.add(createEarlyCSEPass());
    w.passes.add(createLICMPass());
  }
  if (tm.addPassesToEmitFile(w.passes, out, nullptr, type, true))
    throw CompileError("LLVM cannot emit code for this target");
  w.passes.run(w.module);
}

std::string text_of(const llvm::Module& m) {
  std::string s;
  raw_string_ostream(s) << m;
  return s;
}

void compile(const ModuleRequest& request, const ModuleReply& reply, Work& w, TargetMachine& tm) {
  w.emitter.run(kSymbol);
#ifndef NDEBUG
  std::string broken;
  raw_string_ostream why(broken);
  if (verifyModule(w.module, &why))
    throw CompileError("invalid LLVM IR: " + broken + text_of(w.module));
#endif
  if (request.want_ir) {
    std::string s = text_of(w.module);
    reply.text(reply.context, s.data(), s.size());
    if (!request.want_assembly) return;
  }
  SmallVector<char, 0> object_bytes;
  raw_svector_ostream stream(object_bytes);
  if (request.want_assembly) {
    run_passes(w, tm, stream, CodeGenFileType::AssemblyFile);
    return reply.text(reply.context, object_bytes.data(), object_bytes.size());
  }
  run_passes(w, tm, stream, CodeGenFileType::ObjectFile);
  auto object = object::ObjectFile::createELFObjectFile(
      MemoryBufferRef(StringRef(object_bytes.data(), object_bytes.size()), "kernel"));
  if (!object) throw CompileError(toString(object.takeError()));
  Image image = link(**object, kSymbol);
  reply.code(reply.context, image.bytes.data(), image.bytes.size(), image.entry, w.emitter.lanes(),
             w.emitter.helpers().data(), w.emitter.helpers().size());
}

void compile(const ModuleRequest& request, const ModuleReply& reply) {
  TargetMachine& tm = machine(request.tier);
  const Target target{request.tier, info(request.tier).vector_bytes, request.vector_lanes,
                      request.identity, request.externals};
  auto* work = new Work(request, target, tm);
  // Only what was thrown between LLVM's own functions leaves its objects fit to be destroyed.
  try {
    compile(request, reply, *work, tm);
  } catch (const CompileError&) {
    delete work;
    throw;
  }
  delete work;
}

// Address space that compiling takes at most: 7 MB for a kernel of a thousand instructions, and
// LLVM's own tables at the first one.
std::size_t reserve_of(const ir::Kernel& k) {
  return (std::size_t{8} << 20) + (std::size_t{16} << 10) * k.insts.size();
}

// A target machine in the middle of something is not used again, nor destroyed.
void drop_machines() {
  for (auto& tm : machines) (void)tm.release();
}

struct Call {
  const ModuleRequest& request;
  const ModuleReply& reply;
  bool out_of_memory = false;
};

}  // namespace

ModuleResult enter(const ModuleRequest& request, const ModuleReply& reply) {
  static bool out_of_order = false;
  const char* reason = "LLVM ran out of memory in the middle of a kernel before";
  if (!out_of_order) {
    Call call{request, reply};
    auto run = [](void* c) {
      auto& [asked, answer, out_of_memory] = *static_cast<Call*>(c);
      try {
        compile(asked, answer);
      } catch (const std::bad_alloc&) {  // of the standard library's own functions
        out_of_memory = true;
      }
    };
    const Ending ending =
        guarded(run, &call, reserve_of(*request.kernel), &reason, request.fail_at);
    if (ending == Ending::NotBegun) return ModuleResult::ShortOfMemory;
    if (ending == Ending::Whole && !call.out_of_memory) return ModuleResult::Done;
    drop_machines();
    if (ending != Ending::GaveUp) {
      out_of_order = true;
      reason = "LLVM ran out of memory; no kernel is compiled from here on";
    }
  }
  reply.error(reply.context, reason);
  return ModuleResult::Failed;
}

}  // namespace plait::jit

// No exception crosses into the host.
extern "C" __attribute__((visibility("default"))) plait::jit::ModuleResult
plait_jit_module_compile_5(const plait::jit::ModuleRequest* request,
                           const plait::jit::ModuleReply* reply) {
  try {
    return plait::jit::enter(*request, *reply);
  } catch (const std::exception& e) {
    reply->error(reply->context, e.what());
    return plait::jit::ModuleResult::Failed;
  }
}
