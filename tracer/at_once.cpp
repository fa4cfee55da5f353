#include "at_once.hpp"

#include <utility>
#include <vector>

#include "graph.hpp"

namespace plait::tracer {

namespace {

constexpr std::uint32_t kFew = 12;  // rounds of a loop that are one graph: over shifts, say
constexpr std::uint32_t kPast = ~std::uint32_t{0};  // trial: over

AtOnce& entry(std::uint32_t site) {
  auto& all = context().at_once;
  return all[site % all.size()];
}

// Nothing behind it is a product, which plans join with those that are added to it: their sums then
// have another order.
bool free_of_products(Node& root) {
  const std::uint64_t walk = next_walk();
  root.walk = walk;
  std::vector<Node*> stack{&root};
  while (!stack.empty()) {
    const Node& n = *stack.back();
    stack.pop_back();
    if (n.kind == NodeKind::MatMul || n.kind == NodeKind::Call) return false;
    for (int i = 0; i < n.n_inputs; ++i)
      if (Node* in = n.inputs[i].get();
          in && is_pending(*in) && std::exchange(in->walk, walk) != walk)
        stack.push_back(in);
  }
  return true;
}

bool in_use(const Context& c) {
  const Config& now = config();
  return c.evaluator && c.watched == 0 && eager_limit() > 0 && now.fuse &&
         now.plan == PlanMode::Auto && !devices_in_use();
}

}  // namespace

void compute_at_once(std::span<const std::uint32_t> sites, std::uint32_t rounds) {
  Context& c = context();
  if (rounds == 0 || !in_use(c)) return;
  for (const std::uint32_t site : sites) entry(site) = {};
  for (const std::uint32_t site : sites) {
    AtOnce& e = entry(site);
    if (e.site != site)
      e = {.site = site, .trial = kPast, .epoch = c.at_once_epoch, .rounds = rounds};
    ++e.each;
    e.left += rounds;
  }
}

std::uint32_t rounds_at_once(std::uint32_t site) {
  const AtOnce& e = entry(site);
  return e.site == site && e.each ? (e.rounds * e.each - e.left) / e.each : 0;
}

void record_again() { ++context().at_once_epoch; }

void record_everything(bool on) { context().watched += on ? 1 : -1; }

bool at_once_here(std::int64_t elements, double of_element) {
  Context& c = context();
  const double seconds = static_cast<double>(elements) * of_element;
  if (elements > kMiddling || seconds > kMiddlingSeconds || !c.site || !in_use(c)) return false;
  const std::uint32_t here = c.site();
  if (here == 0) return false;
  // An operation may ask more than once.
  const bool comes_by = std::exchange(c.last_middling, here) != here;
  AtOnce& e = entry(here);
  if (e.site != here) e = {.site = here};
  if (std::exchange(e.evaluation, c.evaluation) != c.evaluation) e.seen = 0;
  e.seen += comes_by;
  if (e.left > 0 && e.epoch == c.at_once_epoch) {
    if (--e.left == 0) record_again();
    return true;
  }
  if (e.trial == 0 && e.seen > kFew) {
    if (c.trial_left <= 0) {
      ++c.trial;
      c.trial_left = 0;
    }
    e.trial = c.trial;
    c.trial_left += kFirstRounds;
  }
  if (e.trial != c.trial || c.trial_left <= 0) return false;
  c.trial_left -= seconds + kMachine.operation;
  return true;
}

bool brought(const Array& a) {
  const Ref<Node> n = a.storage->version;
  if (is_pending(*n)) {
    if (n->device > kHost || element_count(n->shape) > kMiddling || !free_of_products(*n))
      return false;
    const std::uint32_t evaluation = context().evaluation;
    evaluate_nodes(std::span(&n, 1));
    context().evaluation = evaluation;  // what is brought does not end a loop
  }
  return in_host_memory(a);
}

}  // namespace plait::tracer
