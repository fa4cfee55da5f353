// Matrix products of a device through cuBLASLt: its double checks what it is asked for.
#include "engine/products/gemm.hpp"
#include "placed.hpp"

using namespace plait;
using namespace plait::test;

namespace {

class Lt {
 public:
  int products() const { return call<int()>("fake_cublaslt_products")(); }
  int biased() const { return call<int()>("fake_cublaslt_biased")(); }
  int summed() const { return call<int()>("fake_cublaslt_summed")(); }
  int heuristics() const { return call<int()>("fake_cublaslt_heuristics")(); }
  void refuse(int times) const { call<void(int)>("fake_cublaslt_refuse")(times); }
  void fail(int status) const { call<void(int)>("fake_cublaslt_fail")(status); }

 private:
  void* library_ = dlopen(PLAIT_FAKE_CUBLASLT, RTLD_NOW);
  template <class F>
  F* call(const char* name) const {
    return reinterpret_cast<F*>(dlsym(library_, name));
  }
};

constexpr DType kMultiplied[] = {DType::Float16, DType::Float32, DType::Float64, DType::Complex64,
                                 DType::Complex128};

double tolerance(DType t) {
  return t == DType::Float16 ? 2e-3 : t == DType::Float32 || t == DType::Complex64 ? 1e-5 : 1e-12;
}

// Through the library, without a copy or a host in between.
void multiplied(const std::string& what, const std::function<Array(const Place&)>& f, DType t,
                int calls = 1) {
  gpu();
  const Lt lt;
  const int before = lt.products();
  on_device(what, f, tolerance(t));
  if (!on_gpu()) CHECK(lt.products() == before + calls);
}

}  // namespace

TEST_CASE("every dtype, each operand as it lies or transposed") {
  for (DType t : kMultiplied)
    each_transposed(t, 30, 20, 50,
                    [&](const auto& what, const auto& f) { multiplied(what, f, t); });
}

TEST_CASE("views: leading dimensions, offsets, batches in any order") {
  using namespace tracer;
  const Array big = sample(DType::Float32, {40, 60}, 1, false);
  const Array stack = sample(DType::Float32, {4, 3, 12, 20}, 2, false);
  const Array b = sample(DType::Float32, {20, 10}, 3, false);
  const DType t = DType::Float32;
  const Index rows{Slice{1, 31, {}}}, columns{Slice{5, 25, {}}};
  multiplied(
      "part", [&](const Place& at) { return matmul(view(at(big), {rows, columns}), at(b)); }, t);
  multiplied(
      "every second row",
      [&](const Place& at) { return matmul(view(at(big), {step(2), columns}), at(b)); }, t);
  multiplied(
      "one matrix for a batch", [&](const Place& at) { return matmul(at(stack), at(b)); }, t);
  multiplied(
      "batch on the right",
      [&](const Place& at) {
        return matmul(at(b), view(at(stack), {All{}, All{}, Slice{0, 10, {}}}));
      },
      t, 1);
  multiplied(
      "batches with gaps: a call for each of the outer axis",
      [&](const Place& at) { return matmul(view(at(stack), {All{}, step(2)}), at(b)); }, t, 4);
  multiplied(
      "batches broadcast both ways",
      [&](const Place& at) {
        const Array x = at(stack);
        return matmul(view(x, {All{}, Slice{0, 1, {}}}),
                      swapaxes(view(x, {Slice{1, 2, {}}}), -1, -2));
      },
      t, 4);
  multiplied(
      "a vector",
      [&](const Place& at) {
        const Array x = at(big);
        return matmul(view(x, {All{}, columns}),
                      view(x, {tracer::Index{std::int64_t{3}}, columns}));
      },
      t);
  multiplied(
      "an outer product of rows",
      [&](const Place& at) {
        const Array x = at(big);
        return matmul(transpose(view(x, {Slice{0, 9, {}}})), view(x, {Slice{3, 12, {}}}));
      },
      t);
}

TEST_CASE("what stands around a product is fused around it") {
  const Array a = random_f64({30, 200}, 1), b = random_f64({200, 50}, 2),
              bias = random_f64({50}, 3);
  const auto chain = [&](const Place& at) {
    const Array p = tracer::matmul(at(a), apply(OpId::Add, at(b), weak(1)));
    const Array out = apply(OpId::Maximum, apply(OpId::Add, p, at(bias)), weak(0));
    return test::reduce(ReduceKind::Sum, out, 1);
  };
  multiplied("chain", chain, DType::Float64);
  CHECK(regions_there(chain) == 3);
}

namespace {
void check_bias(DType t) {
  const Array a = sample(t, {3, 30, 40}, 1, false), b = sample(t, {40, 50}, 2, false);
  const Array bias = sample(t, {50}, 3, false), wide = sample(t, {1, 100}, 4, false);
  using tracer::matmul;
  const auto one_call = [&](const std::string& what, const std::function<Array(const Place&)>& f,
                            int regions = 1, int biased = 1) {
    INFO(what);
    CHECK(regions_there(f) == regions);
    const Lt lt;
    const int before = lt.biased();
    multiplied(what, f, t);
    if (!on_gpu()) CHECK(lt.biased() == before + biased);
  };
  const auto add = [](const Array& x, const Array& y) { return apply(OpId::Add, x, y); };
  const auto first = [](const Array& x) { return view(x, {tracer::Index{std::int64_t{0}}}); };
  one_call("a @ b + bias", [&](const Place& at) { return add(matmul(at(a), at(b)), at(bias)); });
  one_call("bias + a @ b",
           [&](const Place& at) { return add(at(bias), matmul(first(at(a)), at(b))); });
  one_call(
      "every second element of a row",
      [&](const Place& at) {
        return add(matmul(first(at(a)), at(b)), view(at(wide), {tracer::All{}, step(2)}));
      },
      1);
  one_call(
      "a computed bias, and an activation behind it",
      [&](const Place& at) {
        const Array x = add(matmul(at(a), at(b)), apply(OpId::Exp, at(bias)));
        return apply(OpId::Maximum, x, weak(0));
      },
      3);
  // A column, a matrix, another dtype; a product that somebody else reads.
  const Array column = sample(t, {30, 1}, 5, false), matrix = sample(t, {30, 50}, 6, false);
  one_call("column", [&](const Place& at) { return add(matmul(at(a), at(b)), at(column)); }, 2, 0);
  one_call("matrix", [&](const Place& at) { return add(matmul(at(a), at(b)), at(matrix)); }, 2, 0);
  one_call(
      "read twice",
      [&](const Place& at) {
        const Array p = matmul(at(a), at(b));
        return apply(OpId::Multiply, add(p, at(bias)), p);
      },
      2, 0);
  const Array held = matmul(there(a), there(b));
  tracer::evaluate(add(held, there(bias)));
  CHECK(engine::last_plan().regions == 2);
}
}  // namespace

TEST_CASE("a bias is added by the product's own call") {
  check_bias(DType::Float32);
  check_bias(DType::Float64);
}

TEST_CASE("float16 is rounded before the bias is added, complex products have no epilogue") {
  for (DType t : {DType::Float16, DType::Complex64, DType::Complex128})
    for (const Dims& shape : {Dims{50}, Dims{30, 50}}) {
      const Array a = sample(t, {30, 40}, 1, false), b = sample(t, {40, 50}, 2, false),
                  addend = sample(t, shape, 3, false);
      const auto f = [&](const Place& at) {
        return apply(OpId::Add, tracer::matmul(at(a), at(b)), at(addend));
      };
      multiplied(std::string(name(t)), f, t);
      CHECK(regions_there(f) == 2);
    }
}

namespace {
void check_residual(DType t) {
  using namespace tracer;
  const Array a = sample(t, {4, 3, 30, 40}, 1, false), b = sample(t, {40, 50}, 2, false),
              c = sample(t, {4, 3, 30, 50}, 3, false), square = sample(t, {50, 50}, 4, false);
  const auto add = [](const Array& x, const Array& y) { return apply(OpId::Add, x, y); };
  const auto first = [](const Array& x) { return view(x, {Index{std::int64_t{0}}}); };
  struct Expected {
    int regions, calls, sums;
  };
  const auto summed = [&](const std::string& what, Expected e,
                          const std::function<Array(const Place&)>& f) {
    INFO(name(t) << ": " << what);
    CHECK(regions_there(f) == e.regions);
    const Lt lt;
    const int before = lt.summed();
    multiplied(what, f, t, e.calls);
    if (!on_gpu()) CHECK(lt.summed() == before + e.sums);
  };
  summed("a @ b + c", {1, 1, 1}, [&](const Place& at) { return add(matmul(at(a), at(b)), at(c)); });
  summed("c + a @ b", {1, 1, 1}, [&](const Place& at) { return add(at(c), matmul(at(a), at(b))); });
  summed("views of c: a part, which is aligned to less, and another shape", {1, 1, 1},
         [&](const Place& at) {
           const Array rows = view(reshape(at(c), {360, 50}), {Slice{1, 31, {}}});
           return add(matmul(first(first(at(a))), at(b)), rows);
         });
  summed("batches with gaps: a call, and a part of c, for each of the outer axis", {1, 4, 4},
         [&](const Place& at) {
           const Array two =
               reshape(view(reshape(at(c), {12, 30, 50}), {Slice{0, 8, {}}}), {4, 2, 30, 50});
           return add(matmul(view(at(a), {All{}, step(2)}), at(b)), two);
         });
  summed("two products", {2, 2, 1},
         [&](const Place& at) { return add(matmul(at(c), at(square)), matmul(at(a), at(b))); });
  summed("layers, each of which is added to what it reads", {2, 2, 2}, [&](const Place& at) {
    const Array x = add(at(c), matmul(at(c), at(square)));
    return add(x, matmul(x, at(square)));
  });
  summed("what stands behind it is a kernel as ever", {2, 1, 1}, [&](const Place& at) {
    return apply(OpId::Maximum, add(matmul(at(a), at(b)), at(c)), weak(0));
  });
  // What is computed anyway, lies otherwise, is broadcast; a product that somebody else reads.
  summed("computed", {2, 1, 0},
         [&](const Place& at) { return add(matmul(at(a), at(b)), apply(OpId::Negative, at(c))); });
  summed("transposed", {2, 1, 0}, [&](const Place& at) {
    const Array s = at(square);
    return add(matmul(s, s), transpose(s));
  });
  summed("one for all batches", {2, 1, 0},
         [&](const Place& at) { return add(matmul(at(a), at(b)), first(first(at(c)))); });
  summed("a column", {2, 1, 0}, [&](const Place& at) {
    const Array column = view(at(square), {All{}, Slice{0, 1, {}}});
    return add(matmul(at(square), column), column);
  });
  summed("read twice", {2, 1, 0}, [&](const Place& at) {
    const Array p = matmul(at(a), at(b));
    return apply(OpId::Multiply, add(p, at(c)), p);
  });
}
}  // namespace

TEST_CASE("what lies in memory as the product does is added by its own call") {
  check_residual(DType::Float32);
  check_residual(DType::Float64);
}

TEST_CASE("what is added is added to the sum: it is not where the sum begins") {
  for (DType t : {DType::Float32, DType::Float64})
    for (const Dims& shape : {Dims{32}, Dims{32, 32}}) {
      const auto filled = [&](const Dims& s, double v) {
        const Array a = tracer::full(s, cast(Scalar::of(DType::Float64, v), t));
        tracer::evaluate(a);
        return a;
      };
      // Each term is lost beside the addend, their sum of 512 is not.
      const Array a = filled({32, 4096}, 0.5), b = filled({4096, 32}, 0.25),
                  addend = filled(shape, t == DType::Float32 ? 0x1p24 : 0x1p53);
      gpu();
      on_device(std::string(name(t)), [&](const Place& at) {
        return apply(OpId::Add, tracer::matmul(at(a), at(b)), at(addend));
      });
    }
}

TEST_CASE("y += a @ b reads the old y, and so does what was asked for before") {
  const DType t = DType::Float64;
  const Array a = sample(t, {30, 40}, 1, false), b = sample(t, {40, 50}, 2, false),
              c = sample(t, {30, 50}, 3, false);
  const auto f = [&](const Place& at) {
    const Array y = tracer::copy(at(c), 'C');
    tracer::evaluate(y);
    const Array product = tracer::matmul(at(a), at(b));
    const Array before = apply(OpId::Add, y, product);
    tracer::assign(y, apply(OpId::Add, y, tracer::matmul(at(a), at(b))));
    tracer::assign(view(y, {tracer::Index{std::int64_t{3}}}), weak(7));
    return apply(OpId::Subtract, apply(OpId::Multiply, before, weak(3)), y);
  };
  multiplied("in place", f, t, 2);
}

TEST_CASE("where the library takes no bias, a kernel adds it to the product", "[double]") {
  gpu();
  const DType t = DType::Float32;
  const Array a = sample(t, {2, 31, 40}, 1, false), b = sample(t, {40, 53}, 2, false),
              bias = sample(t, {53}, 3, false);
  Lt().refuse(1);
  const int before = Lt().biased();
  multiplied(
      "refused",
      [&](const Place& at) { return apply(OpId::Add, tracer::matmul(at(a), at(b)), at(bias)); }, t);
  CHECK(Lt().biased() == before);
}

TEST_CASE("where the library refuses, the tiled kernel adds c to its product", "[double]") {
  const DType t = DType::Float64;
  const Array a = sample(t, {31, 47}, 1, false), b = sample(t, {47, 53}, 2, false),
              c = sample(t, {31, 53}, 3, false);
  gpu();
  Lt().refuse(1);
  const int before = fake().calls("cuLaunchKernel");
  multiplied(
      "refused",
      [&](const Place& at) { return apply(OpId::Add, tracer::matmul(at(a), at(b)), at(c)); }, t, 0);
  CHECK(fake().calls("cuLaunchKernel") == before + 1);
}

TEST_CASE("explain says what the product's call adds", "[double]") {
  const DType t = DType::Float32;
  for (const auto& [shape, text] :
       {std::pair(Dims{50}, "float32(50,)"), std::pair(Dims{30, 50}, "float32(30, 50)")}) {
    const Array x = apply(
        OpId::Add,
        tracer::matmul(there(sample(t, {30, 40}, 1, false)), there(sample(t, {40, 50}, 2, false))),
        there(sample(t, shape, 3, false)));
    const Ref<tracer::Node> node = tracer::read(x);
    tracer::Node* const wanted[] = {node.get()};
    CHECK_THAT(engine::explain(wanted),
               Catch::Contains("1 region ") && Catch::Contains("cuBLASLt") &&
                   Catch::Contains("one matrix product, to which the same call adds " +
                                   std::string(text)));
    CHECK_THAT(engine::explain(wanted, {.target = "cpu"}), !Catch::Contains("cuBLASLt"));
  }
}

TEST_CASE("matrices without a contiguous axis are copied by a kernel of the device") {
  const Array a = random_f64({60, 80}, 1), b = random_f64({40, 25}, 2);
  multiplied(
      "steps along both axes",
      [&](const Place& at) { return tracer::matmul(view(at(a), {step(2), step(-2)}), at(b)); },
      DType::Float64);
}

TEST_CASE("integers, bools and short sums: nothing is asked of the library") {
  for (DType t : {DType::Bool, DType::Int8, DType::Int64})
    for (std::int64_t columns : {7, 70}) {
      const Array a = sample(t, {90, 20}, 1), b = sample(t, {20, columns}, 2);
      multiplied(
          std::string(name(t)), [&](const Place& at) { return tracer::matmul(at(a), at(b)); }, t,
          0);
    }
  const Array points = random_f64({300, 2}, 1), means = random_f64({2, 5}, 2);
  multiplied(
      "k of 2", [&](const Place& at) { return tracer::matmul(at(points), at(means)); },
      DType::Float64, 0);
}

TEST_CASE("a product of known extents is looked up once", "[double]") {
  const Lt lt;
  const Array x = there(random_f64({64, 64}, 1));
  tracer::evaluate(tracer::matmul(x, x));
  const int asked = lt.heuristics(), allocations = fake().calls("cuMemAlloc");
  for (int i = 0; i < 5; ++i) tracer::evaluate(tracer::matmul(x, x));
  CHECK(lt.heuristics() == asked);
  CHECK(fake().calls("cuMemAlloc") == allocations);
}

TEST_CASE("what the library refuses is computed by a kernel of the device", "[double]") {
  gpu();
  const Array a = random_f64({3, 33, 47}, 1), b = random_f64({47, 21}, 2);
  Lt().refuse(1);
  on_device("refused", [&](const Place& at) { return tracer::matmul(at(a), at(b)); }, 1e-12);
  Lt().refuse(1);
  on_device(
      "refused, transposed",
      [&](const Place& at) {
        return tracer::matmul(tracer::swapaxes(at(a), 1, 2),
                              view(at(a), {tracer::All{}, step(-1)}));
      },
      1e-12);
  CHECK(Lt().heuristics() > 0);
}

TEST_CASE("a product that fails names where it was recorded", "[double]") {
  gpu();
  const Array x = there(random_f64({16, 16}, 1));
  Lt().fail(13);
  REQUIRE_THROWS_WITH(
      tracer::evaluate(tracer::matmul(x, x)),
      Catch::Contains("cuBLASLt cannot multiply: status 13") && Catch::Contains("matmul"));
  CHECK(values(here(tracer::matmul(x, x))).size() == 256);
}

TEST_CASE("layouts that a BLAS takes") {
  using engine::blas_layout;
  CHECK(blas_layout(8, 80, 8, 5, 10)->ld == 10);
  CHECK(!blas_layout(8, 80, 8, 5, 10)->transposed);
  CHECK(blas_layout(8, 8, 40, 5, 10)->transposed);
  CHECK(blas_layout(8, 8, 48, 5, 10)->ld == 6);
  CHECK(!blas_layout(8, 160, 16, 5, 10));
  CHECK(!blas_layout(8, -80, 8, 5, 10));
  CHECK(!blas_layout(8, 0, 8, 5, 10));
  CHECK(!blas_layout(8, 84, 8, 5, 10));
  CHECK(blas_layout(8, 0, 8, 1, 10)->ld == 10);
}
