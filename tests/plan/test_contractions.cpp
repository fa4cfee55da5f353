// Products of several axes: nothing of their operands is unfolded, and a sum of them over the
// places of a filter is one.
#include <catch2/catch.hpp>
#include <sstream>

#include "arrays.hpp"
#include "fusion/plan.hpp"
#include "numpy_compat/einsum.hpp"
#include "numpy_compat/functions.hpp"
#include "tracer/contraction.hpp"

using namespace plait;
using namespace plait::test;
using tracer::All;
using tracer::Slice;

namespace {

Array einsum(std::string_view subscripts, const Array& a, const Array& b) {
  const Array both[] = {a, b};
  const auto made = numpy::einsum(subscripts, both, numpy::EinsumLike::Loop);
  REQUIRE(made);
  return made->array;
}

void check_near(const Both& r) {
  REQUIRE(r.fused.size() == r.direct.size());
  for (std::size_t at = 0; at < r.fused.size(); at += sizeof(float)) {
    float a, b;
    std::memcpy(&a, &r.fused[at], sizeof a);
    std::memcpy(&b, &r.direct[at], sizeof b);
    if (!(std::abs(a - b) <= 1e-4F * (1 + std::abs(b)))) {
      INFO(r.text << at / sizeof a << ": " << a << " and not " << b);
      FAIL();
    }
  }
}

// Whether explain's text shows loops inside a loop over lanes.
bool nests_in_lanes(const std::string& text) {
  std::istringstream lines(text);
  std::size_t lanes = std::string::npos;  // how far a loop over lanes is indented
  for (std::string line; std::getline(lines, line);) {
    const std::size_t indent = line.find_first_not_of(' ');
    const bool loop = indent != std::string::npos && line.compare(indent, 4, "loop") == 0;
    if (loop && indent > lanes) return true;
    lanes = loop && line.find(", vector") != std::string::npos ? indent : std::string::npos;
  }
  return false;
}

// x[:, :, i : i + h, j : j + w]
Array shifted(const Array& x, std::int64_t i, std::int64_t j, std::int64_t h, std::int64_t w) {
  return view(x, {All{}, All{}, Slice{i, i + h, std::nullopt}, Slice{j, j + w, std::nullopt}});
}

}  // namespace

TEST_CASE("a convolution by windows reads them where they overlap") {
  const Array x = random_f32({2, 8, 20, 22}, 1), w = random_f32({16, 8, 3, 3}, 2);
  const Array windows =
      tracer::as_strided(x, x.dtype, {2, 8, 18, 20, 3, 3}, {14080, 1760, 88, 4, 88, 4}, 0);
  const Both r = both([&] { return einsum("nchwij,ocij->nohw", windows, w); });
  INFO(r.text);
  CHECK(r.plan.regions == 1);
  CHECK(r.fused == r.direct);
}

TEST_CASE("a sum over shifted slices is one product") {
  const Array x = random_f32({2, 16, 20, 22}, 1), w = random_f32({32, 16, 3, 3}, 2);
  const auto sum = [&](std::int64_t rows, std::int64_t columns) {
    Array y = einsum("nchw,oc->nohw", shifted(x, 0, 0, 18, 20), view(w, {All{}, All{}, 0, 0}));
    for (std::int64_t t = 1; t < rows * columns; ++t) {
      const std::int64_t i = t / columns, j = t % columns;
      y = apply(OpId::Add, y,
                einsum("nchw,oc->nohw", shifted(x, i, j, 18, 20), view(w, {All{}, All{}, i, j})));
    }
    return y;
  };
  for (const auto& [rows, columns] : {std::tuple{3, 3}, {1, 3}, {3, 1}}) {
    const Both r = both([&] { return sum(rows, columns); });
    INFO(r.text);
    CHECK(r.plan.regions == 1);
    check_near(r);
  }
  // What follows it reads the one product, or is computed in its blocks, if there is less to pack
  // for them than to store and load.
  const Array thin = random_f32({2, 4, 40, 42}, 1), few = random_f32({32, 4, 3, 3}, 2);
  const Both r = both([&] { return apply(OpId::Maximum, sum(3, 3), weak(0)); });
  INFO(r.text);
  CHECK(r.plan.regions == 2);
  check_near(r);
  const auto part = [&](std::int64_t t) {
    return einsum("nchw,oc->nohw", shifted(thin, t / 3, t % 3, 38, 40),
                  view(few, {All{}, All{}, t / 3, t % 3}));
  };
  const Array bias = random_f32({32, 1, 1}, 3);
  const auto from = [&](const Array& start, std::int64_t first) {
    Array y = start;
    for (std::int64_t t = first; t < 9; ++t) y = apply(OpId::Add, y, part(t));
    return apply(OpId::Maximum, y, weak(0));
  };
  for (const bool biased : {false, true}) {
    const Both one = both([&] { return biased ? from(bias, 0) : from(part(0), 1); });
    INFO(one.text);
    CHECK(one.plan.regions == 1);
    check_near(one);
  }
}

TEST_CASE("planning a sum of products leaves what was recorded as it is") {
  const Array x = random_f32({2, 16, 20, 22}, 1), w = random_f32({32, 16, 3, 3}, 2);
  Array y = random_f32({32, 1, 1}, 3);
  for (std::int64_t t = 0; t < 9; ++t)
    y = apply(OpId::Add, y,
              einsum("nchw,oc->nohw", shifted(x, t / 3, t % 3, 18, 20),
                     view(w, {All{}, All{}, t / 3, t % 3})));
  const Ref<tracer::Node> read = tracer::read(y);
  tracer::Node* const top = read.get();
  const tracer::Node* const last = top->inputs[1].get();
  {
    tracer::Node* const wanted[] = {top};
    const fusion::Graph g(wanted);
    CHECK(g.instead.size() == 1);
    CHECK(top->kind == tracer::NodeKind::Elementwise);
    CHECK(top->inputs[1].get() == last);
    fusion::make_plan(g);
  }
  CHECK(top->inputs[1].get() == last);
}

TEST_CASE("what stands after a convolution is computed in its blocks") {
  const Array w = random_f32({40, 4, 3, 3}, 2), b = random_f32({40, 1, 1}, 3);
  const auto convolved = [&](const Array& x, numpy::EinsumLike like) {
    const Dims s = x.strides;
    const Array windows =
        tracer::as_strided(x, x.dtype, {x.shape[0], 4, x.shape[2] - 2, x.shape[3] - 2, 3, 3},
                           {s[0], s[1], s[2], s[3], s[2], s[3]}, 0);
    const Array both[] = {windows, w};
    return numpy::einsum("nchwij,ocij->nohw", both, like)->array;
  };
  // Axes that are short, that a block has whole, and that are cut.
  for (const Dims& shape : {Dims{2, 4, 20, 22}, {1, 4, 5, 700}, {40, 4, 7, 8}, {2, 4, 700, 5}})
    for (const auto like : {numpy::EinsumLike::Loop, numpy::EinsumLike::Matmul}) {
      const Array x = random_f32(shape, 1);
      const Array beside = random_f32({shape[0], 40, shape[2] - 2, shape[3] - 2}, 4);
      const Both r = both([&] {
        const Array y = apply(OpId::Add, convolved(x, like), b);
        return apply(OpId::Add, apply(OpId::Maximum, y, weak(0)), beside);
      });
      INFO(r.text);
      CHECK(r.plan.regions == 1);
      CHECK(r.fused == r.direct);
    }
}

TEST_CASE("padding of a convolution is a matter of its packing") {
  const Array w = random_f32({40, 4, 3, 3}, 2);
  const auto padded = [](const Array& x, const Dims& before, const Dims& after, double value) {
    Dims shape = x.shape;
    std::vector<tracer::Index> box;
    for (int d = 0; d < shape.size(); ++d) {
      shape[d] += before[d] + after[d];
      box.push_back(Slice{before[d], before[d] + x.shape[d], std::nullopt});
    }
    Array p = tracer::full(shape, cast(scalar_float(value), x.dtype));
    tracer::assign(view(p, box), x);
    return p;
  };
  struct Windows {
    std::int64_t step, dilation;
  };
  const auto convolved = [&](const Array& p, Windows by) {
    const Dims s = p.strides;
    const auto count = [&](int d) { return (p.shape[d] - 2 * by.dilation - 1) / by.step + 1; };
    const Array windows = tracer::as_strided(
        p, p.dtype, {p.shape[0], 4, count(2), count(3), 3, 3},
        {s[0], s[1], s[2] * by.step, s[3] * by.step, s[2] * by.dilation, s[3] * by.dilation}, 0);
    return einsum("nchwij,ocij->nohw", windows, w);
  };
  // Axes that are short, that a block has whole, and that are cut; one side, both, more than there
  // is of a block, and in front of all windows.
  for (const Dims& shape : {Dims{2, 4, 60, 62}, {1, 4, 5, 1700}, {40, 4, 17, 18}})
    for (const auto& [before, after] : {std::pair(Dims{0, 0, 1, 1}, Dims{0, 0, 1, 1}),
                                        {Dims{0, 0, 2, 0}, Dims{0, 0, 1, 3}},
                                        {Dims{0, 0, 0, 40}, Dims{0, 0, 9, 0}},
                                        {Dims{1, 0, 1, 1}, Dims{2, 0, 1, 1}}})
      for (const Windows by : {Windows{1, 1}, {2, 1}, {1, 2}}) {
        const Array x = random_f32(shape, 1);
        const Both r = both([&] {
          return apply(OpId::Maximum, convolved(padded(x, before, after, 1.5), by), weak(0));
        });
        INFO(r.text);
        CHECK(r.plan.regions == 1);
        CHECK(r.plan.bytes_moved == r.plan.bytes_least);
        CHECK(r.fused == r.direct);
      }
  // One that is asked for, or that others read, is there.
  const Array x = random_f32({2, 4, 60, 62}, 1);
  Array held;
  const Both kept = both([&] {
    held = padded(x, {0, 0, 1, 1}, {0, 0, 1, 1}, 0);
    return convolved(held, {1, 1});
  });
  INFO(kept.text);
  CHECK(kept.plan.regions > 1);
  CHECK(kept.fused == kept.direct);
  const Both shared = both([&] {
    const Array p = padded(x, {0, 0, 1, 1}, {0, 0, 1, 1}, 0);
    return apply(OpId::Add, convolved(p, {1, 1}), numpy::sum(p, {}));
  });
  INFO(shared.text);
  CHECK(shared.plan.regions > 1);
  CHECK(shared.fused == shared.direct);
}

TEST_CASE("a convolution of casts packs and moves what was cast, however it is written") {
  const auto narrow = [](const Dims& shape, int seed, DType t) {
    const Array a = tracer::astype(apply(OpId::Multiply, random_f32(shape, seed), weak(40)), t);
    tracer::evaluate(a);
    return a;
  };
  const auto around = [](const Array& a, int first) {
    Dims more(2 * a.ndim());
    for (int d = first; d < first + 2; ++d) more[2 * d] = more[2 * d + 1] = 1;
    return numpy::pad(a, more, numpy::Padding::Constant, cast(scalar_int(0), a.dtype));
  };
  // Of the axes from `first` on, 3 x 3 at the end.
  const auto windows_of = [](const Array& p, int first) {
    Dims shape = p.shape, strides = p.strides;
    for (int d = first; d < first + 2; ++d) {
      shape[d] -= 2;
      shape.push_back(3);
      strides.push_back(strides[d]);
    }
    return tracer::as_strided(p, p.dtype, shape, strides, 0);
  };
  const auto by_windows = [&](const Array& x, const Array& w) {
    return einsum("nchwij,ocij->nohw", windows_of(around(x, 2), 2), w);
  };
  const auto channels_last = [&](const Array& x, const Array& w) {
    const Array last = tracer::transpose(x, Dims{0, 2, 3, 1});
    return einsum("nhwcij,ocij->nhwo", windows_of(around(last, 1), 1), w);
  };
  const auto patches = [&](const Array& x, const Array& w) {
    const Array v = tracer::transpose(windows_of(around(x, 2), 2), Dims{0, 2, 3, 1, 4, 5});
    const Array p = tracer::reshape(v, {2 * 40 * 44, 24 * 9});
    return matmul(p, tracer::swapaxes(tracer::reshape(w, {48, 24 * 9}), 0, 1));
  };
  const auto by_places = [&](const Array& x, const Array& w) {
    const Array p = around(x, 2);
    Array y;
    for (std::int64_t t = 0; t < 9; ++t) {
      const Array one = einsum("nchw,oc->nohw", shifted(p, t / 3, t % 3, 40, 44),
                               view(w, {All{}, All{}, t / 3, t % 3}));
      y = t == 0 ? one : apply(OpId::Add, y, one);
    }
    return y;
  };
  using Spelling = std::function<Array(const Array&, const Array&)>;
  const Spelling spellings[] = {by_windows, channels_last, patches, by_places};
  constexpr std::int64_t kResult = 2 * 48 * 40 * 44 * 4;
  int alone = 0;
  for (const auto& [t, to, name] : {std::tuple{DType::Int8, DType::Int32, "int8"},
                                    {DType::BFloat16, DType::Float32, "bfloat16"},
                                    {DType::Float16, DType::Float32, "float16"}})
    for (const Spelling& convolved : spellings) {
      const Array x = narrow({2, 24, 40, 44}, 1, t), w = narrow({48, 24, 3, 3}, 2, t);
      const Both r = both([&, to = to] {
        return apply(OpId::Negative, convolved(tracer::astype(x, to), tracer::astype(w, to)));
      });
      INFO(r.text);
      if (r.plan.regions == 1) {
        const auto item = static_cast<std::int64_t>(itemsize(t));
        CHECK(r.plan.bytes_moved == 2 * 24 * 40 * 44 * item + 48 * 24 * 9 * item + kResult);
        CHECK(r.text.find(std::string(": view ") + name) != std::string::npos);
      } else {
        // Padded in memory for a library call.
        CHECK(r.plan.regions == 4);
        CHECK(r.text.find(std::string("update ") + name) != std::string::npos);
      }
      alone += r.plan.regions == 1;
      for (const char* wide : {"cast int32", "cast float32", "update int32", "update float32",
                               "view int32", "view float32"})
        CHECK(r.text.find(wide) == std::string::npos);
      // A sum of products is another one than a product, and AMX's sums are not float32's.
      const bool other =
          &convolved == &spellings[3] || (t == DType::BFloat16 && has_matrix_tiles());
      const bool same = r.fused == r.direct;  // not printed
      CHECK((same || (other && !is_integer(to))));
    }
  CHECK(alone == 9);
}

TEST_CASE("what is packed in parts may be read by several products") {
  const Array x = random_f32({2, 8, 60, 62}, 1), y = random_f32({2, 8, 60, 62}, 3);
  const Array w = random_f32({40, 16, 3, 3}, 2), v = random_f32({40, 16, 3, 3}, 4);
  const auto around = [](const Array& a) {
    return numpy::pad(a, {0, 0, 0, 0, 1, 1, 1, 1}, numpy::Padding::Constant,
                      cast(scalar_int(0), a.dtype));
  };
  const auto convolved = [](const Array& p, const Array& f) {
    const Dims s = p.strides;
    const Array windows = tracer::as_strided(
        p, p.dtype, {p.shape[0], p.shape[1], p.shape[2] - 2, p.shape[3] - 2, 3, 3},
        {s[0], s[1], s[2], s[3], s[2], s[3]}, 0);
    return apply(OpId::Maximum, einsum("nchwij,ocij->nohw", windows, f), weak(0));
  };
  const auto beside = [&](const Array& a, const Array& b) {
    const Array both[] = {a, b};
    return numpy::concatenate(both, 1, std::nullopt);
  };
  const Both joined = both([&] { return convolved(around(beside(x, y)), w); });
  INFO(joined.text);
  CHECK(joined.fused == joined.direct);
  const Both twice = both([&] {
    const Array p = around(beside(x, y));
    return apply(OpId::Add, convolved(p, w), convolved(p, v));
  });
  INFO(twice.text);
  check_near(twice);
  // A part that is computed lies as the array that it is written to, and not as it was recorded.
  const Array last = random_f32({2, 60, 62, 16}, 5);
  const Both laid_out = both([&] {
    const Array h = apply(OpId::Maximum, tracer::transpose(last, Dims{0, 3, 1, 2}), weak(0));
    return convolved(around(h), w);
  });
  INFO(laid_out.text);
  CHECK(laid_out.text.find("in C order, as the array that it is written to") != std::string::npos);
  check_near(laid_out);
}

TEST_CASE("products that are added are summed in one block, and nothing that they pack is stored") {
  const Array x = random_f32({2, 4, 60, 62}, 1), y = random_f32({2, 4, 60, 62}, 5);
  const auto convolved = [](const Array& a, const Array& w) {
    const Array p = numpy::pad(a, {0, 0, 0, 0, 1, 1, 1, 1}, numpy::Padding::Constant,
                               cast(scalar_int(0), a.dtype));
    const Dims s = p.strides;
    const Array windows = tracer::as_strided(
        p, p.dtype, {p.shape[0], p.shape[1], p.shape[2] - 2, p.shape[3] - 2, 3, 3},
        {s[0], s[1], s[2], s[3], s[2], s[3]}, 0);
    return einsum("nchwij,ocij->nohw", windows, w);
  };
  const Array w = random_f32({40, 4, 3, 3}, 2), v = random_f32({40, 4, 3, 3}, 4);
  const Both r = both([&] {
    return apply(OpId::Maximum, apply(OpId::Add, convolved(x, w), convolved(y, v)), weak(0));
  });
  INFO(r.text);
  CHECK(r.plan.regions == 1);
  // Rows of images lie as close as the three elements of a filter's, and are longer.
  CHECK_FALSE(nests_in_lanes(r.text));
  check_near(r);
}

TEST_CASE("padding that only loops over elements read has no memory") {
  const Array x = random_f32({2, 8, 20, 22}, 1), w = random_f32({8, 3, 3}, 2);
  const auto padded = [&](const Array& a) {
    return numpy::pad(a, {0, 0, 0, 0, 1, 1, 1, 1}, numpy::Padding::Constant,
                      cast(scalar_float(0.5), a.dtype));
  };
  const Both shifts = both([&] {
    const Array p = padded(x);
    Array y = tracer::full(x.shape, cast(scalar_int(0), x.dtype));
    for (std::int64_t t = 0; t < 9; ++t) {
      const Array one = tracer::reshape(view(w, {All{}, t / 3, t % 3}), Dims{8, 1, 1});
      y = apply(OpId::Add, y, apply(OpId::Multiply, shifted(p, t / 3, t % 3, 20, 22), one));
    }
    return y;
  });
  INFO(shifts.text);
  CHECK(shifts.plan.regions == 1);
  CHECK(shifts.plan.bytes_moved == shifts.plan.bytes_least);
  CHECK(shifts.fused == shifts.direct);
  const Both windows = both([&] {
    const Array p = padded(x);
    const Dims s = p.strides;
    const Array v = tracer::as_strided(p, p.dtype, {2, 8, 20, 22, 3, 3},
                                       {s[0], s[1], s[2], s[3], s[2], s[3]}, 0);
    const Array by = tracer::reshape(w, Dims{8, 1, 1, 3, 3});
    return numpy::sum(apply(OpId::Multiply, v, by), {.axes = Dims{4, 5}});
  });
  INFO(windows.text);
  CHECK(windows.plan.regions == 1);
  CHECK(windows.fused == windows.direct);
  // Sums over all of it are a walk through memory.
  const Both summed = both([&] { return numpy::sum(padded(x), {.axes = Dims{2, 3}}); });
  INFO(summed.text);
  CHECK(summed.plan.regions > 1);
  CHECK(summed.fused == summed.direct);
}

TEST_CASE("a convolution that is read as it does not lie is stored, or a library call") {
  const Array x = random_f32({30, 4, 32, 10}, 1), w = random_f32({30, 4, 3, 3}, 2);
  const Array windows =
      tracer::as_strided(x, x.dtype, {30, 4, 30, 8, 3, 3}, {5120, 1280, 40, 4, 40, 4}, 0);
  const auto of = [&](const std::function<Array(const Array&)>& reader) {
    const Both r = both([&] { return reader(einsum("nchwij,ocij->nohw", windows, w)); });
    INFO(r.text);
    CHECK(r.fused == r.direct);
  };
  of([](const Array& y) { return apply(OpId::Add, y, tracer::swapaxes(y, 0, 2)); });
  of([](const Array& y) {
    return apply(OpId::Add, y, numpy::max(y, {.axes = Dims{1}, .keepdims = true}));
  });
  of([](const Array& y) { return numpy::max(apply(OpId::Negative, y), {.axes = Dims{2, 3}}); });
  of([](const Array& y) { return view(y, {All{}, Slice{0, 10, std::nullopt}}); });
}

TEST_CASE("sums that do not step evenly, or whose parts are asked for, stay sums") {
  const Array x = random_f32({2, 16, 20, 22}, 1), w = random_f32({32, 16, 3, 3}, 2);
  const auto part = [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    return einsum("nchw,oc->nohw", shifted(x, i, j, 18, 20), view(w, {All{}, All{}, i, k}));
  };
  const Both uneven = both([&] {
    return apply(OpId::Add, apply(OpId::Add, part(0, 0, 0), part(0, 1, 1)), part(0, 1, 2));
  });
  INFO(uneven.text);
  CHECK(uneven.plan.regions > 1);
  check_near(uneven);
  Array held;
  const Both kept = both([&] {
    held = part(0, 1, 1);
    return apply(OpId::Add, apply(OpId::Add, part(0, 0, 0), held), part(0, 2, 2));
  });
  INFO(kept.text);
  CHECK(kept.plan.regions > 1);
  check_near(kept);
}
