// Stacks of small matrices, in groups of one matrix a lane (codegen/loops/small_matrices.hpp).
#pragma once
#include <algorithm>
#include <atomic>

#include "call.hpp"
#include "codegen/loops/small_matrices.hpp"
#include "core/config.hpp"
#include "units.hpp"

namespace plait::engine {

// Where the cells of an operand's last `core` axes begin.
class Places {
 public:
  Places(const Operand& o, int core)
      : o_(o),
        first_(o.data),
        outer_(o.shape.size() - core),
        step_(outer_ > 0 ? o.strides[0] : 0) {}
  std::byte* operator[](std::int64_t i) const {
    std::byte* p = first_;
    for (int d = outer_ - 1; d > 0; i /= o_.shape[d], --d) p += i % o_.shape[d] * o_.strides[d];
    return p + i * step_;
  }
  // Those of `first` to `first + some`, the last one of them over and over to the end of `to`.
  void find(std::int64_t first, int some, int lanes, std::byte** to) const {
    if (outer_ == 1)
      for (int l = 0; l < lanes; ++l) to[l] = first_ + (first + std::min(l, some - 1)) * step_;
    else
      for (int l = 0; l < lanes; ++l) to[l] = l < some ? (*this)[first + l] : to[l - 1];
  }

 private:
  const Operand& o_;
  std::byte* first_;
  int outer_;
  std::int64_t step_;
};

// The matrices of an operand, those of its last two axes.
class SmallStack {
 public:
  explicit SmallStack(const Operand& o) : o_(o), outer_(o.shape.size() - 2), at_(o, 2) {}

  // The kernels that take it, if any does.
  const loops::SmallMatrices* kernels() const {
    const std::int64_t most = std::max(o_.shape[outer_], o_.shape[outer_ + 1]);
    return most <= loops::kSmallMatrix ? loops::small_matrices(o_.dtype, config().tier) : nullptr;
  }
  int rows() const { return static_cast<int>(o_.shape[outer_]); }
  int columns() const { return static_cast<int>(o_.shape[outer_ + 1]); }
  std::int64_t elements() const { return element_count(o_.shape); }
  std::int64_t count() const { return element_count(Dims(o_.shape.begin(), o_.shape.end() - 2)); }

  // The group of matrices `first` to `first + some`; by rows, or by columns.
  class Group {
   public:
    Group(const SmallStack& s, std::int64_t first, int some, int lanes) : stack_(s) {
      s.at_.find(first, some, lanes, at_);
    }
    loops::MatrixGroup matrices() const { return {at_, stride(0), stride(1)}; }
    loops::MatrixGroup transposed() const { return {at_, stride(1), stride(0)}; }

   private:
    std::int64_t stride(int d) const { return stack_.o_.strides[stack_.outer_ + d]; }
    const SmallStack& stack_;
    std::byte* at_[loops::kMostLanes];
  };

 private:
  const Operand& o_;
  int outer_;
  Places at_;
};

// f(first, some) for groups of the matrices of a stack, on the team: whether it was true of all.
template <class F>
bool for_each_group(const loops::SmallMatrices& kernels, std::int64_t count, std::int64_t elements,
                    F&& f) {
  constexpr double kSeconds = 1e-9;     // an element's share, roughly
  constexpr std::int64_t kGroups = 64;  // of a unit
  const std::int64_t unit = kGroups * kernels.lanes;
  std::atomic<bool> all{true};
  run_units((count + unit - 1) / unit, elements, kSeconds * static_cast<double>(elements),
            [&](std::int64_t u, const auto& /*goes_on*/) {
              const std::int64_t end = std::min(count, (u + 1) * unit);
              bool found = true;
              for (std::int64_t i = u * unit; i < end; i += kernels.lanes)
                found &= f(i, static_cast<int>(std::min<std::int64_t>(kernels.lanes, end - i)));
              if (!found) all = false;
            });
  return all;
}

}  // namespace plait::engine
