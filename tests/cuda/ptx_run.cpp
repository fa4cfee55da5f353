// Runs a kernel block by block. Compiled with the processor's rounding mode in mind and without
// contraction.
#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "ptx.hpp"
#include "races.hpp"

namespace ptx {

namespace {

using U = std::uint64_t;
using S = std::int64_t;
using Wide = unsigned __int128;

constexpr U mask_of(int width) { return width >= 64 ? ~U{0} : (U{1} << width) - 1; }
S signed_of(U v, int width) {
  const int up = 64 - width;
  return static_cast<S>(v << up) >> up;
}
// A value of this type as its 64-bit form: sign or zeros in front.
U extended(U v, Type t) {
  return is_signed(t) ? static_cast<U>(signed_of(v, bits(t))) : v & mask_of(bits(t));
}

// NVIDIA's one NaN of float32.
float as_float(U v) { return std::bit_cast<float>(static_cast<std::uint32_t>(v)); }
double as_double(U v) { return std::bit_cast<double>(v); }
U bits_of(float v) { return std::isnan(v) ? 0x7fffffffu : std::bit_cast<std::uint32_t>(v); }
U bits_of(double v) { return std::bit_cast<U>(v); }
float flushed(float v) { return std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(0.0f, v) : v; }
double flushed(double v) { return v; }

class Rounding {
 public:
  explicit Rounding(Round r) : changed_(r != Round::Nearest) {
    if (changed_)
      std::fesetround(r == Round::Zero   ? FE_TOWARDZERO
                      : r == Round::Down ? FE_DOWNWARD
                                         : FE_UPWARD);
  }
  ~Rounding() {
    if (changed_) std::fesetround(FE_TONEAREST);
  }
  Rounding(const Rounding&) = delete;
  Rounding& operator=(const Rounding&) = delete;

 private:
  bool changed_;
};

struct Fault {
  const char* what;
};

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
};

class Machine {
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
  const std::uint8_t* widths_ = nullptr;
  std::size_t pc_ = 0;
  U* r_ = nullptr;
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
        Thread& other = threads_[warp + l];
        other.state = State::Ready;
        if (i.op == Op::Shfl)
          receive(*other.shuffle, other.registers.data() + other.frames.back().registers, l, warp,
                  mask);
      }
    if (i.op == Op::BarWarp) races_.synced_lanes(warp / 32, static_cast<unsigned>(mask));
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

  U get(const Instruction& i, std::size_t n, Type t) const { return extended(r_[i.in[n]], t); }
  void put(Slot slot, U v) {
    if (slot != kNone) r_[slot] = v & mask_of(widths_[slot]);
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

  template <class T>
  T number(const Instruction& i, std::size_t n) const {
    T v;
    if constexpr (sizeof(T) == 4)
      v = as_float(r_[i.in[n]]);
    else
      v = as_double(r_[i.in[n]]);
    return i.flush ? flushed(v) : v;
  }
  template <class T>
  void put_number(const Instruction& i, T v) {
    if (i.flush) v = flushed(v);
    if (i.saturate) v = std::isnan(v) ? T(0) : std::clamp(v, T(0), T(1));
    put(i.to[0], bits_of(v));
  }

  template <class T>
  static bool compare(Compare c, T a, T b) {
    bool unordered = false;
    if constexpr (std::is_floating_point_v<T>) unordered = std::isnan(a) || std::isnan(b);
    switch (c) {
      case Compare::Eq:
        return a == b;
      case Compare::Ne:
        return !unordered && a != b;
      case Compare::Lt:
      case Compare::Lo:
        return a < b;
      case Compare::Le:
      case Compare::Ls:
        return a <= b;
      case Compare::Gt:
      case Compare::Hi:
        return a > b;
      case Compare::Ge:
      case Compare::Hs:
        return a >= b;
      case Compare::Equ:
        return unordered || a == b;
      case Compare::Neu:
        return unordered || a != b;
      case Compare::Ltu:
        return unordered || a < b;
      case Compare::Leu:
        return unordered || a <= b;
      case Compare::Gtu:
        return unordered || a > b;
      case Compare::Geu:
        return unordered || a >= b;
      case Compare::Num:
        return !unordered;
      case Compare::Nan:
        return unordered;
      default:
        throw Fault{"a comparison of an unknown kind"};
    }
  }
  bool compared(const Instruction& i) const {
    if (i.type == Type::F32) return compare(i.compare, number<float>(i, 0), number<float>(i, 1));
    if (i.type == Type::F64) return compare(i.compare, number<double>(i, 0), number<double>(i, 1));
    const U a = get(i, 0, i.type), b = get(i, 1, i.type);
    return is_signed(i.type) ? compare(i.compare, static_cast<S>(a), static_cast<S>(b))
                             : compare(i.compare, a, b);
  }

  template <class T>
  void arithmetic(const Instruction& i) {
    const T a = number<T>(i, 0), b = i.in.size() > 1 ? number<T>(i, 1) : T(0);
    // Read and written through memory, so that nothing is folded under another rounding mode.
    volatile T x = a, y = b, v = T(0);
    {
      const Rounding rounding(i.round);
      switch (i.op) {
        case Op::Add:
          v = x + y;
          break;
        case Op::Sub:
          v = x - y;
          break;
        case Op::Mul:
          v = x * y;
          break;
        case Op::Div:
          v = x / y;
          break;
        case Op::Rcp:
          v = T(1) / x;
          break;
        case Op::Sqrt:
          v = std::sqrt(x);
          break;
        case Op::Fma:
        case Op::Mad: {
          volatile T z = number<T>(i, 2);
          v = std::fma(x, y, z);
          break;
        }
        case Op::Rsqrt:
          v = static_cast<T>(1 / std::sqrt(static_cast<long double>(a)));
          break;
        case Op::Ex2:
          v = std::exp2(a);
          break;
        case Op::Lg2:
          v = std::log2(a);
          break;
        case Op::Sin:
          v = std::sin(a);
          break;
        case Op::Cos:
          v = std::cos(a);
          break;
        case Op::Tanh:
          v = std::tanh(a);
          break;
        case Op::Abs:
          v = std::fabs(a);
          break;
        case Op::Neg:
          v = -a;
          break;
        case Op::Copysign:  // the sign of the first, the size of the second
          v = std::copysign(b, a);
          break;
        case Op::Min:
        case Op::Max: {
          const bool least = i.op == Op::Min;
          if (std::isnan(a) || std::isnan(b))
            v = i.nan || (std::isnan(a) && std::isnan(b)) ? std::numeric_limits<T>::quiet_NaN()
                : std::isnan(a)                           ? b
                                                          : a;
          else if (a == b)  // -0.0 is less than 0.0
            v = std::signbit(a) == least ? a : b;
          else
            v = (a < b) == least ? a : b;
          break;
        }
        default:
          throw Fault{"an instruction that has no floating point form"};
      }
    }
    T result = v;
    // Those of float64 look at the upper half alone and give no more.
    if constexpr (sizeof(T) == 8)
      if (i.approximate) result = as_double(bits_of(result) & ~U{0xffffffff});
    put_number(i, result);
  }

  void divide(const Instruction& i) {
    const int width = bits(i.type);
    const U a = get(i, 0, i.type), b = get(i, 1, i.type);
    // What the hardware's routines leave, if not what the ISA promises.
    if (b == 0) return put(i.to[0], i.op == Op::Div ? mask_of(width) : a);
    if (is_signed(i.type)) {
      const S x = static_cast<S>(a), y = static_cast<S>(b);
      if (y == -1) return put(i.to[0], i.op == Op::Div ? U{0} - a : 0);
      return put(i.to[0], static_cast<U>(i.op == Op::Div ? x / y : x % y));
    }
    put(i.to[0], i.op == Op::Div ? a / b : a % b);
  }

  // a * b + c: the lower, the upper half, or both.
  void multiply(const Instruction& i) {
    const int width = bits(i.type);
    const U a = get(i, 0, i.type), b = get(i, 1, i.type);
    const Wide product =
        is_signed(i.type)
            ? static_cast<Wide>(static_cast<__int128>(static_cast<S>(a)) * static_cast<S>(b))
            : static_cast<Wide>(a) * b;
    const bool adds = i.op == Op::Mad || i.op == Op::Madc;
    if (i.mode == 'w') {
      U v = static_cast<U>(product);
      if (adds) v += r_[i.in[2]];
      return put(i.to[0], v & mask_of(2 * width));
    }
    const U part = static_cast<U>(i.mode == 'h' ? product >> width : product) & mask_of(width);
    if (!adds) return put(i.to[0], part);
    sum(i, part, r_[i.in[2]] & mask_of(width), i.carry_in && me_->carry);
  }
  void sum(const Instruction& i, U a, U b, bool carry) {
    const int width = bits(i.type);
    const Wide v = static_cast<Wide>(a) + b + (carry ? 1 : 0);
    if (i.carry_out) me_->carry = (v >> width & 1) != 0;
    put(i.to[0], static_cast<U>(v) & mask_of(width));
  }

  void convert(const Instruction& i) {
    const Type to = i.type, from = i.from;
    if (is_float(from)) {
      double v = 0;
      if (from == Type::F16)
        v = static_cast<double>(std::bit_cast<_Float16>(static_cast<std::uint16_t>(r_[i.in[0]])));
      else if (from == Type::F32)
        v = number<float>(i, 0);
      else
        v = as_double(r_[i.in[0]]);
      if (!is_float(to)) return put(i.to[0], integer_of(v, i));
      volatile double x = v;
      if (i.to_integral) {
        const Rounding rounding(i.round);
        x = std::nearbyint(x);
      }
      if (to == Type::F64) {
        put_number(i, static_cast<double>(x));
      } else if (to == Type::F32) {
        volatile float narrow;
        {
          const Rounding rounding(i.to_integral ? Round::Nearest : i.round);
          narrow = static_cast<float>(x);
        }
        put_number(i, static_cast<float>(narrow));
      } else {
        if (i.round != Round::Nearest || i.saturate)
          throw Fault{"a conversion to float16 of an unknown kind"};
        const auto half = static_cast<_Float16>(static_cast<double>(x));
        put(i.to[0], std::isnan(v) ? 0x7fff : std::bit_cast<std::uint16_t>(half));
      }
      return;
    }
    const U a = get(i, 0, from);
    if (!is_float(to)) {
      if (i.saturate) return put(i.to[0], clamped(a, from, to));
      return put(i.to[0], extended(a, to));
    }
    const bool negative = is_signed(from);
    const Rounding rounding(i.round);
    if (to == Type::F64) {
      volatile double v;
      if (negative)
        v = static_cast<double>(static_cast<S>(a));
      else
        v = static_cast<double>(a);
      put(i.to[0], bits_of(static_cast<double>(v)));
    } else if (to == Type::F32) {
      volatile float v;
      if (negative)
        v = static_cast<float>(static_cast<S>(a));
      else
        v = static_cast<float>(a);
      put(i.to[0], bits_of(static_cast<float>(v)));
    } else {
      const _Float16 v =
          negative ? static_cast<_Float16>(static_cast<S>(a)) : static_cast<_Float16>(a);
      put(i.to[0], std::bit_cast<std::uint16_t>(v));
    }
  }
  // Clamped to the type; NaN is 0, or the lowest number where either side has 64 bits.
  static U integer_of(double v, const Instruction& i) {
    const int width = bits(i.type);
    if (std::isnan(v))
      return i.from == Type::F64 || width == 64 ? extended(U{1} << (width - 1), i.type) : 0;
    volatile double x = v;
    {
      const Rounding rounding(i.round);
      x = std::nearbyint(x);
    }
    if (is_signed(i.type)) {
      const double end = std::ldexp(1.0, width - 1);
      if (x >= end) return mask_of(width - 1);
      if (x < -end) return static_cast<U>(signed_of(U{1} << (width - 1), width));
      return static_cast<U>(static_cast<S>(x));
    }
    if (x >= std::ldexp(1.0, width)) return mask_of(width);
    return x <= 0 ? 0 : static_cast<U>(static_cast<double>(x));
  }
  static U clamped(U a, Type from, Type to) {
    const int width = bits(to);
    const __int128 v =
        is_signed(from) ? static_cast<__int128>(static_cast<S>(a)) : static_cast<__int128>(a);
    const __int128 most = is_signed(to) ? static_cast<__int128>(mask_of(width - 1))
                                        : static_cast<__int128>(mask_of(width));
    const __int128 least = is_signed(to) ? -most - 1 : 0;
    return static_cast<U>(std::clamp(v, least, most));
  }

  void move(const Instruction& i) {
    if (i.to.size() == 1 && i.in.size() == 1)
      return put(i.to[0], i.type == Type::Pred ? r_[i.in[0]] : r_[i.in[0]] & mask_of(bits(i.type)));
    // Packs or unpacks.
    const int part = bits(i.type) / static_cast<int>(std::max(i.to.size(), i.in.size()));
    U all = 0;
    for (std::size_t n = 0; n < i.in.size(); ++n)
      all |= (i.in.size() == 1 ? r_[i.in[0]]
                               : (r_[i.in[n]] & mask_of(part)) << (part * static_cast<int>(n)));
    for (std::size_t n = 0; n < i.to.size(); ++n)
      put(i.to[n], i.to.size() == 1 ? all : all >> (part * static_cast<int>(n)) & mask_of(part));
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
    const int width = bits(i.type);
    switch (i.op) {
      case Op::Ld:
        return load(i);
      case Op::St:
        return store(i);
      case Op::Mov:
        return move(i);
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
      case Op::Setp: {
        bool v = compared(i), other = !v;
        if (i.combine) {
          const bool with = (r_[i.in[2]] != 0) != i.negate_last;
          const auto combined = [&](bool b) {
            return i.combine == '&' ? b && with : i.combine == '|' ? b || with : b != with;
          };
          v = combined(v);
          other = combined(other);
        }
        put(i.to[0], v);
        if (i.to.size() > 1) put(i.to[1], other);
        return;
      }
      case Op::Set: {
        const Type result = i.type;
        Instruction typed = i;
        typed.type = i.from;
        const bool v = compared(typed);
        return put(i.to[0], !v ? 0 : result == Type::F32 ? bits_of(1.0f) : mask_of(32));
      }
      case Op::Selp:
        return put(i.to[0], r_[i.in[(r_[i.in[2]] != 0) != i.negate_last ? 0 : 1]] & mask_of(width));
      case Op::Slct:
        return put(i.to[0], r_[i.in[i.from == Type::F32 ? !(number<float>(i, 2) >= 0)
                                                        : signed_of(r_[i.in[2]], 32) < 0]] &
                                mask_of(width));
      case Op::Cvt:
        return convert(i);
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
      case Op::Testp: {
        const double v = i.type == Type::F32 ? static_cast<double>(as_float(r_[i.in[0]]))
                                             : as_double(r_[i.in[0]]);
        const int kind =
            i.type == Type::F32 ? std::fpclassify(as_float(r_[i.in[0]])) : std::fpclassify(v);
        const bool is = i.mode == 'f'   ? std::isfinite(v)
                        : i.mode == 'i' ? std::isinf(v)
                        : i.mode == 'n' ? !std::isnan(v)
                        : i.mode == 'a' ? std::isnan(v)
                        : i.mode == 'o' ? kind == FP_NORMAL
                                        : kind == FP_SUBNORMAL;
        return put(i.to[0], is);
      }
      default:
        break;
    }
    if (is_float(i.type)) {
      if (i.type == Type::F32) return arithmetic<float>(i);
      if (i.type == Type::F64) return arithmetic<double>(i);
      throw Fault{"arithmetic of float16"};
    }
    const U a = get(i, 0, i.type), b = i.in.size() > 1 ? get(i, 1, i.type) : 0;
    const U mask = mask_of(width);
    switch (i.op) {
      case Op::Add:
      case Op::Addc:
        return sum(i, a & mask, b & mask, i.carry_in && me_->carry);
      case Op::Sub:
      case Op::Subc: {
        const bool borrow = i.carry_in && me_->carry;
        const Wide v = static_cast<Wide>(a & mask) - (b & mask) - (borrow ? 1 : 0);
        if (i.carry_out) me_->carry = (v >> width & 1) != 0;
        return put(i.to[0], static_cast<U>(v) & mask);
      }
      case Op::Mul:
      case Op::Mad:
      case Op::Madc:
        return multiply(i);
      case Op::Div:
      case Op::Rem:
        return divide(i);
      case Op::And:
        return put(i.to[0], a & b);
      case Op::Or:
        return put(i.to[0], a | b);
      case Op::Xor:
        return put(i.to[0], a ^ b);
      case Op::Not:
        return put(i.to[0], ~a & mask);
      case Op::Cnot:
        return put(i.to[0], a == 0);
      case Op::Neg:
        return put(i.to[0], (U{0} - a) & mask);
      case Op::Abs:
        return put(i.to[0], (static_cast<S>(a) < 0 ? U{0} - a : a) & mask);
      case Op::Min:
      case Op::Max: {
        const bool less = is_signed(i.type) ? static_cast<S>(a) < static_cast<S>(b) : a < b;
        return put(i.to[0], (less == (i.op == Op::Min) ? a : b) & mask);
      }
      case Op::Shl: {
        const U n = r_[i.in[1]] & 0xffffffff;
        return put(i.to[0], n >= static_cast<U>(width) ? 0 : a << n & mask);
      }
      case Op::Shr: {
        const U n = std::min<U>(r_[i.in[1]] & 0xffffffff, static_cast<U>(width));
        if (is_signed(i.type))
          return put(i.to[0], static_cast<U>(static_cast<S>(a) >> std::min<U>(n, 63)) & mask);
        return put(i.to[0], n >= static_cast<U>(width) ? 0 : a >> n);
      }
      case Op::Popc:
        return put(i.to[0], static_cast<U>(std::popcount(a)));
      case Op::Clz:
        return put(i.to[0], static_cast<U>(std::countl_zero(a) - (64 - width)));
      case Op::Brev: {
        U v = 0;
        for (int n = 0; n < width; ++n) v |= (a >> n & 1) << (width - 1 - n);
        return put(i.to[0], v);
      }
      case Op::Bfe: {
        const int at = static_cast<int>(b & 0xff), n = static_cast<int>(r_[i.in[2]] & 0xff);
        const bool is = is_signed(i.type);
        U v = 0;
        const int top = std::min(at + n - 1, width - 1);
        const U sign = is && n > 0 && (a >> top & 1) ? 1 : 0;
        for (int k = 0; k < width; ++k)
          v |= (k < n && at + k < width ? a >> (at + k) & 1 : sign) << k;
        return put(i.to[0], v & mask);
      }
      case Op::Bfi: {
        const int at = static_cast<int>(r_[i.in[2]] & 0xff),
                  n = static_cast<int>(r_[i.in[3]] & 0xff);
        U v = b;
        for (int k = 0; k < n && at + k < width; ++k)
          v = (v & ~(U{1} << (at + k))) | (a >> k & 1) << (at + k);
        return put(i.to[0], v & mask);
      }
      case Op::Lop3: {
        const U c = r_[i.in[2]], table = r_[i.in[3]];
        U v = 0;
        for (int k = 0; k < width; ++k)
          v |= (table >> ((a >> k & 1) << 2 | (b >> k & 1) << 1 | (c >> k & 1)) & 1) << k;
        return put(i.to[0], v);
      }
      case Op::Shf: {
        const U both = (b & 0xffffffff) << 32 | (a & 0xffffffff);
        U n = r_[i.in[2]] & 0xffffffff;
        n = i.wrap ? n & 31 : std::min<U>(n, 32);
        return put(i.to[0], (i.mode == 'l' ? both << n >> 32 : both >> n) & 0xffffffff);
      }
      case Op::Prmt: {
        const U both = (b & 0xffffffff) << 32 | (a & 0xffffffff), pick = r_[i.in[2]];
        U v = 0;
        for (int k = 0; k < 4; ++k) {
          const U p = pick >> (4 * k) & 15, byte = both >> (8 * (p & 7)) & 0xff;
          v |= (p & 8 ? (byte & 0x80 ? U{0xff} : 0) : byte) << (8 * k);
        }
        return put(i.to[0], v);
      }
      case Op::Sad: {
        const U c = get(i, 2, i.type);
        const bool less = is_signed(i.type) ? static_cast<S>(a) < static_cast<S>(b) : a < b;
        return put(i.to[0], (c + (less ? b - a : a - b)) & mask);
      }
      default:
        throw Fault{"an instruction that is not known here"};
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
