#include "by_index.hpp"

#include <algorithm>
#include <mutex>

#include "core/config.hpp"
#include "core/device.hpp"
#include "core/scatter.hpp"
#include "core/shape_limits.hpp"
#include "engine/direct/bins.hpp"
#include "engine/direct/fp_flags.hpp"
#include "engine/direct/gather.hpp"
#include "places.hpp"
#include "tracer/calls.hpp"
#include "tracer/capture.hpp"
#include "tracer/context.hpp"
#include "tracer/device.hpp"
#include "tracer/one_hot.hpp"

namespace plait::numpy {

namespace {
// What is computed at once costs less than its planning.
bool few(std::int64_t elements) { return elements <= 16 * tracer::eager_limit(); }
}  // namespace

std::optional<std::int64_t> index_bound(const Array& indices) {
  const std::lock_guard held(tracer::lock());
  return tracer::position_bound(*tracer::read(indices));
}

bool combined_later(const Array& indices, const Array& values, std::int64_t elements) {
  // Indices in memory come in the order in which they lie there.
  const bool pending = !tracer::is_materialised(indices);
  return !few(elements) && (pending || !tracer::is_materialised(values)) &&
         (pending || indices.strides[0] > 0);
}

Array combined(OpId fn, const Array& a, const Array& indices, const Array& values) {
  const Array all[] = {a, indices, values};
  CallAttributes attributes;
  attributes.fn = fn;
  return tracer::call(CallId::Scatter, all, attributes)[0];
}

namespace {
// The least or the greatest of indices on a device.
std::int64_t end_of(const Array& indices, ReduceKind kind) {
  return tracer::item(tracer::reduce(kind, indices), {}).as<std::int64_t>();
}
// Indices into an axis of `extent`, on the device that they are on, from 0 on; nothing where one is
// outside.
std::optional<Array> within_there(const Array& indices, std::int64_t extent) {
  if (indices.size() == 0) return indices;
  const std::int64_t least = end_of(indices, ReduceKind::Min);
  if (least < -extent || end_of(indices, ReduceKind::Max) >= extent) return std::nullopt;
  if (least >= 0) return indices;
  const Array before = call(OpId::Less, indices, strong(0));
  return call(OpId::Where, before, call(OpId::Add, indices, strong(extent)), indices);
}

bool holds(DType t, const Scalar& integer) {
  return cast(cast(integer, t), DType::Int64).as<std::int64_t>() ==
         cast(integer, DType::Int64).as<std::int64_t>();
}

void check_exponent(const Operand& exponent) {
  const Array e = exponent.array ? *exponent.array : tracer::from_scalar(exponent.scalar);
  if (tracer::item(any(call(OpId::Less, e, strong(0))), {}).as<bool>())
    throw ValueError("Integers to negative integer powers are not allowed.");
}

// Recorded where something is yet to be computed, and where there is enough for several threads.
bool at_later(OpId fn, const Array& a, Key key, const Operand& value) {
  const auto* index = key.size() == 1 ? std::get_if<Array>(key.data()) : nullptr;
  const bool there = tracer::device_of(a) > kHost;
  const bool joins =
      fn == OpId::Add || fn == OpId::Multiply || fn == OpId::Maximum || fn == OpId::Minimum;
  if (!joins || !value.array || !index || index->ndim() != 1 ||
      (there && tracer::device_of(*value.array) != tracer::device_of(a)) ||
      tracer::device_of(*index) != tracer::device_of(a) || index->dtype != DType::Int64 ||
      a.ndim() == 0 || value.array->ndim() > a.ndim())
    return false;
  Dims shape = a.shape;
  shape[0] = index->shape[0];
  const std::int64_t elements = checked_element_count(shape);
  const bool recorded = there || tracer::recording_alone();
  if (!recorded && few(elements)) return false;
  const std::optional<std::int64_t> bound = index_bound(*index);
  const bool known = bound && *bound <= a.shape[0];
  if (there && !scatters_on_device(elements, a.size())) return false;
  const std::optional<Array> inside = known   ? *index
                                      : there ? within_there(*index, a.shape[0])
                                              : within(*index, a.shape[0]);
  if (!inside || !(recorded || combined_later(*inside, *value.array, elements) ||
                   scatter_pieces(elements, a.size()) > 1))
    return false;
  const std::optional<Array> values = stored_value(value, a, shape, a.dtype);
  if (values && inside->strides[0] > 0) tracer::assign(a, combined(fn, a, *inside, *values));
  return values && inside->strides[0] > 0;
}
}  // namespace

bool at(OpId fn, const Array& a, Key key, const Operand& value) {
  const bool there = tracer::device_of(a) > kHost;
  if (!(there || here(a)) || !a.writeable || op_info(fn).arity != 2) return false;
  if (value.weak == Weak::Int && is_integer(a.dtype) && !holds(a.dtype, value.scalar)) return false;
  const OperandType types[] = {{a.dtype},
                               {value.array ? value.array->dtype : value.scalar.dtype, value.weak}};
  LoopTypes loop = resolve(fn, types);
  if (loop.in[0] != loop.in[1] || !can_cast(loop.out, a.dtype, Casting::SameKind)) return false;
  const bool direct = engine::combines(fn, a.dtype) && loop.in[0] == a.dtype && loop.out == a.dtype;
  if (direct && at_later(fn, a, key, value)) return true;
  if (there) return false;
  for (DType* const t : {&loop.in[0], &loop.in[1], &loop.out}) *t = computes_in(*t);
  if (fn == OpId::Power && is_integer(loop.in[0])) check_exponent(value);
  return write(a, key, value, loop.in[1], LeadingOnes::Refused, [&](auto&&... operands) {
    engine::clear_flags();
    if (direct)
      engine::run_combine(fn, a.dtype, operands...);
    else
      engine::run_combine_by_loop(fn, loop, a.dtype, operands...);
    engine::report_flags(engine::raised_flags(), op_info(fn).name, *a.storage->version);
  });
}

std::optional<Array> bincount(const Array& x, const Array* weights, std::int64_t least) {
  if (x.size() == 0) weights = nullptr;  // NumPy counts then
  const DeviceId device = tracer::device_of(x);
  if (!(device > kHost || here(x)) || x.ndim() != 1 || least < 0 ||
      !can_cast(x.dtype, DType::Int64, Casting::Safe))
    return std::nullopt;
  const auto with_indices = [&](const Array& w) {
    return device > kHost ? tracer::device_of(w) == device : here(w);
  };
  if (weights && (!with_indices(*weights) || weights->ndim() != 1 || weights->size() != x.size() ||
                  !can_cast(weights->dtype, DType::Float64, Casting::Safe)))
    return std::nullopt;
  Array at = as(x, DType::Int64);
  const auto summed = [&](std::int64_t bins) {
    const tracer::Naming unheard(tracer::NamedAs::Nobody);
    const tracer::OnDevice there(std::max(device, kHost));
    const DType t = weights ? DType::Float64 : DType::Int64;
    return combined(OpId::Add, tracer::full({bins}, cast(scalar_int(0), t)), at,
                    weights ? as(*weights, t)
                    : device > kHost
                        ? tracer::full(at.shape, scalar_int(1))
                        : tracer::broadcast_to(tracer::from_scalar(scalar_int(1)), at.shape));
  };
  const Array& values = weights ? *weights : at;
  if (const auto bound = index_bound(at);
      bound && *bound <= least && combined_later(at, values, at.size()))
    return summed(least);
  if (device > kHost) {
    if (at.size() == 0) return std::nullopt;
    const std::int64_t bins = std::max(least, end_of(at, ReduceKind::Max) + 1);
    return end_of(at, ReduceKind::Min) < 0 || !scatters_on_device(at.size(), bins)
               ? std::nullopt
               : std::optional(summed(bins));
  }
  if (!tracer::is_c_contiguous(at)) at = tracer::copy(at, 'C');
  const Held held(at);
  const auto* p = reinterpret_cast<const std::int64_t*>(held.data());
  const engine::Ends ends = engine::ends_of(p, at.size());
  if (at.size() > 0 && ends.least < 0) return std::nullopt;
  const std::int64_t bins = std::max(least, at.size() > 0 ? ends.greatest + 1 : 0);
  if (bins < 0 || bins > (std::int64_t{1} << 40)) return std::nullopt;
  if (combined_later(at, values, at.size())) return summed(bins);
  Ref<Buffer> memory;
  if (!weights) {
    Array out = fresh({bins}, DType::Int64, memory);
    engine::count_bins(held.data(), sizeof *p, at.size(),
                       reinterpret_cast<std::int64_t*>(memory->data), bins);
    return out;
  }
  Array w = as(*weights, DType::Float64);
  if (!tracer::is_c_contiguous(w)) w = tracer::copy(w, 'C');
  const Held with(w);
  Array out = fresh({bins}, DType::Float64, memory);
  engine::sum_bins(p, reinterpret_cast<const double*>(with.data()), at.size(),
                   reinterpret_cast<double*>(memory->data), bins);
  return out;
}

std::optional<Array> histogram(const Array& a, const Array& edges) {
  if (!here(a) || !here(edges) || a.dtype != DType::Float64 || edges.dtype != DType::Float64 ||
      edges.ndim() != 1 || edges.size() < 2)
    return std::nullopt;
  const Array values = tracer::is_c_contiguous(a) ? a : tracer::copy(a, 'C');
  const Array bounds = tracer::is_c_contiguous(edges) ? edges : tracer::copy(edges, 'C');
  const Held from(values), by(bounds);
  Ref<Buffer> memory;
  const std::int64_t bins = edges.size() - 1;
  Array out = fresh({bins}, DType::Int64, memory);
  engine::count_in_range(reinterpret_cast<const double*>(from.data()), values.size(),
                         reinterpret_cast<const double*>(by.data()), bins,
                         reinterpret_cast<std::int64_t*>(memory->data));
  return out;
}

}  // namespace plait::numpy
