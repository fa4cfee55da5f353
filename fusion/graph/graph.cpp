#include "graph.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "rewrites.hpp"
#include "tracer/expiring.hpp"
#include "tracer/ownership.hpp"

namespace plait::fusion {
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
  void put(const Dims& axes) {
    put(axes.size());
    for (const std::int64_t a : axes) put(a);
  }
  // As they are: a Call's may be any.
  void put_numbers(const Dims& all) {
    put(all.size());
    const std::size_t bytes = static_cast<std::size_t>(all.size()) * sizeof *all.data();
    std::memcpy(to_, all.data(), bytes);
    to_ += bytes;
  }
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

// Beside the node, so that a graph's nodes lie close together.
template <class Map>
std::shared_ptr<const Map> shared(std::optional<Map> map) {
  return map ? std::make_shared<const Map>(*std::move(map)) : nullptr;
}

bool in_memory(const tracer::Node& n) {
  return n.materialised() || n.kind == NodeKind::Scalar || n.kind == NodeKind::Empty;
}

}  // namespace

bool chunks_keep_bits(const tracer::Node& n) {
  const Strided operand = strided(*n.inputs[0]);
  return chunks_keep_bits(n, operand.extents, operand.steps);
}

Graph::Graph(std::span<tracer::Node* const> wanted) {
  std::vector<const tracer::Node*> replaced;
  build(wanted, replaced);
  for (const auto rewrite : kRewrites) {
    std::vector<Instead> found = rewrite(*this);
    if (found.empty()) continue;
    std::ranges::move(found, std::back_inserter(instead));
    build(wanted, replaced);
  }
  make_key();
}

tracer::Node* Graph::instead_of(tracer::Node* recorded) const {
  tracer::Node* as = recorded;
  for (const Instead& i : instead)
    if (i.recorded == recorded) as = i.node.get();  // the last rewrite's
  return as;
}

void Graph::build(std::span<tracer::Node* const> wanted,
                  std::vector<const tracer::Node*>& replaced) {
  const std::vector<GNode> before = std::exchange(nodes, {});
  nodes.reserve(kUsualNodes);
  walk_ = walk_counter.fetch_add(1);
  for (tracer::Node* w : wanted)
    if (!in_memory(*w)) walk(w);
  for (tracer::Node* w : wanted)
    if (!in_memory(*w)) nodes[w->number].wanted = true;
  for (const GNode& b : before)
    if (!b.leaf && (b.recorded->walk != walk_ || instead_of(b.recorded) != b.node))
      replaced.push_back(b.node);
  // What another node stands for still refers to its operands.
  std::vector<std::uint32_t> read_before(nodes.size());
  for (const tracer::Node* r : replaced)
    for (const Ref<tracer::Node>& in : r->inputs)
      if (in && in->walk == walk_) ++read_before[in->number];
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    GNode& g = nodes[i];
    const tracer::Node& n = *g.recorded;
    const std::uint32_t uses = static_cast<std::uint32_t>(g.uses) + read_before[i];
    const bool read_later = !tracer::only_known(n, uses);
    g.held = (n.handles > 0 || read_later) && !g.wanted;
    g.expiring =
        g.held && n.handles == 1 && tracer::only_known(n, uses + 1) && tracer::is_expiring(n);
    g.exclusive = n.handles == 0 && !read_later && (!n.data || tracer::owned_memory(*n.data));
    if (const tracer::Node& v = *g.node;
        v.kind == NodeKind::View && !g.leaf && !nodes[g.in[0]].leaf) {
      const tracer::Node& base = *nodes[g.in[0]].node;
      if (base.dtype == v.dtype) g.map = shared(decompose(strided(base), strided(v)));
      const bool part = base.kind == NodeKind::Update && nodes[g.in[0]].map;
      if (base.dtype == v.dtype && (!g.map || part))
        g.index = shared(decompose_index(strided(base), strided(v)));
    }
    if (g.node != g.recorded) continue;
    writes |= n.kind == NodeKind::Update && !g.leaf;
    if (n.kind == NodeKind::Update && !g.leaf && g.in[2] < 0 && n.view_dtype == n.dtype)
      g.map = shared(decompose(strided(n), strided_view(n)));
  }
  find_shared_memory();
  // Views are not stored: what they show is kept for them.
  for (std::size_t i = nodes.size(); i-- > 0;) {
    const GNode& g = nodes[i];
    if (!g.held || g.leaf || g.node->kind != NodeKind::View) continue;
    GNode& base = nodes[static_cast<std::size_t>(g.in[0])];
    // So is the block that it is a part of.
    if (base.node->kind == NodeKind::Call ||
        element_count(strided(*base.node).extents) == element_count(strided(*g.node).extents))
      base.held = !base.wanted;
  }
}

void Graph::find_shared_memory() {
  std::unordered_map<const Buffer*, std::int32_t> first;
  for (std::int32_t i = 0; i < size(); ++i) {
    GNode& g = nodes[static_cast<std::size_t>(i)];
    g.memory = g.leaf && g.node->data ? first.try_emplace(g.node->data.get(), i).first->second : i;
  }
}

void Graph::walk(tracer::Node* root) {
  if (root->walk == walk_) return;
  struct Frame {
    tracer::Node* node;
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
    tracer::Node* const as = instead_of(f.node);
    if (!in_memory(*f.node) && f.next < as->n_inputs) {
      // A fill that is written to comes after what is written: it would lie about until then.
      const bool last = as->kind == NodeKind::Update && as->inputs[0]->kind == NodeKind::Fill;
      tracer::Node* in = as->inputs[(f.next++ + last) % as->n_inputs].get();
      if (in && in->walk != walk_) stack.push_back({in, 0});
      continue;
    }
    tracer::Node* n = f.node;
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
  for (const GNode& g : nodes) {
    const tracer::Node& n = *g.node;
    const int axes = (g.map ? g.map->from.size() : 0) +
                     (g.index ? g.index->axis.size() + g.index->wider.size() : 0);
    key.make_room(64 + static_cast<std::size_t>(axes) +
                  sizeof(std::int64_t) * static_cast<std::size_t>(n.axes.size()));
    key.put(static_cast<int>(g.kind()));
    key.put(static_cast<int>(n.dtype));
    key.put(g.leaf | g.wanted << 1 | g.held << 2 | g.exclusive << 3 | (g.map != nullptr) << 4 |
            g.expiring << 5 | (g.index != nullptr) << 6 | n.in_place << 7);
    key.put(strided(n).extents.size());
    if (g.leaf) {
      key.put_index(g.memory);
      key.end();
      continue;
    }
    key.put(static_cast<int>(n.fn));
    key.put(static_cast<int>(n.reduce));
    key.put(static_cast<int>(n.call));
    key.put(static_cast<int>(n.view_dtype));
    for (const std::int32_t in : g.in) key.put_index(in);
    key.put_numbers(n.axes);
    key.put(strided_view(n).extents.size());
    if (g.map) key.put(g.map->from);
    if (g.index) {
      key.put(g.index->axis);
      key.put(g.index->wider);
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

}  // namespace plait::fusion
