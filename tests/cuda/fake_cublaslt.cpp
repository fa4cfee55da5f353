// A stand-in for libcublasLt.so on the memory of fake_driver.cpp. It refuses what the real one
// refuses (layouts that do not fit each other, leading dimensions that are too short, addresses
// less aligned than was promised, memory that nobody owns) and what Plait must not ask for (TF32,
// sums in less than the type of the computation, complex products of three multiplications,
// epilogues beside a bias, and a C, of float32 and float64), and multiplies in the order of the
// driver's work.
#include <dlfcn.h>

#include <atomic>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

namespace {
using Status = int;
constexpr Status kInvalid = 7, kNotSupported = 15;

struct Attributes {
  std::map<int, std::int64_t> values;
  std::int64_t get(int which, std::int64_t otherwise) const {
    const auto it = values.find(which);
    return it == values.end() ? otherwise : it->second;
  }
  Status set(int which, const void* value, std::size_t bytes) {
    if (bytes != 4 && bytes != 8) return kInvalid;
    std::int64_t wide = 0;
    std::memcpy(&wide, value, bytes);
    values[which] = wide;
    return 0;
  }
};
struct Description : Attributes {
  int compute, scale;
  bool biased() const { return get(7, 1) == 4; }
  const void* bias() const { return reinterpret_cast<const void*>(get(8, 0)); }
};
struct Layout : Attributes {
  int type;
  std::uint64_t rows, columns;
  std::int64_t ld;
  std::int64_t batch() const { return get(5, 1); }
  std::int64_t step() const { return get(6, 0); }
  // Elements from the first to behind the last.
  std::int64_t extent() const {
    return (batch() - 1) * step() + (static_cast<std::int64_t>(columns) - 1) * ld +
           static_cast<std::int64_t>(rows);
  }
};
struct Algorithm {
  std::uint64_t mark, workspace, alignment_a, alignment_b, alignment_c, alignment_d;
  std::uint64_t rest[2];
};
struct Heuristic {
  Algorithm algorithm;
  std::size_t workspace;
  Status state;
  float waves;
  int reserved[4];
};
constexpr std::uint64_t kMark = 0x70726f64;
constexpr std::size_t kWorkspace = 1000;

std::atomic<int> products{0}, biased{0}, summed{0}, heuristics{0}, refusals{0}, failure{0};

// The driver's double, which is loaded already.
template <class F>
F* driver(const char* name) {
  static void* library = dlopen(std::getenv("PLAIT_CUDA_LIBRARY"), RTLD_NOW);
  return reinterpret_cast<F*>(dlsym(library, name));
}
void* owned(const void* at, std::size_t bytes) {
  return driver<void*(unsigned long long, std::size_t)>("fake_cuda_memory")(
      reinterpret_cast<unsigned long long>(at), bytes);
}

std::size_t item(int type) {
  switch (type) {
    case 0:
      return 4;
    case 1:
      return 8;
    case 2:
      return 2;
    case 4:
      return 8;
    case 5:
      return 16;
  }
  return 0;
}
bool fits(const Description& how, const Layout& a, const Layout& b, const Layout& d) {
  const auto op = [](const Layout& x, std::int64_t transposed) {
    return transposed ? std::pair(x.columns, x.rows) : std::pair(x.rows, x.columns);
  };
  const auto [m, k] = op(a, how.get(3, 0));
  const auto [k2, n] = op(b, how.get(4, 0));
  const bool in_double = d.type == 1 || d.type == 5;
  const int scale = d.type == 2 ? 0 : d.type;
  for (const Layout* x : {&a, &b, &d})
    if (x->ld < static_cast<std::int64_t>(x->rows) || x->type != d.type ||
        x->batch() != d.batch() || x->rows == 0 || x->columns == 0)
      return false;
  if (how.get(7, 1) != 1 && (!how.biased() || !how.bias() || d.type > 1)) return false;
  return m == d.rows && n == d.columns && k == k2 && item(d.type) != 0 &&
         how.compute == (in_double ? 70 : 68) && how.scale == scale;
}

template <class T, class Acc>
void run(const Description& how, const Layout& la, const T* a, const Layout& lb, const T* b,
         const Layout& ld, T* d, const T* bias, const T* c) {
  const auto k = static_cast<std::int64_t>(how.get(3, 0) ? la.rows : la.columns);
  const auto at = [](const Layout& l, const T* p, std::int64_t transposed, std::int64_t batch,
                     std::int64_t row, std::int64_t column) {
    if (transposed) std::swap(row, column);
    return static_cast<Acc>(p[batch * l.step() + column * l.ld + row]);
  };
  for (std::int64_t batch = 0; batch < ld.batch(); ++batch)
    for (std::int64_t j = 0; j < static_cast<std::int64_t>(ld.columns); ++j)
      for (std::int64_t i = 0; i < static_cast<std::int64_t>(ld.rows); ++i) {
        Acc sum{};
        for (std::int64_t x = 0; x < k; ++x)
          sum += at(la, a, how.get(3, 0), batch, i, x) * at(lb, b, how.get(4, 0), batch, x, j);
        if (c) sum += static_cast<Acc>(c[batch * ld.step() + j * ld.ld + i]);
        if (bias) sum += static_cast<Acc>(bias[i]);
        d[batch * ld.step() + j * ld.ld + i] = static_cast<T>(sum);
      }
}

bool aligned(const void* p, std::uint64_t to) {
  return reinterpret_cast<std::uintptr_t>(p) % to == 0;
}
}  // namespace

extern "C" {
int fake_cublaslt_products() { return products; }
int fake_cublaslt_biased() { return biased; }
int fake_cublaslt_summed() { return summed; }  // products that a C was added to
int fake_cublaslt_heuristics() { return heuristics; }
// The next heuristics find nothing.
void fake_cublaslt_refuse(int times) { refusals = times; }
// The next product gives this.
void fake_cublaslt_fail(Status status) { failure = status; }

Status cublasLtCreate(void** handle) {
  return *handle = &products, std::getenv("PLAIT_FAKE_CUBLASLT_BROKEN") ? 1 : 0;
}
Status cublasLtMatmulDescCreate(Description** d, int compute, int scale) {
  *d = new Description;
  (*d)->compute = compute;
  (*d)->scale = scale;
  return 0;
}
Status cublasLtMatmulDescDestroy(Description* d) { return delete d, 0; }
Status cublasLtMatmulDescSetAttribute(Description* d, int which, const void* v, std::size_t n) {
  return d->set(which, v, n);
}
Status cublasLtMatrixLayoutCreate(Layout** l, int type, std::uint64_t rows, std::uint64_t columns,
                                  std::int64_t ld) {
  *l = new Layout;
  (*l)->type = type;
  (*l)->rows = rows;
  (*l)->columns = columns;
  (*l)->ld = ld;
  return 0;
}
Status cublasLtMatrixLayoutDestroy(Layout* l) { return delete l, 0; }
Status cublasLtMatrixLayoutSetAttribute(Layout* l, int which, const void* v, std::size_t n) {
  return l->set(which, v, n);
}
Status cublasLtMatmulPreferenceCreate(Attributes** p) { return *p = new Attributes, 0; }
Status cublasLtMatmulPreferenceDestroy(Attributes* p) { return delete p, 0; }
Status cublasLtMatmulPreferenceSetAttribute(Attributes* p, int which, const void* v,
                                            std::size_t n) {
  return p->set(which, v, n);
}

Status cublasLtMatmulAlgoGetHeuristic(void*, Description* how, Layout* a, Layout* b, Layout* c,
                                      Layout* d, Attributes* prefer, int, Heuristic* found,
                                      int* count) {
  ++heuristics;
  *count = 0;
  if (refusals > 0) return --refusals, kNotSupported;
  if (!fits(*how, *a, *b, *d) || c->ld != d->ld) return kInvalid;
  constexpr std::int64_t three_multiplications = std::int64_t{1} << 32;
  if (prefer->get(3, 7) != 2 || (prefer->get(12, -1) & three_multiplications)) return kInvalid;
  const bool room = prefer->get(1, 0) >= static_cast<std::int64_t>(kWorkspace);
  const auto promised = [&](int which) {
    return static_cast<std::uint64_t>(prefer->get(which, 256));
  };
  found->algorithm = {kMark,       room ? kWorkspace : 0, promised(5), promised(6),
                      promised(7), promised(8),           {}};
  found->workspace = found->algorithm.workspace;
  found->state = 0;
  *count = 1;
  return 0;
}

Status cublasLtMatmul(void*, Description* how, const void* alpha, const void* a, Layout* la,
                      const void* b, Layout* lb, const void* beta, const void* c, Layout* lc,
                      void* d, Layout* ld, const Algorithm* algorithm, void* workspace,
                      std::size_t bytes, void* stream) {
  ++products;
  if (const Status s = failure.exchange(0)) return s;
  if (!fits(*how, *la, *lb, *ld) || algorithm->mark != kMark || lc->ld != ld->ld) return kInvalid;
  if (!aligned(a, algorithm->alignment_a) || !aligned(b, algorithm->alignment_b) ||
      !aligned(c, algorithm->alignment_c) || !aligned(d, algorithm->alignment_d))
    return kInvalid;
  double one = 0, of_c = 0;
  const bool wide = ld->type == 1 || ld->type == 5;
  if (wide) {
    std::memcpy(&one, alpha, 8);
    std::memcpy(&of_c, beta, 8);
  } else {
    float f[2];
    std::memcpy(&f[0], alpha, 4);
    std::memcpy(&f[1], beta, 4);
    one = f[0];
    of_c = f[1];
  }
  const bool sum = of_c == 1;
  if (one != 1 || (!sum && (of_c != 0 || c != d)) || (sum && ld->type > 1)) return kInvalid;
  if (bytes != algorithm->workspace) return kInvalid;
  if (bytes && (!owned(workspace, bytes) || !aligned(workspace, 256))) return kInvalid;
  const auto memory = [](const void* at, const Layout& l) {
    return owned(at, static_cast<std::size_t>(l.extent()) * item(l.type));
  };
  void *pa = memory(a, *la), *pb = memory(b, *lb), *pd = memory(d, *ld);
  void* bias = how->biased() ? owned(how->bias(), ld->rows * item(ld->type)) : nullptr;
  void* pc = sum ? memory(c, *lc) : nullptr;
  if (!pa || !pb || !pd || (how->biased() && !bias) || (sum && !pc)) return kInvalid;
  biased += how->biased();
  summed += sum;
  struct Work {
    Description how;
    Layout la, lb, ld;
    void *a, *b, *d, *bias, *c;
  };
  driver<void(void (*)(void*), void*, void*)>("fake_cuda_submit")(
      [](void* p) {
        Work& w = *static_cast<Work*>(p);
        const auto go = [&]<class T, class Acc>(T, Acc) {
          run<T, Acc>(w.how, w.la, static_cast<T*>(w.a), w.lb, static_cast<T*>(w.b), w.ld,
                      static_cast<T*>(w.d), static_cast<const T*>(w.bias),
                      static_cast<const T*>(w.c));
        };
        switch (w.ld.type) {
          case 0:
            go(float{}, float{});
            break;
          case 1:
            go(double{}, double{});
            break;
          case 2:
            go(_Float16{}, float{});
            break;
          case 4:
            go(std::complex<float>{}, std::complex<float>{});
            break;
          case 5:
            go(std::complex<double>{}, std::complex<double>{});
            break;
        }
        delete &w;
      },
      new Work{*how, *la, *lb, *ld, pa, pb, pd, bias, pc}, stream);
  return 0;
}
}
