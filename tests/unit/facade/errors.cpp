// What a mistake says: the function, the shapes or types, the way out; nothing of Python.
#include <catch2/catch.hpp>
#include <string>

#include "plait/plait.hpp"

using plait::array;

namespace {
template <class Error, class Call>
std::string message(Call call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}
}  // namespace

TEST_CASE("mistakes are told in C++'s words") {
  const array<double> a{{1, 2, 3}, {4, 5, 6}}, v{1, 2};
  array<std::uint8_t> bytes{1};
  CHECK(message<plait::OverflowError>([&] { bytes + 300; }) ==
        "add: integer 300 out of bounds for uint8");
  CHECK(message<plait::Error>([&] { argmin(a, {0, 1}); }) ==
        "argmin: takes one axis, or none for all");
  CHECK(message<plait::AxisError>([&] { sum(a, 2); }) ==
        "sum: axis 2 is out of bounds for array of dimension 2");
  CHECK(message<plait::IndexError>([&] { plait::view(a, 2); }) ==
        "view: index 2 is out of bounds for axis 0 with size 2");
  CHECK(message<plait::IndexError>([&] { a.get(1); }) ==
        "get: an element takes one index an axis: 1 index for an array of dimension 2; view(a, i) "
        "and row(a, i) take fewer");
  CHECK(message<plait::ShapeError>([&] { a.reshape({4, 2}); }) ==
        "reshape: cannot reshape array of size 6 into shape (4,2)");
  CHECK(message<plait::Error>([&] { plait::tril(plait::sum(a)); }) ==
        "tril: takes arrays of one dimension or more");
  CHECK(message<plait::Error>([&] { plait::tensordot(a, a, {5}, {0}); }) ==
        "tensordot: an axis is out of bounds for its array");
  CHECK(message<plait::Error>([&] { plait::linalg::norm(a, 3); }) ==
        "linalg::norm: Invalid norm order for matrices.");
  CHECK(message<plait::Error>([&] { plait::arange(0, 10, 0); }) == "arange: the step is zero");
  CHECK(message<plait::ValueError>([&] { plait::split(a, 2, 1); }) ==
        "split: array split does not result in an equal division (array_split() takes any number)");
  CHECK(message<plait::ValueError>([&] { plait::vsplit(v, 2); }) ==
        "vsplit takes arrays of 2 or more dimensions, not of 1");
  CHECK(message<plait::ValueError>([&] { plait::broadcast_to(v, {2, 2}) += 1; }) ==
        "add: output array is read-only (broadcast_to() and memory of const elements are only "
        "read: copy() it)");
  CHECK(message<plait::ValueError>([&] { array<double>{{1, 2}, {3}}; }) ==
        "array: the rows of a nested list differ in length: every row takes as many elements");
  CHECK(message<plait::ShapeError>([&] { plait::matmul(a, a); })
            .find("matmul: Input operand 1 has a mismatch in its core dimension 0, with "
                  "signature (n?,k),(k,m?)->(n?,m?)") == 0);
}
