// NumPy's matmul: 1-D operands, broadcast batches, shape errors.
#include <optional>

#include "core/shape_limits.hpp"
#include "graph.hpp"
#include "one_hot.hpp"

namespace plait::tracer {

namespace {

constexpr const char* kSignature = "(n?,k),(k,m?)->(n?,m?)";

Dims batch_shape(const Array& a, const Array& b) {
  const Dims x(a.shape.begin(), a.shape.end() - 2), y(b.shape.begin(), b.shape.end() - 2);
  const int n = std::max(x.size(), y.size());
  Dims out(n, 1);
  for (int i = 0; i < n; ++i) {
    const int xi = i - (n - x.size()), yi = i - (n - y.size());
    const std::int64_t p = xi >= 0 ? x[xi] : 1, q = yi >= 0 ? y[yi] : 1;
    if (p != q && p != 1 && q != 1) return Dims{-1};
    out[i] = p == 1 ? q : p;
  }
  return out;
}

std::string remapped(const Array& a) {
  std::string s = shape_text(a.shape) + "->(";
  for (int i = 0; i < a.ndim() - 2; ++i) s += std::to_string(a.shape[i]) + ",";
  return s + "newaxis,newaxis)";
}

// The batch axes in the order in which NumPy's iterator walks them, slowest first: that of the
// result's memory.
Dims batch_order(const Array& a, const Array& b, const Dims& batch) {
  Dims strides[2];
  const Array* const operands[] = {&a, &b};
  for (int i = 0; i < 2; ++i) {
    const Array& x = *operands[i];
    strides[i] = broadcast_strides(Dims(x.shape.begin(), x.shape.end() - 2),
                                   Dims(x.strides.begin(), x.strides.end() - 2), batch);
  }
  Dims order = iteration_order(batch.size(), strides);
  std::reverse(order.begin(), order.end());
  return order;
}

// `a` with its batch axes in `order`.
Array permuted(const Array& a, const Dims& order) {
  Dims missing, axes = order;
  for (int i = a.ndim() - 2; i < order.size(); ++i) missing.push_back(missing.size());
  axes.push_back(order.size());
  axes.push_back(order.size() + 1);
  const Array whole = missing.empty() ? a : expand_dims(a, missing);
  return transpose(whole, std::span(axes.data(), static_cast<std::size_t>(axes.size())));
}

// `a` cast to `t`, with its leading axes broadcast to `batch`.
Ref<Node> operand(const Array& a, DType t, const Dims& batch) {
  Ref<Node> n = as_dtype(read(a), t);
  Dims shape = batch;
  shape.push_back(a.shape[a.ndim() - 2]);
  shape.push_back(a.shape[a.ndim() - 1]);
  return broadcast_node(std::move(n), shape);
}

// A product that is better part of the loops around it: a sum over (batch, m, n, k) products that
// are never stored, in NumPy's order of summation. Bool products are any(and).
Ref<Node> sum_of_products(const Array& a, const Array& b, DType t, const Dims& batch) {
  const auto item = static_cast<std::int64_t>(itemsize(t));
  Dims result = batch;
  result.push_back(a.shape[a.ndim() - 2]);
  result.push_back(b.shape.back());
  Dims products = result;
  products.push_back(a.shape.back());
  Ref<Node> p = new_node(NodeKind::Elementwise);
  p->fn = t == DType::Bool ? OpId::LogicalAnd : OpId::Multiply;
  p->dtype = t;
  p->shape = products;
  p->strides = dense_strides(products, item, 'C');
  p->n_inputs = 2;
  const Array rows = expand_dims(a, Dims{-2});
  const Array columns = expand_dims(swapaxes(b, -1, -2), Dims{-3});
  p->inputs[0] = broadcast_node(as_dtype(read(rows), t), products);
  p->inputs[1] = broadcast_node(as_dtype(read(columns), t), products);
  p = record(std::move(p));
  Ref<Node> n = new_node(NodeKind::Reduce);
  n->reduce = t == DType::Bool ? ReduceKind::Any : ReduceKind::Sum;
  n->dtype = t;
  n->shape = result;
  n->strides = dense_strides(result, item, 'C');
  n->axes = Dims{result.size()};
  n->n_inputs = 1;
  n->inputs[0] = std::move(p);
  return record(std::move(n));
}

// Sums as short as this cost less inside the loops that read them than a product in memory; and
// where no library multiplies, as few rows or columns would leave most of a tile idle.
constexpr std::int64_t kShort = 8;

// Of the host: a stack of so many matrices, whose loops over rows, columns and sums are unrolled if
// they are as short as this.
constexpr std::int64_t kManyMatrices = 256, kUnrolled = 4;

bool in_loops(const Array& a, const Array& b, DType t, const Dims& batch, DeviceId device) {
  if (device <= kHost)
    return (t == DType::Float32 || t == DType::Float64) && element_count(batch) >= kManyMatrices &&
           std::max({a.shape[a.ndim() - 2], a.shape.back(), b.shape.back()}) <= kUnrolled;
  if (a.shape.back() <= kShort) return true;
  const bool narrow = std::min(a.shape[a.ndim() - 2], b.shape.back()) <= kShort;
  return narrow && !devices().memory(device).multiplies(t);
}

Ref<Node> product(const Array& a, const Array& b, DType t, const Dims& batch) {
  if (in_loops(a, b, t, batch, std::max(device_of(a), device_of(b))))
    return sum_of_products(a, b, t, batch);
  Ref<Node> n = new_node(NodeKind::MatMul);
  n->dtype = t;
  n->shape = batch;
  n->shape.push_back(a.shape[a.ndim() - 2]);
  n->shape.push_back(b.shape.back());
  n->strides = dense_strides(n->shape, static_cast<std::int64_t>(itemsize(t)), 'C');
  n->n_inputs = 2;
  n->inputs[0] = operand(a, t, batch);
  n->inputs[1] = operand(b, t, batch);
  return record(std::move(n));
}

// Elements of a matrix from which its product with a vector is recorded. One in memory has to be
// read whatever stands around the product, and a plan would call the same function.
constexpr std::int64_t kRecorded = 1 << 18;

// Computes at once what is small and in memory; nothing else of a batch or of two dtypes.
std::optional<Array> product_now(const Array& a, const Array& b) {
  if (a.ndim() > 2 || b.ndim() > 2 || a.dtype != b.dtype || !context().evaluator) return {};
  if (eager_limit() <= 0) return {};
  Dims shape;
  if (a.ndim() == 2) shape.push_back(a.shape[0]);
  if (b.ndim() == 2) shape.push_back(b.shape[1]);
  check_shape(shape, static_cast<std::int64_t>(itemsize(a.dtype)));
  if (!few(shape)) return {};
  const bool vector = a.ndim() == 1 || b.ndim() == 1 || shape[0] == 1 || shape[1] == 1;
  if (vector ? std::max(a.size(), b.size()) >= kRecorded : !few(a.shape) || !few(b.shape))
    return {};
  // A pending matrix is likely to be that of a loop, and would be computed in front of the product.
  if (a.ndim() == 2 && b.ndim() == 1 && in_host_memory(b)) evaluate(a);
  if (b.ndim() == 2 && a.ndim() == 1 && in_host_memory(a)) evaluate(b);
  if (!in_host_memory(a) || !in_host_memory(b)) return {};
  Array result = fresh_array(
      a.dtype, shape, dense_strides(shape, static_cast<std::int64_t>(itemsize(a.dtype)), 'C'));
  give_memory(result);
  if (!evaluator().multiply(a, b, result)) return {};
  return result;
}

}  // namespace

Array matmul(const Array& left, const Array& right, char order) {
  const Lock held = hold();
  const Array* both[] = {&left, &right};
  for (int i = 0; i < 2; ++i)
    if (both[i]->ndim() == 0)
      throw ShapeError("matmul: Input operand " + std::to_string(i) +
                       " does not have enough dimensions (has 0, gufunc core with signature " +
                       kSignature + " requires 1)");
  const bool row = left.ndim() == 1, column = right.ndim() == 1;
  const std::int64_t k = left.shape.back(), kb = right.shape[column ? 0 : right.ndim() - 2];
  if (k != kb)
    throw ShapeError(
        "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc "
        "signature " +
        std::string(kSignature) + " (size " + std::to_string(kb) + " is different from " +
        std::to_string(k) + ")");
  if (is_narrow(left.dtype) || is_narrow(right.dtype)) {
    const DType t = numpys_dtype(left.dtype, right.dtype);
    return matmul(astype(left, t, 'K', false), astype(right, t, 'K', false), order);
  }
  if (std::optional<Array> done = product_now(left, right)) return *std::move(done);
  if (std::optional<Array> sums = summed_by_label(left, right)) return *std::move(sums);
  Array a = row ? expand_dims(left, Dims{0}) : left;
  Array b = column ? expand_dims(right, Dims{1}) : right;
  Dims batch = batch_shape(a, b);
  if (batch.size() == 1 && batch[0] == -1)
    throw ShapeError(
        "operands could not be broadcast together with remapped shapes [original->remapped]: " +
        remapped(a) + " " + remapped(b) + "  and requested shape " +
        shape_text(Dims{a.shape[a.ndim() - 2], b.shape.back()}));

  // The node is in C order; a result whose batch axes lie otherwise is a transposed view of it.
  Dims batch_axes(batch.size());
  for (int i = 0; i < batch.size(); ++i) batch_axes[i] = i;
  if (const Dims in_memory = batch_order(a, b, batch); order == 'K' && in_memory != batch_axes) {
    batch_axes = in_memory;
    a = permuted(a, batch_axes);
    b = permuted(b, batch_axes);
    batch = batch_shape(a, b);
  }
  bound_graph();
  const bool eager = eager_errors() || reads_export(left) || reads_export(right);
  Ref<Node> n = product(a, b, promote(left.dtype, right.dtype), batch);
  Dims shape = n->shape, strides = n->strides;
  for (int i = 0; i < batch.size(); ++i) {
    const int axis = static_cast<int>(batch_axes[i]);
    shape[axis] = n->shape[i];
    strides[axis] = n->strides[i];
  }
  if (column) {
    shape.erase(shape.size() - 1);
    strides.erase(strides.size() - 1);
  }
  if (row) {
    const int at = shape.size() - (column ? 1 : 2);
    shape.erase(at);
    strides.erase(at);
  }
  Array result = wrap(std::move(n), shape, strides);
  finish(result, eager);
  return result;
}

}  // namespace plait::tracer
