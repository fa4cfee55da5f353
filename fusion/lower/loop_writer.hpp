// Writes a loop nest one instruction at a time: loops, buffers and parameters, each value in the
// outermost loop that binds its operands. It knows numbers of the graph, and nothing of its nodes.
#pragma once
#include <utility>
#include <vector>

#include "lower.hpp"

namespace plait::fusion {
using ir::kNone;
using ir::Val;

class LoopWriter {
 public:
  // Without `builds` values have types and loops, and nothing has an address.
  LoopWriter(const LoweringInput& in, LoweredKernel& out, bool builds);
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

  // parameters
  ir::Coeff coeff(ExprId e);
  std::int32_t param(ExprId e);
  std::int32_t buffer(BufferSource s, DType t, bool written);
  // A local for a value: so many elements in each iteration of loop `home`, its level.
  std::int32_t place(Place p, DType t, ExprId count, std::int32_t home);

  // instructions
  Val push(ir::Inst i, std::int32_t loop);
  Val constant(const Scalar& s);
  Val zero(DType t) { return constant(cast_scalar(0, t)); }
  static Scalar cast_scalar(std::int64_t v, DType t) { return plait::cast(scalar_int(v), t); }
  Val number(ExprId e);
  Val cast(Val v, DType t);
  Val apply(OpId fn, DType t, Val a, Val b = kNone, Val c = kNone);
  Val integer(OpId fn, Val a, Val b) { return apply(fn, DType::Int64, a, b); }
  Val negative(Val v) { return apply(OpId::Negative, DType::Int64, v); }
  static double ops_weight(OpId fn) { return static_cast<double>(op_info(fn).cost); }
  Val push_load(std::int32_t b, ir::Access a, DType t, std::int32_t loop);
  // One of two values of one dtype. Where both are loads of one buffer, and what is chosen holds
  // for all of their loop, it is their address.
  Val either(Val first, Val a, Val b);
  void count_elements(std::int32_t loop);
  // In the innermost loop of those that the address and the index need.
  Val push_gather(std::int32_t b, ir::Access a, Val index, ir::Coeff stride, DType t);
  void push_scatter(OpId fn, std::int32_t b, ir::Access a, Val index, ir::Coeff stride, Val v,
                    std::int32_t loop);
  void push_store(std::int32_t b, ir::Access a, Val v, std::int32_t loop, bool nontemporal);
  Val push_local(ir::Op op, std::int32_t local, std::int32_t loop, DType t, Val v);
  void push_store_local(std::int32_t local, ir::Access a, Val v, std::int32_t loop);
  Val load_local(std::int32_t local, ir::Access a, std::int32_t loop);
  std::int32_t access(ir::Access a);

  // loops
  std::int32_t open(std::int32_t parent, ExprId extent);
  // From `begin` to `end`, about `extent` iterations; `trips` in all, of which loops around it have
  // a share each.
  std::int32_t open_between(std::int32_t parent, Val begin, Val end, ExprId extent, double trips);
  Val close(std::int32_t l);
  bool closed(std::int32_t l) const { return closed_[l]; }
  bool encloses(std::int32_t outer, std::int32_t inner) const;
  double times(std::int32_t loop) const;
  // The last that was opened first.
  void close_all(const std::vector<std::int32_t>& loops);
  // Of `extent`, `most` a block: those of that block.
  std::pair<Val, Val> range_of_block(Val block, ExprId most, ExprId extent);

  const LoweringInput& in_;
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
  Val number(const ir::Coeff& c) {
    return c.param == ir::kNoParam ? constant(scalar_int(c.value))
                                   : push({ir::Op::Param, DType::Int64, OpId::Count_, c.param}, 0);
  }
  Val add_var(std::int32_t loop);
};

}  // namespace plait::fusion
