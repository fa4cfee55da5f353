#include "fold_columns.hpp"

#include <cstring>

#include "core/fixed_size.hpp"
#include "core/summation_tree.hpp"

namespace plait::engine {

namespace {

// NumPy's tree counts the parts of complex numbers: 8 running sums, 128 in a leaf.
std::int64_t running_sums(ReduceKind kind, DType t) {
  if (kind != ReduceKind::Sum || !(is_float(t) || is_complex(t))) return 0;
  return is_complex(t) ? 4 : 8;
}

}  // namespace

FoldColumns::FoldColumns(ReduceKind kind, DType t)
    : join_(t == DType::Float16 ? nullptr : loops::join(kind, t, config().tier)),
      item_(static_cast<std::int64_t>(itemsize(t))),
      sums_(running_sums(kind, t)) {}

void FoldColumns::join(Row& sum, Row other, std::int64_t columns, std::byte* to,
                       std::int64_t stride) const {
  void* const args[] = {const_cast<std::byte*>(sum.at), const_cast<std::byte*>(other.at), to};
  const std::int64_t strides[] = {sum.stride, other.stride, stride};
  join_(args, strides, columns);
  sum = {to, stride};
}

// The sum of n > 0 rows: one of them, or in the first row of `scratch`.
FoldColumns::Row FoldColumns::tree(Row first, std::int64_t step, std::int64_t n,
                                   std::int64_t columns, std::byte* scratch) const {
  const auto row = [&](std::int64_t i) { return Row{first.at + i * step, first.stride}; };
  const auto add = [&](Row& sum, Row other, std::int64_t slot) {
    join(sum, other, columns, scratch + slot * kBytes, item_);
  };
  if (n > 16 * sums_) {
    const std::int64_t half = TreeShape{sums_ == ComplexTree::ways}.left(n);
    Row sum = tree(first, step, half, columns, scratch);
    add(sum, tree(row(half), step, n - half, columns, scratch + kBytes), 0);
    return sum;
  }
  Row sums[8] = {first};
  std::int64_t i = 1;
  if (n >= sums_) {
    for (std::int64_t k = 1; k < sums_; ++k) sums[k] = row(k);
    for (i = sums_; i < n - n % sums_; ++i) add(sums[i % sums_], row(i), i % sums_);
    for (std::int64_t apart = 1; apart < sums_; apart *= 2)
      for (std::int64_t k = 0; k < sums_; k += 2 * apart) add(sums[k], sums[k + apart], k);
  }
  for (; i < n; ++i) add(sums[0], row(i), 0);
  return sums[0];
}

void FoldColumns::operator()(Row first, std::int64_t step, std::int64_t n, std::int64_t columns,
                             std::byte* to, std::int64_t to_stride) const {
  if (n == 1)
    return with_fixed_size(static_cast<std::size_t>(item_), [=](auto bytes) {
      for (std::int64_t c = 0; c < columns; ++c)
        std::memcpy(to + c * to_stride, first.at + c * first.stride, bytes);
    });
  Row sum = first;
  const auto next = [&](Row row) { join(sum, row, columns, to, to_stride); };
  if (sums_ > 0) {
    // 8 rows of a leaf, and one for each time that n can be halved.
    alignas(64) std::byte scratch[(8 + 64) * kBytes];
    next(tree({first.at + step, first.stride}, step, n - 1, columns, scratch));
  } else {
    for (std::int64_t i = 1; i < n; ++i) next({first.at + i * step, first.stride});
  }
}

}  // namespace plait::engine
