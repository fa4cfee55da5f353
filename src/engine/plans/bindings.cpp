#include "bindings.hpp"

#include <utility>

namespace plait::engine {
using fusion::OperandSpec;
using fusion::OperationSpec;
using fusion::ResultSpec;
using fusion::Step;

Bindings::Bindings(const fusion::Plan& p, RunInputs given, DeviceId on)
    : device(on),
      values(std::move(given.values)),
      slots(std::move(given.slots)),
      unwritten(std::move(given.unwritten)),
      scalars_(std::move(given.scalars)) {
  std::size_t roots = 0, params = 0, operations = 0;
  for (const Step& s : p.steps) {
    roots += s.results.size();
    params += s.lowered.params.size();
    operations += s.operation.has_value();
  }
  roots_.reserve(roots);
  params_.reserve(params);
  operations_.reserve(operations);
  const Scalar* scalar = scalars_.data();
  for (const Step& s : p.steps) {
    for (const fusion::ExprId e : s.lowered.params) params_.push_back(value(e));
    for (std::size_t i = 0; i < s.results.size(); ++i) add_root(s.region.roots[i], s.results[i]);
    if (s.operation) add_operation(*s.operation, scalar);
    scalar += s.lowered.scalars.size();
    if (!s.lowered.scatters) continue;
    // Fills come behind the scalars of the kernel.
    const Scalar* fill = scalar;
    for (const ResultSpec& r : s.results) fill -= r.start->filled;
    for (std::size_t i = 0; i < s.results.size(); ++i)
      add_table(s.region.roots[i], s.results[i], fill);
  }
}

Dims Bindings::dims(const fusion::ExprDims& of) const {
  Dims d(static_cast<int>(of.size()));
  std::int64_t* to = d.data();
  for (const fusion::ExprId e : of) *to++ = value(e);
  return d;
}

void Bindings::add_root(std::int32_t node, const ResultSpec& of) {
  Root& r = roots_.emplace_back(Root{.node = node,
                                     .dtype = of.dtype,
                                     .folds = of.folds,
                                     .kept = of.kept,
                                     .reduce = of.reduce,
                                     .shape = dims(of.extents),
                                     .strides = dims(of.byte_strides),
                                     .over = value(of.over),
                                     .update = {}});
  if (const auto& to = of.target)
    r.update = UpdateTarget{
        to->old,         to->masked, to->dtype, dims(to->extents), dims(to->byte_strides),
        value(to->start)};
}

void Bindings::add_table(std::int32_t node, const ResultSpec& of, const Scalar*& fill) {
  TableStart t{node, of.start->init, {}, dims(of.start->byte_strides)};
  if (of.start->filled) t.fill = cast(*fill++, of.dtype);
  tables.push_back(std::move(t));
}

void Bindings::add_operation(const OperationSpec& of, const Scalar* scalar) {
  BoundOperation& o = operations_.emplace_back(BoundOperation{of,
                                                              dims(of.extents),
                                                              dims(of.byte_strides),
                                                              dims(of.axes),
                                                              dims(of.view_extents),
                                                              dims(of.view_byte_strides),
                                                              value(of.start),
                                                              value(of.step),
                                                              {},
                                                              {}});
  o.operands.reserve(of.operands.size());
  for (const OperandSpec& x : of.operands)
    o.operands.push_back({x.node, x.scalar ? scalar++ : nullptr, x.dtype, dims(x.extents),
                          dims(x.byte_strides), value(x.start)});
  if (of.kind == tracer::NodeKind::Call) o.scalar = *scalar;
}

}  // namespace plait::engine
