// Inner loops of NumPy's generalized ufuncs (its transforms, its linear algebra), for arrays of
// Plait's: they need no GIL and no array. Batches are spread over the team; the results lie in
// pooled memory.
#define NO_IMPORT_UFUNC
#include "core/array_memory.hpp"
#include "engine/products/blas_library.hpp"
#include "engine/products/long_fft.hpp"
#include "engine/reports/report.hpp"
#include "engine/threads/batches.hpp"
#include "engine/threads/interruption.hpp"
#include "functions.hpp"
#include "interrupt.hpp"
#include "tracer/context.hpp"
#include "tracer/device.hpp"
#include "tracer/layout.hpp"

#include <numpy/ufuncobject.h>

#include <atomic>
#include <complex>
#include <cstring>

namespace plait::py {

namespace {

static_assert(sizeof(npy_intp) == sizeof(std::intptr_t));

PyUFuncObject* ufunc_of(PyObject* o) { return reinterpret_cast<PyUFuncObject*>(o); }

// Runs a ufunc's loop for a team, and raises what the loop raises. A loop that cannot allocate
// leaves its results as they were and a Python exception in the thread's state, which threads of
// the team have not. There an element of the results is marked first; where the mark is left, the
// loop is run again with a state that keeps the exception.
class RaisingLoop {
 public:
  RaisingLoop(const PyUFuncObject* u, std::int64_t type)
      : ufunc_(u),
        fn_(reinterpret_cast<engine::BatchFn>(reinterpret_cast<void (*)()>(u->functions[type]))),
        data_(u->data ? const_cast<void*>(u->data[type]) : nullptr),
        caller_(PyThread_get_thread_ident()),
        marked_(u->nin) {
    // A result of no dimensions, where there is one: it has an element for certain.
    for (int k = u->nin; k < u->nargs; ++k)
      if (u->core_num_dims[k] == 0) marked_ = k;
    PyArray_Descr* d = PyArray_DescrFromType(u->types[type * u->nargs + marked_]);
    item_ = static_cast<std::size_t>(PyDataType_ELSIZE(d));
    Py_DECREF(d);
  }

  static void run(char** args, const std::intptr_t* dims, const std::intptr_t* steps, void* self) {
    static_cast<RaisingLoop*>(self)->run(args, dims, steps);
  }
  void check_raised() const {  // with the GIL
    if (PyErr_Occurred()) throw PythonError{};
    if (raised_elsewhere_) throw std::bad_alloc();
  }

 private:
  bool has_elements(const std::intptr_t* dims) const {
    const int first = ufunc_->core_offsets[marked_];
    bool some = dims[0] > 0;
    for (int i = 0; i < ufunc_->core_num_dims[marked_]; ++i)
      some = some && dims[1 + ufunc_->core_dim_ixs[first + i]] > 0;
    return some;
  }
  void run(char** args, const std::intptr_t* dims, const std::intptr_t* steps) {
    if (PyThread_get_thread_ident() == caller_ || !has_elements(dims))
      return fn_(args, dims, steps, data_);
    char mark[sizeof(std::complex<long double>)];
    std::memset(mark, 0xA5, sizeof mark);
    char* const at = args[marked_];
    std::memcpy(at, mark, item_);
    fn_(args, dims, steps, data_);
    if (std::memcmp(at, mark, item_) != 0) return;
    const PyGILState_STATE before = PyGILState_Ensure();
    PyThreadState* const state = PyEval_SaveThread();
    fn_(args, dims, steps, data_);
    PyEval_RestoreThread(state);
    if (PyErr_Occurred()) {
      PyErr_Clear();
      raised_elsewhere_ = true;
    }
    PyGILState_Release(before);
  }

  const PyUFuncObject* ufunc_;
  engine::BatchFn fn_;
  void* data_;
  unsigned long caller_;
  int marked_;
  std::size_t item_;
  std::atomic<bool> raised_elsewhere_{false};
};

struct Memory {
  char* data;
  Dims shape, strides;
};

// What a run reads and makes; the buffers live as long as it does.
struct Operands {
  std::vector<Memory> all;
  std::vector<Ref<Buffer>> held;
  std::vector<tracer::Array> made;
};

// The strides of a result whose core dimensions are in C order, and those of the batch in the order
// in which the iterator takes those of the arrays.
Dims strides_in_batches(const Dims& shape, DType t, int nd, std::span<const Dims> steps) {
  Dims strides = contiguous_strides(shape, static_cast<std::int64_t>(itemsize(t)));
  std::int64_t step = static_cast<std::int64_t>(itemsize(t));
  for (int d = nd; d < shape.size(); ++d) step *= shape[d];
  for (const std::int64_t d : tracer::iteration_order(nd, steps)) {
    strides[static_cast<int>(d)] = step;
    step *= shape[static_cast<int>(d)];
  }
  return strides;
}

// Along the batch, of an operand with `core` dimensions behind it: 0 where it is broadcast.
Dims batch_steps(const Memory& m, int nd, int core) {
  Dims steps(nd);
  const int own = m.shape.size() - core;
  for (int d = 0; d < own; ++d) steps[nd - own + d] = m.shape[d] == 1 ? 0 : m.strides[d];
  return steps;
}

// results: (dtype, shape, strides) each; strides None: those of a batch of nd dimensions.
std::optional<Operands> parse_operands(PyObject* arrays, PyObject* results,
                                       const int* cores = nullptr, int nd = 0) {
  Operands o;
  std::vector<tracer::Array> inputs;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(arrays); ++i) {
    auto a = parse_array(PyTuple_GET_ITEM(arrays, i));
    if (!a || tracer::device_of(*a) != kHost) return std::nullopt;
    inputs.push_back(std::move(*a));
  }
  for (const tracer::Array& a : inputs) force(a);
  {
    const std::lock_guard held(tracer::lock());
    for (const tracer::Array& a : inputs) {
      o.all.push_back({static_cast<char*>(tracer::data(a)), a.shape, a.strides});
      o.held.push_back(a.storage->version->data);
    }
  }
  std::vector<Dims> steps;
  for (std::size_t i = 0; nd > 0 && i < o.all.size(); ++i)
    steps.push_back(batch_steps(o.all[i], nd, cores[i]));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(results); ++i) {
    PyObject* const r = PyTuple_GET_ITEM(results, i);
    const auto dtype = parse_dtype(PyTuple_GET_ITEM(r, 0));
    const auto shape = parse_axes(PyTuple_GET_ITEM(r, 1));
    if (!dtype || !shape) return std::nullopt;
    const Dims strides = PyTuple_GET_ITEM(r, 2) != Py_None
                             ? *parse_axes(PyTuple_GET_ITEM(r, 2))
                             : strides_in_batches(*shape, *dtype, nd, steps);
    Ref<Buffer> memory = allocate_array(*shape, *dtype);
    o.all.push_back({reinterpret_cast<char*>(memory->data), *shape, strides});
    o.held.push_back(memory);
    o.made.push_back(tracer::from_buffer(std::move(memory), *dtype, *shape, strides, 0));
  }
  return o;
}

PyObject* answer(unsigned flags, Operands&& o) {
  Owned all(check(PyTuple_New(static_cast<Py_ssize_t>(o.made.size()) + 1)));
  PyTuple_SET_ITEM(all.get(), 0, check(PyLong_FromUnsignedLong(flags)));
  for (std::size_t i = 0; i < o.made.size(); ++i)
    PyTuple_SET_ITEM(all.get(), static_cast<Py_ssize_t>(i) + 1, wrap(std::move(o.made[i])));
  return all.release();
}

// run_loop(ufunc, type, arrays, results, batch, sizes, seconds): the results of the ufunc's loop
// for its type of that number, after the floating-point flags that it raised. Core dimensions come
// last; `sizes` are theirs, in the order in which the signature names them.
PyObject* run_loop(Exactly<7>& args) {
  const PyUFuncObject* const u = ufunc_of(args[0]);
  const std::int64_t type = integer(args[1]);
  const Dims batch = *parse_axes(args[4]);
  auto operands = parse_operands(args[2], args[3], u->core_num_dims, batch.size());
  if (!operands) return not_implemented();
  engine::BatchLoop loop;
  RaisingLoop raising(u, type);
  loop.fn = RaisingLoop::run;
  loop.data = &raising;
  loop.batch = batch;
  const Dims sizes = *parse_axes(args[5]);
  loop.sizes.assign(sizes.begin(), sizes.end());
  loop.seconds = PyFloat_AsDouble(args[6]);
  for (std::size_t k = 0; k < operands->all.size(); ++k) {
    const Memory& m = operands->all[k];
    const int core = u->core_num_dims[k];
    for (int d = m.shape.size() - core; d < m.shape.size(); ++d)
      loop.core_steps.push_back(m.strides[d]);
    loop.operands.push_back(m.data);
    loop.strides.push_back(batch_steps(m, batch.size(), core));
  }
  const engine::AtCall at_call;
  unsigned flags = 0;
  {
    const GilParked released;
    const engine::InterruptScope scope(true);
    std::optional<engine::OneBlasThread> alone;
    if (element_count(loop.batch) > 1) alone.emplace();
    flags = engine::run_batches(loop);
  }
  raising.check_raised();
  if (!operands->made.empty())
    at_call.done(u->name, operands->made[0].dtype, operands->made[0].shape);
  return answer(flags, std::move(*operands));
}

// long_fft(ufunc, type, array, result, forward, scale): the transform of one line, by the ufunc's
// loop for short ones. NotImplemented where its length is not made for that.
PyObject* long_fft(Exactly<6>& args) {
  const PyUFuncObject* const u = ufunc_of(args[0]);
  const std::int64_t type = integer(args[1]);
  const Owned arrays(check(PyTuple_Pack(1, args[2]))), results(check(PyTuple_Pack(1, args[3])));
  auto a = parse_array(args[2]);
  if (!a || a->ndim() != 1 || !engine::LongFft::takes(a->shape[0], a->dtype))
    return not_implemented();
  auto operands = parse_operands(arrays.get(), results.get());
  if (!operands) return not_implemented();
  RaisingLoop raising(u, type);
  const engine::LongFft transform{RaisingLoop::run, &raising, PyObject_IsTrue(args[4]) == 1,
                                  PyFloat_AsDouble(args[5])};
  const engine::AtCall at_call;
  {
    const GilParked released;
    const engine::InterruptScope scope(true);
    const Memory& in = operands->all[0];
    transform.run(a->dtype, in.data, in.shape[0], in.strides[0], operands->all[1].data);
  }
  raising.check_raised();
  at_call.done(u->name, a->dtype, a->shape);
  return answer(0, std::move(*operands));
}

}  // namespace

PyMethodDef loop_functions[] = {
    row<run_loop>("run_loop"),
    row<long_fft>("long_fft"),
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace plait::py
