// What is kept of a call of a function that is replayed, and a call from that.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "ndarray.hpp"
#include "replay_key.hpp"

namespace plait::py {

// What the function returned: arrays and scalars, arguments, constants, and what they stand in.
struct Returned {
  enum class Kind { Array, Scalar, Argument, Constant, Tuple, NamedTuple, List, Dict } kind;
  std::size_t number = 0;  // of a result; of an argument that is an array
  Owned value;             // Constant; Dict: the tuple of its keys; NamedTuple: its type
  std::vector<Returned> items;
};

// A NumPy array that the function reads beside its arguments, and how it lay.
struct NumpysOutside {
  Owned array;
  const tracer::Node* node;
  std::optional<ArrayKey> key;
};

struct Kept {
  CallKey key;
  std::vector<NumpysOutside> outside;
  std::shared_ptr<engine::CapturedCall> call;
  Returned returned;
};

// The call by what is kept; null without an error where that does not hold any more.
PyObject* run_kept(const Kept& k, PyObject* const* given);

}  // namespace plait::py
