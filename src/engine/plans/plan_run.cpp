#include "plan_run.hpp"

#include <algorithm>
#include <utility>

#include "core/scatter.hpp"
#include "engine/plans/state.hpp"
#include "engine/threads/seconds.hpp"
#include "tracer/evaluation_scope.hpp"

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
  Bindings bindings(p, run_inputs(g, p, std::move(values)), device);
  RecordedGraph recording(g, bindings, p.canon);
  if (device == kHost)
    run_on_host(p, bindings, recording);
  else
    run_on_device(p, bindings, recording);
}

void set_progress(Progress p) {
  const Progress* const made = p ? new Progress(std::move(p)) : nullptr;
  delete state().progress.exchange(made);
}

namespace {

// Tells the application how far a plan is. Of one that takes less than a moment, nothing.
class Told {
 public:
  explicit Told(std::size_t steps)
      : progress_(state().progress.load(std::memory_order_acquire)),
        steps_(static_cast<int>(steps)),
        last_(progress_ ? seconds_now() : 0) {}

  void done(std::size_t steps) {
    if (!progress_) return;
    const bool all = static_cast<int>(steps) == steps_;
    if (all ? !told_ : seconds_now() - last_ < kMoment) return;
    told_ = true;
    const tracer::Unlocked others_record;
    try {
      (*progress_)(static_cast<int>(steps), steps_);
    } catch (...) {
    }
    last_ = seconds_now();
  }

 private:
  static constexpr double kMoment = 5e-3;
  const Progress* const progress_;
  const int steps_;
  double last_;
  bool told_ = false;
};

}  // namespace

void PlanRun::run() {
  executor_.prepare(plan_);
  std::vector<BoundStep> steps;
  steps.reserve(plan_.steps.size());
  bindings_.each(plan_, [&](const BoundStep& s) { steps.push_back(s); });
  const std::vector<Stretch> stretches = executor_.stretches(steps, recording_);
  const Stretch* next = stretches.data();
  const Stretch* const end = next + stretches.size();
  Told told(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const BoundStep& s = steps[i];
    told.done(i);
    executor_.look_around();
    if (next != end && next->first == i) {
      together({steps.data() + i, next->last - i}, *next);
      values_.secure();
      i = next++->last - 1;
      continue;
    }
    if (s.operation)
      for (const BoundOperand& o : s.operation->operands)
        if (!o.scalar) take_memory(o.node);
    timeline::Span span(s.operation ? timeline::Category::Operation : timeline::Category::Region);
    if (span) recording_.describe(s, span);
    span.bytes(s.step.lowered.bytes);
    if (!executor_.has_code(s.step))
      executor_.run_elsewhere(s);
    else if (s.operation)
      operation(s);
    else
      region(s);
    values_.drop(s.step.dies);
    values_.secure();
  }
  told.done(steps.size());
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
  values_.stored(s.roots, update);
  partials_.clear();
}

// Memory that nobody needs any more, of steps that run together. Large pieces come again at once:
// so no more of it is taken than one step after the other would. Small ones rest for a while, as
// the step that writes to one has to wait for those that read what was there.
class PlanRun::Freed {
 public:
  void next_step() { ++step_; }
  void add(Ref<Buffer> memory) { free_.push_back({std::move(memory), step_}); }
  // Null: none of that size.
  Ref<Buffer> take(std::size_t bytes) {
    constexpr std::size_t kSmall = 64 << 10, kRest = 16;
    const auto fits = [&](const Piece& p) {
      return p.memory->bytes == bytes && (bytes >= kSmall || p.since + kRest <= step_);
    };
    auto it = std::find_if(free_.begin(), free_.end(), fits);
    if (it == free_.end()) return {};
    if (bytes >= kSmall) it = std::next(std::find_if(free_.rbegin(), free_.rend(), fits)).base();
    Ref<Buffer> memory = std::move(it->memory);
    free_.erase(it);
    return memory;
  }

 private:
  struct Piece {
    Ref<Buffer> memory;
    std::size_t since;
  };
  std::vector<Piece> free_;
  std::size_t step_ = 0;
};

// As region() does with each, but for the order: all have their memory before the first one runs.
// What nobody needs behind a step serves the steps behind it, as it would if they ran one after the
// other.
void PlanRun::together(std::span<const BoundStep> steps, const Stretch& of) {
  timeline::Span span(timeline::Category::Region);
  if (span) {
    recording_.describe(steps.front(), span);
    span.arg("regions that run together", static_cast<std::int64_t>(steps.size()));
    std::int64_t bytes = 0;
    for (const BoundStep& s : steps) bytes += s.step.lowered.bytes;
    span.bytes(bytes);
  }
  std::vector<std::vector<void*>> buffers;
  std::vector<std::vector<const Buffer*>> memory;
  std::vector<Region> regions;
  std::vector<UpdateMode> updates;
  std::vector<NodeMemory> given, read;
  Freed free;
  buffers.reserve(steps.size());
  memory.reserve(steps.size());
  for (const BoundStep& s : steps) {
    free.next_step();
    Region& r = regions.emplace_back(Region{s, s.extent, nullptr, {}, {}});
    const UpdateMode update = updates.emplace_back(executor_.begin_together(r));
    for (const BufferSource& b : r.lowered().buffers) take_memory(b.index, &free);
    for (const Root& root : s.roots) allocate(root, update, &free);
    bind_buffers(r);
    r.buffers = buffers.emplace_back(buffers_);
    std::vector<const Buffer*>& in = memory.emplace_back();
    for (const BufferSource& b : r.lowered().buffers)
      in.push_back(bindings_.memory(b.index).buffer.get());
    r.memory = in;
    for (const Root& root : s.roots) {
      given.push_back(bindings_.memory(root.node));
      bool own = !root.kept;
      if (update == UpdateMode::InPlace) {
        Slot& old = bindings_.slots[static_cast<std::size_t>(root.update->old)];
        own &= old.of_run;
        old.memory = {};
      }
      bindings_.slots[static_cast<std::size_t>(root.node)].of_run = own;
    }
    for (const std::int32_t n : s.step.dies) {
      const NodeMemory m = std::exchange(bindings_.memory(n), {});
      if (!m) continue;
      // Steps have yet to read it.
      read.push_back(m);
      if (bindings_.slots[static_cast<std::size_t>(n)].of_run) free.add(m.buffer);
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
    values_.stored(s.roots, updates[i]);
    values_.drop(s.step.dies);
  }
}

void PlanRun::operation(const BoundStep& s) {
  const Root& root = s.roots[0];
  const UpdateMode update = s.step.update;
  allocate(root, update);
  const unsigned flags = executor_.compute(s);
  counters().bytes_moved += static_cast<std::uint64_t>(s.step.lowered.bytes);
  values_.stored(s.roots, update);
  report_operation(s, flags, recording_);
}

void report_operation(const BoundStep& s, unsigned flags, Recording& r) {
  if (!flags) return;
  const BoundOperation& o = *s.operation;
  const DType first = o.operands.empty() ? o.of.dtype : o.operands[0].dtype;
  r.report(o.of.node, warning_name(o.operation(), first), flags);
}

Ref<Buffer> PlanRun::memory_for(const Dims& shape, DType t, Freed* free) {
  Ref<Buffer> m;
  if (free) m = free->take(static_cast<std::size_t>(element_count(shape)) * itemsize(t));
  return m ? m : executor_.allocate(shape, t);
}

void PlanRun::take_memory(std::int32_t node, Freed* free) {
  Slot& slot = bindings_.slots[static_cast<std::size_t>(node)];
  if (slot.memory || slot.unwritten < 0) return;
  const Unwritten& u = bindings_.unwritten[static_cast<std::size_t>(slot.unwritten)];
  slot.memory = u.exclusive ? NodeMemory{memory_for(u.shape, u.dtype, free), 0}
                            : recording_.give_memory(node);
  slot.of_run = u.exclusive;
}

void PlanRun::allocate(const Root& r, UpdateMode update, Freed* free) {
  NodeMemory& memory = bindings_.memory(r.node);
  if (!r.update) {
    const auto item = static_cast<std::int64_t>(itemsize(r.dtype));
    NodeMemory wanted;
    if (r.kept && r.strides == contiguous_strides(r.shape, item)) wanted = recording_.place(r);
    memory = wanted ? wanted : NodeMemory{memory_for(r.shape, r.dtype, free), 0};
    return;
  }
  take_memory(r.update->old, free);
  const NodeMemory& old = bindings_.memory(r.update->old);
  if (update == UpdateMode::InPlace) {
    memory = {old.buffer, old.offset};
    executor_.overwrites(*old.buffer);
    return;
  }
  const UpdateCopy c = surviving(r);
  const auto bytes = static_cast<std::size_t>(c.last - c.first);
  Ref<Buffer> fresh;
  if (free) fresh = free->take(bytes);
  memory = {fresh ? std::move(fresh) : executor_.allocate(bytes), -c.first};
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

}  // namespace plait::engine
