#include "ndarray.hpp"  // Python's headers first

#include "loop_description.hpp"

#include <pybind11/stl.h>

#include "functions.hpp"
#include "procedure.hpp"

namespace pb = pybind11;

namespace plait::py {
namespace {

std::pair<PyTypeObject*, DType> class_of(const pb::handle& pair) {
  const auto p = pb::reinterpret_borrow<pb::tuple>(pair);
  return {reinterpret_cast<PyTypeObject*>(pb::object(p[0]).ptr()),
          *parse_dtype(pb::object(p[1]).ptr())};
}

}  // namespace

// (of tuples, [(dtype of the word, [((class, dtype), tag)])])
Rows rows_of(const pb::handle& from) {
  const auto p = pb::reinterpret_borrow<pb::tuple>(from);
  Rows rows{p[0].cast<std::vector<int>>(), {}};
  for (const pb::handle& of : pb::object(p[1])) {
    const auto c = pb::reinterpret_borrow<pb::tuple>(of);
    Column column{*parse_dtype(pb::object(c[0]).ptr()), {}};
    for (const pb::handle& kind : pb::object(c[1])) {
      const auto k = pb::reinterpret_borrow<pb::tuple>(kind);
      column.kinds.emplace_back(class_of(k[0]), k[1].cast<std::int64_t>());
    }
    rows.columns.push_back(std::move(column));
  }
  return rows;
}
namespace {

PyObject* or_null(const pb::handle& o) { return o.is_none() ? nullptr : o.ptr(); }

// Places: (name, local, cell, scope, module, builtins, owner, argument), None for what is not
// asked.
Place place_of(const pb::handle& from) {
  const auto p = pb::reinterpret_borrow<pb::tuple>(from);
  const auto at = [&](std::size_t i) { return or_null(pb::object(p[i])); };
  return {at(0),
          p[1].cast<bool>(),
          at(2),
          at(3),
          at(4),
          at(5),
          p[6].cast<std::ptrdiff_t>(),
          p[7].cast<std::ptrdiff_t>()};
}

std::optional<Rows> optional_rows(const pb::object& o) {
  return o.is_none() ? std::nullopt : std::optional(rows_of(o));
}

Sequence::Of sequence_named(const std::string& of) {
  using Of = Sequence::Of;
  if (of == "tuple") return Of::Tuple;
  if (of == "bytes") return Of::Bytes;
  if (of == "empty list") return Of::EmptyList;
  return of == "list" ? Of::List : Of::Grid;
}

Input input_of(const pb::handle& from) {
  const auto p = pb::reinterpret_borrow<pb::tuple>(from);
  const auto kind = p[0].cast<std::string>();
  Input in{};
  in.place = place_of(p[1]);
  if (kind == "object") {
    in.kind = Input::Kind::Object;
    in.object = pb::object(p[2]).ptr();
    in.beneath = pb::object(p[3]).ptr();
  } else if (kind == "class") {
    in.kind = Input::Kind::Class;
    in.type = reinterpret_cast<PyTypeObject*>(pb::object(p[2]).ptr());
    if (p[3].cast<bool>()) {
      const Owned any(check(PyUnicode_InternFromString("__class__")));
      (void)_PyType_Lookup(in.type, any.get());  // which gives it a version
      in.version = version_of(in.type);
      if (in.version == 0) in.version = ~0u;  // it has none: nothing fits
    }
  } else if (kind == "method") {
    in.kind = Input::Kind::Method;
    in.object = pb::object(p[2]).ptr();
  } else if (kind == "generator") {
    in.kind = Input::Kind::Generator;
    in.type = reinterpret_cast<PyTypeObject*>(pb::object(p[2]).ptr());
    in.exact = p[3].cast<bool>();
  } else if (kind == "list") {
    in.kind = Input::Kind::List;
    in.dtype = *parse_dtype(pb::object(p[2]).ptr());
    in.ndim = p[3].cast<int>();
    in.written = p[4].cast<bool>();
    in.sequence = {sequence_named(p[5].cast<std::string>()), in.dtype, optional_rows(p[6])};
  } else if (kind == "missing") {
    in.kind = Input::Kind::Missing;
  } else if (kind == "number") {
    in.kind = Input::Kind::Number;
    std::tie(in.type, in.dtype) = class_of(p[2]);
    in.counter = p[3].cast<bool>();
  } else {
    in.kind = Input::Kind::Array;
    in.dtype = *parse_dtype(pb::object(p[2]).ptr());
    in.ndim = p[3].cast<int>();
    in.packed = p[4].cast<bool>();
    in.written = p[5].cast<bool>();
  }
  return in;
}

// What there is of a loop beside numbers and arrays.
void take_rest(Description& d, const pb::dict& given) {
  using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;
  for (const pb::handle& from : given["arguments"]) {
    const bool address = PyLong_Check(from.ptr());
    d.arguments.push_back(
        {address ? from.cast<std::int64_t>() : 0, address ? nullptr : from.ptr()});
  }
  for (const pb::handle& from : given["attributes"]) {
    const auto p = pb::reinterpret_borrow<pb::tuple>(from);
    d.attributes.push_back(
        {pb::object(p[0]).ptr(), pb::object(p[1]).ptr(), pb::object(p[2]).ptr()});
  }
  d.limit = given["limit"].is_none() ? -1 : given["limit"].cast<int>();
  d.largest = given["largest"].cast<std::vector<std::pair<std::size_t, std::int64_t>>>();
  d.changed = given["changed"].cast<std::vector<std::size_t>>();
  d.different = given["different"].cast<Pairs>();
  for (const pb::handle& from : given["left"]) {
    const auto p = pb::reinterpret_borrow<pb::tuple>(from);
    Left left{p[0].cast<Py_ssize_t>(),   p[1].cast<std::ptrdiff_t>(),
              or_null(pb::object(p[2])), DType::Int64,
              p[4].cast<std::size_t>(),  optional_rows(p[5])};
    if (!left.rows) left.dtype = *parse_dtype(pb::object(p[3]).ptr());
    d.left.push_back(std::move(left));
  }
  for (const pb::handle& from : given["grown"]) {
    const auto p = pb::reinterpret_borrow<pb::tuple>(from);
    d.grown.push_back({p[0].cast<std::size_t>(), rows_of(p[1]), p[2].cast<bool>()});
  }
  for (const pb::handle& from : given["cells"]) {
    const auto p = pb::reinterpret_borrow<pb::tuple>(from);
    d.cells.push_back({p[0].cast<std::ptrdiff_t>(), pb::object(p[1]).ptr(), p[2].cast<bool>()});
  }
  d.behind = given["behind"].cast<std::size_t>();
  d.adopt = pb::object(given["adopt"]).ptr();
  d.forgets = pb::object(given["forgets"]).ptr();
  d.single = given["single"].cast<bool>();
  for (const auto& [stored, argument] :
       given["parts"].cast<std::vector<std::pair<std::ptrdiff_t, std::ptrdiff_t>>>())
    d.parts.push_back({stored, argument});
}

}  // namespace

unsigned version_of(PyTypeObject* type) {
#if PY_VERSION_HEX < 0x030D0000
  if (!PyType_HasFeature(type, Py_TPFLAGS_VALID_VERSION_TAG)) return 0;
#endif
  return type->tp_version_tag;
}

std::unique_ptr<Description> describe(const pb::dict& given) {
  auto d = std::make_unique<Description>();
  d->program = &given["procedure"].cast<const Procedure&>().program();
  d->code = pb::object(given["code"]).ptr();
  d->ranged = given["ranged"].cast<bool>();
  d->makes_floats = given["makes_floats"].cast<bool>();
  if (!given["step"].is_none()) d->step = given["step"].cast<std::int64_t>();
  d->shared_from = given["shared_from"].cast<double>();
  for (const pb::handle& in : given["inputs"]) {
    d->inputs.push_back(input_of(in));
    const Input::Kind kind = d->inputs.back().kind;
    d->arrays += kind == Input::Kind::Array || kind == Input::Kind::List;
    d->numbers += kind == Input::Kind::Number;
  }
  d->apart = given["apart"].cast<std::vector<std::pair<std::size_t, std::size_t>>>();
  for (const pb::handle& name : given["stored"]) d->stored.push_back(name.ptr());
  for (const pb::handle& pair : given["classes"]) d->classes.push_back(class_of(pair));
  for (const pb::handle& from : given["outputs"]) {
    const auto p = pb::reinterpret_borrow<pb::tuple>(from);
    Output o{};
    const auto kind = p[0].cast<std::string>();
    o.kind = kind == "variable"  ? Output::Kind::Variable
             : kind == "returns" ? Output::Kind::Returns
                                 : Output::Kind::Returned;
    o.at = p[1].cast<Py_ssize_t>();
    o.tagged = p[2].cast<bool>();
    std::tie(o.type, o.dtype) = class_of(p[3]);
    d->outputs.push_back(o);
  }
  d->returned = given["returned"].cast<Py_ssize_t>();
  d->listed = given["listed"].cast<bool>();
  take_rest(*d, given);
  return d;
}

}  // namespace plait::py
