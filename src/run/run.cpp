// The C interface of exported programs.
#include "plait_run.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "caller_arrays.hpp"
#include "core/buffer.hpp"
#include "core/config.hpp"
#include "core/log_topic.hpp"
#include "core/settings.hpp"
#include "engine/engine.hpp"
#include "engine/programs/program_file.hpp"
#include "engine/threads/cancellation.hpp"
#include "engine/threads/lent_threads.hpp"
#include "plait/error.hpp"
#include "tracer/context.hpp"

using plait::Dims;
using plait::DType;
using plait::engine::NodeMemory;
using plait::engine::Program;
using plait::run::Argument;
using plait::run::bytes_of;
using plait::run::Places;
using plait::run::Range;

struct plait_program {
  explicit plait_program(std::shared_ptr<Program> of) : program(std::move(of)) {
    const auto& data = program->data();
    for (const auto& a : data.arguments) {
      Described& d =
          arguments.emplace_back(Described{{}, std::vector<const char*>(a.shape.size())});
      for (std::size_t axis = 0; axis < a.shape.size(); ++axis) {
        const std::int32_t extent = a.dynamic[axis];
        d.shape.push_back(extent < 0 ? a.shape[axis] : -1);
        if (extent >= 0) d.extents[axis] = data.extents[static_cast<std::size_t>(extent)].c_str();
      }
    }
    for (std::size_t i = 0; i < data.results.size(); ++i) {
      std::vector<std::int64_t> shape = program->result_extents(i);
      std::vector<const char*> none(shape.size());
      described_results.push_back({std::move(shape), std::move(none)});
    }
  }
  // Whether it lies in a result of the last call's that has the program's memory.
  bool owns(const void* data) const {
    const auto* const at = static_cast<const std::byte*>(data);
    return std::ranges::any_of(results, [&](const Program::Value& v) {
      return v.memory && !std::less<>()(at, v.memory.buffer->data) &&
             std::less<>()(at, v.memory.buffer->data + v.memory.buffer->bytes);
    });
  }
  struct Described {
    std::vector<std::int64_t> shape;
    std::vector<const char*> extents;
  };

  const std::shared_ptr<Program> program;  // clones share it, guarded by the recorder's lock
  std::vector<Described> arguments, described_results;
  std::vector<Program::Value> results;  // of the last call; without memory where it is the caller's
  std::atomic<bool> called{false};
};

namespace {

thread_local std::string error;
thread_local plait_error_kind error_kind = PLAIT_NO_ERROR;

template <class T>
bool is(const std::exception& e) {
  return dynamic_cast<const T*>(&e) != nullptr;
}
plait_error_kind kind_of(const std::exception& e) {
  if (is<plait::ValueError>(e)) return PLAIT_VALUE_ERROR;
  if (is<plait::DTypeError>(e)) return PLAIT_DTYPE_ERROR;
  if (is<plait::IndexError>(e)) return PLAIT_INDEX_ERROR;
  if (is<plait::Cancelled>(e)) return PLAIT_CANCELLED;
  if (is<std::system_error>(e)) return PLAIT_OS_ERROR;
  return PLAIT_ERROR;
}

template <class F>
const char* guarded(F&& f) noexcept {
  error_kind = PLAIT_NO_ERROR;
  try {
    try {
      f();
      return nullptr;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& e) {
      error = e.what();
      error_kind = kind_of(e);
      return error.c_str();
    }
  } catch (const std::bad_alloc&) {
    error_kind = PLAIT_MEMORY_ERROR;
    return "memory is short";
  }
}

void check_given(const void* p, const char* what) {
  if (!p) throw plait::ValueError(std::string(what) + " is NULL");
}

// While one lives, no other thread calls the program.
class Calling {
 public:
  explicit Calling(plait_program& p) : program_(p) {
    if (p.called.exchange(true, std::memory_order_acquire))
      throw plait::ValueError(
          "another thread is calling the program: plait_clone() gives each its own");
  }
  ~Calling() { program_.called.store(false, std::memory_order_release); }
  Calling(const Calling&) = delete;
  Calling& operator=(const Calling&) = delete;

 private:
  plait_program& program_;
};

bool is_written(const Program& program, std::size_t argument) {
  return std::ranges::any_of(program.data().writes, [&](std::int32_t w) {
    return static_cast<std::size_t>(w) == argument;
  });
}

void call(plait_program& p, const plait_array* arguments, std::size_t argument_count,
          plait_array* results, std::size_t result_count) {
  plait::engine::end_if_asked();
  const Calling calling(p);
  Program& program = *p.program;
  const auto& data = program.data();
  if (argument_count != data.arguments.size() || result_count != data.results.size())
    throw plait::ValueError("it takes " + std::to_string(data.arguments.size()) +
                            " arrays and gives " + std::to_string(data.results.size()));
  if ((argument_count > 0 && !arguments) || (result_count > 0 && !results))
    throw plait::ValueError("the arrays are NULL");
  std::vector<Argument> given;
  std::vector<Dims> shapes;
  for (std::size_t i = 0; i < argument_count; ++i) {
    given.emplace_back(arguments[i], data.arguments[i], is_written(program, i));
    shapes.push_back(given[i].shape());
  }
  const plait::engine::Extents extents = program.extents_of(shapes);
  Places places(program, given);
  std::vector<NodeMemory> memory, into;
  for (const Argument& a : given) memory.push_back(a.readable());
  std::vector<Program::Value> values;
  {
    const std::lock_guard held(plait::tracer::lock());
    const std::vector<Dims> made = program.result_shapes(extents);
    for (std::size_t i = 0; i < result_count; ++i) {
      const std::size_t bytes = bytes_of(made[i], data.results[i].dtype);
      void* const wanted = p.owns(results[i].data) ? nullptr : results[i].data;
      if (wanted && results[i].bytes < bytes)
        throw plait::ValueError("result " + std::to_string(i) + " takes " + std::to_string(bytes) +
                                " bytes, and has " + std::to_string(results[i].bytes));
      into.push_back(places.place({static_cast<std::byte*>(wanted), bytes}));
    }
    values = program.run(memory, extents, into);
  }
  for (std::size_t i = 0; i < data.writes.size(); ++i)
    given[static_cast<std::size_t>(data.writes[i])].store(values[result_count + i].memory.at());
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
    r.strides = nullptr;
  }
  p.results = std::move(values);
}

// A program where the caller wants it.
template <class Make>
const char* make_program(plait_program** program, Make&& make) {
  if (program) *program = nullptr;
  return guarded([&] {
    check_given(program, "where the program is to go");
    *program = new plait_program(make());
  });
}

// Describes the i-th of a program's arguments or results.
void describe(plait_info* info, const char* name, DType t, const plait_program::Described& of,
              bool written) {
  check_given(info, "where the description is to go");
  *info = {name,
           plait::name(t).data(),
           static_cast<std::int32_t>(of.shape.size()),
           of.shape.data(),
           of.extents.data(),
           written};
}
void check_number(const plait_program* program, std::size_t i,
                  std::size_t (*count)(const plait_program*), const char* what) {
  check_given(program, "the program");
  if (i >= count(program))
    throw plait::ValueError("it has " + std::to_string(count(program)) + " " + what +
                            ", so none has number " + std::to_string(i));
}

// The application's functions.
std::mutex log_mutex;
plait_options configured;
void to_application(plait::Log what, std::string_view text) {
  const std::lock_guard held(log_mutex);
  if (configured.log)
    configured.log(configured.log_context, plait::topic(what).data(), std::string(text).c_str());
}

// Of an application that was compiled with this header, or with an older or a newer one.
plait_options as_known(const plait_options* options) {
  check_given(options, "what is to be configured");
  const std::size_t size = options->size;
  plait_options o{};
  if (size < offsetof(plait_options, executor))
    throw plait::ValueError("plait_options::size has to be sizeof(plait_options)");
  std::memcpy(&o, options, std::min(size, sizeof o));
  const auto* const bytes = reinterpret_cast<const char*>(options);
  for (std::size_t i = sizeof o; i < size; ++i)
    if (bytes[i]) throw plait::ValueError("plait_options has what this library does not know");
  return o;
}

bool same_memory(const plait_options& a, const plait_options& b) {
  return a.allocate == b.allocate && a.free == b.free && a.memory_context == b.memory_context;
}

}  // namespace

const char* plait_load(const char* path, plait_program** program) {
  return make_program(program, [&] {
    check_given(path, "the path");
    return std::make_shared<Program>(plait::engine::read_program(path));
  });
}

const char* plait_load_memory(const void* file, std::size_t bytes, plait_program** program) {
  return make_program(program, [&] {
    check_given(file, "the file");
    return std::make_shared<Program>(
        plait::engine::from_file({static_cast<const char*>(file), bytes}));
  });
}

const char* plait_clone(const plait_program* program, plait_program** clone) {
  return make_program(clone, [&] {
    check_given(program, "the program");
    return program->program;
  });
}

const char* plait_token_new(plait_token** token) {
  return guarded([&] {
    check_given(token, "where the token is to go");
    *token = nullptr;
    *token = new plait_token;
    plait::detail::first_reference((*token)->refs);
  });
}

void plait_token_share(plait_token* token) {
  if (token) plait::detail::add_reference(token->refs);
}

void plait_token_free(plait_token* token) {
  if (token && plait::detail::drop_reference(token->refs)) plait_token::destroy(token);
}

void plait_cancel(plait_token* token) {
  if (token) token->cancel();
}

std::int32_t plait_cancelled(const plait_token* token) { return token && token->cancelled(); }

const char* plait_call_with_cancel(plait_token* token, plait_program* program,
                                   const plait_array* arguments, size_t argument_count,
                                   plait_array* results, size_t result_count) {
  std::optional<plait::engine::CancelScope> scope;
  if (token) scope.emplace(*token);
  return plait_call(program, arguments, argument_count, results, result_count);
}

const char* plait_call(plait_program* program, const plait_array* arguments, size_t argument_count,
                       plait_array* results, size_t result_count) {
  return guarded([&] {
    check_given(program, "the program");
    call(*program, arguments, argument_count, results, result_count);
  });
}

std::size_t plait_arguments(const plait_program* program) {
  return program ? program->arguments.size() : 0;
}

std::size_t plait_results(const plait_program* program) {
  return program ? program->described_results.size() : 0;
}

const char* plait_argument(const plait_program* program, std::size_t i, plait_info* info) {
  return guarded([&] {
    check_number(program, i, plait_arguments, "arguments");
    const auto& a = program->program->data().arguments[i];
    describe(info, a.name.c_str(), a.dtype, program->arguments[i],
             is_written(*program->program, i));
  });
}

const char* plait_result(const plait_program* program, std::size_t i, plait_info* info) {
  return guarded([&] {
    check_number(program, i, plait_results, "results");
    describe(info, nullptr, program->program->data().results[i].dtype,
             program->described_results[i], false);
  });
}

const char* plait_written(const plait_program* program, std::size_t argument) {
  if (!program || !is_written(*program->program, argument)) return nullptr;
  return program->program->data().arguments[argument].name.c_str();
}

void plait_free(plait_program* program) { delete program; }

const char* plait_configure(const plait_options* options) {
  return guarded([&] {
    plait_options o = as_known(options);
    if (o.threads < 0)
      throw plait::ValueError("the number of threads must be at least 1, not " +
                              std::to_string(o.threads));
    unsigned topics = plait::config().log;
    if (o.log_topics && !plait::parse_topics(o.log_topics, topics))
      throw plait::ValueError("log_topics may be " + plait::topics_text(~0U) +
                              ",all or off, not '" + o.log_topics + "'");
    if (!o.allocate != !o.free) throw plait::ValueError("allocate and free belong together");
    if (!o.allocate)
      std::tie(o.allocate, o.free, o.memory_context) =
          std::tie(configured.allocate, configured.free, configured.memory_context);
    const bool other_memory = !same_memory(o, configured);
    if (other_memory && plait::took_blocks())
      throw plait::ValueError("the allocator is chosen before the first program is loaded");
    plait::engine::RunTasks run;
    if (o.executor)
      run = [executor = o.executor, context = o.executor_context](int n, void (*piece)(void*, int),
                                                                  void* data) {
        executor(context, n, piece, data);
      };
    plait::engine::Progress progress;
    if (o.progress)
      progress = [progress = o.progress, context = o.progress_context](int done, int steps) {
        progress(context, done, steps);
      };
    plait::config().log = topics;
    if (o.threads) plait::config().threads = o.threads;
    if (other_memory) plait::set_block_source({o.memory_context, o.allocate, o.free});
    plait::engine::lend_threads(std::move(run));
    plait::engine::set_progress(std::move(progress));
    const std::lock_guard held(log_mutex);
    configured = o;
    plait::set_log_sink(o.log ? to_application : nullptr);
  });
}

plait_error_kind plait_last_error(void) { return error_kind; }

const char* plait_version(void) { return PLAIT_VERSION; }
