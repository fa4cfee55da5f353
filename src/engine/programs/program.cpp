#include "program.hpp"

#include <algorithm>
#include <cstring>

#include "core/array_memory.hpp"
#include "engine/direct/operation.hpp"
#include "engine/plans/kernel.hpp"
#include "engine/plans/plan_run.hpp"
#include "plait/error.hpp"
#include "tracer/evaluation_scope.hpp"

namespace plait::engine {

namespace {

std::string listed(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& n : names) all += (all.empty() ? "" : ", ") + n;
  return all;
}

// The best of the targets that this processor runs: its number, and its tier.
std::pair<std::size_t, CpuTier> choose(const std::vector<std::string>& targets) {
  for (int tier = static_cast<int>(config().tier); tier >= 0; --tier) {
    const auto t = static_cast<CpuTier>(tier);
    const auto found = std::ranges::find(targets, target_name(t));
    if (found != targets.end()) return {static_cast<std::size_t>(found - targets.begin()), t};
  }
  throw ValueError("it has code for " + listed(targets) + ", and this processor runs " +
                   target_name(config().tier));
}

std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) throw ValueError("its arrays would be too big");
  return product;
}
std::int64_t plus(std::int64_t a, std::int64_t b) {
  std::int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) throw ValueError("its arrays would be too big");
  return sum;
}

std::int64_t choose_of(std::int64_t n, std::int32_t k) {
  if (k < 2) return k == 0 ? 1 : n;
  return n % 2 == 0 ? times(n / 2, n - 1) : times(n, (n - 1) / 2);
}

std::int64_t newton(const std::int64_t*& difference, std::span<const std::int64_t> from_base,
                    std::span<const std::int32_t> points) {
  if (points.empty()) return *difference++;
  std::int64_t sum = 0;
  for (std::int32_t k = 0; k < points[0]; ++k)
    sum = plus(sum, times(choose_of(from_base[0], k),
                          newton(difference, from_base.subspan(1), points.subspan(1))));
  return sum;
}

Scalar value_of(const NumberScalar& s, std::span<const std::int64_t> from_base,
                std::span<const std::int32_t> points) {
  if (s.kind == NumberScalar::Kind::Constant) return s.value;
  const std::int64_t n = s.number.at(from_base, points);
  if (s.kind == NumberScalar::Kind::Number) return cast(scalar_int(n), s.dtype);
  return cast(scalar_float(s.value.as<double>() / static_cast<double>(n)), s.dtype);
}

}  // namespace

std::string target_name(CpuTier tier) { return info(tier).target; }

std::int64_t Number::at(std::span<const std::int64_t> from_base,
                        std::span<const std::int32_t> points) const {
  if (differences.size() == 1) return differences[0];
  const std::int64_t* next = differences.data();
  return newton(next, from_base, points);
}

// Takes the results.
class Program::Taken final : public Recording {
 public:
  Taken(const Variant& v, std::vector<Value>& results, std::span<const NodeMemory> into)
      : variant_(v), results_(results), into_(into) {}

  void keep(const Root& r, const NodeMemory& m) override {
    for (std::size_t i = 0; i < results_.size(); ++i)
      if (variant_.results[i].node == r.node) results_[i].memory = m;
  }
  NodeMemory place(const Root& r) const override {
    for (std::size_t i = 0; i < into_.size(); ++i)
      if (variant_.results[i].node == r.node) return into_[i];
    return {};
  }
  void give_up(std::int32_t) override {}
  void secure(const Root&, const NodeMemory&) override {}
  void let_go(std::vector<std::int32_t>& nodes) override { nodes.clear(); }
  NodeMemory give_memory(std::int32_t node) override {
    const Bindings& b = *bindings;
    const Slot& s = b.slots[static_cast<std::size_t>(node)];
    const Unwritten& u = b.unwritten[static_cast<std::size_t>(s.unwritten)];
    return {allocate_array(u.shape, u.dtype), 0};
  }
  // Nobody listens.
  void report(const BoundStep&, fusion::UpdateMode, unsigned) override {}
  bool heard_alike(const BoundStep&) const override { return true; }
  void report(std::int32_t, std::string_view, unsigned) override {}
  std::uint32_t site(std::int32_t) const override { return 0; }
  void describe(const BoundStep& s, timeline::Span& span) const override {
    span.name(s.step.lowered.kernel.name);
  }
  // Of devices.
  NodeMemory evaluate_apart(std::int32_t, const ToHost&) override { return {}; }
  NodeMemory viewed(std::int32_t) const override { return {}; }
  void keep_as_recorded(const Root& r, const NodeMemory& m) override { keep(r, m); }
  std::string_view operation(std::int32_t) const override { return "a region"; }

  const Bindings* bindings = nullptr;

 private:
  const Variant& variant_;
  std::vector<Value>& results_;
  const std::span<const NodeMemory> into_;
};

Program::Program(ProgramData data) : data_(std::move(data)) {
  const auto [target, tier] = choose(data_.targets);
  if (logging(Log::Program))
    log(Log::Program, "loaded: " + std::to_string(data_.variants.size()) + " plans, code for " +
                          data_.targets[target]);
  if (tier != config().tier && logging(Log::Fallback))
    log(Log::Fallback, "a program runs code for " + data_.targets[target] + ": it has none for " +
                           target_name(config().tier));
  std::vector<std::shared_ptr<CompiledKernel>> kernels;
  for (ProgramKernel& k : data_.kernels) {
    auto code = jit::code_of(k.code[target], tier);
    if (!code) throw ValueError("it calls a function that this library does not have");
    ir::Kernel kernel = ir::deserialize(k.ir);
    kernel.name = "exported";
    kernels.push_back(std::make_shared<CompiledKernel>(std::move(kernel), std::move(code)));
    k = {};
  }
  for (Variant& v : data_.variants)
    for (std::size_t i = 0; i < v.kernels.size(); ++i) {
      fusion::Step& s = v.plan.steps[i];
      if (v.kernels[i] < 0) {
        if (!computes(s.operation->kind))
          throw ValueError("it has an operation that needs all of Plait");
        continue;
      }
      const auto& kernel = kernels[static_cast<std::size_t>(v.kernels[i])];
      s.lowered.kernel = kernel->ir();
      s.compiled = kernel;
    }
  for (std::string& bytes : data_.constants) {
    constants_.push_back({allocate(bytes.size()), 0});
    std::memcpy(constants_.back().at(), bytes.data(), bytes.size());
    bytes = {};
  }
}

Extents Program::extents_of(std::span<const Dims> shapes) const {
  const auto& arguments = data_.arguments;
  if (shapes.size() != arguments.size())
    throw ValueError("it takes " + std::to_string(arguments.size()) + " arrays, not " +
                     std::to_string(shapes.size()));
  Extents extents(data_.extents.size(), -1);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const ProgramArgument& a = arguments[i];
    const auto wrong = [&](const std::string& why) {
      return ValueError("argument '" + a.name + "' has shape " + to_string(shapes[i]) + ": " + why);
    };
    if (static_cast<std::size_t>(shapes[i].size()) != a.shape.size())
      throw wrong("it was exported with " + std::to_string(a.shape.size()) + " axes");
    for (int d = 0; d < shapes[i].size(); ++d) {
      const auto axis = static_cast<std::size_t>(d);
      const std::int64_t given = shapes[i][d];
      std::int64_t wanted = a.shape[axis];
      if (a.dynamic[axis] >= 0) {
        std::int64_t& extent = extents[static_cast<std::size_t>(a.dynamic[axis])];
        if (extent < 0) extent = given;
        wanted = extent;
      }
      if (given != wanted)
        throw wrong("axis " + std::to_string(d) + " has to be " + std::to_string(wanted));
    }
  }
  return extents;
}

Extents Program::result_extents(std::size_t result) const {
  Extents extents;
  for (std::int32_t d = 0; d < data_.results[result].ndim; ++d) {
    const auto number = [&](const Variant& v) -> const Number& {
      return v.results[result].shape[static_cast<std::size_t>(d)];
    };
    const Number& first = number(data_.variants[0]);
    const bool is_fixed =
        first.differences.size() == 1 && std::ranges::all_of(data_.variants, [&](const Variant& v) {
          return number(v).differences == first.differences;
        });
    extents.push_back(is_fixed ? first.differences[0] : -1);
  }
  return extents;
}

void Program::check_apart(const std::function<bool(std::size_t, std::size_t)>& meet) const {
  const auto named = [&](std::size_t i) { return "'" + data_.arguments[i].name + "'"; };
  for (const std::int32_t w : data_.writes) {
    const auto written = static_cast<std::size_t>(w);
    for (std::size_t i = 0; i < data_.arguments.size(); ++i)
      if (i != written && meet(written, i))
        throw ValueError("arguments " + named(std::min(i, written)) + " and " +
                         named(std::max(i, written)) + " share memory, and it writes to " +
                         named(written) + ": it was exported with arrays that lie apart");
  }
}

std::unique_ptr<Program::Ready> Program::prepared(const Extents& extents) {
  const auto given_extents = [&] {
    std::string text;
    for (std::size_t i = 0; i < extents.size(); ++i)
      text += " " + data_.extents[i] + " = " + std::to_string(extents[i]);
    return text;
  };
  for (const Variant& v : data_.variants) {
    bool inside = true;
    for (std::size_t i = 0; i < extents.size(); ++i)
      inside &= v.bounds[i].least <= extents[i] && extents[i] <= v.bounds[i].most;
    if (!inside) continue;
    Extents from_base = extents;
    for (std::size_t i = 0; i < extents.size(); ++i) from_base[i] -= v.base[i];
    auto next = v.numbers.begin();
    const auto number = [&](const fusion::Source&) { return (next++)->at(from_base, v.points); };
    RunInputs given;
    v.plan.exprs.evaluate_by(number, given.values);
    if (!v.plan.answers.hold_by(number)) continue;
    const auto shape_of = [&](const std::vector<Number>& numbers) {
      Dims shape;
      for (const Number& n : numbers) shape.push_back(n.at(from_base, v.points));
      return shape;
    };
    for (const NumberScalar& s : v.scalars)
      given.scalars.push_back(value_of(s, from_base, v.points));
    given.slots.resize(static_cast<std::size_t>(v.nodes));
    for (const Variant::Leaf& leaf : v.leaves) {
      Slot& slot = given.slots[static_cast<std::size_t>(leaf.node)];
      if (leaf.kind == Variant::Leaf::Kind::Constant)
        slot.memory = constants_[static_cast<std::size_t>(leaf.number)];
      if (leaf.kind != Variant::Leaf::Kind::Unwritten) continue;
      slot.unwritten = static_cast<std::int32_t>(given.unwritten.size());
      given.unwritten.push_back({leaf.dtype, shape_of(leaf.shape), leaf.exclusive});
    }
    auto r = std::make_unique<Ready>(Ready{extents, &v, {}, std::move(given), nullptr});
    for (const Variant::Result& result : v.results) r->results.push_back(shape_of(result.shape));
    r->bindings = std::make_unique<Bindings>(v.plan, RunInputs(r->given), kHost);
    if (logging(Log::Program))
      log(Log::Program, "plan " + std::to_string(&v - data_.variants.data() + 1) + " of " +
                            std::to_string(data_.variants.size()) + (extents.empty() ? "" : ":") +
                            given_extents());
    return r;
  }
  throw ValueError("no plan in it is for extents of" + given_extents());
}

std::unique_ptr<Program::Ready> Program::ready(const Extents& extents) {
  std::unique_ptr<Ready> r = idle_.take([&](auto& idle) { return idle->extents == extents; });
  return r ? std::move(r) : prepared(extents);
}

std::vector<Dims> Program::result_shapes(const Extents& extents) {
  std::unique_ptr<Ready> r = ready(extents);
  std::vector<Dims> shapes = r->results;
  shapes.resize(data_.results.size());
  idle_.add(std::move(r));
  return shapes;
}

std::vector<Program::Value> Program::run(std::span<const NodeMemory> arguments,
                                         const Extents& extents, std::span<const NodeMemory> into) {
  const tracer::EvaluationScope turn(std::span<tracer::Node* const>{});
  std::unique_ptr<Ready> r = ready(extents);
  const Variant& v = *r->variant;
  for (const Variant::Leaf& leaf : v.leaves)
    if (leaf.kind == Variant::Leaf::Kind::Argument)
      r->bindings->memory(leaf.node) = arguments[static_cast<std::size_t>(leaf.number)];
  std::vector<Value> results;
  for (const Dims& shape : r->results) results.push_back({{}, shape});
  Taken taken(v, results, into);
  taken.bindings = r->bindings.get();
  run_on_host(const_cast<fusion::Plan&>(v.plan), *r->bindings, taken);
  std::ranges::copy(r->given.slots, r->bindings->slots.begin());
  idle_.add(std::move(r));
  for (Value& value : results) {
    if (!value.memory && element_count(value.shape) == 0) value.memory = {allocate(0), 0};
    if (!value.memory) throw InternalError("an exported program without one of its results");
  }
  const std::size_t visible = data_.results.size();
  for (std::size_t i = 0; i < v.demands.size(); ++i)
    if (*results[visible + i].memory.at() == std::byte{0}) throw IndexError(v.demands[i]);
  results.erase(results.begin() + static_cast<std::ptrdiff_t>(visible),
                results.end() - static_cast<std::ptrdiff_t>(data_.writes.size()));
  return results;
}

}  // namespace plait::engine
