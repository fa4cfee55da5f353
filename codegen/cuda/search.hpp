// Where the libraries of a CUDA toolkit are looked for, and the one that is taken.
#pragma once
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

namespace plait::cuda {

// Most particular first: $CUDA_HOME and $CUDA_PATH; the nvidia-* wheels (nvidia/cu13/lib,
// nvidia/cuda_nvrtc/lib ...) beside this library, in $VIRTUAL_ENV, in $CONDA_PREFIX and in the
// user's own site-packages; conda's lib; /usr/local/cuda and /usr/local/cuda-*, newest first; the
// distribution's folders. Those that exist.
std::vector<std::string> toolkit_folders();

struct Found {
  void* handle = nullptr;
  std::string path;
  std::string why;    // without a handle: what was looked for and where
  std::string tried;  // what was there and did not do, and why: a line each
};
// The first library of one of the `names` (newest first) in those folders or on the loader's own
// path that `fault` finds nothing wrong with, or says what; $variable, where it is set, is the only
// candidate.
Found find_library(const char* variable, const std::vector<std::string>& names,
                   const std::function<std::string(void*)>& fault);

// A function of a library that is opened at run time, and the pointer through which it is called.
struct Symbol {
  const char* name;
  void* function;  // where that pointer is, which is of any function type
};
// Points them at the library's functions; the names of those that it lacks, with commas.
std::string missing_symbols(void* library, std::initializer_list<Symbol> wanted);

}  // namespace plait::cuda
