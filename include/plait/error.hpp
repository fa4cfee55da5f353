// Every error Plait raises derives from plait::Error. The bindings map each class to NumPy's
// exception type.
#pragma once
#include <stdexcept>
#include <string>

namespace plait {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Python: ValueError.
class ValueError : public Error {
 public:
  using Error::Error;
};
// Shapes that do not broadcast or match. Python: ValueError.
class ShapeError : public ValueError {
 public:
  using ValueError::ValueError;
};
// No loop or cast for these dtypes. Python: TypeError (numpy.exceptions._UFuncNoLoopError and kin
// where NumPy has them).
class DTypeError : public Error {
 public:
  using Error::Error;
};
// Python: IndexError.
class IndexError : public Error {
 public:
  using Error::Error;
};
// Python: numpy.exceptions.AxisError.
class AxisError : public IndexError {
 public:
  using IndexError::IndexError;
};
// A Python integer that its dtype cannot hold. Python: OverflowError.
class OverflowError : public Error {
 public:
  using Error::Error;
};
// Python: ZeroDivisionError / FloatingPointError raised under errstate(...='raise').
class FloatingPointError : public Error {
 public:
  using Error::Error;
};
// Code generation failed; never reaches the user: the interpreter carries on.
class CompileError : public Error {
 public:
  using Error::Error;
};
class DeviceError : public Error {
 public:
  using Error::Error;
};
// A broken promise inside Plait. Please report.
class InternalError : public Error {
 public:
  using Error::Error;
};

}  // namespace plait
