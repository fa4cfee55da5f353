// Calls of compiled functions by a kept plan beside the same calls by the functions.
#include <string>
#include <vector>

#include "box.hpp"
#include "core/config.hpp"
#include "plait/compile.hpp"
#include "plait/print.hpp"

namespace plait::detail {

namespace {

Handle snapshot(const Handle& a) {
  Handle c = copy(a);
  evaluate(&c, 1);
  return c;
}
bool same(const Handle& a, const Handle& b) {
  return dtype_of(a) == dtype_of(b) && array_equal(a, b, true);
}

std::string element_text(const Handle& a, std::size_t i) {
  const dtype t = dtype_of(a);
  return to_text(
      from_values(static_cast<const std::byte*>(data(a)) + i * itemsize(core(t)), {nullptr, 0}, t),
      {.precision = 17});
}

[[noreturn]] void throw_differing(const std::string& what, const Handle& by_plan,
                                  const Handle& function) {
  const Handle by_function = snapshot(function);
  const Span a = shape_of(by_plan), b = shape_of(by_function);
  std::string how = " has another shape or dtype";
  if (dims(a) == dims(b) && dtype_of(by_plan) == dtype_of(by_function)) {
    const auto count = static_cast<std::size_t>(size_of(by_plan));
    for (std::size_t i = 0; i < count; ++i) {
      const std::string of_plan = element_text(by_plan, i),
                        of_function = element_text(by_function, i);
      if (of_plan == of_function && i + 1 < count) continue;
      how = ", element " + std::to_string(i) + ", is " + of_plan + ", and by the function " +
            of_function;
      break;
    }
  }
  throw Error("compile: " + what + " of a call by a kept plan" + how +
              ": the function depends on more than its arguments, as on a captured number, or "
              "decides by a floating-point one");
}

}  // namespace

struct CheckedCall::State {
  const CompiledCall& call;
  std::vector<Handle> before, arguments, results;
};

bool CheckedCall::wanted() { return config().check_compiled && !tracer::capture(); }

CheckedCall::CheckedCall(const CompiledCall& c) : state_(new State{c, {}, {}, {}}) {
  for (int i = 0; i < c.n_arrays; ++i) state_->before.push_back(snapshot(*c.arrays[i]));
}
CheckedCall::~CheckedCall() { delete state_; }

void CheckedCall::by_plan() {
  const CompiledCall& c = state_->call;
  for (int i = 0; i < c.n_results; ++i) {
    state_->results.push_back(snapshot(c.results[i]));
    c.results[i] = Handle();
  }
  for (int i = 0; i < c.n_arrays; ++i) {
    const Handle& before = state_->before[static_cast<std::size_t>(i)];
    state_->arguments.push_back(snapshot(c.bound[i] ? c.bound[i] : *c.arrays[i]));
    c.bound[i] = Handle();
    if (!same(*c.arrays[i], before)) assign(*c.arrays[i], {&before, {}, nullptr}, nullptr);
  }
}

void CheckedCall::by_function() {
  const CompiledCall& c = state_->call;
  for (int i = 0; i < c.n_results; ++i) {
    const Handle& by_plan = state_->results[static_cast<std::size_t>(i)];
    if (!same(by_plan, c.results[i]))
      throw_differing("result " + std::to_string(i), by_plan, c.results[i]);
  }
  for (int i = 0; i < c.n_arrays; ++i) {
    const Handle& by_plan = state_->arguments[static_cast<std::size_t>(i)];
    if (!same(by_plan, *c.arrays[i]))
      throw_differing("array argument " + std::to_string(i), by_plan, *c.arrays[i]);
  }
}

}  // namespace plait::detail
