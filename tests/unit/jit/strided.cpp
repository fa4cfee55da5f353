// Loads that lie apart from lane to lane, against the scalar reading of the loop IR. The buffer
// ends with the last element that is needed and another page's guard follows.
#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "run_kernel.hpp"

using namespace plait;

namespace {

// `bytes` that end where memory ends.
class Guarded {
 public:
  explicit Guarded(std::size_t bytes)
      : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))),
        size_((bytes + page_ - 1) / page_ * page_ + 2 * page_) {
    map_ = static_cast<unsigned char*>(
        mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(map_ != MAP_FAILED);
    REQUIRE(mprotect(map_ + size_ - page_, page_, PROT_NONE) == 0);
    data = map_ + size_ - page_ - bytes;
  }
  ~Guarded() { munmap(map_, size_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  unsigned char* data;

 private:
  std::size_t page_, size_;
  unsigned char* map_;
};

template <class T>
void compare(const ir::Kernel& k, const std::vector<std::int64_t>& params, std::int64_t elements,
             std::int64_t n) {
  const auto bytes = static_cast<std::size_t>(elements) * sizeof(T);
  Guarded in(bytes);
  for (std::int64_t i = 0; i < elements; ++i) {
    T x = static_cast<T>(i * 37 % 101) / 7;
    std::memcpy(in.data + static_cast<std::size_t>(i) * sizeof(T), &x, sizeof(T));
  }
  std::vector<T> want(static_cast<std::size_t>(n) + 1, T(-5)), got;
  void* buffers[] = {in.data, want.data()};
  ir::CallArgs args{buffers, params.data(), nullptr};
  reference::run(k, args, 0, n);
  for (CpuTier tier : test::tiers()) {
    INFO("tier " << static_cast<int>(tier) << ", n = " << n << ir::to_string(k));
    auto code = jit::compile(k, tier);
    got.assign(want.size(), T(-5));
    buffers[1] = got.data();
    test::run_code(*code, k, args, 0, n);
    REQUIRE(std::memcmp(got.data(), want.data(), want.size() * sizeof(T)) == 0);
  }
}

template <class T>
constexpr DType dtype() {
  return sizeof(T) == 4 ? DType::Float32 : DType::Float64;
}

// out[n] = x[n, c0] + 3 * (x[n, c1] + 3 * (...)): every column has its own weight.
template <class T>
void columns(std::int64_t stride, std::initializer_list<std::int64_t> picked, int unroll,
             bool known) {
  constexpr DType t = dtype<T>();
  const auto item = static_cast<std::int64_t>(sizeof(T));
  ir::Builder b("columns");
  b.loop(0).scope = ir::Scope::Lanes;
  b.loop(0).unroll = unroll;
  b.loop(0).prefetch = true;
  std::int32_t x = b.buffer(t, false), y = b.buffer(t, true);
  ir::Coeff step{stride * item};
  if (!known) step = {0, b.new_param()};
  ir::Val three = b.constant(Scalar::of(t, T(3))), sum = ir::kNone;
  std::int64_t last = 0;
  for (std::int64_t c : picked) {
    ir::Val v = b.load(x, {{c * item}, {{b.grid_var(), step}}});
    sum =
        sum == ir::kNone ? v : b.apply(OpId::Add, t, {v, b.apply(OpId::Multiply, t, {sum, three})});
    last = std::max(last, c);
  }
  b.store(y, {{}, {{b.grid_var(), {item}}}}, sum);
  ir::Kernel k = b.finish();
  for (std::int64_t n = 1; n <= 70; ++n)
    compare<T>(k, {stride * item}, (n - 1) * stride + last + 1, n);
}

// out[n] = sequential sum over d of local[d] * d, where local[d] = x[n, d].
template <class T>
void copied_rows(std::int64_t d, int unroll) {
  constexpr DType t = dtype<T>();
  const auto item = static_cast<std::int64_t>(sizeof(T));
  ir::Builder b("copied_rows");
  b.loop(0).scope = ir::Scope::Lanes;
  b.loop(0).unroll = unroll;
  std::int32_t x = b.buffer(t, false), y = b.buffer(t, true);
  std::int32_t count = b.new_param(), step = b.new_param();
  std::int32_t row = b.local(t, {0, count});
  ir::Val end = b.param(count);
  std::int32_t copy = b.open_for(ir::kNone, end);
  b.store_local(row, {{}, {{b.var(copy), {1}}}},
                b.load(x, {{}, {{b.grid_var(), {0, step}}, {b.var(copy), {item}}}}));
  b.close();
  std::int32_t sum = b.open_reduce(ir::kNone, end);
  ir::Val v = b.load_local(row, {{}, {{b.var(sum), {1}}}});
  ir::Val w = b.apply(OpId::Multiply, t, {v, b.cast(b.var(sum), t)});
  std::vector<ir::Val> r =
      b.close({{.kind = ReduceKind::Sum, .value = w, .order = ir::Order::Sequential}});
  b.store(y, {{}, {{b.grid_var(), {item}}}}, r[0]);
  ir::Kernel k = b.finish();
  for (std::int64_t n = 1; n <= 70; n += n < 20 ? 1 : 7) compare<T>(k, {d, d * item}, n * d, n);
}

template <class T>
void all() {
  for (int unroll : {1, 2}) {
    columns<T>(2, {0, 1}, unroll, true);
    columns<T>(2, {0}, unroll, true);
    columns<T>(2, {1, 4, 0}, unroll, true);
    columns<T>(3, {2, 0, 1}, unroll, true);
    columns<T>(3, {1}, unroll, true);
    columns<T>(4, {0, 2, 1, 3}, unroll, true);
    columns<T>(4, {0, 1}, unroll, true);
    columns<T>(5, {4, 3, 0}, unroll, true);
    columns<T>(8, {0, 1, 2, 3, 4, 5, 6, 7}, unroll, true);
    columns<T>(10, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, unroll, true);
    columns<T>(16, {0, 1, 2, 3, 4, 5, 6, 7}, unroll, true);
    columns<T>(9, {0, 1, 2, 3, 8}, unroll, false);
    columns<T>(2, {0, 1}, unroll, false);
    columns<T>(3, {7, 0, 20}, unroll, false);
    for (std::int64_t d : {1, 7, 8, 9, 16, 23}) copied_rows<T>(d, unroll);
  }
}

}  // namespace

TEST_CASE("strided loads of float64 give what the reference gives and stay inside the array") {
  if (!jit::available()) return;
  all<double>();
}

TEST_CASE("strided loads of float32 give what the reference gives and stay inside the array") {
  if (!jit::available()) return;
  all<float>();
}
