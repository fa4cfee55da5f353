#include "launches.hpp"

#include <algorithm>
#include <utility>

#include "core/buffer.hpp"
#include "engine/direct/fp_flags.hpp"

namespace plait::engine {
using fusion::BufferSource;

namespace {

// More of it would not stay in a core's cache, and is better given back to the pool after each run.
constexpr std::size_t kMostScratch = 4 << 20;
// Scratch that stays from run to run: the pool would take longer than small launches do.
constexpr std::size_t kKeptScratch = 32 << 10;
constexpr std::size_t kLine = 64;
// Seconds of a launch that gains nothing by what is left out around it, and may pass over files
// (file_pages.hpp).
constexpr double kLong = 1e-3;

std::size_t whole_lines(std::size_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

}  // namespace

void LaunchRecorder::launch(const Region& r, std::span<const Buffer* const> memory,
                            std::size_t first_scalar, double predicted) {
  if (refused_ || r.extent <= 0) return;
  if (predicted > kLong) return refuse();
  const fusion::Step& s = r.of.step;
  Launch& l = launches_.emplace_back();
  l.kernel = std::static_pointer_cast<CompiledKernel>(s.compiled);
  l.extent = r.extent;
  l.bytes = s.lowered.bytes;
  l.predicted = predicted;
  l.params.assign(r.of.params, r.of.params + s.lowered.params.size());
  l.scalars.assign(r.of.scalars, r.of.scalars + s.lowered.scalars.size());
  l.first_scalar = first_scalar;
  for (std::size_t i = 0; i < r.buffers.size(); ++i) {
    l.nodes.push_back(s.lowered.buffers[i].index);
    l.buffers.push_back(static_cast<std::byte*>(r.buffers[i]));
    l.memory.push_back(memory[i]->data);
    l.bytes_of_memory.push_back(memory[i]->bytes);
  }
}

// Says of every address of the recorded run what it is an address of.
class Launches::Builder {
  // Addresses [first, last) of memory that a run had, or had at one time and then at another.
  struct Block {
    std::byte *first, *last;
    std::size_t at = 0;  // in the scratch
    bool has(const std::byte* p) const { return first <= p && p < last; }
    bool meets(const Block& o) const { return first < o.last && o.first < last; }
  };
  static Block block_of(const Buffer& b) {
    return {b.data, b.data + std::max<std::size_t>(b.bytes, 1)};
  }
  struct OfInput {
    Block memory;
    const std::byte* at;  // its first element
    std::int32_t number;
  };

 public:
  Builder(std::span<const std::int32_t> inputs, std::span<const NodeMemory> memory,
          std::span<const Slot> constants)
      : inputs_(inputs), constants_(constants) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] < 0) continue;
      given_.push_back(block_of(*memory[i].buffer));
      of_inputs_.push_back({given_.back(), memory[i].at(), static_cast<std::int32_t>(i)});
    }
    for (const Slot& s : constants)
      if (s.memory) given_.push_back(block_of(*s.memory.buffer));
  }

  // False: it is in memory that the run was given, and not in that of one input.
  bool add_result(const LaunchResult& r, Launches& to) {
    if (!r.memory) return false;
    const Block b = block_of(*r.memory.buffer);
    if (const OfInput* const in = input_of(b)) {
      to.results_.push_back({In::Input, false, in->number, r.memory.at() - in->at, r.strides});
      return true;
    }
    auto at = std::ranges::find(results_, b.first, &Block::first);
    if (at == results_.end()) {
      if (meets_any(given_, b) || meets_any(results_, b)) return false;
      results_.push_back(b);
      at = results_.end() - 1;
    }
    const auto n = static_cast<std::int32_t>(at - results_.begin());
    for (Result& other : to.results_)
      if (other.in == In::Result && other.number == n) other.last = false;
    to.results_.push_back({In::Result, true, n, r.memory.offset, r.strides});
    return true;
  }

  // False: memory of the run's own that is partly something else.
  bool add_memory(const LaunchRecorder::Launch& l) {
    for (std::size_t i = 0; i < l.nodes.size(); ++i) {
      if (is_given(l.nodes[i])) continue;
      Block b{l.memory[i], l.memory[i] + std::max<std::size_t>(l.bytes_of_memory[i], 1)};
      if (input_of(b)) continue;
      if (meets_any(given_, b)) return false;
      if (meets_any(results_, b)) {
        // The block of a result, which may have been the run's before.
        const auto r = std::ranges::find(results_, b.first, &Block::first);
        if (r == results_.end()) return false;
        r->last = std::max(r->last, b.last);
        continue;
      }
      std::erase_if(own_, [&](const Block& o) {
        if (!o.meets(b)) return false;
        b.first = std::min(b.first, o.first);
        b.last = std::max(b.last, o.last);
        return true;
      });
      own_.push_back(b);
    }
    return true;
  }

  // Says how many bytes blocks and scratch have.
  void lay_out(Launches& to) {
    for (const Block& b : results_)
      to.blocks_.push_back(static_cast<std::size_t>(b.last - b.first));
    std::size_t& bytes = to.scratch_;
    for (Block& b : own_) {
      // Behind as many bytes of a line as in the run.
      bytes += reinterpret_cast<std::uintptr_t>(b.first) % kLine;
      b.at = bytes;
      bytes = whole_lines(bytes + static_cast<std::size_t>(b.last - b.first));
    }
  }

  // An address need not be in its memory: a write to a part has that alone.
  void add_buffer(std::int32_t node, const std::byte* memory, std::byte* address,
                  Launches& to) const {
    to.first_.buffers.push_back(address);
    if (const auto i = std::ranges::find(inputs_, node); node >= 0 && i != inputs_.end()) {
      add_place(In::Input, static_cast<std::int32_t>(i - inputs_.begin()), 0, to);
    } else if (!is_given(node)) {
      if (const OfInput* const in = input_at(memory))
        return add_place(In::Input, in->number, address - in->at, to);
      const auto holds = [&](const Block& b) { return b.has(memory); };
      if (const auto r = std::ranges::find_if(results_, holds); r != results_.end())
        add_place(In::Result, static_cast<std::int32_t>(r - results_.begin()), address - r->first,
                  to);
      else
        add_scratch(*std::ranges::find_if(own_, holds), address, to);
    }
  }

 private:
  static bool meets_any(const std::vector<Block>& blocks, const Block& b) {
    return std::ranges::any_of(blocks, [&](const Block& o) { return o.meets(b); });
  }
  // The one input in that memory.
  const OfInput* input_of(const Block& b) const {
    const OfInput* const in = input_at(b.first);
    return in && in->memory.last == b.last ? in : nullptr;
  }
  const OfInput* input_at(const std::byte* first) const {
    const auto is_there = [&](const OfInput& o) { return o.memory.first == first; };
    const auto at = std::ranges::find_if(of_inputs_, is_there);
    return std::ranges::count_if(of_inputs_, is_there) == 1 ? &*at : nullptr;
  }
  bool is_given(std::int32_t node) const {
    return constants_[static_cast<std::size_t>(node)].memory ||
           std::ranges::find(inputs_, node) != inputs_.end();
  }
  static void add_place(In in, std::int32_t number, std::int64_t offset, Launches& to) {
    to.places_.push_back({to.first_.buffers.size() - 1, in, number, offset});
  }
  static void add_scratch(const Block& b, const std::byte* address, Launches& to) {
    add_place(In::Scratch, 0, static_cast<std::int64_t>(b.at) + (address - b.first), to);
  }

  const std::span<const std::int32_t> inputs_;
  const std::span<const Slot> constants_;
  std::vector<Block> given_, results_, own_;
  std::vector<OfInput> of_inputs_;
};

Ref<Launches> Launches::make(LaunchRecorder&& recorded, std::span<const std::int32_t> inputs,
                             std::span<const NodeMemory> memory_of_inputs,
                             std::span<const Slot> constants, std::span<const LaunchResult> results,
                             bool in_place) {
  if (recorded.refused_) return nullptr;
  Ref<Launches> made(new Launches);
  Builder builder(inputs, memory_of_inputs, constants);
  for (const LaunchResult& r : results)
    if (!builder.add_result(r, *made)) return nullptr;
  for (const LaunchRecorder::Launch& l : recorded.launches_)
    if (!builder.add_memory(l)) return nullptr;
  builder.lay_out(*made);
  if (made->scratch_ > kMostScratch) return nullptr;
  for (LaunchRecorder::Launch& l : recorded.launches_) {
    const bool shared = !l.kernel->is_short(l.predicted);
    if (shared && in_place) return nullptr;
    Frame& first = made->first_;
    made->launches_.push_back({l.kernel, l.extent, l.predicted, shared, first.buffers.size(),
                               made->params_.size(), first.scalars.size()});
    made->params_.insert(made->params_.end(), l.params.begin(), l.params.end());
    first.scalars.insert(first.scalars.end(), l.scalars.begin(), l.scalars.end());
    for (std::size_t i = 0; i < l.scalars.size(); ++i) made->from_.push_back(l.first_scalar + i);
    made->bytes_moved_ += l.bytes;
    for (std::size_t i = 0; i < l.nodes.size(); ++i)
      builder.add_buffer(l.nodes[i], l.memory[i], l.buffers[i], *made);
    if (!shared)
      made->of_kernels_ = std::max(
          made->of_kernels_,
          whole_lines(l.kernel->scratch_need({nullptr, l.params.data(), l.scalars.data()})));
  }
  return made;
}

std::unique_ptr<Launches::Frame> Launches::take_frame() {
  if (idle_.empty()) {
    auto f = std::make_unique<Frame>(first_);
    f->blocks.resize(blocks_.size());
    return f;
  }
  std::unique_ptr<Frame> f = std::move(idle_.back());
  idle_.pop_back();
  return f;
}

void Launches::keep_frame(std::unique_ptr<Frame> f) {
  if (f->scratch->bytes > kKeptScratch) f->scratch.reset();
  idle_.push_back(std::move(f));
}

unsigned Launches::run(std::span<const NodeMemory> inputs, std::span<const Scalar> scalars,
                       std::span<LaunchResult> results) {
  std::unique_ptr<Frame> frame = take_frame();
  Frame& f = *frame;
  for (std::size_t i = 0; i < blocks_.size(); ++i) f.blocks[i] = allocate(blocks_[i]);
  if (!f.scratch) f.scratch = allocate(of_kernels_ + scratch_);
  for (const Place& p : places_) {
    const auto n = static_cast<std::size_t>(p.number);
    std::byte* const at = p.in == In::Input    ? inputs[n].at()
                          : p.in == In::Result ? f.blocks[n]->data
                                               : f.scratch->data + of_kernels_;
    f.buffers[p.buffer] = at + p.offset;
  }
  if (!scalars.empty())
    for (std::size_t i = 0; i < from_.size(); ++i) f.scalars[i] = scalars[from_[i]];

  unsigned flags = 0;
  clear_flags();
  for (const Launch& l : launches_) {
    const ir::CallArgs args{f.buffers.data() + l.buffers, params_.data() + l.params,
                            f.scalars.data() + l.scalars};
    if (!l.shared) {
      ++counters().kernels_run;
      ++(l.kernel->jitted() ? counters().kernels_jitted : counters().kernels_interpreted);
      l.kernel->call(args, 0, l.extent, f.scratch->data);
      continue;
    }
    flags |= raised_flags();
    flags |= l.kernel->run(args, l.extent, l.predicted, {.interruptible = true});
    clear_flags();
  }
  flags |= raised_flags();
  counters().bytes_moved += static_cast<std::uint64_t>(bytes_moved_);
  // Results of one block share it; the last one takes it.
  for (std::size_t i = 0; i < results_.size(); ++i) {
    const Result& r = results_[i];
    const auto n = static_cast<std::size_t>(r.number);
    NodeMemory& to = results[i].memory;
    if (r.in == In::Input)
      to = {inputs[n].buffer, inputs[n].offset + r.offset};
    else
      to = {r.last ? std::move(f.blocks[n]) : f.blocks[n], r.offset};
    results[i].strides = r.strides;
  }
  keep_frame(std::move(frame));
  return flags;
}

}  // namespace plait::engine
