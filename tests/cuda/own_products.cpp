// Matrix products of a device whose cuBLASLt does not start (on a GPU: is not found): a tiled
// kernel computes them.
#include "placed.hpp"

using namespace plait;
using namespace plait::test;

namespace {

// The device is opened by the first test, and the library by the first product.
const bool without = setenv("PLAIT_FAKE_CUBLASLT_BROKEN", "1", 1) == 0 &&
                     (!on_gpu() || setenv("PLAIT_CUBLASLT_LIBRARY", "/nowhere/", 1) == 0);

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

// With so many kernels.
void in_launches(int launches, const std::string& what, const std::function<Array(const Place&)>& f,
                 DType t) {
  gpu();
  const int before = on_gpu() ? 0 : fake().calls("cuLaunchKernel");
  on_device(what, f, t == DType::Float16 ? 0 : tolerance(t));
  INFO(what);
  if (!on_gpu()) CHECK(fake().calls("cuLaunchKernel") == before + launches);
}

}  // namespace

TEST_CASE("every dtype, each operand as it lies or transposed") {
  for (int code = 0; code < kNumPyDTypes; ++code) {
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

TEST_CASE("so is what lies as the product does") {
  const DType t = DType::Float64;
  const Array a = sample(t, {2, 70, 40}, 1, false), b = sample(t, {40, 90}, 2, false),
              c = sample(t, {2, 70, 90}, 3, false);
  multiplied(
      "residual",
      [&](const Place& at) { return apply(OpId::Add, at(c), tracer::matmul(at(a), at(b))); }, t);
}

TEST_CASE("few results of a long k: its chunks are summed by blocks of their own") {
  for (int code = 0; code < kNumPyDTypes; ++code) {
    const auto t = static_cast<DType>(code);
    const Array a = sample(t, {1029, 21}, 1, false), b = sample(t, {1029, 70}, 2, false);
    in_launches(
        t == DType::Float16 ? 1 : 2, std::string(name(t)),
        [&](const Place& at) { return tracer::matmul(tracer::transpose(at(a)), at(b)); }, t);
  }
  struct Shape {
    std::int64_t m, n, k;
    int launches, of_integers;  // the double has 4 multiprocessors, which integers are cut for
  };
  for (const auto [m, n, k, launches, of_integers] :
       {Shape{9, 9, 511, 1, 1}, Shape{9, 9, 512, 2, 2}, Shape{9, 10, 6001, 2, 2},
        Shape{64, 64, 1040, 2, 2}, Shape{65, 130, 513, 2, 1}})
    for (DType t : {DType::Float32, DType::Int16}) {
      const Array a = sample(t, {m, k}, 1, false), b = sample(t, {k, n}, 2, false);
      in_launches(
          is_integer(t) ? of_integers : launches,
          std::to_string(m) + " " + std::to_string(n) + " " + std::to_string(k) + " " +
              std::string(name(t)),
          [&](const Place& at) { return tracer::matmul(at(a), at(b)); }, t);
    }
}

TEST_CASE("chunks of batches, of views and with something to add") {
  using namespace tracer;
  const DType t = DType::Float64;
  const Array stack = sample(t, {3, 1, 12, 1400}, 1, false),
              other = sample(t, {2, 1400, 20}, 2, false), bias = sample(t, {20}, 3, false);
  in_launches(2, "batches", [&](const Place& at) { return matmul(at(stack), at(other)); }, t);
  in_launches(
      2, "steps",
      [&](const Place& at) {
        return matmul(view(at(stack), {All{}, All{}, All{}, step(-2)}),
                      view(at(other), {All{}, step(2)}));
      },
      t);
  in_launches(
      2, "bias",
      [&](const Place& at) { return apply(OpId::Add, matmul(at(stack), at(other)), at(bias)); }, t);
  const Array residual = sample(t, {3, 2, 12, 20}, 4, false);
  in_launches(
      2, "residual",
      [&](const Place& at) { return apply(OpId::Add, matmul(at(stack), at(other)), at(residual)); },
      t);
}

TEST_CASE("no memory for the chunks' sums: nothing is lost", "[double]") {
  gpu();
  const Array a = there(random_f64({20, 3000}, 1)), b = there(random_f64({3000, 20}, 2));
  const Array c = tracer::matmul(a, b);
  engine::device_of(gpu()).trim();
  fake().fail("cuMemAlloc", 1, 2);  // the first is for the result
  fake().fail_again("cuMemAlloc");
  REQUIRE_THROWS_AS(tracer::evaluate(c), std::bad_alloc);
  CHECK(difference(values(here(c)), values(here(tracer::matmul(a, b))), 0) == "");
}

TEST_CASE("explain says when k is cut") {
  const auto text = [](std::int64_t m, std::int64_t k) {
    const Array x = tracer::matmul(there(sample(DType::Int32, {m, k}, 1)),
                                   there(sample(DType::Int32, {k, 64}, 2)));
    const Ref<tracer::Node> node = tracer::read(x);
    tracer::Node* const wanted[] = {node.get()};
    return engine::explain(wanted);
  };
  const char* cut = "chunks of k a second one adds in their order (65536 bytes";
  CHECK_THAT(text(64, 1024), Catch::Contains(cut));
  CHECK_THAT(text(64, 500), !Catch::Contains("chunks of k"));
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
