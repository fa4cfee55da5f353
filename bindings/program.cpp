// What plait/_export.py makes programs of, and runs them by; see engine/programs.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <system_error>

#include "core/os/pages.hpp"
#include "engine/programs/exporter.hpp"
#include "engine/programs/program_file.hpp"
#include "functions.hpp"
#include "tracer/context.hpp"

namespace pb = pybind11;

namespace plait::py {
namespace {

using engine::NodeMemory;
using engine::NumberScalar;
using engine::Variant;

const tracer::Array& array_of(const pb::handle& o) {
  if (!is_lazy(o.ptr()) && (!is_array(o.ptr()) || as_array(o.ptr())->host))
    throw pb::type_error("an array of a dtype that Plait does not compute with");
  return is_lazy(o.ptr()) ? as_lazy(o.ptr())->array : as_array(o.ptr())->array;
}
std::string dtype_name(DType t) {
  return pb::str(pb::reinterpret_borrow<pb::object>(reinterpret_cast<PyObject*>(descr_of(t))));
}
DType array_dtype(const pb::handle& o) {
  const auto t = parse_dtype(o.ptr());
  if (!t) throw pb::type_error("a dtype that Plait has no arrays of");
  return *t;
}
Dims dims_of(const std::vector<std::int64_t>& v) { return {v.data(), v.data() + v.size()}; }
std::vector<std::int64_t> list_of(const Dims& d) { return {d.begin(), d.end()}; }

// An array that a function may be recorded with, of any size: its memory is never touched, and
// takes none.
pb::object untouched(const pb::object& dtype, const std::vector<std::int64_t>& extents) {
  const DType t = array_dtype(dtype);
  const Dims shape = dims_of(extents);
  const auto item = static_cast<std::int64_t>(itemsize(t));
  const auto bytes =
      static_cast<std::size_t>(std::max<std::int64_t>(1, element_count(shape) * item));
  std::byte* const p = os::reserve_pages(bytes);
  if (!p) throw std::bad_alloc();
  struct Mapping {
    void* p;
    std::size_t bytes;
  };
  const Ref<Buffer> b = adopt(
      p, bytes, true,
      [](void* m) {
        const std::unique_ptr<Mapping> mapping(static_cast<Mapping*>(m));
        os::unmap_pages(mapping->p, mapping->bytes);
      },
      new Mapping{p, bytes});
  return pb::reinterpret_steal<pb::object>(
      wrap(tracer::from_buffer(b, t, shape, contiguous_strides(shape, item), 0)));
}

// The call of a function that is being exported: from here to end() it is watched.
class Call {
 public:
  explicit Call(const pb::list& arguments) {
    for (const pb::handle& o : arguments) {
      force(array_of(o));
      arguments_.push_back(array_of(o));
    }
    const std::lock_guard held(tracer::lock());
    for (const tracer::Array& a : arguments_) nodes_.push_back(a.storage->version.get());
    capture_.emplace(arguments_, true);
  }
  // Why it cannot be exported ("": it can), and where.
  std::pair<std::string, std::uint32_t> end(const std::optional<pb::list>& results) {
    capture_->end();
    engine::Refusal refused;
    if (!results) return {};
    std::vector<tracer::Array> arrays;
    for (const pb::handle& o : *results) arrays.push_back(array_of(o));
    for (const tracer::Capture::Demand& d : capture_->demands()) arrays.push_back(d.holds);
    const std::lock_guard held(tracer::lock());
    trace_.emplace(*capture_, arguments_, nodes_, arrays, refused);
    return {refused.why, refused.site};
  }
  // What has ended the call, or None.
  std::optional<std::string> obstacle() const {
    const char* why = capture_->obstacle();
    return why ? std::optional<std::string>(why) : std::nullopt;
  }
  const std::vector<tracer::Capture::Demand>& demands() const { return capture_->demands(); }
  const engine::Trace& trace() const { return *trace_; }
  ~Call() {
    const std::lock_guard held(tracer::lock());
    trace_.reset();
    capture_.reset();
  }

 private:
  std::vector<tracer::Array> arguments_;
  std::vector<const tracer::Node*> nodes_;
  std::optional<tracer::Capture> capture_;
  std::optional<engine::Trace> trace_;
};

struct Planned {
  std::shared_ptr<fusion::Plan> plan;
  const Call& of;
  bool holds(const Call& c) const {
    const std::lock_guard held(tracer::lock());
    std::vector<std::int64_t> values;
    return c.trace().has(*plan, of.trace(), values);
  }
};

pb::list scalars_of(const Planned& p, const Call& c) {
  pb::list all;
  const std::lock_guard held(tracer::lock());
  for (const Scalar& s : c.trace().scalars(*p.plan))
    all.append(pb::make_tuple(
        dtype_name(s.dtype), pb::bytes(reinterpret_cast<const char*>(s.bytes), itemsize(s.dtype))));
  return all;
}

// (kind, node, number of the argument, dtype, shape, whether it is the program's alone, bytes)
pb::list leaves_of(const Call& c) {
  pb::list all;
  const std::lock_guard held(tracer::lock());
  for (const engine::Trace::Leaf& l : c.trace().leaves())
    all.append(pb::make_tuple(static_cast<int>(l.kind), l.node, l.number, dtype_name(l.dtype),
                              list_of(l.shape), l.exclusive,
                              pb::bytes(l.bytes.data(), l.bytes.size())));
  return all;
}

engine::Number number_of(const pb::handle& o) { return {pb::cast<std::vector<std::int64_t>>(o)}; }

std::vector<engine::Number> numbers_of(const pb::handle& list) {
  std::vector<engine::Number> numbers;
  for (const pb::handle& n : pb::cast<pb::list>(list)) numbers.push_back(number_of(n));
  return numbers;
}

class File {
 public:
  // arguments: (name, dtype, shape, number of the extent that each axis is or -1); results: (dtype,
  // axes); tiers by number.
  File(std::vector<int> tiers, std::vector<std::string> extents, const pb::list& arguments,
       const pb::list& results) {
    data_.extents = std::move(extents);
    for (const int t : tiers) {
      tiers_.push_back(static_cast<CpuTier>(t));
      data_.targets.push_back(engine::target_name(tiers_.back()));
    }
    for (const pb::handle& a : arguments) {
      const auto t = pb::cast<pb::tuple>(a);
      data_.arguments.push_back({pb::cast<std::string>(t[0]), array_dtype(t[1]),
                                 pb::cast<engine::Extents>(t[2]),
                                 pb::cast<std::vector<std::int32_t>>(t[3])});
    }
    for (const pb::handle& r : results) {
      const auto t = pb::cast<pb::tuple>(r);
      data_.results.push_back({array_dtype(t[0]), pb::cast<std::int32_t>(t[1])});
    }
  }
  std::int32_t constant(const std::string& bytes) {
    const auto known = std::ranges::find(data_.constants, bytes);
    const auto at = static_cast<std::int32_t>(known - data_.constants.begin());
    if (known == data_.constants.end()) data_.constants.push_back(bytes);
    return at;
  }
  // numbers: a list of differences each; scalars: (kind, dtype, bytes or float, differences);
  // leaves: as leaves_of(), with numbers of constants, and differences for extents, which results
  // are, too; checks: (differences, an extent of the class).
  void add(const Planned& p, const std::vector<std::pair<std::int64_t, std::int64_t>>& bounds,
           std::vector<std::int64_t> base, std::vector<std::int32_t> points,
           const pb::list& numbers, const pb::list& scalars, const pb::list& leaves,
           const pb::list& results, const pb::list& checks) {
    Variant v;
    for (const auto& [least, most] : bounds) v.bounds.push_back({least, most});
    v.base = std::move(base);
    v.points = std::move(points);
    v.numbers = numbers_of(numbers);
    for (const pb::handle& s : scalars) {
      const auto t = pb::cast<pb::tuple>(s);
      NumberScalar made{static_cast<NumberScalar::Kind>(pb::cast<int>(t[0])),
                        array_dtype(t[1]),
                        {},
                        number_of(t[3])};
      const auto bytes = pb::cast<std::string>(t[2]);
      std::memcpy(made.value.bytes, bytes.data(), std::min(bytes.size(), sizeof(Scalar::bytes)));
      made.value.dtype = made.kind == NumberScalar::Kind::Quotient ? DType::Float64 : made.dtype;
      v.scalars.push_back(std::move(made));
    }
    for (const pb::handle& l : leaves) {
      const auto t = pb::cast<pb::tuple>(l);
      Variant::Leaf leaf{pb::cast<std::int32_t>(t[1]),
                         static_cast<Variant::Leaf::Kind>(pb::cast<int>(t[0])),
                         pb::cast<std::int32_t>(t[2]),
                         array_dtype(t[3]),
                         {},
                         pb::cast<bool>(t[5])};
      leaf.shape = numbers_of(t[4]);
      v.leaves.push_back(std::move(leaf));
    }
    for (const pb::handle& c : checks) {
      const auto t = pb::cast<pb::tuple>(c);
      v.checks.push_back({number_of(t[0]), engine::bounds_of_class(pb::cast<std::int64_t>(t[1]))});
    }
    v.nodes = p.of.trace().nodes();
    for (std::size_t i = 0; i < results.size(); ++i)
      v.results.push_back({p.of.trace().results()[i], numbers_of(results[i])});
    for (const auto& d : p.of.demands()) v.demands.push_back(d.otherwise);
    if (data_.variants.empty()) data_.writes = p.of.trace().writes();
    if (data_.writes != p.of.trace().writes())
      throw ValueError("which arguments it writes to depends on the extents");
    v.kernels = engine::add_kernels(data_, *p.plan, tiers_);
    v.plan = *p.plan;
    data_.variants.push_back(std::move(v));
  }
  pb::bytes bytes(std::string manifest) {
    data_.manifest = std::move(manifest);
    return engine::to_file(data_);
  }

 private:
  engine::ProgramData data_;
  std::vector<CpuTier> tiers_;
};

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
  pb::class_<Call>(m, "export_call")
      .def(pb::init<const pb::list&>())
      .def("end", &Call::end)
      .def("obstacle", &Call::obstacle)
      .def(
          "plan",
          [](const Call& c) {
            const std::lock_guard held(tracer::lock());
            return Planned{c.trace().plan(), c};
          },
          pb::keep_alive<0, 1>())
      .def("leaves", &leaves_of)
      .def("extents", [](const Call& c) { return c.trace().extents(); })
      .def("result_sites",
           [](const Call& c) {
             const std::lock_guard held(tracer::lock());
             return c.trace().result_sites();
           })
      .def("shapes", [](const Call& c) {
        std::vector<std::vector<std::int64_t>> shapes;
        for (std::size_t i = 0; i < c.trace().results().size(); ++i)
          shapes.push_back(list_of(c.trace().shape_of(i)));
        return shapes;
      });
  pb::class_<Planned>(m, "export_plan")
      .def("holds", &Planned::holds)
      .def("numbers",
           [](const Planned& p, const Call& c) {
             const std::lock_guard held(tracer::lock());
             return c.trace().numbers(*p.plan);
           })
      .def("sites",
           [](const Planned& p, const Call& c) {
             const std::lock_guard held(tracer::lock());
             return c.trace().sites(*p.plan);
           })
      .def("scalars", &scalars_of)
      .def("operations", [](const Planned& p) { return engine::operations_of(*p.plan); });
  pb::class_<File>(m, "export_file")
      .def(pb::init<std::vector<int>, std::vector<std::string>, const pb::list&, const pb::list&>())
      .def("constant", &File::constant)
      .def("add", &File::add)
      .def("bytes", &File::bytes);
  pb::class_<Program>(m, "program")
      .def(pb::init<const std::string&>())
      .def("check_apart", &Program::check_apart)
      .def("run", &Program::run)
      .def_property_readonly("manifest", &Program::manifest)
      .def_property_readonly("writes", &Program::writes)
      .def_property_readonly("targets", &Program::targets);
  m.def("untouched", untouched);
  m.def("host_tier", [] { return static_cast<int>(config().tier); });
  m.def("target_names", [] {  // of the tiers, the lowest first
    std::vector<std::string> names;
    for (const CpuTier t : kTiers) names.push_back(engine::target_name(t));
    return names;
  });
}

}  // namespace plait::py
