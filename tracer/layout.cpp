#include "layout.hpp"

#include <cstdlib>

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

// The insertion sort of NumPy's nditer: zero strides say nothing, the first operand that can tell
// decides, conflicts keep C order.
Dims iteration_order(int ndim, std::span<const Dims> strides) {
  Dims perm(ndim);
  for (int i = 0; i < ndim; ++i) perm[i] = ndim - 1 - i;
  for (int i = 1; i < ndim; ++i) {
    const int axis = static_cast<int>(perm[i]);
    int at = i;
    for (int j = i - 1; j >= 0; --j) {
      const int other = static_cast<int>(perm[j]);
      bool ambiguous = true, swap = false;
      for (const Dims& s : strides) {
        const std::int64_t a = std::llabs(s[axis]), b = std::llabs(s[other]);
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
    for (int j = i; j > at; --j) perm[j] = perm[j - 1];
    perm[at] = axis;
  }
  return perm;
}

namespace {
// Steps of `axis_at(0)`, `axis_at(1)` ..., fastest first.
template <class AxisAt>
Dims steps(const Dims& shape, std::int64_t itemsize, AxisAt&& axis_at) {
  Dims out(shape.size());
  std::int64_t step = itemsize;
  for (int i = 0; i < shape.size(); ++i) {
    const int axis = axis_at(i);
    out[axis] = step;
    step *= std::max<std::int64_t>(shape[axis], 1);
  }
  return out;
}
}  // namespace

// NumPy gives fresh memory without elements strides of 0, which then say nothing about order.
Dims strides_in_order(const Dims& shape, const Dims& order, std::int64_t itemsize) {
  if (element_count(shape) == 0) return Dims(shape.size(), 0);
  return steps(shape, itemsize, [&](int i) { return static_cast<int>(order[i]); });
}

Dims dense_strides(const Dims& shape, std::int64_t itemsize, char order) {
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
  const bool c = c_contiguous(shape, strides, itemsize);
  const bool f = !c && f_contiguous(shape, strides, itemsize);
  if (order == 'A' || c || f || shape.size() <= 1)
    return dense_strides(shape, itemsize, f ? 'F' : 'C');
  Dims axes(shape.size());
  for (int i = 0; i < axes.size(); ++i) axes[i] = axes.size() - 1 - i;
  std::stable_sort(axes.begin(), axes.end(), [&](std::int64_t a, std::int64_t b) {
    return std::llabs(strides[static_cast<int>(a)]) < std::llabs(strides[static_cast<int>(b)]);
  });
  return strides_in_order(shape, axes, itemsize);
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
