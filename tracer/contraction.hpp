// Products over labelled axes: every axis of the operands is one of the batch, of the rows, of the
// columns or one that is summed over, and there may be several of each. What merges to a plain
// matrix product is recorded as that; else the MatMul node says in `axes` how many rows, columns
// and summed axes there are, and its operands are read where they lie: windows that overlap, axes
// that are repeated, slices.
#pragma once
#include "array.hpp"
#include "ir/ir.hpp"

namespace plait::tracer {

// `a` (batch..., rows..., sums...) times `b` (batch..., sums..., columns...), of `batch` and `sums`
// axes: (batch..., rows..., columns...) in C order. Extents of the batch broadcast; the summed ones
// are equal. Every element is summed in the order of the summed axes, the last one fastest.
Array contract(const Array& a, const Array& b, int batch, int sums);

// Of a MatMul: how many axes of each kind there are, and how many products an element sums.
struct ProductAxes {
  int batch, rows, columns, sums;
};
ProductAxes product_axes(const Node& product);
std::int64_t product_depth(const Node& product);
ir::ProductTypes product_types(const Node& product);
// The same by the node's `axes` and the number of its own, and by the shape of inputs[0].
ProductAxes product_axes(const Dims& axes, int own);
std::int64_t product_depth(const Dims& first, const ProductAxes& axes);

// The product or the sum of `a` and `b`, or the copy of `a`, which has the value of `n`; `axes` as
// the node's. Nobody records it: for planners, which hold the lock.
Ref<Node> product_instead(const Node& n, Ref<Node> a, Ref<Node> b, const Dims& axes);
Ref<Node> sum_instead(const Node& n, Ref<Node> a, Ref<Node> b);
Ref<Node> copy_instead(const Node& n, Ref<Node> a);

}  // namespace plait::tracer
