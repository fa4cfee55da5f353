#include "products.hpp"

#include <algorithm>
#include <complex>

#include "core/config.hpp"
#include "engine/products/gemm.hpp"
#include "plait/error.hpp"
#include "tracer/context.hpp"

namespace plait::gpu {
namespace {

using engine::DeviceProduct;

constexpr std::size_t kMostPrepared = 512;
constexpr std::size_t kMostWorkspace = 32 << 20;  // what NVIDIA advises for Hopper
constexpr std::int64_t kMostBatch = 65535;

int type_of(DType t) {
  switch (t) {
    case DType::Float16:
      return lt::kR16F;
    case DType::Float32:
      return lt::kR32F;
    case DType::Float64:
      return lt::kR64F;
    case DType::Complex64:
      return lt::kC32F;
    case DType::Complex128:
      return lt::kC64F;
    default:
      return -1;
  }
}
bool in_double(DType t) { return t == DType::Float64 || t == DType::Complex128; }

// The batch axes as one call sees them, `inner` of them, and as calls of their own.
struct Batches {
  struct Axis {
    std::int64_t extent, a, b;  // bytes
  };
  std::vector<Axis> outer;
  Axis inner{1, 0, 0};
};
Batches batches_of(const DeviceProduct& p) {
  std::vector<Batches::Axis> axes;
  for (int d = 0; d < p.batch.size(); ++d) {
    if (p.batch[d] == 1) continue;
    const Batches::Axis x{p.batch[d], p.a.batch[d], p.b.batch[d]};
    if (!axes.empty() && axes.back().a == x.a * x.extent && axes.back().b == x.b * x.extent)
      axes.back() = {axes.back().extent * x.extent, x.a, x.b};
    else
      axes.push_back(x);
  }
  const auto item = static_cast<std::int64_t>(itemsize(p.dtype));
  Batches b;
  if (!axes.empty() && axes.back().extent <= kMostBatch && axes.back().a % item == 0 &&
      axes.back().b % item == 0) {
    b.inner = axes.back();
    axes.pop_back();
  }
  b.outer = std::move(axes);
  return b;
}

// The greatest power of two up to 256 that divides all of these.
std::uint32_t alignment(std::initializer_list<std::int64_t> values) {
  std::int64_t all = 256;
  for (std::int64_t v : values) all |= v;
  return static_cast<std::uint32_t>(all & -all);
}

}  // namespace

// Row-major a @ b is the column-major product of b's and a's memory: the library's A is b, its D
// the result, n by m, and its C as well: beta times C is added to the sums of D's type before they
// are stored.
struct Products::Prepared {
  const lt::Library& api;
  lt::Description description = nullptr;
  lt::Layout a = nullptr, b = nullptr, d = nullptr;
  lt::Algorithm algorithm{};
  std::size_t workspace = 0;
  bool possible = false;

  explicit Prepared(const lt::Library& l) : api(l) {}
  Prepared(const Prepared&) = delete;
  ~Prepared() {
    if (description) api.description_destroy(description);
    for (lt::Layout l : {a, b, d})
      if (l) api.layout_destroy(l);
  }
};

void Products::open() {
  const Context::Current current(context_);
  library_ = lt::open([this](const lt::Library& l) {
    const lt::Status s = l.create(&handle_);
    if (s == lt::kSuccess) return std::string();
    handle_ = nullptr;
    return "it does not start: status " + std::to_string(s);
  });
  if (!logging(Log::Fallback)) return;
  if (!library_.found)
    log(Log::Fallback,
        context_.label() +
            ": matrix products are tiled kernels, as cuBLASLt cannot be used: " + library_.why);
  else if (!library_.tried.empty())
    log(Log::Fallback, context_.label() + ": matrix products are those of " + library_.path +
                           ", as these cannot be used:" + library_.tried);
}

bool Products::takes(DType t) { return type_of(t) >= 0; }

bool Products::available(DType t) {
  if (!takes(t)) return false;
  std::call_once(opened_, [this] { open(); });
  return library_.found;
}

std::shared_ptr<const Products::Prepared> Products::prepared(const Key& key, const void* bias) {
  if (auto it = prepared_.find(key); it != prepared_.end()) return it->second;
  if (prepared_.size() >= kMostPrepared) prepared_.clear();
  const lt::Library& l = library_;
  auto made = std::make_shared<Prepared>(l);
  const auto check = [&](lt::Status s) {
    if (s != lt::kSuccess)
      throw DeviceError("device '" + context_.label() + "': cuBLASLt (" + l.path +
                        ") refuses the description of a matrix product: status " +
                        std::to_string(s));
  };
  const int type = type_of(key.dtype);
  const int scale = key.dtype == DType::Float16 ? lt::kR32F : type;
  check(l.description_create(&made->description,
                             in_double(key.dtype) ? lt::kCompute64F : lt::kCompute32F, scale));
  const auto transpose = [&](int which, bool transposed) {
    const std::int32_t op = transposed ? lt::kTransposed : lt::kAsItIs;
    check(l.description_set(made->description, which, &op, sizeof op));
  };
  transpose(lt::kDescriptionTransA, key.transposed_b);
  transpose(lt::kDescriptionTransB, key.transposed_a);
  if (key.biased) {
    check(l.description_set(made->description, lt::kDescriptionEpilogue, &lt::kAddBias,
                            sizeof lt::kAddBias));
    check(l.description_set(made->description, lt::kDescriptionBias, &bias, sizeof bias));
  }
  const auto layout = [&](lt::Layout& out, bool transposed, std::int64_t rows, std::int64_t columns,
                          std::int64_t ld, std::int64_t step) {
    if (transposed) std::swap(rows, columns);
    check(l.layout_create(&out, type, static_cast<std::uint64_t>(rows),
                          static_cast<std::uint64_t>(columns), ld));
    const auto count = static_cast<std::int32_t>(key.batch);
    check(l.layout_set(out, lt::kLayoutBatchCount, &count, sizeof count));
    check(l.layout_set(out, lt::kLayoutBatchStride, &step, sizeof step));
  };
  layout(made->a, key.transposed_b, key.n, key.k, key.ld_b, key.step_b);
  layout(made->b, key.transposed_a, key.k, key.m, key.ld_a, key.step_a);
  layout(made->d, false, key.n, key.m, key.n, key.m * key.n);

  lt::Preference preference = nullptr;
  check(l.preference_create(&preference));
  const auto prefer = [&](int which, const auto& value) {
    l.preference_set(preference, which, &value, sizeof value);
  };
  prefer(lt::kPreferWorkspace, kMostWorkspace);
  prefer(lt::kPreferReductions, lt::kReduceInComputeType);
  prefer(lt::kPreferImplementations, ~lt::kThreeMultiplications);
  prefer(lt::kPreferAlignmentA, key.aligned_b);
  prefer(lt::kPreferAlignmentB, key.aligned_a);
  prefer(lt::kPreferAlignmentC, key.aligned_c);
  prefer(lt::kPreferAlignmentD, key.aligned_d);
  lt::HeuristicResult found{};
  int count = 0;
  const lt::Status s = l.heuristic(handle_, made->description, made->a, made->b, made->d, made->d,
                                   preference, 1, &found, &count);
  l.preference_destroy(preference);
  made->possible = s == lt::kSuccess && count > 0 && found.state == lt::kSuccess;
  made->algorithm = found.algorithm;
  made->workspace = found.workspace;
  return prepared_[key] = std::move(made);
}

bool Products::multiply(const DeviceProduct& p, const engine::LaunchSite& site) {
  const auto item = static_cast<std::int64_t>(itemsize(p.dtype));
  const auto a = engine::blas_layout(item, p.a.row, p.a.column, p.m, p.k);
  const auto b = engine::blas_layout(item, p.b.row, p.b.column, p.k, p.n);
  if (!a || !b || !available(p.dtype)) return false;
  const Batches batches = batches_of(p);
  const Batches::Axis& inner = batches.inner;
  const std::int64_t step = p.m * p.n * item;
  std::int64_t apart_a = 0, apart_b = 0;  // alignment of what is added to the addresses
  for (const Batches::Axis& x : batches.outer) {
    apart_a |= x.a;
    apart_b |= x.b;
  }
  const auto at = [](const std::byte* x) {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(x));
  };
  const bool several = inner.extent > 1;
  const std::byte* added = p.residual ? p.residual : p.c;  // C, which beta = 0 leaves unread
  const Key key{p.dtype,
                p.m,
                p.n,
                p.k,
                a->transposed,
                b->transposed,
                p.bias != nullptr,
                a->ld,
                b->ld,
                inner.extent,
                inner.a / item,
                inner.b / item,
                alignment({at(p.a.at), apart_a, several ? inner.a : 0}),
                alignment({at(p.b.at), apart_b, several ? inner.b : 0}),
                alignment({at(added), step}),
                alignment({at(p.c), step, at(p.bias)})};

  const Context::Current current(context_);
  const std::lock_guard held(mutex_);
  const std::shared_ptr<const Prepared> how = prepared(key, p.bias);
  if (!how->possible) return false;
  Ref<Buffer> workspace;  // given back at once: what is launched next comes after this
  if (how->workspace) workspace = pool_.allocate(how->workspace);

  const float one32 = 1, zero32 = 0;
  const double one64 = 1, zero64 = 0;
  const std::complex<float> onec(1), zeroc(0);
  const std::complex<double> onez(1), zeroz(0);
  const void *one = &one32, *zero = &zero32;
  if (p.dtype == DType::Float64) one = &one64, zero = &zero64;
  if (p.dtype == DType::Complex64) one = &onec, zero = &zeroc;
  if (p.dtype == DType::Complex128) one = &onez, zero = &zeroz;
  const void* beta = p.residual ? one : zero;

  std::vector<std::int64_t> index(batches.outer.size(), 0);
  std::byte* c = p.c;
  for (bool more = true; more; c += step * inner.extent, added += step * inner.extent) {
    const std::byte *pa = p.a.at, *pb = p.b.at;
    for (std::size_t d = 0; d < index.size(); ++d) {
      pa += index[d] * batches.outer[d].a;
      pb += index[d] * batches.outer[d].b;
    }
    lt::Status s = lt::kSuccess;
    if (p.bias)
      s = library_.description_set(how->description, lt::kDescriptionBias, &p.bias, sizeof p.bias);
    if (s == lt::kSuccess)
      s = library_.multiply(handle_, how->description, one, pb, how->a, pa, how->b, beta, added,
                            how->d, c, how->d, &how->algorithm,
                            workspace ? workspace->data : nullptr, how->workspace,
                            context_.stream());
    if (s != lt::kSuccess) {
      const std::string where = tracer::site_text(site.site);
      throw DeviceError("device '" + context_.label() + "': cuBLASLt cannot multiply: status " +
                        std::to_string(s) + "\n  matmul" +
                        (where.empty() ? "" : ", recorded at " + where));
    }
    more = false;
    for (std::size_t d = index.size(); d-- > 0 && !more;) {
      more = ++index[d] < batches.outer[d].extent;
      if (!more) index[d] = 0;
    }
  }
  return true;
}

}  // namespace plait::gpu
