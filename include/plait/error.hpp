// Every error Plait raises derives from plait::Error. The bindings map each class to NumPy's
// exception type.
#pragma once
#include <stdexcept>
#include <string>

#include "plait/export.hpp"

namespace plait {

/// What every error of Plait's derives from.
class PLAIT_API Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Python: ValueError.
class PLAIT_API ValueError : public Error {
 public:
  using Error::Error;
};
/// Shapes that do not broadcast or match. Python: ValueError.
class PLAIT_API ShapeError : public ValueError {
 public:
  using ValueError::ValueError;
};
/// No loop or cast for these dtypes. Python: TypeError (of NumPy's own kinds where it has them).
class PLAIT_API DTypeError : public Error {
 public:
  using Error::Error;
};
/// Python: IndexError.
class PLAIT_API IndexError : public Error {
 public:
  using Error::Error;
};
/// An axis that the array does not have. Python: numpy.exceptions.AxisError.
class PLAIT_API AxisError : public IndexError {
 public:
  using IndexError::IndexError;
};
/// An integer that its dtype cannot hold. Python: OverflowError.
class PLAIT_API OverflowError : public Error {
 public:
  using Error::Error;
};
/// A division by zero and the like where it is an error. Python: ZeroDivisionError, or
/// FloatingPointError raised under errstate(...='raise').
class PLAIT_API FloatingPointError : public Error {
 public:
  using Error::Error;
};
/// Code generation failed; never reaches the user: the interpreter carries on.
class PLAIT_API CompileError : public Error {
 public:
  using Error::Error;
};
/// An evaluation was ended before its time: see plait/cancel.hpp. Arrays are as they were.
class PLAIT_API Cancelled : public Error {
 public:
  using Error::Error;
};
/// No such device, or one that fails.
class PLAIT_API DeviceError : public Error {
 public:
  using Error::Error;
};
/// Operands that live on different devices. Python: a ValueError as well, which the array API asks
/// for. Not one here: NumPy, which words the caller's other mistakes, could only copy the operands.
class PLAIT_API DeviceMismatchError : public DeviceError {
 public:
  using DeviceError::DeviceError;
};
/// A broken promise inside Plait. Please report.
class PLAIT_API InternalError : public Error {
 public:
  using Error::Error;
};

}  // namespace plait
