#include "part_reads.hpp"

#include <algorithm>

#include "fusion/graph/written_parts.hpp"
#include "reach.hpp"

namespace plait::fusion {
using tracer::NodeKind;

namespace {
constexpr std::size_t kMaxCells = 64;
}  // namespace

void PartReads::start() {
  fit_ = Fit::Good;
  places_.clear();
  reads_.clear();
}

bool PartReads::contains_part(std::int32_t id) {
  id = in_.canon[id];
  if ((!g_.writes() && !box_.fills) || g_[id].leaf || in_.in_memory[id]) return false;
  if (const auto known = contains_.find(id); known != contains_.end()) return known->second;
  bool found = node(id).kind == NodeKind::Update || (box_.fills && merged_.merges(id));
  for (const std::int32_t in : g_[id].in) found = (in >= 0 && contains_part(in)) || found;
  return contains_[id] = found;
}

void PartReads::read_at(std::int32_t id, const std::vector<AffineIndex>& idx) {
  if (contains_part(id)) places_[in_.canon[id]].insert(idx);
}

PartReads::Fit PartReads::find() {
  while (!places_.empty() && fit_ == Fit::Good) {
    in_.budget.check(ex_.size());
    const auto [id, places] = std::move(*places_.begin());
    places_.erase(places_.begin());
    if (places.size() > kMaxPlaces)
      need_(id, "it is read at many places");
    else if (box_.fills && places.size() > 1 && node(id).kind == NodeKind::Update)
      need_(id, "it is packed in two ways at once");
    else
      for (const std::vector<AffineIndex>& idx : places) read_by(id, idx);
  }
  return fit_;
}

// What the node reads where it is read there.
void PartReads::read_by(std::int32_t id, const std::vector<AffineIndex>& idx) {
  const PlanNode& gn = g_[id];
  const Node& n = *gn.node;
  if (n.kind == NodeKind::Elementwise || n.kind == NodeKind::Cast) {
    for (const std::int32_t in : gn.in)
      if (in >= 0) read_at(in, nest_.broadcast(in, idx));
  } else if (n.kind == NodeKind::View && gn.steps()) {
    read_at(gn.in[0], nest_.view_index(id, idx));
  } else if (n.kind == NodeKind::Reduce) {
    const std::vector<AffineIndex> of = folded_index(id, idx);
    read_at(gn.in[0], of);
    if (gn.in[1] >= 0) read_at(gn.in[1], nest_.broadcast(gn.in[1], of));
  } else if (n.kind == NodeKind::Update) {
    const auto over = std::find_if(reads_.begin(), reads_.end(), [&](const Read& r) {
      return in_.canon[g_[r.update].in[0]] == id && r.idx == idx;
    });
    reads_.push_back(
        {id, over == reads_.end() ? -1 : static_cast<int>(over - reads_.begin()), idx});
    read_at(gn.in[0], idx);
    read_at(gn.in[1], nest_.written_index(id, idx));
  } else if (const auto by = interleaved_axes(g_, id);
             by && merged_.interleave(id, idx[static_cast<std::size_t>(by->back())])) {
    std::vector<AffineIndex> of = MergedLoops::of_base(*by, idx);
    of.back() = {ex_.zero(), {{box_.arrays_axis, ex_.one()}}};
    read_at(gn.in[0], of);
  } else if (box_.fills && merged_.merges(id)) {
    const std::vector<AffineIndex> at = nest_.view_index(id, idx);
    if (const auto of = merged_.digits(id, at))
      read_at(gn.in[0], *of);
    else if (merged_.split_for(id, at))
      fit_ = Fit::SplitAgain;
    else if (merged_.unrolls())
      fit_ = Fit::Rolls;
    else
      need_(gn.in[0], "it is not read as loops step");
  } else {
    for (const std::int32_t in : gn.in)
      if (in >= 0 && contains_part(in)) need_(in, "it is not read as loops step");
  }
}

// Of the operand of a reduction.
std::vector<AffineIndex> PartReads::folded_index(std::int32_t reduction,
                                                 const std::vector<AffineIndex>& idx) {
  const std::int32_t operand = g_[reduction].in[0];
  const Numbers& shape = node(operand).extents;
  const Dims& axes = node(reduction).axes;
  std::vector<AffineIndex> of(static_cast<std::size_t>(shape.size()));
  std::size_t kept = 0;
  for (int d = 0; d < shape.size(); ++d) {
    if (std::find(axes.begin(), axes.end(), d) == axes.end()) {
      of[static_cast<std::size_t>(d)] = idx[kept++];
      continue;
    }
    if (shape[d] == 1) continue;
    of[static_cast<std::size_t>(d)].steps = {{static_cast<int>(box_.extents.size()), ex_.one()}};
    box_.extents.push_back(ex_.source({operand, Field::Shape, d}));
  }
  return of;
}

PartReads::Edges PartReads::edges(std::int32_t update, int d) {
  const ExprId first = ex_.source({update, Field::MapStart, d}),
               end = ex_.add(first, part_extent(update, d));
  return {first, end, in_.facts.equal(first, ex_.zero()),
          in_.facts.equal(end, ex_.source({update, Field::Shape, d}))};
}

ExprId PartReads::part_extent(std::int32_t update, int d) {
  const std::int64_t j = g_[update].map->from[d];
  return j < 0 ? ex_.one() : ex_.source({update, Field::ViewShape, static_cast<std::int32_t>(j)});
}

// Whether what there was before the first of several writes over each other shows beside them.
bool PartReads::shows_base(std::int32_t first) {
  // What nobody has written to may be anything: the part too.
  if (node(g_[first].in[0]).kind == NodeKind::Empty) return false;
  const auto [known, fresh] = shows_base_.try_emplace(first, true);
  if (!fresh) return known->second;
  std::vector<std::int32_t> parts;
  auto n = static_cast<int>(
      std::find_if(reads_.begin(), reads_.end(), [&](const Read& r) { return r.update == first; }) -
      reads_.begin());
  for (; n >= 0; n = reads_[static_cast<std::size_t>(n)].over)
    parts.push_back(reads_[static_cast<std::size_t>(n)].update);
  // Edges divide the array into cells, each of which is in a part, or in none.
  const Numbers& shape = node(first).extents;
  std::vector<std::vector<ExprId>> edges_of(static_cast<std::size_t>(shape.size()));
  std::size_t cells = 1;
  for (int d = 0; d < shape.size(); ++d) {
    std::vector<ExprId>& all = edges_of[static_cast<std::size_t>(d)];
    all = {ex_.zero(), ex_.source({first, Field::Shape, d})};
    for (const std::int32_t p : parts)
      for (const ExprId e : {edges(p, d).first, edges(p, d).end})
        if (std::none_of(all.begin(), all.end(), [&](ExprId k) { return in_.facts.equal(e, k); }))
          all.push_back(e);
    std::sort(all.begin(), all.end(),
              [&](ExprId a, ExprId b) { return concrete(in_, a) < concrete(in_, b); });
    for (std::size_t k = 0; k + 1 < all.size(); ++k) not_above(all[k], all[k + 1]);
    cells *= all.size() - 1;
  }
  const auto in_a_part = [&](std::size_t cell) {
    return std::any_of(parts.begin(), parts.end(), [&](std::int32_t p) {
      std::size_t rest = cell;
      for (int d = 0; d < shape.size(); ++d) {
        const std::vector<ExprId>& all = edges_of[static_cast<std::size_t>(d)];
        const ExprId at = all[rest % (all.size() - 1)];
        rest /= all.size() - 1;
        const Edges e = edges(p, d);
        if (concrete(in_, at) < concrete(in_, e.first) || concrete(in_, at) >= concrete(in_, e.end))
          return false;
      }
      return true;
    });
  };
  bool shows = cells > kMaxCells;
  for (std::size_t cell = 0; cell < cells && !shows; ++cell) shows = !in_a_part(cell);
  return known->second = shows;
}

// What is so now is relied on: else there would be zones for what never comes.
bool PartReads::not_above(ExprId a, ExprId b) {
  return a == b || (concrete(in_, a) <= concrete(in_, b) && in_.facts.at_most(minus(ex_, a, b), 0));
}

}  // namespace plait::fusion
