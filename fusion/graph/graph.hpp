// The pending graph behind the wanted nodes, numbered in topological order, and its key: two graphs
// with equal keys that give the same answers about their numbers (answers.hpp) get the same plan.
// The key holds structure, dtypes, and what is held from outside; no extent, stride or offset.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "expr.hpp"
#include "tracer/node.hpp"
#include "view_map.hpp"

namespace plait::fusion {

struct GNode {
  tracer::Node* node = nullptr;
  tracer::Node* recorded = nullptr;  // whose value it is: another, where planning has a better one
  std::int32_t in[3] = {-1, -1, -1};
  std::int32_t uses = 0;     // edges from nodes of this graph
  std::int32_t memory = -1;  // the first node that is in the same buffer, or itself
  bool leaf = false;         // in memory already, or a Scalar
  bool wanted = false;
  bool held = false;  // a live handle other than being wanted, or a pending node outside reads it
  bool expiring = false;  // held by what goes away after this evaluation, and by nothing else
  bool exclusive =
      false;  // nobody outside this graph refers to it: an Update may take over its memory
  // View of a pending base that decomposes; Update without a mask: its target in the storage.
  std::shared_ptr<const ViewMap> map;
  std::shared_ptr<const IndexMap> index;  // View of another pending base, or of such an Update
  // Of a View: loops step through its base.
  bool steps() const { return map || (index && !index->divides()); }
  // What is in memory is that, whatever computed it; or it is yet to be taken.
  tracer::NodeKind kind() const {
    const bool there = leaf && node->kind != tracer::NodeKind::Scalar &&
                       (node->kind != tracer::NodeKind::Empty || node->materialised());
    return there ? tracer::NodeKind::Data : node->kind;
  }
};

class Graph {
 public:
  explicit Graph(std::span<tracer::Node* const> wanted);

  // A node that computes what was recorded in another way (rewrites.hpp). The recorded graph stays
  // as it is. Of several for one node, the last counts.
  struct Instead {
    tracer::Node* recorded;
    Ref<tracer::Node> node;
  };

  std::vector<GNode> nodes;
  std::vector<Instead> instead;
  bool writes = false;  // it has pending writes to storage
  const std::string& key() const { return key_; }
  std::int64_t field(const Source& s) const;  // fields.cpp
  const GNode& operator[](int i) const { return nodes[i]; }
  int size() const { return static_cast<int>(nodes.size()); }

 private:
  void build(std::span<tracer::Node* const> wanted, std::vector<const tracer::Node*>& replaced);
  void walk(tracer::Node* root);
  void find_shared_memory();
  tracer::Node* instead_of(tracer::Node* recorded) const;
  void make_key();
  std::string key_;
  std::uint64_t walk_ = 0;
};

// How a node's value lies; a View's reads the memory of its base. These two are all that planning
// reads of recorded extents, strides and offsets.
inline Strided strided(const tracer::Node& n) {
  return {n.shape, n.strides, n.kind == tracer::NodeKind::View ? n.offset : 0};
}
// What an Update writes in its storage, what a Gather reads but for its indices.
inline Strided strided_view(const tracer::Node& n) {
  const bool update = n.kind == tracer::NodeKind::Update;
  return {update ? n.view_shape : n.shape, n.view_strides, n.offset};
}

// Byte strides of the memory that a node's value has or will have. A View's own strides are those
// of its base's memory; put in memory itself it is C-contiguous.
Dims own_strides(const tracer::Node& n);

// Dimensions of extent above 1, widest stride first: the order in which they are looped over.
std::vector<int> by_width(const Dims& shape, const Dims& strides);

// What decides how a long reduction is cut, and so its bits; the number of threads does not.
inline constexpr std::int64_t kBlockedFold = 32768;  // elements worth joining partial results for
inline constexpr std::int64_t kManyColumns =
    8192;  // results beyond which threads share the columns, not the rows
inline constexpr std::int64_t kMinParallelRows = 64;  // too few to keep every thread busy
inline constexpr std::int64_t kFewTeams = 512;        // too few to keep every multiprocessor busy
inline constexpr std::int64_t kLongRow = 65536;
// Whether chunks of the reduction join to the very bits of one walk: NumPy's tree along one axis,
// and what has no order.
bool chunks_keep_bits(const tracer::Node& reduce);
template <class AnyNode, class All>
bool chunks_keep_bits(const AnyNode& n, const All& extents, const All& byte_strides) {
  using std::abs;
  const bool ordered = reduce_info(n.reduce).has(kOrderShows);
  if (!ordered || !(is_float(n.dtype) || is_complex(n.dtype))) return true;
  // A float16 sum is rounded once, a chunk of it too.
  if (n.reduce == ReduceKind::Prod || n.dtype == DType::Float16 || n.axes.size() != 1) return false;
  const auto axis = static_cast<int>(n.axes[0]);
  for (int d = 0; d < extents.size(); ++d)
    if (d != axis && extents[d] != 1 && abs(byte_strides[d]) <= abs(byte_strides[axis]))
      return false;
  return true;
}

// Loops of at most so many steps may be unrolled, and are code of their own.
inline constexpr std::int64_t kShort = 8;

}  // namespace plait::fusion
