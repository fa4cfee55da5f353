#include "labels.hpp"

#include <algorithm>
#include <mutex>

#include "engine/plans/state.hpp"
#include "tracer/capture.hpp"
#include "tracer/derived.hpp"
#include "tracer/graph.hpp"
#include "tracer/layout.hpp"

namespace plait::numpy {
using tracer::Node;
using tracer::NodeKind;

namespace {

// Masks of fewer elements are soon read; more labels would keep more than 16 MiB.
constexpr std::int64_t kFewest = 1 << 15, kMost = 1 << 23;
// Grouping takes as long as so many selections by masks.
constexpr std::int64_t kWorth = 4;

struct Labelled {
  Ref<Node> labels;
  std::int64_t label = 0;
};

// What is compared: integers in one piece with a number that may be one of the labels.
Labelled compared(const Array& mask) {
  const Ref<Node> n = tracer::read(mask);
  if (n->kind != NodeKind::Elementwise || n->fn != OpId::Equal || n->materialised()) return {};
  for (const int i : {0, 1}) {
    Ref<Node> labels = n->inputs[i];
    const Node& k = *n->inputs[1 - i];
    if (k.kind != NodeKind::Scalar || !is_integer(k.dtype)) continue;
    const auto label = cast(k.scalar, DType::Int64).as<std::int64_t>();
    while (labels->kind == NodeKind::Cast && !labels->materialised() &&
           can_cast(labels->inputs[0]->dtype, labels->dtype, Casting::Safe))
      labels = labels->inputs[0];
    const bool in_one_piece =
        labels->shape == n->shape && labels->kind != NodeKind::View &&
        labels->strides ==
            contiguous_strides(labels->shape, static_cast<std::int64_t>(itemsize(labels->dtype)));
    if (is_integer(labels->dtype) && in_one_piece && label >= 0 && label < engine::Groups::kLabels)
      return {std::move(labels), label};
  }
  return {};
}

}  // namespace

Group group_of(const Array& mask) {
  if (mask.size() < kFewest || mask.size() > kMost || !tracer::is_c_contiguous(mask)) return {};
  Labelled l;
  {
    const std::lock_guard held(tracer::lock());
    if (tracer::capture()) return {};
    l = compared(mask);
    if (!l.labels || l.labels->device > kHost) return {};
    engine::State::Labels& last = engine::state().labels;
    const std::uint64_t contents = tracer::contents_of(*l.labels);
    if (contents == 0) return {};
    if (last.of != contents) {
      last.expected = last.elements == mask.size() ? last.asked : 0;
      last.of = contents;
      last.elements = mask.size();
      last.asked = 0;
      last.groups.reset();
    }
    ++last.asked;
    if (last.groups) return {last.groups, l.label};
    if (std::max(last.asked, last.expected) < kWorth) return {};
  }
  {
    const std::lock_guard held(tracer::lock());
    tracer::evaluate_nodes({&l.labels, 1});
  }
  const auto made = std::make_shared<const engine::Groups>(
      l.labels->dtype, l.labels->data->data + l.labels->data_offset, mask.size());
  const std::lock_guard held(tracer::lock());
  engine::State::Labels& last = engine::state().labels;
  if (last.of == tracer::contents_of(*l.labels)) last.groups = made;
  return {made, l.label};
}

}  // namespace plait::numpy
