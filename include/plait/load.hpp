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

#include "plait/cancel.hpp"

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

/// An array of the caller's: its first element and its shape, C-contiguous, or with_strides().
/// `dtype`: NumPy's name, where T has none of its own. What a program writes to cannot be const.
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
  /// An array of Plait's, with its elements where they are.
  template <class A, class T = typename A::value_type,
            class = decltype(std::declval<A&>().handle())>
  program_argument(A& a) : program_argument(a.data(), a.shape()) {
    strides_ = a.strides();
  }
  /// The same with steps in bytes from an element to the next of each axis. Error where there are
  /// more or fewer than axes.
  program_argument with_strides(std::vector<std::int64_t> strides) const {
    if (strides.size() != shape_.size())
      throw Error("there are " + std::to_string(strides.size()) + " strides for " +
                  std::to_string(shape_.size()) + " axes");
    program_argument a = *this;
    a.strides_ = std::move(strides);
    return a;
  }

 private:
  friend class program;
  void* data_;
  bool is_const_;
  std::size_t item_;
  const char* dtype_;
  std::vector<std::int64_t> shape_, strides_;
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

/// What an argument or a result of a program is.
struct program_info {
  std::string name;  // of an argument
  std::string dtype;
  std::vector<std::int64_t> shape;   // -1: the extent differs from call to call
  std::vector<std::string> extents;  // names of an argument's such extents: equal ones are one
  bool written = false;              // by the program
};

/// An exported program. One thread at a time calls it: Error for another. Threads have clone()s.
class program {
 public:
  /// Error: no such file; ValueError: damaged, of another version, or for other processors.
  explicit program(const std::string& path) {
    take([&](plait_program** p) { return plait_load(path.c_str(), p); });
  }
  /// A file's bytes in memory, which may go afterwards.
  program(const void* file, std::size_t bytes) {
    take([&](plait_program** p) { return plait_load_memory(file, bytes, p); });
  }
  /// Another one that shares code and constants, and may run at the same time.
  program clone() const {
    program other;
    other.take([&](plait_program** p) { return plait_clone(program_.get(), p); });
    return other;
  }

  /// What it takes, in order.
  std::vector<program_info> arguments() const { return described(plait_arguments, plait_argument); }
  /// What it gives, in order.
  std::vector<program_info> results() const { return described(plait_results, plait_result); }

  /// The results. ValueError and DTypeError for arrays that it was not exported for, Error for
  /// const ones that it writes to, IndexError for indices.
  std::vector<program_result> operator()(const std::vector<program_argument>& arguments) {
    return call(arguments, nullptr);
  }
  /// The same, which throws Cancelled soon after stop.cancel(). Then what it writes to is as it
  /// was, and it may be called again.
  std::vector<program_result> operator()(const std::vector<program_argument>& arguments,
                                         const cancel_token& stop) {
    return call(arguments, stop.get());
  }

 private:
  program() = default;
  std::vector<program_result> call(const std::vector<program_argument>& arguments,
                                   plait_token* stop) {
    std::vector<plait_array> given;
    for (const program_argument& a : arguments) {
      const char* const name = plait_written(program_.get(), given.size());
      if (name && a.is_const_)
        throw Error("argument '" + std::string(name) + "' is written to, and is const");
      std::size_t bytes = a.item_;
      for (const std::int64_t n : a.shape_) bytes *= static_cast<std::size_t>(n);
      given.push_back({a.data_, bytes, a.dtype_, static_cast<std::int32_t>(a.shape_.size()),
                       a.shape_.data(), a.strides_.empty() ? nullptr : a.strides_.data()});
    }
    std::vector<plait_array> made(plait_results(program_.get()));
    check(plait_call_with_cancel(stop, program_.get(), given.data(), given.size(), made.data(),
                                 made.size()));
    std::vector<program_result> results(made.size());
    for (std::size_t i = 0; i < made.size(); ++i) {
      results[i].dtype_ = made[i].dtype;
      results[i].shape_.assign(made[i].shape, made[i].shape + made[i].ndim);
      results[i].data_ = made[i].data;
      results[i].bytes_ = made[i].bytes;
    }
    return results;
  }

  static void check(const char* error) {
    if (!error) return;
    switch (plait_last_error()) {
      case PLAIT_VALUE_ERROR:
        throw ValueError(error);
      case PLAIT_DTYPE_ERROR:
        throw DTypeError(error);
      case PLAIT_INDEX_ERROR:
        throw IndexError(error);
      case PLAIT_CANCELLED:
        throw Cancelled(error);
      case PLAIT_MEMORY_ERROR:
        throw std::bad_alloc();
      default:
        throw Error(error);
    }
  }
  template <class Make>
  void take(Make&& make) {
    plait_program* p = nullptr;
    check(make(&p));
    program_.reset(p);
  }
  std::vector<program_info> described(std::size_t (*count)(const plait_program*),
                                      const char* (*describe)(const plait_program*, std::size_t,
                                                              plait_info*)) const {
    if (!program_) throw Error("the program is NULL");
    std::vector<program_info> all(count(program_.get()));
    for (std::size_t i = 0; i < all.size(); ++i) {
      plait_info info;
      check(describe(program_.get(), i, &info));
      program_info& to = all[i];
      to.name = info.name ? info.name : "";
      to.dtype = info.dtype;
      to.shape.assign(info.shape, info.shape + info.ndim);
      for (std::int32_t d = 0; d < info.ndim; ++d)
        to.extents.emplace_back(info.extents[d] ? info.extents[d] : "");
      to.written = info.written != 0;
    }
    return all;
  }
  struct Free {
    void operator()(plait_program* p) const { plait_free(p); }
  };
  std::unique_ptr<plait_program, Free> program_;
};

/// An exported program, from a file or from a file's bytes in memory: program().
inline program load(const std::string& path) { return program(path); }
inline program load(const void* file, std::size_t bytes) { return program(file, bytes); }

}  // namespace plait
