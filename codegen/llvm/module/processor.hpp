// What LLVM has to be told of the processor that it generates code for: processor/NAME.cpp.
#pragma once
#include <llvm/IR/IRBuilder.h>
#include <llvm/Support/CodeGen.h>

#include <cstddef>
#include <cstdint>

#include "core/config.hpp"

namespace plait::jit {

struct Processor {
  const char* triple;
  llvm::CodeModel::Model code_model;
  const char* (*cpu)(CpuTier);
  const char* (*features)(CpuTier);
  void (*initialise)();
};
extern const Processor kProcessor;

// An ordering of numbers, true or false of NaN as the predicate says, that raises no flag for a
// quiet one.
llvm::Value* quiet_order(llvm::IRBuilderBase& b, llvm::CmpInst::Predicate p, llvm::Value* x,
                         llvm::Value* y);

// Makes non-temporal stores, which are weakly ordered, visible before the stores that follow.
void order_streamed_stores(llvm::IRBuilderBase& b);

// Patches the reference of a relocation's type at `where` in the image; false for an unknown type.
bool relocate(std::uint64_t type, std::byte* image, std::size_t where, std::int64_t target);

}  // namespace plait::jit
