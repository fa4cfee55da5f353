// Helpers of the plan and backend tests: fill arrays, evaluate on one path, compare bit for bit or
// within a tolerance.
#pragma once
#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "../record.hpp"
#include "core/config.hpp"
#include "core/machine.hpp"
#include "engine/engine.hpp"

namespace plait::test {
inline Array random_f64(const Dims& shape, unsigned seed = 1) {
  engine::start();
  Array a = tracer::empty(shape, DType::Float64);
  std::mt19937_64 gen(seed);
  std::normal_distribution<double> normal;
  auto* p = static_cast<double*>(tracer::data(a));
  for (std::int64_t i = 0; i < a.size(); ++i) p[i] = normal(gen);
  return a;
}
inline Array random_f32(const Dims& shape, unsigned seed = 1) {
  engine::start();
  Array a = tracer::empty(shape, DType::Float32);
  std::mt19937_64 gen(seed);
  std::normal_distribution<float> normal;
  auto* p = static_cast<float*>(tracer::data(a));
  for (std::int64_t i = 0; i < a.size(); ++i) p[i] = normal(gen);
  return a;
}

// The bytes of an array's value, in C order.
inline std::vector<unsigned char> bytes(const Array& a) {
  Array c = tracer::copy(a, 'C');
  const auto* p = static_cast<const unsigned char*>(tracer::data(c));
  return {p, p + static_cast<std::size_t>(c.size()) * itemsize(c.dtype)};
}

// What `f` gives fused and what the reference evaluator gives.
struct Both {
  std::vector<unsigned char> fused, direct;
  engine::PlanSummary plan;
  std::string text;  // explain
};
inline Both both(const std::function<Array()>& f) {
  Both b;
  config().machine = &kMachine;
  config().eager_limit = 0;
  config().plan = PlanMode::Always;
  config().fuse = true;
  Array a = f();
  const Ref<tracer::Node> node = tracer::read(a);
  tracer::Node* wanted[] = {node.get()};
  b.text = engine::explain(wanted);
  tracer::evaluate(a);
  b.plan = engine::last_plan();
  b.fused = bytes(a);
  config().fuse = false;
  b.direct = bytes(f());
  config().fuse = true;
  return b;
}

}  // namespace plait::test
