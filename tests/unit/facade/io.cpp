#include "plait/io.hpp"

#include <catch2/catch.hpp>
#include <iomanip>
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
  CHECK(text(plait::array<float>{0.1f, 1.0f}) == "[0.1 1. ]");
  CHECK(text(plait::array<double>{1.0 / 3, std::numeric_limits<double>::infinity()}) ==
        "[0.33333333        inf]");
  CHECK(text(plait::arange(2000)) == "[   0    1    2 ... 1997 1998 1999]");
  CHECK(text(plait::array<std::complex<float>>{std::complex<float>(1, -2)}) == "[1.-2.j]");
}

TEST_CASE("one format for all elements, as NumPy chooses it") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  using D = plait::array<double>;
  CHECK(text(D{1e10, nan}) == "[1.e+10    nan]");
  CHECK(text(D{0.1, 1, inf, -inf}) == "[ 0.1  1.   inf -inf]");
  CHECK(text(D{1.0 / 3, nan}) == "[0.33333333        nan]");
  CHECK(text(D{{1e-5, 2}, {3, inf}}) == "[[1.e-05 2.e+00]\n [3.e+00    inf]]");
  CHECK(text(D{1e10, 1.5}) == "[1.0e+10 1.5e+00]");
  CHECK(text(D{1e100, 1}) == "[1.e+100 1.e+000]");
  CHECK(text(D{nan, inf}) == "[nan inf]");
  using C = std::complex<double>;
  CHECK(text(plait::array<C>{C(1, 2), C(-1.5, -0.25)}) == "[ 1. +2.j   -1.5-0.25j]");
  CHECK(text(plait::full({}, C(1, 2))) == "(1+2j)");
  CHECK(text(plait::full({}, 1.0 / 3)) == "0.3333333333333333");
  CHECK(text(plait::zeros({0, 3})) == "[]");
  CHECK(text(plait::arange(8).reshape({2, 2, 2})) == "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]");
  CHECK(plait::to_string(D{1, 2}) == "[1. 2.]");
}

TEST_CASE("long lines are broken, long axes abbreviated") {
  CHECK(text(plait::arange(30) * 1.5) ==
        "[ 0.   1.5  3.   4.5  6.   7.5  9.  10.5 12.  13.5 15.  16.5 18.  19.5\n"
        " 21.  22.5 24.  25.5 27.  28.5 30.  31.5 33.  34.5 36.  37.5 39.  40.5\n"
        " 42.  43.5]");
  CHECK(text(plait::arange(4000).reshape({1000, 4})) ==
        "[[   0    1    2    3]\n [   4    5    6    7]\n [   8    9   10   11]\n ...\n"
        " [3988 3989 3990 3991]\n [3992 3993 3994 3995]\n [3996 3997 3998 3999]]");
}

TEST_CASE("printing hears NumPy's options") {
  using D = plait::array<double>;
  plait::print_options o;
  o.precision = 3;
  CHECK(plait::to_string(D{1.0 / 3, 2, 1e-5}, o) == "[3.333e-01 2.000e+00 1.000e-05]");
  o.suppress = true;
  CHECK(plait::to_string(D{1.0 / 3, 2, 1e-5}, o) == "[0.333 2.    0.   ]");
  CHECK(plait::to_string(D{1e10, 1.5}, o) == "[1.0e+10 1.5e+00]");
  o.precision = 0;
  CHECK(plait::to_string(D{1.0 / 3, 2}, o) == "[0. 2.]");
  o = {};
  o.threshold = 10;
  o.edgeitems = 2;
  CHECK(plait::to_string(plait::arange(20), o) == "[ 0  1 ... 18 19]");
  o.threshold = 4;
  o.edgeitems = 1;
  CHECK(plait::to_string(plait::arange(16).reshape({4, 4}), o) ==
        "[[ 0 ...  3]\n ...\n [12 ... 15]]");
  o = {};
  o.linewidth = 20;
  CHECK(plait::to_string(plait::arange(12) * 1.5, o) ==
        "[ 0.   1.5  3.\n  4.5  6.   7.5\n  9.  10.5 12.\n 13.5 15.  16.5]");
  o = {};
  o.precision = 2;
  plait::set_printoptions(o);
  CHECK(plait::get_printoptions().precision == 2);
  CHECK(text(D{1.0 / 3}) == "[0.33]");
  plait::set_printoptions({});
  CHECK(text(D{1.0 / 3}) == "[0.33333333]");
  o.edgeitems = -1;
  CHECK_THROWS_AS(plait::set_printoptions(o), plait::ValueError);
}

TEST_CASE("printing hears the stream") {
  const plait::array<double> a{1.0 / 3, 2};
  const auto put = [](const auto& v, auto... manipulators) {
    std::ostringstream out;
    (out << ... << manipulators) << v << '|' << v;
    return out.str();
  };
  CHECK(put(a, std::setprecision(3)) == "[0.333 2.   ]|[0.333 2.   ]");
  CHECK(put(a, std::fixed, std::setprecision(2)) == "[0.33 2.00]|[0.33 2.00]");
  CHECK(put(a, std::fixed) == "[0.333333 2.000000]|[0.333333 2.000000]");
  CHECK(put(a, std::scientific, std::setprecision(1)) == "[3.3e-01 2.0e+00]|[3.3e-01 2.0e+00]");
  CHECK(put(plait::array<int>{1, 20}, std::setw(4)) == "[   1   20]|[ 1 20]");
  CHECK(put(plait::full({}, 1.0 / 3), std::setprecision(2)) == "0.33|0.33");
  CHECK(put(plait::full({}, 2.0), std::fixed, std::setprecision(2)) == "2.00|2.00");
  CHECK(put(plait::array<double>(a)[plait::array<bool>{false, true}]) == "[2.]|[2.]");
  CHECK(put(plait::dtype::float32) == "float32|float32");
  CHECK(plait::to_string(plait::zeros({2, 3}).shape()) == "(2, 3)");
  CHECK(plait::to_string(plait::shape_type{4}) == "(4,)");
}
