#include "externals.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "core/heap.hpp"
#include "core/key_table.hpp"

namespace plait::ir {
namespace {

template <class T>
constexpr DType dtype_of() {
  static_assert(std::is_same_v<T, double> || std::is_same_v<T, std::int64_t>);
  return std::is_same_v<T, double> ? DType::Float64 : DType::Int64;
}

template <class R, class... A>
void called(const void* address, const void* const* operands, void* result) {
  const auto f = reinterpret_cast<R (*)(A...)>(const_cast<void*>(address));
  const R r = [&]<std::size_t... n>(std::index_sequence<n...>) {
    return f(*static_cast<const A*>(operands[n])...);
  }(std::index_sequence_for<A...>());
  *static_cast<R*>(result) = r;
}

template <class R, class... A>
ExternalFunction function(std::string_view name, R (*f)(A...), bool has_effects) {
  static_assert(sizeof...(A) <= 3);
  return {name,           sizeof...(A), {dtype_of<A>()...},
          dtype_of<R>(),  has_effects,  reinterpret_cast<const void*>(f),
          called<R, A...>};
}

ExternalFunction of_one(std::string_view name, double (*f)(double)) {
  return function(name, f, false);
}
ExternalFunction of_two(std::string_view name, double (*f)(double, double)) {
  return function(name, f, false);
}
template <class R, class... A>
ExternalFunction acts(std::string_view name, R (*f)(A...)) {
  return function(name, f, true);
}

// Of functions that a run is given, as addresses, and what they draw from.
double call_double(std::int64_t function, std::int64_t source) {
  return reinterpret_cast<double (*)(void*)>(function)(reinterpret_cast<void*>(source));
}
std::int64_t call_word(std::int64_t function, std::int64_t source, std::int64_t x) {
  return reinterpret_cast<std::int64_t (*)(void*, std::int64_t)>(function)(
      reinterpret_cast<void*>(source), x);
}

}  // namespace

std::span<const ExternalFunction> externals() {
  static const ExternalFunction all[] = {
      of_one("sin", ::sin),
      of_one("cos", ::cos),
      of_one("tan", ::tan),
      of_one("asin", ::asin),
      of_one("acos", ::acos),
      of_one("atan", ::atan),
      of_one("sinh", ::sinh),
      of_one("cosh", ::cosh),
      of_one("tanh", ::tanh),
      of_one("asinh", ::asinh),
      of_one("acosh", ::acosh),
      of_one("atanh", ::atanh),
      of_one("exp", ::exp),
      of_one("expm1", ::expm1),
      of_one("log", ::log),
      of_one("log1p", ::log1p),
      of_one("log2", ::log2),
      of_one("log10", ::log10),
      of_one("exp2", ::exp2),
      of_one("cbrt", ::cbrt),
      of_one("erf", ::erf),
      of_one("erfc", ::erfc),
      of_two("pow", ::pow),
      of_two("atan2", ::atan2),
      of_two("fmod", ::fmod),
      of_two("hypot", ::hypot),
      function("float_bits", heap::float_bits, false),
      function("bits_float", heap::bits_float, false),
      acts("heap_alloc", heap::heap_alloc),
      acts("heap_grow", heap::heap_grow),
      acts("heap_free", heap::heap_free),
      acts("table_new", heap::table_new),
      acts("table_key", heap::table_key),
      acts("table_find", heap::table_find),
      acts("table_insert", heap::table_insert),
      acts("table_remove", heap::table_remove),
      acts("table_find1", heap::table_find1),
      acts("table_insert1", heap::table_insert1),
      acts("table_remove1", heap::table_remove1),
      acts("table_size", heap::table_size),
      acts("table_entries", heap::table_entries),
      acts("table_alive", heap::table_alive),
      acts("table_word", heap::table_word),
      acts("table_clear", heap::table_clear),
      acts("call_double", call_double),
      acts("call_word", call_word),
  };
  return all;
}

int external(std::string_view name) {
  const auto all = externals();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const ExternalFunction& f) { return f.name == name; });
  return found == all.end() ? -1 : static_cast<int>(found - all.begin());
}

}  // namespace plait::ir
