// The C interface of exported programs.
#include "plait_run.h"

#include <cstring>
#include <mutex>
#include <new>
#include <string>
#include <vector>

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
  Program program;
  std::vector<Program::Value> results;  // of the last call
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

std::size_t bytes_of(const Dims& shape, DType t) {
  return static_cast<std::size_t>(plait::element_count(shape)) * plait::itemsize(t);
}

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
  if (!a.data || a.bytes < bytes_of(shape, of.dtype)) throw wrong("has too few bytes");
  return shape;
}

NodeMemory borrowed(void* data, std::size_t bytes, bool writeable) {
  return {plait::adopt(data, bytes, writeable, nullptr, nullptr), 0};
}

void call(plait_program& p, const plait_array* arguments, std::size_t argument_count,
          plait_array* results, std::size_t result_count) {
  const auto& data = p.program.data();
  if (argument_count != data.arguments.size() || result_count != data.results.size())
    throw plait::ValueError("it takes " + std::to_string(data.arguments.size()) +
                            " arrays and gives " + std::to_string(data.results.size()));
  std::vector<Dims> shapes;
  std::vector<NodeMemory> memory, into;
  for (std::size_t i = 0; i < argument_count; ++i) {
    shapes.push_back(shape_of(arguments[i], data.arguments[i]));
    memory.push_back(borrowed(arguments[i].data, arguments[i].bytes, false));
  }
  const plait::engine::Extents extents = p.program.extents_of(shapes);
  const std::lock_guard held(plait::tracer::lock());
  const std::vector<Dims> made = p.program.result_shapes(extents);
  for (std::size_t i = 0; i < result_count; ++i) {
    const std::size_t bytes = bytes_of(made[i], data.results[i].dtype);
    const bool there = results[i].data;
    if (there && results[i].bytes < bytes)
      throw plait::ValueError("result " + std::to_string(i) + " takes " + std::to_string(bytes) +
                              " bytes, and has " + std::to_string(results[i].bytes));
    into.push_back(there ? borrowed(results[i].data, bytes, true) : NodeMemory{});
  }
  p.results = p.program.run(memory, extents, into);
  for (std::size_t i = 0; i < data.writes.size(); ++i) {
    const plait_array& a = arguments[data.writes[i]];
    const Program::Value& value = p.results[result_count + i];
    std::memcpy(
        a.data, value.memory.at(),
        bytes_of(value.shape, data.arguments[static_cast<std::size_t>(data.writes[i])].dtype));
  }
  for (std::size_t i = 0; i < result_count; ++i) {
    Program::Value& value = p.results[i];
    const DType t = data.results[i].dtype;
    const std::size_t bytes = bytes_of(value.shape, t);
    plait_array& r = results[i];
    if (!r.data)
      r.data = value.memory.at();
    else if (r.data != value.memory.at())
      std::memcpy(r.data, value.memory.at(), bytes);
    r.bytes = bytes;
    r.dtype = plait::name(t).data();
    r.ndim = value.shape.size();
    r.shape = value.shape.data();
  }
}

}  // namespace

const char* plait_load(const char* path, plait_program** program) {
  *program = nullptr;
  return guarded([&] { *program = new plait_program(path); });
}

const char* plait_call(plait_program* program, const plait_array* arguments, size_t argument_count,
                       plait_array* results, size_t result_count) {
  return guarded([&] { call(*program, arguments, argument_count, results, result_count); });
}

std::size_t plait_results(const plait_program* program) {
  return program->program.data().results.size();
}

void plait_free(plait_program* program) { delete program; }
