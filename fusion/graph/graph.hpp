// The pending graph behind the wanted nodes, numbered in topological order, and its key: two graphs
// with equal keys get the same plan. The key holds structure, what is held from outside, dtypes,
// broadcast and stride classes and a size class an extent; it never holds a scalar's value.
#pragma once
#include <cstdint>
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
  std::int32_t uses = 0;  // edges from nodes of this graph
  bool leaf = false;      // in memory already, or a Scalar
  bool wanted = false;
  bool held = false;  // a live handle other than being wanted, or a pending node outside reads it
  bool expiring = false;  // held by what goes away after this evaluation, and by nothing else
  bool exclusive =
      false;  // nobody outside this graph refers to it: an Update may take over its memory
  bool part =
      false;  // Update: may be read as a part of an array without memory (written_parts.hpp)
  // View of a pending base that decomposes; Update without a mask: its target in the storage.
  std::shared_ptr<const ViewMap> map;
  std::shared_ptr<const IndexMap> index;  // View of another pending base, or of such an Update
  // Of a View: loops step through its base.
  bool steps() const { return map || (index && !index->divides()); }
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
  std::int64_t field(const Source& s) const;
  const GNode& operator[](int i) const { return nodes[i]; }
  int size() const { return static_cast<int>(nodes.size()); }

 private:
  void build(std::span<tracer::Node* const> wanted, std::vector<const tracer::Node*>& replaced);
  void walk(tracer::Node* root);
  tracer::Node* instead_of(tracer::Node* recorded) const;
  void make_key();
  std::string key_;
  std::uint64_t walk_ = 0;
};

// Byte strides of the memory that a node's value has or will have. A View's own strides are those
// of its base's memory; put in memory itself it is C-contiguous.
Dims own_strides(const tracer::Node& n);

// Dimensions of extent above 1, widest stride first: the order in which they are looped over.
std::vector<int> by_width(const Dims& shape, const Dims& strides);

// What decides how a long reduction is cut, and so its bits: part of the key, and no matter of the
// number of threads.
inline constexpr std::int64_t kBlockedFold = 32768;  // elements worth joining partial results for
inline constexpr std::int64_t kManyColumns =
    8192;  // results beyond which threads share the columns, not the rows
inline constexpr std::int64_t kFewRows = 64;    // too few to keep every thread busy
inline constexpr std::int64_t kFewTeams = 512;  // too few to keep every multiprocessor busy
inline constexpr std::int64_t kLongRow = 65536;
std::int64_t fold_class(const tracer::Node& reduce);
// Whether a product is large enough for the first of an attention, and for tiles of a region: part
// of the key.
enum class ProductClass : std::uint8_t { Small, Medium, Large };
ProductClass product_class(const tracer::Node& product);
// Whether chunks of the reduction join to the very bits of one walk: NumPy's tree along one axis,
// and what has no order.
bool chunks_keep_bits(const tracer::Node& reduce);

// Extents up to this are part of the key and may be unrolled.
inline constexpr std::int64_t kShort = 8;
// 0 to kShort: the extent itself; then one class to 512, one to 16384, one to 2^20, one beyond.
std::int64_t size_class(std::int64_t extent);

}  // namespace plait::fusion
