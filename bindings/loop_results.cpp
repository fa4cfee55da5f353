#include "ndarray.hpp"  // Python's headers first

#include "loop_results.hpp"

#include <algorithm>
#include <cstring>

#include "functions.hpp"
#include "procedure.hpp"

namespace pb = pybind11;

namespace plait::py {
namespace {

// Elements of a list that take longer to give back than to ask whether they are to.
constexpr std::int64_t kToAsk = 32;

// Where the parameters of each array begin.
std::vector<std::size_t> layouts(const Given& g) {
  std::vector<std::size_t> all;
  std::size_t at = 0;
  for (const Slot& slot : g.slots) {
    all.push_back(at);
    at += 2 * static_cast<std::size_t>(slot.input->ndim);
  }
  return all;
}

// The array that the results say: one that the loop was given, or a copy of what its heap has.
PyObject* array_left(const Description& d, const Left& left, const std::int64_t* told, Given& g) {
  const auto* const address = reinterpret_cast<const std::byte*>(told[1]);
  const std::int64_t* const layout = told + 2;
  const std::vector<std::size_t> at = layouts(g);
  bool plaits = false;
  for (std::size_t n = g.slots.size(); n-- > 0;) {
    const Slot& slot = g.slots[n];
    if (slot.input->kind == Input::Kind::List) continue;
    plaits |= Py_TYPE(slot.object) == array_type;
    if (g.arrays.pointers[n] == address && slot.input->dtype == left.dtype &&
        static_cast<std::size_t>(slot.input->ndim) == left.ndim &&
        std::equal(layout, layout + 2 * left.ndim,
                   g.params.begin() + static_cast<std::ptrdiff_t>(at[n])))
      return Py_NewRef(slot.object);
  }
  npy_intp shape[kMaxDims];
  std::copy(layout, layout + left.ndim, shape);
  PyArray_Descr* const descr = descr_of(left.dtype);
  Py_INCREF(descr);
  Owned made(check(PyArray_NewFromDescr(&PyArray_Type, descr, static_cast<int>(left.ndim), shape,
                                        nullptr, nullptr, 0, nullptr)));
  auto* const to = reinterpret_cast<PyArrayObject*>(made.get());
  if (PyArray_SIZE(to) > 0)
    std::memcpy(PyArray_DATA(to), address, static_cast<std::size_t>(PyArray_NBYTES(to)));
  return plaits ? check(PyObject_CallOneArg(d.adopt, made.get())) : made.release();
}

PyObject* left_behind(const Description& d, const Left& left, const std::int64_t* told, Given& g) {
  if (told[0] == 0) return nullptr;  // it is what it was
  if (!left.rows) return array_left(d, left, told, g);
  return list_of_rows(*left.rows, reinterpret_cast<const std::int64_t*>(told[1]), told[2]);
}

// Whether nobody has the lists any more that are forgotten: what makes them is Python's.
bool forgets(const Description& d) {
  const Owned yes(check(PyObject_CallNoArgs(d.forgets)));
  return yes.get() == Py_True;
}

// Gives lists, variables and attributes what the run has left of them; state: the variables.
void settle(const Description& d, Given& g, PyObject* state) {
  const std::vector<Scalar>& results = g.results;
  const auto word = [&](std::size_t n) { return results[n].as<std::int64_t>(); };
  const auto owner = [&](std::ptrdiff_t n) { return g.found[static_cast<std::size_t>(n)]; };
  std::size_t at = results.size() - d.behind - 2 * d.grown.size();
  std::size_t left_at = at;
  for (const Grown& grown : d.grown) {
    const auto* const words = reinterpret_cast<const std::int64_t*>(word(at));
    const std::int64_t count = word(at + 1);
    at += 2;
    if (grown.forgotten && count > kToAsk && forgets(d)) continue;
    const Owned elements(list_of_rows(grown.rows, words, count));
    replace_elements(g.found[grown.input], elements.get());
  }
  for (const Left& left : d.left) left_at -= left.results();
  for (const Left& left : d.left) {
    std::vector<std::int64_t> told;
    for (std::size_t n = 0; n < left.results(); ++n) told.push_back(word(left_at++));
    Owned x(left_behind(d, left, told.data(), g));
    if (x && left.name) check(PyObject_SetAttr(owner(left.owner), left.name, x.get()));
    if (x && left.at >= 0) PyTuple_SET_ITEM(state, left.at, x.release());
  }
  std::size_t width = 0;
  for (const Cell& cell : d.cells) width += cell.complex ? 3 : 2;
  at = results.size() - width;
  for (const Cell& cell : d.cells) {
    const Scalar& s = results[at++];
    const Scalar* const imaginary = cell.complex ? &results[at++] : nullptr;
    const std::int64_t tag = word(at++);
    if (tag == 0) continue;
    const Owned x(number_as(s, imaginary, d.classes[static_cast<std::size_t>(tag - 1)]));
    check(PyObject_SetAttr(owner(cell.owner), cell.name, x.get()));
  }
}

// Whether a run has returned, and what: null for None.
struct Outcome {
  bool returned = false;
  Owned value;
};
// The same of a run's results. The numbers that are variables go to `state`, where there is one.
Outcome outcome_of(const Description& d, const Given& g, PyObject* state) {
  const std::vector<Scalar>& results = g.results;
  const auto new_parts = d.listed ? PyList_New : PyTuple_New;
  Owned parts(d.returned >= 0 ? check(new_parts(d.returned)) : nullptr);
  Outcome found;
  std::size_t at = kHead;
  for (const Output& o : d.outputs) {
    const Scalar& s = results[at++];
    const Scalar* const imaginary = is_complex(o.dtype) ? &results[at++] : nullptr;
    NumberType type{o.type, o.dtype};
    if (o.tagged) {
      const auto tag = results[at++].as<std::int64_t>();
      if (tag == 0) continue;  // it is what it was
      type = d.classes[static_cast<std::size_t>(tag - 1)];
    }
    if (o.kind == Output::Kind::Returned) {
      found.returned = true;
    } else if (o.kind == Output::Kind::Variable) {
      if (state) PyTuple_SET_ITEM(state, o.at, number_as(s, imaginary, type));
    } else if (d.listed) {
      PyList_SET_ITEM(parts.get(), o.at, number_as(s, imaginary, type));
    } else if (d.returned >= 0) {
      PyTuple_SET_ITEM(parts.get(), o.at, number_as(s, imaginary, type));
    } else {
      found.value = Owned(number_as(s, imaginary, type));
    }
  }
  if (!found.returned)
    found.value = Owned();
  else if (d.returned >= 0)
    found.value = std::move(parts);
  return found;
}

}  // namespace

void give_back(const Given& g) {
  for (const Slot& slot : g.slots)
    if (slot.input->kind == Input::Kind::List && slot.input->written)
      write_back(slot.input->sequence, slot.object, g.lists[slot.numbers]);
}

Owned all_results(const Given& g, std::unique_ptr<Heap> heap) {
  const auto n = static_cast<Py_ssize_t>(g.results.size());
  Owned all(check(PyTuple_New(n + (heap ? 1 : 0))));
  for (Py_ssize_t i = 0; i < n; ++i)
    PyTuple_SET_ITEM(all.get(), i, python_number(g.results[static_cast<std::size_t>(i)]));
  if (heap) PyTuple_SET_ITEM(all.get(), n, pb::cast(std::move(heap)).release().ptr());
  return all;
}

PyObject* state_of(const Description& d, Given& g, PyObject* locals, PyObject* unbound) {
  const auto n = static_cast<Py_ssize_t>(d.stored.size());
  Owned state(check(PyTuple_New(n + 2)));
  const Outcome found = outcome_of(d, g, state.get());
  settle(d, g, state.get());
  for (Py_ssize_t i = 0; i < n; ++i)
    if (!PyTuple_GET_ITEM(state.get(), i)) {
      PyObject* const before = in_dict(locals, d.stored[static_cast<std::size_t>(i)]);
      PyTuple_SET_ITEM(state.get(), i, Py_NewRef(before ? before : unbound));
    }
  PyTuple_SET_ITEM(state.get(), n, PyBool_FromLong(found.returned));
  PyObject* const what = found.value.get();
  PyTuple_SET_ITEM(state.get(), n + 1, Py_NewRef(what ? what : Py_None));
  return state.release();
}

PyObject* value_of(const Description& d, Given& g, PyObject* const* arguments) {
  const auto none_for_null = [](Owned x) { return x ? x.release() : Py_NewRef(Py_None); };
  if (d.parts.empty()) return none_for_null(outcome_of(d, g, nullptr).value);
  const Owned state(check(PyTuple_New(static_cast<Py_ssize_t>(d.stored.size()))));
  Outcome found = outcome_of(d, g, state.get());
  settle(d, g, state.get());
  if (found.returned) return none_for_null(std::move(found.value));
  const auto part = [&](const Description::Part& p) {
    PyObject* const x = p.stored >= 0 ? PyTuple_GET_ITEM(state.get(), p.stored) : nullptr;
    return Py_NewRef(x ? x : arguments[p.argument]);
  };
  if (d.single) return part(d.parts[0]);
  Owned all(check(PyTuple_New(static_cast<Py_ssize_t>(d.parts.size()))));
  for (std::size_t n = 0; n < d.parts.size(); ++n)
    PyTuple_SET_ITEM(all.get(), static_cast<Py_ssize_t>(n), part(d.parts[n]));
  return all.release();
}

}  // namespace plait::py
