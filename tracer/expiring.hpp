// Values of which the only name goes away when the caller's call returns: a temporary that is an
// argument. An evaluation in the call need not store them.
#pragma once
#include "array.hpp"

namespace plait::tracer {

// On the stack, for as long as the call runs; of this thread's evaluations. It says nothing about
// later ones: should somebody ask for the value, it is computed then.
class Expiring {
 public:
  explicit Expiring(const Storage& s);
  ~Expiring();
  Expiring(const Expiring&) = delete;

 private:
  friend bool is_expiring(const Node& n);
  const Storage& storage_;
  const Expiring* outer_;
};

bool is_expiring(const Node& n);

}  // namespace plait::tracer
