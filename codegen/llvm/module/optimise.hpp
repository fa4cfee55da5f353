// The passes that sequential kernels go through: they are written as scalar code, one access at a
// time, and have no loops that the planner has laid out.
#pragma once
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace plait::jit {

// Of loops that are hardly reached.
inline constexpr const char* kRare = "plait.rare";

// Variables become values, and what is computed twice is computed once: what is cheap, and makes
// less for the code generator to do.
void optimise_quickly(llvm::Module& m, llvm::TargetMachine& tm);
void optimise(llvm::Module& m, llvm::TargetMachine& tm);

}  // namespace plait::jit
