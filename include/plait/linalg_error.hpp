#pragma once
#include "plait/error.hpp"

namespace plait {

/// A matrix that is singular, not square, not positive definite, or an iteration that did not
/// converge. Python: numpy.linalg.LinAlgError.
class PLAIT_API LinAlgError : public ValueError {
 public:
  using ValueError::ValueError;
};

}  // namespace plait
