// Stacks of matrices in the last axes of an operand, for calls that compute one after the other.
#pragma once
#include <atomic>
#include <new>

#include "call.hpp"
#include "engine/direct/direct_kernels.hpp"
#include "engine/products/blas_library.hpp"
#include "engine/products/lapack.hpp"
#include "plait/linalg_error.hpp"
#include "units.hpp"

namespace plait::engine {

// The cells of the last `core` axes: matrices, or vectors.
class Stack {
 public:
  Stack(const Operand& o, int core) : operand_(o), outer_(o.shape.size() - core) {
    for (int d = outer_; d < o.shape.size(); ++d) {
      shape_.push_back(o.shape[d]);
      strides_.push_back(o.strides[d]);
      elements_ *= o.shape[d];
    }
    // A matrix by columns, the order of Fortran.
    const auto item = static_cast<std::int64_t>(itemsize(o.dtype));
    for (int d = 0; d < core; ++d) by_columns_.push_back(d == 0 ? item : item * shape_[0]);
  }
  std::int64_t count() const {
    std::int64_t n = 1;
    for (int d = 0; d < outer_; ++d) n *= operand_.shape[d];
    return n;
  }
  std::int64_t extent(int axis) const { return shape_[axis]; }
  std::int64_t elements() const { return elements_; }

  // Copies of one cell, to and from columns one after the other.
  template <class T>
  void load(std::int64_t i, T* columns) const {
    run_cast(operand_.dtype, operand_.dtype, shape_, {at(i), strides_},
             {reinterpret_cast<std::byte*>(columns), by_columns_});
  }
  template <class T>
  void store(std::int64_t i, const T* columns) const {
    run_cast(operand_.dtype, operand_.dtype, shape_,
             {reinterpret_cast<std::byte*>(const_cast<T*>(columns)), by_columns_},
             {at(i), strides_});
  }

 private:
  std::byte* at(std::int64_t i) const {
    std::int64_t offset = 0;
    for (int d = outer_; d-- > 0; i /= operand_.shape[d])
      offset += i % operand_.shape[d] * operand_.strides[d];
    return operand_.data + offset;
  }
  const Operand& operand_;
  int outer_;
  Dims shape_, strides_, by_columns_;
  std::int64_t elements_ = 1;
};

// f(i), which returns LAPACK's info, for each of `count` matrices, of which each takes so many
// multiplications. Throws LinAlgError with `failure` where an info is not 0.
template <class F>
void for_each_matrix(const char* function, const char* failure, std::int64_t count,
                     double multiplications, std::int64_t elements, F&& f) {
  constexpr double kSeconds = 3e-10;  // a multiplication in a factorisation, roughly
  if (!has_lapack()) lapack_missing(function);
  std::atomic<bool> failed{false}, out_of_memory{false};
  {
    const OneBlasThread here;
    run_units(count, elements * count, kSeconds * multiplications * static_cast<double>(count),
              [&](std::int64_t i, const auto& /*goes_on*/) {
                if (blas_library().set_local) blas_library().set_local(1);  // a helper's
                try {
                  if (f(i) != 0) failed = true;
                } catch (const std::bad_alloc&) {
                  out_of_memory = true;
                }
              });
  }
  if (out_of_memory) throw std::bad_alloc();
  if (failed) throw LinAlgError(failure);
}

// f(T()) for the element type of a matrix.
template <class F>
void for_element_type(DType t, F&& f) {
  switch (t) {
    case DType::Float32:
      return f(float());
    case DType::Complex64:
      return f(std::complex<float>());
    case DType::Complex128:
      return f(std::complex<double>());
    default:
      return f(double());
  }
}

template <class T>
class Cell {  // memory of one cell
 public:
  explicit Cell(std::int64_t n)
      : memory_(allocate(static_cast<std::size_t>(std::max<std::int64_t>(n, 1)) * sizeof(T))) {}
  T* data() const { return reinterpret_cast<T*>(memory_->data); }

 private:
  Ref<Buffer> memory_;
};

}  // namespace plait::engine
