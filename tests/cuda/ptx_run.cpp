// Runs a kernel block by block: control, memory, barriers and shuffles.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "ptx_registers.hpp"
#include "races.hpp"

namespace ptx {

namespace {

struct Frame {
  const Function* function;
  std::size_t pc;
  std::size_t registers;  // where they start in the thread's
  std::size_t memory;     // where it starts in the thread's
};

enum class State : std::uint8_t { Ready, AtBarrier, InShuffle, Done };

struct Thread {
  State state = State::Ready;
  bool carry = false;
  std::vector<Frame> frames;
  std::vector<U> registers;
  std::vector<U> memory;  // of frames, in words
  U mask = 0, word = 0;   // of a shuffle; `word` is what is offered
  const Instruction* shuffle = nullptr;
  // Copies into shared memory that have not arrived, and how many groups were closed before each.
  struct Copy {
    U to;
    std::array<unsigned char, 16> bytes;
    std::size_t count;
    U group;
  };
  std::vector<Copy> copies;
  U groups = 0;
};

class Machine : Registers {
 public:
  Machine(const Module& m, const Function& kernel, const void* arguments, const emulated::Launch& l)
      : module_(m), kernel_(kernel), launch_(l), arguments_((kernel.argument_bytes + 7) / 8 + 1) {
    std::memcpy(arguments_.data(), arguments, kernel.argument_bytes);
    shared_bytes_ = l.shared_bytes;
    shared_.resize(shared_bytes_ / 16 + 1);
    threads_.resize(l.block);
    for (const Function& f : m.functions) stack_bytes_ += 2 * (f.frame_bytes + 64);
    sequence_.resize(l.block);
    for (unsigned n = 0; n < l.block; ++n)
      sequence_[n] = l.order == emulated::Order::Backward ? l.block - 1 - n : n;
    if (l.order == emulated::Order::Shuffled)
      for (unsigned n = l.block, random = 1; n > 1; --n) {
        random = random * 1664525u + 1013904223u;
        std::swap(sequence_[n - 1], sequence_[(random >> 8) % n]);
      }
  }

  void run() {
    for (unsigned b = 0; b < launch_.grid; ++b) {
      block_ = launch_.order == emulated::Order::Backward ? launch_.grid - 1 - b : b;
      run_block();
    }
  }
  unsigned block() const { return block_; }
  unsigned thread() const { return now_; }
  int line() const { return at_ ? at_->line : 0; }

 private:
  const Module& module_;
  const Function& kernel_;
  const emulated::Launch& launch_;
  struct alignas(16) Quad {
    unsigned char bytes[16];
  };
  std::vector<U> arguments_;
  std::vector<Quad> shared_;
  std::size_t shared_bytes_ = 0, stack_bytes_ = 0;
  std::vector<Thread> threads_;
  std::vector<unsigned> sequence_;
  emulated::Races races_;
  unsigned block_ = 0, now_ = 0;
  const Instruction* at_ = nullptr;
  Thread* me_ = nullptr;
  const Frame* frame_ = nullptr;
  const Instruction* code_ = nullptr;
  std::size_t pc_ = 0;
  std::size_t last_range_ = 0;

  unsigned char* shared_begin() { return shared_.data()->bytes; }

  void run_block() {
    std::memset(shared_begin(), 0xa5, shared_bytes_);
    races_.start(shared_begin(), shared_bytes_);
    for (unsigned t = 0; t < launch_.block; ++t) {
      Thread& thread = threads_[t];
      thread.state = State::Ready;
      thread.frames.clear();
      thread.registers.clear();
      thread.copies.clear();
      thread.groups = 0;
      thread.memory.assign(stack_bytes_ / 8 + 8, 0xa5a5a5a5a5a5a5a5);
      now_ = t;
      enter(thread, kernel_);
    }
    for (bool moved = true; moved;) {
      moved = false;
      bool done = true;
      for (const unsigned t : sequence_) {
        if (threads_[t].state == State::Ready) {
          run_thread(t);
          moved = true;
        }
        done &= threads_[t].state == State::Done;
      }
      if (done) return;
      moved |= release_barrier();
    }
    throw Fault{"a barrier or shuffle that not every thread reaches"};
  }

  void enter(Thread& thread, const Function& f) {
    const std::size_t memory = thread.frames.empty()
                                   ? 0
                                   : thread.frames.back().memory +
                                         (thread.frames.back().function->frame_bytes + 63) / 64 * 8;
    if (memory * 8 + f.frame_bytes > stack_bytes_) throw Fault{"calls that are nested too deep"};
    thread.frames.push_back({&f, 0, thread.registers.size(), memory});
    thread.registers.insert(thread.registers.end(), f.initial.begin(), f.initial.end());
    U* r = thread.registers.data() + thread.frames.back().registers;
    for (const Preset& p : f.presets) {
      U v = 0;
      switch (p.what) {
        case Special::ThreadX:
          v = now_;
          break;
        case Special::BlockX:
          v = block_;
          break;
        case Special::BlockSizeX:
          v = launch_.block;
          break;
        case Special::GridSizeX:
          v = launch_.grid;
          break;
        case Special::Lane:
          v = now_ % 32;
          break;
        case Special::One:
          v = 1;
          break;
        case Special::Zero:
          break;
        case Special::InFrame:
          v = reinterpret_cast<U>(thread.memory.data() + memory) + static_cast<U>(p.offset);
          break;
        case Special::Arguments:
          v = reinterpret_cast<U>(arguments_.data()) + static_cast<U>(p.offset);
          break;
      }
      r[p.slot] = v;
    }
  }
  // The innermost frame of the thread is the one that runs from here on.
  void refresh() {
    frame_ = &me_->frames.back();
    code_ = frame_->function->code.data();
    widths_ = frame_->function->widths.data();
    pc_ = frame_->pc;
    r_ = me_->registers.data() + frame_->registers;
  }

  // To the thread's next barrier or shuffle, or its end.
  void run_thread(unsigned t) {
    now_ = t;
    me_ = &threads_[t];
    carry_ = &me_->carry;
    refresh();
    while (me_->state == State::Ready) {
      const Instruction& i = code_[pc_++];
      at_ = &i;
      if (i.guard != kNone && (r_[i.guard] != 0) == i.negate_guard) continue;
      execute(i);
    }
    if (me_->state != State::Done) me_->frames.back().pc = pc_;
  }
  void settle() {
    if (races_.settle(now_)) throw Fault{"a race for shared memory, without a barrier"};
  }

  bool release_barrier() {
    for (const Thread& t : threads_)
      if (t.state != State::AtBarrier) return false;
    for (Thread& t : threads_) t.state = State::Ready;
    races_.synced_block();
    return true;
  }

  void wait_in_shuffle(const Instruction& i, U mask, U word) {
    settle();
    mask &= 0xffffffff;
    const unsigned warp = now_ / 32 * 32, lane = now_ % 32;
    if (!(mask >> lane & 1)) throw Fault{"a shuffle whose mask leaves out the caller"};
    me_->state = State::InShuffle;
    me_->mask = mask;
    me_->word = word;
    me_->shuffle = &i;
    for (unsigned l = 0; l < 32; ++l) {
      if (!(mask >> l & 1)) continue;
      if (warp + l >= threads_.size()) throw Fault{"a shuffle with lanes that are not there"};
      // Lanes that are on their way here may wait for others first.
      const Thread& other = threads_[warp + l];
      if (other.state != State::InShuffle || other.mask != mask || other.shuffle->op != i.op ||
          other.shuffle->mode != i.mode)
        return;
    }
    for (unsigned l = 0; l < 32; ++l)
      if (mask >> l & 1) {
        threads_[warp + l].state = State::Ready;
        if (i.op == Op::Shfl)
          receive(*threads_[warp + l].shuffle, registers_of(warp + l), l, warp, mask);
      }
    if (i.op == Op::Mma) multiply_matrices(i, warp);
    if (i.op == Op::Ldmatrix) load_matrices(i, warp);
    if (i.op == Op::BarWarp) races_.synced_lanes(warp / 32, static_cast<unsigned>(mask));
  }
  U* registers_of(unsigned thread) {
    Thread& t = threads_[thread];
    return t.registers.data() + t.frames.back().registers;
  }
  // The half of a 32-bit register.
  static double half_of(U v, unsigned n) {
    return static_cast<double>(std::bit_cast<_Float16>(static_cast<std::uint16_t>(v >> (16 * n))));
  }
  // ldmatrix .x4: four matrices of 8 rows of 8 halves; lane n names row n % 8 of matrix n / 8, and
  // gets of each two neighbours in row n / 4 from column n % 4 * 2 on, or of its transpose.
  void load_matrices(const Instruction& i, unsigned warp) {
    std::uint16_t rows[32][8];
    for (unsigned l = 0; l < 32; ++l)
      std::memcpy(rows[l], reinterpret_cast<const void*>(threads_[warp + l].word), 16);
    for (unsigned l = 0; l < 32; ++l)
      for (unsigned n = 0; n < 4; ++n) {
        U v = 0;
        for (unsigned e = 0; e < 2; ++e) {
          const unsigned a = l / 4, b = l % 4 * 2 + e;
          v |= U{i.mode == 't' ? rows[8 * n + b][a] : rows[8 * n + a][b]} << (16 * e);
        }
        registers_of(warp + l)[i.to[n]] = v;
      }
  }
  // mma of 16 x 16 halves, 16 x 8 halves and 16 x 8 floats; in: four registers, two, four. Exact
  // sums that are rounded once: of the order of real ones nothing is promised.
  void multiply_matrices(const Instruction& i, unsigned warp) {
    double a[16][16], b[16][8], d[16][8];
    for (unsigned l = 0; l < 32; ++l) {
      const U* r = registers_of(warp + l);
      for (unsigned n = 0; n < 4; ++n)
        for (unsigned e = 0; e < 2; ++e)
          a[l / 4 + n % 2 * 8][l % 4 * 2 + n / 2 * 8 + e] = half_of(r[i.in[n]], e);
      for (unsigned n = 0; n < 2; ++n)
        for (unsigned e = 0; e < 2; ++e)
          b[l % 4 * 2 + n * 8 + e][l / 4] = half_of(r[i.in[4 + n]], e);
      for (unsigned n = 0; n < 4; ++n)
        d[l / 4 + n / 2 * 8][l % 4 * 2 + n % 2] = static_cast<double>(as_float(r[i.in[6 + n]]));
    }
    for (unsigned r = 0; r < 16; ++r)
      for (unsigned c = 0; c < 8; ++c)
        for (unsigned p = 0; p < 16; ++p) d[r][c] += a[r][p] * b[p][c];
    for (unsigned l = 0; l < 32; ++l)
      for (unsigned n = 0; n < 4; ++n)
        registers_of(warp + l)[i.to[n]] =
            bits_of(static_cast<float>(d[l / 4 + n / 2 * 8][l % 4 * 2 + n % 2]));
  }
  // shfl.sync: to[0] the value, to[1] whether it was in range; in: value, lane, clamp, mask.
  void receive(const Instruction& i, U* r, unsigned lane, unsigned warp, U mask) {
    const unsigned b = static_cast<unsigned>(r[i.in[1]]) & 31,
                   c = static_cast<unsigned>(r[i.in[2]]);
    const unsigned segment = c >> 8 & 31, limit = (lane & segment) | (c & 31 & ~segment);
    unsigned from = lane;
    bool within = false;
    switch (i.mode) {
      case 'i':
        from = (lane & segment) | (b & ~segment);
        within = from <= limit;
        break;
      case 'u':
        from = lane - b;
        within = static_cast<int>(lane) - static_cast<int>(b) >= static_cast<int>(limit);
        break;
      case 'd':
        from = lane + b;
        within = from <= limit;
        break;
      default:
        from = lane ^ b;
        within = from <= limit;
    }
    if (!within) from = lane;
    if (!(mask >> from & 1)) throw Fault{"a shuffle from a lane that takes no part"};
    r[i.to[0]] = threads_[warp + from].word;
    if (i.to.size() > 1 && i.to[1] != kNone) r[i.to[1]] = within;
  }

  void touch(Space space, U address, std::size_t bytes, std::size_t alignment, bool writes) {
    if (address % alignment != 0) throw Fault{"a misaligned address"};
    const auto within = [&](const void* begin, std::size_t n) {
      const U first = reinterpret_cast<U>(begin);
      return address >= first && address + bytes <= first + n;
    };
    if (space == Space::Generic || space == Space::Shared)
      if (within(shared_begin(), shared_bytes_))
        return races_.touch(address - reinterpret_cast<U>(shared_begin()), bytes);
    if (space == Space::Generic || space == Space::Local || space == Space::Param) {
      if (within(me_->memory.data(), me_->memory.size() * 8)) return;
      if (!writes && within(arguments_.data(), arguments_.size() * 8)) return;
    }
    if (space == Space::Generic || space == Space::Global) {
      if (last_range_ < launch_.ranges &&
          within(launch_.memory[last_range_].at, launch_.memory[last_range_].bytes))
        return;
      for (last_range_ = 0; last_range_ < launch_.ranges; ++last_range_)
        if (within(launch_.memory[last_range_].at, launch_.memory[last_range_].bytes)) return;
    }
    if (!writes)
      for (const emulated::Range& v : module_.variables)
        if (within(v.at, v.bytes)) return;
    throw Fault{"an address outside the launch's memory"};
  }
  U address(const Instruction& i, std::size_t n) {
    const U a = r_[i.in[n]] + static_cast<U>(i.offset);
    return i.space == Space::Shared ? reinterpret_cast<U>(shared_begin()) + (a & 0xffffffff) : a;
  }
  void load(const Instruction& i) {
    const std::size_t item = static_cast<std::size_t>(bits(i.type)) / 8;
    const U at = address(i, 0);
    if (at % (item * i.to.size()) != 0) throw Fault{"a misaligned address"};
    for (std::size_t n = 0; n < i.to.size(); ++n) {
      touch(i.space, at + n * item, item, item, false);
      U v = 0;
      std::memcpy(&v, reinterpret_cast<const void*>(at + n * item), item);
      put(i.to[n], extended(v, i.type));
    }
  }
  void store(const Instruction& i) {
    const std::size_t item = static_cast<std::size_t>(bits(i.type)) / 8, count = i.in.size() - 1;
    const U at = address(i, 0);
    if (at % (item * count) != 0) throw Fault{"a misaligned address"};
    for (std::size_t n = 0; n < count; ++n) {
      touch(i.space, at + n * item, item, item, true);
      std::memcpy(reinterpret_cast<void*>(at + n * item), &r_[i.in[n + 1]], item);
    }
  }

  void least(const Instruction& i) {
    const U at = address(i, 0), v = r_[i.in[1]];
    if (at % 8 != 0) throw Fault{"a misaligned address"};
    touch(i.space, at, 8, 8, true);
    // Blocks run side by side.
    const std::atomic_ref<U> memory(*reinterpret_cast<U*>(at));
    U old = memory.load();
    while (v < old && !memory.compare_exchange_weak(old, v)) {
    }
    if (i.to.size() > 0) put(i.to[0], old);
  }

  // cp.async: what arrives does so as late as it may. Until then other bytes are there.
  void copy(const Instruction& i) {
    if (i.mode == 'g') ++me_->groups;
    if (i.mode == 'a') arrive(me_->groups + 1);
    if (i.mode == 'w') arrive(me_->groups - std::min(me_->groups, r_[i.in[0]]));
    if (i.mode != 'c') return;
    const U to = reinterpret_cast<U>(shared_begin()) + (r_[i.in[0]] & 0xffffffff),
            from = r_[i.in[1]];
    Thread::Copy c{to, {}, static_cast<std::size_t>(r_[i.in[2]]), me_->groups};
    if (to % c.count != 0 || from % c.count != 0) throw Fault{"a misaligned address"};
    touch(Space::Global, from, c.count, c.count, false);
    std::memcpy(c.bytes.data(), reinterpret_cast<const void*>(from), c.count);
    put_shared(c, 0xff);
    me_->copies.push_back(c);
  }
  // Copies of groups before this one.
  void arrive(U group) {
    std::erase_if(me_->copies, [&](const Thread::Copy& c) {
      if (c.group >= group) return false;
      put_shared(c, 0);
      return true;
    });
  }
  void put_shared(const Thread::Copy& c, unsigned char changed) {
    for (std::size_t n = 0; n < c.count; n += 2)  // as halves are read
      touch(Space::Shared, c.to + n, 2, 1, true);
    for (std::size_t n = 0; n < c.count; ++n)
      reinterpret_cast<unsigned char*>(c.to)[n] = c.bytes[n] ^ changed;
  }

  void call(const Instruction& i) {
    const Function& f = module_.functions[static_cast<std::size_t>(i.target)];
    const std::size_t results = f.results.size();
    const std::size_t caller = frame_->memory;
    me_->frames.back().pc = pc_;
    enter(*me_, f);
    const std::size_t callee = me_->frames.back().memory;
    for (std::size_t n = 0; n < f.parameters.size(); ++n)
      std::memcpy(in_memory(callee, f.parameters[n].at),
                  in_memory(caller, static_cast<std::size_t>(i.targets[results + n])),
                  f.parameters[n].bytes);
    refresh();
  }
  char* in_memory(std::size_t frame, std::size_t at) {
    return reinterpret_cast<char*>(me_->memory.data() + frame) + at;
  }
  void leave() {
    const Frame left = me_->frames.back();
    me_->frames.pop_back();
    if (me_->frames.empty()) {
      settle();
      me_->state = State::Done;
      return;
    }
    me_->registers.resize(left.registers);
    refresh();
    const Instruction& called = frame_->function->code[frame_->pc - 1];
    for (std::size_t n = 0; n < left.function->results.size(); ++n)
      std::memcpy(in_memory(frame_->memory, static_cast<std::size_t>(called.targets[n])),
                  in_memory(left.memory, left.function->results[n].at),
                  left.function->results[n].bytes);
  }

  void jump(std::int32_t to) { pc_ = static_cast<std::size_t>(to); }

  void execute(const Instruction& i) {
    switch (i.op) {
      case Op::Ld:
        return load(i);
      case Op::St:
        return store(i);
      case Op::Atom:
      case Op::Red:
        return least(i);
      case Op::Bra:
        return jump(i.target);
      case Op::Brx: {
        const U n = r_[i.in[0]];
        if (n >= i.targets.size()) throw Fault{"a branch beyond its targets"};
        return jump(i.targets[n]);
      }
      case Op::Call:
        return call(i);
      case Op::Ret:
      case Op::Exit:
        return leave();
      case Op::Trap:
        throw Fault{"a trap"};
      case Op::Nop:
        return;
      case Op::Bar:
        settle();
        me_->state = State::AtBarrier;
        return;
      case Op::BarWarp:
        return wait_in_shuffle(i, r_[i.in[0]], 0);
      case Op::Shfl:
        return wait_in_shuffle(i, r_[i.in[3]], r_[i.in[0]]);
      case Op::Mma:
        return wait_in_shuffle(i, 0xffffffff, 0);
      case Op::Ldmatrix: {
        const U row = address(i, 0);
        if (row % 16 != 0) throw Fault{"a misaligned address"};
        for (U e = 0; e < 16; e += 2) touch(i.space, row + e, 2, 2, false);
        return wait_in_shuffle(i, 0xffffffff, row);
      }
      case Op::CpAsync:
        return copy(i);
      case Op::Cvta:  // to a generic address
        return put(i.to[0], i.space == Space::Shared
                                ? reinterpret_cast<U>(shared_begin()) + r_[i.in[0]]
                                : r_[i.in[0]]);
      case Op::CvtaTo:
        return put(i.to[0], i.space == Space::Shared
                                ? r_[i.in[0]] - reinterpret_cast<U>(shared_begin())
                                : r_[i.in[0]]);
      case Op::Activemask:
        throw Fault{"activemask, whose value no program may rely on"};
      default:
        compute(i);
    }
  }
};

}  // namespace

const char* run(const Module& m, const Function& kernel, const void* arguments,
                const emulated::Launch& l) {
  static thread_local char message[256];
  Machine machine(m, kernel, arguments, l);
  try {
    machine.run();
  } catch (const Fault& f) {
    std::snprintf(message, sizeof message, "%s: block %u, thread %u, line %d of the PTX", f.what,
                  machine.block(), machine.thread(), machine.line());
    return message;
  }
  return nullptr;
}

}  // namespace ptx
