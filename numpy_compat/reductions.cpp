#include "record.hpp"

namespace plait::numpy {

Array sum(const Array& a, const ReduceOptions& o) { return tracer::reduce(ReduceKind::Sum, a, o); }
Array prod(const Array& a, const ReduceOptions& o) {
  return tracer::reduce(ReduceKind::Prod, a, o);
}
Array min(const Array& a, const ReduceOptions& o) { return tracer::reduce(ReduceKind::Min, a, o); }
Array max(const Array& a, const ReduceOptions& o) { return tracer::reduce(ReduceKind::Max, a, o); }
Array any(const Array& a, const ReduceOptions& o) { return tracer::reduce(ReduceKind::Any, a, o); }
Array all(const Array& a, const ReduceOptions& o) { return tracer::reduce(ReduceKind::All, a, o); }
Array argmin(const Array& a, const ReduceOptions& o) {
  return tracer::reduce(ReduceKind::ArgMin, a, o);
}
Array argmax(const Array& a, const ReduceOptions& o) {
  return tracer::reduce(ReduceKind::ArgMax, a, o);
}

Array ptp(const Array& a, const ReduceOptions& o) {
  ReduceOptions inner = o;
  inner.out = nullptr;
  const Array high = max(a, o), low = min(a, inner);  // NumPy too keeps the maximum in `out`
  const Operand operands[] = {high, low};
  tracer::ElementwiseOptions e;
  e.out = o.out;
  return tracer::elementwise(OpId::Subtract, operands, e);
}

Array count_nonzero(const Array& a, const ReduceOptions& o) {
  ReduceOptions inner = o;
  inner.dtype = DType::Int64;
  return sum(as(a, DType::Bool), inner);
}

}  // namespace plait::numpy
