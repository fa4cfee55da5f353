// The structure that a layout prints, as the host's compiler lays it out, beside the bytes that the
// layout packs.
#include "codegen/cuda/argument_layout.hpp"

#include <catch2/catch.hpp>
#include <complex>
#include <cstring>

using namespace plait;

namespace {

using int64 = std::int64_t;
using int8 = std::int8_t;
using uint16 = std::uint16_t;
using complex128 = std::complex<double>;

// A structure and its text.
#define PLAIT_PRINTED(structure) \
  structure;                     \
  constexpr const char* kText = #structure ";";
// clang-format off
PLAIT_PRINTED(struct Arguments {
  char* out;
  alignas(8) bool flag;
  const char* in;
  alignas(8) int8 tiny;
  alignas(8) uint16 odd;
  int64 shape[3];
  alignas(8) complex128 wide;
  alignas(8) float last;
  alignas(8) bool end;
})
// clang-format on

struct Values {
  Dims shape;
  Scalar scalars[6];
  void* at;
};

std::string without_spaces(std::string s) {
  std::erase_if(s, [](char c) { return c == ' ' || c == '\n'; });
  return s;
}

}  // namespace

TEST_CASE("arguments are packed where the printed structure has them") {
  using V = const Values&;
  cuda::ArgumentLayout<Values> l;
  const auto scalar = [&](const char* name, DType t, int n) {
    l.scalar(name, t, [n](V v) -> const Scalar& { return v.scalars[n]; });
  };
  l.pointer("out", [](V v) { return v.at; }, true);
  scalar("flag", DType::Bool, 0);
  l.pointer("in", [](V v) { return v.at; });
  scalar("tiny", DType::Int8, 1);
  scalar("odd", DType::UInt16, 2);
  l.numbers("shape", 3, [](V v) -> const Dims& { return v.shape; });
  scalar("wide", DType::Complex128, 3);
  scalar("last", DType::Float32, 4);
  scalar("end", DType::Bool, 5);
  CHECK(without_spaces(l.text()) == without_spaces(kText));

  const Values v{{7, 11},
                 {scalar_bool(true), Scalar::of(DType::Int8, int8{-3}),
                  Scalar::of(DType::UInt16, uint16{65000}), scalar_complex({1.5, -2.5}),
                  Scalar::of(DType::Float32, 0.75F), scalar_bool(true)},
                 &l};
  std::vector<std::byte> bytes(1, std::byte{1});  // of a launch before
  l.pack(v, bytes);
  REQUIRE(bytes.size() == sizeof(Arguments));
  CHECK(l.bytes() == sizeof(Arguments));
  Arguments a;
  std::memcpy(&a, bytes.data(), sizeof a);
  CHECK((a.out == v.at && a.in == v.at));
  CHECK((a.flag && a.end));
  CHECK((a.tiny == -3 && a.odd == 65000));
  CHECK((a.shape[0] == 7 && a.shape[1] == 11 && a.shape[2] == 0));
  CHECK(a.wide == complex128(1.5, -2.5));
  CHECK(a.last == 0.75F);
}
