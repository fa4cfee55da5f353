#include "scan.hpp"

#include <algorithm>

#include "axis_tile.hpp"
#include "fusion/schedule/scan_region.hpp"

namespace plait::fusion {
using namespace ir;
using tracer::NodeKind;

namespace {
constexpr std::int64_t kSteps = 2048;  // steps: a window stays in the first-level cache
}  // namespace

bool Scans::contains(std::int32_t id) const {
  return in_.scans &&
         any_computed(in_, id, [&](std::int32_t i) { return scan_of(node(i)).has_value(); });
}

bool Scans::find(std::int32_t id, ExprId shift) {
  id = in_.canon[id];
  const Node& n = node(id);
  if (in_.in_memory[id] || n.kind == NodeKind::Scalar) return true;
  if (!seen_.insert({id, shift}).second) return true;
  if (const std::optional<Scan> s = looped_scan(n, in_.target)) {
    const bool first = shifts_.empty();
    if (first) {
      axis_ = s->axis;
      first_ = id;
    }
    const Node& other = node(first_);
    if (s->axis != axis_ || n.extents != other.extents) return refuse(id);
    shifts_[id].insert(shift);
    // What it scans is computed in its own loop.
    return find(g_[id].in[0], ex_.zero());
  }
  const bool elementwise = n.kind == NodeKind::Elementwise || n.kind == NodeKind::Cast;
  for (std::int32_t in : g_[id].in) {
    if (in < 0 || !contains(in)) continue;
    const Node& from = node(in_.canon[in]);
    if (elementwise && from.extents == n.extents) {
      if (!find(in, shift)) return false;
    } else if (n.kind == NodeKind::View && g_[id].map && looped_axis(in) >= 0 &&
               shifts_along(n, *g_[id].map, from, looped_axis(in))) {
      const ExprId start = nest_.small(ex_.source({id, Field::MapStart, looped_axis(in)}));
      if (!find(in, ex_.add(shift, start))) return false;
    } else {
      return refuse(in);
    }
  }
  return true;
}

// Of the first scan behind the node.
int Scans::looped_axis(std::int32_t id) const {
  for (std::int32_t i = in_.canon[id];;) {
    if (const std::optional<Scan> s = scan_of(node(i))) return s->axis;
    const auto* const next = std::find_if(std::begin(g_[i].in), std::end(g_[i].in),
                                          [&](auto in) { return in >= 0 && contains(in); });
    if (next == std::end(g_[i].in)) return -1;
    i = in_.canon[*next];
  }
}

// Those behind the node are calls, then.
bool Scans::refuse(std::int32_t id) {
  any_computed(in_, id, [&](std::int32_t i) {
    if (scan_of(node(i))) values_.need(i, "a region does not scan it");
    return false;
  });
  return false;
}

bool Scans::plan(const Numbers& shape) {
  if (!in_.scans) return true;
  for (std::int32_t r : region_.roots) {
    const bool update = node(r).kind == NodeKind::Update;
    const std::int32_t value = update ? g_[r].in[1] : r;
    if (update && g_[r].in[2] >= 0 && contains(g_[r].in[2])) return refuse(g_[r].in[2]);
    if (!contains(value)) continue;
    if (node(in_.canon[value]).extents != (update ? node(r).view_extents : node(r).extents))
      return refuse(value);
    if (!find(value, ex_.zero())) return false;
  }
  if (shifts_.empty()) return true;
  const Node& scan = node(first_);
  if (scan.extents.size() != shape.size()) return refuse(first_);
  windows_ = scan.extents != shape;
  for (const auto& [id, shifts] : shifts_)
    windows_ |= shifts.size() > 1 || *shifts.begin() != ex_.zero();
  // Threads of a device move a window's end to its start at once: what they read is not what others
  // write.
  if (windows_ && !in_.target.lanes)
    for (const auto& [id, shifts] : shifts_)
      for (const ExprId by : shifts)
        if (!in_.facts.at_most(by, kSteps)) return refuse(first_);
  return true;
}

Val Scans::running(std::int32_t id, const Node& n, const Index& idx) {
  const std::optional<Scan> s = looped_scan(n, in_.target);
  const AxisIndex along = s ? idx[static_cast<std::size_t>(s->axis)] : AxisIndex{};
  const std::int32_t l = along.loop;
  const bool in_order = l > 0 && along.step == ex_.one() && along.start == ex_.zero() &&
                        !nest_.closed(l) && innermost(idx) == l &&
                        (l == loop_ || (k_.loops[l].begin == kNone && !windows_));
  if (!in_order || shifts_.count(id) == 0) {
    refuse(id);
    return zero(n.dtype);
  }
  ir::Reduction r{s->kind, values_.emit(g_[id].in[0], idx, l),
                  in_groups(id) ? Order::Grouped : Order::Sequential};
  if (nest_.def_loop_[r.value] != l)  // a value that no loop binds still has to be the body's own
    r.value = push({Op::Cast, n.dtype, OpId::Count_, 0, {r.value, kNone, kNone}}, l);
  if (l == loop_) r.init = carried(n.dtype, s->kind);
  k_.loops[l].reductions.push_back(r);
  out_.work += static_cast<double>(op_info(n.fn).cost) * nest_.times(l);
  out_.serial_seconds += scan_seconds(*in_.target.machine, n, s->axis, false);
  return push({Op::Running, n.dtype, OpId::Count_,
               static_cast<std::int32_t>(k_.loops[l].reductions.size()) - 1},
              l);
}

// Whether threads of a device scan a line together in an order of their own: there are too few
// lines for a thread each, as their extents say, and the order shows.
bool Scans::in_groups(std::int32_t id) {
  const Node& n = node(id);
  const std::optional<Scan> s = looped_scan(n, in_.target);
  if (in_.target.lanes || is_integer(n.dtype) || !reduce_info(s->kind).has(kOrderShows))
    return false;
  Number lines = 1;
  for (int d = 0; d < n.extents.size(); ++d)
    if (d != s->axis) lines *= n.extents[d];
  return lines < kFewTeams;
}

// What a block starts from: the identity, then what the one before has left.
Val Scans::carried(DType t, ReduceKind kind) {
  const std::int32_t blocks = nest_.parent_[loop_];
  const Val start = constant(plait::cast(fold_identity(kind, t), t));
  auto& folds = k_.loops[blocks].reductions;
  folds.push_back({ReduceKind::Last, kNone, Order::Sequential, false, start});
  return push({Op::Carried, t, OpId::Count_, static_cast<std::int32_t>(folds.size()) - 1}, blocks);
}

Val Scans::window_value(std::int32_t id, const Index& idx) {
  const auto window = window_of_.find(id);
  if (window == window_of_.end()) return kNone;
  const AxisIndex& along = idx[static_cast<std::size_t>(axis_)];
  if (along.loop != reader_ || along.step != ex_.one()) return kNone;
  Inst i{Op::LoadLocal, node(id).dtype, OpId::Count_, window->second};
  i.access = access(
      {coeff(along.start), {{k_.loops[along.loop].var, {1, kNoParam}}, {base_, {1, kNoParam}}}});
  return push(i, along.loop);
}

// Everything but the axis is in `idx` already.
void Scans::run_windows(Index& idx, ExprId extent, std::int32_t ctx) {
  const auto axis = static_cast<std::size_t>(axis_);
  const ExprId steps = ex_.source({first_, Field::Shape, axis_});
  // How far ahead of its own index something is read, and room for that much.
  std::set<ExprId> shifts;
  for (const auto& [id, by] : shifts_) shifts.insert(by.begin(), by.end());
  std::int64_t known = 0;
  ExprId room = ex_.constant(kSteps);
  std::vector<ExprId> others;
  for (ExprId s : shifts)
    if (ex_.is_constant(s))
      known = std::max(known, ex_.value(s));
    else
      others.push_back(s);
  room = ex_.add(room, ex_.constant(known));
  Val ahead = constant(scalar_int(known));
  double tail = static_cast<double>(known);
  for (ExprId s : others) {
    ahead = integer(OpId::Maximum, ahead, number(s));
    room = ex_.add(room, s);
    tail = std::max(tail, static_cast<double>(concrete(in_, s)));
  }
  AxisTile r(nest_, first_, axis_, 1);
  r.most = ex_.constant(kSteps);
  std::vector<std::int32_t> opened;
  const std::int32_t blocks = r.open_blocks(ctx, opened);
  const std::int32_t scan = loop_ = open_between(blocks, r.begin, r.end, steps, r.trips);
  base_ = integer(OpId::Subtract, ahead, r.begin);
  idx[axis].loop = scan;
  std::map<std::int32_t, std::int32_t> windows;
  for (const auto& [id, by] : shifts_) {
    const Val v = values_.emit(id, idx, scan);
    windows[id] =
        nest_.place({id, PlaceLevel::Line, "it is read further along: blocks slide over a window"},
                    node(id).dtype, room, ctx);
    push_store_local(windows[id],
                     {{}, {{k_.loops[scan].var, {1, kNoParam}}, {base_, {1, kNoParam}}}}, v, scan);
  }
  const Val fold = close(scan);
  for (std::size_t n = 0; n < k_.loops[blocks].reductions.size(); ++n) {
    const DType t = k_.insts[k_.loops[scan].reductions[n].value].type;
    k_.loops[blocks].reductions[n].value = push(
        {Op::Result, t, OpId::Count_, static_cast<std::int32_t>(n), {fold, kNone, kNone}}, blocks);
  }
  // What has all it reads.
  window_of_ = windows;
  const Val from =
      integer(OpId::Maximum, integer(OpId::Subtract, r.begin, ahead), constant(scalar_int(0)));
  const Val to = integer(OpId::Minimum, integer(OpId::Subtract, r.end, ahead), number(extent));
  const std::int32_t reader = reader_ = open_between(blocks, from, to, extent, r.trips);
  idx[axis].loop = reader;
  for (std::int32_t root : region_.roots) values_.store_root(root, idx, reader);
  close(reader);
  // The end of this block is the start of the next one's window.
  const Val moved = in_.target.lanes || others.empty()
                        ? ahead
                        : integer(OpId::Minimum, ahead, constant(scalar_int(kSteps)));
  for (const auto& [id, window] : windows) {
    if (others.empty() && known == 0) break;
    const std::int32_t c = open_between(
        blocks, kNone, moved,
        ex_.constant(std::max<std::int64_t>(1, static_cast<std::int64_t>(tail))), tail);
    Inst i{Op::LoadLocal, node(id).dtype, OpId::Count_, window};
    i.access = access({{kSteps}, {{k_.loops[c].var, {1, kNoParam}}}});
    const Val v = push(i, c);
    push_store_local(window, {{}, {{k_.loops[c].var, {1, kNoParam}}}}, v, c);
    close(c);
  }
  close(blocks);
}

}  // namespace plait::fusion
