#include "layout.hpp"

#include <array>
#include <cstdlib>

#include "core/shape_limits.hpp"

namespace plait::tracer {

std::string shape_text(const Dims& shape) {
  std::string s = "(";
  for (int i = 0; i < shape.size(); ++i) {
    if (i) s += ',';
    s += std::to_string(shape[i]);
  }
  if (shape.size() == 1) s += ',';
  return s + ')';
}

bool broadcastable(const Dims& from, const Dims& to) {
  const int lead = to.size() - from.size();
  if (lead < 0) return false;
  for (int i = 0; i < from.size(); ++i)
    if (from[i] != 1 && from[i] != to[lead + i]) return false;
  return true;
}

Dims broadcast_strides(const Dims& shape, const Dims& strides, const Dims& to) {
  const int lead = to.size() - shape.size();
  Dims out(to.size(), 0);
  for (int i = 0; i < shape.size(); ++i)
    if (shape[i] != 1) out[lead + i] = strides[i];
  return out;
}

bool broadcast_shape(std::span<const Laid> operands, Dims& shape) {
  int n = 0;
  for (const Laid& o : operands) n = std::max(n, o.ndim);
  shape = Dims(n, 1);
  for (const Laid& o : operands) {
    std::int64_t* const to = shape.data() + (n - o.ndim);
    for (int i = 0; i < o.ndim; ++i) {
      if (o.shape[i] == to[i] || o.shape[i] == 1) continue;
      if (to[i] != 1) return false;
      to[i] = o.shape[i];
    }
  }
  check_iteration(shape);
  return true;
}

namespace {

using Axes = std::array<std::uint8_t, kMaxDims>;  // only as many as there are dimensions are set

// The insertion sort of NumPy's nditer, fastest axis first: zero strides say nothing, the first
// operand that can tell decides, conflicts keep C order. `stride(i, axis)` is operand i's.
template <class Stride>
void sort_axes(Axes& axes, std::size_t ndim, std::size_t operands, Stride&& stride) {
  for (std::size_t i = 0; i < ndim; ++i) axes[i] = static_cast<std::uint8_t>(ndim - 1 - i);
  for (std::size_t i = 1; i < ndim; ++i) {
    const std::uint8_t axis = axes[i];
    std::size_t at = i;
    for (std::size_t j = i; j-- > 0;) {
      bool ambiguous = true, swap = false;
      for (std::size_t k = 0; k < operands; ++k) {
        const std::int64_t a = std::llabs(stride(k, axis)), b = std::llabs(stride(k, axes[j]));
        if (a == 0 || b == 0) continue;
        if (b <= a)
          swap = false;
        else if (ambiguous)
          swap = true;
        ambiguous = false;
      }
      if (ambiguous) continue;
      if (!swap) break;
      at = j;
    }
    for (std::size_t j = i; j > at; --j) axes[j] = axes[j - 1];
    axes[at] = axis;
  }
}

}  // namespace

Dims iteration_order(int ndim, std::span<const Dims> strides) {
  Axes axes;
  sort_axes(axes, static_cast<std::size_t>(ndim), strides.size(),
            [&](std::size_t operand, int axis) { return strides[operand][axis]; });
  Dims order(ndim);
  for (int i = 0; i < ndim; ++i) order[i] = axes[static_cast<std::size_t>(i)];
  return order;
}

namespace {
// Steps of `axis_at(0)`, `axis_at(1)` ..., fastest first.
template <class AxisAt>
Dims steps(const Dims& shape, std::int64_t itemsize, AxisAt&& axis_at) {
  const int n = shape.size();
  Dims out(n);
  const std::int64_t* const extents = shape.data();
  std::int64_t* const strides = out.data();
  std::int64_t step = itemsize;
  for (int i = 0; i < n; ++i) {
    const int axis = axis_at(i);
    strides[axis] = step;
    step *= std::max<std::int64_t>(extents[axis], 1);
  }
  return out;
}
}  // namespace

// NumPy gives fresh memory without elements strides of 0, which then say nothing about order.
Dims iterated_strides(const Dims& shape, std::span<const Laid> operands, std::int64_t itemsize) {
  const int n = shape.size();
  if (n <= 1) return dense_strides(shape, itemsize, 'C');
  check_shape(shape, itemsize);
  if (element_count(shape) == 0) return Dims(n, 0);
  Axes axes;
  sort_axes(axes, static_cast<std::size_t>(n), operands.size(),
            [&](std::size_t operand, int axis) -> std::int64_t {
              const Laid& o = operands[operand];
              const int own = axis - (n - o.ndim);
              return own < 0 || o.shape[own] == 1 ? 0 : o.strides[own];
            });
  return steps(shape, itemsize, [&](int i) { return int{axes[static_cast<std::size_t>(i)]}; });
}

Dims dense_strides(const Dims& shape, std::int64_t itemsize, char order) {
  check_shape(shape, itemsize);
  const int n = shape.size();
  Dims out(n);
  if (element_count(shape) == 0) return out;
  std::int64_t step = itemsize;
  for (int i = 0; i < n; ++i) {
    const int axis = order == 'F' ? i : n - 1 - i;
    out[axis] = step;
    step *= shape[axis];
  }
  return out;
}

Dims copy_strides(const Dims& shape, const Dims& strides, std::int64_t itemsize, char order) {
  if (order == 'C' || order == 'F') return dense_strides(shape, itemsize, order);
  check_shape(shape, itemsize);
  const bool c = c_contiguous(shape, strides, itemsize);
  const bool f = !c && f_contiguous(shape, strides, itemsize);
  if (order == 'A' || c || f || shape.size() <= 1)
    return dense_strides(shape, itemsize, f ? 'F' : 'C');
  if (element_count(shape) == 0) return Dims(shape.size(), 0);
  Dims axes(shape.size());
  for (int i = 0; i < axes.size(); ++i) axes[i] = axes.size() - 1 - i;
  std::stable_sort(axes.begin(), axes.end(), [&](std::int64_t a, std::int64_t b) {
    return std::llabs(strides[static_cast<int>(a)]) < std::llabs(strides[static_cast<int>(b)]);
  });
  return steps(shape, itemsize, [&](int i) { return static_cast<int>(axes[i]); });
}

namespace {
bool contiguous(const Dims& shape, const Dims& strides, std::int64_t itemsize, bool fortran) {
  const int n = shape.size();
  bool dense = true;
  std::int64_t step = itemsize;
  for (int i = 0; i < n; ++i) {
    const int axis = fortran ? i : n - 1 - i;
    if (shape[axis] == 0) return true;
    if (shape[axis] == 1) continue;
    if (strides[axis] != step) dense = false;
    step *= shape[axis];
  }
  return dense;
}
}  // namespace

Dims scaled_strides(const Dims& shape, const Dims& strides, std::int64_t from, std::int64_t to) {
  if (from == to) return strides;
  check_shape(shape, to);
  Dims out = strides;
  for (std::int64_t& s : out) s = s / from * to;
  return out;
}

bool c_contiguous(const Dims& shape, const Dims& strides, std::int64_t itemsize) {
  return contiguous(shape, strides, itemsize, false);
}
bool f_contiguous(const Dims& shape, const Dims& strides, std::int64_t itemsize) {
  return contiguous(shape, strides, itemsize, true);
}

// NumPy's _attempt_nocopy_reshape: groups of old axes that meet groups of new axes must be dense
// within themselves.
bool reshape_strides(const Dims& shape, const Dims& strides, std::int64_t itemsize, const Dims& to,
                     bool fortran, Dims& out) {
  Dims old_shape, old_strides;
  for (int i = 0; i < shape.size(); ++i)
    if (shape[i] != 1) {
      old_shape.push_back(shape[i]);
      old_strides.push_back(strides[i]);
    }
  const int old_n = old_shape.size(), new_n = to.size();
  out = Dims(new_n);
  if (element_count(shape) == 0) {
    out = steps(to, itemsize, [&](int i) { return fortran ? i : new_n - 1 - i; });
    return true;
  }
  int oi = 0, oj = 1, ni = 0, nj = 1;
  while (ni < new_n && oi < old_n) {
    std::int64_t np = to[ni], op = old_shape[oi];
    while (np != op) {
      if (np < op)
        np *= to[nj++];
      else
        op *= old_shape[oj++];
    }
    for (int k = oi; k < oj - 1; ++k) {
      const bool joined = fortran ? old_strides[k + 1] == old_shape[k] * old_strides[k]
                                  : old_strides[k] == old_shape[k + 1] * old_strides[k + 1];
      if (!joined) return false;
    }
    if (fortran) {
      out[ni] = old_strides[oi];
      for (int k = ni + 1; k < nj; ++k) out[k] = out[k - 1] * to[k - 1];
    } else {
      out[nj - 1] = old_strides[oj - 1];
      for (int k = nj - 1; k > ni; --k) out[k - 1] = out[k] * to[k];
    }
    ni = nj++;
    oi = oj++;
  }
  std::int64_t last = ni >= 1 ? out[ni - 1] : itemsize;
  if (fortran && ni >= 1) last *= to[ni - 1];
  for (int k = ni; k < new_n; ++k) out[k] = last;
  return true;
}

Extent extent(const Dims& shape, const Dims& strides, std::int64_t itemsize) {
  Extent e{0, itemsize};
  for (int i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) return {0, 0};
    const std::int64_t reach = (shape[i] - 1) * strides[i];
    (reach < 0 ? e.first : e.last) += reach;
  }
  return e;
}

}  // namespace plait::tracer
