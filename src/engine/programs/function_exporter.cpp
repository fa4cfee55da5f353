#include "function_exporter.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>

#include "core/json.hpp"
#include "polynomial_fit.hpp"
#include "program_file.hpp"
#include "tracer/context.hpp"
#include "tracer/interrupted.hpp"

namespace plait::engine {

namespace {

constexpr std::size_t kMostExtents = 3, kMostVariants = 400;
constexpr std::size_t kMostIntervals = 1000;                // of one extent
constexpr std::int64_t kMostBytes = std::int64_t{1} << 38;  // of an array that is recorded with
constexpr std::int64_t kEndless = std::int64_t{1} << 62;

struct TooLarge : Error {
  TooLarge() : Error("arrays would be too large") {}
};
std::int64_t middle(std::int64_t least, std::int64_t most) {
  if (most >= kEndless) return least;
  const double mean = std::sqrt(static_cast<double>(least) * static_cast<double>(most));
  return std::min(most, std::max(least, static_cast<std::int64_t>(mean)));
}

// How far from the example a box is, in powers of two; what holds it comes first.
int distance(const std::vector<Variant::Bound>& box, const Extents& example) {
  int sum = 0, outside = 0;
  for (std::size_t i = 0; i < box.size(); ++i) {
    const std::int64_t nearest = std::clamp(example[i], box[i].least, box[i].most);
    outside |= nearest != example[i];
    const auto width = [](std::int64_t n) {
      return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n)));
    };
    sum += std::abs(width(nearest) - width(example[i]));
  }
  return sum + outside;
}

// Calls f with every choice of one entry of each list, the last list's changing fastest.
template <class T, class F>
void for_each_choice(const std::vector<std::vector<T>>& lists, F&& f) {
  std::vector<T> chosen(lists.size());
  const auto choose = [&](auto& self, std::size_t i) -> void {
    if (i == lists.size()) return f(chosen);
    for (const T& x : lists[i]) {
      chosen[i] = x;
      self(self, i + 1);
    }
  };
  choose(choose, 0);
}

template <class List, class F>
std::string listed(const List& list, F&& entry) {
  std::string json;
  for (const auto& x : list) json += (json.empty() ? "" : ", ") + entry(x);
  return "[" + json + "]";
}

}  // namespace

std::vector<CpuTier> tiers_named(const std::vector<std::string>& names) {
  if (names.empty())
    return {kTiers.end() - std::min<std::ptrdiff_t>(2, std::ssize(kTiers)), kTiers.end()};
  std::vector<CpuTier> tiers;
  for (const std::string& name : names) {
    const auto known = std::ranges::find(kTiers, name, target_name);
    if (known == kTiers.end() && name != "host") {
      std::string all;
      for (const CpuTier t : kTiers) all += target_name(t) + ", ";
      throw ValueError("target '" + name + "' is none of " + all + "host");
    }
    const CpuTier tier = name == "host" ? config().tier : *known;
    if (std::ranges::find(tiers, tier) == tiers.end()) tiers.push_back(tier);
  }
  return tiers;
}

bool FunctionExporter::Planned::holds(const WatchedCall& c) const {
  const std::lock_guard held(tracer::lock());
  std::vector<std::int64_t> values;
  return c.trace().has(*plan, of->trace(), values);
}

FunctionExporter::FunctionExporter(std::vector<ProgramArgument> arguments,
                                   std::vector<CpuTier> tiers)
    : tiers_(std::move(tiers)) {
  data_.arguments = std::move(arguments);
  for (ProgramArgument& a : data_.arguments) a.dynamic.assign(a.shape.size(), -1);
  for (const CpuTier t : tiers_) data_.targets.push_back(target_name(t));
}

void FunctionExporter::name_extent(std::size_t argument, std::int64_t axis, std::string name) {
  ProgramArgument& a = data_.arguments[argument];
  const auto ndim = static_cast<std::int64_t>(a.shape.size());
  if (axis < -ndim || axis >= ndim)
    throw AxisError("axis " + std::to_string(axis) + " is out of bounds for array of dimension " +
                    std::to_string(ndim));
  const auto d = static_cast<std::size_t>(axis < 0 ? axis + ndim : axis);
  if (name.empty()) name = a.name + "_" + std::to_string(d);
  const auto known = std::ranges::find(data_.extents, name);
  const auto number = static_cast<std::size_t>(known - data_.extents.begin());
  if (a.shape[d] < 1 || (known != data_.extents.end() && example_[number] != a.shape[d]))
    throw ValueError("the extent '" + name + "' is " + std::to_string(a.shape[d]) +
                     " in argument '" + a.name +
                     "', and has to be the same of all, and 1 at least in the example");
  if (known == data_.extents.end()) {
    data_.extents.push_back(name);
    example_.push_back(a.shape[d]);
  }
  a.dynamic[d] = static_cast<std::int32_t>(number);
}

void FunctionExporter::name_extents(std::int64_t axis) {
  name_extent(0, axis, "");
  const auto& first = data_.arguments[0];
  const auto d = static_cast<std::size_t>(
      axis < 0 ? axis + static_cast<std::int64_t>(first.shape.size()) : axis);
  for (ProgramArgument& a : data_.arguments)
    for (std::size_t i = 0; i < a.shape.size(); ++i)
      if (a.dynamic[i] < 0 && a.shape[i] == first.shape[d]) a.dynamic[i] = first.dynamic[d];
}

Dims FunctionExporter::shape_of(std::int32_t argument, const Extents& extents) const {
  const ProgramArgument& a = data_.arguments[static_cast<std::size_t>(argument)];
  Dims shape;
  for (std::size_t d = 0; d < a.shape.size(); ++d)
    shape.push_back(a.dynamic[d] < 0 ? a.shape[d]
                                     : extents[static_cast<std::size_t>(a.dynamic[d])]);
  return shape;
}

const FunctionExporter::Call& FunctionExporter::record(const Extents& extents) {
  const auto known = recorded_.find(extents);
  if (known != recorded_.end()) return known->second;
  std::vector<tracer::Array> arrays;
  for (std::size_t i = 0; i < data_.arguments.size(); ++i) {
    const ProgramArgument& a = data_.arguments[i];
    const Dims shape = shape_of(static_cast<std::int32_t>(i), extents);
    auto bytes = static_cast<std::int64_t>(itemsize(a.dtype));
    for (const std::int64_t n : shape)
      if (__builtin_mul_overflow(bytes, n, &bytes) || bytes > kMostBytes) throw TooLarge();
    try {
      arrays.push_back(untouched(a.dtype, shape));
    } catch (const std::bad_alloc&) {
      throw TooLarge();
    }
  }
  Call call = (*function_)(arrays);
  if (!call->refusal().why.empty()) throw Refused(call->refusal().why, call->refusal().site);
  return recorded_[extents] = std::move(call);
}

FunctionExporter::Planned FunctionExporter::planned(const Extents& extents) {
  const Call call = record(extents);
  const std::lock_guard held(tracer::lock());
  return {call->trace().plan(), call};
}

// Whether the function recorded at these extents has the plan.
bool FunctionExporter::alike(const Planned& p, const Extents& extents) {
  try {
    return p.holds(*record(extents));
  } catch (const TooLarge&) {
    return true;  // from its last class of sizes on
  } catch (const tracer::Interrupted&) {
    throw;
  } catch (const std::exception&) {
    return false;  // the function refuses such arrays
  }
}

void FunctionExporter::plan(const Record& function, const Progress& progress) {
  if (example_.size() > kMostExtents)
    throw ValueError("at most " + std::to_string(kMostExtents) + " extents may be dynamic, not " +
                     std::to_string(example_.size()));
  function_ = &function;
  // However it ends, nobody is to compute what was recorded: arrays of these sizes have no memory.
  struct Forgotten {
    std::map<Extents, Call>& recorded;
    ~Forgotten() { recorded.clear(); }
  } const forgotten{recorded_};
  data_.results = record(example_)->results();
  std::vector<std::vector<Interval>> all;
  for (std::size_t e = 0; e < example_.size(); ++e) {
    progress("where its graph changes with " + data_.extents[e]);
    all.push_back(intervals(e));
  }
  std::vector<Box> boxes;
  for_each_choice(all, [&](const Box& box) { boxes.push_back(box); });
  std::ranges::stable_sort(boxes, {}, [&](const Box& box) { return distance(box, example_); });
  if (boxes.size() > kMostVariants) boxes.resize(kMostVariants);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    progress("variant " + std::to_string(i + 1) + " of " + std::to_string(boxes.size()));
    add(boxes[i], i == 0);
    recorded_.clear();
  }
}

// Ranges of one extent in which the function's graphs are alike, the others as in the example.
std::vector<FunctionExporter::Interval> FunctionExporter::intervals(std::size_t extent) {
  const auto at = [&](std::int64_t n) {
    Extents extents = example_;
    extents[extent] = n;
    return extents;
  };
  const std::int64_t example = example_[extent];
  std::vector<Interval> found;
  for (std::int64_t n = 0; n < kEndless;) {
    recorded_.clear();
    std::optional<Planned> p;
    try {
      p = planned(at(n));
    } catch (const TooLarge&) {
      break;
    } catch (const tracer::Interrupted&) {
      throw;
    } catch (const std::exception&) {  // the function refuses such arrays
      if (n > example) break;
      n = n < 64 ? n + 1 : std::min(2 * n, example);
      continue;
    }
    std::int64_t last = n, step = 1;
    while (last < kEndless && alike(*p, at(last + step))) {
      last += step;
      step *= 2;
    }
    while (step > 1 && last < kEndless) {
      step /= 2;
      if (alike(*p, at(last + step))) last += step;
    }
    found.push_back({n, std::min(last, kEndless)});
    if (found.size() > kMostIntervals) throw NoPolynomial();
    n = last + 1;
  }
  return found;
}

// Variants for extents in the box: where the graph's or the plan's numbers are of other classes in
// parts of it, several.
void FunctionExporter::add(const Box& box, bool needed) {
  Extents inside;
  std::vector<Extents> ends;
  for (std::size_t e = 0; e < box.size(); ++e) {
    const auto [least, most] = box[e];
    const bool in = least <= example_[e] && example_[e] <= most;
    inside.push_back(in ? example_[e] : middle(least, most));
    ends.push_back({least, least > most / 4 ? most : std::min(most, 4 * least + 1000)});
  }
  std::vector<Extents> places{inside};
  for_each_choice(ends, [&](const Extents& corner) { places.push_back(corner); });
  std::vector<Planned> plans;
  for (const Extents& at : places) {
    if (std::ranges::any_of(plans, [&](const Planned& p) { return alike(p, at); })) continue;
    try {
      Planned p = planned(at);
      add_variant(box, at, p);
      for (std::string& name : operations_of(*p.plan)) operations_.insert(std::move(name));
      plans.push_back(std::move(p));
    } catch (const tracer::Interrupted&) {
      throw;
    } catch (const std::exception&) {  // the function refuses such arrays
      if (needed && &at == places.data()) throw;
    }
  }
}

void FunctionExporter::add_variant(const Box& box, const Extents& at, const Planned& p) {
  Variant v;
  v.bounds = box;
  std::vector<Extents> lines;
  for (std::size_t e = 0; e < box.size(); ++e) {
    const auto [least, most] = box[e];
    v.points.push_back(static_cast<std::int32_t>(std::min<std::int64_t>(3, most - least + 1)));
    v.base.push_back(std::min(at[e], most - v.points[e] + 1));
    Extents& line = lines.emplace_back();
    for (std::int32_t k = 0; k < v.points[e]; ++k) line.push_back(v.base[e] + k);
  }
  std::vector<PolynomialFit::Sample> samples;
  for_each_choice(lines, [&](const Extents& x) {
    const Call& call = record(x);
    if (!p.holds(*call))
      throw Refused("its plan for the example does not hold for extents near it", 0);
    samples.push_back({x, call});
  });
  const auto sampled = [&](const Extents& x) {
    return std::ranges::find(samples, x, &PolynomialFit::Sample::extents) != samples.end();
  };
  for (const std::int64_t step : {7, 100, 1001, -5, -50}) {
    Extents x = at;
    for (std::size_t e = 0; e < x.size(); ++e)
      x[e] = std::clamp(x[e] + step, box[e].least, box[e].most);
    if (!sampled(x) && alike(p, x) && recorded_.contains(x)) samples.push_back({x, record(x)});
  }

  const std::lock_guard held(tracer::lock());
  const Trace& trace = p.of->trace();
  const PolynomialFit fit(*p.plan, v.points, v.base, samples);
  v.numbers = fit.numbers(fit.of_each([&](const Trace& t) { return t.numbers(*p.plan); }),
                          trace.sites(*p.plan));
  v.scalars = fit.scalars();
  const auto leaves = fit.of_each([](const Trace& t) { return t.leaves(); });
  for (std::size_t i = 0; i < leaves[0].size(); ++i) {
    const Trace::Leaf& first = leaves[0][i];
    Variant::Leaf leaf{first.node, first.kind, first.number, first.dtype, {}, first.exclusive};
    if (leaf.kind == Variant::Leaf::Kind::Constant) {
      for (const auto& other : leaves)
        if (other[i].bytes != first.bytes)
          throw Refused(
              "it reads an array that it does not record, whose contents depend on the dynamic "
              "extents",
              0);
      leaf.number = constant(first.bytes);
    }
    if (leaf.kind == Variant::Leaf::Kind::Unwritten) {
      std::vector<Dims> shapes;
      for (const auto& other : leaves) shapes.push_back(other[i].shape);
      leaf.shape = fit.numbers(shapes);
    }
    v.leaves.push_back(std::move(leaf));
  }
  v.nodes = trace.nodes();
  const std::vector<std::uint32_t> sites = trace.result_sites();
  const auto add_result = [&](std::size_t i) {
    const auto shapes = fit.of_each([&](const Trace& t) { return t.shape_of(i); });
    const std::vector<std::uint32_t> there(static_cast<std::size_t>(shapes[0].size()), sites[i]);
    v.results.push_back({trace.results()[i], fit.numbers(shapes, there)});
  };
  const std::size_t unwritten = trace.results().size() - trace.writes().size();
  for (std::size_t i = 0; i < unwritten; ++i) add_result(i);
  if (data_.variants.empty()) data_.writes = trace.writes();
  std::size_t written = 0;
  for (const std::int32_t w : data_.writes) {
    const auto found = std::ranges::find(trace.writes(), w);
    if (found != trace.writes().end()) {
      ++written;
      add_result(unwritten + static_cast<std::size_t>(found - trace.writes().begin()));
      continue;
    }
    // Nothing is recorded for arrays without elements.
    std::vector<Dims> shapes;
    for (const PolynomialFit::Sample& s : samples) shapes.push_back(shape_of(w, s.extents));
    if (!std::ranges::all_of(shapes, [](const Dims& d) { return element_count(d) == 0; })) break;
    ++written;
    v.results.push_back({-1, fit.numbers(shapes)});
  }
  if (written != data_.writes.size() || v.results.size() < trace.results().size())
    throw Refused("which arguments it writes to depends on the extents", 0);
  for (const auto& d : p.of->demands()) v.demands.push_back(d.otherwise);
  v.kernels = add_kernels(data_, *p.plan, tiers_);
  v.plan = *p.plan;
  data_.variants.push_back(std::move(v));
}

std::int32_t FunctionExporter::constant(std::string_view bytes) {
  const auto known = std::ranges::find(data_.constants, bytes);
  const auto at = static_cast<std::int32_t>(known - data_.constants.begin());
  if (known == data_.constants.end()) data_.constants.emplace_back(bytes);
  return at;
}

std::string FunctionExporter::file(const std::string& function, const std::string& version,
                                   const std::string& results) {
  const auto argument = [&](const ProgramArgument& a) {
    std::size_t d = 0;
    const std::string shape = listed(a.shape, [&](std::int64_t n) {
      const std::int32_t extent = a.dynamic[d++];
      return extent < 0 ? std::to_string(n)
                        : json::quoted(data_.extents[static_cast<std::size_t>(extent)]);
    });
    return "{\"name\": " + json::quoted(a.name) +
           ", \"dtype\": " + json::quoted(plait::name(a.dtype)) + ", \"shape\": " + shape + "}";
  };
  data_.manifest =
      "{\"function\": " + json::quoted(function) + ", \"plait\": " + json::quoted(version) +
      ", \"targets\": " + listed(data_.targets, json::quoted) +
      ", \"extents\": " + listed(data_.extents, json::quoted) +
      ", \"arguments\": " + listed(data_.arguments, argument) + ", \"results\": " + results +
      ", \"operations\": " + listed(operations_, json::quoted) + "}";
  return to_file(data_);
}

}  // namespace plait::engine
