// What plait/_export.py makes programs of, and runs them by; see engine/programs.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <mutex>
#include <optional>

#include "engine/programs/function_exporter.hpp"
#include "engine/programs/program_file.hpp"
#include "functions.hpp"
#include "tracer/context.hpp"

namespace pb = pybind11;

namespace plait::py {
namespace {

using engine::NodeMemory;

const tracer::Array& array_of(const pb::handle& o) {
  if (!is_lazy(o.ptr()) && (!is_array(o.ptr()) || as_array(o.ptr())->host))
    throw pb::type_error("an array of a dtype that Plait does not compute with");
  return is_lazy(o.ptr()) ? as_lazy(o.ptr())->array : as_array(o.ptr())->array;
}
DType array_dtype(const pb::handle& o) {
  const auto t = parse_dtype(o.ptr());
  if (!t) throw pb::type_error("a dtype that Plait has no arrays of");
  return *t;
}
using engine::FunctionExporter;
using engine::WatchedCall;

std::vector<tracer::Array> arrays_of(const pb::list& list) {
  std::vector<tracer::Array> arrays;
  for (const pb::handle& o : list) {
    force(array_of(o));
    arrays.push_back(array_of(o));
  }
  return arrays;
}

// arguments: (name, dtype, shape) each.
FunctionExporter exporter_of(const std::vector<std::string>& targets, const pb::list& arguments) {
  std::vector<engine::ProgramArgument> given;
  for (const pb::handle& a : arguments) {
    const auto t = pb::cast<pb::tuple>(a);
    given.push_back(
        {pb::cast<std::string>(t[0]), array_dtype(t[1]), pb::cast<engine::Extents>(t[2]), {}});
  }
  return {std::move(given), engine::tiers_named(targets)};
}

// record(arrays) gives an export_call that has ended. Returns why it cannot be exported, and where,
// or None.
std::optional<std::pair<std::string, std::uint32_t>> plan(FunctionExporter& exporter,
                                                          const pb::function& record,
                                                          const pb::function& progress) {
  const auto recorded = [&](const std::vector<tracer::Array>& arrays) {
    pb::list given;
    for (const tracer::Array& a : arrays)
      given.append(pb::reinterpret_steal<pb::object>(wrap(tracer::Array(a))));
    try {
      return pb::cast<std::shared_ptr<WatchedCall>>(record(given));
    } catch (pb::error_already_set& e) {
      if (e.matches(PyExc_Exception)) throw;
      e.restore();  // an interrupt, say, is no answer
      throw PythonError{};
    }
  };
  try {
    exporter.plan(recorded, [&](const std::string& step) { progress(step); });
  } catch (const engine::Refused& r) {
    return std::pair(std::string(r.what()), r.site);
  }
  return std::nullopt;
}

class Program {
 public:
  explicit Program(const std::string& path) : program_(engine::read_program(path)) {}

  // meet(i, j): whether two arguments share memory.
  void check_apart(const pb::function& meet) const {
    program_.check_apart([&](std::size_t i, std::size_t j) { return pb::cast<bool>(meet(i, j)); });
  }
  pb::list run(const pb::list& given) {
    std::vector<Dims> shapes;
    for (const pb::handle& o : given) shapes.push_back(array_of(o).shape);
    const engine::Extents extents = program_.extents_of(shapes);
    std::vector<engine::Program::Value> values;
    for (;;) {
      for (const pb::handle& o : given) force(array_of(o));
      try {
        const std::lock_guard held(tracer::lock());
        std::vector<NodeMemory> memory;
        for (const pb::handle& o : given) {
          const tracer::Array& a = array_of(o);
          const tracer::Node& n = *a.storage->version;
          if (!n.data) break;  // another thread has written to it since
          memory.push_back({n.data, n.data_offset + a.offset + a.storage->base});
        }
        if (memory.size() < given.size()) continue;
        values = program_.run(memory, extents);
        break;
      } catch (const engine::Interrupted&) {
      }
      if (PyErr_Occurred()) throw PythonError{};  // the handler has run
      check(PyErr_CheckSignals());
    }
    pb::list results;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto& data = program_.data();
      const DType t =
          i < data.results.size()
              ? data.results[i].dtype
              : data.arguments[static_cast<std::size_t>(data.writes[i - data.results.size()])]
                    .dtype;
      const auto& [memory, shape] = values[i];
      results.append(pb::reinterpret_steal<pb::object>(wrap(tracer::from_buffer(
          memory.buffer, t, shape,
          contiguous_strides(shape, static_cast<std::int64_t>(itemsize(t))), memory.offset))));
    }
    return results;
  }
  const std::string& manifest() const { return program_.data().manifest; }
  const std::vector<std::int32_t>& writes() const { return program_.data().writes; }
  const std::vector<std::string>& targets() const { return program_.data().targets; }

 private:
  engine::Program program_;
};

}  // namespace

void add_programs(PyObject* module) {
  auto m = pb::reinterpret_borrow<pb::module_>(module);
  pb::register_exception_translator([](std::exception_ptr p) {
    try {
      std::rethrow_exception(p);
    } catch (const PythonError&) {
    } catch (const Error&) {
      set_python_error();
    }
  });
  pb::class_<WatchedCall, std::shared_ptr<WatchedCall>>(m, "export_call")
      .def(pb::init([](const pb::list& arguments) {
        return std::make_shared<WatchedCall>(arrays_of(arguments));
      }))
      .def("end",
           [](WatchedCall& c, const pb::list& results) {
             std::vector<tracer::Array> arrays;
             for (const pb::handle& o : results) arrays.push_back(array_of(o));
             c.end(arrays);
           })
      .def("stop", &WatchedCall::stop)
      .def("obstacle", &WatchedCall::obstacle);
  pb::class_<FunctionExporter>(m, "exporter")
      .def(pb::init(&exporter_of))
      .def("name_extent", &FunctionExporter::name_extent)
      .def("name_extents", &FunctionExporter::name_extents)
      .def("plan", &plan)
      .def("file", [](FunctionExporter& e, const std::string& function, const std::string& version,
                      const std::string& results) {
        return pb::bytes(e.file(function, version, results));
      });
  pb::class_<Program>(m, "program")
      .def(pb::init<const std::string&>())
      .def("check_apart", &Program::check_apart)
      .def("run", &Program::run)
      .def_property_readonly("manifest", &Program::manifest)
      .def_property_readonly("writes", &Program::writes)
      .def_property_readonly("targets", &Program::targets);
}

}  // namespace plait::py
