#include "by_index.hpp"

#include <mutex>

#include "core/config.hpp"
#include "tracer/calls.hpp"
#include "tracer/context.hpp"

namespace plait::numpy {
using tracer::NodeKind;

namespace {
// What is computed at once costs less than its planning.
constexpr std::int64_t kRecorded = 16;
}  // namespace

std::optional<std::int64_t> index_bound(const Array& indices) {
  const std::lock_guard held(tracer::lock());
  Ref<tracer::Node> n = tracer::read(indices);
  while (n->kind == NodeKind::View && !n->materialised()) n = n->inputs[0];
  const bool extreme = n->kind == NodeKind::Reduce && !n->materialised() &&
                       (n->reduce == ReduceKind::ArgMin || n->reduce == ReduceKind::ArgMax);
  if (!extreme) return std::nullopt;
  std::int64_t bound = 1;
  for (const std::int64_t axis : n->axes) bound *= n->inputs[0]->shape[static_cast<int>(axis)];
  return bound;
}

bool combined_later(const Array& indices, const Array& values, std::int64_t elements) {
  // Indices in memory come in the order in which they lie there.
  const bool pending = !tracer::is_materialised(indices);
  return elements > kRecorded * config().eager_limit &&
         (pending || !tracer::is_materialised(values)) && (pending || indices.strides[0] > 0);
}

Array combined(OpId fn, const Array& a, const Array& indices, const Array& values) {
  const Array all[] = {a, indices, values};
  CallAttributes attributes;
  attributes.fn = fn;
  return tracer::call(CallId::Scatter, all, attributes)[0];
}

}  // namespace plait::numpy
