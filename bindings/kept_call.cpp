#include "kept_call.hpp"

#include <algorithm>
#include <mutex>

#include "engine/products/packed_operands.hpp"
#include "functions.hpp"
#include "tracer/context.hpp"

namespace plait::py {

namespace {

using engine::CapturedCall;
using engine::NodeMemory;

PyObject* view_of_argument(PyObject* o, const CapturedCall::Place& p) {
  if (is_array(o)) {
    tracer::Array a = p.as;
    a.storage = as_array(o)->array.storage;
    a.offset = as_array(o)->array.offset + p.offset;
    return wrap(std::move(a), o);
  }
  auto* from = reinterpret_cast<PyArrayObject*>(o);
  npy_intp shape[kMaxDims], strides[kMaxDims];
  std::copy(p.as.shape.begin(), p.as.shape.end(), shape);
  std::copy(p.as.strides.begin(), p.as.strides.end(), strides);
  PyArray_Descr* d = descr_of(p.as.dtype);
  Py_INCREF(d);
  Owned out(check(PyArray_NewFromDescr(&PyArray_Type, d, p.as.ndim(), shape, strides,
                                       PyArray_BYTES(from) + p.offset,
                                       p.as.writeable ? NPY_ARRAY_WRITEABLE : 0, nullptr)));
  check(PyArray_SetBaseObject(reinterpret_cast<PyArrayObject*>(out.get()), Py_NewRef(o)));
  return out.release();
}

// Of a run: what was computed, and what was given.
struct Run {
  const Kept& kept;
  PyObject* const* given;
  std::vector<tracer::Array> results;
  std::vector<tracer::Array> hold;  // Plait's arguments

  PyObject* object(const Returned& r) {
    switch (r.kind) {
      case Returned::Kind::Argument:
        return Py_NewRef(given[r.number]);
      case Returned::Kind::Constant:
        return Py_NewRef(r.value.get());
      case Returned::Kind::Array: {
        const CapturedCall::Place& p = kept.call->results()[r.number];
        if (p.argument >= 0)
          return view_of_argument(given[static_cast<std::size_t>(p.argument)], p);
        Owned made(wrap(std::move(results[r.number])));
        return kept.key.numpys() ? to_numpy(as_array(made.get())) : made.release();
      }
      case Returned::Kind::Scalar: {
        const CapturedCall::Place& p = kept.call->results()[r.number];
        if (p.argument < 0) return wrap_scalar(item(results[r.number]));
        const Owned view(view_of_argument(given[static_cast<std::size_t>(p.argument)], p));
        if (is_array(view.get())) return wrap_scalar(item(as_array(view.get())->array));
        return check(PyArray_ToScalar(PyArray_DATA(reinterpret_cast<PyArrayObject*>(view.get())),
                                      reinterpret_cast<PyArrayObject*>(view.get())));
      }
      case Returned::Kind::Tuple:
      case Returned::Kind::NamedTuple:
      case Returned::Kind::List: {
        const auto n = static_cast<Py_ssize_t>(r.items.size());
        const bool tuple = r.kind != Returned::Kind::List;
        Owned made(check(tuple ? PyTuple_New(n) : PyList_New(n)));
        for (Py_ssize_t i = 0; i < n; ++i) {
          PyObject* const item = object(r.items[static_cast<std::size_t>(i)]);
          if (tuple)
            PyTuple_SET_ITEM(made.get(), i, item);
          else
            PyList_SET_ITEM(made.get(), i, item);
        }
        if (r.kind == Returned::Kind::NamedTuple)
          return check(PyObject_Call(r.value.get(), made.get(), nullptr));
        return made.release();
      }
      case Returned::Kind::Dict: {
        Owned made(check(PyDict_New()));
        for (std::size_t i = 0; i < r.items.size(); ++i) {
          const Owned item(object(r.items[i]));
          check(PyDict_SetItem(
              made.get(), PyTuple_GET_ITEM(r.value.get(), static_cast<Py_ssize_t>(i)), item.get()));
        }
        return made.release();
      }
    }
    return nullptr;
  }
};

NodeMemory numpys_memory(std::byte* first, std::int64_t bytes, bool writeable) {
  return {adopt(first, static_cast<std::size_t>(bytes), writeable, nullptr, nullptr), 0};
}

// Where the memory of the arguments' storages is. The recorder's lock is held.
std::vector<NodeMemory> memory_of(const Kept& k, PyObject* const* given) {
  std::vector<NodeMemory> memory(k.key.size());
  const std::vector<std::int32_t>& storages = k.call->storages();
  for (std::size_t i = 0; i < memory.size(); ++i) {
    if (static_cast<std::size_t>(storages[i]) != i) continue;
    if (!k.key.numpys()) {
      const tracer::Array& a = as_array(given[i])->array;
      if (k.call->writes(i)) tracer::writable_data(a);
      tracer::Node& n = *a.storage->version;
      memory[i] = {n.data, n.data_offset, k.call->writes(i) ? 0 : engine::packable_contents(n)};
      continue;
    }
    std::byte *first = nullptr, *last = nullptr;
    for (std::size_t j = i; j < memory.size(); ++j) {
      if (static_cast<std::size_t>(storages[j]) != i) continue;
      auto* const at =
          reinterpret_cast<std::byte*>(PyArray_BYTES(reinterpret_cast<PyArrayObject*>(given[j])));
      std::byte *const lo = at + k.key[j].first, *const hi = at + k.key[j].last;
      first = first ? std::min(first, lo) : lo;
      last = last ? std::max(last, hi) : hi;
    }
    memory[i] = numpys_memory(first, last - first, k.key[i].writeable);
  }
  return memory;
}

// Contents of NumPy's arrays that are no arguments, as they are now. False: they lie otherwise.
bool read_outside(const Kept& k, std::vector<NodeMemory>& memory,
                  std::vector<tracer::Array>& hold) {
  for (std::size_t i = 0; i < k.outside.size(); ++i) {
    memory.emplace_back();
    if (!k.call->reads_outside(i)) continue;
    auto* const a = reinterpret_cast<PyArrayObject*>(k.outside[i].array.get());
    if (array_key(k.outside[i].array.get()) != k.outside[i].key) return false;
    if (PyArray_IS_C_CONTIGUOUS(a)) {
      memory.back() =
          numpys_memory(reinterpret_cast<std::byte*>(PyArray_BYTES(a)), PyArray_NBYTES(a), false);
      continue;
    }
    const auto copy = native_from_numpy(a, Take::Copy);
    const tracer::Node& n = *copy->storage->version;
    memory.back() = {n.data, n.data_offset};
    hold.push_back(*copy);
  }
  return true;
}

}  // namespace

PyObject* run_kept(const Kept& k, PyObject* const* given) {
  Run r{k, given, std::vector<tracer::Array>(k.call->results().size()), {}};
  std::vector<NodeMemory> outside;
  if (!read_outside(k, outside, r.hold)) return nullptr;
  for (;;) {
    try {
      const std::lock_guard held(tracer::lock());
      const std::vector<NodeMemory> memory = memory_of(k, given);
      if (!k.call->run(memory, outside, {}, r.results)) return nullptr;
      break;
    } catch (const engine::Interrupted&) {
    }
    if (PyErr_Occurred()) throw PythonError{};  // the handler has run
    check(PyErr_CheckSignals());
  }
  return r.object(k.returned);
}

}  // namespace plait::py
