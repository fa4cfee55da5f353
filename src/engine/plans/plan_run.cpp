#include "plan_run.hpp"

#include <algorithm>

#include "core/scatter.hpp"

namespace plait::engine {
using fusion::BufferSource;
using fusion::UpdateMode;

std::int64_t elements_an_iteration(const BoundStep& s) {
  return s.roots[0].over / std::max<std::int64_t>(1, s.extent);
}

Chunks chunks_of(const BoundStep& s, bool on_device) {
  const fusion::LoweredKernel& l = s.step.lowered;
  if (l.scatters) {
    // Sums of floats decide, where there are any.
    const auto sums = std::find_if(s.roots.begin(), s.roots.end(),
                                   [](const Root& r) { return !is_integer(r.dtype); });
    const Root& by = sums == s.roots.end() ? s.roots.back() : *sums;
    const auto pieces = on_device ? device_scatter_pieces : scatter_pieces;
    return equal_chunks(s.extent, pieces(by.over, element_count(by.shape)));
  }
  return l.pairwise_chunks ? tree_chunks(s.extent)
                           : even_chunks(s.extent, elements_an_iteration(s));
}

void run_plan(const fusion::Graph& g, fusion::Plan& p, std::vector<std::int64_t> values,
              DeviceId device) {
  Bindings bindings(p, given_by(g, p, std::move(values)), device);
  RecordedGraph recording(g, bindings);
  if (device == kHost)
    run_on_host(p, bindings, recording);
  else
    run_on_device(p, bindings, recording);
}

void PlanRun::run() {
  executor_.prepare(plan_);
  std::vector<BoundStep> steps;
  steps.reserve(plan_.steps.size());
  bindings_.each(plan_, [&](const BoundStep& s) { steps.push_back(s); });
  const std::vector<Stretch> stretches = executor_.stretches(steps, recording_);
  const Stretch* next = stretches.data();
  const Stretch* const end = next + stretches.size();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const BoundStep& s = steps[i];
    executor_.look_around();
    if (next != end && next->first == i) {
      together({steps.data() + i, next->last - i}, *next);
      i = next++->last - 1;
      continue;
    }
    if (s.operation)
      for (const BoundOperand& o : s.operation->operands)
        if (!o.scalar) take_memory(o.node);
    if (!executor_.has_code(s.step))
      executor_.run_elsewhere(s);
    else if (s.operation)
      operation(s);
    else
      region(s);
    for (const std::int32_t n : s.step.dies) bindings_.memory(n) = {};
  }
}

void PlanRun::region(const BoundStep& s) {
  const fusion::LoweredKernel& l = s.step.lowered;
  Region r{s, s.extent, nullptr, {}, {}};
  partials_.clear();
  if (is_cut(s.step)) {
    r.cut = &executor_.cut(s);
    r.extent = r.cut->chunks.count();
    for (const fusion::Partial& p : l.partials)
      partials_.push_back(
          executor_.allocate(static_cast<std::size_t>(
                                 r.extent * bindings_.values[static_cast<std::size_t>(p.outputs)]) *
                             itemsize(p.dtype)));
    r.partials = partials_;
  }
  const UpdateMode update = executor_.begin(r);
  for (const BufferSource& b : l.buffers)
    if (b.kind == BufferSource::NodeMemory) take_memory(b.index);
  for (const Root& root : s.roots) allocate(root, update);
  bind_buffers(r);
  const unsigned flags = executor_.launch(r);
  if (r.cut) join(r);
  if (flags) recording_.report(s, update, flags);
  counters().bytes_moved += static_cast<std::uint64_t>(l.bytes);
  settle(s.roots, update, bindings_, recording_);
  partials_.clear();
}

// Memory that nobody needs any more, of steps that run together. Large pieces come again at once:
// so no more of it is taken than one step after the other would. Small ones rest for a while, as
// the step that writes to one has to wait for those that read what was there.
class PlanRun::Freed {
 public:
  void add(NodeMemory m, std::size_t step) { free_.push_back({std::move(m), step}); }
  std::optional<NodeMemory> take(std::size_t bytes, std::size_t step) {
    constexpr std::size_t kSmall = 64 << 10, kRest = 16;
    const auto fits = [&](const Piece& p) {
      return p.memory.offset == 0 && p.memory.buffer->bytes == bytes &&
             (bytes >= kSmall || p.since + kRest <= step);
    };
    auto it = std::find_if(free_.begin(), free_.end(), fits);
    if (it == free_.end()) return std::nullopt;
    if (bytes >= kSmall) it = std::next(std::find_if(free_.rbegin(), free_.rend(), fits)).base();
    NodeMemory m = std::move(it->memory);
    free_.erase(it);
    return m;
  }

 private:
  struct Piece {
    NodeMemory memory;
    std::size_t since;
  };
  std::vector<Piece> free_;
};

// As region() does with each, but for the order: all have their memory before the first one runs.
// What nobody needs behind a step serves the steps behind it, as it would if they ran one after the
// other.
void PlanRun::together(std::span<const BoundStep> steps, const Stretch& of) {
  std::vector<std::vector<void*>> buffers;
  std::vector<std::vector<const Buffer*>> memory;
  std::vector<Region> regions;
  std::vector<UpdateMode> updates;
  std::vector<NodeMemory> given, own, read;
  Freed free;
  buffers.reserve(steps.size());
  memory.reserve(steps.size());
  for (const BoundStep& s : steps) {
    Region& r = regions.emplace_back(Region{s, s.extent, nullptr, {}, {}});
    const UpdateMode update = updates.emplace_back(executor_.begin_together(r));
    for (const BufferSource& b : r.lowered().buffers) take_memory(b.index);
    for (const Root& root : s.roots) allocate(root, update, &free, regions.size());
    bind_buffers(r);
    r.buffers = buffers.emplace_back(buffers_);
    std::vector<const Buffer*>& in = memory.emplace_back();
    for (const BufferSource& b : r.lowered().buffers)
      in.push_back(bindings_.memory(b.index).buffer.get());
    r.memory = in;
    for (const Root& root : s.roots) {
      const NodeMemory& m = given.emplace_back(bindings_.memory(root.node));
      const auto mine = std::find_if(own.begin(), own.end(),
                                     [&](const NodeMemory& o) { return o.buffer == m.buffer; });
      if (update == UpdateMode::InPlace) bindings_.memory(root.update->old) = {};
      if (!root.kept && update != UpdateMode::InPlace)
        own.push_back(m);
      else if (root.kept && mine != own.end())
        own.erase(mine);
    }
    for (const std::int32_t n : s.step.dies) {
      NodeMemory m = std::move(bindings_.memory(n));
      bindings_.memory(n) = {};
      if (!m) continue;
      const bool mine = std::any_of(own.begin(), own.end(),
                                    [&](const NodeMemory& o) { return o.buffer == m.buffer; });
      // Steps have yet to read it.
      read.push_back(m);
      if (mine) free.add(std::move(m), regions.size());
    }
  }
  const std::vector<unsigned> flags = executor_.launch_together(regions, of);
  const NodeMemory* m = given.data();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const BoundStep& s = steps[i];
    for (const Root& root : s.roots) bindings_.memory(root.node) = *m++;
    // What a step read may be written over since.
    if (flags[i]) recording_.report(s, UpdateMode::InPlace, flags[i]);
    counters().bytes_moved += static_cast<std::uint64_t>(s.step.lowered.bytes);
    settle(s.roots, updates[i], bindings_, recording_);
    for (const std::int32_t n : s.step.dies) bindings_.memory(n) = {};
  }
}

void PlanRun::operation(const BoundStep& s) {
  const Root& root = s.roots[0];
  const UpdateMode update = s.step.update;
  allocate(root, update);
  const unsigned flags = executor_.compute(s);
  counters().bytes_moved += static_cast<std::uint64_t>(s.step.lowered.bytes);
  settle(s.roots, update, bindings_, recording_);
  report_operation(s, flags, recording_);
}

void report_operation(const BoundStep& s, unsigned flags, Recording& r) {
  if (!flags) return;
  const BoundOperation& o = *s.operation;
  const DType first = o.operands.empty() ? o.of.dtype : o.operands[0].dtype;
  r.report(o.of.node, warning_name(o.operation(), first), flags);
}

void PlanRun::take_memory(std::int32_t node) {
  Slot& slot = bindings_.slots[static_cast<std::size_t>(node)];
  if (slot.memory || slot.unwritten < 0) return;
  const Unwritten& u = bindings_.unwritten[static_cast<std::size_t>(slot.unwritten)];
  if (u.exclusive)
    slot.memory = {executor_.allocate(u.shape, u.dtype), 0};
  else
    slot.memory = recording_.give_memory(node);
  slot.of_run = u.exclusive;
}

void PlanRun::allocate(const Root& r, UpdateMode update, Freed* free, std::size_t step) {
  NodeMemory& memory = bindings_.memory(r.node);
  if (!r.update && free)
    if (auto m = free->take(static_cast<std::size_t>(element_count(r.shape)) * itemsize(r.dtype),
                            step)) {
      memory = *std::move(m);
      return;
    }
  if (!r.update) {
    memory = {executor_.allocate(r.shape, r.dtype), 0};
    return;
  }
  take_memory(r.update->old);
  const NodeMemory& old = bindings_.memory(r.update->old);
  if (update == UpdateMode::InPlace) {
    memory = old;
    executor_.overwrites(*old.buffer);
    return;
  }
  const UpdateCopy c = surviving(r);
  memory = {executor_.allocate(static_cast<std::size_t>(c.last - c.first)), -c.first};
  for (const Stretches& k : c.kept) executor_.copy(memory.at() + k.begin, old.at() + k.begin, k);
}

void PlanRun::bind_buffers(Region& r) {
  buffers_.clear();
  for (const BufferSource& b : r.lowered().buffers) switch (b.kind) {
      case BufferSource::NodeMemory:
        buffers_.push_back(bindings_.memory(b.index).at());
        break;
      case BufferSource::Partial:
        buffers_.push_back(partials_[static_cast<std::size_t>(b.index)]->data);
        break;
      case BufferSource::ChunkTable:
        buffers_.push_back(r.cut->table ? static_cast<void*>(r.cut->table->data)
                                        : const_cast<std::int64_t*>(r.cut->chunks.bounds.data()));
        break;
    }
  r.buffers = buffers_;
}

void PlanRun::join(const Region& r) {
  const auto& partials = r.lowered().partials;
  for (std::size_t p = 0; p < partials.size(); ++p) {
    const Root& root = root_of(r.of, partials[p].root);
    const bool arg = is_arg(root.reduce);
    PartialResults results{partials[p],
                           root,
                           bindings_.values[static_cast<std::size_t>(partials[p].outputs)],
                           partials_[p]->data,
                           nullptr,
                           nullptr,
                           bindings_.memory(root.node).at()};
    if (arg) {
      ++p;
      results.index = &partials[p];
      results.indices = partials_[p]->data;
    }
    executor_.join(r, results);
  }
}

void PlanRun::settle(std::span<const Root> roots, UpdateMode update, Bindings& b, Recording& rec) {
  for (const Root& r : roots) {
    Slot& slot = b.slots[static_cast<std::size_t>(r.node)];
    Slot* const old =
        update == UpdateMode::InPlace ? &b.slots[static_cast<std::size_t>(r.update->old)] : nullptr;
    const bool of_run = old && old->of_run;
    // What was overwritten cannot be computed again, and what others can ask for is kept; the rest
    // is this run's own.
    const bool kept = r.kept || (old && !of_run);
    if (kept) rec.keep(r, slot.memory);
    slot.of_run = of_run && !kept;
    if (!old) continue;
    old->memory = {};
    if (!of_run) rec.give_up(r.update->old);
  }
}

}  // namespace plait::engine
