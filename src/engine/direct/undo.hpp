// What long work in place overwrites, kept until it is done: so an interrupt finds all of it
// written or nothing, and need not wait for its end.
#pragma once
#include <vector>

#include "core/buffer.hpp"
#include "core/dtype.hpp"
#include "direct_rows.hpp"

namespace plait::engine {

class Undo {
 public:
  // Whether work that one thread takes `seconds` for is so long that an interrupt cannot wait for
  // its end, and so dear that a copy of the `bytes` that it overwrites goes unnoticed. What is not
  // dear ends in the time of a few such copies.
  static bool pays(double seconds, double bytes);

  // False, and nothing is kept of anything, where there is no memory for it.
  bool keep(DType t, const Dims& shape, const Memory& contents);
  explicit operator bool() const { return !kept_.empty(); }
  void restore();

 private:
  struct Kept {
    DType dtype;
    Dims shape;
    Memory of;
    Ref<Buffer> copy;
  };
  std::vector<Kept> kept_;
};

}  // namespace plait::engine
