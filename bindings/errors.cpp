// plait::Error and its kin as the exceptions NumPy raises.
#include <cstdarg>
#include <new>
#include <string_view>

#include "core/array_memory.hpp"
#include "engine/engine.hpp"
#include "plait/linalg_error.hpp"
#include "python.hpp"

namespace plait::py {
namespace {

void set_error_of(const char* module_name, const char* name, const char* text) {
  Owned module(PyImport_ImportModule(module_name));
  Owned type(module ? PyObject_GetAttrString(module.get(), name) : nullptr);
  if (type) PyErr_SetString(type.get(), text);
}

PyObject *device_error = nullptr, *mismatch_error = nullptr;

}  // namespace

bool add_device_errors(PyObject* module) {
  device_error = PyErr_NewExceptionWithDoc("plait.DeviceError",
                                           "A device that is not there, cannot be used, or failed.",
                                           PyExc_RuntimeError, nullptr);
  const Owned bases(device_error ? PyTuple_Pack(2, device_error, PyExc_ValueError) : nullptr);
  if (bases)
    mismatch_error =
        PyErr_NewExceptionWithDoc("plait.DeviceMismatchError",
                                  "Operands that live on different devices.", bases.get(), nullptr);
  return mismatch_error && PyModule_AddObjectRef(module, "DeviceError", device_error) == 0 &&
         PyModule_AddObjectRef(module, "DeviceMismatchError", mismatch_error) == 0;
}

void raise_error(PyObject* type, const char* format, ...) {
  va_list args;
  va_start(args, format);
  PyErr_FormatV(type, format, args);
  va_end(args);
  throw PythonError{};
}

void set_python_error() noexcept {
  try {
    throw;
  } catch (const PythonError&) {
  } catch (const engine::Interrupted&) {
    if (!PyErr_Occurred() && PyErr_CheckSignals() == 0) PyErr_SetNone(PyExc_KeyboardInterrupt);
  } catch (const AxisError& e) {
    set_error_of("numpy.exceptions", "AxisError", e.what());
  } catch (const plait::IndexError& e) {
    PyErr_SetString(PyExc_IndexError, e.what());
  } catch (const LinAlgError& e) {
    set_error_of("numpy.linalg", "LinAlgError", e.what());
  } catch (const plait::ValueError& e) {
    PyErr_SetString(PyExc_ValueError, e.what());
  } catch (const DTypeError& e) {
    PyErr_SetString(PyExc_TypeError, e.what());
  } catch (const plait::OverflowError& e) {
    PyErr_SetString(PyExc_OverflowError, e.what());
  } catch (const plait::FloatingPointError& e) {
    std::string text = e.what();
    const bool zero = text.ends_with("division by zero");  // of an integer, a float
#if PY_VERSION_HEX >= 0x030E0000
    if (zero) text = "division by zero";  // Python's words of either
#endif
    PyErr_SetString(zero ? PyExc_ZeroDivisionError : PyExc_FloatingPointError, text.c_str());
  } catch (const DeviceMismatchError& e) {
    PyErr_SetString(mismatch_error, e.what());
  } catch (const DeviceError& e) {
    PyErr_SetString(device_error, e.what());
  } catch (const ArrayMemoryError& e) {
    PyErr_SetString(PyExc_MemoryError, e.what());
  } catch (const std::bad_alloc&) {
    PyErr_SetString(PyExc_MemoryError, "Unable to allocate memory for an array");
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  } catch (...) {
    PyErr_SetString(PyExc_SystemError, "plait: unknown C++ exception");
  }
}

}  // namespace plait::py
