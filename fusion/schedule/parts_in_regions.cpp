// Writes to part of an array that need no memory, because what reads it finds the parts.
#include <algorithm>

#include "candidate.hpp"
#include "cost.hpp"
#include "fusion/graph/written_parts.hpp"
#include "product_region.hpp"

namespace plait::fusion {
using tracer::NodeKind;

// The write that an operand shows and that needs no memory; -1: none.
std::int32_t Candidate::packed_under(std::int32_t operand) const {
  std::int32_t i = operand;
  while (!g_[i].leaf && g_[i].node->kind == NodeKind::View) i = g_[i].in[0];
  return packed_[i] ? i : -1;
}

// Several products that read one have a share each.
std::int64_t Candidate::packed_bytes(std::int32_t product) const {
  std::int64_t bytes = 0;
  for (const int k : {0, 1})
    if (const std::int32_t u = packed_under(g_[product].in[k]); u >= 0)
      bytes += node_bytes(*g_[u].node).estimate() / std::max(1, packings_[u]);
  return bytes;
}

// Which packings read the node; false if anything else does. `computed`: on the way from `written`.
bool Candidate::packed_only(std::int32_t node, std::int32_t written, bool computed,
                            Packings& into) const {
  const bool filled = g_[g_[written].in[0]].node->kind == NodeKind::Fill;
  const auto reads = [&](std::int32_t p) {
    const PlanNode& r = g_[p];
    const Node& n = *r.node;
    switch (n.kind) {
      case NodeKind::MatMul:
        for (const int k : {0, 1}) {
          const Attention* const a = attention(attention_of(p) < 0 ? p : attention_of(p));
          const bool scores = a && a->scores == p;
          if (r.in[k] != node) continue;
          if (!into.insert({p, k}).second) return false;
          if (unfolded_[node]) {
            if (!filled) return false;
          } else if (!n.axes.empty()) {
            // Windows overlap: what they show is not computed again for each of them.
            const bool shown = node == written || (g_[node].steps() && g_[node].in[0] == written);
            if (!multiplies(p) || !shown) return false;
          } else if (k == (scores ? a->queries
                           : a    ? a->side
                                  : 0)
                         ? !multiplies(p) && !scores
                     : a ? !computes_keys(*a, node)
                         : !computes_columns(p)) {
            return false;
          }
        }
        return true;
      case NodeKind::Elementwise:
      case NodeKind::Cast:
        return r.uses == 1 && !r.wanted && !r.held && n.extents == g_[node].node->extents &&
               packed_only(p, written, true, into);
      case NodeKind::View:
        return (r.uses == 1 || !computed) && !r.wanted && !r.held &&
               (r.steps() || unfolded_[p] || digits_[p] || interleaved_axes(g_, p)) &&
               packed_only(p, written, computed, into);
      default:
        return false;
    }
  };
  const std::vector<std::int32_t>& by = problem_->readers()[node];
  return !by.empty() && std::all_of(by.begin(), by.end(), reads);
}

// Whether several products compute what they pack, each again, although to store it is less.
bool Candidate::packs_again(std::int32_t written, const Packings& into) const {
  if (into.size() < 2) return true;
  for (const auto& [product, k] : into) {
    const PlanNode& p = g_[product];
    if (p.node->kind != NodeKind::MatMul || !p.node->axes.empty() || unfolded_[p.in[k]]) continue;
    const std::optional<double> cost = computing_cost(canon_[p.in[k]]);
    const auto elements = elements_of(g_[written].node->extents);
    if (!cost || reading(*problem_->target.machine, elements, *cost,
                         elements * static_cast<double>(into.size()))
                     .store())
      return false;
  }
  return true;
}

// Writes to part of an array that need no memory.
void Candidate::find_parts() {
  bool any = false;
  for (std::int32_t i = 0; i < g_.size() && !any; ++i) any = g_[i].part;
  if (!any) return;
  find_packed();
  find_padded();
}

void Candidate::find_packed() {
  if (!any_product()) return;
  for (std::int32_t i = g_.size(); i-- > 0;) {
    if (!g_[i].part) continue;
    const std::vector<std::int32_t>& by = problem_->readers()[i];
    if (by.size() == 1 && g_[by[0]].node->kind == NodeKind::Update && g_[by[0]].in[0] == i) {
      packed_[i] = packed_[by[0]] && g_[by[0]].in[1] != i;
      continue;
    }
    Packings into;
    packed_[i] = packed_only(i, i, false, into) && packs_again(i, into);
    packings_[i] = static_cast<int>(into.size());
  }
}

// Whether loops over elements read the node, and nothing else does.
bool Candidate::read_in_loops(std::int32_t node) const {
  const std::vector<std::int32_t>& by = problem_->readers()[node];
  return !by.empty() && std::all_of(by.begin(), by.end(), [&](std::int32_t p) {
    const PlanNode& r = g_[p];
    switch (r.node->kind) {
      case NodeKind::Elementwise:
      case NodeKind::Cast:
      case NodeKind::Reduce:
        return !direct(p);
      case NodeKind::View:
        return !r.wanted && !r.held && read_in_loops(p) &&
               (r.steps() || (r.index && g_[node].node->kind != NodeKind::Update));
      case NodeKind::Update:
        // To pack parts of parts for each of many windows costs more.
        return r.in[0] != node && r.in[2] < 0 && packed_[p] == padded_[p];
      default:
        return false;
    }
  });
}

// Lanes take loops inside the grid that are cut; threads of a device choose what they read.
void Candidate::find_padded() {
  if (any(Order::Running) || any(Order::ByIndex)) return;
  for (std::int32_t i = g_.size(); i-- > 0;) {
    if (packed_[i] || !g_[i].part) continue;
    const std::vector<std::int32_t>& by = problem_->readers()[i];
    const bool written_over =
        by.size() == 1 && g_[by[0]].node->kind == NodeKind::Update && g_[by[0]].in[0] == i;
    if (element_count(g_[i].node->view_extents) == 0 ||
        !(written_over ? pads(by[0]) && g_[by[0]].in[1] != i : read_in_loops(i)))
      continue;
    packed_[i] = padded_[i] = true;
    ++pad_count_;
  }
}

}  // namespace plait::fusion
