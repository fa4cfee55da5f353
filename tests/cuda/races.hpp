// Finds accesses to shared memory by two threads of a block, one of them a write, that no barrier
// stands between: __syncthreads(), or a __syncwarp() of both; a shuffle orders no memory. Threads
// give way at barriers and shuffles only, so what one of them wrote in between shows when it does.
// A write of what is there already passes for a read.
#pragma once
#include <cstring>
#include <vector>

namespace emulated {

class Races {
 public:
  // A block starts, with `bytes` of shared memory as it lies at `memory`.
  void start(const unsigned char* memory, std::size_t bytes) {
    memory_ = memory;
    shadow_.assign(memory, memory + bytes);
    if (records_.size() < bytes) records_.resize(bytes);
    ++block_;
    touched_.clear();
    std::memset(warp_syncs_, 0, sizeof warp_syncs_);
    block_sync_ = 0;
  }
  void touch(std::size_t at, std::size_t bytes) {
    Record& r = records_[at];
    if (r.block != block_) r = {block_};
    if (r.run == run_) return;
    r.run = run_;
    touched_.push_back({at, bytes});
  }
  // The thread gives way, or ends. Whether it raced with one before it.
  bool settle(unsigned thread) {
    bool raced = false;
    for (const Touch& t : touched_) {
      Record& r = records_[t.at];
      const bool wrote = std::memcmp(memory_ + t.at, &shadow_[t.at], t.bytes) != 0;
      raced |= unordered(r.writer, thread);
      if (wrote) {
        for (const Access& a : r.readers) raced |= unordered(a, thread);
        std::memcpy(&shadow_[t.at], memory_ + t.at, t.bytes);
        r.writer = {thread, now_};
      } else {
        if (r.readers[0].thread != thread) r.readers[1] = r.readers[0];
        r.readers[0] = {thread, now_};
      }
    }
    touched_.clear();
    ++run_;
    return raced;
  }
  void synced_block() { block_sync_ = ++now_; }
  // Lanes of the mask, which are an aligned group.
  void synced_lanes(unsigned warp, unsigned mask) {
    const int size = __builtin_popcount(mask), first = __builtin_ctz(mask);
    warp_syncs_[warp][__builtin_ctz(size)][first / size] = ++now_;
  }

 private:
  static constexpr unsigned kNobody = ~0u;
  struct Access {
    unsigned thread = kNobody;
    long time = 0;
  };
  struct Record {
    long block = 0, run = -1;
    Access writer, readers[2];
  };
  struct Touch {
    std::size_t at, bytes;
  };
  bool unordered(const Access& a, unsigned thread) const {
    if (a.thread == kNobody || a.thread == thread || block_sync_ > a.time) return false;
    if (a.thread / 32 != thread / 32) return true;
    for (int log = 1; log <= 5; ++log)
      if (a.thread >> log == thread >> log &&
          warp_syncs_[thread / 32][log][thread % 32 >> log] > a.time)
        return false;
    return true;
  }

  const unsigned char* memory_ = nullptr;
  std::vector<unsigned char> shadow_;
  std::vector<Record> records_;  // by an element's first byte
  std::vector<Touch> touched_;   // by the running thread since it last waited
  long block_ = 0, run_ = 0, now_ = 1, block_sync_ = 0, warp_syncs_[32][6][16];
};

}  // namespace emulated
