#include "equal_regions.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace plait::fusion {
using tracer::NodeKind;

namespace {

// Of one key: where numbers lie otherwise, the answers differ.
constexpr std::size_t kVariants = 4;

// Each question once: they are asked again for every region that may be equal.
std::vector<Answer> distinct(std::vector<Answer> asked) {
  const auto question = [](const Answer& a) {
    return std::tuple(a.question.left, a.question.right, a.question.relation);
  };
  std::ranges::sort(asked, {}, question);
  const auto again = std::ranges::unique(asked, {}, question);
  asked.erase(again.begin(), again.end());
  return asked;
}

// What was found, of other nodes and over other numbers, which `to` puts there.
template <class Renaming>
void rename(Footprint& f, Renaming& to) {
  to.number(f.offset);
  to.number(f.stride);
  for (Footprint::Inner& i : f.inner) {
    to.number(i.extent);
    to.number(i.stride);
  }
}

template <class Renaming>
void rename(LoweredKernel& k, Renaming& to) {
  for (Place& p : k.places) to.node(p.node);
  for (BufferSource& b : k.buffers)
    if (b.kind == BufferSource::NodeMemory) to.node(b.index);
  std::set<Read> reads;
  for (Read r : k.reads) {
    to.node(r.node);
    to.node(r.through);
    reads.insert(r);
  }
  k.reads = std::move(reads);
  for (ExprId& e : k.params) to.number(e);
  for (std::int32_t& s : k.scalars) to.node(s);
  for (ExprId& e : k.extents) to.number(e);
  to.number(k.grid_extent);
  for (Partial& p : k.partials) {
    to.node(p.root);
    to.number(p.outputs);
  }
  std::map<std::int32_t, double> repeated;
  for (const auto& [id, times] : k.repeated) {
    std::int32_t node = id;
    to.node(node);
    repeated.emplace(node, times);
  }
  k.repeated = std::move(repeated);
}

template <class Renaming>
void rename(FoundOfRegion& f, Renaming& to) {
  for (StoreRequirement& n : f.needs) to.node(n.node);
  rename(f.lowered, to);
  if (!f.trailing) return;
  rename(f.trailing->store, to);
  for (Footprint& l : f.trailing->loads) rename(l, to);
}

}  // namespace

std::optional<FoundOfRegion> EqualRegions::find(const LoweringInput& in, const RegionSpec& region,
                                                int beside) {
  collect(in, region);
  describe(in, region, beside);
  const auto same = known_.find(key_);
  if (same == known_.end()) return std::nullopt;
  std::vector<Known>& all = same->second;
  for (auto k = all.begin(); k != all.end();) {
    if (!k->general && !generalise(*k)) {
      k = all.erase(k);
      continue;
    }
    if (gives_the_same_answers(*k)) return instance(*k);
    ++k;
  }
  return std::nullopt;
}

void EqualRegions::keep(FoundOfRegion& found, const Facts& facts) {
  std::vector<Known>& all = known_[key_];
  if (all.size() == kVariants) return;
  // Regions that differ, in what they begin with, may still have equal kernels.
  std::string code = ir::serialize(found.lowered.kernel);
  for (const ir::Loop& l : found.lowered.kernel.loops) code += l.tile ? 't' : '-';
  const auto next = static_cast<std::int32_t>(class_of_.size());
  found.region_class = class_of_.try_emplace(std::move(code), next).first->second;
  Known& k = all.emplace_back();
  k.nodes = nodes_;
  k.found = found;
  k.asked = distinct(facts.asked());
}

// The nodes that the region is made of, from memory on, in an order that follows from how it is
// made alone.
void EqualRegions::collect(const LoweringInput& in, const RegionSpec& region) {
  ++walk_;
  nodes_.clear();
  std::vector<std::int32_t> stack;
  const auto reach = [&](std::int32_t i) {
    if (std::exchange(seen_[static_cast<std::size_t>(i)], walk_) == walk_) return;
    nodes_.push_back(i);
    stack.push_back(i);
  };
  for (const std::int32_t r : region.roots) reach(r);
  while (!stack.empty()) {
    const std::int32_t i = stack.back(), c = in.canon[i];
    stack.pop_back();
    reach(c);
    if (in.in_memory[i] || c != i) continue;
    for (const std::int32_t k : g_[i].in)
      if (k >= 0) reach(k);
  }
  for (std::size_t k = 0; k < nodes_.size(); ++k)
    at_[static_cast<std::size_t>(nodes_[k])] = static_cast<std::int32_t>(k);
}

// -1: no part of the region.
std::int32_t EqualRegions::place_of(std::int32_t node) const {
  if (node < 0 || seen_[static_cast<std::size_t>(node)] != walk_) return -1;
  return at_[static_cast<std::size_t>(node)];
}

void EqualRegions::describe(const LoweringInput& in, const RegionSpec& region, int beside) {
  key_.clear();
  put(static_cast<int>(region.order));
  put(beside);
  put(static_cast<std::int64_t>(region.roots.size()));
  for (const std::int32_t r : region.roots) put(place_of(r));
  const auto& roots = region.roots;
  for (const std::int32_t i : nodes_)
    describe_node(in, i, std::find(roots.begin(), roots.end(), i) != roots.end());
}

void EqualRegions::describe_node(const LoweringInput& in, std::int32_t i, bool root) {
  const PlanNode& gn = g_[i];
  const Node& n = *gn.node;
  const bool loaded = in.in_memory[i];
  // Lowering looks at what these are, in memory too.
  const bool by_kind = root || n.kind == NodeKind::View || n.kind == NodeKind::Empty;
  if (loaded && !by_kind) return describe_memory(in, i);
  const std::int32_t base = gn.in[0] < 0 ? i : in.canon[gn.in[0]];
  // Where parts of an array lie that is not in memory decides how loops are cut.
  const bool starts = !loaded && (n.kind == NodeKind::Update ? !root : !in.in_memory[base]);
  // Of memory it is the map that counts, where there is one.
  const bool indexed = gn.index && !(gn.map && n.kind == NodeKind::View && in.in_memory[base]);
  put(static_cast<std::int64_t>(n.kind) | static_cast<std::int64_t>(n.dtype) << 8 |
      static_cast<std::int64_t>(n.view_dtype) << 16 | static_cast<std::int64_t>(n.fn) << 32);
  put(static_cast<std::int64_t>(n.reduce) | static_cast<std::int64_t>(n.call) << 16 |
      static_cast<std::int64_t>(n.n_inputs) << 40);
  put(gn.leaf | loaded << 1 | gn.part << 2 | (gn.map != nullptr) << 3 | indexed << 4 |
      in.non_negative[static_cast<std::size_t>(i)] << 5 | n.in_place << 6 | starts << 7);
  for (const std::int32_t k : gn.in) put(place_of(k));
  put(place_of(in.canon[i]));
  describe_owner(in, i);
  put(n.step, Number::Stride);
  put(n.axes);
  for (const Numbers* d : {&n.extents, &n.view_extents}) put(*d, Number::Extent);
  for (const Numbers* d : {&n.byte_strides, &n.view_byte_strides}) put(*d, Number::Stride);
  if (static_cast<std::size_t>(i) < in.layouts.size()) put(in.layouts[static_cast<std::size_t>(i)]);
  if (gn.map) {
    if (starts) put(gn.map->start, Number::Start);
    put(gn.map->from);
    put(gn.map->step, Number::Stride);
  }
  if (indexed) {
    if (starts) put(gn.index->start, Number::Start);
    for (const Dims* d : {&gn.index->wider, &gn.index->axis}) put(*d);
    put(gn.index->step, Number::Stride);
  }
}

// Elements, however they came there: what the first step of a loop reads was made otherwise than
// what the others do.
void EqualRegions::describe_memory(const LoweringInput& in, std::int32_t i) {
  const Node& n = *g_[i].node;
  put(~static_cast<std::int64_t>(n.dtype));
  put(in.non_negative[static_cast<std::size_t>(i)]);
  put(place_of(in.canon[i]));
  describe_owner(in, i);
  put(n.extents, Number::Extent);
  put(n.byte_strides, Number::Stride);
  if (static_cast<std::size_t>(i) < in.layouts.size()) put(in.layouts[static_cast<std::size_t>(i)]);
}

void EqualRegions::describe_owner(const LoweringInput& in, std::int32_t i) {
  const auto owner = static_cast<std::size_t>(in.memory_of[static_cast<std::size_t>(i)]);
  if (std::exchange(owner_seen_[owner], walk_) != walk_) first_of_[owner] = place_of(i);
  put(first_of_[owner]);
}

// False: what was found refers to more than the region is made of.
bool EqualRegions::generalise(Known& k) {
  struct Renaming {
    EqualRegions& all;
    Exprs* into;
    bool foreign = false;
    void node(std::int32_t& node) {
      const auto [renaming, place] = all.place_there_[static_cast<std::size_t>(node)];
      foreign |= renaming != all.renaming_;
      if (!foreign) node = place;
    }
    void number(ExprId& e) { e = renamed(e); }
    ExprId renamed(ExprId e) {
      const auto i = static_cast<std::size_t>(e);
      if (all.renamed_[i].first != all.renaming_) {
        const auto source = [&](Source s) {
          node(s.node);
          return into->source(s);
        };
        const ExprId to =
            all.exprs_.rebuilt_in(*into, e, source, [&](ExprId part) { return renamed(part); });
        all.renamed_[i] = {all.renaming_, to};
      }
      return all.renamed_[i].second;
    }
  };
  if (renamed_.size() < exprs_.size()) renamed_.resize(2 * exprs_.size());
  const auto begin = [&](Exprs& into) {
    ++renaming_;
    for (std::size_t i = 0; i < k.nodes.size(); ++i)
      place_there_[static_cast<std::size_t>(k.nodes[i])] = {renaming_,
                                                            static_cast<std::int32_t>(i)};
    return Renaming{*this, &into};
  };
  k.general = std::make_unique<General>();
  Renaming found = begin(k.general->numbers);
  rename(k.found, found);
  Renaming asked = begin(k.general->asked_about);
  for (Answer& a : k.asked) {
    asked.number(a.question.left);
    asked.number(a.question.right);
  }
  if (found.foreign || asked.foreign) return false;
  const auto there = [&](Source s) {
    s.node = k.nodes[static_cast<std::size_t>(s.node)];
    return g_.expression(s);
  };
  k.general->asked_about.rebuild_in(g_.answers().exprs, there, {}, k.general->of_graph);
  return true;
}

// Of numbers that are the known region's own, it does; the others are asked about.
bool EqualRegions::gives_the_same_answers(const Known& k) {
  Answers& answers = g_.answers();
  const auto& [numbers, asked_about, of_graph] = *k.general;
  const auto number = [&](const Source& s) { return g_.expression(here(s)); };
  asked_about.rebuild_in(answers.exprs, number, of_graph, there_);
  values_.clear();
  asked_about.evaluate_by([&](const Source& s) { return g_.field(here(s)); }, values_);
  for (const auto& [question, yes] : k.asked) {
    const auto l = static_cast<std::size_t>(question.left),
               r = static_cast<std::size_t>(question.right);
    if (there_[l] == of_graph[l] && there_[r] == of_graph[r]) continue;
    if (answers.ask(question.relation, there_[l], there_[r], values_[l], values_[r]) != yes)
      return false;
  }
  return true;
}

// What was found, of this region.
FoundOfRegion EqualRegions::instance(const Known& k) {
  struct Renaming {
    const EqualRegions& all;
    void node(std::int32_t& node) const { node = all.nodes_[static_cast<std::size_t>(node)]; }
    void number(ExprId& e) const { e = all.there_[static_cast<std::size_t>(e)]; }
  } here_instead{*this};
  k.general->numbers.rebuild_in(
      exprs_, [&](const Source& s) { return exprs_.source(here(s)); }, {}, there_);
  FoundOfRegion found = k.found;
  rename(found, here_instead);
  return found;
}

}  // namespace plait::fusion
