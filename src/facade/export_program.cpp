#include "plait/export_program.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "box.hpp"
#include "core/config.hpp"
#include "engine/programs/function_exporter.hpp"
#include "engine/programs/program_file.hpp"
#include "npy.hpp"

namespace plait::detail {

namespace {

using engine::NodeMemory;
using engine::Program;
using engine::WatchedCall;
using tracer::Array;

constexpr char kName[] = "export_program";

// Functions return arrays of their own; what is another array's, or a part of one, is copied, so
// that results are in C order and alias nothing.
std::vector<Array> own(const std::vector<Handle>& results, std::span<const Array> given) {
  std::vector<Array> made;
  for (const Handle& h : results) {
    const Array& a = unwrap(h);
    const auto shares = [&](const Array& other) { return other.storage == a.storage; };
    const bool whole = a.offset + a.storage->base == 0 && tracer::is_c_contiguous(a) &&
                       a.size() * static_cast<std::int64_t>(itemsize(a.dtype)) == a.storage->bytes;
    const bool apart = std::ranges::none_of(given, shares) && std::ranges::none_of(made, shares);
    made.push_back(whole && apart ? a : tracer::copy(a, 'C'));
  }
  return made;
}

// The arrays of a call of the function with `arguments`.
std::vector<Array> call(const ExportedFunction& f, std::span<const Array> arguments,
                        const export_options& options) {
  std::vector<Handle> handles, results;
  for (const Array& a : arguments) handles.push_back(wrap(a));
  f(handles.data(), results);
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (unwrap(handles[i]).storage != arguments[i].storage)
      throw ValueError("it assigns another array to argument '" + options.names[i] +
                       "', which nobody sees: view(x) = y writes to its elements");
  return own(results, arguments);
}

std::string results_text(returned kind, std::size_t n) {
  const auto array = [](std::size_t i) { return "{\"array\": " + std::to_string(i) + "}"; };
  if (kind == returned::nothing) return "{\"constant\": null}";
  if (kind == returned::array) return array(0);
  std::string all;
  for (std::size_t i = 0; i < n; ++i) all += (i ? ", " : "") + array(i);
  return (kind == returned::tuple ? "{\"tuple\": [" : "{\"list\": [") + all + "]}";
}

NodeMemory memory_of(const Array& a) {
  const tracer::Node& n = *a.storage->version;
  return {n.data, n.data_offset + a.offset + a.storage->base};
}

std::vector<Array> copies(std::span<const Array> arrays) {
  std::vector<Array> made;
  for (const Array& a : arrays) made.push_back(tracer::copy(a, 'C'));
  tracer::evaluate(made);
  return made;
}

// Graphs are planned at once while one lives.
class PlanAlways {
 public:
  PlanAlways() : before_(std::exchange(config().plan, PlanMode::Always)) {}
  ~PlanAlways() { config().plan = before_; }
  PlanAlways(const PlanAlways&) = delete;
  PlanAlways& operator=(const PlanAlways&) = delete;

 private:
  const PlanMode before_;
};

// The program gives what the function does.
void check(const std::string& file, const ExportedFunction& f, std::span<const Array> examples,
           const export_options& options) {
  const PlanAlways plan;
  const std::vector<Array> given = copies(examples), others = copies(examples);
  std::vector<Array> expected;
  {
    tracer::Capture nothing_at_once(given);
    expected = call(f, given, options);
    nothing_at_once.end();
  }
  tracer::evaluate(expected);
  tracer::evaluate(given);

  Program program(engine::from_file(file));
  std::vector<Dims> shapes;
  for (const Array& a : others) shapes.push_back(a.shape);
  const engine::Extents extents = program.extents_of(shapes);
  const std::lock_guard held(tracer::lock());
  std::vector<NodeMemory> memory;
  for (const Array& a : others) memory.push_back(memory_of(a));
  const std::vector<Program::Value> made = program.run(memory, extents);
  for (const std::int32_t w : program.data().writes)
    expected.push_back(given[static_cast<std::size_t>(w)]);
  const auto same = [](const Array& a, const Program::Value& v) {
    return a.shape == v.shape && (a.size() == 0 || std::memcmp(memory_of(a).at(), v.memory.at(),
                                                               static_cast<std::size_t>(a.size()) *
                                                                   itemsize(a.dtype)) == 0);
  };
  if (!std::ranges::equal(expected, made, same))
    throw ValueError("the exported program does not give what the function does; is it pure?");
}

// Whole or not at all.
void write(const std::string& file, const std::string& path) {
  const std::string beside = path + ".part";
  File out = open(kName, beside, "wb");
  const bool written = std::fwrite(file.data(), 1, file.size(), out.get()) == file.size();
  if (written && std::fclose(out.release()) == 0 && std::rename(beside.c_str(), path.c_str()) == 0)
    return;
  const int why = errno;
  std::remove(beside.c_str());
  errno = why;
  fail_by_errno(kName, path);
}

}  // namespace

void export_program(const ExportedFunction& f, returned kind, const std::string& path,
                    const Handle* examples, std::size_t n, const dynamic_extents& dynamic,
                    const export_options& options) {
  start();
  named(kName, [&] {
    export_options o = options;
    for (std::size_t i = o.names.size(); i < n; ++i)
      o.names.push_back("argument" + std::to_string(i));
    std::vector<Array> arrays;
    std::vector<engine::ProgramArgument> arguments;
    for (std::size_t i = 0; i < n; ++i) {
      const Array& a = arrays.emplace_back(unwrap(examples[i]));
      arguments.push_back({o.names[i], a.dtype, {a.shape.begin(), a.shape.end()}, {}});
    }
    if (arrays.empty()) throw ValueError("there is no example");
    engine::FunctionExporter exporter(std::move(arguments), engine::tiers_named(o.targets));
    for (const int axis : dynamic.axes()) exporter.name_extents(axis);
    for (const dynamic_extent& e : dynamic.extents()) {
      if (e.argument < 0 || static_cast<std::size_t>(e.argument) >= n)
        throw ValueError("a dynamic extent is argument " + std::to_string(e.argument) +
                         "'s, and there are " + std::to_string(n));
      exporter.name_extent(static_cast<std::size_t>(e.argument), e.axis, e.name);
    }

    std::size_t results = 0;
    const auto record = [&](const std::vector<Array>& given) {
      auto watched = std::make_shared<WatchedCall>(given);
      try {
        const std::vector<Array> made = call(f, given, o);
        results = made.size();
        watched->end(made);
      } catch (const ValueError&) {
        const char* const why = watched->obstacle();
        watched->stop();
        if (!why) throw;
        throw engine::Refused(why, 0);
      }
      return watched;
    };
    try {
      exporter.plan(record, [](const std::string&) {});
    } catch (const engine::Refused& r) {
      throw ValueError(o.function + " cannot be exported: " + r.what());
    }
    const std::string file = exporter.file(o.function, PLAIT_VERSION, results_text(kind, results));
    check(file, f, arrays, o);
    write(file, path);
  });
}

}  // namespace plait::detail
