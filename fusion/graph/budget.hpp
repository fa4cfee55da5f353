// What one planning may take: work in the background has an end, and ends with the process.
#pragma once
#include <atomic>
#include <cstddef>

#include "plait/error.hpp"

namespace plait::fusion {

// Thrown out of make_plan(): there will be no plan of this graph.
struct PlanningStopped : Error {
  using Error::Error;
};

class Budget {
 public:
  Budget() = default;  // no bounds
  // `seconds` of this thread's processor time, from now on, and so many expressions; until `stop`.
  Budget(const std::atomic<bool>& stop, double seconds, std::size_t expressions);

  // Asked wherever planning comes by often, with the expressions so far.
  void check(std::size_t expressions) const {
    if (stop_) look(expressions);
  }
  bool spent() const { return spent_; }  // not stopped: it would be spent the next time, too

 private:
  void look(std::size_t expressions) const;

  const std::atomic<bool>* stop_ = nullptr;
  double until_ = 0;
  std::size_t expressions_ = 0;
  mutable unsigned looks_ = 0;
  mutable bool spent_ = false;
};

double processor_seconds();  // of this thread

inline const Budget kNoBounds;

}  // namespace plait::fusion
