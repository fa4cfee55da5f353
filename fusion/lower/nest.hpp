// Writes a loop nest one instruction at a time: loops, addresses, buffers and parameters, each
// value in the outermost loop that binds its operands. What is to be computed where is its user's
// affair (lowering.hpp).
#pragma once
#include <string>
#include <vector>

#include "lower.hpp"

namespace plait::fusion {
using ir::kNone;
using ir::Val;

// One dimension of an index: start + step * (variable of `loop`) + at, or what there is of them.
struct Ix {
  std::int32_t loop = -1;
  ExprId step = 1;
  ExprId start = 0;
  Val at = kNone;  // defined by a loop around `loop`
  auto operator<=>(const Ix&) const = default;
};
using Index = std::vector<Ix>;

class Nest {
 protected:
  // Without `builds` values have types and loops, and nothing has an address.
  Nest(const LoweringInput& in, LoweredKernel& out, bool builds);
  // From now on loads of the memory of that node have addresses all the same.
  void overwrite(std::int32_t old) { old_memory_ = in_.memory_of[old]; }
  template <class Body>
  auto in_full(bool full, Body&& body) {
    struct Restore {
      bool& builds;
      const bool before;
      ~Restore() { builds = before; }
    } restore{builds_, builds_};
    builds_ |= full;
    return body();
  }

  // memory
  Val load(std::int32_t id, DType t, const Index& idx, const Dims& strides, Source s,
           ExprId offset);
  ir::Access address(const Index& idx, const Dims& strides, Source s, ExprId offset);
  // Whether the memory of a node is laid out other than as it was recorded; its strides.
  bool laid_out(std::int32_t id) const;
  ExprId stride_of(Source s);
  Dims strides_now(std::int32_t id);
  ir::Coeff coeff(ExprId e);
  std::int32_t param(ExprId e);
  // A number that shows in the code when it is small (contiguous, reversed, interleaved, unrolled).
  ExprId small(ExprId e);
  std::int32_t buffer(BufferSource s, DType t, bool written);

  // instructions
  Val push(ir::Inst i, std::int32_t loop);
  Val constant(const Scalar& s);
  Val zero(DType t) { return constant(cast_scalar(0, t)); }
  static Scalar cast_scalar(std::int64_t v, DType t) { return plait::cast(scalar_int(v), t); }
  Val scalar(std::int32_t id);
  Val number(ExprId e);
  Val position(const Ix& x);
  // Of the same dimension; `by`: a number.
  Ix scaled(const Ix& x, ExprId by);
  Ix sum(const Ix& a, const Ix& b);
  Val cast(Val v, DType t);
  Val apply(OpId fn, DType t, Val a, Val b = kNone, Val c = kNone);
  static double ops_weight(OpId fn) { return static_cast<double>(op_info(fn).cost); }
  Val push_load(std::int32_t b, ir::Access a, DType t, std::int32_t loop);
  // In the innermost loop of those that the address and the index need.
  Val push_gather(std::int32_t b, ir::Access a, Val index, ir::Coeff stride, DType t);
  void push_scatter(OpId fn, std::int32_t b, ir::Access a, Val index, ir::Coeff stride, Val v,
                    std::int32_t loop);
  void push_store(std::int32_t b, ir::Access a, Val v, std::int32_t loop, bool nontemporal);
  Val push_local(ir::Op op, std::int32_t local, std::int32_t loop, DType t, Val v);
  void push_store_local(std::int32_t local, ir::Access a, Val v, std::int32_t loop);

  // loops
  std::int32_t open(std::int32_t parent, ExprId extent);
  // From `begin` to `end`, about `extent` iterations; `trips` in all, of which loops around it have
  // a share each.
  std::int32_t open_between(std::int32_t parent, Val begin, Val end, ExprId extent, double trips);
  Val close(std::int32_t l);
  bool closed(std::int32_t l) const { return closed_[l]; }
  bool encloses(std::int32_t outer, std::int32_t inner) const;
  std::int32_t innermost(const Index& idx) const;
  double times(std::int32_t loop) const;

  // the graph
  const tracer::Node& node(std::int32_t id) const { return *g_[id].node; }
  Index broadcast(std::int32_t operand, const Index& idx) const;

  const LoweringInput& in_;
  const Graph& g_;
  Exprs& ex_;
  LoweredKernel& out_;
  ir::Kernel& k_;
  bool builds_;
  bool chunked_ = false;                // the grid has the iterations of a loop, in chunks
  std::vector<std::int32_t> parent_;    // of each loop
  std::vector<bool> closed_;            // each loop: its body is complete
  std::vector<double> trips_;           // of each loop, at the extents of this graph
  std::vector<std::int32_t> def_loop_;  // of each value: the loop whose body defines it

 private:
  std::int32_t old_memory_ = -1;
  Val add_var(std::int32_t loop);
};

}  // namespace plait::fusion
