// Kernels whose threads share memory, by the reference, which follows their stages and layouts, and
// by the interpreter, on one thread.
#include <catch2/catch.hpp>
#include <memory>

#include "codegen/interp/interp.hpp"
#include "reference.hpp"
#include "staged_kernel.hpp"

using namespace plait;

TEST_CASE("stages and layouts do not show") {
  constexpr std::int64_t columns = test::kColumns;
  for (const ir::Layout& layout :
       {ir::Layout{}, ir::Layout{.columns = columns}, ir::Layout{.columns = columns, .beside = 3},
        ir::Layout{.columns = columns, .panel = 2}, ir::Layout{.columns = columns, .swizzle = 2},
        ir::Layout{.columns = columns, .beside = 4, .swizzle = 4}}) {
    const ir::Kernel k = test::reversed(layout);
    verify(k);
    test::Reversed by_reference, by_interpreter;
    const auto args = [](test::Reversed& r, void** buffers) {
      buffers[0] = r.x.data();
      buffers[1] = r.out.data();
      return ir::CallArgs{buffers, nullptr, nullptr};
    };
    void* buffers[2];
    reference::run(k, args(by_reference, buffers), 0, 1);
    CHECK(by_reference.out == by_reference.wanted);
    const ir::CallArgs call = args(by_interpreter, buffers);
    const auto program = interp::prepare(k, detected_tier());
    std::vector<std::byte> scratch(interp::scratch_bytes(*program, call) + 64);
    void* at = scratch.data();
    std::size_t room = scratch.size();
    interp::run(*program, call, 0, 1, std::align(64, room - 64, at, room));
    CHECK(by_interpreter.out == by_interpreter.wanted);
  }
}
