// NumPy's file format as parts of files: what .npy files are, and what .npz files hold.
#pragma once
#include <cstdio>
#include <memory>
#include <string>

#include "box.hpp"

namespace plait::detail {

struct Closing {
  void operator()(std::FILE* f) const { std::fclose(f); }
};
using File = std::unique_ptr<std::FILE, Closing>;
// Error, of the function's name, when it cannot be opened.
File open(const char* function, const std::string& path, const char* mode);
// An error of the file that errno tells.
[[noreturn]] void fail_by_errno(const char* function, const std::string& path);

// The array that begins where the file stands, converted to `wanted` where every value is kept.
// `name` is what errors call it.
Handle read_npy(std::FILE* f, const std::string& name, const dtype* wanted);

// What is written of an array, evaluated: a header, then the elements.
struct NpyContent {
  std::string header;
  Handle memory;
  const void* elements;
  std::size_t bytes;
};
NpyContent npy_content(const Handle& a);

}  // namespace plait::detail
