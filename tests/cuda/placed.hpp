// Graphs on the double of a device, held against the reference evaluator on the host.
#pragma once
#include <functional>

#include "../backends/everywhere.hpp"
#include "core/device.hpp"
#include "engine/devices/device.hpp"
#include "fake.hpp"
#include "numpy_compat/functions.hpp"
#include "tracer/device.hpp"

namespace plait::test {

// Where a computation takes its inputs: left here, or moved.
using Place = std::function<Array(const Array&)>;

inline DeviceId gpu() {
  static const DeviceId id = [] {
    fake();
    engine::start();
    config().jit = JitMode::Off;
    config().eager_limit = 0;
    tracer::set_error_state({tracer::ErrorAction::Ignore, tracer::ErrorAction::Ignore,
                             tracer::ErrorAction::Ignore, tracer::ErrorAction::Ignore});
    return devices().open("cuda");
  }();
  return id;
}
inline Array there(const Array& a) { return tracer::to_device(a, gpu()); }
inline Array here(const Array& a) { return tracer::to_device(a, kHost); }

inline void same(const std::string& what, const Array& got, const Array& want,
                 double tolerance = 0) {
  INFO(what);
  CHECK(tracer::device_of(got) == gpu());
  CHECK(got.dtype == want.dtype);
  CHECK(got.shape == want.shape);
  CHECK(got.strides == want.strides);
  CHECK(difference(values(here(got)), values(want), tolerance) == "");
}

// Computes all of it on the device; nothing may be moved to the host on the way.
inline void on_device(const std::string& what, const std::function<Array(const Place&)>& f,
                      double tolerance = 0) {
  gpu();
  const Array want = f([](const Array& a) { return a; });
  tracer::evaluate(want);
  const engine::Stats before = engine::stats();
  const Array got = f(there);
  tracer::evaluate(got);
  INFO(what);
  CHECK(engine::stats().kernels_on_device > before.kernels_on_device);
  CHECK(engine::stats().steps_moved_to_host == before.steps_moved_to_host);
  same(what, got, want, tolerance);
}

// Checks products of (m, k) and (k, n), each factor as it lies or transposed.
inline void each_transposed(
    DType t, std::int64_t m, std::int64_t k, std::int64_t n,
    const std::function<void(const std::string& what, const std::function<Array(const Place&)>&)>&
        check) {
  for (const bool ta : {false, true})
    for (const bool tb : {false, true}) {
      const Array a = sample(t, ta ? Dims{k, m} : Dims{m, k}, 1, false);
      const Array b = sample(t, tb ? Dims{n, k} : Dims{k, n}, 2, false);
      check(std::string(name(t)) + (ta ? " a.T" : " a") + (tb ? " b.T" : " b"),
            [&](const Place& at) {
              const Array x = at(a), y = at(b);
              return tracer::matmul(ta ? tracer::transpose(x) : x, tb ? tracer::transpose(y) : y);
            });
    }
}
inline tracer::Index step(std::int64_t n) { return tracer::Index{tracer::Slice{{}, {}, n}}; }

inline int regions_there(const std::function<Array(const Place&)>& f) {
  gpu();
  tracer::evaluate(f(there));
  return engine::last_plan().regions;
}

}  // namespace plait::test
