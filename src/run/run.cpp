// The C interface of exported programs.
#include "plait_run.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "core/shape_limits.hpp"
#include "engine/programs/program_file.hpp"
#include "plait/error.hpp"
#include "tracer/context.hpp"

using plait::Dims;
using plait::DType;
using plait::Ref;
using plait::engine::NodeMemory;
using plait::engine::Program;

struct plait_program {
  explicit plait_program(const char* path) : program(plait::engine::read_program(path)) {}
  // Whether it lies in a result of the last call's that has the program's memory.
  bool owns(const void* data) const {
    const auto* const at = static_cast<const std::byte*>(data);
    return std::ranges::any_of(results, [&](const Program::Value& v) {
      return v.memory && !std::less<>()(at, v.memory.buffer->data) &&
             std::less<>()(at, v.memory.buffer->data + v.memory.buffer->bytes);
    });
  }
  Program program;
  std::vector<Program::Value> results;  // of the last call; without memory where it is the caller's
};

namespace {

thread_local std::string error;

template <class F>
const char* guarded(F&& f) noexcept {
  try {
    f();
    return nullptr;
  } catch (const std::bad_alloc&) {
    return "memory is short";
  } catch (const std::exception& e) {
    try {
      error = e.what();
    } catch (...) {
      return "memory is short";
    }
    return error.c_str();
  }
}

void check_given(const void* p, const char* what) {
  if (!p) throw plait::ValueError(std::string(what) + " is NULL");
}

// Of an array in memory, whose bytes a caller may have claimed.
std::size_t bytes_of(const Dims& shape, DType t) {
  const auto item = static_cast<std::int64_t>(plait::itemsize(t));
  plait::check_shape(shape, item);
  return static_cast<std::size_t>(plait::element_count(shape) * item);
}

// Memory of the caller's.
struct Range {
  std::byte* first = nullptr;
  std::size_t bytes = 0;

  bool meets(const Range& r) const {
    return first && r.first && std::less<>()(first, r.first + r.bytes) &&
           std::less<>()(r.first, first + bytes);
  }
  bool aligned(DType t) const {
    const std::size_t item = plait::itemsize(t) / (plait::is_complex(t) ? 2 : 1);
    return reinterpret_cast<std::uintptr_t>(first) % item == 0;
  }
};
Range range(void* data, std::size_t bytes) { return {static_cast<std::byte*>(data), bytes}; }

Dims shape_of(const plait_array& a, const plait::engine::ProgramArgument& of) {
  const auto wrong = [&](const std::string& why) {
    return plait::ValueError("argument '" + of.name + "' " + why);
  };
  const std::string_view wanted = plait::name(of.dtype);
  if (!a.dtype || a.dtype != wanted)
    throw wrong("has to be of " + std::string(wanted) + ", not of " +
                (a.dtype ? a.dtype : "no dtype"));
  if (a.ndim < 0 || a.ndim > plait::kMaxDims || (a.ndim > 0 && !a.shape))
    throw wrong("has no shape");
  Dims shape(a.shape, a.shape + a.ndim);
  for (const std::int64_t n : shape)
    if (n < 0) throw wrong("has a negative extent");
  if (!a.data) throw wrong("has no data");
  if (a.bytes < bytes_of(shape, of.dtype)) throw wrong("has too few bytes");
  return shape;
}

NodeMemory borrowed(const Range& r, bool writeable) {
  return {plait::adopt(r.first, r.bytes, writeable, nullptr, nullptr), 0};
}

// What code may read as elements of the dtype: a copy where it is not aligned.
NodeMemory readable(const Range& r, DType t) {
  if (r.aligned(t)) return borrowed(r, false);
  NodeMemory copy{plait::allocate(r.bytes), 0};
  std::memcpy(copy.at(), r.first, r.bytes);
  return copy;
}

// A call's arrays in the caller's memory.
class Places {
 public:
  Places(const Program& program, std::vector<Range> arguments)
      : program_(program), arguments_(std::move(arguments)) {
    program.check_apart(
        [&](std::size_t i, std::size_t j) { return arguments_[i].meets(arguments_[j]); });
  }

  // The next result is wanted in r; with no memory, anywhere. What the program may store there
  // before it has read all: nothing, where that is an argument's or not aligned.
  NodeMemory place(const Range& r) {
    const auto& data = program_.data();
    const std::string result = "result " + std::to_string(results_.size()) + " ";
    for (std::size_t i = 0; i < results_.size(); ++i)
      if (r.meets(results_[i]))
        throw plait::ValueError(result + "shares memory with result " + std::to_string(i));
    for (const std::int32_t w : data.writes)
      if (r.meets(arguments_[static_cast<std::size_t>(w)]))
        throw plait::ValueError(result + "shares memory with argument '" +
                                data.arguments[static_cast<std::size_t>(w)].name +
                                "', which is written");
    const bool apart = std::ranges::none_of(arguments_, [&](const Range& a) { return r.meets(a); });
    const bool direct = r.first && apart && r.aligned(data.results[results_.size()].dtype);
    results_.push_back(r);
    return direct ? borrowed(r, true) : NodeMemory{};
  }

  const Range& argument(std::int32_t i) const { return arguments_[static_cast<std::size_t>(i)]; }
  const Range& result(std::size_t i) const { return results_[i]; }

 private:
  const Program& program_;
  std::vector<Range> arguments_, results_;
};

void call(plait_program& p, const plait_array* arguments, std::size_t argument_count,
          plait_array* results, std::size_t result_count) {
  const auto& data = p.program.data();
  if (argument_count != data.arguments.size() || result_count != data.results.size())
    throw plait::ValueError("it takes " + std::to_string(data.arguments.size()) +
                            " arrays and gives " + std::to_string(data.results.size()));
  if ((argument_count > 0 && !arguments) || (result_count > 0 && !results))
    throw plait::ValueError("the arrays are NULL");
  std::vector<Dims> shapes;
  std::vector<Range> ranges;
  std::vector<NodeMemory> memory, into;
  for (std::size_t i = 0; i < argument_count; ++i) {
    const DType t = data.arguments[i].dtype;
    shapes.push_back(shape_of(arguments[i], data.arguments[i]));
    ranges.push_back(range(arguments[i].data, bytes_of(shapes[i], t)));
    memory.push_back(readable(ranges[i], t));
  }
  const plait::engine::Extents extents = p.program.extents_of(shapes);
  Places places(p.program, std::move(ranges));
  const std::lock_guard held(plait::tracer::lock());
  const std::vector<Dims> made = p.program.result_shapes(extents);
  for (std::size_t i = 0; i < result_count; ++i) {
    const std::size_t bytes = bytes_of(made[i], data.results[i].dtype);
    void* const wanted = p.owns(results[i].data) ? nullptr : results[i].data;
    if (wanted && results[i].bytes < bytes)
      throw plait::ValueError("result " + std::to_string(i) + " takes " + std::to_string(bytes) +
                              " bytes, and has " + std::to_string(results[i].bytes));
    into.push_back(places.place(range(wanted, bytes)));
  }
  std::vector<Program::Value> values = p.program.run(memory, extents, into);
  for (std::size_t i = 0; i < data.writes.size(); ++i) {
    const Range& to = places.argument(data.writes[i]);
    std::memcpy(to.first, values[result_count + i].memory.at(), to.bytes);
  }
  for (std::size_t i = 0; i < result_count; ++i) {
    Program::Value& value = values[i];
    plait_array& r = results[i];
    const Range& to = places.result(i);
    r.bytes = bytes_of(value.shape, data.results[i].dtype);
    if (to.first) {
      if (to.first != value.memory.at()) std::memcpy(to.first, value.memory.at(), r.bytes);
      value.memory = {};
    } else {
      r.data = value.memory.at();
    }
    r.dtype = plait::name(data.results[i].dtype).data();
    r.ndim = value.shape.size();
    r.shape = value.shape.data();
  }
  p.results = std::move(values);
}

}  // namespace

const char* plait_load(const char* path, plait_program** program) {
  if (program) *program = nullptr;
  return guarded([&] {
    check_given(path, "the path");
    check_given(program, "where the program is to go");
    *program = new plait_program(path);
  });
}

const char* plait_call(plait_program* program, const plait_array* arguments, size_t argument_count,
                       plait_array* results, size_t result_count) {
  return guarded([&] {
    check_given(program, "the program");
    call(*program, arguments, argument_count, results, result_count);
  });
}

std::size_t plait_results(const plait_program* program) {
  return program ? program->program.data().results.size() : 0;
}

const char* plait_written(const plait_program* program, std::size_t argument) {
  if (!program) return nullptr;
  const auto& data = program->program.data();
  const bool is_written = std::ranges::any_of(
      data.writes, [&](std::int32_t w) { return static_cast<std::size_t>(w) == argument; });
  return is_written ? data.arguments[argument].name.c_str() : nullptr;
}

void plait_free(plait_program* program) { delete program; }

const char* plait_version(void) { return PLAIT_VERSION; }
