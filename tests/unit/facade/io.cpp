#include "plait/io.hpp"

#include <catch2/catch.hpp>
#include <limits>
#include <sstream>

#include "plait/plait.hpp"

namespace {
template <class T>
std::string text(const plait::array<T>& a) {
  std::ostringstream out;
  out << a;
  return out.str();
}
}  // namespace

TEST_CASE("arrays print as NumPy's") {
  CHECK(text(plait::array<int>{{1, -20}, {3, 4}}) == "[[  1 -20]\n [  3   4]]");
  CHECK(text(plait::array<bool>{true, false}) == "[ True False]");
  CHECK(text(plait::full({}, 1.5)) == "1.5");
  CHECK(text(plait::array<float>{0.1f, 1.0f}) == "[0.1  1.]");
  CHECK(text(plait::array<double>{1.0 / 3, std::numeric_limits<double>::infinity()}) ==
        "[0.33333333        inf]");
  CHECK(text(plait::arange(2000)) == "[   0    1    2 ... 1997 1998 1999]");
  CHECK(text(plait::array<std::complex<float>>{std::complex<float>(1, -2)}) == "[1.-2.j]");
}
