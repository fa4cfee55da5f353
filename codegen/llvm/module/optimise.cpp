#include "optimise.hpp"

#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/BasicAliasAnalysis.h>
#include <llvm/Analysis/BlockFrequencyInfo.h>
#include <llvm/Analysis/BranchProbabilityInfo.h>
#include <llvm/Analysis/DemandedBits.h>
#include <llvm/Analysis/LazyValueInfo.h>
#include <llvm/Analysis/LoopAccessAnalysis.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/MemoryDependenceAnalysis.h>
#include <llvm/Analysis/MemorySSA.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ProfileSummaryInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/ConstraintElimination.h>
#include <llvm/Transforms/Scalar/CorrelatedValuePropagation.h>
#include <llvm/Transforms/Scalar/DeadStoreElimination.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/GVN.h>
#include <llvm/Transforms/Scalar/IndVarSimplify.h>
#include <llvm/Transforms/Scalar/JumpThreading.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopDeletion.h>
#include <llvm/Transforms/Scalar/LoopIdiomRecognize.h>
#include <llvm/Transforms/Scalar/LoopLoadElimination.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopRotation.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimpleLoopUnswitch.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Vectorize/LoopVectorize.h>
#include <llvm/Transforms/Vectorize/SLPVectorizer.h>

namespace plait::jit {
using namespace llvm;
namespace {

// What the passes below ask for, by hand: LLVM's PassBuilder would bring every pass that there is.
struct Analyses {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  ModuleAnalysisManager modules;

  Analyses(const llvm::Module& m, TargetMachine& tm) {
    // A kernel calls nothing by name.
    TargetLibraryInfoImpl library(Triple(m.getTargetTriple()));
    library.disableAllFunctions();
    add(functions, [] {
      AAManager aliases;
      aliases.registerFunctionAnalysis<BasicAA>();
      return aliases;
    });
    add(functions, [] { return BasicAA(); });
    add(functions, [] { return AssumptionAnalysis(); });
    add(functions, [] { return BlockFrequencyAnalysis(); });
    add(functions, [] { return BranchProbabilityAnalysis(); });
    add(functions, [] { return DemandedBitsAnalysis(); });
    add(functions, [] { return DominatorTreeAnalysis(); });
    add(functions, [] { return LazyValueAnalysis(); });
    add(functions, [] { return LoopAccessAnalysis(); });
    add(functions, [] { return LoopAnalysis(); });
    add(functions, [] { return MemoryDependenceAnalysis(); });
    add(functions, [] { return MemorySSAAnalysis(); });
    add(functions, [] { return OptimizationRemarkEmitterAnalysis(); });
    add(functions, [] { return PassInstrumentationAnalysis(); });
    add(functions, [] { return PostDominatorTreeAnalysis(); });
    add(functions, [] { return ScalarEvolutionAnalysis(); });
    add(functions, [] { return ShouldRunExtraVectorPasses(); });
    add(functions, [&] { return TargetLibraryAnalysis(library); });
    add(functions, [&] { return tm.getTargetIRAnalysis(); });
    add(functions, [this] { return LoopAnalysisManagerFunctionProxy(loops); });
    add(functions, [this] { return ModuleAnalysisManagerFunctionProxy(modules); });
    add(loops, [] { return ShouldRunExtraSimpleLoopUnswitch(); });
    add(loops, [] { return PassInstrumentationAnalysis(); });
    add(loops, [this] { return FunctionAnalysisManagerLoopProxy(functions); });
    add(modules, [] { return PassInstrumentationAnalysis(); });
    add(modules, [] { return ProfileSummaryAnalysis(); });
    add(modules, [this] { return FunctionAnalysisManagerModuleProxy(functions); });
  }

 private:
  template <class Manager, class Make>
  static void add(Manager& manager, Make&& make) {
    manager.registerPass(make);
  }
};

// A pass over the loops that may be reached often.
template <class Pass>
struct Often : PassInfoMixin<Often<Pass>> {
  Pass pass;
  explicit Often(Pass p) : pass(std::move(p)) {}
  PreservedAnalyses run(Loop& l, LoopAnalysisManager& am, LoopStandardAnalysisResults& ar,
                        LPMUpdater& u) {
    return findOptionMDForLoop(&l, kRare) ? PreservedAnalyses::all() : pass.run(l, am, ar, u);
  }
};
template <class Pass>
Often<Pass> often(Pass p) {
  return Often<Pass>(std::move(p));
}

template <class... Passes>
auto each_loop(bool memory, Passes... passes) {
  LoopPassManager all;
  (all.addPass(std::move(passes)), ...);
  return createFunctionToLoopPassAdaptor(std::move(all), memory);
}

// Branches that others decide: checks of indices are such, and conditions that are values.
void add_threading(FunctionPassManager& p) {
  p.addPass(JumpThreadingPass());
  p.addPass(CorrelatedValuePropagationPass());
  p.addPass(SimplifyCFGPass());
  p.addPass(InstCombinePass());
}

// As -O2 has them, without what is about calls, and without strict order given up anywhere.
FunctionPassManager passes() {
  FunctionPassManager p;
  // Variables become values.
  p.addPass(SROAPass(SROAOptions::ModifyCFG));
  p.addPass(EarlyCSEPass(true));
  p.addPass(SimplifyCFGPass());
  p.addPass(InstCombinePass());
  p.addPass(SimplifyCFGPass());
  add_threading(p);
  p.addPass(ConstraintEliminationPass());
  // What does not change leaves the loops.
  p.addPass(each_loop(true, LoopRotatePass(), LICMPass(LICMOptions()),
                      often(SimpleLoopUnswitchPass(/*NonTrivial=*/true))));
  p.addPass(SimplifyCFGPass());
  p.addPass(InstCombinePass());
  // What a loop was left with, as its end decides it: one of which nothing else is asked for goes.
  p.addPass(CorrelatedValuePropagationPass());
  p.addPass(each_loop(false, often(LoopIdiomRecognizePass()), often(IndVarSimplifyPass()),
                      often(LoopDeletionPass()), often(LoopFullUnrollPass(2))));
  p.addPass(GVNPass());
  p.addPass(InstCombinePass());
  p.addPass(ConstraintEliminationPass());
  add_threading(p);
  // Variables that nothing reads but what they become in the next iteration.
  p.addPass(ADCEPass());
  p.addPass(DSEPass());
  p.addPass(each_loop(true, LICMPass(LICMOptions())));
  // Lanes.
  p.addPass(LoopVectorizePass());
  // What the iteration before has stored is still in a register.
  p.addPass(LoopLoadEliminationPass());
  p.addPass(InstCombinePass());
  p.addPass(SimplifyCFGPass(SimplifyCFGOptions()
                                .forwardSwitchCondToPhi(true)
                                .convertSwitchRangeToICmp(true)
                                .hoistCommonInsts(true)
                                .sinkCommonInsts(true)));
  p.addPass(SLPVectorizerPass());
  p.addPass(LoopUnrollPass(LoopUnrollOptions(2)));
  p.addPass(EarlyCSEPass(true));
  p.addPass(InstCombinePass());
  p.addPass(each_loop(true, LICMPass(LICMOptions())));
  p.addPass(SimplifyCFGPass());
  return p;
}

FunctionPassManager few_passes() {
  FunctionPassManager p;
  p.addPass(SROAPass(SROAOptions::ModifyCFG));
  p.addPass(EarlyCSEPass(true));
  p.addPass(SimplifyCFGPass());
  return p;
}

void run(FunctionPassManager all, llvm::Module& m, TargetMachine& tm) {
  Analyses analyses(m, tm);
  (void)analyses.modules.getResult<ProfileSummaryAnalysis>(m);
  for (Function& f : m)
    if (!f.isDeclaration()) (void)all.run(f, analyses.functions);
}

}  // namespace

void optimise(llvm::Module& m, TargetMachine& tm) { run(passes(), m, tm); }

void optimise_quickly(llvm::Module& m, TargetMachine& tm) { run(few_passes(), m, tm); }

}  // namespace plait::jit
