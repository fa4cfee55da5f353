// Runs a plan on the host: regions on the team of threads, operations as the reference evaluator
// does.
#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "chains.hpp"
#include "core/array_memory.hpp"
#include "engine/direct/direct_kernels.hpp"
#include "engine/direct/undo.hpp"
#include "engine/threads/interruption.hpp"
#include "file_pages.hpp"
#include "fusion/schedule/cost.hpp"
#include "launches.hpp"
#include "plait/error.hpp"
#include "plan_run.hpp"
#include "wavefront.hpp"

namespace plait::engine {
using fusion::Step;
using fusion::UpdateMode;

namespace {

// Row 0 of the partials, in the operand's order of dimensions, to the result's layout.
void store_row(const Root& r, const std::vector<std::int32_t>& kept, DType t, const std::byte* row,
               std::byte* out) {
  const std::size_t item = itemsize(t);
  Dims at(static_cast<int>(kept.size()));
  const std::int64_t count = element_count(r.shape);
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t offset = 0;
    for (int d = 0; d < at.size(); ++d)
      offset += at[d] * r.strides[kept[static_cast<std::size_t>(d)]];
    std::memcpy(out + offset, row + static_cast<std::size_t>(i) * item, item);
    for (int d = at.size(); d-- > 0;) {
      if (++at[d] < r.shape[kept[static_cast<std::size_t>(d)]]) break;
      at[d] = 0;
    }
  }
}

double bytes_updated(const BoundStep& s) {
  double bytes = 0;
  for (const Root& r : s.roots)
    if (r.update)
      bytes += static_cast<double>(element_count(r.update->shape)) *
               static_cast<double>(itemsize(r.update->dtype));
  return bytes;
}

// Elements that lie on top of each other, as those of a broadcast array do, are no bytes, but each
// is folded.
double folding_seconds(const BoundStep& s) {
  double elements = 0;
  for (const Root& r : s.roots)
    if (r.folds) elements += static_cast<double>(r.over);
  return elements * host_machine().cycle / 16;  // lanes
}

double scale_of(const BoundStep& s) {
  return static_cast<double>(std::max<std::int64_t>(1, s.extent)) /
         static_cast<double>(s.step.lowered.planned_grid);
}
std::int64_t bytes_of(const BoundStep& s) {
  return static_cast<std::int64_t>(static_cast<double>(s.step.lowered.bytes) * scale_of(s));
}
double predicted_seconds(const BoundStep& s) {
  return std::max(fusion::region_seconds(host_machine(), static_cast<double>(bytes_of(s)),
                                         s.step.lowered.work * scale_of(s)),
                  folding_seconds(s));
}

class HostExecutor final : public Executor {
 public:
  HostExecutor(Bindings& b, LaunchRecorder* launches) : bindings_(b), launches_(launches) {}

  void prepare(fusion::Plan& p) override { take_kernels(p); }
  void look_around() override { end_if_asked(); }  // long kernels do by themselves

  Ref<Buffer> allocate(std::size_t bytes) override { return plait::allocate(bytes); }
  Ref<Buffer> allocate(const Dims& shape, DType t) override { return allocate_array(shape, t); }
  void copy(std::byte* to, const std::byte* from, const Stretches& s) override {
    if (launches_) launches_->refuse();
    for (std::int64_t i = 0; i < s.count; ++i)
      copy_memory(to + i * s.pitch, from + i * s.pitch, s.bytes);
  }
  void overwrites(Buffer&) override {}

  bool has_code(const Step&) const override { return true; }
  const AxisCut& cut(const BoundStep& s) override {
    cut_.chunks = chunks_of(s);
    return cut_;
  }

  UpdateMode begin(const Region& r) override {
    const Step& s = r.of.step;
    if (s.lowered.scatters) start_tables(r);
    predicted_ = predicted_seconds(r.of);
    // Trailing writes go back in no order that could be undone.
    undoes_ = s.update != UpdateMode::None && Undo::pays(predicted_, bytes_updated(r.of));
    trail_ = s.trailing && !undoes_ ? trail(*s.trailing, bindings_.values, r.extent, true)
                                    : std::nullopt;
    update_ = trail_ ? UpdateMode::InPlace : s.update;
    return update_;
  }

  unsigned launch(const Region& r) override {
    const fusion::LoweredKernel& l = r.lowered();
    const std::optional<EarlyExit> early_exit =
        r.cut ? early_exit_of(l, r.partials,
                              bindings_.values[static_cast<std::size_t>(l.partials[0].outputs)],
                              r.extent)
              : std::nullopt;
    const bool safe = update_ != UpdateMode::InPlace || !reads_back(r.of);
    Undo undo;
    if (undoes_ && !safe) keep_targets(r.of, undo);
    const FilePages files(r, bindings_, bytes_of(r.of));
    if (launches_) note(r, trail_ || files);
    try {
      const unsigned flags =
          kernel(r.of.step).run(r.args(), r.extent, predicted_,
                                {.interruptible = safe || undo,
                                 .trail = trail_ ? &*trail_ : nullptr,
                                 .early_exit = early_exit ? &*early_exit : nullptr,
                                 .files = files ? &files : nullptr});
      files.ended();
      return flags;
    } catch (const Interrupted&) {
      undo.restore();
      throw;
    }
  }

  std::vector<Stretch> stretches(std::span<const BoundStep> steps, const Recording& r) override {
    return chains(steps, bindings_, r, predicted_seconds);
  }
  UpdateMode begin_together(const Region& r) override { return chained(r.of, bindings_).update; }
  std::vector<unsigned> launch_together(std::span<const Region> regions,
                                        const Stretch& of) override {
    std::vector<Stage> stages;
    for (const Region& r : regions) {
      Stage& s = stages.emplace_back();
      s.kernel = &kernel(r.of.step);
      s.buffers.assign(r.buffers.begin(), r.buffers.end());
      s.memory.assign(r.memory.begin(), r.memory.end());
      s.params = r.of.params;
      s.scalars = r.of.scalars;
      s.extent = r.extent;
      s.bytes = bytes_of(r.of);
      s.predicted = predicted_seconds(r.of);
      s.trail = chained(r.of, bindings_).trail;
    }
    std::vector<unsigned> flags = run_stages(stages, regions[0].of.step.schedule, of.end);
    if (launches_) {
      const bool together = side_by_side(regions[0].of.step.schedule);
      for (std::size_t i = 0; i < regions.size(); ++i)
        note(regions[i], together || stages[i].trail.has_value());
    }
    return flags;
  }

  void join(const Region& r, const PartialResults& p) override {
    const fusion::LoweredKernel& l = r.lowered();
    if (p.index) {
      auto* indices = reinterpret_cast<std::int64_t*>(p.indices);
      join_arg_partials(r.cut->chunks, p.root.reduce, p.of.dtype, p.outputs, p.rows, indices);
      store_row(p.root, l.kept, p.index->dtype, p.indices, p.out);
      return;
    }
    join_partials(r.cut->chunks, p.of.kind, p.of.dtype, p.outputs, p.rows);
    if (l.scatters)
      std::memcpy(p.out, p.rows, static_cast<std::size_t>(p.outputs) * itemsize(p.of.dtype));
    else
      store_row(p.root, l.kept, p.of.dtype, p.rows, p.out);
  }

  unsigned compute(const BoundStep& s) override {
    if (launches_) launches_->refuse();
    return compute_operation(
        *s.operation, bindings_.memory(s.roots[0].node).at(), s.step.update != UpdateMode::InPlace,
        [&](std::int32_t node) -> const NodeMemory& { return bindings_.memory(node); });
  }
  void run_elsewhere(const BoundStep&) override {
    throw InternalError("a step that the host has no code for");
  }

 private:
  void note(const Region& r, bool more) const {
    if (more || r.cut) return launches_->refuse();
    std::vector<const Buffer*> memory(r.memory.begin(), r.memory.end());
    if (memory.empty())
      for (const fusion::BufferSource& b : r.lowered().buffers)
        memory.push_back(bindings_.memory(b.index).buffer.get());
    launches_->launch(r, memory, bindings_.first_scalar(r.of), predicted_seconds(r.of));
  }

  static CompiledKernel& kernel(const Step& s) {
    return *static_cast<CompiledKernel*>(s.compiled.get());
  }

  // The first piece's table goes on from what is combined with.
  void start_tables(const Region& r) const {
    for (std::size_t i = 0; i < r.partials.size(); ++i) {
      const fusion::Partial& p = r.lowered().partials[i];
      const Root& root = root_of(r.of, p.root);
      const TableStart& start =
          *std::find_if(bindings_.tables.begin(), bindings_.tables.end(),
                        [&](const TableStart& t) { return t.root == p.root; });
      const auto item = static_cast<std::int64_t>(itemsize(root.dtype));
      const std::int64_t table = bindings_.values[static_cast<std::size_t>(p.outputs)];
      std::byte* const tables = r.partials[i]->data;
      const Memory first{tables, contiguous_strides(root.shape, item)};
      if (start.fill)
        run_fill(*start.fill, root.shape, first);
      else
        run_cast(root.dtype, root.dtype, root.shape,
                 {bindings_.memory(start.init).at(), start.strides}, first);
      run_fill(fold_identity(p.kind, root.dtype), Dims{(r.extent - 1) * table},
               {tables + table * item, Dims{item}});
    }
  }

  // Whether a region in place needs what it writes over. Where it does not, it may be stopped half
  // way: what is pending then writes all of it again before anybody sees it.
  bool reads_back(const BoundStep& s) const {
    const fusion::LoweredKernel& l = s.step.lowered;
    if (l.scatters || s.step.trailing) return true;
    for (const ir::Inst& i : l.kernel.insts) {
      if (i.op != ir::Op::Load && i.op != ir::Op::Gather) continue;
      const fusion::BufferSource& from = l.buffers[static_cast<std::size_t>(i.index)];
      if (from.kind != fusion::BufferSource::NodeMemory) continue;
      const Buffer* const read = bindings_.memory(from.index).buffer.get();
      for (const Root& r : s.roots)
        if (read == bindings_.memory(r.node).buffer.get()) return true;
    }
    return false;
  }

  void keep_targets(const BoundStep& s, Undo& undo) const {
    for (const Root& r : s.roots) {
      const UpdateTarget& u = *r.update;
      if (!undo.keep(u.dtype, u.shape, {bindings_.memory(r.node).at() + u.offset, u.strides}))
        return;
    }
  }

  Bindings& bindings_;
  LaunchRecorder* const launches_;  // null: nobody asks
  AxisCut cut_;
  // Of the region at hand.
  double predicted_ = 0;
  bool undoes_ = false;
  std::optional<Trail> trail_;
  UpdateMode update_ = UpdateMode::None;
};

}  // namespace

void take_kernels(fusion::Plan& p) {
  std::unordered_map<std::int32_t, std::shared_ptr<void>> of_class;
  for (Step& s : p.steps) {
    if (s.kind != fusion::StepKind::Kernel || s.compiled) continue;
    if (s.region_class == fusion::kNoClass) {
      s.compiled = compiled(s.lowered.kernel);
      continue;
    }
    std::shared_ptr<void>& shared = of_class[s.region_class];
    if (!shared) shared = compiled(s.lowered.kernel);
    s.compiled = shared;
  }
}

void ask_for_code(fusion::Plan& p) {
  for (Step& s : p.steps)
    if (s.compiled) static_cast<CompiledKernel*>(s.compiled.get())->ask_for_code();
}

void run_on_host(fusion::Plan& p, Bindings& b, Recording& r, LaunchRecorder* launches) {
  HostExecutor host(b, launches);
  Values values(b, r);
  PlanRun(p, b, host, r, values).run();
}

}  // namespace plait::engine
