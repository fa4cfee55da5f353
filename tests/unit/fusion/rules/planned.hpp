// What some rules make of a recorded graph, on a machine whose figures the case sets.
#pragma once
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "../../../record.hpp"
#include "core/config.hpp"
#include "fusion/rules/rules.hpp"

namespace plait::test {

// An operand. What is recorded of it stays to be planned, however small.
inline Array operand(const Dims& shape, DType t = DType::Float64) {
  config().eager_limit = 0;
  return tracer::empty(shape, t);
}
// A machine whose memory takes so many seconds a byte, wherever it is.
inline Machine with_memory(double byte) {
  Machine m;
  for (MemoryLevel& level : m.memory) level.byte = byte;
  return m;
}

struct Planned {
  Planned(const std::vector<Array>& wanted, std::vector<const fusion::Rule*> rules,
          const Machine& machine = kMachine, fusion::Target target = {}) {
    std::vector<Ref<tracer::Node>> nodes;
    std::vector<tracer::Node*> pointers;
    for (const Array& a : wanted) pointers.push_back(nodes.emplace_back(tracer::read(a)).get());
    target.machine = &machine;
    plan = fusion::make_plan(fusion::Graph(pointers), target, fusion::Reuse::Recompute, rules);
  }
  int regions(fusion::FoldOrder order) const {
    return regions([&](const auto& r) { return r.product < 0 && r.order == order; });
  }
  int maps() const {
    return regions([](const auto& r) { return r.over_elements(); });
  }
  int products() const {
    return regions([](const auto& r) { return r.product >= 0; });
  }
  int calls() const { return count(plan->steps, is_call); }
  // Nodes that are in memory for this reason.
  int stored(const std::string& why) const {
    return count(plan->notes, [&](const fusion::Note& n) { return n.text == why; });
  }
  // The one choice by cost that there was, and that it was taken if that costs less.
  fusion::Choice choice(const std::string& why) const {
    REQUIRE(plan->considered.size() == 1);
    const fusion::Choice c = plan->considered[0];
    CHECK(c.why == why);
    CHECK(c.taken == (c.instead < c.as_is));
    return c;
  }
  // The only offer that there was, which no estimate decided.
  fusion::Choice exact(const std::string& why) const {
    REQUIRE(plan->considered.size() == 1);
    CHECK(plan->considered[0].why == why);
    CHECK(plan->considered[0].taken);
    return plan->considered[0];
  }
  std::shared_ptr<const fusion::Plan> plan;

 private:
  static bool is_call(const fusion::Step& s) { return s.kind == fusion::StepKind::Direct; }
  int regions(auto&& such) const {
    return count(plan->steps, [&](const auto& s) { return !is_call(s) && such(s.region); });
  }
  static int count(const auto& all, auto&& f) {
    return static_cast<int>(std::count_if(all.begin(), all.end(), f));
  }
};

}  // namespace plait::test
