// A loop of Python's that runs in machine code, in traces and profiles.
#pragma once
#include "core/timeline.hpp"
#include "sites.hpp"

namespace plait::py {

class LoopSpan {
 public:
  LoopSpan() : span_(timeline::Category::Operation) {
    if (!span_) return;
    span_.name("loop");
    span_.site(current_site());
  }

 private:
  timeline::Span span_;
};

}  // namespace plait::py
