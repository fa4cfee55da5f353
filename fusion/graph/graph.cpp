#include "graph.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <utility>

#include "rewrites.hpp"
#include "tracer/expiring.hpp"
#include "tracer/ownership.hpp"
#include "written_parts.hpp"

namespace plait::fusion {
using tracer::Node;
using tracer::NodeKind;

namespace {

std::atomic<std::uint64_t> walk_counter{1};

constexpr std::size_t kUsualNodes = 32;  // room from the start

// Writes a key; room for what is put is made before.
class KeyWriter {
 public:
  explicit KeyWriter(std::string& key) : key_(key) {}
  ~KeyWriter() { key_.resize(used_); }
  KeyWriter(const KeyWriter&) = delete;
  KeyWriter& operator=(const KeyWriter&) = delete;

  void make_room(std::size_t bytes) {
    if (key_.size() < used_ + bytes) key_.resize(2 * (used_ + bytes));
    to_ = key_.data() + used_;
  }
  void put(std::int64_t v) { *to_++ = static_cast<char>(v); }
  void put_index(std::int32_t v) {
    std::memcpy(to_, &v, sizeof v);
    to_ += sizeof v;
  }
  void end() { used_ = static_cast<std::size_t>(to_ - key_.data()); }

 private:
  std::string& key_;
  std::size_t used_ = 0;
  char* to_ = nullptr;
};

// Strides that show in the code: zero, and small multiples of the element (contiguous, reversed,
// interleaved).
void put_strides(KeyWriter& key, const Dims& shape, const Dims& strides, std::int64_t item) {
  for (int d = 0; d < strides.size(); ++d) {
    const std::int64_t s = shape[d] == 1 ? 0 : strides[d];
    const bool small = std::abs(s) <= kShort * item && s % item == 0;
    key.put(small ? s / item : s > 0 ? 100 : s % item ? 102 : 101);
    if (d + 1 < strides.size()) key.put(strides[d] == strides[d + 1] * shape[d + 1]);
  }
}

// Which dimension is how wide: the order of the loops over it, and so of sums.
void put_layout(KeyWriter& key, const Dims& shape, const Dims& strides) {
  for (int d = 0; d < strides.size(); ++d) {
    int rank = 0;
    for (int e = 0; e < strides.size(); ++e)
      rank += shape[e] != 1 && shape[d] != 1 && std::abs(strides[e]) < std::abs(strides[d]);
    key.put(rank);
  }
}

// Beside the node, so that a graph's nodes lie close together.
template <class Map>
std::shared_ptr<const Map> shared(std::optional<Map> map) {
  return map ? std::make_shared<const Map>(*std::move(map)) : nullptr;
}

bool in_memory(const Node& n) {
  return n.materialised() || n.kind == NodeKind::Scalar || n.kind == NodeKind::Empty;
}

}  // namespace

std::int64_t size_class(std::int64_t extent) {
  if (extent <= kShort) return extent;
  if (extent <= 512) return 20;
  if (extent <= 16384) return 21;
  if (extent <= (1 << 20)) return 22;
  return 23;
}

std::int64_t fold_class(const Node& n) {
  const std::int64_t results = std::max<std::int64_t>(1, element_count(n.shape));
  const std::int64_t total = element_count(n.inputs[0]->shape);
  const std::int64_t fold = total / results;
  return (fold < 64) | (total < kBlockedFold) << 1 | (results < kManyColumns) << 2 |
         (fold > results) << 3 | (results < kFewRows) << 4 | (fold > kLongRow) << 5 |
         (results < kFewTeams) << 6;
}

bool chunks_keep_bits(const Node& n) {
  const bool ordered = reduce_info(n.reduce).has(kOrderShows);
  if (!ordered || !(is_float(n.dtype) || is_complex(n.dtype))) return true;
  // A float16 sum is rounded once, a chunk of it too.
  if (n.reduce == ReduceKind::Prod || n.dtype == DType::Float16 || n.axes.size() != 1) return false;
  const Node& on = *n.inputs[0];
  const std::int64_t axis = n.axes[0];
  for (int d = 0; d < on.shape.size(); ++d)
    if (d != axis && on.shape[d] != 1 && std::abs(on.strides[d]) <= std::abs(on.strides[axis]))
      return false;
  return true;
}

Graph::Graph(std::span<Node* const> wanted) {
  std::vector<const Node*> replaced;
  build(wanted, replaced);
  for (const auto rewrite : kRewrites) {
    std::vector<Instead> found = rewrite(*this);
    if (found.empty()) continue;
    std::ranges::move(found, std::back_inserter(instead));
    build(wanted, replaced);
  }
  if (writes) find_written_parts(nodes);
  make_key();
}

Node* Graph::instead_of(Node* recorded) const {
  Node* as = recorded;
  for (const Instead& i : instead)
    if (i.recorded == recorded) as = i.node.get();  // the last rewrite's
  return as;
}

void Graph::build(std::span<Node* const> wanted, std::vector<const Node*>& replaced) {
  const std::vector<GNode> before = std::exchange(nodes, {});
  nodes.reserve(kUsualNodes);
  walk_ = walk_counter.fetch_add(1);
  for (Node* w : wanted)
    if (!in_memory(*w)) walk(w);
  for (Node* w : wanted)
    if (!in_memory(*w)) nodes[w->number].wanted = true;
  for (const GNode& b : before)
    if (!b.leaf && (b.recorded->walk != walk_ || instead_of(b.recorded) != b.node))
      replaced.push_back(b.node);
  // What another node stands for still refers to its operands.
  std::vector<std::uint32_t> read_before(nodes.size());
  for (const Node* r : replaced)
    for (const Ref<Node>& in : r->inputs)
      if (in && in->walk == walk_) ++read_before[in->number];
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    GNode& g = nodes[i];
    const Node& n = *g.recorded;
    const std::uint32_t uses = static_cast<std::uint32_t>(g.uses) + read_before[i];
    const bool read_later = !tracer::only_known(n, uses);
    g.held = (n.handles > 0 || read_later) && !g.wanted;
    g.expiring =
        g.held && n.handles == 1 && tracer::only_known(n, uses + 1) && tracer::is_expiring(n);
    g.exclusive = n.handles == 0 && !read_later && (!n.data || tracer::owned_memory(*n.data));
    if (const Node& v = *g.node; v.kind == NodeKind::View && !g.leaf && !nodes[g.in[0]].leaf) {
      const Node& base = *nodes[g.in[0]].node;
      if (base.dtype == v.dtype)
        g.map = shared(decompose(base.shape, base.strides, v.offset, v.shape, v.strides));
      const bool part = base.kind == NodeKind::Update && nodes[g.in[0]].map;
      if (base.dtype == v.dtype && (!g.map || part))
        g.index = shared(decompose_index(base.shape, base.strides, v.offset, v.shape, v.strides));
    }
    if (g.node != g.recorded) continue;
    writes |= n.kind == NodeKind::Update && !g.leaf;
    if (n.kind == NodeKind::Update && !g.leaf && g.in[2] < 0 && n.view_dtype == n.dtype)
      g.map = shared(decompose(n.shape, n.strides, n.offset, n.view_shape, n.view_strides));
  }
  // Views are not stored: what they show is kept for them.
  for (std::size_t i = nodes.size(); i-- > 0;) {
    const GNode& g = nodes[i];
    if (!g.held || g.leaf || g.node->kind != NodeKind::View) continue;
    GNode& base = nodes[static_cast<std::size_t>(g.in[0])];
    // So is the block that it is a part of.
    if (base.node->kind == NodeKind::Call ||
        element_count(base.node->shape) == element_count(g.node->shape))
      base.held = !base.wanted;
  }
}

void Graph::walk(Node* root) {
  if (root->walk == walk_) return;
  struct Frame {
    Node* node;
    int next;
  };
  std::vector<Frame> stack;
  stack.reserve(kUsualNodes);
  stack.push_back({root, 0});
  while (!stack.empty()) {
    Frame& f = stack.back();
    if (f.node->walk == walk_) {
      stack.pop_back();
      continue;
    }
    Node* const as = instead_of(f.node);
    if (!in_memory(*f.node) && f.next < as->n_inputs) {
      // A fill that is written to comes after what is written: it would lie about until then.
      const bool last = as->kind == NodeKind::Update && as->inputs[0]->kind == NodeKind::Fill;
      Node* in = as->inputs[(f.next++ + last) % as->n_inputs].get();
      if (in && in->walk != walk_) stack.push_back({in, 0});
      continue;
    }
    Node* n = f.node;
    stack.pop_back();
    n->walk = walk_;
    n->number = static_cast<std::uint32_t>(nodes.size());
    GNode g;
    g.node = as;
    g.recorded = n;
    g.leaf = in_memory(*n);
    if (!g.leaf)
      for (int i = 0; i < as->n_inputs; ++i)
        if (as->inputs[i]) {
          g.in[i] = static_cast<std::int32_t>(as->inputs[i]->number);
          ++nodes[g.in[i]].uses;
        }
    nodes.push_back(std::move(g));
  }
}

void Graph::make_key() {
  key_.clear();
  KeyWriter key(key_);
  key.make_room(nodes.size() * 32);
  for (const GNode& g : nodes) {
    const Node& n = *g.node;
    const auto item = static_cast<std::int64_t>(itemsize(n.dtype));
    const int extents = n.shape.size() + n.axes.size() + n.view_shape.size() +
                        (g.map ? g.map->from.size() : 0) +
                        (g.index ? g.index->axis.size() + g.index->wider.size() : 0);
    key.make_room(64 + 4 * static_cast<std::size_t>(extents));
    key.put(static_cast<int>(g.leaf && n.kind != NodeKind::Scalar ? NodeKind::Data : n.kind));
    key.put(static_cast<int>(n.dtype));
    key.put(g.leaf | g.wanted << 1 | g.held << 2 | g.exclusive << 3 | (g.map != nullptr) << 4 |
            g.expiring << 5 | (g.index != nullptr) << 6);
    key.put(n.shape.size());
    for (std::int64_t e : n.shape) key.put(size_class(e));
    if (g.leaf) {
      put_strides(key, n.shape, n.strides, item);
      put_layout(key, n.shape, n.strides);
      key.end();
      continue;
    }
    key.put(static_cast<int>(n.fn));
    key.put(static_cast<int>(n.reduce));
    key.put(static_cast<int>(n.call));
    key.put(element_count(n.shape) * item >= (std::int64_t{32} << 20));  // streaming stores
    for (int i = 0; i < 3; ++i) key.put_index(g.in[i]);
    if (n.kind == NodeKind::Reduce) key.put(fold_class(n));
    if (n.kind == NodeKind::MatMul) key.put(static_cast<int>(product_class(n)));
    key.put(n.axes.size());
    for (std::int64_t a : n.axes) key.put(a);
    put_layout(key, n.shape, n.strides);
    if (n.kind == NodeKind::View) {
      put_strides(key, n.shape, n.strides, item);
      if (g.map)
        for (int d = 0; d < g.map->from.size(); ++d) {
          key.put(g.map->from[d]);
          key.put(std::abs(g.map->step[d]) <= kShort ? g.map->step[d] : 100);
        }
    }
    if (g.index) {
      for (int j = 0; j < g.index->axis.size(); ++j) {
        key.put(g.index->axis[j]);
        key.put(std::min(g.index->step[j], kShort + 1));
      }
      for (const std::int64_t w : g.index->wider) key.put(w);
    }
    if (n.kind == NodeKind::Gather) {
      put_strides(key, n.shape, n.view_strides, item);
      key.put(n.step == item);
    }
    if (n.kind == NodeKind::Update) {
      key.put(static_cast<int>(n.view_dtype));
      key.put(n.view_shape.size());
      for (std::int64_t e : n.view_shape) key.put(size_class(e));
      put_strides(key, n.view_shape, n.view_strides,
                  static_cast<std::int64_t>(itemsize(n.view_dtype)));
      if (g.map)
        for (int d = 0; d < g.map->from.size(); ++d) {
          key.put(g.map->from[d]);
          key.put(std::abs(g.map->step[d]) <= kShort ? g.map->step[d] : 100);
        }
      // Covers most of the storage: see Legalizer::update_mode.
      key.put(element_count(n.view_shape) * 2 >= element_count(n.shape));
    }
    key.end();
  }
}

std::vector<int> by_width(const Dims& shape, const Dims& strides) {
  std::vector<int> order;
  for (int d = 0; d < shape.size(); ++d)
    if (shape[d] != 1) order.push_back(d);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return std::abs(strides[a]) > std::abs(strides[b]); });
  return order;
}

Dims own_strides(const Node& n) {
  return n.kind == NodeKind::View && !n.data
             ? contiguous_strides(n.shape, static_cast<std::int64_t>(itemsize(n.dtype)))
             : n.strides;
}

std::int64_t Graph::field(const Source& s) const {
  const GNode& g = nodes[s.node];
  const Node& n = *g.node;
  switch (s.field) {
    case Field::Shape:
      return n.shape[s.dim];
    case Field::Stride:
      return n.strides[s.dim];
    case Field::Layout:
      return n.kind == NodeKind::View ? own_strides(n)[s.dim] : n.strides[s.dim];
    case Field::Offset:
      return n.offset;
    case Field::ViewShape:
      return n.view_shape[s.dim];
    case Field::ViewStride:
      return n.view_strides[s.dim];
    case Field::MapStart:
      return g.map->start[s.dim];
    case Field::MapStep:
      return g.map->step[s.dim];
    case Field::IndexStart:
      return g.index->start[s.dim];
    case Field::IndexStep:
      return g.index->step[s.dim];
    case Field::InputShape:
      return n.inputs[0]->shape[s.dim];
    case Field::Step:
      return n.step;
    case Field::Axis:
      return n.axes[s.dim];
    case Field::Value: {
      std::int64_t bits[2];
      std::memcpy(bits, n.scalar.bytes, sizeof bits);
      return bits[0] | bits[1];
    }
  }
  return 0;
}

}  // namespace plait::fusion
