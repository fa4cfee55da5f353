// From a kernel to position-independent bytes.
#pragma once
#include <llvm/Object/ObjectFile.h>

#include <string>
#include <vector>

namespace plait::jit {

struct Image {
  std::vector<char> bytes;  // sections in one piece; relocations applied
  std::size_t entry = 0;
};
// Lays the allocated sections of a relocatable ELF object out and resolves the references between
// them. Throws CompileError when something refers outside.
Image link(const llvm::object::ObjectFile& object, const std::string& symbol);

}  // namespace plait::jit
