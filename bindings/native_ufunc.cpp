// NumPy's ufuncs whose loops are compiled loops of Python's.
#include "ndarray.hpp"  // Python's headers first

#include <numpy/ufuncobject.h>

#include <cfenv>
#include <memory>
#include <string>
#include <vector>

#include "native_call.hpp"

namespace pb = pybind11;

namespace plait::py {
namespace {

// One version of a loop: for steps that are as it needs them.
struct Version {
  std::vector<std::pair<std::size_t, std::int64_t>> needs;  // words, and what they have to be
  NativeCall call;
  bool fits(const std::int64_t* words) const {
    for (const auto& [at, value] : needs)
      if (words[at] != value) return false;
    return true;
  }
};

// The loop of one signature. Versions come in the order in which they are asked; the last one fits.
struct NativeLoop {
  std::vector<Version> versions;
  std::size_t operands, dimensions, steps;
  pb::object told;  // Python's half: told(version, results, addresses, words)
};

// What a ufunc needs while it lives, as NumPy copies nothing.
struct Kept {
  std::vector<NativeLoop> loops;
  std::vector<PyUFuncGenericFunction> functions;
  std::vector<void*> data;
  std::string types, name, doc, signature;
};

constexpr std::size_t kMost = 128;  // dimensions and steps

void tell(const NativeLoop& loop, std::size_t version, const Scalar* results, char** args,
          const std::int64_t* words) {
  const pb::gil_scoped_acquire held;
  if (PyErr_Occurred()) return;  // of a part before
  try {
    std::int64_t addresses[NPY_MAXARGS];
    for (std::size_t n = 0; n < loop.operands; ++n)
      addresses[n] = reinterpret_cast<std::intptr_t>(args[n]);
    loop.told(version, numbers_of(results, loop.versions[version].call.result_count()),
              integers_of(addresses, loop.operands),
              integers_of(words, loop.dimensions + loop.steps));
  } catch (pb::error_already_set& e) {
    e.restore();
  }
}

// NumPy calls it with the GIL or without it.
void run_loop(char** args, const npy_intp* dimensions, const npy_intp* steps, void* data) {
  const auto& loop = *static_cast<const NativeLoop*>(data);
  std::int64_t words[kMost];
  std::copy(dimensions, dimensions + loop.dimensions, words);
  std::copy(steps, steps + loop.steps, words + loop.dimensions);
  std::size_t version = 0;
  while (version + 1 < loop.versions.size() && !loop.versions[version].fits(words)) ++version;
  NativeCall::Scalars room;
  Scalar* const results = room.all;
  if (loop.versions[version].call.run(args, words, results) == NativeCall::Outcome::Told)
    tell(loop, version, results, args, words);
  // What Python's numbers overflow to without a warning, NumPy is not to warn of.
  std::feclearexcept(FE_ALL_EXCEPT);
}

void free_kept(PyObject* capsule) {
  delete static_cast<Kept*>(PyCapsule_GetPointer(capsule, nullptr));
}

pb::object make_ufunc(const pb::sequence& loops, const std::string& types, int nin, int nout,
                      const pb::object& signature, const std::string& name, const std::string& doc,
                      int identity) {
  auto kept = std::make_unique<Kept>();
  kept->types = types;
  kept->name = name;
  kept->doc = doc;
  for (const pb::handle& given : loops) {
    const auto d = pb::reinterpret_borrow<pb::dict>(given);
    NativeLoop loop{{},
                    d["operands"].cast<std::size_t>(),
                    d["dimensions"].cast<std::size_t>(),
                    d["steps"].cast<std::size_t>(),
                    d["told"]};
    for (const pb::handle& v : d["versions"]) {
      const auto pair = pb::reinterpret_borrow<pb::tuple>(v);
      loop.versions.push_back({pair[0].cast<std::vector<std::pair<std::size_t, std::int64_t>>>(),
                               pair[1].cast<const NativeCall&>()});
    }
    if (loop.versions.empty() || loop.operands > NPY_MAXARGS ||
        loop.dimensions + loop.steps > kMost)
      throw pb::value_error("too many operands");
    kept->loops.push_back(std::move(loop));
  }
  for (NativeLoop& loop : kept->loops) {
    kept->functions.push_back(run_loop);
    kept->data.push_back(&loop);
  }
  const bool generalised = !signature.is_none();
  if (generalised) kept->signature = signature.cast<std::string>();
  PyObject* const made = PyUFunc_FromFuncAndDataAndSignatureAndIdentity(
      kept->functions.data(), kept->data.data(), kept->types.data(),
      static_cast<int>(kept->loops.size()), nin, nout, identity, kept->name.c_str(),
      kept->doc.c_str(), 0, generalised ? kept->signature.c_str() : nullptr, nullptr);
  if (!made) throw pb::error_already_set();
  auto ufunc = pb::reinterpret_steal<pb::object>(made);
  PyObject* const capsule = PyCapsule_New(kept.get(), nullptr, free_kept);
  if (!capsule) throw pb::error_already_set();
  (void)kept.release();
  reinterpret_cast<PyUFuncObject*>(made)->obj = capsule;  // which goes with the ufunc
  return ufunc;
}

}  // namespace

void add_native_ufuncs(pb::module_& m) {
  if (_import_umath() < 0) throw pb::error_already_set();
  m.attr("identities") = pb::dict(
      pb::arg("none") = int{PyUFunc_None}, pb::arg("zero") = int{PyUFunc_Zero},
      pb::arg("one") = int{PyUFunc_One}, pb::arg("reorderable") = int{PyUFunc_ReorderableNone});
  m.def("make_ufunc", make_ufunc, pb::arg("loops"), pb::arg("types"), pb::arg("nin"),
        pb::arg("nout"), pb::arg("signature"), pb::arg("name"), pb::arg("doc"),
        pb::arg("identity"));
}

}  // namespace plait::py
