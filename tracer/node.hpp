// A recorded operation. The graph is pure: a node's value never changes; what changes is which node
// a storage points to.
#pragma once
#include <cstdint>

#include "core/buffer.hpp"
#include "core/call_id.hpp"
#include "core/dims.hpp"
#include "core/op_table.hpp"
#include "core/ref.hpp"
#include "core/scalar.hpp"

namespace plait::tracer {

enum class NodeKind : std::uint8_t {
  Data,    // was materialised when it was made: `data`
  Scalar,  // 0-D value `scalar`; a kernel argument
  Empty,   // memory that nobody has written to: taken when a value is stored to it, or it is read
  Fill,    // every element is inputs[0], a Scalar
  Iota,  // element i of a 1-D range: inputs[0] + i * inputs[1] (Scalars of the node's dtype; floats
         // as NumPy's arange)
  Elementwise,  // `fn` of the inputs, broadcast to `shape`; inputs already have the loop dtype
  Cast,  // inputs[0] converted to `dtype`; to the same dtype it is a copy in this node's own layout
  Reduce,  // `reduce` of inputs[0] over `axes` (sorted, kept out of `shape`); inputs[1], if any, is
           // a Bool mask that broadcasts to inputs[0]: masked-out elements count as the identity
  View,    // reads the memory of inputs[0] at (`offset`, `shape`, `strides`) as `dtype`
  Update,  // inputs[0]'s memory with `value` = inputs[1] (shape `view_shape`, broadcast already
           // applied) stored at
           // (`offset`, `view_shape`, `view_strides`), where inputs[2], if any, a Bool mask of
           // view_shape, is true
  Gather,  // element e is read as `dtype` from the memory of inputs[0], `offset` + e * view_strides
           // + inputs[1] at e * `step` bytes on: inputs[1] is Int64 and broadcasts to `shape`, and
           // whoever records knows that nothing outside the memory is read
  MatMul,  // inputs[0] (batch..., m, k) times inputs[1] (batch..., k, n), operands of its dtype,
           // or those that planning puts there (fusion/graph/rewrites.hpp);
           // with `axes`, m, k and n are so many axes each: see contraction.hpp
  Call,    // row `call` of the table of calls on the inputs, with the attributes `fn`, `axes` (its
           // numbers) and `scalar`. Several results lie in one block of bytes (see call_block()),
           // which is the node's value; each result is a View of it
};

// Whose name NumPy's warnings give a node's floating-point events, where it is not the node's own:
// that of the function that is made of several operations. Nobody: the function reports none.
enum class NamedAs : std::uint8_t {
  Itself,
  Reduce,
  Dot,
  Nobody,
  MatMul,
  Divmod,
  Power,
  ScalarDivide
};

// References to nodes come and go under the recorder's lock.
struct Node : GuardedRefCounted {
  NodeKind kind = NodeKind::Data;
  DType dtype = DType::Float64;
  OpId fn = OpId::Count_;
  ReduceKind reduce = ReduceKind::Sum;
  std::uint8_t n_inputs = 0;
  std::uint8_t errstate = 0;  // index into the context's table of floating-point error states
  NamedAs named = NamedAs::Itself;
  DeviceId device = 0;     // where the value is computed; see place() in device.cpp
  std::uint32_t site = 0;  // call site of the recording; see Context::site_text
  std::uint32_t handles =
      0;  // storages whose current version this is: somebody can still ask for the value
  Ref<Node> inputs[3];
  Dims shape;    // logical shape
  Dims strides;  // bytes. Data and results: layout of the value's own memory (dense, NumPy's K
                 // order, unless Data is foreign). View: strides into the memory of inputs[0]
  std::int64_t offset = 0;        // View, Update, Gather: bytes into the memory of inputs[0]
  std::int64_t step = 0;          // Gather: bytes from one index to the next
  Dims axes;                      // Reduce, MatMul, Call
  Dims view_shape, view_strides;  // Update: `shape` and `strides` above describe the whole storage.
                                  // Gather: strides into the memory of inputs[0]
  DType view_dtype = DType::Float64;  // Update: how the stored elements are typed
  bool in_place = false;  // Update of exported memory: store into inputs[0]'s own memory, whoever
                          // else refers to it (the recorder has evaluated every reader)
  CallId call = kNoCall;
  Scalar scalar;  // Scalar, Call

  // Set when the value is in memory: element (0, 0, ...) is at data->data + data_offset, laid out
  // by `strides`. A View of materialised memory may stay without data of its own.
  Ref<Buffer> data;
  std::int64_t data_offset = 0;

  std::uint8_t accounting = 0;  // the context's bookkeeping of the pending graph; nobody else's
  std::uint64_t contents = 0;   // see derived.hpp

  // Scratch of graph walks: valid while `walk` equals the walk's number.
  std::uint64_t walk = 0;
  std::uint32_t number = 0;

  bool materialised() const { return static_cast<bool>(data); }
  static void destroy(
      Node* n);  // iterative: a chain of a million nodes must not overflow the stack
};

Ref<Node> new_node(NodeKind kind);  // from a free list
std::size_t trim_nodes();           // gives free lists' unused memory back; returns its bytes
std::uint64_t next_walk();          // numbers a graph walk; hold the lock until it ends
// Forgets inputs once `data` is set, so that the graph behind an evaluated node goes.
void settle(Node& n, Ref<Buffer> data, std::int64_t data_offset);
// Gives up the memory of a value that was overwritten in place: nobody can ask for it any more.
void invalidate(Node& n);

// Throws InternalError when the node breaks the rules above. Debug and test builds check each node
// as it is recorded.
void verify(const Node& n);

}  // namespace plait::tracer
