// Building a procedure, and what Python calls.
#include "ndarray.hpp"  // Python's headers first

#include "core/heap.hpp"
#include "ir/analysis.hpp"
#include "ir/externals.hpp"
#include "numpy_compat/random_stream.hpp"
#include "procedure.hpp"

namespace pb = pybind11;

namespace plait::py {
namespace {

DType dtype_of(const pb::object& o) {
  const std::optional<DType> t = parse_dtype(o.ptr());
  if (!t) throw DTypeError("a procedure has numbers and bool alone");
  return *t;
}

ir::Inst with_operands(ir::Inst i, const std::vector<ir::Val>& values) {
  std::copy(values.begin(), values.end(), i.operands);
  return i;
}

constexpr ir::Coeff kByte{1};

}  // namespace

Procedure::Procedure(const std::string& name) : name_(name), builder_(name) {
  builder_->sequential();
}

ir::Builder& Procedure::builder() {
  if (!builder_) throw ValueError("procedure " + name_ + " is finished");
  return *builder_;
}

const ir::Kernel& Procedure::kernel() const {
  if (!kernel_) throw ValueError("procedure " + name_ + " is not finished");
  return *kernel_;
}

const ir::Inst& Procedure::value(Val v) {
  const std::vector<ir::Inst>& all = builder().kernel().insts;
  if (v < 0 || static_cast<std::size_t>(v) >= all.size())
    throw ValueError("procedure " + name_ + " has no value " + std::to_string(v));
  return all[static_cast<std::size_t>(v)];
}

std::vector<ir::Val> Procedure::operands(const pb::args& values) {
  std::vector<ir::Val> all;
  for (const pb::handle& v : values) {
    all.push_back(static_cast<ir::Val>(v.cast<Val>()));
    value(all.back());
  }
  return all;
}

Procedure::Val Procedure::push(const ir::Inst& i) { return builder().push(i); }

Procedure::Index Procedure::new_buffer(const ir::BufferParam& b) {
  if (!results_.empty()) throw ValueError("buffers come before results");
  return builder().buffer(b);
}

Procedure::Index Procedure::buffer(const pb::object& dtype, bool written) {
  return new_buffer({dtype_of(dtype), written});
}

Procedure::Index Procedure::heap(const pb::object& dtype) {
  return new_buffer({.dtype = dtype_of(dtype), .written = true, .heap = true});
}

Procedure::Val Procedure::param() {
  return builder().number({.op = ir::Op::Param, .index = builder().new_param()});
}

Procedure::Val Procedure::address(Index buffer) {
  const std::int32_t b = known_buffer(buffer);
  const Val v = param();
  addresses_.emplace_back(static_cast<std::size_t>(value(v).index), static_cast<std::size_t>(b));
  return v;
}

Procedure::Val Procedure::arg(const pb::object& dtype) {
  return builder().new_arg(dtype_of(dtype));
}

Procedure::Index Procedure::local(const pb::object& dtype) {
  return builder().variable(dtype_of(dtype));
}

const ir::Local& Procedure::known_local(Index local) {
  const auto& all = builder().kernel().locals;
  if (local < 0 || static_cast<std::size_t>(local) >= all.size())
    throw ValueError("procedure " + name_ + " has no variable " + std::to_string(local));
  return all[static_cast<std::size_t>(local)];
}

Procedure::Val Procedure::get(Index local) {
  known_local(local);
  return builder().load_local(static_cast<std::int32_t>(local), {});
}

void Procedure::set(Index local, Val v) {
  if (value(v).type != known_local(local).dtype)
    throw DTypeError("a variable is set to a value of another dtype");
  builder().store_local(static_cast<std::int32_t>(local), {}, static_cast<ir::Val>(v));
}

Procedure::Val Procedure::constant(const pb::object& dtype, const pb::object& number) {
  const DType t = dtype_of(dtype);
  const std::optional<Scalar> s = pack(number.ptr(), t);
  if (!s) throw DTypeError("not a number of that dtype");
  return builder().number({.op = ir::Op::Const, .type = t, .imm = *s});
}

std::string Procedure::type(Val v) { return std::string(name(value(v).type)); }

Procedure::Val Procedure::apply(const std::string& ufunc, const pb::args& values) {
  const OpId fn = find_op(ufunc);
  if (fn == OpId::Count_) throw ValueError("no operation " + ufunc);
  const std::vector<ir::Val> o = operands(values);
  const OpInfo& info = op_info(fn);
  if (o.size() != static_cast<std::size_t>(info.arity))
    throw ValueError(ufunc + " takes " + std::to_string(info.arity) + " operands");
  const DType in = value(o[fn == OpId::Where ? 1 : 0]).type;
  if (info.loops.find(code(in)) == std::string_view::npos)
    throw DTypeError(ufunc + " has no loop for " + std::string(name(in)));
  return push(with_operands({.op = ir::Op::Apply, .type = result_type(fn, in), .fn = fn}, o));
}

Procedure::Val Procedure::cast(Val v, const pb::object& dtype) {
  value(v);
  return builder().cast(static_cast<ir::Val>(v), dtype_of(dtype));
}

Procedure::Val Procedure::load(Index buffer, Val offset) {
  value(offset);
  return builder().gather(known_buffer(buffer), {}, static_cast<ir::Val>(offset), kByte);
}

void Procedure::store(Index buffer, Val offset, Val v) {
  value(offset);
  value(v);
  builder().scatter(OpId::Count_, known_buffer(buffer), {}, static_cast<ir::Val>(offset), kByte,
                    static_cast<ir::Val>(v));
}

std::int32_t Procedure::known_buffer(Index buffer) {
  if (buffer < 0 || static_cast<std::size_t>(buffer) >= builder().kernel().buffers.size())
    throw ValueError("procedure " + name_ + " has no buffer " + std::to_string(buffer));
  return static_cast<std::int32_t>(buffer);
}

Procedure::Val Procedure::call(const std::string& function, const pb::args& values) {
  const int n = ir::external(function);
  if (n < 0) throw ValueError("no function " + function);
  const ir::ExternalFunction& f = ir::externals()[static_cast<std::size_t>(n)];
  const std::vector<ir::Val> o = operands(values);
  if (o.size() != static_cast<std::size_t>(f.arity))
    throw ValueError(function + " takes " + std::to_string(f.arity) + " operands");
  uses_heap_ |= f.has_effects;
  return push(with_operands({.op = ir::Op::External, .type = f.result, .index = n}, o));
}

Procedure::Val Procedure::overflows(const std::string& ufunc, Val a, Val b) {
  value(a);
  value(b);
  return push({.op = ir::Op::Overflows,
               .type = DType::Bool,
               .fn = find_op(ufunc),
               .operands = {static_cast<ir::Val>(a), static_cast<ir::Val>(b), ir::kNone}});
}

std::pair<Procedure::Index, Procedure::Val> Procedure::begin_count(Val begin, Val end) {
  value(begin);
  value(end);
  const std::int32_t loop =
      builder().open_for(static_cast<ir::Val>(begin), static_cast<ir::Val>(end));
  return {loop, builder().var(loop)};
}

std::pair<Procedure::Index, Procedure::Val> Procedure::begin_fold(Val begin, Val end) {
  value(begin);
  value(end);
  const std::int32_t loop =
      builder().open_reduce(static_cast<ir::Val>(begin), static_cast<ir::Val>(end));
  return {loop, builder().var(loop)};
}

Procedure::Val Procedure::end_fold(const std::string& kind, Val v) {
  const auto* const known = std::find_if(std::begin(kReductions), std::end(kReductions),
                                         [&](const ReduceInfo& r) { return r.name == kind; });
  if (known == std::end(kReductions) || known->kind == ReduceKind::Last)
    throw ValueError("no fold " + kind);
  const bool ordered = is_float(value(v).type) && known->has(kOrderShows);
  const ir::Order order = !ordered                         ? ir::Order::Any
                          : known->kind == ReduceKind::Sum ? ir::Order::Pairwise
                                                           : ir::Order::Sequential;
  return builder().close({{known->kind, static_cast<ir::Val>(v), order}}).front();
}

ir::Val Procedure::condition(std::optional<Val> v) {
  if (!v) return ir::kNone;
  value(*v);
  return static_cast<ir::Val>(*v);
}

Procedure::Index Procedure::begin_if(std::optional<Val> c) {
  return builder().open_if(condition(c));
}

void Procedure::otherwise(bool rare) {
  ir::Builder& b = builder();
  if (b.kernel().loops[static_cast<std::size_t>(b.innermost())].kind != ir::LoopKind::If)
    throw ValueError("otherwise() stands in no if");
  b.otherwise();
  b.loop(b.innermost()).rare = rare;
}

Procedure::Index Procedure::begin_repeat() { return builder().open_repeat(); }

void Procedure::end(std::optional<Val> c) {
  const std::int32_t open = builder().innermost();
  if (open == 0) throw ValueError("procedure " + name_ + " has no open block");
  if (builder().kernel().loops[static_cast<std::size_t>(open)].kind == ir::LoopKind::Repeat)
    return builder().close_repeat(condition(c));
  if (c) throw ValueError("only a repeat ends with a condition");
  builder().close();
}

void Procedure::leave(Index loop, std::optional<Val> c) {
  if (loop <= 0 || static_cast<std::size_t>(loop) >= builder().kernel().loops.size())
    throw ValueError("procedure " + name_ + " has no loop " + std::to_string(loop));
  builder().leave(static_cast<std::int32_t>(loop), condition(c));
}

// Code that leaves the checks out where a loop's indices are known to stay inside looks for these
// very instructions.
std::pair<Procedure::Val, Procedure::Val> Procedure::index(Val i, Val extent) {
  for (Val v : {i, extent})
    if (value(v).type != DType::Int64) throw DTypeError("an index is not int64");
  const ir::CheckedIndex c = builder().index(static_cast<ir::Val>(i), static_cast<ir::Val>(extent));
  return {c.index, c.outside};
}

void Procedure::result(Val v) {
  value(v);
  if (results_.empty()) first_result_ = builder().kernel().buffers.size();
  results_.push_back(static_cast<ir::Val>(v));
  (void)builder().buffer(value(v).type, true);
}

// The last thing that a procedure does is to say that it came to its end.
void Procedure::finish() {
  ir::Builder& b = builder();
  if (b.innermost() != 0) throw ValueError("a block of procedure " + name_ + " is still open");
  if (results_.empty()) first_result_ = b.kernel().buffers.size();
  for (std::size_t n = 0; n < first_result_; ++n) {
    const bool heap = b.kernel().buffers[n].heap;
    uses_heap_ |= heap;
    (heap ? heap_buffers_ : arrays_).push_back(n);
  }
  auto to = static_cast<std::int32_t>(first_result_);
  for (ir::Val v : results_) b.store(to++, {}, v);
  b.store(b.buffer(DType::Bool, true), {},
          b.number({.op = ir::Op::Const, .type = DType::Bool, .imm = scalar_bool(true)}));
  ir::Kernel k = b.finish();
  builder_.reset();
  ir::verify(k);
  kernel_ = std::make_shared<const ir::Kernel>(std::move(k));
  per_lane_ = ir::per_lane_locals(*kernel_);
  // Its locals are variables, of which no parameter says how large they are.
  const std::vector<std::int64_t> none(static_cast<std::size_t>(kernel_->params));
  scratch_bytes_ = ir::scratch_bytes(*kernel_, per_lane_, none.data(), 1);
}

std::string Procedure::text() const { return ir::to_string(kernel()); }

namespace {

[[noreturn]] void raise() {
  set_python_error();
  throw pb::error_already_set();
}

// Plait's errors as NumPy's.
template <auto method>
struct Raising;
template <class C, class R, class... A, R (C::*method)(A...)>
struct Raising<method> {
  static R call(C& self, A... a) try { return (self.*method)(std::forward<A>(a)...); } catch (...) {
    raise();
  }
};
template <class C, class R, class... A, R (C::*method)(A...) const>
struct Raising<method> {
  static R call(const C& self, A... a) try {
    return (self.*method)(std::forward<A>(a)...);
  } catch (...) {
    raise();
  }
};

// A copy of what a run has left in its heap.
pb::object heap_array(const Heap&, std::int64_t address, npy_intp count,
                      const pb::object& dtype) try {
  if (count < 0 || (address == 0 && count > 0)) throw ValueError("no such memory in a heap");
  PyArray_Descr* const d = descr_of(dtype_of(dtype));
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

}  // namespace

namespace {

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
      .def("buffer", Raising<&Procedure::buffer>::call, pb::arg("dtype"), pb::arg("written"))
      .def("heap", Raising<&Procedure::heap>::call, pb::arg("dtype"))
      .def("param", Raising<&Procedure::param>::call)
      .def("address", Raising<&Procedure::address>::call)
      .def("arg", Raising<&Procedure::arg>::call)
      .def("local", Raising<&Procedure::local>::call)
      .def("get", Raising<&Procedure::get>::call)
      .def("set", Raising<&Procedure::set>::call)
      .def("const", Raising<&Procedure::constant>::call)
      .def("type", Raising<&Procedure::type>::call)
      .def("apply", Raising<&Procedure::apply>::call)
      .def("cast", Raising<&Procedure::cast>::call)
      .def("load", Raising<&Procedure::load>::call)
      .def("store", Raising<&Procedure::store>::call)
      .def("call", Raising<&Procedure::call>::call)
      .def("overflows", Raising<&Procedure::overflows>::call)
      .def("begin_count", Raising<&Procedure::begin_count>::call)
      .def("begin_fold", Raising<&Procedure::begin_fold>::call)
      .def("end_fold", Raising<&Procedure::end_fold>::call)
      .def("begin_if", Raising<&Procedure::begin_if>::call, c)
      .def("otherwise", Raising<&Procedure::otherwise>::call, pb::arg("rare") = false)
      .def("begin_repeat", Raising<&Procedure::begin_repeat>::call)
      .def("end", Raising<&Procedure::end>::call, c)
      .def("break_", Raising<&Procedure::leave>::call, pb::arg("loop"), c)
      .def("index", Raising<&Procedure::index>::call)
      .def("result", Raising<&Procedure::result>::call)
      .def("finish", Raising<&Procedure::finish>::call)
      .def("text", Raising<&Procedure::text>::call)
      .def("compile", Raising<&Procedure::compile>::call, pb::arg("quick") = false)
      .def("compile_async", Raising<&Procedure::compile_async>::call)
      .def("optimise_async", Raising<&Procedure::optimise_async>::call)
      .def_property_readonly("optimised", Raising<&Procedure::optimised>::call)
      .def_property_readonly("ready", Raising<&Procedure::ready>::call)
      .def_property_readonly("interpreted", Raising<&Procedure::interpreted>::call)
      .def_property_readonly("seconds", Raising<&Procedure::seconds>::call)
      .def_property_readonly("ran", Raising<&Procedure::ran>::call)
      .def("run", Raising<&Procedure::run>::call, pb::arg("arrays"), pb::arg("params"),
           pb::arg("args"))
      .def("run_parts", Raising<&Procedure::run_parts>::call)
      .def("run_on", Raising<&Procedure::run_on>::call)
      .def("why_not_on", Raising<&Procedure::why_not_on>::call);
}

}  // namespace plait::py
