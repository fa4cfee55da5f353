// Data to bytes and back. What a structure consists of is said once, by fields(archive, structure),
// which both directions read. Bytes are this machine's own order.
#pragma once
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/dims.hpp"
#include "core/scalar.hpp"
#include "plait/error.hpp"

namespace plait::engine {

class Writer {
 public:
  static constexpr bool kReads = false;
  void bytes(const void* p, std::size_t n) { out_.append(static_cast<const char*>(p), n); }
  std::size_t count(std::size_t n) {
    const std::uint64_t all = n;
    bytes(&all, sizeof all);
    return n;
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

// Throws ValueError where the bytes end too soon.
class Reader {
 public:
  static constexpr bool kReads = true;
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  void bytes(void* p, std::size_t n) {
    if (n > rest_.size()) throw ValueError("it ends too soon");
    std::memcpy(p, rest_.data(), n);
    rest_.remove_prefix(n);
  }
  // Of elements that take a byte at least.
  std::size_t count(std::size_t) {
    std::uint64_t n;
    bytes(&n, sizeof n);
    if (n > rest_.size()) throw ValueError("it ends too soon");
    return n;
  }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

template <class A, class T>
void archive(A& a, T& x);

template <class A>
void archive(A& a, std::string& s) {
  s.resize(a.count(s.size()));
  a.bytes(s.data(), s.size());
}
template <class A, class T>
void archive(A& a, std::vector<T>& v) {
  v.resize(a.count(v.size()));
  if constexpr (std::is_same_v<T, bool>) {
    for (std::size_t i = 0; i < v.size(); ++i) {
      bool x = v[i];
      archive(a, x);
      v[i] = x;
    }
  } else {
    for (T& x : v) archive(a, x);
  }
}
template <class A, class T>
void archive(A& a, std::optional<T>& o) {
  bool there = o.has_value();
  archive(a, there);
  if (!there) return o.reset();
  if (!o) o.emplace();
  archive(a, *o);
}
template <class A>
void archive(A& a, Dims& d) {
  d.resize(static_cast<int>(a.count(static_cast<std::size_t>(d.size()))));
  for (std::int64_t& x : d) archive(a, x);
}
template <class A>
void archive(A& a, Scalar& s) {
  archive(a, s.dtype);
  a.bytes(s.bytes, sizeof s.bytes);
}

template <class A, class T>
void archive(A& a, T& x) {
  if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
    a.bytes(&x, sizeof x);
  else
    fields(a, x);
}

// Several at once, in this order.
template <class A, class... T>
void all(A& a, T&... x) {
  (archive(a, x), ...);
}

}  // namespace plait::engine
