// Inner loops of NumPy's generalized ufuncs (its transforms, its linear algebra), for arrays of
// Plait's: they need no GIL and no array. Batches are spread over the team; the results lie in
// pooled memory.
#define NO_IMPORT_UFUNC
#include "core/array_memory.hpp"
#include "engine/batches.hpp"
#include "engine/blas_library.hpp"
#include "engine/interruption.hpp"
#include "engine/long_fft.hpp"
#include "engine/report.hpp"
#include "functions.hpp"
#include "interrupt.hpp"
#include "tracer/context.hpp"
#include "tracer/device.hpp"

#include <numpy/ufuncobject.h>

namespace plait::py {

namespace {

static_assert(sizeof(npy_intp) == sizeof(std::intptr_t));

PyUFuncObject* ufunc_of(PyObject* o) { return reinterpret_cast<PyUFuncObject*>(o); }

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

// results: (dtype, shape, strides) each; strides None: C order.
std::optional<Operands> parse_operands(PyObject* arrays, PyObject* results) {
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
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(results); ++i) {
    PyObject* const r = PyTuple_GET_ITEM(results, i);
    const auto dtype = parse_dtype(PyTuple_GET_ITEM(r, 0));
    const auto shape = parse_axes(PyTuple_GET_ITEM(r, 1));
    if (!dtype || !shape) return std::nullopt;
    Dims strides = contiguous_strides(*shape, static_cast<std::int64_t>(itemsize(*dtype)));
    if (PyTuple_GET_ITEM(r, 2) != Py_None) strides = *parse_axes(PyTuple_GET_ITEM(r, 2));
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
PyObject* run_loop(PyObject*, Args args, Py_ssize_t n) {
  if (!exact_count(n, 7)) return nullptr;
  return guarded([&]() -> PyObject* {
    const PyUFuncObject* const u = ufunc_of(args[0]);
    const std::int64_t type = integer(args[1]);
    auto operands = parse_operands(args[2], args[3]);
    if (!operands) return not_implemented();
    engine::BatchLoop loop;
    loop.fn = reinterpret_cast<engine::BatchFn>(reinterpret_cast<void (*)()>(u->functions[type]));
    loop.data = u->data ? const_cast<void*>(u->data[type]) : nullptr;
    loop.batch = *parse_axes(args[4]);
    const Dims sizes = *parse_axes(args[5]);
    loop.sizes.assign(sizes.begin(), sizes.end());
    loop.seconds = PyFloat_AsDouble(args[6]);
    const int nd = loop.batch.size();
    for (std::size_t k = 0; k < operands->all.size(); ++k) {
      const Memory& m = operands->all[k];
      const int core = u->core_num_dims[k], own = m.shape.size() - core;
      Dims strides(nd);
      for (int d = 0; d < own; ++d) strides[nd - own + d] = m.shape[d] == 1 ? 0 : m.strides[d];
      for (int d = own; d < m.shape.size(); ++d) loop.core_steps.push_back(m.strides[d]);
      loop.operands.push_back(m.data);
      loop.strides.push_back(strides);
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
    if (!operands->made.empty())
      at_call.done(u->name, operands->made[0].dtype, operands->made[0].shape);
    return answer(flags, std::move(*operands));
  });
}

// long_fft(ufunc, type, array, result, forward, scale): the transform of one line, by the ufunc's
// loop for short ones. NotImplemented where its length is not made for that.
PyObject* long_fft(PyObject*, Args args, Py_ssize_t n) {
  if (!exact_count(n, 6)) return nullptr;
  return guarded([&]() -> PyObject* {
    const PyUFuncObject* const u = ufunc_of(args[0]);
    const std::int64_t type = integer(args[1]);
    const Owned arrays(check(PyTuple_Pack(1, args[2]))), results(check(PyTuple_Pack(1, args[3])));
    auto a = parse_array(args[2]);
    if (!a || a->ndim() != 1 || !engine::LongFft::takes(a->shape[0], a->dtype))
      return not_implemented();
    auto operands = parse_operands(arrays.get(), results.get());
    if (!operands) return not_implemented();
    const engine::LongFft transform{
        reinterpret_cast<engine::BatchFn>(reinterpret_cast<void (*)()>(u->functions[type])),
        u->data ? const_cast<void*>(u->data[type]) : nullptr, PyObject_IsTrue(args[4]) == 1,
        PyFloat_AsDouble(args[5])};
    const engine::AtCall at_call;
    {
      const GilParked released;
      const engine::InterruptScope scope(true);
      const Memory& in = operands->all[0];
      transform.run(a->dtype, in.data, in.shape[0], in.strides[0], operands->all[1].data);
    }
    at_call.done(u->name, a->dtype, a->shape);
    return answer(0, std::move(*operands));
  });
}

}  // namespace

PyMethodDef loop_functions[] = {
    {"run_loop", c(run_loop), METH_FASTCALL, nullptr},
    {"long_fft", c(long_fft), METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace plait::py
