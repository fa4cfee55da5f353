// The cost model: seconds of one thread, from the table of the machine. Whoever compares two ways
// to compute something, or says beforehand how long it takes, asks here.
#pragma once
#include "core/machine.hpp"
#include "fusion/graph/plan_graph.hpp"
#include "ir/ir.hpp"

namespace plait::fusion {

inline double bytes_of(const Node& n) {
  return n.elements.cost() * static_cast<double>(itemsize(n.dtype));
}
// Units of the operations' Cost: of an element of the node, and of all.
double element_work(const Node& n);
inline double work_of(const Node& n) { return element_work(n) * n.elements.cost(); }

// Of bytes that go through memory once; all of them together decide where they lie.
double memory_seconds(const Machine& m, double bytes);
// Of a region: so many bytes and units of the operations' Cost, which overlap.
double region_seconds(const Machine& m, double bytes, double work);

// Who multiplies matrices: the engine's tiles (one product, one whose rows a block keeps whole, one
// of several axes, those of an attention), a BLAS, or a plain loop.
enum class ProductImpl : std::uint8_t { Tiles, Rows, Axes, Attention, Blas, Loop };
// Of products of matrices, all of a batch; infinite of a type that they do not take.
double product_seconds(const Machine& m, ProductImpl by, const ir::ProductTypes& t, double rows,
                       double columns, double depth);
// The same in units of work, for a region that multiplies.
double product_work(const Machine& m, ProductImpl by, const ir::ProductTypes& t, double products);

// Of an operation by itself, which reads its operands from memory and stores its result there.
double operation_seconds(const Machine& m, const Node& n);
double operation_seconds(const Machine& m, const tracer::Node& n);

// A value of `elements` that `cost` units a piece compute, and that is computed `computed` times
// altogether: what its readers cost when each computes what it reads, and when one stores it and
// the others are to gain by half.
struct RecomputeCost {
  double again, stored, loads;  // loads: of `stored`, to read it
  bool large;                   // enough for a trip through memory to be a question
  bool store() const { return large && stored < again; }
};
RecomputeCost recompute_cost(const Machine& m, double elements, double cost, double computed);

}  // namespace plait::fusion
