// Printing (print.hpp, which plait.hpp has, too), and std::format of arrays and dtypes where there
// is such: "{}", "{:.3}" with a precision.
#pragma once
#include "plait/detail/selection.hpp"
#include "plait/print.hpp"  // IWYU pragma: export

#if __cplusplus >= 202002L && __has_include(<format>)
#include <format>
#endif
#ifdef __cpp_lib_format

template <class T>
struct std::formatter<plait::array<T>> {
  constexpr auto parse(std::format_parse_context& context) {
    auto at = context.begin();
    if (at != context.end() && *at == '.') {
      precision_ = 0;
      while (++at != context.end() && *at >= '0' && *at <= '9')
        precision_ = 10 * precision_ + (*at - '0');
    }
    if (at != context.end() && *at != '}')
      throw std::format_error("plait: arrays take a precision, {:.3}, and nothing else");
    return at;
  }
  template <class Context>
  auto format(const plait::array<T>& a, Context& context) const {
    plait::print_options options = plait::get_printoptions();
    if (precision_ >= 0) options.precision = precision_;
    return std::format_to(context.out(), "{}", plait::to_string(a, options));
  }

 private:
  int precision_ = -1;
};
template <class T>
struct std::formatter<plait::array_view<T>> : std::formatter<plait::array<std::remove_const_t<T>>> {
};
template <class T>
struct std::formatter<plait::selection<T>> : std::formatter<plait::array<T>> {};
template <>
struct std::formatter<plait::dtype> : std::formatter<std::string> {
  template <class Context>
  auto format(plait::dtype t, Context& context) const {
    return std::formatter<std::string>::format(plait::to_string(t), context);
  }
};

#endif
