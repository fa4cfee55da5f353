// What a generated program takes from CUDA, for running it on the CPU. The threads of a block are
// fibres that give way at barriers and shuffles only, in an order the launch names; blocks run one
// after the other. A barrier that some threads never reach, a shuffle from a lane that takes no
// part, an address outside the launch's memory and a race for shared memory stop the launch and are
// reported.
#pragma once
#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cmath>
#include <cstdio>
#include <cstring>

#include "emulated_launch.hpp"
#include "races.hpp"

#define PLAIT_EMULATED
#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)

struct Dim {
  unsigned x;
};
inline Dim gridDim, blockDim, blockIdx, threadIdx;
constexpr std::size_t kMostShared = 228 * 1024;
alignas(16) inline unsigned char shared_memory[kMostShared];

namespace emulated {

enum class State { Free, Ready, AtBarrier, InShuffle };

struct Fibre {
  State state = State::Free;
  unsigned thread = 0;
  bool entered = false;
  jmp_buf resume;
  unsigned mask = 0, word = 0;  // of a shuffle; `word` is what is offered, then what was got
  int source = 0;
};

constexpr unsigned kMostThreads = 1024;
constexpr std::size_t kStack = 256 * 1024 + 65 * 64;  // no two in the same lines of a cache
inline Fibre fibres[kMostThreads];  // fibre n runs the n-th thread that was started, and maybe more
inline Fibre* fibre_of[kMostThreads];
inline Fibre* current;
inline unsigned sequence[kMostThreads], started, finished, at_barrier;
inline unsigned in_shuffle[kMostThreads / 32];  // of each warp, the lanes that wait in one
inline jmp_buf scheduler;
inline char* stacks;
inline Races races;
inline const Launch* launched;
inline char message[256];
inline void (*thread_body)(const void*);
inline const void* thread_arguments;

[[noreturn]] inline void fault(const char* what) {
  if (!message[0])
    std::snprintf(message, sizeof message, "%s: block %u, thread %u", what, blockIdx.x,
                  threadIdx.x);
  _longjmp(scheduler, 2);
}

inline void touch(const void* p, std::size_t bytes, std::size_t alignment) {
  static std::size_t last = 0;
  const char* at = static_cast<const char*>(p);
  const auto within = [&](const void* begin, std::size_t n) {
    const char* first = static_cast<const char*>(begin);
    return at >= first && at + bytes <= first + n;
  };
  if (reinterpret_cast<std::size_t>(p) % alignment != 0) fault("a misaligned address");
  if (within(shared_memory, launched->shared_bytes))
    return races.touch(static_cast<std::size_t>(at - reinterpret_cast<const char*>(shared_memory)),
                       bytes);
  if (last < launched->ranges && within(launched->memory[last].at, launched->memory[last].bytes))
    return;
  for (last = 0; last < launched->ranges; ++last)
    if (within(launched->memory[last].at, launched->memory[last].bytes)) return;
  fault("an address outside the launch's memory");
}

// Before other threads run, or the thread ends.
inline void settle() {
  if (races.settle(threadIdx.x)) fault("a race for shared memory, without a barrier");
}

// Lets other threads run until this one is ready.
inline void give_way() {
  Fibre* me = current;
  if (_setjmp(me->resume) == 0) _longjmp(scheduler, 1);
  current = me;
  threadIdx.x = me->thread;
}

// A fibre runs threads until one of them has to wait, and then the rest of that one.
inline void run_threads() {
  Fibre* me = current;
  while (started < blockDim.x) {
    me->thread = threadIdx.x = sequence[started++];
    fibre_of[me->thread] = me;
    thread_body(thread_arguments);
    settle();
    fibre_of[me->thread] = nullptr;
    ++finished;
  }
  me->state = State::Free;
  _longjmp(scheduler, 1);
}

inline void barrier() {
  settle();
  current->state = State::AtBarrier;
  if (++at_barrier == blockDim.x) {
    at_barrier = 0;
    races.synced_block();
    for (unsigned n = 0; n < blockDim.x; ++n) fibres[n].state = State::Ready;
  }
  give_way();
}

inline unsigned shuffle(unsigned mask, unsigned word, int source, bool orders_memory = false) {
  settle();
  const unsigned warp = threadIdx.x / 32 * 32, lane = threadIdx.x % 32;
  if (!(mask >> lane & 1)) fault("a shuffle whose mask leaves out the caller");
  if (!(mask >> source & 1)) fault("a shuffle from a lane that takes no part");
  current->state = State::InShuffle;
  current->mask = mask;
  current->word = word;
  current->source = source;
  unsigned& arrived = in_shuffle[warp / 32];
  arrived |= 1u << lane;
  if ((arrived & mask) == mask) {
    unsigned words[32];
    for (unsigned l = 0; l < 32; ++l) {
      if (!(mask >> l & 1)) continue;
      if (fibre_of[warp + l]->mask != mask) fault("a shuffle whose lanes name different masks");
      words[l] = fibre_of[warp + l]->word;
    }
    for (unsigned l = 0; l < 32; ++l) {
      if (!(mask >> l & 1)) continue;
      Fibre& f = *fibre_of[warp + l];
      f.word = words[f.source];
      f.state = State::Ready;
    }
    arrived &= ~mask;
    if (orders_memory) races.synced_lanes(warp / 32, mask);
  }
  Fibre* me = current;
  give_way();
  return me->word;
}

inline void enter(unsigned n) {
  ucontext_t context;
  getcontext(&context);
  context.uc_stack.ss_sp = stacks + n * kStack;
  context.uc_stack.ss_size = kStack;
  context.uc_link = nullptr;
  makecontext(&context, run_threads, 0);
  setcontext(&context);
}

// The threads of one block, to their end.
inline void run_block() {
  static volatile unsigned n;
  started = finished = at_barrier = 0;
  for (unsigned t = 0; t < blockDim.x; ++t) fibres[t].state = State::Free;
  std::memset(in_shuffle, 0, sizeof in_shuffle);
  std::memset(shared_memory, 0xa5, launched->shared_bytes);
  races.start(shared_memory, launched->shared_bytes);
  n = 0;
  // Each waiting thread has a fibre, so the fibres in use are the first ones.
  switch (_setjmp(scheduler)) {
    case 2:
      return;
    default:
      break;
  }
  while (finished < blockDim.x) {
    for (unsigned tried = 0; tried <= blockDim.x; ++tried) {
      Fibre& f = fibres[n % blockDim.x];
      if (f.state == State::Free && started < blockDim.x) {
        f.state = State::Ready;
        current = &f;
        enter(n % blockDim.x);
      }
      if (f.state == State::Ready) {
        current = &f;
        _longjmp(f.resume, 1);
      }
      n = n + 1;
    }
    if (!message[0])
      std::snprintf(message, sizeof message,
                    "block %u: a barrier or shuffle that not every thread reaches", blockIdx.x);
    return;
  }
}

inline const char* run(void (*body)(const void*), const void* arguments, const Launch& l) {
  if (l.block == 0 || l.block > kMostThreads || l.shared_bytes > kMostShared)
    return "a launch beyond the limits";
  if (!stacks)
    stacks = static_cast<char*>(mmap(nullptr, kMostThreads * kStack, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  launched = &l;
  thread_body = body;
  thread_arguments = arguments;
  message[0] = 0;
  gridDim.x = l.grid;
  blockDim.x = l.block;
  for (unsigned n = 0; n < l.block; ++n)
    sequence[n] = l.order == Order::Backward ? l.block - 1 - n : n;
  if (l.order == Order::Shuffled)
    for (unsigned n = l.block, random = 1; n > 1; --n) {
      random = random * 1664525u + 1013904223u;
      const unsigned other = (random >> 8) % n, kept = sequence[n - 1];
      sequence[n - 1] = sequence[other];
      sequence[other] = kept;
    }
  for (unsigned b = 0; b < l.grid && !message[0]; ++b) {
    blockIdx.x = l.order == Order::Backward ? l.grid - 1 - b : b;
    run_block();
  }
  return message[0] ? message : nullptr;
}

template <class Arguments, void (*kernel)(Arguments)>
const char* launch(const void* arguments, const Launch& l) {
  Arguments a;
  std::memcpy(&a, arguments, sizeof a);
  return run([](const void* p) { kernel(*static_cast<const Arguments*>(p)); }, &a, l);
}

}  // namespace emulated

#define PLAIT_TOUCH(p, T) ::emulated::touch(p, sizeof(T), alignof(T))
inline void __syncthreads() { emulated::barrier(); }
inline void __syncwarp(unsigned mask) {
  emulated::shuffle(mask, 0, static_cast<int>(threadIdx.x % 32), true);
}
inline unsigned __shfl_sync(unsigned mask, unsigned word, int source, int width) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  return emulated::shuffle(mask, word, lane / width * width + source % width);
}

template <class To, class From>
To same_bits(From v) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &v, sizeof to);
  return to;
}
inline float __uint_as_float(unsigned v) { return same_bits<float>(v); }
inline unsigned __float_as_uint(float v) { return same_bits<unsigned>(v); }
inline double __longlong_as_double(long long v) { return same_bits<double>(v); }
inline long long __double_as_longlong(double v) { return same_bits<long long>(v); }
inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
inline long long __mul64hi(long long a, long long b) {
  return static_cast<long long>(static_cast<__int128>(a) * b >> 64);
}
inline unsigned long long atomicMin(unsigned long long* at, unsigned long long v) {
  unsigned long long old = __atomic_load_n(at, __ATOMIC_RELAXED);
  while (v < old &&
         !__atomic_compare_exchange_n(at, &old, v, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return old;
}
inline float half_to_float(unsigned short h) { return same_bits<_Float16>(h); }
template <class T>
unsigned short to_half(T v) {
  return same_bits<unsigned short>(static_cast<_Float16>(v));
}
