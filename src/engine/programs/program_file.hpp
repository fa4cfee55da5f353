// Files of exported programs.
#pragma once
#include <string>
#include <string_view>

#include "program.hpp"

namespace plait::engine {

// The file's bytes.
std::string to_file(ProgramData& p);
// Throws ValueError which says what is wrong with them: no such file, damaged, of another version.
ProgramData from_file(std::string_view bytes);
// The same of the file at `path`. Throws std::system_error where it cannot be read.
ProgramData read_program(const std::string& path);

}  // namespace plait::engine
