#include "cost.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "core/call_table.hpp"
#include "tracer/contraction.hpp"

namespace plait::fusion {
using tracer::NodeKind;

namespace {

// Multiplications of Float32 that one of this type costs.
double product_weight(DType t) {
  const double part = static_cast<double>(itemsize(t)) / (is_complex(t) ? 2 : 1);
  return (is_complex(t) ? 4 : 1) * std::max(1.0, part / 4);
}

// Of a multiplication and addition, of as many as product_weight() counts.
double product_cost(const Machine& m, ProductImpl by, const ir::ProductTypes& types) {
  const DType t = types.result;
  constexpr double kNever = std::numeric_limits<double>::infinity();
  if (by == ProductImpl::Loop) return types.uniform() ? m.loop_product / product_weight(t) : kNever;
  if (by == ProductImpl::Blas ? !types.uniform() || !(is_float(t) || is_complex(t))
                              : !ir::has_fragments(types))
    return kNever;
  const ProductCosts& c = by == ProductImpl::Blas        ? m.blas_product
                          : by == ProductImpl::Rows      ? m.rows_product
                          : by == ProductImpl::Axes      ? m.axes_product
                          : by == ProductImpl::Attention ? m.attention_product
                                                         : m.tile_product;
  if (is_integer(t))
    return c.single * (itemsize(types.a) == 1 ? m.product_of_bytes : m.product_of_integers);
  return t == DType::Float16 ? c.half : c.single;
}

double elements(const Node& n) { return n.elements.cost(); }
double elements(const tracer::Node& n) {
  return static_cast<double>(element_count(strided(n).extents));
}
double written_elements(const Node& n) { return elements_of(n.view_extents); }
double written_elements(const tracer::Node& n) {
  return static_cast<double>(element_count(strided_view(n).extents));
}
double columns_of(const Node& n) {
  return elements_of(Numbers(n.extents.end() - product_axes(n).columns, n.extents.end()));
}
double columns_of(const tracer::Node& n) {
  const Dims& shape = strided(n).extents;
  return static_cast<double>(
      element_count(Dims(shape.end() - tracer::product_axes(n).columns, shape.end())));
}
double depth_of(const Node& n) { return product_depth(n).cost(); }
double depth_of(const tracer::Node& n) { return static_cast<double>(tracer::product_depth(n)); }

template <class AnyNode>
double bytes(const AnyNode& n) {
  return elements(n) * static_cast<double>(itemsize(n.dtype));
}

template <class AnyNode>
double read_bytes(const AnyNode& n) {
  double read = 0;
  for (int i = 0; i < n.n_inputs; ++i)
    if (n.inputs[i]->kind != NodeKind::Scalar)
      read += elements(n) * static_cast<double>(itemsize(n.inputs[i]->dtype));
  return read;
}

}  // namespace

double element_work(const Node& n) {
  return n.kind == NodeKind::Elementwise ? static_cast<double>(op_info(n.fn).cost) : 0;
}

double memory_seconds(const Machine& m, double bytes) {
  const MemoryLevel* level = m.memory;
  const MemoryLevel* const last = std::end(m.memory) - 1;  // takes what no memory holds, too
  while (level != last && bytes > static_cast<double>(level->bytes)) ++level;
  return bytes * level->byte;
}

double region_seconds(const Machine& m, double bytes, double work) {
  return std::max(memory_seconds(m, bytes), work * m.cycle);
}

double product_seconds(const Machine& m, ProductImpl by, const ir::ProductTypes& t, double rows,
                       double columns, double depth) {
  const double cost = product_cost(m, by, t);
  if (std::isinf(cost)) return cost;  // of no products, too
  const double seconds = rows * columns * depth * product_weight(t.result) * cost;
  // One row or column is bound by memory, or by lanes along k, which tiles of floats do not have.
  const bool vector = rows == 1 || columns == 1;
  const bool lanes = t.uniform() && (is_integer(t.result) || t.result == DType::Float16);
  const bool tiles = by == ProductImpl::Tiles || by == ProductImpl::Rows
                         ? !lanes
                         : by != ProductImpl::Blas && by != ProductImpl::Loop;
  return vector && tiles ? seconds * m.tile_lanes : seconds;
}

double product_work(const Machine& m, ProductImpl by, const ir::ProductTypes& t, double products) {
  return products * product_weight(t.result) * product_cost(m, by, t) / m.cycle;
}

namespace {

template <class AnyNode>
double seconds_alone(const Machine& m, const AnyNode& n) {
  const double result = bytes(n);
  const auto through = [&](double moved) { return m.operation + memory_seconds(m, moved); };
  switch (n.kind) {
    case NodeKind::View:
      return m.operation / 4;
    case NodeKind::Elementwise:
      return through(result + read_bytes(n)) +
             elements(n) * static_cast<double>(op_info(n.fn).cost) * m.cycle;
    case NodeKind::Reduce:
      return through(2 * bytes(*n.inputs[0]));
    case NodeKind::Gather: {
      const bool near = bytes(*n.inputs[0]) <= static_cast<double>(m.memory[0].bytes);
      return through(result + elements(n) * 8) +
             elements(n) * (near ? m.near_element : m.far_element);
    }
    case NodeKind::MatMul: {
      const double depth = depth_of(n), columns = columns_of(n);
      const double rows = elements(n) / std::max(1.0, columns);
      double least = std::numeric_limits<double>::infinity();
      for (const ProductImpl by : {ProductImpl::Tiles, ProductImpl::Blas, ProductImpl::Loop})
        least = std::min(least, product_seconds(m, by, product_types(n), rows, columns, depth));
      return through(result + bytes(*n.inputs[0])) + least;
    }
    case NodeKind::Call: {
      double most = elements(n);
      for (int i = 0; i < n.n_inputs; ++i) most = std::max(most, elements(*n.inputs[i]));
      return m.operation + most * call_info(n.call).seconds;
    }
    case NodeKind::Update:
      return through(2 * written_elements(n) * static_cast<double>(itemsize(n.view_dtype)));
    default:
      return through(2 * result);
  }
}

}  // namespace

double operation_seconds(const Machine& m, const Node& n) { return seconds_alone(m, n); }
double operation_seconds(const Machine& m, const tracer::Node& n) { return seconds_alone(m, n); }

RecomputeCost recompute_cost(const Machine& m, double elements, double cost, double computed) {
  return {(computed - elements) * cost * m.cycle,
          1.5 * (elements * m.store + computed * m.load) * m.cycle,
          1.5 * computed * m.load * m.cycle, cost > m.recompute && computed >= 1.5 * elements};
}

}  // namespace plait::fusion
