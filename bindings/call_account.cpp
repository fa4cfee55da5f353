// CallAccount(scope, asleep, drowsy, calls, kinds, longer, long): what the calls of a jitted
// function were like while loops of its module slept; the base of plait's Calls
// (numpy_compat/plait/_python_loops/versions.py), which has wake(), doze() and took_long().
#include "crossing.hpp"  // Python's headers first

#include <structmember.h>

#include <algorithm>
#include <chrono>

#include "functions.hpp"
#include "holding.hpp"
#include "scope.hpp"

namespace plait::py {
namespace {

struct AccountObject {
  PyObject_HEAD PyObject* scope;
  PyObject *asleep, *drowsy;  // sets: of functions with loops that sleep, of loops that soon will
  PyObject* kinds;            // set: of calls, that are known
  double longest, seconds;    // of all calls, and their sum
  double longer, least;  // a call wakes loops that takes so many times that, and as many seconds
  Py_ssize_t all;        // calls
  Py_ssize_t count,
      next;         // those while loops slept, until they are woken unasked; of how many that is
  Py_ssize_t most;  // kinds that are told apart
};
AccountObject& as_account(PyObject* o) { return *reinterpret_cast<AccountObject*>(o); }

constexpr double kLong = 10e-3;  // seconds of a call that took_long() hears of

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool is_new(const AccountObject& a, std::uint64_t kind) {
  const Owned number(check(PyLong_FromUnsignedLongLong(kind)));
  const int known = PySet_Contains(a.kinds, number.get());
  check(known);
  if (known || PySet_GET_SIZE(a.kinds) >= a.most) return false;
  check(PySet_Add(a.kinds, number.get()));
  return true;
}

void ask(PyObject* self, const char* method) {
  const Owned done(check(PyObject_CallMethod(self, method, nullptr)));
}

// begin(args): what end() is told
PyObject* begin(PyObject* self, PyObject* args) {
  return guarded([&]() -> PyObject* {
    if (!PyTuple_Check(args)) return PyErr_Format(PyExc_TypeError, "begin() takes a tuple");
    const BegunCall call = begin_call(
        self, {PySequence_Fast_ITEMS(args), static_cast<std::size_t>(PyTuple_GET_SIZE(args))});
    if (!call.kind) return Py_BuildValue("dO", call.at, Py_None);
    return Py_BuildValue("dK", call.at, static_cast<unsigned long long>(*call.kind));
  });
}

PyObject* end(PyObject* self, PyObject* began) {
  return guarded([&]() -> PyObject* {
    BegunCall call{};
    PyObject* kind;
    if (!PyTuple_Check(began) || !PyArg_ParseTuple(began, "dO", &call.at, &kind))
      throw PythonError{};
    if (kind != Py_None) call.kind = PyLong_AsUnsignedLongLong(kind);
    end_call(self, call);
    Py_RETURN_NONE;
  });
}

using Held = Holding<AccountObject, &AccountObject::scope, &AccountObject::asleep,
                     &AccountObject::drowsy, &AccountObject::kinds>;

int init(PyObject* self, PyObject* args, PyObject*) {
  AccountObject& a = as_account(self);
  PyObject *scope, *asleep, *drowsy;
  if (!PyArg_ParseTuple(args, "OO!O!nndd", &scope, &PySet_Type, &asleep, &PySet_Type, &drowsy,
                        &a.next, &a.most, &a.longer, &a.least))
    return -1;
  if (!is_scope(scope)) {
    PyErr_SetString(PyExc_TypeError, "CallAccount() takes a Scope");
    return -1;
  }
  const Owned kinds(PySet_New(nullptr));
  if (!kinds) return -1;
  PyObject* const given[] = {scope, asleep, drowsy, kinds.get()};
  Held::hold(self, given);
  return 0;
}

PyMemberDef members[] = {{"all", T_PYSSIZET, offsetof(AccountObject, all), READONLY, nullptr},
                         {"seconds", T_DOUBLE, offsetof(AccountObject, seconds), READONLY, nullptr},
                         {"longest", T_DOUBLE, offsetof(AccountObject, longest), READONLY, nullptr},
                         {"next", T_PYSSIZET, offsetof(AccountObject, next), READONLY, nullptr},
                         {nullptr, 0, 0, 0, nullptr}};
PyMethodDef methods[] = {{"begin", begin, METH_O, nullptr},
                         {"end", end, METH_O, nullptr},
                         {nullptr, nullptr, 0, nullptr}};
PyType_Slot slots[] = {{Py_tp_init, slot_of(init)},
                       {Py_tp_dealloc, slot_of(Held::dealloc)},
                       {Py_tp_traverse, slot_of(Held::traverse)},
                       {Py_tp_clear, slot_of(Held::clear)},
                       {Py_tp_members, members},
                       {Py_tp_methods, methods},
                       {0, nullptr}};
PyType_Spec spec = {"plait._plait.CallAccount", sizeof(AccountObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, slots};

}  // namespace

BegunCall begin_call(PyObject* account, std::span<PyObject* const> args) {
  AccountObject& a = as_account(account);
  count_call(a.scope);
  ++a.all;
  const std::uint64_t kind = kind_of_call(args);
  if (PySet_GET_SIZE(a.asleep) == 0) return {now(), kind};
  const bool often = ++a.count >= a.next;
  if (often) {
    a.count = 0;
    a.next *= 2;
  }
  if (is_new(a, kind) || often) ask(account, "wake");
  return {now(), std::nullopt};
}

void end_call(PyObject* account, const BegunCall& call) {
  AccountObject& a = as_account(account);
  const double seconds = now() - call.at;
  if (PySet_GET_SIZE(a.drowsy) > 0) ask(account, "doze");
  if (PySet_GET_SIZE(a.asleep) > 0) {
    if (call.kind)
      (void)is_new(a, *call.kind);  // they gained nothing in this call
    else if (seconds > std::max(a.longer * a.longest, a.least))
      ask(account, "wake");
  }
  a.longest = std::max(a.longest, seconds);
  a.seconds += seconds;
  if (seconds >= kLong) ask(account, "took_long");
}

bool add_call_account(PyObject* module) { return add_type(module, spec); }

}  // namespace plait::py
