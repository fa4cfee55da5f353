// plait._plait: puts the types and functions together. What is not called once an operation goes
// through pybind11.
#define PLAIT_IMPORTS_NUMPY
#include "python.hpp"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "along.hpp"
#include "codegen/llvm/jit.hpp"
#include "core/block_pool.hpp"
#include "core/config.hpp"
#include "core/device.hpp"
#include "core/settings.hpp"
#include "crossing.hpp"
#include "engine/engine.hpp"
#include "events.hpp"
#include "functions.hpp"
#include "iterator.hpp"
#include "loop_entry.hpp"
#include "native_call.hpp"
#include "ndarray.hpp"
#include "procedure.hpp"
#include "replay.hpp"
#include "scope.hpp"
#include "sites.hpp"
#include "tracer/error_states.hpp"
#include "ufunc.hpp"

namespace pb = pybind11;

namespace plait::py {
namespace {

void set_hooks(const pb::dict& d) {
  const std::pair<const char*, PyObject**> slots[] = {
      {"binary", &hooks.binary},          {"unary", &hooks.unary}, {"getitem", &hooks.getitem},
      {"setitem", &hooks.setitem},        {"ufunc", &hooks.ufunc}, {"call", &hooks.call},
      {"function", &hooks.function},      {"note", &hooks.note},   {"repr", &hooks.repr},
      {"dtype_error", &hooks.dtype_error}};
  for (const auto& [name, slot] : slots) *slot = Py_NewRef(d[name].ptr());
}

pb::dict stats() {
  engine::Stats s = engine::stats();
  tracer::GraphStats g = tracer::graph_stats();
  PoolStats p = pool_stats();
  engine::PlanSummary plan = engine::last_plan();
  pb::dict d;
  d["evaluations"] = s.evaluations;
  d["plans_made"] = s.plans_made;
  d["plans_reused"] = s.plans_reused;
  d["kernels_run"] = s.kernels_run;
  d["kernels_interpreted"] = s.kernels_interpreted;
  d["kernels_jitted"] = s.kernels_jitted;
  d["kernels_compiled"] = s.kernels_compiled;
  d["disk_hits"] = s.disk_hits;
  d["direct_nodes"] = s.direct_nodes;
  d["bytes_moved"] = s.bytes_moved;
  TransferStats t = transfer_stats();
  d["kernels_on_device"] = s.kernels_on_device;
  d["steps_together"] = s.steps_together;
  d["steps_moved_to_host"] = s.steps_moved_to_host;
  d["copies_to_device"] = t.to_device;
  d["copies_to_host"] = t.to_host;
  d["bytes_to_device"] = t.bytes_to_device;
  d["bytes_to_host"] = t.bytes_to_host;
  d["waits_for_device"] = t.waits;
  d["pending_nodes"] = g.pending_nodes;
  d["recorded_total"] = g.recorded_total;
  d["flushes"] = g.flushes;
  engine::Kept k;
  without_gil([&] { k = engine::kept(); });
  d["plans_kept"] = k.plans;
  d["plan_bytes"] = k.plan_bytes;
  d["kernels_kept"] = k.kernels;
  d["kernel_bytes"] = k.kernel_bytes;
  d["operands_kept"] = k.operands;
  d["operand_bytes"] = k.operand_bytes;
  d["operands_packed"] = k.operands_packed;
  d["operands_found"] = k.operands_found;
  const SitesKept sites = sites_kept();
  d["sites_kept"] = sites.sites;
  d["site_bytes"] = sites.bytes;
  d["live_bytes"] = p.live_bytes;
  d["cached_bytes"] = p.cached_bytes;
  d["peak_live_bytes"] = p.peak_live_bytes;
  d["last_plan_regions"] = plan.regions;
  d["last_plan_bytes"] = plan.bytes_moved;
  d["last_plan_least_bytes"] = plan.bytes_least;
  return d;
}

// [(variable, name in plait.config or None, whether it can be changed, allowed, default, what it
// does)]
pb::list settings_table() {
  pb::list rows;
  for (const Setting& s : settings())
    rows.append(
        pb::make_tuple(s.variable, s.name, s.changeable, s.allowed.text, s.otherwise, s.what));
  return rows;
}

pb::dict get_config() {
  pb::dict d;
  for (const Setting& s : settings())
    if (s.name) d[s.name] = s.allowed.value(config());
  return d;
}

// Whether the text is allowed.
bool set_config(const std::string& name, const std::string& text) {
  for (const Setting& s : settings())
    if (s.changeable && s.name == name) {
      const bool allowed = s.allowed.parse(text, config());
      engine::settings_changed();
      return allowed;
    }
  throw pb::key_error(name);
}

std::vector<std::string> operation_names() {
  std::vector<std::string> names;
  for (int i = 0; i < kOpCount; ++i) names.emplace_back(op_info(static_cast<OpId>(i)).name);
  return names;
}
pb::dict reduction_kinds() {
  pb::dict d;
  for (int i = 0; i < kReduceKindCount; ++i)
    d[pb::str(std::string(reduce_info(static_cast<ReduceKind>(i)).name))] = i;
  return d;
}

pb::object new_ufunc(const pb::object& numpy_ufunc, const std::string& name) {
  return pb::reinterpret_steal<pb::object>(make_ufunc(numpy_ufunc.ptr(), name.c_str()));
}

void add_functions(pb::module_& m) {
  m.def("set_hooks", set_hooks);
  m.def("set_package_dir", [](const std::string& dir) { set_package_dir(dir.c_str()); });
  m.def("new_ufunc", new_ufunc);
  m.def("operation_names", operation_names);
  m.def("reduction_kinds", reduction_kinds);
  m.def("stats", stats);
  m.def("flush", [] { without_gil(tracer::flush); });
  m.def("trim", [] {
    std::size_t bytes = forget_sites();
    without_gil([&] { bytes += engine::trim(); });
    return bytes;
  });
  m.def("fail_allocation", fail_allocation,
        "tests: the n-th next allocation fails; -1 switches it off");
  m.def("fail_compilation", jit::fail_allocation,
        "tests: LLVM's n-th allocation for the next kernel fails");
  m.def("set_graph_limit", tracer::set_graph_limit);
  m.def("num_threads", engine::num_threads);
  m.def("settings", settings_table);
  m.def("get_config", get_config);
  m.def("set_config", set_config);
  m.def("set_warnings_caught", tracer::set_warnings_caught);
  m.def("log_fallbacks", noting_fallbacks);
  m.def("load_compiler", [] {
    if (config().jit != JitMode::Off && jit::expected()) jit::load_async();
  });
  m.def("log_loops", [] { return logging(Log::Loops); });
  m.def("log_loop", [](const std::string& text) {
    if (logging(Log::Loops)) log(Log::Loops, text);
  });
  m.def("log_fallback", [](const std::string& text) {
    if (logging(Log::Fallback)) log(Log::Fallback, text);
    return logging(Log::Fallback);
  });
}

}  // namespace
}  // namespace plait::py

PYBIND11_MODULE(_plait, m) {
  using namespace plait::py;
  if (_import_array() < 0) throw pb::error_already_set();
  PyTypeObject* types[] = {make_array_type(), make_lazy_type(), make_ufunc_type()};
  const char* names[] = {"ndarray", "lazy_scalar", "ufunc"};
  for (int i = 0; i < 3; ++i) {
    if (!types[i]) throw pb::error_already_set();
    m.add_object(names[i],
                 pb::reinterpret_borrow<pb::object>(reinterpret_cast<PyObject*>(types[i])));
  }
  if (!make_export_type()) throw pb::error_already_set();
  for (const auto add : {add_device_errors, add_iterators, add_replayed, add_loop_entries,
                         add_loop_calls, add_whole_calls, add_jitted, add_foreign, add_scope,
                         add_crossing, add_call_account, add_asking_function})
    if (!add(m.ptr())) throw pb::error_already_set();
  for (PyMethodDef* const functions :
       {native_functions, memory_functions, compat_functions, indexing_functions, device_functions,
        list_functions, creation_functions, lazy_functions, along_functions, short_method_functions,
        dispatch_functions, call_functions, fallback_functions, sorting_functions, loop_functions,
        explain_functions, trace_functions})
    if (PyModule_AddFunctions(m.ptr(), functions) < 0) throw pb::error_already_set();
  add_functions(m);
  add_procedures(m);
  add_native_calls(m);
  add_programs(m.ptr());
  lend_sorts();
  m.attr("__version__") = PLAIT_VERSION;
  plait::engine::start();
  plait::pool::Pool::get().warm();
  install_event_hooks();
  take_numpys_view();
  install_exit_function();
}
