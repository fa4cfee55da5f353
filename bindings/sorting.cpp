// Sorting and what is made of it: calls that are run when they are made. And NumPy's sorts of runs,
// which are vectorised for the CPU at hand, for the engine: it cuts lines into runs, spreads them
// over threads and merges them. They need no GIL and no array.
#include "core/array_memory.hpp"
#include "engine/calls/call.hpp"
#include "engine/calls/sort_run.hpp"
#include "engine/direct/direct_kernels.hpp"
#include "engine/reports/report.hpp"
#include "engine/threads/interruption.hpp"
#include "engine/threads/team.hpp"
#include "functions.hpp"
#include "interrupt.hpp"
#include "tracer/calls.hpp"
#include "tracer/capture.hpp"
#include "tracer/context.hpp"
#include "tracer/device.hpp"
#include "tracer/layout.hpp"

namespace plait::py {

namespace {

constexpr std::int64_t kFewElements = 4096;
constexpr std::int64_t kManyElements = 1 << 20;  // are sorted for long enough to be interrupted

engine::Operand operand_of(PyArrayObject* a, DType t) {
  const auto n = static_cast<int>(PyArray_NDIM(a));
  return {static_cast<std::byte*>(PyArray_DATA(a)), t, Dims(PyArray_DIMS(a), PyArray_DIMS(a) + n),
          Dims(PyArray_STRIDES(a), PyArray_STRIDES(a) + n)};
}

// Sorts elsewhere, so that an interrupt leaves the array as it was; false without memory for that.
bool sorted_by_copy(const engine::Operand& memory, const CallAttributes& attributes) {
  Ref<Buffer> place;
  try {
    place = allocate_array(memory.shape, memory.dtype);
  } catch (const std::bad_alloc&) {
    return false;
  }
  const auto item = static_cast<std::int64_t>(itemsize(memory.dtype));
  const engine::Operand sorted{place->data, memory.dtype, memory.shape,
                               contiguous_strides(memory.shape, item)};
  {
    const engine::InterruptScope scope(true);
    engine::call_function(CallId::Sort)({{&memory, 1}, {&sorted, 1}, attributes});
  }
  if (memory.strides == sorted.strides)
    engine::copy_memory(memory.data, sorted.data, element_count(memory.shape) * item);
  else
    engine::run_cast(memory.dtype, memory.dtype, memory.shape, {sorted.data, sorted.strides},
                     {memory.data, memory.strides});
  return true;
}

// sort_memory(numpy array, axis, stable): in place, all of it or nothing.
PyObject* sort_memory(Exactly<3>& args) {
  auto* const a = reinterpret_cast<PyArrayObject*>(args[0]);
  const auto t = native_dtype(PyArray_DESCR(a));
  if (!t || is_narrow(*t) || !PyArray_ISWRITEABLE(a)) return not_implemented();
  const engine::Operand memory = operand_of(a, *t);
  const CallAttributes attributes{
      Dims{PyLong_AsLongLong(args[1]), PyLong_AsLongLong(args[2])}, {}, {}};
  const engine::AtCall at_call;
  {
    const GilParked released;
    const bool is_long = element_count(memory.shape) >= kManyElements;
    if (!is_long || !sorted_by_copy(memory, attributes))
      engine::call_function(CallId::Sort)({{&memory, 1}, {&memory, 1}, attributes});
  }
  at_call.done("sort", memory.dtype, memory.shape);
  return Py_NewRef(Py_None);
}

// Fresh results of a call, and what it reads.
struct Call {
  const CallInfo& info;
  CallAttributes attributes;
  std::vector<tracer::Array> arrays;
  std::vector<engine::Operand> inputs, outputs;
  std::vector<Ref<Buffer>> read, made;

  void run() const { engine::call_function(info.id)({inputs, outputs, attributes}); }
};

// The lock is held; arrays are in memory.
void prepare(Call& c, char order) {
  std::vector<ValueType> types, results(static_cast<std::size_t>(c.info.results));
  for (const tracer::Array& a : c.arrays) {
    types.push_back({a.dtype, a.shape});
    c.inputs.push_back({static_cast<std::byte*>(tracer::data(a)), a.dtype, a.shape, a.strides});
    c.read.push_back(a.storage->version->data);
  }
  c.info.rule(types, c.attributes, results);
  for (const ValueType& r : results) {
    const tracer::Array& first = c.arrays[0];
    const auto item = static_cast<std::int64_t>(itemsize(r.dtype));
    const bool like = order == 'K' && r.dtype == first.dtype && r.shape == first.shape;
    c.made.push_back(allocate_array(r.shape, r.dtype));
    c.outputs.push_back({c.made.back()->data, r.dtype, r.shape,
                         like ? tracer::copy_strides(r.shape, first.strides, item, 'K')
                              : contiguous_strides(r.shape, item)});
  }
}

PyObject* wrapped(std::vector<tracer::Array> made, PyObject* const* from) {
  std::vector<Owned> results;
  for (tracer::Array& a : made) results.emplace_back(wrap_returned(std::move(a), from, 1));
  if (results.size() == 1) return results[0].release();
  Owned tuple(check(PyTuple_New(static_cast<Py_ssize_t>(results.size()))));
  for (std::size_t i = 0; i < results.size(); ++i)
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), results[i].release());
  return tuple.release();
}

// The results of a call on arrays that are alike to the operands `from`.
PyObject* results_now(Call& c, char order, PyObject* const* from) {
  std::int64_t work = 0;
  for (const tracer::Array& a : c.arrays) {
    if (a.size() == 0 || tracer::device_of(a) != kHost) return not_implemented();
    work = std::max(work, a.size());
  }
  if (tracer::recording_alone() ||
      std::any_of(c.arrays.begin(), c.arrays.end(),
                  [](const tracer::Array& a) { return is_narrow(a.dtype); }))
    return wrapped(tracer::call(c.info.id, c.arrays, c.attributes, order), from);
  for (const tracer::Array& a : c.arrays) force(a);
  const engine::AtCall at_call;
  if (work <= kFewElements) {
    const std::lock_guard held(tracer::lock());
    prepare(c, order);
    c.run();
  } else {
    {
      const std::lock_guard held(tracer::lock());
      prepare(c, order);
    }
    const GilParked released;
    const engine::InterruptScope scope(true);
    c.run();
  }
  at_call.done(c.info.name, c.outputs[0].dtype, c.outputs[0].shape);
  std::vector<tracer::Array> results;
  for (std::size_t i = 0; i < c.made.size(); ++i) {
    const engine::Operand& o = c.outputs[i];
    results.push_back(tracer::from_buffer(std::move(c.made[i]), o.dtype, o.shape, o.strides, 0));
  }
  return wrapped(std::move(results), from);
}

// call_now(name, arrays, numbers, order): the results of a row of the table of calls. Short work
// keeps the lock, so that nobody writes meanwhile.
PyObject* call_now(Exactly<4>& args) {
  Call c{call_info(find_call(utf8(args[0]))), {}, {}, {}, {}, {}, {}};
  c.attributes.numbers = *parse_axes(args[2], Axes::List);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args[1]); ++i) {
    auto a = parse_array(PyTuple_GET_ITEM(args[1], i));
    if (!a) return not_implemented();
    c.arrays.push_back(std::move(*a));
  }
  return results_now(c, *utf8(args[3]), &PyTuple_GET_ITEM(args[1], 0));
}

}  // namespace

PyObject* sorted_copy(Args args, Py_ssize_t n, PyObject* names) {
  if (names || n != 1) return not_implemented();
  if (PyArray_CheckExact(args[0])) {  // as functions that NumPy calls get them
    static PyObject* const name = PyUnicode_InternFromString("sort");
    return by_numpy(numpy_attr("sort"), name, args, 1, nullptr);
  }
  if (Py_TYPE(args[0]) != array_type || as_array(args[0])->host ||
      as_array(args[0])->array.ndim() == 0)
    return not_implemented();
  Call c{call_info(CallId::Sort), {}, {}, {}, {}, {}, {}};
  c.attributes.numbers = {as_array(args[0])->array.ndim() - 1, 0};  // axis, stable
  c.arrays.push_back(as_array(args[0])->array);
  return results_now(c, 'K', args);
}

PyMethodDef sorting_functions[] = {
    row<call_now>("call_now"),
    row<sort_memory>("sort_memory"),
    {nullptr, nullptr, 0, nullptr},
};

static_assert(sizeof(npy_intp) == sizeof(std::int64_t));

void lend_sorts() {
  for (int d = 0; d < kNumPyDTypes; ++d) {
    const auto t = static_cast<DType>(d);
    const PyArray_ArrFuncs* const f = PyDataType_GetArrFuncs(descr_of(t));
    if (!f) continue;
    engine::RunSorter s;
    s.quick = f->sort[NPY_QUICKSORT];
    s.stable = f->sort[NPY_STABLESORT];
    s.arg_stable = f->argsort[NPY_STABLESORT];
    engine::set_run_sorter(t, s);
  }
}

}  // namespace plait::py
