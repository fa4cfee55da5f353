// Matrix products of a device whose cuBLASLt does not start (on a GPU: is not found): a tiled
// kernel computes them.
#include "placed.hpp"

using namespace plait;
using namespace plait::test;

namespace {

// The device is opened by the first test, and the library by the first product.
const bool without = setenv("PLAIT_FAKE_CUBLASLT_BROKEN", "1", 1) == 0 &&
                     (!on_gpu() || setenv("PLAIT_CUBLASLT_LIBRARY", "/nowhere/", 1) == 0);

constexpr DType kFloats[] = {DType::Float16, DType::Float32, DType::Float64, DType::Complex64,
                             DType::Complex128};

// float16 is summed as NumPy sums it, to the bit; the host's others are a BLAS's.
double tolerance(DType t) {
  return t == DType::Float32 || t == DType::Complex64 ? 1e-5
         : is_float(t) || is_complex(t)               ? 1e-12
                                                      : 0;
}

void multiplied(const std::string& what, const std::function<Array(const Place&)>& f, DType t) {
  on_device(what, f, t == DType::Float16 ? 0 : tolerance(t));
  CHECK(regions_there(f) == 1);
}

}  // namespace

TEST_CASE("every dtype, each operand as it lies or transposed") {
  for (int code = 0; code < kDTypeCount; ++code) {
    const auto t = static_cast<DType>(code);
    each_transposed(t, 70, 37, 131,
                    [&](const auto& what, const auto& f) { multiplied(what, f, t); });
  }
}

TEST_CASE("edges: fewer and more than a square, and exactly one") {
  const DType t = DType::Float32;
  for (std::int64_t m : {9, 64, 65})
    for (std::int64_t n : {10, 64, 129})
      for (std::int64_t k : {9, 16, 33}) {
        const Array a = sample(t, {m, k}, 1, false), b = sample(t, {k, n}, 2, false);
        multiplied(
            std::to_string(m) + " " + std::to_string(n) + " " + std::to_string(k),
            [&](const Place& at) { return tracer::matmul(at(a), at(b)); }, t);
      }
}

TEST_CASE("views with steps, backwards, broadcast and in batches are read as they lie") {
  using namespace tracer;
  const DType t = DType::Float64;
  const Array big = sample(t, {60, 80}, 1, false), stack = sample(t, {4, 3, 12, 20}, 2, false),
              b = sample(t, {20, 10}, 3, false), row = sample(t, {1, 40}, 4, false);
  multiplied(
      "steps along both axes",
      [&](const Place& at) {
        return matmul(view(at(big), {step(2), step(-2)}),
                      view(at(big), {Slice{{}, 19, -1}, step(3)}));
      },
      t);
  multiplied(
      "one row for all",
      [&](const Place& at) {
        return matmul(broadcast_to(at(row), {30, 40}), view(at(big), {Slice{0, 40, {}}}));
      },
      t);
  multiplied(
      "one matrix for a batch", [&](const Place& at) { return matmul(at(stack), at(b)); }, t);
  multiplied(
      "batches broadcast both ways",
      [&](const Place& at) {
        const Array x = at(stack);
        return matmul(view(x, {All{}, Slice{0, 1, {}}}),
                      swapaxes(view(x, {Slice{1, 2, {}}}), -1, -2));
      },
      t);
}

TEST_CASE("NaN and infinity stay where they are: nothing beyond an edge is multiplied") {
  const double inf = std::numeric_limits<double>::infinity();
  Array a = random_f64({20, 18}, 1), b = random_f64({18, 12}, 2);
  tracer::assign(view(a, {tracer::Index{std::int64_t{3}}, tracer::Index{std::int64_t{17}}}),
                 weak(inf));
  tracer::assign(view(b, {tracer::Index{std::int64_t{0}}, tracer::Index{std::int64_t{5}}}),
                 weak(std::nan("")));
  multiplied(
      "special", [&](const Place& at) { return tracer::matmul(at(a), at(b)); }, DType::Float64);
}

TEST_CASE("a bias is added by the kernel, in the place of a second one") {
  const DType t = DType::Float32;
  const Array a = sample(t, {2, 30, 40}, 1, false), b = sample(t, {40, 90}, 2, false),
              bias = sample(t, {90}, 3, false);
  multiplied(
      "bias",
      [&](const Place& at) { return apply(OpId::Add, tracer::matmul(at(a), at(b)), at(bias)); }, t);
}

TEST_CASE("narrow products are loops, which take in what stands around them") {
  gpu();
  const Array a = random_f64({300, 40}, 1), v = random_f64({40}, 2);
  const auto f = [&](const Place& at) {
    return apply(OpId::Add, tracer::matmul(at(a), at(v)), weak(1));
  };
  on_device("vector", f, 1e-12);
  CHECK(regions_there(f) == 1);
}
