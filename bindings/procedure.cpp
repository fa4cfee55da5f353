// Building a procedure, and what Python calls.
#include "ndarray.hpp"  // Python's headers first

#include "core/heap.hpp"
#include "functions.hpp"
#include "numpy_compat/random_stream.hpp"
#include "procedure.hpp"

namespace pb = pybind11;

// A dtype that a procedure has, as Python gives and gets it.
template <>
struct pybind11::detail::type_caster<plait::DType> {
  PYBIND11_TYPE_CASTER(plait::DType, const_name("dtype"));
  bool load(handle from, bool) try {
    const std::optional<plait::DType> t = plait::py::parse_dtype(from.ptr());
    if (!t) throw plait::DTypeError("a procedure has numbers and bool alone");
    value = *t;
    return true;
  } catch (...) {
    plait::py::set_python_error();
    throw error_already_set();
  }
  static handle cast(plait::DType t, return_value_policy, handle) {
    return pb::str(std::string(plait::name(t))).release();
  }
};

namespace plait::py {

using engine::SequentialBuilder;
using engine::SequentialProgram;

SequentialBuilder& Procedure::builder() {
  if (!builder_) throw ValueError("procedure " + name_ + " is finished");
  return *builder_;
}

SequentialProgram& Procedure::program() const {
  if (!program_) throw ValueError("procedure " + name_ + " is not finished");
  return *program_;
}

void Procedure::finish() {
  program_ = std::move(builder()).finish();
  builder_.reset();
}

namespace {

[[noreturn]] void raise() {
  set_python_error();
  throw pb::error_already_set();
}

// What a method is of.
template <class C>
C& of(Procedure& p) {
  if constexpr (std::is_same_v<C, SequentialBuilder>)
    return p.builder();
  else if constexpr (std::is_same_v<C, SequentialProgram>)
    return p.program();
  else
    return p;
}

// Plait's errors as NumPy's.
template <auto method>
struct Raising;
template <class C, class R, class... A, R (C::*method)(A...)>
struct Raising<method> {
  static R call(Procedure& p, A... a) try {
    return (of<C>(p).*method)(std::forward<A>(a)...);
  } catch (...) {
    raise();
  }
};
template <class C, class R, class... A, R (C::*method)(A...) const>
struct Raising<method> {
  static R call(Procedure& p, A... a) try {
    return (of<C>(p).*method)(std::forward<A>(a)...);
  } catch (...) {
    raise();
  }
};

using Val = SequentialBuilder::Val;

Val constant(Procedure& p, DType dtype, const pb::object& number) try {
  const std::optional<Scalar> s = pack(number.ptr(), dtype);
  if (!s) throw DTypeError("not a number of that dtype");
  return p.builder().constant(*s);
} catch (...) {
  raise();
}

// Values are arguments of the call.
template <auto method>
Val of_values(Procedure& p, const std::string& function, const pb::args& values) try {
  return (p.builder().*method)(function, values.cast<std::vector<Val>>());
} catch (...) {
  raise();
}

std::string text(Procedure& p) try { return ir::to_string(p.program().kernel()); } catch (...) {
  raise();
}

// A copy of what a run has left in its heap.
pb::object heap_array(const Heap&, std::int64_t address, npy_intp count, DType dtype) try {
  if (count < 0 || (address == 0 && count > 0)) throw ValueError("no such memory in a heap");
  PyArray_Descr* const d = descr_of(dtype);
  Py_INCREF(d);
  auto array = pb::reinterpret_steal<pb::object>(
      check(PyArray_NewFromDescr(&PyArray_Type, d, 1, &count, nullptr, nullptr, 0, nullptr)));
  auto* const to = reinterpret_cast<PyArrayObject*>(array.ptr());
  if (count > 0)
    std::memcpy(PyArray_DATA(to), reinterpret_cast<const void*>(address),
                static_cast<std::size_t>(PyArray_NBYTES(to)));
  return array;
} catch (...) {
  raise();
}

template <double (numpy::RandomStream::*draw)()>
double drawn(void* source) {
  return (numpy::RandomStream(static_cast<const numpy::BitGenerator*>(source)).*draw)();
}
std::int64_t drawn_below_or_at(void* source, std::int64_t most) {
  numpy::RandomStream stream(static_cast<const numpy::BitGenerator*>(source));
  return static_cast<std::int64_t>(stream.below_or_at(static_cast<std::uint64_t>(most)));
}

// Of the bitgen_t of a bit generator.
std::int64_t bit_generator_address(const pb::object& bits) {
  const pb::object capsule = bits.attr("capsule");
  void* const found = PyCapsule_GetPointer(capsule.ptr(), "BitGenerator");
  if (!found) throw pb::error_already_set();
  return reinterpret_cast<std::intptr_t>(found);
}

// Addresses, for procedures that draw random numbers from a bit generator of NumPy's.
pb::dict drawing_functions() {
  pb::dict all;
  const auto add = [&](const char* name, auto f) {
    all[name] = reinterpret_cast<std::intptr_t>(f);
  };
  add("uniform", drawn<&numpy::RandomStream::uniform>);
  add("normal", drawn<&numpy::RandomStream::normal>);
  add("exponential", drawn<&numpy::RandomStream::exponential>);
  add("below_or_at", drawn_below_or_at);
  return all;
}

}  // namespace

void add_procedures(pb::module_& m) {
  m.def("drawing_functions", drawing_functions);
  m.def("bit_generator_address", bit_generator_address);
  const auto c = pb::arg("cond") = pb::none();
  pb::class_<Heap>(m, "Heap").def("array", heap_array, pb::arg("address"), pb::arg("count"),
                                  pb::arg("dtype"));
  pb::class_<Procedure>(m, "Procedure")
      .def(pb::init<const std::string&>())
      .def("buffer", Raising<&SequentialBuilder::buffer>::call, pb::arg("dtype"),
           pb::arg("written"))
      .def("heap", Raising<&SequentialBuilder::heap>::call, pb::arg("dtype"))
      .def("param", Raising<&SequentialBuilder::param>::call)
      .def("address", Raising<&SequentialBuilder::address>::call)
      .def("arg", Raising<&SequentialBuilder::arg>::call)
      .def("local", Raising<&SequentialBuilder::local>::call)
      .def("get", Raising<&SequentialBuilder::get>::call)
      .def("set", Raising<&SequentialBuilder::set>::call)
      .def("const", constant)
      .def("type", Raising<&SequentialBuilder::type>::call)
      .def("apply", of_values<&SequentialBuilder::apply>)
      .def("cast", Raising<&SequentialBuilder::cast>::call)
      .def("load", Raising<&SequentialBuilder::load>::call)
      .def("store", Raising<&SequentialBuilder::store>::call)
      .def("call", of_values<&SequentialBuilder::call>)
      .def("overflows", Raising<&SequentialBuilder::overflows>::call)
      .def("begin_count", Raising<&SequentialBuilder::begin_count>::call)
      .def("begin_fold", Raising<&SequentialBuilder::begin_fold>::call)
      .def("end_fold", Raising<&SequentialBuilder::end_fold>::call)
      .def("begin_if", Raising<&SequentialBuilder::begin_if>::call, c)
      .def("otherwise", Raising<&SequentialBuilder::otherwise>::call, pb::arg("rare") = false)
      .def("begin_repeat", Raising<&SequentialBuilder::begin_repeat>::call)
      .def("end", Raising<&SequentialBuilder::end>::call, c)
      .def("break_", Raising<&SequentialBuilder::leave>::call, pb::arg("loop"), c)
      .def("index", Raising<&SequentialBuilder::index>::call)
      .def("result", Raising<&SequentialBuilder::result>::call)
      .def("finish", Raising<&Procedure::finish>::call)
      .def("text", text)
      .def("compile", Raising<&Procedure::compile>::call, pb::arg("quick") = false)
      .def("compile_async", Raising<&Procedure::compile_async>::call)
      .def("optimise_async", Raising<&Procedure::optimise_async>::call)
      .def_property_readonly("optimised", Raising<&SequentialProgram::optimised>::call)
      .def_property_readonly("ready", Raising<&SequentialProgram::ready>::call)
      .def_property_readonly("interpreted", Raising<&SequentialProgram::interpreted>::call)
      .def_property_readonly("seconds", Raising<&SequentialProgram::seconds>::call)
      .def_property_readonly("ran", Raising<&Procedure::ran>::call)
      .def("run", Raising<&Procedure::run>::call, pb::arg("arrays"), pb::arg("params"),
           pb::arg("args"))
      .def("run_parts", Raising<&Procedure::run_parts>::call)
      .def("run_on", Raising<&Procedure::run_on>::call)
      .def("why_not_on", Raising<&Procedure::why_not_on>::call);
}

}  // namespace plait::py
