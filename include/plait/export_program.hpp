// Functions of arrays as files that run without them (docs/export.md): plait::load (load.hpp),
// plait_run.h and Python's plait.load read what export_program() writes.
#pragma once
#include <tuple>

#include "plait/any_array.hpp"

namespace plait {

/// An extent that may differ from call to call: that of an argument's axis. Equal names are one
/// extent; without a name it has one of its own.
struct dynamic_extent {
  int argument;
  int axis;
  std::string name = {};
};

/// At most three: `{0}` are axes of the first argument, and what is equal to them in the example;
/// `{{0, 0, "n"}, {1, 0, "n"}}` are written out.
class dynamic_extents {
 public:
  dynamic_extents() = default;
  dynamic_extents(std::initializer_list<int> axes) : axes_(axes) {}
  dynamic_extents(std::initializer_list<dynamic_extent> extents) : extents_(extents) {}

  /// Axes of the first argument.
  const std::vector<int>& axes() const { return axes_; }
  /// Those that are written out.
  const std::vector<dynamic_extent>& extents() const { return extents_; }

 private:
  std::vector<int> axes_;
  std::vector<dynamic_extent> extents_;
};

/// What an exported program is called, and what it is compiled for.
struct export_options {
  std::vector<std::string> names = {};    // of arguments; without one it is "argument0" ...
  std::vector<std::string> targets = {};  // "x86-64-v3", "host" ...; none: the last two there are
  std::string function = "f";             // its name, for people
};

namespace detail {

// How results stand in what a function returns.
enum class returned : std::uint8_t { nothing, array, tuple, list };
// Calls the function with handles to arguments, where another array's may stand afterwards, and
// adds its results.
using ExportedFunction = Callback<Handle*, std::vector<Handle>&>;
PLAIT_API void export_program(const ExportedFunction& f, returned kind, const std::string& path,
                              const Handle* examples, std::size_t n, const dynamic_extents& dynamic,
                              const export_options& options);

template <class R, class = void>
inline constexpr returned returned_as = returned::list;
template <>
inline constexpr returned returned_as<void> = returned::nothing;
template <class R>
inline constexpr returned returned_as<R, std::enable_if_t<is_array_type<R>::value>> =
    returned::array;
template <class R>
inline constexpr returned returned_as<R, std::void_t<decltype(std::tuple_size<R>::value)>> =
    returned::tuple;

// Results are named before they are taken: what is selected is a copy.
template <class T>
Handle result_handle(const array<T>& a) {
  return a.handle();
}
template <class... T, std::size_t... i>
std::tuple<array<T>...> arrays_of(const Handle* handles, std::index_sequence<i...>) {
  return {array<T>(handles[i])...};
}
template <class Call>
void add_results(std::vector<Handle>& results, Call&& call) {
  using R = std::decay_t<decltype(call())>;
  constexpr returned kind = returned_as<R>;
  if constexpr (kind == returned::nothing) {
    call();
  } else if constexpr (kind == returned::array) {
    results.push_back(result_handle<element_of<R>>(call()));
  } else if constexpr (kind == returned::tuple) {
    std::apply(
        [&](const auto&... a) {
          (results.push_back(result_handle<element_of<decltype(a)>>(a)), ...);
        },
        call());
  } else {
    for (const auto& a : call()) results.push_back(result_handle<element_of<decltype(a)>>(a));
  }
}

}  // namespace detail

/// Writes f, a function of arrays that returns an array, a tuple or a vector of arrays, or nothing,
/// to a file, whole or not at all. f is pure: what it returns, and writes to its arguments (x += 1,
/// view(x, 0) = y), depends on them alone, and none of it on their elements before it returns. It
/// is called many times, with arrays of other extents. The examples say dtypes and extents; dynamic
/// ones are 1 at least there. Arrays that f captured become constants. Throws ValueError where f
/// cannot be exported, and says why; AxisError and ValueError for wrong arguments; Error where the
/// file cannot be written.
template <class F, class... A, std::enable_if_t<(detail::is_array_type<A>::value && ...), int> = 0>
void export_program(F&& f, const std::string& path, const std::tuple<A...>& examples,
                    const dynamic_extents& dynamic = {}, const export_options& options = {}) {
  static_assert(sizeof...(A) > 0, "plait: a program has an argument at least");
  using Arguments = std::tuple<array<typename A::value_type>...>;
  using R = decltype(std::apply(f, std::declval<Arguments&>()));
  const auto call = [&f](detail::Handle* handles, std::vector<detail::Handle>& results) {
    Arguments arguments = detail::arrays_of<typename A::value_type...>(
        handles, std::make_index_sequence<sizeof...(A)>());
    detail::add_results(results, [&]() -> decltype(auto) { return std::apply(f, arguments); });
    std::apply([&](const auto&... a) { ((*handles++ = a.handle()), ...); }, arguments);
  };
  std::vector<detail::Handle> handles;
  std::apply(
      [&](const auto&... a) {
        (handles.push_back(detail::result_handle<detail::element_of<decltype(a)>>(a)), ...);
      },
      examples);
  detail::export_program(call, detail::returned_as<std::decay_t<R>>, path, handles.data(),
                         handles.size(), dynamic, options);
}
/// The same of f(arguments), whose arguments are known at run time only: a vector of any_arrays.
template <class F>
void export_program(F&& f, const std::string& path, const std::vector<any_array>& examples,
                    const dynamic_extents& dynamic = {}, const export_options& options = {}) {
  using R = decltype(f(std::declval<std::vector<any_array>&>()));
  const auto call = [&f, n = examples.size()](detail::Handle* handles,
                                              std::vector<detail::Handle>& results) {
    std::vector<any_array> arguments;
    for (std::size_t i = 0; i < n; ++i) arguments.emplace_back(handles[i]);
    detail::add_results(results, [&]() -> decltype(auto) { return f(arguments); });
    for (std::size_t i = 0; i < n; ++i) handles[i] = arguments.at(i).handle();
  };
  std::vector<detail::Handle> handles;
  for (const any_array& a : examples) handles.push_back(a.handle());
  detail::export_program(call, detail::returned_as<std::decay_t<R>>, path, handles.data(),
                         handles.size(), dynamic, options);
}

}  // namespace plait
