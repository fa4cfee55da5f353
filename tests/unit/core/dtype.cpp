#include "core/dtype.hpp"

#include <catch2/catch.hpp>

#include "golden.hpp"
#include "plait/error.hpp"

using namespace plait;

TEST_CASE("promote agrees with numpy.promote_types for every pair") {
  for (int a = 0; a < kNumPyDTypes; ++a)
    for (int b = 0; b < kNumPyDTypes; ++b) {
      INFO(name(golden::dtype(a)) << " with " << name(golden::dtype(b)));
      CHECK(code(promote(golden::dtype(a), golden::dtype(b))) ==
            golden::kPromoteTypes[a * kNumPyDTypes + b]);
    }
}

TEST_CASE("can_cast agrees with numpy.can_cast for every pair") {
  for (int a = 0; a < kNumPyDTypes; ++a)
    for (int b = 0; b < kNumPyDTypes; ++b) {
      const DType from = golden::dtype(a), to = golden::dtype(b);
      INFO(name(from) << " to " << name(to));
      const int at = a * kNumPyDTypes + b;
      CHECK(can_cast(from, to, Casting::Safe) == (golden::kCanCast_safe[at] == '1'));
      CHECK(can_cast(from, to, Casting::SameKind) == (golden::kCanCast_same_kind[at] == '1'));
      CHECK(can_cast(from, to, Casting::Equiv) == (a == b));
      CHECK(can_cast(from, to, Casting::Unsafe));
    }
}

TEST_CASE("codes and names are NumPy's") {
  for (int i = 0; i < kNumPyDTypes; ++i)
    CHECK(from_code(code(golden::dtype(i))) == golden::dtype(i));
  CHECK(name(DType::Bool) == "bool");
  CHECK(name(DType::UInt16) == "uint16");
  CHECK(name(DType::Complex128) == "complex128");
  CHECK_THROWS_AS(from_code('q'), InternalError);
}

TEST_CASE("weak scalars alone have Python's dtypes") {
  CHECK(default_dtype(Weak::Bool) == DType::Bool);
  CHECK(default_dtype(Weak::Int) == DType::Int64);
  CHECK(default_dtype(Weak::Float) == DType::Float64);
  CHECK(default_dtype(Weak::Complex) == DType::Complex128);
}
