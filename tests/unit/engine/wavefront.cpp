// Which chunk of a step may follow which of another.
#include "engine/plans/wavefront.hpp"

#include <catch2/catch.hpp>
#include <cstring>

#include "core/machine.hpp"
#include "ir/builder.hpp"

using namespace plait;
using namespace plait::engine;

namespace {

constexpr std::int64_t kRows = 400, kColumns = 1000, kPitch = kColumns * 8;

// out[i] = in[i + up] + in[i + down], by rows; with `period` the rows behind the last are the
// first.
ir::Kernel neighbours(std::int64_t up, std::int64_t down, bool period = false) {
  ir::Builder b("neighbours");
  const auto in = b.buffer(DType::Float64, false), out = b.buffer(DType::Float64, true);
  const auto row = [&](std::int64_t by) {
    const ir::Val at =
        b.apply(OpId::Add, DType::Int64, {b.grid_var(), b.constant_index(by + kRows)});
    return period ? b.apply(OpId::Remainder, DType::Int64, {at, b.constant_index(kRows)})
                  : b.apply(OpId::Subtract, DType::Int64, {at, b.constant_index(kRows)});
  };
  const ir::Val first = row(up), second = row(down);
  const auto loop = b.open_for(ir::kNone, b.constant_index(kColumns));
  const auto load = [&](ir::Val r) {
    return b.load(in, {{}, {{r, {kPitch}}, {b.var(loop), {8}}}});
  };
  const ir::Val sum = b.apply(OpId::Add, DType::Float64, {load(first), load(second)});
  b.store(out, {{}, {{b.grid_var(), {kPitch}}, {b.var(loop), {8}}}}, sum);
  b.close();
  return b.finish();
}

// Steps that go to and fro between two arrays, with rows in front of the first and behind the last.
struct Chain {
  std::vector<Ref<Buffer>> arrays;
  std::shared_ptr<CompiledKernel> kernel;
  std::vector<Stage> stages;

  Chain(const ir::Kernel& k, std::size_t steps) : kernel(compiled(k)) {
    for (int a = 0; a < 2; ++a) {
      arrays.push_back(allocate(static_cast<std::size_t>((kRows + 16) * kPitch)));
      std::memset(arrays.back()->data, 0, arrays.back()->bytes);
    }
    for (std::int64_t i = 0; i < kRows * kColumns; ++i) at(0)[i] = static_cast<double>(i % 97);
    for (std::size_t s = 0; s < steps; ++s) {
      Stage& stage = stages.emplace_back();
      stage.kernel = kernel.get();
      stage.buffers = {at(s % 2), at((s + 1) % 2)};
      stage.memory = {arrays[s % 2].get(), arrays[(s + 1) % 2].get()};
      stage.extent = kRows;
      stage.bytes = 2 * kRows * kPitch;
      stage.predicted = 1e-3;
    }
  }
  double* at(std::size_t a) { return reinterpret_cast<double*>(arrays[a]->data + 8 * kPitch); }
  std::vector<double> result() {
    const double* r = at(stages.size() % 2);
    return {r, r + kRows * kColumns};
  }
};

std::vector<double> one_after_the_other(const ir::Kernel& k, std::size_t steps) {
  Chain c(k, steps);
  for (const Stage& s : c.stages)
    c.kernel->run({s.buffers.data(), s.params, s.scalars}, s.extent, s.predicted, {});
  return c.result();
}

}  // namespace

TEST_CASE("a step follows the one before it at the distance that its loads look ahead") {
  Chain c(neighbours(-1, 1), 20);
  const Schedule s(c.stages, 2);
  CHECK(s.overlaps());
  const std::int64_t chunks = c.stages[0].chunks();
  CHECK(s.rounds() < 2 * chunks);
  for (std::int64_t r = 1; r <= s.rounds(); ++r)
    for (std::size_t i = 1; i < c.stages.size(); ++i) {
      // The row behind the last of a chunk is the next chunk's.
      const std::int64_t before = s.done(r, i - 1), here = s.done(r, i);
      CHECK((before == chunks || here < before || here == 0));
    }
  for (std::size_t i = 0; i < c.stages.size(); ++i) CHECK(s.done(s.rounds(), i) == chunks);
  CHECK(s.bands().front() == 0);
  CHECK(s.bands().back() == c.stages.size());
  CHECK(s.bands().size() >= 3);  // one for each thread
}

TEST_CASE("with periodic boundaries steps begin one chunk further on each") {
  Chain c(neighbours(-1, 1, true), 12);
  const Schedule s(c.stages, 1);
  CHECK(s.overlaps());
  CHECK(c.stages[1].first > 0);
  CHECK(c.stages[5].first > c.stages[1].first);
}

TEST_CASE("steps that read from the other end run one after the other") {
  ir::Builder b("flip");
  const auto in = b.buffer(DType::Float64, false), out = b.buffer(DType::Float64, true);
  const auto loop = b.open_for(ir::kNone, b.constant_index(kColumns));
  b.store(out, {{}, {{b.grid_var(), {kPitch}}, {b.var(loop), {8}}}},
          b.load(in, {{(kRows - 1) * kPitch}, {{b.grid_var(), {-kPitch}}, {b.var(loop), {8}}}}));
  b.close();
  Chain flipped(b.finish(), 8);
  CHECK_FALSE(Schedule(flipped.stages, 2).overlaps());
}

TEST_CASE("steps that run together give what they give one after the other") {
  for (const bool period : {false, true})
    for (const auto& [up, down] : {std::pair{-1, 1}, {0, 2}, {-8, 8}, {-3, 0}}) {
      const ir::Kernel k = neighbours(up, down, period);
      Chain c(k, 16);
      std::shared_ptr<void> kept;
      const std::vector<unsigned> flags = run_stages(c.stages, kept, nullptr);
      CHECK(flags == std::vector<unsigned>(16));
      CHECK(c.result() == one_after_the_other(k, 16));
      // Elsewhere in memory the schedule holds, too.
      Chain other(k, 16);
      std::shared_ptr<void> same = kept;
      run_stages(other.stages, same, nullptr);
      CHECK(same == kept);
      CHECK(other.result() == c.result());
    }
}
