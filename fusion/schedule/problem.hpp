// What is planned: a graph, what equals what in it, and what for.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "attention.hpp"
#include "epilogue.hpp"
#include "fusion/graph/budget.hpp"

namespace plait::fusion {

// Equal pure sub-expressions -> the first of them.
std::vector<std::int32_t> common_subexpressions(const PlanGraph& g);

inline Number node_bytes(const Node& n) {
  return n.elements * static_cast<std::int64_t>(itemsize(n.dtype));
}

// Outlives its candidates.
struct Problem {
  Problem(const PlanGraph& g, const std::vector<std::int32_t>& equal, const Target& made_for,
          const Budget& bounds = kNoBounds)
      : graph(g),
        canon(equal),
        target(made_for),
        epilogues(find_epilogues(g, made_for)),
        budget(bounds) {}

  const PlanGraph& graph;
  const std::vector<std::int32_t>& canon;  // equal sub-expressions -> the first of them
  const Target target;
  const std::vector<Epilogue> epilogues;
  const Budget& budget;

  // That the product would be the second of, if there is one; looked for once.
  const std::shared_ptr<const Attention>& attention(std::int32_t product) const {
    auto [at, fresh] = attentions_.try_emplace(product);
    if (fresh)
      if (std::optional<Attention> a = find_attention(graph, canon, product, target))
        at->second = std::make_shared<const Attention>(*std::move(a));
    return at->second;
  }
  // Of each node what reads it, once each.
  using Readers = std::vector<std::vector<std::int32_t>>;
  const Readers& readers() const {
    if (!readers_.empty()) return readers_;
    readers_.resize(graph.nodes.size());
    for (std::int32_t i = 0; i < graph.size(); ++i)
      for (const std::int32_t in : graph[i].in)
        if (in >= 0 && (readers_[in].empty() || readers_[in].back() != i))
          readers_[in].push_back(i);
    return readers_;
  }

 private:
  mutable Readers readers_;
  mutable std::map<std::int32_t, std::shared_ptr<const Attention>> attentions_;
};

}  // namespace plait::fusion
