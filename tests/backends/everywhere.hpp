// One computation on every backend: interpreter and machine code, one thread and two, both vector
// tiers, against the reference evaluator.
#pragma once
#include <catch2/catch.hpp>
#include <string>

#include "../plan/arrays.hpp"
#include "engine/plans/kernel.hpp"
#include "engine/plans/run.hpp"

namespace plait::test {

using Values = std::vector<double>;

// The elements as doubles, real and imaginary parts one after the other; 64-bit integers as the
// bits they are.
inline Values values(const Array& a) {
  if (is_complex(a.dtype)) {
    Values re = values(tracer::real(a)), im = values(tracer::imag(a));
    re.insert(re.end(), im.begin(), im.end());
    return re;
  }
  Array c = is_float(a.dtype) ? tracer::astype(a, DType::Float64) : a;
  const std::vector<unsigned char> raw = bytes(c);
  if (!is_float(a.dtype)) return Values(raw.begin(), raw.end());
  Values v(raw.size() / sizeof(double));
  if (!v.empty()) std::memcpy(v.data(), raw.data(), raw.size());
  return v;
}

// "" or where the first difference is. A NaN is a NaN; with no tolerance zeros have signs.
inline std::string difference(const Values& a, const Values& b, double tolerance = 0) {
  if (a.size() != b.size()) return "sizes differ";
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    const bool same = a[i] == b[i] && (tolerance > 0 || std::signbit(a[i]) == std::signbit(b[i]));
    if (same || std::abs(a[i] - b[i]) <= tolerance * (1 + std::abs(b[i]))) continue;
    return "[" + std::to_string(i) + "] " + std::to_string(a[i]) + " where " +
           std::to_string(b[i]) + " is expected";
  }
  return "";
}

struct Backend {
  const char* name;
  JitMode jit;
  int threads;
};

// `tolerance` is for the reference evaluator; backends of one tier give the same bits.
inline void everywhere(const std::string& what, const std::function<Array()>& f,
                       double tolerance = 0) {
  engine::start();
  const Config saved = config();
  config().disk_cache = false;
  config().eager_limit = 0;
  config().plan = PlanMode::Always;
  tracer::set_error_state({tracer::ErrorAction::Ignore, tracer::ErrorAction::Ignore,
                           tracer::ErrorAction::Ignore, tracer::ErrorAction::Ignore});
  config().fuse = false;
  const Values reference = values(f());
  for (CpuTier tier : kTiers) {
    if (tier > detected_tier() || (!info(tier).fused && kTiers.size() > 1)) continue;
    Values first;
    for (const Backend& b : {Backend{"interpreter", JitMode::Off, 1},
                             {"interpreter, two threads", JitMode::Off, 2},
                             {"machine code", JitMode::Blocking, 1},
                             {"machine code, two threads", JitMode::Blocking, 2}}) {
      config().fuse = true;
      config().tier = tier;
      config().jit = b.jit;
      config().threads = b.threads;
      if (b.threads == 1) {
        engine::forget_plans();
        engine::forget_kernels();
      }
      Array a = f();
      tracer::evaluate(a);
      config().fuse = false;
      const Values v = values(a);
      if (first.empty()) first = v;
      INFO(what << ": " << b.name << ", tier " << static_cast<int>(tier));
      CHECK(difference(v, first) == "");
      CHECK(difference(v, reference, tolerance) == "");
    }
  }
  config() = saved;
}

// Values of any dtype: small ones of both signs, zeros, and for floats now and then a NaN, an
// infinity or -0.0.
inline Array sample(DType t, const Dims& shape, unsigned seed = 1, bool special = true) {
  engine::start();
  Array a = tracer::empty(shape, DType::Float64);
  auto* p = static_cast<double*>(tracer::data(a));
  std::mt19937 gen(seed);
  const bool fraction = is_float(t) || is_complex(t);
  for (std::int64_t i = 0; i < a.size(); ++i) {
    const int k = static_cast<int>(gen() % 41) - 20;
    p[i] = fraction ? k / 4.0 : kind(t) == Kind::Unsigned ? std::abs(k) % 7 : k % 7;
    if (fraction && special && gen() % 31 == 0) {
      constexpr double odd[] = {NAN, INFINITY, -INFINITY, -0.0};
      p[i] = odd[gen() % 4];
    }
  }
  return tracer::astype(a, t);
}

}  // namespace plait::test
