// The one parameter of a program: a structure that is passed by value. A layout is the list of its
// fields, each with what it holds at a launch, which has the `Values`. The program's text begins
// with the structure that the layout prints, and each launch has its bytes from the same list.
// Every field begins at a multiple of 8 bytes.
#pragma once
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/dims.hpp"
#include "core/scalar.hpp"

namespace plait::cuda {

std::string_view type_name(DType t);  // of a value in the program

template <class Values>
class ArgumentLayout {
 public:
  // f(values) gives the pointer, the number, at most `count` numbers, or the Scalar of dtype t.
  template <class F>
  void pointer(const std::string& name, F f, bool written = false) {
    add((written ? "char* " : "const char* ") + name, sizeof(void*),
        [f](const Values& v, std::byte* to) {
          const void* const at = f(v);
          std::memcpy(to, &at, sizeof at);
        });
  }
  template <class F>
  void number(const std::string& name, F f) {
    add("int64 " + name, sizeof(std::int64_t), [f](const Values& v, std::byte* to) {
      const std::int64_t n = f(v);
      std::memcpy(to, &n, sizeof n);
    });
  }
  template <class F>
  void numbers(const std::string& name, std::size_t count, F f) {
    add("int64 " + name + "[" + std::to_string(count) + "]", count * sizeof(std::int64_t),
        [f](const Values& v, std::byte* to) {
          for (const std::int64_t n : f(v)) {
            std::memcpy(to, &n, sizeof n);
            to += sizeof n;
          }
        });
  }
  template <class F>
  void scalar(const std::string& name, DType t, F f) {
    add("alignas(8) " + std::string(type_name(t)) + " " + name, itemsize(t),
        [f, t](const Values& v, std::byte* to) { std::memcpy(to, f(v).bytes, itemsize(t)); });
  }

  // struct Arguments { ... };
  std::string text() const {
    std::string s = "struct Arguments {\n";
    for (const Field& f : fields_) s += "  " + f.declaration + ";\n";
    return s + "};\n";
  }
  std::size_t bytes() const { return bytes_; }
  void pack(const Values& v, std::vector<std::byte>& out) const {
    out.assign(bytes_, std::byte{});
    for (const Field& f : fields_) f.write(v, &out[f.at]);
  }

 private:
  struct Field {
    std::string declaration;
    std::size_t at;
    std::function<void(const Values&, std::byte*)> write;
  };
  std::vector<Field> fields_;
  std::size_t bytes_ = 0;

  void add(std::string declaration, std::size_t bytes,
           std::function<void(const Values&, std::byte*)> write) {
    fields_.push_back({std::move(declaration), bytes_, std::move(write)});
    bytes_ += (bytes + 7) / 8 * 8;
  }
};

}  // namespace plait::cuda
