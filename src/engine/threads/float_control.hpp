// What a thread of the application finds again after it has computed for a loop: control of the
// floating-point unit, which helpers take from the caller of a loop, and the exceptions raised so
// far.
#pragma once
#include "core/processor/float_unit.hpp"

namespace plait::engine {

class FloatStateKept {
 public:
  FloatStateKept() = default;
  FloatStateKept(const FloatStateKept&) = delete;
  FloatStateKept& operator=(const FloatStateKept&) = delete;
  ~FloatStateKept() {
    set_float_control(control_);
    set_float_exceptions(exceptions_);
  }

 private:
  const unsigned control_ = float_control(), exceptions_ = float_exceptions();
};

}  // namespace plait::engine
