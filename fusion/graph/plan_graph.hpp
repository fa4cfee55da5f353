// The graph as planning sees it: the structure of its nodes in the open, their numbers behind the
// one door (number.hpp). Numbers that follow from others by what the operations are, or that are
// found to be equal, are one and the same: so few questions are asked about many nodes.
#pragma once
#include <array>
#include <memory>
#include <unordered_map>
#include <utility>

#include "graph.hpp"
#include "number.hpp"
#include "tracer/contraction.hpp"

namespace plait::fusion {

// An operation; see tracer::Node.
struct Node {
  tracer::NodeKind kind = tracer::NodeKind::Data;
  DType dtype = DType::Float64, view_dtype = DType::Float64;
  OpId fn = OpId::Count_;
  ReduceKind reduce = ReduceKind::Sum;
  CallId call = kNoCall;
  std::uint8_t n_inputs = 0;
  bool in_place = false;
  Dims axes;
  const Node* inputs[3] = {};  // none: a leaf
  Numbers extents, byte_strides, view_extents, view_byte_strides;
  Number elements;  // the product of the extents
  Number offset, step;
  const tracer::Node* recorded = nullptr;  // names, sites, scalars and memory
};

using PlanViewMap = BasicViewMap<Numbers>;
using PlanIndexMap = BasicIndexMap<Numbers>;

struct PlanNode {
  const Node* node = nullptr;
  std::int32_t in[3] = {-1, -1, -1};
  std::int32_t uses = 0, memory = -1;
  // See GNode.
  bool leaf = false, wanted = false, held = false, expiring = false, exclusive = false;
  // Update: may be read as a part of an array without memory (written_parts.hpp).
  bool part = false;
  std::shared_ptr<const PlanViewMap> map;
  std::shared_ptr<const PlanIndexMap> index;
  bool steps() const { return map || (index && !index->divides()); }
};

class PlanGraph {
 public:
  explicit PlanGraph(const Graph& g);
  PlanGraph(const PlanGraph&) = delete;
  PlanGraph& operator=(const PlanGraph&) = delete;

  std::vector<PlanNode> nodes;
  const PlanNode& operator[](int i) const { return nodes[static_cast<std::size_t>(i)]; }
  int size() const { return static_cast<int>(nodes.size()); }

  Number number(const Source& s) const;      // fields.cpp
  ExprId expression(const Source& s) const;  // of that number
  Answers& answers() const { return answers_; }
  // Whether what is asked now is recorded.
  bool records() const { return records_; }
  // Figures that decide nothing: no plan depends on what they ask, which is not recorded.
  template <class Figures>
  auto unasked(Figures&& figures) const {
    struct Silence {
      explicit Silence(bool& records) : of(records), before(std::exchange(records, false)) {}
      ~Silence() { of = before; }
      bool& of;
      const bool before;
    };
    const Silence silence(records_);
    return figures();
  }
  void note_estimate(ExprId e) const;
  void note_equal(const Number& n, Number::Kind kind) const;  // to the known one of its value
  bool writes() const { return graph_.writes; }
  // The number that a graph has there, unasked: to evaluate expressions by.
  std::int64_t field(const Source& s) const { return graph_.field(s); }

 private:
  void describe(std::int32_t i);
  void find_extents(std::int32_t i, const tracer::Node& t);
  void find_strides(std::int32_t i, const tracer::Node& t);
  void find_view(std::int32_t i, const tracer::Node& t);
  void find_maps(std::int32_t i);
  Number source(const Source& s);
  Number equal_to(const Number& fresh, const Number& known);
  Number extent(const Source& s);
  Number like(const Source& s, const Numbers& near, Number::Kind kind);
  Numbers laid_out(std::int32_t node, Field strides, const Numbers& extents, DType item,
                   const Numbers* near);
  static Numbers stepped(const PlanViewMap& map, const Numbers& base, const Numbers& extents,
                         DType item);

  const Graph& graph_;
  std::vector<Node> operations_;
  mutable Answers answers_;
  mutable std::unordered_map<std::int64_t, Number> by_value_[3];  // of each kind
  mutable std::vector<std::array<bool, 3>> noted_;                // expressions, as of each kind
  mutable bool records_ = true;
};

using PlanStrided = BasicStrided<Numbers, Number>;
// See the overloads of recorded ones.
inline PlanStrided strided(const Node& n) {
  return {n.extents, n.byte_strides, n.kind == tracer::NodeKind::View ? n.offset : Number(0)};
}
inline PlanStrided strided_view(const Node& n) {
  const bool update = n.kind == tracer::NodeKind::Update;
  return {update ? n.view_extents : n.extents, n.view_byte_strides, n.offset};
}
Numbers own_strides(const Node& n);
Numbers contiguous_strides(const Numbers& shape, std::int64_t item);
bool chunks_keep_bits(const Node& reduce);
// Of a MatMul (tracer/contraction.hpp).
tracer::ProductAxes product_axes(const Node& n);
Number product_depth(const Node& n);
ir::ProductTypes product_types(const Node& n);
std::vector<int> by_width(const Numbers& shape, const Numbers& strides);

}  // namespace plait::fusion
