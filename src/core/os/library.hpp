// Libraries that are opened at run time.
#pragma once
#include <string>

namespace plait::os {

// By a path, or a name that the system searches for; other libraries do not see its names. nullptr
// where it cannot be opened: *why says why.
void* open_library(const std::string& path, std::string* why = nullptr);
void* opened_library(const std::string& path);  // nullptr where the process has not opened it yet
void close_library(void* library);

void* symbol(void* library, const std::string& name);  // nullptr: it has none

// The path of a library in this process that has this in it; "": there is none.
std::string library_with(const char* part_of_path);
// The path of the library that this function is in, as it was opened, or of the program; "":
// unknown.
std::string file_of(const void* function);

}  // namespace plait::os
