// Products whose operands were cast from types that fragments multiply themselves.
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "core/device.hpp"
#include "rewrites.hpp"
#include "tracer/contraction.hpp"

namespace plait::fusion {
using tracer::NodeKind;

namespace {

// Of bytes from one element to another, those where elements are of another dtype.
struct Rescaled {
  std::int64_t wide, narrow;
  std::int64_t operator()(std::int64_t bytes) const { return bytes / wide * narrow; }
  Dims operator()(const Dims& strides) const {
    Dims d = strides;
    for (std::int64_t& s : d) s = (*this)(s);
    return d;
  }
};

// Operands without the casts that they were made by.
class Uncast {
 public:
  explicit Uncast(const Graph& g) : g_(g), known_(g.nodes.size()) {}

  // What the node shows of something that was cast, of what was cast: of a cast what it reads; of
  // a view, a copy, or what was written into a constant, as padding does, the same of the dtype
  // that was cast. Null: there is none. Several that read the node find the same one.
  Ref<tracer::Node> operator()(std::int32_t node) {
    std::optional<Ref<tracer::Node>>& known = known_[static_cast<std::size_t>(node)];
    if (!known) known = find(g_[node]);
    return *known;
  }

 private:
  Ref<tracer::Node> find(const GNode& n) {
    if (n.leaf) return {};
    switch (n.node->kind) {
      case NodeKind::Cast:
        return cast_from(n);
      case NodeKind::View:
        return shown_of(n);
      case NodeKind::Update:
        return written(n);
      default:
        return {};
    }
  }

  Ref<tracer::Node> cast_from(const GNode& n) {
    const tracer::Node& of = *n.node;
    const Ref<tracer::Node>& from = of.inputs[0];
    if (!same_extents(*from, of)) return {};
    if (from->dtype != of.dtype) return from;
    if (!alone(n)) return {};
    Ref<tracer::Node> source = (*this)(n.in[0]);
    if (!source) return {};
    const Rescaled scale = rescaled(of, *source);
    Ref<tracer::Node> copy = tracer::copy_instead(of, std::move(source));
    copy->dtype = copy->inputs[0]->dtype;
    copy->strides = scale(StridedSource(of).steps);
    return copy;
  }

  // Where both lie alike, any view of one is one of the other; else one that steps through the
  // axes.
  Ref<tracer::Node> shown_of(const GNode& n) {
    const tracer::Node &v = *n.node, &cast = *v.inputs[0];
    if (v.dtype != cast.dtype) return {};
    const Ref<tracer::Node> from = (*this)(n.in[0]);
    if (!from) return {};
    const Rescaled scale = rescaled(cast, *from);
    const StridedSource wide(cast), narrow(*from);
    StridedSource shown(v);
    bool alike = shown.start % scale.wide == 0;
    for (int d = 0; alike && d < wide.size(); ++d)
      alike = wide.extents[d] == 1 || wide.steps[d] * scale.narrow == narrow.steps[d] * scale.wide;
    for (int d = 0; alike && d < shown.size(); ++d) alike = shown.steps[d] % scale.wide == 0;
    if (!alike) {
      if (!n.map) return {};
      return narrow.through(*n.map, shown.extents).node();
    }
    shown.base = narrow.base;
    shown.dtype = narrow.dtype;
    shown.start = narrow.start + scale(shown.start);
    shown.steps = scale(shown.steps);
    return shown.node();
  }

  Ref<tracer::Node> written(const GNode& n) {
    const tracer::Node& of = *n.node;
    if (of.n_inputs != 2 || of.in_place || n.wanted || n.held || of.view_dtype != of.dtype)
      return {};
    const StridedSource target = StridedSource::written_by(of), all(of), before(*of.inputs[0]);
    const tracer::Node &old = *of.inputs[0], &value = *of.inputs[1];
    if (old.kind != NodeKind::Fill || old.materialised() ||
        StridedSource(value).extents != target.extents)
      return {};
    Ref<tracer::Node> source = (*this)(n.in[1]);
    if (!source) return {};
    const DType narrow = source->dtype;
    const Scalar& filled = old.inputs[0]->scalar;
    const Scalar fewer = cast(filled, narrow), again = cast(fewer, of.dtype);
    if (std::memcmp(again.bytes, filled.bytes, itemsize(of.dtype)) != 0) return {};
    const Rescaled scale = rescaled(of, *source);
    Ref<tracer::Node> fill = tracer::new_node(NodeKind::Fill),
                      update = tracer::new_node(NodeKind::Update);
    Ref<tracer::Node> number = tracer::new_node(NodeKind::Scalar);
    number->dtype = narrow;
    number->device = kAnyDevice;
    number->scalar = fewer;
    fill->dtype = narrow;
    fill->device = old.device;
    fill->shape = before.extents;
    fill->strides = scale(before.steps);
    fill->n_inputs = 1;
    fill->inputs[0] = std::move(number);
    update->dtype = update->view_dtype = narrow;
    update->device = of.device;
    update->site = of.site;
    update->shape = all.extents;
    update->strides = scale(all.steps);
    update->offset = scale(target.start);
    update->view_shape = target.extents;
    update->view_strides = scale(target.steps);
    update->n_inputs = 2;
    update->inputs[0] = std::move(fill);
    update->inputs[1] = std::move(source);
    return update;
  }

  static Rescaled rescaled(const tracer::Node& wide, const tracer::Node& narrow) {
    return {static_cast<std::int64_t>(itemsize(wide.dtype)),
            static_cast<std::int64_t>(itemsize(narrow.dtype))};
  }

  const Graph& g_;
  std::vector<std::optional<Ref<tracer::Node>>> known_;
};

// Floats of so few rows are read once, as they lie, by a region that computes columns
// (ProductBlocks::gemv_rows), which takes 0.75 of what packing them for tiles does. Extents as
// short are part of a graph's key.
constexpr std::int64_t kReadOnce = 4;
bool computes_columns(const tracer::Node& product) {
  const tracer::ProductAxes axes = tracer::product_axes(product);
  const Dims result = StridedSource(product).extents;
  const auto rows = result.begin() + axes.batch;
  return is_float(product.dtype) && element_count(Dims(rows, rows + axes.rows)) <= kReadOnce;
}

// Whether a product has the same value of an operand that is cast to it from that type.
bool keeps_value(DType from, DType to) {
  if (is_integer(from)) return is_integer(to) && itemsize(from) <= itemsize(to);  // both wrap
  return (from == DType::Float16 || from == DType::BFloat16) && to == DType::Float32;
}

}  // namespace

std::vector<Graph::Instead> read_through_casts(const Graph& g) {
  std::vector<Graph::Instead> found;
  Uncast uncast(g);
  for (const GNode& n : g.nodes) {
    if (n.leaf || n.node->kind != NodeKind::MatMul || n.node->device > kHost) continue;
    if (computes_columns(*n.node)) continue;
    const DType t = n.node->dtype;
    Ref<tracer::Node> in[2];
    DType types[2] = {t, t};
    for (const int k : {0, 1}) {
      Ref<tracer::Node> from = uncast(n.in[k]);
      if (!from || !keeps_value(from->dtype, t)) continue;
      types[k] = from->dtype;
      in[k] = std::move(from);
    }
    // Both, or the one that fragments take beside the other as it is.
    const auto take = [&](bool a, bool b) {
      if ((a && !in[0]) || (b && !in[1])) return false;
      if (!ir::has_fragments({a ? types[0] : t, b ? types[1] : t, t})) return false;
      const Ref<tracer::Node>* const given = n.node->inputs;
      Ref<tracer::Node> p = tracer::product_instead(*n.node, a ? in[0] : given[0],
                                                    b ? in[1] : given[1], n.node->axes);
      p->named = n.node->named;
      found.push_back({n.recorded, std::move(p)});
      return true;
    };
    if (in[0] || in[1]) take(true, true) || take(true, false) || take(false, true);
  }
  return found;
}

}  // namespace plait::fusion
