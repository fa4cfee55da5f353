// Exported programs (docs/export.md): plait::load(path), a function of arrays in memory. Links with
// libplait_run, which needs nothing else of Plait, or with libplait.
#pragma once
#include <complex>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "plait/error.hpp"
#include "plait_run.h"

namespace plait {

namespace detail {
template <class T>
constexpr const char* run_dtype() {
  if constexpr (std::is_same_v<T, bool>)
    return "bool";
  else if constexpr (std::is_same_v<T, float>)
    return "float32";
  else if constexpr (std::is_same_v<T, double>)
    return "float64";
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return "complex64";
  else if constexpr (std::is_same_v<T, std::complex<double>>)
    return "complex128";
  else {
    static_assert(std::is_integral_v<T>, "name the dtype of such elements");
    constexpr bool is_signed = std::is_signed_v<T>;
    constexpr const char* names[] = {is_signed ? "int8" : "uint8", is_signed ? "int16" : "uint16",
                                     is_signed ? "int32" : "uint32",
                                     is_signed ? "int64" : "uint64"};
    return names[sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3];
  }
}
}  // namespace detail

/// A C-contiguous array of the caller's: its first element and its shape. `dtype`: NumPy's name,
/// where T has none of its own. What a program writes to cannot be const.
class program_argument {
 public:
  template <class T>
  program_argument(T* data, std::vector<std::int64_t> shape,
                   const char* dtype = detail::run_dtype<std::remove_const_t<T>>())
      : data_(const_cast<std::remove_const_t<T>*>(data)),
        is_const_(std::is_const_v<T>),
        item_(sizeof(T)),
        dtype_(dtype),
        shape_(std::move(shape)) {}

 private:
  friend class program;
  void* data_;
  bool is_const_;
  std::size_t item_;
  const char* dtype_;
  std::vector<std::int64_t> shape_;
};

/// The same of an argument that the program writes to: const elements are an error of the
/// compiler's.
template <class T>
program_argument written(T* data, std::vector<std::int64_t> shape,
                         const char* dtype = detail::run_dtype<std::remove_const_t<T>>()) {
  static_assert(!std::is_const_v<T>, "the program writes to this argument: it cannot be const");
  return {data, std::move(shape), dtype};
}

/// An array that a program computed; it stays until the program is called again, or ends.
class program_result {
 public:
  /// NumPy's name of the dtype of the elements.
  const std::string& dtype() const { return dtype_; }
  /// The extents.
  const std::vector<std::int64_t>& shape() const { return shape_; }
  /// The bytes that the elements take.
  std::size_t bytes() const { return bytes_; }
  /// The elements, in C order.
  const void* data() const { return data_; }
  /// The elements, in C order. Error where they are not of T.
  template <class T>
  const T* data_as() const {
    if (dtype_ != detail::run_dtype<T>()) throw Error("the result's elements are " + dtype_);
    return static_cast<const T*>(data_);
  }

 private:
  friend class program;
  std::string dtype_;
  std::vector<std::int64_t> shape_;
  const void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// An exported program, of a file. One thread at a time calls it. Error: no such file, damaged, of
/// another version, or for other processors.
class program {
 public:
  /// Error: no such file, damaged, of another version, or for other processors.
  explicit program(const std::string& path) {
    plait_program* p = nullptr;
    check(plait_load(path.c_str(), &p));
    program_.reset(p);
  }

  /// What the program computes of these arrays. Error for arrays that it was not exported for, and
  /// for const ones that it writes to.
  std::vector<program_result> operator()(const std::vector<program_argument>& arguments) {
    std::vector<plait_array> given;
    for (const program_argument& a : arguments) {
      const char* const name = plait_written(program_.get(), given.size());
      if (name && a.is_const_)
        throw Error("argument '" + std::string(name) + "' is written to, and is const");
      std::size_t bytes = a.item_;
      for (const std::int64_t n : a.shape_) bytes *= static_cast<std::size_t>(n);
      given.push_back(
          {a.data_, bytes, a.dtype_, static_cast<std::int32_t>(a.shape_.size()), a.shape_.data()});
    }
    std::vector<plait_array> made(plait_results(program_.get()));
    check(plait_call(program_.get(), given.data(), given.size(), made.data(), made.size()));
    std::vector<program_result> results(made.size());
    for (std::size_t i = 0; i < made.size(); ++i) {
      results[i].dtype_ = made[i].dtype;
      results[i].shape_.assign(made[i].shape, made[i].shape + made[i].ndim);
      results[i].data_ = made[i].data;
      results[i].bytes_ = made[i].bytes;
    }
    return results;
  }

 private:
  static void check(const char* error) {
    if (error) throw Error(error);
  }
  struct Free {
    void operator()(plait_program* p) const { plait_free(p); }
  };
  std::unique_ptr<plait_program, Free> program_;
};

/// The exported program of a file: program(path).
inline program load(const std::string& path) { return program(path); }

}  // namespace plait
