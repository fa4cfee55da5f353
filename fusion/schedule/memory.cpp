#include "memory.hpp"

#include <utility>

namespace plait::fusion {
using tracer::NodeKind;

Memory::Memory(const PlanGraph& g, const std::vector<std::int32_t>& canon)
    : g_(g), canon_(canon), readers_(g.nodes.size()), own_(g.nodes.size()), seen_(g.nodes.size()) {
  for (std::int32_t i = 0; i < g.size(); ++i) {
    // Leaves of one buffer share it.
    own_[i] = g[i].memory;
    if (g[i].leaf) continue;
    // What equals a value may be loaded from its memory.
    if (canon[i] != i) readers_[canon[i]].push_back(i);
    for (const std::int32_t in : g[i].in) {
      if (in < 0) continue;
      readers_[in].push_back(i);
      if (canon[in] != in) readers_[canon[in]].push_back(i);
    }
  }
}

void Memory::restart(const std::vector<bool>& roots) {
  owners_ = own_;
  roots_ = roots;
  loadable_.assign(g_.nodes.size(), false);
  for (std::int32_t i = 0; i < g_.size(); ++i)
    loadable_[i] = g_[i].leaf && g_[i].node->kind != NodeKind::Scalar;
}

void Memory::after(const Step& s) {
  for (const std::int32_t r : s.region.roots) loadable_[r] = true;
  if (const std::int32_t lead = s.region.roots[0]; s.update == UpdateMode::InPlace)
    owners_[lead] = owners_[g_[lead].in[0]];
}

bool Memory::may_take_over(std::int32_t update, std::int32_t old) {
  if (!g_[old].exclusive || g_[old].wanted) return false;
  ++walk_;
  std::vector<std::int32_t> readers{old}, computed;
  while (!readers.empty()) {
    const std::int32_t r = readers.back();
    readers.pop_back();
    for (const std::int32_t i : readers_[r]) {
      if (i == update || i < old || std::exchange(seen_[i], walk_) == walk_) continue;
      const bool loaded = loadable_[i] || loadable_[canon_[i]];
      if (i > update || (!loaded && g_[i].node->kind == NodeKind::Update)) return false;
      if (!loadable_[i] && (g_[i].wanted || g_[i].held)) return false;
      (loaded ? computed : readers).push_back(i);
    }
  }
  return !asked_for_later(computed);
}

// Whether, after the run, somebody may ask for what is computed from these, which the run reads
// from memory: only what is wanted or held is kept there then, and the rest is computed again, from
// the start.
bool Memory::asked_for_later(const std::vector<std::int32_t>& computed) {
  ++walk_;
  const auto lasts = [&](std::int32_t i) { return g_[i].wanted || g_[i].held; };
  std::vector<std::int32_t> stack = computed;
  while (!stack.empty()) {
    const std::int32_t i = stack.back();
    stack.pop_back();
    if (std::exchange(seen_[i], walk_) == walk_) continue;
    if (lasts(i)) {
      const bool stored =
          loadable_[i] || roots_[i] || g_[i].wanted || g_[i].node->kind == NodeKind::Update;
      if (!stored) return true;
      continue;
    }
    stack.insert(stack.end(), readers_[i].begin(), readers_[i].end());
  }
  return false;
}

}  // namespace plait::fusion
