// Which build of a shared object a file is: the linker's hash of what it wrote.
#pragma once
#include <string>

namespace plait::jit {

// The build-id note of an ELF file in hexadecimal; empty when the file cannot be read, is damaged
// or has none.
std::string build_id(const std::string& path);

}  // namespace plait::jit
